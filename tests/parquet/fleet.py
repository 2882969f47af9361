# SPDX-License-Identifier: MIT
"""The server of fleet.c, the queries of docs/fleet.md, and how long these take on many events:

    PYTHONPATH=tests:. python3 tests/parquet/fleet.py 10000000
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import duck  # noqa: E402
from building import build, generate  # noqa: E402
from docs.pages import blocks  # noqa: E402
from support import BUILD, ROOT, read  # noqa: E402

TP = os.path.join(BUILD, "tp")
PAGE = read(os.path.join(ROOT, "docs/fleet.md"))
EVENTS = read(os.path.join(HERE, "fleet.tp"))
THREADS = 8


def server(directory: str, events: str = EVENTS) -> str:
    """The program, built in the directory with these events."""
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, "fleet.tp"), "w", encoding="ascii") as file:
        file.write(events)
    generate(directory, os.path.join(directory, "fleet.tp"))
    return build(os.path.join(directory, "server"), os.path.join(HERE, "fleet.c"), include=[directory])


def queries() -> list[str]:
    """Those of the page, word for word."""
    return [query.strip() for block in blocks(PAGE) if block.kind == "sql" for query in block.text.split(";") if query.strip()]


@dataclass
class Cost:
    """Of a command: seconds, and MiB of memory at most; what it has printed."""
    seconds: float
    memory: int
    printed: str


def measured(command: list[str], directory: str, **env: str) -> Cost:
    begin = time.monotonic()
    with subprocess.Popen(command, cwd=directory, env={**os.environ, **env}, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return Cost(time.monotonic() - begin, usage.ru_maxrss // 1024, printed)


def size_of(directory: str) -> int:
    """Bytes of the files that are no hidden ones."""
    return sum(os.path.getsize(os.path.join(top, name)) for top, _, names in os.walk(directory) for name in names if name[0] != ".")


def costs(directory: str, events: int, duckdb: str) -> dict[str, Cost]:
    """Records that many events, makes tables of them, and asks the page's queries, each in a process of its own."""
    env = {"DUCKDB": duckdb, "TZ": "UTC"}
    found = {"record": measured([server(directory), str(events), str(THREADS)], directory, TP_ENABLE="*", TP_OUTPUT="ctf:trace"),
             "tp convert": measured([TP, "convert", "trace", "--to", "parquet", "-o", "tables"], directory)}
    views = [query for query in queries() if not query.startswith("SELECT")]
    for query in queries()[len(views):]:
        found[query] = measured(duck.command(*views, query), directory, **env)
    return found


def main(events: int) -> None:
    directory = tempfile.mkdtemp(prefix="tpgen-fleet-")
    try:
        found = costs(directory, events, os.path.join(BUILD, "duckdb"))
        for name, cost in found.items():
            print(f"{cost.seconds:7.2f} s {cost.memory:5} MiB  {' '.join(name.split())}")
        print(f"{size_of(os.path.join(directory, 'trace'))} bytes of CTF, {size_of(os.path.join(directory, 'tables'))} of tables")
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main(int(sys.argv[1]))

# SPDX-License-Identifier: MIT
"""What it costs to be looked into, and how long it takes, in a program with many events; there are no peers, and no goals."""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess

from general import many_events
from goals import Measured, Table
from runner import HERE, Bench, text_of

WAYS = {"greet": "connect, until the greeting", "attach": "attach and detach: one event on and off again",
        "enable": "enable {:,} events, until the answer", "first": "… until the first line is there"}


class Looked(Measured):
    """Microseconds by way, wake-ups a minute, and system calls of a start."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        self.took: dict[str, float] = {}
        self.wakes = 0.0
        self.calls: dict[str, float] = {}


def measure(bench: Bench) -> Looked:
    measured = Looked(bench)
    bench.write("many.tp", many_events(bench.sites))
    bench.tpgen("many.tp")
    hits = "".join(f"\ttrace_many_{i}(number, id, name);\n" for i in range(bench.sites))
    bench.write("look-many.c", '#define CREATE_TRACE_POINTS\n#include "many.h"\nvoid hit_all(uint64_t number, uint32_t id, '
                f"const char *name);\nvoid hit_all(uint64_t number, uint32_t id, const char *name)\n{{\n{hits}}}\n")
    bench.compile("look", os.path.join(HERE, "look.c"), "look-many.c", bench.library, "-lurcu-bp", "-pthread")
    os.mkdir(bench.path("control"), 0o700)
    for way in WAYS:
        times = "3" if bench.quick else "300" if way in ("greet", "attach") else "30"
        measured.took[way] = statistics.median(look(bench, way, times) for _ in range(bench.rounds))
    seconds = 1 if bench.quick else 30
    measured.wakes = look(bench, "idle", str(seconds)) * 60 / seconds
    for name, value in () if not shutil.which("strace") else (("off", "0"), ("none", bench.path("none")), ("there", bench.path("control"))):
        measured.calls[name] = calls(bench, value)
    return measured


def look(bench: Bench, what: str, times: str) -> float:
    environment = {**bench.environment, "TP_CONTROL": bench.path("control")}
    return float(subprocess.run(["./look", what, times], cwd=bench.dir, env=environment, check=True, capture_output=True,
                                text=True).stdout)


def calls(bench: Bench, control: str) -> float:
    """System calls of a program with a tracepoint that ends at once."""
    bench.compile("look-start", "-DHAS_SINKS", os.path.join(HERE, "start.c"), "look-many.c", bench.library, "-lurcu-bp", "-pthread")
    text = text_of(["env", f"TP_CONTROL={control}", "sh", "-c", f"exec strace -f -c {bench.path('look-start')} 2>&1"])
    found = re.search(r"^100\.00 +\S+ +\S+ +(\d+) .*total$", text, re.M)  # time, seconds, microseconds a call, calls
    assert found, text
    return float(found[1])


def table(measured: Looked) -> Table:
    result = Table("bench-control", {}, "", {})
    for way, label in WAYS.items():
        result.line(f"{label.format(measured.bench.sites)}: µs", {"ours": measured.took[way]}, digits=0)
    result.line("a thread that nobody asks anything: wake-ups a minute", {"ours": measured.wakes}, digits=0)
    for name, label in (("none", "start without a directory: system calls more than with TP_CONTROL=0"),
                        ("there", "start with a directory, and the end: system calls more")):
        if name in measured.calls:
            result.line(label, {"ours": measured.calls[name] - measured.calls["off"]}, digits=0)
    return result

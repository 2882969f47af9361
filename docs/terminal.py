# SPDX-License-Identifier: MIT
"""Makes the pictures of a terminal, docs/terminal.svg and docs/pictures/, from real runs of the guide's worker and of examples/servers/web.

    python3 docs/terminal.py DIRECTORY [NAME...]     after make, as root; DIRECTORY: docs, NAME: such as pictures/top, all without one

What a command prints in a pseudo-terminal of 80 columns goes through tests/emulator.py. The commands run in namespaces of their own: no other
process is seen, and the home is /home/ann.
"""

from __future__ import annotations

import contextlib
import html
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../tests"), os.path.dirname(HERE)]

from building import build, generate  # noqa: E402
from docs.pages import blocks  # noqa: E402
from emulator import Screen  # noqa: E402
from pseudo_terminal import Terminal  # noqa: E402
from support import BUILD, read, until  # noqa: E402

COLUMNS, ROWS = 80, 24
CELL, LINE, EDGE = 7.83, 18, 14  # pixels, of the letters below; what is left free around them
STYLE = """.t{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d6deeb;white-space:pre}
.prompt{fill:#7fdbca}.bold{fill:#fff;font-weight:600}.dim{fill:#8a99ad}.red{fill:#ff7b72}"""
NAMESPACES = ["unshare", "--mount", "--uts", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]

WORKER = "./worker 1000000 & "
# The last one is held up: it gets a tenth of the time.
WORKERS = 3 * WORKER + "while sleep 0.01; do kill -STOP $!; sleep 0.09; kill -CONT $!; done & "


@dataclass(frozen=True)
class Step:
    """A command, which runs to its end; or until its screen has a moment's line, and then ^C."""
    command: str
    moment: str = ""
    rows: int = ROWS


@dataclass(frozen=True)
class Picture:
    name: str
    programs: str  # commands of a shell that are not shown
    listening: int  # how many processes these make
    steps: tuple[Step, ...]


PICTURES = (
    Picture("terminal", "web & ", 3, (
        Step("tp ps"),
        Step("tp trace -p web --children -n 3"),
        Step("tp stat -p web --children --for 2"),
        Step("tp hist -p web --children -e web_request keys=status --for 2"))),
    Picture("pictures/stat", WORKER, 1, (Step("tp stat -p worker --field work_end.error", r", ([3-9]|\d\d+)\.\d+ s"),)),
    Picture("pictures/workers", WORKERS, 3, (Step("tp stat -p worker --all", r", ([3-9]|\d\d+)\.\d+ s"),)),
    Picture("pictures/top", WORKERS + "web & ", 6, (Step("tp top", r", ([3-9]|\d\d+)\.\d+ s"),)),
    Picture("pictures/hist", WORKER, 1, (
        Step("tp hist -p worker -e work_end keys=error,id.log2", r"([3-9]\d{3}|\d{5,}) hits", rows=16),)),
    Picture("pictures/latency", WORKER, 1, (
        Step("tp latency -p worker work_begin work_end --by kind", r"([3-9]\d{3}|\d{5,}) pairs"),
        Step("tp latency -p worker work_begin work_end --slowest 2 --for 1"))),
    Picture("pictures/record", WORKER, 1, (
        Step("tp record -p worker -o late", r"^([3-9]|\d\d+)\.\d s"),
        Step("tp report --summary late"))),
    Picture("pictures/report", "true", 0, (
        Step("tp record -o all -- ./worker 5"),
        Step("tp report all"))),
    Picture("pictures/trace", WORKER, 1, (
        Step("tp list -p worker"),
        Step("tp trace -p worker -n 4 --delta"),
        Step("tp trace -p worker -e 'work_end if eror == 5'"))),
)


# ---- Programs ----

def make_home(directory: str) -> None:
    """The guide's worker, and the programs of build/."""
    os.chmod(directory, 0o755)
    home = os.path.join(directory, "ann")
    os.makedirs(os.path.join(home, "bin"))
    for name in ("tp", "examples/servers/web"):
        shutil.copy(os.path.join(BUILD, name), os.path.join(home, "bin"))
    guide = read(os.path.join(HERE, "guide.md"))
    for block in blocks(guide):
        if block.name.startswith("worker.") or block.name.startswith("work."):
            with open(os.path.join(home, block.name), "w", encoding="utf-8") as file:
                file.write(block.text)
    generate(".", "work.tp", cwd=home)
    build(os.path.join(home, "worker"), os.path.join(home, "worker.c"), include=[home], flags=["-Wno-conversion"])


# ---- Inside of the namespaces ----

def environment() -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("TP_", "XDG_"))}
    return {**env, "HOME": "/home/ann", "PATH": f"/home/ann/bin:{env['PATH']}", "TERM": "xterm", "PAGER": "cat", "TZ": "UTC0", "LC_ALL": "C.UTF-8"}


def run_step(step: Step, env: dict[str, str]) -> list[list[tuple[str, str]]]:
    """Lines of pieces of text with their styles: of the command, and then of its screen."""
    terminal = Terminal(["bash", "-c", step.command], "/home/ann", env, rows=step.rows, columns=COLUMNS)
    screen = lambda: Screen(step.rows, COLUMNS).feed(terminal.text())  # noqa: E731
    try:
        if step.moment:
            until(lambda: re.search(step.moment, screen().text(), re.M) or terminal.process.poll() is not None, step.moment)
            lines = screen().styled_lines()
            terminal.type(b"\x03")
            terminal.end()
        else:
            terminal.end()
            lines = screen().styled_lines()
    finally:
        terminal.close()
    return [[("$ ", "prompt"), (step.command, "bold")], *lines]


def number_listening(env: dict[str, str]) -> int:
    done = subprocess.run(["tp", "ps"], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return len(re.findall(r"^ +\d+ ", done.stdout, re.M))


def run_picture(picture: Picture, env: dict[str, str]) -> list[list[tuple[str, str]]]:
    lines: list[list[tuple[str, str]]] = []
    # Ids of processes have three digits, so that tables are as wide whenever this is run.
    with open("/proc/sys/kernel/ns_last_pid", "w", encoding="ascii") as file:
        file.write("420")
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(["bash", "-c", picture.programs], cwd="/home/ann", env=env, start_new_session=True, **quiet) as programs:
        try:
            until(lambda: number_listening(env) == picture.listening, picture.name)
            for step in picture.steps:
                lines += run_step(step, env)
        finally:
            os.killpg(programs.pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):  # it is the namespace's init
        while True:
            os.wait()
    return lines


def run_inside(directory: str, names: list[str]) -> None:
    """Prints the lines of these pictures."""
    for command in (["mount", "-t", "tmpfs", "none", "/run"], ["mount", "--bind", directory, "/home"], ["hostname", "server"]):
        subprocess.run(command, check=True)
    env = environment()
    os.environ["PATH"] = env["PATH"]
    subprocess.run(["tp", "setup"], env=env, check=True, stdout=subprocess.DEVNULL)
    print(json.dumps({picture.name: run_picture(picture, env) for picture in PICTURES if picture.name in names}))


# ---- Pictures ----

def svg(lines: list[list[tuple[str, str]]]) -> str:
    width, height = round(COLUMNS * CELL + 2 * EDGE), len(lines) * LINE + 2 * EDGE + 8
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
           f"<style>{STYLE}</style>", f'<rect width="{width}" height="{height}" rx="8" fill="#011627"/>']
    for i, pieces in enumerate(lines):
        text = "".join(f'<tspan class="{style}">{html.escape(text)}</tspan>' if style else html.escape(text) for text, style in pieces)
        out.append(f'<text class="t" x="{EDGE}" y="{EDGE + LINE * (i + 1) - 5}">{text}</text>')
    return "\n".join([*out, "</svg>", ""])


def make_pictures(target: str, names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        make_home(directory)
        done = subprocess.run([*NAMESPACES, sys.executable, os.path.abspath(__file__), "--inside", directory, *names], check=True, stdout=subprocess.PIPE)
    os.makedirs(os.path.join(target, "pictures"), exist_ok=True)
    for name, lines in json.loads(done.stdout).items():
        with open(os.path.join(target, f"{name}.svg"), "w", encoding="utf-8") as file:
            file.write(svg(lines))


if __name__ == "__main__":
    if sys.argv[1] == "--inside":
        run_inside(sys.argv[2], sys.argv[3:])
    else:
        make_pictures(sys.argv[1], sys.argv[2:] or [picture.name for picture in PICTURES])

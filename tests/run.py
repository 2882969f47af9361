# SPDX-License-Identifier: MIT
"""Runs the tests, some files at a time, and prints what came out.

    python3 tests/run.py check|rest|all [NAME]...

"check" are the tests of "make check", "all" those of "make check-all", and "rest" those that "all" has more than
"check". With NAMEs, only the tests whose names, such as control/test_record.Record.test_stop, contain one of them.

Each tests/*/test_*.py runs in processes of its own (run_file.py). A test whose tool is missing is skipped, and with
CI=true failed: there, everything must run, but for what no package can bring (support.unavailable).
UPDATE=1 writes the expected outputs anew instead of comparing with them.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Sequence

import run_file
import store
from run_file import ROOT, TESTS, environment

# The seconds that each file took when all of its tests ran last: the longest begin, as the last one runs alone.
TIMES = os.path.join(ROOT, "build", "test-times.json")


def has(file: str, name: str) -> bool:
    """Whether a file may have a test whose name contains this one. Programs of check stand beside the file in C."""
    path = os.path.relpath(file, TESTS).removesuffix(".py")
    if name in path or name.startswith(path + "."):
        return True
    part = name.rpartition(".")[2]
    folder = os.path.dirname(file)
    beside = [os.path.join(folder, f) for f in os.listdir(folder) if f.endswith(".c")] if "/unit/" in file else []
    for source in (file, *beside):
        with open(source, encoding="utf-8") as text:
            if part in text.read():
                return True
    return False


class Times:
    def __init__(self, which: str) -> None:
        self.which = which
        self.all: dict[str, dict[str, float]] = {}
        with contextlib.suppress(OSError, ValueError), open(TIMES, encoding="utf-8") as file:
            self.all = json.load(file)
        self.mine = self.all.setdefault(which, {})

    def of(self, file: str) -> float:
        """Of a file that was never run, what files take on the average."""
        name = os.path.relpath(file, TESTS)
        return self.mine.get(name, sum(self.mine.values()) / max(len(self.mine), 1))

    def set(self, file: str, seconds: float) -> None:
        self.mine[os.path.relpath(file, TESTS)] = round(seconds, 1)

    def write(self) -> None:
        os.makedirs(os.path.dirname(TIMES), exist_ok=True)
        with open(TIMES, "w", encoding="utf-8") as file:
            json.dump(self.all, file, indent=1, sort_keys=True)


class Screen:
    """Prints lines, and on a terminal below them what runs now."""

    def __init__(self) -> None:
        self.terminal = sys.stdout.isatty()

    def line(self, text: str = "") -> None:
        print(("\r\033[K" if self.terminal else "") + text, flush=True)

    def now(self, text: str) -> None:
        if self.terminal:
            with contextlib.suppress(OSError):
                text = text[:os.get_terminal_size().columns - 1]
            print("\r\033[K" + text, end="", flush=True)


class Run:
    def __init__(self, which: str, names: Sequence[str]) -> None:
        self.which = which
        self.names = names
        self.times = Times(which)
        self.screen = Screen()
        self.running: dict[int, tuple[str, float, subprocess.Popen]] = {}  # by descriptor of its output
        self.outcomes: dict[str, dict] = {}
        self.selector = selectors.DefaultSelector()

    def start(self, file: str) -> None:
        command = [sys.executable, run_file.__file__, file, self.which, *self.names]
        # A session of its own: no terminal, and whoever interrupts this program does not interrupt tests half-way.
        process = subprocess.Popen(command, cwd=ROOT, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        self.running[process.stdout.fileno()] = (file, time.monotonic(), process)
        self.selector.register(process.stdout, selectors.EVENT_READ)

    def finish(self, descriptor: int) -> None:
        file, start, process = self.running.pop(descriptor)
        self.selector.unregister(process.stdout)
        text = process.communicate()[0].decode("utf-8", "replace")
        try:
            outcome = json.loads(text[text.rindex('{"passed"'):])
        except ValueError:
            name = os.path.relpath(file, TESTS).removesuffix(".py")
            outcome = {"passed": 0, "failed": [(name, text)], "skipped": [], "notes": []}
        seconds = time.monotonic() - start
        self.outcomes[file] = outcome
        if not self.names:
            self.times.set(file, seconds)
        if not (outcome["passed"] or outcome["failed"] or outcome["skipped"]):
            return
        word = "FAILED" if outcome["failed"] else "ok"
        self.screen.line(f"  {word:6}  {os.path.relpath(file, ROOT):36} {outcome['passed']:4} passed  {seconds:5.1f} s")
        for name, why in outcome["failed"]:
            self.screen.line(f"\nFAILED {name}\n{why}")
        for note in outcome["notes"]:
            self.screen.line(f"          {note}")
        for name, reason in outcome["skipped"]:
            self.screen.line(f"  skipped {name}: {reason}")

    def all(self, files: list[str]) -> None:
        waiting = sorted(files, key=self.times.of)
        at_once = len(os.sched_getaffinity(0)) + 1  # as some wait for time to pass
        try:
            while waiting or self.running:
                while waiting and len(self.running) < at_once:
                    self.start(waiting.pop())
                now = time.monotonic()
                left = sum(map(self.times.of, waiting)) + sum(
                    max(self.times.of(file) - (now - start), 0) for file, start, _ in self.running.values())
                failed = sum(len(outcome["failed"]) for outcome in self.outcomes.values())
                about = f", about {left / at_once / 60:.0f} min left" if self.times.mine else ""
                self.screen.now(f"{len(self.outcomes)} of {len(files)} files, {failed} failed{about}: " + ", ".join(
                    os.path.relpath(file, TESTS).removesuffix(".py") for file, *_ in self.running.values()))
                for key, _ in self.selector.select(1 if self.screen.terminal else None):
                    self.finish(key.fd)
        finally:
            # Each keeper ends what its tests have started.
            for _, _, process in self.running.values():
                process.terminate()
            for _, _, process in self.running.values():
                process.communicate()

    def report(self) -> int:
        self.screen.now("")
        failed = [name for outcome in self.outcomes.values() for name, _ in outcome["failed"]]
        if failed:
            self.screen.line("\nTo repeat what has failed:")
            for name in dict.fromkeys(failed):
                self.screen.line(f"  make check T='{name}'")
        passed = sum(outcome["passed"] for outcome in self.outcomes.values())
        skipped = sum(len(outcome["skipped"]) for outcome in self.outcomes.values())
        if not passed and not failed:
            self.screen.line(f"no test has a name with {' or '.join(self.names)}" if self.names else "no test has run")
        self.screen.line(f"{passed} passed, {len(failed)} failed, {skipped} skipped")
        return 1 if failed or not passed else 0


def main(which: str, *names: str) -> int:
    # A person who copies a path means the file's tests.
    names = tuple(name.removeprefix("tests/").replace(".py", "") for name in names)
    files = sorted(os.path.join(top, f) for top, _, found in os.walk(TESTS) for f in found
                   if f.startswith("test_") and f.endswith(".py"))
    run = Run(which, names)
    try:
        run.all([f for f in files if not names or any(has(f, name) for name in names)])
    except KeyboardInterrupt:
        run.screen.line("interrupted")
    run.times.write()
    store.trim()
    return run.report()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

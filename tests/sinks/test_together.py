# SPDX-License-Identifier: MIT
"""Several sinks on one event: each on and off while the others run, and each with its tool gone in the middle."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lttng"))

from daemon import Daemon  # noqa: E402
from building import build, generate  # noqa: E402
from support import PATIENCE, Case, need, read, reader  # noqa: E402

THREADS = 4


class Program:
    """driver.c, which does what it is told."""

    def __init__(self, path: str, env: dict[str, str], **options) -> None:
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, env=env, **options)

    def do(self, *words: object) -> int:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, f"{words}: {self.end()}"
        return int(answer)

    def end(self) -> tuple[int, str]:
        """Its exit status, and what it has said."""
        _, said = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, said


class Together(Case):
    def setUp(self) -> None:
        super().setUp()
        os.chmod(self.dir, 0o777)  # for the user of LTTng's daemon
        generate(self.dir, os.path.join(HERE, "several.tp"))
        build(self.path("driver"), os.path.join(HERE, "driver.c"), include=[self.dir])
        self.env = dict(os.environ)
        self.user: dict[str, object] = {}

    def program(self) -> Program:
        program = Program(self.path("driver"), self.env, **self.user)
        self.addCleanup(program.process.wait)
        self.addCleanup(program.process.kill)
        return program

    def opened(self, program: Program, name: str, *kind: object) -> str:
        self.assertEqual(program.do("open", name, *kind), 0, name)
        self.assertEqual(program.do("enable", name), 1, name)
        return name

    # ---- What has arrived: thread and number of each event, in the order of the output ----

    @staticmethod
    def events(text: str) -> list[tuple[int, int]]:
        return [(int(thread), int(number)) for thread, number in re.findall(r"thread ?= ?(\d+),? number ?= ?(\d+)", text)]

    def trace(self, name: str) -> list[tuple[int, int]]:
        return self.events(self.read_by("babeltrace2", self.path(name)))

    def hits(self, name: str) -> int:
        return sum(event["hits"] for event in json.loads(read(self.path(name)))["events"])

    def check(self, events: list[tuple[int, int]], first: int, last: int) -> None:
        """Of each thread all from the first on, once, in order."""
        for thread in range(THREADS):
            self.assertEqual([number for of, number in events if of == thread], list(range(first, last)))

    def test_each_on_and_off(self) -> None:
        need(self, "babeltrace2")
        program = self.program()
        sinks = [self.opened(program, "text", "text", self.path("log")),
                 self.opened(program, "ctf", "ctf", self.path("trace")),
                 self.opened(program, "flight", "ctf", self.path("flight"), "mode=flight,size=64M"),
                 self.opened(program, "stats", "stats", self.path("stats"), "json"),
                 self.opened(program, "sdt", "sdt")]
        number = 0
        for toggled in sinks:
            self.assertEqual(program.do("toggle", toggled, 500, 50), 1, toggled)
            number += 500
        for off in ("flight", "ctf"):
            self.assertEqual(program.do("disable", off), 1)
        program.do("hit", 100)
        for sink in reversed(sinks):
            self.assertEqual(program.do("close", sink), 0, sink)
        program.do("hit", 10)  # nobody listens any more
        self.assertEqual(program.end(), (0, ""))
        log, trace, flight = self.events(read(self.path("log"))), self.trace("trace"), self.trace("flight")
        for place, events in enumerate((log, trace, flight)):
            counts = Counter(events)
            self.assertEqual(max(counts.values()), 1, "an event stands there twice")
            # Those of rounds in which another sink went off and on are all there.
            begin, last = 500 * place, number + (100 if place == 0 else 0)
            for thread in range(THREADS):
                there = [n for of, n in events if of == thread]
                self.assertEqual(there, sorted(there))
                self.assertEqual([n for n in there if not begin <= n < begin + 500],
                                 [n for n in range(last) if not begin <= n < begin + 500])
        hits = self.hits("stats")
        self.assertLessEqual(hits, THREADS * (number + 100))
        self.assertGreaterEqual(hits, THREADS * (number - 500 + 100))

    def test_children(self) -> None:
        """A child goes on with all of them; what it hits, nobody counts as its parent's."""
        need(self, "babeltrace2")
        program = self.program()
        for name, kind, path in (("text", "text", "log"), ("ctf", "ctf", "trace"), ("stats", "stats", "stats"),
                                 ("sdt", "sdt", "")):
            self.opened(program, name, kind, *([self.path(path), *(["json"] if kind == "stats" else [])] if path else []))
        program.do("hit", 20)
        self.assertEqual(program.do("fork", 30), 0)
        program.do("hit", 20)
        for sink in ("text", "ctf", "stats", "sdt"):
            self.assertEqual(program.do("close", sink), 0)
        self.assertEqual(program.end(), (0, ""))
        for events in (self.events(read(self.path("log"))), self.trace("trace")):
            self.assertEqual(len(events), THREADS * 40 + 30)
        self.assertEqual(self.hits("stats"), THREADS * 40)
        child = [name for name in os.listdir(self.dir) if re.fullmatch(r"stats\.\d+", name)]
        self.assertEqual([self.hits(name) for name in child], [30])

    # ---- Tools that die ----

    def test_full_disk(self) -> None:
        need(self, "babeltrace2")
        disk = self.small_disk("256k")
        program = self.program()
        self.opened(program, "full", "text", f"{disk}/log")
        self.opened(program, "packets", "ctf", f"{disk}/trace", "packet=64K")
        self.opened(program, "counts", "stats", f"{disk}/stats", "json")
        self.opened(program, "text", "text", self.path("log"))
        self.opened(program, "ctf", "ctf", self.path("trace"))
        self.opened(program, "stats", "stats", self.path("stats"), "json")
        program.do("hit", 2000)
        self.assertLess(program.do("close", "full"), 0)
        for name in ("packets", "counts"):
            program.do("close", name)
        program.do("hit", 100)
        for name in ("text", "ctf", "stats"):
            self.assertEqual(program.do("close", name), 0, name)
        status, said = program.end()
        self.assertEqual(status, 0)
        self.assertRegex(said, r"tp: text output: records lost: \d+ \(no file: \d+\)\n")
        for line in said.splitlines():
            self.assertRegex(line, r"disk|^tp: text output: ")
        self.check(self.events(read(self.path("log"))), 0, 2100)
        self.check(self.trace("trace"), 0, 2100)
        self.assertEqual(self.hits("stats"), THREADS * 2100)

    def test_daemon_killed(self) -> None:
        """LTTng's, while it records."""
        need(self, "lttng", "lttng-sessiond", "babeltrace2")
        daemon = Daemon()
        self.addCleanup(daemon.end)
        daemon.start()
        self.env, self.user = daemon.env, daemon.user
        program = self.program()
        if program.do("open", "lttng", "lttng"):
            self.skipTest(program.end()[1])
        self.assertEqual(program.do("enable", "lttng"), 1)
        self.opened(program, "text", "text", self.path("log"))
        self.opened(program, "ctf", "ctf", self.path("trace"))
        self.opened(program, "stats", "stats", self.path("stats"), "json")
        daemon.lttng("create", "together", f"--output={daemon.path('lttng')}")
        daemon.lttng("enable-channel", "-s", "together", "-u", "--discard", "--subbuf-size=1M", "all")
        daemon.lttng("enable-event", "-s", "together", "-u", "several:*", "-c", "all")
        daemon.lttng("start", "together")
        program.do("hit", 100)
        daemon.lttng("stop", "together")
        recorded = reader(["babeltrace2", daemon.path("lttng")])
        self.check(sorted(self.events(recorded.stdout)), 0, 100)
        daemon.lttng("start", "together")
        program.do("hit", 100)
        daemon.kill()
        program.do("hit", 1000)
        for name in ("lttng", "text", "ctf", "stats"):
            self.assertEqual(program.do("close", name), 0, name)
        self.assertEqual(program.end(), (0, ""))
        self.check(self.events(read(self.path("log"))), 0, 1200)
        self.check(self.trace("trace"), 0, 1200)
        self.assertEqual(self.hits("stats"), THREADS * 1200)

    def test_trace_marker_closed(self) -> None:
        """The kernel's trace buffer is switched off, and on again."""
        need(self, "babeltrace2")
        instance = self.trace_instance()
        program = self.program()
        self.opened(program, "ftrace", "ftrace", instance)
        self.opened(program, "text", "text", self.path("log"))
        self.opened(program, "ctf", "ctf", self.path("trace"))
        for number, on in ((50, 0), (50, 1), (50, 1)):
            program.do("hit", number)
            with open(f"{instance}/tracing_on", "w", encoding="ascii") as file:
                file.write(str(on))
        marked = self.events(read(f"{instance}/trace"))
        program.do("close", "ftrace")
        for name in ("text", "ctf"):
            self.assertEqual(program.do("close", name), 0, name)
        status, said = program.end()
        self.assertEqual(status, 0)
        self.assertRegex(said, rf"\Atp: ftrace output: .*: tracing is off.*\ntp: ftrace output: records lost: {THREADS * 50} ")
        for thread in range(THREADS):
            self.assertEqual([n for of, n in marked if of == thread], [*range(50), *range(100, 150)])
        self.check(self.events(read(self.path("log"))), 0, 150)
        self.check(self.trace("trace"), 0, 150)

# SPDX-License-Identifier: MIT
"""A daemon's trace in chapters, by rotate=."""

from __future__ import annotations

import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from building import build  # noqa: E402
from daemons import HANDLER, NOBODY, Daemons, built  # noqa: E402
from support import PATIENCE, need, run  # noqa: E402

OPTIONS = ",packet=4K,rotate=3K"


class Chapters(Daemons):
    def setUp(self) -> None:
        super().setUp()
        need(self, "babeltrace2")
        os.mkdir(self.path("all"))

    def once(self, *command: str, name: str, options: str = "", said: str = "", status: int = 0) -> None:
        done = run(command, cwd=self.path("all"), timeout=PATIENCE,
                   env=self.environment(TP_ENABLE="*", TP_OUTPUT=f"ctf:{name}{OPTIONS}{options}"))
        self.assertEqual((done.returncode, done.stderr), (status, said))

    def traces(self) -> list[str]:
        return sorted(self.path(f"all/{name}") for name in os.listdir(self.path("all")))

    def all_records(self) -> list[int]:
        """Those of all traces, each of which can be read alone."""
        return sorted(n for trace in self.traces() for n in self.records(trace))

    def daemon(self, *steps: str, name: str, options: str = "") -> None:
        """Two forks and all descriptors closed; then it works."""
        self.once(self.program, "double", *steps, f"pid={self.path('pid')}", f"wait={self.path('go')}", name=name,
                  options=options)
        pid = self.pid()
        self.write("go", "")
        self.gone(pid)
        for file in ("go", "pid"):
            os.unlink(self.path(file))

    def test_in_a_handler_that_must_not_allocate(self) -> None:
        """Old chapters are removed there, too."""
        source = HANDLER.replace("trace_daemon_work(7);", "for (int i = 1; i <= 3000; i++)\n\t\ttrace_daemon_work(i);")
        self.assertNotEqual(source, HANDLER)
        program = build(self.path("program"), self.write("program.c", source), include=[built()])
        self.once(program, name="t-%p")
        self.assertEqual(self.all_records(), list(range(1, 3001)))
        self.assertGreater(len(self.traces()), 10)
        self.once(program, name="u-%p", options=",keep=2")
        kept = [self.records(trace) for trace in self.traces() if "/u-" in trace]
        self.assertEqual(len(kept), 3)
        last = sorted(n for records in kept for n in records)
        self.assertEqual(last, list(range(last[0], 3001)))

    def test_daemon(self) -> None:
        """It is the one that rotates, whatever its launcher has done."""
        for name in ("t-%p", "trace"):
            for steps, count in ((("closeall", "work=3000"), 3000), (("work=3000", "closeall"), 3000),
                                 (("closeall", "threads=500", "work=500"), 2500)):
                with self.subTest(name=name, steps=steps):
                    self.daemon(*steps, name=name)
                    self.assertEqual(self.all_records(), list(range(1, count + 1)))
                    self.assertGreater(len(self.traces()), 5)
                    run(["rm", "-rf", *self.traces()])

    def test_a_launcher_that_records(self) -> None:
        """With %p its daemon has chapters of its own."""
        self.once(self.program, "work=1", "double", "closeall", "work=3000", f"pid={self.path('pid')}", name="t-%p")
        self.gone(self.pid())
        self.assertEqual(self.all_records(), list(range(1, 3002)))
        self.assertGreater(len(self.traces()), 10)

    def test_started_again(self) -> None:
        """The chapters of the dead one are kept, or removed, as its last one is."""
        for end in ((), ("kill",)):
            status = -signal.SIGKILL if end else 0
            self.once(self.program, "work=1000", *end, name="trace", status=status)
            numbers = len(self.traces())
            self.once(self.program, "work=1", *end, name="trace", status=status)
            self.assertIn(self.path(f"all/trace.{numbers}"), self.traces())
            self.assertEqual(self.records(self.path("all/trace")), [1])
            self.assertEqual(len(self.all_records()), 1001)
            self.once(self.program, "work=1", name="trace", options=",keep=2")
            self.assertEqual(len(self.traces()), 3)
            run(["rm", "-rf", *self.traces()])

    def test_more_old_ones_than_are_removed_at_a_time(self) -> None:
        self.once(self.program, "work=15000", name="trace")
        self.assertGreater(len(self.traces()), 70)
        self.once(self.program, "work=1", name="trace", options=",keep=1")
        self.assertEqual(len(self.traces()), 2)

    def test_another_user(self) -> None:
        """Each chapter is his, as the first one."""
        self.need_root()
        os.chown(self.path("all"), NOBODY, NOBODY)
        self.once(self.program, f"user={NOBODY}", "work=1000", name="trace", options=f",owner={NOBODY}")
        self.assertGreater(len(self.traces()), 5)
        self.assertEqual({os.stat(trace).st_uid for trace in self.traces()}, {NOBODY})
        self.assertEqual(len(self.all_records()), 1000)

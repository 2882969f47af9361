# SPDX-License-Identifier: MIT
"""Filters on floating-point fields wherever a filter may stand: the environment, triggers, histograms, tp."""

from __future__ import annotations

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "control")]

from building import build  # noqa: E402
from reaching import Reaching  # noqa: E402
from support import run  # noqa: E402

PROGRAM = """
#include <unistd.h>
#include <tp/define_trace.h>
#include <tp/marker.h>

int main(int argc, char **argv)
{
	for (int i = 0; i < 8 || argc > 1; i++) {
		trace_mark(load, "n %d ms %g", i % 8, (i % 8 - 2) / 2.0);
		if (argc > 1)
			usleep(1000);
	}
	(void)argv;
	return 0;
}
"""


class Floats(Reaching):
    """ms is -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5."""

    def setUp(self) -> None:
        super().setUp()
        source = self.path("program.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(f"#define CREATE_TRACE_POINTS\n{PROGRAM}")
        self.loads = build(self.path(f"l{os.getpid()}"), source, include=[])

    def said(self, **variables: str) -> str:
        done = run([self.loads], env={**self.env, **variables})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def seen(self, text: str) -> list[int]:
        return [int(n) for n in re.findall(r"marker:load: n (\d)", text)]

    def test_environment(self) -> None:
        for filter_text, wanted in (("ms > 1.5", [6, 7]), ("ms<=-.5", [0, 1]), ("ms == 5e-1 || ms == -0", [2, 3]), ("!(ms <= inf)", []),
                                    ("n > 1 && ms < 1", [2, 3])):
            self.assertEqual(self.seen(self.said(TP_ENABLE=f"marker:load if {filter_text}")), wanted, filter_text)
        self.assertEqual(self.seen(self.said(TP_OUTPUT="text:stderr <- marker:load if ms >= 2.0")), [6, 7])
        self.assertIn("Illegal floating-point value, at '1.5s': a double is compared with numbers like 1.5",
                      self.said(TP_ENABLE="marker:load if ms > 1.5s"))
        self.assertIn("Illegal integer value, at '1.5': it is an integer; write n > 1", self.said(TP_ENABLE="marker:load if n > 1.5"))

    def test_triggers(self) -> None:
        self.assertEqual(self.seen(self.said(TP_ENABLE="marker:*", TP_TRIGGER="marker:load traceoff if ms >= 1e0")), [0, 1, 2, 3, 4])
        self.assertRegex(self.said(TP_TRIGGER="marker:load hist:keys=common_pid if ms != 0.0"), r"hitcount: +7\n")

    def test_tp(self) -> None:
        pid = str(self.start("loop", program=self.loads).pid)
        tp = self.begin("trace", "-p", pid, "-e", "marker:load if ms > 2.25")
        self.assertEqual([self.seen(self.next_line(tp.stdout)) for _ in range(3)], [[7]] * 3)
        self.interrupt(tp)
        out = self.counted(r"hitcount: +[1-9]", "hist", "-p", pid, "-e", "marker:load", "keys=n if ms < -0.75")
        self.assertEqual(re.findall(r"\{ n: +(\d+)", out), ["0"])
        self.done("outputs", "-p", pid, "--open", "text:/dev/null", "-e", "marker:load if ms > 1")
        self.assertIn("marker:load if ms > 1\n", self.done("filter", "-p", pid))
        self.done("filter", "-p", pid, "marker:load", "ms > 1.25")
        self.assertIn("marker:load if ms > 1.25\n", self.done("filter", "-p", pid))
        self.assertIn("write n <= 3", self.fails("filter", "-p", pid, "marker:load", "n < 3.5"))

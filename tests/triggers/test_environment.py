# SPDX-License-Identifier: MIT
"""TP_TRIGGER: triggers without a line of code in the program."""

from __future__ import annotations

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from driving import Driven  # noqa: E402
from support import read  # noqa: E402

OFF = 'failure traceoff if text ~ "a;b*" && code > 3'


class Environment(Driven):
    def outputs(self, *lines: str, trigger: str, enable: str = "shop:*", output: str = "text:stdout") -> list[str]:
        return self.drive(*lines, TP_TRIGGER=trigger, TP_ENABLE=enable, TP_OUTPUT=output)

    def test_each(self) -> None:
        self.assertEqual(self.outputs("failure 4 a;x", "failure 4 a;b", "order 1 1", "detail 2", "order 3 3",
                                      trigger=f"; {OFF} ;shop:detail, none:* traceon;"),
                         ["failure: code=4 text=a;x", "failure: code=4 text=a;b", "detail: n=2", "order: id=3 price=3"])
        self.assertEqual(self.stderr, "tp: TP_TRIGGER=shop:detail, none:* traceon: no event of this program is called 'none:*'\n")

    def test_for_each_output(self) -> None:
        self.outputs("order 1 1", "failure 4 a;b", "order 2 2", "detail 1", "order 3 3", trigger=f"{OFF}; detail traceon:1",
                     output="text:one; text:two <- order")
        for name in ("one", "two"):
            text = read(self.path(name))
            self.assertIn("id=1", text)
            self.assertNotIn("id=2", text)
            self.assertIn("id=3", text)
        self.quiet()

    def test_alone(self) -> None:
        """Nothing is enabled, but what triggers enable; the lines go to standard error."""
        self.drive("detail 1", "order 1 1", "detail 2", TP_TRIGGER="order enable_event:shop:detail")
        self.assertRegex(self.stderr, r"^\S+ \S+ shop:detail: n=2\n$")

    def test_several_lines(self) -> None:
        """The end of a line is a blank, for TP_ENABLE and TP_OUTPUT, too."""
        self.drive("order 1 1", "detail 1", "detail 2", TP_ENABLE="\norder;\n\tdetail\nif n == 1;\n",
                   TP_TRIGGER="order\n\ttraceon;\n\tshop:detail traceoff\n", TP_OUTPUT="text:one;\ntext:two\n<- detail\n")
        self.quiet()
        self.assertRegex(read(self.path("one")), r"^.* shop:order: .*\n.* shop:detail: n=1\n$")
        self.assertRegex(read(self.path("two")), r"^.* shop:detail: n=1\n$")

    def test_wrong(self) -> None:
        for trigger, why in (("order", "TP_TRIGGER=order: No trigger found, at the end: there are traceon"),
                             ("order stop", "No such trigger, at 'stop': there are traceon"),
                             ("a,,b traceoff", "no list of patterns"),
                             ("order !traceoff", "there is none to be taken off"),
                             ("order traceoff if id ===", "Invalid value (did you forget quotes)?, at '='")):
            with self.subTest(trigger):
                self.assertEqual(self.outputs("order 1 1", trigger=f"{trigger}; detail traceoff"), ["order: id=1 price=1"])
                self.assertIn(f"tp: TP_TRIGGER={trigger.strip()}", self.stderr)
                self.assertIn(why, self.stderr)
                self.assertIn("; it is not set\n", self.stderr)
                self.assertEqual(self.stderr.count("\n"), 1)

    def test_field_that_is_not_there(self) -> None:
        """The event of a module that comes later may have it."""
        self.outputs("order 1 1", trigger="order traceoff if code == 3")
        self.assertEqual(self.stderr.count("\n"), 1)
        self.assertIn("TP_TRIGGER=order traceoff if code == 3: for text:stdout: the filter does not fit 'shop:order', "
                      "which does not fire the trigger: Field not found", self.stderr)

    def test_target_that_is_not_there(self) -> None:
        """A module may bring it as long as the program runs."""
        self.outputs("order 1 1", trigger="order enable_event:shop:none:1 if id == 1; order disable_event:shop:detail")
        self.assertEqual(self.stderr, "tp: TP_TRIGGER=order enable_event:shop:none:1 if id == 1: no event of this program "
                                      "is called 'shop:none'\n")
        self.outputs("order 1 1", trigger="order enable_event:shop:det*")
        self.assertEqual(self.stderr, "tp: TP_TRIGGER=order enable_event:shop:det*: no event of this program is called "
                                      "'shop:det*'\n")

    def test_twice(self) -> None:
        self.outputs("order 1 1", trigger="order traceoff; shop:* traceon")
        self.assertEqual(self.stderr, "tp: TP_TRIGGER=shop:* traceon: for text:stdout: there is such a trigger on one of these "
                                      "events already; take that off first; it is not set\n")

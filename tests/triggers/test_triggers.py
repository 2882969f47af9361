# SPDX-License-Identifier: MIT
"""Triggers: what each does, how often, in which order; wrong ones; the end of them."""

from __future__ import annotations

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from driving import Driven  # noqa: E402

OPEN = ("open a", "enable a shop:order")


class Recording(Driven):
    def test_off_and_on(self) -> None:
        """The event that switches recording off is recorded, and so is the one that switches it on."""
        self.assertEqual(self.drive("open a", "enable a shop:*", "trigger a failure traceoff", "trigger a detail traceon",
                                    "order 1 2", "failure 3 x", "order 4 5", "failure 6 y", "detail 7", "order 8 9", "lost a"),
                         ["3", "1", "1", "order: id=1 price=2", "failure: code=3 text=x", "detail: n=7",
                          "order: id=8 price=9", "0"])

    def test_event_that_is_not_enabled(self) -> None:
        self.assertEqual(self.drive(*OPEN, "trigger a failure traceoff", "armed failure", "failure 1 x", "order 2 3",
                                    "trigger a failure !traceoff", "armed failure", "order 4 5"), ["1", "1", "1", "0", "0"])

    def test_count(self) -> None:
        """One that would change nothing does not count."""
        self.assertEqual(self.drive(*OPEN, "trigger a failure traceoff:2", "trigger a detail traceon", "failure 0 x",
                                    "failure 0 x", "list", "detail 0", "order 1 1", "failure 0 x", "order 2 2", "detail 0",
                                    "failure 0 x", "order 3 3", "list"),
                         ["1", "1", "1", "a detail traceon:unlimited", "a failure traceoff:count=1",
                          "order: id=1 price=1", "order: id=3 price=3",
                          "a detail traceon:unlimited", "a failure traceoff:count=0"])

    def test_tracing_is_switched_by_the_program(self) -> None:
        """As by the kernel's file tracing_on; a trigger and the program switch the same."""
        self.assertEqual(self.drive(*OPEN, "is_on a", "trigger a failure traceoff:1", "failure 1 x", "is_on a", "order 1 1", "on a", "on a",
                                    "order 2 2", "failure 1 x", "order 3 3", "off a", "order 4 4", "is_on a", "trigger a detail traceon",
                                    "detail 1", "order 5 5", "lost a", "list"),
                         ["1", "1", "1", "0", "order: id=2 price=2", "order: id=3 price=3", "0", "1", "order: id=5 price=5", "0",
                          "a detail traceon:unlimited", "a failure traceoff:count=0"])

    def test_filter(self) -> None:
        self.assertEqual(self.drive(*OPEN, 'trigger a failure traceoff if code >= 500 && text ~ "dis*"', "failure 500 x",
                                    "failure 404 disk", "order 1 1", "failure 503 disk", "order 2 2", "list"),
                         ["1", "1", "order: id=1 price=1", 'a failure traceoff:unlimited if code >= 500 && text ~ "dis*"'])

    def test_of_one_sink(self) -> None:
        self.assertEqual(self.drive("open a", "open b trace", "enable a order", "enable b order", "trigger b failure traceoff",
                                    "failure 1 x", "order 2 2", "list"),
                         ["1", "1", "1", "order: id=2 price=2", "b failure traceoff:unlimited"])

    def test_too_long_a_record(self) -> None:
        """Of a sink that is off, it is not lost."""
        self.assertEqual(self.drive("open a", "enable a failure", "trigger a detail traceoff", "detail 1",
                                    f"failure 1 {'x' * 70000}", "lost a"), ["1", "1", "0"])


class Events(Driven):
    def test_enabled_and_disabled(self) -> None:
        self.assertEqual(self.drive(*OPEN, "trigger a order enable_event:shop:detail if price > 100",
                                    "trigger a failure disable_event:shop:detail", "armed detail", "detail 1", "order 1 100",
                                    "detail 2", "order 2 101", "detail 3", "failure 1 x", "detail 4", "lost a", "list"),
                         ["1", "1", "1", "1", "order: id=1 price=100", "order: id=2 price=101", "detail: n=3", "0",
                          "a failure disable_event:shop:detail:unlimited",
                          "a order enable_event:shop:detail:unlimited if price > 100"])

    def test_count(self) -> None:
        self.assertEqual(self.drive(*OPEN, "trigger a order enable_event:shop:detail:1", "order 1 1", "detail 1",
                                    "disable a detail", "order 2 1", "detail 2", "list"),
                         ["1", "1", "order: id=1 price=1", "detail: n=1", "1", "order: id=2 price=1",
                          "a order enable_event:shop:detail:count=0"])

    def test_as_it_was(self) -> None:
        """The target is as it was until a trigger fires, and stays so when the last trigger goes."""
        self.assertEqual(self.drive("open a", "enable a detail", "trigger a order disable_event:shop:detail", "detail 1",
                                    "order 1 1", "detail 2", "trigger a order !disable_event:shop:detail", "detail 3",
                                    "armed detail", "trigger a order enable_event:shop:detail", "order 2 2",
                                    "trigger a order !enable_event:shop:detail", "detail 4", "armed detail"),
                         ["1", "1", "detail: n=1", "0", "0", "1", "0", "detail: n=4", "1"])

    def test_by_itself(self) -> None:
        """An event that enables itself is recorded at once."""
        self.assertEqual(self.drive("open a", "trigger a order enable_event:shop:order if id == 2", "order 1 0", "order 2 0",
                                    "order 3 0"), ["1", "order: id=2 price=0", "order: id=3 price=0"])

    def test_with_filter(self) -> None:
        """The target's own filter stays."""
        self.assertEqual(self.drive("open a", "enable a detail n > 5", "trigger a order disable_event:shop:detail",
                                    "trigger a failure enable_event:shop:detail", "detail 5", "detail 6", "order 1 1", "detail 7",
                                    "failure 1 x", "detail 4", "detail 8"),
                         ["1", "1", "1", "detail: n=6", "detail: n=8"])

    def test_several_targets(self) -> None:
        self.assertEqual(self.drive("open a", "trigger a order enable_event:shop:detail", "trigger a order enable_event:shop:failure",
                                    "order 1 1", "detail 1", "failure 2 x"),
                         ["1", "1", "detail: n=1", "failure: code=2 text=x"])


class Limits(Driven):
    BESIDE = "-17 there is such a trigger on one of these events already; take that off first"

    def test_one_of_a_kind(self) -> None:
        for first, second in (("traceoff", "traceon"), ("traceoff", "traceoff:5 if id == 1"),
                              ("enable_event:shop:detail", "disable_event:shop:detail:3")):
            with self.subTest(second):
                self.assertEqual(self.drive("open a", "open b trace", f"trigger a order {first}", f"trigger a shop:* {second}",
                                            f"trigger a detail {second.partition(' ')[0]}",
                                            f"trigger b order {second}", f"trigger a order !{first}", f"trigger a order {second}"),
                                 ["1", self.BESIDE, "1", "1", "0", "1"])

    def test_same_patterns_that_match_nothing(self) -> None:
        self.assertEqual(self.drive("open a", "trigger a none:* traceoff", "trigger a none:* traceoff"), ["0", self.BESIDE])

    def test_taken_off(self) -> None:
        self.assertEqual(self.drive("open a", "trigger a order traceoff:4 if id > 5", "trigger a shop:order !traceoff",
                                    "trigger a order !traceon", "trigger a order  !traceoff:9 if price < 0",
                                    "trigger a order !traceoff", "armed order", "list"),
                         ["1", "-2 there is no such trigger on shop:order", "-2 there is no such trigger on order", "0",
                          "-2 there is no such trigger on order", "0"])

    def test_closed_sink(self) -> None:
        """It takes its triggers along."""
        self.assertEqual(self.drive("open a", "open b trace", "trigger a order traceoff", "trigger a order enable_event:shop:detail",
                                    "trigger b order traceoff", "close a", "list", "armed detail", "close b", "list", "armed order"),
                         ["1", "1", "1", "0", "b order traceoff:unlimited", "0", "0", "0"])
        self.quiet()


class Wrong(Driven):
    def wrong(self, trigger: str, caret: int, message: str) -> None:
        with self.subTest(trigger):
            self.assertEqual(self.drive("open a", f"trigger a order {trigger}", "list", "armed order"),
                             [f"-22 {trigger}", " " * caret + "^", f"parse_error: {message}", "0"])

    def test_commands(self) -> None:
        known = ("there are traceon, traceoff, snapshot, stacktrace, enable_event, disable_event, hist, "
                 "enable_hist, disable_hist")
        self.wrong("stop", 0, f"No such trigger: {known}")
        self.wrong("!stop:3", 1, f"No such trigger: {known}")
        self.wrong("", 0, f"No trigger found: {known}")
        self.wrong("!", 1, f"No trigger found: {known}")
        self.wrong("traceoff2", 0, f"No such trigger: {known}")

    def test_targets(self) -> None:
        for trigger in ("enable_event", "enable_event:", "enable_event:shop", "enable_event:shop:", "enable_event::detail",
                        "enable_event:shop: if id == 1"):
            self.wrong(trigger, 12, "No event found: write enable_event:SYSTEM:EVENT")

    def test_counts(self) -> None:
        for count in ("", "x", "-1", "1x", "+1", "99999999999999999999", "1:2", "0xg"):
            self.wrong(f"traceoff:{count}", 9, "Illegal integer value")
        self.assertEqual(self.drive("open a", "trigger a order traceoff:0x10", "trigger a detail traceoff:010", "list"),
                         ["1", "1", "a detail traceoff:count=8", "a order traceoff:count=16"])

    def test_filters(self) -> None:
        self.wrong("traceoff id == 1", 9, "Invalid trigger: write if, and a filter behind it")
        self.wrong("traceoff:3 iff id == 1", 11, "Invalid trigger: write if, and a filter behind it")
        self.wrong("traceoff if ", 12, "No filter found")
        self.assertEqual(self.drive("open a", "trigger a order traceoff if id === 1", "trigger a order traceoff if ident == 1",
                                    "armed order", "list"),
                         ["-22 id === 1", "     ^", "parse_error: Invalid value (did you forget quotes)?",
                          "-22 ident == 1", "^",
                          "parse_error: Field not found: 'shop:order' has id, price, common_type, common_flags, "
                          "common_preempt_count, common_pid, cpu, comm", "0"])

    def test_some_events_lack_the_field(self) -> None:
        first, *rest = self.drive("open a", "trigger a shop:* traceoff if code > 1", "armed failure", "armed order")
        self.assertRegex(first, r"^1 the filter does not fit 2 of the events, which do not fire the trigger, as 'shop:\w+': "
                                r"Field not found, at 'code > 1'")
        self.assertEqual(rest, ["1", "0"])

    def test_target_that_is_not_there(self) -> None:
        """A module may bring it: the trigger is set. A target is a name, no pattern."""
        for target in ("no:such", "shop:*", "*:detail"):
            for command in ("enable_event", "disable_hist"):
                with self.subTest(f"{command}:{target}"):
                    self.assertEqual(self.drive("open a", f"trigger a order {command}:{target}", "list",
                                                f"trigger a order !{command}:{target}")[0],
                                     f"1 no event of this program is called '{target}' now; it counts when a module that has it "
                                     "is loaded")

    def test_target_that_is_not_there_and_events_that_lack_the_field(self) -> None:
        self.assertRegex(self.drive("open a", "trigger a order,failure enable_event:no:such if code > 1")[0],
                         r"^1 the filter does not fit 'shop:order', which does not fire the trigger: .*; no event of this "
                         r"program is called 'no:such' now; ")

    def test_patterns(self) -> None:
        self.assertEqual(self.drive("open a", "trigger a a,,b traceoff", "trigger - order traceoff"),
                         ["-22 no list of patterns; write for example sched:*,!sched:sched_wakeup",
                          "-22 this trigger acts on an output, and there is none"])


class Processes(Driven):
    def test_fork(self) -> None:
        """A child has the triggers of its parent, with what is left of their counts, and can take them off."""
        self.assertEqual(self.drive(*OPEN, "trigger a failure traceoff:2", "trigger a detail traceon", "fork", "failure 1 x",
                                    "order 1 1", "list", "trigger a failure !traceoff", "detail 1", "failure 2 x", "order 2 2",
                                    "trigger a failure traceoff", "failure 3 x", "order 3 3"),
                         ["1", "1", "1", "a detail traceon:unlimited", "a failure traceoff:count=1", "0",
                          "order: id=2 price=2", "1"])

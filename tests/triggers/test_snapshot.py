# SPDX-License-Identifier: MIT
"""Snapshots that events set off: what is in them, where they are, how many there are, and what goes wrong."""

from __future__ import annotations

import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from driving import Driven  # noqa: E402
from support import need, until  # noqa: E402

FLIGHT = "mode=flight,size=1M"
OPEN = (f"open a trace {FLIGHT}", "enable a shop:*")


class Snapshots(Driven):
    def setUp(self) -> None:
        super().setUp()
        need(self, "babeltrace2")

    def snapshots(self, directory: str = "") -> list[str]:
        return sorted(name for name in os.listdir(self.path(directory)) if "snapshot" in name)

    def events(self, name: str) -> list[str]:
        """Of a trace, each event's name and first field."""
        text = self.read_by("babeltrace2", self.path(name))
        return [f"{event} {value}" for event, value in re.findall(r"shop:(\w+): .*?\b(?:id|code|n) = (\d+)", text)]


class Contents(Snapshots):
    def test_holds_what_fired_it(self) -> None:
        self.assertEqual(self.drive(*OPEN, "trigger a failure snapshot:1", "order 1 1", "failure 2 x",
                                    "await trace-snapshot-1/metadata", "order 3 3", "failure 4 x", "list"),
                         ["3", "1", "a failure snapshot:count=0"])
        self.assertEqual(self.events("trace-snapshot-1"), ["order 1", "failure 2"])
        self.assertEqual(self.events("trace"), ["order 1", "failure 2", "order 3", "failure 4"])
        self.assertEqual(self.snapshots(), ["trace-snapshot-1"])
        self.quiet()

    def test_each(self) -> None:
        self.drive(*OPEN, "trigger a failure snapshot if code != 3", "failure 1 x", "await trace-snapshot-1/metadata", "order 2 2",
                   "failure 3 x", "failure 4 x", "await trace-snapshot-2/metadata")
        self.assertEqual(self.snapshots(), ["trace-snapshot-1", "trace-snapshot-2"])
        self.assertEqual(self.events("trace-snapshot-2"), ["failure 1", "order 2", "failure 3", "failure 4"])

    def test_waits_for_what_follows(self) -> None:
        def follows_in_time() -> bool:
            for name in ("trace", "trace-snapshot-1"):
                shutil.rmtree(self.path(name), True)
            self.drive(*OPEN, "trigger a failure snapshot:1:after=300ms", "failure 1 x", "order 2 2",
                       "await trace-snapshot-1/metadata", "order 3 3")
            since = re.findall(r"\(\+(\d+\.\d+)\)", self.read_by("babeltrace2", self.path("trace")))
            return float(since[0]) < 0.3

        until(follows_in_time, "a busy machine leaves the driver the time for an order")
        self.assertEqual(self.events("trace-snapshot-1"), ["failure 1", "order 2"])

    def test_requests_meanwhile(self) -> None:
        self.assertEqual(self.drive(*OPEN, "trigger a failure snapshot:after=1m", *(f"failure {i} x" for i in range(5)), "list"),
                         ["3", "1", "a failure snapshot:unlimited:after=60000ms"])
        self.assertEqual(self.snapshots(), ["trace-snapshot-1"])
        self.assertEqual(self.stderr, "tp: trigger 'failure snapshot': it has fired 4 times while a snapshot was asked for already: "
                                      "these have none of their own\n")


class OfHistograms(Snapshots):
    """onmax($V).snapshot() in a histogram."""

    HIST = "hist:keys=id:p=price:onmax($p).snapshot()"

    def test_largest(self) -> None:
        answers = self.drive(*OPEN, f"trigger a order {self.HIST}", "order 1 5", "await trace-snapshot-1/metadata", "order 2 4",
                             "order 1 6", "await trace-snapshot-2/metadata", "order 1 6", "list", "hist order")
        self.assertEqual(answers[:3], ["3", "1", "a order hist:keys=id:vals=hitcount:p=price:sort=hitcount:size=2048:onmax($p).snapshot()"
                                       " [active]"])
        self.assertEqual(self.snapshots(), ["trace-snapshot-1", "trace-snapshot-2"])
        self.assertEqual(self.events("trace-snapshot-1"), ["order 1"])
        self.assertEqual(self.events("trace-snapshot-2"), ["order 1", "order 2", "order 1"])
        self.assertIn("\ttriggering value { onmax($p) }:          6\ttriggered by event with key: { id:          1 }", answers)
        self.quiet()

    def test_paused_in_one_output(self) -> None:
        answers = self.drive(*OPEN, f"open b other {FLIGHT}", f"trigger a order {self.HIST}", f"trigger b order {self.HIST}",
                             f"trigger a order {self.HIST}:pause", "list")
        self.assertEqual([(line[0], line.split()[-1]) for line in answers[-2:]], [("b", "[active]"), ("a", "[paused]")])

    def test_needs_a_flight_recorder(self) -> None:
        answers = self.drive("open t", f"trigger - order {self.HIST}", f"trigger t order {self.HIST}", "open a trace",
                             f"trigger a order {self.HIST}", "list")
        self.assertEqual(answers, ["-22 this trigger acts on an output, and there is none",
                                   *["-95 a snapshot is of a flight recorder: ctf:DIRECTORY,mode=flight"] * 2])

    def test_goes_with_its_sink(self) -> None:
        self.assertEqual(self.drive(*OPEN, f"trigger a order {self.HIST}", "close a", "list", "armed order"), ["3", "1", "0", "0"])

    def test_taken_off(self) -> None:
        self.assertEqual(self.drive(*OPEN, f"trigger a order {self.HIST}", f"trigger a order !{self.HIST}", "list"), ["3", "1", "0"])

    def test_environment(self) -> None:
        self.drive("order 1 5", "exit", TP_OUTPUT=f"ctf:{self.path('trace')},{FLIGHT}", TP_TRIGGER=f"order {self.HIST}",
                   TP_HIST=self.path("hist"))
        self.assertEqual(self.snapshots(), ["trace-snapshot-1"])
        self.quiet()


class Ends(Snapshots):
    """What was asked for is taken."""

    FIRED = (*OPEN, "trigger a failure snapshot:after=1m", "failure 1 x", "order 2 2")

    def taken(self, *lines: str) -> None:
        self.drive(*self.FIRED, *lines)
        self.assertEqual(self.snapshots(), ["trace-snapshot-1"])
        self.assertEqual(self.events("trace-snapshot-1"), ["failure 1", "order 2"])
        self.quiet()

    def test_closed_sink(self) -> None:
        self.taken("close a", "order 3 3")

    def test_taken_off(self) -> None:
        self.taken("trigger a failure !snapshot", "order 3 3")

    def test_exit(self) -> None:
        self.taken("exit")

    def test_environment(self) -> None:
        self.drive("failure 1 x", "order 2 2", TP_OUTPUT=f"ctf:trace-%p,{FLIGHT}", TP_TRIGGER="failure snapshot:1")
        self.assertEqual(len(self.snapshots()), 1)
        self.assertRegex(self.snapshots()[0], r"^trace-\d+-snapshot-1$")
        self.assertIn("failure 1", self.events(self.snapshots()[0]))
        self.quiet()


class Places(Snapshots):
    def test_first_free_name(self) -> None:
        os.mkdir(self.path("trace-snapshot-1"))
        with open(self.path("trace-snapshot-2"), "w", encoding="utf-8"):
            pass
        self.drive(*OPEN, "trigger a failure snapshot", "failure 1 x")
        self.assertEqual(self.events("trace-snapshot-3"), ["failure 1"])
        self.quiet()

    def test_directory_that_is_passed(self) -> None:
        os.mkdir(self.path("in"))
        os.mkdir(self.path("for"))
        self.assertEqual(self.drive(f"open_in a in {FLIGHT}", "enable a shop:*", "trigger a failure snapshot",
                                    "trigger_in a for failure snapshot:2", "failure 1 x", "await for/snapshot-1/metadata",
                                    "failure 2 x"),
                         ["3", "-20 this trace has no path beside which a snapshot could be: a directory must be passed for it "
                          "(\"tp trigger --directory DIR\")",
                          "1"])
        self.assertEqual(self.snapshots("for"), ["snapshot-1", "snapshot-2"])
        self.assertEqual(self.events("for/snapshot-2"), ["failure 1", "failure 2"])
        self.quiet()

    def test_directory_that_is_gone(self) -> None:
        """The next one is tried for again."""
        os.mkdir(self.path("here"))
        self.drive(f"open a here/trace {FLIGHT}", "enable a shop:*", "trigger a failure snapshot", "move here there", "failure 1 x",
                   "await message", "move there here", "failure 2 x", TP_LOG="message")
        with open(self.path("message"), encoding="utf-8") as file:
            self.assertEqual(re.sub(r".*tp", "tp", file.read(), count=1),
                             "tp: trigger 'failure snapshot': there is no snapshot: No such file or directory; "
                             "the next is tried for again\n")
        self.assertEqual(self.snapshots("here"), ["trace-snapshot-1"])
        self.assertEqual(self.events("here/trace-snapshot-1"), ["failure 1", "failure 2"])


class Wrong(Snapshots):
    def test_sinks(self) -> None:
        recorder = "-95 a snapshot is of a flight recorder: ctf:DIRECTORY,mode=flight"
        self.assertEqual(self.drive("open a", "open b trace", "trigger a failure snapshot", "trigger b failure snapshot:1", "list",
                                    "armed failure"), [recorder, recorder, "0"])

    def test_times(self) -> None:
        for after in ("", "5", "s", "5h", "-5s", "5s:1", "5.5s", "99999999999s"):
            self.assertEqual(self.drive(f"open a trace-{after} {FLIGHT}", f"trigger a order snapshot:3:after={after}"),
                             [f"-22 snapshot:3:after={after}", " " * 17 + "^",
                              "parse_error: Illegal time: write after=500ms, after=5s or after=1m"])
        self.assertEqual(self.drive(f"open a trace {FLIGHT}", "trigger a order snapshot:after=5s:3")[2],
                         "parse_error: Illegal time: write after=500ms, after=5s or after=1m")
        self.assertEqual(self.drive("open a", "trigger a order traceoff:after=5s")[2], "parse_error: Illegal integer value")

    def test_one_of_an_event(self) -> None:
        self.assertEqual(self.drive(*OPEN, "trigger a order snapshot", "trigger a order snapshot:1:after=5s", "trigger a order traceoff",
                                    "trigger a order !snapshot:7:after=8m", "list")[2:],
                         ["-17 there is such a trigger on one of these events already; take that off first", "1", "0",
                          "a order traceoff:unlimited"])


class Processes(Snapshots):
    def test_child(self) -> None:
        """It takes its own; what the parent has asked for is the parent's."""
        self.drive(*OPEN, "trigger a failure snapshot:after=1m", "failure 1 x", "fork", "order 2 2", "exit")
        self.assertEqual(self.snapshots(), ["trace-snapshot-1"])
        self.assertEqual(self.events("trace-snapshot-1"), ["failure 1"])

    def test_child_that_fires(self) -> None:
        self.drive(*OPEN, "trigger a failure snapshot", "order 1 1", "fork", "failure 2 x", "await trace-snapshot-1/metadata",
                   "failure 3 x", "await trace-snapshot-2/metadata")
        self.assertEqual(self.events("trace-snapshot-1"), ["failure 2"])
        self.assertEqual(self.events("trace-snapshot-2"), ["failure 2", "failure 3"])
        self.quiet()

    def test_thread_only_while_there_is_a_trigger(self) -> None:
        self.assertEqual(self.drive(*OPEN, "threads", "trigger a order traceon", "threads", "trigger a failure snapshot",
                                    "trigger a order snapshot", "threads", "trigger a failure !snapshot", "threads",
                                    "trigger a order !snapshot", "threads"),
                         ["3", "1", "1", "1", "1", "1", "2", "0", "2", "0", "1"])

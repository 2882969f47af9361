# SPDX-License-Identifier: MIT
"""Synthetic events in traces, for every reader, and in the environment. tests/unit/test_synthetic.c has the rest."""

from __future__ import annotations

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from building import build, generate  # noqa: E402
from support import BUILD, ROOT, Case, need, read, run  # noqa: E402

INTERNAL = ["-iquote", os.path.join(ROOT, "runtime/src")]

BEFORE = "lat=9223372036854775808 pid=42 comm=a rather long n peer=10.0.0.1"
AGAIN = "name=again lat=2"


class Traces(Case):
    def setUp(self) -> None:
        super().setUp()
        build(self.path("driver"), os.path.join(HERE, "driver.c"), flags=INTERNAL)
        self.text = self.succeed([self.path("driver"), self.dir]).stdout
        self.tp = os.path.join(BUILD, "tp")

    def test_text(self) -> None:
        self.assertEqual(re.findall(r"synthetic:(.*)", self.text), [
            f"before: {BEFORE}",
            "behind: a=-5 one=first stack=STACK: => 0x1 => 0x2 => 0x3 b=65535 two=second",
            "behind: a=5 one= stack=STACK: b=0 two=(null)",
            f"before: {AGAIN}"])

    def test_babeltrace2(self) -> None:
        need(self, "babeltrace2")
        found = re.findall(r"synthetic:(\w+): .*?\{ (?:tid|_tid) = \d+ \}, \{ (.*) \}",
                           self.read_by("babeltrace2", self.path("trace")))
        values = [(name, re.sub(r"(\w+_loc|___?\w+) = (\{.*?\}|\d+), |___?\w*(length|loc) = (\{.*?\}|\d+), ", "", fields))
                  for name, fields in found]
        self.assertEqual(values[0], ("before", 'lat = 9223372036854775808, pid = 42, comm = "a rather long n", '
                                               'peer = "10.0.0.1"'))
        self.assertIn('one = "first"', values[1][1])
        self.assertIn('stack = [ [0] = 1, [1] = 2, [2] = 3 ]', values[1][1])
        self.assertIn('two = "second"', values[1][1])
        self.assertIn('two = "(null)"', values[2][1])
        self.assertEqual(values[3], ("before", 'lat = 2, name = "again"'))

    def test_tp_report(self) -> None:
        lines = self.succeed([self.tp, "report", self.path("trace")]).stdout
        self.assertIn(f"synthetic:before: {BEFORE}\n", lines)
        self.assertIn("synthetic:behind: a=-5 one=first stack={0x1,0x2,0x3} b=65535 two=second\n", lines)
        self.assertIn("synthetic:behind: a=5 one= stack={} b=0 two=(null)\n", lines)
        self.assertIn(f"synthetic:before: {AGAIN}\n", lines)

    def test_trace_dat(self) -> None:
        need(self, "trace-cmd")
        self.succeed([self.tp, "convert", "--to", "trace.dat", self.path("trace"), "-o", self.path("trace.dat")])
        lines = self.succeed(["trace-cmd", "report", "-i", self.path("trace.dat")]).stdout
        self.assertRegex(lines, rf"before: +{re.escape(BEFORE)}\n")
        self.assertRegex(lines, rf"before: +{AGAIN}\n")
        self.assertRegex(lines, r"behind: +a=-5 one=first stack=1 2 3 b=65535 two=second\n")


class Environment(Case):
    def run_with(self, definitions: str, **environment: str) -> tuple[list[str], list[str]]:
        """The events that a text sink wrote, and the messages."""
        generate(self.dir, self.write("none.tp", "#define TRACE_SYSTEM none\n"))
        build(self.path("program"), os.path.join(HERE, "environment.c"), include=[self.dir], flags=INTERNAL)
        done = run([self.path("program")], env={**os.environ, "TP_SYNTHETIC": definitions, "TP_ENABLE": "synthetic:*",
                                                "TP_OUTPUT": f"text:{self.path('out')}", **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("out"), encoding="ascii") as file:
            return re.findall(r"synthetic:(.*)", file.read()), done.stderr.splitlines()

    def test_two(self) -> None:
        for between in ("|", "\n", " |\n | "):
            with self.subTest(between=between):
                events, messages = self.run_with(f" one u64 a; char b[] {between}two u64 x; char y[];")
                self.assertEqual(events, ["one: a=7 b=text", "two: x=7 y=text"])
                self.assertEqual(messages, [])
                os.remove(self.path("out"))

    def test_a_filter(self) -> None:
        self.assertEqual(self.run_with("one u64 a; char b[] | two u64 a; char b[]",
                                       TP_ENABLE='synthetic:* if a > 7; synthetic:two if b ~ "t*"'),
                         (["two: a=7 b=text"], []))

    def test_mistakes(self) -> None:
        events, messages = self.run_with("one u64 a; char b[] | two u46 a | one u64 x | !three | four")
        self.assertEqual(events, ["one: a=7 b=text"])
        self.assertEqual(len(messages), 4)
        self.assertRegex(messages[0], r"^tp: TP_SYNTHETIC=two u46 a: Invalid type, at 'u46 a': there are s64, .*; there is no such event$")
        self.assertEqual(messages[1], "tp: TP_SYNTHETIC=one u64 x: Event already exists, at 'one u64 x'; there is no such event")
        self.assertRegex(messages[2], "^tp: TP_SYNTHETIC=!three: Event not found")
        self.assertRegex(messages[3], "^tp: TP_SYNTHETIC=four: Command must be of the form")

    def test_what_is_wrong_with_a_long_one(self) -> None:
        """The message shows its beginning, so that the reason is not cut off."""
        _, messages = self.run_with(f"{'n' * 70000} u64 a")
        self.assertRegex(messages[0], r"^tp: TP_SYNTHETIC=n{400}\.\.\.: Illegal name, at 'n+\.\.\.': an event's has at most 255 "
                                      "bytes; there is no such event$")

    def test_the_longest_name(self) -> None:
        """LTTng's are shorter, and its sink says so; to the others it is one like any other."""
        need(self, "babeltrace2")
        name = "n" * 255
        outputs = [f"{kind}:{self.path(kind)}" for kind in ("ctf", "stats")]
        self.assertEqual(self.run_with(f"{name} u64 a", TP_OUTPUT=";".join([f"text:{self.path('out')}", *outputs])),
                         ([f"{name}: a=7"], []))
        self.assertIn(f"synthetic:{name}: ", self.read_by("babeltrace2", self.path("ctf")))
        self.assertRegex(read(self.path("stats")), rf"(?m)^synthetic:{name} +1 ")
        _, messages = self.run_with(f"{name} u64 a", TP_OUTPUT=f"text:{self.path('out')};lttng:")
        self.assertRegex(messages[0], rf"^tp: (event 'synthetic:{name}' stays off in a LTTng output, which can't describe it: "
                                      "File name too long$|.*LTTng)")

# SPDX-License-Identifier: MIT
"""stacktrace: the functions that have led to an event."""

from __future__ import annotations

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from building import build, generate  # noqa: E402
from driving import Driven  # noqa: E402
from support import need, read, run  # noqa: E402

OPEN = ("open a", "enable a shop:order")


class Stacks(Driven):
    def test_behind_its_event(self) -> None:
        """The first caller is the function that has hit the tracepoint."""
        lines = self.drive(*OPEN, "trigger a order stacktrace:2 if id > 1", "order 1 0", "order 2 0", "order 3 0", "order 4 0",
                           "list")
        self.assertEqual([line.partition(":")[0] for line in lines],
                         ["1", "1", "order", "order", "stacktrace", "order", "stacktrace", "order", "a order stacktrace"])
        self.assertEqual(lines[-1], "a order stacktrace:count=0 if id > 1")
        self.assertIn("stacktrace: => driver(+0x", lines[4])
        self.quiet()

    def test_event_that_is_not_enabled(self) -> None:
        lines = self.drive("open a", "trigger a failure stacktrace", "failure 1 x", "order 1 1", "trigger a failure !stacktrace",
                           "failure 2 x")
        self.assertEqual([line.partition(":")[0] for line in lines], ["1", "stacktrace", "0"])

    def test_sink_that_is_off(self) -> None:
        """The stack of the event that switches recording off is the last record."""
        lines = self.drive(*OPEN, "trigger a order stacktrace", "trigger a order traceoff", "order 1 1", "order 2 2", "lost a")
        self.assertEqual([line.partition(":")[0] for line in lines], ["1", "1", "1", "order", "stacktrace", "0"])

    def test_only_then_is_there_such_an_event(self) -> None:
        self.assertEqual(self.drive("open a", "trigger a order traceon", "open b trace", "enable b tp:*",
                                    "trigger a order stacktrace", "enable b tp:*,shop:*"), ["1", "0", "1", "3"])

    def test_trace(self) -> None:
        need(self, "babeltrace2")
        self.drive("open a trace", "enable a shop:order", "trigger a order stacktrace:1", "order 1 1", "order 2 2")
        text = self.read_by("babeltrace2", self.path("trace"))
        self.assertEqual(re.findall(r"(shop:order|tp:stacktrace)", text), ["shop:order", "tp:stacktrace", "shop:order"])
        self.assertEqual(text.count(f'path = "{os.path.join(self.directory, "driver")}"'), 2)  # when it is set, and at the end
        self.assertRegex(text, r"caller = \[ \[0\] = 0x[0-9A-F]+, \[1\] = 0x")
        with open(self.path("trace/format/tp"), encoding="utf-8") as file:
            self.assertIn("field:__data_loc unsigned long[] caller;	offset:8;	size:4;", file.read())

    def test_trace_can_be_resolved(self) -> None:
        """Each address is in a mapping; the offset in the program's file is what addr2line takes."""
        need(self, "babeltrace2")
        program = build(self.path("named"), os.path.join(HERE, "named.c"), include=[self.directory], libtp="static")
        self.succeed([program], env={**os.environ, "TP_OUTPUT": f"ctf:{self.path('trace')} <- none",
                                     "TP_TRIGGER": "shop:order stacktrace"})
        text = self.read_by("babeltrace2", self.path("trace"))
        mappings = [(int(start, 16), int(end, 16), int(offset, 16), path, build_id) for start, end, offset, path, build_id in re.findall(
            r'start = (0x\w+), end = (0x\w+), offset = (0x\w+), .*?path = "([^"]*)", .*?build_id = "([^"]*)"', text)]
        callers = [int(caller, 16) for caller in re.findall(r"\[\d+\] = (0x\w+)", text)]
        self.assertGreaterEqual(len(callers), 4)
        for caller in callers:
            self.assertTrue(any(start <= caller < end for start, end, *_ in mappings), hex(caller))
        own = [mapping for mapping in mappings if mapping[3] == program][0]
        notes = self.succeed(["readelf", "-n", program]).stdout
        self.assertIn(f"Build ID: {own[4]}", notes)
        for caller, name in zip(callers, ("inner", "outer", "main")):
            names = self.succeed(["addr2line", "-f", "-i", "-e", program, hex(caller - own[0] + own[2])]).stdout
            self.assertEqual(names.split("\n")[:-1:2][-1], name)  # others may be inlined there

    def test_names(self) -> None:
        """Global functions of a program that exports its symbols, in all ways to call probes."""
        for flags in (("-O2",), ("-O0",), ("-O2", "-DTP_STATIC_KEYS=0")):
            with self.subTest(flags):
                program = build(self.path("named"), os.path.join(HERE, "named.c"), include=[self.directory], libtp="whole",
                                flags=flags)
                text = self.succeed([program], env={**os.environ, "TP_OUTPUT": "text:stdout <- none",
                                                    "TP_TRIGGER": "shop:* stacktrace"}).stdout
                stacks = re.findall(r"stacktrace: (.*)", text)
                self.assertEqual(len(stacks), 3)
                for stack in stacks[:2]:
                    self.assertRegex(stack, r"^=> (named\(\S+ => )?inner\+0x\S+ => outer\+0x\S+ => main\+0x\S+ => ")
                self.assertRegex(stacks[2], r"^=> (named\(\S+ => )?handler\+0x\S+ => .* => outer\+0x\S+ => main\+0x")

    def test_unwinder_is_loaded_when_it_is_wanted(self) -> None:
        """By the first stack; or while it can be, if the process has a sandbox, or listens for requests."""
        program = build(self.path("named"), os.path.join(HERE, "named.c"), include=[self.directory], libtp="shared")
        directory = self.path("control")
        os.mkdir(directory, 0o700)
        for env, loaded in (({"TP_TRIGGER": "shop:* traceon"}, False), ({"TP_TRIGGER": "shop:* stacktrace"}, True),
                            ({"TP_SANDBOX": "1"}, True), ({"TP_CONTROL": directory}, True)):
            env = {**os.environ, "TP_OUTPUT": "text:stdout <- none", "TP_CONTROL": "0", **env,
                   "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": self.path("loader")}
            with self.subTest(env=env), subprocess.Popen([program], env=env, stdout=subprocess.DEVNULL) as process:
                self.assertEqual(process.wait(), 0)
                self.assertEqual("libgcc_s" in read(f"{self.path('loader')}.{process.pid}"), loaded)

    def test_without_an_unwinder(self) -> None:
        """The trigger is refused; a histogram that has no stacks needs none."""
        program = build(self.path("named"), os.path.join(HERE, "named.c"), include=[self.directory], libtp="shared")
        self.write("libgcc_s.so.1", "no library")
        env = {**os.environ, "TP_OUTPUT": "text:stdout <- shop:order", "TP_CONTROL": "0", "LD_LIBRARY_PATH": self.dir,
               "TP_TRIGGER": "shop:* stacktrace; shop:order hist:keys=id", "TP_HIST": self.path("hist")}
        done = run([program], env=env)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout.count("shop:order: "), 1)
        self.assertRegex(done.stderr, r"\Atp: [^\n]*stacktrace[^\n]*: stacks can't be read, as libgcc_s\.so\.1 can't be loaded; it is not set\n\Z")
        self.assertIn("{ id:", read(self.path("hist")))

    def test_static_program(self) -> None:
        """Its tables of functions are not known yet when the trigger is set by the environment."""
        static = ["-static", "-lurcu-bp", "-lurcu-common"]
        program = build(self.path("named"), os.path.join(HERE, "named.c"), include=[self.directory], libtp="static", link=static)
        text = self.succeed([program], env={**os.environ, "TP_OUTPUT": "text:stdout <- none", "TP_TRIGGER": "shop:* stacktrace"}).stdout
        self.assertEqual([len(stack.split("=>")) > 3 for stack in re.findall(r"stacktrace: (.*)", text)], [True] * 3)

    def test_each_place_has_one_stack(self) -> None:
        """However its probes are called: a histogram of stacks has one entry for it."""
        generate(self.dir, os.path.join(HERE, "ways.tp"))
        places = ["place_marker", "place_one", "place_real", "place_two"]
        for flags, condition in ((("-O2",), ""), (("-O2",), " if n >= 0"), (("-O3",), ""), (("-O1",), ""), (("-O0",), ""),
                                 (("-O2", "-DTP_STATIC_KEYS=0"), "")):
            with self.subTest(flags, condition=condition):
                program = build(self.path("ways"), os.path.join(HERE, "ways.c"), include=[self.dir], libtp="whole", flags=flags)
                text = self.succeed([program], env={
                    **os.environ, "TP_OUTPUT": "text:stdout <- none", "TP_HIST": self.path("hist"),
                    "TP_TRIGGER": f"ways:*,marker:* stacktrace{condition}; ways:*,marker:* hist:keys=stacktrace{condition}"}).stdout
                trace_x = r"(?:ways\(\S+ => )?" if flags == ("-O0",) else ""  # there it is a function of its own
                stacks = re.findall(rf"stacktrace: => {trace_x}((\w+)\+0x.*)", text)
                self.assertEqual(len(stacks), len(places) * 16, text)
                self.assertEqual([place for _, place in sorted(set(stacks))], places)
                with open(self.path("hist"), encoding="utf-8") as file:
                    counted = re.findall(r"\{ common_stacktrace:\n([^}]*)\} hitcount: +(\d+)\n", file.read())
                self.assertEqual(sorted((place, count) for stack, count in counted for place in re.findall("place_[a-z]*", stack)),
                                 [(place, "16") for place in places])


class Counts(Driven):
    def test_exactly_as_often(self) -> None:
        """However many threads fire it."""
        build(self.path("many"), os.path.join(HERE, "many.c"), include=[self.directory])
        for times in (1, 1000):
            done = self.succeed([self.path("many"), str(times)])
            self.assertEqual(done.stdout.count("tp:stacktrace:"), times)

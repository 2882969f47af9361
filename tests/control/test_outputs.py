# SPDX-License-Identifier: MIT
"""tp outputs, enable, disable and list: what lasts after tp has ended."""

from __future__ import annotations

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from reaching import Reaching  # noqa: E402
from support import read, until  # noqa: E402


class Outputs(Reaching):
    def setUp(self) -> None:
        super().setUp()
        self.process = self.start("loop")
        self.pid = str(self.process.pid)

    def test_open_and_close(self) -> None:
        out = self.done("outputs", "-p", self.pid, "--open", "text:lines", "-e", "served_idle")
        self.assertEqual(out, "output 1, text:lines, is open; 1 event is enabled\n")
        until(lambda: read(self.path("lines")).count("\n") > 3)
        self.assertNotIn("served_request", read(self.path("lines")))
        out = self.done("outputs", "-p", self.pid)
        self.assertRegex(out, r"\A   ID OPENED BY   EVENTS     LOST OUTPUT\n"
                              rf"    1 kept             1        0 text:{self.path('lines')}\n       enable served_idle\n\Z")
        self.assertEqual(os.stat(self.path("lines")).st_mode & 0o777, 0o600)
        # Another one knows it by its name.
        out = self.done("outputs", "-p", self.name, "--close", "text:lines")
        self.assertEqual(out, f"output 1, text:{self.path('lines')}, is closed; lost: 0\n")
        self.left_alone(self.process.pid)

    def test_perfetto(self) -> None:
        """tp makes the file and passes it on; a process that writes to it keeps it. tests/perfetto has what is in it."""
        self.done("outputs", "-p", self.pid, "--open", "perfetto:out", "-e", "served_idle")
        until(lambda: read(self.path("out")).count("served_idle") > 0)
        self.assertIn(f" perfetto:{self.path('out')}\n", self.done("outputs", "-p", self.pid))
        said = self.fails("outputs", "-p", self.pid, "--open", "perfetto:out")
        self.assertIn(f"'{self.path('out')}' can't be made: File exists; a process writes to it", said)
        self.assertIn("lost: 0", self.done("outputs", "-p", self.pid, "--close", "1"))
        self.done("outputs", "-p", self.pid, "--open", "perfetto:out")
        self.assertIn("it is no regular file", self.fails("outputs", "-p", self.pid, "--open", f"perfetto:{self.dir}"))
        self.assertIn("perfetto: wants the name of a file", self.fails("outputs", "-p", self.pid, "--open", "perfetto:"))

    def test_the_process_in_the_name(self) -> None:
        other = str(self.start("loop").pid)
        for kind, options in ("text", ""), ("ctf", ",mode=flight"):
            self.done("outputs", "-p", self.pid, "-p", other, "--open", f"{kind}:{kind}-%p{options}")
            shown = self.done("outputs", "-p", self.pid, "-p", other)
            self.assertNotIn("%p", shown)
            for pid in self.pid, other:
                self.assertIn(f" {kind}:{self.path(kind)}-{pid}", shown)
                self.assertTrue(os.path.exists(self.path(f"{kind}-{pid}")))

    def test_tracing(self) -> None:
        self.done("outputs", "-p", self.pid, "--open", "text:lines", "-e", "served_idle")
        out = self.done("outputs", "-p", self.pid, "--off", "lines")
        self.assertEqual(out, f"output 1, text:{self.path('lines')}: tracing is off\n")
        self.assertIn("       tracing is off\n       enable served_idle\n", self.done("outputs", "-p", self.pid))
        # Behind another hit, the thread is not in the middle of its last line any more.
        self.counted("^served:served_idle +[1-9]", "stat", "-p", self.pid, "-e", "served_idle")
        size = os.path.getsize(self.path("lines"))
        self.assertEqual(self.done("outputs", "-p", self.pid, "--off", "1"), out)
        self.assertEqual(os.path.getsize(self.path("lines")), size)
        self.done("outputs", "-p", self.pid, "--on", "1")
        self.assertNotIn("tracing is off", self.done("outputs", "-p", self.pid))
        until(lambda: os.path.getsize(self.path("lines")) > size)
        self.assertIn("has no output '2'", self.fails("outputs", "-p", self.pid, "--on", "2"))
        self.done("trigger", "-p", self.pid, "served_idle", "traceoff:1")
        until(lambda: "tracing is off" in self.done("outputs", "-p", self.pid))
        self.assertIn("lost: 0", self.done("outputs", "-p", self.pid, "--close", "1"))

    def test_append(self) -> None:
        self.write("lines", "first\n")
        self.done("outputs", "-p", self.pid, "--open", "text:lines")
        until(lambda: read(self.path("lines")).count("\n") > 3)
        self.assertTrue(read(self.path("lines")).startswith("first\n"))

    def test_enable_without_an_output(self) -> None:
        """What is told opens one."""
        said = self.fails("enable", "-p", self.pid, "served_idle")
        self.assertIn('has no output; "tp outputs --open" opens one, such as --open ctf:DIR,mode=flight', said)
        self.done("outputs", "-p", self.pid, *said.strip().rpartition("such as ")[2].split(" "), "-e", "served_idle")
        self.assertRegex(self.done("enable", "-p", self.pid, "served:*"), r"\A1 event enabled on output 1, ctf:\S*DIR,mode=flight\n\Z")

    def test_enable_and_disable(self) -> None:
        self.assertIn("has no output", self.fails("enable", "-p", self.pid, "served_idle"))
        self.done("outputs", "-p", self.pid, "--open", "text:/dev/null", "-e", "served_idle")
        self.assertEqual(self.done("enable", "-p", self.pid, "served:*"), "1 event enabled on output 1, text:/dev/null\n")
        self.assertEqual(self.enabled(self.process.pid), ["served:served_idle", "served:served_request"])
        self.assertEqual(self.done("disable", "-p", self.pid, "served_idle"), "1 event disabled on output 1, text:/dev/null\n")
        self.assertEqual(self.enabled(self.process.pid), ["served:served_request"])
        self.assertEqual(re.findall(r"^ +(enable|disable) (\S+)$", self.done("outputs", "-p", self.pid), re.M),
                         [("enable", "served:*"), ("disable", "served_idle")])
        self.done("outputs", "-p", self.pid, "--open", "stats:counts")
        said = self.fails("enable", "-p", self.pid, "served_idle")
        self.assertIn("more than one output: say which of 1 (text:/dev/null), 2 (stats:counts)", said)
        self.done("enable", "-p", self.pid, "-o", "counts", "served_idle")
        self.assertIn("has no output '9'; it has 1 (text:/dev/null), 2 (stats:counts)",
                      self.fails("disable", "-p", self.pid, "-o", "9", "served_idle"))
        self.assertIn("is no list of patterns", self.fails("disable", "-p", self.pid, "-o", "1", ","))
        self.fails("disable", "-p", self.pid, status=2)

    def test_kinds(self) -> None:
        for kind in ("stats:counts,field=served_request.n", "ctf:trace,packet=4K", "sdt:"):
            self.assertIn("is open; 2 events are enabled", self.done("outputs", "-p", self.pid, "--open", kind), kind)
        self.assertIn("field=", self.fails("outputs", "-p", self.pid, "--open", "stats:more,field=-"))
        self.assertIn("no kind of output 'tape'", self.fails("outputs", "-p", self.pid, "--open", "tape:x"))
        self.assertIn("takes KIND:NAME", self.fails("outputs", "-p", self.pid, "--open", "text"))
        self.assertIn("wants the name of a file", self.fails("outputs", "-p", self.pid, "--open", "text:"))
        self.assertIn("can't be opened: No such file", self.fails("outputs", "-p", self.pid, "--open", "text:no/such/file"))
        os.mkfifo(self.path("fifo"))
        self.assertIn("nobody reads the pipe", self.fails("outputs", "-p", self.pid, "--open", "text:fifo"))
        self.assertEqual(len(self.outputs(self.process.pid)), 3)

    def test_output_of_tp(self) -> None:
        """A pipe that outlives tp."""
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        tp = self.begin("outputs", "-p", self.pid, "--open", "text:stdout", stdout=writing)
        os.close(writing)
        self.assertEqual(tp.wait(), 0)
        text = b""
        while text.count(b"\n") < 5:
            text += os.read(reading, 65536)
        self.assertIn(b"served:served_request: n=", text)

    def test_who_may_close(self) -> None:
        """The environment's outputs, but not another session's."""
        other = self.start("loop", env={"TP_OUTPUT": f"ctf:{self.path('trace')}"})
        tp = self.begin("trace", "-p", str(other.pid), stdout=subprocess.DEVNULL)
        until(lambda: len(self.outputs(other.pid)) == 2)
        self.assertEqual(self.outputs(other.pid), [f"environment ctf:{self.path('trace')}", "session text:tp-trace"])
        self.assertIn("another connection", self.fails("outputs", "-p", str(other.pid), "--close", "tp-trace"))
        self.done("outputs", "-p", str(other.pid), "--close", "1")
        self.interrupt(tp)

    def test_wrong_patterns_leave_nothing(self) -> None:
        self.assertIn("is no list of patterns", self.fails("outputs", "-p", self.pid, "--open", "text:/dev/null", "-e", ","))
        self.assertEqual(self.outputs(self.process.pid), [])

    def test_called_wrongly(self) -> None:
        for args in ((), ("-p", self.pid, "-e", "x"), ("--children",), ("-p", self.pid, "x")):
            self.fails("outputs", *args, status=2)


class List(Reaching):
    def test_events(self) -> None:
        process = self.start("loop", env={"TP_OUTPUT": "text:/dev/null;stats:" + self.path("counts"), "TP_ENABLE": "served_idle"})
        out = "".join(sorted(self.done("list", "-p", str(process.pid)).splitlines(keepends=True)))
        self.assertRegex(out, r"\Aserved:served_idle +DEBUG_LINE +.*served\.tp:19 +on:1,2\n"
                              r"served:served_request +DEBUG_LINE +.*served\.tp:5 +off\n\Z")
        self.assertEqual(self.done("list", "-p", self.name, "*_idle").count("\n"), 1)
        self.assertIn("has no event that matches 'x'", self.fails("list", "-p", self.name, "x"))
        self.assertIn("is no list of patterns", self.fails("list", "-p", self.name, ","))

    def test_same_as_of_the_file(self) -> None:
        """But for on and off."""
        process = self.start("loop")
        for more in ((), ("-v",), ("-v", "served_idle")):
            ours = self.done("list", "-p", str(process.pid), *more)
            self.assertEqual(re.sub(r" +off$", "", ours, flags=re.M), self.done("list", self.program, *more))

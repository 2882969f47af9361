# SPDX-License-Identifier: MIT
"""tp convert --to json: a line an event, for jq and log pipelines. tests/roundtrip/test_random.py compares the values."""

from __future__ import annotations

import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "trace_dat"))

from dat import Recorded  # noqa: E402
from support import BUILD, PACKET_HEAD, need, read, run  # noqa: E402

TP = os.path.join(BUILD, "tp")


class Json(Recorded):
    # ---- Steps ----

    def lines(self, *arguments: str) -> list[dict]:
        return [json.loads(line) for line in self.read_by(TP, "convert", "--to", "json", *arguments).splitlines()]

    def said(self, *arguments: str, status: int = 1) -> str:
        done = run([TP, "convert", *arguments], cwd=self.dir)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        return done.stderr

    # ---- What is in a line ----

    def test_as_report(self) -> None:
        """The same events, in the same order, with the same times, threads and names."""
        self.record(3, 20, options=",packet=128K,context=cpu+name")
        want = re.findall(r"^ *(\S.*?) +(\d+)/(\d+) +\[(\d+)\] (\d+)\.(\d{9}): ([\w-]+):(\w+): ", self.read_by(TP, "report", self.trace), re.M)
        got = self.lines(self.trace)
        self.assertEqual([(e["comm"], e["pid"], e["tid"], e["cpu"], e["ns"], e["system"], e["event"]) for e in got],
                         [(comm, int(pid), int(tid), int(cpu), int(s + ns), system, event) for comm, pid, tid, cpu, s, ns, system, event in want])
        utc = re.findall(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{9}", self.read_by(TP, "report", "--utc", self.trace))
        self.assertEqual([e["time"] for e in got], [time.replace(" ", "T") + "Z" for time in utc])
        self.assertEqual({(e["host"], e["process"]) for e in got}, {(os.uname().nodename, "dat")})
        self.record(1, 1)
        self.assertNotIn("cpu", self.lines(self.trace)[0])

    def test_jq(self) -> None:
        need(self, "jq")
        self.record_program("shop", 'TRACE_EVENT(sale, TP_PROTO(const char *item, int n), TP_ARGS(item, n), '
                            'TP_STRUCT__entry(__string(item, item) __field(int, n)), '
                            'TP_fast_assign(__assign_str(item); __entry->n = n;), TP_printk("%d", __entry->n));',
                            'for (int n = 0; n < 9; n++) trace_sale(n % 2 ? "tea \\"black\\"" : "caf\\xc3\\xa9\\n\\xff", n);')
        self.succeed([TP, "convert", "--to", "json", "-o", self.path("out"), self.trace])
        out = self.succeed(["jq", "-r", "select(.fields.n > 6) | [.time, .fields.item] | @tsv", self.path("out")]).stdout
        times = re.findall(r"^\d+\.\d+", self.read_by(TP, "report", "-n", "9", self.trace), re.M) or [e["time"] for e in self.lines(self.trace)]
        self.assertEqual(out, f'{times[7]}\ttea "black"\n{times[8]}\tcafé\\n\\\\xff\n')

    def test_which(self) -> None:
        """Those that -e takes, of all traces together."""
        self.record(2, 10)
        both = self.path("both")
        os.mkdir(both)
        shutil.move(self.trace, os.path.join(both, "one"))
        self.record(1, 5)
        self.succeed([TP, "pack", "-o", self.path("two.tar"), self.trace])
        events = self.lines(both, self.path("two.tar"))
        self.assertEqual(len(events), len(self.lines(both)) + len(self.lines(self.trace)))
        self.assertEqual([e["ns"] for e in events], sorted(e["ns"] for e in events))
        name = events[0]["event"]
        self.assertEqual(self.lines("-e", f"{name} if common_pid == {events[0]['tid']}", both, self.trace),
                         [e for e in events if (e["event"], e["tid"]) == (name, events[0]["tid"])])

    def test_lost(self) -> None:
        self.record(1, 300, options=",packet=16K")
        packets = sorted(glob.glob(os.path.join(self.trace, "stream*")))
        self.assertGreater(len(packets), 3)
        for path, lost in zip(packets, (7, 7, 9)):
            with open(path, "r+b") as file:
                file.seek(PACKET_HEAD["events_discarded"])
                file.write(struct.pack("=Q", lost))
        want = re.findall(r"\[LOST (\d+ )?EVENTS\]", self.read_by(TP, "report", self.trace))
        self.assertTrue(want)
        got = self.lines(self.trace)
        self.assertEqual([e["lost"] for e in got if "lost" in e], [int(n) if n else None for n in want])
        self.assertEqual([e for e in got if ("lost" in e) == ("fields" in e)], [])

    # ---- Where it goes ----

    def test_file(self) -> None:
        """The file appears when it is complete, in the place of another one."""
        self.record(1, 5)
        self.write("out", "old\n")
        self.succeed([TP, "convert", self.trace, "--to", "json", "-o", self.path("out")])
        self.assertEqual(read(self.path("out")), self.read_by(TP, "convert", "--to", "json", self.trace))
        self.write("out", "old\n")
        self.assertRegex(self.said(self.path("nothing"), "--to", "json", "-o", "out"), "tp: .*nothing.*\n")
        self.assertEqual(read(self.path("out")), "old\n")
        self.assertEqual(glob.glob(self.path(".out.*")), [])

    def test_unread(self) -> None:
        self.record(3, 2000)
        done = run(["sh", "-c", 'exec "$@" >/dev/full', "sh", TP, "convert", "--to", "json", self.trace])
        self.assertEqual((done.returncode, done.stderr), (1, "tp: the output can't be written: No space left on device\n"))
        with subprocess.Popen([TP, "convert", "--to", "json", self.trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout and process.stderr
            process.stdout.readline()
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")
            self.assertEqual(process.wait(), -13)

    def test_wrong(self) -> None:
        self.record(1, 1)
        for arguments, message in (
                ((self.trace, "--to", "xml"), "there is no format 'xml'; there are json, parquet, perfetto and trace.dat"),
                ((self.trace,), "give it --to FORMAT, such as --to json"),
                (("--to", "json"), "give it a DIR, that of a trace"),
                ((self.trace, self.trace, "--to", "trace.dat"), "a trace.dat is made of one directory: give it one DIR"),
                ((self.trace, "--to", "trace.dat", "-e", "x"), "a trace.dat has all events: leave -e out"),
                ((self.trace, "--to", "trace.dat", "-o", "-"), "a trace.dat can't be written to a pipe: give -o the name of a file")):
            with self.subTest(arguments):
                self.assertIn(message, self.said(*arguments, status=2))
        self.assertRegex(self.said(self.trace, "--to", "json", "-e", "nosuch"), "nosuch")

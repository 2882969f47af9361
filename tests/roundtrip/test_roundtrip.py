# SPDX-License-Identifier: MIT
"""What a program passes to its tracepoints is what the readers of the trace say."""

from __future__ import annotations

import datetime
import functools
import json
import os
import re
import socket
import struct
import subprocess
import sys
import time
from typing import Any

from building import build, generate
from support import BT2_PYTHON, PATIENCE, Case, both, few_or_many, need, need_bt2, read, run, temporary

HERE = os.path.dirname(os.path.abspath(__file__))

LEVELS = {"all:all_arrays": 0, "all:all_dynamic": 14}  # of TRACEPOINT_LOGLEVEL; that of others is 13


@functools.cache
def built() -> str:
    """The program of main.c, with its events."""
    path = temporary()
    generate(path, "tests/roundtrip/all.tp")
    return build(os.path.join(path, "main"), os.path.join(HERE, "main.c"), include=[path], link=["-Wl,--build-id"],
                 flags=["-Wno-conversion", "-Wno-unknown-warning-option", "-Wno-stringop-truncation"])


class RoundTrip(Case):
    def run_traced(self, threads: int, events: int, output: str, seed: int = 1) -> dict[int, list[dict]]:
        """Runs it; what each thread, by its id, says that it passed."""
        logs = self.path("logs")
        os.mkdir(logs)
        done = self.succeed([built(), str(threads), str(events), str(seed), logs],
                            env={**os.environ, "TP_ENABLE": "all:*", "TP_OUTPUT": output})
        self.assertEqual(done.stderr, "")
        passed = {int(tid): [json.loads(line) for line in read(os.path.join(logs, tid)).splitlines()]
                  for tid in os.listdir(logs)}
        self.assertEqual((len(passed), {len(v) for v in passed.values()}), (threads, {events}))
        return passed

    def compare_ctf(self, threads: int, events: int, options: str = "", seed: int = 1) -> None:
        trace = self.path("trace")
        before = time.time_ns()
        passed = self.run_traced(threads, events, f"ctf:{trace}{options}", seed)
        after = time.time_ns()
        need_bt2(self)
        seen: dict[int, list[dict]] = {}
        last = 0
        version, *lines = self.read_by(BT2_PYTHON, os.path.join(HERE, "read_trace.py"), trace).splitlines()
        old = tuple(int(n) for n in json.loads(version)["bt2"].split(".")[:3]) < (2, 0, 5)
        for line in lines:
            event = json.loads(line)
            self.assertNotIn("discarded", event)
            if "environment" in event:
                continue
            self.assertGreaterEqual(event["time"], last)
            last = event["time"]
            seen.setdefault(event["tid"], []).append(event)
            self.assertTrue(before - 10**9 < event["time"] < after + 10**9)
        self.assertEqual(set(seen), set(passed))
        for tid, expected in passed.items():
            self.assertEqual(len(seen[tid]), len(expected))
            for got, want in zip(seen[tid], expected):
                for name, value in want["fields"].items():
                    if old and value == "":
                        # babeltrace2's defect, mended in 2.0.5: of an empty text it shows an earlier one.
                        got["fields"][name] = ""
                self.assertEqual((got["name"], got["fields"]), (want["name"], _floats(want["fields"])))
                self.assertEqual(got["level"], LEVELS.get(got["name"], 13))
                if "e" in got["fields"]:
                    names = {0: ["red"], 7: ['gr"een'], -2: ["blue"], 5: []}
                    self.assertEqual(got["labels"]["e"], names[got["fields"]["e"]])
                    # 0 and bits that are in no entry have no name of their own.
                    mode = want["text"].rsplit(" m=", 1)[1]
                    self.assertEqual(got["labels"]["m"], [mode] if mode and "0x" not in mode else [])

    @both
    def test_one_thread(self) -> None:
        self.compare_ctf(1, few_or_many(1000, 4000))

    @both
    def test_eight_threads(self) -> None:
        self.compare_ctf(8, few_or_many(150, 1000), seed=2)

    @both
    def test_small_packets(self) -> None:
        self.compare_ctf(2, few_or_many(500, 1500), ",packet=16K", seed=3)

    def environment(self, argv: list[bytes]) -> dict[str, Any]:
        """What the trace of a program that was started with these arguments says of it; four follow the first."""
        trace = self.path("trace")
        os.mkdir(self.path("logs"))
        done = subprocess.run(argv, executable=built(), env={**os.environ, "TP_ENABLE": "all:*",
                              "TP_OUTPUT": f"ctf:{trace}"}, capture_output=True, timeout=PATIENCE, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        need(self, "babeltrace2")
        for arguments in ((), ("--component=sink.text.details",)):
            self.read_by("babeltrace2", trace, *arguments)
        need_bt2(self)
        lines = self.read_by(BT2_PYTHON, os.path.join(HERE, "read_trace.py"), trace).splitlines()
        found: dict[str, Any] = json.loads(lines[1])["environment"]
        return found

    def test_environment(self) -> None:
        before = time.time()
        found = self.environment([b"the program", b"1", b"5", b"7", self.path("logs").encode()])
        self.assertEqual(found["command"], f"'the program' 1 5 7 {self.path('logs')}")
        self.assertEqual((found["tracer_name"], found["program"], found["hostname"]),
                         ("tp", os.path.realpath(built()), socket.gethostname()))
        made = datetime.datetime.strptime(found["trace_creation_datetime"], "%Y-%m-%dT%H:%M:%S%z").timestamp()
        self.assertTrue(before - 1 <= made <= time.time())
        self.assertEqual(found["architecture_bit_width"], 8 * struct.calcsize("l"))
        version = [found[f"tracer_{part}"] for part in ("major", "minor", "patch")]
        self.assertEqual(version, [int(n) for n in re.findall(r"#define TP_VERSION_[A-Z]+ (\d+)",
                                                              read("runtime/include/tp/tracepoint.h"))])
        notes = self.succeed(["readelf", "-n", built()]).stdout
        build_id = re.search(r"Build ID: ([0-9a-f]+)", notes)
        self.assertEqual(found.get("build_id"), build_id and build_id[1])

    def test_hostile_arguments(self) -> None:
        argv = [b"\xff\xc3\n", b"1*/ /* \"\\", b"5\t'\x01\x7f", b"7 \xed\xa0\x80\xf4\x90\x80\x80\xc0\xaf gr\xc3\xbcn",
                self.path("logs").encode()]
        found = self.environment(argv)
        shell = run(["bash", "-c", f"printf '%s\\0' {found['command']}"])
        self.assertEqual(shell.stdout.encode(errors="surrogateescape").split(b"\0")[:-1], argv)
        self.assertIn("gr\u00fcn", found["command"])

    def test_endless_arguments(self) -> None:
        argv = [b"p", b"1" + b" \xe2\x82\xac" * 20000, b"5", b"7", self.path("logs").encode()]
        command = self.environment(argv)["command"]
        self.assertRegex(command, "^p '1( \u20ac)+ ?\\.\\.\\.$")
        self.assertTrue(4090 < len(command.encode()) <= 4099)

    def test_no_arguments(self) -> None:
        """execve() with none; a kernel since 5.18 makes it an empty one."""
        need(self, "babeltrace2")
        program, trace = built(), self.path("trace")
        code = "import ctypes, sys; ctypes.CDLL(None).execv(sys.argv[1].encode(), (ctypes.c_char_p * 1)(None))"
        done = run([sys.executable, "-c", code, program],
                   env={**os.environ, "TP_ENABLE": "all:*", "TP_OUTPUT": f"ctf:{trace}"})
        self.assertEqual(done.returncode, 2)  # it says how it is used
        self.assertRegex(read(os.path.join(trace, "metadata")), r"program = ")
        self.read_by("babeltrace2", trace)

    def test_text(self) -> None:
        path = self.path("text")
        passed = self.run_traced(4, 500, f"text:{path}")
        seen: dict[int, list[str]] = {}
        for line in read(path).splitlines():
            stamp, ids, event, text = line.split(" ", 3)
            self.assertRegex(stamp, r"^\d{10}\.\d{9}$")
            self.assertRegex(ids, r"^\d+/\d+$")
            seen.setdefault(int(ids.split("/")[1]), []).append(f"{event} {text}")
        for tid, expected in passed.items():
            self.assertEqual(len(seen[tid]), len(expected))
            for got, want in zip(seen[tid], expected):
                if "text" in want:
                    self.assertEqual(got, f"{want['name']}: {want['text']}")

    def test_babeltrace2_command(self) -> None:
        need(self, "babeltrace2")
        self.run_traced(2, 50, f"ctf:{self.path('trace')}")
        text = self.read_by("babeltrace2", self.path("trace"))
        self.assertEqual(len(text.splitlines()), 100)
        self.assertIn("all:all_numbers", text)


def _floats(fields: dict) -> dict:
    """f is a float in the trace."""
    if "f" in fields:
        fields["f"] = struct.unpack("f", struct.pack("f", fields["f"]))[0]
    return fields

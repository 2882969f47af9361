# SPDX-License-Identifier: MIT
"""Synthetic events of a running process: by the requests of the protocol, and by "tp synthetic"."""

from __future__ import annotations

import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from control import Control, Refused, Target  # noqa: E402
from reaching import Reaching  # noqa: E402
from test_strangers import SANITIZED, Stranger, replies  # noqa: E402

ALL_KINDS = "kinds u64 usecs; unsigned int n; s8 small; char comm[16]; char peer[]; unsigned long stack[]; bool flag"


class Requests(Control):
    def setUp(self) -> None:
        super().setUp()
        self.target = Target(self)
        self.client = self.target.connect()

    def refused(self, request: str, name: str) -> str:
        with self.assertRaises(Refused) as caught:
            self.client.ask(request)
        self.assertEqual(caught.exception.name, name)
        return caught.exception.text

    def test_defined_listed_and_removed(self) -> None:
        self.assertEqual(self.client.ask("synthetics"), ([], ""))
        self.assertEqual(self.client.ask(f"synthetic {ALL_KINDS}"), ([], ""))
        self.client.ask("synthetic   second int n ;")
        self.client.close()
        self.client = self.target.connect()
        self.assertEqual(self.client.ask("synthetics")[0], [f"synthetic {ALL_KINDS}", "synthetic second int n"])
        events = [line.split(" ")[1] for line in self.client.ask("events synthetic:*")[0]]
        self.assertEqual(events, ["synthetic:kinds", "synthetic:second"])
        self.client.ask("synthetic !kinds")
        self.assertEqual(self.client.ask("synthetics")[0], ["synthetic second int n"])
        # What is listed is a definition.
        self.client.ask(f"synthetic {ALL_KINDS}")
        self.assertEqual(self.client.ask("synthetics")[0], ["synthetic second int n", f"synthetic {ALL_KINDS}"])

    def test_in_use(self) -> None:
        self.client.ask("synthetic seen int n")
        self.client.ask("trigger - target_work hist:keys=number:n=number:onchange($n).seen($n)")
        self.assertIn("a histogram makes its records", self.refused("synthetic !seen", "EBUSY"))
        self.client.ask("trigger - target_work !hist:keys=number:n=number:onchange($n).seen($n)")
        number, ours = self.open_text(self.client, "synthetic:seen")
        self.assertIn("disable it", self.refused("synthetic !seen", "EBUSY"))
        self.client.ask(f"close {number}")
        self.client.ask("synthetic !seen")
        self.assertEqual(ours.recv(1), b"")

    def test_makes_records(self) -> None:
        self.client.ask("synthetic seen int n; char t[]")
        _, ours = self.open_text(self.client, "synthetic:seen")
        self.client.ask("trigger - target_work hist:keys=number:n=number:onchange($n).seen($n,text)")
        self.target.do("work 1")
        self.assertTrue(ours.recv(4096).endswith(b"synthetic:seen: n=1 t=text\n"))

    def test_mistakes(self) -> None:
        self.client.ask("synthetic there int n")
        for request, name, text in (("synthetic", "EINVAL", "Command must be of the form"), ("synthetic x", "EINVAL", "Command must be of the form"),
                                    ("synthetic x y z", "EINVAL", "at 'y z': there are s64"), ("synthetic there int n", "EEXIST", "already exists"),
                                    ("synthetic !x", "ENOENT", "Event not found"), ("synthetic !", "ENOENT", "Event not found"),
                                    ("synthetic " + "x" * 256 + " int n", "EINVAL", "Illegal name")):
            said = self.refused(request, name)
            self.assertIn(text, said)
            self.assertNotIn("^", said)
        self.assertEqual(self.client.ask("synthetics")[0], ["synthetic there int n"])


class Command(Reaching):
    def test_several(self) -> None:
        pids = sorted(self.start("loop").pid for _ in range(2))
        each = [word for pid in pids for word in ("-p", str(pid))]
        for args, wanted in (((ALL_KINDS,), "synthetic:kinds is defined"), ((), re.escape(ALL_KINDS)), (("  !kinds",), "synthetic:kinds is removed")):
            self.assertEqual(len(re.findall(f"^{wanted}$", self.done("synthetic", *each, *args), re.M)), 2)
        done = self.tp("synthetic", "-p", str(pids[0]))
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertEqual(done.stderr, f"tp: '{self.name}' ({pids[0]}) has no synthetic event\n")

    def test_slow_requests(self) -> None:
        """All of the recipe in a process that runs."""
        pid = str(self.start("loop").pid)
        self.done("synthetic", "-p", pid, "pause u64 usecs; pid_t thread")
        self.done("trigger", "-p", pid, "served_request", "hist:keys=common_pid:ts0=common_timestamp.usecs")
        self.done("trigger", "-p", pid, "served_idle",
                  "hist:keys=common_pid:usecs=common_timestamp.usecs-$ts0:onmatch(served.served_request).pause($usecs,common_pid)")
        self.counted(r"^synthetic:pause +[1-9]", "stat", "-p", pid, "-e", "synthetic:pause")

    def test_mistakes(self) -> None:
        pid = str(self.start("loop").pid)
        self.assertIn("Command must be of the form", self.fails("synthetic", "-p", pid, "x"))
        self.assertIn("a newline can't be part", self.fails("synthetic", "-p", pid, "x int\nn"))
        self.assertIn("Event not found", self.fails("synthetic", "-p", pid, "!x"))
        done = self.tp("synthetic", "-p", pid, "lat", "u64", "n")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("in quotes", done.stderr)
        self.assertEqual(self.tp("synthetic", "x int n").returncode, 2)


class Older(Reaching):
    def setUp(self) -> None:
        super().setUp()
        self.command = SANITIZED

    def test_older_library(self) -> None:
        stranger = Stranger(self.control, replies(b"error ENOSYS there is no request 'synthetic' in version 1 of the protocol\n"))
        self.addCleanup(stranger.close)
        for args in ((), ("x int n",), ("!x",)):
            self.assertIn("its libtp is too old for \"tp synthetic\"; TP_SYNTHETIC defines", self.fails("synthetic", "-p", str(os.getpid()), *args))

    def test_odd_replies(self) -> None:
        for reply in (b"\n", b"synthetic \nsynthetic\nsynthetic x\x1b[2J\x07\n"):
            stranger = Stranger(self.control, replies(reply, b"error E x\n"))
            done = self.tp("synthetic", "-p", str(os.getpid()))
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertNotIn("\x1b", done.stdout)
            stranger.close()

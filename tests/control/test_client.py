# SPDX-License-Identifier: MIT
"""The client of docs/internals/control.md, examples/control/client.py, with a process that runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from control import Control, Target  # noqa: E402
from support import PATIENCE, ROOT, run, until  # noqa: E402

CLIENT = os.path.join(ROOT, "examples/control/client.py")
EVENTS = {"target:target_work", "target:target_state"}  # in the linker's order


class ExampleClient(Control):
    def setUp(self) -> None:
        super().setUp()
        self.target = Target(self)
        self.server = self.target.connect()
        self.socket = self.target.sockets()[0]

    def start(self, patterns: str) -> subprocess.Popen:
        """The client, once its events are on; it has said who the process is, and what that has."""
        env = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
        client = subprocess.Popen([sys.executable, CLIENT, self.socket, patterns], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, env=env)
        self.addCleanup(client.communicate)
        self.addCleanup(client.kill)
        self.assertRegex(client.stdout.readline(), rf"^tp 1 pid={self.target.pid} .* program=target\n$")
        self.assertEqual({client.stdout.readline().rstrip("\n") for _ in EVENTS}, EVENTS)
        until(lambda: any(output["events"] != "0" for output in self.server.outputs().values()), "the client enables events")
        return client

    def test_lists(self) -> None:
        """Without patterns it lists the events, and nothing is switched on."""
        done = self.succeed([sys.executable, CLIENT, self.socket])
        self.assertEqual((set(done.stdout.splitlines()[1:]), done.stderr), (EVENTS, ""))
        self.assertEqual(self.server.outputs(), {})

    def test_traces(self) -> None:
        client = self.start("target:*,!target_state")
        self.assertEqual([(output["kind"], output["owner"], output["events"], output["name"])
                          for output in self.server.outputs().values()], [("text", "other", "1", "text:client.py")])
        self.target.do("work 3")
        for i in (1, 2, 3):
            self.assertRegex(client.stdout.readline(),
                             rf"^\d+\.\d{{9}} {self.target.pid}/{self.target.pid} target:target_work: number={i} text=text\n$")
        self.target.do("long")  # longer than a pipe's page
        self.assertGreater(len(client.stdout.readline()), 20000)
        self.target.end()
        self.assertEqual(client.wait(PATIENCE), 0)  # the process has ended, and so has the connection
        self.assertEqual(client.stderr.read(), "")

    def test_leaves_nothing(self) -> None:
        """However it ends, the process is as it was."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number=number):
                client = self.start("*")
                client.send_signal(number)
                self.assertEqual(client.wait(PATIENCE), -number)
                self.assertEqual(client.stderr.read(), "")
                until(lambda: not self.server.outputs(), "the output is closed")
                self.assertEqual([line.split(" ")[4] for line in self.server.ask("events")[0]], ["outputs=-"] * 2)

    def test_errors(self) -> None:
        done = run([sys.executable, CLIENT, self.socket, ",,"])
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Aerror EINVAL [^\n]+\n\Z")
        until(lambda: not self.server.outputs(), "the output is closed")

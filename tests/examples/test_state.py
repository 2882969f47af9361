# SPDX-License-Identifier: MIT
"""examples/state: a trace that begins late has the initial state."""

from __future__ import annotations

import os
import re
import select
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "control"))

from building import build  # noqa: E402
from control import Client  # noqa: E402
from support import BUILD, PATIENCE, ROOT, Case, read, until  # noqa: E402

SERVER = os.path.join(BUILD, "examples/state/server")


class Servers(Case):
    def start(self, program: str, *fds: int, **env: str) -> subprocess.Popen:
        self.name = self.path("socket")
        process = subprocess.Popen([program, self.name], stdin=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=fds,
                                   env={**os.environ, **env}, text=True)
        self.addCleanup(self.end, process)
        until(lambda: os.path.exists(self.name) or process.poll() is not None)
        return process

    def end(self, process: subprocess.Popen) -> str:
        """What it has said."""
        if process.poll() is not None and process.stderr.closed:
            return ""
        _, said = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)
        return said

    def connect(self) -> socket.socket:
        client = socket.socket(socket.AF_UNIX)
        self.addCleanup(client.close)
        until(lambda: client.connect_ex(self.name) == 0)  # it may not listen yet
        return client

    def ask(self, client: socket.socket, number: int) -> None:
        client.sendall(b"hello\n")
        self.assertEqual(client.recv(100), b"%d\n" % number)

    @staticmethod
    def events(text: str) -> list[str]:
        return re.findall(r" conn:conn_(.*)$", text, re.M)


class State(Servers):
    def test_from_the_beginning(self) -> None:
        process = self.start(SERVER, TP_ENABLE="conn:*")
        first = self.connect()
        self.ask(first, 1)
        second = self.connect()
        self.ask(second, 1)
        self.ask(first, 2)
        first.close()
        self.assertEqual(self.events(self.end(process)), [
            "open: id=1 requests=0", "request: id=1 requests=1", "open: id=2 requests=0", "request: id=2 requests=1",
            "request: id=1 requests=2", "close: id=1 requests=2"])

    def test_nobody_listens(self) -> None:
        process = self.start(SERVER)
        self.ask(self.connect(), 1)
        self.assertEqual(self.end(process), "")


class FromOutside(Servers):
    """Whoever looks into the process has the state, by the control thread."""

    def setUp(self) -> None:
        super().setUp()
        directory = self.path("control")
        os.mkdir(directory, 0o700)
        self.process = self.start(SERVER, TP_CONTROL=directory)
        self.control, = (os.path.join(directory, name) for name in os.listdir(directory) if name[0] != ".")

    def listen(self) -> tuple[Client, socket.socket]:
        client = Client(self.control)
        self.addCleanup(client.close)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(ours.close)
        ours.settimeout(PATIENCE)
        output = client.open("open text lines", theirs.fileno())
        theirs.close()
        self.assertEqual(client.ask(f"enable {output} conn:*")[1], "4")
        return client, ours

    def test_each_session(self) -> None:
        clients = [self.connect() for _ in range(3)]
        self.ask(clients[2], 1)  # all have been accepted
        for _ in range(2):
            session, lines = self.listen()
            said = "".join(lines.recv(1000).decode() for _ in range(3))
            self.assertEqual(sorted(self.events(said)),
                             ["state: id=1 requests=0", "state: id=2 requests=0", "state: id=3 requests=1"])
            session.close()
            self.assertEqual(lines.recv(1000), b"")  # the output has ended with the session

    def test_beside_another(self) -> None:
        """The event is on already: nobody asks for the state again."""
        self.ask(self.connect(), 1)
        first = self.listen()[1]
        self.assertIn(b"conn_state: id=1", first.recv(1000))
        second = self.listen()[1]
        self.ask(self.connect(), 1)
        self.assertIn(b"conn_open: id=2", first.recv(1000))
        self.assertIn(b"conn_open: id=2", second.recv(1000))


class Late(Servers):
    """A thread that is not the server's own switches the events on."""

    def setUp(self) -> None:
        super().setUp()
        include = os.path.join(BUILD, "examples/state")
        program = build(self.path("late"), os.path.join(ROOT, "examples/state/server.c"), os.path.join(HERE, "late.c"),
                        include=[include])
        commands, self.to = os.pipe()
        self.answers, answers = os.pipe()
        self.start(program, commands, answers, LATE=f"{commands} {answers}")
        os.close(commands)
        os.close(answers)
        self.addCleanup(os.close, self.answers)
        self.addCleanup(os.close, self.to)

    def do(self, command: str) -> int:
        os.write(self.to, f"{command}\n".encode())
        answer = b""
        while not answer.endswith(b"\n"):
            self.assertTrue(select.select([self.answers], [], [], PATIENCE)[0], command)
            part = os.read(self.answers, 100)
            self.assertTrue(part, command)
            answer += part
        return int(answer)

    def log(self, name: str) -> list[str]:
        return self.events(read(self.path(name)))

    def test_state(self) -> None:
        clients = [self.connect() for _ in range(3)]
        for i, client in enumerate(clients):
            for request in range(i + 1):
                self.ask(client, request + 1)
        for name in ("first", "second"):  # each time that somebody begins
            with self.subTest(name=name):
                self.assertEqual(self.do(f"on {self.path(name)}"), 4)
                until(lambda: len(self.log(name)) == 3)
                self.assertEqual(sorted(self.log(name)), [f"state: id={i} requests={i}" for i in (1, 2, 3)])
                fourth = self.connect()
                self.ask(fourth, 1)
                fourth.close()
                until(lambda: len(self.log(name)) == 6)
                self.assertEqual([line.split(":")[0] for line in self.log(name)[3:]], ["open", "request", "close"])
                self.assertEqual(self.do("off"), 0)
        clients[0].close()
        self.ask(clients[1], 3)
        self.assertEqual(len(self.log("second")), 6)

    def test_no_connection(self) -> None:
        self.assertEqual(self.do(f"on {self.path('log')}"), 4)
        self.ask(self.connect(), 1)
        until(lambda: len(self.log("log")) == 2)
        self.assertEqual(self.log("log"), ["open: id=1 requests=0", "request: id=1 requests=1"])
        self.assertEqual(self.do("off"), 0)

    def test_always_complete(self) -> None:
        """However soon the server looks: the event is on when it records, and no connection is missing or there twice."""
        clients = [self.connect() for _ in range(8)]
        self.ask(clients[-1], 1)
        self.assertEqual(self.do("rounds 300 8"), 300)

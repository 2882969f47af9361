# SPDX-License-Identifier: MIT
"""What the tests of control share: a program to look into, and a client of the protocol that knows nothing of tp."""

from __future__ import annotations

import array
import contextlib
import functools
import glob
import os
import socket
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from building import build, generate  # noqa: E402
from support import PATIENCE, Case, temporary, until  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
DAEMONS = os.path.join(os.path.dirname(HERE), "daemons")


@functools.cache
def built(libtp: str = "shared") -> str:
    """The directory of the program, and of a library that it can load; libtp as for build()."""
    path = temporary()
    os.chmod(path, 0o755)
    generate(path, os.path.join(HERE, "target.tp"), os.path.join(DAEMONS, "plugin.tp"))
    build(os.path.join(path, "target"), os.path.join(HERE, "target.c"), include=[path], libtp=libtp)
    build(os.path.join(path, "plugin.so"), os.path.join(DAEMONS, "plugin.c"), include=[path], libtp=libtp)
    return path


class Refused(Exception):
    """The process has answered "error NAME TEXT"."""

    def __init__(self, line: str) -> None:
        super().__init__(line)
        self.name, _, self.text = line.removeprefix("error ").partition(" ")


class Client:
    """A connection to a process."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(PATIENCE)
        self.text = b""
        try:
            self.socket.connect(path)
            self.greeting = self.line()
        except BaseException:
            self.socket.close()
            raise
        if self.greeting.startswith("error "):
            raise Refused(self.greeting)

    def line(self) -> str:
        while b"\n" not in self.text:
            part = self.socket.recv(1 << 20)
            if not part:
                raise EOFError(self.text)
            self.text += part
        line, self.text = self.text.split(b"\n", 1)
        return line.decode("utf-8", "surrogateescape")

    def send(self, request: str | bytes, *fds: int) -> None:
        data = request.encode() if isinstance(request, str) else request
        socket.send_fds(self.socket, [data], list(fds))

    def reply(self) -> tuple[list[str], str]:
        """The lines, and what the last has behind "ok"."""
        lines = []
        while True:
            line = self.line()
            if line.startswith("error "):
                raise Refused(line)
            if line == "ok" or line.startswith("ok "):
                return lines, line[3:]
            lines.append(line)

    def ask(self, request: str | bytes, *fds: int) -> tuple[list[str], str]:
        self.send(request, *fds)
        return self.reply()

    def open(self, request: str, *fds: int) -> int:
        return int(self.ask(request, *fds)[1])

    def outputs(self) -> dict[int, dict[str, str]]:
        found = {}
        for line in self.ask("outputs")[0]:
            word, rest = line.split(" ", 1)
            if word != "output":
                continue
            number, _, pairs = rest.partition(" ")
            head, _, name = pairs.partition(" name=")
            found[int(number)] = dict(pair.split("=", 1) for pair in head.split(" ")) | {"name": name}
        return found

    def close(self) -> None:
        self.socket.close()


class Target:
    """The program, running."""

    def __init__(self, case: Control, program: str = "", user: int | None = None, **env: str) -> None:
        self.case = case
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [program or os.path.join(built(case.libtp), "target")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, cwd=case.dir, env={**case.environment, **env}, user=user, group=user,
            extra_groups=None if user is None else [])
        case.addCleanup(self.end)
        case.addCleanup(self.process.kill)  # what a test has not ended
        self.pid = int(self.answer().removeprefix("ready "))

    def answer(self) -> str:
        return self.process.stdout.readline().strip()

    def tell(self, line: str) -> None:
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def do(self, line: str) -> int:
        self.tell(line)
        return int(self.answer())

    def sockets(self, pid: int = 0) -> list[str]:
        return glob.glob(os.path.join(self.case.directory, f"{pid or self.pid}.*"))

    def connect(self, pid: int = 0) -> Client:
        """As tp does it: where the program has just closed the descriptors, the thread listens anew."""
        while True:
            until(lambda: self.sockets(pid), "the process listens")
            with contextlib.suppress(ConnectionError, EOFError, FileNotFoundError, IndexError):
                client = Client(self.sockets(pid)[0])
                self.case.addCleanup(client.close)
                return client

    def end(self) -> str:
        """What it has said on stderr until its end."""
        if self.process.stdin and not self.process.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
        self.process.wait(PATIENCE)
        self.process.stdout.close()
        if self.process.stderr.closed:
            return ""
        with self.process.stderr:
            return self.process.stderr.read()


class Control(Case):
    """A test with a directory in which processes listen."""

    libtp = "shared"

    def setUp(self) -> None:
        super().setUp()
        os.chmod(self.dir, 0o755)
        self.directory = self.path("tp")
        os.mkdir(self.directory, 0o700)
        self.environment = {**os.environ, "TP_CONTROL": self.directory, "ASAN_OPTIONS": "detect_leaks=0:handle_segv=0"}

    def lines(self) -> tuple[socket.socket, socket.socket]:
        """Two ends of a connection for lines of text: the process's, and the test's."""
        theirs, ours = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(theirs.close)
        self.addCleanup(ours.close)
        ours.settimeout(PATIENCE)
        return theirs, ours

    def open_text(self, client: Client, patterns: str = "*") -> tuple[int, socket.socket]:
        """An output for lines of text with these events: its id, and the end where the test reads them."""
        theirs, ours = self.lines()
        number = client.open("open text x", theirs.fileno())
        theirs.close()
        client.ask(f"enable {number} {patterns}")
        return number, ours


def descriptors(*fds: int) -> bytes:
    return array.array("i", fds).tobytes()

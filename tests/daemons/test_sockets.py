# SPDX-License-Identifier: MIT
"""TP_OUTPUT=socket:PATH: lines to a program that listens, which may be slow, or gone."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from building import build  # noqa: E402
from daemons import Daemons, built  # noqa: E402
from support import PATIENCE  # noqa: E402

TYPES = {"seqpacket": socket.SOCK_SEQPACKET, "datagram": socket.SOCK_DGRAM, "stream": socket.SOCK_STREAM}

HITS = """\
#define CREATE_TRACE_POINTS
#include "daemon.h"
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Hits so often, then closes all descriptors, hits again, and so does a child. */
int main(int argc, char **argv)
{
	int status = 0, nr = argc > 1 ? atoi(argv[1]) : 0;

	for (int i = 0; i < nr; i++)
		trace_daemon_work(i);
	for (int fd = 3; fd < 100; fd++)
		close(fd);
	trace_daemon_work(-1);
	if (fork() == 0) {
		trace_daemon_work(-2);
		exit(0); /* which says what was lost */
	}
	wait(&status);
	return status != 0;
}
"""

READER = """\
import socket, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
listener.bind(sys.argv[1])
listener.listen()
print("ready", flush=True)
for line in listener.accept()[0].makefile():
    print(line, end="", flush=True)
"""


class Sockets(Daemons):
    def setUp(self) -> None:
        super().setUp()
        self.hits = build(self.path("hits"), self.write("hits.c", HITS), include=[built()])
        self.name = self.path("lines")

    def listen(self, kind: str) -> socket.socket:
        listener = socket.socket(socket.AF_UNIX, TYPES[kind])
        self.addCleanup(listener.close)
        listener.bind(self.name)
        if kind != "datagram":
            listener.listen()
        return listener

    def connections(self, listener: socket.socket) -> list[socket.socket]:
        """Those that there are, to read from."""
        listener.setblocking(False)
        if listener.type & socket.SOCK_DGRAM and not listener.type & socket.SOCK_STREAM:
            return [listener]
        found = []
        try:
            while True:
                found.append(listener.accept()[0])
                self.addCleanup(found[-1].close)
        except BlockingIOError:
            return found

    def lines(self, connection: socket.socket) -> list[str]:
        """All that can be read. Each message is one line, or each stream has whole ones."""
        text, stream = "", connection.type == socket.SOCK_STREAM
        connection.setblocking(False)
        try:
            while message := connection.recv(1 << 20):
                if not stream:
                    self.assertRegex(message.decode(), r"\A[^\n]+\n\Z")
                text += message.decode()
        except BlockingIOError:
            pass
        self.assertTrue(not text or text.endswith("\n"))
        return text.splitlines()

    def run_hits(self, number: int) -> subprocess.CompletedProcess:
        return self.succeed([self.hits, str(number)], env=self.environment(TP_OUTPUT=f"socket:{self.name}"))

    def test_each_type(self) -> None:
        for kind in TYPES:
            with self.subTest(kind=kind):
                listener = self.listen(kind)
                done = self.run_hits(2)
                self.assertEqual(done.stderr, "")
                # Another connection after all descriptors were closed, which the child has, too.
                got = [[re.search(r"daemon:daemon_work: .*?(-?\d+)", line)[1] for line in self.lines(c)]
                       for c in self.connections(listener)]
                self.assertEqual(got, [["0", "1", "-1", "-2"]] if kind == "datagram" else [["0", "1"], ["-1", "-2"]])
                os.unlink(self.name)

    def test_reader_that_sleeps(self) -> None:
        """Nobody reads: the program ends, and says what was lost."""
        for kind in TYPES:
            with self.subTest(kind=kind):
                listener = self.listen(kind)
                done = self.run_hits(20000)
                got = sum(len(self.lines(c)) for c in self.connections(listener))
                lost = sum(map(int, re.findall(r"^tp: text output: records lost: (\d+) \(limit: \d+\)$", done.stderr, re.M)))
                self.assertGreater(lost, 0)
                self.assertEqual(got + lost, 20002, done.stderr)
                os.unlink(self.name)

    def test_reader_that_is_killed(self) -> None:
        reader = subprocess.Popen([sys.executable, "-c", READER, self.name], stdout=subprocess.PIPE)
        self.addCleanup(reader.wait)
        self.addCleanup(reader.kill)
        assert reader.stdout
        reader.stdout.readline()
        go = self.path("go")
        process = self.start("work=1", f"wait={go}", "work=2", TP_OUTPUT=f"socket:{self.name}", stderr=subprocess.PIPE)
        assert process.stderr
        self.assertIn(b" daemon:daemon_work: ", reader.stdout.readline())
        reader.kill()
        reader.wait()
        reader.stdout.close()
        self.write("go", "")
        said = process.stderr.read().decode()
        process.stderr.close()
        self.assertEqual(process.wait(PATIENCE), 0)
        self.assertEqual(said, "tp: text output: records lost: 2 (no file: 2)\n")
        done = self.run_hits(1)
        self.assertRegex(done.stderr, r"\Atp: TP_OUTPUT=socket:\S+: Connection refused; nobody listens there: start the "
                                      r"reader first; nothing goes there\n\Z")

# SPDX-License-Identifier: MIT
"""A daemon that is not ours: Debian's memcached, into which tracepoints are loaded."""

from __future__ import annotations

import contextlib
import functools
import glob
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from building import build, generate  # noqa: E402
from daemons import Daemons  # noqa: E402
from support import BUILD, PATIENCE, need, read, temporary, unavailable, until  # noqa: E402

UNPACKED = os.path.join(BUILD, "unpacked")  # by .ci/deps


@functools.cache
def tracepoints() -> str:
    path = temporary()
    os.chmod(path, 0o755)
    generate(path, os.path.join(HERE, "server.tp"))
    return build(os.path.join(path, "server.so"), os.path.join(HERE, "server.c"), include=[path], libtp="shared", link=["-ldl"])


class Memcached(Daemons):
    def setUp(self) -> None:
        super().setUp()
        need(self, "babeltrace2")
        self.program = shutil.which("memcached") or os.path.join(UNPACKED, "usr/bin/memcached")
        if not os.path.exists(self.program):
            self.skipTest(f"memcached is neither installed nor in {UNPACKED}")
        if os.geteuid():
            unavailable(self, "only root can become somebody else")
        self.user = pwd.getpwnam("nobody")
        os.chown(self.dir, self.user.pw_uid, self.user.pw_gid)  # its socket and its process id are made there

    def launch(self, *options: str, output: str) -> tuple[int, str]:
        """What the launcher says is read to its end, which comes only if the daemon holds nothing of its pipe."""
        libraries = ":".join(glob.glob(os.path.join(UNPACKED, "usr/lib/*/")))
        done = subprocess.run([self.program, "-d", "-u", self.user.pw_name, "-s", self.path("socket"), "-P", self.path("pid"), *options],
                              cwd=self.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=PATIENCE, encoding="utf-8", check=False,
                              env=self.environment(TP_OUTPUT=output, TP_ENABLE="server:*", LD_PRELOAD=tracepoints(),
                                                   LD_LIBRARY_PATH=libraries))
        self.assertEqual(done.returncode, 0, done.stdout)
        until(lambda: os.path.exists(self.path("pid")) and read(self.path("pid")).endswith("\n"))
        return self.pid(), done.stdout

    def talk(self, number: int) -> list[str]:
        """Stores and asks for as many values, each in a connection of its own. The replies."""
        replies = []
        for i in range(number):
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(PATIENCE)
                connection.connect(self.path("socket"))
                connection.sendall(f"set key{i} 0 0 5\r\nval{i:02}\r\nget key{i}\r\nquit\r\n".encode())
                replies.append(b"".join(iter(functools.partial(connection.recv, 4096), b"")).decode())
        return replies

    def end_it(self, pid: int, sig: signal.Signals = signal.SIGTERM) -> None:
        os.kill(pid, sig)
        self.gone(pid)

    def replies_in(self, trace: str) -> str:
        """As the readers' strings have them."""
        lines = self.read_by("babeltrace2", trace).splitlines()
        return "".join(re.search(r' text = "(.*)" }$', line)[1] for line in lines).encode().decode("unicode_escape")

    def test_daemon(self) -> None:
        for options in ("", ",mode=flight", ",prepare=thread"):
            for sig in (signal.SIGTERM, signal.SIGKILL):
                with self.subTest(options=options, sig=sig):
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(self.path("pid"))
                    pid, said = self.launch(output=f"ctf:{self.path('mc-%p')},owner=nobody{options}")
                    self.assertEqual(said, "")
                    replies = self.talk(20)
                    self.end_it(pid, sig)
                    self.assertEqual(glob.glob(self.path("mc-*")), [self.path(f"mc-{pid}")])
                    self.assertEqual(os.stat(self.path(f"mc-{pid}")).st_uid, self.user.pw_uid)
                    self.assertEqual(self.replies_in(self.path(f"mc-{pid}")), "".join(replies))
                    shutil.rmtree(self.path(f"mc-{pid}"))

# SPDX-License-Identifier: MIT
"""An lttng-sessiond of the tests' own, and programs that it sees.

Root's daemon listens where the system's would. So where root runs the tests,
the daemon and all that talks to it belong to a user that has no account, and
meet below LTTNG_HOME, which is the tests' directory.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from typing import Any

from support import PATIENCE, run, until


def free_ports(number: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Daemon:
    """The daemon, and the directory that is home to it. What root runs for it can be on another machine: behind such a command."""

    def __init__(self, machine: tuple[str, ...] = ()) -> None:
        self.dir = tempfile.mkdtemp(prefix="tpgen-lttng-")
        self.user: dict[str, Any] = {}
        self.machine = machine
        if os.geteuid() == 0:
            uid = 100000 + os.getpid() % 900000000
            os.chown(self.dir, uid, uid)
            if machine:
                self.machine = (*machine, "setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups")
            else:
                self.user = {"user": uid, "group": uid, "extra_groups": []}
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("LTTNG_")}
        self.env |= {"HOME": self.dir, "LTTNG_HOME": self.dir, "LTTNG_UST_REGISTER_TIMEOUT": str(PATIENCE * 1000)}
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        self.process = self.popen(["lttng-sessiond", "--no-kernel"])
        until(lambda: self.lttng("--no-sessiond", "list", check=False).returncode == 0, "lttng-sessiond")

    def kill(self) -> None:
        """As a crash would. Its consumer daemon sees that, and ends."""
        if self.process:
            self.process.kill()
            self.process.wait()

    def end(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(PATIENCE)
        shutil.rmtree(self.dir, ignore_errors=True)

    def popen(self, command: list[str], **options: Any) -> subprocess.Popen:
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL,
                   "env": self.env, **options}
        return subprocess.Popen([*self.machine, *command], cwd=self.dir, **self.user, **options)

    def lttng(self, *args: str, check: bool = True) -> subprocess.CompletedProcess:
        done = run([*self.machine, "lttng", *args], cwd=self.dir, env=self.env, **self.user)
        assert not check or done.returncode == 0, f"lttng {' '.join(args)}\n{done.stdout}{done.stderr}"
        return done

    def path(self, name: str) -> str:
        return os.path.join(self.dir, name)


class Target:
    """The program of target.c, which does what it is told."""

    def __init__(self, daemon: Daemon, program: str, output: str = "lttng:", **env: str) -> None:
        self.errors = tempfile.TemporaryFile("w+")
        env = {**daemon.env, **({"TP_OUTPUT": output} if output else {}), **env}
        self.process: Any = daemon.popen([program], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=self.errors, text=True)
        self.answer()

    @property
    def pid(self) -> int:
        return int(self.process.pid)

    def answer(self) -> str:
        line: str = self.process.stdout.readline()
        assert line.startswith("ok "), f"the program said {line!r} and {self.said()!r}"
        return line.split()[1]

    def do(self, what: str) -> str:
        self.process.stdin.write(f"{what}\n")
        self.process.stdin.flush()
        return self.answer()

    def said(self) -> str:
        """On stderr, so far."""
        self.errors.seek(0)
        return self.errors.read()

    def end(self) -> str:
        """What it has said on stderr."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            assert self.process.wait(PATIENCE) == 0, self.said()
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
        said = self.said()
        self.errors.close()
        return said

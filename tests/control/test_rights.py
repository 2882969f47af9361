# SPDX-License-Identifier: MIT
"""A process gives root's rights away while its helper is about to listen: at each of the helper's system calls."""

from __future__ import annotations

import functools
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from building import build, generate  # noqa: E402
from control import DAEMONS, Control  # noqa: E402
from reaching import TP  # noqa: E402
from support import need, read, run, temporary, unavailable, until  # noqa: E402

NOBODY = 65534


@functools.cache
def program() -> str:
    path = temporary()
    os.chmod(path, 0o755)
    generate(path, os.path.join(DAEMONS, "daemon.tp"))
    return build(os.path.join(path, "rights"), os.path.join(HERE, "rights.c"), include=[path], libtp="shared")


class Rights(Control):
    def setUp(self) -> None:
        super().setUp()
        need(self, "unshare")
        if os.geteuid():
            unavailable(self, "only root can give root's rights away")

    def at(self, where: str, step: int, how: str) -> bool:
        """Whether the process came so far."""
        with subprocess.Popen([program(), where, str(step), how], env=self.environment, stdout=subprocess.PIPE, text=True) as process:
            pid = int(process.stdout.readline())
            try:
                return self.is_reached(pid)
            finally:
                for one in {pid, process.pid}:
                    run(["kill", "-KILL", str(one)])

    def is_reached(self, pid: int) -> bool:
        done = None

        def listens() -> bool:
            nonlocal done
            done = run([TP, "list", "-p", str(pid)], env=self.environment)
            self.assertNotIn("State:\tZ", read(f"/proc/{pid}/status"), done.stderr)
            return done.returncode == 0

        until(listens, lambda: f"process {pid} listens\n{done.stderr}{self.state(pid)}")
        self.assertIn("daemon:daemon_work", done.stdout, done.stderr)
        before = self.has_changed(pid)
        as_nobody = run([TP, "list", "-p", str(pid)], env=self.environment, user=NOBODY, group=NOBODY, extra_groups=[])
        after = self.has_changed(pid)
        if as_nobody.returncode and before == after:
            self.assertRegex(as_nobody.stderr, "is user 0's, and you are user" if not after else
                             rf"listens in {self.directory}, as it began as another user: .*; run tp as root\n")
        return after

    def state(self, pid: int) -> str:
        return run(["sh", "-c", f"cd /proc/{pid}; head -v task/*/comm task/*/syscall task/*/wchan; ls -l fd {self.directory}"]).stdout

    @staticmethod
    def has_changed(pid: int) -> bool:
        return f"Uid:\t{NOBODY}\t" in read(f"/proc/{pid}/status")

    def left(self) -> list[str]:
        """What is in the directory after some minutes, when nobody listens."""
        for name in os.listdir(self.directory):
            os.utime(os.path.join(self.directory, name), (1, 1), follow_symlinks=False)
        run([TP, "ps"], env=self.environment)
        return os.listdir(self.directory)

    def test_each_call(self) -> None:
        for where, least in (("child", 8), ("again", 8)):
            for how in ("user", "groups"):
                step = 0
                while self.at(where, step, how):
                    step += 1
                with self.subTest(where=where, how=how):
                    self.assertGreaterEqual(step, least, "the calls are not seen")
                    until(lambda: not self.left(), "nothing is left")

# SPDX-License-Identifier: MIT
"""What the tests of tp share that look into running processes: a program, and the directory in which it listens."""

from __future__ import annotations

import functools
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from typing import IO

from building import build, generate
from pseudo_terminal import Terminal
from support import BUILD, PATIENCE, Case, run, temporary, unavailable, until

HERE = os.path.dirname(os.path.abspath(__file__))
TP = os.path.join(BUILD, "tp")
NOBODY = 65534
GRACE = 1  # GRACE_MS of client/signals.c, in seconds


@functools.cache
def served() -> str:
    """The program that is looked into."""
    directory = temporary()
    os.chmod(directory, 0o755)
    generate(directory, os.path.join(HERE, "served.tp"))
    return build(os.path.join(directory, "served"), os.path.join(HERE, "served.c"), include=[directory], libtp="static")


class Reaching(Case):
    """A test with a directory in which programs listen."""

    def setUp(self) -> None:
        super().setUp()
        os.chmod(self.dir, 0o755)
        # A name of its own: other tests run such programs at the same time, and root sees them all.
        self.name = f"s{os.getpid()}"
        self.command = TP
        self.program = self.path(self.name)
        os.symlink(served(), self.program)
        self.control = self.path("run/tp")
        os.mkdir(self.path("run"), 0o755)
        os.mkdir(self.control, 0o700)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("TP_")}
        self.env["XDG_RUNTIME_DIR"] = self.path("run")

    def need_root(self) -> None:
        if os.geteuid():
            unavailable(self, "only root can do this")

    def start(self, *steps: str, program: str = "", listening: bool = True, **options) -> subprocess.Popen:
        """Starts the program, and waits until it listens."""
        env = {**self.env, **options.pop("env", {})}
        options.setdefault("stderr", subprocess.DEVNULL)
        process = subprocess.Popen([program or self.program, *steps], cwd=self.dir, env=env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, **options)
        self.addCleanup(self.finish, process)
        if listening:
            self.wait_for_socket(process.pid)
        return process

    @staticmethod
    def finish(process: subprocess.Popen) -> None:
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()

    def wait_for_socket(self, pid: int, directory: str = "") -> None:
        until(lambda: any(name.startswith(f"{pid}.") for name in os.listdir(directory or self.control)), "a socket")

    def tp(self, *args: str, **options) -> subprocess.CompletedProcess:
        env = {**self.env, **options.pop("env", {})}
        return run([self.command, *args], cwd=self.dir, env=env, **options)

    def done(self, *args: str, **options) -> str:
        """What tp prints, which must succeed and say nothing else."""
        done = self.tp(*args, **options)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def counted(self, wanted: str, *args: str) -> str:
        """What tp prints after a while, in which this must be; a busy machine may leave the program no time at first."""
        for seconds in ("0.2", "2", "20"):
            out = self.done(*args, "--for", seconds)
            if re.search(wanted, out, re.M):
                break
        self.assertRegex(out, re.compile(wanted, re.M))
        return out

    def listed(self, **options) -> str:
        """
        What tp ps prints, as soon as the machine has let each of ours answer within its second. It may say something of
        processes that other tests have made at the same time: root sees all.
        """
        silent = re.compile(rf"\({self.name}\) has not answered: |'{self.name}' \(\d+\): it does not answer: ")
        tried: list[subprocess.CompletedProcess] = []

        def all_answer() -> bool:
            tried.append(self.tp("ps", **options))
            return not silent.search(tried[-1].stderr)

        until(all_answer, lambda: tried[-1].stderr)
        self.assertEqual(tried[-1].returncode, 0, tried[-1].stderr)
        return tried[-1].stdout

    def asked(self, wanted: str, *args: str, **options) -> subprocess.CompletedProcess:
        """What tp has said when this is in what it prints: the machine may not let each process answer within its second."""
        tried: list[subprocess.CompletedProcess] = []

        def is_printed() -> bool:
            tried.append(self.tp(*args, **options))
            return re.search(wanted, tried[-1].stdout, re.M) is not None

        until(is_printed, lambda: f"{wanted}\n{tried[-1].stdout}{tried[-1].stderr}")
        return tried[-1]

    def fails(self, *args: str, status: int = 1, **options) -> str:
        """What tp says, which must fail, in one line."""
        done = self.tp(*args, **options)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        self.assertRegex(done.stderr, r"\Atp: [^\n]*\n\Z")
        return done.stderr

    def begin(self, *args: str, env: dict[str, str] | None = None, **options) -> subprocess.Popen:
        """Starts tp, with pipes unless options say otherwise."""
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        # Without a buffer: what next_line() has not returned, finished() does.
        process = subprocess.Popen([self.command, *args], cwd=self.dir, env={**self.env, **(env or {})}, stdin=subprocess.DEVNULL, bufsize=0,
                                   **options)
        self.addCleanup(self.finish, process)
        return process

    def interrupt(self, process: subprocess.Popen, status: int = 0) -> tuple[str, str]:
        """^C; what tp has printed, and said. It must have succeeded, or end with this status."""
        process.send_signal(signal.SIGINT)
        out, err = self.finished(process)
        self.assertEqual(process.returncode, status, err)
        return out, err

    @staticmethod
    def finished(process: subprocess.Popen) -> tuple[str, str]:
        """Waits for its end; what it has printed and said besides what was read before."""
        out, err = process.communicate(timeout=PATIENCE)
        return (out or b"").decode(), (err or b"").decode()

    @staticmethod
    def next_line(stream: IO[bytes] | None) -> str:
        assert stream
        return stream.readline().decode()

    def ended_by_signals(self, pid: int, cut: str, run_tp: Callable[[], tuple[int, str]]) -> tuple[int, str]:
        """
        Status and message of a tp that is ended by signals. Behind the first one it gives the process a second to answer; where the
        machine has let that pass, which tp says by "cut", another tp is run. In less than a second it may not say so.
        """
        ended: list[tuple[int, str]] = []

        def is_answered() -> bool:
            began = time.monotonic()
            ended.append(run_tp())
            if time.monotonic() - began < GRACE or not re.fullmatch(cut, ended[-1][1]):
                return True
            self.left_alone(pid)
            shutil.rmtree(self.path("trace"), True)
            return False

        until(is_answered, lambda: ended[-1][1])
        return ended[-1]

    def terminal(self, *args: str, **options) -> Terminal:
        terminal = Terminal([TP, *args], self.dir, {**self.env, "TERM": "xterm"}, **options)
        self.addCleanup(terminal.close)
        return terminal

    def outputs(self, pid: int) -> list[str]:
        """The outputs that are open in the process: their owners and names."""
        done = self.tp("outputs", "-p", str(pid))
        self.assertEqual(done.returncode, 0, done.stderr)
        found = re.findall(r"^ *\d+ (\w+) +\d+ +\d+ (.*)$", done.stdout, re.M)
        return [" ".join(words) for words in found]

    def enabled(self, pid: int) -> list[str]:
        """The events that are on in the process; their own order is the compiler's."""
        return sorted(re.findall(r"^(\S+) .* on:\S+$", self.done("list", "-p", str(pid)), re.M))

    def left_alone(self, pid: int) -> None:
        """Waits until the process is as if nobody had ever looked into it."""
        until(lambda: not self.outputs(pid) and not self.enabled(pid), "outputs are closed")

# SPDX-License-Identifier: MIT
"""Runs a command in a terminal of its own; emulator.py tells what a person sees there."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading

from support import PATIENCE, state, until


class Terminal:
    """A command in a terminal of its own. What it writes there is read all the time, unless it is paused."""

    def __init__(self, command: list[str], cwd: str, env: dict[str, str], rows: int = 24, columns: int = 80) -> None:
        self.master, slave = pty.openpty()
        self.resize(rows, columns)
        self.modes = termios.tcgetattr(slave)  # before the command has changed them
        self.output = b""
        self.going_on = threading.Event()
        self.going_on.set()
        self.process = subprocess.Popen(command, cwd=cwd, env=env, stdin=slave, stdout=slave, stderr=slave,
                                        preexec_fn=self._take_terminal)
        self.slave = slave  # stays open: so what was written last is not lost
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    @staticmethod
    def _take_terminal() -> None:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def _read(self) -> None:
        while True:
            self.going_on.wait()
            try:
                piece = os.read(self.master, 65536)
            except OSError:
                return
            if not piece:
                return
            self.output += piece

    def modes_now(self) -> list:
        """Also after its end."""
        return termios.tcgetattr(self.master)

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def text(self) -> str:
        return self.output.decode("utf-8", "replace")

    def wait_for(self, pattern: str) -> None:
        until(lambda: re.search(pattern, self.text()) or self.process.poll() is not None, pattern)
        assert re.search(pattern, self.text()), self.text()

    def wait_for_stop(self) -> None:
        """A SIGCONT that comes while the command is about to stop has no effect."""
        until(lambda: state(self.process.pid) == "T", "it stops")

    def end(self) -> int:
        """Waits for the end of the command, and for what it wrote; its status."""
        status = self.process.wait(PATIENCE)
        os.close(self.slave)
        self.thread.join(PATIENCE)
        return status

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for fd in (self.slave, self.master):
            with contextlib.suppress(OSError):
                os.close(fd)

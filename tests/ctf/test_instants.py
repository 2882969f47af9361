# SPDX-License-Identifier: MIT
"""The trace is valid after each instruction of the recorder, for babeltrace2, too: kill -9 may come anywhere.

The recorder is single-stepped. The trace is read where it lies, whenever what a reader sees of it has changed.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import platform
import re
import signal
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from recording import HEAD, PACKET, Recording  # noqa: E402
from support import note, read, unavailable  # noqa: E402

CHECK_ALL = "a reader looks at the trace after each instruction"

PTRACE_PEEKUSER, PTRACE_SINGLESTEP, PTRACE_ATTACH = 3, 9, 16
RIP = 16 * 8  # in struct user of x86-64
PTRACE = ctypes.CDLL(None, use_errno=True).ptrace
PTRACE.argtypes, PTRACE.restype = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p], ctypes.c_long
HITS = 24  # of some hundred bytes each, in packets of 4 KiB


class View:
    """What a reader sees of a trace: names, and of each packet the head and the content."""

    def __init__(self, trace: str) -> None:
        self.trace = trace
        self.packets: dict[int, mmap.mmap] = {}  # by inode, which stays the same when a file gets another name

    def packet(self, entry: os.DirEntry[str]) -> bytes:
        if entry.inode() not in self.packets:
            with open(entry.path, "rb") as file:
                self.packets[entry.inode()] = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        memory = self.packets[entry.inode()]
        return memory[:PACKET.unpack_from(memory)[3] // 8]

    def now(self) -> dict[str, bytes | int]:
        with os.scandir(self.trace) as entries:
            return {entry.name: self.packet(entry) if entry.name.startswith("stream-") else entry.inode()
                    for entry in entries if not entry.name.startswith(".")}


class Instants(Recording):
    def ptrace(self, request: int, process: subprocess.Popen, number: int = 0) -> None:
        if PTRACE(request, process.pid, None, number) < 0:
            why = os.strerror(ctypes.get_errno())
            if request == PTRACE_ATTACH:
                unavailable(self, f"no process can be traced here: {why}")
            self.fail(f"ptrace: {why}")

    def step(self, process: subprocess.Popen, number: int = 0) -> int:
        """One instruction, which begins with the signal of this number. Returns that of the next one."""
        self.ptrace(PTRACE_SINGLESTEP, process, number)
        _, status = os.waitpid(process.pid, 0)
        self.assertTrue(os.WIFSTOPPED(status), f"the recorder has ended: {status}")
        return 0 if os.WSTOPSIG(status) == signal.SIGTRAP else os.WSTOPSIG(status)

    @staticmethod
    def vdso(process: subprocess.Popen) -> range:
        """Where it reads the time. It does so again and again if it takes longer than until the kernel's next update."""
        found = re.search(r"^(\w+)-(\w+) .*\[vdso\]$", read(f"/proc/{process.pid}/maps"), re.M)
        return range(int(found[1], 16), int(found[2], 16)) if found and platform.machine() == "x86_64" else range(0)

    @staticmethod
    def address(process: subprocess.Popen) -> int:
        """Of its next instruction."""
        return PTRACE(PTRACE_PEEKUSER, process.pid, RIP, None)

    def step_through(self, options: str, newest: bool = False) -> None:
        process = self.start("text=900", "wait", f"hit={HITS}", "wait", TP_OUTPUT=f"ctf:{self.trace}{options}",
                             TP_ENABLE="record:*")
        self.wait_for_line()
        self.ptrace(PTRACE_ATTACH, process)
        os.waitpid(process.pid, 0)
        self.go_on(process)
        vdso = self.vdso(process)
        view, seen, number, steps, looks = View(self.trace), {}, 0, 0, 0
        with open(self.shared, "rb") as file, mmap.mmap(file.fileno(), HEAD * 2, prot=mmap.PROT_READ) as shared:
            while struct.unpack_from("=Q", shared, HEAD)[0] < HITS:
                number = self.step(process, number)
                steps += 1
                while vdso and self.address(process) in vdso:  # which writes nothing: it is left as soon as can be
                    number = self.step(process, number)
                now = view.now()
                if now != seen:
                    seen = now
                    looks += 1
                    self.look(newest, f"after {steps} instructions")
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        self.finish(process, -signal.SIGKILL)
        self.look(newest, "killed")
        self.assertGreater(looks, HITS)
        note(f"{options}: {steps} instructions, {looks} changes")

    def look(self, newest: bool, when: str) -> None:
        with self.subTest(when=when):
            self.compare(self.whos(), self.read_clean(), newest=newest, on_their_way=1)

    def test_stream(self) -> None:
        self.step_through(",packet=4K")

    def test_flight_recorder(self) -> None:
        """Packets are begun again in their place."""
        self.step_through(",packet=4K,mode=flight,packets=2", newest=True)

    def test_flight_recorder_that_renames(self) -> None:
        """As where the processor has no store for half a head."""
        self.step_through(",packet=4K,mode=flight,packets=2,write=call", newest=True)

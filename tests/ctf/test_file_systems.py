# SPDX-License-Identifier: MIT
"""File systems filled to the last block, before and while a program records to them; packets that somebody truncates.

Each is a file that is mounted (loop). A store to a mapped file whose block can't be had would kill the program.
"""

from __future__ import annotations

import glob
import os
import re
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from recording import Recording  # noqa: E402
from support import need, run, unavailable  # noqa: E402

CHECK_ALL = "file systems are made, filled and mounted"

LOST = r"tp: CTF trace '[^\n]*': records lost: [1-9][^\n]*\n"


class FileSystem:
    """The tests, for each kind."""

    make: tuple[str, ...] = ()  # the command that makes it, with its package
    size = "400M"
    option = "" # the option
    TROUBLE = r"tp: CTF trace '[^\n]*': no new packet [^\n]*No space left[^\n]*\n"

    def setUp(self) -> None:
        super().setUp()
        if os.geteuid():
            unavailable(self, "to mount a file system takes root")
        self.disk = self.path("disk")
        self.mount_disk(self.disk)

    def mount(self, command: list[str], at: str) -> None:
        done = run(command)
        if done.returncode:
            unavailable(self, f"{command}: {done.stderr.strip()}")
        self.addCleanup(run, ["umount", "-l", at])

    def mount_disk(self, at: str) -> None:
        self.image = self.path("image")
        os.mkdir(at)
        command = ["mount", "-t", "tmpfs", "-o", f"size={self.size}", "none", at]
        if self.make:
            need(self, self.make[0])
            run(["truncate", "-s", self.size, self.image])
            made = run([*self.make, self.image])
            self.assertEqual(made.returncode, 0, made.stderr)
            command = ["mount", "-o", "loop", self.image, at]
        self.mount(command, at)

    def open(self, trace: str, packet: str = "64K") -> str:
        return f"open={trace},packet={packet}{self.option}"

    def fill(self, name: str = "filler") -> str:
        """A command: big blocks, then small ones, all on the disk; until there is no place for any."""
        path = os.path.join(self.disk, name)
        return (f"exec 2>/dev/null; cat /dev/zero >{path}; for i in 1 2 3; do sync -f {self.disk}; "
                f"dd if=/dev/zero bs=4k of={path}$i; done; sync -f {self.disk}; true")

    def counted(self, trace: str, out: str) -> None:
        """Every event is in the trace, or was counted as lost."""
        found = self.read_trace(trace)
        self.compare(self.whos(), found, lost=True)
        lost = int(re.search(r"^lost (\d+)$", out, re.M)[1])
        self.assertEqual(found.events() + lost, self.hits(), out + self.repeat)

    def test_full_while_it_records(self) -> None:
        trace = os.path.join(self.disk, "trace")
        out = self.record(self.open(trace), "text=300", "threads=2", "until=50", f"sh={self.fill()}", "untillost=2000",
                          "stop", "lost", "close", message=rf"{self.TROUBLE}{LOST}")
        self.counted(trace, out)

    def test_room_again(self) -> None:
        trace = os.path.join(self.disk, "trace")
        out = self.record(self.open(trace), "text=300", "threads=2", "until=50", f"sh={self.fill()}", "untillost=500",
                          "hold", f"sh=rm {self.disk}/filler*; sync -f {self.disk}; sleep 0.15", "pace=1", "go",
                          "until=200", "stop", "lost", "close", message=rf"{self.TROUBLE}{LOST}")
        self.counted(trace, out)

    def test_full_before(self) -> None:
        """There may be room for the directory and the metadata still; or not, and that is said."""
        done = run(["sh", "-c", self.fill()])
        self.assertEqual(done.returncode, 0)
        trace = os.path.join(self.disk, "trace")
        process = self.start(self.open(trace), "hit=5000", "close")
        self.assertIn(process.wait(), (0, 99))
        with open(self.path("err"), encoding="utf-8") as file:
            self.assertIn("No space left", file.read())

    def test_flight_recorder(self) -> None:
        """It has all its packets when the disk becomes full, and goes on; what it can't write it counts."""
        trace = os.path.join(self.disk, "trace")
        out = self.record(f"{self.open(trace)},mode=flight,packets=3", "threads=2", "until=20000", "pace=100", f"sh={self.fill()}",
                          "until=20000", "stop", "lost", "close", message=r"(tp: .*\n)*")
        self.flight(out, trace)

    def flight(self, out: str, trace: str) -> None:
        """No record is lost."""
        self.assertIn("lost 0\n", out)
        self.compare(self.whos(), self.read_clean(trace), newest=True)


class CopiedFileSystem(FileSystem):
    """A system call writes each record: nothing done to its file kills the program."""

    TROUBLE = r"tp: CTF trace '[^\n]*': no (new )?packet [^\n]*(No space left|Bad address)[^\n]*\n"

    def truncated(self, command: str) -> None:
        trace = os.path.join(self.disk, "trace")
        self.record(self.open(trace), "text=300", "threads=2", "pace=1", "until=50", "hold",
                    f"sh={command}", "go", "until=2000", "stop", "lost", "close", message=r"(tp: .*\n)*")
        # Those that were truncated are no packets any more: whoever did it has the others.
        for path in glob.glob(os.path.join(trace, "stream-*")):
            with open(path, "rb") as file:
                if file.read(4) != b"\xc1\x1f\xfc\xc1":
                    os.unlink(path)
        found = self.read_trace(trace)
        self.compare(self.whos(), found, lost=True)
        self.assertGreater(found.events(), 1000)

    def test_truncated_to_nothing(self) -> None:
        self.truncated(f"truncate -s 0 {self.disk}/trace/stream-*")

    def test_truncated_in_the_middle(self) -> None:
        self.truncated(f"truncate -s 4096 {self.disk}/trace/stream-*; truncate -s 0 {self.disk}/trace/stream-*")

    def test_packet_can_be_written_again(self) -> None:
        """It is written to its end where no new one can be made."""
        trace = os.path.join(self.disk, "trace")
        out = self.record(self.open(trace) + ",prepare=self", "text=8", "threads=1", "pace=1", "until=100", "hold",
                          f"sh=truncate -s 4096 {trace}/stream-*", "fsize=4096", "go", "untillost=5", "hold",
                          "fsize=1000000", f"sh=truncate -s 64K {trace}/stream-*", "fsize=4096", "go", "sleep=300000",
                          "lost", "until=50", "lost", "stop", "close", message=r"(tp: .*\n)*")
        before, after = re.findall(r"^lost (\d+)", out, re.M)
        self.assertEqual(before, after, f"records are still lost\n{out}")

    def test_prepared_packets_truncated(self) -> None:
        self.truncated(f"truncate -s 0 {self.disk}/trace/.stream-* {self.disk}/trace/stream-*")


class Tmpfs(FileSystem, Recording):
    size = "20M"


class Ext4(FileSystem, Recording):
    make = ("mkfs.ext4", "-q")
    size = "40M"


class Xfs(FileSystem, Recording):
    make = ("mkfs.xfs", "-q")


class Btrfs(CopiedFileSystem, Recording):
    """It copies on write, and nobody has said write=call."""

    make = ("mkfs.btrfs", "-q")

    def finish(self, process: subprocess.Popen, status: int = 0, message: str = "") -> str:
        return super().finish(process, status, rf"tp: CTF trace '[^\n]*': a system call copies each record, [^\n]*\n{message}")

    def flight(self, out: str, trace: str) -> None:
        """Each write takes a new block: what finds none is counted."""
        found = self.read_trace(trace)
        self.compare(self.whos(), found, lost=True, newest=True)


class CopiedTmpfs(CopiedFileSystem, Recording):
    size = "20M"
    option = ",write=call"


class CopiedExt4(CopiedFileSystem, Recording):
    make = ("mkfs.ext4", "-q")
    size = "40M"
    option = ",write=call"


NO_NAMELESS = r"""
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/types.h>
int openat(int dir, const char *path, int flags, ...)
{
	int (*real)(int, const char *, int, ...) = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat");
	va_list ap;
	va_start(ap, flags);
	int mode = flags & O_CREAT ? va_arg(ap, int) : 0;
	va_end(ap);
	if ((flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return real(dir, path, flags, mode);
}
"""


class Overlay(FileSystem):
    """The root of a container: an overlay, whose files are those of the file system below it."""

    def mount_disk(self, at: str) -> None:
        below = self.path("below")
        super().mount_disk(below)
        parts = {part: os.path.join(below, part) for part in ("lowerdir", "upperdir", "workdir")}
        for path in (at, *parts.values()):
            os.mkdir(path)
        options = ",".join(f"{part}={path}" for part, path in parts.items())
        self.mount(["mount", "-t", "overlay", "-o", options, "none", at], at)

    def records_are_copied(self, more: str = "") -> bool:
        """Whether the program makes the call that copies one; it does not survive that here."""
        source = self.write("copies.c", f"#define _GNU_SOURCE\n{more}\n#include <stdlib.h>\nlong process_vm_writev(void) {{ abort(); }}\n")
        self.succeed(["gcc", "-shared", "-fPIC", "-o", self.path("copies.so"), source])
        process = self.start(self.open(os.path.join(self.disk, "trace")), "hit=100", "close", LD_PRELOAD=self.path("copies.so"))
        status = process.wait()
        self.assertIn(status, (0, -signal.SIGABRT))
        return status != 0

    def test_records_are_stored(self) -> None:
        self.assertFalse(self.records_are_copied())

    def test_kernel_without_nameless_files(self) -> None:
        """A file has a name for a moment; one that was left by a process that was killed then makes no difference."""
        trace = os.path.join(self.disk, "trace")
        os.mkdir(trace)
        self.write(os.path.join(trace, ".tp-nameless"), "")
        self.assertFalse(self.records_are_copied(NO_NAMELESS))
        self.assertEqual(glob.glob(os.path.join(self.disk, ".*")) + glob.glob(os.path.join(trace, ".tp*")), [])


class OverlayOverTmpfs(Overlay, Recording):
    size = "20M"


class OverlayOverExt4(Overlay, Recording):
    make = ("mkfs.ext4", "-q")
    size = "40M"


class OverlayOverXfs(Overlay, Recording):
    make = ("mkfs.xfs", "-q")


class OverlayOverBtrfs(Overlay, Btrfs):
    def test_records_are_stored(self) -> None:
        """They are not: it copies on write."""
        self.assertTrue(self.records_are_copied())

    def test_kernel_without_nameless_files(self) -> None:
        self.assertTrue(self.records_are_copied(NO_NAMELESS))

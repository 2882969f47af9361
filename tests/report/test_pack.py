# SPDX-License-Identifier: MIT
"""tp pack: one file of traces, which tar unpacks and tp report reads as it is."""

from __future__ import annotations

import io
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "trace_dat"))

from dat import Recorded  # noqa: E402
from support import BUILD, need, read, reader, run, until  # noqa: E402

TP = os.path.join(BUILD, "tp")
HOSTILE = os.path.join(BUILD, "asan/tp")


class Pack(Recorded):
    def setUp(self) -> None:
        super().setUp()
        self.file = self.path("trace.tar")

    # ---- Steps ----

    def pack(self, *arguments: str, status: int = 0, message: str = "", **options) -> str:
        done = run([TP, "pack", *arguments], cwd=self.dir, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr, rf"\A(tp: {message}.*\n)\Z" if message else r"\A\Z")
        return done.stdout

    def report(self, *paths: str) -> list[str]:
        return self.read_by(TP, "report", *paths).splitlines()

    def unpacked(self, file: str) -> str:
        place = self.path("unpacked")
        os.mkdir(place)
        self.succeed(["tar", "xf", file, "-C", place])
        return place

    def left(self) -> list[str]:
        return sorted(name for name in os.listdir(self.dir) if ".tar" in name)

    # ---- What is in it ----

    def test_trace(self) -> None:
        self.record(3, 20, options=",packet=128K")
        lines = self.report(self.trace)
        self.assertRegex(self.pack("trace"), r"\Atrace\.tar: 1 trace, \d+ bytes\n\Z")
        self.assertEqual(self.report(self.file), lines)
        self.assertEqual(self.report(os.path.join(self.unpacked(self.file), "trace")), lines)
        content = sum(os.stat(os.path.join(self.dir, "unpacked/trace", name)).st_size
                      for name in os.listdir(os.path.join(self.dir, "unpacked/trace")))
        self.assertLess(os.stat(self.file).st_size, content + 100000)
        self.assertEqual(os.stat(self.file).st_mode & 0o777, 0o600)

    def test_babeltrace2(self) -> None:
        need(self, "babeltrace2")
        self.record(2, 20)
        self.pack("trace")
        arguments = ("babeltrace2", "--clock-seconds", "--no-delta")
        self.assertEqual(self.read_by(*arguments, os.path.join(self.unpacked(self.file), "trace")),
                         self.read_by(*arguments, self.trace))

    def test_convert(self) -> None:
        self.record(2, 20)
        self.pack("trace")
        said = [self.succeed([TP, "convert", what, "--to", "trace.dat", "-o", "x.dat"], cwd=self.dir).stdout
                for what in ("trace", "trace.tar")]
        self.assertIn(" events; ", said[0])
        self.assertEqual(*said)

    def several(self) -> None:
        os.mkdir(self.path("both"))
        for name in ("one", "two"):
            self.trace = self.path(f"both/{name}")
            self.record(2, 10)
            os.unlink(self.text)

    def test_directory_of_traces(self) -> None:
        self.several()
        self.assertIn("both.tar: 2 traces", self.pack("both/"))
        lines = self.report(self.path("both"))
        self.assertEqual(self.report(self.path("both.tar")), lines)
        place = self.unpacked(self.path("both.tar"))
        self.assertEqual(os.listdir(place), ["both"])
        self.assertEqual(self.report(os.path.join(place, "both")), lines)
        said = [self.read_by(TP, "convert", self.path(what), "--to", "trace.dat", "-o", self.path("dat")) for what in ("both", "both.tar")]
        self.assertIn(f": {len(lines)} events; ", said[0])
        self.assertEqual(said[0], said[1])

    def test_chapters_and_a_pack(self) -> None:
        """Whatever it is given becomes one file; a pack of packs has their traces."""
        self.several()
        self.pack("both/one", "-o", "one.tar")
        self.assertIn("2 traces", self.pack("one.tar", "both/two", "-o", "all.tar"))
        self.assertEqual(self.report(self.path("all.tar")), self.report(self.path("both")))
        shutil.copytree(self.path("both/one"), self.path("one"))
        self.pack("one", "both/one", "-o", "x.tar", status=1, message="two traces are called 'one': rename one")
        self.assertEqual(self.left(), ["all.tar", "one.tar"])

    def test_where_it_is_called(self) -> None:
        """A trace that is called "." or by a link has the directory's name."""
        self.record(1, 5)
        done = run([TP, "pack", ".", "-o", "../x.tar"], cwd=self.trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        with tarfile.open(self.path("x.tar")) as file:
            self.assertIn("trace/metadata", file.getnames())

    def test_long_names(self) -> None:
        """Those that a head has no room for, or only in two parts."""
        self.record(1, 5)
        lines = self.report(self.trace)
        for number, name in enumerate(("a" * 99, "b" * 155, "c" * 200, "d" * 255, "\u00e4" * 100)):
            os.rename(self.trace, self.path(name))
            self.pack(name, "-o", f"{number}.tar")
            self.assertEqual(self.report(self.path(f"{number}.tar")), lines)
            shutil.rmtree(self.path("unpacked"), True)
            self.assertEqual(self.report(os.path.join(self.unpacked(self.path(f"{number}.tar")), name)), lines)
            os.rename(self.path(name), self.trace)

    def test_empty_trace(self) -> None:
        self.record(1, 5, patterns="nothing:*")
        self.pack("trace")
        self.assertEqual(self.report(self.file), [])

    # ---- While it is recorded ----

    def test_before_the_end(self) -> None:
        with self.before_the_end():
            self.pack("trace")
            lines = self.report(self.trace)
        self.assertEqual(self.report(self.file), lines)

    def test_while_it_records(self) -> None:
        """Each of them is whole, and the next one has no less."""
        need(self, "babeltrace2")
        with subprocess.Popen([self.program, "2", "100000000"], stderr=subprocess.DEVNULL, env=self.environment()
                              | {"TP_OUTPUT": f"ctf:{self.trace},size=16M"}) as process:
            try:
                until(lambda: os.path.exists(os.path.join(self.trace, "format")))
                before = 0
                for number in range(5):
                    self.pack("trace", "-o", f"{number}.tar")
                    lines = [line for line in self.report(self.path(f"{number}.tar")) if "[LOST" not in line]
                    self.assertGreaterEqual(len(lines), before)
                    before = len(lines)
                    place = self.unpacked(self.path(f"{number}.tar"))
                    done = reader(["babeltrace2", os.path.join(place, "trace")])
                    self.assertRegex(done.stderr, r"\A(WARNING: Tracer discarded .*\n)*\Z")  # no more is wrong
                    self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, len(lines)))
                    shutil.rmtree(place)
            finally:
                process.kill()

    def test_flight_recorder(self) -> None:
        """Whatever comes is whole, or there is none."""
        with self.flight_recorder():
            until(lambda: os.path.exists(os.path.join(self.trace, "format")))
            for number in range(10):
                done = run([TP, "pack", "trace", "-o", f"{number}.tar"], cwd=self.dir)
                if done.returncode:
                    self.assertRegex(done.stderr, r"\Atp: 'trace/stream-.*; read a snapshot of the trace instead.*\n\Z")
                    self.assertFalse(os.path.exists(self.path(f"{number}.tar")))
                else:
                    self.report(self.path(f"{number}.tar"))

    # ---- Secrets ----

    def test_without_command_line(self) -> None:
        secret = "--password=hunter2\n};\nquoted\" 'x"
        done = run([self.program, "1", "5", "x", secret], cwd=self.dir, env=self.environment(patterns="dat:*;nothing-of-hunter2"))
        self.assertNotIn("can't", done.stderr)
        lines = self.report(self.trace)
        self.assertIn("hunter2", read(os.path.join(self.trace, "metadata")))
        self.pack("trace", "-o", "all.tar")
        self.pack("trace", "-o", "without.tar", "--without-command-line")
        self.pack("all.tar", "-o", "again.tar", "--without-command-line")
        with open(self.path("all.tar"), "rb") as file:
            self.assertIn(b"hunter2", file.read())
        for name in ("without.tar", "again.tar"):
            with open(self.path(name), "rb") as file:
                self.assertNotIn(b"hunter2", file.read())
            self.assertEqual(self.report(self.path(name)), lines)
            with tarfile.open(self.path(name)) as file:
                metadata = file.extractfile("trace/metadata")
                assert metadata
                text = metadata.read().decode()
                whole = read(os.path.join(self.trace, "metadata"))
                self.assertEqual(text, re.sub(r"\tcommand = .*\n", "", whole))
                self.assertFalse([name for name in file.getnames() if "/log/" in name])

    # ---- What fails ----

    def test_file_that_is_there(self) -> None:
        self.record(1, 5)
        os.mkdir(self.path("directory"))
        os.symlink("nowhere", self.path("link"))
        self.write("precious", "precious")
        for name in ("precious", "directory", "link", "/dev/null"):
            self.pack("trace", "-o", name, status=1, message=f"'{name}' is there already: give another name, or remove it")
        self.assertEqual((read(self.path("precious")), self.left()), ("precious", []))
        self.pack("trace", "-o", "none/x.tar", status=1, message="'none/x.tar' can't be made: No such file or directory")

    def test_foreign_directory(self) -> None:
        """In a directory like /tmp, no link of another user is followed."""
        if os.geteuid():
            self.skipTest("only root can make such a link")
        self.record(1, 5)
        for name in ("shared", "elsewhere"):
            os.mkdir(self.path(name))
        os.chmod(self.path("shared"), 0o1777)
        os.symlink(self.path("elsewhere"), self.path("shared/link"))
        os.chown(self.path("shared/link"), 65534, 65534, follow_symlinks=False)
        self.pack("trace", "-o", self.path("shared/link/x.tar"), status=1, message="'.*/shared/link' belongs to user 65534")
        self.assertEqual(os.listdir(self.path("elsewhere")), [])

    def test_what_is_no_trace(self) -> None:
        self.write("file", "text\n" * 300)
        self.write("empty/file", "")
        self.write("nothing", "")
        self.pack("file", "-o", "x.tar", status=1, message="'file' is neither the directory of a trace nor a file that \"tp pack\"")
        self.pack("nothing", "-o", "x.tar", status=1, message="'nothing' is empty")
        self.pack("empty", "-o", "x.tar", status=1, message="'empty/metadata' is not there")
        self.pack("none", "-o", "x.tar", status=1, message="'none' can't be found")
        self.pack(status=2, message="pack: give it a DIR")
        self.pack("empty", "-o", "-", status=2, message="pack: a packed trace can't be written to a pipe")
        self.assertEqual(self.left(), [])

    def test_no_room(self) -> None:
        self.record(2, 20)
        disk = self.small_disk("16K")
        self.pack("trace", "-o", f"{disk}/x.tar", status=1, message=f"'{disk}/x.tar' can't be written: No space left on device")
        self.assertEqual(os.listdir(disk), [])
        self.pack("trace", status=1, message="'trace.tar' can't be written: File too large",
                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)))
        self.assertEqual(self.left(), [])

    def test_signals(self) -> None:
        """One that ends it leaves the whole file, or nothing."""
        self.record(2, 200)
        for number in range(30):
            with subprocess.Popen([TP, "pack", "trace"], cwd=self.dir, stdout=subprocess.DEVNULL) as process:
                for _ in range(number * 3000):
                    pass
                process.send_signal((signal.SIGTERM, signal.SIGINT, signal.SIGHUP)[number % 3])
            self.assertIn(self.left(), ([], ["trace.tar"]))
            if self.left():
                self.report(self.file)
                os.unlink(self.file)

    # ---- Files of strangers ----

    def refused(self, data: bytes, message: str) -> None:
        with open(self.file, "wb") as file:
            file.write(data)
        done = run([HOSTILE, "report", self.file], cwd=self.dir)
        self.assertRegex(done.stderr, rf"\Atp: '{re.escape(self.file)}.*{message}.*\n\Z")
        self.assertEqual((done.returncode, done.stdout), (1, ""))

    def archive(self, name: str, kind: bytes = tarfile.REGTYPE, **members) -> bytes:
        info = tarfile.TarInfo(name)
        info.type = kind
        for member, value in members.items():
            setattr(info, member, value)
        return info.tobuf(tarfile.USTAR_FORMAT)

    def test_strange_members(self) -> None:
        end = bytes(1024)
        for name in ("/etc/metadata", "../metadata", "a/../metadata", "a//metadata", "a/./metadata", "a/..", ".."):
            self.refused(self.archive(name) + end, "whose path is none of a trace")
        for kind, letter in ((tarfile.SYMTYPE, "2"), (tarfile.LNKTYPE, "1"), (tarfile.FIFOTYPE, "6"), (tarfile.CHRTYPE, "3"),
                             (tarfile.GNUTYPE_SPARSE, "S"), (tarfile.GNUTYPE_LONGNAME, "L")):
            self.refused(self.archive("trace/metadata", kind, linkname="x") + end, rf"no plain file \(type '{letter}'\)")
        self.refused(self.archive("trace/metadata") * 2 + end, r"has two files 'trace/metadata', with content at offsets 512 and \d+")
        self.refused(self.archive("trace/x") + end, "holds no trace")
        self.refused(self.archive("trace/metadata", size=1 << 32) + end, "is cut off")
        self.refused(self.archive("trace/metadata"), "is cut off")
        self.refused(self.archive("trace/metadata") + b"x" * 1024, "there is no file of an archive")
        changed = bytearray(self.archive("trace/metadata"))
        changed[3] ^= 1
        self.refused(bytes(changed) + end, "the checksum is wrong")
        for text in (b"", b"9 path=x", b"99 path=x\n", b"x", b"0 path=\n", b"-5 path=\n", b"6 path", b"15 size=100000\n", b"\xff" * 600,
                     b"9" * 600, b"5 a=\n" * 100 + b"4 \n\0"):
            pad = text + bytes(-len(text) % 512)
            data = self.archive("pax", tarfile.XHDTYPE, size=len(text)) + pad + self.archive("trace/x") + end
            self.refused(data, "description can't be read" if text else "holds no trace")
        self.refused(self.archive("pax", tarfile.XHDTYPE, size=1 << 20) + bytes(1 << 20) + end, "description is too long")

    def test_compressed(self) -> None:
        self.record(1, 5)
        self.pack("trace")
        self.succeed(["gzip", "-k", self.file])
        with open(f"{self.file}.gz", "rb") as file:
            self.refused(file.read(), "is compressed: gunzip it first")

    def test_of_another_tar(self) -> None:
        """What tar itself has made of the directory can be read, too."""
        self.record(2, 10)
        lines = self.report(self.trace)
        for number, arguments in enumerate((("trace",), ("./trace",), ("--format=pax", "trace"), ("--format=ustar", "trace"))):
            self.succeed(["tar", "cf", f"{number}.tar", *arguments], cwd=self.dir)
            self.assertEqual(self.report(self.path(f"{number}.tar")), lines, arguments)

    def test_cut_off(self) -> None:
        self.record(2, 10)
        self.pack("trace")
        with open(self.file, "rb") as file:
            data = file.read()
        for length in (1, 100, 511, 512, 513, 5000, len(data) - 1024, len(data) - 1025, len(data) - 512, len(data) - 1023):
            if length == len(data) - 512:
                continue  # one block of zeros is an end
            self.refused(data[:length], "")

    def test_streams_are_read_in_pieces(self) -> None:
        """Memory is bounded: the archive is not read as a whole."""
        self.record(2, 3000)
        self.pack("trace")
        size = os.stat(self.file).st_size
        self.assertGreater(size, 1 << 20)
        with subprocess.Popen([TP, "report", self.file], stdout=subprocess.PIPE, preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_DATA, (64 << 20, 64 << 20))) as process:
            assert process.stdout
            nr = sum(1 for _ in io.TextIOWrapper(process.stdout, errors="replace"))
        self.assertEqual(process.returncode, 0)
        self.assertGreater(nr, 1000)

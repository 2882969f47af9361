# SPDX-License-Identifier: MIT
"""Files of which tp list can't show events: one line says what they are, and what to do."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from building import build, generate  # noqa: E402
from listed import TP, Listed, headers, listed  # noqa: E402
from support import need, run  # noqa: E402

EHDR = {"class": (4, "B"), "data": (5, "B"), "type": (16, "H"), "machine": (18, "H"), "phoff": (32, "Q"), "shoff": (40, "Q"),
        "phentsize": (54, "H"), "phnum": (56, "H"), "shentsize": (58, "H"), "shnum": (60, "H"), "shstrndx": (62, "H")}


class Files(Listed):
    def setUp(self) -> None:
        super().setUp()
        self.program = self.build("program", "program.c")

    def changed(self, **values: int) -> str:
        """A copy whose ELF header has these values."""
        with open(self.program, "rb") as file:
            data = bytearray(file.read())
        for name, value in values.items():
            struct.pack_into(f"<{EHDR[name][1]}", data, EHDR[name][0], value)
        return self.put("changed", data)

    def put(self, name: str, data: bytes) -> str:
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def says(self, path: str, *texts: str) -> None:
        said = self.refused(path)
        for text in (f"'{path}' ", *texts):
            self.assertIn(text, said)

    def test_no_elf(self) -> None:
        script = self.write("script", "#!/usr/bin/env python3\nprint()\n")
        self.says(script, "is a script (#!/usr/bin/env python3): give the program that it runs")
        self.says(self.put("long", b"#!" + b"x" * 5000), "is a script (#!xxxx")
        self.says(self.put("odd", b"#!\x1b[2J\xff\n"), "is a script (#!?[2J")
        self.says(self.put("empty", b""), "is no program: it is empty")
        self.says(self.put("text", b"hello\n"), "is no program: it is no ELF file")
        self.says(self.put("magic", b"\x7fELF"), "is no program")
        self.says(self.dir, "can't be read: Is a directory")
        self.says(self.path("missing"), "can't be read: No such file or directory")
        self.says("/dev/null", "is no program: it is no regular file")

    def test_no_wait(self) -> None:
        """A pipe that nobody writes to is not waited for, nor a socket asked."""
        os.mkfifo(self.path("pipe"))
        self.says(self.path("pipe"), "is no program: it is no regular file")

    def test_other_elf(self) -> None:
        self.says(self.changed(**{"class": 1}), "is of another processor (ELF machine 62, 32 bits)", "x86-64, arm64, 32-bit ARM and i386")
        self.says(self.changed(data=2), "is of a big-endian processor")
        self.says(self.changed(machine=243), "is of another processor (ELF machine 243, 64 bits)")
        self.says(self.changed(type=1), "is an object file: give the program")
        self.says(self.changed(type=4), "is a core file: give the program")
        self.says(self.changed(type=0xfe00), "is no program (ELF type 65024)")
        self.says(build(self.path("real.o"), self.write("real.c", "int n;\n")), "is an object file")

    def test_without_sections(self) -> None:
        """As sstrip leaves it."""
        path = self.changed(shoff=0, shnum=0, shstrndx=0)
        self.says(path, "has no table of sections", "sstrip", "list the events of the process")
        os.chmod(path, 0o755)
        self.assertEqual(len(self.run_it([path])), 4)  # it does have events

    def test_many_sections(self) -> None:
        """Numbers that don't fit in the header are in the first section."""
        with open(self.program, "rb") as file:
            data = bytearray(file.read())
        at = struct.unpack_from("<Q", data, 40)[0]
        phnum, nr, names = (struct.unpack_from("<H", data, EHDR[name][0])[0] for name in ("phnum", "shnum", "shstrndx"))
        struct.pack_into("<QII", data, at + 32, nr, names, phnum)
        for name, value in (("shnum", 0), ("shstrndx", 0xffff), ("phnum", 0xffff)):
            struct.pack_into("<H", data, EHDR[name][0], value)
        self.assertEqual(self.list("-v", self.put("many", data)), self.list("-v", self.program))

    def test_debugging_information(self) -> None:
        need(self, "objcopy")
        self.succeed(["objcopy", "--only-keep-debug", self.program, self.path("program.debug")])
        self.says(self.path("program.debug"), "holds debugging information only")

    def test_damaged_header(self) -> None:
        for values in ({"phnum": 0}, {"phnum": 65535}, {"phnum": 5000}, {"phentsize": 32}, {"phoff": 2**64 - 8},
                       {"phoff": 2**40}, {"shoff": 2**64 - 8}, {"shoff": 2**63}, {"shentsize": 40}, {"shnum": 65000}, {"shstrndx": 65000},
                       {"shnum": 0}, {"shoff": 64, "shnum": 1}):
            with self.subTest(**values):
                self.says(self.changed(**values))

    def test_truncated(self) -> None:
        """A file that was not copied whole, at any length: the table of sections is at its end."""
        with open(self.program, "rb") as file:
            data = file.read()
        shoff = struct.unpack_from("<Q", data, 40)[0]
        for length in (0, 1, 4, 15, 16, 17, 63, 64, 65, 500, 4096, len(data) // 2, shoff - 1, shoff, shoff + 1, shoff + 64,
                       len(data) - 1):
            with self.subTest(length=length):
                self.says(self.put("cut", data[:length]))
        self.says(self.put("cut", data[:len(data) // 2]), "damaged, or not all of it was copied")

    def test_hole_instead_of_data(self) -> None:
        """Zeros where the descriptions were, as after a crash of the system."""
        with open(self.program, "rb") as file:
            data = bytearray(file.read())
        shoff = struct.unpack_from("<Q", data, 40)[0]
        data[4096:shoff - 4096] = bytes(shoff - 8192)
        self.says(self.put("hole", data))

    def test_huge(self) -> None:
        """A file that claims gigabytes, most of them a hole, is read in no more time and memory."""
        path = self.changed()
        with open(path, "r+b") as file:
            file.truncate(1 << 40)
        self.assertEqual(self.list("-v", path), self.list("-v", self.program))
        done = run(["sh", "-c", f"ulimit -v 200000; exec '{TP}' list -v '{path}'"])
        self.assertEqual((done.returncode, done.stdout), (0, self.list("-v", self.program)), done.stderr)

    def test_no_tracepoints(self) -> None:
        path = build(self.path("none"), self.write("none.c", "int main(void) { return 0; }\n"), libtp="")
        self.says(path, "has no tracepoints, nor have its 2 libraries: there is no section tp_definitions_", "give that file")
        self.assertIn("has no tracepoints: there is", self.refused("--no-libraries", path))
        source = self.write("bare.c", '#define CREATE_TRACE_POINTS\n#include "bare.h"\n'
                                      "int main(int argc, char **argv) { (void)argv; trace_bare(argc); return 0; }\n")
        generate(self.dir, self.write("bare.tp", "#define TRACE_SYSTEM bare\n"
                                                 "DECLARE_TRACE(bare, TP_PROTO(int n), TP_ARGS(n));\n"))
        self.says(build(self.path("bare"), source, include=[headers()]), "has tracepoints, but none of them is an event")

    def test_forbidden(self) -> None:
        """A program that may be run but not read."""
        if os.geteuid() == 0:
            need(self, "setpriv")
            command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", TP]
        else:
            command = [TP]
        os.chmod(self.dir, 0o755)
        os.chmod(self.program, 0o711 if os.geteuid() == 0 else 0o111)
        done = run([*command, "list", self.program])
        self.assertEqual((done.returncode, done.stderr), (1, f"tp: '{self.program}' can't be read: Permission denied\n"))

    def test_text_is_harmless(self) -> None:
        """What a file says is no command to the terminal."""
        with open(self.program, "rb") as file:
            data = file.read()
        self.assertIn(b"listed_hit\0", data)
        data = data.replace(b"listed_hit\0", b"\x1b[2J\r\n\x7f\x01\xc3\x9f\0").replace(b'n=%s text', b'n=\x1b]0;xy\x07')
        done = run([TP, "list", "-v", self.put("odd", data)])
        self.assertEqual(done.returncode, 0)
        self.assertFalse([c for c in done.stdout if (c < " " and c not in "\n\t") or c == "\x7f"], done.stdout)
        self.assertIn("listed:?[2J?????", done.stdout.replace("\u00df", "?"))

    def test_while_it_is_written(self) -> None:
        """A program that a linker writes at the same time is listed or refused, and no signal ends tp."""
        with open(self.program, "rb") as file:
            data = file.read()
        path = self.put("written", data)
        with subprocess.Popen([sys.executable, "-c", f"""
import os
data = open({self.program!r}, "rb").read()
while True:
    with open({path!r}, "r+b") as file:
        for part in range(0, len(data), 4096):
            file.truncate(part)
            file.seek(part)
            file.write(data[part:part + 4096])
"""]) as writer:
            outcomes = set()
            try:
                for _ in range(200):
                    done = run([TP, "list", "-v", path])
                    outcomes.add(done.returncode)
                    self.assertIn(done.returncode, (0, 1), done.stderr)
                    self.assertEqual(done.returncode, 1 if done.stderr else 0)
            finally:
                writer.send_signal(signal.SIGKILL)
        self.assertTrue(outcomes)

    def test_running(self) -> None:
        """A program that runs can be listed: its file is only read."""
        source = self.write("sleeps.c", '#define CREATE_TRACE_POINTS\n#include "listed.h"\n#include <unistd.h>\n'
                                        "int main(void) { puts(\"up\"); fflush(stdout); pause(); return 0; }\n")
        path = build(self.path("sleeps"), source, include=[headers()], flags=["-include", "stdio.h"])
        with subprocess.Popen([path], stdout=subprocess.PIPE) as process:
            try:
                self.assertEqual(process.stdout.readline(), b"up\n")
                self.assertEqual(len(listed(self.list("-v", f"/proc/{process.pid}/exe"))), 2)
                os.remove(path)
                self.assertEqual(len(listed(self.list("-v", f"/proc/{process.pid}/exe"))), 2)
            finally:
                process.kill()

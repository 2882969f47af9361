# SPDX-License-Identifier: MIT
"""Programs whose longs and pointers have 32 bits: what they record, and what this machine's tools make of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "elf")]

from building import build, generate  # noqa: E402
from docs.pages import blocks, section  # noqa: E402
from listed import TP, listed  # noqa: E402
from platforms import ARMHF, I386, NARROW, Platform  # noqa: E402
from support import ROOT, WARNINGS, Case, need, read, run, tpgen, until  # noqa: E402

CHECK_ALL = "other processors, in an emulator"

WORD = 1 << 32
NUMBERS = (0, 3, -1, 0x7fffffff, -0x80000000)
STATES = {0: "idle", 3: "busy", -1: "none"}
EVENT = re.compile(r"words:(words_\w+): *(.*)$", re.M)

# How the sites of tests/arch/sites.c are compiled.
CLANG = {"armhf": "arm-linux-gnueabihf", "i386": "i686-linux-gnu"}
KINDS = {"armhf": (["-O2"], ["-O0", "-marm"], ["-O2", "-mthumb"]), "i386": (["-O2"], ["-O0"])}


def signed(value: int) -> int:
    return (value + WORD // 2) % WORD - WORD // 2


def texts() -> list[tuple[str, str]]:
    """What tests/arch/words.c records, as TP_printk prints it."""
    lines = []
    for i, n in enumerate(NUMBERS):
        bits = n % WORD
        mask = 0xfffffff0 | bits
        lines.append(("words_fields", f"c=c n={n} mask={mask:x} size=4096 address=0xdeadbeef after=-2 wide=123456789abcdef "
                      f"real=1.5 state={STATES.get(n, hex(bits))} flags=A|B|CD pair={{{bits:#x},{-n % WORD:#x}}} "
                      f"wides={{0x10000000000,0x7}} some={signed(n + 2)} bits=00000003,00000000,00000005 sum={signed(n + 1)} "
                      f"quotient=134217728 text=some text"))
        highest = WORD - 1 - i
        lines.append(("words_widths", f"highest={highest:x} address={highest & 0xffff:08x} long=4 complement=fffffffe "
                      f"shown={(highest + 1) % WORD}"))
    return lines


class Narrow(Case):
    def build(self, platform: Platform, *sources: str, flags: tuple[str, ...] = ("-O2",), name: str = "words",
              shared: bool = False) -> str:
        """Makes a program of this folder's files and returns its path, or skips the test."""
        if platform.missing():
            self.skipTest(platform.missing())
        platform.make("libtp.a", "libtp.so")
        tps = [f"tests/arch/{name}.tp" for name in ("words", "keys", "module")]
        done = tpgen("gen", "-o", self.dir, *tps, env={"CC": platform.cc})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        directory = platform.directory
        libtp = [f"-L{directory}", f"-Wl,-rpath,{directory}", "-ltp"] if shared else [os.path.join(directory, "libtp.a")]
        path = self.path(f"{platform.name}-{name}")
        self.succeed([platform.cc, "-std=gnu11", "-D_GNU_SOURCE", "-g", *WARNINGS, "-DROUNDS=20", *flags, *platform.cflags,
                      "-I", os.path.join(ROOT, "runtime/include"), "-I", self.dir, "-o", path, "-rdynamic",
                      *(source if source.endswith(".o") else os.path.join(HERE, source) for source in sources), *libtp,
                      *platform.ldflags, "-lurcu-bp", "-lpthread", "-ldl"])
        return path

    def traced(self, platform: Platform, path: str, output: str) -> None:
        done = run(platform.command(path), env={**os.environ, "TP_ENABLE": "words:*", "TP_OUTPUT": output})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def record(self, platform: Platform) -> str:
        """The directory of a trace."""
        trace = self.path(f"{platform.name}-trace")
        self.traced(platform, self.build(platform, "words.c"), f"ctf:{trace}")
        return trace

    def report(self, trace: str, *args: str) -> list[tuple[str, str]]:
        return EVENT.findall(self.succeed([TP, "report", *args, trace]).stdout)


class Records(Narrow):
    def test_text(self) -> None:
        for platform in NARROW:
            for shared in (False, True):
                with self.subTest(platform=platform.name, shared=shared):
                    log = self.path(f"{platform.name}-{shared}.log")
                    self.traced(platform, self.build(platform, "words.c", shared=shared), f"text:{log}")
                    self.assertEqual(EVENT.findall(read(log)), texts())

    def test_report(self) -> None:
        """tp makes the same text of the trace, of fields that are narrower than its own."""
        for platform in NARROW:
            with self.subTest(platform=platform.name):
                trace = self.record(platform)
                self.assertEqual(self.report(trace), texts())
                for filter, numbers in (("n == -1", [-1]), ('state == "none"', [-1]), ("n > 3", [0x7fffffff]),
                                        ("mask == 0xffffffff", [-1, 0x7fffffff]), ("address == 0xdeadbeef && n == 3", [3])):
                    found = [int(re.findall(r"\bn=(-?\d+)", text)[0])
                             for _, text in self.report(trace, "-e", f"words:words_fields if {filter}")]
                    self.assertEqual(found, numbers, filter)

    def test_other_readers(self) -> None:
        need(self, "babeltrace2", "trace-cmd")
        for platform in NARROW:
            with self.subTest(platform=platform.name):
                trace = self.record(platform)
                lines = self.read_by("babeltrace2", trace).splitlines()
                for n, line in zip(NUMBERS, lines[::2], strict=True):
                    for text in (f" c = 99, n = {n}, mask = {0xfffffff0 | n % WORD}, size = 4096, address = 0xDEADBEEF, after = -2, "
                                 f"wide = 81985529216486895, ", "real = 1.5, ", f"pair = [ [0] = {n}, [1] = {signed(-n)} ], ",
                                 "wides = [ [0] = 1099511627776, [1] = 7 ], ", f"some = [ [0] = {n}, [1] = {signed(n + 1)}, ",
                                 "more = [ [0] = 9223372036854775808, [1] = 9 ], ", 'text = "some text" }'):
                        self.assertIn(text, line)
                dat = self.path(f"{platform.name}.dat")
                self.succeed([TP, "convert", trace, "--to", "trace.dat", "-o", dat])
                self.assertEqual(EVENT.findall(re.sub(r": (words_\w+:)", r": words:\1", self.read_by("trace-cmd", "report", dat))),
                                 texts())

    def test_alignment(self) -> None:
        """A number of 64 bits is where the compiler has put it: at a multiple of 4 on the one, of 8 on the other."""
        for platform, real, wides in ((ARMHF, 48, 72), (I386, 44, 64)):
            with self.subTest(platform=platform.name):
                events = {event.name: event for event in listed(self.succeed([TP, "list", "-v", self.build(platform, "words.c")]).stdout)}
                fields = {declaration: (offset, size) for declaration, offset, size in events["words:words_fields"].fields}
                self.assertEqual((fields["double real"], fields["uint64_t wides[2]"]), ((real, 8), (wides, 16)))
                self.assertEqual((fields["const void * address"], fields["long pair[2]"][1]), ((24, 4), 8))

    def test_format_file(self) -> None:
        """tpgen asks the target's compiler, and writes the offsets that the program has."""
        for platform in NARROW:
            with self.subTest(platform=platform.name):
                program = self.build(platform, "words.c")
                done = tpgen("gen", "--backend", "ftrace", "-o", self.path(platform.name), "tests/arch/words.tp", env={"CC": platform.cc})
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                text = read(os.path.join(self.path(platform.name), "words/words_fields/format")).split("\n\n")[1]
                fields = re.findall(r"^\tfield:(.*);\toffset:(\d+);\tsize:(\d+);", text, re.M)
                self.assertEqual([(name, int(offset), int(size)) for name, offset, size in fields],
                                 [*listed(self.succeed([TP, "list", "-v", program]).stdout)[0].fields])


class Tour(Narrow):
    """The server of the README's tour records the same as here."""

    def test_server(self) -> None:
        files = {block.name: block.text for block in blocks(section("README.md", "A ten-minute tour"))}
        tp = self.write("net.tp", files["net.tp"])
        source = self.write("server.c", files["server.c"])
        generate(self.dir, tp)
        here = self.recorded([build(self.path("server"), source, include=[self.dir])])
        self.assertEqual(len(here), 6)
        for platform in NARROW:
            with self.subTest(platform=platform.name):
                self.assertEqual(self.recorded(platform.command(self.build(platform, source, name="server"))), here)

    def recorded(self, command: list[str]) -> list[str]:
        """The lines, of two threads, without times and ids; those of the trace are the same."""
        texts = []
        for output in ("text:stderr", f"ctf:{self.path('tour')}"):
            shutil.rmtree(self.path("tour"), ignore_errors=True)
            done = run(command, env={**os.environ, "TP_ENABLE": "net:*", "TP_OUTPUT": output})
            self.assertEqual((done.returncode, done.stdout), (0, "served\n"))
            text = done.stderr if output == "text:stderr" else self.succeed([TP, "report", self.path("tour")]).stdout
            texts.append(sorted(re.findall(r"net:net_request:.*", text)))
        self.assertEqual(*texts)
        return texts[0]


class Control(Narrow):
    """This machine's tp and a process of 32 bits."""

    def setUp(self) -> None:
        super().setUp()
        control = self.path("control")
        os.mkdir(control, 0o700)
        self.env = {**os.environ, "TP_CONTROL": control}

    def tp(self, *args: str) -> str:
        return self.succeed([TP, *args], env=self.env).stdout

    def test_process(self) -> None:
        for platform in NARROW:
            with self.subTest(platform=platform.name):
                path = self.build(platform, "words.c")
                with subprocess.Popen(platform.command(path, "wait"), env=self.env) as process:
                    pid = str(process.pid)
                    try:
                        until(lambda: run([TP, "list", "-p", pid], env=self.env).returncode == 0)
                        events = listed(re.sub(r" +off$", "", self.tp("list", "-v", "-p", pid), flags=re.M))
                        self.assertEqual(events, listed(self.tp("list", "-v", path)))
                        lines = self.tp("trace", "-p", pid, "-e", "words:words_fields if n == -1", "--lines", "3")
                        self.assertEqual(EVENT.findall(lines), [texts()[4]] * 3)
                        self.assertEqual(process.wait(), 0)
                    finally:
                        process.kill()


class Sites(Narrow):
    """They load and branch: there are no static keys."""

    def test_switching(self) -> None:
        for platform in NARROW:
            for flags in KINDS[platform.name]:
                with self.subTest(platform=platform.name, flags=flags):
                    sites = [self.object(platform, platform.cc, of, *flags) for of in ("first", "second")]
                    self.run_keys(platform, self.build(platform, "keys.c", *sites, flags=tuple(flags), name="keys"))

    def test_clang(self) -> None:
        need(self, "clang")
        for platform in NARROW:
            with self.subTest(platform=platform.name):
                sites = [self.object(platform, "clang", of, f"--target={CLANG[platform.name]}", "-O2") for of in ("first", "second")]
                self.run_keys(platform, self.build(platform, "keys.c", *sites, name="keys"))

    def object(self, platform: Platform, compiler: str, of: str, *flags: str) -> str:
        self.build(platform, "words.c")  # the headers
        path = self.path(f"{platform.name}-{of}.o")
        self.succeed([compiler, "-std=gnu11", "-D_GNU_SOURCE", *WARNINGS, *flags, *platform.cflags, f"-DSITES_ARE={of}",
                      "-I", os.path.join(ROOT, "runtime/include"), "-I", self.dir, "-c", "-o", path, os.path.join(HERE, "sites.c")])
        return path

    def run_keys(self, platform: Platform, path: str) -> None:
        for what in ("switch", "storm"):
            done = run(platform.command(path, what))
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), f"{path} {what}")

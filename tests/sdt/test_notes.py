# SPDX-License-Identifier: MIT
"""The notes of sites that tools see from outside, however a program is compiled; and nothing at all without TP_SDT."""

from __future__ import annotations

import os
import re
import unittest

from building import CXX, generate, runtime
from support import ROOT, WARNINGS, Case, need, read, run, temporary

HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDES = ["-I", os.path.join(ROOT, "runtime/include")]
RUNTIME = runtime("static")
LLD = "-fuse-ld=lld"
REGISTERS = re.compile(r"%r([a-ds][ipx]|bp|8|9|1[0-5])|x[0-9]+")

# The sizes of the arguments of each probe of sites.c, negative where they are signed.
SITES = {
    "widths:none": [],
    "widths:narrow": [4, -1, 1, -2, 2, 1, -1, 4, -4],
    "widths:wide": [4, -4, 4, -8, 8, 8, 8, 8],
    "widths:left_out": [-4, -8, -2],
    "widths:fourteen": [-4] * 12,
    "marker:one": [-4],
    "marker:seventeen": [-4] * 12,
    "marker:most": [-4] * 12,
    "widths:even": [4, 8],
    "marker:never": [-4],
}
CALLED = {name: sizes for name, sizes in SITES.items() if name != "marker:never"}
WAYS = ["", "-O1", "-O2 -fPIC", "-Os", "-O3 -funroll-loops", "-O2 -masm=intel", "-O0 -masm=intel",
        "-O2 -DTP_STATIC_KEYS=0", "-O2 -flto", "-O0 -fsanitize=address,undefined -fno-sanitize=alignment",
        "-O2 -fno-pie", "-O1 -fcf-protection=full"]


def notes(path: str) -> list[tuple[str, list[int], list[str], int]]:
    """"provider:name", the sizes and the operands of the arguments, and the address, of each note."""
    found = []
    for provider, name, address, arguments in re.findall(
            r"Provider: (.*)\n +Name: (.*)\n +Location: (0x\w+), .*\n +Arguments: ?(.*)\n",
            run(["readelf", "-n", path]).stdout):
        pairs = [argument.split("@") for argument in arguments.split()]
        found.append((f"{provider}:{name}", [int(size) for size, _ in pairs], [what for _, what in pairs],
                      int(address, 16)))
    return found


class Notes(Case):
    @classmethod
    def setUpClass(cls) -> None:
        cls.headers = temporary()
        generate(cls.headers, "tests/sdt/widths.tp")

    def compile(self, compiler: list[str], *options: str, source: str = "sites.c") -> str:
        done = self.succeed([*compiler, *WARNINGS, *INCLUDES, "-iquote", self.headers, *options, "-c", "-o",
                             self.path("out.o"), os.path.join(HERE, source)])
        self.assertEqual(done.stdout + done.stderr, "")
        return self.path("out.o")

    def define(self, *options: str) -> str:
        """The file that defines the tracepoints, and the program's main function."""
        self.write("define.c", '#define CREATE_TRACE_POINTS\n#include "widths.h"\n'
                               "int hit(int, char **) __attribute__((weak));\n"
                               "int __attribute__((weak)) main(int argc, char **argv)\n{\n"
                               "\treturn argc > 9 ? hit(argc, argv) : 0;\n}\n")
        self.succeed(["gcc", *INCLUDES, "-iquote", self.headers, "-O2", *options, "-c", "-o", self.path("define.o"),
                      self.path("define.c")])
        return self.path("define.o")

    def check(self, found: list[tuple[str, list[int], list[str], int]], sites: dict[str, list[int]]) -> None:
        """All sites are there, once each or more often, with all arguments in registers that any tool knows."""
        self.assertEqual({name for name, *_ in found}, set(sites))
        for name, sizes, operands, _ in found:
            self.assertEqual(sizes, sites[name], name)
            for operand in operands:
                self.assertTrue(REGISTERS.fullmatch(operand), f"{name}: {operand}")

    def ways(self, compiler: str, *language: str) -> None:
        need(self, compiler)
        for way in WAYS:
            with self.subTest(compiler=compiler, way=way):
                path = self.compile([compiler, *language], *way.split(), "-DTP_SDT=1")
                if "lto" in way:
                    self.succeed([compiler, *way.split(), *([LLD] if "clang" in compiler else []), "-o",
                                  self.path("main"), path, self.define("-fPIC"), *RUNTIME])
                    path = self.path("main")
                found = [note for note in notes(path) if note[0] != "tp:record"]
                self.check(found, CALLED if "lto" in way else SITES)
                # At -O0, trace_even() is a function.
                if re.search("-O[123]", way):
                    self.assertGreaterEqual([name for name, *_ in found].count("widths:even"), 2)

    def test_gcc(self) -> None:
        self.ways("gcc", "-std=gnu11")

    def test_clang(self) -> None:
        self.ways("clang", "-std=c11")

    def test_gxx(self) -> None:
        self.ways("g++", "-std=c++17", "-x", "c++")

    def test_clangxx(self) -> None:
        self.ways("clang++", "-std=c++17", "-x", "c++")

    def test_arm64(self) -> None:
        need(self, "aarch64-linux-gnu-gcc")
        for options in (["-O0"], ["-O2", "-fPIC"]):
            self.check(notes(self.compile(["aarch64-linux-gnu-gcc", "-std=gnu11"], *options, "-DTP_SDT=1")),
                       {**SITES, "widths:narrow": [4, -1, 1, -2, 2, 1, 1, 4, -4]}) # a plain char has no sign

    @unittest.skipUnless(os.uname().machine == "x86_64", "it has a gcc for another processor at hand")
    def test_other_processors(self) -> None:
        self.write("one.c", "#include <tp/sdt.h>\n")
        self.write("errno.h", "")
        done = run(["gcc", "-ffreestanding", "-m32", "-DTP_SDT=1", *INCLUDES, "-I", self.dir, "-fsyntax-only",
                    self.path("one.c")])
        self.assertIn("#error \"TP_SDT is for 64-bit x86 and ARM", done.stderr)

    @unittest.skipUnless(os.uname().machine == "x86_64", "it reads the instructions of x86-64")
    def test_five_byte_nop(self) -> None:
        """What the kernel can replace by a call; and a function with it has no red zone, to which that would write."""
        for compiler in ("gcc", "clang"):
            for level in ("-O0", "-O2"):
                self.succeed([compiler, "-o", self.path("main"), self.compile(
                    [compiler], level, "-DTP_SDT=1", source="program.c"), *RUNTIME])
                dump = self.succeed(["objdump", "-d", self.path("main")]).stdout
                for name, _, _, address in notes(self.path("main")):
                    self.assertIn(f"\n {address:7x}:\t0f 1f 44 00 00", dump, name)
                leaf = re.search(r"<leaf>:\n(?: .*\n)+", dump)
                self.assertIsNotNone(leaf)
                self.assertRegex(leaf[0], r"sub +\$0x\w+,%rsp|push +%r")
                self.assertNotRegex(leaf[0], r"-0x\w+\(%rsp\)")

    def test_nothing_without(self) -> None:
        """Not a byte differs from what a header without these lines gives."""
        plain = self.path("plain")
        os.mkdir(plain)
        with open(os.path.join(plain, "widths.h"), "w", encoding="utf-8") as file:
            header = read(os.path.join(self.headers, "widths.h"))
            self.assertEqual(header.count("\tTP_SDT_SITE(\"widths\""), 6)
            file.write(re.sub(r"\n\tTP_SDT_SITE\((?:.*[^;]\n)*.*;", "\n", header))
        for compiler in ("gcc", "clang"):
            for level in ("-O0", "-O2", "-Os"):
                for language in (["-std=gnu11"], ["-std=c++17", "-x", "c++"]):
                    texts = []
                    for headers in (self.headers, plain):
                        command = [compiler if "gnu11" in language[0] else CXX[compiler], *language, level,
                                   *INCLUDES, "-iquote", headers, "-c", "-o", self.path("out.o")]
                        self.succeed([*command, os.path.join(HERE, "sites.c")])
                        sections = self.succeed(["objdump", "-s", self.path("out.o")]).stdout
                        self.assertNotIn("stapsdt", sections)
                        texts.append(sections)
                    self.assertEqual(*texts)

    def test_inline_functions(self) -> None:
        """One note for each function that stays."""
        for compiler, more in (("g++", []), ("clang++", []), ("g++", ["-fuse-ld=gold"]), ("clang++", ["-flto"]),
                               ("g++", ["-flto"])):
            for level in ("-O0", "-O2"):
                need(self, compiler)
                common = [*INCLUDES, "-iquote", self.headers, level, "-c"]
                for first in ("-DFIRST", "-DSECOND"):
                    self.succeed([compiler, "-std=c++17", *more, *WARNINGS, *common, first, "-DTP_SDT=1", "-o",
                                  self.path(f"{first}.o"), os.path.join(HERE, "inline.cc")])
                self.succeed([compiler, *more, level, *([LLD] if more and compiler == "clang++" else []), "-o",
                              self.path("main"), self.path("-DFIRST.o"), self.path("-DSECOND.o"), self.define(),
                              *RUNTIME])
                self.succeed([self.path("main")])
                names = sorted(name for name, *_ in notes(self.path("main")) if not name.startswith("tp:"))
                self.assertEqual(set(names), {"template:of_type", "widths:even"})
                if "-flto" not in more: # which may make copies of them
                    self.assertEqual(names.count("template:of_type"), 1)

    def test_garbage(self) -> None:
        """A function that the linker drops takes its notes with it; those that stay have their base."""
        objects = [self.compile(["gcc"], "-O2", "-ffunction-sections", "-DTP_SDT=1"), self.define()]
        for linker in ("bfd", "lld"):
            for link in ([], ["-static"]):
                with self.subTest(linker=linker, link=link):
                    self.succeed(["gcc", f"-fuse-ld={linker}", *link, "-Wl,--gc-sections", "-o", self.path("main"),
                                  *objects, *RUNTIME])
                    names = [name for name, *_ in notes(self.path("main")) if not name.startswith("tp:")]
                    self.assertEqual(set(names), set(CALLED))
                    self.assertNotIn("Base: 0x0000000000000000", run(["readelf", "-n", self.path("main")]).stdout)

    def test_beside_systemtap(self) -> None:
        """Notes of sys/sdt.h in the same program."""
        self.write("theirs.c", "#include <sys/sdt.h>\nint main(void)\n{\n\tDTRACE_PROBE1(theirs, one, 1);\n"
                               "\treturn 0;\n}\n")
        self.write("ours.c", "#include <tp/sdt.h>\nvoid ours(int a);\nvoid ours(int a)\n{\n"
                             "\tTP_SDT_PROBE(\"ours\", \"one\", a);\n}\n")
        if run(["gcc", "-E", "-include", "sys/sdt.h", "-x", "c", "/dev/null"]).returncode:
            self.skipTest("systemtap-sdt-dev is not installed")
        for file in ("theirs", "ours"):
            self.succeed(["gcc", "-O2", *INCLUDES, "-DTP_SDT=1", "-c", "-o", self.path(f"{file}.o"),
                          self.path(f"{file}.c")])
        for linker in ("bfd", "gold", "lld"):
            for objects in (["ours.o", "theirs.o"], ["theirs.o", "ours.o"]):
                self.succeed(["gcc", f"-fuse-ld={linker}", "-o", self.path("main"), *map(self.path, objects)])
                self.assertEqual(sorted(name for name, *_ in notes(self.path("main"))), ["ours:one", "theirs:one"])

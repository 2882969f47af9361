# SPDX-License-Identifier: MIT
"""Programs of C and C++ files: types of C++, sites in inline functions and templates, exceptions, shared objects."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from building import CXX, build, generate, runtime, sanitize
from support import Case, check_all, need, read, run

HERE = os.path.dirname(os.path.abspath(__file__))

LONG = "l" * 300
TYPES = f"""\
types:types_texts: [abcd] [text] [pointer] [ab] [abc] [poi] [cd]
types:types_texts: [] [] [(null)] [] [] [(nu] []
types:types_texts: [ab] [with] [p] [x] [ab] [p] [b]
types:types_texts: [] [{LONG}] [] [z] [] [] []
types:types_classes: state=open plain=minus ip=1 number=7 count=3 size=2 box=1 at=42 sum=3 both={{0x3,0x0}} states={{0x3,0x3}}
types:types_classes: state=0x9 plain=one ip=3 number=7 count=3 size=0 box=0 at=42 sum=2 both={{0x3,0x0}} states={{}}
types:types_constants: 0 1 4 10
types:types_callbacks: n=1
types:types_callbacks: n=2
"""

FILE = ["constructor 1", "inline 1", "never inlined 2", "template 3", "template 4", "recursive template 3", "recursive template 2",
        "recursive template 1", "method 1", "lambda 5", "destructor 1"]
THROWN = ["constructor 7", "throws 0", "destructor 7", "constructor 7", "throws 8", "destructor 7", "caught 8"]
POINTS = ["constructor 0", *FILE, *FILE, "C 6", *THROWN, "destructor 0"]


def texts(path: str) -> list[str]:
    return [line.split(" ", 2)[2] for line in read(path).splitlines()]


class Types(Case):
    def types(self, compiler: str, *flags: str) -> None:
        need(self, compiler, CXX[compiler])
        generate(self.dir, os.path.join(HERE, "types.tp"))
        program = build(self.path("types"), os.path.join(HERE, "types.cc"), compiler=compiler, include=[self.dir], flags=flags)
        for output in ({}, {"TP_ENABLE": "types:*", "TP_OUTPUT": f"text:{self.path('log')}"}):
            done = run([program], env={**os.environ, **output})
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "good\n", ""))
        self.assertEqual("\n".join(texts(self.path("log"))) + "\n", TYPES)
        os.unlink(self.path("log"))

    def test_gcc(self) -> None:
        self.types("gcc")

    def test_clang(self) -> None:
        self.types("clang", "-std=c++20")

    @check_all("test_gcc and test_clang are enough before a commit")
    def test_others(self) -> None:
        for compiler in ("gcc", "clang"):
            for flags in ("-O0", "-O3 -fno-exceptions -fno-rtti", "-O2 -DTP_STATIC_KEYS=0", "-O2 -DTP_SDT=1", " ".join(["-O1", *sanitize("asan", compiler)])):
                with self.subTest(compiler=compiler, flags=flags):
                    self.types(compiler, *flags.split())

    def test_trace(self) -> None:
        """Readers of a trace know an enumeration's integer type, and the values of names with ::."""
        need(self, "g++", "babeltrace2")
        generate(self.dir, os.path.join(HERE, "types.tp"))
        program = build(self.path("types"), os.path.join(HERE, "types.cc"), include=[self.dir])
        done = run([program], env={**os.environ, "TP_ENABLE": "types:types_classes,types:types_constants", "TP_OUTPUT": f"ctf:{self.path('trace')}"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        said = self.read_by("babeltrace2", self.path("trace")).splitlines()
        self.assertIn('state = ( "open" : container = 3 )', said[0])
        self.assertIn('plain = ( "minus" : container = -1 )', said[0])
        text = read(self.path("trace/format/types"))
        for part in ("field:unsigned char state;", "field:int plain;", "field:unsigned char both[2];", "field:__data_loc unsigned char[] states;",
                     '__print_symbolic(REC->state, { 0, "closed" }, { 3, "open" })', "field:char text[9];",
                     'print fmt: "%d %d %zu %d", REC->plain == 1, REC->plain == -1, 4, 9 + 1'):
            self.assertIn(part, text)


@dataclass(frozen=True)
class Link:
    compiler: str
    flags: str
    link: str = ""
    create: str = "create.cc"
    shared: bool = False


LINKS = {
    "gcc": Link("gcc", "-O2"),
    "clang_gc_lld": Link("clang", "-O2 -ffunction-sections -fdata-sections", "-fuse-ld=lld -Wl,--gc-sections"),
    "gcc_created_in_c": Link("gcc", "-O2", create="create.c", shared=True),
    "gcc_gc_bfd": Link("gcc", "-O2 -ffunction-sections -fdata-sections", "-fuse-ld=bfd -Wl,--gc-sections"),
    "gcc_gc_start_stop": Link("gcc", "-O2 -ffunction-sections -fdata-sections", "-fuse-ld=bfd -Wl,--gc-sections -Wl,-z,start-stop-gc"),
    "gcc_gc_lld": Link("gcc", "-O3 -ffunction-sections -fdata-sections", "-fuse-ld=lld -Wl,--gc-sections"),
    "gcc_O0": Link("gcc", "-O0"),
    "clang_O0_gc_lld": Link("clang", "-O0 -ffunction-sections -fdata-sections", "-fuse-ld=lld -Wl,--gc-sections"),
    "gcc_lto": Link("gcc", "-O2 -flto", create="create.c"),
    "clang_lto": Link("clang", "-O2 -flto", "-fuse-ld=lld"),
    "clang_thin_lto_gc": Link("clang", "-O2 -flto=thin", "-fuse-ld=lld -Wl,--gc-sections"),
    "clang_icf": Link("clang", "-O2 -ffunction-sections", "-fuse-ld=lld -Wl,--icf=all"),
    "gcc_static": Link("gcc", "-O2 -fno-pie", "-static"),
    "gcc_shared": Link("gcc", "-O2 -fPIC", shared=True),
}
BEFORE_A_COMMIT = ("gcc", "clang_gc_lld", "gcc_created_in_c")


class Points(Case):
    """One test for each of LINKS: each site is hit once, whichever copy of it the linker has kept."""

    def made(self, how: Link) -> str:
        cxx = CXX[how.compiler]
        need(self, how.compiler, cxx, *(["ld.lld"] if "lld" in how.link else []))
        generate(self.dir, os.path.join(HERE, "points.tp"))
        objects = []
        for file in ("one.cc", "two.cc", "main.cc", "c.c", how.create):
            objects.append(self.path(f"{file}.o"))
            build(objects[-1], os.path.join(HERE, file), compiler=how.compiler, include=[self.dir], flags=how.flags.split())
        program = self.path("main")
        self.succeed([cxx, *how.flags.split(), *how.link.split(), "-rdynamic", "-o", program, *objects,
                      *runtime("shared" if how.shared else "static", how.compiler)])
        return program

    def hits(self, program: str, *args: str, **env: str) -> tuple[list[str], int]:
        log = self.path("log")
        done = run([program, *args], env={**os.environ, "TP_ENABLE": "points:*", "TP_OUTPUT": f"text:{log}", **env})
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        found = [line.removeprefix("points:points_hit: ") for line in texts(log)]
        os.unlink(log)
        return found, int(re.findall(r"points_hit has (\d+) sites", done.stdout)[0])

    def one(self, name: str) -> None:
        how = LINKS[name]
        program = self.made(how)
        found, sites = self.hits(program)
        self.assertEqual(found, POINTS)
        # A site in each copy that is there; where code is dropped, nothing is left of its sites.
        self.assertTrue(1 <= sites <= (40 if "-O0" not in how.flags else 10), sites)
        done = run([program])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        if how.create == "create.cc":  # in C, an exception can leave a probe as longjmp() does
            done = run([program, "throw"])
            self.assertEqual((done.returncode, done.stdout), (3, "terminated\n"), done.stderr)
        done = run([program, "exit"])
        self.assertEqual((done.returncode, done.stdout), (0, "it has exited\n"), done.stderr)

    def test_shared_objects(self) -> None:
        """A plugin, created in C++, beside a program, created in C; each has the tracepoint for itself, and one name."""
        program = self.made(Link("gcc", "-O2", create="create.c", shared=True))
        plugin = self.path("plugin.so")
        build(plugin, os.path.join(HERE, "one.cc"), os.path.join(HERE, "create.cc"), include=[self.dir], libtp="shared")
        found, _ = self.hits(program, plugin)
        self.assertEqual(found, [*POINTS[:-1], *FILE, POINTS[-1]])


def _add(name: str) -> None:
    def test(self: Points) -> None:
        self.one(name)
    other = check_all("some ways to link are enough before a commit")
    setattr(Points, f"test_{name}", test if name in BEFORE_A_COMMIT else other(test))


for _name in LINKS:
    _add(_name)

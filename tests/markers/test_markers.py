# SPDX-License-Identifier: MIT
"""Markers in whole programs: however they are compiled and linked, and what readers of traces see of them."""

from __future__ import annotations

import concurrent.futures
import os
import re
import shutil

from building import CXX, runtime
from support import ROOT, WARNINGS, Case, check_all, need, run

HERE = os.path.dirname(os.path.abspath(__file__))
SANITIZED = "-fsanitize=address,undefined -fno-sanitize=alignment -fno-sanitize-recover=all"
RUNTIME, SHARED = runtime("static"), runtime("shared")

# The compiler, flags of compiler and linker, flags of the linker.
BUILDS = [
    ("gcc", "-O0", ""), ("gcc", "-O2", ""), ("gcc", "-O3 -funroll-loops -fPIC", ""), ("gcc", "-O2 -flto", ""),
    ("gcc", "-O2 -DTP_STATIC_KEYS=0", ""), ("gcc", f"-O1 {SANITIZED}", ""), ("gcc", "-O1 -fsanitize=thread", ""),
    ("gcc", "-O2 -ffunction-sections", "-Wl,--gc-sections"),
    ("gcc", "-O2 -ffunction-sections", "-Wl,--gc-sections -fuse-ld=gold"),
    ("clang", "-O0", ""), ("clang", "-O2", ""), ("clang", "-O2 -flto", "-fuse-ld=lld"),
    ("clang", "-O2 -DTP_STATIC_KEYS=0", ""), ("clang", "-O2 -ffunction-sections", "-Wl,--gc-sections -fuse-ld=lld"),
]

EXPECTED = """off: 0 evaluated beside the calls
in_static_inline; a 1; a 0; a 1; a 2; a 3
in_loop; i 0; i 1; i 2; i 3
in_if; array 5 of 2
six; 1 2 3 4 5 six
errno; 0.5
in_inline; a 1; a 2
in_template; a 1 size 4; a 2 size 8; a 3 size 4; a 4 size 2
in_method; value 2; value 2
in_lambda; b 1 text x; b 2 text x
in_scope; n 1; n 2
many; 1 2 3 4 5 6 seven 8.5
in_constructor;{two_blanks}
""".format(two_blanks="  ")


class Markers(Case):
    def compile(self, compiler: str, flags: str, name: str, output: str) -> str:
        """An object file of one of the sources here."""
        cpp = name.endswith(".cc")
        self.succeed([CXX[compiler] if cpp else compiler, "-std=c++17" if cpp else "-std=c11", "-D_GNU_SOURCE",
                      *WARNINGS, "-g", *flags.split(), "-I", os.path.join(ROOT, "runtime/include"), "-c", "-o", output,
                      os.path.join(HERE, name)])
        return output


class Evaluated(Markers):
    """Arguments are, while the marker is on; where tools may look at it at any time, the first twelve are always."""

    def test_once(self) -> None:
        need(self, "g++", "clang")
        expected = {0: "off: 0 calls, 0 increments\non: 2 calls, 1 increments, the argument is 0\n",
                    1: "off: 1 calls, 1 increments\non: 3 calls, 2 increments, the argument is 1\n"}
        for compiler in (["gcc", "-std=c11"], ["clang", "-std=c11"], ["g++", "-std=c++17", "-x", "c++"],
                         ["clang++", "-std=c++17", "-x", "c++"]):
            for sdt, level in ((0, "-O2"), (1, "-O0"), (1, "-O2")):
                with self.subTest(compiler=compiler, sdt=sdt, level=level):
                    self.succeed([*compiler, "-D_GNU_SOURCE", *WARNINGS, level, f"-DTP_SDT={sdt}", "-I",
                                  os.path.join(ROOT, "runtime/include"), "-c", "-o", self.path("evaluated.o"),
                                  os.path.join(HERE, "evaluated.c")])
                    self.succeed([compiler[0], "-o", self.path("evaluated"), self.path("evaluated.o"), *RUNTIME])
                    self.assertEqual(self.succeed([self.path("evaluated")]).stdout, expected[sdt])


class HoweverBuilt(Markers):
    """The same program prints the same."""

    def build(self, number: int) -> str:
        compiler, flags, link = BUILDS[number]
        objects = [self.compile(compiler, flags, name, self.path(f"{number}{name}.o"))
                   for name in ("main.c", "one.cc", "two.cc")]
        program = self.path(f"program{number}")
        self.succeed([CXX[compiler], *flags.split(), *link.split(), "-o", program, *objects, *RUNTIME])
        return self.succeed([program]).stdout

    def test_all(self) -> None:
        need(self, "g++")
        tools = {"clang": "clang++", "gold": "ld.gold", "lld": "ld.lld"}
        numbers = [i for i, build in enumerate(BUILDS)
                   if all(shutil.which(tool) for word, tool in tools.items() if word in " ".join(build))]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for number, printed in zip(numbers, pool.map(self.build, numbers)):
                with self.subTest(build=BUILDS[number]):
                    self.assertEqual(printed, EXPECTED)


class Threads(Markers):
    """Data of a probe may go when marker_synchronize_unregister() has returned."""

    @check_all("other sanitizers")
    def test_sanitizers(self) -> None:
        for compiler in CXX:
            for sanitizer in ("thread", "address"):
                flags = f"-O1 -fsanitize={sanitizer}"
                with self.subTest(compiler=compiler, sanitizer=sanitizer):
                    need(self, compiler)
                    program = self.path(f"{compiler}-{sanitizer}")
                    self.succeed([compiler, *flags.split(), "-o", program,
                                  self.compile(compiler, flags, "threads.c", program + ".o"), *RUNTIME])
                    done = self.succeed([program])
                    self.assertEqual((done.stdout, done.stderr), ("hit\n", ""))


class Formats(Markers):
    """The compiler looks at the arguments."""

    WRONG = ("trace_mark(m, \"%d\", \"text\")", "trace_mark(m, \"%s\", 1)", "trace_mark(m, \"%ld\", 1)",
             "trace_mark(m, \"%d %d\", 1)", "trace_mark(m, \"%d\", 1, 2)", "trace_mark(m, \"a %p\", 1)")

    def refusal(self, compiler: str, statement: str) -> str:
        text = f"#include <tp/marker.h>\nvoid f(void);\nvoid f(void)\n{{\n\t{statement};\n}}\n"
        done = run([compiler, "-Wall", "-Werror=format", "-Wformat-extra-args", "-Werror", "-I",
                    os.path.join(ROOT, "runtime/include"), "-c", "-o", os.devnull,
                    self.write("f.cc" if "++" in compiler else "f.c", text)])
        return done.stderr if done.returncode else ""

    def test_wrong_arguments(self) -> None:
        for compiler in ("gcc", "g++", "clang", "clang++"):
            if shutil.which(compiler):
                self.assertEqual(self.refusal(compiler, "trace_mark(m, \"%d %s\", 1, \"x\")"), "")
                for statement in self.WRONG:
                    with self.subTest(compiler=compiler, statement=statement):
                        self.assertRegex(self.refusal(compiler, statement), r"f\.c.?:5:.*(Wformat|error)")

    def test_format_that_is_no_literal(self) -> None:
        for compiler in ("gcc", "g++", "clang", "clang++"):
            if shutil.which(compiler):
                with self.subTest(compiler=compiler):
                    self.assertNotEqual(self.refusal(compiler, "const char *x = \"%d\"; trace_mark(m, x, 1)"), "")

    def test_name_that_is_too_long(self) -> None:
        for compiler in ("gcc", "g++"):
            self.assertEqual(self.refusal(compiler, f"trace_mark({'n' * 255}, \" \")"), "")
            self.assertIn("the marker's name is too long", self.refusal(compiler, f"trace_mark({'n' * 256}, \" \")"))


class Modules(Markers):
    """dlopen and dlclose of modules with a marker."""

    def test_storm(self) -> None:
        program = self.path("storm")
        self.succeed(["gcc", "-o", program, self.compile("gcc", "-O2", "storm.c", self.path("storm.o")), *SHARED])
        modules = []
        for name, flags in (("a.so", "-O2 -fPIC"), ("b.so", "-O0 -fPIC"), ("c.so", "-O2 -fPIC -DTP_STATIC_KEYS=0")):
            modules.append(self.path(name))
            self.succeed(["gcc", "-shared", "-o", modules[-1],
                          self.compile("gcc", flags, "module.c", self.path(name + ".o")), *SHARED])
        with open(self.path("out"), "w", encoding="utf-8") as out:
            done = run(["sh", "-c", f"exec {program} {' '.join(modules)} >{out.name}"])
        self.assertEqual((done.returncode, done.stderr), (0, "all, 0 wrong\n"))
        with open(self.path("out"), encoding="utf-8") as lines:
            for line in lines:
                self.assertRegex(line, r"^\d+\.\d{9} \d+/\d+ marker:module_hit: i \d+ of module$")


class Readers(Markers):
    """What babeltrace2 sees: names, values and types."""

    EVENTS = {
        "integers": "d = -1, u = 2, hhd = -3, hhu = 200, hd = -4, hu = 60000, ld = -5, lu = 6, lld = -7, llu = 8",
        "others": "zu = 9, zd = -10, jd = -11, td = -12, x = 0xBEEF, lX = 0xDEAD, o = 8",
        "values": 'c = 65, p = 0x1234, g = 2.5, lg = 0.125, s = "text", null = "(null)", cut = "cu"',
        "twice": "a = 1, a_2 = 2, arg3 = 3, int_ = 4",
        "nothing": "",
    }

    def test_babeltrace2(self) -> None:
        need(self, "babeltrace2")
        program = self.path("conversions")
        self.succeed(["gcc", "-o", program, self.compile("gcc", "-O2", "conversions.c", self.path("c.o")), *RUNTIME])
        trace = self.path("trace")
        done = self.succeed([program], env={**os.environ, "TP_OUTPUT": f"ctf:{trace}"})
        self.assertEqual(done.stderr, "")
        found = {}
        for line in self.read_by("babeltrace2", "--no-delta", trace).splitlines():
            match = re.search(r"marker:(\w+): \{ tid = \d+ \}, \{ (.*?) ?\}$", line)
            assert match, line
            found[match[1]] = re.sub(r"__\w+_loc = \{.*?\}, ", "", match[2])
        self.assertEqual(found, self.EVENTS)

    def test_text(self) -> None:
        """Also where the compiler has no word for a symbol, as on most processors."""
        for flags in ("-O2", "-O2 -mcmodel=large") if os.uname().machine == "x86_64" else ("-O2",):
            with self.subTest(flags=flags):
                self.text(flags)

    def text(self, flags: str) -> None:
        program = self.path("conversions")
        self.succeed(["gcc", "-o", program, self.compile("gcc", flags, "conversions.c", self.path("c.o")), *RUNTIME])
        done = self.succeed([program], env={**os.environ, "TP_ENABLE": "marker:values,marker:twice"})
        self.assertEqual([line.split(" ", 2)[2] for line in done.stderr.splitlines()],
                         ["marker:values: c A p 0x1234 g 2.5 lg 0.125 s text null (null) cut cu% end",
                          "marker:twice: a 1 a 2 3 int 4"])

# SPDX-License-Identifier: MIT
"""Every copy of every site is switched, however a program is compiled and linked."""

from __future__ import annotations

import functools
import os
import re
import shutil
import unittest
from dataclasses import dataclass

from building import CXX, generate, runtime
from support import ROOT, Case, check_all, need, run, temporary, unavailable

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = ("main.c", "sites.c", "one.cc", "two.cc")
FLAG_ONLY = "-DTP_STATIC_KEYS=0"


@dataclass(frozen=True)
class Build:
    """A way to build the program: FILES, and the module where there can be one."""

    compiler: str
    flags: str                     # of all files, and of the link
    link: str = ""
    module: bool = True            # and so the shared runtime
    no_keys: tuple[str, ...] = ()  # the files without static keys
    no_lto: tuple[str, ...] = ()   # the files that are compiled at once, where the others are compiled by the linker
    cpu: str = ""                  # what the processor must have, as /proc/cpuinfo calls it
    linker: str = ""

    @property
    def entries(self) -> tuple[int, int]:
        """How many sites the program may have."""
        if set(self.no_keys) >= set(FILES):
            return 0, 0
        if "-O0" in self.flags:
            return 4, 10  # a function for each tracepoint and file
        return (30 if self.no_keys else 70), 250


BUILDS = {
    "gcc_O0": Build("gcc", "-O0"),
    "gcc_O2": Build("gcc", "-O2"),
    "gcc_O3": Build("gcc", "-O3 -funroll-loops"),
    "gcc_Os": Build("gcc", "-Os"),
    "clang_O0": Build("clang", "-O0"),
    "clang_O2": Build("clang", "-O2"),
    "clang_O3": Build("clang", "-O3 -funroll-loops"),
    "clang_Os": Build("clang", "-Os"),
    "clang_Oz": Build("clang", "-Oz"),
    "gcc_no_pie": Build("gcc", "-O2 -fno-pie", "-no-pie"),
    "clang_no_pie": Build("clang", "-O2 -fno-pie", "-no-pie"),
    "gcc_fPIC": Build("gcc", "-O2 -fPIC"),
    "gcc_static": Build("gcc", "-O2 -fno-pie", "-static", module=False),
    "clang_static": Build("clang", "-O1 -fno-pie", "-static", module=False),
    "gcc_static_pie": Build("gcc", "-O1 -fPIE", "-static-pie", module=False),
    "gcc_lto": Build("gcc", "-O2 -flto"),
    "gcc_lto_static": Build("gcc", "-O3 -flto -fno-pie", "-static", module=False),
    "clang_lto": Build("clang", "-O2 -flto", linker="lld"),
    "clang_thin_lto": Build("clang", "-O2 -flto=thin", linker="lld"),
    "clang_some_lto": Build("clang", "-O2 -flto", linker="lld", no_lto=("sites.c", "two.cc")),
    "gcc_some_lto": Build("gcc", "-O2 -flto", no_lto=("main.c", "one.cc")),
    "gcc_cf_protection": Build("gcc", "-O2 -fcf-protection=full"),
    "clang_cf_protection": Build("clang", "-O2 -fcf-protection=full"),
    "gcc_intel": Build("gcc", "-O2 -masm=intel"),
    "clang_intel": Build("clang", "-O2 -masm=intel"),
    "gcc_native": Build("gcc", "-O3 -march=native"),
    "clang_native": Build("clang", "-O3 -march=native"),
    "gcc_avx2": Build("gcc", "-O3 -mavx2", cpu="avx2"),
    "gcc_hardened": Build("gcc", "-O2 -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fstack-clash-protection "
                                 "-ftrivial-auto-var-init=zero", "-Wl,-z,now -Wl,-z,relro"),
    "clang_hardened": Build("clang", "-O2 -fstack-protector-strong -D_FORTIFY_SOURCE=2"),
    "gcc_address_sanitizer": Build("gcc", "-O1 -fsanitize=address,undefined -fno-sanitize=alignment"),
    "gcc_thread_sanitizer": Build("gcc", "-O2 -fsanitize=thread"),
    "gcc_no_red_zone": Build("gcc", "-O2 -mno-red-zone"),
    "gcc_frame_pointer": Build("gcc", "-O1 -fno-omit-frame-pointer"),
    "gcc_no_keys": Build("gcc", "-O2", no_keys=(*FILES, "module.c")),
    "gcc_mixed": Build("gcc", "-O2", no_keys=("main.c", "one.cc")),
    "gcc_mixed_module": Build("gcc", "-O0", no_keys=("sites.c", "module.c")),
    "clang_mixed": Build("clang", "-O2", no_keys=("two.cc", "module.c")),
}
BEFORE_A_COMMIT = ("gcc_O0", "gcc_O2", "clang_O2", "gcc_fPIC", "gcc_static", "gcc_lto", "gcc_mixed")
# The options, and whether the linker drops code that has sites. With bfd and gold it takes more than --gc-sections: to
# them, the program's reference to the table is one to all of its entries.
COLLECTED = {
    "gcc_bfd": ("gcc", "bfd", "", False),
    "gcc_bfd_start_stop": ("gcc", "bfd", "-Wl,-z,start-stop-gc", True),
    "gcc_gold": ("gcc", "gold", "", False),
    "gcc_lld": ("gcc", "lld", "", True),
    "clang_lld": ("clang", "lld", "", True),
}


@functools.cache
def cpu_flags() -> frozenset[str]:
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        match = re.search(r"^(?:flags|Features)\s*:(.*)$", file.read(), re.M)
    return frozenset(match[1].split() if match else ())


def make(build: Build, headers: str, where: str, more: str = "", more_link: str = "") -> str:
    """Builds it. Returns what the compilers said, which must be nothing."""
    os.makedirs(where, exist_ok=True)
    least, most = build.entries
    common = [*build.flags.split(), *more.split(), "-Wall", "-Wextra", "-Wshadow", "-Werror",
              f"-DMIN_SITES={least}", f"-DMAX_SITES={most}",
              f"-DMODULE_HAS_KEYS={int('module.c' not in build.no_keys)}",
              *([] if build.module else ["-DNO_MODULE"]), "-I", os.path.join(ROOT, "runtime/include"), "-I", headers]
    linker = [f"-fuse-ld={build.linker}"] if build.linker else []
    libs = runtime("shared" if build.module else "static")
    commands = []
    for file in FILES:
        compiler = [CXX[build.compiler], "-std=c++17"] if file.endswith(".cc") else [build.compiler, "-std=gnu11"]
        commands.append([*compiler, *common, *([FLAG_ONLY] if file in build.no_keys else []),
                         *(["-fno-lto"] if file in build.no_lto else []), "-c", "-o", os.path.join(where, file + ".o"),
                         os.path.join(HERE, file)])
    commands.append([CXX[build.compiler], *build.flags.split(), *linker, *build.link.split(), *more_link.split(),
                     "-rdynamic", "-o", os.path.join(where, "main"), *(os.path.join(where, f + ".o") for f in FILES),
                     *libs])
    if build.module:
        commands.append([build.compiler, "-std=gnu11", *common, *([FLAG_ONLY] if "module.c" in build.no_keys else []),
                         "-fPIC", "-shared", *linker, "-o", os.path.join(where, "module.so"),
                         os.path.join(HERE, "module.c"), *libs])
    for command in commands:
        done = run(command)
        if done.returncode or done.stdout or done.stderr:
            return f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return ""


def outcome(where: str, *wrapper: str) -> tuple[int, str, str]:
    module = os.path.join(where, "module.so")
    done = run([*wrapper, os.path.join(where, "main"), *([module] if os.path.exists(module) else [])])
    return done.returncode, done.stdout, done.stderr


GOOD = (0, "good\ngood at the end\n", "")


class Keys(Case):
    """One test for each of BUILDS."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.top = temporary()
        generate(cls.top, "tests/sites/keys.tp", "tests/sites/module.tp")

    @staticmethod
    def lacks(build: Build) -> str | None:
        """What is not there for the build."""
        for tool in (build.compiler, CXX[build.compiler], *([f"ld.{build.linker}"] if build.linker else [])):
            if not shutil.which(tool):
                return f"{tool} is not installed"
        return None

    def one(self, name: str) -> None:
        lacks = self.lacks(BUILDS[name])
        if lacks:
            self.skipTest(lacks)
        if BUILDS[name].cpu and BUILDS[name].cpu not in cpu_flags():
            unavailable(self, f"this processor has no {BUILDS[name].cpu}")
        where = os.path.join(self.top, name)
        self.assertEqual(make(BUILDS[name], self.top, where), "")
        self.assertEqual(outcome(where), GOOD)
        if name == "gcc_O2":
            self.under_valgrind(where)

    def under_valgrind(self, where: str) -> None:
        """It translates code when it is first executed, and must be told that it has changed."""
        need(self, "valgrind")
        came_out = outcome(where, "valgrind", "-q", "--error-exitcode=9")
        if "unhandled dwarf2 abbrev form" in came_out[2]:
            unavailable(self, "this valgrind can't read the debugging information of a runtime made by this compiler")
        self.assertEqual(came_out, GOOD)


def _add(name: str) -> None:
    def test(self: Keys) -> None:
        self.one(name)
    other = check_all("some ways to build it are enough before a commit")
    setattr(Keys, f"test_{name}", test if name in BEFORE_A_COMMIT else other(test))


for _name in BUILDS:
    _add(_name)


@check_all("every linker")
@unittest.skipUnless(os.uname().machine == "x86_64", "sites are counted in the file of x86-64")
class Collected(Case):
    """With --gc-sections, a site's entry goes together with its function, and no other does."""

    def entries(self, where: str) -> int:
        sections = self.succeed(["readelf", "-SW", os.path.join(where, "main")]).stdout
        match = re.search(r"\btp_sites_\d+ +PROGBITS +\w+ \w+ (\w+)", sections)
        assert match, sections
        return int(match[1], 16) // 8

    def collect(self, compiler: str, linker: str, more: str, drops: bool) -> None:
        need(self, compiler, CXX[compiler], f"ld.{linker}", "readelf", "nm")
        generate(self.dir, "tests/sites/keys.tp", "tests/sites/module.tp")
        found = {}
        for name, option in (("all", ""), ("collected", f"-Wl,--gc-sections {more}")):
            # Hidden, as what -rdynamic exports is kept.
            where = self.path(name)
            build = Build(compiler, "-O2 -ffunction-sections -fdata-sections", module=False, linker=linker)
            self.assertEqual(make(build, self.dir, where, "-fvisibility=hidden", option), "")
            self.assertEqual(outcome(where), GOOD)
            symbols = self.succeed(["nm", os.path.join(where, "main")]).stdout
            found[name] = (self.entries(where), " not_called" in symbols)
        sites, not_called = found["all"]
        self.assertTrue(not_called)
        self.assertEqual(found["collected"], (sites - 2, False) if drops else (sites, True))


def _add_collected(name: str, *how) -> None:
    def test(self: Collected) -> None:
        self.collect(*how)
    setattr(Collected, f"test_{name}", test)


for _name, _how in COLLECTED.items():
    _add_collected(_name, *_how)


@check_all("every linker")
class Folded(Case):
    """Functions that differ in nothing but their tracepoint are not alike to a linker that folds those that are."""

    def fold(self, linker: str, kind: str) -> None:
        generate(self.dir, "tests/sites/folded.tp")
        for compiler in CXX:
            with self.subTest(compiler=compiler):
                need(self, compiler, f"ld.{linker}")
                self.succeed([compiler, "-std=gnu11", "-O2", "-ffunction-sections", "-I",
                              os.path.join(ROOT, "runtime/include"), "-I", self.dir, f"-fuse-ld={linker}",
                              f"-Wl,--icf={kind}", "-o", self.path("folded"), os.path.join(HERE, "folded.c"),
                              *runtime("static")])
                self.assertEqual(self.succeed([self.path("folded")]).stdout, "0000\n3000\n0300\n0030\n0003\n")

    def test_lld_all(self) -> None:
        self.fold("lld", "all")

    def test_lld_safe(self) -> None:
        self.fold("lld", "safe")

    def test_gold_all(self) -> None:
        self.fold("gold", "all")

    def test_gold_safe(self) -> None:
        self.fold("gold", "safe")

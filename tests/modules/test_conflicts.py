# SPDX-License-Identifier: MIT
"""One name, two prototypes: at link time, and by dlopen. One name and one prototype: one tracepoint.

And two event classes of one name, in the .tp files of one program.
"""

from __future__ import annotations

import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from builder import COMPILERS, SHARED, Modules, once  # noqa: E402
from building import CXX, runtime  # noqa: E402
from support import BUILD, INCLUDES, WARNINGS, Case, both, check_all, few_or_many, need, run, tpgen  # noqa: E402

SYMBOL = "the_tracepoint_mod_hit"
OURS, THEIRS = "mod_hit(int)", "mod_hit(struct thing *, long)"

PROGRAM = """
#define CREATE_TRACE_POINTS
#include "mod.h"
void site(void);
int main(void)
{
	trace_mod_hit(1);
	site();
	return 0;
}
"""
DEFINITION = """
struct thing;
#define CREATE_TRACE_POINTS
#include "other.h"
void site(void);
void site(void)
{
	trace_mod_hit(0, 1);
}
"""
# The file sees another .tp than the one that has the definition.
SITE = DEFINITION.replace("#define CREATE_TRACE_POINTS\n", "")
CXX_SITE = SITE.replace("void site(void);\n", 'extern "C" void site(void);\n')


@check_all("every linker")
class AtLinkTime(Modules):
    def setUp(self) -> None:
        super().setUp()
        self.generate("mod", "other")
        self.write("program.c", PROGRAM)
        self.write("definition.c", DEFINITION)
        self.write("site.c", SITE)
        self.write("site.cc", CXX_SITE)

    def link(self, compiler: str, linker: str, other: str, *flags: str, other_compiler: str = ""):
        objects = []
        for name, by in (("program.c", compiler), (other, other_compiler or compiler)):
            objects.append(self.path(name + ".o"))
            self.succeed(self.command(by, name + ".o", self.path(name), "-c", "-Wno-odr", *flags))
        return run([compiler, *flags, f"-fuse-ld={linker}", "-o", self.path("program"), *objects,
                    *runtime("static")])

    def refuses(self, done, *words: str) -> None:
        self.assertNotEqual(done.returncode, 0, "linked, though prototypes differ")
        for word in words:
            self.assertIn(word, done.stderr)

    def each(self, linker: str, *words: str) -> None:
        need(self, f"ld.{linker}")
        for compiler in COMPILERS:
            for other in ("definition.c", "site.c"):
                for level in ("-O0", "-O2"):
                    with self.subTest(compiler=compiler, other=other, level=level):
                        self.refuses(self.link(compiler, linker, other, level), *words)

    def test_bfd(self) -> None:
        self.each("bfd", SYMBOL, OURS, THEIRS)

    def test_lld(self) -> None:
        self.each("lld", SYMBOL, OURS, THEIRS)

    def test_gold(self) -> None:
        """It names no sections."""
        self.each("gold", SYMBOL)

    def test_sites_in_cpp(self) -> None:
        for compiler in COMPILERS:
            if shutil.which(CXX[compiler]):
                with self.subTest(compiler=compiler):
                    done = self.link(compiler, "bfd", "site.cc", "-O2", other_compiler=CXX[compiler])
                    self.refuses(done, SYMBOL, OURS, THEIRS)

    def test_in_sections_that_are_collected(self) -> None:
        for linker in ("bfd", "lld"):
            if shutil.which(f"ld.{linker}"):
                with self.subTest(linker=linker):
                    done = self.link("gcc", linker, "site.c", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections")
                    self.refuses(done, SYMBOL, OURS, THEIRS)

    def test_link_time_optimization(self) -> None:
        """It is the assembler then that stumbles, over all at once: the name is all it has."""
        for compiler in COMPILERS:
            for linker in ("bfd", "lld"):
                if not shutil.which(f"ld.{linker}") or (compiler, linker) == ("gcc", "lld"):
                    continue  # lld can't read gcc's
                for other in ("definition.c", "site.c"):
                    with self.subTest(compiler=compiler, linker=linker, other=other):
                        self.refuses(self.link(compiler, linker, other, "-flto"), SYMBOL)

    def test_objects_of_two_compilers(self) -> None:
        if len(COMPILERS) < 2:
            self.skipTest("clang is not installed")
        for compiler, other in (("gcc", "clang"), ("clang", "gcc")):
            for linker in ("bfd", "lld"):
                if shutil.which(f"ld.{linker}"):
                    with self.subTest(compiler=compiler, linker=linker):
                        done = self.link(compiler, linker, "site.c", other_compiler=other)
                        self.refuses(done, SYMBOL, OURS, THEIRS)
                        self.agree(compiler, linker, other_compiler=other)

    def agree(self, compiler: str, linker: str, *flags: str, other_compiler: str = "") -> None:
        """Other names of parameters are no other prototype; nor is another file."""
        if not os.path.exists(self.path("same.h")):
            self.generate_from("same.tp", "#define TRACE_SYSTEM same\nDECLARE_TRACE(mod_hit, TP_PROTO(int another_name), "
                                          "TP_ARGS(another_name));\n")
        self.write("same.c", SITE.replace('"other.h"', '"same.h"').replace("trace_mod_hit(0, 1)", "trace_mod_hit(1)"))
        done = self.link(compiler, linker, "same.c", *flags, other_compiler=other_compiler)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.says("program")

    def test_same_prototype_links(self) -> None:
        for compiler in COMPILERS:
            for linker in ("bfd", "lld", "gold"):
                for flags in (("-O2",), ("-O0",), ("-flto", "-O2"), ("-flto", "-O0")):
                    if not shutil.which(f"ld.{linker}") or (compiler, linker, flags[0]) == ("gcc", "lld", "-flto"):
                        continue
                    with self.subTest(compiler=compiler, linker=linker, flags=flags):
                        self.agree(compiler, linker, *flags)


CLASS = """#define TRACE_SYSTEM {name}
DECLARE_EVENT_CLASS(item,
	TP_PROTO(int n), TP_ARGS(n),
	TP_STRUCT__entry(__field(int, n)),
	TP_fast_assign(__entry->n = n;),
	TP_printk("n=%d", __entry->n));
DEFINE_EVENT(item, {name}_add, TP_PROTO(int n), TP_ARGS(n));
"""
CLASS_USER = '#define CREATE_TRACE_POINTS\n#include "{name}.h"\nvoid {name}(void);\nvoid {name}(void)\n' \
    "{{\n\ttrace_{name}_add(1);\n}}\n"


class Classes(Case):
    """Ten files, each with a class of the same name."""

    NAMES = [f"part{n}" for n in range(10)]
    MAIN = "".join(f"void {name}(void);\n" for name in NAMES) + \
        "int main(void)\n{\n" + "".join(f"\t{name}();\n" for name in NAMES) + "\treturn 0;\n}\n"

    def setUp(self) -> None:
        super().setUp()
        once(self, self.generate)

    def generate(self) -> None:
        for name in self.NAMES:
            self.write(f"{name}.tp", CLASS.format(name=name))
            self.write(f"{name}.c", CLASS_USER.format(name=name))
            for backend, directory in (("userspace", self.dir), ("nop", self.path("nop"))):
                done = tpgen("gen", "--backend", backend, "-o", directory, f"{name}.tp", cwd=self.dir)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.write("main.c", self.MAIN)

    def command(self, compiler: str, *arguments: str) -> list[str]:
        return [compiler, "-std=gnu++17" if "++" in compiler else "-std=gnu11", *WARNINGS, *INCLUDES[:2], *arguments]

    def test_in_one_run(self) -> None:
        done = tpgen("gen", "-o", "out", *(f"{name}.tp" for name in self.NAMES), cwd=self.dir)
        self.assertEqual(done.returncode, 1)
        for name in self.NAMES[1:]:
            self.assertRegex(done.stderr, rf"(?m)^{name}.tp:2:21: error: two event classes are called 'item'; names are "
                             r"global to a program: rename one, or move its events into the file of the other \[TP031\]\n.*\n.*\n"
                             r"part0.tp:2:21: note: the first is here$")

    def test_in_one_c_file(self) -> None:
        """Both headers stand in the messages, in front of all others."""
        for compiler in (*COMPILERS, *map(CXX.get, COMPILERS)):
            for directory in (self.dir, self.path("nop")):
                source = self.write("both.cc" if "++" in compiler else "both.c", '#include "part0.h"\n#include "part1.h"\n')
                done = run(self.command(compiler, "-iquote", directory, "-c", "-o", os.devnull, source))
                first, second = [line for line in done.stderr.splitlines() if "error: " in line][:2]
                self.assertRegex(first, "part1.h:.*event class item is in part1.tp and in another .tp file of this program: rename")
                self.assertRegex(second, "part1.h:.*trace_event_raw_item")
                self.assertRegex(done.stderr, r"part0.h:\d+:\d+: note: ")

    def objects(self, compiler: str, *flags: str) -> list[str]:
        need(self, compiler)
        objects = []
        for name in (*self.NAMES, "main"):
            objects.append(self.path(f"{name}.o"))
            self.succeed(self.command(compiler, *flags, "-iquote", self.dir, "-c", "-o", objects[-1], self.path(f"{name}.c")))
        return objects

    def link(self, compiler: str, linker: str, objects: list[str], *flags: str):
        need(self, f"ld.{linker}")
        return run([compiler, *flags, f"-fuse-ld={linker}", "-o", self.path("program"), *objects, f"{BUILD}/libtp.a",
                    "-lurcu-bp", "-lpthread"])

    @both
    def test_at_link_time(self) -> None:
        for compiler in COMPILERS[:few_or_many(1, 2)]:
            for flag in ("-g", "-g0")[:few_or_many(1, 2)]:
                objects = self.objects(compiler, flag)
                for linker in ("bfd", "lld"):
                    with self.subTest(compiler=compiler, linker=linker, flag=flag):
                        done = self.link(compiler, linker, objects)
                        self.assertNotEqual(done.returncode, 0)
                        for name in self.NAMES:
                            self.assertIn(f"(.rodata.event class item of {name}.tp", done.stderr)
                        first = next(line for line in done.stderr.splitlines() if "item" in line)
                        self.assertIn("event_class_item_is_in_two_tp_files__rename_one", first)

    @both
    def test_renamed(self) -> None:
        """The remedy is one: the same with a name for each links, and runs."""
        for name in self.NAMES:
            self.write(f"{name}.tp", CLASS.format(name=name).replace("(item,", f"(item_of_{name},"))
        done = tpgen("gen", "-o", ".", *(f"{name}.tp" for name in self.NAMES), cwd=self.dir)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for flags in ([], ["-O2", "-flto"])[:few_or_many(1, 2)]:
            self.assertEqual(self.link("gcc", "bfd", self.objects("gcc", *flags), *flags).stderr, "")
            done = self.succeed([self.path("program")], env={**os.environ, "TP_ENABLE": "*", "TP_OUTPUT": ""})
            self.assertEqual(done.stderr.count("_add: n=1\n"), 10)

    def test_in_two_modules(self) -> None:
        """Modules have classes of their own."""
        need(self, "gcc")
        for name in self.NAMES[:2]:
            self.succeed(self.command("gcc", "-shared", "-fPIC", "-iquote", self.dir, "-o", self.path(f"lib{name}.so"),
                                      self.path(f"{name}.c"), *SHARED))
        main = self.write("two.c", "void part0(void);\nvoid part1(void);\n"
                          "int main(void)\n{\n\tpart0();\n\tpart1();\n\treturn 0;\n}\n")
        self.succeed(["gcc", "-o", self.path("two"), main, f"-L{self.dir}", "-lpart0", "-lpart1",
                      f"-Wl,-rpath,{self.dir}:{BUILD}", f"-Wl,-rpath-link,{BUILD}"])
        done = self.succeed([self.path("two")], env={**os.environ, "TP_ENABLE": "*"})
        self.assertEqual(done.stderr.count("_add: n=1\n"), 2)


class ByDlopen(Modules):
    def setUp(self) -> None:
        super().setUp()
        self.generate("mod", "other", "custom")
        once(self, self.build)

    def build(self) -> None:
        self.program("quarrel", "quarrel.c", *SHARED)
        self.module("a.so", "module.c", *SHARED)
        self.module("b.so", "module.c", *SHARED)
        self.module("other.so", "other.c", *SHARED)
        self.module("custom.so", "custom.c", *SHARED)

    def steps(self, *steps: str) -> tuple[list[str], list[str]]:
        done = self.start("quarrel", *steps)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines(), done.stderr.splitlines()

    def test_second_is_refused(self) -> None:
        out, err = self.steps("on", "+a", "+other", "a", "other", "?")
        self.assertEqual(out, ["hit a", "heard 7", "hit other",
                               "mod_hit(int) of mod.tp:5 in a.so: on, 1 sites, 1 probes",
                               "mod_hit(struct thing *, long) of other.tp:5 in other.so: refused, 1 sites, 0 probes"])
        self.assertEqual(len(err), 1, err)
        for word in ("tp: tracepoint 'mod_hit'", "./a.so", "./other.so", "(int)", "(struct thing *, long)"):
            self.assertIn(word, err[0])

    def test_refused_one_is_the_first_later(self) -> None:
        """When the one that was there has gone, and the refused one is loaded anew."""
        out, err = self.steps("+other", "+a", "?", "a", "-a", "-other", "on", "+a", "a", "-a", "off", "+other", "?")
        self.assertEqual(out, ["mod_hit(struct thing *, long) of other.tp:5 in other.so: off, 1 sites, 0 probes",
                               "mod_hit(int) of mod.tp:5 in a.so: refused, 1 sites, 0 probes",
                               "hit a", "hit a", "heard 7",
                               "mod_hit(struct thing *, long) of other.tp:5 in other.so: off, 1 sites, 0 probes"])
        self.assertEqual(len(err), 1, err)

    def test_refused_module_stays_so_while_loaded(self) -> None:
        out, _ = self.steps("+a", "+other", "?", "-a", "?", "-other", "+other", "?")
        self.assertEqual([line.rsplit(": ")[1] for line in out[2:]], ["refused, 1 sites, 0 probes", "off, 1 sites, 0 probes"])

    def test_registration_on_the_refused(self) -> None:
        out, _ = self.steps("+other", "on")
        self.assertEqual(out, ["Invalid argument"])

    def test_recording_goes_on(self) -> None:
        done = self.start("quarrel", "+a", "+other", "a", "other", TP_ENABLE="mod:*")
        self.assertEqual(done.stdout.splitlines(), ["hit a", "hit other"])
        self.assertEqual(done.stderr.count("mod:mod_hit: n=7"), 1, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 2)

    def test_two_that_agree_switch_together(self) -> None:
        out, err = self.steps("+a", "+b", "on", "a", "b", "?", "-a", "b", "+a", "off", "a", "b", "?")
        self.assertEqual(out, ["hit a", "heard 7", "hit b", "heard 7",
                               "mod_hit(int) of mod.tp:5 in a.so: on, 1 sites, 1 probes",
                               "mod_hit(int) of mod.tp:5 in b.so: on, 1 sites, 1 probes",
                               "hit b", "heard 7", "hit a", "hit b",
                               "mod_hit(int) of mod.tp:5 in b.so: off, 1 sites, 0 probes",
                               "mod_hit(int) of mod.tp:5 in a.so: off, 1 sites, 0 probes"])
        self.assertEqual(err, [])

    def test_probe_attaches_again_and_again(self) -> None:
        """Registered by name before there is any definition."""
        out, err = self.steps("on", "?", "+a", "a", "-a", "?", "+a", "a", "-a", "+b", "b", "off", "b")
        self.assertEqual(out, ["hit a", "heard 7", "hit a", "heard 7", "hit b", "heard 7", "hit b"])
        self.assertEqual(err, [])

    def test_custom_event_of_another_prototype(self) -> None:
        """Loaded before its tracepoint, switched on or not, it does not keep that one off."""
        for env in ({}, {"TP_ENABLE": "custom:*", "TP_OUTPUT": f"text:{self.path('log')}"}):
            for steps in (("+custom", "+a", "on", "a", "?"), ("on", "+custom", "+a", "a", "?"),
                          ("+a", "on", "+custom", "a", "?")):
                with self.subTest(steps=steps, env=env):
                    done = self.start("quarrel", *steps, **env)
                    self.assertEqual(done.stdout.splitlines(),
                                     ["hit a", "heard 7", "mod_hit(int) of mod.tp:5 in a.so: on, 1 sites, 1 probes"])
                    for line in done.stderr.splitlines():
                        self.assertRegex(line, r"^tp: .*(mod_hit|custom)")

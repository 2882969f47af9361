# SPDX-License-Identifier: MIT
"""tp list PROGRAM says of a file what the program says itself when it runs, however it was built."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import sys
from collections.abc import Sequence

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [HERE, os.path.join(TESTS, "arch")]

from building import CC, build, generate, interface_version  # noqa: E402
from listed import Listed, headers, listed, told  # noqa: E402
from platforms import AARCH64, ARMHF, I386, Platform  # noqa: E402
from support import BUILD, ROOT, check_all, need, read, run, tpgen  # noqa: E402

# Ways to link: the options of the compiler, and of the linker.
LINKED: dict[str, tuple[list[str], list[str]]] = {
    "pie": (["-fPIE", "-pie"], []),
    "no-pie": (["-fno-pie", "-no-pie"], []),
    "static": (["-fno-pie", "-static"], []),
    "static-pie": (["-fPIE", "-static-pie"], []),
    "now": (["-fPIE", "-pie"], ["-Wl,-z,now", "-Wl,-z,relro"]),
    "relr": (["-fPIE", "-pie"], ["-Wl,-z,pack-relative-relocs"]),
    "based": (["-fPIE", "-pie"], ["-Wl,-Ttext-segment=0x10000000"]),  # as prelink leaves it
    "gc": (["-ffunction-sections", "-fdata-sections"], ["-Wl,--gc-sections"]),
    "lto": (["-flto"], []),
    "large": (["-mcmodel=large", "-fno-pie", "-no-pie"], []),
    "asan": (["-fsanitize=address,undefined"], []),
    "stripped": ([], ["-s"]),
    "compressed": (["-gz"], ["-Wl,--compress-debug-sections=zlib"]),
    "gold": ([], ["-fuse-ld=gold"]),
    "lld": ([], ["-fuse-ld=lld"]),
    "lld-no-pie": (["-fno-pie", "-no-pie"], ["-fuse-ld=lld"]),
    "lld-filled": ([], ["-fuse-ld=lld", "-Wl,--apply-dynamic-relocs"]),
    "lld-gc": (["-ffunction-sections"], ["-fuse-ld=lld", "-Wl,--gc-sections"]),
}


@check_all("every compiler and linker; Forms is one of them")
class Builds(Listed):
    def builds(self, compiler: str, opt: str, ways: Sequence[str]) -> None:
        """The ways that the compiler and the linker here can go; at least some."""
        need(self, compiler)
        done = 0
        for way in ways:
            flags, link = LINKED[way]
            with self.subTest(compiler=compiler, opt=opt, way=way):
                source = self.write("empty.c", "int main(void) { return 0; }\n")
                possible = run([compiler, opt, *flags, "-o", self.path("empty"), source, *link])
                if possible.returncode or "warning" in possible.stderr or run([self.path("empty")]).returncode:
                    continue
                self.same(self.program(f"{compiler}{opt}-{way}", compiler, [opt, *flags], link))
                done += 1
        self.assertGreater(done, len(ways) // 3)

    def program(self, name: str, compiler: str, flags: list[str], link: list[str]) -> str:
        """Without build(), which fails at warnings: a static program with dlopen() in its library has one."""
        if not os.path.exists(self.path("listed.h")):
            generate(self.dir, os.path.join(HERE, "listed.tp"))
        done = run([compiler, "-std=gnu11", "-D_GNU_SOURCE", *flags, "-I", self.dir, "-I", f"{ROOT}/runtime/include", "-o",
                    self.path(name), os.path.join(HERE, "program.c"), os.path.join(HERE, "listing.c"),
                    os.path.join(BUILD, "libtp.a"), *link, "-lurcu-bp", "-lpthread", "-ldl"])
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path(name)

    def test_gcc(self) -> None:
        self.builds("gcc", "-O2", list(LINKED))

    def test_gcc_unoptimized(self) -> None:
        self.builds("gcc", "-O0", ("pie", "no-pie", "static", "lld"))

    def test_clang(self) -> None:
        self.builds("clang", "-O2", list(LINKED))

    def test_clang_unoptimized(self) -> None:
        self.builds("clang", "-O0", ("pie", "no-pie", "static", "lld"))

    def test_relocations(self) -> None:
        """The ways above do differ in what the file says."""
        for way, wanted, other in (("relr", "RELR", None), ("no-pie", None, "R_X86_64_RELATIVE"), ("pie", "RELATIVE", None)):
            flags, link = LINKED[way]
            path = self.program(way, CC, flags, link)
            said = self.succeed(["readelf", "-W", "-d", "-r", path]).stdout
            self.assertTrue(wanted is None or wanted in said, said)
            self.assertTrue(other is None or other not in said, said)

    def test_lld_relr(self) -> None:
        """lld's relative relocations are listed, too, though old ones make no program of them that glibc runs."""
        need(self, "ld.lld")
        lld, relr = (self.program(name, CC, [], ["-fuse-ld=lld", f"-Wl,--pack-dyn-relocs={name}"]) for name in ("none", "relr"))
        self.assertEqual(listed(self.list("-v", relr)), self.same(lld))

    def test_strip(self) -> None:
        """strip leaves what is needed, and so does objcopy."""
        path = self.program("program", CC, [], [])
        expected = self.same(path)
        for command in (["strip", path], ["strip", "--strip-all", "-R", ".comment", path], ["objcopy", "-S", path]):
            self.succeed(command)
            self.assertEqual(self.same(path), expected)

    def test_shared_runtime(self) -> None:
        """A program that has libtp.so, which has no events, and one with all of libtp.a."""
        for libtp in ("shared", "whole"):
            self.same(self.build(libtp, "program.c", libtp=libtp))


class Forms(Listed):
    """Every form of declaration, and every kind of field."""

    def test_forms(self) -> None:
        generate(self.dir, os.path.join(TESTS, "language/forms.tp"))
        for compiler, flags in itertools.product(("gcc", "clang"), (["-fPIE", "-pie"], ["-no-pie", "-fno-pie"])):
            if not shutil.which(compiler):
                continue
            path = build(self.path("forms"), os.path.join(TESTS, "language/forms.c"), os.path.join(HERE, "listing.c"),
                         compiler=compiler, flags=flags, include=[self.dir], link=["-rdynamic"])
            events = self.same(path)
            self.assertGreater(len(events), 14)
            self.assertEqual([event.name for event in events if event.place == "-"], [])

    def test_example(self) -> None:
        """pgz, of the README: the lines of all that it has."""
        text = self.list(os.path.join(BUILD, "examples/pgz/pgz"))
        self.assertEqual(sorted(line.split()[0] for line in text.splitlines()),
                         ["pgz:pgz_block_end", "pgz:pgz_block_queue", "pgz:pgz_block_start", "pgz:pgz_file_blocks",
                          "pgz:pgz_file_close", "pgz:pgz_file_open", "pgz:pgz_step", "pgz:pgz_waiting"])
        for line in text.splitlines():
            self.assertRegex(line, r"^\S+ +DEBUG_LINE  defs/pgz\.tp:\d+$")

    def test_documented(self) -> None:
        """The examples of docs/tp.md; "..." stands for other lines."""
        section = read(os.path.join(ROOT, "docs/tp.md")).split("\n## Events of a program that does not run\n")[1]
        commands = re.findall(r"^\$ tp (list .*)\n((?:.*\n)*?)(?=\$ |```)", section.split("\n## ")[0], re.M)
        self.assertEqual(len(commands), 2)
        for command, shown in commands:
            lines = self.list(*command.split(" ")[1:], cwd=ROOT).splitlines()
            for line in shown.splitlines():
                self.assertIn(line, [*lines, "..."])

    def test_cpp_markers(self) -> None:
        """Markers of C++, which are in templates."""
        need(self, "g++")
        source = self.write("marks.cc", "#include <tp/marker.h>\n"
                                        "template <class T> void mark(T n) { trace_mark(of_template, \"n %ld\", (long)n); }\n"
                                        "int main() { mark(1); mark('x'); trace_mark(of_main, \"%s\", \"x\"); }\n")
        path = build(self.path("marks"), source, os.path.join(HERE, "listing.c"))
        self.assertEqual({event.name for event in self.same(path)}, {"marker:of_template", "marker:of_main"})

    def test_marker_that_is_no_event(self) -> None:
        """If a marker's arguments can't be recorded, its program says so, and lists none."""
        source = self.write("marks.c", "#include <tp/marker.h>\n"
                                       "int main(int argc, char **argv) { trace_mark(odd, \"%ls\", (wchar_t *)argv);\n"
                                       "trace_mark(even, \"%d\", argc); return 0; }\n")
        path = build(self.path("marks"), source, os.path.join(HERE, "listing.c"))
        self.assertEqual([event.name for event in listed(self.list("-v", path))], ["marker:even"])
        done = run([path], env={**os.environ, "LISTING": self.path("listing")})
        self.assertIn("'odd'", done.stderr)
        self.assertEqual(listed(self.list("-v", path)), told(self.path("listing")))

    def test_many(self) -> None:
        """As many events as a process can have."""
        source = self.write("many.c", """\
#define CREATE_TRACE_POINTS
#include "listed.h"
__asm__(".pushsection " TP_SECTION("tp_definitions") ", \\"a" TP_RETAIN_FLAG "\\", %progbits\\n\\t"
	".rept 65535\\n\\t"
	".long " TP_TO(__tracepoint_listed_hit) TP_TO(__tp_text_listed_hit) "0, " TP_TO(tp_event_listed_hit)
	TP_TO(__tp_class_listed_hit) "0, 0, 1, 13\\n\\t"
	".endr\\n\\t"
	".popsection");
int main(void)
{
	return 0;
}
""")
        generate(self.dir, os.path.join(HERE, "listed.tp"))
        path = build(self.path("many"), source, include=[headers()], flags=["-w"])
        self.assertEqual(self.list("-v", path).count("listed:listed_hit"), 65536)


class Libraries(Listed):
    """The libraries that a program is linked with."""

    def library(self, name: str, *link: str, **options) -> str:
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        return self.build(name, "library.c", libtp="shared", link=[f"-Wl,-soname,{os.path.basename(name)}", *link],
                          **options)

    def program(self, *link: str, name: str = "program") -> str:
        return self.build(name, "program.c", libtp="shared", flags=["-DLIBRARY"], link=[self.path("lib/liblib.so"), *link])

    def events(self, path: str, **env: str) -> list[str]:
        return [event.name for event in listed(self.list("-v", path, env={**os.environ, **env}))]

    def test_library(self) -> None:
        """One with an exported tracepoint, whose address is a symbol's."""
        path = self.library("lib/liblib.so")
        self.assertIn("R_X86_64_64", self.succeed(["readelf", "-Wr", path]).stdout)
        events = listed(self.list("-v", path))
        self.assertEqual([(event.name, event.place) for event in events],
                         [("library:library_hit", os.path.join(HERE, "library.tp:5"))])

    def test_plugin(self) -> None:
        """A plugin that a program loads; it is not linked with libtp."""
        path = self.build("plugin.so", "program.c", libtp="")
        host = build(self.path("host"), self.write("host.c", "#include <dlfcn.h>\nint main(int c, char **v) {\n"
                                                             "return c < 2 || !dlopen(v[1], RTLD_NOW | RTLD_NODELETE); }\n"),
                     os.path.join(HERE, "listing.c"), libtp="shared", flags=["-Wl,--no-as-needed"])
        self.same(path, [host, path])
        self.assertIn("has no tracepoints", self.refused(host))

    def test_search(self) -> None:
        """RUNPATH and RPATH with $ORIGIN, LD_LIBRARY_PATH; with the program's own first."""
        self.library("lib/liblib.so")
        both = {"listed:listed_hit", "listed:listed_empty", "marker:listed_mark", "marker:listed_none",
                "library:library_hit"}
        for link, env in ((["-Wl,-rpath,$ORIGIN/lib"], {}),
                          (["-Wl,-rpath,/nowhere:${ORIGIN}/lib", "-Wl,--enable-new-dtags"], {}),
                          (["-Wl,-rpath,$ORIGIN/lib", "-Wl,--disable-new-dtags"], {}),
                          (["-Wl,-rpath," + self.path("lib")], {}),
                          ([], {"LD_LIBRARY_PATH": f"/nowhere:{self.path('lib')}"})):
            with self.subTest(link=link, env=env):
                path = self.program(*link)
                events = listed(self.list("-v", path, env={**os.environ, **env}))
                self.assertEqual({event.name for event in events}, both)
                self.assertEqual(events[-1].name, "library:library_hit")
                said = self.run_it([path], **env)
                self.assertEqual(sorted(events, key=str), sorted(said, key=str))
                self.assertEqual(len(listed(self.list("-v", "--no-libraries", path, env={**os.environ, **env}))), 4)

    def test_moved(self) -> None:
        """$ORIGIN is where the file is, and not a link to it."""
        self.library("lib/liblib.so")
        path = self.program("-Wl,-rpath,$ORIGIN/lib")
        os.mkdir(self.path("elsewhere"))
        os.symlink(path, self.path("elsewhere/link"))
        self.assertIn("library:library_hit", self.list(self.path("elsewhere/link")))

    def test_library_of_library(self) -> None:
        """By the library's own RUNPATH; and by its user's RPATH, but not by its user's RUNPATH."""
        self.library("lib/liblib.so")
        source = self.write("middle.c", "void library_call(void); void middle(void);\n"
                                        "void middle(void) { library_call(); }\n")
        main = self.write("user.c", "void middle(void); int main(void) { middle(); return 0; }\n")
        os.makedirs(self.path("mid"))
        for own, users, tags, found in (("$ORIGIN/../lib", "$ORIGIN/mid", "enable", True),
                                        ("/nowhere", "$ORIGIN/mid:$ORIGIN/lib", "enable", False),
                                        ("", "$ORIGIN/mid:$ORIGIN/lib", "disable", True),
                                        ("", "$ORIGIN/mid:$ORIGIN/lib", "enable", False)):
            with self.subTest(own=own, users=users, tags=tags):
                build(self.path("mid/libmiddle.so"), source, libtp="",
                      link=[self.path("lib/liblib.so"), "-Wl,-soname,libmiddle.so",
                            *([f"-Wl,-rpath,{own}"] if own else [])])
                path = build(self.path("user"), main, libtp="",
                             link=[f"-Wl,-rpath,{users}", f"-Wl,--{tags}-new-dtags", self.path("mid/libmiddle.so"),
                                   f"-Wl,-rpath-link,{self.path('lib')}:{BUILD}"])
                done = run([os.path.join(BUILD, "tp"), "list", path])
                self.assertEqual("library:library_hit" in done.stdout, found, done.stderr)
                self.assertEqual("liblib.so" in done.stderr, not found, done.stderr)

    def test_missing(self) -> None:
        """A library that is not there is named; the others are listed."""
        path = self.library("lib/liblib.so")
        program = self.program()
        os.remove(path)
        done = run([os.path.join(BUILD, "tp"), "list", program])
        self.assertEqual(done.returncode, 0)
        self.assertEqual(len(done.stdout.splitlines()), 4)
        self.assertRegex(done.stderr, r"\Atp: not found, so their events are not listed: 1 of the libraries of '.*': "
                                      r"liblib\.so; .*\n\Z")

    def test_damaged_library(self) -> None:
        """A library without its table of sections is named; the others, and what it is linked with, are listed."""
        path = self.library("lib/liblib.so")
        program = self.program("-Wl,-rpath,$ORIGIN/lib")
        with open(path, "r+b") as file:
            file.seek(40)
            file.write(bytes(8))
        done = run([os.path.join(BUILD, "tp"), "list", program])
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 4))
        self.assertRegex(done.stderr, r"\Atp: '.*/liblib\.so' has no table of sections, .*\n\Z")

    def test_wrong_libraries_are_passed(self) -> None:
        """As the loader does, tp goes on where a file of that name is no library for this program."""
        path = self.library("lib/liblib.so")
        program = self.program()
        for name, data in (("text", b"no library"), ("empty", b""), ("short", b"\x7fELF\x02\x01\x01")):
            self.write(f"{name}/liblib.so", data.decode("latin-1"))
        with open(path, "rb") as file:
            other = bytearray(file.read())
        other[18:20] = b"\xb7\x00"  # as if it were of arm64
        os.mkdir(self.path("arm"))
        with open(self.path("arm/liblib.so"), "wb") as file:
            file.write(other)
        way = ":".join(self.path(name) for name in ("text", "empty", "short", "arm", "lib"))
        self.assertIn("library:library_hit", self.events(program, LD_LIBRARY_PATH=way))

    def test_one_marker_in_both(self) -> None:
        """A marker of one name in a program and its library is one event, as when they run."""
        mark = "#include <tp/marker.h>\n"
        both = self.write("lib.c", mark + "int mark(void);\nint mark(void)\n{\n\ttrace_mark(both, \"%d\", 1);\n"
                                          "\ttrace_mark(of_library, \"%d\", 2);\n\treturn 0;\n}\n")
        lib = build(self.path("libmark.so"), both, libtp="shared", link=["-Wl,-soname,libmark.so"])
        source = self.write("main.c", mark + "int mark(void);\nint main(void)\n{\n\ttrace_mark(both, \"%d\", 1);\n"
                                             "\ttrace_mark(of_main, \"%d\", 2);\n\treturn mark();\n}\n")
        path = build(self.path("marks"), source, os.path.join(HERE, "listing.c"), libtp="shared",
                     link=[lib, f"-Wl,-rpath,{self.dir}"])
        names = [event.name for event in listed(self.list("-v", path))]
        self.assertEqual(names, ["marker:both", "marker:of_main", "marker:of_library"])
        self.assertEqual(sorted(names), sorted(event.name for event in self.run_it([path])))


class Interfaces(Listed):
    def test_newer(self) -> None:
        """Of a later interface nothing but its number is known."""
        path = self.build("program", "program.c")
        self.succeed(["objcopy", *(f"--rename-section=tp_{what}_{interface_version()}=tp_{what}_77"
                                   for what in ("events", "tracepoints", "markers")), path])
        said = self.refused(path)
        self.assertRegex(said, r"was built for interface 77 of libtp, and this tp knows those up to \d+: use the tp of a newer libtp$")


@check_all("another processor, in an emulator")
class OtherProcessor(Listed):
    def test_aarch64(self) -> None:
        self.is_same(AARCH64)

    def test_32_bit_arm(self) -> None:
        self.is_same(ARMHF)

    def test_32_bit_x86(self) -> None:
        self.is_same(I386)

    def is_same(self, platform: Platform) -> None:
        if platform.missing():
            self.skipTest(platform.missing())
        platform.make("libtp.a", "libtp.so")
        done = tpgen("gen", "-o", self.dir, os.path.join(HERE, "listed.tp"), env={"CC": platform.cc})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        static = [os.path.join(platform.directory, "libtp.a")]
        for name, flags, libs in (("pie", ["-fPIE", "-pie"], static), ("static", ["-static"], static),
                                  ("shared", ["-fPIE", "-pie"], [f"-L{platform.directory}", f"-Wl,-rpath,{platform.directory}", "-ltp"])):
            with self.subTest(name=name):
                path = self.path(name)
                self.succeed([platform.cc, "-std=gnu11", "-D_GNU_SOURCE", "-O2", *flags, *platform.cflags, "-I",
                              os.path.join(ROOT, "runtime/include"), "-I", self.dir, "-o", path,
                              os.path.join(HERE, "program.c"), os.path.join(HERE, "listing.c"), *libs,
                              *platform.ldflags, "-lurcu-bp", "-lpthread", "-ldl"])
                events = listed(self.list("-v", "--no-libraries", path))
                self.assertEqual(events, self.run_it(platform.command(path)))
                self.assertEqual(len(events), 4)


class Choosing(Listed):
    """Which program is meant, and which of its events."""

    def setUp(self) -> None:
        super().setUp()
        self.program = self.build("listed-program", "program.c")

    def names(self, *args: str, **options) -> list[str]:
        return [line.split()[0] for line in self.list(*args, **options).splitlines()]

    def test_columns(self) -> None:
        """A line for each event, with two blanks between columns."""
        lines = self.list(self.program).splitlines()
        for line in lines:
            self.assertRegex(line, r"^\S+ {2,}[A-Z_]+ {2,}\S+:\d+$")
        self.assertEqual(len({line.rindex("  ") for line in lines}), 1)

    def test_patterns(self) -> None:
        for patterns, expected in ((["*"], 4), (["listed:*"], 2), (["listed_hit"], 1), (["listed:*,!*empty"], 1),
                                   (["marker:*", "listed_hit"], 3), (["*", "!marker:*"], 2)):
            self.assertEqual(len(self.names(self.program, *patterns)), expected, patterns)
        said = self.refused(self.program, "nothing:*", "other")
        self.assertEqual(said, f"'{self.program}' has no event that matches 'nothing:*,other'; without patterns, all of its "
                               "events are listed")
        for wrong in ("", "!x", ",", "a,,b"):
            self.assertIn("is no list of events", self.refused(self.program, wrong, code=2))

    def test_path(self) -> None:
        """A name without a "/" is looked for as by a shell, and then here."""
        env = {**os.environ, "PATH": f"/nowhere:{self.dir}"}
        self.assertEqual(len(self.names("listed-program", env=env, cwd="/")), 4)
        self.assertEqual(len(self.names("listed-program", env={**os.environ, "PATH": ""}, cwd=self.dir)), 4)
        self.assertEqual(len(self.names("./listed-program", cwd=self.dir)), 4)
        os.chmod(self.program, 0o644)  # a plugin need not be executable
        self.assertEqual(len(self.names("listed-program", cwd=self.dir)), 4)
        self.assertEqual(self.refused("listed-program", cwd="/"), "there is no program 'listed-program' in $PATH, nor a file of "
                                                                  "that name here: give its path")
        without = {key: value for key, value in os.environ.items() if key != "PATH"}
        self.assertEqual(len(self.names("listed-program", env=without, cwd=self.dir)), 4)

    def test_called_wrongly(self) -> None:
        self.assertIn("PROGRAM", self.refused(code=2))
        self.assertIn("--nonsense", self.refused("--nonsense", self.program, code=2))

    def test_output_is_closed(self) -> None:
        """Nobody reads the list: no message, as for ls."""
        done = run(["sh", "-c", f"'{os.path.join(BUILD, 'tp')}' list -v '{self.program}' | true"])
        self.assertEqual(done.stderr, "")
        done = run(["sh", "-c", f"'{os.path.join(BUILD, 'tp')}' list -v '{self.program}' >/dev/full"])
        self.assertEqual(re.sub(r": [^:]*\n", "", done.stderr), "tp: the output can't be written")
        self.assertEqual(done.returncode, 1)

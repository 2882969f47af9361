# SPDX-License-Identifier: MIT
"""The runtime and its tools with musl, the C library of Alpine: the README's tour; and beside programs of glibc."""

from __future__ import annotations

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "control")]

from building import generate  # noqa: E402
from docs.pages import Page, section  # noqa: E402
from musl import SYSROOT  # noqa: E402
from platforms import MUSL  # noqa: E402
from reaching import TP, Reaching, served  # noqa: E402
from support import INCLUDES, ROOT, TESTS, WARNINGS, Case, check_all, need, read, reader, run, until  # noqa: E402

SHARED = [f"-L{MUSL.directory}", f"-Wl,-rpath,{MUSL.directory}", "-ltp"]
STATIC = [os.path.join(MUSL.directory, "libtp.a")]
# How programs are compiled and linked.
LINKED = {
    "shared": (["-fPIE", "-pie", "-rdynamic"], SHARED),
    "archive": (["-fPIE", "-pie", "-rdynamic"], STATIC),
    "static": (["-fno-pie", "-static"], STATIC),
    "static-pie": (["-fPIE", "-static-pie"], STATIC),
}

HIT = r"^\d+\.\d{9} \d+/\d+ module:module_hit: n=(\d+)$"


class Compiled(Case):
    """What "make check" has of it."""

    UNITS = ("fork", "guarded_fd", "pointer", "text_threads", "thread")

    def test_runtime(self) -> None:
        if MUSL.missing():
            self.skipTest(MUSL.missing())
        programs = [f"obj/unit/test_{name}" for name in self.UNITS]
        MUSL.make("libtp.a", "libtp.so", "tp", *programs)
        for program in programs:
            self.succeed([os.path.join(MUSL.directory, program)], env={**os.environ, "TPGEN_TESTS": "check"})

    def test_generated(self) -> None:
        if MUSL.missing():
            self.skipTest(MUSL.missing())
        MUSL.prepare()
        for header in sorted(os.listdir(os.path.join(ROOT, "generated"))):
            source = self.write("all.c", f'#define CREATE_TRACE_POINTS\n#include "{header}"\n')
            self.succeed([MUSL.cc, "-std=gnu11", "-D_GNU_SOURCE", *WARNINGS, "-fsyntax-only", *MUSL.cflags, *INCLUDES, source])


@check_all("another C library")
class Tour(Page):
    def setUp(self) -> None:
        """What make is told besides, a system's own compiler knows."""
        if MUSL.missing():
            self.skipTest(MUSL.missing())
        super().setUp()
        MUSL.make("libtp.a", "libtp.so", "tp")
        told = {"BUILD": os.path.relpath(MUSL.directory, ROOT), **MUSL.variables()}
        self.env.update(CC=MUSL.cc, MAKEFLAGS=" ".join(f"{name}={value}".replace(" ", r"\ ") for name, value in told.items()))

    def test_tour(self) -> None:
        """Word for word."""
        self.walk(section("README.md", "A ten-minute tour"))
        for program in ("hello/server", "tp/bin/tp"):
            self.assertIn("ld-musl", self.succeed(["readelf", "-l", self.path(program)]).stdout)

    def test_page(self) -> None:
        """docs/adopting/musl.md, from where the tour has its program."""
        tour = section("README.md", "A ten-minute tour").split("\nThe included file has the rule")[0]
        self.walk(tour + read(os.path.join(ROOT, "docs/adopting/musl.md")))
        self.assertNotIn("INTERP", self.succeed(["readelf", "-l", self.path("hello/server")]).stdout)


@check_all("another C library")
class Programs(Reaching):
    def setUp(self) -> None:
        if MUSL.missing():
            self.skipTest(MUSL.missing())
        super().setUp()
        MUSL.make("libtp.a", "libtp.so", "tp")

    def compile(self, output: str, *command: str) -> str:
        path = self.path(output)
        self.succeed([MUSL.cc, "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-g", *WARNINGS, *MUSL.cflags, "-I",
                      os.path.join(ROOT, "runtime/include"), "-I", self.dir, "-o", path, *command, *MUSL.ldflags,
                      "-lurcu-bp"])
        return path

    def served(self, linked: str) -> str:
        generate(self.dir, os.path.join(TESTS, "control/served.tp"), env={"CC": MUSL.cc})
        options, library = LINKED[linked]
        return self.compile(f"{self.name}-{linked}"[:15], *options, os.path.join(TESTS, "control/served.c"), *library)

    def look_into(self, program: str) -> None:
        """By self.command."""
        process = self.start("loop", program=program)
        pid = str(process.pid)
        self.assertEqual(self.done("list", "-p", pid).splitlines()[0].split()[:2], ["served:served_request", "DEBUG_LINE"])
        lines = self.tp("trace", "-p", pid, "-e", "served_request if n > 5", "-n", "3").stdout.splitlines()
        self.assertEqual(len(lines), 3, lines)
        for line in lines:
            self.assertRegex(line, r"^\d+\.\d{9} \d+/\d+ served:served_request: n=\d+ peer=10\.0\.0\.1$")
        self.counted(r"served_request", "stat", "-p", pid, "-e", "*")
        trace = self.path(f"trace-{pid}")
        recording = self.begin("record", "-p", pid, "-o", trace)
        until(lambda: os.path.exists(trace) and 'peer = "10.0.0.1"' in reader(["babeltrace2", trace]).stdout, "a record")
        self.interrupt(recording)
        self.assertIn('peer = "10.0.0.1"', self.read_by("babeltrace2", trace))
        self.assertIn("served_request: n=", self.done("report", trace))
        self.left_alone(process.pid)
        self.finish(process)

    def test_either_looks_into_the_other(self) -> None:
        need(self, "babeltrace2")
        self.command = TP
        for linked in LINKED:
            with self.subTest(linked=linked):
                self.look_into(self.served(linked))
        self.command = os.path.join(MUSL.directory, "tp")
        self.look_into(served())

    def test_list_of_a_file(self) -> None:
        """Of a program and its libraries; musl itself is the loader, and no library that could be missing."""
        for command in (TP, os.path.join(MUSL.directory, "tp")):
            self.command = command
            for linked in LINKED:
                self.assertEqual([line.split()[0] for line in self.done("list", self.served(linked)).splitlines()],
                                 ["served:served_request", "served:served_idle"])

    def output_of(self, program: str, output: str) -> str:
        """What it says on standard error with such an output."""
        return self.succeed([program, "hit=3"], cwd=self.dir, env={**self.env, "TP_ENABLE": "*", "TP_OUTPUT": output}).stderr

    def test_outputs(self) -> None:
        for linked in LINKED:
            with self.subTest(linked=linked):
                program = self.served(linked)
                self.assertEqual(self.output_of(program, f"text:{self.path(linked)}.log"), "")
                self.assertEqual(read(self.path(f"{linked}.log")).count("served:served_request: n="), 3)
                self.assertEqual(self.output_of(program, f"ctf:{self.path(linked)}.ctf,mode=flight"), "")
                self.assertEqual(self.read_by("babeltrace2", self.path(f"{linked}.ctf")).count("served:served_request"), 3)
                self.assertEqual(self.output_of(program, f"stats:{self.path(linked)}.stats"), "")
                self.assertRegex(read(self.path(f"{linked}.stats")), r"(?m)^served:served_request\s+3\b")

    def test_lttng(self) -> None:
        """It is loaded when it is wanted. Whose library can't be loaded, or who can't load any, is told so."""
        if not os.path.exists(f"{SYSROOT}/include/lttng/ust-events.h"):
            self.skipTest("liblttng-ust-dev is not installed")
        self.assertRegex(self.output_of(self.served("shared"), "lttng"),
                         r"\Atp: LTTng output: liblttng-ust\.so\.1 can't be loaded: .*; nothing goes to LTTng\n")
        self.assertRegex(self.output_of(self.served("static"), "lttng"),
                         r"\Atp: LTTng output: the program is linked statically and can't load .*; nothing goes to LTTng\n")

    def module(self, *options: str) -> str:
        generate(self.dir, os.path.join(HERE, "keys.tp"), os.path.join(HERE, "module.tp"), env={"CC": MUSL.cc})
        return self.compile("module.so", "-shared", "-fPIC", os.path.join(HERE, "module.c"), *options)

    def test_module_that_brings_the_runtime(self) -> None:
        """Also for threads that are older. musl unloads nothing: what is loaded once more is still there."""
        late = self.compile("late", os.path.join(HERE, "late.c"))
        for name, library in (("shared", SHARED), ("archive", STATIC)):
            self.module("-DALONE", *library)
            done = run([late], cwd=self.dir, env={**self.env, "TP_ENABLE": "module:*", "TP_OUTPUT": "text:late.log"})
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), name)
            self.assertEqual(re.findall(HIT, read(self.path("late.log")), re.M), ["0", "10", "1", "11"])
            os.remove(self.path("late.log"))

    def test_switching(self) -> None:
        """Sites of the program are switched, and under threads; and of those that a module has, too."""
        generate(self.dir, os.path.join(HERE, "keys.tp"), os.path.join(HERE, "module.tp"), env={"CC": MUSL.cc})
        for linked, (options, library) in LINKED.items():
            sites = [self.compile(f"{part}.o", *options[:1], "-c", f"-DSITES_ARE={part}", os.path.join(HERE, "sites.c"))
                     for part in ("first", "second")]
            program = self.compile(f"keys-{linked}", *options, "-DROUNDS=20", os.path.join(HERE, "keys.c"), *sites, *library)
            loads = linked in ("shared", "archive")
            if loads:
                self.module(*(library if linked == "shared" else []))
            for what in ("switch", "storm", *(["module"] if loads else [])):
                done = run([program, what], cwd=self.dir, env=self.env)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), f"{linked} {what}")

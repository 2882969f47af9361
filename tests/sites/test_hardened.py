# SPDX-License-Identifier: MIT
"""Where a process may not change its own code, tracing says so, and the program goes on."""

from __future__ import annotations

import os
import unittest

from building import build, generate
from support import Case, read, run, temporary, unavailable

HERE = os.path.dirname(os.path.abspath(__file__))
CANNOT = 77

# Each a way to forbid both ways to change code, and to forbid one of them.
BOTH = (("mem", "mprotect"), ("open", "mprotect"), ("mem", "mdwe"), ("open", "mdwe"))
ONE = (("mem",), ("open",), ("mprotect",), ("mdwe",), ("mprotect", "mdwe"), ("mem", "open"), ("proc",), ("fake",))
# The same with a /proc that is none, for tests that need it for nothing else.
NO_PROC = (("proc", "mprotect"), ("fake", "mprotect"), ("fake", "mdwe"))

WHY = "tp: tracepoints can't be switched on: this system forbids to change program text, through /proc/self/mem as " \
      "well as by mprotect; compile the program with -DTP_STATIC_KEYS=0\n"


@unittest.skipUnless(os.uname().machine in ("x86_64", "aarch64"), "there are no static keys here")
class Hardened(Case):
    @classmethod
    def setUpClass(cls) -> None:
        cls.top = temporary()
        generate(cls.top, "tests/sites/keys.tp", "tests/sites/module.tp")
        flag = ["-DTP_STATIC_KEYS=0"]
        for output, source, flags in (("hardened", "hardened.c", []), ("flags", "hardened.c", flag),
                                      ("killed", "killed.c", []), ("module.so", "module.c", []),
                                      ("flags.so", "module.c", flag)):
            build(os.path.join(cls.top, output), os.path.join(HERE, source), compiler="gcc", include=[cls.top],
                  flags=[*flags, "-Wno-pedantic"], link=["-rdynamic"], libtp="shared")

    def hardened(self, *arguments: str, program: str = "hardened", **env: str) -> tuple[str, str]:
        done = run([os.path.join(self.top, program), *arguments], cwd=self.top, env={**os.environ, **env})
        if done.returncode == CANNOT:
            unavailable(self, f"this system can't forbid {' and '.join(arguments[1:])}")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr

    def all(self, ways: tuple[tuple[str, ...], ...], test: str, stderr: str, program: str = "hardened") -> None:
        for denied in ways:
            with self.subTest(denied=denied):
                self.assertEqual(self.hardened(test, *denied, program=program), ("", stderr))

    def test_nothing_forbidden(self) -> None:
        self.all(((),), "works", "")

    def test_one_way_is_left(self) -> None:
        self.all(ONE, "works", "")

    def test_processors_are_synchronized(self) -> None:
        """Once sites are on (barrier (C)); the kernel wants to be asked for that before the first time."""
        self.assertEqual(self.hardened("synchronizes"), ("on register on \non \n", ""))

    def test_text_stays_executable(self) -> None:
        """While it is writable, other threads run it."""
        printed, complaints = self.hardened("stays_executable", "mem")
        self.assertRegex(printed, r"\A(executable )+\n\Z")
        self.assertEqual(complaints, WHY)

    def test_register_is_refused(self) -> None:
        self.all(BOTH + NO_PROC, "refused", WHY)

    def test_each_time(self) -> None:
        self.all(BOTH, "refused_again", WHY * 3)

    def test_sink_is_refused(self) -> None:
        self.all(BOTH + NO_PROC, "sink_refused", WHY)

    def test_flags_instead_of_keys(self) -> None:
        self.all(BOTH + ONE, "works", "", program="flags")

    def test_sandboxed_while_on(self) -> None:
        self.all(BOTH + ONE, "sandboxed_later", "")

    def test_module_stays_off(self) -> None:
        # Not "open": then it could not be opened either.
        for denied in (way for way in BOTH if "open" not in way):
            with self.subTest(denied=denied):
                printed, complaints = self.hardened("module_stays_off", *denied, "--", "./module.so")
                self.assertEqual(printed, "")
                why, stays_off = complaints.splitlines(keepends=True)
                self.assertEqual(why, WHY)
                self.assertRegex(stays_off, r"^tp: tracepoint 'module_hit' of \S*module\.so stays off: its sites "
                                            r"can't be switched: Operation not permitted\n$")

    def test_module_with_flags(self) -> None:
        for denied in (way for way in BOTH if "open" not in way):
            with self.subTest(denied=denied):
                self.assertEqual(self.hardened("module_works", *denied, "--", "./flags.so"), ("", ""))

    def test_events_of_the_environment(self) -> None:
        for denied in (way for way in BOTH if "open" not in way):
            with self.subTest(denied=denied):
                printed, complaints = self.hardened("starts", *denied, TP_ENABLE="keys:*",
                                                    TP_OUTPUT=f"text:{self.path('log')}")
                self.assertEqual(printed, "")
                why, stays_off = complaints.splitlines(keepends=True)
                self.assertEqual(why, WHY)
                self.assertEqual(stays_off, "tp: TP_ENABLE=keys:*: Operation not permitted; not everything is traced\n")
                self.assertEqual(read(self.path("log")), "")

    def test_end_of_a_process_that_is_killed_for_opening_a_file(self) -> None:
        """Its sites are on, and stay so."""
        printed, log = self.hardened(program="killed", TP_ENABLE="keys:*")
        self.assertEqual(printed, "")
        self.assertRegex(log, r"\A\S+ \S+ keys:keys_hit: line=1\n\S+ \S+ keys:keys_hit: line=2\n\Z")

    @unittest.skipUnless(os.uname().machine == "x86_64", "sites are looked at as those of x86-64 are")
    def test_breakpoint(self) -> None:
        """A site where a debugger has put an instruction of its own is left alone; the others are switched."""
        for denied in ((), ("mem",), ("open",)):
            with self.subTest(denied=denied):
                printed, complaints = self.hardened("breakpoint", *denied)
                lines = complaints.splitlines()
                self.assertEqual(len(lines), 2 * int(printed))
                for line in lines:
                    self.assertRegex(line, r"^tp: a site of tracepoint 'keys_hit' \(.*keys\.tp:\d+\), at 0x[0-9a-f]+, "
                                           r"stays as it is: a breakpoint or a uprobe has taken the place of its "
                                           r"instruction; take that away, and register again$")

# SPDX-License-Identifier: MIT
"""A library whose structures have grown serves today's programs; today's refuses a program that has them."""

from __future__ import annotations

import glob
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import grown  # noqa: E402
from building import CC, call, interface_version, once, sanitize, sanitized  # noqa: E402
from frozen import ABOUT_STATISTICS, Interface, Outcome, run_program  # noqa: E402
from support import BUILD, ROOT, RUNTIME_SOURCES, Case, need, read  # noqa: E402

OLD = Interface(interface_version())
MODULES = ("program", "plugin", "user")
# What the library has no more is missed by who calls it.
MISSING = ("-Wl,--unresolved-symbols=ignore-all", "-Wl,-z,lazy")
CHECK_ALL = "a second runtime is built, with AddressSanitizer"


def library() -> str:
    """The directory of the next interface's library, which has AddressSanitizer, and of its headers and programs."""
    directory = os.path.join(BUILD, "interfaces", "next")
    include = os.path.join(directory, "runtime")
    sources = [os.path.join(directory, os.path.relpath(path, ROOT)) for path in RUNTIME_SOURCES]
    commands = [
        [sys.executable, os.path.join(HERE, "grown.py"), directory],
        [CC, "-std=gnu11", "-D_GNU_SOURCE", "-g", "-O1", "-fPIC", "-fvisibility=hidden", *sanitize("asan"),
         "-DTP_CHECK_RANKS=1", "-I", os.path.join(include, "include"), "-iquote", os.path.join(include, "src"),
         "-shared", "-Wl,-soname,libtp.so", "-Wl,-z,nodelete", "-o", os.path.join(directory, "libtp.so"), *sources,
         "-lurcu-bp", "-lpthread"]]

    def make() -> None:
        for command in commands:
            call(command)

    once(directory, commands, make, "runtime", "tests/interfaces")
    return directory


class Next(Case):
    def setUp(self) -> None:
        super().setUp()
        need(self, "babeltrace2")
        self.next = os.path.join(BUILD, "interfaces", "next")
        self.write_next()

    def write_next(self) -> None:
        """The frozen program's sources with the next interface's number, in next/."""
        shutil.copytree(OLD.directory, self.path("next"))
        for path in glob.glob(self.path("next/*.h")):
            text = re.sub(r"TP_INTERFACE_VERSION != \d+", f"TP_INTERFACE_VERSION != {grown.NUMBER}", read(path))
            self.write(path, text)

    def object(self, name: str, number: int, *flags: str) -> str:
        """Of program, plugin or user the object file, of one of the interfaces; with AddressSanitizer."""
        new = number == grown.NUMBER
        directory = self.path("next") if new else Interface(number).directory
        include = os.path.join(self.next if new else directory, "runtime/include" if new else "include")
        output = self.path(f"{name}-{number}.o")
        call([CC, "-std=gnu11", "-D_GNU_SOURCE", "-g", "-O1", "-fPIC", "-w", *sanitize("asan"), *flags, "-I", include,
              "-c", "-o", output, os.path.join(directory, f"{name}.c")])
        return output

    def meet(self, libtp: str, **numbers: int) -> Outcome:
        """What comes of a program and its modules, of these interfaces, with the library in this directory."""
        return run_program(self, [self.link(libtp, name, self.object(name, numbers[name])) for name in MODULES])

    def link(self, libtp: str, name: str, *objects: str) -> str:
        """The program, or a module."""
        output = self.path(name if name == "program" else f"{name}.so")
        call([CC, *sanitize("asan"), "-rdynamic" if name == "program" else "-shared", "-o", output, *objects,
              f"-L{libtp}", f"-Wl,-rpath,{libtp}", "-ltp", "-lurcu-bp", "-ldl", *MISSING])
        return output

    def meet_in_one(self, libtp: str, program: int, plugin: int) -> Outcome:
        """The same where the plugin's code is in the program, as that of a static library is: it does not go."""
        call_it = self.write("call.c", "void linked_hit(void);\nvoid plugin_hit(void)\n{\n\tlinked_hit();\n}\n")
        objects = [self.object("program", program), self.object("plugin", plugin, "-Dplugin_hit=linked_hit")]
        return run_program(self, [self.link(libtp, "program", *objects), self.link(libtp, "plugin", call_it),
                                  self.link(libtp, "user", self.object("user", program))])

    def test_older_is_served(self) -> None:
        """All of today's with that library, and each beside others of its own interface."""
        libtp = library()
        old, new = interface_version(), grown.NUMBER
        for numbers in ((old, old, old), (new, new, new), (old, new, new), (new, old, old), (new, new, old)):
            with self.subTest(numbers=numbers):
                outcome = self.meet(libtp, **dict(zip(MODULES, numbers)))
                self.assertEqual(outcome.stderr, "")
                self.assertEqual(outcome.all(), read(os.path.join(OLD.directory, "expected")))

    def test_several_in_one(self) -> None:
        """A program and a static library of another interface are two modules, though the linker makes them one."""
        libtp = library()
        old, new = interface_version(), grown.NUMBER
        expected = Outcome.parts(read(os.path.join(OLD.directory, "expected")))
        for program, plugin in ((old, old), (old, new), (new, old)):
            with self.subTest(program=program, plugin=plugin):
                outcome = self.meet_in_one(libtp, program, plugin)
                self.assertEqual(outcome.stderr, "")
                recorded = Outcome.parts(outcome.all())
                for part in ("text", "ctf", "stats"):
                    self.assertEqual(recorded[part], expected[part])

    def test_newer_is_refused(self) -> None:
        """With today's library, one line tells of each module; what is of today's interface is on beside it."""
        library()
        libtp = sanitized("asan")
        old, new = interface_version(), grown.NUMBER
        for numbers in ((new, new, new), (old, new, new), (old, new, old), (new, old, old)):
            of = dict(zip(MODULES, numbers))
            refused = [name for name in ("program", "plugin.so", "user.so", "plugin.so")
                       if of[name.removesuffix(".so")] == new]
            refused = [name for name, before in zip(refused, [None, *refused]) if name != before]  # not twice on end
            with self.subTest(numbers=numbers):
                outcome = self.meet(libtp, **of)
                self.assertEqual(ABOUT_STATISTICS.sub("", outcome.stderr), self.refusals(refused))
                recorded = {event for event, hits in outcome.stats.items() if hits}
                self.assertEqual("frozen:frozen_fields" in recorded, of["program"] == old)
                self.assertEqual("plugin:plugin_hit" in recorded, of["plugin"] == old)
                self.assertEqual(f"on: {int(of['program'] == old)}, " in outcome.stdout, True)

    def refusals(self, names: list[str]) -> str:
        """The lines that tell of these modules."""
        return "".join(f"tp: {self.path(name)} was built for another interface of libtp ({grown.NUMBER}; this is "
                       f"{interface_version()}): its tracepoints stay off; install a newer libtp, or build it again with "
                       "this one\n"
                       for name in names)

    def test_refused_in_one(self) -> None:
        """Of a program that is of two interfaces, the one that is served is recorded."""
        library()
        today = interface_version()
        for program, plugin in ((today, grown.NUMBER), (grown.NUMBER, today)):
            with self.subTest(program=program, plugin=plugin):
                outcome = self.meet_in_one(sanitized("asan"), program, plugin)
                self.assertEqual(ABOUT_STATISTICS.sub("", outcome.stderr),
                                 self.refusals(["program"] + ["user.so"] * (program != today)))
                self.assertEqual("frozen:frozen_fields" in outcome.stats, program == today)
                self.assertEqual("plugin:plugin_hit" in outcome.stats, plugin == today)

# SPDX-License-Identifier: MIT
"""An event's format at run time is what tpgen's backend ftrace writes, and libtraceevent takes it.

(Events of kernel headers are in kernel/test_format.py, random ones in roundtrip/test_random.py.)
"""

from __future__ import annotations

import glob
import os
import re

from support import BUILD, ROOT, Case, read, run, tpgen

HERE = os.path.dirname(os.path.abspath(__file__))
LANGUAGE = ["tests/compile/kernel.tp", "tests/language/forms.tp", "tests/roundtrip/all.tp", "tests/bench/wide.tp"]

# What libtraceevent (1.7) does not understand in a print format, the kernel's own included. It takes the fields.
EXPLAINED = {
    "forms:forms_ends": "{ } in a table, and the helpers of 64 bits",
    "forms:forms_event_condition": "a member of a structure",
    "forms:forms_fields": "strlen(), and __get_rel_sockaddr()",
    "forms:forms_helpers": "__print_hex_dump(), and the helpers of 64 bits",
}

# What the compiled program knows of the enumerations in these files, and tpgen does not.
VALUES = {"IDLE": "0", "BUSY": "1", "GONE": "2", "FLAG_READ": "0", "FLAG_WRITE": "1", "RED": "0", "GREEN": "7", "BLUE": "-2"}


def resolved(text: str) -> str:
    """A format with values in the place of names, but for those in strings."""
    return re.sub(r'"(?:\\.|[^"\\])*"|\w+', lambda match: VALUES.get(match[0], match[0]), text)


def comparable(text: str) -> str:
    """tpgen counts the events of its files; a process gives ids as modules come.

    And where TP_printk has no arguments, it leaves out the kernel's ", ", which libtraceevent does not take.
    """
    return re.sub(r'^(print fmt: "[^"]*"), $', r"\1", re.sub(r"^ID: [1-9]\d*$", "ID:", text, flags=re.M), flags=re.M)


class Formats(Case):
    def at_run_time(self, path: str) -> dict[str, str]:
        name = os.path.basename(path).removesuffix(".tp")
        done = tpgen("gen", "-o", self.dir, path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        # Nothing is hit, so what the header wants of its program may be missing.
        self.succeed([os.environ.get("CC", "gcc"), "-std=c11", "-D_GNU_SOURCE", f'-DHEADER="{name}.h"',
                      "-I", "runtime/include", "-I", os.path.dirname(path), "-iquote", self.dir, "-o", self.path(name),
                      os.path.join(HERE, "formats.c"), os.path.join(BUILD, "libtp.a"), "-lurcu-bp", "-lpthread",
                      "-Wl,--unresolved-symbols=ignore-all"])
        os.mkdir(self.path(f"{name}-formats"))
        self.succeed([self.path(name), self.path(f"{name}-formats")])
        return {file: read(os.path.join(self.dir, f"{name}-formats", file))
                for file in os.listdir(self.path(f"{name}-formats"))}

    def from_tpgen(self, path: str) -> dict[str, str]:
        done = tpgen("gen", "--backend", "ftrace", "-D", "_GNU_SOURCE", "-I", os.path.dirname(path),
                     "-o", self.path("ftrace"), path, env={"CC": f"{os.environ.get('CC', 'gcc')} -std=c11"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = {"-".join(file.split("/")[-3:-1]): read(file) for file in glob.glob(self.path("ftrace/*/*/format"))}
        run(["rm", "-rf", self.path("ftrace")])
        return found

    def libtraceevent(self, path: str, names: list[str]) -> None:
        """Takes the formats that at_run_time() has written."""
        directory = self.path(os.path.basename(path).removesuffix(".tp") + "-formats")
        done = self.succeed([self.path("parse"), *(os.path.join(directory, name) for name in names)])
        expected = {":".join(name.rsplit("-", 1)) for name in names}
        self.assertLessEqual(expected - EXPLAINED.keys(), set(done.stdout.splitlines()), done.stdout)

    def test_formats(self) -> None:
        flags = run(["pkg-config", "--cflags", "--libs", "libtraceevent"])
        if flags.returncode == 0:
            self.succeed(["gcc", "-Wall", "-Wextra", "-Werror", "-o", self.path("parse"), os.path.join(HERE, "parse.c"),
                          *flags.stdout.split()])
        files = [os.path.relpath(path, ROOT) for path in sorted(glob.glob(os.path.join(ROOT, "defs/*.tp")))]
        self.assertTrue(files)
        events = 0
        for path in files + LANGUAGE:
            with self.subTest(path):
                ours, theirs = self.at_run_time(path), self.from_tpgen(path)
                self.assertEqual({k: comparable(v) for k, v in ours.items()},
                                 {k: comparable(resolved(v)) for k, v in theirs.items()})
                events += len(ours)
                if flags.returncode == 0:
                    self.libtraceevent(path, sorted(ours))
        self.assertGreater(events, 30)
        if flags.returncode:
            self.skipTest("libtraceevent-dev is not installed: it has parsed none of them")

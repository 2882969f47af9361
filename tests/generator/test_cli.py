# SPDX-License-Identifier: MIT
"""The command as a user meets it: exit codes, files written, files left alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from unittest import mock

from building import constant
from support import ROOT, Case, read, run, tpgen

from tpgen import VERSION
from tpgen.cpp import Options, preprocess
from tpgen.diag import Diagnostics
from tpgen.lexer import lex
from tpgen.source import Source, SourceError
from tpgen.text import Text

GOOD = """#define TRACE_SYSTEM test
TRACE_EVENT(e,
	TP_PROTO(int a),
	TP_ARGS(a),
	TP_STRUCT__entry(__field(int, a)),
	TP_fast_assign(__entry->a = a;),
	TP_printk("a=%d", __entry->a)
);
"""


class Cli(Case):
    def test_gen(self) -> None:
        path = self.write("x.tp", GOOD)
        done = tpgen("gen", "-o", self.path("deep/er"), path)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertIn("trace_e(", read(self.path("deep/er/x.h")))

    def test_two_runs_are_equal(self) -> None:
        path = self.write("x.tp", GOOD)
        for name in ("1", "2"):
            tpgen("gen", "-o", "out", path, cwd=self._directory(name), env={"PYTHONHASHSEED": name})
        self.assertEqual(read(self.path("1/out/x.h")), read(self.path("2/out/x.h")))

    def _directory(self, name: str) -> str:
        os.mkdir(self.path(name))
        return self.path(name)

    def test_written_only_when_changed(self) -> None:
        path = self.write("x.tp", GOOD)
        tpgen("gen", "-o", self.dir, path)
        os.utime(self.path("x.h"), (1, 1))
        tpgen("gen", "-o", self.dir, path)
        self.assertEqual(os.stat(self.path("x.h")).st_mtime, 1)
        self.write("x.tp", GOOD.replace("a=%d", "b=%d"))
        tpgen("gen", "-o", self.dir, path)
        self.assertNotEqual(os.stat(self.path("x.h")).st_mtime, 1)

    def test_depfile_in_make(self) -> None:
        self.write("with space.tp", GOOD)
        self.write("x.tp", GOOD.replace("(e,", "(e2,"))
        done = tpgen("gen", "-o", "out", "--depfile", "out.d", "x.tp", "with space.tp", cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.write("Makefile", "out/x.h:\n\ttouch $@\ninclude out.d\n")
        os.utime(self.path("with space.tp"), (2e9, 2e9))
        self.assertIn("touch", self.succeed(["make", "-n", "out/x.h"], cwd=self.dir).stdout)
        os.unlink(self.path("with space.tp"))  # a file that is gone is no error of make's
        self.succeed(["make", "-n", "out/x.h"], cwd=self.dir)

    def test_depfile_has_what_was_expanded(self) -> None:
        self.write("x.tp", '#include "fields.h"\n#include <stdio.h>\n' + GOOD.replace("__field(int, a)", "FIELDS"))
        self.write("inc/fields.h", '#include "int.h"\n#line 3 "made of this.y"\n#define FIELDS __field(INT, a)\n')
        self.write("inc/int.h", "#define INT int\n")
        self.write("first.h", "\n")
        command = ("gen", "-o", "out", "--depfile", "out.d", "-include", "first.h", "-I", "inc", "--expand-includes", "x.tp")
        done = tpgen(*command, cwd=self.dir)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(read(self.path("out.d")).replace("./", ""), "out/x.h: \\\n  x.tp \\\n  first.h \\\n  inc/fields.h \\\n  inc/int.h\n"
                         "\nx.tp:\n\nfirst.h:\n\ninc/fields.h:\n\ninc/int.h:\n")
        done = tpgen(*command[:2], "inc/int.h", *command[3:], cwd=self.dir)
        self.assertEqual((done.returncode, read(self.path("inc/int.h"))), (1, "#define INT int\n"))
        self.assertIn("it is an input, which tpgen does not replace", done.stderr)

    def test_arguments_in_a_file(self) -> None:
        """Each line is one, whatever is in it."""
        text = GOOD.replace("a=%d", 'WORDS a=%d').replace('"WORDS', 'WORDS "')
        self.write("with space.tp", text)
        self.write("arguments", '-DWORDS="it\'s 1 $HOME \\\\ "\n\n-o\nan out\n')
        done = tpgen("gen", "@arguments", "with space.tp", cwd=self.dir)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("it's 1 $HOME", read(self.path("an out/with space.h")))
        done = tpgen("gen", "@arguments", "@none", cwd=self.dir)
        self.assertEqual(done.returncode, 2)
        self.assertIn("tpgen: error: can't read the arguments in none: No such file or directory\n", done.stderr)
        self.write("@x.tp", GOOD)
        self.assertEqual(tpgen("check", "./@x.tp", cwd=self.dir).returncode, 0)

    def test_compiler(self) -> None:
        path = self.write("x.tp", "#ifndef WANTED\n#error none\n#endif\n" + GOOD)
        done = tpgen("check", "--cc", "gcc '-DWANTED=a b'", path, env={"CC": "false"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = tpgen("check", "--cc", "none -DWANTED", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("can't run the C preprocessor 'none'", done.stderr)

    def test_stamp(self) -> None:
        """It is dated at each run, but at one that fails; the header at none that does not change it."""
        path = self.write("x.tp", GOOD)
        command = ("gen", "--stamp", self.path("x.stamp"), "--depfile", self.path("x.d"), "-o", self.dir, path)
        for _ in range(2):
            self.assertEqual(tpgen(*command).returncode, 0)
            self.assertGreaterEqual(os.stat(self.path("x.stamp")).st_mtime_ns, os.stat(path).st_mtime_ns)
            for name in ("x.h", "x.stamp"):
                os.utime(self.path(name), (1, 1))
        self.assertTrue(read(self.path("x.d")).startswith(self.path("x.stamp") + ": "), read(self.path("x.d")))
        tpgen(*command)
        self.assertEqual(os.stat(self.path("x.h")).st_mtime, 1)
        self.assertNotEqual(os.stat(self.path("x.stamp")).st_mtime, 1)
        os.utime(self.path("x.stamp"), (1, 1))
        self.write("x.tp", GOOD.replace("__field", "__feild"))
        self.assertEqual(tpgen(*command).returncode, 1)
        self.assertEqual(os.stat(self.path("x.stamp")).st_mtime, 1)

    def test_stamp_of_a_file_that_is_saved_meanwhile(self) -> None:
        """What an editor saves after tpgen has read it is newer than the stamp: the next make runs tpgen again."""
        path = self.write("x.tp", GOOD)
        # The C preprocessor is a moment after the file was read. The loop waits for the next tick of the file system's clock.
        cc = self.write("cc", f'#!/bin/sh\ntouch first second\nwhile ! [ second -nt first ]; do touch second; done\n'
                        f'touch {path}\nexec gcc "$@"\n')
        os.chmod(cc, 0o755)
        done = tpgen("gen", "--stamp", self.path("x.stamp"), "-o", self.dir, path, cwd=self.dir, env={"CC": cc})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertGreater(os.stat(path).st_mtime_ns, os.stat(self.path("x.stamp")).st_mtime_ns)

    def test_stamp_that_cannot_be_written(self) -> None:
        path = self.write("x.tp", GOOD)
        done = tpgen("gen", "--stamp", self.path("none/x.stamp"), "-o", self.dir, path)
        self.assertEqual((done.returncode, done.stderr),
                         (1, f"{self.path('none/x.stamp')}: error: can't write it: No such file or directory [TP091]\n"))

    def test_one_bad_file_spoils_the_run(self) -> None:
        good, bad = self.write("good.tp", GOOD), self.write("bad.tp", GOOD.replace("__field", "__feild"))
        done = tpgen("gen", "-o", self.path("out"), good, bad)
        self.assertEqual(done.returncode, 1)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_duplicate_across_files(self) -> None:
        one, two = self.write("one.tp", GOOD), self.write("two.tp", GOOD)
        done = tpgen("check", one, two)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{two}:2:13: error: two tracepoints are called 'e'", done.stderr)
        self.assertIn(f"{one}:2:13: note: the first is here", done.stderr)

    def test_functions_of_one_name_across_files(self) -> None:
        one = self.write("one.tp", "DECLARE_TRACE(wifi, TP_PROTO(int n), TP_ARGS(n));\n")
        two = self.write("two.tp", "DECLARE_TRACE(wifi_enabled, TP_PROTO(int n), TP_ARGS(n));\n")
        done = tpgen("check", one, two)
        self.assertEqual(done.returncode, 0)
        self.assertIn(f"{two}:1:15: warning: tracepoints 'wifi_enabled' and 'wifi' would both have a function trace_wifi_enabled(), "
                      "and no file could include both headers; rename one [TP044]\n", done.stderr)
        self.assertIn(f"{one}:1:15: note: the other is here\n", done.stderr)

    def test_same_file_twice_is_one(self) -> None:
        path = self.write("one.tp", GOOD)
        self.assertEqual(tpgen("check", path, path).returncode, 0)

    def test_same_output_twice(self) -> None:
        one, two = self.write("1/x.tp", GOOD), self.write("2/x.tp", GOOD.replace("(e,", "(f,"))
        done = tpgen("gen", "-o", self.path("out"), one, two)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is also that of", done.stderr)

    def test_unreadable(self) -> None:
        for path, why in ((self.path("none.tp"), "No such file or directory"), (self.dir, "Is a directory")):
            done = tpgen("check", path)
            self.assertEqual((done.returncode, done.stderr), (1, f"{path}: error: can't read it: {why} [TP001]\n"))

    def test_long_files(self) -> None:
        """3,000 events of four fields have 400,000 words and signs."""
        self.assertEqual(len(lex("x;" * 200_000, "x.tp")), 400_000)
        source = Source("x.tp", "x; x; x; x;\n")
        expanded = preprocess(source, Options(), Diagnostics(False))
        assert expanded is not None
        for module, who in (("lexer", ""), ("text", "its macros make ")):
            with self.subTest(module), mock.patch(f"tpgen.{module}.MAX_TOKENS", 4), \
                    self.assertRaisesRegex(SourceError, f"^{who}more than 4 words and signs; part its events into several files$"):
                Text(source, expanded)

    def test_no_compiler(self) -> None:
        done = tpgen("check", self.write("x.tp", GOOD), env={"CC": "no-such-compiler"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("can't run the C preprocessor 'no-such-compiler'", done.stderr)

    def test_clangs_messages(self) -> None:
        if not shutil.which("clang"):
            self.skipTest("clang is not installed")
        path = self.write("x.tp", "#if 1\n" + GOOD)
        done = tpgen("check", path, env={"CC": "clang"})
        self.assertIn(f"{path}:1:2: error: the C preprocessor says: unterminated conditional", done.stderr)

    def test_unwritable_directory(self) -> None:
        path = self.write("x.tp", GOOD)
        self.write("file", "")
        done = tpgen("gen", "-o", self.path("file/out"), path)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "can't make the output directory: .*TP091")

    def test_full_disk(self) -> None:
        path = self.write("x.tp", GOOD)
        disk = self.small_disk("16k")
        tpgen("gen", "-o", disk, path)
        old = read(os.path.join(disk, "x.h"))
        self.assertIn("trace_e(", old)
        self.write("x.tp", GOOD + "".join(GOOD[25:].replace("(e,", f"(e{n},") for n in range(30)))
        done = tpgen("gen", "-o", disk, path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("No space left on device; the file is as it was before [TP091]", done.stderr)
        self.assertEqual(os.listdir(disk), ["x.h"])
        self.assertEqual(read(os.path.join(disk, "x.h")), old)

    def test_dump_to_a_full_disk(self) -> None:
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([sys.executable, "-m", "tpgen", "dump", self.write("x.tp", GOOD)], cwd=ROOT, stdout=full,
                                  stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("<stdout>: error: can't write it: No space left on device", done.stderr)

    def test_every_python_that_can(self) -> None:
        """Both pycparser 2.21 and 3.00 must give the same model; here are those that this machine has."""
        dumps = {}
        for python in ("python3", "/usr/bin/python3"):
            probe = run([python, "-c", "import jinja2, pycparser; print(pycparser.__version__)"])
            if probe.returncode == 0:
                done = tpgen("dump", "defs/sched.tp", "defs/pgz.tp", "defs/subsys.tp", python=python)
                self.assertEqual(done.returncode, 0, done.stderr)
                dumps[probe.stdout.strip()] = json.loads(done.stdout)
        self.assertTrue(dumps)
        for model in dumps.values():
            self.assertEqual(model, next(iter(dumps.values())))

    def test_version(self) -> None:
        done = tpgen("--version")
        self.assertEqual((done.returncode, done.stdout),
                         (0, f"tpgen {VERSION}, for interface {constant('TP_INTERFACE_VERSION')} of its runtime\n"))

    def test_usage(self) -> None:
        self.assertEqual(tpgen().returncode, 2)
        self.assertEqual(tpgen("gen", "x.tp").returncode, 2)
        self.assertIn("gen", tpgen("--help").stdout)

# SPDX-License-Identifier: MIT
"""Every form of declaration and kind of field: compiled without a warning, run, and read by real readers."""

from __future__ import annotations

import os
import re

from building import build, generate
from support import Case, need, read, run, tpgen

HERE = os.path.dirname(os.path.abspath(__file__))

TEXT = """\
forms:forms_event: n=3
forms-custom:forms_event: square=9
forms:forms_condition: n=4
forms:forms_fn: n=5
forms:forms_print: color green of 2
forms:forms_event_condition: 1..2 3
forms:forms_fn_cond: odd=7
forms:forms_syscall: id=8
forms:forms_writable: left=3
forms:9forms: left=3
forms:forms_fields: text tex 42-v {0x1,0x2,0x3} 00000000,00000021,80000000,00000005 1 10.0.0.1:80 text te {0x7,0x8} \
80000000,00000005 1 10.0.0.1 10.0.0.1 0a:00:00:01
forms:forms_twins: twin 3 4 9
forms:forms_empty: nothing
forms:forms_ends: 0x5 a|0x4 five
forms:forms_helpers: a|c forty,one sum 01 02 03 04 01020304 1099.511627777s forms_called\\n dump: 01 02 03 04
"""


class FormsRun(Case):
    def build(self, compiler: str, *options: str) -> None:
        need(self, compiler)
        generate(self.dir, os.path.join(HERE, "forms.tp"))
        build(self.path("forms"), os.path.join(HERE, "forms.c"), compiler=compiler, include=[self.dir], flags=options,
              link=["-rdynamic"])

    def forms(self, *args: str, **env: str) -> None:
        done = run(["./forms", *args], cwd=self.dir, env={**os.environ, **env})
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def _text(self, compiler: str) -> None:
        self.build(compiler)
        self.forms()
        self.forms(TP_ENABLE="forms*:*", TP_OUTPUT=f"text:{self.path('log')}")
        text = re.sub(r"^.*?(?=forms[-:])", "", read(self.path("log")), flags=re.M)
        # Which of the two writers on one tracepoint comes first is the linker's choice.
        self.assertEqual(sorted(text.splitlines()), sorted(TEXT.splitlines()))

    def test_text_gcc(self) -> None:
        self._text("gcc")

    def test_text_clang(self) -> None:
        self._text("clang")

    def test_ctf(self) -> None:
        need(self, "babeltrace2")
        self.build("gcc")
        self.forms(TP_ENABLE="forms*:*", TP_OUTPUT=f"ctf:{self.path('trace')}")
        said = self.read_by("babeltrace2", "--no-delta", self.path("trace"))
        fields = next(line for line in said.splitlines() if "forms_fields" in line)
        for text in ('string = "text"', 'string_len = "tex"', 'vstring = "42-v"', "array = [ [0] = 1, [1] = 2, [2] = 3 ]",
                     "bits = [ [0] = 0x8000000000000005, [1] = 0x21 ]", 'rel_string = "text"', 'rel_string_len = "te"',
                     "rel_array = [ [0] = 7, [1] = 8 ]", "rel_bits = [ [0] = 0x8000000000000005 ]"):
            self.assertIn(text, fields)
        self.assertEqual(len(said.splitlines()), 15)
        twins = next(line for line in said.splitlines() if "forms_twins" in line)
        for text in (" s = 3,", ' __s_field = "twin"', " _s_loc = 4,", " w = [ [0] = 9, [1] = 9 ]", " __w_field = [ [0] = 5, [1] = 6 ]"):
            self.assertIn(text, twins)
        # The table of the event's own TP_printk.
        self.assertRegex(said, r'forms_print:.* n = \( "green" : container = 5 \)')

    def test_callbacks_and_formats(self) -> None:
        self.build("gcc")
        os.mkdir(self.path("formats"))
        for env in ({}, {"TP_ENABLE": "forms*:*", "TP_OUTPUT": "text:/dev/null"}):
            self.forms(self.path("formats"), **env)
        done = tpgen("gen", "--backend", "ftrace", "-D", "_GNU_SOURCE", "-o", self.path("ftrace"),
                     os.path.join(HERE, "forms.tp"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        names = os.listdir(self.path("formats"))
        self.assertEqual(len(names), 15)
        for name in names:
            ours = read(self.path(f"formats/{name}"))
            theirs = read(self.path("ftrace/{}/{}/format".format(*name.rsplit("-", 1))))
            self.assertEqual(re.sub(r"^ID: \d+$", "", ours, flags=re.M), re.sub(r"^ID: \d+$|(?<=\"), $", "", theirs, flags=re.M))

# SPDX-License-Identifier: MIT
"""Which fields' values the tables of TP_printk name."""

from __future__ import annotations

import re

from support import Case, read, tpgen

TABLE = '{ 1, "ONE" }, { 2, "TWO" }'


class Tables(Case):
    def table_of(self, value: str) -> str:
        """The table of field f, where TP_printk prints this: its number, after the delimiter of flags; "": none."""
        path = self.write("x.tp", "#define TRACE_SYSTEM x\nTRACE_EVENT(e, TP_PROTO(int f), TP_ARGS(f), "
                          "TP_STRUCT__entry(__field(int, f) __array(int, a, 2) __field(long long, w)), "
                          "TP_fast_assign(__entry->f = f; __entry->w = f; memset(__entry->a, 0, 8);), "
                          f'TP_printk("%s", {value}));\n')
        done = tpgen("gen", "-o", self.dir, path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        text = read(self.path("x.h"))
        described = dict(re.findall(r'\tTP_F\(\w+, TP_R, (\w+), "[\w ]+", (.*)\)(?: \\)?\n', text))
        self.assertEqual((described["a"], described["w"]), ("0", "0"))
        number = re.fullmatch(r"TP_TABLE\(e, (\d)\)|0", described["f"])[1]
        if not number:
            return ""
        count, is_flags = re.search(rf"TP_DESCRIBE_SYMBOLS\(e, {number}, (\d), (\d)\)", text).groups()
        texts = re.search(rf"^#define tp_texts_e__{number} (.*)$", text, re.M)[1]
        self.assertEqual(count, "2")
        self.assertTrue(texts.endswith('"ONE" "\\0" "TWO" "\\0"'), texts)
        delimiter = texts.partition(' "\\0"')[0]
        return f"{delimiter}, {number}" if is_flags == "1" else number

    def test_symbolic(self) -> None:
        for value in ("__entry->f", "(__entry->f)", "(unsigned long)__entry->f", "(long)(__entry->f)"):
            self.assertEqual(self.table_of(f"__print_symbolic({value}, {TABLE})"), "1")

    def test_flags(self) -> None:
        self.assertEqual(self.table_of(f'__print_flags(__entry->f, "|", {TABLE})'), '"|", 1')
        self.assertEqual(self.table_of(f'__print_flags((unsigned long)__entry->f, "," " ", {TABLE})'),
                         '"," " ", 1')

    def test_first_of_two(self) -> None:
        self.assertEqual(self.table_of(f'__print_flags(__entry->f & 1, "|", {TABLE}) + *'
                                       f'__print_flags(__entry->f, "|", {TABLE}) + *__print_symbolic(__entry->f, {TABLE})'),
                         '"|", 2')

    def test_not_the_very_value(self) -> None:
        for value in ("__entry->f + 1", "__entry->f & 3", "!__entry->f", "(unsigned char)__entry->f",
                      "(int)__entry->f", "__entry->a[0]", "*&__entry->f"):
            self.assertEqual(self.table_of(f"__print_symbolic({value}, {TABLE})"), "")
            self.assertEqual(self.table_of(f'__print_flags({value}, "|", {TABLE})'), "")

    def test_not_constant_or_other_table(self) -> None:
        self.assertEqual(self.table_of(f"__print_flags(__entry->f, DELIMITER, {TABLE})"), "")
        self.assertEqual(self.table_of(f'__print_flags_u64(__entry->f, "|", {TABLE})'), "")
        self.assertEqual(self.table_of(f"__print_symbolic_u64(__entry->f, {TABLE})"), "")

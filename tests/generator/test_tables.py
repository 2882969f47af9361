# SPDX-License-Identifier: MIT
"""Which fields' values the tables of TP_printk name."""

from __future__ import annotations

import re

from support import Case, read, tpgen

TABLE = '{ 1, "ONE" }, { 2, "TWO" }'


class Tables(Case):
    def table_of(self, value: str) -> str:
        """The arguments after the type in the description of field f, where TP_printk prints this."""
        path = self.write("x.tp", "#define TRACE_SYSTEM x\nTRACE_EVENT(e, TP_PROTO(int f), TP_ARGS(f), "
                          "TP_STRUCT__entry(__field(int, f) __array(int, a, 2) __field(long long, w)), "
                          "TP_fast_assign(__entry->f = f; __entry->w = f; memset(__entry->a, 0, 8);), "
                          f'TP_printk("%s", {value}));\n')
        done = tpgen("gen", "-o", self.dir, path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        described = {name: table for name, table in re.findall(
            r'TP_DESCRIBE_\w+\(trace_event_raw_e, (\w+), "[\w ]+"(?:,\s+([^)]*))?\)', read(self.path("x.h")))}
        self.assertEqual((described["a"], described["w"]), ("", ""))
        return described["f"]

    def test_symbolic(self) -> None:
        for value in ("__entry->f", "(__entry->f)", "(unsigned long)__entry->f", "(long)(__entry->f)"):
            self.assertEqual(self.table_of(f"__print_symbolic({value}, {TABLE})"), "tp_symbols_e__1")

    def test_flags(self) -> None:
        self.assertEqual(self.table_of(f'__print_flags(__entry->f, "|", {TABLE})'), '"|", tp_symbols_e__1')
        self.assertEqual(self.table_of(f'__print_flags((unsigned long)__entry->f, "," " ", {TABLE})'),
                         '"," " ", tp_symbols_e__1')

    def test_first_of_two(self) -> None:
        self.assertEqual(self.table_of(f'__print_flags(__entry->f & 1, "|", {TABLE}) + *'
                                       f'__print_flags(__entry->f, "|", {TABLE}) + *__print_symbolic(__entry->f, {TABLE})'),
                         '"|", tp_symbols_e__2')

    def test_not_the_very_value(self) -> None:
        for value in ("__entry->f + 1", "__entry->f & 3", "!__entry->f", "(unsigned char)__entry->f",
                      "(int)__entry->f", "__entry->a[0]", "*&__entry->f"):
            self.assertEqual(self.table_of(f"__print_symbolic({value}, {TABLE})"), "")
            self.assertEqual(self.table_of(f'__print_flags({value}, "|", {TABLE})'), "")

    def test_not_constant_or_other_table(self) -> None:
        self.assertEqual(self.table_of(f"__print_flags(__entry->f, DELIMITER, {TABLE})"), "")
        self.assertEqual(self.table_of(f'__print_flags_u64(__entry->f, "|", {TABLE})'), "")
        self.assertEqual(self.table_of(f"__print_symbolic_u64(__entry->f, {TABLE})"), "")

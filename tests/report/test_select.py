# SPDX-License-Identifier: MIT
"""tp report -e: rules with filters take of a trace the records that they would have let into it."""

from __future__ import annotations

import os
import re
import shutil
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "trace_dat"))

from building import build, generate  # noqa: E402
from dat import Recorded  # noqa: E402
from support import BUILD, ROOT, read, run  # noqa: E402

TP = os.path.join(BUILD, "tp")

EVENTS = """
TRACE_EVENT(begin, TP_PROTO(int n, const char *s, double x), TP_ARGS(n, s, x),
    TP_STRUCT__entry(__field(int, n) __string(s, s) __array(char, name, 8) __field(unsigned char, kind) __field(short, error)
        __field(double, x) __field(void *, p) __rel_string(rel, s) __dynamic_array(int, list, 2) __cpumask(cpus)
        __field(uint64_t, large) __field(number_t, number)),
    TP_fast_assign(static const int two[2]; static const unsigned long mask = 5; __entry->n = n; __assign_str(s);
        strncpy(__entry->name, s, 7); __entry->name[7] = 0; __entry->kind = (unsigned char)(n & 3); __entry->error = (short)-n;
        __entry->x = x; __entry->p = (void *)(long)n; __assign_rel_str(rel); memcpy(__get_dynamic_array(list), two, sizeof(two));
        memset(__get_cpumask(cpus), 0, __get_dynamic_array_len(cpus)); memcpy(__get_cpumask(cpus), &mask, sizeof(mask));
        __entry->large = UINT64_MAX - (uint64_t)n; __entry->number = (number_t)(-n);),
    TP_printk("n=%d s=%s kind=%s error=%s x=%g %p", __entry->n, __get_str(s),
        __print_flags(__entry->kind, "|", { 1, "R" }, { 2, "W" }), __print_symbolic(__entry->error, { 0, "none" }, { -5, "EIO" }),
        __entry->x, __entry->p));
TRACE_EVENT(end, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, n) __field(unsigned int, size)),
    TP_fast_assign(__entry->n = n; __entry->size = (unsigned int)n * 1000;), TP_printk("n=%d size=%u", __entry->n, __entry->size));
TRACE_EVENT(other, TP_PROTO(int a), TP_ARGS(a), TP_STRUCT__entry(__field(int, a)), TP_fast_assign(__entry->a = a;),
    TP_printk("a=%d", __entry->a));
"""
HITS = """for (int n = 0; n < 12; n++) {
    trace_begin(n, n % 3 ? "text" : "a long one", n / 2.0); trace_end(n); trace_other(n);
}"""

RULES = (
    "begin if n > 5", "begin if error == \"EIO\"", "begin if kind == \"R|W\"", "begin if kind & \"W\" && n < 9", "begin if s ~ \"*long*\"",
    "begin if name == \"text\" || !(n != 3)", "begin if rel ~ \"a*\"", "begin if p >= 0x5", "begin if large < 18446744073709551610",
    "begin if x >= 2.5", "begin if cpus & CPUS{0}", "begin if cpus & CPUS{1}", "begin if cpus == CPUS{0-1}", "begin if error < -3", "begin if number == -7", "begin if error == 0xfffb",
    "select:*", "begin,end", "*,!select:e*", "begin if n > 9; end if size < 3000", "*; end if n == 1", "*;end if size == 0;",
    "* if n == 4", "begin if n > 3;begin if n < 2", "other if a == 3; end;", "* if comm == \"program\"", "* if comm ~ \"x*\"",
    "begin if x > 1", "begin if x < 0.75", "* if common_flags == 0", "e*,!end;other if a > 7")

WRONG = (
    ("begin if nosuch == 1", r"Field not found, at 'nosuch == 1': 'select:begin' has n, s, name, kind, error, x, p, rel, list, cpus, large, number, "
     "common_type, .*, comm"),
    ("* if nosuch == 1", "Field not found, at .*"),
    ("* if size == 5ms", "Illegal integer value, at .*"), ("*;end if size ~ \"5*\"", "Expecting numeric field, at .*"),
    ("* if s & 1", "Expecting string field, at '1'"), ("begin if x & 1", "Illegal operation for field type, at .*"),
    ("begin if n == \"one\"", "Expecting numeric field, at .*"), ("begin if kind == \"X\"", "Expecting numeric field, at .*: its values have the names \"R\", \"W\""),
    ("begin if s == 1", "Expecting string field, at '1'"), ("begin if n >> 1", r"Invalid value \(did you forget quotes\)\?, at '> 1'"),
    ("begin if", "Missing field name, at the end|.*"), ("begin if list == 1", "Illegal operation for field type, .*"))


class Select(Recorded):
    def setUp(self) -> None:
        super().setUp()
        self.write("program.tp", f"#define TRACE_SYSTEM select\n{EVENTS}")
        self.build_program()

    def build_program(self) -> None:
        self.write("program.c", "#include <stdint.h>\n#include <string.h>\ntypedef int number_t;\n#define CREATE_TRACE_POINTS\n"
                   f'#include "program.h"\nint main(void)\n{{\n{HITS}\nreturn 0;\n}}\n')
        generate(self.dir, self.path("program.tp"))
        build(self.path("program"), self.path("program.c"), include=[self.dir])

    def live(self, rules: str) -> list[str]:
        done = run([self.path("program")], env={**os.environ, "TP_ENABLE": rules, "TP_OUTPUT": f"text:{self.text}"})
        self.assertEqual(done.returncode, 0)
        lines = []
        if os.path.exists(self.text):
            lines = [line.split(" ", 2)[2] for line in read(self.text).splitlines()]
            os.unlink(self.text)
        self.said = done.stderr
        return lines

    def all(self, options: str = "") -> None:
        shutil.rmtree(self.trace, ignore_errors=True)
        self.succeed([self.path("program")], env={**os.environ, "TP_ENABLE": "*", "TP_OUTPUT": f"ctf:{self.trace}{options}"})

    def report(self, *arguments: str) -> list[str]:
        done = run([TP, "report", *arguments, self.trace])
        self.said = done.stderr
        self.assertEqual(done.returncode, 0, done.stderr)
        return [re.sub(r"^.*? \d{10}\.\d{9}: ", "", line) for line in done.stdout.splitlines()]

    def test_as_live(self) -> None:
        self.all()
        for rules in RULES:
            with self.subTest(rules):
                want = self.live(rules)
                self.assertEqual(self.report("-e", rules), want)
        self.assertEqual(self.report("-e", "begin if n > 9", "-e", "end if size < 3000"), self.live("begin if n > 9; end if size < 3000"))
        self.assertEqual(self.report("-e", "*", "-e", "!other"), self.live("*,!other"))
        self.assertEqual(self.report("-e", "begin if n > 3;begin if 0"), self.live("begin"))
        self.assertEqual(self.report("-e", "begin if cpus & CPUS{2}"), self.live("begin"))  # more than this machine may have

    def test_wrong(self) -> None:
        """What live is said of a filter is said here."""
        self.all()
        for rules, message in WRONG:
            with self.subTest(rules):
                self.live(rules)
                live = re.search(r"(?:is wrong|stays as it was|, as 'select:\w+'): (.*?)(; nothing is traced)?\n", self.said)
                done = run([TP, "report", "-e", rules, self.trace])
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr, rf"\Atp: the filter '.*' is wrong: ({message})\n\Z")
                if live:
                    self.assertEqual(done.stderr.split(" is wrong: ", 1)[1], live[1] + "\n")

    def test_fits_some(self) -> None:
        self.all()
        self.assertEqual(self.report("-e", "* if size > 9500"), self.live("* if size > 9500"))
        self.report("-e", "* if size > 9500")
        self.assertRegex(self.said, r"\Atp: the filter does not fit 2 of the events, as 'select:begin': Field not found, at .*\n\Z")
        self.report("-e", "begin,end if size > 9500")
        self.assertRegex(self.said, r"\Atp: the filter does not fit 'select:begin': Field not found, at .*\n\Z")

    def test_what_is_beside_the_record(self) -> None:
        self.all(",context=cpu+name")
        everything = self.report()
        self.assertEqual(self.report("-e", "* if cpu >= 0 && common_pid > 0 && COMM == \"program\""), everything)
        self.assertEqual(self.report("-e", "* if cpu < 0"), [])
        self.all()
        done = run([TP, "report", "-e", "* if cpu == 0", self.trace])
        self.assertRegex(done.stderr, r"\Atp: the filter 'cpu == 0' is wrong: the trace does not have the processor, .*context=cpu.*\n\Z")
        done = run([TP, "report", "-e", "begin if p.function == main", self.trace])
        self.assertRegex(done.stderr, r"\Atp: .*: Function not found, at 'main': a trace has no names of functions; .*\n\Z")

    def test_fields_by_name(self) -> None:
        """What others read by record_field.h: numbers and texts of records."""
        objects = run(["make", "-s", "--eval=objects: ; @echo $(patsubst %.c,$(BUILD)/obj/%.o,$(TOOL) $(TOOL_SHARED))", f"BUILD={BUILD}",
                       "objects"]).stdout.split()
        self.assertGreater(len(objects), 50)
        build(self.path("driver"), os.path.join(HERE, "record_fields.c"), libtp="", link=[o for o in objects if not o.endswith("/tp.o")],
              include=[os.path.join(ROOT, "runtime", folder) for folder in ("tools", "src")])
        names = ["n", "s", "name", "kind", "error", "p", "rel", "list", "large", "number", "common_pid", "comm", "cpu", "nosuch"]
        for options in ("", ",context=cpu+name"):
            self.all(options)
            lines = self.succeed([self.path("driver"), self.trace, "select", "begin", *names]).stdout.splitlines()
            self.assertEqual(len(lines), 12)
            self.assertRegex(lines[3], r"\A n=3 s='a long one' name='a long ' kind=3 error=-3 p=3 rel='a long one' list:it is neither .* "
                             r"large=18446744073709551612 number=-3 common_pid=\d+ comm='program' cpu(:not in the trace|=\d+) nosuch:none\Z")
            self.assertEqual(":not in the trace" in lines[3], not options)

    def test_unmatched(self) -> None:
        self.all()
        for rules, hint in (("begim", r" \(did you mean 'begin'\?\)"), ("select:ned", r" \(did you mean 'select:end'\?\)"), ("nosuchthing", ""),
                            ("no:*", "")):
            done = run([TP, "report", "-e", rules, self.trace])
            self.assertRegex(done.stderr, rf"\Atp: no event in '{self.trace}' matches '{re.escape(rules)}'{hint}\n\Z")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
        want = self.report("-e", "end")
        for rules, name, hint in (("end,begim", "begim", r" \(did you mean 'begin'\?\)"), ("end if n >= 0; no:*", "no:\\*", "")):
            self.assertEqual(self.report("-e", rules), want)
            self.assertRegex(self.said, rf"\Atp: no event in '{self.trace}' matches '{name}'{hint}\n\Z")
        self.assertEqual(self.report("-e", "end,!nosuch"), want)
        self.assertEqual(self.said, "")


if __name__ == "__main__":
    unittest.main()

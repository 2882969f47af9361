# SPDX-License-Identifier: MIT
"""The texts that tp report makes of TP_printk: each is, to the byte, the text output's of the same hit."""

from __future__ import annotations

import os
import random
import re
import shutil
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "trace_dat"))

from building import build  # noqa: E402
from dat import Recorded  # noqa: E402
from support import BUILD, both, few_or_many, need, printable, read, run, tpgen  # noqa: E402

TP = os.path.join(BUILD, "tp")
MARK = "[FAILED TO PARSE] "

PROTO = "TP_PROTO(int n, const char *s, double x), TP_ARGS(n, s, x)"
TYPES = """
typedef double ratio_t; typedef float small_t; typedef short number_t; struct pair { int a, b; };
static inline int doubled(int n) { return 2 * n; }
"""
CLASS = f"""
TRACE_EVENT(base, {PROTO},
    TP_STRUCT__entry(__field(int, i) __string(s, s) __field(short, neg) __field(long, l) __array(char, name, 8) __field(double, d)
        __field(float, f) __field(ratio_t, ratio) __array(small_t, smalls, 3) __dynamic_array(ratio_t, ratios, 2)
        __array(unsigned char, ip, 4) __field(void *, p) __field(unsigned char, uc) __field(unsigned int, u) __field(uint64_t, ull)
        __field(signed char, sc) __field(bool, b) __array(int, ints, 3) __dynamic_array(int, list, 3) __rel_string(rel, s)
        __bitmask(bits, 40) __field_struct(struct pair, pair) __field(number_t, number) __array(double, empty, 0)),
    TP_fast_assign(static const double two[] = {{ 0.5, -1e-7 }}; static const int three[] = {{ 7, -8, 9 }};
        static const unsigned long mask = 0x8000000005ul;
        __entry->i = n; __assign_str(s); __entry->neg = -5; __entry->l = -7; memcpy(__entry->name, "hello\\0\\0", 8);
        __entry->d = x; __entry->f = (float)x / 3; __entry->ratio = x * 1e3; __entry->smalls[0] = 1.5f; __entry->smalls[1] = -0.1f;
        __entry->smalls[2] = (float)x; memcpy(__get_dynamic_array(ratios), two, sizeof(two)); memcpy(__entry->ip, "\\177\\0\\0\\1", 4);
        __entry->p = NULL; __entry->uc = 200; __entry->u = 4000000000u; __entry->ull = UINT64_MAX; __entry->sc = -1; __entry->b = n > 0;
        memcpy(__entry->ints, three, sizeof(three)); memcpy(__get_dynamic_array(list), three, sizeof(three)); __assign_rel_str(rel);
        __assign_bitmask(bits, &mask, 40); __entry->pair.a = 1; __entry->pair.b = n; __entry->number = -3;),
    TP_printk("%d", __entry->i));
"""

# A format and its arguments, each.
PRINTED = {
    "fixed": ('"%f %10.3f|%-12.1f|%+f % f %07.2f %.0f %#.0f"', "__entry->d, __entry->d, __entry->d, __entry->d, __entry->d, __entry->d, "
              "__entry->d, __entry->d"),
    "other_reals": ('"%e %E %g %G %a %A %F"', "__entry->d, __entry->f, __entry->d, __entry->f, __entry->d, (double)__entry->f, __entry->d"),
    "star": ('"%*d|%.*s|%-*d|%*.*f|%-*.*e"', "6, __entry->i, 3, __get_str(s), 4, __entry->i, 9, 2, __entry->d, __entry->i, 1, __entry->f"),
    "minus_star": ('"%*d|%.*f|"', "__entry->neg, __entry->i, __entry->neg, __entry->d"),
    "computed": ('"%f %f %g"', "__entry->d * 2 / 3 + 1, (double)__entry->i / 7, -__entry->f * 1e3f"),
    "mixed": ('"%d %f %d %s %u"', "__entry->i, __entry->d, __entry->neg, __get_str(s), __entry->uc"),
    "cast": ('"%d %u %lld %hhd %d %.3f"', "(int)__entry->d, (unsigned int)(__entry->d * 10), (long long)__entry->neg, "
             "(signed char)__entry->i, (int)(short)__entry->u, (float)__entry->d"),
    "long_double": ('"%Lf %.3Le"', "(long double)__entry->d, 1.5L * __entry->i"),
    "renamed": ('"%f %.2f %.2f %d %d"', "__entry->ratio, __entry->smalls[1], __entry->smalls[__entry->i - 3] + 1, __entry->number, "
                "(number_t)1 == 1"),
    "array": ('"%g %d %s %s"', "((double *)__get_dynamic_array(ratios))[1], __entry->ints[1], __print_array(__entry->ints, 3, 4), "
              "__print_array(__get_dynamic_array(list), __get_dynamic_array_len(list) / 4, sizeof(int))"),
    "beside_tables": ('"%f %s %g %s"', '__entry->d, __print_symbolic(__entry->neg, { -5, "EIO" }, { 3, "a \\"b\\"\\n" }), __entry->f, '
                      '__print_flags(__entry->uc, "|", { 1, "one" }, { 0x80, "high" }, { 1 << 6, "six" })'),
    "tables_64": ('"%.1f %s %s"', '__entry->d, __print_symbolic_u64(__entry->ull, { 18446744073709551615ull, "max" }), '
                  '__print_flags_u64(__entry->ull & 0x11, "", { 1, "a" })'),
    "texts": ('"%f %s %s %10s|%-10.2s|%s"', "__entry->d, __get_str(s), __get_rel_str(rel), __entry->name, __entry->name, &__entry->name[2]"),
    "choice": ('"%s %s %d %f"', '__entry->d > 1.5 ? "more" : "less", __entry->neg < 0 && __entry->b ? "yes" : "no", '
               "!__entry->i || __entry->u > 1, __entry->i ? 1 : 2.5"),
    "bits": ('"%f %s %s %x %d"', "__entry->d, __get_bitmask(bits), __print_hex(__get_dynamic_array(bits), 5), ~__entry->i & 0xf0, "
             "__entry->neg >> 1"),
    "hex": ('"%a %s %s"', "__entry->d, __print_hex(__entry->ip, 4), __print_hex_str(__entry->name, sizeof(__entry->name))"),
    "dump": ('"%g %s"', '__entry->d, __print_hex_dump("p ", DUMP_PREFIX_OFFSET, 16, 1, __entry->name, 8, true)'),
    "address": ('"%f %pI4 %16pI4 %-12pi4| %pUb"', "__entry->d, __entry->ip, __entry->ip, __entry->ip, __entry->ints"),
    "pointers": ('"%p %px %4phD %*ph %5pbl %pe %lx"', "__entry->p, __entry->p, __entry->ip, 3, __entry->ip, __entry->ip, "
                 "(void *)(long)-2, (unsigned long)__entry->p"),
    "letters": ('"%c %5c|%jd %zu %td %hd %hhu %o %i %%"', "'G', __entry->i + 'a', (intmax_t)__entry->l, sizeof(int), (ptrdiff_t)3, "
                "__entry->u, __entry->u, __entry->uc, __entry->neg"),
    "not_ascii": ('"é %f ünï 漢 %s\\n"', '__entry->d, __entry->i ? "für" : "漢"'),
    "quotes": (r'"\"%f\", %s \\ %d %%s\n"', r'''__entry->d, "a\"b\\\x41\101", '\'' '''),
    "concatenated": ('"%f" " %s"', '__entry->d, "a" "b"'),
    "seconds": ('"%llu.%09u %g"', "__print_ns_to_secs(__entry->ull), __print_ns_without_secs(__entry->ull), __entry->d"),
    "sizes": ('"%zu %zu %zu %f %s"', "sizeof(__entry->ints), sizeof(double), sizeof(__entry->d), __entry->d, __print_hex(__entry->empty, "
              "sizeof(__entry->empty))"),
    "header": ('"%d %g"', "__entry->ent.pid > 0, __entry->d"),
    "structure": ('"%f %s"', "__entry->d, __print_hex(&__entry->pair, sizeof(__entry->pair))"),
    "booleans": ('"%d %d %d %g"', "__entry->b, (bool)__entry->u, (bool)0.5, __entry->d"),
    "comma": ('"%f %d"', "__entry->d, (1, 2)"),
    "precedence": ('"%d %d %d %d"', "1 + 2 * 3 - 4 / 2 % 3, 1 << 2 + 1, (5 & 3) == 1 || 0, 7 ^ 2 | 8 & 12"),
    "unsigned_and_signed": ('"%d %lld %d %llu"', "__entry->neg < __entry->u, __entry->l + (long long)__entry->u, -1 < 0u, __entry->ull + 2"),
    "numbers": ('"%d %ld %llu %g %g %g %d"', "0x7f, 017l, 0xffffffffffffffffull, 1e3, .5, 0x1p3, -2147483647 - 1"),
}

# What is not in the trace: a function of the program, what it points to, and where it was.
HIDDEN = {"function": ('"%d"', "doubled(__entry->i)"), "member": ('"%d"', "__entry->pair.b"),
          "place": ('"%p"', "__entry->name")}


class Random:
    """Expressions without undefined behaviour, of integers or of floating point."""

    INTEGERS = ("__entry->i", "__entry->neg", "__entry->l", "__entry->uc", "__entry->u", "__entry->ull", "__entry->sc", "__entry->b",
                "__entry->ints[1]", "__entry->ip[0]", "__get_dynamic_array_len(list)", "((int *)__get_dynamic_array(list))[2]")
    REALS = ("__entry->d", "__entry->f", "__entry->ratio", "__entry->smalls[1]", "((double *)__get_dynamic_array(ratios))[0]")
    CASTS = ("int", "unsigned", "long", "unsigned long long", "short", "unsigned char", "signed char", "uint16_t", "s64", "bool")

    def __init__(self, seed: int):
        self.rng = random.Random(seed)

    def constant(self) -> str:
        return self.rng.choice(("1", "7", "255", "0x10", "100u", "3l", "12ull", "'A'", "1000000007", "0", "4294967295", "-3"))

    def integer(self, depth: int) -> str:
        rng = self.rng
        if depth == 0:
            return rng.choice((rng.choice(self.INTEGERS), self.constant()))
        a, b = self.integer(depth - 1), self.integer(depth - 1)
        return rng.choice((
            lambda: f"({a}) {rng.choice(('+', '-', '*', '&', '|', '^'))} ({b})",
            lambda: f"({a}) {rng.choice(('<', '>', '<=', '>=', '==', '!=', '&&', '||'))} ({b})",
            lambda: f"({a}) {rng.choice(('/', '%'))} {rng.choice(('3', '7u', '10l', '255ull'))}",
            lambda: f"({a}) {rng.choice(('<<', '>>'))} {rng.randrange(8)}",
            lambda: f"({a}) ? ({b}) : ({self.integer(depth - 1)})",
            lambda: f"{rng.choice(('-', '~', '!', '+'))}({a})",
            lambda: f"({rng.choice(self.CASTS)})({a})",
            lambda: f"({self.real(depth - 1)}) {rng.choice(('<', '>', '=='))} ({self.real(depth - 1)})"))()

    def real(self, depth: int) -> str:
        rng = self.rng
        if depth == 0:
            return rng.choice((rng.choice(self.REALS), rng.choice(("1.5", "2.f", "1e-3", "0x1.8p1", "3."))))
        a, b = self.real(depth - 1), self.real(depth - 1)
        return rng.choice((
            lambda: f"({a}) {rng.choice('+-*/')} ({b})", lambda: f"({a}) {rng.choice('+-*')} ({self.integer(depth - 1)})",
            lambda: f"({self.integer(depth - 1)}) ? ({a}) : ({b})", lambda: f"-({a})", lambda: f"(float)({a})", lambda: f"(double)({a})"))()

    def event(self) -> tuple[str, str]:
        parts, values = [], []
        for _ in range(6):
            depth = self.rng.randrange(4)
            if self.rng.random() < 0.5:
                parts.append("%" + self.rng.choice(("", "10", "-12.3", "+.2", "0", ".0")) + self.rng.choice("feg"))
                values.append(self.real(depth))
            else:
                parts.append("%" + self.rng.choice(("", "8", "-6", "0")) + self.rng.choice(("lld", "llu", "llx")))
                values.append(f"(long long)({self.integer(depth)})")
        return f'"{"|".join(parts)}"', ", ".join(values)


class Texts(Recorded):
    def texts(self, events: dict[str, tuple[str, str]]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        """By the event: the text output's, and ours."""
        source = "#define TRACE_SYSTEM texts\n" + CLASS + "".join(
            f"DEFINE_EVENT_PRINT(base, {name}, {PROTO}, TP_printk({text}, {values}));\n" for name, (text, values) in events.items())
        hits = "".join(f'trace_{name}(3, "text", 2.75); trace_{name}(5, "", -1e-3);\n' for name in events)
        self.write("texts.tp", source)
        self.write("texts.c", f'#include <stdint.h>\n#include <stddef.h>\n#include <stdbool.h>\n#include <string.h>\n{TYPES}'
                   f'typedef uint8_t u8; typedef int64_t s64;\n#define CREATE_TRACE_POINTS\n#include "texts.h"\nint main(void)\n'
                   f'{{\n{hits}\nreturn 0;\n}}\n')
        done = tpgen("gen", "-o", self.dir, self.path("texts.tp"))  # with warnings: some formats are odd
        self.assertEqual(done.returncode, 0, done.stderr)
        build(self.path("texts"), self.path("texts.c"), include=[self.dir], flags=["-w", "-fwrapv"])
        self.succeed([self.path("texts")], env=self.environment())
        want: dict[str, list[str]] = {}
        got: dict[str, list[str]] = {}
        for found, text in ((want, read(self.text)), (got, run([TP, "report", self.trace]).stdout)):
            for line in text.splitlines():
                event, text = line.split(" texts:", 1)[1].split(": ", 1)
                found.setdefault(event, []).append(text)
        return want, got

    def test_each(self) -> None:
        want, got = self.texts(PRINTED)
        self.assertEqual(sorted(want), sorted(PRINTED))
        for name in PRINTED:
            self.assertEqual(got[name], want[name], name)

    def test_what_is_not_in_the_trace(self) -> None:
        """It is shown by its fields, which have the right types."""
        _, got = self.texts(HIDDEN)
        for name, lines in got.items():
            self.assertTrue(lines[0].startswith(MARK + 'i=3 s="text" neg=-5 l=-7 name="hello" d=2.75 f=0.9166667 ratio=2750 '
                                                'smalls={1.5,-0.1,2.75} ratios={0.5,-1e-07} '), (name, lines))

    def test_trace_dat(self) -> None:
        """What libtraceevent can't print has its text in the trace.dat, and its fields."""
        need(self, "trace-cmd")
        want, _ = self.texts({name: value for name, value in PRINTED.items() if "__print_array" not in value[1] and "dump" not in name})
        self.succeed([TP, "convert", self.trace, "--to", "trace.dat", "-o", self.path("trace.dat")])
        found = re.split(r"(?:^|\n) *texts-\d+ +\[\d+\] +[\d.]+: (\S+): *", self.read_by("trace-cmd", "report", self.path("trace.dat")))[1:]
        got: dict[str, list[str]] = {}
        for event, text in zip(found[::2], found[1::2]):
            got.setdefault(event, []).append(printable(text.rstrip("\n")).strip(" "))
        for name, lines in want.items():
            self.assertEqual(got[name], [line.strip(" ") for line in lines], name)

    @both
    def test_random_expressions(self) -> None:
        for seed in range(few_or_many(2, 20)):
            rng = Random(seed)
            want, got = self.texts({f"event_{number}": rng.event() for number in range(30)})
            self.assertEqual(len(want), 30)
            for name, lines in want.items():
                self.assertEqual(got[name], lines, (seed, name))
            for path in (self.text, self.path("texts.h")):
                os.unlink(path)
            shutil.rmtree(self.trace)

    @both
    def test_hostile_formats(self) -> None:
        """A format may say anything: neither crash nor endless loop comes of it, nor a byte from outside of the record."""
        self.texts(PRINTED)
        path = os.path.join(self.trace, "format/texts")
        text = read(path)
        pieces = sorted({piece for _, values in PRINTED.values() for piece in re.findall(r"\w+|[^\w\s]", values)} |
                        {"REC->", "__get_dynamic_array_len(s)", "2147483647", "(char *)", "-1", "1 << 63", "%*d", "%s", "%p", "%.99999f",
                         "(" * 5000, "[" * 300, "1+" * 5000 + "1", "!" * 5000, "?1:" * 3000, "{1,\"a\"}," * 3000})
        for seed in range(few_or_many(6, 300)):
            rng = random.Random(seed)

            def change(match: re.Match[str]) -> str:
                words = re.findall(r"\w+|\W", match[1].replace("__entry", "REC"))
                for _ in range(rng.randrange(1, 4)):
                    at = rng.randrange(len(words) + 1)
                    words[at:at + rng.randrange(3)] = rng.choice(([], [rng.choice(pieces)], rng.sample(words, min(len(words), 3))))
                return "print fmt: " + "".join(words).replace("\n", "") + "\n"

            self.write("trace/format/texts", re.sub(r"(?s)print fmt: (.*?)\n(?=\nname: |\Z)", change, text))
            done = run([os.path.join(BUILD, "tp"), "report", self.trace])
            self.assertEqual((done.returncode, done.stderr), (0, ""), seed)
            self.assertEqual(len(done.stdout.splitlines()), 2 * len(PRINTED))
            # There it is the process itself that makes them.
            done = run([os.path.join(BUILD, "asan/tp"), "convert", self.trace, "--to", "trace.dat", "-o", self.path("trace.dat")])
            self.assertEqual((done.returncode, done.stderr), (0, ""), seed)


if __name__ == "__main__":
    unittest.main()

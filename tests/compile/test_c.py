# SPDX-License-Identifier: MIT
"""C as people write it: parameters, types and names on the edge of the language, at sites in C and C++, without a warning."""

from __future__ import annotations

import os
import re

from building import generate, runtime
from support import INCLUDES, WARNINGS, Case, need, read, run, tpgen

CPP = {"g++": ("c++11", "c++20"), "clang++": ("c++17",)}
C = {"gcc": ("c11",), "clang": ("c11",)}

ARRAYS = """#define TRACE_SYSTEM odd
#include <string.h>
TRACE_EVENT(mac,
	TP_PROTO(const unsigned char mac[6], int a),
	TP_ARGS(mac, a),
	TP_STRUCT__entry(__array(unsigned char, mac, 6) __field(int, a)),
	TP_fast_assign(memcpy(__entry->mac, mac, 6); __entry->a = a;),
	TP_printk("%d %pM", __entry->a, __entry->mac)
);
TRACE_EVENT(argv,
	TP_PROTO(char *argv[], int matrix[][2]),
	TP_ARGS(argv, matrix),
	TP_STRUCT__entry(__string(first, argv[0]) __field(int, last)),
	TP_fast_assign(__assign_str(first); __entry->last = matrix[1][1];),
	TP_printk("%s %d", __get_str(first), __entry->last)
);
"""

# What only C has in a prototype.
ONLY_C = """#define TRACE_SYSTEM odd
TRACE_EVENT(texts,
	TP_PROTO(const char *restrict s, const char *__restrict t, char *restrict *restrict u),
	TP_ARGS(s, t, u),
	TP_STRUCT__entry(__string(s, s) __string(t, t) __string(u, *u) __field(const char *restrict, p)),
	TP_fast_assign(__assign_str(s); __assign_str(t); __assign_str(u); __entry->p = NULL;),
	TP_printk("%s %s %s %d", __get_str(s), __get_str(t), __get_str(u), __entry->p == NULL)
);
TRACE_EVENT(bounds,
	TP_PROTO(const int v[static 3], const int w[const 3], const int x[restrict static 2], const int y[static const volatile 2]),
	TP_ARGS(v, w, x, y),
	TP_STRUCT__entry(__field(int, v) __field(int, w) __field(int, x) __field(int, y)),
	TP_fast_assign(__entry->v = v[0]; __entry->w = w[1]; __entry->x = x[1]; __entry->y = y[0];),
	TP_printk("%d %d %d %d", __entry->v, __entry->w, __entry->x, __entry->y)
);
TRACE_EVENT(lengths,
	TP_PROTO(int n, const int v[n], const int m[n][2 * n], const int q[*], int (*p)[n]),
	TP_ARGS(n, v, m, q, p),
	TP_STRUCT__entry(__field(int, v) __field(int, m) __field(int, q) __field(int, p)),
	TP_fast_assign(__entry->v = v[n - 1]; __entry->m = m[1][2]; __entry->q = q[0]; __entry->p = (*p)[1];),
	TP_printk("%d %d %d %d", __entry->v, __entry->m, __entry->q, __entry->p)
);
"""

TYPEOF = """#define TRACE_SYSTEM odd
struct box { int a; unsigned long long big; };
TRACE_EVENT(types,
	TP_PROTO(typeof(int) a, __typeof__(((struct box *)0)->big) big, const typeof(struct box) *b, __typeof(a) c),
	TP_ARGS(a, big, b, c),
	TP_STRUCT__entry(
		__field(typeof(int), a)
		__field(__typeof__(((struct box *)0)->big), big)
		__array(typeof(((struct box *)0)->a), pair, 2)
		__dynamic_array(typeof(short), shorts, 2)
	),
	TP_fast_assign(
		__entry->a = a + c;
		__entry->big = big;
		__entry->pair[0] = b->a;
		__entry->pair[1] = 2;
		((short *)__get_dynamic_array(shorts))[0] = 5;
		((short *)__get_dynamic_array(shorts))[1] = 6;
	),
	TP_printk("%d %llu %d %d %s", __entry->a, __entry->big, __entry->pair[0], __entry->pair[1],
		__print_dynamic_array(shorts, sizeof(short)))
);
"""

NO_RECORD = """#define TRACE_SYSTEM odd
TRACE_EVENT(constant, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, n)), TP_fast_assign(__entry->n = n;),
	TP_printk("%s %llu", __print_symbolic(1, { 1, "one" }), __print_ns_to_secs(5000000000ull)));
TRACE_EVENT(nothing, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, n)), TP_fast_assign(__entry->n = n;),
	TP_printk(""));
TRACE_EVENT(nothing_twice, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, n)), TP_fast_assign(__entry->n = n;),
	TP_printk("" ""));
"""

PRAGMAS = """#define TRACE_SYSTEM odd
#define QUIET _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \\"-Wconversion\\"")
#define LOUD _Pragma("GCC diagnostic pop")
#define EVENT(name) TRACE_EVENT(name, TP_PROTO(long n), TP_ARGS(n), TP_STRUCT__entry(__field(short, n)), \\
	TP_fast_assign(QUIET short s = n; LOUD __entry->n = s;), TP_printk("%d", __entry->n))
EVENT(by_macro);
TRACE_EVENT(operators, TP_PROTO(long n), TP_ARGS(n), TP_STRUCT__entry(QUIET __field(short, n) LOUD),
	TP_fast_assign(
		_Pragma("GCC diagnostic push")
		_Pragma("GCC diagnostic ignored \\"-Wconversion\\"")
		__entry->n = n;
		_Pragma("GCC diagnostic pop")
	),
	TP_printk("%d", __entry->n)
);
TRACE_EVENT(directives, TP_PROTO(long n), TP_ARGS(n), TP_STRUCT__entry(__field(short, n)),
	TP_fast_assign(
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
		__entry->n = n;
#pragma GCC diagnostic pop
	),
	TP_printk("%d", __entry->n)
);
"""

ATTRIBUTES = """#define TRACE_SYSTEM odd
typedef int four __attribute__((vector_size(16)));
typedef int two __attribute__((vector_size(8), may_alias));
typedef long aligned_long __attribute__((aligned(16)));
typedef long loose_long __attribute__((aligned(1), may_alias));
struct wide { int a; } __attribute__((aligned(16)));
TRACE_EVENT(attributes,
	TP_PROTO(aligned_long a, loose_long l, two t, volatile aligned_long v),
	TP_ARGS(a, l, t, v),
	TP_STRUCT__entry(__field(aligned_long, a) __field(loose_long, l) __field(int, t) __field(long, v)),
	TP_fast_assign(__entry->a = a; __entry->l = l; __entry->t = t[1]; __entry->v = v;),
	TP_printk("%ld %ld %d %ld", __entry->a, __entry->l, __entry->t, __entry->v)
);
TRACE_EVENT(wide,
	TP_PROTO(four f, struct wide w, const four *p),
	TP_ARGS(f, w, p),
	TP_STRUCT__entry(__field(four, f) __field_struct(struct wide, w) __array(four, p, 1)),
	TP_fast_assign(__entry->f = f; __entry->w = w; __entry->p[0] = *p;),
	TP_printk("%d %d %d", __entry->f[3], __entry->w.a, __entry->p[0][1])
);
"""

UTF8 = """#define TRACE_SYSTEM größen
DECLARE_EVENT_CLASS(maß,
	TP_PROTO(int länge, const char *名前),
	TP_ARGS(länge, 名前),
	TP_STRUCT__entry(__field(int, länge) __string(名前, 名前) __array(char, \\u00e9t\\u00E9, 4)),
	TP_fast_assign(
		int größe = länge * 2;
		__entry->länge = größe;
		__assign_str(名前);
		memcpy(__entry->été, "abc", 4);
	),
	TP_printk("länge=%d 名前=%s %s", __entry->länge, __get_str(名前), __entry->été)
);
DEFINE_EVENT(maß, größe, TP_PROTO(int länge, const char *名前), TP_ARGS(länge, 名前));
DEFINE_EVENT(maß, 𝛼, TP_PROTO(int länge, const char *名前), TP_ARGS(länge, 名前));
"""

SPLIT = """#define TRACE_SYSTEM odd
#include <std\\
int.h>
TRACE_EV\\
ENT(split,
	TP_PR\\
OTO(i\\
nt a, const cha\\
r *text),
	TP_ARGS(a, te\\
xt),
	TP_STRUCT__en\\
try(__fi\\
eld(in\\
t, a) __string(text, text)),
	TP_fast_assign(__en\\
try->a = a; __assign\\
_str(text);),
	TP_pri\\
ntk("a=%d %s", __entry->\\
a, __get_str(\\
text))
);
stat\\
ic inl\\
ine int behind(void) { ret\\
urn 7; }
"""

KEYWORDS = """#define TRACE_SYSTEM delete
TRACE_EVENT(new,
	TP_PROTO(int new, const char *class, int this, int template[new]),
	TP_ARGS(new, class, this, template),
	TP_STRUCT__entry(__field(int, new) __string(class, class) __field(int, this) __array(char, private, 4)),
	TP_fast_assign(
		__entry->new = new;
		__assign_str(class);
		__entry->this = this + template[0];
		memcpy(__entry->private, "abc", 4);
	),
	TP_printk("%d %s %d %s", __entry->new, __get_str(class), __entry->this, __entry->private)
);
DECLARE_EVENT_CLASS(operator, TP_PROTO(int and), TP_ARGS(and), TP_STRUCT__entry(__field(int, and)),
	TP_fast_assign(__entry->and = and;), TP_printk("%d", __entry->and));
DEFINE_EVENT(operator, delete, TP_PROTO(int xor), TP_ARGS(xor));
DECLARE_TRACE_CONDITION(namespace, TP_PROTO(int and, int or), TP_ARGS(and, or), TP_CONDITION(and && or));
"""

# A header of the program's, and names that stand for all kinds of things in it.
THINGS = """enum color { RED, GREEN = 7, BLUE, DARK = -4 };
enum { FLAG_READ = 3, SELF = 12, LENGTH = 5 };
#define SELF SELF
#define MAX 99
#define LOW (1 << 2)
#define ALL (~0ull)
#define FLAG(name) FLAG_##name
#define BIT(n) (1ul << (n))
#define NOW ({ 5; })
#define HALF 0.5
#define TEXT "text"
#define POINTER ((char *)8)
#define ADDRESS (&a_variable)
#define NOTHING
typedef unsigned int u32;
struct pair { int a, b; };
static int a_variable = 3;
static const int a_const_variable = 4;
static const struct pair a_pair = { 5, 6 };
static const int a_table[2] = { 7, 8 };
static inline int a_function(void) { return 9; }
"""
CONSTANTS = """#define TRACE_SYSTEM odd
#include "things.h"
enum { OWN_ONE = 21, OWN_TWO, größe, nge };
TRACE_DEFINE_ENUM(größe);
TRACE_DEFINE_ENUM(BLUE);
TRACE_EVENT(tables, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, n)), TP_fast_assign(__entry->n = n;),
	TP_printk("%s %s %s RED",
		__print_symbolic(__entry->n, { RED, "RED" }, { GREEN, "green" }, { BLUE, "BLUE" }, { DARK, "dark" }, { OWN_ONE, "OWN_ONE" }),
		__print_flags(__entry->n & MAX, "|", { 1 << RED, "red" }, { BIT(GREEN), "g" }, { FLAG(READ), "r" }, { LOW, "l" }, { (u32)GREEN, "c" }),
		__print_symbolic_u64(__entry->n, { ALL, "all" }, { SELF, "self" }, { sizeof(struct pair), "pair" }))
);
TRACE_EVENT(values, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, n) __array(char, text, LENGTH)),
	TP_fast_assign(__entry->n = n; memset(__entry->text, 0, LENGTH);),
	TP_printk("%d %d %d %d %d %s %d %d %p %f %zu %u %d %d %d %d %d %d %s %zu %p", __entry->n & MAX, __entry->n + NOW, a_variable,
		a_const_variable, a_function(), TEXT, __entry->n == GREEN ? (int)OWN_ONE : (OWN_TWO), FLAG(READ) + RED, POINTER, HALF,
		sizeof(struct pair), (u32)BLUE, SELF, *ADDRESS, *&a_variable, a_pair.a, a_table[RED], a_table[1] * (GREEN),
		__print_hex(__entry->text, LENGTH), sizeof(__entry->text) + sizeof(int) + sizeof(u32), (void *)a_table)
);
TRACE_EVENT(again, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, n)), TP_fast_assign(__entry->n = n;),
	TP_printk("%s", __print_symbolic(__entry->n, { RED, "r" }, { GREEN, "g" }))
);
TRACE_EVENT(and_again, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, länge)), TP_fast_assign(__entry->länge = n;),
	TP_printk("%s %s", __print_symbolic(__entry->länge, { GREEN, "g" }, { nge, "länge" }), __entry->länge == größe ? "größe" : "")
);
TRACE_EVENT(a_third, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, n)), TP_fast_assign(__entry->n = n;),
	TP_printk("%s!", __print_symbolic(__entry->n, { RED, "r" }, { GREEN, "g" }))
);
"""
FORMATS = [
    '"%s %s %s RED", __print_symbolic(REC->n, { 0, "RED" }, { 7, "green" }, { 8, "BLUE" }, { -4, "dark" }, { 21, "OWN_ONE" }), '
    '__print_flags(REC->n & MAX, "|", { 1 << 0, "red" }, { 128, "g" }, { 3, "r" }, { 4, "l" }, { (u32)7, "c" }), '
    '__print_symbolic_u64(REC->n, { -1, "all" }, { 12, "self" }, { 8, "pair" })',
    '"%d %d %d %d %d %s %d %d %p %f %zu %u %d %d %d %d %d %d %s %zu %p", REC->n & MAX, REC->n + NOW, a_variable, a_const_variable, '
    'a_function(), TEXT, REC->n == 7 ? (int)21 : (22), FLAG(READ) + 0, POINTER, HALF, 8, (u32)8, SELF, *ADDRESS, *&a_variable, '
    'a_pair.a, a_table[0], a_table[1] * (7), __print_hex(REC->text, 5), sizeof(REC->text) + sizeof(int) + 4, (void *)a_table',
    '"%s", __print_symbolic(REC->n, { 0, "r" }, { 7, "g" })',
    '"%s %s", __print_symbolic(REC->länge, { 7, "g" }, { 24, "länge" }), REC->länge == 23 ? "größe" : ""',
    '"%s!", __print_symbolic(REC->n, { 0, "r" }, { 7, "g" })']

# Whose names generated code needs for itself.
TAKEN = ("__data", "__it", "__probe", "__entry", "__rec", "__record", "__size", "__dyn", "__event")
FREE = ("__tp", "p", "entry", "data", "probe", "tp", "size", "rec", "it", "a", "__start")

CLASS = """#define TRACE_SYSTEM odd
DECLARE_EVENT_CLASS(odd,
	TP_PROTO(<params>),
	TP_ARGS(<args>),
	TP_STRUCT__entry(__string(s, "text")),
	TP_fast_assign(__assign_str(s);),
	TP_printk("%s", __get_str(s))
);
DEFINE_EVENT(odd, one, TP_PROTO(<params>), TP_ARGS(<args>));
DEFINE_EVENT(odd, two, TP_PROTO(<params>), TP_ARGS(<args>));
"""


# Compilers define unix and linux in their GNU modes, and <stdio.h> defines stdin.
MACROS = """#define TRACE_SYSTEM linux
#include <stdio.h>
TRACE_EVENT(unix, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, n)), TP_fast_assign(__entry->n = n;),
	TP_printk("n=%d", __entry->n));
TRACE_EVENT_CONDITION(linux, TP_PROTO(int n, double d), TP_ARGS(n, d), TP_CONDITION(n > 1),
	TP_STRUCT__entry(__field(int, n)), TP_fast_assign(__entry->n = n;), TP_printk("n=%d", __entry->n));
TRACE_EVENT(stdin, TP_PROTO(void), TP_ARGS(), TP_STRUCT__entry(), TP_fast_assign(), TP_printk("in"));
"""

# As kernel trace headers have them: a function that TP_printk calls, and that appends to what it is given.
APPENDING = """#define TRACE_SYSTEM odd
static inline const char *odd_show(struct trace_seq *p, int n);
static inline const char *odd_show(struct trace_seq *p, int n)
{
	const char *ret = trace_seq_buffer_ptr(p);

	trace_seq_puts(p, "<");
	trace_seq_printf(p, "%d>", n);
	trace_seq_putc(p, 0);
	return ret;
}
#define __print_odd(n) odd_show(p, n)
TRACE_EVENT(shown, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, n)), TP_fast_assign(__entry->n = n;),
	TP_printk("n=%s %s", __print_odd(__entry->n), odd_show(p, -__entry->n)));
"""


NUMBERS = """#define TRACE_SYSTEM odd
typedef long handle;
struct box { handle handle; unsigned char text[4]; const volatile char *other; void *any; };
TRACE_EVENT(numbers, TP_PROTO(handle h, const struct box *b), TP_ARGS(h, b), TP_STRUCT__entry(
	__string(a, h)
	__string(b, b->handle)
	__rel_string_len(c, b->handle + 1, 2)
	__string(d, b->text) __string(e, b->other) __string(f, b->any) __string(g, NULL) __string(i, 0) __string(j, "text")
	__string(k, (const char *)h)),
	TP_fast_assign(__assign_str(a); __assign_str(b); __assign_rel_str_len(c); __assign_str(d); __assign_str(e); __assign_str(f);
		__assign_str(g); __assign_str(i); __assign_str(j); __assign_str(k);),
	TP_printk("%s", __get_str(a)));
"""


class Language(Case):
    def compile(self, compiler: str, standard: str, source: str, *options: str) -> None:
        """Compiles text without a warning, in the directory of the headers."""
        need(self, compiler)
        path = self.write(f"main.{'cc' if '++' in compiler else 'c'}", source)
        done = self.succeed([compiler, f"-std={standard}", "-O2", *options, *INCLUDES, "-iquote", self.dir, "-c", "-o",
                             os.devnull, path])
        self.assertEqual(done.stdout + done.stderr, "", (compiler, standard, options))

    def everywhere(self, text: str, *options: str, only_c: bool = False) -> None:
        """The header of text compiles without a warning: sites in C and C++, seen from outside, too; what they reach, or only in C;
        without the runtime."""
        path = self.write("odd.tp", text)
        generate(self.dir, path)
        nop = self.path("nop")
        done = tpgen("gen", "--backend", "nop", "-o", nop, path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        include = '#include "odd.h"\n'
        for compiler, standards in {**C, **CPP}.items():
            for standard in standards:
                self.compile(compiler, standard, '#include "nop/odd.h"\n', *WARNINGS, *options)
                for sdt in ("0", "1"):
                    self.compile(compiler, standard, include, *WARNINGS, *options, f"-DTP_SDT={sdt}")
                if "++" not in compiler or not only_c:
                    self.compile(compiler, standard, "#define CREATE_TRACE_POINTS\n" + include, *WARNINGS, *options)

    def printed(self, text: str, body: str, only_c: bool = False) -> list[str]:
        """What the text sink prints of what a C++ file's main() does, without the time and the process. A C file creates the
        tracepoints, and a C++ file."""
        need(self, "g++", "clang++")
        generate(self.dir, self.write("odd.tp", text))
        points, points_of_cpp = (self.write(f"points.{s}", '#define CREATE_TRACE_POINTS\n#include "odd.h"\n') for s in ("c", "cc"))
        main = self.write("main.cc", f"""#include "odd.h"
#include <tp/tp.h>

int main()
{{
	tp_sink *sink = tp_text_sink(stdout);
	if (tp_enable(sink, "*") < 0)
		return 1;
{body}
	return tp_sink_close(sink);
}}
""")
        out: list[list[str]] = []
        for c, cpp in (("gcc", "g++"), ("clang", "clang++")):
            for compiler, source in ((c, points), (cpp, main), *([] if only_c else [(cpp, points_of_cpp)])):
                self.succeed([compiler, "-O2", *INCLUDES, "-iquote", self.dir, "-c", "-o", source + ".o", source])
            for created in (points, *([] if only_c else [points_of_cpp])):
                self.succeed([cpp, "-o", self.path("main"), created + ".o", main + ".o", *runtime("static")])
                lines = self.succeed([self.path("main")]).stdout.splitlines()
                out.append([line.split(": ", 1)[1] for line in lines])
        self.assertEqual(out, out[:1] * len(out))
        return out[0]

    def test_array_parameters(self) -> None:
        self.everywhere(ARRAYS)
        self.assertEqual(self.printed(ARRAYS, """
	unsigned char address[6] = { 1, 2, 3, 4, 5, 6 };
	char word[] = "word", *words[] = { word, nullptr };
	int matrix[2][2] = { { 1, 2 }, { 3, 4 } };
	trace_mac(address, 7);
	trace_argv(words, matrix);"""), ["7 01:02:03:04:05:06", "word 4"])

    def test_parameters_that_only_c_has(self) -> None:
        self.everywhere(ONLY_C, "-Wno-vla", only_c=True)
        self.assertEqual(self.printed(ONLY_C, """
	char word[] = "word", *words[] = { word, nullptr };
	int many[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	trace_texts("a", "b", words);
	trace_bounds(many, many, many, many);
	trace_lengths(2, many, many, many, many);""", only_c=True), ["a b word 1", "1 2 2 1", "2 7 1 2"])

    def test_typeof(self) -> None:
        self.everywhere(TYPEOF)
        self.assertEqual(self.printed(TYPEOF, """
	box b = { 3, 4 };
	trace_types(1, 1ull << 40, &b, 2);"""), ["3 1099511627776 3 2 {0x5,0x6}"])

    def test_prints_without_the_record(self) -> None:
        self.everywhere(NO_RECORD)
        self.assertEqual(self.printed(NO_RECORD, "trace_constant(1); trace_nothing(1); trace_nothing_twice(1);"),
                         ["one 5", "", ""])

    def test_pragmas(self) -> None:
        self.everywhere(PRAGMAS)
        # The warnings are there where nobody takes them away.
        generate(self.dir, self.write("odd.tp", PRAGMAS.replace("ignored", "warning")))
        create = self.write("main.c", '#define CREATE_TRACE_POINTS\n#include "odd.h"\n')
        done = self.succeed(["gcc", "-Og", *INCLUDES, "-iquote", self.dir, "-c", "-o", os.devnull, create])
        self.assertEqual(done.stderr.count("may change value [-Wconversion]"), 3, done.stderr)

    def test_vectors_and_alignments(self) -> None:
        self.everywhere(ATTRIBUTES.replace("volatile ", ""))  # as a parameter's, it is deprecated in C++20
        self.assertEqual(self.printed(ATTRIBUTES, """
	two pair = { 1, 2 };
	four more = { 3, 4, 5, 6 };
	wide w = { 7 };
	trace_attributes(1, 2, pair, 4);
	trace_wide(more, w, &more);"""), ["1 2 2 4", "6 7 4"])

    def test_names_in_utf_8(self) -> None:
        self.everywhere(UTF8)
        self.assertEqual(self.printed(UTF8, 'trace_größe(4, "丁"); trace_𝛼(1, "x");'),
                         ["länge=8 名前=丁 abc", "länge=2 名前=x abc"])

    def test_words_over_two_lines(self) -> None:
        self.everywhere(SPLIT)
        self.assertEqual(self.printed(SPLIT, 'trace_split(behind(), "x");'), ["a=7 x"])

    def test_numbers_as_texts(self) -> None:
        """Of what a typedef stands for, only the C compiler knows: it says where a number would become an address."""
        generate(self.dir, self.write("odd.tp", NUMBERS))
        create = self.write("main.c", '#define CREATE_TRACE_POINTS\n#include "odd.h"\n')
        for compiler in ("gcc", "clang"):
            need(self, compiler)
            done = run([compiler, "-std=c11", "-O2", "-Wall", "-Wextra", *INCLUDES, "-iquote", self.dir, "-c", "-o", os.devnull, create])
            said = re.findall(r"^.*odd\.tp:(\d+):\d+: (?:warning|error): .*\[-W(.*)\]$", done.stderr, re.M)
            self.assertEqual(said, [("5", "int-conversion"), ("6", "int-conversion"), ("7", "int-conversion")], done.stderr)

    def test_names_of_macros(self) -> None:
        self.everywhere(MACROS, "-Dunix=1", "-Dlinux=1")
        self.assertEqual(self.printed(MACROS, "\ttrace_unix(1); trace_linux(1, .5); trace_linux(2, .5); trace_stdin();"),
                         ["n=1", "n=2", "in"])

    def test_keywords_of_cpp(self) -> None:
        self.everywhere(KEYWORDS, "-Wno-vla", only_c=True)
        self.assertEqual(self.printed(KEYWORDS, """
	int some[1] = { 5 };
	trace_new(1, "class", 2, some);
	trace_delete(3);
	trace_namespace(1, 0);""", only_c=True), ["1 class 7 abc", "3"])

    def test_functions_that_append(self) -> None:
        """Each site that includes the header compiles them, without the runtime, too; and so does what asks for sizes."""
        self.everywhere(APPENDING)
        self.assertEqual(self.printed(APPENDING, "\ttrace_shown(7);"), ["n=<7> <-7>"])
        done = tpgen("gen", "--backend", "ftrace", "-o", self.dir, self.path("odd.tp"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for own in ("struct trace_seq { int own; };\nstatic inline int own(struct trace_seq *s) { return trace_seq_own(s); }\n",
                    "static inline void trace_seq_puts(struct trace_seq *s, const char *text) { (void)s, (void)text; }\n"):
            head = "#define TRACE_SYSTEM odd\nint trace_seq_own(struct trace_seq *s);\nDECLARE_TRACE(x, TP_PROTO(void), TP_ARGS());\n"
            for backend in ("userspace", "nop"):
                done = tpgen("gen", "--backend", backend, "-o", self.dir, self.write("own.tp", head + own))
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.compile("gcc", "c11", '#include "own.h"\n', *WARNINGS)

    def test_values_of_constants_in_formats(self) -> None:
        """A format has the values of what is a constant to the C compiler; what else a name stands for is no matter."""
        self.write("things.h", THINGS)
        generate(self.dir, self.write("odd.tp", CONSTANTS))
        self.assertEqual(len(re.findall(r"^\t\.evals = \{", read(self.path("odd.h")), re.M)), 5)
        main = self.write("main.c", """#define CREATE_TRACE_POINTS
#include "odd.h"
#include <stdio.h>
#include <tp/trace_seq.h>

int main(void)
{
	static char text[10000];
	struct tp_event *events[] = { &tp_event_tables, &tp_event_values, &tp_event_again, &tp_event_and_again, &tp_event_a_third };

	for (int i = 0; i < 5; i++) {
		struct trace_seq s;
		trace_seq_init(&s, text, sizeof(text));
		tp_event_format(events[i], &s);
		puts(text);
	}
	return 0;
}
""")
        # C++ has constants that are variables.
        of_cpp = [line.replace("a_const_variable,", "4,") for line in FORMATS]
        for compiler, expected in (("gcc", FORMATS), ("clang", FORMATS), ("g++", of_cpp), ("clang++", of_cpp)):
            for level in ("-O0", "-O2"):
                need(self, compiler)
                standard = "-std=c++17" if "++" in compiler else "-std=c11"
                done = self.succeed([compiler, standard, *(["-x", "c++"] if "++" in compiler else []), level, *WARNINGS, "-Wno-pedantic", "-Wno-gnu-statement-expression",
                                     "-Wno-sign-conversion", *INCLUDES, "-iquote", self.dir, "-o", self.path("main"), main, "-x", "none",
                                     *runtime("static")])
                self.assertEqual(done.stdout + done.stderr, "")
                formats = re.findall("^print fmt: (.*)$", self.succeed([self.path("main")]).stdout, re.M)
                self.assertEqual(formats, expected, (compiler, level))

    def test_names_that_generated_code_needs(self) -> None:
        """Either they may be used, or they are refused where they stand."""
        for name in TAKEN:
            with self.subTest(name):
                done = tpgen("check", self.write("odd.tp", CLASS.replace("<params>", f"int {name}").replace("<args>", name)))
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, rf"odd\.tp:\d+:\d+: error: parameter '{name}' of '(odd|one)' has the name of a "
                                 r"variable .*; rename the parameter \[TP043\]\n")
        self.everywhere(CLASS.replace("<params>", ", ".join(f"int {name}" for name in FREE)).replace("<args>", ", ".join(FREE)))

# SPDX-License-Identifier: MIT
"""The C of a .tp file between its declarations: in its order, with the events that it uses, and with the #ifs around and in them."""

from __future__ import annotations

from building import build
from support import RUNTIME_INCLUDES, WARNINGS, Case, need, run, tpgen

EVENT = """TRACE_EVENT(%s,
	TP_PROTO(int a),
	TP_ARGS(a),
	TP_STRUCT__entry(__field(int, a)),
	TP_fast_assign(__entry->a = a;),
	TP_printk("a=%%d", __entry->a)
);
"""

# What calls an event behind it: on its last line, by a macro, in the branches of an #if with the types of one, by its guard.
CALLS = "#define TRACE_SYSTEM calls\nstruct thing { int n; };\n" + EVENT.strip() % "calls_ok" + """ static inline void f(int a) { trace_calls_ok(a); }
#define CALL(name, a) trace_##name(a)
""" + EVENT % "calls_by_a_macro" + """
static inline void g(int a) { CALL(calls_by_a_macro, a); f(a); }
#ifdef WIDE
typedef long number;
DECLARE_TRACE(calls_bare, TP_PROTO(number a), TP_ARGS(a));
static inline void h(int a)
{
	if (trace_calls_bare_enabled())
		g(a);
}
static inline void i(int a) { trace_calls_bare(a); }
#elif defined(NARROW)
typedef short number;
static inline void h(int a) { g(a); }
static inline void i(int a) { g(a); }
#else
typedef int number;
DECLARE_TRACE(calls_bare, TP_PROTO(number a), TP_ARGS(a));
static inline void h(int a) { trace_calls_bare(a); g(a); }
static inline void i(int a) { trace_calls_bare(a); }
#endif
TRACE_EVENT(calls_with_types_of_below,
	TP_PROTO(struct thing *t, later a),
	TP_ARGS(t, a),
	TP_STRUCT__entry(__field(later, a)),
	TP_fast_assign(__entry->a = a + t->n;),
	TP_printk("a=%d", __entry->a)
);
typedef int later;
"""

MACROS = """#define TRACE_SYSTEM macros
#include <string.h>
TRACE_EVENT(macros,
#define LENGTH 16
	TP_PROTO(int a),
	TP_ARGS(a),
	TP_STRUCT__entry(
		__field(int, a)
#ifdef WIDE
#define MORE 8 /* of it */
#else
#define MORE 4
#endif
		__array(char, b, LENGTH + MORE)
	),
	TP_fast_assign(
		__entry->a = a;
#define CLEAR(x) memset(x, 0, sizeof(x))
		CLEAR(__entry->b);
#undef CLEAR
	),
#define FORMAT "a=%d b=%s"
	TP_printk(FORMAT, __entry->a, __entry->b)
);
static inline int length(void) { return LENGTH; }
#ifdef CLEAR
#error it is gone
#endif
"""

# Alternative heads and tails, in which the other alternative opens as many brackets again; behind them everything is there.
ALTERNATIVES = """#define TRACE_SYSTEM alternatives
#ifdef WIDE
TRACE_EVENT(heads,
#define HEADS 'w'
	TP_PROTO(long a),
#else
TRACE_EVENT(heads,
#define HEADS 'n'
	TP_PROTO(int a),
#endif
	TP_ARGS(a),
	TP_STRUCT__entry(__field(long, a)),
	TP_fast_assign(__entry->a = a;),
	TP_printk("a=%ld", __entry->a)
);
TRACE_EVENT(middles,
	TP_PROTO(int a),
	TP_ARGS(a),
	TP_STRUCT__entry(__field(int, a)),
	TP_fast_assign(__entry->a = a;),
#ifdef WIDE
	TP_printk("wide a=%d",
#else
	TP_printk("a=%d",
#endif
		__entry->a)
);
struct between { int n; };
TRACE_EVENT(tails,
	TP_PROTO(int a),
	TP_ARGS(a),
	TP_STRUCT__entry(__field(int, a)),
	TP_fast_assign(__entry->a = a;),
#ifdef WIDE
	TP_printk("wide a=%d", __entry->a)
);
#else
#ifdef NARROW
	TP_printk("narrow a=%d", __entry->a)
);
#else
	TP_printk("a=%d", __entry->a));
#endif
#endif
#if 0
TRACE_EVENT(never,
	TP_PROTO(
#endif
struct behind { struct between n; };
"""


class Verbatim(Case):
    def compiles(self, text: str, *definitions: str, use: str) -> None:
        """The header of text compiles as C and as C++, with the runtime and without, with the macros that tpgen knew."""
        path = self.write("v.tp", text)
        for backend in ("userspace", "nop"):
            done = tpgen("gen", *definitions, "--backend", backend, "-o", self.path(backend), path)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            for compiler in ("gcc", "clang", "g++", "clang++"):
                need(self, compiler)
                create = "" if "++" in compiler else "#define CREATE_TRACE_POINTS\n"
                main = self.write("main.cc" if "++" in compiler else "main.c", f'{create}#include "v.h"\n{use}\n')
                done = run([compiler, *WARNINGS, *RUNTIME_INCLUDES[:2], "-iquote", self.path(backend), *definitions, "-c", "-o",
                            self.path("main.o"), main])
                self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""), (backend, compiler))

    def test_calls(self) -> None:
        use = "void all(int a);\nvoid all(int a)\n{\n\tf(a);\n\tg(a);\n\th(a);\n\ti(a);\n}"
        for definitions in ((), ("-DWIDE",), ("-DNARROW",)):
            with self.subTest(definitions=definitions):
                self.compiles(CALLS, *definitions, use=use)

    def test_calls_are_traced(self) -> None:
        self.write("v.tp", CALLS)
        self.assertEqual(tpgen("gen", "-o", self.dir, self.path("v.tp")).stderr, "")
        main = self.write("main.c", """#include <stdio.h>
#define CREATE_TRACE_POINTS
#include "v.h"
#include <tp/tp.h>
int main(void)
{
	struct tp_sink *sink = tp_text_sink(stdout);

	register_trace_calls_ok(tp_record_calls_ok, sink);
	register_trace_calls_by_a_macro(tp_record_calls_by_a_macro, sink);
	f(1);
	g(2);
	unregister_trace_calls_ok(tp_record_calls_ok, sink);
	unregister_trace_calls_by_a_macro(tp_record_calls_by_a_macro, sink);
	tracepoint_synchronize_unregister();
	return tp_sink_close(sink);
}
""")
        build(self.path("main"), main, include=[self.dir])
        printed = [line.split(" ", 2)[2] for line in self.succeed([self.path("main")]).stdout.splitlines()]
        self.assertEqual(printed, ["calls:calls_ok: a=1", "calls:calls_by_a_macro: a=2", "calls:calls_ok: a=2"])

    def test_compiled_with_other_macros(self) -> None:
        """Where the program knows other macros than tpgen did, the events are there nonetheless."""
        text = "#define TRACE_SYSTEM other\n#ifdef WIDE\n" + EVENT % "other" + \
            "static inline void f(int a) { trace_other(a); }\n#else\nstatic inline void f(int a) { (void)a; }\n#endif\n"
        path = self.write("v.tp", text)
        self.assertEqual(tpgen("gen", "-DWIDE", "-o", self.dir, path).stderr, "")
        for definitions in ([], ["-DWIDE"]):
            main = self.write("main.c", '#define CREATE_TRACE_POINTS\n#include "v.h"\n'
                              "int main(void)\n{\n\tf(1);\n\ttrace_other(2);\n\treturn 0;\n}\n")
            self.succeed([build(self.path("main"), main, include=[self.dir], flags=definitions)])

    def test_macros_inside_an_event(self) -> None:
        for definitions, number in (((), 20), (("-DWIDE",), 24)):
            with self.subTest(definitions=definitions):
                self.compiles(MACROS, *definitions,
                              use=f"typedef char is_there[LENGTH + MORE == {number} && sizeof(FORMAT) == 10 ? 1 : -1];\n"
                              "int four(void);\nint four(void)\n{\n\treturn length();\n}")

    def test_alternatives(self) -> None:
        for definitions in ((), ("-DWIDE",), ("-DNARROW",)):
            with self.subTest(definitions=definitions):
                letter = "w" if "-DWIDE" in definitions else "n"
                self.compiles(ALTERNATIVES, *definitions, use="extern struct behind there;\nstruct behind there;\n"
                              f"typedef char is_there[HEADS == '{letter}' ? 1 : -1];\n"
                              "void all(void);\nvoid all(void)\n{\n\ttrace_heads(1);\n\ttrace_middles(2);\n\ttrace_tails(3);\n}")

# SPDX-License-Identifier: MIT
"""Which fields tpgen takes for early ones: those that nothing in front of their statement can have changed."""

from __future__ import annotations

import re

from building import CC, runtime
from support import INCLUDES, Case, tpgen

PROTO = "int a, long b, const struct thing *p, int *v, const char *text, struct thing s, va_list *va"
ARGS = "a, b, p, v, text, s, va"
FILE = """\
#undef TRACE_SYSTEM
#define TRACE_SYSTEM early

#include <stdarg.h>
#include <string.h>
#include "early_kinds.h"

typedef long own_type;
enum own_values {{ OWN_ONE = 1 }};
#define OWN_TWO 2
#define OWN_COUNTED(x) counted(x)

{events}
"""
EVENT = """\
TRACE_EVENT({name},
	TP_PROTO({proto}),
	TP_ARGS({args}),
	TP_STRUCT__entry(
		__field(int, one) __field(long, two) __field(int, three) __array(char, array, 8) {more}
	),
	TP_fast_assign(
		{assign}
	),
	TP_printk("%d %ld %d %s", __entry->one, __entry->two, __entry->three, __entry->array)
);
"""
# What programs have in headers of their own, which tpgen does not see.
HEADER = """\
#ifndef EARLY_KINDS_H
#define EARLY_KINDS_H
struct thing {
	int n, many[4];
	const struct thing *next;
	int (*get)(int n);
};
struct writer { int n; };
enum { OUTER = 3 };
#define NUMBER (1 << 4)
#define CALLED counted(1)
#define CHANGES (a = 7)
#define CHANGES_FIELD __entry->one = 7
#define ASSIGNS(x) ((x)++)
#define STORES(x) ((x) = 7)
static int variable = 5;
static inline int counted(int n) { return n + variable; }
static inline int filled(int *n) { *n = 9; return *n; }
#endif
"""
ONE, TWO, THREE = 1, 2, 4
# (the statements, early fields, those of them that are exact); the rest of the fields is assigned behind them.
KINDS: tuple[tuple[str, int, int], ...] = (
    # What can be early, and exact
    ("__entry->one = a;", ONE, ONE),
    ("__entry->one = (unsigned char)(a + OWN_TWO) * 3 - -a;", ONE, ONE),
    ("__entry->one = a > 3 && !b ? OWN_ONE : (int)sizeof(struct thing) % 'x';", ONE, ONE),
    ("__entry->two = (own_type)p; __entry->one = (int)(own_type)a;", ONE | TWO, ONE | TWO),
    ("__entry->one = p != NULL;", ONE, ONE),
    ("entry->one = a;", ONE, ONE),
    # What reads memory
    ("__entry->one = p->n;", ONE, 0),
    ("__entry->one = *v; __entry->two = v[1];", ONE | TWO, 0),
    ("__entry->one = p->next->n + s.n; __entry->two = (long)&p->n;", ONE | TWO, 0),
    ("__entry->one = a & OUTER;", ONE, 0),
    ("__entry->one = variable;", ONE, 0),
    ("__entry->one = a & NUMBER;", ONE, 0),
    # What comes in front
    ("int local = a; __entry->one = a;", ONE, ONE),
    ("memcpy(__entry->array, text, 8); __entry->one = p->n;", ONE, 0),
    ("memset(&__entry->two, 0, sizeof(__entry->two)); __entry->one = p->n;", ONE, 0),
    ("__entry->array[a & 7] = 'x'; __entry->one = p->n;", ONE, 0),
    ("if (a) __entry->two = 1; else __entry->two = 2; __entry->one = p->n;", ONE, 0),
    ("if (a) { __entry->two = 1; } __entry->one = p->n;", ONE, 0),
    ("__entry->two = counted(a); __entry->one = a;", ONE, ONE),
    ("__entry->two = counted(a); __entry->one = p->n;", 0, 0),
    ("__entry->two = OWN_COUNTED(a); __entry->one = p->n;", 0, 0),
    ("__entry->two = p->get(a); __entry->one = a;", ONE, ONE),
    ("__entry->two = p->get(a); __entry->one = p->n;", 0, 0),
    ("if (counted(a)) __entry->two = 3; __entry->one = a;", ONE, ONE),
    ("if (counted(a)) __entry->two = 3; __entry->one = p->n;", 0, 0),
    ("__entry->two = filled(v); __entry->one = *v;", 0, 0),
    ("__entry->two = a++; __entry->one = a;", 0, 0),
    ("__entry->two = (a = 3); __entry->one = a;", 0, 0),
    ("a += 2; __entry->one = a;", 0, 0),
    ("--a; __entry->one = a;", 0, 0),
    ("__entry->two = filled(&a); __entry->one = a;", 0, 0),
    ("__entry->two = filled(&(a)); __entry->one = a;", 0, 0),
    ("__entry->two = filled(&s.n); __entry->one = s.n;", 0, 0),
    ("if (a++) __entry->two = 3; __entry->one = a;", 0, 0),
    ("*v = 3; __entry->one = *v;", 0, 0),
    ("v[0] = 3; __entry->one = a;", 0, 0),
    ("for (a = 0; a < 3; a++) __entry->two = a; __entry->one = a;", 0, 0),
    ("while (a) a--; __entry->one = a;", 0, 0),
    ("counted(a); __entry->one = a;", 0, 0),
    ("memcpy(v, text, 4); __entry->one = a;", 0, 0),
    ("(void)a, __entry->one = a;", 0, 0),
    # Locals, and what hides a parameter
    ("int local = a; __entry->one = local;", 0, 0),
    ("int a = 7; __entry->one = a;", 0, 0),
    ("int b = 1, a = 7; __entry->one = a + (int)b;", 0, 0),
    ("struct writer *p = NULL; __entry->one = p ? 1 : a; __entry->two = b;", TWO, TWO),
    ("struct writer a = { 1 }; __entry->one = a.n;", 0, 0),
    ("{ int a = 7; __entry->one = a; } __entry->two = b;", TWO, TWO),
    # Where it is not sure that the statement is reached, or is the only one
    ("if (a) __entry->one = a;", 0, 0),
    ("if (a) ; else __entry->one = a;", 0, 0),
    ("if (a) { __entry->one = a; }", 0, 0),
    ("switch (a) case 1: __entry->one = a;", 0, 0),
    ("do __entry->one = a; while (0);", 0, 0),
    ("__entry->one = a; __entry->one = 3;", 0, 0),
    ("__entry->one = a; __entry->one++;", 0, 0),
    ("__entry->one = a; if (b) __entry->one |= 8;", 0, 0),
    ("__entry->one = a; memset(&__entry->one, 0, 4);", 0, 0),
    ("__entry->one = a; filled(&__entry->one);", 0, 0),
    ("__entry->one = a; __entry->two = filled(&__entry->one);", 0, 0),
    ("__entry->one = a; STORES(__entry->one);", 0, 0),
    ("__entry->one = a; __entry->two = __entry->one = 3;", 0, 0),
    ("__entry->one = a; __entry->two = __entry->one + 1;", ONE, ONE),
    ("__entry->one = a; { int *q = &__entry->one; *q = 3; }", 0, 0),
    ("__entry->one = a; memset(__entry, 0, 12);", 0, 0),
    ("__entry->one = a; again: if (a-- > 0) goto again;", 0, 0),
    ("__entry->one = a; __asm__(\"\" : \"+m\"(__entry->one));", 0, 0),
    ("__entry->one = __entry->two = a;", 0, 0),
    ("__entry->one += a;", 0, 0),
    # What is no expression of parameters alone
    ("__entry->one = counted(a);", 0, 0),
    ("__entry->one = (counted)(a);", 0, 0),
    ("__entry->one = p->get(a);", 0, 0),
    ("__entry->one = (*p->get)(a);", 0, 0),
    ("__entry->one = a++;", 0, 0),
    ("__entry->one = (a, 3);", 0, 0),
    ("__entry->one = ({ int x = a; x; });", 0, 0),
    ("__entry->one = (int)__builtin_popcount((unsigned)a);", 0, 0),
    ("__entry->two = 1; __entry->one = (int)__entry->two;", TWO, TWO),
    ("__entry->two = (long)&a;", 0, 0),
    ("__entry->two = (long)\"text\";", 0, 0),
    ("__entry->two = (long)(struct writer){ a }.n;", 0, 0),
    ("__entry->one = (int)strlen(text); __entry->two = p->n;", TWO, 0),
    ("__entry->one = (__typeof__(a))b;", 0, 0),
    ("__entry->one = _Generic(a, int: 1, default: 2);", 0, 0),
    # Macros of headers that tpgen does not see: the C compiler and the library look at them
    ("__entry->one = ASSIGNS(a);", 0, 0),
    ("__entry->two = ASSIGNS(a); __entry->one = a;", 0, 0),
    ("__entry->one = a & CALLED;", 0, 0),
    ("__entry->two = CALLED; __entry->one = a;", 0, 0),
    ("__entry->two = CHANGES; __entry->one = a;", 0, 0),
    ("__entry->one = a; CHANGES_FIELD;", 0, 0),
    ("__entry->one = a; if (b) CHANGES_FIELD;", 0, 0),
    ("__entry->two = NUMBER; __entry->one = a;", ONE | TWO, ONE),
)
# Expressions that measure a field: what they do comes before all statements.
SIZES = (
    ("__string(more, text)", ONE | TWO, ONE),
    ("__string(more, p->n ? text : \"(null)\")", ONE | TWO, ONE),
    ("__string(more, counted(a) ? text : NULL)", ONE, ONE),
    ("__string_len(more, text, strlen(text))", ONE | TWO, ONE),
    ("__string_len(more, text, a++)", 0, 0),
    ("__string_len(more, text, filled(&a))", 0, 0),
    ("__dynamic_array(char, more, ASSIGNS(a))", 0, 0),
    ("__dynamic_array(char, more, (a = 3))", 0, 0),
    ("__dynamic_array(char, more, NUMBER)", ONE | TWO, ONE),
    ("__dynamic_array(char, more, ({ a = 3; }))", 0, 0),
    ("__vstring(more, text, va)", ONE | TWO, ONE),
)


# Other prototypes, and fields that the library has no room for.
VOLATILE = PROTO.replace("int *v", "volatile int *v")
OTHERS = (
    (VOLATILE, "", "__entry->one = a;", 0, 0),
    (PROTO.replace("int a", "_Atomic int a"), "", "__entry->one = a;", 0, 0),
    (PROTO, "__array(char, more, 900)", "__entry->one = a;", ONE, ONE),
    (PROTO, "__array(char, more, 1000)", "__entry->one = a;", 0, 0),
    (PROTO, "".join(f"__field(char, f{n})" for n in range(60)), "__entry->one = a; __entry->f59 = 1;", ONE | 1 << 63, ONE | 1 << 63),
    (PROTO, "".join(f"__field(char, f{n})" for n in range(61)), "__entry->one = a;", 0, 0),
    (PROTO, "__field(volatile int, f) __field(struct thing, g)", "__entry->f = a; __entry->g = s; __entry->one = a;", ONE, ONE),
    (PROTO, "__field(int *, f)", "__entry->f = v; __entry->f[0] = 3; __entry->one = a;", 0, 0),
    (PROTO, "__field(int *, f)", "__entry->one = *v; memcpy(__entry->f, text, 4); __entry->two = p->n;", ONE, 0),
    (PROTO, "__string(one, text)", "__assign_str(one); __entry->one = a;", ONE, ONE),
)
PROGRAM = """\
#define CREATE_TRACE_POINTS
#include "kinds.h"
#include <stdio.h>

static void show(const struct tp_event *event, void *unused)
{
	const tp_early_t *early = event->reserved[1];

	(void)unused;
	printf("%s %llu %llu\\n", event->name, early ? (unsigned long long)early->fields : 0,
	       early ? (unsigned long long)early->exact : 0);
}

int main(void)
{
	tp_for_each_event(show, NULL);
	return 0;
}
"""


class EarlyFields(Case):
    def test_each(self) -> None:
        """What the library takes for early, after the C compiler and it have looked at names that tpgen does not know."""
        kinds = [(PROTO, "", assign, early, exact) for assign, early, exact in KINDS]
        copied = {"__string": "__assign_str(more);", "__string_len": "__assign_str(more);", "__vstring": "__assign_vstr(more, text, va);"}
        kinds += [(PROTO, more, f"__entry->one = a; __entry->two = p->n; {copied.get(more.partition('(')[0], '')}", early, exact)
                  for more, early, exact in SIZES]
        kinds += OTHERS
        self.write("early_kinds.h", HEADER)
        self.write("kinds.tp", FILE.format(events="".join(
            EVENT.format(name=f"kind_{n}", proto=proto, args=ARGS, more=more, assign=assign)
            for n, (proto, more, assign, _, _) in enumerate(kinds))))
        made = tpgen("gen", "-o", self.dir, self.path("kinds.tp"))
        self.assertEqual((made.returncode, re.findall("^.*error: .*$", made.stderr, re.M)), (0, []))
        # The statements are odd, and the compiler may say so.
        self.succeed([CC, "-std=gnu11", "-D_GNU_SOURCE", "-DTP_EARLY_FILTERS=1", "-O2", "-w", "-I", self.dir, *INCLUDES, "-o", self.path("kinds"),
                      self.write("kinds.c", PROGRAM), *runtime("static")])
        told = {name: (int(early), int(exact)) for name, early, exact in
                map(str.split, self.succeed([self.path("kinds")]).stdout.splitlines())}
        wrong = [(more, assign, told[f"kind_{n}"], (early, exact)) for n, (_, more, assign, early, exact) in enumerate(kinds)
                 if told[f"kind_{n}"] != (early, exact)]
        self.assertEqual(wrong, [])

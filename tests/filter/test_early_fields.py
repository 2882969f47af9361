# SPDX-License-Identifier: MIT
"""Early fields: which tpgen takes for such, and that the record has in them what was known early.

Each event is hit, with functions of the test's own where its writer calls the library: they keep what was known early, and
compare it with the record.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Sequence

from building import CC, runtime
from support import INCLUDES, Case, read, tpgen

SEED = int(os.environ.get("SEED", random.randrange(1 << 32)))
EVENTS = 150

PROTO = "int a, long b, struct thing *p, int *v, const char *text, struct thing s"
ARGS = "a, b, p, v, text, s"
FILE = """\
#undef TRACE_SYSTEM
#define TRACE_SYSTEM early

#include <string.h>
#include "early_kinds.h"

#define OWN_THREE(x) __entry->three = x
#define OWN_CHANGES(x) x++

{events}
"""
EVENT = """\
TRACE_EVENT({name},
	TP_PROTO({proto}),
	TP_ARGS({args}),
	TP_STRUCT__entry(__field(int, one) __field(long, two) __field(int, three) __array(char, array, 8) {more}),
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
	int n, one, many[4];
	struct thing *next;
	int (*get)(int n);
};
#define CHANGES (a = 7)
#define CHANGES_FIELD __entry->one = 7
#define STORES(x) ((x) = 7)
#define OF(x) ((int)(x))
#define three(x) ((x)++)
#define b(x) ((x)++)
#define s(x) n + ((x)++)
typedef int typed;
#define many_of many[a++ & 3]
#define ADDRESS(x) (&(x))
static int variable = 5;
static inline int counted(int n) { return n + variable; }
static inline int filled(void *n) { *(int *)n = 9; return 9; }
#endif
"""
ONE, TWO, THREE = 1, 2, 4
# The statements, and which fields are early.
KINDS: tuple[tuple[str, int], ...] = (
    ("__entry->one = a;", ONE),
    ("__entry->one = a; __entry->two = b; __entry->three = (short)a;", ONE | TWO | THREE),
    ("__entry->one = a", ONE),
    ("__entry->two = (long)p; __entry->one = (int)(a);", TWO),
    ("__entry->two = (const struct thing *)p;", TWO),
    ("__entry->two = p != NULL; __entry->one = a;", ONE),
    ("OWN_THREE(a);", THREE),
    ("OWN_CHANGES(a); __entry->one = a;", 0),
    # What else there is: nothing of it changes the parameter, or the field
    ("__entry->one = a; __entry->two = a / 2 + p->n;", ONE),
    ("__entry->one = a; __entry->two = counted(a);", ONE),
    ("__entry->one = a; __entry->two = p->get(a);", ONE),
    ("__entry->one = a; __entry->two = p->one;", ONE),
    ("__entry->one = a; __entry->two = filled(v);", ONE),
    ("memcpy(__entry->array, text, 8); __entry->one = a;", ONE),
    ("memcpy(__entry->array, &b, 8); __entry->one = a; __entry->two = b;", ONE),
    ("if (b) { __entry->two = 1; } __entry->one = a;", ONE),
    ("if (b) __entry->two = 1; else __entry->two = 2; __entry->one = a;", ONE),
    ("__entry->array[b & 7] = 'x'; __entry->one = a;", ONE),
    ("*v = 3; __entry->one = a;", ONE),
    ("int local = b; __entry->one = a; __entry->three = local;", ONE),
    ("{ int x = 7; __entry->three = x; } __entry->one = a;", ONE),
    ("for (int i = 0; i < 3; i++) __entry->two = i; __entry->one = a;", ONE),
    ("do __entry->two = 3; while (0); __entry->one = a;", ONE),
    ("__entry->three = errno == 0 ? min(1, 2) : htons(3); __entry->one = a;", ONE),
    # The parameter is changed, or may be
    ("__entry->two = a++; __entry->one = a;", 0),
    ("__entry->one = a; __entry->two = a++;", 0),
    ("__entry->two = (a = 3); __entry->one = a;", 0),
    ("a += 2; __entry->one = a;", 0),
    ("--a; __entry->one = a;", 0),
    ("__entry->two = filled(&a); __entry->one = a;", 0),
    ("__entry->two = filled((void *)(&(a))); __entry->one = a;", 0),
    ("__entry->two = a & 3; __entry->one = a;", 0),
    ("int *q = &a; *q = 3; __entry->one = a;", 0),
    ("if (a++) __entry->two = 3; __entry->one = a;", 0),
    ("for (a = 0; a < 3; a++) __entry->two = a; __entry->one = a;", 0),
    ("while (a) a--; __entry->one = a;", 0),
    ("memset(&a, 1, 2); __entry->one = a;", 0),
    ("counted(a); __entry->one = a;", 0),
    ("(void)a, __entry->one = a;", 0),
    ("__entry->three = ({ a = 4; a; }); __entry->one = a;", 0),
    ("__entry->three = ({ int x = ({ a--; }); x; }); __entry->one = a;", 0),
    ("int a = 7; __entry->one = a;", 0),
    ("int b = 1, a = 7; __entry->one = a; __entry->two = b;", 0),
    ("short a; a = 7; __entry->one = a;", 0),
    ("typedef int type; type (a) = 7; __entry->one = a;", 0),
    ("struct { int x; } z = { 1 }, a = { 2 }; __entry->one = a.x + z.x;", 0),
    ("struct thing *p = NULL; __entry->two = (long)p;", 0),
    ("{ int a = 7; __entry->one = a; } __entry->two = b;", TWO),
    ("typedef short typed; __entry->one = (typed)a;", 0),
    ("typedef short own; __entry->one = (own)a; __entry->two = b;", 0),
    ("enum own { X }; __entry->one = (enum own)a; __entry->two = b;", TWO),
    ("__entry->two = three(a); __entry->one = a;", 0),
    ("__entry->two = b(b); __entry->one = a;", 0),
    ("__entry->three = p->s(a); __entry->one = a;", 0),
    # Something else sets the field, or may
    ("__entry->one = a; __entry->one = 3;", 0),
    ("__entry->one = 3; __entry->one = a;", 0),
    ("__entry->one = a; __entry->one++;", 0),
    ("__entry->one = a; __entry->two = __entry->one + 1;", 0),
    ("__entry->one = a; if (b) __entry->one |= 8;", 0),
    ("__entry->one = a; memset(&__entry->one, 0, 4);", 0),
    ("__entry->one = a; memset(&__entry->two, 0, 12); __entry->three = a;", 0),
    ("__entry->one = a; __entry->two = filled(& (__entry->three));", 0),
    ("__entry->one = a; memset(__entry, 0, 24);", 0),
    ("__entry->one = a; __entry->ent.flags = 4;", 0),
    ("__entry->one = a; memset(&__extension__ __entry->two, 0, 12);", 0),
    ("__entry->one = a; memset(&__real__ __entry->two, 0, 12);", 0),
    ("__entry->one = a; memset(&_Generic(0, int: __entry->two), 0, 12);", 0),
    ("__entry->one = a; memset(&__builtin_choose_expr(1, __entry->two, 0), 0, 12);", 0),
    ("__entry->one = a; memset((char *)__rec.entry + 8, 0, 4);", 0),
    ("__entry->one = a; __entry->two = filled(&p->one) + p->one; memcpy(__entry->array, &b, 8);", ONE),
    ("__entry->one = a; (*__entry).one = 3;", 0),
    ("__entry->one = a; memset((char *)(void *)__entry + 8, 0, 4);", 0),
    ("__entry->one = a; (__entry)->one = 3;", 0),
    ("entry->one = a; __entry->two = b;", 0),
    ("void *other = __entry; __entry->one = a; memset(other, 0, 24);", 0),
    ("__entry->one = __entry->two = b; __entry->three = a;", THREE),
    ("__entry->two = __entry->one = b; __entry->one = a;", 0),
    ("__entry->one = a; __asm__(\"\" : \"+m\"(__entry->one));", 0),
    # It is not reached, or not once
    ("if (b > 1000) __entry->one = a;", 0),
    ("if (b > 1000) ; else __entry->one = a;", 0),
    ("if (b > 1000) { } else __entry->one = a;", 0),
    ("if (b > 1000) { __entry->one = a; }", 0),
    ("switch (b) case 1: __entry->one = a;", 0),
    ("do __entry->one = a; while (0);", 0),
    ("for (int i = 0; i < 1; i++) __entry->one = a;", 0),
    ("if (b > 1000) <% __entry->two = 1; __entry->one = a; %>", 0),
    ("goto end; __entry->one = a; end: __entry->two = 1;", 0),
    ("__entry->one = a; again: if (a-- > 0) goto again;", 0),
    # It is set to something else
    ("__entry->one = a + 1;", 0),
    ("__entry->one = counted(a);", 0),
    ("__entry->one = (counted)(a);", 0),
    ("__entry->one = (a, 3);", 0),
    ("__entry->one = *v;", 0),
    ("__entry->one = s.n;", 0),
    ("__entry->one = p->n;", 0),
    ("__entry->one = variable;", 0),
    ("__entry->one += a;", 0),
    ("int local = b; __entry->one = local;", 0),
    # Macros of headers that tpgen does not see: the preprocessor looks at them
    ("__entry->two = CHANGES; __entry->one = a;", 0),
    ("__entry->one = a; CHANGES_FIELD;", 0),
    ("__entry->one = a; if (b) CHANGES_FIELD;", 0),
    ("__entry->two = STORES(a); __entry->one = a;", 0),
    ("__entry->one = a; STORES(__entry->one);", 0),
    ("__entry->two = OF(b); __entry->one = a;", 0),
    ("__entry->two = p->many_of; __entry->one = a;", 0),
    ("__entry->two = filled(ADDRESS(a)); __entry->one = a;", 0),
    ("__entry->one = a; __entry->two = filled(ADDRESS(__entry->one));", 0),
)
# Expressions that measure a field: what they do comes before all statements.
SIZES: tuple[tuple[str, int], ...] = (
    ("__string(more, text)", ONE),
    ("__string(more, p->n ? text : \"(null)\")", ONE),
    ("__string(more, counted(a) ? text : NULL)", ONE),
    ("__string_len(more, text, strlen(text))", ONE),
    ("__dynamic_array(char, more, a)", ONE),
    ("__dynamic_array(char, more, (size_t)a * sizeof(*p) / 4)", ONE),
    ("__dynamic_array(char, more, a++)", 0),
    ("__dynamic_array(char, more, filled(&a))", 0),
    ("__dynamic_array(char, more, CHANGES)", 0),
    ("__dynamic_array(char, more, STORES(a))", 0),
    ("__dynamic_array(char, more, (a = 3))", 0),
    ("__dynamic_array(char, more, ({ a = 3; }))", 0),
    ("__dynamic_array(char, more, ({ int *q = &a; *q = 3; }))", 0),
)
# The prototype, its arguments, further fields, the statements, and which fields are early.
OTHERS = (
    (PROTO, ARGS, "__array(char, more, 200)", "__entry->one = a;", ONE),
    (PROTO, ARGS, "__array(char, more, 240)", "__entry->one = a;", 0),  # too large for a signal handler's stack
    (PROTO, ARGS, "".join(f"__field(char, f{n})" for n in range(60)),
     "__entry->one = a; __entry->f58 = a; __entry->f59 = b;", ONE | 1 << 62),
    (PROTO, ARGS, "__array(char, more, 0)", "__entry->one = a; memset(__entry->more, 0, 4);", 0),
    (PROTO, ARGS, "__field(struct thing, g)", "__entry->g = s; __entry->one = a;", ONE),
    (PROTO, ARGS, "__field(int *, f)", "__entry->f = v; __entry->f[0] = 3; __entry->one = a;", ONE),
    (PROTO, ARGS, "__field(volatile int, f)", "__entry->f = a;", 1 << 4),
    (PROTO, ARGS, "__field(bool, f)", "__entry->f = b;", 1 << 4),
    (PROTO.replace("int a", "volatile int a"), ARGS, "", "__entry->one = a;", ONE),
    # Names that a generated header might have for itself
    *((*(words.replace("text", name) for words in (PROTO, ARGS)), "", "__entry->one = a;", early)
      for name, early in (("__early", ONE), ("__event", ONE), ("__bytes", 0), ("tp_early_sink", 0))),
    (PROTO.replace("int *v", "int (*v)[b]"), ARGS, "", "__entry->two = (long)v;", TWO),
    (*(words.replace("text", "sink").replace("b", "event") for words in (PROTO, ARGS)), "", "__entry->two = event;", TWO),
)
NAMES = ("load", "sink", "t", "of_kind_0", "kind_0_record", "record", "event", "early")  # of events
PROGRAM = """\
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#define htons(x) (x)
#define min(x, y) ((x) < (y) ? (x) : (y))
#define CREATE_TRACE_POINTS
#include "kinds.h"

static char early[512], record[65536] __attribute__((aligned(8)));
static uint64_t fields;

struct tp_sink *tp_early_sink(struct tp_sink *sink, const struct tp_event *event, struct trace_entry *entry, uint64_t known)
{
	fields = known;
	memcpy(early, entry, event->event_class->fixed_size);
	return sink;
}

void *tp_reserve(struct tp_record *rec, struct tp_sink *sink, const struct tp_event *event, size_t size)
{
	(void)sink, (void)event, (void)size;
	rec->entry = memset(record, 0x55, sizeof(record));
	return rec->entry;
}

void tp_commit(struct tp_record *rec)
{
	(void)rec;
}

static int get(int n)
{
	return n + 1;
}

static void tell(const struct tp_event *event)
{
	bool same = true;

	for (uint32_t i = 0; i < event->event_class->nr_fields; i++) {
		const struct tp_event_field at = tp_event_field_at(event->event_class, i), *f = &at;
		if (fields >> (i < 63 ? i : 63) & 1)
			same = same && memcmp(early + f->offset, record + f->offset, f->size) == 0;
	}
	printf("%s %llu%s\\n", event->name, (unsigned long long)fields, same ? "" : " but they differ");
	fields = 0;
}

static void nothing(const struct tp_event *event, void *data)
{
	(void)event, (void)data;
}

#define HIT(name) tp_record_##name(&sink, 1, 2, &thing, v, "some text", thing); tell(&tp_event_##name)

int main(void)
{
	static struct tp_sink sink = { .reserved = { NULL, &sink } };
	static struct thing thing = { .n = 7, .one = 8, .next = &thing, .get = get };
	static int v[4];

	tp_for_each_event(nothing, NULL); /* the events are filled in */
	@hits@
	return 0;
}
"""
# Of random events, which have one of each row; and others, each at most once, as two may not declare the same.
SETTERS = (("__entry->one = a;", "__entry->one = (short)b;", "OWN_THREE(a);"), ("__entry->two = b;", "__entry->two = (long)p;", "__entry->two = s.n;"))
STATEMENTS = (
    "a++;", "b = a;", "p = p->next;", "int a = 7;", "long b = 9, x = 8;", "{ int a = 3; v[1] = a; }", "v[0] = a;", "b = b++ + a;",
    "__entry->one = 4;", "if (a > 1) __entry->one = 5;", "if (b) { a = 6; }", "if (a) ; else __entry->two = 5;", "__entry->three = 5;",
    "__entry->three = filled(&b);", "__entry->three = ({ a -= 2; });", "__entry->three = CHANGES;", "__entry->three = filled(ADDRESS(a));",
    "__entry->three = __entry->one = a;", "__entry->three = s.one = b;", "__entry->three = p->many_of;", "__entry->three = p->n * a;",
    "for (int i = 0; i < a && i < 5; i++) b += i;", "switch (a) case 1: __entry->one = b;", "memcpy(&a, text, sizeof(a));", "*(&b) = 3;",
    "memset(&__entry->one, 1, 20);", "memcpy(__entry->array, text, 8);", "__entry->array[a & 7] = b;", "CHANGES_FIELD;", "STORES(a);",
    "OWN_CHANGES(b);", "OWN_CHANGES(p->n);",
)


class EarlyFields(Case):
    def compile(self, events: Sequence[tuple[str, str, str, str, str]], *flags: str) -> None:
        """A program that hits events of a name, a prototype, its arguments, further fields and statements."""
        self.write("early_kinds.h", HEADER)
        self.write("kinds.tp", FILE.format(events="".join(
            EVENT.format(name=name, proto=proto, args=args, more=more, assign=assign) for name, proto, args, more, assign in events)))
        made = tpgen("gen", "-o", self.dir, self.path("kinds.tp"))
        self.assertEqual((made.returncode, re.findall("^.*error: .*$", made.stderr, re.M)), (0, []))
        program = PROGRAM.replace("@hits@", "\n\t".join(f"HIT({name});" for name, *_ in events))
        # The statements are odd, and the compiler may say so.
        self.succeed([CC, "-std=gnu11", "-D_GNU_SOURCE", *flags, "-fno-strict-aliasing", "-w", "-I", self.dir, *INCLUDES,
                      "-o", self.path("kinds"), self.write("kinds.c", program), *runtime("shared")])

    def known(self, events: Sequence[tuple[str, str, str, str, str]]) -> dict[str, str]:
        """What is early of each."""
        self.compile(events, "-O1")
        told = [line.partition(" ") for line in self.succeed([self.path("kinds")]).stdout.splitlines()]
        self.assertEqual([name for name, _, _ in told], [name for name, *_ in events])
        return {name: said for name, _, said in told}

    def test_each(self) -> None:
        """Exactly these are early."""
        kinds = [(PROTO, ARGS, "", assign, early) for assign, early in KINDS]
        kinds += [(PROTO, ARGS, more, "__entry->one = a;" + " __assign_str(more);" * more.startswith("__string"), early)
                  for more, early in SIZES]
        kinds += OTHERS
        kinds += [(PROTO, ARGS, "", "__entry->one = a;", ONE) for _ in NAMES]
        names = [*(f"kind_{n}" for n in range(len(kinds) - len(NAMES))), *NAMES]
        told = self.known([(name, *kind[:4]) for name, kind in zip(names, kinds)])
        wrong = [(kind[2:4], told[name], kind[4]) for name, kind in zip(names, kinds) if told[name] != str(kind[4])]
        self.assertEqual(wrong, [])

    def test_stack(self) -> None:
        """In a signal handler there may be little, and compilers that do not optimize have room for what is never used."""
        self.compile([("kind", PROTO, ARGS, "__array(char, more, 40000)", "__entry->one = a;")], "-O0", "-fstack-usage")
        sizes = [int(size) for path in os.listdir(self.dir) if path.endswith(".su")
                 for size in re.findall(r"(?m):tp_record_kind\t(\d+)", read(self.path(path)))]
        self.assertEqual(len(sizes), 1)
        self.assertLess(sizes[0], 1024)

    def test_random(self) -> None:
        """Whatever else there is, what is early is what is recorded."""
        rng = random.Random(SEED)
        events = []
        for n in range(EVENTS):
            statements = [*map(rng.choice, SETTERS), *rng.sample(STATEMENTS, rng.randrange(4))]
            rng.shuffle(statements)
            events.append((f"random_{n}", PROTO, ARGS, "", "\n\t\t".join(statements)))
        told = self.known(events)
        wrong = [(assign, told[name]) for name, _, _, _, assign in events if "differ" in told[name]]
        self.assertEqual(wrong, [], f"SEED={SEED}")
        self.assertGreater(sum(early != "0" for early in told.values()), EVENTS // 5, f"SEED={SEED}")

# SPDX-License-Identifier: MIT
"""Names that TSDL has no letters for, texts that it needs escapes for: babeltrace2 reads every trace, to its last event.

SEED=N begins elsewhere, FUZZ=N does N rounds.
"""

from __future__ import annotations

import os
import random
import re
import shlex

from building import CC, build, generate
from support import BUILD, Case, both, few_or_many, need, read, run

ROUNDS = few_or_many(2, 20, "FUZZ")
SEED = int(os.environ.get("SEED", "1"))

# Words of TSDL that are none of C; what stands in the generated metadata; what an escape looks like.
WORDS = ("event", "align", "string", "variant", "clock", "callsite", "env", "stream", "trace", "integer", "floating_point", "typealias",
         "size", "map", "Bool", "Complex", "Imaginary", "uint8_t_", "timestamp_t_", "data_loc", "padding0", "padding1", "bytes", "tid", "id",
         "name", "fields", "len", "offset", "TRUE_", "le", "_Bool_", "ent_")
PIECES = ("a", "b", "A", "_", "__", "$", "$$", "ö", "ß", "名", "𝛼", "é", "1", "_u24_", "_uf6_", "u24", "_xff_", "_loc", "_field", "_length", "_2")
TEXTS = ('"', "\\", "\n", "\r", "\t", "\x01", "\x1b[31m", "\x7f", "*/", "/*", "//", "%s", "??/", "{", "}", ";", "\\n", "\\x41", "\\u00e9", "ö",
         "名", "\u202e", "\udcff", "\udcc3", "\udce2\udc82", "a", " ", "0", "9", "'", ",", "=")

DOLLARS = ["-Wno-dollar-in-identifier-extension"] if "clang" in CC else []

HOST = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The machine's name, as the runtime asks for it. */
int gethostname(char *name, size_t len)
{
	snprintf(name, len, "%s", getenv("HOST"));
	return 0;
}
"""


def strange(rng: random.Random) -> str:
    """An identifier of C."""
    if rng.random() < 0.3:
        return rng.choice(("", "", "___", "__$")) + rng.choice(WORDS)
    return rng.choice(("", "", "", "_", "__", "___")) + rng.choice(("a", "$", "ö", "名")) \
        + "".join(rng.choice(PIECES) for _ in range(rng.randrange(4)))


def text(rng: random.Random) -> str:
    return "".join(rng.choice(TEXTS) for _ in range(rng.randint(1, 6)))


def c_string(value: str) -> str:
    return '"' + "".join(chr(byte) if chr(byte).isalnum() else f"\\{byte:03o}" for byte in value.encode(errors="surrogateescape")) + '"'


class Event:
    """An event whose fields have such names; the values say which is which."""

    def __init__(self, rng: random.Random, name: str):
        self.name = name
        names = list(dict.fromkeys(strange(rng) for _ in range(rng.randint(1, 14))))
        # What the escapes make of these is one name, and the same again.
        names.extend(n for n in ("x$$", "x$_u24_", "x_u24_$", "x_u24__u24_", "_x$", "x$") if rng.random() < 0.4 and n not in names)
        rng.shuffle(names)
        self.fields = []
        for number, field in enumerate(names):
            kind = rng.choice(("int", "int", "enum", "array", "string", "words", "char"))
            self.fields.append((field, kind, 1000 + number))
            if rng.random() < 0.15:  # a member of the record, and a payload
                twin = {"int": "string", "enum": "string", "char": "words", "array": "string", "string": "int", "words": "int"}[kind]
                self.fields.append((field, twin, 2000 + number))
        self.labels = {value: [f"{text(rng)}{k}" for k in range(3)] for _, _, value in self.fields}

    def __str__(self) -> str:
        declared, assigned, values = [], [], []
        for name, kind, value in self.fields:
            member = f"__entry->{name}"
            if kind in ("int", "enum", "char"):
                declared.append(f"__field({'char' if kind == 'char' else 'int'}, {name})")
                assigned.append(f"{member} = " + ("'c';" if kind == "char" else f"{value};"))
            elif kind == "array":
                declared.append(f"__array(int, {name}, 2)")
                assigned.append(f"{member}[0] = {value}; {member}[1] = n;")
            elif kind == "string":
                declared.append(f'__string({name}, "text{value}")')
                assigned.append(f"__assign_str({name});")
            else:
                declared.append(f"__dynamic_array(int, {name}, 1)")
                assigned.append(f"*(int *)__get_dynamic_array({name}) = {value};")
            if kind == "enum":
                entries = ", ".join(f"{{ {value + k}, {c_string(label)} }}" for k, label in enumerate(self.labels[value]))
                values.append(("%s", f"__print_symbolic({member}, {entries})"))
        formats = "".join(f" {f}" for f, _ in values)
        return (f"TRACE_EVENT({self.name}, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry({' '.join(declared)}),\n"
                f"\tTP_fast_assign((void)n; {' '.join(assigned)}),\n"
                f"\tTP_printk({', '.join([c_string('ö') + chr(34) + formats + chr(34), *(v for _, v in values)])}));\n")


class Names(Case):
    def setUp(self) -> None:
        super().setUp()
        need(self, "babeltrace2")

    def trace(self, tp: str, calls: str, *argv: str, host: str = "here") -> tuple[list[str], str]:
        """babeltrace2's lines, and the trace."""
        generate(self.dir, self.write("names.tp", tp))
        main = self.write("main.c", f'#define CREATE_TRACE_POINTS\n#include "names.h"\n{HOST}\nint main(void)\n{{\n{calls}\treturn 0;\n}}\n')
        program = build(self.path("program"), main, include=[self.dir], flags=DOLLARS)
        trace = self.path("trace")
        # Its name and its arguments may be any bytes.
        self.succeed(["bash", "-c", f'exec -a "$1" {shlex.quote(program)} "${{@:2}}"', "bash", *(argv or ["program"])],
                     env={**os.environ, "TP_ENABLE": "*", "TP_OUTPUT": f"ctf:{trace}", "HOST": host})
        return self.read_by("babeltrace2", "--no-delta", "--fields=loglevel", trace).splitlines(), trace

    def test_names(self) -> None:
        """What is plain stays as it is; what is not, can be read, and is one name only."""
        lines, trace = self.trace("""#define TRACE_SYSTEM größen
TRACE_EVENT(maß$, TP_PROTO(int n, const char *s), TP_ARGS(n, s),
	TP_STRUCT__entry(__field(int, größe) __field(int, a$) __field(int, a_u24_) __field(int, event) __field(int, Bool)
		__string(名前, s) __string(b$, s) __string(b_u24_, s)),
	TP_fast_assign(__entry->größe = n; __entry->a$ = n + 1; __entry->a_u24_ = n + 2; __entry->event = n + 3; __entry->Bool = n + 4;
		__assign_str(名前); __assign_str(b$); __assign_str(b_u24_);),
	TP_printk("%d %d %d %d %d %s %s %s", __entry->größe, __entry->a$, __entry->a_u24_, __entry->event, __entry->Bool,
		__get_str(名前), __get_str(b$), __get_str(b_u24_))
);
TRACE_EVENT(änderung, TP_PROTO(int n, const char *s), TP_ARGS(n, s), TP_STRUCT__entry(__field(int, größe$) __string(名, s)),
	TP_fast_assign(__entry->größe$ = n; __assign_str(名);), TP_printk("%d %s", __entry->größe$, __get_str(名)));
TRACE_EVENT(plain, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, n)), TP_fast_assign(__entry->n = n;),
	TP_printk("n=%d", __entry->n));
""", '\ttrace_maß$(3, "text");\n\ttrace_änderung(5, "Text");\n\ttrace_plain(7);\n')
        self.assertEqual(len(lines), 3)
        self.assertIn("größen:maß$: ", lines[0])
        self.assertIn('{ gr_uf6__udf_e = 3, a_u24_ = 4, __a_u24__field_2 = 5, event = 6, Bool_ = 7, ', lines[0])
        self.assertIn('_u540d__u524d_ = "text", b_u24_ = "text", __b_u24__field_7 = "text" }', lines[0])
        self.assertTrue(lines[2].endswith(" größen:plain: { tid = " + lines[2].split("tid = ")[1].split(" ")[0] + " }, { n = 7 }"), lines[2])
        # tp reads the events' formats, which have the names as they are.
        report = self.succeed([os.path.join(BUILD, "tp"), "report", "--fields", trace]).stdout
        self.assertIn('größen:maß$: größe=3 a$=4 a_u24_=5 event=6 Bool=7 名前="text" b$="text" b_u24_="text"\n', report)
        report = self.succeed([os.path.join(BUILD, "tp"), "report", trace]).stdout
        self.assertIn("größen:änderung: 5 Text\n", report)
        self.assertNotIn("größen:maß$: 3 4 4", report)  # the library that prints it would take two names for one

    @both
    def test_any_names(self) -> None:
        for number in range(ROUNDS):
            rng = random.Random(f"{SEED}/{number}")
            names = list(dict.fromkeys(f"e{k}{rng.choice(('', 'ö', '$', '名', '_', '__'))}" for k in range(12)))
            events = [Event(rng, name) for name in names]
            tp = f"#define TRACE_SYSTEM {rng.choice(('größe', 'event', '_', '名', 'a-b'))}\n" + "".join(map(str, events))
            argv = [text(rng).replace("/", "") or "-", text(rng), "", text(rng)]
            what = f"SEED={SEED}, round {number}"
            try:
                lines, trace = self.trace(tp, "".join(f"\ttrace_{e.name}({k});\n" for k, e in enumerate(events)), *argv, host=text(rng))
            except AssertionError as error:
                raise AssertionError(what) from error
            self.assertEqual(len(lines), len(events), what)
            for line, event in zip(lines, events):
                self.complete(line, event, what)
            done = run([os.path.join(BUILD, "tp"), "report", "--fields", trace])
            self.assertEqual((done.returncode, done.stderr), (0, ""), what)
            for line, event in zip(done.stdout.splitlines(), events):
                for name, kind, value in event.fields:
                    if kind in ("int", "enum", "string"):
                        self.assertIn(f' {name}="text{value}"' if kind == "string" else f" {name}={value}", line, what)
            run(["rm", "-rf", trace])

    def complete(self, line: str, event: Event, what: str) -> None:
        """Each field is there with its value, each by a name of its own, and a plain one by its own."""
        names = {}
        for name, value in re.findall(r'(\w+) = (?:\[ \[0\] = |\( "(?:\\.|[^"\\])*" : container = )?"?(?:text)?([12]\d\d\d)\b',
                                      line.split(" }, { ", 1)[1]):  # behind the thread's number
            names[int(value)] = name
        for name, kind, value in event.fields:
            if kind != "char":
                self.assertIn(value, names, f"{what}: {name} of {event.name}\n{line}")
        self.assertEqual(len(set(names.values())), len(names), f"{what}\n{line}")

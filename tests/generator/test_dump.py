# SPDX-License-Identifier: MIT
"""What tpgen understands of a file, seen through dump."""

from __future__ import annotations

import json

from support import Case, tpgen

EVENT = """TRACE_EVENT({name},
	TP_PROTO(int a),
	TP_ARGS(a),
	TP_STRUCT__entry(__field(int, a)),
	TP_fast_assign(__entry->a = a;),
	TP_printk("a=%d", __entry->a)
);
"""


def event(name: str, **parts: str) -> str:
    """An event with some of its parts replaced."""
    default = {"proto": "int a", "args": "a", "struct": "__field(int, a)", "assign": "__entry->a = a;",
               "print": '"a=%d", __entry->a', **parts}
    return (f"TRACE_EVENT({name}, TP_PROTO({default['proto']}), TP_ARGS({default['args']}),\n"
            f"\tTP_STRUCT__entry({default['struct']}),\n\tTP_fast_assign({default['assign']}),\n"
            f"\tTP_printk({default['print']}));\n")


class Dump(Case):
    def dump(self, text: str, *options: str) -> dict:
        path = self.write("x.tp", text)
        done = tpgen("dump", *options, path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def one(self, text: str, *options: str) -> dict:
        events = self.dump("#define TRACE_SYSTEM test\n" + text, *options)["events"]
        self.assertEqual(len(events), 1)
        return events[0]

    def test_whole_model(self) -> None:
        found = self.one(event("e", proto="const char *s, unsigned  int n, struct task *t", args="s, n, t", struct="""
            __field(unsigned   long, l)
            __array(char, comm, 16)
            __string(name, s ? s : "none")
            __dynamic_array(u32, list, n * 2)""", assign="f(__entry);",
            print='"%s\\n", __get_str( name )'))
        self.assertEqual(found, {
            "system": "test", "name": "e", "class": "e", "custom": False, "loglevel": "TRACE_DEBUG_LINE",
            "proto": [{"type": "const char *", "name": "s"}, {"type": "unsigned int", "name": "n"},
                      {"type": "struct task *", "name": "t"}],
            "fields": [
                {"kind": "field", "type": "unsigned long", "name": "l", "length": None, "decl": "unsigned long l"},
                {"kind": "array", "type": "char", "name": "comm", "length": "16", "decl": "char comm[16]"},
                {"kind": "string", "type": "char", "name": "name", "length": None, "decl": "__data_loc char[] name"},
                {"kind": "dynamic_array", "type": "u32", "name": "list", "length": "n * 2",
                 "decl": "__data_loc u32[] list"}],
            "print_fmt": '"%s\n", __get_str( name )', "file": self.path("x.tp"), "line": 2})

    def test_symbolic_length_stays(self) -> None:
        found = self.one("#include <linux/sched.h>\n" + event("e", struct="__array(char, a, TASK_COMM_LEN)",
                                                              assign="memcpy(__entry->a, c, TASK_COMM_LEN);",
                                                              print='"%s", __entry->a'))
        self.assertEqual(found["fields"][0]["decl"], "char a[TASK_COMM_LEN]")

    def test_own_macro_expands(self) -> None:
        found = self.one("#define LEN (2 * 8)\n" + event("e", struct="__array(char, a, LEN)",
                                                         assign="memset(__entry->a, 0, LEN);", print='"%s", __entry->a'))
        self.assertEqual(found["fields"][0]["decl"], "char a[(2 * 8)]")

    def test_entry_becomes_rec(self) -> None:
        found = self.one(event("e", print='"%d %s",\n\t\t__entry->a,  __print_symbolic(__entry->a,\n\t{ 1, "one" })'))
        self.assertEqual(found["print_fmt"], '"%d %s", REC->a, __print_symbolic(REC->a, { 1, "one" })')

    def test_literals_stay(self) -> None:
        found = self.one(event("e", print="\"__entry %s\", __print_symbolic(__entry->a, { 1, \"of __entry\" }, { '__entry', \"b\" })"))
        self.assertEqual(found["print_fmt"], "\"__entry %s\", __print_symbolic(REC->a, { 1, \"of __entry\" }, "
                         "{ '__entry', \"b\" })")

    def test_helpers_that_are_arithmetic(self) -> None:
        for written, known in (
                ("__print_ns_to_secs(__entry->a + ')')", "(REC->a + ')') / 1000000000UL"),
                ("2 * __print_ns_without_secs( f(\"(\", __entry->a) )", "2 * (f(\"(\", REC->a)) % 1000000000UL"),
                ("__print_ns_to_secs (__print_ns_without_secs(1)+1) + 1",
                 "((1) % 1000000000UL+1) / 1000000000UL + 1"),
                ("my__print_ns_to_secs(1) + *\"__print_ns_to_secs(1)\"", "my__print_ns_to_secs(1) + *\"__print_ns_to_secs(1)\"")):
            with self.subTest(written):
                self.assertEqual(self.one(event("e", print=f'"%lu", {written}'))["print_fmt"], f'"%lu", {known}')

    def test_blanks_are_those_of_the_file(self) -> None:
        """The preprocessor's text has a blank behind ONE; what it stringifies, as in the kernel, has none."""
        found = self.one("#define ONE 1\n#define ADD(x, y) x+y\n" + event(
            "e", print='"%d %d %d", __entry->a & (ONE-1), ADD(__entry->a,ONE)*2, ONE ? 2:3'))
        self.assertEqual(found["print_fmt"], '"%d %d %d", REC->a & (1-1), REC->a+1*2, 1 ? 2:3')

    def test_no_arguments(self) -> None:
        """As in the kernel, whose macro has the comma, whatever follows."""
        self.assertEqual(self.one(event("e", print='"hello"'))["print_fmt"], '"hello", ')
        self.assertEqual(self.one(event("e", print='"\\n"'))["print_fmt"], '"\n", ')

    def test_system_that_is_a_macro(self) -> None:
        text = event("e")
        for head, system in (("#define SYS three\n#define TRACE_SYSTEM SYS\n", "three"),
                             ("#define A  B\n#  define B three /* so */\n#define TRACE_SYSTEM A\n", "three"),
                             ("#define TRACE_SYSTEM SYS\n#define SYS three\n", "three"),
                             ("#define SYS three\n#undef SYS\n#define TRACE_SYSTEM SYS\n", "SYS"),
                             ("#define A B\n#define B A\n#define TRACE_SYSTEM A\n", "A"),
                             ("#define TRACE_SYSTEM OTHER\n", "four")):
            for tail in ("", "#undef SYS\n"):
                with self.subTest(head + tail):
                    found = self.dump(head + text + tail, "-DOTHER=four")["events"]
                    self.assertEqual([e["system"] for e in found], [system])

    def test_an_error_hides_no_other_event(self) -> None:
        """A kernel tree has such; what it has else is told all the same."""
        path = self.write("x.tp", "#define TRACE_SYSTEM test\n" + event("a") + event("b", struct="__field(int a)") + event(
            "c", struct="__field(int, a) __string(s, t)") + "DEFINE_EVENT(b, d, TP_PROTO(int a), TP_ARGS(a));\n" + event("e"))
        done = tpgen("dump", path)
        self.assertEqual(done.returncode, 1)
        self.assertEqual([line.split("[")[-1] for line in done.stderr.splitlines() if ": error: " in line], ["TP021]", "TP061]"])
        self.assertEqual([e["name"] for e in json.loads(done.stdout)["events"]], ["a", "c", "e"])

    def test_joined_strings(self) -> None:
        found = self.one("#include <inttypes.h>\n" + event(
            "e", struct="__field(uint64_t, a)", print='"a" "=%" PRIu64 " \\"x\\"", __entry->a'))
        self.assertEqual(found["print_fmt"], '"a=%lu "x"", REC->a')

    def test_class(self) -> None:
        text = EVENT.format(name="c").replace("TRACE_EVENT", "DECLARE_EVENT_CLASS") \
            + "DEFINE_EVENT(c, e1, TP_PROTO(int b), TP_ARGS(b));\n" \
            + "DEFINE_EVENT(c, e2, TP_PROTO(int a), TP_ARGS(a));\n"
        found = self.dump("#define TRACE_SYSTEM test\n" + text)["events"]
        self.assertEqual([(e["name"], e["class"], e["line"]) for e in found], [("e1", "c", 9), ("e2", "c", 10)])
        self.assertEqual(found[0]["fields"], found[1]["fields"])

    def test_event_of_an_events_class(self) -> None:
        found = self.dump("#define TRACE_SYSTEM test\n" + EVENT.format(name="e1")
                          + "DEFINE_EVENT(e1, e2, TP_PROTO(int a), TP_ARGS(a));\n")["events"]
        self.assertEqual([(e["name"], e["class"]) for e in found], [("e1", "e1"), ("e2", "e1")])

    def test_spellings_of_bare_tracepoints(self) -> None:
        for text in ("DEFINE_TRACE(s, TPPTOTO(int n, struct t *p), TPARGS(n, p));",
                     "DECLARE_TRACE(s, TPPROTO(int n, struct t *p), TPARGS(n, p));\nDEFINE_TRACE(s);",
                     "DECLARE_TRACE(s, TP_PROTO(int n, struct t *p), TP_ARGS(n, p))",
                     "DEFINE_TRACE(s, int n, struct t *p);"):
            with self.subTest(text):
                found = self.dump("#define TRACE_SYSTEM test\n" + text)
                self.assertEqual(found["events"], [])
                self.assertEqual([(t["name"], t["proto"]) for t in found["tracepoints"]], [
                    ("s", [{"type": "int", "name": "n"}, {"type": "struct t *", "name": "p"}])])

    def test_bare_tracepoint_needs_no_system(self) -> None:
        found = self.dump("DEFINE_TRACE(s, TPPTOTO(int n), TPARGS(n));")
        self.assertEqual([(t["system"], t["name"]) for t in found["tracepoints"]], [("", "s")])

    def test_no_parameters(self) -> None:
        found = self.dump("#define TRACE_SYSTEM test\nDECLARE_TRACE(s, TP_PROTO(void), TP_ARGS());\n")
        self.assertEqual(found["tracepoints"][0]["proto"], [])

    def test_parameter_types(self) -> None:
        found = self.one(event("e", proto="int (*fn)(int, size_t), const char *const argv[], bool b, unsigned long "
                               "long x, enum mode m, foo_t *f", args="fn, argv, b, x, m, f", assign="__entry->a = 0;"))
        self.assertEqual([(p["type"], p["name"]) for p in found["proto"]], [
            ("int (*)(int, size_t)", "fn"), ("const char * const []", "argv"), ("bool", "b"),
            ("unsigned long long", "x"), ("enum mode", "m"), ("foo_t *", "f")])

    def test_parts_by_position(self) -> None:
        found = self.one(EVENT.format(name="e").replace("TP_PROTO(int a)", "int a").replace("TP_ARGS", "TPARGS"))
        self.assertEqual(found["proto"], [{"type": "int", "name": "a"}])

    def test_system_follows_the_text(self) -> None:
        found = self.dump("#define TRACE_SYSTEM one\n" + EVENT.format(name="e1")
                          + "#undef TRACE_SYSTEM\n#define TRACE_SYSTEM two /* why */\n" + EVENT.format(name="e2"))
        self.assertEqual([(e["system"], e["name"]) for e in found["events"]], [("one", "e1"), ("two", "e2")])

    def test_kernel_frame(self) -> None:
        found = self.dump("""/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sample

#if !defined(_TRACE_SAMPLE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_SAMPLE_H

#include <linux/tracepoint.h>

""" + EVENT.format(name="e") + """
#endif /* _TRACE_SAMPLE_H */

/* This part must be outside protection */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE sample
#include <trace/define_trace.h>
""")
        self.assertEqual([(e["system"], e["name"], e["line"]) for e in found["events"]], [("sample", "e", 10)])

    def test_events_from_macros(self) -> None:
        found = self.dump("""#define TRACE_SYSTEM test
#define FIELDS(type) __field(type, a)
#define DEFINE_ONE(name, type) \\
TRACE_EVENT(name, TP_PROTO(type a), TP_ARGS(a), \\
	TP_STRUCT__entry(FIELDS(type)), \\
	TP_fast_assign(__entry->a = a;), \\
	TP_printk("a=" #type " %d", __entry->a))

DEFINE_ONE(one, int);
DEFINE_ONE(two,
	short);
""")["events"]
        self.assertEqual([(e["name"], e["line"], e["fields"][0]["type"]) for e in found],
                         [("one", 9, "int"), ("two", 10, "short")])

    def test_conditions(self) -> None:
        text = "#define TRACE_SYSTEM test\n#if LEVEL > 1\n" + EVENT.format(name="high") + "#else\n" \
            + EVENT.format(name="low") + "#endif\n"
        self.assertEqual([e["name"] for e in self.dump(text)["events"]], ["low"])
        self.assertEqual([e["name"] for e in self.dump(text, "-DLEVEL=2")["events"]], ["high"])
        self.assertEqual([e["name"] for e in self.dump(text, "-D", "LEVEL=2")["events"]], ["high"])

    def test_nothing_in_comments_and_strings(self) -> None:
        found = self.dump("#define TRACE_SYSTEM test\n/* TRACE_EVENT(x, */\n// TRACE_EVENT(y,\n"
                          'static const char *s = "TRACE_EVENT(z, #include <x>";\n' + EVENT.format(name="e"))
        self.assertEqual([e["name"] for e in found["events"]], ["e"])

    def test_many_blank_lines(self) -> None:
        found = self.one(EVENT.format(name="e").replace("TP_ARGS", "\n" * 50 + "TP_ARGS"))
        self.assertEqual(found["line"], 2)

    def test_odd_bytes(self) -> None:
        found = self.one("/* caf\udce9 */\n" + event("e", print='"caf\u00e9 %d", __entry->a'))
        self.assertEqual(found["print_fmt"], '"caf\u00e9 %d", REC->a')

    def test_line_ends_of_dos(self) -> None:
        self.assertEqual(self.one(EVENT.format(name="e").replace("\n", "\r\n"))["line"], 2)

# SPDX-License-Identifier: MIT
"""All forms of declarations and fields, seen through dump."""

from __future__ import annotations

import json
import os
import re

from support import ROOT, Case, read, tpgen

PARTS = """TP_PROTO(int a), TP_ARGS(a){after_args},
	TP_STRUCT__entry(__field(int, a)),
	TP_fast_assign(__entry->a = a;),
	TP_printk("a=%d", __entry->a){at_end});
"""


def whole(macro: str, name: str, after_args: str = "", at_end: str = "") -> str:
    """An event or class with a record."""
    return f"{macro}({name}, " + PARTS.format(after_args=after_args, at_end=at_end)


class Forms(Case):
    def dump(self, text: str, *options: str) -> dict:
        path = self.write("x.tp", "#define TRACE_SYSTEM test\n" + text)
        done = tpgen("dump", *options, path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def names(self, text: str, *options: str) -> list[str]:
        return [e["name"] for e in self.dump(text, *options)["events"]]

    def test_structures_by_value(self) -> None:
        """A format file says of a structure that it has no sign, which $CC can't be asked for."""
        for type_ in ("struct v", "const struct v", "struct v const", "volatile struct v", "struct { int a; }"):
            with self.subTest(type_):
                path = self.write("x.tp", "#define TRACE_SYSTEM test\nstruct v { int a; };\n" + whole("TRACE_EVENT", "e").replace(
                    "__field(int, a)", f"__field_struct({type_}, s) __field(int, a)").replace(
                    "__entry->a = a;", "f(&__entry->s); __entry->a = a;"))
                done = tpgen("gen", "--backend", "ftrace", "-o", self.dir, path)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn(f"\tfield:{type_} s;\toffset:8;\tsize:4;\tsigned:0;\n", read(self.path("test/e/format")))

    def test_letters_behind_a_pointer(self) -> None:
        """As in the kernel, those that it does not know are not printed, not even where another literal has them."""
        for written, made in (('"%pMpmk %d"', '"%s %d"'), ('"m=%pM" "pmk" "k, %d"', '"m=%s" "" ", %d"'), ('"%p" "M" " %d"', '"%s" "" " %d"')):
            with self.subTest(written):
                path = self.write("x.tp", "#define TRACE_SYSTEM test\n" + whole("TRACE_EVENT", "e").replace(
                    "__field(int, a)", "__field(int, a) __array(char, m, 6)").replace(
                    '"a=%d", ', f"{written}, __entry->m, ").replace("__entry->a = a;", "__entry->a = a; f(__entry->m);"))
                self.assertEqual(tpgen("gen", "-o", self.dir, path).returncode, 0)
                self.assertIn(f'{made}, __print_pointer("M", __entry->m), __entry->a\n', read(self.path("x.h")))

    def test_plain_writers(self) -> None:
        """A writer is plain by its code, whatever its comments and strings say."""
        for assign, plain in (("__assign_str(s);", True), ("/* f(a) */ __assign_str(s); // do g(a)\n", True),
                              ('__assign_str(s); __entry->a = "f(x)"[a];', True), ("__assign_str(s); __entry->a = f(a);", False),
                              ("__assign_str(s); do __entry->a = a; while (0);", False)):
            with self.subTest(assign):
                path = self.write("x.tp", "#define TRACE_SYSTEM test\n" + whole("TRACE_EVENT", "e").replace(
                    "__field(int, a)", '__string(s, "x") __field(int, a)').replace("__entry->a = a;", f"{assign} (void)__entry->a;"))
                done = tpgen("gen", "-o", self.dir, path)
                self.assertEqual((done.returncode, [line for line in done.stderr.splitlines() if " error: " in line]), (0, []))
                self.assertEqual("TP_PLAIN void tp_record_e" in read(self.path("x.h")), plain)

    def test_events(self) -> None:
        text = (whole("TRACE_EVENT", "a") + whole("TRACE_EVENT_CONDITION", "b", ", TP_CONDITION(a > 0)")
                + whole("TRACE_EVENT_FN", "c", at_end=", reg, unreg")
                + whole("TRACE_EVENT_FN_COND", "d", ", TP_CONDITION(a)", ", reg, unreg")
                + whole("TRACE_EVENT_SYSCALL", "e", at_end=", reg, unreg"))
        self.assertEqual(self.names(text), ["a", "b", "c", "d", "e"])

    def test_included_header_that_defines_declarations(self) -> None:
        """As linux/trace_events.h does for trace_custom_sched.h; and lines stay those of the file."""
        self.write("inc/linux/trace_events.h", "#define TRACE_CUSTOM_EVENT(name, proto, args, tstruct, assign, print)\n"
                   "#define DEFINE_EVENT(template, name, proto, args)\n#define TRACE_EVENT(...)\n#define TYPE int\n")
        text = "#include <linux/trace_events.h>\n\n" + whole("TRACE_CUSTOM_EVENT", "c") + \
            whole("DECLARE_EVENT_CLASS", "k") + "DEFINE_EVENT(k, d, TP_PROTO(TYPE a), TP_ARGS(a));\n" + whole("TRACE_EVENT", "e")
        found = self.dump(text, "--expand-includes", "-I", self.path("inc"))["events"]
        self.assertEqual([(e["name"], e["line"]) for e in found], [("c", 4), ("d", 12), ("e", 13)])
        self.assertEqual(found[1]["proto"], [{"type": "int", "name": "a"}])

    def test_own_definition_of_a_declaration_stays(self) -> None:
        """That of the file itself, whatever it includes behind it."""
        self.write("inc/other.h", "#define TYPE int\n")
        text = "#define TRACE_EVENT(name) DECLARE_TRACE(name, TP_PROTO(TYPE a), TP_ARGS(a))\n#include <other.h>\nTRACE_EVENT(x);\n"
        found = self.dump(text, "--expand-includes", "-I", self.path("inc"))
        self.assertEqual([t["name"] for t in found["tracepoints"]], ["x"])

    def test_events_of_a_class(self) -> None:
        ends = {"DEFINE_EVENT": "", "DEFINE_EVENT_FN": ", reg, unreg", "DEFINE_EVENT_CONDITION": ", TP_CONDITION(a)",
                "DEFINE_EVENT_PRINT": ', TP_printk("own %d", __entry->a)', "DEFINE_EVENT_WRITABLE": ", 4"}
        for class_macro in ("DECLARE_EVENT_CLASS", "DECLARE_EVENT_SYSCALL_CLASS"):
            text = whole(class_macro, "k") + "".join(
                f"{macro}(k, e_{macro}, TP_PROTO(int a), TP_ARGS(a){end});\n" for macro, end in ends.items())
            if "WRITABLE" in text:
                text = text.replace("int a", "int *a").replace("__entry->a = a", "__entry->a = *a")
            events = self.dump(text)["events"]
            self.assertEqual([e["name"] for e in events], [f"e_{macro}" for macro in ends])
            self.assertEqual({e["class"] for e in events}, {"k"})
            self.assertEqual([e["print_fmt"] for e in events if "PRINT" in e["name"]], ['"own %d", REC->a'])

    def test_bare_tracepoints(self) -> None:
        text = ("DECLARE_TRACE(a, TP_PROTO(int a), TP_ARGS(a));\n"
                "DECLARE_TRACE_CONDITION(b, TP_PROTO(int a), TP_ARGS(a), TP_CONDITION(a));\n"
                "DECLARE_TRACE_SYSCALL(c, TP_PROTO(int a), TP_ARGS(a));\n"
                "DECLARE_TRACE_WRITABLE(d, TP_PROTO(int *a), TP_ARGS(a), sizeof(int));\n"
                "DEFINE_TRACE_FN(e, reg, unreg, TP_PROTO(int a), TP_ARGS(a));\n"
                "DEFINE_TRACE_SYSCALL(f, TP_PROTO(int a), TP_ARGS(a));\n"
                "DEFINE_TRACE_SYSCALL(g, reg, unreg, TP_PROTO(int a), TP_ARGS(a));\n"
                "DECLARE_TRACE_EVENT(h, TP_PROTO(int a), TP_ARGS(a));\n"
                "DECLARE_TRACE_EVENT_CONDITION(i, TP_PROTO(int a), TP_ARGS(a), TP_CONDITION(a));\n"
                "DECLARE_TRACE_EVENT_SYSCALL(j, TP_PROTO(int a), TP_ARGS(a));\n")
        found = self.dump(text)
        self.assertEqual((found["events"], [t["name"] for t in found["tracepoints"]]), ([], list("abcdefghij")))

    def test_names_of_bare_tracepoints_as_since_linux_6_16(self) -> None:
        """DECLARE_TRACE keeps the name; by -D it is what it is to those kernels, whatever the kernel's own header says."""
        self.write("inc/linux/tracepoint.h", "#ifndef DECLARE_TRACE\n#define DECLARE_TRACE(name, proto, args) theirs\n"
                   "#define DECLARE_TRACE_EVENT(name, proto, args) theirs\n#endif\n")
        text = ("#include <linux/tracepoint.h>\nDECLARE_TRACE(a, TP_PROTO(int a), TP_ARGS(a));\n"
                "DECLARE_TRACE_EVENT(b, TP_PROTO(int a), TP_ARGS(a));\n"
                "DECLARE_TRACE_CONDITION(c, TP_PROTO(int a), TP_ARGS(a), TP_CONDITION(a));\n")
        with_tp = [f"-D{macro}(name, ...)={macro}(name##_tp, __VA_ARGS__)" for macro in ("DECLARE_TRACE", "DECLARE_TRACE_CONDITION")]
        for options in ((), ("--expand-includes", "-I", self.path("inc"))):
            for given, names in (((), ["a", "b", "c"]), (with_tp, ["a_tp", "b", "c_tp"])):
                with self.subTest(options=options, given=given):
                    self.assertEqual([t["name"] for t in self.dump(text, *options, *given)["tracepoints"]], names)

    def test_nothing_is_left_of_nops(self) -> None:
        text = (whole("TRACE_EVENT_NOP", "a") + whole("DECLARE_EVENT_CLASS_NOP", "k")
                + "DEFINE_EVENT_NOP(k, b, TP_PROTO(int a), TP_ARGS(a));\n"
                + "DECLARE_EVENT_NOP(c, TP_PROTO(int a), TP_ARGS(a));\n")
        found = self.dump(text)
        self.assertEqual(found["events"], [])
        self.assertEqual([(t["name"], t["nop"]) for t in found["tracepoints"]], [("a", True), ("b", True), ("c", True)])

    def test_custom_events_have_names_of_their_own(self) -> None:
        text = (whole("TRACE_EVENT", "a") + whole("TRACE_CUSTOM_EVENT", "a") + whole("DECLARE_CUSTOM_EVENT_CLASS", "k")
                + "DEFINE_CUSTOM_EVENT(k, b, TP_PROTO(int a), TP_ARGS(a));\n")
        self.assertEqual([(e["name"], e["custom"]) for e in self.dump(text)["events"]],
                         [("a", False), ("a", True), ("b", True)])

    def test_what_is_said_of_events(self) -> None:
        text = whole("TRACE_EVENT", "a") + """TRACE_EVENT_FLAGS(a, TRACE_EVENT_FL_CAP_ANY);
TRACE_EVENT_PERF_PERM(a, is_sampling_event(p_event) ? -EPERM : 0, 1);
EXPORT_TRACEPOINT_SYMBOL(a);
EXPORT_TRACEPOINT_SYMBOL_GPL(a);
TRACE_DEFINE_ENUM(ONE);
TRACE_DEFINE_ENUM(2);
TRACE_DEFINE_SIZEOF(task_t);
DECLARE_TRACEPOINT(elsewhere);
"""
        self.assertEqual(self.names(text), ["a"])

    def test_log_levels(self) -> None:
        """Each that the runtime has, by both of its names, in front of the event and behind it."""
        words = re.findall(r"TP_LOGLEVEL_(\w+),", read(os.path.join(ROOT, "runtime/include/tp/event.h")))
        self.assertEqual((len(words), words[0], words[13:]), (15, "EMERG", ["DEBUG_LINE", "DEBUG"]))
        text = whole("TRACE_EVENT", "a") + "".join(
            f"TRACEPOINT_LOGLEVEL(test, old_{word}, TRACE_{word});\n"
            f"DEFINE_EVENT(a, old_{word}, TP_PROTO(int a), TP_ARGS(a));\n"
            f"DEFINE_EVENT(a, new_{word}, TP_PROTO(int a), TP_ARGS(a));\n"
            f"LTTNG_UST_TRACEPOINT_LOGLEVEL(test, new_{word}, LTTNG_UST_TRACEPOINT_LOGLEVEL_{word})\n"
            for word in words)
        wanted = {f"{name}_{word}": f"TRACE_{word}" for word in words for name in ("old", "new")}
        self.assertEqual({e["name"]: e["loglevel"] for e in self.dump(text)["events"]},
                         {"a": "TRACE_DEBUG_LINE", **wanted})

    def test_log_levels_in_c(self) -> None:
        path = self.write("x.tp", "#define TRACE_SYSTEM test\n" + whole("TRACE_EVENT", "a") + whole("TRACE_EVENT", "b")
                          + "TRACEPOINT_LOGLEVEL(test, b, TRACE_CRIT);\n")
        done = tpgen("gen", "-o", self.dir, path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        header = read(self.path("x.h"))
        self.assertEqual(re.findall(r"TP_DEFINE_TRACE_EVENT\(.*, (\w+), \"", header), ["DEBUG_LINE", "CRIT"])
        self.assertNotIn("TRACEPOINT_LOGLEVEL", header)

    def test_log_level_of_one_of_two_systems(self) -> None:
        text = (whole("TRACE_EVENT", "a") + "#undef TRACE_SYSTEM\n#define TRACE_SYSTEM other\n"
                + whole("TRACE_CUSTOM_EVENT", "a") + "TRACEPOINT_LOGLEVEL(other, a, TRACE_ERR);\n")
        self.assertEqual([(e["system"], e["loglevel"]) for e in self.dump(text)["events"]],
                         [("test", "TRACE_DEBUG_LINE"), ("other", "TRACE_ERR")])

    def test_names_that_begin_with_a_digit(self) -> None:
        self.assertEqual(self.names(whole("TRACE_EVENT", "9p_client_req")), ["9p_client_req"])

    def test_fields(self) -> None:
        fields = {
            "__field(int, a)": "int a", "__field_ext(int, b, FILTER_OTHER)": "int b",
            "__field_struct(struct s, c)": "struct s c", "__field_struct_ext(struct s, d, FILTER_OTHER)": "struct s d",
            "__array(u8, e, 4)": "u8 e[4]", "__dynamic_array(u32, f, 3)": "__data_loc u32[] f",
            "__string(g, s)": "__data_loc char[] g", "__string_len(h, s, 3)": "__data_loc char[] h",
            "__vstring(i, fmt, va)": "__data_loc char[] i", "__bitmask(j, 100)": "__data_loc unsigned long[] j",
            "__cpumask(k)": "__data_loc cpumask_t k", "__sockaddr(l, len)": "__data_loc u8[] l",
            "__rel_dynamic_array(u32, m, 3)": "__rel_loc u32 m[]", "__rel_string(n, s)": "__rel_loc char n[]",
            "__rel_string_len(o, s, 3)": "__rel_loc char o[]", "__rel_bitmask(q, 9)": "__rel_loc unsigned long q[]",
            "__rel_cpumask(r)": "__rel_loc cpumask_t r", "__rel_sockaddr(t, len)": "__rel_loc u8 t[]",
        }
        text = ("TRACE_EVENT(e, TP_PROTO(const char *s, const char *fmt, va_list *va, int len), TP_ARGS(s, fmt, va, len),\n"
                f"TP_STRUCT__entry({' '.join(fields)}), TP_fast_assign(fill(__entry);), TP_printk(\"%d\", __entry->a));")
        found = self.dump(text)["events"][0]["fields"]
        self.assertEqual([f["decl"] for f in found], list(fields.values()))
        self.assertEqual([f["kind"] for f in found][-2:], ["rel_cpumask", "rel_sockaddr"])

    def test_array_types_are_not_expanded(self) -> None:
        text = ("#define T unsigned int\n#define N 4\nTRACE_EVENT(e, TP_PROTO(int a), TP_ARGS(a),\n"
                "TP_STRUCT__entry(__field(T, a) __array( T ,b,N) __dynamic_array(T, c, N)),\n"
                "TP_fast_assign(fill(__entry);), TP_printk(\"%u\", __entry->a));")
        self.assertEqual([f["decl"] for f in self.dump(text)["events"][0]["fields"]],
                         ["unsigned int a", "T b[4]", "__data_loc T[] c"])

    def test_wrappers_of_the_kernel(self) -> None:
        text = whole("DECLARE_EVENT_CLASS", "k") + """
#define MINE(name, proto, args) DEFINE_EVENT(k, name, PARAMS(proto), PARAMS(args))
MINE(a, TP_PROTO(int a), TP_ARGS(a));
DEFINE_EVENT(k, b, TP_PROTO(int a), TP_ARGS(__perf_count(a)));
"""
        self.assertEqual(self.names(text), ["a", "b"])


class Preprocessor(Case):
    EVENT = whole("TRACE_EVENT", "plain")

    def names(self, text: str, *options: str) -> list[str]:
        path = self.write("x.tp", "#define TRACE_SYSTEM test\n" + text)
        done = tpgen("dump", *options, path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [e["name"] for e in json.loads(done.stdout)["events"]]

    def test_included_macros_on_request(self) -> None:
        os.mkdir(self.path("inc"))
        self.write("inc/mine.h", "#define NAME expanded\n#define MAKE(n) " + " ".join(
            whole("TRACE_EVENT", "n").split("\n")) + "\n")
        text = "#include <mine.h>\n#include <not/there.h>\n" + whole("TRACE_EVENT", "NAME") + "MAKE(made)\n"
        self.assertEqual(self.names(text, "--expand-includes", "-I", self.path("inc")), ["expanded", "made"])
        self.assertEqual(self.names(text.replace("MAKE(made)", ""), "-I", self.path("inc")), ["NAME"])

    def test_what_an_include_declares_is_not_ours(self) -> None:
        self.write("other.h", self.EVENT)
        text = '#include "other.h"\n' + whole("TRACE_EVENT", "own")
        self.assertEqual(self.names(text, "--expand-includes"), ["own"])

    def test_a_kernels_own_macros_are_taken_back(self) -> None:
        os.makedirs(self.path("inc/linux"))
        self.write("inc/linux/tracepoint.h", "#define TRACE_EVENT(n, ...) gone\n#define TP_PROTO(...) gone\n#define N used\n")
        text = "#include <linux/tracepoint.h>\n" + whole("TRACE_EVENT", "N")
        self.assertEqual(self.names(text, "--expand-includes", "-I", self.path("inc")), ["used"])

    def test_every_option_of_the_preprocessors(self) -> None:
        self.write("first.h", "#define FIRST first\n")
        self.write("macros.h", "#define MACRO macro\nint not_read;\n")
        self.write("sys.h", "#define SYS sys\n")
        text = "#include <sys.h>\n" + "".join(whole("TRACE_EVENT", name) for name in ("FIRST", "MACRO", "SYS", "D"))
        text += "#ifdef GONE\n" + self.EVENT + "#endif\n"
        self.assertEqual(self.names(text, "-include", self.path("first.h"), "-imacros", self.path("macros.h"),
                                    "-isystem", self.dir, "--expand-includes", "-D", "D=d", "-DGONE", "-UGONE"),
                         ["first", "macro", "sys", "d"])


class Formats(Case):
    """The backend ftrace."""

    def format(self, text: str, event: str, *options: str) -> str:
        path = self.write("x.tp", "#define TRACE_SYSTEM test\n" + text)
        done = tpgen("gen", "--backend", "ftrace", "-o", self.path("out"), *options, path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(self.path(f"out/test/{event}/format"), encoding="utf-8") as file:
            return file.read()

    def test_whole_format(self) -> None:
        self.write("mine.h", "#include <stdint.h>\n#define LEN 5\nstruct s { short a, b; };\nenum { ONE = 1, TWO };\n")
        text = """#include "mine.h"
TRACE_DEFINE_ENUM(TWO);
TRACE_DEFINE_SIZEOF(uint16_t);
TRACE_EVENT(e, TP_PROTO(int a, const char *s), TP_ARGS(a, s),
	TP_STRUCT__entry(__field(char, c) __field(uint64_t, a) __array(short, b, LEN) __field_struct(struct s, s)
		__array(char, c6, LEN + sizeof(struct s) / 4) __array(int, none, LEN - 5)
		__field(void *, p) __string(t, s) __rel_dynamic_array(int, r, 2) __cpumask(m) __field(_Bool, y)),
	TP_fast_assign(fill(__entry);),
	TP_printk("TWO %d %s\\n", __entry->b[0] / (int)sizeof(uint16_t), __print_symbolic(__entry->a, { TWO, "TWO" })));
"""
        self.assertEqual(self.format(text, "e"), """name: e
ID: 1
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:char c;	offset:8;	size:1;	signed:1;
	field:uint64_t a;	offset:16;	size:8;	signed:0;
	field:short b[5];	offset:24;	size:10;	signed:1;
	field:struct s s;	offset:34;	size:4;	signed:0;
	field:char c6[6];	offset:38;	size:6;	signed:1;
	field:int none[];	offset:44;	size:0;	signed:1;
	field:void * p;	offset:48;	size:8;	signed:0;
	field:__data_loc char[] t;	offset:56;	size:4;	signed:1;
	field:__rel_loc int r[];	offset:60;	size:4;	signed:1;
	field:__data_loc cpumask_t m;	offset:64;	size:4;	signed:0;
	field:_Bool y;	offset:68;	size:1;	signed:0;

print fmt: "TWO %d %s
", REC->b[0] / (int)2, __print_symbolic(REC->a, { 2, "TWO" })
""")

    def test_values_of_all_widths(self) -> None:
        text = "".join(f"TRACE_DEFINE_ENUM({name});\n" for name in ("TOP", "WIDE", "LOW"))
        text += whole("TRACE_EVENT", "e").replace(
            '"a=%d", __entry->a', '"%s", __print_symbolic(__entry->a, { TOP, "t" }, { WIDE, "w" }, { LOW, "l" })')
        self.write("mine.h", "enum { TOP = 0x7fffffff00000001, WIDE = 0xffffffff, LOW = -3 };\n")
        self.assertIn('{ 9223372032559808513, "t" }, { 4294967295, "w" }, { -3, "l" }',
                      self.format('#include "mine.h"\n' + text, "e"))

    def test_unknown_types_cost_their_events_only(self) -> None:
        text = whole("TRACE_EVENT", "good") + whole("TRACE_EVENT", "bad").replace("__field(int", "__field(unknown_t")
        path = self.write("x.tp", "#define TRACE_SYSTEM test\nTRACE_DEFINE_ENUM(NOWHERE);\n" + text)
        done = tpgen("gen", "--backend", "ftrace", "-o", self.path("out"), path)
        self.assertEqual(done.returncode, 0)
        self.assertIn("warning: the C compiler does not know unknown_t here", done.stderr)
        self.assertIn("[TP095]", done.stderr)
        self.assertEqual(os.listdir(self.path("out/test")), ["good"])

    def test_code_that_does_not_compile(self) -> None:
        path = self.write("x.tp", "#define TRACE_SYSTEM test\nint twice;\nlong twice; // in line 3\n" + whole("TRACE_EVENT", "e"))
        done = tpgen("gen", "--backend", "ftrace", "-o", self.path("out"), path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("TP093", done.stderr)
        self.assertRegex(done.stderr, r"x\.tp:3:6: error: .*twice")

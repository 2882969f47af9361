# SPDX-License-Identifier: MIT
"""Generated headers compile without a warning where they must, and don't where they must not."""

from __future__ import annotations

import difflib
import glob
import os
import re

from building import generate, runtime
from support import INCLUDES, ROOT, WARNINGS, Case, need, run, tpgen

HEADERS = sorted(os.path.basename(p) for p in glob.glob(os.path.join(ROOT, "generated/*.h")))

PLAIN = """#define TRACE_SYSTEM plain
TRACE_EVENT(plain,
	TP_PROTO(int a, const char *s),
	TP_ARGS(a, s),
	TP_STRUCT__entry(
		__field(int, a)
		__string(s, s)
	),
	TP_fast_assign(
		__entry->a = a;
		__assign_str(s);
	),
	TP_printk("a=%d s=%s", __entry->a, __get_str(s))
);
"""

CALLBACKS = """#define TRACE_SYSTEM plain
void wrong(int a);
TRACE_EVENT_FN(plain, TP_PROTO(int *a), TP_ARGS(a),
	TP_STRUCT__entry(__array(int, a, 1)),
	TP_fast_assign(__entry->a[0] = *a;),
	TP_printk("a=%s", __print_array(__entry->a, 1,
		{element})),
	{reg},

	{unreg});
DEFINE_EVENT_WRITABLE(plain, plain_writable, TP_PROTO(int *a), TP_ARGS(a),
	{size});
"""


class Compile(Case):
    def compile(self, compiler: str, text: str, *options: str):
        """Compiles text, C or C++ by the compiler's name, in a directory where its headers are."""
        suffix = "cc" if "++" in compiler else "c"
        path = self.write(f"main.{suffix}", text)
        standard = "-std=c++17" if "++" in compiler else "-std=c11"
        return run([compiler, standard, "-O2", *WARNINGS, *INCLUDES, "-iquote", self.dir, "-c", "-o", os.devnull,
                    *options, path])

    def good(self, compiler: str, text: str, *options: str) -> None:
        need(self, compiler)
        done = self.compile(compiler, text, *options)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def generate(self, text: str) -> None:
        generate(self.dir, self.write("plain.tp", text))

    def _everything(self, compiler: str) -> None:
        create = "#define CREATE_TRACE_POINTS\n"
        for header in HEADERS:
            include = f'#include "{header}"\n'
            self.good(compiler, include + "typedef int not_empty;\n")
            if "++" not in compiler:
                self.good(compiler, create + include)
                # Another header may have included it before, without CREATE_TRACE_POINTS; and it may come twice.
                self.good(compiler, include + create + include + include)
        everything = "".join(f'#include "{h}"\n' for h in HEADERS)
        self.good(compiler, everything if "++" in compiler else create + everything)

    def test_c11_gcc(self) -> None:
        self._everything("gcc")

    def test_c11_clang(self) -> None:
        self._everything("clang")

    def test_cpp17_gcc(self) -> None:
        self._everything("g++")

    def test_cpp17_clang(self) -> None:
        self._everything("clang++")

    def test_all_kinds_of_fields(self) -> None:
        generate(self.dir, "tests/roundtrip/all.tp")
        for compiler in ("gcc", "clang"):
            for level in ("-O0", "-O2", "-O3"):
                self.good(compiler, '#define CREATE_TRACE_POINTS\n#include "all.h"\n', level)

    def test_call_sites_in_cpp(self) -> None:
        self.generate(PLAIN)
        text = """#include "plain.h"
static void probe(void *, int, const char *) {}
int main()
{
	if (trace_plain_enabled())
		trace_plain(1, "x");
	check_trace_callback_type_plain(probe);
	return register_trace_plain(probe, nullptr) || register_trace_prio_plain(probe, nullptr, 5) ||
	       unregister_trace_plain(probe, nullptr);
}
"""
        for compiler in ("g++", "clang++"):
            self.good(compiler, text)

    def test_wrong_probe_does_not_compile(self) -> None:
        """The error is at the probe, and says which type it must have."""
        self.generate(PLAIN)
        for use in ("register_trace_plain(my_probe, 0)", "register_trace_prio_plain(my_probe, 0, 1)",
                    "unregister_trace_plain(my_probe, 0)", "check_trace_callback_type_plain(my_probe)"):
            text = '#include "plain.h"\nvoid my_probe(void *data, long a, const char *s);\nvoid f(void);\n' \
                   f"void f(void)\n{{\n\t{use};\n}}\n"
            for compiler in ("gcc", "clang", "g++", "clang++"):
                with self.subTest(compiler=compiler, use=use):
                    need(self, compiler)
                    done = self.compile(compiler, text, "-Wno-error", "-w")
                    self.assertNotEqual(done.returncode, 0)
                    self.assertRegex(done.stderr, r"main\.(c|cc):6:\d+: (error|note)")
                    self.assertIn("my_probe", done.stderr)
                    self.assertIn("void(*)(void*,int,constchar*)", done.stderr.replace(" ", ""))
                    self.assertNotRegex(done.stderr, "_Generic.* selector|generic association")

    def test_wrong_argument_does_not_compile(self) -> None:
        self.generate(PLAIN)
        done = self.compile("g++", '#include "plain.h"\nvoid f() { trace_plain("x", 1); }\n')
        self.assertNotEqual(done.returncode, 0)

    def test_other_version_of_the_runtime(self) -> None:
        self.generate(PLAIN)
        path = self.path("plain.h")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.write("plain.h", re.sub(r"(TP_INTERFACE_VERSION != )\d+", r"\g<1>999", text))
        done = self.compile("gcc", '#include "plain.h"\n')
        self.assertIn("plain.h and the tp runtime are of different versions: run tpgen again on", done.stderr)

    def test_c_errors_are_at_the_tp_files_lines(self) -> None:
        """A mistake that only the C compiler can see, in each part that holds C."""
        head = 'struct none;\n#include <string.h>\nstatic inline int helper(void)\n{\n\treturn HELPER;\n}\n'
        for line, old, new in ((16, "__entry->a = a;", "__entry->a = nothing;"),
                               (13, "__string(s, s)", "__string(s, nothing)"),
                               (19, "__entry->a,", "__entry->a + nothing,")):
            with self.subTest(new):
                text = head.replace("HELPER", "0") + PLAIN
                self.assertIn(old, text)
                self.generate(text.replace(old, new))
                for compiler in ("gcc", "clang"):
                    need(self, compiler)
                    done = self.compile(compiler, '#define CREATE_TRACE_POINTS\n#include "plain.h"\n')
                    self.assertRegex(done.stderr, rf"plain\.tp:{line}:\d+: error: .*nothing")
        for field in ("__field(nothing, b)", "__array(nothing, b, 2)", "__array(int, b, NOTHING)",
                      "__dynamic_array(nothing, b, a)", "__field_struct(struct nothing, b)"):
            with self.subTest(field):
                self.generate(PLAIN.replace("__field(int, a)", f"__field(int, a)\n\t\t{field}")
                              .replace("__entry->a = a;", "__entry->a = a; (void)__entry;"))
                for compiler in ("gcc", "clang"):
                    done = self.compile(compiler, '#define CREATE_TRACE_POINTS\n#include "plain.h"\n')
                    errors = [line for line in done.stderr.splitlines() if " error: " in line]
                    self.assertRegex(errors[0], r"plain\.tp:7:\d+: error: ")
                    if compiler == "gcc" and "struct" not in field:
                        self.assertEqual(len(errors), 1, errors)
        self.generate(head.replace("HELPER", "nothing") + PLAIN)
        done = self.compile("gcc", '#include "plain.h"\n')
        self.assertRegex(done.stderr, r"plain\.tp:5:\d+: error: .*nothing")

    def test_c_errors_in_callbacks_and_sizes(self) -> None:
        """Each is reported where it stands: by gcc, too, which looks into the macros of headers."""
        usual = {"reg": "NULL", "unreg": "NULL", "element": "4", "size": "4"}
        for part, text, line, said in (
                ("reg", "nothing", 8, "nothing"), ("unreg", "nothing", 10, "nothing"),
                ("reg", "wrong", 8, "incompatible"), ("unreg", "wrong", 10, "incompatible"),
                ("element", "3", 6, "1_2_4_or_8_bytes"), ("element", "nothing", 7, "nothing"),
                ("size", "8", 12, "another_size"), ("size", "nothing", 12, "nothing")):
            with self.subTest(part=part, text=text):
                self.generate(CALLBACKS.format(**{**usual, part: text}))
                for compiler in ("gcc", "clang"):
                    need(self, compiler)
                    done = self.compile(compiler, '#define CREATE_TRACE_POINTS\n#include "plain.h"\n')
                    errors = [line for line in done.stderr.splitlines() if " error: " in line]
                    self.assertRegex(errors[0], rf"plain\.tp:{line}:\d+: error: .*{said}", compiler)
        self.generate(CALLBACKS.format(**usual))
        self.good("gcc", '#define CREATE_TRACE_POINTS\n#include "plain.h"\n')

    def test_a_line_more_changes_what_it_moves(self) -> None:
        """In a header only those numbers change that are of lines behind it in the .tp file."""
        first = PLAIN.replace("TRACE_EVENT(plain,", "TRACE_EVENT(plain_before,")
        second = PLAIN[PLAIN.index("TRACE_EVENT"):]

        def header(text: str) -> list[str]:
            self.generate(text)
            with open(self.path("plain.h"), encoding="utf-8") as file:
                return file.read().splitlines()
        old = header(first + second)
        commented = header(first + "/* more */\n\n" + second)
        changed = [(a, b) for a, b in zip(old, commented, strict=True) if a != b]
        self.assertTrue(changed)
        for before, after in changed:
            with self.subTest(before):
                numbers = [[int(n) for n in re.findall(r"\b\d+\b", line)] for line in (before, after)]
                self.assertRegex(before, r"^#line |^TP_DEFINE_TRACE_EVENT\(plain,")
                self.assertIn(2, [b - a for a, b in zip(*numbers)])
        assigned = header(first.replace("__entry->a = a;", "__entry->a = a;\n\t\t/* more */") + second)
        more = [line for line in difflib.ndiff(old, assigned) if line.startswith("+ ")]
        self.assertEqual([line for line in more if not re.match(r"\+ (#line|TP_DEFINE_TRACE_EVENT\()", line)],
                         ["+ \t\t/* more */"], more)

    def test_odd_but_valid(self) -> None:
        """Definitions on the edge of the language compile too."""
        self.generate("""#define TRACE_SYSTEM odd
#include <inttypes.h>
/* No fields, no parameters, no arguments. */
TRACE_EVENT(odd_empty, TP_PROTO(void), TP_ARGS(), TP_STRUCT__entry(), TP_fast_assign(), TP_printk("nothing"));
/* Names that generated code might want for itself, and parameters that are not used. */
TRACE_EVENT(odd_names,
	TP_PROTO(int size, void *data, const char *event, int p, int it, int func, int entry, void (*fn)(int), int unused),
	TP_ARGS(size, data, event, p, it, func, entry, fn, unused),
	TP_STRUCT__entry(__field(int, size) __field(void *, data) __string(event, event) __field(int, p)
		__field(int, it) __field(int, func) __field(int, entry) __field(int, record)
		__dynamic_array(uint64_t, offset, size)),
	TP_fast_assign(
		int local = 3; /* a comment, with a ; in it */
		__entry->size = size; __entry->data = data;
		__assign_str(event, event);
		__entry->p = p, __entry->it = it;
		if (fn)
			__entry->func = func;
		else {
			__entry->func = local;
		}
		memset(__get_dynamic_array(offset), 0, __get_dynamic_array_len(offset));
		__entry->entry = entry;
		__entry->record = ({ int x = 1; x; })),
	TP_printk("\\\\ \\"%d\\" %% %" PRIu64 " %s?? %*d", __entry->size,
		(uint64_t)__get_dynamic_array_len(offset), __get_str(event), 3, __entry->p));
DECLARE_TRACE(odd_bare, TP_PROTO(void), TP_ARGS());
/* Used by nothing. */
DECLARE_EVENT_CLASS(odd_class, TP_PROTO(int a), TP_ARGS(a), TP_STRUCT__entry(__field(int, a)),
	TP_fast_assign(__entry->a = a;), TP_printk("%d", __entry->a));
""")
        self.good("gcc", '#define CREATE_TRACE_POINTS\n#include "plain.h"\n', "-Wno-pedantic", "-Wno-sign-conversion")
        self.good("clang", '#define CREATE_TRACE_POINTS\n#include "plain.h"\n', "-Wno-pedantic", "-Wno-sign-conversion",
                  "-Wno-gnu-statement-expression")
        self.good("g++", '#include "plain.h"\n')

    def test_as_the_kernel_writes(self) -> None:
        """kernel.tp compiles, with both preprocessors, and prints what it says."""
        for compiler in ("gcc", "clang"):
            need(self, compiler, compiler.replace("gcc", "g++").replace("clang", "clang++"))
            done = tpgen("gen", "-DUNUSED", "-I", self.dir, "--backend", "userspace", "-o", self.dir,
                         "tests/compile/kernel.tp", env={"CC": compiler})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            create = '#define CREATE_TRACE_POINTS\n#include "kernel.h"\n'
            # A statement expression is the .tp file's own, and no ISO C.
            self.good(compiler, create, "-Wno-pedantic", "-Wno-gnu-statement-expression")
            self.good(compiler.replace("gcc", "g++").replace("clang", "clang++"), '#include "kernel.h"\n')
        main = create + """#include <tp/tp.h>
static void done(struct request *r, int error) { (void)r; (void)error; }
int main(void)
{
	struct request r = { .id = 3, .state = BUSY, .flags = 3, .sector = 7, .done = done, .in = { 1 } };
	struct tp_sink *sink = tp_text_sink(stdout);
	register_trace_request_begin(tp_record_request_begin, sink);
	register_trace_flags(tp_record_flags, sink);
	trace_request_begin(&r, 5, (const u8[6]){ 1, 2, 3, 4, 5, 6 });
	trace_request_end(&r, 5, r.mac);
	trace_flags(0, 5, &r);
	unregister_trace_request_begin(tp_record_request_begin, sink);
	unregister_trace_flags(tp_record_flags, sink);
	trace_flags(1, 5, &r);
	tracepoint_synchronize_unregister();
	return tp_sink_close(sink);
}
"""
        self.succeed(["gcc", "-std=c11", "-o", self.path("main"), *INCLUDES, "-iquote", self.dir,
                      self.write("main.c", main), *runtime("static")])
        printed = [line.split(" ", 2)[2] for line in self.succeed([self.path("main")]).stdout.splitlines()]
        self.assertRegex(printed[0], r"^kernel:request_begin: id=3 state=busy flags=READ\|WRITE sector=7 len=1 "
                                     r"mac=01:06 done=0x\w+ odd=1 100%page$")
        self.assertEqual(printed[1:], ["kernel:flags: B 0x1 text"])

    def test_names_of_every_length(self) -> None:
        """Long lines are folded; what comes out must be C whatever the length of a name."""
        events = [PLAIN.split("\n", 1)[1].replace("(plain,", f"({'n' * length},") for length in range(1, 100)]
        self.generate("#define TRACE_SYSTEM s\n" + "".join(events))
        use = "".join(f"void f{n}(void);\nvoid f{n}(void)\n{{\n\tregister_trace_{'n' * n}(tp_record_{'n' * n}, 0);\n}}\n"
                      for n in range(1, 100))
        self.good("gcc", '#define CREATE_TRACE_POINTS\n#include "plain.h"\n' + use, "-O0")

    def test_long_print_format(self) -> None:
        table = ", ".join(f'{{ {n}, "value number {n}" }}' for n in range(300))
        self.generate(PLAIN.replace('a=%d s=%s", __entry->a', f'a=%s s=%s", __print_symbolic(__entry->a, {table})'))
        for compiler in ("gcc", "clang"):
            self.good(compiler, '#define CREATE_TRACE_POINTS\n#include "plain.h"\n')

    def test_pragma_once(self) -> None:
        self.generate("#pragma once\n" + PLAIN)
        self.good("gcc", '#include "plain.h"\n#define CREATE_TRACE_POINTS\n#include "plain.h"\n'
                  "struct tracepoint *p = &__tracepoint_plain;\nstruct tp_event *e = &tp_event_plain;\n")

    def test_macros_of_the_programs_headers(self) -> None:
        """Servers define pthread_testcancel() away; liburcu's headers, which include pthread.h, come before that."""
        self.write("program.h", "#define pthread_testcancel()\n#define pthread_kill(a, b)\n")
        self.generate('#include "program.h"\n' + PLAIN)
        for compiler in ("gcc", "clang"):
            self.good(compiler, '#define CREATE_TRACE_POINTS\n#include "plain.h"\n')

    def test_older_standards(self) -> None:
        """Programs that keep to an older C; C89 without GNU's additions has no inline, and says what it needs first."""
        generate(self.dir, "tests/roundtrip/all.tp", "tests/language/forms.tp", "tests/modules/exp.tp")
        create = "#define CREATE_TRACE_POINTS\n"
        text = f'{create}#include "all.h"\n'
        for compiler in ("gcc", "clang"):
            for standard in ("c99", "gnu99"):
                self.good(compiler, text, f"-std={standard}")
                self.good(compiler, f'{create}#include "forms.h"\n#include "exp.h"\nEXPORT_TRACEPOINT_SYMBOL(exp_hit);\n',
                          f"-std={standard}", "-D_GNU_SOURCE")
            self.good(compiler, text, "-std=gnu89", "-Wno-pedantic")
            done = self.compile(compiler, text, "-std=c89")
            errors = [line for line in done.stderr.splitlines() if "error: " in line]
            self.assertRegex(errors[0], "tracepoint.h:.*tracepoints need C99: compile with -std=c99, -std=gnu89")

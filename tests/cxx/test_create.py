# SPDX-License-Identifier: MIT
"""A C++ file creates tracepoints: without a warning, with descriptions and records as a C file makes them, and with clear errors."""

from __future__ import annotations

import glob
import itertools
import os
import re
from collections.abc import Sequence

from building import build, generate
from support import BUILD, INCLUDES, ROOT, WARNINGS, Case, check_all, need, read, run, tpgen

HERE = os.path.dirname(os.path.abspath(__file__))
CREATE = "#define CREATE_TRACE_POINTS\n"

DEFINITIONS = sorted(glob.glob(os.path.join(ROOT, "defs/*.tp")))
# These, too, are for C and C++.
BOTH = [*DEFINITIONS, os.path.join(ROOT, "tests/roundtrip/all.tp"), os.path.join(ROOT, "tests/language/forms.tp")]

# A table that tpgen can't see, with values that C++ does not narrow.
TABLE = """enum color { MINUS = -1, RED = 1, GREEN = 5 };
#define COLORS { RED, "red" }, { GREEN, "green" }, { MINUS, "minus" }
"""
OF_A_TABLE = """#define TRACE_SYSTEM tab
#include "table.h"
TRACE_EVENT(tab, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, n)), TP_fast_assign(__entry->n = n;),
	TP_printk("%s %s %s %s", __print_symbolic(__entry->n, COLORS), __print_flags(__entry->n, "|", COLORS),
		__print_symbolic_u64(__entry->n, COLORS), __print_flags_u64(__entry->n, "|", COLORS)));
"""

PLAIN = """#define TRACE_SYSTEM plain
#include <string>
#include <string_view>
struct keeper { std::string text; };
std::string made();
TRACE_EVENT(plain,
	TP_PROTO(int a, std::string_view s, const std::wstring &w, const keeper &k),
	TP_ARGS(a, s, w, k),
	TP_STRUCT__entry(
		__field(int, a)
		__string(s, s)
		__dynamic_array(short, shorts, 2)
	),
	TP_fast_assign(
		__entry->a = a;
		__assign_str(s);
		memset(__get_dynamic_array(shorts), 0, 4);
	),
	TP_printk("a=%d s=%s", __entry->a, __get_str(s))
);
"""
# A mistake that the C++ compiler sees, its line, and what is said there.
MISTAKES = (
    ("__entry->a = a;", "__entry->a = nothing;", 15, "nothing"),
    ("__entry->a = a;", "__entry->a = a; short *p = __get_dynamic_array(shorts);", 15, "short int ?\\*"),
    ("__string(s, s)", "__string(s, nothing)", 11, "nothing"),
    ("__string(s, s)", "__string(s, w)", 11, "tp_as_text"),
    ("__string(s, s)", "__string(s, k)", 11, "tp_as_text"),
    ("__string(s, s)", "__string(s, made())", 11, "deleted function.*tp_as_text"),
    ("__string(s, s)", '__string(s, std::string("x") + "y")', 11, "deleted function.*tp_as_text"),
    ("__dynamic_array(short, shorts, 2)", "__dynamic_array(nothing, shorts, 2)", 12, "nothing"),
    ("__entry->a, ", "__entry->a + nothing, ", 19, "nothing"),
)


def create(header: str) -> str:
    return f'{CREATE}#include "{header}"\n'


class Create(Case):
    def compile(self, compiler: str, text: str, *options: str):
        path = self.write("create.cc" if "++" in compiler else "create.c", text)
        return run([compiler, *WARNINGS, *INCLUDES, "-iquote", self.dir, "-D_GNU_SOURCE", "-c", "-o", self.path("create.o"), *options, path])

    def compiles(self, compiler: str, headers: Sequence[str], *options: str, alone: bool = False) -> None:
        """All headers in one file, each included before, and again; or each by itself, too."""
        need(self, compiler)
        texts = {h: f'#include "{h}"\n{create(h)}#include "{h}"\n' for h in headers}
        # Two have an enum color.
        together = "".join(text for header, text in texts.items() if header != "forms.h")
        for text in [*(texts.values() if alone else [texts["forms.h"]]), together]:
            done = self.compile(compiler, text, *options)
            self.assertEqual((done.returncode, done.stderr), (0, ""), f"{compiler} {options}: {text}")

    def generated(self, *paths: str) -> list[str]:
        generate(self.dir, *paths)
        return [os.path.splitext(os.path.basename(path))[0] + ".h" for path in paths]

    def test_gcc(self) -> None:
        self.compiles("g++", self.generated(*BOTH, os.path.join(HERE, "types.tp")), "-std=c++17", "-O2", alone=True)

    def test_clang(self) -> None:
        self.compiles("clang++", self.generated(*BOTH, os.path.join(HERE, "types.tp")), "-std=c++20", "-O2")

    @check_all("test_gcc and test_clang are a standard each")
    def test_standards(self) -> None:
        both, types = self.generated(*BOTH), self.generated(os.path.join(HERE, "types.tp"))
        for compiler, standard in itertools.product(("g++", "clang++"), ("c++11", "gnu++17", "c++20", "c++23")):
            if (compiler, standard) == ("clang++", "c++23"):
                standard = "c++2b"
            self.compiles(compiler, both if standard == "c++11" else both + types, f"-std={standard}", "-O0")
        for compiler, options in itertools.product(("g++", "clang++"), (
                ("-O3",), ("-O2", "-fno-exceptions", "-fno-rtti"), ("-O2", "-flto", "-fPIC"), ("-Os", "-DTP_SDT=1"), ("-O1", "-DTP_STATIC_KEYS=0"),
                ("-O2", "-fshort-enums"))):
            self.compiles(compiler, both + types, "-std=c++17", *options)

    def test_table_of_a_header(self) -> None:
        self.write("table.h", TABLE)
        self.write("main.cc", create("tab.h") + "int main() { trace_tab(1); trace_tab(5); trace_tab(-1); trace_tab(4); }\n")
        generate(self.dir, self.write("tab.tp", OF_A_TABLE))
        for compiler in ("gcc", "clang"):
            need(self, compiler)
            program = build(self.path(compiler), self.path("main.cc"), compiler=compiler, include=[self.dir])
            done = run([program], env={**os.environ, "TP_ENABLE": "*", "TP_OUTPUT": f"text:{self.path(compiler + '.log')}"})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual([line.split(": ", 1)[1] for line in read(self.path(compiler + ".log")).splitlines()],
                             ["red red red red", "green red|0x4 green red|0x4",
                              "minus red|0xfffffffffffffffe minus red|0xfffffffffffffffe", "0x4 0x4 0x4 0x4"])

    def test_no_op(self) -> None:
        path = os.path.join(HERE, "types.tp")
        done = tpgen("gen", "--backend", "nop", "-o", self.dir, path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for compiler in ("g++", "clang++"):
            need(self, compiler)
            done = self.compile(compiler, create("types.h") + "void hit(std::string_view v, const std::string &s);\n"
                                "void hit(std::string_view v, const std::string &s) { trace_types_texts(v, s, 0, {}); }\n", "-std=c++17")
            self.assertEqual((done.returncode, done.stderr), (0, ""))


class Equal(Case):
    """What a C++ file creates is what a C file creates."""

    def test_descriptions(self) -> None:
        need(self, "g++", "clang++", "gcc")
        generate(self.dir, *BOTH)
        for path in (p for p in BOTH if not p.endswith("subsys.tp")):  # it has no event
            name = os.path.splitext(os.path.basename(path))[0]
            text = create(f"{name}.h") + "int forms_reg(void) { return 0; }\nvoid forms_unreg(void) {}\nvoid forms_called(void) {}\n" * (name == "forms")
            said = {}
            for compiler, suffix in (("gcc", "c"), ("gcc", "cc"), ("clang", "cc")):
                source = self.write(f"{name}.{suffix}", text)
                library = build(self.path(f"{name}.so"), source, compiler=compiler, flags=["-iquote", self.dir], libtp="shared")
                said[compiler, suffix] = self.succeed([os.path.join(BUILD, "tp"), "list", "-v", library]).stdout
            with self.subTest(name):
                self.assertIn(f"{name}.tp", said["gcc", "c"])
                self.assertEqual(said["gcc", "cc"], said["gcc", "c"])
                self.assertEqual(said["clang", "cc"], said["gcc", "c"])

    def test_records(self) -> None:
        """A C file calls what C and C++ files create: the same records, and the same texts."""
        need(self, "g++", "babeltrace2")
        generate(self.dir, os.path.join(ROOT, "tests/roundtrip/all.tp"))
        self.write("main.c", read(os.path.join(ROOT, "tests/roundtrip/main.c")).replace(CREATE, ""))
        found = {}
        for suffix in ("c", "cc"):
            source = self.write(f"create.{suffix}", create("all.h"))
            program = build(self.path(f"main-{suffix}"), self.path("main.c"), source, include=[self.dir])
            logs, trace, text = (self.path(f"{name}-{suffix}") for name in ("logs", "trace", "text"))
            for output in (f"ctf:{trace}", f"text:{text}"):
                os.makedirs(logs, exist_ok=True)
                done = run([program, "1", "300", "7", logs], env={**os.environ, "TP_ENABLE": "all:*", "TP_OUTPUT": output})
                self.assertEqual((done.returncode, done.stderr), (0, ""))
            fields = self.read_by("babeltrace2", "--no-delta", trace)
            found[suffix] = ([re.sub(r"^\[.*?\] .*?(?=all:)|tid = \d+", "", line) for line in fields.splitlines()],
                             [line.split(" ", 2)[2] for line in read(text).splitlines()])
        self.assertEqual(len(found["c"][0]), 300)
        self.assertEqual(found["cc"], found["c"])


class Mistakes(Case):
    def errors(self, compiler: str, text: str, *options: str) -> list[str]:
        need(self, compiler)
        path = self.write("main.cc" if "++" in compiler else "main.c", text)
        standard = ["-std=c++17"] if "++" in compiler else []
        done = run([compiler, *standard, *INCLUDES, "-iquote", self.dir, "-w", "-fsyntax-only", *options, path])
        self.assertNotEqual(done.returncode, 0, text)
        return [line for line in done.stderr.splitlines() if re.search(r" (?:fatal )?error: ", line)]

    def test_at_the_lines_of_the_tp_file(self) -> None:
        for old, new, line, said in MISTAKES:
            self.assertIn(old, PLAIN)
            generate(self.dir, self.write("plain.tp", PLAIN.replace(old, new, 1)))
            for compiler in ("g++", "clang++"):
                with self.subTest(new, compiler=compiler):
                    first = self.errors(compiler, create("plain.h"))[0]
                    self.assertRegex(first, rf"plain\.tp:{line}:\d+: error: .*{said if compiler == 'g++' else ''}")

    def test_fields_with_constructors(self) -> None:
        generate(self.dir, self.write("plain.tp", PLAIN.replace("__field(int, a)", "__field(int, a) __field(keeper, k)")
                                      .replace("__entry->a = a;", "__entry->a = a; __entry->k = k;")))
        for compiler in ("g++", "clang++"):
            self.assertIn("tp_field_must_be_trivially_copyable", " ".join(self.errors(compiler, create("plain.h"))))

    def test_of_c_only(self) -> None:
        """What C++ can't read where tracepoints are created."""
        for event, said in (
                ("TRACE_EVENT(odd, TP_PROTO(int new), TP_ARGS(new), TP_STRUCT__entry(__field(int, a)), "
                 'TP_fast_assign(__entry->a = new;), TP_printk("%d", __entry->a));', "a parameter called 'new'"),
                ("TRACE_EVENT(odd, TP_PROTO(int a), TP_ARGS(a), TP_STRUCT__entry(__field(int, class)), "
                 'TP_fast_assign(__entry->class = a;), TP_printk("%d", __entry->class));', "a field called 'class'"),
                ("TRACE_EVENT(odd, TP_PROTO(int n, int (*v)[n]), TP_ARGS(n, v), TP_STRUCT__entry(__field(int, a)), "
                 'TP_fast_assign(__entry->a = (*v)[n - 1];), TP_printk("%d", __entry->a));', "an array of C's as 'v', with a parameter in its length")):
            generate(self.dir, self.write("odd.tp", f"#define TRACE_SYSTEM odd\n\n{event}\n"))
            for compiler in ("g++", "clang++"):
                with self.subTest(said, compiler=compiler):
                    first = self.errors(compiler, create("odd.h"))[0]
                    self.assertRegex(first, rf"odd\.tp:3:\d+: error: .*create these tracepoints in a C file, or rename: C\+\+ can't have {said}")

    def test_of_cxx_only(self) -> None:
        generate(self.dir, self.write("plain.tp", PLAIN))
        for compiler in ("gcc", "clang"):
            first = self.errors(compiler, '#include "plain.h"\n')[0]
            self.assertRegex(first, r"plain\.tp:6:\d+: error: .*plain\.h is for C\+\+ only: 'std::string_view' is no C type")
        done = tpgen("gen", "--backend", "nop", "-o", self.dir, self.path("plain.tp"))
        self.assertEqual(done.returncode, 0)
        self.assertIn("plain.h is for C++ only", self.errors("gcc", '#include "plain.h"\n')[0])

    def test_backends_that_ask_the_compiler(self) -> None:
        for backend in ("ftrace", "bpftrace"):
            done = tpgen("gen", "--backend", backend, "-o", self.path("out"), self.write("plain.tp", PLAIN))
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"plain.tp:6:1: error: --backend {backend} compiles the file as C, and 'std::string_view' is no C type; the program "
                          "has its formats when it runs: tp_event_format() [TP093]", done.stderr)
            self.assertFalse(os.path.exists(self.path("out")))

    def test_probes(self) -> None:
        """A probe of another type, a lambda with captures, a member function, const data: errors where they stand."""
        generate(self.dir, os.path.join(HERE, "points.tp"))
        head = '#include "points.h"\nstruct thing { void probe(void *, const char *, int); };\nvoid f(const int *data);\n' \
               "void f(const int *data)\n{\n\tint local = 0; (void)local; (void)data;\n\t"
        for call in ("register_trace_points_hit([&local](void *, const char *, int n) { local = n; }, nullptr);",
                     "register_trace_points_hit([](int *, const char *, int) {}, &local);",
                     "register_trace_points_hit([](void *, const char *, long) {}, nullptr);",
                     "register_trace_points_hit(&thing::probe, nullptr);",
                     "register_trace_points_hit([](void *, const char *, int) {}, data);",
                     "unregister_trace_points_hit([](void *, const char *) {}, nullptr);"):
            for compiler in ("g++", "clang++"):
                with self.subTest(call, compiler=compiler):
                    self.assertRegex(self.errors(compiler, f"{head}{call}\n}}\n")[0], r"main\.cc:7:\d+: ")

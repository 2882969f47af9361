# SPDX-License-Identifier: MIT
"""The backend nop: a header for builds without the runtime has what the userspace header has, and does nothing."""

from __future__ import annotations

import glob
import os
import re

from compile.test_compile import PLAIN as ONE_EVENT
from support import INCLUDES, ROOT, WARNINGS, Case, both, few_or_many, need, read, run, tpgen

# What is for C; cxx/test_create.py has the others.
FILES = sorted([*glob.glob(os.path.join(ROOT, "defs/*.tp")), *(path for path in glob.glob(os.path.join(ROOT, "examples/*/*.tp")) if "/cxx/" not in path),
                *(os.path.join(ROOT, "tests", name) for name in (
                    "language/forms.tp", "compile/kernel.tp", "roundtrip/all.tp", "modules/exp.tp"))])

STANDARDS = {"gcc": ("c99", "c11", "c17", "c2x", "gnu11"), "clang": ("c99", "c11", "c17", "c2x", "gnu11"),
             "g++": ("c++11", "c++17", "c++20"), "clang++": ("c++11", "c++17", "c++20")}

# What only generated code uses.
INTERNAL = re.compile(r"tp_prototype_of_|tp_prototype_text_|the_tracepoint_|__tp_import_|tp_call_|TP_(?:GENERATED|CREATED)_")

# Of tp/tracepoint.h, the same; and what a program asks of a runtime that it has.
RUNTIMES_OWN = {
    "tp_registry_register", "tp_registry_register_on", "tp_registry_remove_object", "tp_object_destructor", "tp_remove_probes_at_unload",
    "tp_leave_recursion", "tp_get_tracepoint_info_sized", "TP_TRACEPOINT_H", "TP_INTERFACE_VERSION", "TP_VERSION_MAJOR",
    "TP_VERSION", "TP_VERSION_MINOR", "TP_VERSION_PATCH", "TP_HIDDEN", "TP_PUBLIC", "TP_SYMBOL_OPERAND", "TP_REMOVED", "TP_DEFINE_TRACE",
    "TP_OF_INTERFACE", "TP_TLS_MODEL", "TP_SECTION", "TP_PASTE", "TP_PASTE_EXPANDED", "TP_QUOTE", "TP_QUOTE_EXPANDED"}

PLAIN = ONE_EVENT + """DECLARE_TRACE_CONDITION(plain_some, TP_PROTO(int n), TP_ARGS(n), TP_CONDITION(n > 0));
EXPORT_TRACEPOINT_SYMBOL(plain_some);
"""

# All that a program does with tracepoints and the runtime's header of them; file scope, too.
PROGRAM = """#define CREATE_TRACE_POINTS
#include "plain.h"

DEFINE_TRACE(plain);
EXPORT_TRACEPOINT_SYMBOL(plain_some);
EXPORT_TRACEPOINT_SYMBOL_GPL(plain_some);
DECLARE_TRACEPOINT(plain);

static struct tracepoint *const points[] = { &__tracepoint_plain, &__tracepoint_plain_some };
static struct tp_event *const event = &tp_event_plain;
static int seen;

static void probe(void *data, int a, const char *s)
{
	TP_LIMIT_RECURSION(1);
	(void)data, (void)s;
	seen += a;
}

static void some(void *data, int n)
{
	(void)data, (void)n;
}

static void each(struct tracepoint *tp, void *data)
{
	struct tp_tracepoint_info info;

	tp_get_tracepoint_info(tp, &info);
	*(unsigned int *)data += info.nr_probes + (info.state == TP_STATE_ON) + (tp->line > 0) + (tp->name && tp->proto && tp->file);
}

int main(void)
{
	unsigned int points_seen = 0;
	int n = 1;

	check_trace_callback_type_plain(probe);
	int results[] = {
		register_trace_plain(probe, NULL), register_trace_prio_plain(probe, &n, TRACEPOINT_DEFAULT_PRIO + 1),
		register_trace_plain_some(some, NULL),
		tracepoint_probe_register(points[1], (tp_probe_t)some, &n),
		tp_probe_register("plain_some", "int", (tp_probe_t)some, &seen, 3),
	};
	trace_plain(n++, tracepoint_string("text"));
	trace_plain_some(n++);
	if (trace_plain_enabled() || trace_plain_some_enabled() || tracepoint_enabled(plain) || tp_tracepoint_is_on(points[0]))
		n += 100;
	tp_for_each_tracepoint(each, &points_seen);
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
		if (results[i] != results[0])
			return 99;
	if (unregister_trace_plain(probe, NULL) != results[0] || unregister_trace_plain(probe, &n) != results[0] ||
	    unregister_trace_plain_some(some, NULL) != results[0] ||
	    tracepoint_probe_unregister(points[1], (tp_probe_t)some, &n) != results[0] ||
	    tp_probe_unregister("plain_some", (tp_probe_t)some, &seen) != results[0])
		return 98;
	if (tracepoint_synchronize_unregister() || n % 100 != 3 || event->tracepoint != points[0])
		return 97;
	if (!results[0] && n == 103 && seen == 2 && points_seen)
		return 1;
	return results[0] == -ENOSYS && n == 3 && !seen && !points_seen ? 2 : 96;
}
"""


def own_part(text: str) -> str:
    """What a userspace header declares by itself: without what it creates, and the .tp file's own C."""
    text = text.split("/* ---- Definitions", 1)[0]
    return re.sub(r"^/\* ---- From .*?^#ifdef __cplusplus$", "", text, flags=re.S | re.M)


def declared(text: str) -> dict[str, set[str]]:
    """The names by what they are, except for functions."""
    return {kind: {name for name in re.findall(pattern, text, re.M) if not INTERNAL.match(name)} for kind, pattern in {
        "macro": r"^#define (\w+)", "struct": r"^struct (\w+) \{", "enum": r"^enum \{ (\w+)", "type": r"^typedef .*?\b(\w+)\(",
        "tracepoint": r"^extern struct tracepoint (\w+)", "event": r"^extern struct tp_event (\w+)"}.items()}


# What programs define that a header only declares.
CALLBACKS = {"forms.h": "int forms_reg(void) { return 0; }\nvoid forms_unreg(void) {}\nvoid forms_called(void) {}\n",
             "conn.h": "int conn_state_wanted(void) { return 0; }\n"}


# Before a commit: one compiler of each kind, and the files that have every form.
FEW_FILES = [path for path in FILES if os.path.basename(path) in ("forms.tp", "exp.tp")]
FEW_STANDARDS = {compiler: standards[-1:] for compiler, standards in STANDARDS.items() if "clang" not in compiler}


class Nop(Case):
    def generate(self, path: str, *options: str) -> str:
        """Writes us/NAME.h and nop/NAME.h; the name."""
        for backend, directory in (("userspace", "us"), ("nop", "nop")):
            done = tpgen("gen", *options, "--backend", backend, "-o", self.path(directory), path)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        return os.path.basename(path)[:-2] + "h"

    def compile(self, compiler: str, text: str, *options: str):
        """Compiles text with the header for builds without the runtime, and no directory of the runtime's."""
        need(self, compiler)
        path = self.write("main.cc" if "++" in compiler else "main.c", text)
        return run([compiler, *WARNINGS, "-iquote", self.path("nop"), "-c", "-o", self.path("main.o"), *options, path])

    def good(self, compiler: str, text: str, *options: str) -> None:
        done = self.compile(compiler, text, *options)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""), f"{compiler} {options}")

    def functions(self, directory: str, header: str, of: str) -> dict[str, str]:
        """The functions that a header declares, by name, as gcc has understood them."""
        self.succeed(["gcc", "-std=c11", "-D_GNU_SOURCE", "-w", "-aux-info", self.path("info"), *INCLUDES[:2], "-iquote",
                      self.path(directory), "-fsyntax-only", self.write("info.c", f'#include "{header}"\n')])
        found = {}
        for line in read(self.path("info")).splitlines():
            match = re.match(r"/\* (.*?):\d+:\w+ \*/ (?:extern |static )?([^;]*?)\b(\w+) (\((?!\*)[^;]*);", line)
            if match and os.path.basename(match[1]) in (of, of[:-1] + "tp") and not INTERNAL.match(match[3]):
                found[match[3]] = f"static {match[2]}({match[3]}) {match[4]};\n"
        return found

    def same_functions(self, ours: dict[str, str], header: str) -> None:
        """The header without the runtime has these functions: to declare them again compiles."""
        self.assertGreater(len(ours), 1)
        text = [f'#include "{header}"\n', *ours.values(), *(f"void *const p_{name} = (void *)({name});\n" for name in ours)]
        self.good("gcc", "".join(text), "-std=c11", "-Wno-pedantic", "-D_GNU_SOURCE")

    @both
    def test_each_name_with_its_type(self) -> None:
        for path in (FEW_FILES, FILES)[few_or_many(0, 1)]:
            with self.subTest(path):
                header = self.generate(path, *(["-DUNUSED"] if path.endswith("kernel.tp") else []))
                own = set(re.findall(r"\w+", own_part(read(self.path(f"us/{header}")))))
                self.same_functions({n: t for n, t in self.functions("us", header, header).items() if n in own}, header)
                self.same_objects(header)

    def same_objects(self, header: str) -> None:
        """A file that uses all else that the userspace header declares, compiled with both, prints the same."""
        own = own_part(read(self.path(f"us/{header}")))
        names = declared(own)
        left = {name for name in re.findall(r"^(?:extern|typedef|struct|enum|#define)\b.*", own, re.M)
                if not any(n in name for kind in names.values() for n in kind) and not INTERNAL.search(name)
                and name != 'extern "C" {'}
        self.assertEqual(left, set(), "declarations of a kind that this test does not know")
        text = [f'#include <stdio.h>\n#include "{header}"\nint main(void)\n{{\n']
        for name in sorted(names["struct"]):
            members = re.findall(r"(\w+)(?:\[.*\])?;", re.search(rf"^struct {name} {{\n(.*?)^}};", own, re.S | re.M)[1])
            text.append(f'\tprintf("%zu", sizeof(struct {name}));\n')
            for member in [*members, "__data"]:
                text.append(f'\tprintf(" {member} %zu", offsetof(struct {name}, {member}));\n')
        text += [f'\tprintf("{n} %d", {n});\n' for n in sorted(names["enum"])]
        text += [f'\t{{ {n} *probe = NULL; printf("%d", probe != NULL); }}\n' for n in sorted(names["type"])]
        text += [f'\t{{ struct tracepoint *tp = &{n}; printf("%s(%s) %s:%d", tp->name, tp->proto, tp->file, tp->line); }}\n'
                 for n in sorted(names["tracepoint"])]
        text += [f'\t{{ struct tp_event *e = &{n}; printf("%s:%s %zu", e->system, e->name, sizeof(e->id)); }}\n'
                 for n in sorted(names["event"]) if "custom__" not in n]
        text += [f"#ifndef {n}\n#error {n} is no macro\n#endif\n" for n in sorted(names["macro"])]
        main = self.write("same.c", "".join(text) + "\treturn 0;\n}\n")
        printed = []
        for directory in ("us", "nop"):
            create = self.write(f"{directory}.c", "#define CREATE_TRACE_POINTS\n" + read(main)
                                + CALLBACKS.get(header, ""))
            self.succeed(["gcc", "-std=c11", "-w", "-D_GNU_SOURCE", *(INCLUDES[:2] if directory == "us" else []), "-iquote",
                          self.path(directory), "-o", self.path("same"), create,
                          *([os.path.join(ROOT, "build/libtp.a"), "-lurcu-bp", "-lpthread"] if directory == "us" else [])])
            printed.append(self.succeed([self.path("same")], env={**os.environ, "TP_ENABLE": ""}).stdout)
        self.assertEqual(*printed)

    def test_header_of_the_runtime(self) -> None:
        """Of tp/tracepoint.h, which each generated header includes, it has all that is for programs, with the same types."""
        header = self.generate(self.write("plain.tp", PLAIN))
        self.same_functions({name: text for name, text in self.functions("us", header, "tracepoint.h").items()
                             if name not in RUNTIMES_OWN}, header)
        text = read(os.path.join(ROOT, "runtime/include/tp/tracepoint.h"))
        macros = set(re.findall(r"^#define (\w+)", text, re.M)) - RUNTIMES_OWN
        self.assertEqual(macros - set(re.findall(r"^#define (\w+)", read(self.path("nop/plain.h")), re.M)), set())

    @both
    def test_compiles_everywhere(self) -> None:
        """All headers in one file, without a warning; CREATE_TRACE_POINTS leaves nothing behind, in C++ neither."""
        names = [self.generate(path) for path in FILES if "/defs/" in path]
        self.generate(self.write("plain.tp", PLAIN))
        everything = "#define CREATE_TRACE_POINTS\n" + "".join(f'#include "{n}"\n' for n in [*names, "plain.h", *names])
        compilers, files = ((FEW_STANDARDS, FEW_FILES), (STANDARDS, FILES))[few_or_many(0, 1)]
        for compiler, standards in compilers.items():
            for standard in standards:
                for level in ("-O0", "-O2"):
                    self.good(compiler, everything, f"-std={standard}", level)
                    symbols = self.succeed(["nm", "-P", self.path("main.o")]).stdout.splitlines()
                    # Without optimization, gcc keeps static data that nobody uses.
                    kept = [s for s in symbols if not (level == "-O0" and "clang" not in compiler and s.split()[1] == "d")]
                    self.assertEqual(kept, [], f"{compiler} {standard} {level}")
        for path in files:
            with self.subTest(path):
                header = self.generate(path, *(["-DUNUSED"] if path.endswith("kernel.tp") else []))
                for compiler in compilers:
                    self.good(compiler, f'#include "{header}"\ntypedef int not_empty;\n',
                              "-std=c++17" if "++" in compiler else "-std=c11", "-D_GNU_SOURCE")
        read_by_it = self.succeed(["gcc", "-M", "-iquote", self.path("nop"), self.write("m.c", everything)]).stdout
        self.assertNotIn("/tp/", read_by_it)

    def test_program(self) -> None:
        """One program with both headers. Without the runtime it sees nothing, and its arguments are evaluated."""
        self.generate(self.write("plain.tp", PLAIN))
        main = self.write("main.c", PROGRAM)
        self.succeed(["gcc", "-std=gnu11", *WARNINGS, *INCLUDES[:2], "-iquote", self.path("us"), "-o", self.path("with"), main,
                      os.path.join(ROOT, "build/libtp.a"), "-lurcu-bp", "-lpthread"])
        self.assertEqual(run([self.path("with")]).returncode, 1)
        for compiler in ("gcc", "clang"):
            need(self, compiler)
            for standard in ("c99", "c11", "c2x"):
                self.succeed([compiler, f"-std={standard}", *WARNINGS, "-iquote", self.path("nop"), "-o",
                              self.path("without"), main])
                self.assertEqual(run([self.path("without")]).returncode, 2, f"{compiler} {standard}")

    def test_wrong_uses_do_not_compile(self) -> None:
        self.generate(self.write("plain.tp", PLAIN))
        head = '#include "plain.h"\nvoid my_probe(void *data, long a, const char *s);\nvoid f(void);\nvoid f(void)\n{\n\t'
        for use, word in (("register_trace_plain(my_probe, 0)", "my_probe"), ("trace_plain(1)", "trace_plain"),
                          ("check_trace_callback_type_plain(my_probe)", "my_probe"), ('trace_plain("text", 1)', "trace_plain"),
                          ("unregister_trace_plain(my_probe, 0)", "my_probe")):
            for compiler in STANDARDS:
                done = self.compile(compiler, f"{head}{use};\n}}\n")
                self.assertNotEqual(done.returncode, 0, use)
                self.assertIn(word, done.stderr)

    def test_beside_the_runtime(self) -> None:
        """Both in one file is a mistake, and the message has the remedy."""
        self.generate(self.write("plain.tp", PLAIN))
        for text, place in (('#include "plain.h"\n#include <tp/marker.h>\n', "tracepoint.h"),
                            ('#include <tp/tp.h>\n#include "plain.h"\n', "plain.h")):
            done = self.compile("gcc", text, *INCLUDES[:2])
            first = next(line for line in done.stderr.splitlines() if "error: " in line)
            self.assertRegex(first, rf"{place}:\d+:\d+: error: .*builds without .*runtime.*#ifndef TP_DISABLED")
        self.good("gcc", '#include "plain.h"\n#ifndef TP_DISABLED\n#include <tp/tp.h>\n#endif\n', *INCLUDES[:2])

# SPDX-License-Identifier: MIT
"""The call behind a site: arguments arrive, and nothing that the site's function keeps is lost."""

from __future__ import annotations

import os
import random
import re
import unittest
from collections.abc import Callable

from building import CXX, generate, runtime
from support import ROOT, Case, both, check_all, few_or_many, need, read, run, unavailable

HERE = os.path.dirname(os.path.abspath(__file__))
LIBS = runtime("static")

# ---- Arguments ----

TYPES_HEAD = """#include <stdbool.h>
#include <stdint.h>
enum call_color { CALL_RED = -3, CALL_GREEN = 7, CALL_BLUE = 0x40000000 };
enum call_big { CALL_BIG = 0xffffffff };
struct call_small { char a; short b; };
struct call_two { long a; double b; };
struct call_float { float x, y, z; };
struct call_large { long a[7]; char c; };
union call_union { int i; double d; };
typedef unsigned char call_u8;
typedef uint64_t call_u64;
typedef int (*call_function)(int, char);
__extension__ typedef __int128 call_int128;
__extension__ typedef _Complex double call_complex;
"""
# A type, and values of it as C initializers.
SCALARS = {
    "char": ("'x'", "(char)-128", "127"),
    "signed char": ("-1", "-128", "0"),
    "unsigned char": ("255", "0"),
    "call_u8": ("200",),
    "bool": ("true", "false"),
    "short": ("-32768", "32767"),
    "unsigned short": ("65535", "3"),
    "int": ("-2147483647 - 1", "42", "-1"),
    "unsigned int": ("4294967295u", "0x80000000u"),
    "enum call_color": ("CALL_RED", "CALL_GREEN", "CALL_BLUE"),
    "enum call_big": ("CALL_BIG",),
    "long": ("-9223372036854775807L", "1L << 40"),
    "unsigned long": ("~0ul", "0x8000000000000000ul"),
    "long long": ("-5000000000ll",),
    "call_u64": ("0xdeadbeefcafebabeul",),
    "size_t": ("(size_t)-3",),
    "const char *": ("call_text", "NULL"),
    "void *": ("(void *)0x7fff12345678", "&call_place"),
    "const volatile int *": ("&call_place",),
    "const void *const *": ("(const void *const *)16",),
    "call_function": ("call_some_function", "NULL"),
    "struct call_small *": ("(struct call_small *)8",),
    "const int": ("-7",),
    "char *const": ("(char *)32",),
    "double": ("-1.5", "1e300"),
    "const double": ("0.125",),
    "float": ("3.25f", "-0.0f"),
    "long double": ("1.0L / 3", "-1e400L"),
    "call_int128": ("(call_int128)-2 * ((call_int128)1 << 70) + 5",),
}
VOLATILE = {
    "volatile int": ("-8",),
    "const volatile unsigned char": ("250",),
    "char *volatile": ("(char *)40",),
    "volatile double": ("2.75",),
}
STRUCTURES = {
    "struct call_small": ("{ 'a', -2 }", ("a", "b")),
    "struct call_two": ("{ -3, 2.5 }", ("a", "b")),
    "struct call_float": ("{ 1.5f, -2.5f, 3.5f }", ("x", "y", "z")),
    "struct call_large": ("{ { 1, 2, 3, -4, 5, 6, 7 }, 'c' }", ("a[0]", "a[3]", "a[6]", "c")),
    "union call_union": ("{ 77 }", ("i",)),
    "const struct call_two": ("{ 9, -9.5 }", ("a", "b")),
}
REALS = ["double", "const double", "float"]
WORDS = [t for t in SCALARS if not re.search(r"double|float|int128", t)]
MORE = [*WORDS, *3 * REALS]


def declare(kind: str, name: str) -> str:
    return f"{kind}{name}" if kind.endswith("*") else f"{kind} {name}"


class Event:
    """A tracepoint, the call that hits it, and the probe that looks at what has come."""

    def __init__(self, number: int, kinds: list[str], rng: random.Random) -> None:
        self.name = f"call_{number}"
        self.params = [(kind, f"a{i}") for i, kind in enumerate(kinds)]
        scalars = SCALARS | VOLATILE
        self.values = [rng.choice(scalars[k]) if k in scalars else STRUCTURES[k][0] for k in kinds]

    @property
    def proto(self) -> str:
        return ", ".join(declare(*p) for p in self.params) or "void"

    @property
    def definition(self) -> str:
        args = ", ".join(name for _, name in self.params)
        return f"DECLARE_TRACE({self.name}, TP_PROTO({self.proto}), TP_ARGS({args}));\n"

    @property
    def probe(self) -> str:
        proto = "".join(f", {declare(*p)}" for p in self.params)
        checks = []
        for (kind, name), value in zip(self.params, self.values):
            if kind in STRUCTURES:
                plain = kind.replace("const ", "")
                checks.append(f"\t{plain} e{name} = {value};\n")
                checks += [f'\tcheck({name}.{field} == e{name}.{field}, "{self.name}", "{name}.{field} ({kind})");\n'
                           for field in STRUCTURES[kind][1]]
            else:
                plain = re.sub(r"^(const volatile |const |volatile )(?!.*\*)|(const|volatile)$", "", kind)
                checks.append(f'\tcheck({name} == ({plain})({value}), "{self.name}", "{name} ({kind})");\n')
        return f"static void probe_{self.name}(void *data{proto})\n{{\n\tcheck_data(data);\n{''.join(checks)}}}\n"

    @property
    def hit(self) -> str:
        """In C or C++: a function with the same parameters, so that the values come from where a caller puts them."""
        args = ", ".join(name for _, name in self.params)
        variables = "".join(f"\t{declare(k, n)} = {v};\n" for (k, n), v in zip(self.params, self.values))
        return (f"static __attribute__((noinline)) void pass_{self.name}({self.proto})\n"
                f"{{\n\ttrace_{self.name}({args});\n}}\n"
                f"static void hit_{self.name}(void)\n{{\n{variables}\tpass_{self.name}({args});\n"
                f"\ttrace_{self.name}({args});\n}}\n")


def all_kinds() -> list[list[str]]:
    """Lists of parameters: none, one of each type, and others by chance."""
    rng = random.Random(4)
    every = [*SCALARS, *STRUCTURES]
    lists = [[], *([kind] for kind in every)]
    for number in range(2, 9):
        # Of what there are registers for, words only or reals among them; and of anything.
        lists += [[rng.choice(WORDS) for _ in range(number)] for _ in range(4)]
        lists += [[rng.choice(MORE) for _ in range(number)] for _ in range(6)] + [["double"] * number]
        lists += [[rng.choice(every) for _ in range(number)] for _ in range(2)]
        lists += [["char"] * number]
    return lists


def volatile_kinds() -> list[list[str]]:
    return [[kind] for kind in VOLATILE] + [["int", "volatile int"], ["volatile int", "char *volatile", "long"]]


ARGUMENTS = """#define CREATE_TRACE_POINTS
#include "arguments.h"
#undef CREATE_TRACE_POINTS
#include <stdio.h>

const char call_text[] = "text";
int call_place;
int call_some_function(int a, char b) { return a + b; }
void hit_from_c(void);
void hit_from_cpp(void);
static unsigned int bad, calls;
static int the_data;

static void check(bool good, const char *name, const char *what)
{
	if (!good && ++bad < 20)
		printf("%s: %s is wrong\\n", name, what);
}

static void check_data(const void *data)
{
	check(data == &the_data, "?", "data");
	calls++;
}

"""


CONVERTED_TP = """#define TRACE_SYSTEM converted
DECLARE_TRACE(converted, TP_PROTO(double a, double b, long c, float d), TP_ARGS(a, b, c, d));
"""
CONVERTED = """#include <stdio.h>
#define CREATE_TRACE_POINTS
#include "converted.h"

__extension__ typedef __int128 wide;

static void print(void *data, double a, double b, long c, float d)
{
	(void)data;
	printf("%g %g %ld %g\\n", a, b, c, (double)d);
}

static __attribute__((noinline)) void hit(const double *a, const wide *b, const long double *c, const wide *d)
{
	trace_converted(*a, (double)*b, (long)*c, (float)*d / 2);
}

int main(void)
{
	const double a = 1.25;
	const wide b = 77, d = 5;
	const long double c = -9;

	if (register_trace_converted(print, NULL) != 0)
		return 1;
	hit(&a, &b, &c, &d);
	trace_converted(a, (double)b, (long)c, (float)d / 2);
	return 0;
}
"""

# ---- What lives across a site ----

class Keeper:
    """
    A leaf function that has a site, or several, in the midst of a computation
    whose values are wanted behind it: integers, doubles, long doubles, vectors,
    masks, and an array that compilers place in the red zone.
    """

    ARGS = ("trace_keep_0()", "trace_keep_1((int){v})", "trace_keep_2((long){v}, (char)1)",
            "trace_keep_3((int){v}, (void *)0, 5u)", "trace_keep_4(1, {v}, 3, 4)", "trace_keep_5(1, 2, {v}, 4, 5)",
            "trace_keep_6(1, 2, 3, 4, {v}, 6)", "trace_keep_real((double){v})", "trace_keep_7(1, 2, 3, 4, 5, 6, {v})")

    def __init__(self, number: int, rng: random.Random, vectors: str) -> None:
        self.name = f"keep_{number}"
        ints = rng.choice((0, 2, 5, 6, 8, 12, 15))
        doubles = rng.choice((0, 0, 3, 9, 16))
        slots = rng.choice((0, 0, 4, 12, 15))
        longs = rng.choice((0, 0, 2, 5))
        wide = rng.choice((0, 4, 14, 20)) if vectors else 0
        masks = rng.choice((0, 3, 9)) if vectors == "avx512f" else 0
        self.sites = rng.choice((1, 1, 2, 3))
        setup, rounds, result = [], [], []
        odd = [rng.getrandbits(62) | 1 for _ in range(ints + doubles + longs + wide + masks + slots)]
        for i in range(ints):
            setup.append(f"uint64_t i{i} = x * {odd.pop()}u;")
        for i in range(doubles):
            setup.append(f"double d{i} = (double)(int)(x * {odd.pop() % 999999}u) / 3;")
        for i in range(longs):
            setup.append(f"long double l{i} = (long double)(int)(x * {odd.pop() % 999999}u) / 7;")
        if slots:
            setup.append(f"volatile uint64_t slot[{slots}];")
            setup += [f"slot[{i}] = x * {odd.pop()}u;" for i in range(slots)]
        for i in range(wide):
            setup.append(f"vector v{i} = (vector){{ 0 }} + (int64_t)(x * {odd.pop()}u);")
        for i in range(masks):
            setup.append(f"unsigned short m{i} = mask_of(x * {odd.pop() % 9999}u);")
        # Compilers can't look through this: what was computed is in registers in front of the site, not made behind it.
        setup += [f'__asm__ volatile("" : "+r"(i{i}));' for i in range(ints)]
        setup += [f'__asm__ volatile("" : "+x"(d{i}));' for i in range(doubles)]
        setup += [f'__asm__ volatile("" : "+t"(l{i}));' for i in range(longs)]
        setup += [f'__asm__ volatile("" : "+v"(v{i}));' for i in range(wide)]
        setup += [f'__asm__ volatile("" : "+k"(m{i}));' for i in range(masks)]
        for _ in range(self.sites):
            site = rng.choice(self.ARGS)
            value = rng.choice([f"i{i}" for i in range(ints)] + ["x"])
            rounds.append(site.format(v=value) + ";")
            if ints > 1:
                rounds.append(f"i0 ^= i{ints - 1} >> 3;")
        result += [f"result = (result ^ i{i}) * 31;" for i in range(ints)]
        result += [f"result = (result ^ bits_of(d{i})) * 31;" for i in range(doubles)]
        result += [f"result = (result ^ bits_of((double)l{i})) * 31;" for i in range(longs)]
        result += [f"result = (result ^ slot[{i}]) * 31;" for i in range(slots)]
        for i in range(masks):
            result += [f'__asm__ volatile("" : "+k"(m{i}));', f"result = (result ^ m{i}) * 31;"]
        if wide:
            result.append("vector sum = v0;")
            result += [f"sum = sum * 31 ^ v{i};" for i in range(1, wide)]
            result.append("for (unsigned int i = 0; i < sizeof(sum) / 8; i++)")
            result.append("\tresult = (result ^ (uint64_t)sum[i]) * 31;")
        body = "\n\t".join([*setup, *rounds, "uint64_t result = x;", *result, "return result;"])
        self.text = f"\n__attribute__((noinline)) FUNCTION {self.name}(uint64_t x)\n{{\n\t{body}\n}}\n"


# Probes, sites and what they share in one file, of which compilers see everything but who calls the probes.
STATICS = """#include <stdio.h>
#define CREATE_TRACE_POINTS
#include "values.h"

static unsigned long calls, sum;
static struct { int last; char text[8]; } state;

static void on_0(void *data) { (void)data; calls++; }
static void on_1(void *data, int a) { (void)data; calls++; sum += (unsigned int)a; state.last = a; }
static void on_4(void *data, int a, unsigned long b, int c, int d)
{
	(void)data;
	calls++;
	sum += (unsigned int)(a + c + d) + b;
	state.text[0] = (char)c;
}
static __attribute__((noinline)) void hit_0(void) { trace_keep_0(); }
static __attribute__((noinline)) int hit_1(int a) { trace_keep_1(a); return a; }
static __attribute__((noinline)) int hit_4(int a) { trace_keep_4(a, 2, 3, 4); return a; }

int main(void)
{
	if (register_trace_keep_0(on_0, NULL) || register_trace_keep_1(on_1, NULL) || register_trace_keep_4(on_4, NULL))
		return 2;
	unsigned long before = calls;
	hit_0();
	unsigned long after_0 = calls, sum_0 = sum;
	hit_1(10);
	unsigned long after_1 = calls, sum_1 = sum;
	int last = state.last;
	hit_4(100);
	printf("%lu %lu %lu, ", after_0 - before, after_1 - after_0, calls - after_1);
	printf("%lu %lu, %d %d\\n", sum_1 - sum_0, sum - sum_1, last, state.text[0]);
	return 0;
}
"""

VECTORS = {"": 0, "avx2": 32, "avx512f": 64}

KEEP = """#define TRACE_SYSTEM keep
DECLARE_TRACE(keep_0, TP_PROTO(void), TP_ARGS());
DECLARE_TRACE(keep_1, TP_PROTO(int a), TP_ARGS(a));
DECLARE_TRACE(keep_2, TP_PROTO(long a, char b), TP_ARGS(a, b));
DECLARE_TRACE(keep_3, TP_PROTO(int a, void *b, unsigned int c), TP_ARGS(a, b, c));
DECLARE_TRACE(keep_4, TP_PROTO(int a, unsigned long b, int c, int d), TP_ARGS(a, b, c, d));
DECLARE_TRACE(keep_5, TP_PROTO(int a, int b, unsigned long c, int d, int e), TP_ARGS(a, b, c, d, e));
DECLARE_TRACE(keep_6, TP_PROTO(int a, int b, int c, int d, unsigned long e, int f), TP_ARGS(a, b, c, d, e, f));
DECLARE_TRACE(keep_7, TP_PROTO(int a, int b, int c, int d, int e, int f, unsigned long g),
	TP_ARGS(a, b, c, d, e, f, g));
DECLARE_TRACE(keep_real, TP_PROTO(double a), TP_ARGS(a));
"""


def keepers(vectors: str) -> list[Keeper]:
    rng = random.Random(14)
    return [Keeper(i, rng, vectors) for i in range(20)]


def call_functions(vectors: str, cpp: bool, target: bool) -> str:
    """C or C++: the functions. With target, they have vectors by an attribute."""
    some = keepers(vectors)
    text = ['#include <stdint.h>\n#include <string.h>\n#include "values.h"\n']
    attribute = f'__attribute__((target("{vectors}"))) ' if target else ""
    if cpp:
        text.append(f'#define FUNCTION extern "C" {attribute}uint64_t\n')
    else:
        text.append(f"#define FUNCTION {attribute}uint64_t\n")
        text += [f"FUNCTION {k.name}(uint64_t x);\n" for k in some]
    if vectors:
        text.append(f"typedef int64_t vector __attribute__((vector_size({VECTORS[vectors]})));\n")
        text.append("static inline unsigned short mask_of(uint64_t x) { return (unsigned short)x; }\n")
    text.append("static inline uint64_t bits_of(double x) { uint64_t bits; memcpy(&bits, &x, 8); return bits; }\n")
    text += [k.text for k in some]
    return "".join(text)


def call_header(vectors: str) -> str:
    some = keepers(vectors)
    # Without vectors and arrays: the stack is theirs to align, and they count on it.
    aligned = ["aligned_1", "aligned_5", "aligned_0"]
    names = re.findall(r"DECLARE_TRACE\((\w+), TP_PROTO\((.*?)\),\s+TP_ARGS", KEEP)
    probes = []
    for name, proto in names:
        params = "" if proto == "void" else f", {proto}"
        unused = "".join(f"(void){p.split()[-1].lstrip('*')}; " for p in proto.split(",") if proto != "void")
        probes.append(f"static void probe_{name}(void *data{params})\n{{\n\t(void)data; {unused}\n"
                      "\tin_probe(__builtin_frame_address(0));\n}\n")
    return "".join([
        "void in_probe(const void *frame);\n", *probes,
        "static void register_all(void)\n{\n",
        *(f"\tif (register_trace_{name}(probe_{name}, NULL))\n\t\tabort();\n" for name, _ in names), "}\n",
        *(f"uint64_t {k.name}(uint64_t x);\n" for k in some),
        f"#define NR_FUNCTIONS {len(some)}\n",
        "static uint64_t (*const functions[])(uint64_t x) = {\n", *(f"\t{k.name},\n" for k in some), "};\n",
        "static const unsigned int sites_of[] = {\n", *(f"\t{k.sites},\n" for k in some), "};\n",
        "static __attribute__((noinline)) uint64_t aligned_0(uint64_t x)\n{\n\ttrace_keep_0();\n\treturn x * 3;\n}\n",
        "static __attribute__((noinline)) uint64_t aligned_1(uint64_t x)\n{\n\ttrace_keep_1((int)x);\n"
        "\treturn x * 5;\n}\n",
        "static __attribute__((noinline)) uint64_t aligned_5(uint64_t x)\n{\n\ttrace_keep_5(1, 2, x, 4, 5);\n"
        "\treturn x * 7;\n}\n",
        f"#define NR_ALIGNED {len(aligned)}\n",
        f"TP_UNUSED static uint64_t (*const aligned_functions[])(uint64_t x) = {{ {', '.join(aligned)} }};\n",
    ])


def cpu_has(flag: str) -> bool:
    return bool(re.search(rf"\b{flag}\b", read("/proc/cpuinfo")))


class Call(Case):
    def compile(self, compiler: str, *arguments: str) -> None:
        need(self, compiler)
        standard = "-std=gnu++17" if "++" in compiler else "-std=gnu11"
        self.succeed([compiler, standard, "-Wall", "-Wextra", "-Wno-psabi", "-I", os.path.join(ROOT, "runtime/include"),
                      "-iquote", self.dir, *arguments])

    def generate(self, name: str, text: str) -> None:
        generate(self.dir, self.write(name, text))

    # ---- Arguments ----

    def arguments(self, compiler: str, *options: str, kinds: Callable[[], list[list[str]]] = all_kinds) -> None:
        need(self, compiler, CXX[compiler])
        rng = random.Random(8)
        all_events = [Event(number, some, rng) for number, some in enumerate(kinds())]
        self.generate("arguments.tp", "#define TRACE_SYSTEM arguments\n" + TYPES_HEAD
                      + "".join(event.definition for event in all_events))
        sites = "".join(event.hit for event in all_events)
        hits = "".join(f"\thit_{event.name}();\n" for event in all_events)
        main = ARGUMENTS + "".join(event.probe for event in all_events) + "int main(void)\n{\n\thit_from_c();\n"
        main += "".join(f"\tif (register_trace_{event.name}(probe_{event.name}, &the_data))\n\t\treturn 2;\n"
                        for event in all_events)
        main += '\thit_from_c();\n\thit_from_cpp();\n\tprintf("%u wrong of %u calls\\n", bad, calls);\n\treturn 0;\n}\n'
        head = '#include "arguments.h"\n'
        self.write("main.c", main)
        self.write("sites.c", f"{head}extern const char call_text[];\nextern int call_place;\n"
                   f"int call_some_function(int a, char b);\nvoid hit_from_c(void);\n{sites}"
                   f"void hit_from_c(void)\n{{\n{hits}}}\n")
        self.write("sites.cc", f'{head}extern "C" {{\nextern const char call_text[];\nextern int call_place;\n'
                   f"int call_some_function(int a, char b);\n}}\n{sites}"
                   f'extern "C" void hit_from_cpp(void);\nvoid hit_from_cpp(void)\n{{\n{hits}}}\n')
        for file in ("main.c", "sites.c", "sites.cc"):
            self.compile(CXX[compiler] if file.endswith("cc") else compiler, "-Werror", "-Wno-unused-variable",
                         *options, "-c", "-o", self.path(file + ".o"), self.path(file))
        self.succeed([CXX[compiler], *options, "-o", self.path("main"), *(self.path(f) for f in (
            "main.c.o", "sites.c.o", "sites.cc.o")), *LIBS])
        self.assertEqual(self.succeed([self.path("main")]).stdout, f"0 wrong of {4 * len(all_events)} calls\n")

    @check_all("test_arguments_gcc_O2 is one way to build it")
    def test_arguments_gcc_O0(self) -> None:
        self.arguments("gcc", "-O0")

    def test_arguments_gcc_O2(self) -> None:
        self.arguments("gcc", "-O2")

    @check_all("test_arguments_gcc_O2 is one way to build it")
    def test_arguments_gcc_Os_pic(self) -> None:
        self.arguments("gcc", "-Os", "-fPIC")

    @check_all("test_arguments_gcc_O2 is one way to build it")
    def test_arguments_clang_O0(self) -> None:
        self.arguments("clang", "-O0")

    @check_all("test_arguments_gcc_O2 is one way to build it")
    def test_arguments_clang_O2(self) -> None:
        self.arguments("clang", "-O2")

    @check_all("test_arguments_gcc_O2 is one way to build it")
    def test_arguments_gcc_O0_tsan(self) -> None:
        """Code that a sanitizer adds is called between any two statements."""
        self.arguments("gcc", "-O0", "-fsanitize=thread")

    @both
    def test_converted_arguments(self) -> None:
        """To convert one takes a call, which does not overwrite another."""
        self.generate("converted.tp", CONVERTED_TP)
        source = self.write("converted.c", CONVERTED)
        for compiler in ("gcc", "clang"):
            for level in ("-O2", "-O0", "-O1", "-O3", "-Os")[:few_or_many(1, 5)]:
                with self.subTest(compiler=compiler, level=level):
                    self.compile(compiler, "-Werror", level, "-c", "-o", self.path("converted.o"), source)
                    self.succeed([compiler, "-o", self.path("converted"), self.path("converted.o"), *LIBS])
                    self.assertEqual(self.succeed([self.path("converted")]).stdout, "1.25 77 -9 2.5\n" * 2)

    def test_volatile_arguments(self) -> None:
        self.arguments("gcc", "-O2", kinds=volatile_kinds)

    @check_all("test_arguments_gcc_O2 is one way to build it")
    def test_arguments_without_static_keys(self) -> None:
        self.arguments("gcc", "-O1", "-DTP_STATIC_KEYS=0")

    @both
    def test_statics(self) -> None:
        """What a probe changes is changed, also for callers that are compiled together with the probe and the site."""
        self.generate("values.tp", KEEP)
        source = self.write("statics.c", STATICS)
        for compiler in CXX:
            for level in ("-O3", "-O0", "-O1", "-Os")[:few_or_many(1, 4)]:
                with self.subTest(compiler=compiler, level=level):
                    self.compile(compiler, "-Werror", level, "-c", "-o", self.path("statics.o"), source)
                    self.succeed([compiler, "-o", self.path("statics"), self.path("statics.o"), *LIBS])
                    self.assertEqual(self.succeed([self.path("statics")]).stdout, "1 1 1, 10 109, 10 3\n")

    # ---- What lives across a site ----

    def keep(self, compiler: str, level: str, vectors: str = "", cpp: bool = False, target: bool = False) -> None:
        need(self, compiler, CXX[compiler])
        if vectors and not cpu_has(vectors):
            unavailable(self, f"this processor has no {vectors}")
        self.generate("values.tp", KEEP)
        self.write("call.h", call_header(vectors))
        source = self.write("keep.cc" if cpp else "keep.c", call_functions(vectors, cpp, target))
        wide = [f"-m{vectors}"] if vectors and not target else []
        if target and compiler == "gcc":  # it can't, and tp/call.h says what to do
            wide.append("-DTP_STATIC_KEYS=0")
        # Vectors of integers, which take gcc long to look for, are not wanted.
        self.compile(CXX[compiler] if cpp else compiler, level, "-fno-tree-slp-vectorize", *wide, "-c", "-o",
                     self.path("keep.o"), source)
        # The probes look at their frame pointer.
        self.compile(compiler, level, "-fno-omit-frame-pointer", "-c", "-o", self.path("call.o"),
                     os.path.join(HERE, "call.c"))
        self.succeed([compiler, "-o", self.path("call"), self.path("call.o"), self.path("keep.o"), *LIBS])
        done = run([self.path("call")])
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertRegex(done.stdout, r"^good: \d+ calls\n$")


KEEPS = {
    "gcc_O0": ("gcc", "-O0"),
    "gcc_O1": ("gcc", "-O1"),
    "gcc_O2": ("gcc", "-O2"),
    "gcc_O3_cpp": ("gcc", "-O3", "", True),
    "gcc_Os": ("gcc", "-Os"),
    "gcc_O2_avx2": ("gcc", "-O2", "avx2"),
    "gcc_O2_avx512": ("gcc", "-O2", "avx512f"),
    "gcc_O2_target_avx512": ("gcc", "-O2", "avx512f", False, True),
    "clang_O0": ("clang", "-O0"),
    "clang_O2": ("clang", "-O2"),
    "clang_O3_cpp": ("clang", "-O3", "", True),
    "clang_O2_avx2": ("clang", "-O2", "avx2"),
    "clang_O2_avx512": ("clang", "-O2", "avx512f"),
    "clang_O2_target_avx512": ("clang", "-O2", "avx512f", False, True),
}


KEEPS_FIRST = ("gcc_O2", "gcc_O2_avx2", "clang_O2", "clang_O3_cpp")


def _add(name: str, *how) -> None:
    def test(self: Call) -> None:
        self.keep(*how)
    if name not in KEEPS_FIRST:
        test = check_all("some ways to build it are enough before a commit")(test)
    setattr(Call, f"test_keeps_{name}", unittest.skipUnless(
        os.uname().machine == "x86_64", "it names registers of x86-64")(test))


for _name, _how in KEEPS.items():
    _add(_name, *_how)

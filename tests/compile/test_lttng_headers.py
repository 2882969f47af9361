# SPDX-License-Identifier: MIT
"""A generated header and <lttng/tracepoint.h> in one file, in both orders, as C and as C++."""

from __future__ import annotations

import itertools

from building import generate
from support import INCLUDES, WARNINGS, Case, need, run

TICK = """#define TRACE_SYSTEM clock
TRACE_EVENT(clock_tick, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, n)), TP_fast_assign(__entry->n = n;),
	TP_printk("n=%d", __entry->n));
"""
LTTNG = """#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER hello
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./hello.h"
#if !defined(HELLO_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define HELLO_H
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_EVENT(hello, world, LTTNG_UST_TP_ARGS(int, n), LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, n, n)))
#endif
#include <lttng/tracepoint-event.h>
"""
USE = """
int main(void)
{
	trace_clock_tick(1);
	lttng_ust_tracepoint(hello, world, 2);
	return register_trace_clock_tick(NULL, NULL) == 0;
}
"""
OLD_NAMES = "-DLTTNG_UST_COMPAT_API_VERSION=0"
NEW_NAMES_ONLY = "-DLTTNG_UST_COMPAT_API_VERSION=1"


class LttngHeaders(Case):
    def setUp(self) -> None:
        super().setUp()
        need(self, "gcc", "g++", "clang")
        if run(["gcc", "-E", "-x", "c", "-"], input="#include <lttng/tracepoint.h>\n", stdin=None).returncode:
            self.skipTest("liblttng-ust-dev is not installed")
        generate(self.dir, self.write("tick.tp", TICK))
        self.write("hello.h", LTTNG)

    def compile(self, compiler: str, headers: tuple[str, ...], create: bool, names: str) -> tuple[int, str]:
        source = self.write("main.cpp" if compiler == "g++" else "main.c", "#define CREATE_TRACE_POINTS\n" * create
                            + "".join(f'#include "{header}"\n' for header in headers) + USE)
        # Those of LTTng's headers are not ours to judge.
        warnings = [w for w in WARNINGS if w in ("-Wall", "-Wextra", "-Werror")]
        done = run([compiler, *warnings, names, *INCLUDES, "-I", self.dir, "-c", source, "-o", self.path("main.o")])
        return done.returncode, done.stderr

    def test_orders(self) -> None:
        orders = ("tick.h", "hello.h"), ("hello.h", "tick.h")
        for compiler, order, create, names in itertools.product(
                ("gcc", "clang", "g++"), orders, (False, True), (OLD_NAMES, NEW_NAMES_ONLY)):
            if create and compiler == "g++":
                continue
            with self.subTest(compiler=compiler, order=order, create=create, names=names):
                status, messages = self.compile(compiler, order, create, names)
                if order[0] == "tick.h" or names == NEW_NAMES_ONLY:
                    self.assertEqual((status, messages), (0, ""))
                else:
                    first = next(line for line in messages.splitlines() if "error:" in line)
                    self.assertIn("include it after this header, or compile with -DLTTNG_UST_COMPAT_API_VERSION=1", first)

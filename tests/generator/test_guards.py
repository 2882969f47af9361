# SPDX-License-Identifier: MIT
"""Headers of two .tp files with one name and one TRACE_SYSTEM, from two directories, in one program."""

from __future__ import annotations

import re

from building import build, generate
from support import Case, read, run, tpgen

TP = """#define TRACE_SYSTEM app
DECLARE_TRACE({0}, TP_PROTO(int a), TP_ARGS(a));
TRACE_EVENT({0}_event,
	TP_PROTO(int a),
	TP_ARGS(a),
	TP_STRUCT__entry(__field(int, a)),
	TP_fast_assign(__entry->a = a;),
	TP_printk("{0}=%d", __entry->a)
);
"""
PROGRAM = """#define CREATE_TRACE_POINTS
#include "disk/trace.h"
#include "net/trace.h"
#include "disk/trace.h"

int main(void)
{
	trace_disk(1);
	trace_disk_event(2);
	trace_net(3);
	trace_net_event(4);
	return 0;
}
"""


class Guards(Case):
    def guard(self, name: str) -> str:
        found = re.search(r"^#ifndef (TP_GENERATED_\w+)\n#define \1\n", read(self.path(name)), re.M)
        assert found, name
        return found[1]

    def test_both_are_included(self) -> None:
        for name in ("disk", "net"):
            generate(".", "trace.tp", cwd=self.dir_of(name, TP.format(name)))
        program = build(self.path("program"), self.write("program.c", PROGRAM), include=[self.dir])
        done = run([program], env={"TP_ENABLE": "app:*"})
        self.assertEqual((done.returncode, re.findall(r"\w+=\d", done.stderr)), (0, ["disk=2", "net=4"]))

    def dir_of(self, name: str, text: str) -> str:
        self.write(f"{name}/trace.tp", text)
        return self.path(name)

    def test_what_differs(self) -> None:
        """One event, a prototype or a type are enough; what was declared the same is the same, wherever it stands."""
        one = TP.format("one")
        variants = [one, one + "DECLARE_TRACE(two, TP_PROTO(int a), TP_ARGS(a));\n", one.replace("one, TP_PROTO(int", "one, TP_PROTO(long"),
                    "#define TRACE_SYSTEM app\n", "struct a;\n", "struct b;\n"]
        for number, text in enumerate(variants):
            generate(".", "trace.tp", cwd=self.dir_of(str(number), text))
        self.assertEqual(len({self.guard(f"{n}/trace.h") for n in range(len(variants))}), len(variants))
        generate("other", "trace.tp", cwd=self.dir_of("0", "/* Moved. */\n" + one))
        tpgen("gen", "--backend", "nop", "-o", self.path("nop"), self.path("0/trace.tp"))
        self.assertEqual({self.guard("0/other/trace.h"), self.guard("nop/trace.h")}, {self.guard("0/trace.h")})

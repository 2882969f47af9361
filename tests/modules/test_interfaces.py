# SPDX-License-Identifier: MIT
"""Programs and libraries of different interfaces meet: tracing is off, one line says so, and nothing crashes."""

from __future__ import annotations

import os
import re

from building import build, generate, interface_version, oldest_interface
from support import Case, read, run

EVENT = """\
#undef TRACE_SYSTEM
#define TRACE_SYSTEM met

TRACE_EVENT(met_hit, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, n)),
	TP_fast_assign(__entry->n = n;), TP_printk("n=%d", __entry->n));
"""
PROGRAM = """\
#define CREATE_TRACE_POINTS
#include "met.h"
#include <stdio.h>
#include <tp/marker.h>
#include <tp/tp.h>

static void probe(void *data, int n)
{
	(void)data;
	printf("probe %d\\n", n);
}

int main(void)
{
	printf("register: %d\\n", register_trace_met_hit(probe, NULL));
	trace_met_hit(1);
	trace_mark(met_marker, "n %d", 2);
	printf("on: %d\\n", trace_met_hit_enabled());
	printf("unregister: %d\\n", unregister_trace_met_hit(probe, NULL));
	tracepoint_synchronize_unregister();
	return 0;
}
"""


class Interfaces(Case):
    def meet(self, version: int, libtp: str) -> tuple[str, str]:
        """What a program says whose headers are of this version."""
        generate(self.dir, self.write("met.tp", EVENT))
        text = re.sub(r"TP_INTERFACE_VERSION != \d+", f"TP_INTERFACE_VERSION != {version}", read(self.path("met.h")))
        self.write("met.h", text)
        build(self.path("met"), self.write("met.c", PROGRAM), include=[self.dir], libtp=libtp,
              flags=[f"-DTP_INTERFACE_VERSION={version}"])
        done = run([self.path("met")], env={**os.environ, "TP_ENABLE": "*"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr

    def test_same(self) -> None:
        for libtp in ("static", "shared"):
            out, err = self.meet(interface_version(), libtp)
            self.assertEqual(out, "register: 0\nprobe 1\non: 1\nunregister: 0\n")
            self.assertEqual(len(err.splitlines()), 2)
            self.assertIn("met:met_hit: n=1\n", err)

    def test_others(self) -> None:
        """The tracepoints stay off; the probe waits for one that it can be called by."""
        now = interface_version()
        for version, remedy in ((oldest_interface() - 1, "build it again with this one"),
                                (now + 1, "install a newer libtp, or build it again with this one")):
            for libtp in ("static", "shared"):
                with self.subTest(version=version, libtp=libtp):
                    out, err = self.meet(version, libtp)
                    self.assertEqual(out, "register: 0\non: 0\nunregister: 0\n")
                    self.assertEqual(err, f"tp: {self.path('met')} was built for another interface of libtp ({version}; "
                                          f"this is {now}): its tracepoints stay off; {remedy}\n")

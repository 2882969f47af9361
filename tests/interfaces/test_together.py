# SPDX-License-Identifier: MIT
"""Libraries of two names in one process, as where a plugin was not built again: each module finds its own."""

from __future__ import annotations

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from building import CC, build, call, generate, soname  # noqa: E402
from support import BUILD, Case, read  # noqa: E402

WHERE = """\
#define CREATE_TRACE_POINTS
#include "{name}.h"
#include <dlfcn.h>
#include <stdio.h>
#include <tp/tp.h>

static const char *library(void)
{{
	Dl_info info;
	return dladdr((void *)(uintptr_t)tp_sink_close, &info) ? info.dli_fname : "?";
}}

__attribute__((visibility("default"))) void hit(void);

void hit(void)
{{
	struct tp_sink *sink = tp_text_sink(stdout);

	printf("{name}: %s\\n", library());
	fflush(stdout);
	tp_enable(sink, "*");
	trace_{name}_hit(1);
	tp_sink_close(sink);
}}
"""
MAIN = """
int main(int argc, char **argv)
{
	void *handle = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW);
	void (*of_plugin)(void) = NULL;

	if (handle)
		*(void **)&of_plugin = dlsym(handle, "hit");
	if (!of_plugin)
		return 1;
	hit();
	of_plugin();
	return 0;
}
"""
EVENT = """\
#define TRACE_SYSTEM {name}

TRACE_EVENT({name}_hit, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, n)),
	TP_fast_assign(__entry->n = n;), TP_printk("n=%d", __entry->n));
"""


class Together(Case):
    def library(self, number: int) -> str:
        """The present library as libtp.so.NUMBER, with the versions of that."""
        today = f"LIBTP_{soname().rpartition('.')[2]} "
        script = read(os.path.join(BUILD, "libtp.map")).replace(today, f"LIBTP_{number} ")
        path = self.path(f"libtp.so.{number}")
        call([CC, "-shared", f"-Wl,-soname,libtp.so.{number}", "-Wl,-z,nodelete", "-o", path,
              f"-Wl,--version-script={self.write(f'{number}.map', script)}", "-Wl,--whole-archive",
              os.path.join(BUILD, "libtp.a"), "-Wl,--no-whole-archive", "-lurcu-bp", "-lpthread"])
        return path

    def module(self, name: str, output: str, number: int, more: str = "") -> str:
        generate(self.dir, self.write(f"{name}.tp", EVENT.format(name=name)))
        return build(self.path(output), self.write(f"{name}.c", WHERE.format(name=name) + more), libtp="",
                     include=[self.dir], flags=["-fPIC"],
                     link=[f"-Wl,-rpath,{self.dir}", self.library(number), "-lurcu-bp", "-ldl"])

    def test_each_finds_its_own(self) -> None:
        """Functions and tracepoints of the program are those of its library, the plugin's of its own."""
        program = self.module("program", "program", 8, MAIN)
        plugin = self.module("plugin", "plugin.so", 9)
        done = self.succeed([program, plugin])
        self.assertEqual([line.split(" ", 2)[2] if "hit" in line else line for line in done.stdout.splitlines()],
                         [f"program: {self.path('libtp.so.8')}", "program:program_hit: n=1",
                          f"plugin: {self.path('libtp.so.9')}", "plugin:plugin_hit: n=1"])
        self.assertEqual(done.stderr, "")

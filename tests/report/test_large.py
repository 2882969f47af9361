# SPDX-License-Identifier: MIT
"""Traces that are large: what reads them needs no more memory than for smaller ones, and shows a person how far it is."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

from building import build, generate
from pseudo_terminal import Terminal
from support import BUILD, PATIENCE, ROOT, Case, read, run

TP = os.path.join(BUILD, "tp")
BENCH = os.path.join(ROOT, "tests/bench")
EVENT = 70.6  # bytes
SMALL, LARGE = 40, 120  # MB; with the smaller one, all that has a largest size has it: a group of rows of a Parquet file
EVENTS, TABLES = 40, 128 * 1024  # KiB, of which all rows take more
MORE = 4096  # KiB, for what is known of each packet, and for what malloc() leaves between

# The clock goes on by a second whenever somebody looks at it, so that everything takes long.
SLOW_CLOCK = """
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *time)
{
	static long seconds;
	(void)id;
	*time = (struct timespec){.tv_sec = seconds++};
	return 0;
}
"""


class Large(Case):
    def setUp(self) -> None:
        super().setUp()
        generate(self.dir, os.path.join(BENCH, "read.tp"))
        self.program = build(self.path("read"), os.path.join(BENCH, "read.c"), include=[self.dir])
        self.out = self.path("out")

    def record(self, name: str, megabytes: float) -> str:
        trace = self.path(name)
        done = run([self.program, str(int(megabytes * 1e6 / EVENT)), "4"], env={**os.environ, "TP_ENABLE": "*", "TP_OUTPUT": f"ctf:{trace}"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return trace

    def commands(self, trace: str) -> list[list[str]]:
        convert = ["convert", trace, "-o", self.out, "--to"]
        return [["report", trace], ["report", "--fields", trace], ["report", "--summary", trace], [*convert, "json"], [*convert, "perfetto"],
                [*convert, "perfetto", "--span", "bench_begin/bench_end by id"], [*convert, "parquet"], [*convert, "trace.dat"],
                ["timeline", trace, "-o", self.out], ["latency", trace, "bench_begin", "bench_end", "--key", "id", "--slowest", "9"]]

    def remove_output(self) -> None:
        if os.path.isdir(self.out):
            shutil.rmtree(self.out)
        elif os.path.exists(self.out):
            os.remove(self.out)

    def peak(self, command: list[str]) -> int:
        """KiB that were in memory at once. Of a trace, pages are mapped only for a moment, one at a time: those of the heads of packets."""
        with open(os.devnull, "wb") as null:
            done = subprocess.run([self.path("peak"), self.path("taken"), TP, *command], stdout=null, stderr=subprocess.PIPE, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""), command)
        self.remove_output()
        with open(self.path("taken"), encoding="ascii") as file:
            return int(file.read().split()[1])

    def test_memory(self) -> None:
        build(self.path("peak"), os.path.join(BENCH, "peak.c"), libtp="")
        traces = [self.record("small", SMALL), self.record("large", LARGE)]
        for small, large in zip(*map(self.commands, traces)):
            with self.subTest(" ".join(small)):
                before, after = self.peak(small), self.peak(large)
                self.assertLess(after, before + MORE)

    def test_memory_of_many_events(self) -> None:
        """Tables, of which each event has its own."""
        names = [f"many_{i}" for i in range(EVENTS)]
        text = read(os.path.join(BENCH, "read.tp")).partition("DEFINE_EVENT")[0].replace("TRACE_SYSTEM bench", "TRACE_SYSTEM many")
        proto = "uint64_t id, const char *path, uint32_t size, int state, const void *connection"
        generate(self.dir, self.write("many.tp", text + "".join(
            f"DEFINE_EVENT(bench_request, {name},\n\tTP_PROTO({proto}),\n\tTP_ARGS(id, path, size, state, connection)\n);\n" for name in names)))
        hits = "".join(f"\t\ttrace_{name}((uint64_t)i, \"/some/path\", 100, 1, 0);\n" for name in names)
        program = build(self.path("many"), self.write("many.c", '#define CREATE_TRACE_POINTS\n#include "many.h"\nint main(void)\n{\n'
                        f"\tfor (int i = 0; i < {4 * SMALL * 1000000 // int(EVENT) // EVENTS}; i++) {{\n{hits}\t}}\n\treturn 0;\n}}\n"),
                        include=[self.dir])
        done = run([program], env={**os.environ, "TP_ENABLE": "*", "TP_OUTPUT": f"ctf:{self.path('trace')}"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        build(self.path("peak"), os.path.join(BENCH, "peak.c"), libtp="")
        self.assertLess(self.peak(["convert", self.path("trace"), "-o", self.out, "--to", "parquet"]), TABLES)

    def test_progress(self) -> None:
        """A bar that grows from nothing to the end, and none is left; a command that shows its output shows no bar."""
        self.write("slow.c", SLOW_CLOCK)
        slow = build(self.path("slow.so"), self.path("slow.c"), libtp="")
        trace = self.record("trace", 6)
        for command in self.commands(trace):
            with self.subTest(" ".join(command)):
                terminal = Terminal(["sh", "-c", 'exec "$@" >file', "sh", TP, *command], self.dir,
                                    {**os.environ, "LD_PRELOAD": slow, "TERM": "xterm"})
                self.assertEqual(terminal.end(), 0, terminal.text())
                shown = terminal.text()
                percents = [int(percent) for percent in re.findall(r"\r\[#*\.*\] +(\d+)%", shown)]
                self.assertRegex(shown, r"\A(\r\[#*\.*\] +\d+%)+\r\x1b\[K\Z")
                self.assertGreater(len(percents), 5)
                self.assertEqual(percents, sorted(percents))
                self.assertLess(percents[0], 50)
                self.assertGreater(percents[-1], 60)
                self.remove_output()

# SPDX-License-Identifier: MIT
"""What TP_OUTPUT has opened can be reached from the program."""

from __future__ import annotations

import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from building import build  # noqa: E402
from daemons import Daemons, built  # noqa: E402
from support import need, read  # noqa: E402

PROGRAM = """\
#define CREATE_TRACE_POINTS
#include "daemon.h"
#include <stdlib.h>
#include <tp/tp.h>

int main(int argc, char **argv)
{
	struct tp_sink *recorder = tp_output("ctf"), *text = tp_output("text");

	if (argc != 2 || !recorder || !text || recorder == text || tp_output("") || tp_output(NULL) || tp_output("ct") ||
	    tp_output("stats") || tp_output(getenv("RECORDER")) != recorder)
		return 1;
	trace_daemon_work(1);
	if (tp_ctf_snapshot(recorder, argv[1]) != 0)
		return 2;
	if (tp_disable(text, "*") != 1)
		return 3;
	trace_daemon_work(2);
	if (tp_sink_close(recorder) != 0 || tp_output("ctf") || tp_output("text") != text)
		return 4;
	/* One that may well get the memory of the other: it is not the environment's to close. */
	struct tp_sink *own = tp_ctf_sink("own", NULL);
	if (!own || tp_output("ctf") || tp_enable(own, "*") != 1)
		return 5;
	trace_daemon_work(3);
	return 0;
}
"""


class Outputs(Daemons):
    def test_reached(self) -> None:
        need(self, "babeltrace2")
        program = build(self.path("program"), self.write("program.c", PROGRAM), include=[built()])
        recorder = f"ctf:{self.path('trace')},mode=flight"
        done = self.succeed([program, self.path("copy")], cwd=self.dir, env=self.environment(
            TP_ENABLE="*", TP_OUTPUT=f"text:{self.path('log')}; {recorder} <- daemon:*", RECORDER=recorder))
        self.assertEqual(done.stderr, "")
        self.assertEqual(self.records(self.path("copy")), [1])
        self.assertEqual(self.records(self.path("trace")), [1, 2])
        self.assertEqual(self.records(self.path("own")), [3])
        self.assertEqual(read(self.path("log")).count("daemon_work"), 1)

    def test_slow_reader_of_standard_error(self) -> None:
        """Its pipe never waits, and is full: what is lost is counted, and said when there is room again."""
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        process = self.start("work=9000", stderr=writer, TP_ENABLE="*", TP_OUTPUT="text:stderr")
        os.close(writer)
        with open(reader, "rb", buffering=0) as pipe:
            said = b""
            while chunk := pipe.read(4096):
                said += chunk
                time.sleep(0.005)
        self.assertEqual(process.wait(), 0)
        *lines, last = said.decode().splitlines()
        self.assertEqual([line for line in lines if " daemon:daemon_work: n=" not in line], [])
        lost = 9000 - len(lines)
        self.assertGreater(lost, 0)
        self.assertEqual(last, f"tp: text sink: records lost: {lost} (limit: {lost})")

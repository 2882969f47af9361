# SPDX-License-Identifier: MIT
"""What TP_OUTPUT has opened can be reached from the program."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from building import build, generate  # noqa: E402
from daemons import Daemons, built  # noqa: E402
from support import need, read, until  # noqa: E402

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

# Twenty lines that are longer than what a pipe takes as a whole; then it makes a directory, and waits until that is gone.
LONG = """\
#define CREATE_TRACE_POINTS
#include "long.h"
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void)
{
	static char text[20000];

	memset(text, 'x', sizeof(text) - 1);
	for (int i = 0; i < 20; i++)
		trace_long_text(text);
	mkdir("done", 0700);
	while (access("done", F_OK) == 0)
		usleep(1000);
	return 0;
}
"""
LONG_EVENT = """\
#define TRACE_SYSTEM long
TRACE_EVENT(long_text, TP_PROTO(const char *text), TP_ARGS(text), TP_STRUCT__entry(__string(text, text)),
	TP_fast_assign(__assign_str(text);), TP_printk("%s", __get_str(text)))
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
        self.assertEqual(last, f"tp: text output: records lost: {lost} (limit: {lost})")

    def test_a_line_of_which_a_part_is_out_at_the_end(self) -> None:
        """It is finished, if there is room by then; otherwise it is lost, and counted."""
        self.write("long.tp", LONG_EVENT)
        generate(self.dir, self.path("long.tp"))
        program = build(self.path("long"), self.write("long.c", LONG), include=[self.dir])
        for room in (False, True):
            with self.subTest(room=room):
                reader, writer = os.pipe()
                os.set_blocking(writer, False)
                process = subprocess.Popen([program], stderr=writer, cwd=self.dir, env=self.environment(
                    TP_ENABLE="*", TP_OUTPUT="text:stderr", TP_LOG=self.path(f"log-{room}")))
                os.close(writer)
                self.addCleanup(self.end, process)
                until(lambda: os.path.exists(self.path("done")))
                with open(reader, "rb", buffering=0) as pipe:
                    text = b""
                    while room and text.count(b"\n") < 2:
                        text += pipe.read(4096)
                    os.rmdir(self.path("done"))
                    self.assertEqual(process.wait(), 0)
                    text += pipe.read()
                log = read(self.path(f"log-{room}"))
                lost = re.fullmatch(r"tp: text output: records lost: (\d+) \(limit: \1\)\n", log)
                self.assertTrue(lost, log)
                self.assertEqual((text.count(b"\n") + int(lost[1]), text.endswith(b"\n")), (20, room))

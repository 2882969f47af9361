# SPDX-License-Identifier: MIT
"""Programs that have more rights than who starts them: of set-uid, set-gid and capability programs the environment is
their user's, who may be an attacker. They ignore all of it, write nothing and make no file."""

from __future__ import annotations

import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from building import build  # noqa: E402
from daemons import NOBODY, Daemons, built  # noqa: E402
from support import need, read, run, unavailable  # noqa: E402

OTHER = 61234
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]

# Says whether it is such a program, and what is open. With an argument there is a message, for which TP_LOG is looked at,
# and a trace of the program's own, for which TP_CLOCK is.
PROGRAM = """\
#define CREATE_TRACE_POINTS
#include "daemon.h"

#include <stdio.h>
#include <sys/auxv.h>
#include <tp/tp.h>

int main(int argc, char **argv)
{
	static const char *const kinds[] = {"text", "ctf", "stats", "lttng", "ftrace", "sdt"};

	trace_daemon_work(1);
	printf("secure=%lu on=%d outputs=", getauxval(AT_SECURE), trace_daemon_work_enabled());
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		printf("%s", tp_output(kinds[i]) ? kinds[i] : "");
	puts("");
	if (argc == 1)
		return 0;
	if (tp_ctf_sink("/nowhere", "packet=1"))
		return 2;
	return tp_sink_close(tp_ctf_sink(argv[1], NULL)) != 0;
}
"""


class Privileged(Daemons):
    def setUp(self) -> None:
        super().setUp()
        need(self, "setpriv")
        if os.geteuid():
            unavailable(self, "only root can make a set-uid program")
        self.plain = build(self.path("plain"), self.write("program.c", PROGRAM), include=[built()])
        self.out = self.path("out")

    def clear(self) -> None:
        """A directory in which everybody may make files, with what looks like one of tracefs."""
        shutil.rmtree(self.out, True)
        os.makedirs(os.path.join(self.out, "tracing"))
        marker = os.path.join(self.out, "tracing", "trace_marker")
        self.write("out/tracing/trace_marker", "")
        for path, mode in ((self.out, 0o777), (os.path.join(self.out, "tracing"), 0o777), (marker, 0o666)):
            os.chmod(path, mode)

    def made(self) -> dict[str, int]:
        """What is there; of files, with their sizes."""
        paths = [os.path.join(self.out, name) for name in (*os.listdir(self.out), "tracing/trace_marker")]
        return {os.path.relpath(path, self.out): -1 if os.path.isdir(path) else os.path.getsize(path) for path in paths}

    def clock(self) -> str:
        """That of the program's own trace."""
        return "monotonic" if "name = monotonic;" in read(os.path.join(self.out, "own/metadata")) else "counter"

    def start_as_nobody(self, program: str, *arguments: str, **env: str) -> tuple[str, str]:
        self.clear()
        env = {name: value.replace("%s", self.out) for name, value in env.items()}
        done = run([*AS_NOBODY, program, *arguments], cwd=self.out, env=self.environment(**env))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr

    def programs(self) -> dict[str, str]:
        """Copies of the program, by what gives them their rights."""
        need(self, "setcap")
        found = {}
        for name, owner, group, mode in (("set-uid root", 0, 0, 0o4755), ("set-uid", OTHER, 0, 0o4755),
                                         ("set-gid", 0, OTHER, 0o2755), ("both", OTHER, OTHER, 0o6755),
                                         ("capability", 0, 0, 0o755), ("permitted capability", 0, 0, 0o755)):
            path = found[name] = shutil.copy(self.plain, self.path(name))
            os.chown(path, owner, group)
            os.chmod(path, mode)
        self.succeed(["setcap", "cap_net_raw+ep", found["capability"]])
        self.succeed(["setcap", "cap_net_raw+p", found["permitted capability"]])
        if "secure=1" not in self.start_as_nobody(found["set-uid root"])[0]:
            unavailable(self, "the file system, or what runs the tests, knows no set-uid programs")
        return found

    OUTPUTS = {
        "text:%s/log": "log", "text:log": "log", "ctf:%s/trace": "trace", "ctf:trace,mode=flight,packet=4K": "trace",
        "stats:%s/stats": "stats", "stats:stats,json,interval=0.01,children=live": "stats", "ftrace:%s/tracing": None,
        "sdt:": None, "text:log;ctf:trace;stats:stats;sdt:": "trace",
    }

    def test_what_an_ordinary_program_does(self) -> None:
        """So that the other tests would see it."""
        nothing = self.start_as_nobody(self.plain)
        self.assertEqual(nothing, ("secure=0 on=0 outputs=\n", ""))
        for output, file in self.OUTPUTS.items():
            said = self.start_as_nobody(self.plain, TP_OUTPUT=output)
            kinds = "".join(part.split(":")[0] for part in output.split(";"))
            self.assertEqual(said, (f"secure=0 on=1 outputs={kinds}\n", ""))
            if file:
                self.assertIn(file, self.made())
            elif kinds == "ftrace":
                self.assertGreater(self.made()["tracing/trace_marker"], 0)
        self.assertIn("daemon_work: n=1", self.start_as_nobody(self.plain, TP_ENABLE="*")[1])
        self.assertEqual(self.start_as_nobody(self.plain, "own", TP_LOG="%s/messages")[1], "")
        self.assertIn("packet=1", read(os.path.join(self.out, "messages")))
        self.assertIn("TP_CLOCK=sundial", self.start_as_nobody(self.plain, "own", TP_CLOCK="sundial")[1])
        self.start_as_nobody(self.plain, "own", TP_CLOCK="monotonic")
        self.assertEqual(self.clock(), "monotonic")

    def test_what_a_privileged_program_ignores(self) -> None:
        for name, program in self.programs().items():
            said = self.start_as_nobody(program, "own")
            nothing, clock = self.made(), self.clock()
            self.assertEqual(said[0], "secure=1 on=0 outputs=\n")
            self.assertRegex(said[1], r"\Atp: CTF trace .*\n\Z")
            for env in (*({"TP_OUTPUT": output} for output in (*self.OUTPUTS, "text:stderr", "text:stdout", "lttng:", "ftrace:",
                                                               "ftrace:instance")),
                        {"TP_ENABLE": "*"}, {"TP_ENABLE": "!;"}, {"TP_OUTPUT": "nonsense"}, {"TP_LOG": "%s/messages"},
                        {"TP_LOG": "syslog"}, {"TP_CLOCK": "sundial"}, {"TP_CLOCK": "monotonic"},
                        {"TP_ENABLE": "*", "TP_OUTPUT": "text:%s/log", "TP_LOG": "%s/messages", "TP_CLOCK": "sundial"}):
                with self.subTest(program=name, **env):
                    self.assertEqual(self.start_as_nobody(program, "own", **env), said)
                    self.assertEqual((self.made(), self.clock()), (nothing, clock))

    def test_started_by_who_has_these_rights(self) -> None:
        """Then it is a program like any other: root's own."""
        program = self.programs()["set-uid root"]
        self.clear()
        done = run([program], cwd=self.out, env=self.environment(TP_OUTPUT="text:log"))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "secure=0 on=1 outputs=text\n", ""))
        self.assertIn("daemon_work: n=1", read(os.path.join(self.out, "log")))

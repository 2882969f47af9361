# SPDX-License-Identifier: MIT
"""Where messages go: never into the program's data; and a broken place for them harms nobody."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import socket
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from building import build  # noqa: E402
from daemons import Daemons, built  # noqa: E402
from support import PATIENCE, read, run, unavailable  # noqa: E402

# Nothing matches, which is told when the program begins; of a trigger, when it ends.
NOTHING = "nothing:*"
TOLD = r"tp: TP_ENABLE=nothing:\*: no event of this program has such a name; .*\n"
LATE = {"TP_TRIGGER": "nothing:* traceon"}
TOLD_LATE = r"tp: TP_TRIGGER=nothing:\* traceon: no event of this program is called 'nothing:\*'\n"

# Counts how often the main thread waits by poll(), which takes the C library's place.
WAITS = """\
#define CREATE_TRACE_POINTS
#include "daemon.h"
#include <poll.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static int waits;

int poll(struct pollfd *places, nfds_t nr, int ms)
{
	waits += gettid() == getpid();
	return (int)syscall(SYS_ppoll, places, nr, &(struct timespec){.tv_sec = ms / 1000}, NULL, 0);
}

int main(void)
{
	trace_daemon_work(1); /* fails, which is told */
	return waits;
}
"""


class Messages(Daemons):
    def test_stderr(self) -> None:
        done = run([self.program], env=self.environment(TP_ENABLE=NOTHING))
        self.assertRegex(done.stderr, rf"\A{TOLD}\Z")

    def test_when_nothing_matches(self) -> None:
        """It is told when the program begins; at its end again only if a module has come, and if that has no such event, either."""
        later = r"; modules that are loaded later may have one"
        process = self.start(f"pid={self.path('pid')}", f"wait={self.path('go')}", f"plugin={os.path.join(built(), 'plugin.so')}",
                             stderr=subprocess.PIPE, TP_ENABLE="plugin:*,other:*")
        self.wait_for("pid")
        assert process.stderr
        self.assertRegex(process.stderr.readline().decode(), rf"\Atp: TP_ENABLE=\S+: no event of this program has such a name; nothing is traced{later}; ")
        self.write("go", "")
        err = process.communicate(timeout=PATIENCE)[1].decode()
        self.assertRegex(err, r"plugin:")
        self.assertEqual(re.findall(r"tp: .*", err), ["tp: TP_ENABLE=plugin:*,other:*: no event of this program is called 'other:*'"])

    def test_data_at_descriptor_2(self) -> None:
        """Closes 0, 1 and 2, and opens /dev/null twice and then its data file."""
        steps = ("close", "open=/dev/null", "open=/dev/null", f"open={self.path('data')}", "write=DATA")
        for output in ("text:stderr", "text:stdout", f"ctf:{self.path('trace')}"):
            self.succeed([self.program, *steps, "work=3"],
                         env=self.environment(TP_ENABLE=NOTHING, TP_OUTPUT=output, **LATE))
            self.succeed([self.program, *steps, "work=3"],
                         env=self.environment(TP_ENABLE="*", TP_OUTPUT=output.replace("trace", "second")))
        self.assertEqual(read(self.path("data")), "DATA" * 6)

    def test_closed_from_the_start(self) -> None:
        """Then 2 is the data file's at once."""
        script = f'"$0" open=/dev/null open=/dev/null open={self.path("data")} write=DATA work=3 <&- >&- 2>&-'
        self.succeed(["sh", "-c", script, self.program], env=self.environment(**LATE))
        self.assertEqual(read(self.path("data")), "DATA")

    def test_file(self) -> None:
        """TP_LOG=FILE, by a relative name, and after the program has gone elsewhere; 0600, appended to."""
        for _ in range(2):
            done = run([self.program, "daemon", f"pid={self.path('pid')}"], cwd=self.dir,
                       env=self.environment(TP_LOG="messages", **LATE))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.gone(self.pid())
            os.unlink(self.path("pid"))
        self.assertRegex(read(self.path("messages")), rf"\A({TOLD_LATE}){{2}}\Z")
        self.assertEqual(os.stat(self.path("messages")).st_mode & 0o777, 0o600)

    def listen(self) -> socket.socket:
        """The system's log, as long as the test runs."""
        if os.geteuid() or os.path.exists("/dev/log"):
            unavailable(self, "the system's log is somebody else's")
        log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        log.settimeout(PATIENCE)
        log.bind("/dev/log")
        self.addCleanup(os.unlink, "/dev/log")
        self.addCleanup(log.close)
        return log

    def test_syslog(self) -> None:
        """Asked for; and where daemon() has put /dev/null in the place of stderr."""
        log = self.listen()
        for steps, env in (((), {"TP_LOG": "syslog"}), (("daemon",), {}), (("close",), {}), (("daemon",), {"TP_LOG": ""})):
            with self.subTest(steps=steps, env=env):
                done = run([self.program, *steps], env=self.environment(**LATE, **env))
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertRegex(log.recv(4096).decode() + "\n", rf"\A<12>daemon\[\d+\]: {TOLD_LATE}\Z")

    def test_nobody_reads_stderr(self) -> None:
        """SIGPIPE would end the program."""
        read_end, write_end = os.pipe()
        os.close(read_end)
        for env in ({"TP_ENABLE": NOTHING}, LATE, {"TP_ENABLE": "*"}):
            process = self.start("work=3", stderr=write_end, **env)
            self.assertEqual(process.wait(PATIENCE), 0)
        os.close(write_end)

    def test_full_stderr(self) -> None:
        """SIGXFSZ would end the program."""
        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (4, 4))
        with open(self.path("err"), "wb") as err:
            process = subprocess.Popen([self.program, "work=3"], env=self.environment(TP_ENABLE=NOTHING), stderr=err,
                                       preexec_fn=limit)
            self.assertEqual(process.wait(PATIENCE), 0)
        self.assertEqual(read(self.path("err")), "tp: ")

    def test_in_the_trace(self) -> None:
        """What was said while a trace was open is in its directory, and readers of traces pass it over."""
        done = run([self.program, "work=2"], env=self.environment(TP_ENABLE="*,!nothing",
                                                                  TP_OUTPUT=f"ctf:{self.path('trace')};text:stderr,x"))
        self.assertIn("a text output has no options", done.stderr)
        logs = os.listdir(self.path("trace/log"))
        self.assertEqual(len(logs), 1)
        self.assertEqual(read(self.path(f"trace/log/{logs[0]}")), done.stderr)
        self.assertEqual(self.records(self.path("trace")), [1, 2])

    def test_a_link_in_the_trace_is_not_followed(self) -> None:
        """owner=USER may put one there, and the process may be root's still."""
        process = self.start(f"pid={self.path('pid')}", f"wait={self.path('go')}", stderr=subprocess.PIPE,
                             TP_TRIGGER="nothing traceon", TP_OUTPUT=f"ctf:{self.path('trace')}")
        self.wait_for("pid")
        os.mkdir(self.path("victim"))
        os.symlink(self.path("victim"), self.path("trace/log"))
        self.write("go", "")
        self.assertIn(b"called 'nothing'", process.communicate(timeout=PATIENCE)[1])
        self.assertEqual(os.listdir(self.path("victim")), [])


class Launcher(Daemons):
    def test_pipe_of_the_launcher(self) -> None:
        """x=$(TP_ENABLE=... daemon 2>&1) returns while the daemon works on."""
        done = run(["sh", "-c", 'x=$("$0" work=1 daemon "pid=$1" work=1 "wait=$2" 2>&1); echo "$x"', self.program,
                    self.path("pid"), self.path("stop")], env=self.environment(TP_ENABLE="*"))
        self.assertRegex(done.stdout, r"\A[\d.]+ \d+/\d+ daemon:daemon_work: n=1\n\Z")
        pid = self.pid()
        self.assertTrue(os.path.exists(f"/proc/{pid}"))
        self.write("stop", "")
        self.gone(pid)

    def test_no_hit_waits_for_who_reads_messages(self) -> None:
        """At the end of the program, there is a second for a reader."""
        program = build(self.path("waits"), self.write("waits.c", WAITS), include=[built()], libtp="shared")
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        os.set_blocking(writer, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, bytes(4096))
        done = subprocess.run([program], stderr=writer, timeout=PATIENCE, check=False,
                              env=self.environment(TP_ENABLE="*", TP_OUTPUT="text:/dev/full"))
        os.close(writer)
        self.assertEqual(done.returncode, 0)

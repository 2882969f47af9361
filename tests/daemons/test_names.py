# SPDX-License-Identifier: MIT
"""%p in the name of a CTF trace is the process that records, however often it forks before."""

from __future__ import annotations

import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from building import build  # noqa: E402
from daemons import HANDLER, NOBODY, Daemons, built  # noqa: E402
from support import PATIENCE, need, read, run  # noqa: E402


class Traces(Daemons):
    """Traces in traces/."""

    def setUp(self) -> None:
        super().setUp()
        need(self, "babeltrace2")
        os.mkdir(self.path("traces"))

    def run_daemon(self, *steps: str, options: str = "", name: str = "traces/t-%p", said: str = "") -> None:
        done = run([self.program, *steps], cwd=self.dir, timeout=PATIENCE,
                   env=self.environment(TP_ENABLE="*", TP_OUTPUT=f"ctf:{name}{options}", TP_LOG=self.path("messages")))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        if f"pid={self.path('pid')}" in steps:
            self.gone(self.pid())
        self.assertRegex(read(self.path("messages")) if os.path.exists(self.path("messages")) else "", rf"\A{said}\Z")

    def traces(self) -> dict[int, list[int]]:
        """What is in each, by the process id in its name, which is that of the metadata, too."""
        found = {}
        for name in os.listdir(self.path("traces")):
            pid = int(name.removeprefix("t-"))
            trace = self.path("traces/" + name)
            found[pid] = self.records(trace)
            self.assertEqual(re.findall(r"\tpid = (\d+);", read(trace + "/metadata")), [str(pid)])
            for stream in glob.glob(trace + "/stream-*"):
                self.assertEqual(os.path.basename(stream).split("-")[1], str(pid))
            self.assertEqual(os.listdir(trace + "/format"), ["daemon"])
        return found


class Names(Traces):
    def test_daemon(self) -> None:
        for steps in (("daemon",), ("double",), ("fork", "fork", "fork"), ("double", "closeall"), ("closeall", "daemon")):
            for options in ("", ",mode=flight", ",prepare=thread"):
                with self.subTest(steps=steps, options=options):
                    self.run_daemon(*steps, f"pid={self.path('pid')}", "work=5", options=options)
                    self.assertEqual(self.traces(), {int(read(self.path("pid"))): [1, 2, 3, 4, 5]})
                    self.succeed(["rm", "-r", *glob.glob(self.path("traces/*")), self.path("pid")])

    def test_the_launcher_records_too(self) -> None:
        self.run_daemon(f"pid={self.path('first')}", "work=2", "double", f"pid={self.path('pid')}", "work=3")
        self.assertEqual(self.traces(), {int(read(self.path("first"))): [1, 2], self.pid(): [3, 4, 5]})

    def test_killed(self) -> None:
        self.run_daemon("double", "work=3", f"pid={self.path('pid')}", "kill")
        self.assertEqual(self.traces(), {self.pid(): [1, 2, 3]})

    def test_workers(self) -> None:
        self.run_daemon("work=1", "children=3", "work=2")
        self.assertEqual(sorted(self.traces().values()), [[1], [2, 3], [2, 3], [2, 3]])
        self.assertEqual(sorted(self.records(self.path("traces"))), [1, 2, 2, 2, 3, 3, 3])

    def test_nothing_is_recorded(self) -> None:
        self.run_daemon("daemon", f"pid={self.path('pid')}")
        self.assertEqual(self.traces(), {})

    def test_relative_name(self) -> None:
        """It was given where the program was started, which need not be where it is."""
        self.run_daemon("chdir=/", "double", f"pid={self.path('pid')}", "work=1")
        self.assertEqual(self.traces(), {self.pid(): [1]})

    def test_a_plugin_in_the_child(self) -> None:
        """Its trace describes what no other has."""
        plugin = f"plugin={os.path.join(built(), 'plugin.so')}"
        for steps in (("fork", plugin, "work=1"), ("fork", "work=1", plugin), ("work=1", "fork", plugin)):
            with self.subTest(steps=steps):
                self.run_daemon(*steps, f"pid={self.path('pid')}")
                self.assertIn(1000000, self.records(self.path(f"traces/t-{self.pid()}")))
                self.succeed(["rm", "-r", *glob.glob(self.path("traces/*")), self.path("pid")])

    def test_mistakes_are_told_at_once(self) -> None:
        self.write("traces/file", "")
        for name, why in (("nowhere/t-%p", "No such file or directory"), ("traces/file/t-%p", "Not a directory"),
                          ("traces/t-%p,size=1", "option 'size=1'")):
            with self.subTest(name=name):
                done = run([self.program], cwd=self.dir, env=self.environment(TP_ENABLE="*", TP_OUTPUT=f"ctf:{name}"))
                self.assertRegex(done.stderr, rf"\Atp: [^\n]*{why}[^\n]*\n\Z")

    def test_id_of_a_directory(self) -> None:
        """In front of the last part it is the id of the process that opens it: the directory must be there."""
        script = 'mkdir traces/$$; exec "$0" fork work=2 "pid=$1"'
        self.succeed(["sh", "-c", script, self.program, self.path("pid")], cwd=self.dir,
                     env=self.environment(TP_ENABLE="*", TP_OUTPUT="ctf:traces/%p/t-%p"))
        pid = self.pid()
        self.gone(pid)
        launcher, = os.listdir(self.path("traces"))
        self.assertNotEqual(launcher, str(pid))
        self.assertEqual(self.records(self.path(f"traces/{launcher}/t-{pid}")), [1, 2])

    def test_its_own_directory_goes_away(self) -> None:
        """Losses are counted, and the message names the place."""
        self.run_daemon("rmdir=traces", "fork", "work=3", f"pid={self.path('pid')}",
                        said=r"(tp: CTF trace 'traces/t-\d+': no new packet of \d+ bytes can be made: No such file or "
                             r"directory; records are lost until it can\n)"
                             r"tp: CTF trace 'traces/t-\d+': records lost: 3 \(no file: 3\)\n")

    def test_signal_handler(self) -> None:
        """The first record of the daemon may be its handler's, in the middle of malloc."""
        program = build(self.path("program"), self.write("program.c", HANDLER), include=[built()])
        done = run([program], cwd=self.dir, timeout=PATIENCE,
                   env=self.environment(TP_ENABLE="*", TP_OUTPUT="ctf:traces/t-%p"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        (records,) = self.traces().values()
        self.assertEqual(records, [7])


class Users(Traces):
    """Daemons that root starts, and that become somebody else before they record."""

    def setUp(self) -> None:
        super().setUp()
        self.need_root()

    def test_the_owner_may_make_it(self) -> None:
        """As in /var/tmp: it is made at the first record."""
        os.chmod(self.path("traces"), 0o1777)
        self.run_daemon("fork", f"pid={self.path('pid')}", f"user={NOBODY}", "work=3", options=",owner=nobody")
        self.assertEqual(self.traces(), {self.pid(): [1, 2, 3]})

    def test_the_owner_may_not_make_it(self) -> None:
        """The launcher makes one at once, and the daemon goes on there."""
        self.write("messages", "")
        os.chmod(self.path("messages"), 0o666)
        self.run_daemon(f"pid={self.path('launcher')}", "fork", f"pid={self.path('pid')}", f"user={NOBODY}", "work=3",
                        options=",owner=nobody",
                        said=r"tp: CTF trace 'traces/t-\d+': Permission denied .*; process \d+ goes on in '.*', the trace of "
                             r"its parent\n")
        self.assertEqual(self.records(self.path(f"traces/t-{read(self.path('launcher')).strip()}")), [1, 2, 3])
        self.assertEqual(len(os.listdir(self.path("traces"))), 1)



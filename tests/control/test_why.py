# SPDX-License-Identifier: MIT
"""Each reason why a process can't be reached is told in one line, with what to do."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from building import build  # noqa: E402
from reaching import NOBODY, TP, Reaching, served  # noqa: E402
from support import PATIENCE, need, run, state, unavailable, until  # noqa: E402

# Each command that looks into a process says the same.
COMMANDS = (("ps",), ("list",), ("trace",), ("record", "-o", "trace"), ("stat",), ("snapshot", "-o", "copy"), ("outputs",))


class Why(Reaching):
    def why(self, wanted: object, **options) -> str:
        """What each command says."""
        commands = [(name, "-p", str(wanted), *more) for name, *more in (*COMMANDS, ("enable", "x"), ("disable", "x"))]
        with ThreadPoolExecutor(len(commands)) as pool:  # each may wait for a second
            said = set(pool.map(lambda command: self.fails(*command, **options), commands))
        self.assertEqual(len(said), 1, said)
        self.assertEqual(set(os.listdir(self.dir)) & {"trace", "copy"}, set())
        return said.pop()

    def test_no_such_process(self) -> None:
        for pid in ("4194304", "0", "99999999999999999999"):
            self.assertRegex(self.why(pid), r'\Atp: there is no process \d+; "tp ps" lists those that can be reached\n\Z')

    def test_no_such_program(self) -> None:
        for name in ("no-such-program", "", "-1", "x/y"):
            self.assertIn(f"no process that can be reached is called '{name}'", self.why(name))

    def test_several_of_a_program(self) -> None:
        pids = sorted(self.start("loop").pid for _ in range(3))
        want = [rf"tp: '{self.name}' is the program of several processes: say -p with one of these ids, or --newest or --all",
                *(rf"tp: +{pid} since \d\d:\d\d:\d\d: \S*/{self.name} loop" for pid in pids)]
        for command in (("trace",), ("list",), ("enable", "x")):
            done = self.tp(command[0], "-p", self.name, *command[1:])
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, "\\A" + "\n".join(want) + "\n\\Z")

    def test_many_of_a_program(self) -> None:
        for _ in range(23):
            self.start("loop")
        lines = self.tp("trace", "-p", self.name).stderr.splitlines()
        self.assertEqual((len(lines), lines[-1]), (22, 'tp: and 3 more, which "tp ps" lists'))

    def test_no_tracepoints(self) -> None:
        process = self.start("1000", program="sleep", listening=False)
        until(lambda: os.readlink(f"/proc/{process.pid}/exe").endswith("sleep"))
        self.assertRegex(self.why(process.pid), rf"\Atp: process {process.pid} \(sleep\) has no tracepoints: ")

    def test_off(self) -> None:
        """In each way; the program is told by its name, too."""
        os.rmdir(self.control)
        for env, said in (({}, rf"there was no directory {self.control} of its user's; make it by \"tp setup\", or set TP_CONTROL=1"),
                          ({"TP_CONTROL": "0"}, "TP_CONTROL=0 is in its environment: start it again without"),
                          ({"TP_CONTROL": self.path("none")}, f"there was no directory {self.path('none')} of its user's"),
                          ({"TP_SANDBOX": "1"}, "TP_SANDBOX=1 is in its environment: start it again with TP_CONTROL=1, too"),
                          ({"XDG_RUNTIME_DIR": ""}, "there was no directory /run/tp/")):
            process = self.start("loop", listening=False, env=env)
            until(lambda: "loop" in open(f"/proc/{process.pid}/cmdline", encoding="ascii").read())
            until(lambda: re.search(r" r-xp .*/(served|libtp)", open(f"/proc/{process.pid}/maps", encoding="ascii").read()))
            if not (env.get("XDG_RUNTIME_DIR") == "" and os.path.exists(f"/run/tp/{os.getuid()}")):
                for wanted in (process.pid, self.name):
                    self.assertRegex(self.why(wanted), rf"\Atp: control is off in process {process.pid} \({self.name}\)[:,] .*{said}")
            self.finish(process)

    def test_stripped(self) -> None:
        """Whether a program has tracepoints shows by its sections, or by libtp.so."""
        directory = os.path.dirname(served())
        os.rmdir(self.control)
        shared = build(self.path("shared"), os.path.join(os.path.dirname(os.path.abspath(__file__)), "served.c"),
                       include=[directory], libtp="shared")
        run(["strip", "-o", self.path("stripped"), served()])
        for program in (shared, self.path("stripped")):
            process = self.start("loop", program=program, listening=False)
            until(lambda: "loop" in open(f"/proc/{process.pid}/cmdline", encoding="ascii").read())
            self.assertIn("control is off", self.fails("list", "-p", str(process.pid)))

    def test_ended(self) -> None:
        process = self.start("exit=0", listening=False)
        until(lambda: state(process.pid) == "Z")
        self.assertIn(f"process {process.pid} ({self.name}) has ended", self.why(process.pid))

    def test_ended_beside_one_that_runs(self) -> None:
        running = self.start("loop", listening=False, env={"TP_CONTROL": "0"})
        until(lambda: "loop" in open(f"/proc/{running.pid}/cmdline", encoding="ascii").read())
        ended = self.start("exit=0", listening=False)
        until(lambda: state(ended.pid) == "Z")
        self.assertIn(f"process {running.pid} ({self.name})", self.why(self.name))

    def test_stopped(self) -> None:
        process = self.start("loop")
        process.send_signal(signal.SIGSTOP)
        until(lambda: state(process.pid) == "T")
        self.assertEqual(self.why(process.pid), f"tp: process {process.pid} ({self.name}) has not answered: it is "
                                                f'stopped, by SIGSTOP or ^Z, and answers after "kill -CONT {process.pid}"\n')
        process.send_signal(signal.SIGCONT)
        self.done("ps", "-p", str(process.pid))

    def test_a_filter_of_system_calls(self) -> None:
        """It would end the process, which is left alone unless its user has said that it may be asked."""
        for attempt in range(5):  # somebody else's "tp ps" may ask it just as it sets its filter
            process = self.start("filter", f"touch={self.path(f'ready{attempt}')}", "loop")
            until(lambda: os.path.exists(self.path(f"ready{attempt}")) or process.poll() is not None)
            said = [self.fails(command, "-p", str(process.pid)) for command in ("list", "trace")]
            self.tp("ps")
            if process.poll() is None:
                break
        self.assertIsNone(process.poll())
        for text in said:
            self.assertRegex(text, r"its filter of system calls \(seccomp\) might end it if it answered")
        process = self.start("filter", f"touch={self.path('again')}", "loop", env={"TP_CONTROL": self.control})
        until(lambda: os.path.exists(self.path("again")))
        self.fails("list", "-p", str(process.pid))
        self.assertEqual(process.wait(PATIENCE), -signal.SIGSYS)

    def test_not_yours(self) -> None:
        self.need_root()
        process = self.start("loop")
        for command in (("ps",), ("trace",)):
            done = run([TP, *command, "-p", str(process.pid)], env=self.env, user=NOBODY, group=NOBODY)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, rf"\Atp: process {process.pid} \({self.name}\) is user 0's, and you are user {NOBODY}: "
                                          r"run tp as that user, or as root\n\Z")

    def test_another_namespace(self) -> None:
        """A user's process that may not be looked at, as its memory is not dumpable; root may."""
        need(self, "unshare")
        self.need_root()
        if run(["unshare", "--user", "true"]).returncode:
            unavailable(self, "there are no user namespaces here")
        os.rmdir(self.control)
        process = subprocess.Popen(["unshare", "--mount", "--pid", "--fork", "--kill-child", self.program, "loop"], env=self.env)
        self.addCleanup(self.finish, process)
        children = f"/proc/{process.pid}/task/{process.pid}/children"
        until(lambda: open(children, encoding="ascii").read())
        pid = int(open(children, encoding="ascii").read())
        until(lambda: open(f"/proc/{pid}/cmdline", encoding="ascii").read().startswith(self.program))  # no longer unshare's
        self.assertRegex(self.fails("list", "-p", str(pid)), rf"\Atp: control is off in process {pid} \({self.name}\): .* no directory "
                                                             rf"{self.control} \(from here: below /proc/{pid}/root\) .* in there, ")

# SPDX-License-Identifier: MIT
"""tp record and tp snapshot: traces in the operator's directory."""

from __future__ import annotations

import glob
import os
import pathlib
import re
import signal
import stat
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from emulator import seen  # noqa: E402
from reaching import NOBODY, Reaching, Terminal  # noqa: E402
from support import PATIENCE, need, until  # noqa: E402

TOLD = r"'(?P<path>[^']*)': (?P<events>\d+) events?, \d+ bytes, of '[^']*'( \(\d+\))?; lost: (?P<lost>\d+)"


class Recording(Reaching):
    def setUp(self) -> None:
        super().setUp()
        need(self, "babeltrace2")

    def records(self, trace: str) -> list[int]:
        """The values of n of the requests in a trace."""
        text = self.read_by("babeltrace2", self.path(trace))
        return [int(n) for n in re.findall(r"served_request: .* n = (\d+)", text)]

    def told(self, said: str) -> dict[str, tuple[int, int]]:
        """Events and lost ones by the path of the trace."""
        return {m["path"]: (int(m["events"]), int(m["lost"])) for m in re.finditer(TOLD, said)}


class Processes(Recording):
    def test_until_interrupt(self) -> None:
        process = self.start("loop")
        tp = self.begin("record", "-p", self.name, "-e", "served_request", "-o", "trace")
        until(lambda: self.enabled(process.pid))
        until(lambda: glob.glob(self.path("trace/**/stream-*"), recursive=True))
        out, err = self.interrupt(tp)
        numbers = self.records("trace")
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))
        self.assertEqual((out, self.told(err)), ("", {self.path("trace"): (len(numbers), 0)}))
        self.assertEqual(err.count("\n"), 1)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("trace")).st_mode), 0o700)
        self.left_alone(process.pid)

    def test_for_a_time(self) -> None:
        process = self.start("loop")
        for seconds in ("0.2", "2", "20"):  # a busy machine may leave the program no time at first
            done = self.tp("record", "-p", str(process.pid), "-o", f"trace-{seconds}", "--for", seconds)
            self.assertEqual(done.returncode, 0, done.stderr)
            events, _ = self.told(done.stderr)[self.path(f"trace-{seconds}")]
            if events:
                break
        self.assertGreater(events, 0)

    def test_several(self) -> None:
        processes = [self.start("loop") for _ in range(3)]
        ids = [word for process in processes for word in ("-p", str(process.pid))]
        tp = self.begin("record", *ids, "-e", "served_request", "-o", "traces")
        until(lambda: all(self.enabled(process.pid) for process in processes))
        # One of them ends, and the others go on.
        processes[0].kill()
        line = self.next_line(tp.stderr)
        self.assertEqual(line, f"tp: '{self.name}' ({processes[0].pid}) has ended\n")
        out, err = self.interrupt(tp)
        self.assertEqual(out, "")
        self.assertEqual(sorted(os.listdir(self.path("traces"))), sorted(f"{self.name}-{process.pid}" for process in processes))
        for path, (events, lost) in self.told(err).items():
            self.assertEqual((len(self.records(path)), 0), (events, lost))
        self.assertEqual(len(self.told(err)), 3)

    def test_one_of_several_is_wrong(self) -> None:
        """Then nothing is changed in any."""
        process = self.start("loop")
        self.assertIn("there is no process 4194304", self.fails("record", "-p", str(process.pid), "-p", "4194304", "-o", "traces"))
        self.assertFalse(os.path.exists(self.path("traces")))
        self.assertEqual(self.outputs(process.pid), [])

    def test_one_given_twice(self) -> None:
        """By its id and its name: it is recorded once."""
        process = self.start("loop")
        done = self.tp("record", "-p", str(process.pid), "-p", self.name, "-o", "trace", "--for", "0.1")
        self.assertEqual(list(self.told(done.stderr)), [self.path("trace")])
        self.left_alone(process.pid)

    def test_directories(self) -> None:
        """One that is empty is taken; nothing else is touched."""
        process = self.start("loop")
        os.mkdir(self.path("empty"))
        self.write("full/file", "")
        self.write("file", "")
        os.symlink("empty", self.path("link"))
        args = ("record", "-p", str(process.pid), "--for", "0.05", "-o")
        self.assertEqual(self.tp(*args, "empty").returncode, 0)
        self.assertIn("'full' is not empty".replace("'full", f"'{self.path('full')}"), self.fails(*args, "full"))
        self.assertIn("it is no directory", self.fails(*args, "file"))
        self.assertIn("it is no directory", self.fails(*args, "link"))
        self.assertIn("No such file or directory", self.fails(*args, "none/trace"))
        self.assertEqual(os.listdir(self.path("full")), ["file"])
        # A comma would begin an option.
        self.assertEqual(self.tp(*args, "a,mode=flight").returncode, 0)
        self.records("a,mode=flight")

    def test_wrong_options(self) -> None:
        """The process says what is wrong, and no directory stays."""
        process = self.start("loop")
        for option, said in (("--packet=17", "packet="), ("--packets=0", "packets="), ("--context=weather", "context="),
                             ("--flight=x", "size=")):
            self.assertIn(said, self.fails("record", "-p", str(process.pid), "-o", "trace", option))
            self.assertFalse(os.path.exists(self.path("trace")), option)
        for args in (("-o", "trace", "--packet=4K,mode=flight"), (), ("-o", "trace", "--for", "x"), ("-o", "trace", "--for=-1")):
            self.fails("record", "-p", str(process.pid), *args, status=2)
        self.assertEqual(self.outputs(process.pid), [])

    def test_flight(self) -> None:
        """The newest events are there."""
        process = self.start(f"wait={self.path('go')}", "hit=100000", f"touch={self.path('done')}", f"wait={self.path('on')}")
        tp = self.begin("record", "-p", str(process.pid), "-o", "trace", "--flight", "--packet=4K")
        until(lambda: self.enabled(process.pid))
        self.write("go", "")
        until(lambda: os.path.exists(self.path("done")))
        _, err = self.interrupt(tp)
        numbers = self.records("trace")
        self.assertEqual(numbers, list(range(numbers[0], 100001)))
        self.assertGreater(numbers[0], 1)
        self.assertEqual(self.told(err)[self.path("trace")][0], len(numbers))

    def test_lost(self) -> None:
        """By cause."""
        process = self.start(f"wait={self.path('go')}", "hit=10000", f"touch={self.path('done')}", f"wait={self.path('on')}")
        tp = self.begin("record", "-p", str(process.pid), "-o", "trace", "--packet=4K", "--packets=2")
        until(lambda: self.enabled(process.pid))
        self.write("go", "")
        until(lambda: os.path.exists(self.path("done")))
        _, err = self.interrupt(tp)
        events, lost = self.told(err)[self.path("trace")]
        self.assertEqual(events + lost, 10000)
        self.assertIn(f"lost: {lost} (limit: {lost})", err)

    def test_line_on_a_terminal(self) -> None:
        """It says how much there is, in its place, and is gone at the end; messages have lines of their own."""
        process = self.start("loop")
        for columns in (80, 120, 30):
            terminal = self.terminal("record", "-p", str(process.pid), "-o", f"trace{columns}", columns=columns)
            line = r"[\d.]+ s, [1-9]\d* events, [\d.]+ (?:bytes|KiB|MiB), lost: 0"
            wanted = line if columns > 30 else r"[\d.]+ s, [1-9]\d* events, [^\r\n]*\.\."
            until(lambda: len(re.findall(rf"\r\x1b\[K{wanted}", terminal.text())) > 1)  # pylint: disable=cell-var-from-loop
            lines = seen(terminal.text(), 24, columns)
            self.assertEqual(len(lines), 1, lines)
            terminal.type(b"\x03")
            self.assertEqual(terminal.end(), 0)
            text = "".join(seen(terminal.text(), 24, 400))
            self.assertRegex(text, r"\Atp: '[^']*': \d+ events?, \d+ bytes, of '\w+' \(\d+\); lost: 0\Z")
        shown = [int(n) for n in re.findall(r" s, (\d+) events", terminal.text())]
        self.assertEqual(shown, sorted(shown))

    def test_line_of_a_process_that_ends(self) -> None:
        process = self.start("loop")
        terminal = self.terminal("record", "-p", str(process.pid), "-o", "trace", columns=120)
        terminal.wait_for(r"\r\x1b\[K[\d.]+ s, ")
        process.kill()
        self.assertEqual(terminal.end(), 0)
        self.assertRegex(seen(terminal.text(), 24, 120)[0], r"\Atp: '\w+' \(\d+\) has ended\Z")

    def test_line_while_suspended(self) -> None:
        """^Z leaves an empty line."""
        process = self.start("loop")
        terminal = self.terminal("record", "-p", str(process.pid), "-o", "trace", columns=120)
        terminal.wait_for(r"\r\x1b\[K[\d.]+ s, ")
        terminal.type(b"\x1a")
        terminal.wait_for_stop()
        until(lambda: seen(terminal.text(), 24, 120) in ([], ["^Z"]))
        terminal.process.send_signal(signal.SIGCONT)
        terminal.type(b"\x03")
        self.assertEqual(terminal.end(), 0)

    def test_no_line(self) -> None:
        """In a pipe, of a program behind --, and on a terminal that can't."""
        process = self.start("loop")
        tp = self.begin("record", "-p", str(process.pid), "-o", "piped", "--for", "1.2")
        self.assertRegex(self.finished(tp)[1], r"\Atp: '[^\n]*\n\Z")
        for args, env in ((("-p", str(process.pid), "-o", "dumb", "--for", "1.2"), {"TERM": "dumb"}),
                          (("-o", "program", "--", "sh", "-c", f"'{self.program}' hit=5; sleep 1.2"), {})):
            terminal = Terminal([self.command, "record", *args], self.dir, {**self.env, "TERM": "xterm", **env})
            self.addCleanup(terminal.close)
            self.assertEqual(terminal.end(), 0)
            self.assertNotIn("\x1b", terminal.text())
            self.assertNotIn(" s, ", terminal.text())

    def test_line_of_a_flight_recorder(self) -> None:
        """Packets are used again while they are read."""
        process = self.start("storm")
        terminal = self.terminal("record", "-p", str(process.pid), "-o", "trace", "--flight=64K", columns=120)
        until(lambda: len(re.findall(r"\r\x1b\[K[\d.]+ s, ", terminal.text())) > 3)
        terminal.type(b"\x03")
        self.assertEqual(terminal.end(), 0)
        self.assertRegex("".join(seen(terminal.text(), 24, 400)), r"\Atp: '[^']*': \d+ events?, \d+ bytes, of ")

    def test_crash(self) -> None:
        process = self.start(f"wait={self.path('go')}", "hit=10", "crash")
        tp = self.begin("record", "-p", str(process.pid), "-o", "trace")
        until(lambda: self.enabled(process.pid))
        self.write("go", "")
        _, err = self.finished(tp)
        self.assertEqual(tp.returncode, 0)
        self.assertIn(f"tp: '{self.name}' ({process.pid}) has ended\n", err)
        self.assertEqual(self.records("trace"), list(range(1, 11)))
        self.assertEqual(self.told(err), {self.path("trace"): (10, 0)})

    def test_killed(self) -> None:
        """The trace ends with tp, and what is there is a trace."""
        process = self.start("loop")
        tp = self.begin("record", "-p", str(process.pid), "-o", "trace")
        until(lambda: self.enabled(process.pid))
        tp.kill()
        tp.wait()
        self.left_alone(process.pid)
        self.records("trace")

    def test_another_user(self) -> None:
        """root records a process that has dropped root, and one that is nobody's; the directory is theirs."""
        self.need_root()
        os.chmod(self.path("run"), 0o777)
        dropped = self.start(f"setuid={NOBODY}", f"touch={self.path('run/set')}", "loop")
        until(lambda: os.path.exists(self.path("run/set")))
        tp = self.begin("record", "-p", str(dropped.pid), "-o", "trace", "--packet=4K")
        until(lambda: self.enabled(dropped.pid))
        until(lambda: len([n for n in os.listdir(self.path("trace")) if n.startswith("stream-")]) > 2)
        _, err = self.interrupt(tp)
        self.assertGreater(self.told(err)[self.path("trace")][0], 0, err)
        self.assertEqual(self.told(err)[self.path("trace")][1], 0, err)
        self.assertEqual(os.stat(self.path("trace")).st_uid, NOBODY)

    def workers(self) -> subprocess.Popen:
        """A server of root's, whose five workers become somebody else as soon as there is "go"."""
        self.need_root()
        os.chmod(self.path("run"), 0o777)
        server = self.start(f"wait={self.path('go')}", "fork=5", f"setuid={NOBODY}", "hit=1000", "loop", start_new_session=True)
        self.addCleanup(os.killpg, server.pid, signal.SIGKILL)
        return server

    def test_workers_that_drop_root(self) -> None:
        """The records of those that are forked while the server is recorded are in its trace."""
        server = self.workers()
        tp = self.begin("record", "-p", str(server.pid), "-o", "trace", "--packet=4K")
        until(lambda: self.enabled(server.pid))
        self.write("go", "")
        # Two packets of each: a first one has more than ten events.
        until(lambda: len(glob.glob(self.path("trace/*/stream-*-0-1"))) == 5)
        _, err = self.interrupt(tp)
        self.assertEqual((self.told(err)[self.path("trace")][1], err.count("\n")), (0, 1), err)
        text = self.read_by("babeltrace2", self.path("trace"))
        numbers = [int(n) for n in re.findall(r"served_request: .* n = (\d+)", text)]
        self.assertEqual([numbers.count(n) for n in range(1, 10)], [5] * 9)
        # Nobody but root comes to what they may write to.
        self.assertEqual(stat.S_IMODE(os.stat(self.path("trace")).st_mode), 0o700)

    def test_workers_that_lose_their_records(self) -> None:
        """Where others come to the directory, it is not theirs to write to. The server tells what they have lost, of one that was killed, too."""
        os.mkdir(self.path("trace"), 0o755)
        server = self.workers()
        tp = self.begin("record", "-p", str(server.pid), "-o", "trace")
        until(lambda: self.enabled(server.pid))
        self.write("go", "")
        children = f"/proc/{server.pid}/task/{server.pid}/children"
        until(lambda: len(pathlib.Path(children).read_text().split()) == 5)
        workers = pathlib.Path(children).read_text().split()
        until(lambda: all(f"lost in process {worker}, " in self.done("outputs", "-p", str(server.pid)) for worker in workers))
        os.kill(int(workers[0]), signal.SIGKILL)
        _, err = self.interrupt(tp)
        by_worker = {pid: int(lost) for pid, lost in
                     re.findall(r"lost in process (\d+), a forked child: (\d+) \(no file: \d+\)\n", err)}
        self.assertEqual(sorted(by_worker), sorted(workers), err)
        self.assertIn(f"; lost: {sum(by_worker.values())} (no file: ", err)

    def test_chroot(self) -> None:
        """The trace is where the operator stands, whatever the process can see."""
        self.need_root()
        os.makedirs(self.path("jail"))
        process = self.start("chroot=" + self.path("jail"), "touch=/in-there", "loop")
        until(lambda: os.path.exists(self.path("jail/in-there")))
        tp = self.begin("record", "-p", str(process.pid), "-o", "trace")
        until(lambda: self.enabled(process.pid))
        until(lambda: glob.glob(self.path("trace/**/stream-*"), recursive=True))
        self.interrupt(tp)
        self.assertEqual(os.listdir(self.path("jail")), ["in-there"])
        self.assertTrue(self.records("trace"))


class Programs(Recording):
    def record(self, *args: str, status: int = 0) -> str:
        """What tp says."""
        done = self.tp("record", "-o", "trace", *args)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        return done.stderr

    def test_all_from_the_start(self) -> None:
        said = self.record("--", self.program, "hit=1000", "exit=3", status=3)
        self.assertEqual(self.records("trace"), list(range(1, 1001)))
        self.assertEqual(self.told(said), {self.path("trace"): (1000, 0)})
        self.assertEqual(said.count("\n"), 1)

    def test_crash(self) -> None:
        said = self.record("-e", "served_request", "--", self.program, "hit=10", "crash", status=128 + signal.SIGSEGV)
        self.assertEqual(self.records("trace"), list(range(1, 11)))
        self.assertRegex(said, rf"\Atp: '{self.program}' \(\d+\) was killed by signal 11 \(Segmentation fault\); what it has "
                               rf"recorded until then is kept\ntp: '{self.path('trace')}': 10 events")

    def test_crash_of_a_flight_recorder(self) -> None:
        said = self.record("--flight=64K", "--", self.program, "hit=100000", "crash", status=128 + signal.SIGSEGV)
        numbers = self.records("trace")
        self.assertEqual(numbers, list(range(numbers[0], 100001)))
        self.assertEqual(self.told(said)[self.path("trace")][0], len(numbers))

    def test_family(self) -> None:
        """Each process has its trace, of forks and of programs that are run."""
        said = self.record("--", self.program, "hit=1", "fork=2", "hit=2")
        self.assertEqual(sorted(self.records("trace")), [1, 2, 2, 3, 3])
        self.assertEqual(sorted(self.told(said).values()), [(1, 0), (2, 0), (2, 0)])
        os.rename(self.path("trace"), self.path("first"))
        said = self.record("--", "sh", "-c", f"'{self.program}' hit=1; '{self.program}' hit=2; exit 4", status=4)
        self.assertEqual(len(os.listdir(self.path("trace"))), 2)
        self.assertEqual(sorted(self.told(said).values()), [(1, 0), (2, 0)])
        self.assertEqual(sorted(self.records("trace")), [1, 1, 2])

    def test_child_that_is_left(self) -> None:
        """It goes on recording where it has begun: the trace stays there."""
        tp = self.begin("record", "-o", "trace", "--", self.program, "hit=1", "leave", f"wait={self.path('go')}", "hit=1",
                        f"touch={self.path('done')}")
        self.assertRegex(self.next_line(tp.stderr), r"has ended; processes that it has started go on, and record into '.*/trace'")
        tp.send_signal(signal.SIGINT)
        self.assertEqual(tp.wait(PATIENCE), 0)  # the child has its standard error still
        self.write("go", "")
        until(lambda: os.path.exists(self.path("done")))
        self.assertEqual(sorted(self.records("trace")), [1, 2])

    def test_daemon(self) -> None:
        """The first process records nothing, and ends; tp waits for the other one."""
        tp = self.begin("record", "-o", "trace", "--", self.program, "leave", f"wait={self.path('go')}", "hit=2")
        self.assertIn("go on, and record into", self.next_line(tp.stderr))
        self.write("go", "")
        self.assertIn("2 events", self.finished(tp)[1])
        self.assertEqual((tp.returncode, sorted(self.records("trace"))), (0, [1, 2]))

    def test_nothing(self) -> None:
        """A program without tracepoints, or one whose events were not hit; no directory stays."""
        for program in (["true"], [self.program, "hit=0"]):
            said = self.record("--", *program)
            self.assertRegex(said, r"\Atp: nothing was recorded: .*\n\Z")
            self.assertFalse(os.path.exists(self.path("trace")))

    def test_not_there(self) -> None:
        self.assertIn("can't be started: No such file", self.fails("record", "-o", "trace", "--", "/no/such/program", status=127))
        self.assertFalse(os.path.exists(self.path("trace")))
        for path in ("a,b", "a;b", "a%pb"):
            self.fails("record", "-o", path, "--", "true", status=2)
            self.assertFalse(os.path.exists(self.path(path)))

    def test_interrupt(self) -> None:
        """^C of a terminal ends the program; tp says what was recorded."""
        terminal = self.terminal("record", "-o", "trace", "--", self.program, "hit=5", f"touch={self.path('begun')}", "loop")
        until(lambda: os.path.exists(self.path("begun")))
        terminal.type(b"\x03")
        self.assertEqual(terminal.end(), 128 + signal.SIGINT)
        self.assertGreater(self.told(terminal.text().replace("\r", ""))[self.path("trace")][0], 0)
        lines = seen(terminal.text(), 24, 400)
        self.assertEqual([line[:4] for line in lines], ["^C", *["tp: "] * (len(lines) - 1)])
        self.assertTrue(self.records("trace"))


class Snapshots(Recording):
    def test_of_the_environment(self) -> None:
        process = self.start("loop", env={"TP_OUTPUT": f"ctf:{self.path('flight')},mode=flight;ctf:{self.path('stream')}"})
        until(lambda: os.path.exists(self.path("flight/metadata")))
        for n in range(2):
            done = self.tp("snapshot", "-p", self.name, "-o", f"copy{n}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(self.path(f"copy{n}"), self.told(done.stderr))
            self.records(f"copy{n}")
        self.assertEqual(len(self.outputs(process.pid)), 2)

    def test_several(self) -> None:
        process = self.start("loop")
        for name in ("one", "two"):
            self.done("outputs", "-p", str(process.pid), "--open", f"ctf:{name},mode=flight")
        said = self.fails("snapshot", "-p", str(process.pid), "-o", "copy")
        self.assertIn(f"more than one flight recorder: say which of 1 (ctf:{self.path('one')},mode=flight), "
                      f"2 (ctf:{self.path('two')},mode=flight)", said)
        self.assertFalse(os.path.exists(self.path("copy")))
        for wanted in ("2", "ctf:two", "two", self.path("two"), f"ctf:{self.path('two')}"):
            done = self.tp("snapshot", "-p", str(process.pid), "-o", f"copy-{len(os.listdir(self.dir))}", wanted)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_none(self) -> None:
        process = self.start("loop", env={"TP_OUTPUT": f"ctf:{self.path('stream')};text:/dev/null"})
        pid = str(process.pid)
        self.assertIn("has no flight recorder", self.fails("snapshot", "-p", pid, "-o", "copy"))
        self.assertIn("is no flight recorder", self.fails("snapshot", "-p", pid, "-o", "copy", "text:/dev/null"))
        self.assertIn("has no output '17'", self.fails("snapshot", "-p", pid, "-o", "copy", "17"))
        self.write("full/file", "")
        self.assertIn("is not empty", self.fails("snapshot", "-p", pid, "-o", "full", "1"))
        self.assertFalse(os.path.exists(self.path("copy")))
        self.fails("snapshot", "-p", pid, status=2)

# SPDX-License-Identifier: MIT
"""tp trace: live text, and a process that is left as it was found."""

from __future__ import annotations

import datetime
import os
import re
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from building import build  # noqa: E402
from emulator import seen  # noqa: E402
from reaching import Reaching  # noqa: E402
from support import PATIENCE, state, until  # noqa: E402

LINE = r"\d+\.\d{9} \d+/\d+ served:served_\w+: n=\d+( peer=10\.0\.0\.1)?"


class Trace(Reaching):
    def numbers(self, text: str) -> list[int]:
        return [int(n) for n in re.findall(r"served_request: n=(\d+)", text)]

    def lost(self, text: str) -> int:
        return int(re.findall(r"; lost: (\d+)", text)[0])

    def test_lines(self) -> None:
        process = self.start("loop")
        tp = self.begin("trace", "-p", self.name, "-e", "served_request")
        first = [self.next_line(tp.stdout) for _ in range(20)]
        out, err = self.interrupt(tp)
        lines = ("".join(first) + out).splitlines()
        for line in lines:
            self.assertRegex(line, rf"\A{LINE}\Z")
        numbers = self.numbers("\n".join(lines))
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(lines))))
        self.assertEqual(err, f"tp: {len(lines)} lines of '{self.name}' ({process.pid}); lost: 0\n")
        self.left_alone(process.pid)
        self.assertIsNone(process.poll())

    def test_killed(self) -> None:
        """Whatever ends tp, the process is left as it was found."""
        process = self.start("loop", env={"TP_OUTPUT": "text:/dev/null", "TP_ENABLE": "served_idle"})
        before = self.outputs(process.pid)
        for sig in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            tp = self.begin("trace", "-p", str(process.pid))
            self.next_line(tp.stdout)
            self.assertEqual(len(self.outputs(process.pid)), 2)
            self.assertIn("served:served_request", self.enabled(process.pid))
            tp.send_signal(sig)
            self.finished(tp)
            self.assertEqual(tp.returncode, -sig if sig == signal.SIGKILL else 0)
            until(lambda: self.outputs(process.pid) == before)
            self.assertEqual(self.enabled(process.pid), ["served:served_idle"])

    def test_killed_at_every_step(self) -> None:
        """SIGKILL after so many milliseconds, from the start of tp on."""
        process = self.start("storm")
        for ms in range(0, 60, 3):
            tp = self.begin("trace", "-p", str(process.pid), stdout=subprocess.DEVNULL)
            try:
                tp.wait(ms / 1000)
            except subprocess.TimeoutExpired:
                tp.kill()
            self.finished(tp)
        self.left_alone(process.pid)
        self.assertIsNone(process.poll())

    def test_nobody_reads(self) -> None:
        """The pipe is full: the process goes on, and what does not fit is lost and counted."""
        process = self.start("storm")
        tp = self.begin("trace", "-p", str(process.pid), "-e", "served_request")
        until(lambda: re.search(r" [1-9]\d* text:tp-trace", self.tp("outputs", "-p", str(process.pid)).stdout), "lines are lost")
        out, err = self.interrupt(tp)
        self.assertGreater(self.lost(err), 0)
        self.assertIn("limit", err)
        # tp has read all that was not lost, and gave up the pipe after a moment.
        self.assertLess(0, out.count("\n"))
        self.assertRegex(err, rf"\Atp: \d+ lines of '{self.name}' \({process.pid}\); lost: \d+ \(.*\)\n\Z")
        self.assertIsNone(process.poll())
        self.left_alone(process.pid)

    def test_reader_goes(self) -> None:
        """| head ends tp, without a message, even if no event comes any more."""
        process = self.start("loop")
        for events in ("served_request", "nothing_like_it"):
            with self.subTest(events):
                tp = self.begin("trace", "-p", str(process.pid), "-e", events)
                if events == "served_request":
                    self.next_line(tp.stdout)
                else:
                    until(lambda: self.outputs(process.pid))
                assert tp.stdout and tp.stderr
                tp.stdout.close()
                err = tp.stderr.read().decode()
                self.assertEqual(tp.wait(PATIENCE), 0)
                self.assertNotIn("Broken pipe", err)
                self.left_alone(process.pid)

    def test_closed_output(self) -> None:
        self.start("loop")
        done = self.tp("trace", "-p", self.name, preexec_fn=lambda: os.close(1))
        self.assertEqual((done.returncode, done.stderr), (1, "tp: standard output is closed: there is nowhere to write to\n"))

    def test_full_disk(self) -> None:
        process = self.start("loop")
        with open("/dev/full", "w", encoding="ascii") as full:
            tp = self.begin("trace", "-p", str(process.pid), stdout=full)
            _, err = self.finished(tp)
        self.assertEqual((tp.returncode, err), (1, "tp: the output can't be written: No space left on device\n"))

    def test_end_of_the_process(self) -> None:
        for steps, status in (("exit=0", 0), ("crash", -signal.SIGSEGV)):
            with self.subTest(steps):
                process = self.start(f"wait={self.path('go')}", "hit=10", f"wait={self.path('on')}", steps)
                tp = self.begin("trace", "-p", str(process.pid), "-e", "served:*")
                until(lambda: self.outputs(process.pid))
                until(lambda: self.enabled(process.pid))
                self.write("go", "")
                lines = [self.next_line(tp.stdout) for _ in range(10)]
                self.write("on", "")
                out, err = self.finished(tp)
                self.assertEqual(self.numbers("".join(lines) + out), list(range(1, 11)))
                self.assertEqual(tp.returncode, 0)
                self.assertRegex(err, rf"\Atp: 10 lines of '{self.name}' \({process.pid}\), which has ended: .*\n\Z")
                self.assertEqual(process.wait(PATIENCE), status)
                os.remove(self.path("go"))
                os.remove(self.path("on"))

    def test_children_go_on(self) -> None:
        """The output of a session goes on in a child that is forked meanwhile, until the session ends."""
        process = self.start(f"wait={self.path('go')}", "fork=1", "loop")
        tp = self.begin("trace", "-p", str(process.pid))
        until(lambda: self.enabled(process.pid))
        self.write("go", "")
        line = self.next_line(tp.stdout)
        self.assertNotIn(f" {process.pid}/", line)
        self.interrupt(tp)
        child = int(re.findall(r" (\d+)/", line)[0])
        self.wait_for_socket(child)
        self.left_alone(child)
        os.kill(child, signal.SIGKILL)

    def test_no_such_event(self) -> None:
        """It is told, and those of modules that are loaded later are waited for."""
        process = self.start("loop")
        tp = self.begin("trace", "-p", str(process.pid), "-e", "nothing_like_it")
        self.assertRegex(self.next_line(tp.stderr), rf"\Atp: no event of '{self.name}' \({process.pid}\) is called 'nothing_like_it' now")
        out, err = self.interrupt(tp, 1)
        self.assertEqual((out, err), ("", f"tp: 0 lines of '{self.name}' ({process.pid}); lost: 0\n"
                                          "tp: no event was called so until the end: nothing was traced\n"))

    def test_for_a_time(self) -> None:
        process = self.start("loop")
        done = self.tp("trace", "-p", str(process.pid), "--for", "0.3")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr, f"tp: {done.stdout.count(chr(10))} lines of '{self.name}' ({process.pid}); lost: 0\n")
        self.left_alone(process.pid)
        for args in (("-p", str(process.pid), "--for", "x"), ("--for", "1", "--", "true")):
            self.fails("trace", *args, status=2)

    def test_event_that_is_misspelt(self) -> None:
        process = self.start("loop")
        for given, meant in (("served_reqest", "served_request"), ("served:sevred_idle", "served:served_idle")):
            tp = self.begin("trace", "-p", str(process.pid), "-e", given)
            self.assertIn(f"is called '{given}' now (did you mean '{meant}'?); ", self.next_line(tp.stderr))
            self.interrupt(tp, 1)

    def test_bad_patterns(self) -> None:
        process = self.start("loop")
        for events in ("", ",", "!", "!a", "a,\nb"):
            said = self.fails("trace", "-p", str(process.pid), "-e", events)
            self.assertIn(self.name, said, events)
            self.assertEqual(self.outputs(process.pid), [])

    # ---- Programs that are started ----

    def test_program(self) -> None:
        done = self.tp("trace", "-e", "served_request", "--", self.program, "hit=3", "exit=7")
        self.assertEqual(self.numbers(done.stdout), [1, 2, 3])
        self.assertEqual((done.returncode, done.stderr), (7, f"tp: 3 lines of '{self.program}'\n"))
        self.assertEqual(os.listdir(self.path("run")), ["tp"])

    def test_crash_of_a_program(self) -> None:
        done = self.tp("trace", "--", self.program, "hit=2", "crash")
        self.assertEqual(self.numbers(done.stdout), [1, 2])
        self.assertEqual(done.returncode, 128 + signal.SIGSEGV)
        self.assertRegex(done.stderr, rf"\Atp: '.*/{self.name}' \(\d+\) was killed by signal 11 \(Segmentation fault\)\n"
                                      rf"tp: 2 lines of '.*/{self.name}'\n\Z")

    def test_children_of_a_program(self) -> None:
        """Forked ones, and those that run another program, also after the first has ended."""
        done = self.tp("trace", "--", self.program, "hit=1", "fork=2", "hit=1")
        self.assertEqual(sorted(self.numbers(done.stdout)), [1, 2, 2])
        done = self.tp("trace", "--", "sh", "-c", f"'{self.program}' hit=1; '{self.program}' exec='{self.program}' hit=2; exit 3")
        self.assertEqual((done.returncode, self.numbers(done.stdout)), (3, [1, 1, 2]))
        done = self.tp("trace", "--", self.program, "hit=1", "leave", "hit=2")
        self.assertEqual(self.numbers(done.stdout), [1, 2, 3])

    def test_program_that_ends_at_any_moment(self) -> None:
        """Also right behind the look whether it has ended, and before its signal is taken."""
        library = build(self.path("late_end.so"), os.path.join(HERE, "late_end.c"), libtp="", link=["-ldl"])
        done = self.tp("trace", "--", self.program, "hit=2", env={"LD_PRELOAD": library})
        self.assertEqual((done.returncode, self.numbers(done.stdout)), (0, [1, 2]))

    def test_program_that_is_not_there(self) -> None:
        self.assertIn("can't be started: No such file or directory", self.fails("trace", "--", "/no/such/program", status=127))
        self.assertIn("can't be started: Permission denied", self.fails("trace", "--", self.dir, status=126))

    def test_program_has_our_streams(self) -> None:
        """And the signals as they were."""
        done = self.tp("trace", "--", "sh", "-c", "cat; echo out; echo err >&2; kill -TERM $$", input="in\n", stdin=None)
        self.assertEqual(done.stdout, "in\nout\n")
        self.assertIn("err\n", done.stderr)
        self.assertEqual(done.returncode, 128 + signal.SIGTERM)
        for sig, wanted in ((signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGHUP, 128 + signal.SIGHUP)):
            tp = self.begin("trace", "--", self.program, "loop")
            self.next_line(tp.stdout)
            tp.send_signal(sig)
            self.finished(tp)
            self.assertEqual(tp.returncode, wanted)

    def test_program_goes_on_without_a_reader(self) -> None:
        tp = self.begin("trace", "--", self.program, f"touch={self.path('begun')}", "hit=3", f"wait={self.path('go')}", "hit=100000",
                        "exit=5")
        assert tp.stdout and tp.stderr
        self.next_line(tp.stdout)
        tp.stdout.close()
        self.write("go", "")
        tp.stderr.read()
        self.assertEqual(tp.wait(PATIENCE), 5)

    # ---- How much, and what time ----

    def test_number_of_lines(self) -> None:
        process = self.start("storm")
        for n in (1, 7, 1000):
            done = self.tp("trace", "-p", self.name, "-n", str(n))
            self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, n))
            self.assertRegex(done.stderr, rf"\Atp: {n} lines? of '{self.name}' ")
            self.assertRegex(done.stdout.splitlines()[-1], rf"\A{LINE}\Z")
            self.left_alone(process.pid)
        for n in ("0", "x", "-1", "5x", ""):
            self.assertIn("-n takes a number of lines", self.fails("trace", "-p", self.name, "-n", n, status=2))

    def test_number_of_lines_of_a_program(self) -> None:
        """It goes on as if nobody traced it."""
        done = self.tp("trace", "-n", "3", "--", self.program, "hit=100000", "exit=5")
        self.assertEqual((done.returncode, self.numbers(done.stdout)), (5, [1, 2, 3]))
        self.assertIn("tp: 3 lines of", done.stderr)

    def test_times(self) -> None:
        env = {"TZ": "UTC-5:30"}
        date = r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\.\d{9}"
        rest = r" \d+/\d+ served:served_request: n=\d+ peer=10\.0\.0\.1"
        self.start("loop")
        who = ("-p", self.name, "-e", "served_request", "-n", "2")
        for option, zone in (("--utc", datetime.timezone.utc), ("--local", datetime.timezone(datetime.timedelta(hours=5, minutes=30)))):
            before = datetime.datetime.now(zone).replace(microsecond=0, tzinfo=None)
            done = self.tp("trace", *who, option, env=env)
            for line in done.stdout.splitlines():
                found = re.fullmatch(date + rest, line)
                self.assertTrue(found, line)
                time = datetime.datetime.fromisoformat(found[1])
                self.assertLessEqual(before, time)
                self.assertLessEqual(time, datetime.datetime.now(zone).replace(tzinfo=None))
        lines = self.tp("trace", *who, "--delta").stdout.splitlines()
        self.assertRegex(lines[0], r"\A\d+\.\d{9} \(\+0\.000000000\)" + rest + r"\Z")
        first, second = (int(line.split()[0].replace(".", "")) for line in lines)
        self.assertRegex(lines[1], rf"\A\d+\.\d{{9}} \(\+{(second - first) // 10**9}\.{(second - first) % 10**9:09d}\)" + rest + r"\Z")
        done = self.tp("trace", "--delta", "-e", "served_request", "--", self.program, "hit=3")
        self.assertEqual(len(re.findall(r"^\d+\.\d{9} \(\+\d+\.\d{9}\)" + rest + "$", done.stdout, re.M)), 3)
        lines = self.tp("trace", *who, "--local", "--delta", env=env).stdout.splitlines()
        self.assertRegex(lines[1], "^" + date + r" \(\+\d+\.\d{9}\)" + rest + r"\Z")
        self.assertIn("give it --utc or --local, not both", self.fails("trace", *who, "--local", "--utc", status=2))

    # ---- A terminal ----

    def test_terminal(self) -> None:
        process = self.start("loop")
        terminal = self.terminal("trace", "-p", self.name)
        terminal.wait_for(LINE)
        terminal.type(b"\x03")
        self.assertEqual(terminal.end(), 0)
        self.assertNotIn("\x1b", re.sub(r"\x1b\[K(?=tp: )", "", terminal.text()))
        # ^C, which the terminal has shown, is no part of the last line.
        self.assertRegex(seen(terminal.text(), 24, 120)[-1], rf"\Atp: \d+ lines? of '{self.name}' \({process.pid}\); lost: 0\Z")
        self.left_alone(process.pid)

    def test_stopped_terminal(self) -> None:
        """^S: neither the process nor tp waits for it; and ^C ends tp nevertheless."""
        process = self.start("storm")
        terminal = self.terminal("trace", "-p", self.name)
        terminal.wait_for(LINE)
        terminal.going_on.clear()
        terminal.type(b"\x13")
        until(lambda: re.search(r" [1-9]\d* text:tp-trace", self.tp("outputs", "-p", str(process.pid)).stdout), "lines are lost")
        terminal.process.send_signal(signal.SIGTERM)
        self.assertEqual(terminal.process.wait(PATIENCE), 0)
        self.left_alone(process.pid)
        terminal.going_on.set()

    def test_suspended(self) -> None:
        """^Z stops tp, and not the process."""
        process = self.start("loop")
        terminal = self.terminal("trace", "-p", self.name)
        terminal.wait_for(LINE)
        terminal.type(b"\x1a")
        terminal.wait_for_stop()
        self.assertIn(state(process.pid), ("R", "S"))
        terminal.process.send_signal(signal.SIGCONT)
        terminal.process.send_signal(signal.SIGINT)
        self.assertEqual(terminal.end(), 0)

    def test_called_wrongly(self) -> None:
        for args in ((), ("-p", "1", "--", "true"), ("--",), ("--all", "--", "true"), ("--children", "--", "true"), ("--children",)):
            self.fails("trace", *args, status=2)

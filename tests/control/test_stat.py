# SPDX-License-Identifier: MIT
"""tp stat: live on a terminal, one table otherwise."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from reaching import Reaching  # noqa: E402
from support import until  # noqa: E402

HEAD = r"^EVENT +(?:PROCESS +)?HITS +RATE/s +AVG/s +MIN +MEAN +MAX +FIRST +LAST"


class Stat(Reaching):
    def hits(self, text: str, event: str = "served_request") -> list[int]:
        """In one process; or in each of several, the largest first, without their sum."""
        return [int(n) for n in re.findall(rf"^served:{event} +(?:'[^']*' \(\d+\) +)?(\d+) ", text, re.M)]

    def test_one_table(self) -> None:
        process = self.start("loop")
        for seconds in ("0.3", "3", "30"):  # a busy machine may leave the program no time
            done = self.tp("stat", "-p", self.name, "--for", seconds, "--field", "served_request.n", "--field", "*.peer", "--by=thread")
            if max(self.hits(done.stdout), default=0) > 1:
                break
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(re.findall(HEAD + "$", done.stdout, re.M)), 1, done.stdout)
        self.assertGreater(self.hits(done.stdout)[0], 1)
        for wanted in (rf"^'{self.name}' \({process.pid}\), \d+\.\d\d\d s$", "^served:served_request.n: count ", r'"10\.0\.0\.1"'):
            self.assertRegex(done.stdout, re.compile(wanted, re.M))
        self.assertNotIn("\x1b", done.stdout)
        self.left_alone(process.pid)

    def test_interrupt(self) -> None:
        process = self.start("loop")
        for seconds in (0.1, 1, 10):  # a busy machine may leave the program no time
            tp = self.begin("stat", "-p", str(process.pid), "-e", "served_idle")
            until(lambda: self.enabled(process.pid))
            self.assertEqual(self.enabled(process.pid), ["served:served_idle"])
            time.sleep(seconds)
            out, err = self.interrupt(tp)
            if self.hits(out, "served_idle"):
                break
        self.assertEqual((err, len(self.hits(out, "served_idle")), self.hits(out)), ("", 1, []))
        self.left_alone(process.pid)

    def test_json(self) -> None:
        process = self.start("loop")
        for seconds in ("0.2", "2", "20"):
            report = json.loads(self.done("stat", "-p", str(process.pid), "--for", seconds, "--json", "--field=served_request.n", "--top", "3"))
            if len(report["events"]) == 2:
                break
        self.assertEqual(report["pid"], process.pid)
        self.assertEqual({event["event"] for event in report["events"]}, {"served:served_request", "served:served_idle"})

    def test_end_of_the_process(self) -> None:
        process = self.start("loop")
        tp = self.begin("stat", "-p", str(process.pid), "--interval", "0.05")
        until(lambda: self.enabled(process.pid))
        process.kill()
        out, err = self.finished(tp)
        self.assertEqual(tp.returncode, 0)
        self.assertRegex(err, rf"\Atp: '{self.name}' \({process.pid}\) has ended: these are the numbers of up to 0\.05 s before\n\Z")
        self.assertRegex(out, r"(?m)\A|^" + HEAD)

    def test_second_signal(self) -> None:
        """timeout(1) sends two. The last numbers come in spite of the second one."""
        process = self.start("loop")
        said = []
        cut = (rf"tp: a signal has ended tp while it asked '{self.name}' \({process.pid}\) for the last numbers: "
               r"these are those of up to 1 s before\n")
        for pause in (0, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01):
            def run_tp(pause: float = pause) -> tuple[int, str]:
                tp = self.begin("stat", "-p", str(process.pid))
                until(lambda: self.enabled(process.pid))
                tp.send_signal(signal.SIGTERM)
                time.sleep(pause)
                tp.send_signal(signal.SIGTERM)
                _, err = self.finished(tp)
                return tp.returncode, err

            for _ in range(4):
                said.append(self.ended_by_signals(process.pid, cut, run_tp)[1])
                self.left_alone(process.pid)
        self.assertEqual({*said}, {""})

    def test_stopped_process(self) -> None:
        """^C ends tp, which does not say that the process has ended."""
        process = self.start("loop")
        self.addCleanup(os.kill, process.pid, signal.SIGCONT)
        tp = self.begin("stat", "-p", str(process.pid), "--interval", "0.05")
        until(lambda: self.enabled(process.pid))
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(0.2)  # tp asks meanwhile, and waits, or asks at its end
        out, err = self.interrupt(tp)
        self.assertRegex(err, rf"has not answered: it is stopped, .*\"kill -CONT {process.pid}\"; these are the last numbers")
        self.assertRegex(out, r"(?m)\A|^" + HEAD)
        os.kill(process.pid, signal.SIGCONT)
        self.left_alone(process.pid)

    def test_killed(self) -> None:
        process = self.start("storm")
        tp = self.begin("stat", "-p", str(process.pid))
        until(lambda: self.enabled(process.pid))
        tp.kill()
        self.left_alone(process.pid)

    def test_output_that_is_there(self) -> None:
        process = self.start("loop", env={"TP_OUTPUT": f"stats:{self.path('counts')},interval=0"})
        pid = str(process.pid)
        self.done("outputs", "-p", pid, "--open", "stats:mine", "-e", "served_idle")
        out = self.done("stat", "-p", pid, "-o", "mine", "--for", "0.05")
        self.assertEqual(self.hits(out), [])
        self.counted("^served:served_request +[1-9]", "stat", "-p", pid, "-o", "1")
        self.assertEqual(len(self.outputs(process.pid)), 2)
        self.done("outputs", "-p", pid, "--open", "text:/dev/null")
        self.assertIn("is neither statistics", self.fails("stat", "-p", pid, "-o", "text:/dev/null"))

    def test_wrong(self) -> None:
        process = self.start("loop")
        pid = str(process.pid)
        self.assertIn("top=", self.fails("stat", "-p", pid, "--top", "x"))
        self.assertIn("field=", self.fails("stat", "-p", pid, "--field", "n"))
        for args in ((), ("-p", pid, "--", "true"), ("--",), ("-p", pid, "--interval", "0"), ("-p", pid, "--for=x"),
                     ("-p", pid, "-o", "1", "-e", "x"), ("-o", "1", "--", "true"), ("--for", "1", "--", "true")):
            self.fails("stat", *args, status=2)
        self.left_alone(process.pid)

    def test_field_that_is_not_there(self) -> None:
        """Is refused, unless its event may come later."""
        process = self.start("loop")
        pid = str(process.pid)
        self.assertEqual(self.fails("stat", "-p", pid, "--field", "served_request.n+served:served_request.nope"),
                         "tp: --field served:served_request.nope: there is no such field; there are n, peer\n")
        self.assertEqual(self.fails("stat", "-p", pid, "--field", "served_idle.m*"),
                         "tp: --field served_idle.m*: there is no such field; there is n\n")
        self.left_alone(process.pid)
        for field in ("served:*.peer", "*.n", "later.m", "served_request.*"):
            self.done("stat", "-p", pid, "--field", field, "--for", "0.01")

    # ---- Programs ----

    def test_crash(self) -> None:
        """The table is not the whole truth, and tp says so."""
        for more, seconds in (((), "1"), (("--interval", "0.5"), "0.5")):
            done = self.tp("stat", *more, "--", self.program, "hit=10", "crash")
            self.assertEqual(done.returncode, 128 + signal.SIGSEGV)
            self.assertRegex(done.stderr, rf"\Atp: '{self.program}' \(\d+\) was killed by signal 11 .*: what happened in the last {seconds} s "
                                          r"before that is not in these numbers\n\Z")

    def test_program(self) -> None:
        done = self.tp("stat", "-e", "served_request", "--field", "*.n", "--", self.program, "hit=10", "exit=6")
        self.assertEqual((done.returncode, done.stderr, self.hits(done.stdout)), (6, "", [10]))
        self.assertIn("served:served_request.n: count 10, ", done.stdout)
        self.assertEqual(os.listdir(self.path("run")), ["tp"])

    def test_family(self) -> None:
        """A row each."""
        done = self.tp("stat", "--", "sh", "-c", f"'{self.program}' hit=10 fork=2 hit=3; '{self.program}' hit=4; exit 1")
        self.assertEqual((done.returncode, sorted(self.hits(done.stdout))), (1, [3, 3, 4, 10]))
        done = self.tp("stat", "--json", "--", "sh", "-c", f"'{self.program}' hit=10; '{self.program}' hit=4")
        decoder = json.JSONDecoder()
        first, end = decoder.raw_decode(done.stdout)
        second = json.loads(done.stdout[end:])
        self.assertEqual([report["events"][0]["hits"] for report in (first, second)], [10, 4])

    def test_program_without_tracepoints(self) -> None:
        done = self.tp("stat", "--", "sh", "-c", "exit 9")
        self.assertEqual((done.returncode, done.stdout), (9, ""))
        self.assertRegex(done.stderr, r"\Atp: 'sh' has no tracepoints, or has not ended as programs do: there are no numbers\n\Z")

    # ---- A terminal ----

    def frames(self, text: str) -> list[list[str]]:
        """The lines of each drawing."""
        found = re.findall(r"\x1b\[H(.*?)\x1b\[J", text, re.S)
        return [frame.replace("\x1b[K", "").replace("\r", "").split("\n") for frame in found]

    def test_live(self) -> None:
        """Drawn again and again, within the window; the last table stays, on the screen that was there before."""
        process = self.start("loop")
        terminal = self.terminal("stat", "-p", self.name, "--interval", "0.02", "--field", "served_request.n", rows=7, columns=50)
        until(lambda: len(self.frames(terminal.text())) > 5)
        for frame in self.frames(terminal.text()):
            self.assertLessEqual(len(frame), 7)
            self.assertLessEqual(max(len(line) for line in frame), 50)
        self.assertGreater(max(len(line) for frame in self.frames(terminal.text()) for line in frame), 45)
        # A larger window shows more, at once.
        terminal.resize(40, 200)
        until(lambda: any(len(frame) > 7 for frame in self.frames(terminal.text())))
        self.assertLess(0, len([line for frame in self.frames(terminal.text()) for line in frame if len(line) > 50]))
        terminal.type(b"\x03")
        self.assertEqual(terminal.end(), 0)
        text = terminal.text()
        self.assertTrue(text.startswith("\x1b[?1049h"), text[:100])
        before, _, after = text.partition("\x1b[?7h\x1b[?25h\x1b[?1049l")
        self.assertNotIn("?1049l", before)
        self.assertNotIn("\x1b", after.removeprefix("\r\x1b[K"))  # ^C is wiped away
        self.assertRegex(after.replace("\r", ""), re.compile(HEAD + "$", re.M))
        self.left_alone(process.pid)

    def test_end_while_live(self) -> None:
        """The terminal is as before when the process ends, and when a signal ends tp."""
        for sig in (signal.SIGKILL, signal.SIGTERM):
            process = self.start("loop")
            terminal = self.terminal("stat", "-p", str(process.pid), "--interval", "0.02")
            until(lambda: len(self.frames(terminal.text())) > 2)  # pylint: disable=cell-var-from-loop
            (process if sig == signal.SIGKILL else terminal.process).send_signal(sig)
            self.assertEqual(terminal.end(), 0)
            self.assertIn("\x1b[?7h\x1b[?25h\x1b[?1049l", terminal.text())

    def test_suspended(self) -> None:
        """^Z gives the terminal back; afterwards it is drawn anew."""
        self.start("loop")
        terminal = self.terminal("stat", "-p", self.name, "--interval", "0.02")
        until(lambda: len(self.frames(terminal.text())) > 2)
        terminal.type(b"\x1a")
        until(lambda: "\x1b[?1049l" in terminal.text())
        terminal.wait_for_stop()
        terminal.process.send_signal(signal.SIGCONT)
        until(lambda: terminal.text().count("\x1b[?1049h") == 2)
        terminal.type(b"\x03")
        self.assertEqual(terminal.end(), 0)

    def test_program_on_a_terminal(self) -> None:
        terminal = self.terminal("stat", "--interval", "0.02", "--", self.program, "loop", rows=10)
        until(lambda: any("served:served_request" in line for frame in self.frames(terminal.text()) for line in frame))
        terminal.type(b"\x03")
        self.assertEqual(terminal.end(), 128 + signal.SIGINT)
        self.assertIn("was killed by signal 2", terminal.text())

    def test_stopped_terminal(self) -> None:
        """^S: signals end tp nevertheless."""
        process = self.start("loop")
        terminal = self.terminal("stat", "-p", self.name, "--interval", "0.01")
        until(lambda: len(self.frames(terminal.text())) > 2)
        terminal.type(b"\x13")
        terminal.process.send_signal(signal.SIGTERM)
        self.left_alone(process.pid)
        terminal.type(b"\x11")
        self.assertEqual(terminal.end(), 0)

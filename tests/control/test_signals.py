# SPDX-License-Identifier: MIT
"""Signals at any step of what follows a process: the status and the message are right, and the process is left as it was found."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from reaching import Reaching  # noqa: E402
from support import PATIENCE, few_or_many, need, run, until  # noqa: E402

ROUNDS = few_or_many(4, 12)
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals(Reaching):
    def commands(self, pid: int) -> dict[str, tuple[list[str], str]]:
        """Of each command the arguments, and what it says at its end."""
        of = rf"'{self.name}' \({pid}\)"
        return {
            "trace": (["-e", "served_request"], rf"tp: \d+ lines? of {of}; lost: 0\n"),
            "record": (["-o", "trace"], rf"tp: '.*trace.*': \d+ events?, \d+ bytes, of {of}; lost: 0\n"),
            "stat": ([], ""),
            "hist": (["-e", "served_request", "keys=n"], ""),
        }

    def answered(self, command: str, pid: int, run_tp: Callable[[], tuple[int, str]]) -> tuple[int, str]:
        of = rf"'{self.name}' \({pid}\)"
        numbers = rf"tp: a signal has ended tp while it asked {of} for the last numbers: these are those of up to \S+ s before\n"
        return self.ended_by_signals(pid, {
            "trace": rf"tp: \d+ lines? of {of}; tp has ended before it was said how many were lost\n",
            "record": rf"tp: '.*trace.*' has the trace of {of}; it was not read to its end\n",
            "stat": numbers,
            "hist": numbers,
        }[command], run_tp)

    def disturb(self, command: str, pid: int, pauses: list[float], signals: list[int]) -> None:
        arguments, said = self.commands(pid)[command]

        def run_tp() -> tuple[int, str]:
            tp = self.begin(command, "-p", str(pid), *arguments)
            for pause, sig in zip(pauses, signals):
                time.sleep(pause)
                tp.send_signal(sig)
            _, err = self.finished(tp)
            return tp.returncode, err

        status, err = self.answered(command, pid, run_tp)
        what = f"{command} {pauses} {signals}: {err}"
        # At the very beginning, and once all is said and done, a signal does what it does to any program.
        self.assertIn(status, (0, *(-sig for sig in signals)), what)
        self.assertRegex(err, rf"\A({said})?\Z", what)
        if status == 0:
            self.assertRegex(err, rf"\A{said}\Z", what)
        self.left_alone(pid)
        if os.path.isdir(self.path("trace")) and os.listdir(self.path("trace")):
            self.assertEqual(run([self.command, "report", self.path("trace")]).returncode, 0, what)
        shutil.rmtree(self.path("trace"), True)
        self.assertFalse([name for name in os.listdir(self.path("run")) if name != "tp"], what)

    def test_any_instant(self) -> None:
        process = self.start("loop")
        rng = random.Random(1)
        for number in range(ROUNDS * 4):
            for command in self.commands(process.pid):
                nr = rng.choice((1, 2, 2, 5))
                pauses = [rng.choice((0.001, 0.01, 0.05)) * rng.random()] + [0.004 * rng.random() for _ in range(nr - 1)]
                signals = [rng.choice(ENDS)] * nr if number % 2 else [rng.choice(ENDS) for _ in range(nr)]
                self.disturb(command, process.pid, pauses, signals)

    def test_any_system_call(self) -> None:
        """The signal comes inside a call of some kind, and a second one inside a later one."""
        need(self, "strace")
        if run(["strace", "-o", "/dev/null", "true"]).returncode:
            self.skipTest("nothing may be traced here")
        process = self.start("loop")
        rng = random.Random(1+2)
        for command, (arguments, said) in self.commands(process.pid).items():
            for number in range(1, ROUNDS * 2):
                call = rng.choice(("poll", "recvfrom", "sendmsg", "close", "openat", "write", "getdents64", "signalfd4", "mkdir,unlink"))
                sig = rng.choice(("SIGINT", "SIGTERM", "SIGHUP"))
                words = ["strace", "-o", "/dev/null", "-e", f"inject={call}:signal={sig}:when={number}+{rng.choice((1, 3, 1000))}",
                         self.command, command, "-p", str(process.pid), "--for", "0.2", *arguments]

                def run_tp(words: list[str] = words) -> tuple[int, str]:
                    done = run(words, cwd=self.dir, env=self.env)
                    return done.returncode, done.stderr

                status, err = self.answered(command, process.pid, run_tp)
                what = f"{command} {sig} at {call} {number}: {err}"
                self.assertIn(status, (0, -signal.Signals[sig]), what)
                self.assertRegex(err, rf"\A({said})?\Z", what)
                self.left_alone(process.pid)
                shutil.rmtree(self.path("trace"), True)

    def test_program(self) -> None:
        """What is started is ended by the signal, too, whenever that comes; nothing stays behind."""
        rng = random.Random(2)
        for number in range(ROUNDS * 4):
            for command in ("trace", "record", "stat", "hist"):
                arguments = self.commands(0)[command][0]
                sig = (signal.SIGTERM, signal.SIGHUP)[number % 2]
                tp = self.begin(command, *arguments, "--", self.program, "loop", stdout=subprocess.DEVNULL)
                for _ in range(rng.choice((1, 2))):
                    time.sleep(rng.choice((0.002, 0.02, 0.1)) * rng.random())
                    tp.send_signal(sig)
                _, err = self.finished(tp)
                what = f"{command} {sig}: {err}"
                self.assertIn(tp.returncode, (-sig, 128 + sig), what)
                if tp.returncode > 0 and command != "hist":
                    self.assertIn(f"was killed by signal {int(sig)} ", err, what)
                until(lambda: run(["pgrep", "-x", self.name]).returncode == 1, what)
                self.assertEqual(os.listdir(self.path("run")), ["tp"], what)
                shutil.rmtree(self.path("trace"), True)

    def test_timeout(self) -> None:
        """timeout(1) sends its signal to tp, and then to all of its group: twice. Its time is over when SIGALRM comes."""
        process = self.start("loop")
        for command, (arguments, said) in self.commands(process.pid).items():
            for _ in range(ROUNDS):
                def run_tp(words: tuple[str, ...] = (command, "-p", str(process.pid), *arguments)) -> tuple[int, str]:
                    timeout = self.start(str(PATIENCE), self.command, *words, program="timeout", listening=False, stderr=subprocess.PIPE)
                    until(lambda: self.enabled(process.pid))
                    timeout.send_signal(signal.SIGALRM)
                    _, err = self.finished(timeout)
                    return timeout.returncode, err

                status, err = self.answered(command, process.pid, run_tp)
                self.assertRegex(err, rf"\A{said}\Z", command)
                self.assertEqual(status, 124)
                self.left_alone(process.pid)
                shutil.rmtree(self.path("trace"), True)

    def test_stopped_process(self) -> None:
        """It does not keep tp from its end, and is not said to have ended."""
        process = self.start("loop")
        for command, (arguments, _) in self.commands(process.pid).items():
            tp = self.begin(command, "-p", str(process.pid), *arguments)
            until(lambda: self.enabled(process.pid))
            os.kill(process.pid, signal.SIGSTOP)
            try:
                for _ in range(3):
                    tp.send_signal(signal.SIGTERM)
                    time.sleep(0.01)
                _, err = self.finished(tp)
            finally:
                os.kill(process.pid, signal.SIGCONT)
            self.assertNotIn("ended:", err)
            self.assertNotIn("has ended;", err)
            self.assertNotIn("which has ended", err)
            if command == "trace":
                self.assertRegex(err, r"\d+ lines? of .*; tp has ended before it was said how many were lost\n\Z")
            self.left_alone(process.pid)

    def test_interrupt_on_a_terminal(self) -> None:
        """What is said stands in a line of its own, behind the terminal's ^C."""
        process = self.start("loop")
        for columns in (80, 120):
            for command, (arguments, said) in self.commands(process.pid).items():
                terminal = self.terminal(command, "-p", str(process.pid), *arguments, columns=columns)
                until(lambda: self.enabled(process.pid))
                terminal.type(b"\x03")
                self.assertEqual(terminal.end(), 0)
                text = terminal.text().replace("\r\n", "\n")
                if said:
                    self.assertRegex(text, rf"(?m)^(?:.*\x1b\[K)?{said}\Z", command)
                else:
                    self.assertNotRegex(text, r"\^C\Z")
                self.left_alone(process.pid)
                shutil.rmtree(self.path("trace"), True)

    def test_event_that_nothing_has(self) -> None:
        """It is waited for, as a module may bring it; at the end that was a mistake."""
        process = self.start("loop")
        what = {"trace": "traced", "record": "recorded", "stat": "counted"}
        for command, word in what.items():
            arguments = ["-o", "trace"] if command == "record" else []
            done = self.tp(command, "-p", str(process.pid), "-e", "sevred:*", "--for", "0.1", *arguments)
            self.assertEqual(done.returncode, 1)
            self.assertIn("is called 'sevred:*' now (did you mean 'served:*'?); ", done.stderr)
            self.assertRegex(done.stderr, rf"(?m)^tp: no event was called so until the end: nothing was {word}$")
            self.assertFalse(os.path.exists(self.path("trace")))
            self.left_alone(process.pid)
        os.mkdir(self.path("mine"))
        self.tp("record", "-p", str(process.pid), "--all", "-e", "sevred:*", "--for", "0.1", "-o", "mine")
        self.assertEqual(os.listdir(self.path("mine")), [])
        self.assertEqual(self.tp("stat", "-p", str(process.pid), "-e", "nothing;served_request", "--for", "0.1").returncode, 0)
        other = self.start("loop")
        self.assertNotEqual(other.pid, process.pid)
        self.assertTrue(re.search("served", self.done("list", "-p", str(other.pid))))

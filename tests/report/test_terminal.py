# SPDX-License-Identifier: MIT
"""tp report on a terminal, and what it has more there: a header, colours, a pager, ^C; with --delta and -n."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from stepping import TP, Stepping  # noqa: E402
from support import run, until  # noqa: E402

COLOURS = re.compile(r"\x1b\[\d*m")
HEAD = r"# {}: \S+/step \(\d+\) on \S+, \d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\dZ \(\w+\)"


class OnTerminal(Stepping):
    def report(self, *arguments: str, **env: str) -> str:
        done = run([TP, "report", *arguments, self.trace], env={**self.env, **env})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def shown(self, *arguments: str, status: int = 0, columns: int = 80, **env: str) -> str:
        terminal = self.terminal(*arguments, self.trace, columns=columns, **env)
        self.assertEqual(terminal.end(), status, terminal.text())
        return terminal.text().replace("\r\n", "\n")

    @staticmethod
    def narrow(text: str) -> str:
        """Columns of a terminal are as wide as the program's name and id."""
        return re.sub(r"(?m)^ *(step) +(\d+/\d+) +", r"\1 \2 ", text)

    def test_plain_in_a_pipe(self) -> None:
        self.record(("hit", 10))
        text = self.report()
        self.assertEqual(len(text.splitlines()), 15)
        self.assertNotRegex(text, r"#|\x1b")
        self.assertRegex(self.report("--header"), HEAD.format(self.trace) + "\n" + re.escape(text))
        self.assertRegex(self.report("--color=always"), "\x1b\\[1mstep:step\x1b\\[0m: n=0")
        self.assertEqual(COLOURS.sub("", self.report("--color=always")), text)

    def test_terminal(self) -> None:
        self.record(("hit", 3))
        text = self.report()
        for columns in (80, 120):
            shown = self.shown("--no-pager", columns=columns)
            self.assertRegex(shown, "\\A\x1b\\[2m" + HEAD.format(self.trace) + "\x1b\\[0m\n")
            self.assertEqual(COLOURS.sub("", shown).split("\n", 1)[1], self.narrow(text))
        for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}):
            self.assertNotIn("\x1b", self.shown("--no-pager", **env))
        self.assertIn("\x1b[1m", self.shown("--no-pager", NO_COLOR=""))
        self.assertNotIn("\x1b", self.shown("--no-pager", "--color=never"))
        self.assertIn("\x1b[1m", self.shown("--no-pager", "--color=always", TERM="dumb"))

    def test_pager(self) -> None:
        self.record(("hit", 3))
        text = self.report()
        shown = self.shown(PAGER="sed 's/^/P /'")
        self.assertEqual(COLOURS.sub("", re.sub("(?m)^P ", "", shown)).split("\n", 1)[1], self.narrow(text))
        self.assertTrue(all(line.startswith("P ") for line in shown.splitlines()))
        for arguments, env in ((["--no-pager"], {"PAGER": "sed 's/^/P /'"}), ([], {"PAGER": "cat"}), ([], {"PAGER": ""}),
                               (["--follow", "-n", "4"], {"PAGER": "sed 's/^/P /'"})):
            self.assertNotIn("P ", self.shown(*arguments, **env).replace("step ", ""), (arguments, env))
        self.assertNotIn("P ", self.report(PAGER="sed 's/^/P /'"))
        self.assertIn("FRX", self.shown(PAGER='echo "$LESS";cat'))
        self.assertIn("mine", self.shown(PAGER='echo "$LESS";cat', LESS="mine"))

    def test_less(self) -> None:
        """The default, which shows what fits on a screen and ends; and what does not until q. A dumb terminal has none."""
        if not shutil.which("less"):
            self.skipTest("less is not installed")
        self.record(("hit", 3))
        shown = self.shown()
        self.assertIn("n=2 x=1.0", shown)
        self.record(("hit", 500), trace=self.path("long"))
        for columns in (80, 120):
            terminal = self.terminal(self.path("long"), columns=columns)
            terminal.wait_for("n=1 x=0.5")
            terminal.wait_for("\n:")  # its prompt: what is typed before may be forgotten
            terminal.type(b"\x03")
            until(lambda t=terminal: t.process.poll() is not None or t.type(b"q"), "its end")  # less may drop what it was typed meanwhile
            self.assertEqual(terminal.end(), 0)
            self.assertNotIn("n=499 ", terminal.text())
        terminal = self.terminal(self.path("long"), TERM="dumb")
        self.assertEqual(terminal.end(), 0)
        self.assertIn("n=499 ", terminal.text())

    def test_pager_ends_early(self) -> None:
        """As when the user has seen enough: that is no error."""
        self.record(("hit", 20000))
        self.assertEqual(len(self.shown(PAGER="head -n 5").splitlines()), 5)
        self.assertEqual(self.shown(PAGER="true"), "")
        self.shown("--summary", PAGER="true")
        self.shown("-n", "3", PAGER="true")

    def test_no_such_pager(self) -> None:
        self.record(("hit", 20000))
        shown = self.shown(PAGER="/no/such/pager", status=1)
        self.assertRegex(shown, r"tp: the pager '/no/such/pager' can't be run; --no-pager goes without\n\Z")

    def test_messages_are_in_the_pager(self) -> None:
        self.record(("hit", 3))
        terminal = self.terminal("-e", "nono", self.trace, PAGER="sed 's/^/P /'")
        self.assertEqual(terminal.end(), 1)
        self.assertRegex(terminal.text(), r"\AP tp: no event in .* matches 'nono'\r\n\Z")

    def test_interrupt(self) -> None:
        """It ends behind a whole line, as if by the signal."""
        self.record(("hit", 300000))
        terminal = self.terminal("--no-pager", "--color=never", self.trace)
        terminal.wait_for(r"step:step: n=\d+")
        terminal.type(b"\x03")
        self.assertEqual(terminal.end(), -signal.SIGINT)
        lines = terminal.text().replace("\r", "").split("\n")
        self.assertLess(len(lines), 300000)
        self.assertEqual(lines[-1], "")

    def test_stopped_terminal(self) -> None:
        """^C also ends one whose output nobody takes."""
        self.record(("hit", 300000))
        terminal = self.terminal("--no-pager", self.trace)
        terminal.wait_for(r"step:step")
        terminal.going_on.clear()
        os.kill(terminal.process.pid, signal.SIGTERM)
        until(lambda: terminal.process.poll() is not None, "its end")
        terminal.going_on.set()
        self.assertEqual(terminal.end(), -signal.SIGTERM)

    def test_stopped_pipe(self) -> None:
        self.record(("hit", 300000))
        with subprocess.Popen([TP, "report", self.trace], stdout=subprocess.PIPE) as process:
            assert process.stdout
            process.stdout.read(1)
            time.sleep(0.1)  # by now it waits, most times
            process.terminate()
            until(lambda: process.poll() is not None, "its end")
            self.assertEqual(process.returncode, -signal.SIGTERM)

    def test_delta(self) -> None:
        self.record(("hit", 5), ("thread", 5))
        plain, lines = self.report().splitlines(), self.report("--delta").splitlines()
        last = None
        for before, line in zip(plain, lines):
            match = re.fullmatch(r"(.*?(\d{10})\.(\d{9})) \(([+-]\d+\.\d{9})\)(: .*)", line)
            assert match
            self.assertEqual(match[1] + match[5], before)
            time = int(match[2] + match[3])
            self.assertEqual(int(match[4].replace(".", "")), 0 if last is None else time - last)
            last = time
        self.assertEqual(len(lines), len(plain))
        filtered = self.report("--delta", "-e", "rare,other").splitlines()
        self.assertIn(" (+0.000000000): ", filtered[0])

    def test_first_lines(self) -> None:
        self.record(("hit", 1000))
        lines = self.report().splitlines()
        for nr in (1, 2, 500, 10000):
            self.assertEqual(self.report("-n", str(nr)).splitlines(), lines[:nr])
        steps = [line for line in lines if "step:step" in line]
        self.assertEqual(self.report("--lines", "7", "-e", "step if n > 10").splitlines(), steps[11:18])

    def test_help(self) -> None:
        for columns in (80, 120):
            terminal = self.terminal("--help", columns=columns)
            self.assertEqual(terminal.end(), 0)
            self.assertLessEqual(max(map(len, terminal.text().replace("\r", "").splitlines())), columns)
            for option in ("--delta", "--summary", "--follow", "--no-pager", "--color", "--header", "-n, --lines"):
                self.assertIn(option, terminal.text())


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: MIT
"""What tp stat, top and hist show on a terminal, as a person sees it, of 80 and 120 columns."""

from __future__ import annotations

import os
import re
import signal
import sys
import termios

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from emulator import Screen, seen  # noqa: E402
from reaching import Reaching, Terminal  # noqa: E402
from support import until  # noqa: E402

WIDTHS = (80, 120)


class Views(Reaching):
    rows = 24
    columns = 80

    def shown(self, *args: str, rows: int = 24, columns: int = 80) -> Terminal:
        self.rows, self.columns = rows, columns
        return self.terminal(*args, "--interval", "0.05", rows=rows, columns=columns)

    def frames(self, terminal: Terminal) -> list[list[str]]:
        """The lines of each drawing that is complete."""
        found = re.findall(r"\x1b\[H.*?\x1b\[J", terminal.text(), re.S)
        return [seen("\x1b[?7l" + frame, self.rows, self.columns) for frame in found]

    def frame(self, terminal: Terminal, pattern: str) -> str:
        """One in which this is."""
        def those() -> list[str]:
            return [text for text in map("\n".join, self.frames(terminal)) if re.search(pattern, text, re.M)]
        until(lambda: those() or terminal.process.poll() is not None, pattern)
        self.assertTrue(those(), terminal.text())
        return those()[-1]

    def left(self, terminal: Terminal) -> str:
        """What stays on the terminal after ^C."""
        terminal.type(b"\x03")
        self.assertEqual(terminal.end(), 0)
        screen = Screen(100, self.columns).feed(terminal.text())
        self.assertFalse(screen.is_other)
        return screen.text()

    def check_numbers(self, text: str) -> None:
        """None is cut: a row has a number in each column of numbers."""
        for line in text.splitlines():
            if line.startswith("served:"):
                self.assertRegex(line, r"^\S+ +(?:'\w+' \(\d+\) +|all +)?\d+ +[\d.]+(?: +[\d.]+)?(?: +\S+ [num]?s){0,3}[\d.: #-]*$")


class Stat(Views):
    def test_rate_of_the_last_interval(self) -> None:
        """After a burst, the rate is 0, and the average is not."""
        self.start("wait=" + self.path("go"), "hit=500", "wait=/nowhere")
        for columns in WIDTHS:
            terminal = self.shown("stat", "-p", self.name, columns=columns)
            self.frame(terminal, r"^'\w+' \(\d+\), ")
            self.write("go", "")
            if columns == WIDTHS[0]:
                text = self.frame(terminal, r"^served:served_request +500 +0\.0 +[1-9]")
                self.check_numbers(text)
                self.assertRegex(text, re.compile(r"between two hits( -+)?$\nEVENT +HITS +RATE/s +AVG/s +MIN +MEAN +MAX$", re.M))
            self.left(terminal)

    def test_last_column(self) -> None:
        self.start("loop")
        terminal = self.shown("stat", "-p", self.name, columns=120)
        self.assertRegex(self.frame(terminal, "served:"), re.compile(r"^EVENT +HITS +RATE/s +AVG/s +MIN +MEAN +MAX +FIRST +LAST$", re.M))
        self.assertRegex(self.left(terminal), re.compile(r"^EVENT .* LAST$", re.M))

    def test_keys(self) -> None:
        """They sort, and are not shown; afterwards the terminal is as before."""
        self.start("loop")
        terminal = self.shown("stat", "-p", self.name)
        self.assertTrue(terminal.modes[3] & termios.ICANON and terminal.modes[3] & termios.ECHO)
        self.frame(terminal, r"\Asort by \(h\)its .*\(q\)uit\n")
        until(lambda: not terminal.modes_now()[3] & (termios.ICANON | termios.ECHO))
        order = r"(?s)served:served_idle .*served:served_request "
        self.frame(terminal, "served:")
        terminal.type(b"xn")
        self.frame(terminal, order)
        terminal.type(b"q")
        self.assertEqual(terminal.end(), 0)
        self.assertEqual(terminal.modes_now(), terminal.modes)
        self.assertNotIn("xn", terminal.text())
        self.assertNotIn("sort by", Screen(50, 80).feed(terminal.text()).text())

    def test_terminal_is_restored(self) -> None:
        """By signals, at the process's end, and while tp is stopped."""
        for sig in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT, signal.SIGTSTP, signal.SIGKILL):
            with self.subTest(sig=sig):
                process = self.start("loop")
                terminal = self.shown("stat", "-p", str(process.pid))
                self.frame(terminal, "served:")
                until(lambda: not terminal.modes_now()[3] & termios.ECHO)  # pylint: disable=cell-var-from-loop
                (process if sig == signal.SIGKILL else terminal.process).send_signal(sig)
                until(lambda: terminal.modes_now() == terminal.modes)  # pylint: disable=cell-var-from-loop
                if sig == signal.SIGTSTP:
                    terminal.wait_for_stop()
                    terminal.process.send_signal(signal.SIGCONT)
                    until(lambda: not terminal.modes_now()[3] & termios.ECHO)  # pylint: disable=cell-var-from-loop
                    terminal.process.send_signal(signal.SIGTERM)
                self.assertEqual(terminal.end(), 0)
                self.assertEqual(terminal.modes_now(), terminal.modes)

    def test_hung_up(self) -> None:
        """The terminal goes away: tp ends, and the process is left alone."""
        process = self.start("loop")
        terminal = self.shown("stat", "-p", str(process.pid))
        self.frame(terminal, "served:")
        os.close(terminal.slave)
        os.close(terminal.master)
        terminal.slave, terminal.master = os.open("/dev/null", os.O_RDWR), os.open("/dev/null", os.O_RDWR)
        terminal.process.wait(60)
        self.left_alone(process.pid)

    def test_unbalanced(self) -> None:
        """Each worker's share, also of one that does nothing."""
        busy, idle = self.start("loop"), self.start(f"wait={self.path('never')}")
        slow = self.start("loop=40")
        for columns in WIDTHS:
            terminal = self.shown("stat", "-p", self.name, "--all", "--sort", "rate", columns=columns)
            text = self.frame(terminal, rf"\({busy.pid}\) .* 9\d\.\d  #")
            self.check_numbers(text)
            self.assertRegex(text, rf"\nserved:served_request +all +\d+ +\d+\.\d[^#\n]*\n[^\n]*\({busy.pid}\) [^\n]*#+\n[^\n]*\({slow.pid}\) "
                                   rf"[^\n]*#+\n[^\n]*\({idle.pid}\) +0 +0\.0 [^#\n]*(?:\n|\Z)")
            self.assertIn("% RATE", text)
            terminal.type(b"p")
            text = self.frame(terminal, r"(?s)\A(?!.*\(\d+\)).*served:")
            self.assertEqual(len(re.findall(r"^served:\S+ +all ", text, re.M)), 2)
            terminal.type(b"h")
            self.frame(terminal, "% HITS")
            self.left(terminal)

    def test_cut_rows_are_counted(self) -> None:
        for _ in range(6):
            self.start("loop")
        terminal = self.shown("stat", "-p", self.name, "--all", rows=10)
        text = self.frame(terminal, r"^\.\.\. \d+ more$")
        shown = len(re.findall("^served:", text, re.M))
        self.assertEqual(int(re.findall(r"^\.\.\. (\d+) more$", text, re.M)[0]), 14 - shown)
        self.assertIn(len(text.splitlines()), (9, 10))
        self.assertRegex(self.left(terminal), r"\n\.\.\. \d+ more\Z")

    def test_fields_and_threads(self) -> None:
        self.start("loop")
        for columns in WIDTHS:
            terminal = self.shown("stat", "-p", self.name, "--field", "*.n", "--field", "*.peer", "--by=thread", columns=columns, rows=30)
            text = self.frame(terminal, r'(?s)^"10\.0\.0\.1" +\d+ +#{40}')
            self.assertRegex(text, re.compile(r"^served:served_request\.n: count \d+, sum \d+, min \d+, mean [\d.]+, max \d+$", re.M))
            self.assertRegex(text, re.compile(rf"^served:served_request +\d+ +{self.name} +\d+ ", re.M))
            self.left(terminal)

    def test_sort(self) -> None:
        self.start("loop")
        out = self.counted(r"served_idle +\d[^\n]*\nserved:served_request +\d", "stat", "-p", self.name, "--sort", "name")
        self.assertIn("AVG/s", out)
        self.assertIn("--sort takes one of hits, rate, average, name", self.fails("stat", "-p", self.name, "--sort", "size", status=2))

    def test_in_the_background(self) -> None:
        """A program in the background must not touch the terminal's keys."""
        self.start("loop")
        script = f"set -m; '{self.command}' stat -p {self.name} --interval 0.05 --for 1 & wait $!"
        terminal = Terminal(["bash", "-c", script], self.dir, {**self.env, "TERM": "xterm"})
        self.addCleanup(terminal.close)
        self.frame(terminal, "served:")
        self.assertTrue(terminal.modes_now()[3] & termios.ECHO)
        self.assertEqual(terminal.end(), 0)


class Hist(Views):
    def test_most_frequent_first(self) -> None:
        """Never cut away, under the totals; the names of columns, and numbers as wide as they are."""
        self.start("loop")
        for columns in WIDTHS:
            terminal = self.shown("hist", "-p", self.name, "-e", "served_request", "keys=n.log2,peer:vals=n", rows=8, columns=columns)
            text = self.frame(terminal, r"^\.\.\. \d+ more$")
            self.assertRegex(text, r"\Ahist:keys=n\.log2,peer:vals=hitcount,n:sort=hitcount.*\n\d+ hits?, \d+ entr(y|ies), 0 dropped\n\n +n +peer +HITS +n +%\n")
            hits = [int(n) for n in re.findall(r"^ *\d+(?: \.\. \d+)? +10\.0\.0\.1 +(\d+) +\d+ +\d+\.\d  #", text, re.M)]
            self.assertEqual(hits, sorted(hits, reverse=True))
            self.assertEqual(len(hits), 2)
            entries = int(re.search(r", (\d+) entries", text)[1])
            self.assertIn(f"\n... {entries - 2} more", text)
            self.assertRegex(self.left(terminal), r"\d+ hits?, ")

    def test_sort_of_the_definition(self) -> None:
        self.start("loop")
        for sort, reverse in (("n", False), ("n.descending", True)):
            terminal = self.shown("hist", "-p", self.name, "-e", "served_request", f"keys=n:sort={sort}", rows=12)
            text = self.frame(terminal, r"^\.\.\. \d+ more$")
            keys = [int(n) for n in re.findall(r"^ *(\d+) +1 ", text, re.M)]
            self.assertEqual(keys, sorted(keys, reverse=reverse))
            self.left(terminal)

    def test_several(self) -> None:
        """One histogram; also sorted by its keys."""
        steps = ("hit=40", f"wait={self.path('never')}")
        for _ in range(3):
            self.start(f"wait={self.path('go')}", *steps)
        terminals = [self.shown("hist", "-p", self.name, "--all", "-e", "served_request", definition)
                     for definition in ("keys=peer:vals=n", "keys=n:sort=n.descending")]
        for terminal in terminals:
            self.frame(terminal, r"^0 hits, .*, of 3 processes$")
        self.write("go", "")
        self.assertRegex(self.frame(terminals[0], r"^120 hits, 1 entry, 0 dropped, of 3 processes$"), r"\n10\.0\.0\.1 +120 +2460 +100\.0  #+\n\n"
                         r"PROCESS +HITS +ENTRIES +%\n(?:'\w+' \(\d+\) +40 +1 +33\.3  #+(?:\n|\Z)){3}\Z")
        text = self.frame(terminals[1], r"^120 hits, 40 entries")
        keys = [int(n) for n in re.findall(r"^ *(\d+) +3 ", text, re.M)]
        self.assertEqual(keys, list(range(40, 40 - len(keys), -1)))
        self.assertGreater(len(keys), 10)
        for terminal in terminals:
            self.left(terminal)

    def test_stack(self) -> None:
        """The calls are below their entry."""
        self.start("loop")
        terminal = self.shown("hist", "-p", self.name, "-e", "served_request", "keys=common_stacktrace")
        self.frame(terminal, r"^\S+ +\d+ +100\.0  #+\n +\S+")
        self.left(terminal)

    def test_those_that_are_there(self) -> None:
        process = self.start("loop", env={"TP_TRIGGER": "served_idle hist:keys=n.log2; served_request hist:keys=peer"})
        terminal = self.terminal("hist", "-p", str(process.pid))
        self.assertEqual(terminal.end(), 0)
        text = Screen(100, 80).feed(terminal.text()).text()
        self.assertEqual(len(re.findall(r"^\d+ hits?, ", text, re.M)), 2)
        self.assertNotIn("# event histogram", text)

    def test_any_size(self) -> None:
        """The smallest and the largest windows: no line more, and no end but that of the time."""
        self.start("loop")
        self.start("loop=10")
        for self.rows, self.columns in ((1, 1), (1, 80), (2, 80), (4, 30), (6, 10), (50, 2), (24, 500)):
            for args in (("stat", "--field", "*.n", "--by=thread"), ("hist", "-e", "served_request", "keys=n:vals=n")):
                terminal = self.shown(*args, "-p", self.name, "--all", rows=self.rows, columns=self.columns)
                until(lambda: terminal.text().count("\x1b[J") > 3)  # pylint: disable=cell-var-from-loop
                terminal.type(b"\x03")
                self.assertEqual(terminal.end(), 0)
                frames = re.findall(r"\x1b\[H.*?\x1b\[J", terminal.text(), re.S)
                self.assertLessEqual(max(len(frame.split("\n")) for frame in frames), self.rows)
                terminal.close()

    def test_full_width(self) -> None:
        """A histogram with numbers of 20 digits, at 80 columns."""
        process = self.start("loop", env={"TP_TRIGGER": "served_idle hist:keys=n:vals=n,n*1000000007*1000000007"})
        terminal = self.terminal("hist", "-p", str(process.pid))
        self.assertEqual(terminal.end(), 0)
        for line in Screen(300, 80).feed(terminal.text()).lines()[4:]:
            self.assertLessEqual(len(line), 80)
            self.assertNotIn("..", line)


class Top(Views):
    """Of a user of our own: root would look into the processes of other tests, too."""

    def setUp(self) -> None:
        super().setUp()
        self.uid = 61000 + os.getpid() % 4000  # nobody's: other tests have processes of theirs
        self.user = {} if os.geteuid() else {"user": self.uid, "group": self.uid, "extra_groups": []}
        if self.user:
            os.chown(self.control, self.uid, self.uid)

    def served(self, *steps: str) -> int:
        return self.start(*steps, **self.user).pid

    def top(self, *args: str) -> str:
        done = self.tp("top", *args, **self.user)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_once(self) -> None:
        """Piped, after an interval; the most frequent first."""
        pids = [self.served("loop"), self.served("loop=20")]
        for interval in ("0.2", "2", "20"):  # a busy machine may leave the first one no time
            out = self.top("--interval", interval)
            found = re.findall(r"^served:served_request +'\w+' \((\d+)\) +\d+ +([\d.]+) ", out, re.M)
            self.assertEqual(found, sorted(found, key=lambda row: -float(row[1])), out)
            if [int(pid) for pid, _ in found] == pids:
                break
        self.assertRegex(out, re.compile(r"^EVENT +PROCESS +HITS +RATE/s +AVG/s ", re.M))
        self.assertEqual([int(pid) for pid, _ in found], pids)
        self.assertNotIn("\x1b", out)
        for pid in pids:
            self.left_alone(pid)

    def test_options(self) -> None:
        self.served("loop")
        self.top("-n", "2", "--interval", "0.05")
        self.top("--for", "0.05")
        self.assertIn("served_idle", self.top("-p", self.name, "--for", "1", "-e", "served_idle", "--sort", "name"))
        for args in (("-n", "0"), ("-n", "x"), ("--for", "1", "-n", "1"), ("--sort", "x"), ("--", "true"), ("name",)):
            self.assertEqual(self.tp("top", *args, **self.user).returncode, 2)

    def test_no_such_event(self) -> None:
        """Is told once, and not of each process."""
        for _ in range(2):
            self.served("loop")
        done = self.tp("top", "-e", "nothing:*", "--for", "0.05", **self.user)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Atp: no process has an event of 'nothing:\*' now; [^\n]*\ntp: no event was called so until the end: nothing was counted\n\Z")

    def test_nobody_listens(self) -> None:
        done = self.tp("top", **self.user)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("no process listens that you may look into", done.stderr)

    def test_those_that_come(self) -> None:
        """And those that go."""
        first = self.served("loop")
        command = [self.command, "top", "--interval", "0.1"]
        if self.user:
            command = ["setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups", *command]
        self.rows, self.columns = 40, 120
        terminal = Terminal(command, self.dir, {**self.env, "TERM": "xterm"}, rows=40, columns=120)
        self.addCleanup(terminal.close)
        self.frame(terminal, rf"\({first}\)")
        second = self.start("loop", **self.user)
        self.frame(terminal, rf"(?s)\A[^\n]*\n2 processes.*\({second.pid}\) +\d+ +[1-9]")
        second.kill()
        self.frame(terminal, rf"(?s); 1 has ended\n.*\({second.pid}\) +\d+ +0\.0 ")
        full = self.served("loop")
        self.frame(terminal, rf"\({full}\)")
        terminal.type(b"q")
        self.assertEqual(terminal.end(), 0)
        self.left_alone(first)

# SPDX-License-Identifier: MIT
"""What the commands' tables become: help, man pages, and what the shells complete; and how tp is called wrongly."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import time
import unittest

from support import BUILD, PATIENCE, ROOT, Case, need, read, run

TP = os.path.join(BUILD, "tp")
COMMANDS = re.findall(r"^  (\w+) ", run([TP, "help"]).stdout, re.M)
WIDTH = 80


class Help(Case):
    def test_overview(self) -> None:
        done = run([TP, "help"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"\Ausage: tp COMMAND \[ARGUMENTS\]\n")
        self.assertIn("report", COMMANDS)
        for option in ("--help", "-h"):
            self.assertEqual(run([TP, option]).stdout, done.stdout)
        self.assertRegex(run([TP, "--version"]).stdout, r"^tp \d+\.\d+\.\d+(~rc\d+)?\n$")
        self.assertEqual(run([TP, "-V"]).stdout, run([TP, "--version"]).stdout)

    def test_commands(self) -> None:
        for command in COMMANDS:
            with self.subTest(command):
                done = run([TP, "help", command])
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertRegex(done.stdout, rf"\Ausage: tp {command}\b")
                self.assertRegex(done.stdout, r"\nOptions:\n")
                for option in ("--help", "-h"):
                    self.assertEqual(run([TP, command, option]).stdout, done.stdout)

    def test_width(self) -> None:
        for arguments in (["help"], *(["help", command] for command in COMMANDS)):
            for line in run([TP, *arguments]).stdout.splitlines():
                self.assertLessEqual(len(line), WIDTH, line)
                self.assertEqual(line, line.rstrip())

    def test_wrong_calls(self) -> None:
        done = run([TP])
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", run([TP, "help"]).stdout))
        for arguments in (["nono"], ["help", "nono"], ["--nono"], [""], ["report\x1b[2J"]):
            done = run([TP, *arguments])
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, r'\Atp: there is no command \'[^\0-\x1f]*\'; "tp help" lists them\n\Z')
        for command in COMMANDS:
            for option in ("--nono", "-\u00fc", "-"):
                done = run([TP, command, option])
                self.assertEqual((done.returncode, done.stdout) if option != "-" else (0, ""), (2 if option != "-" else 0, ""),
                                 done.stderr)
                if option != "-":
                    self.assertRegex(done.stderr, rf'\Atp: {command}: there is no option .*; "tp help {command}" says how it is called\n\Z')

    def test_what_was_meant(self) -> None:
        """The message has the line, or the word, that comes nearest."""
        for arguments, said in ((["trce"], "there is no command 'trce' (did you mean 'trace'?); "),
                                (["lsit"], " (did you mean 'list'?); "),
                                (["trace", "--evnts=x"], "did you mean 'events'?"),
                                (["trace", "server"], "a process stands behind -p: tp trace -p server;"),
                                (["stat", "server"], "a process stands behind -p: tp stat -p server;"),
                                (["trace", "-p", "server", "net:*"], "events stand behind -e: tp trace -p server -e 'net:*';"),
                                (["record", "-o", "d", "./server"], "a program stands behind --: tp record -- ./server;")):
            with self.subTest(arguments):
                done = run([TP, *arguments])
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(said, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)

    def test_full_disk(self) -> None:
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([TP, "help"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, "tp: the output can't be written: No space left on device\n"))


    def test_closed_descriptors(self) -> None:
        """Nothing is written into a file that has got the number."""
        for redirection in (">&-", "<&- >&-", "<&- >&- 2>&-", "2>&- >/dev/full"):
            done = run(["sh", "-c", f'"$@" {redirection}', "sh", TP, "help"])
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertEqual(done.stderr, "" if "2>&-" in redirection else "tp: the output can't be written: Bad file descriptor\n")


class Man(Case):
    def test_no_warnings(self) -> None:
        need(self, "man")
        env = {**os.environ, "LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": str(WIDTH), "MANPAGER": "cat"}
        for name in ("tp", *(f"tp-{command}" for command in COMMANDS)):
            with self.subTest(name):
                page = os.path.join(BUILD, f"man/{name}.1")
                done = run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page], env=env)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                shown = run(["man", "-l", page], env=env).stdout
                self.assertRegex(shown, rf"\A{name.upper()}\(1\) +User Commands +{name.upper()}\(1\)\n\nNAME\n +{name} - ")

    def test_no_warnings_of_documents(self) -> None:
        """At the width of a terminal, where columns of tables are narrow."""
        need(self, "man")
        env = {**os.environ, "LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80", "MANPAGER": "cat"}
        for name in ("tpgen.1", "libtp.3", "tp-language.5", "tp-environment.7"):
            with self.subTest(name):
                done = run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", os.path.join(BUILD, "man", name)], env=env)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_lint(self) -> None:
        """Of all pages, those that are made of documents among them."""
        need(self, "mandoc")
        pages = sorted(os.listdir(os.path.join(BUILD, "man")))
        self.assertLessEqual({"tp.1", "tpgen.1", "libtp.3", "tp-language.5", "tp-environment.7"}, set(pages))
        for page in pages:
            with self.subTest(page):
                done = run(["mandoc", "-Tlint", os.path.join(BUILD, "man", page)])
                self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_documents(self) -> None:
        """Nothing of a document is lost in its man page: words, code, cells of tables."""
        need(self, "mandoc")
        for page, document in (("tp-language.5", "language.md"), ("libtp.3", "api.md"), ("tp-environment.7", "environment.md")):
            shown = run(["mandoc", "-Tutf8", "-Owidth=1000", os.path.join(BUILD, "man", page)]).stdout
            shown = set(re.findall(r"\w+", re.sub(".\b", "", shown)))
            text = re.sub(r"\]\([^)]*\)|^!\[.*$|^```\w+", "", read(os.path.join(ROOT, "docs", document)).split("\n", 1)[1], flags=re.M)
            self.assertEqual({word for word in re.findall(r"\w+", text) if word not in shown}, set(), page)

    def test_is_the_help(self) -> None:
        """Each option is in both, and no word of the text is lost."""
        need(self, "man")
        env = {**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "1000", "MANPAGER": "cat", "MAN_KEEP_FORMATTING": ""}
        for command in COMMANDS:
            shown = run(["man", "--no-hyphenation", "--no-justification", "-l", os.path.join(BUILD, f"man/tp-{command}.1")], env=env).stdout
            words = set(shown.split())
            text = re.sub(r"(?m)^(usage|[A-Z][A-Za-z ]+):(?= |$)", "", run([TP, "help", command]).stdout)
            for word in text.split():
                self.assertIn(word.rstrip(","), {w.rstrip(",") for w in words}, command)


# In the place of tp: shows what it is called with; and what the functions ask it for, processes and events.
FAKE = """tp() { case $* in (ps) echo PID USER PROGRAM; echo 4711 root pgz 9 now -;; (list*4711*|list*pgz*--newest) echo pgz:block_end INFO;; \
("list --all") echo any:thing INFO;; (*) echo "<""<$*>"">";; esac; }"""


class Shell:
    """A shell in a terminal, with the completion of tp as it is installed."""

    def __init__(self, directory: str, command: list[str], setup: str) -> None:
        control, terminal = pty.openpty()
        env = {"PATH": f"{BUILD}:{os.environ['PATH']}", "TERM": "dumb", "HOME": directory, "PS1": "ready> ", "LC_ALL": "C.UTF-8"}
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, env=env, cwd=directory,
                                        start_new_session=True)
        os.close(terminal)
        self.control, self.shown = control, b""
        self.send(f"{FAKE}; {setup}; echo set''up\n")
        self.wait_for(b"setup\r\n")
        self.wait_for(b"ready> ")

    def send(self, text: str) -> None:
        os.write(self.control, text.encode())

    def wait_for(self, text: bytes) -> bytes:
        """What has been shown until then, with it."""
        end = time.monotonic() + PATIENCE
        while text not in self.shown:
            assert time.monotonic() < end and select.select([self.control], [], [], PATIENCE)[0], self.shown
            self.shown += os.read(self.control, 65536)
        before, _, self.shown = self.shown.partition(text)
        return before + text

    def complete(self, line: str) -> str:
        """The line as it is behind a TAB, with a mark there: what the command of that name is called with."""
        self.send(line + "\tEND\n")
        self.wait_for(b"<<")
        shown = self.wait_for(b">>")[:-2]
        self.wait_for(b"ready> ")
        return "tp " + shown.decode(errors="replace")

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.control)


class Completion(Case):
    # What is typed, and what stands there behind the TAB.
    CASES = [
        ("tp rep", "tp report "),
        ("tp --ver", "tp --version "),
        ("tp help conv", "tp help convert "),
        ("tp convert --out", "tp convert --output="),
        ("tp convert --to tra", "tp convert --to trace.dat "),
        ("tp convert --to=tra", "tp convert --to=trace.dat "),
        ("tp convert -t tra", "tp convert -t trace.dat "),
        ("tp convert -o fi", "tp convert -o file "),
        ("tp convert --output=fi", "tp convert --output=file "),
        ("tp convert dir", "tp convert directory/"),
        ("tp report --fie", "tp report --fields "),
        ("tp report --utc dir", "tp report --utc directory/"),
        ("tp report fi", "tp report file "),
        ("tp pack dir", "tp pack directory/"),
        ("tp help --completion z", "tp help --completion zsh "),
    ]

    def setUp(self) -> None:
        super().setUp()
        os.mkdir(self.path("directory"))
        self.write("file", "")
        self.functions = self.path("functions")
        os.mkdir(self.functions)
        for name in ("tp", "_tp"):
            shutil.copy(os.path.join(BUILD, "completions", name), self.functions)

    def compare(self, shell: Shell, event: str, every: str) -> None:
        self.addCleanup(shell.end)
        cases = self.CASES
        if "trace" in COMMANDS:
            cases = [*cases, ("tp trace -p 47", "tp trace -p 4711 "), ("tp trace --pid=47", "tp trace --pid=4711 "),
                     ("tp trace -p pg", "tp trace -p pgz "), ("tp trace --pid=pg", "tp trace --pid=pgz "),
                     (f"tp trace -p 4711 -e {event[:-4]}", f"tp trace -p 4711 -e {event} "),
                     (f"tp trace -p pgz -e {event[:-4]}", f"tp trace -p pgz -e {event} "),
                     (f"tp trace --pid=pgz -e {event[:-4]}", f"tp trace --pid=pgz -e {event} "),
                     (f"tp trace --all -e {every[:-3]}", f"tp trace --all -e {every} "),
                     ("tp trace -e x -- unam", "tp trace -e x -- uname "), ("tp trace -e x -- cat fi", "tp trace -e x -- cat file ")]
        for line, want in cases:
            with self.subTest(line):
                self.assertEqual(shell.complete(line), want + "END")

    def test_bash(self) -> None:
        need(self, "bash")
        self.assertEqual(run(["bash", "-n", os.path.join(BUILD, "completions/tp")]).stderr, "")
        self.compare(Shell(self.dir, ["bash", "--norc", "--noprofile", "-i"], f"bind 'set bell-style none'; . {self.functions}/tp"),
                     "block_end", "thing")
        shell = Shell(self.dir, ["bash", "--norc", "--noprofile", "-i"], f"bind 'set bell-style none'; . {self.functions}/tp")
        self.addCleanup(shell.end)
        self.assertEqual(shell.complete("tp list -p pgz block"), "tp list -p pgz block_end END")

    def test_zsh(self) -> None:
        need(self, "zsh")
        setup = (f"PS1='ready> '; unsetopt beep prompt_cr prompt_sp; fpath=({self.functions} $fpath); "
                 "autoload -U compinit; compinit -u -D")
        self.compare(Shell(self.dir, ["zsh", "-f", "-i"], setup), "pgz:block_end", "any:thing")

    def test_all_options(self) -> None:
        """Of each command, bash offers what the help shows."""
        need(self, "bash")
        for command in COMMANDS:
            done = self.succeed(["bash", "-c", f'compopt() {{ :; }}; . {self.functions}/tp; COMP_WORDS=(tp {command} --); COMP_CWORD=2; '
                                 '_tp; printf "%s\\n" "${COMPREPLY[@]}"'])
            options = re.findall(r"^ +(?:-\w, )?(--[\w-]+)", run([TP, "help", command]).stdout, re.M)
            self.assertEqual([word.rstrip("=") for word in done.stdout.split()], options)
            zsh = read(os.path.join(self.functions, "_tp"))
            for option in options:
                self.assertIn(option, zsh)


if __name__ == "__main__":
    unittest.main()

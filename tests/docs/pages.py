# SPDX-License-Identifier: MIT
"""Pages that work word for word.

In these pages a fenced block behind a line that ends with `name`: is that
file; a block of sh is run; a block of text behind it is what it prints, "..."
standing for anything, and times and ids for any others.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable
from dataclasses import dataclass

from support import BUILD, ROOT, Case, need, read, run

_BLOCK = re.compile(r"^(?P<before>[^\n]*)\n+```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.S | re.M)

# tpgen is installed already, where programs and compilers look by themselves: pages that install it leave that out.
INSTALLED = os.environ.get("INSTALLED") == "1"

# Behind a command that ends with &: a reader takes longer to type the next one than the program takes to listen.
_LISTENING = "for i in $(seq 40); do tp ps -p $! >/dev/null 2>&1 && break; sleep 0.1; done\n"

# What tp ps prints, as soon as the machine has let our programs answer within its second.
_PS = """\
while said=$(tp ps 2>&1); status=$?; grep -Eq "\\((worker|server)\\) has not answered: |'(worker|server)' .*: it does not answer: " <<<"$said"
do :; done; echo "$said"; [ $status = 0 ]
"""


def _listen(nr: int) -> str:
    """Waits until so many workers listen."""
    return f"until [ $(tp ps 2>/dev/null | grep -c ' worker ') = {nr} ]; do sleep 0.1; done\n"


# What a reader's seconds are for, where the machine may leave a program no time in them.
_WAITS = (("& done; sleep 1\n", f"& done; {_listen(3)}"), ("exec ./worker 100000' &\nsleep 1\n", f"exec ./worker 100000' &\n{_listen(1)}"),
          ("kill -STOP $!\n", "kill -STOP $!\nwhile grep -h ^State: /proc/$!/task/*/status | grep -qv stopped; do sleep 0.1; done\n"))


def _begun(command: str) -> str:
    """Waits as long as a reader takes: until the program listens, and has recorded if it makes a trace."""
    trace = re.search(r"TP_OUTPUT=\"?ctf:([^,; ]+)", command)
    if not trace:
        return _LISTENING
    directory = trace[1].replace("%p", "$!")
    return f'{_LISTENING}for i in $(seq 300); do tp report "{directory}" 2>/dev/null | grep -q . && break; sleep 0.1; done\n'


@dataclass
class Block:
    kind: str  # sh, c, make, text
    name: str  # of the file that it is; else ""
    text: str


def blocks(text: str) -> list[Block]:
    found = []
    for match in _BLOCK.finditer(text):
        name = re.search(r"`([\w./-]+)`:$", match["before"])
        found.append(Block(match["kind"], name[1] if name else "", match["text"]))
    return found


def section(path: str, title: str) -> str:
    """The text below a heading, until the next of its level."""
    text = read(os.path.join(ROOT, path))
    return re.split(r"^#{1,2} ", text[text.index(f"\n## {title}\n") + 1:][3:], maxsplit=1, flags=re.M)[0]


def pattern(line: str) -> str:
    """A regular expression for a line of output: numbers, the host and times may be others."""
    line = re.sub(r"\(\+\S+\)", "\0", line)
    line = re.sub(r"(\d+\.\d+ \d+/\d+ )", "\1", line)
    line = re.escape(line).replace("\0", r"\(\+\S+\)").replace("\1", r"\d+\.\d+ \d+/\d+ ")
    line = re.sub(r"\\\[[\d:\\.]+\\\]", r"\\[[\\d:.]+\\]", line)
    return re.sub(r"\\ \w+:(?=server\\ )", r"\\ \\S+:", line).replace(r"\.\.\.", ".*")


_BAR = re.compile(r"(?<= )(\d+\.\d)  (#+)$")


def _has_share(line: str) -> bool:
    """Whether it ends with a share in percent, and a bar that shows it; 40 characters are all."""
    found = _BAR.search(line)
    return bool(found and abs(len(found[2]) - float(found[1]) * 0.4) < 0.53)  # 0.5, and what the number leaves out


def loose(line: str) -> str:
    """The same, if every number may be another, also in another width; a time of another unit; and so a share's bar, which same() looks at."""
    if _has_share(line):
        line = _BAR.sub("\\1  \3", line)
    line = re.sub(r"0x[\da-f]+", "\2", line.replace("...", "\1"))
    line = re.sub(r"\d+(?:\.\d+)?( [num]?s\b)?", lambda found: "\0\4" if found[1] else "\0", line)
    line = re.sub(r"\\ (?:\\ )+", "\\\\ +", re.escape(line)).replace("\3", "#+").replace("\4", " [num]?s")
    return re.sub(r"(?:\\ )?\0", r" *\\d+(?:\\.\\d+)?", line).replace("\1", ".*").replace("\2", "0x[0-9a-f]+")


def have_alone(case: Case, program: str) -> None:
    """Until the test's end, no other test runs a program of this name: root's tp sees them all, also in other namespaces."""
    os.makedirs(BUILD, exist_ok=True)
    lock = open(os.path.join(BUILD, f"{program}.lock"), "w", encoding="ascii")  # pylint: disable=consider-using-with
    case.addCleanup(lock.close)
    fcntl.flock(lock, fcntl.LOCK_EX)


class Page(Case):
    """The tests of a page: HOME is a directory of the test's, and nothing of tpgen's is set."""

    def setUp(self) -> None:
        super().setUp()
        need(self, "make", "pkg-config", "gcc", "babeltrace2", "bash")
        self.env = {**os.environ, "HOME": self.dir, "CC": "gcc", "MAKEFLAGS": "", "LC_ALL": "C"}
        for name in ("TP_ENABLE", "TP_OUTPUT", "TP_CONTROL"):
            self.env.pop(name, None)
        self.env["XDG_RUNTIME_DIR"] = self.path("run")
        os.mkdir(self.path("run"), 0o700)
        self.project = self.path("project")

    def install(self) -> None:
        self.succeed(["make", "install", f"PREFIX={self.path('tp')}"], cwd=ROOT, env=self.env)

    def same(self, expected: str, got: str, one_line: Callable[[str], str] = pattern) -> None:
        lines = got.splitlines()
        for line in expected.splitlines():
            found = [one for one in lines if re.fullmatch(one_line(line), one)]
            if line != "..." and not (found and (all(map(_has_share, found)) or not _has_share(line))):
                self.fail(f"the page says\n{line}\nbut what came is\n{got}")

    def walk(self, text: str, fails: str = ": error: ", one_line: Callable[[str], str] = pattern) -> None:
        """Does what the text says, in one shell. A command whose output matches the expression "fails" must fail."""
        script = [f"cd {ROOT}"]
        expected: list[tuple[str, str]] = []  # what is run, and what it prints
        for block in blocks(text):
            if block.name:
                script.append(f"cat >{block.name} <<'END OF FILE'\n{block.text}END OF FILE")
            elif block.kind == "sh":
                commands = re.sub(r"^make install .*\n", "", block.text, flags=re.M) if INSTALLED else block.text
                for seconds, condition in _WAITS:
                    commands = commands.replace(seconds, condition)
                commands = re.sub(r"^.* &\n", lambda m: m[0] + _begun(m[0]), commands, flags=re.M)
                commands = re.sub(r"^tp ps\n", lambda _: _PS, commands, flags=re.M)
                script.append(f"echo '<<<'\n{commands}echo \">>>$?\"")
                expected.append((block.text, ""))
            elif block.kind == "text":
                expected[-1] = (expected[-1][0], block.text)
        # A busy machine may leave the program no time in less than that.
        script_ = re.sub(r"--for [\d.]+", "--for 4", "\n".join(script))
        done = run(["bash", "-c", "exec 2>&1\n" + script_], env=self.env)
        self.assertEqual(done.returncode, 0, done.stdout)
        printed = re.findall(r"^<<<\n(.*?)^>>>(\d+)$", done.stdout, re.S | re.M)
        self.assertEqual(len(printed), len(expected), done.stdout)
        self.assertGreater(len(printed), 1)
        for (command, wanted), (output, status) in zip(expected, printed):
            with self.subTest(command=command):
                self.assertEqual(status != "0", bool(re.search(fails, wanted, re.M)), f"{status}: {output}")
                self.same(wanted, output, one_line)

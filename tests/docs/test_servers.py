# SPDX-License-Identifier: MIT
"""docs/servers.md is a conversation: root's commands, one after the other in one shell, print what it says.

In the page's blocks of text, "# " begins a command; what follows is what it prints, "..." standing for anything, and the
numbers for any numbers.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from support import BUILD, ROOT, Case, need, read, run, unavailable, until  # noqa: E402
from docs.pages import blocks  # noqa: E402

PAGE = os.path.join(ROOT, "docs/servers.md")
LOOKS = ("tp ps", "tp list", "tp outputs", "ps ", "runuser -u www-data -- tp list")  # until it shows what it is to show
RELOAD = "kill -HUP $MASTER\n"  # while the trace is one into which the new workers can't write


def conversation() -> list[tuple[str, str]]:
    """Commands and what they print."""
    said: list[tuple[str, str]] = []
    for block in blocks(read(PAGE)):
        for line in block.text.splitlines(keepends=True):
            if line.startswith("# "):
                said.append((line[2:], ""))
            else:
                said[-1] = (said[-1][0], said[-1][1] + line)
    return said


def pattern(text: str) -> str:
    lines = [re.sub(r"(\\ )+", " +", re.sub(r"\d+", r"\\d+", re.escape(line))) for line in text.splitlines()]
    return "".join("(.*\n)*" if line == r"\.\.\." else line.replace(r"\.\.\.", ".*") + " *\n" for line in lines)


class Servers(Case):
    def setUp(self) -> None:
        super().setUp()
        need(self, "bash", "pgrep", "ps", "runuser", "unshare")
        if os.geteuid():
            unavailable(self, "only root can be root")
        if run(["unshare", "--mount", "--net", "--pid", "--fork", "--mount-proc", "mount", "-t", "tmpfs", "tmpfs", "/run"]).returncode:
            unavailable(self, "there can be no other /run and /proc")
        os.chmod(self.dir, 0o755)
        os.mkdir(self.path("bin"))
        for name in ("tp", "examples/servers/web"):
            shutil.copy(os.path.join(BUILD, name), self.path("bin"))
        os.mkdir(self.path("root"))
        env = {name: value for name, value in os.environ.items() if not name.startswith(("TP_", "XDG_"))}
        env["PATH"] = f"{self.path('bin')}:{env['PATH']}"
        script, self.script = os.pipe()
        self.shell = subprocess.Popen(["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "bash",
                                       f"/dev/fd/{script}"], cwd=self.path("root"), env=env, pass_fds=[script],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        os.close(script)
        self.addCleanup(self.end)
        self.marks = itertools.count(1)
        self.do("mount -t tmpfs tmpfs /run\n")

    def end(self) -> None:
        os.close(self.script)
        self.shell.kill()  # and so everything below
        self.shell.stdout.close()
        self.shell.wait()

    def do(self, command: str) -> str:
        """What is printed until the command's end."""
        mark = f"=== {next(self.marks)} ===\n"
        os.write(self.script, f"{command}echo '{mark[:-1]}'\n".encode())
        said = ""
        while not said.endswith(mark):
            line = self.shell.stdout.readline()
            self.assertTrue(line, f"the shell has ended after\n{command}{said}")
            said += line
        return said[:-len(mark)]

    def test_conversation(self) -> None:
        said = conversation()
        self.assertGreater(len(said), 20)
        complaint = re.search("^tp: CTF trace 'f': no new packet of .*\n", read(PAGE), re.M)
        assert complaint
        for command, expected in said:
            # A busy machine may leave a worker no time in less than that.
            got, wanted = [self.do(command.replace("--for 1\n", "--for 4\n"))], pattern(expected)
            if command == RELOAD or complaint[0] in expected:  # of both new workers
                wanted = 2 * pattern(complaint[0]).replace("'f'", "'/.*/e'" if command == RELOAD else "'f'")

            def is_right(command: str = command, expected: str = expected, got: list[str] = got, wanted: str = wanted) -> bool:
                if re.fullmatch(wanted, got[0]):
                    return True
                if command.startswith(LOOKS):
                    got[0] = self.do(command)
                elif command.endswith("& MASTER=$!\n") or command == RELOAD:
                    got[0] += self.do("sleep 0.1\n")
                else:
                    self.fail(f"after\n{command}the page says\n{expected}but what came is\n{got[0]}")
                return False

            until(is_right, f"{command}{expected}")

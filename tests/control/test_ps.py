# SPDX-License-Identifier: MIT
"""tp ps: which processes can be looked into."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from reaching import NOBODY, TP, Reaching  # noqa: E402
from support import need, run, state, unavailable, until  # noqa: E402

LINE = r"^ *{pid} (\S+) +(\S+) +(\d+) \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d (.*)$"


class Ps(Reaching):
    def line(self, text: str, pid: int) -> tuple[str, ...]:
        """User, program, number of events and outputs of the process."""
        found = re.search(LINE.format(pid=pid), text, re.M)
        self.assertIsNotNone(found, text)
        assert found
        return found.groups()

    def wait_for_sockets(self, nr: int) -> None:
        """By their names; before it has one, a socket is called by a hidden name."""
        until(lambda: sum(name[0].isdigit() for name in os.listdir(self.control)) == nr, "sockets")

    def test_columns(self) -> None:
        one = self.start("loop")
        other = self.start("loop", env={"TP_OUTPUT": "text:/dev/null"})
        text = self.listed()
        user = run(["id", "-un"]).stdout.strip()
        self.assertEqual(self.line(text, one.pid), (user, self.name, "2", "-"))
        self.assertEqual(self.line(text, other.pid), (user, self.name, "2", "text:/dev/null"))
        self.assertEqual(self.line(self.done("ps", "-p", str(one.pid)), one.pid)[1], self.name)
        self.assertNotIn(str(other.pid), self.done("ps", "-p", str(one.pid)))

    def test_nobody_listens(self) -> None:
        # root, and users of other tests, may have processes.
        user = {} if os.geteuid() else {"user": 60000 + os.getpid() % 5000, "group": NOBODY}
        done = self.tp("ps", **user)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("tp setup", done.stderr)

    def test_dead_names(self) -> None:
        """They are removed; nothing else is, whatever it is called."""
        process = self.start("loop")
        process.kill()
        process.wait()
        dead = os.listdir(self.control)
        self.assertEqual(len(dead), 1)
        for name in ("1.2", "notes"):
            self.write(f"run/tp/{name}", "not a socket")
        os.symlink(self.path("run/tp/notes"), self.path("run/tp/3.4"))
        process = self.start("loop")
        # The process has another start than the name says: the number was used again.
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(self.path(f"run/tp/{process.pid}.1"))
        listener.close()
        self.line(self.listed(), process.pid)
        names = os.listdir(self.control)
        self.assertNotIn(dead[0], names)
        self.assertNotIn(f"{process.pid}.1", names)
        self.assertLess({"1.2", "3.4", "notes"}, set(names))

    def test_children(self) -> None:
        """A forked child is a process of its own."""
        process = self.start("fork=2", "loop")
        self.wait_for_sockets(3)
        text = self.listed()
        self.assertEqual(text.count(f" {self.name} "), 3)
        for pid in re.findall(rf"^ *(\d+) .* {self.name} ", text, re.M):  # root sees those of other tests, too
            if int(pid) != process.pid:
                os.kill(int(pid), signal.SIGKILL)

    def test_another_directory(self) -> None:
        """A process has TP_CONTROL in its environment, and tp has not."""
        os.mkdir(self.path("other"), 0o700)
        process = self.start("loop", listening=False, env={"TP_CONTROL": self.path("other")})
        self.wait_for_socket(process.pid, self.path("other"))
        self.line(self.listed(), process.pid)
        self.line(self.done("ps", "-p", str(process.pid)), process.pid)

    def test_stopped(self) -> None:
        """Nobody waits for it longer than a second, and the others are listed."""
        stopped = self.start("loop")
        other = self.start("loop")
        stopped.send_signal(signal.SIGSTOP)
        self.addCleanup(stopped.send_signal, signal.SIGCONT)
        until(lambda: state(stopped.pid) == "T")
        done = self.asked(LINE.format(pid=other.pid), "ps")
        self.assertNotIn(f" {stopped.pid} ", done.stdout)
        self.assertRegex(done.stderr, rf"(?m)^tp: process {stopped.pid} \({self.name}\) has not answered: it is "
                                      rf'stopped, .* "kill -CONT {stopped.pid}"$')
        self.assertIn(f'"kill -CONT {stopped.pid}"', self.fails("trace", "-p", str(stopped.pid)))

    def test_many(self) -> None:
        processes = [self.start("wait=end", listening=False) for _ in range(30)]
        self.wait_for_sockets(30)
        text = self.listed()
        for process in processes:
            self.line(text, process.pid)
        self.write("end", "")

    # ---- Others ----

    def test_other_users(self) -> None:
        """root sees nobody's process; nobody does not see root's."""
        self.need_root()
        os.mkdir(self.path("nobodys"), 0o700)
        os.chown(self.path("nobodys"), NOBODY, NOBODY)
        theirs = self.start("loop", listening=False, user=NOBODY, group=NOBODY, env={"TP_CONTROL": self.path("nobodys")})
        self.wait_for_socket(theirs.pid, self.path("nobodys"))
        ours = self.start("loop")
        text = self.listed()
        self.assertEqual(self.line(text, theirs.pid)[0], "nobody")
        self.line(text, ours.pid)
        env = {**self.env, "TP_CONTROL": self.path("nobodys")}
        text = self.listed(env=env, user=NOBODY, group=NOBODY)
        self.line(text, theirs.pid)
        self.assertNotIn(f" {ours.pid} ", text)
        done = run([TP, "trace", "-p", str(ours.pid)], env=env, user=NOBODY, group=NOBODY)
        self.assertEqual((done.returncode, done.stderr), (1, f"tp: process {ours.pid} ({self.name}) is user 0's, and you are user "
                                                             f"{NOBODY}: run tp as that user, or as root\n"))

    def test_chroot(self) -> None:
        """A process with a root of its own listens below that."""
        self.need_root()
        jail = self.jail()
        process = self.start("loop", program=f"/{self.name}", listening=False, preexec_fn=lambda: os.chroot(jail),
                             env={"TP_CONTROL": "/control"})
        self.wait_for_socket(process.pid, f"{jail}/control")
        self.line(self.listed(), process.pid)
        self.assertEqual(self.done("list", "-p", str(process.pid)).count("served:"), 2)

    def jail(self) -> str:
        """A directory that is enough for the program to run in."""
        jail = self.path("jail")
        os.makedirs(f"{jail}/control", 0o700)
        os.mkdir(f"{jail}/proc")
        for path in re.findall(r"(/\S+) \(", run(["ldd", self.program]).stdout):
            os.makedirs(jail + os.path.dirname(path), exist_ok=True)
            shutil.copy(path, jail + path)
        shutil.copy(self.program, f"{jail}/{self.name}")
        return jail

    def contained(self, *command: str) -> subprocess.Popen:
        """A command in namespaces of its own, whose first process it is."""
        need(self, "unshare")
        self.need_root()
        wanted = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        if run([*wanted, "true"]).returncode:
            unavailable(self, "there are no namespaces here")
        return self.start(*wanted[1:], *command, program=wanted[0], listening=False)

    def pid_of(self, ancestor: int, name: str) -> int:
        """The process of that name below another one, as it is called here."""
        found: list[int] = []

        def look() -> list[int]:
            parents = {}
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                        head, rest = file.read().rsplit(")", 1)
                except OSError:
                    continue
                parents[int(pid)] = (int(rest.split()[1]), head.partition("(")[2])
            for pid, (parent, comm) in parents.items():
                while parent in parents and parent != ancestor:
                    parent = parents[parent][0]
                if parent == ancestor and comm == name:
                    found.append(pid)
            return found
        until(look, name)
        return found[0]

    def test_containers(self) -> None:
        """Two containers, each with a directory of its own in the same place."""
        containers = []
        for _ in range(2):
            container = self.contained("sh", "-c", 'mount -t tmpfs none "$0" && mkdir -m 700 "$0/tp" && "$1" loop; true',
                                       self.path("run"), self.program)
            containers.append(self.pid_of(container.pid, self.name))
        until(lambda: self.tp("ps").stdout.count(f" {self.name} ") == 2)
        text = self.listed()
        for pid in containers:
            self.line(text, pid)
            self.assertEqual(self.done("list", "-p", str(pid)).count("served:"), 2)
        # Both have the same id inside.
        with open(f"/proc/{containers[0]}/status", encoding="ascii") as file:
            inner = re.findall(r"^NSpid:.*\t(\d+)$", file.read(), re.M)[0]
        if not os.path.exists(f"/proc/{inner}"):
            self.assertRegex(self.fails("trace", "-p", inner), rf"\Atp: there is no process {inner} here; '{self.name}' has this id in its "
                                                               rf"own PID namespace: say -p ({containers[0]}|{containers[1]})\n\Z")

    def test_links_of_containers(self) -> None:
        """A link that a container has made leads to nothing of ours."""
        self.need_root()
        jail = self.jail()
        os.rmdir(f"{jail}/control")
        os.symlink(self.control, f"{jail}/control")  # of ours, when it is looked at from here
        os.makedirs(jail + self.control, 0o700)
        inner = self.start("loop", program=f"/{self.name}", listening=False, preexec_fn=lambda: os.chroot(jail),
                           env={"TP_CONTROL": self.control})
        self.wait_for_socket(inner.pid, jail + self.control)
        os.symlink(self.path("elsewhere"), f"{jail}/run")
        text = self.listed()
        self.line(text, inner.pid)
        self.assertEqual(text.count(f" {self.name} "), 1)

    def test_mode_of_the_socket(self) -> None:
        self.start("loop")
        name = os.listdir(self.control)[0]
        self.assertEqual(stat.S_IMODE(os.stat(os.path.join(self.control, name)).st_mode), 0o600)


class Listing(Reaching):
    def test_header_on_a_terminal(self) -> None:
        """A pipe gets events only. Columns are as wide as what is in them."""
        process = self.start("loop")
        for arguments, titles in ((["-p", str(process.pid)], r"EVENT +LEVEL +DEFINED AT +STATE"), ([self.program], r"EVENT +LEVEL +DEFINED AT")):
            piped = self.done("list", *arguments).splitlines()
            for columns in (80, 120):
                terminal = self.terminal("list", *arguments, columns=columns)
                self.assertEqual(terminal.end(), 0)
                header, *lines = terminal.text().replace("\r", "").splitlines()
                self.assertRegex(header, rf"\A{titles}\Z")
                self.assertEqual(lines, piped)
                at = header.index("DEFINED")
                self.assertEqual({line[at - 2:at] for line in lines}, {"  "})
                self.assertEqual(max(len(line[:at].rstrip()) for line in [header, *lines]), at - 2)

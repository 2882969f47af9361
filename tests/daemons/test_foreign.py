# SPDX-License-Identifier: MIT
"""What another user has put where an output's file is to be, in a directory like /tmp."""

from __future__ import annotations

import os
import shutil
import socket
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from daemons import NOBODY, Daemons  # noqa: E402
from support import BUILD, read, run  # noqa: E402

HIST = {"TP_TRIGGER": "daemon:daemon_work hist:keys=n"}
TEXT = "precious\n"
REFUSED = (f"'{{}}' belongs to user {NOBODY}, and others can write to its directory: it is neither written to nor followed; "
           "remove it, or take a directory that is only yours\n")


class Foreign(Daemons):
    def setUp(self) -> None:
        super().setUp()
        self.need_root()
        self.shared = self.path("shared")
        os.mkdir(self.shared)
        os.chmod(self.shared, 0o1777)
        self.name = os.path.join(self.shared, "out")
        self.target = self.write("target", TEXT)
        os.mkdir(self.path("elsewhere"))
        # By name, each output that a file is written for.
        self.outputs = {"text": {"TP_OUTPUT": f"text:{self.name}"}, "stats": {"TP_OUTPUT": f"stats:{self.name}"},
                        "hist": {**HIST, "TP_HIST": self.name, "TP_OUTPUT": "sdt:"},
                        "log": {"TP_LOG": self.name, "TP_OUTPUT": "nothing:"}}

    def work(self, **env: str) -> str:
        done = run([self.program, "work=1"], cwd=self.dir, timeout=60, env=self.environment(TP_ENABLE="*", **env))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def put(self, kind: str, owner: int) -> None:
        if os.path.isdir(self.name) and not os.path.islink(self.name):
            shutil.rmtree(self.name)
        elif os.path.lexists(self.name):
            os.unlink(self.name)
        if kind == "FIFO":
            os.mkfifo(self.name, 0o666)
        elif kind == "directory":
            os.mkdir(self.name)
        elif kind in ("link", "link to a directory"):
            os.symlink(self.target if kind == "link" else self.path("elsewhere"), self.name)
        else:
            self.write("shared/out", "")
        os.chown(self.name, owner, owner, follow_symlinks=False)

    def test_refused(self) -> None:
        for kind in ("FIFO", "link", "file"):
            for output, env in self.outputs.items():
                with self.subTest(kind=kind, output=output):
                    self.put(kind, NOBODY)
                    before = os.lstat(self.name)
                    said = self.work(**env)
                    if output != "log":  # of that one, standard error takes the place
                        self.assertIn("tp: " + REFUSED.format(self.name), said)
                        self.assertIn("Permission denied", said)
                    else:
                        self.assertIn("unknown kind 'nothing'", said)
                    self.assertEqual(read(self.target), TEXT)
                    after = os.lstat(self.name)
                    self.assertEqual((after.st_ino, after.st_size), (before.st_ino, before.st_size))

    def test_in_a_directory_of_another_user(self) -> None:
        """Who has the directory, or the link to one, says what the file's name leads to: by a link, anywhere."""
        for kind in ("directory", "link to a directory"):
            self.put(kind, NOBODY)
            for output, env in self.outputs.items():
                with self.subTest(kind=kind, output=output):
                    said = self.work(**{name: value.replace(self.name, f"{self.name}/d") for name, value in env.items()})
                    if output != "log":
                        self.assertIn(REFUSED.format(self.name), said)
                    self.assertEqual(os.listdir(self.name), [])

    def test_traces(self) -> None:
        """The directory itself, a link in its place, and what is in one of another user's."""
        for kind in ("directory", "link to a directory"):
            for name, options in (("", ""), ("/d", ""), ("/d-%p", ""), ("", ",rotate=1M"), ("/d", ",owner=nobody")):
                self.put(kind, NOBODY)
                with self.subTest(kind=kind, name=name, options=options):
                    said = self.work(TP_OUTPUT=f"ctf:{self.name}{name}{options}")
                    self.assertIn("; nothing goes there\n", said)
                    if kind == "directory" or name:  # a link in the trace's own place is not followed, whose it may be
                        self.assertIn(REFUSED.format(self.name), said)
                    self.assertEqual(os.listdir(self.name), [])

    def test_traces_of_ones_own(self) -> None:
        """And one that was given to another user makes way, as ever."""
        for _ in range(2):
            self.assertEqual(self.work(TP_OUTPUT=f"ctf:{self.name},owner=nobody"), "")
        self.assertEqual(sorted(os.listdir(self.shared)), ["out", "out.1"])
        self.put("directory", 0)
        self.assertEqual(self.work(TP_OUTPUT=f"ctf:{self.name}"), "")
        os.chmod(self.shared, 0o755)
        self.put("directory", NOBODY)
        self.assertEqual(self.work(TP_OUTPUT=f"ctf:{self.name}/d"), "")

    def test_socket(self) -> None:
        """Who listens there would get the lines."""
        for name in (self.name, f"{self.name}/d"):
            self.put("file" if name == self.name else "directory", NOBODY)
            if name == self.name:
                os.unlink(name)
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
                listener.bind(name)
                listener.listen()
                os.chown(name, NOBODY, NOBODY)
                self.assertIn(REFUSED.format(self.name), self.work(TP_OUTPUT=f"socket:{name}"))
                os.chown(self.name, 0, 0)
                self.assertEqual(self.work(TP_OUTPUT=f"socket:{name}"), "")

    def test_record(self) -> None:
        """So it is with what tp makes or opens."""
        os.mkdir(self.path("tp"), 0o700)
        control = self.environment(TP_CONTROL=self.path("tp"))
        pid = str(self.start(f"pid={self.path('pid')}", f"wait={self.path('go')}", TP_CONTROL=self.path("tp")).pid)
        self.wait_for("pid")
        commands = {"record": ["record", "-p", pid, "--for", "0.01", "-o", "NAME"], "run": ["record", "-o", "NAME", "--", self.program, "work=1"],
                    "text": ["outputs", "-p", pid, "--open", "text:NAME"], "ctf": ["outputs", "-p", pid, "--open", "ctf:NAME"]}

        def tp(command: str, name: str) -> str:
            words = [word.replace("NAME", name) for word in commands[command]]
            return run([os.path.join(BUILD, "tp"), *words], env=control, timeout=60).stderr

        for command in commands:
            for kind in ("directory", "link to a directory"):
                for end in ("", "/d"):
                    with self.subTest(command=command, kind=kind, end=end):
                        self.put(kind, NOBODY)
                        self.assertIn(REFUSED.format(self.name), tp(command, self.name + end))
                        self.assertEqual(os.listdir(self.name), [])
            with self.subTest(command=command):
                self.put("directory", 0)
                self.assertNotIn("belongs to user", tp(command, self.name + "/d"))
                self.assertEqual(os.listdir(self.name), ["d"])

    def test_ones_own_are_taken(self) -> None:
        """So are those of the directory's owner, and all where nobody else may write."""
        for mode, owner in ((0o1777, 0), (0o755, NOBODY)):
            os.chmod(self.shared, mode)
            for kind in ("link", "file"):
                for output, env in self.outputs.items():
                    with self.subTest(mode=mode, kind=kind, output=output):
                        self.put(kind, owner)
                        self.write("target", "")
                        said = self.work(**env)
                        self.assertNotIn("belongs to user", said)
                        if output == "hist" and kind == "link":  # which it never follows
                            continue
                        self.assertNotEqual(read(self.name), "")

    def test_no_fifo_under_the_statistics_hidden_name(self) -> None:
        """The process's id can be guessed."""
        hidden = f"{self.shared}/.out.$$.tmp"
        done = run(["sh", "-c", f"mkfifo -m 666 {hidden}; chown {NOBODY} {hidden}; exec {self.program} work=1"], timeout=60,
                   cwd=self.dir, env=self.environment(TP_ENABLE="*", TP_OUTPUT=f"stats:{self.name}"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("daemon_work", read(self.name))

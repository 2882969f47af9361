# SPDX-License-Identifier: MIT
"""What another user has put where an output's file is to be, in a directory like /tmp."""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from daemons import NOBODY, Daemons  # noqa: E402
from support import read, run  # noqa: E402

HIST = {"TP_TRIGGER": "daemon:daemon_work hist:keys=n"}
TEXT = "precious\n"


class Foreign(Daemons):
    def setUp(self) -> None:
        super().setUp()
        self.need_root()
        self.shared = self.path("shared")
        os.mkdir(self.shared)
        os.chmod(self.shared, 0o1777)
        self.name = os.path.join(self.shared, "out")
        self.target = self.write("target", TEXT)
        # By name, each output that a file is written for.
        self.outputs = {"text": {"TP_OUTPUT": f"text:{self.name}"}, "stats": {"TP_OUTPUT": f"stats:{self.name}"},
                        "hist": {**HIST, "TP_HIST": self.name, "TP_OUTPUT": "sdt:"},
                        "log": {"TP_LOG": self.name, "TP_OUTPUT": "nothing:"}}

    def work(self, **env: str) -> str:
        done = run([self.program, "work=1"], cwd=self.dir, timeout=60, env=self.environment(TP_ENABLE="*", **env))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def put(self, kind: str, owner: int) -> None:
        if os.path.lexists(self.name):
            os.unlink(self.name)
        if kind == "FIFO":
            os.mkfifo(self.name, 0o666)
        elif kind == "link":
            os.symlink(self.target, self.name)
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
                        self.assertIn(f"tp: '{self.name}' belongs to user {NOBODY}, and others can write to its directory: it is "
                                      "neither written to nor followed; remove it, or take a directory that is only yours\n",
                                      said)
                        self.assertIn("Permission denied", said)
                    else:
                        self.assertIn("unknown kind 'nothing'", said)
                    self.assertEqual(read(self.target), TEXT)
                    after = os.lstat(self.name)
                    self.assertEqual((after.st_ino, after.st_size), (before.st_ino, before.st_size))

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

# SPDX-License-Identifier: MIT
"""Daemons that are started by root, and become somebody else."""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from daemons import NOBODY, Daemons, built  # noqa: E402
from support import need, read, run  # noqa: E402


class Users(Daemons):
    def setUp(self) -> None:
        super().setUp()
        need(self, "babeltrace2")
        self.need_root()
        self.plugin = os.path.join(built(), "plugin.so")

    def becomes(self, options: str, *steps: str) -> str:
        """What is said of a trace that is begun by root and goes on as nobody."""
        done = run([self.program, "work=3", f"user={NOBODY}", *steps], cwd=self.dir,
                   env=self.environment(TP_ENABLE="*", TP_OUTPUT=f"ctf:{self.path('trace')}{options}"))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_owner(self) -> None:
        """Packets, metadata and formats that come later are nobody's to make; a plugin's events are described."""
        for options in ("", ",mode=flight,packets=40", ",prepare=thread"):
            for owner in ("nobody", str(NOBODY), f"{NOBODY}:{NOBODY}"):
                with self.subTest(options=options, owner=owner):
                    said = self.becomes(f",packet=4K,owner={owner}{options}", "work=1000", f"plugin={self.plugin}", "work=2")
                    self.assertEqual(said, "")
                    self.assertEqual(self.records(self.path("trace")), [*range(1, 1004), 1000000, 1004, 1005])
                    self.assertEqual(sorted(os.listdir(self.path("trace/format"))), ["daemon", "plugin"])
                    for top, directories, files in os.walk(self.path("trace")):
                        for name in ("", *directories, *files):
                            # A thread of its own may have made a packet just when the process changed its user.
                            if "thread" not in options or not name.startswith("stream-"):
                                self.assertEqual(os.stat(os.path.join(top, name)).st_uid, NOBODY, name)
                    self.succeed(["rm", "-r", self.path("trace")])

    def test_without_owner(self) -> None:
        """What can't be written is counted, and the message names the remedy."""
        said = self.becomes(",packet=4K", "work=1000")
        self.assertRegex(said, r"\Atp: CTF trace '.*': no new packet of 4096 bytes can be made: Permission denied \(for a "
                               r"program that changes its user: owner=USER gives the trace to the one that it becomes\); "
                               r".*\ntp: CTF trace '.*': records lost: \d+ \(no file: \d+\)\n\Z")
        self.assertNotIn("metadata", said)

    def test_directory_that_is_there(self) -> None:
        """It stays whose it is."""
        os.mkdir(self.path("trace"), 0o777)
        os.chmod(self.path("trace"), 0o777)
        self.assertEqual(self.becomes(",packet=4K,owner=nobody", "work=1000"), "")
        self.assertEqual(os.stat(self.path("trace")).st_uid, 0)
        self.assertEqual(len(self.records(self.path("trace"))), 1003)

    def test_no_such_user(self) -> None:
        for owner in ("nobodyatall", "12x", "1:", "-1", "", ":1", "1:x", "1:2:3", "4294967295", "4294967296", "1:4294967296",
                      "18446744073709551616"):
            done = run([self.program], env=self.environment(TP_OUTPUT=f"ctf:{self.path('trace')},owner={owner}"))
            self.assertIn("owner= takes a user of /etc/passwd, or UID or UID:GID; there is no trace", done.stderr, owner)
            self.assertFalse(os.path.exists(self.path("trace")))

    def test_text_goes_on(self) -> None:
        done = run([self.program, "work=1", f"user={NOBODY}", "work=1"],
                   env=self.environment(TP_ENABLE="*", TP_OUTPUT=f"text:{self.path('log')}"))
        self.assertEqual(done.stderr, "")
        self.assertEqual(read(self.path("log")).count("daemon_work: n="), 2)

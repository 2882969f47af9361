# SPDX-License-Identifier: MIT
"""Lines of text follow the name of their file, as those who rotate logs expect."""

from __future__ import annotations

import os
import re
import stat
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from daemons import NOBODY, Daemons  # noqa: E402
from support import PATIENCE, read  # noqa: E402


class Text(Daemons):
    def rotated(self, rotate, *between: str) -> str:
        """The daemon hits 1, then rotate() is called, then it hits 2; the name of its file."""
        log = self.path("logs/log")
        os.mkdir(self.path("logs"))
        process = self.start("work=1", f"pid={self.path('pid')}", f"wait={self.path('go')}", *between, "work=1",
                             TP_ENABLE="*", TP_OUTPUT=f"text:{log}")
        self.wait_for("pid")
        rotate(log)
        time.sleep(1.1)  # the name is looked at once a second
        self.write("go", "")
        self.assertEqual(process.wait(PATIENCE), 0)
        return log

    def numbers(self, path: str) -> list[int]:
        return [int(n) for n in re.findall(r"daemon:daemon_work: .*?(\d+)\n", read(path))]

    def test_renamed(self) -> None:
        log = self.rotated(lambda log: os.rename(log, log + ".1"))
        self.assertEqual((self.numbers(log + ".1"), self.numbers(log)), ([1], [2]))
        self.assertEqual(stat.S_IMODE(os.stat(log).st_mode), 0o600)

    def test_removed(self) -> None:
        self.assertEqual(self.numbers(self.rotated(os.unlink)), [2])

    def test_the_new_one_is_there_already(self) -> None:
        def rotate(log: str) -> None:
            os.rename(log, log + ".1")
            self.write("logs/log", "# rotated\n")

        log = self.rotated(rotate)
        self.assertEqual((self.numbers(log + ".1"), read(log)[:10], self.numbers(log)), ([1], "# rotated\n", [2]))

    def test_renamed_and_closed(self) -> None:
        log = self.rotated(lambda log: os.rename(log, log + ".1"), "closeall")
        self.assertEqual((self.numbers(log + ".1"), self.numbers(log)), ([1], [2]))

    def test_copied_and_truncated(self) -> None:
        self.assertEqual(self.numbers(self.rotated(lambda log: os.truncate(log, 0))), [2])

    def test_a_link_in_its_place_is_not_followed(self) -> None:
        victim = self.write("victim", "precious\n")

        def rotate(log: str) -> None:
            os.rename(log, log + ".1")
            os.symlink(victim, log)

        log = self.rotated(rotate)
        self.assertEqual((self.numbers(log + ".1"), read(victim)), ([1, 2], "precious\n"))

    def test_another_directory_of_the_name_is_not_used(self) -> None:
        """Nor one in a jail."""
        def rotate(_: str) -> None:
            os.rename(self.path("logs"), self.path("before"))
            os.mkdir(self.path("logs"))

        self.rotated(rotate)
        self.assertEqual((self.numbers(self.path("before/log")), os.listdir(self.path("logs"))), ([1, 2], []))

    def test_no_right_to_make_a_new_one(self) -> None:
        """The old one is better than none."""
        self.need_root()
        log = self.rotated(lambda log: os.rename(log, log + ".1"), f"user={NOBODY}")
        self.assertEqual((self.numbers(log + ".1"), os.path.exists(log)), ([1, 2], False))

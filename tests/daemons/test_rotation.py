# SPDX-License-Identifier: MIT
"""Lines of text follow the name of their file, as those who rotate logs expect."""

from __future__ import annotations

import os
import re
import stat
import sys
import tempfile
import time
from collections.abc import Callable

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from daemons import NOBODY, Daemons  # noqa: E402
from support import PATIENCE, read  # noqa: E402


def rename(log: str) -> None:
    os.rename(log, log + ".1")


class Text(Daemons):
    def rotated(self, rotate: Callable[[str], None], *between: str) -> Callable[[], str]:
        """A daemon has hit 1, and rotate() is called; what is returned lets it hit 2, and returns the name of its file."""
        place = tempfile.mkdtemp(dir=self.dir)
        os.chmod(place, 0o755)
        log, pid, go = (os.path.join(place, name) for name in ("logs/log", "pid", "go"))
        os.mkdir(os.path.dirname(log))
        process = self.start("work=1", f"pid={pid}", f"wait={go}", *between, "work=1", TP_ENABLE="*", TP_OUTPUT=f"text:{log}")
        self.wait_for(pid)
        rotate(log)

        def go_on() -> str:
            self.write(go, "")
            self.assertEqual(process.wait(PATIENCE), 0)
            return log
        return go_on

    def numbers(self, path: str) -> list[int]:
        return [int(n) for n in re.findall(r"daemon:daemon_work: .*?(\d+)\n", read(path))]

    def test_rotated(self) -> None:
        """All at once: the name is looked at once a second."""
        victim = self.write("victim", "precious\n")

        def rename_and_make(log: str) -> None:
            rename(log)
            self.write(log, "# rotated\n")

        def rename_and_link(log: str) -> None:
            rename(log)
            os.symlink(victim, log)

        def replace_the_directory(log: str) -> None:
            os.rename(os.path.dirname(log), os.path.dirname(log) + ".before")
            os.mkdir(os.path.dirname(log))

        def renamed(log: str) -> None:
            self.assertEqual((self.numbers(log + ".1"), self.numbers(log)), ([1], [2]))
            self.assertEqual(stat.S_IMODE(os.stat(log).st_mode), 0o600)

        def only_the_second(log: str) -> None:
            self.assertEqual(self.numbers(log), [2])

        def the_new_one_is_there_already(log: str) -> None:
            self.assertEqual((self.numbers(log + ".1"), read(log)[:10], self.numbers(log)), ([1], "# rotated\n", [2]))

        def a_link_is_not_followed(log: str) -> None:
            self.assertEqual((self.numbers(log + ".1"), read(victim)), ([1, 2], "precious\n"))

        def another_directory_is_not_used(log: str) -> None:
            """Nor one in a jail."""
            logs = os.path.dirname(log)
            self.assertEqual((self.numbers(f"{logs}.before/log"), os.listdir(logs)), ([1, 2], []))

        def the_old_one_is_better_than_none(log: str) -> None:
            self.assertEqual((self.numbers(log + ".1"), os.path.exists(log)), ([1, 2], False))

        cases: list[tuple[Callable[[str], None], Callable[[str], None], list[str]]] = [
            (rename, renamed, []), (rename, renamed, ["closeall"]), (os.unlink, only_the_second, []),
            (lambda log: os.truncate(log, 0), only_the_second, []), (rename_and_make, the_new_one_is_there_already, []),
            (rename_and_link, a_link_is_not_followed, []), (replace_the_directory, another_directory_is_not_used, [])]
        if not os.geteuid():  # there is no right to make a new one
            cases.append((rename, the_old_one_is_better_than_none, [f"user={NOBODY}"]))
        begun = [self.rotated(rotate, *between) for rotate, _, between in cases]
        time.sleep(1.1)
        for (_, check, between), go_on in zip(cases, begun):
            with self.subTest(check=check.__name__, between=between):
                check(go_on())

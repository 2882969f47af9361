# SPDX-License-Identifier: MIT
"""tp setup: the directory that lets programs listen."""

from __future__ import annotations

import os
import re
import stat
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from reaching import NOBODY, TP, Reaching  # noqa: E402
from support import run  # noqa: E402


class Setup(Reaching):
    def setUp(self) -> None:
        super().setUp()
        os.rmdir(self.control)

    def mode(self, path: str) -> int:
        return stat.S_IMODE(os.stat(path).st_mode)

    def test_make_and_remove(self) -> None:
        out = self.done("setup")
        self.assertTrue(out.startswith(f"{self.control} is made: programs with tracepoints that "), out)
        self.assertIn("\td %t/tp 0700\n", out)
        self.assertEqual(self.mode(self.control), 0o700)
        process = self.start("loop")
        self.assertIn(str(process.pid), self.listed())
        self.assertIn("is there already", self.done("setup"))
        out = self.done("setup", "--remove")
        self.assertIn("1 name was in it: programs that run can't be reached any more", out)
        self.assertFalse(os.path.exists(self.control))
        self.assertIn("it is not there", self.fails("setup", "--remove"))
        said = self.fails("trace", "-p", str(process.pid))
        self.assertEqual(said, f"tp: process {process.pid} ({self.name}) listens in {self.control}, but its name there has been removed: "
                               "start the program again, after \"tp setup\" if the directory is gone\n")

    def test_of_the_environment(self) -> None:
        path = self.path("mine")
        for value in (path, f"{path},children=end"):
            self.assertIn(f"{path} is ", self.done("setup", env={"TP_CONTROL": value}))
            self.assertEqual(self.mode(path), 0o700)

    def test_mode_is_put_right(self) -> None:
        os.mkdir(self.control)
        os.chmod(self.control, 0o777)
        done = self.tp("setup")
        self.assertEqual((done.returncode, done.stderr), (0, f"tp: '{self.control}' had mode 777, and has 700 now: look whether "
                                                             "others have put something in it\n"))
        self.assertEqual(self.mode(self.control), 0o700)

    def test_something_else_is_there(self) -> None:
        self.write("run/tp", "")
        self.assertIn("it is no directory", self.fails("setup"))
        os.remove(self.control)
        os.symlink(self.path("elsewhere"), self.control)
        self.assertIn("it is no directory", self.fails("setup"))
        os.remove(self.control)
        self.assertIn("can't be made: No such file or directory", self.fails("setup", env={"TP_CONTROL": self.path("no/such")}))

    def test_remove_takes_nothing_else(self) -> None:
        self.done("setup")
        self.write("run/tp/notes", "")
        self.write("run/tp/1.2", "")
        self.assertIn("can't be removed: Directory not empty", self.fails("setup", "--remove"))
        self.assertEqual(sorted(os.listdir(self.control)), ["1.2", "notes"])

    def test_another_users(self) -> None:
        self.need_root()
        os.mkdir(self.control, 0o700)
        os.chown(self.control, NOBODY, NOBODY)
        self.assertIn(f"is user {NOBODY}'s, and must be user 0's", self.fails("setup"))

    def test_system(self) -> None:
        """Directories in /run/tp, for services of other users."""
        self.need_root()
        there = os.path.exists("/run/tp")
        uid = 64321
        path = f"/run/tp/{uid}"
        self.assertIn(f"there is no user '{uid}'", self.fails("setup", "--system", str(uid)))
        path = f"/run/tp/{NOBODY}"
        if os.path.exists(path):
            self.skipTest(f"{path} is in use")
        out = self.done("setup", "--system", "nobody")
        self.assertEqual((os.stat(path).st_uid, self.mode(path), self.mode("/run/tp")), (NOBODY, 0o700, 0o755))
        self.assertIn(f"\td {path} 0700 nobody -\n", out)
        self.assertIn(f"\tRuntimeDirectory=tp/{NOBODY}\n", out)
        process = self.start("loop", listening=False, user=NOBODY, group=NOBODY, env={"XDG_RUNTIME_DIR": ""})
        self.wait_for_socket(process.pid, path)
        self.assertRegex(self.listed(), rf"(?m)^ *{process.pid} nobody ")
        text = self.listed(env={"XDG_RUNTIME_DIR": ""}, user=NOBODY, group=NOBODY)
        self.assertIn(str(process.pid), re.findall(r"(?m)^ *(\d+) nobody ", text), text)  # beside those of other tests
        self.done("setup", "--system", "nobody", "--remove")
        self.assertFalse(os.path.exists(path))
        if not there:
            os.rmdir("/run/tp")

    def test_user_without_a_session(self) -> None:
        """He is told what root can do for him."""
        self.need_root()
        env = {**self.env, "XDG_RUNTIME_DIR": ""}
        done = run([TP, "setup"], env=env, user=NOBODY, group=NOBODY)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r'\Atp: .* can\'t be made: Permission denied; as root, "tp setup --system nobody" does it.*\n\Z')
        done = run([TP, "setup", "--system", "root"], env=env, user=NOBODY, group=NOBODY)
        self.assertEqual((done.returncode, done.stderr), (1, "tp: only root can set up the directory of another user, root\n"))

    def test_called_wrongly(self) -> None:
        for args in (("a", "b"), ("nobody",), ("--", "true")):
            self.fails("setup", *args, status=2)

    # ---- Looking at it ----

    def status(self, status: int, message: str, *args: str, **options) -> str:
        done = self.tp("setup", "--status", *args, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr, rf"\A(tp: {message}\n)\Z" if message else r"\A\Z")
        return done.stdout

    def shows(self, wanted: str) -> None:
        done = self.asked(wanted, "setup", "--status")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_status(self) -> None:
        user = run(["id", "-un"]).stdout.strip()
        self.status(1, f"'{self.control}' is not there: programs that {user} starts now do not listen; make it by \"tp setup\"")
        self.assertFalse(os.path.exists(self.control))
        self.done("setup")
        self.assertIn(f"{self.control}: of {user}, mode 0700; 0 processes listen there\n", self.status(0, ""))
        pids = sorted(self.start("loop").pid for _ in range(2))
        self.shows(re.escape(f"{self.control}: of {user}, mode 0700; 2 processes listen there\n"
                             + "".join(f"{pid:9} {self.name}\n" for pid in pids)))
        other = self.path("other")
        self.done("setup", env={"TP_CONTROL": other})
        process = self.start("loop", listening=False, env={"TP_CONTROL": other})
        self.wait_for_socket(process.pid, other)
        self.shows(rf"^elsewhere:\n(.*\n)*? +{process.pid} {self.name}, in {other}$")
        self.assertIn(f"{other}: of {user}, mode 0700; 1 process listens there\n", self.status(0, "", env={"TP_CONTROL": other}))
        self.status(1, "TP_CONTROL=0 is in this environment: programs that are started here do not listen; take it out", env={"TP_CONTROL": "0"})

    def test_status_of_what_is_wrong(self) -> None:
        self.done("setup")
        os.chmod(self.control, 0o755)
        self.status(1, f"'{self.control}' has mode 755, and must have 700: programs do not listen there; \"tp setup\" sets it")
        self.assertEqual(self.mode(self.control), 0o755)
        self.tp("setup")
        self.status(0, "")
        os.rmdir(self.control)
        self.write("run/tp", "")
        self.status(1, f"'{self.control}' is no directory: programs do not listen there; remove it, and make it by \"tp setup\"")
        self.fails("setup", "--status", "--remove", status=2)

    def test_status_of_another_users(self) -> None:
        self.need_root()
        os.mkdir(self.control, 0o700)
        os.chown(self.control, NOBODY, NOBODY)
        self.status(1, f"'{self.control}' is .*'s, and must be .*'s: programs do not listen there; remove it, and make it by \"tp setup\"")
        self.status(1, "'/run/tp/65534' is not there: programs that .* starts now do not listen; make it by \"tp setup --system .*\"",
                    "--system", "65534")

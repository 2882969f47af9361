# SPDX-License-Identifier: MIT
"""The runner: its outcome does not depend on who started it, and nothing that a test starts outlives the test's file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

from support import TESTS, Case, run, until

HEAD = "import os, signal, subprocess, sys, unittest\nfrom support import check_all, both, few_or_many\n"

STATE = """
class State(unittest.TestCase):
    def test_signals(self):
        for number in signal.valid_signals() - {signal.SIGINT, signal.SIGKILL, signal.SIGSTOP}:
            self.assertEqual(signal.getsignal(number), signal.SIG_DFL, number)
        self.assertEqual(signal.pthread_sigmask(signal.SIG_BLOCK, []), set())

    def test_environment(self):
        self.assertEqual([name for name in os.environ if name.startswith(("TP_", "XDG_", "MAKE"))], ["TP_CONTROL"])
        self.assertEqual(os.environ["LANG"], "C.UTF-8")
        self.assertNotIn(" ", os.environ["TMPDIR"])

    def test_descriptors(self):
        self.assertEqual(os.umask(0o022), 0o022)
        self.assertEqual(os.read(0, 1), b"")
"""

# Whatever a service manager, a shell or nohup may have set.
HOSTILE = """
import os, resource, signal, sys
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2, signal.SIGALRM, signal.SIGTERM])
os.umask(0o077)
os.close(0)
os.execv(sys.argv[1], sys.argv[1:])
"""

# The runner on another folder of tests, with less patience.
RUNNER = """
import sys
sys.path.insert(0, sys.argv[1])
import run
run.TESTS, run.TIMES = sys.argv[2], sys.argv[2] + "/times.json"
sys.exit(run.main(*sys.argv[3:]))
"""
FILE = """
import sys
sys.path.insert(0, sys.argv[1])
import run_file
run_file.GRACE, run_file.LIMIT = 0.5, int(sys.argv[2])
run_file.main(*sys.argv[3:])
"""


def ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


class Runner(Case):
    def file(self, text: str, name: str = "test_inner.py") -> str:
        return self.write(f"folder/{name}", HEAD + text)

    def outcome(self, text: str, which: str = "all", *names: str, limit: int = 1000) -> dict:
        """That of a file of tests."""
        done = run([sys.executable, "-c", FILE, TESTS, str(limit), self.file(text), which, *names])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def failure(self, text: str, **options) -> str:
        found = self.outcome(text, **options)
        self.assertEqual(len(found["failed"]), 1, found)
        return found["failed"][0][1]

    def test_state(self) -> None:
        self.file(STATE)
        blanks = self.path("with blanks")
        os.mkdir(blanks)
        env = {**os.environ, "LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8", "TMPDIR": blanks, "TP_OUTPUT": "text:stderr",
               "TP_ENABLE": "*", "XDG_RUNTIME_DIR": "/nowhere", "MAKEFLAGS": "-k"}
        done = run([sys.executable, "-c", HOSTILE, sys.executable, "-c", RUNNER, TESTS, self.path("folder"), "all"], env=env)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("3 passed, 0 failed, 0 skipped\n", done.stdout)
        self.assertEqual(os.listdir(blanks), [])

    def test_left_behind(self) -> None:
        """By a process that has ended, in a session of its own."""
        text = self.failure(f"""
class Leaves(unittest.TestCase):
    def test(self):
        subprocess.run(["sh", "-c", "setsid sleep 98765 & echo $! >{self.path('pid')}"])
        with open("{self.path('pid')}", encoding="ascii") as file:
            name = "/proc/" + file.read().strip() + "/comm"
        while open(name, encoding="ascii").read() != "sleep\\n":
            pass
""")
        self.assertIn("has left a process behind: sleep 98765", text)
        with open(self.path("pid"), encoding="ascii") as file:
            self.assertTrue(ended(int(file.read())))

    def test_crash(self) -> None:
        self.assertIn("has ended with status 3", self.failure("""
class Crashes(unittest.TestCase):
    def test(self):
        os._exit(3)
"""))

    def test_hang(self) -> None:
        """It names what runs; on a busy machine that may not be the sleep at first."""
        for limit in (1, 5, 25):
            text = self.failure("""
class Hangs(unittest.TestCase):
    def test(self):
        subprocess.run(["sleep", "98766"])
""", limit=limit)
            self.assertIn(f"has not ended after {limit} seconds", text)
            if "\n    sleep 98766" in text:
                break
        self.assertIn("\n    sleep 98766", text)

    def test_interrupted(self) -> None:
        """What the tests have started ends, too."""
        self.file(f"""
class Waits(unittest.TestCase):
    def test(self):
        subprocess.run(["sh", "-c", "echo $$ >{self.path('new')}; mv {self.path('new')} {self.path('pid')}; exec sleep 98767"])
""")
        with subprocess.Popen([sys.executable, "-c", RUNNER, TESTS, self.path("folder"), "all"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            until(lambda: os.path.exists(self.path("pid")))
            process.send_signal(signal.SIGINT)
            said = process.communicate()[0]
        self.assertIn("interrupted\n", said)
        self.assertEqual(process.returncode, 1)
        with open(self.path("pid"), encoding="ascii") as file:
            self.assertTrue(ended(int(file.read())))

    def test_chosen(self) -> None:
        text = """
class Some(unittest.TestCase):
    def test_a(self):
        self.assertEqual(os.environ["TPGEN_TESTS"], "{0}")

    @check_all("long")
    def test_b(self):
        pass

    @both
    def test_c(self):
        self.assertEqual(few_or_many(1, 2), 1 if "{0}" == "check" else 2)

@check_all("long")
class Other(unittest.TestCase):
    @both
    def test_d(self):
        pass
"""
        for which, passed in (("check", 2), ("rest", 3), ("all", 4)):
            found = self.outcome(text.format(which), which)
            self.assertEqual((found["passed"], found["failed"]), (passed, []), which)
            found = self.outcome("CHECK_ALL = 'long'" + text.format(which), which)
            self.assertEqual((found["passed"], found["failed"]), (0 if which == "check" else 4, []), which)
        self.assertEqual(self.outcome(text.format("all"), "all", "Some.test_b", "test_d")["passed"], 2)

    def test_no_test(self) -> None:
        """A name that is nobody's is a mistake."""
        self.file(STATE)
        done = run([sys.executable, "-c", RUNNER, TESTS, self.path("folder"), "all", "nobody"])
        self.assertEqual(done.returncode, 1)
        self.assertIn("no test has a name with nobody\n", done.stdout)

# SPDX-License-Identifier: MIT
"""Runs the tests of one file, in a state that does not depend on who started them, and leaves no process behind.

    python3 tests/run_file.py FILE check|rest|all [NAME]...

run.py starts this. Two processes do it: the keeper forks one that loads FILE and runs its tests, becomes the parent of
all processes that the tests leave behind, and reports those that don't end. The keeper prints the outcome as JSON.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import hashlib
import importlib
import importlib.util
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import unittest
from collections.abc import Iterator

TESTS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(TESTS)
LIMIT = 1800  # seconds for a file, after which it counts as hanging
GRACE = 60  # seconds in which processes that have been told to end must have ended

# What tests see of the environment: where programs are, whom npm trusts, and what a person sets in order to change a test.
INHERITED = ("PATH", "HOME", "USER", "LOGNAME", "CI", "CC", "CXX", "UPDATE", "NODE_EXTRA_CA_CERTS",
             "FILTERS", "FUZZ", "HISTOGRAMS", "INSTALLED", "KERNEL", "MANY", "RECORD_SEED", "ROUNDS", "SANITIZER", "SECONDS", "SEED", "SEEDS")

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def environment() -> dict[str, str]:
    found = {name: os.environ[name] for name in INHERITED if name in os.environ}
    # The directory of the control sockets may be there: whoever runs the tests, or one of them, has made it.
    return {**found, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", "TP_CONTROL": "0"}


def fresh_state() -> None:
    """Whatever a shell, nohup or a service manager has set for its children is as it is after a login."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    os.umask(0o022)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft > 1024:
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))


# ---- The tests ----

def flat(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


def runs(test: unittest.TestCase, which: str, of_file: str) -> bool:
    """Whether the test is one of "make check" ("check"), of what "make check-all" has besides ("rest"), or of "all"."""
    method = getattr(test, getattr(test, "_testMethodName", ""), None)
    later = of_file or getattr(method, "check_all", "") or getattr(test, "check_all", "")
    both = not later and (getattr(method, "both", False) or getattr(test, "both", False))
    return which == "all" or both or bool(later) == (which == "rest")


class Result(unittest.TestResult):
    """Counts the tests; with CI=true a skip is a failure. Tests that the names leave out are not counted."""

    def __init__(self, folder: str, names: list[str], unavailable: list[str]) -> None:
        super().__init__()
        self.folder = folder
        self.names = names
        self.unavailable = unavailable
        self.passed = 0

    def name(self, test: unittest.TestCase) -> str:
        # That of a subtest ends in its parameters.
        return f"{self.folder}/{getattr(test, 'test_case', test).id()}"

    def chosen(self, test: unittest.TestCase) -> bool:
        """Whether a name is that of the test, or of a part of it."""
        known = [self.name(test), *(f"{self.name(test)}.{part}" for part in getattr(test, "parts", ()))]
        return not self.names or any(name in one for name in self.names for one in known)

    def addSuccess(self, test: unittest.TestCase) -> None:
        self.passed += 1

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        if os.environ.get("CI") == "true" and reason not in self.unavailable:
            self.failures.append((test, f"skipped, which CI must not do: {reason}\n"))
        else:
            super().addSkip(test, reason)

    def outcome(self, notes: list[str]) -> dict:
        bad = [(self.name(test), f"{test}\n{text}") for test, text in self.failures + self.errors]
        bad += [(self.name(test), "succeeded unexpectedly\n") for test in self.unexpectedSuccesses]
        return {"passed": self.passed, "failed": bad, "notes": notes,
                "skipped": [(self.name(test), reason) for test, reason in self.skipped]}


def run_tests(path: str, which: str, names: list[str]) -> dict:
    os.environ["TPGEN_TESTS"] = which
    sys.path[:0] = [ROOT, TESTS]
    support = importlib.import_module("support")
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    result = Result(os.path.relpath(os.path.dirname(path), TESTS), names, support.UNAVAILABLE)
    tests = unittest.TestSuite(
        test for test in flat(unittest.TestLoader().loadTestsFromModule(module))
        if runs(test, which, getattr(module, "CHECK_ALL", "")) and result.chosen(test))
    tests.run(result)
    return result.outcome(support.NOTES)


# ---- The keeper ----

class Interrupted(Exception):
    """The keeper was told to end, or the tests take too long."""


def interrupt(number: int, _frame) -> None:
    raise Interrupted(f"has not ended after {LIMIT} seconds" if number == signal.SIGALRM else "interrupted")


def descendants(of: int) -> dict[int, str]:
    """The command lines of a process's children, and of theirs, that have not ended."""
    parents, found = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                state, parent = file.read().rpartition(")")[2].split()[:2]
            if state not in "ZX":
                with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
                    parents[int(pid)] = int(parent), " ".join(file.read().split("\0")).strip()
    kin = {of}
    while more := {pid for pid, (parent, _) in parents.items() if parent in kin} - kin:
        kin |= more
    for pid in kin - {of}:
        found[pid] = parents[pid][1]
    return found


def kill_all() -> None:
    """Ends all descendants: of one that is killed, the children become the keeper's."""
    while True:
        for pid in descendants(os.getpid()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.wait()
        except ChildProcessError:
            return


def survivors() -> list[str]:
    """The command lines of what the tests have left behind. Processes that are just ending get the time for it."""
    end = time.monotonic() + GRACE
    while time.monotonic() < end:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not descendants(os.getpid()):
            return []
        time.sleep(0.01)
    return sorted(descendants(os.getpid()).values())


def keep(child: int, file: str, written: str) -> dict:
    """Waits for the tests' process and for whatever it has started. Returns the outcome that it has written."""
    for number in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, interrupt)
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    signal.alarm(LIMIT)
    problems = []
    try:
        while (ended := os.wait())[0] != child:
            pass
        signal.alarm(0)
        if ended[1]:
            problems.append(f"the tests' process has ended with status {os.waitstatus_to_exitcode(ended[1])}")
        problems += [f"has left a process behind: {command}" for command in survivors()]
    except Interrupted as error:
        problems.append("\n    ".join([str(error), *sorted(descendants(os.getpid()).values())]))
    kill_all()
    outcome = {"passed": 0, "failed": [], "skipped": [], "notes": []}
    with contextlib.suppress(OSError, ValueError), open(written, encoding="utf-8") as output:
        outcome = json.load(output)
    outcome["failed"] += [(file, problem + "\n") for problem in problems]
    return outcome


def directory_of(path: str) -> str:
    """An empty directory for the tests of a file, of the same name in each run of this checkout, unless that is in use.

    In /tmp whatever TMPDIR is: the names of sockets must be short. Others may look into it, as tests become others.
    """
    name = f"/tmp/tpgen-{hashlib.sha256(f'{os.getuid()} {os.path.abspath(path)}'.encode()).hexdigest()[:8]}"
    with contextlib.suppress(OSError):
        with contextlib.suppress(FileExistsError):
            os.mkdir(name)
        handle = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)  # open, and so locked, until this process ends
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(handle).st_uid == os.getuid() and os.path.samestat(os.fstat(handle), os.stat(name)):
            for left in os.scandir(name):  # by a run that was killed
                remove = shutil.rmtree if left.is_dir(follow_symlinks=False) else os.unlink
                remove(left.path)
            os.chmod(handle, 0o755)
            return name
    name = tempfile.mkdtemp(prefix="tpgen-", dir="/tmp")
    os.chmod(name, 0o755)
    return name


def main(path: str, which: str, *names: str) -> None:
    fresh_state()
    directory = directory_of(path)
    written = os.path.join(directory, "outcome")
    child = os.fork()
    if not child:
        os.environ["TMPDIR"] = tempfile.tempdir = directory
        outcome = run_tests(os.path.abspath(path), which, list(names))
        with open(written, "w", encoding="utf-8") as output:
            json.dump(outcome, output)
        return
    try:
        outcome = keep(child, os.path.relpath(path, TESTS).removesuffix(".py"), written)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    json.dump(outcome, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])

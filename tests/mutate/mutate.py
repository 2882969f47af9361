# SPDX-License-Identifier: MIT
"""Mutation testing: each of the mistakes in mutations.py is made in a copy of the tree, and a test must notice it.

    python3 tests/mutate/mutate.py [NAME]...    all of them, or those whose name or file contains a NAME

Prints a line for each, and the survivors at the end. The status is 1 where one survives that is not known to, or is
not as mutations.py says. First the tests are run without any mutation: one that fails then would prove nothing.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(TESTS)
sys.path[:0] = [TESTS, os.path.join(TESTS, "mutate")]

from building import soname  # noqa: E402
from mutation import Mutation  # noqa: E402
from mutations import MUTATIONS  # noqa: E402

# Seconds after which a run is a hang. Nothing is asked for within them; a mutation that is noticed by a hang has less.
LIMIT, HANG = 1800, 90

# What is not copied: it is made anew where a test wants it, or, of an emulator's libraries, stays where it is.
NOT_SOURCES = shutil.ignore_patterns(".git", "build", "__pycache__")
SYSROOT = "build/aarch64/sysroot"

# Files of tests that look for more below build/ than the libraries.
NEEDS = {"unit/test_compilers.py": ["build/obj/unit/test_ctf_instant"]}


Argument = TypeVar("Argument")
Done = TypeVar("Done")


class Stale(Exception):
    """A mutation is not one of this source any more."""


def mutated(mutation: Mutation, root: str = ROOT) -> str:
    """The text of the mutation's file with the mistake in it."""
    path = os.path.join(root, mutation.file)
    if not os.path.exists(path):
        raise Stale(f"mutation '{mutation.name}': there is no {mutation.file}; name the file that has the code now, in "
                    "tests/mutate/mutations.py")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for old, new in mutation.changes:
        if text.count(old) != 1:
            raise Stale(f"mutation '{mutation.name}': this is {text.count(old)} times in {mutation.file}, and must be "
                        f"there once:\n{old}\nWrite down in tests/mutate/mutations.py how the code reads now; where the "
                        "mistake can't be made any more, take the mutation away")
        text = text.replace(old, new)
    return text


@dataclasses.dataclass
class Outcome:
    """What became of a run of tests."""

    word: str  # passed, failed, unavailable
    by: str = ""  # the test that failed, or what is missing
    text: str = ""  # what it said


@dataclasses.dataclass
class Result:
    mutation: Mutation
    word: str  # killed, survived, not built, not tested
    by: str = ""
    text: str = ""
    seconds: float = 0


def in_parallel(function: Callable[[Argument], Done], arguments: Iterable[Argument]) -> Iterator[Done]:
    """What the function returns for each, in the order in which they are done."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        futures = [pool.submit(function, argument) for argument in arguments]
        try:
            for future in concurrent.futures.as_completed(futures):
                yield future.result()
        except BaseException:  # an interrupt: nothing more is begun, and what runs ends
            for future in futures:
                future.cancel()
            for session in [*sessions]:
                _end_session(session)
            raise


# ---- Running things, however they end ----

# Of each command that runs.
sessions: set[int] = set()


def _session_of(pid: str) -> int:
    """-1 where it has ended, though nobody has waited for it."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            state, _, _, session = file.read().rpartition(")")[2].split()[:4]
            return int(session) if state != "Z" else -1
    except (OSError, ValueError):
        return -1


def _end_session(session: int) -> None:
    """Also those that are forked meanwhile."""
    while left := [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and _session_of(pid) == session]:
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def call(command: list[str], root: str, limit: float) -> tuple[int | None, str]:
    """The command's status, None after a hang, and what it printed; of its processes none is left."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "TP_", "MAKE", "MFLAGS"))}
    env |= {"PYTHONDONTWRITEBYTECODE": "1", "CK_DEFAULT_TIMEOUT": "600", "TMPDIR": os.path.join(root, "tmp")}
    os.makedirs(env["TMPDIR"], exist_ok=True)
    with tempfile.TemporaryFile() as output:
        with subprocess.Popen(command, cwd=root, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                              start_new_session=True) as process:
            sessions.add(process.pid)
            try:
                status: int | None = process.wait(limit)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                _end_session(process.pid)
                sessions.discard(process.pid)
        output.seek(0)
        return status, output.read().decode(errors="replace")


# ---- The tests ----

def is_program(test: str) -> bool:
    """A unit test's program, VARIANT/unit/NAME; the others are FILE.py of tests/, or FILE.py:PART_OF_A_TEST'S_NAME."""
    return ".py" not in test


def targets(test: str) -> list[str]:
    """What make has to make for it."""
    return [f"build/{test}"] if is_program(test) else ["all", *NEEDS.get(test.split(":")[0], [])]


def make(root: str, *tests: str) -> str:
    """Makes what the tests need. Returns the errors."""
    wanted = sorted({target for test in tests for target in targets(test)})
    status, text = call(["make", "-s", *wanted], root, LIMIT)
    return "" if status == 0 else text


def run_program(root: str, test: str, limit: float) -> Outcome:
    status, text = call([os.path.join(root, "build", test)], root, limit)
    if status == 0:
        return Outcome("passed")
    failed = re.findall(r"^\S+:\d+:[FE]:[^:]*:(\w+):", text, re.M)
    return Outcome("failed", "hangs" if status is None else failed[0] if failed else f"status {status}", text)


def run_file(root: str, test: str, limit: float) -> Outcome:
    path, _, name = test.partition(":")
    status, text = call([sys.executable, os.path.join(root, "tests/run_file.py"), os.path.join(root, "tests", path), "all",
                         *([name] if name else [])], root, limit)
    if status is None:
        return Outcome("failed", "hangs", text)
    try:
        outcome = json.loads(text[text.rindex('{"passed"'):])
    except ValueError:
        return Outcome("failed", f"status {status}", text)
    if outcome["failed"]:
        return Outcome("failed", outcome["failed"][0][0], outcome["failed"][0][1])
    if not outcome["passed"]:
        return Outcome("unavailable", "; ".join(reason for _, reason in outcome["skipped"]) or "there is no such test")
    return Outcome("passed")


def run_test(root: str, test: str, limit: float = LIMIT) -> Outcome:
    return (run_program if is_program(test) else run_file)(root, test, limit)


# ---- The copies ----

def copy(base: str, root: str, variants: set[str]) -> None:
    """A tree that make finds up to date but for programs, and that has the objects of these variants."""
    shutil.copytree(base, root, symlinks=True, ignore=NOT_SOURCES)
    for name in ("generated", "libtp.a", "libtp.so", soname(), "tp", "help.stamp",
                 *(f"{v}/{part}" for v in variants for part in ("runtime", "tests/unit"))):
        found, to = os.path.join(base, "build", name), os.path.join(root, "build", name)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        if os.path.isdir(found):
            shutil.copytree(found, to, symlinks=True)
        elif os.path.exists(found):
            shutil.copy2(found, to, follow_symlinks=False)
    if os.path.exists(os.path.join(base, SYSROOT)):
        os.makedirs(os.path.dirname(os.path.join(root, SYSROOT)))
        os.symlink(os.path.realpath(os.path.join(base, SYSROOT)), os.path.join(root, SYSROOT))


def variants_of(tests: tuple[str, ...]) -> set[str]:
    return {test.split("/")[0] if is_program(test) else "obj" for test in tests}


class Workshop:
    """A directory with a copy of the tree as it is now, of which each mutation gets a copy of its own."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.base = os.path.join(directory, "base")
        self.unavailable: dict[str, str] = {}  # tests by what is missing

    def begin(self, tests: tuple[str, ...], report: Callable[[str], None]) -> bool:
        """Runs the tests without any mutation. False where one of them fails."""
        report(f"{len(tests)} tests without any mutation; then the mutations")
        copy(ROOT, self.base, variants_of(tests))
        errors = make(self.base, *tests)
        if errors:
            report(f"without any mutation, this does not build:\n{errors}")
            return False
        good = True
        for test, outcome in in_parallel(lambda test: (test, run_test(self.base, test)), tests):
            if outcome.word == "failed":
                good = False
                report(f"  FAILED       {test} fails without any mutation: {outcome.by}\n{outcome.text}")
            elif outcome.word == "unavailable":
                self.unavailable[test] = outcome.by
                report(f"  unavailable  {test}: {outcome.by}")
        return good

    def run(self, mutation: Mutation) -> Result:
        """Makes the mistake in a copy, and runs its tests until one fails."""
        start = time.monotonic()
        root = tempfile.mkdtemp(prefix="m", dir=self.directory)
        try:
            result = self._run(mutation, os.path.join(root, "r"))
        finally:
            shutil.rmtree(root, True)
        result.seconds = time.monotonic() - start
        return result

    def _run(self, mutation: Mutation, root: str) -> Result:
        tests = tuple(test for test in mutation.tests if test not in self.unavailable)
        copy(self.base, root, variants_of(tests))
        with open(os.path.join(root, mutation.file), "r+", encoding="utf-8") as file:
            text = mutated(mutation, self.base)
            file.truncate()
            file.write(text)
        for test in tests:
            errors = make(root, test)
            if errors:
                return Result(mutation, "not built", text=errors)
            outcome = run_test(root, test, HANG if mutation.hangs else LIMIT)
            if outcome.word == "failed":
                return Result(mutation, "killed", f"{test}: {outcome.by}", outcome.text)
        return Result(mutation, "survived" if tests else "not tested",
                      "" if tests else "; ".join(self.unavailable[test] for test in mutation.tests))


# ---- The report ----

def line(result: Result) -> str:
    mutation, why = result.mutation, result.by
    if result.word == "survived" and mutation.known:
        why = f"as is known: {mutation.known}"
    return f"  {result.word:10} {mutation.file.removeprefix('runtime/'):24} {mutation.name}" + \
        (f"  ({why})" if why else "") + f"  {result.seconds:.1f} s"


def is_as_it_should_be(result: Result) -> bool:
    return result.word == ("survived" if result.mutation.known else "killed")


def summary(results: list[Result]) -> str:
    lines = []
    bad = [r for r in results if not is_as_it_should_be(r)]
    known = [r for r in results if r.word == "survived" and r.mutation.known]
    for title, some in (("survivors, known", known), ("NOT AS THEY SHOULD BE", bad)):
        if some:
            lines.append(f"{title}:")
        for r in some:
            m = r.mutation
            lines.append(f"  {m.file}: {m.name}: {m.why}")
            lines.append(f"      {r.word}" + (f"; {m.known}" if m.known else "") + (f"\n{r.text}" if r in bad else ""))
    killed = sum(r.word == "killed" for r in results)
    lines.append(f"{len(results)} mutations: {killed} killed, {len(known)} known to survive, {len(bad)} not as they "
                 "should be")
    return "\n".join(lines)


def main(names: list[str]) -> int:
    chosen = [m for m in MUTATIONS if not names or any(n in f"{m.file} {m.name}" for n in names)]
    if not chosen:
        print("no mutation has such a name; tests/mutate/mutations.py has the list")
        return 1
    try:
        for mutation in chosen:
            mutated(mutation)
    except Stale as stale:
        print(stale)
        return 1
    # A short path: tests make sockets and names below it.
    with tempfile.TemporaryDirectory(prefix="tpm-") as directory:
        workshop = Workshop(directory)
        if not workshop.begin(tuple(dict.fromkeys(t for m in chosen for t in m.tests)),
                              lambda text: print(text, flush=True)):
            return 1
        results = []
        for result in in_parallel(workshop.run, chosen):
            results.append(result)
            print(line(result), flush=True)
    print(summary(results))
    return 0 if all(map(is_as_it_should_be, results)) else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)

# SPDX-License-Identifier: MIT
"""Runs all tests, some files at a time, and says what came out.

    python3 tests/run.py [NAME]...    all tests, or those of files whose path contains a NAME

Each tests/*/test_*.py is run in a process of its own. A test whose tool is
missing is skipped, and with CI=true failed: there, everything must run, but
for what no package can bring (support.unavailable).
UPDATE=1 writes the expected outputs anew instead of comparing with them.
"""

from __future__ import annotations

import concurrent.futures
import importlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
import unittest

TESTS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(TESTS)
# These take longest, and so are started first: else the last of them would run alone.
LONGEST = ("torture/test_torture", "unit/test_sanitized", "arch/test_units", "kernel/test_format", "kernel/test_headers",
           "sites/test_keys", "model/test_model", "contexts/test_contexts", "arch/test_aarch64", "unit/test_plain",
           "fuzz/test_fuzz", "kernel/test_compat", "sites/test_call", "modules/test_conflicts")
TIMEOUT = 1800  # seconds for one file; nothing is asked for within one, but a test that hangs must end


class _Result(unittest.TestResult):
    """Counts tests; with CI=true a skip is a failure."""

    def __init__(self, unavailable: list[str]) -> None:
        super().__init__()
        self.passed = 0
        self.unavailable = unavailable

    def addSuccess(self, test: unittest.TestCase) -> None:
        self.passed += 1

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        if os.environ.get("CI") == "true" and reason not in self.unavailable:
            self.failures.append((test, f"skipped, which CI must not do: {reason}\n"))
        else:
            super().addSkip(test, reason)


def run_file(path: str, part: str = "") -> None:
    """In the process of its own: runs the file's tests, or those with this part in their names; the outcome as JSON."""
    # A shell's background jobs ignore these, and so would the programs that the tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    sys.path[:0] = [ROOT, TESTS]
    support = importlib.import_module("support")
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    result = _Result(support.UNAVAILABLE)
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{part}*"] if part else None
    loader.loadTestsFromModule(module).run(result)
    bad = [(str(test), text) for test, text in result.failures + result.errors]
    bad += [(str(test), "succeeded unexpectedly\n") for test in result.unexpectedSuccesses]
    json.dump({"passed": result.passed, "failed": bad,
               "skipped": [(str(test), reason) for test, reason in result.skipped],
               "notes": support.NOTES}, sys.__stdout__)


def run_process(path: str) -> tuple[str, float, dict]:
    """Starts that process, and says what became of it."""
    start = time.monotonic()
    try:
        # As in a shell of nobody's: settings of the one who runs the tests must not decide what comes out.
        env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "TP_"))}
        env["PYTHONDONTWRITEBYTECODE"] = "1"
        env["TP_CONTROL"] = "0"  # the directory may be there, and those who run the tests, or one of them, have made it
        done = subprocess.run([sys.executable, os.path.abspath(__file__), "--file", path], cwd=ROOT, text=True,
                              capture_output=True, errors="replace", env=env, timeout=TIMEOUT, check=False)
        outcome = json.loads(done.stdout[done.stdout.rindex('{"passed"'):])
    except subprocess.TimeoutExpired:
        outcome = {"passed": 0, "failed": [(path, f"has not ended after {TIMEOUT} seconds\n")], "skipped": []}
    except ValueError:
        outcome = {"passed": 0, "failed": [(path, done.stdout + done.stderr)], "skipped": []}
    return path, time.monotonic() - start, outcome


def _turn(path: str) -> int:
    """When a file's turn comes: the longest first, the others in their order."""
    name = os.path.relpath(path, TESTS).removesuffix(".py")
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)


def main(names: list[str]) -> int:
    files = sorted(os.path.join(top, f) for top, _, found in os.walk(TESTS) for f in found
                   if f.startswith("test_") and f.endswith(".py"))
    files = [f for f in files if not names or any(n in os.path.relpath(f, TESTS) for n in names)]
    files.sort(key=_turn)
    passed = failed = skipped = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for future in concurrent.futures.as_completed(pool.submit(run_process, f) for f in files):
            path, seconds, outcome = future.result()
            passed += outcome["passed"]
            failed += len(outcome["failed"])
            skipped += len(outcome["skipped"])
            word = "FAILED" if outcome["failed"] else "ok"
            name = os.path.relpath(path, ROOT)
            print(f"  {word:6}  {name:36} {outcome['passed']:4} passed  {seconds:5.1f} s", flush=True)
            for test, text in outcome["failed"]:
                print(f"\nFAILED {test}\n{text}", flush=True)
            for note in outcome.get("notes", ()):
                print(f"          {note}", flush=True)
            for test, reason in outcome["skipped"]:
                print(f"  skipped {test}: {reason}", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--file"]:
        run_file(*sys.argv[2:])
    else:
        sys.exit(main(sys.argv[1:]))

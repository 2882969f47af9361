# SPDX-License-Identifier: MIT
"""Which lines and branches of runtime/src and tpgen the tests run.

    python3 tests/coverage/measure.py check|rest|all [NAME]...

Runs tests/run.py in build/coverage/tree, a copy of the working tree that is built with gcov's counters and without
optimization, by compilers of the same names in build/coverage/bin. Python runs in an environment whose start-up starts
coverage. "all" runs "check" first, then "rest", and says what only "rest" has run. build/coverage/*.missed list the
lines that nothing has run. Tests of sizes, times, system calls or instructions may fail under this; they are counted.

Not counted: a process that ends by _exit or a signal, or cannot write its counters, as in a sandbox; a runtime compiled
by clang, for arm64, with a sanitizer or in another copy; tpgen as installed; templates.
"""
from __future__ import annotations

import filecmp
import glob
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv

try:
    import coverage
except ImportError:
    sys.exit(f"{sys.executable} has no coverage: apt-get install python3-coverage, and use PYTHON=/usr/bin/python3")

from figures import BIN, NOTES, PARTS, PYTHON, ROOT, SCRATCH, TREE, figures

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

from support import sources  # noqa: E402

# By .ci/deps.
BROUGHT = ("build/aarch64/sysroot", "build/armhf/sysroot", "build/i386/sysroot", "build/kernel", "build/musl/source", "build/unpacked")


def install(name: str, path: str, **words: str) -> None:
    """Writes a file of this folder with these words in it."""
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        text = file.read()
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub("@([A-Z]+)@", lambda found: words[found[1]], text))
    shutil.copymode(os.path.join(HERE, name), path)


def copy() -> None:
    """Brings the tree up to date; anew, where something has changed that is not only a test."""
    names = set(sources())
    there = {os.path.relpath(os.path.join(top, name), TREE) for top, _, found in os.walk(TREE) for name in found}
    gone = {name for name in there - names if not name.startswith("build/") and "__pycache__" not in name}
    old = {name for name in names & there if not filecmp.cmp(f"{ROOT}/{name}", f"{TREE}/{name}", shallow=False)}
    if any(not re.match(r"tests/(?!coverage/)|docs/", name) for name in (names - there) | gone | old):
        shutil.rmtree(SCRATCH, True)
        there, gone = set(), set()
    for name in gone:
        os.unlink(f"{TREE}/{name}")
    brought = {name for name in BROUGHT if os.path.exists(f"{ROOT}/{name}") and not os.path.exists(f"{TREE}/{name}")}
    for name in (names - there) | old | brought:
        os.makedirs(os.path.dirname(f"{TREE}/{name}"), exist_ok=True)
        (os.symlink if name in BROUGHT else shutil.copy)(f"{ROOT}/{name}", f"{TREE}/{name}")


def prepare() -> dict[str, str]:
    """Builds what is tested. Returns the environment for it."""
    copy()
    for name in ("gcc", "g++", "cc", "c++", "clang", "clang++"):
        if real := shutil.which(name):
            install("compiler.sh", f"{BIN}/{name}", REAL=real, TREE=TREE, NOTES=NOTES)
    venv.create(PYTHON, system_site_packages=True, symlinks=True)
    site = sysconfig.get_path("purelib", "venv", {"base": PYTHON})
    install("start.py", f"{site}/tpgen_coverage.py", RC=f"{SCRATCH}/rc",
            PACKAGES=os.path.dirname(os.path.dirname(coverage.__file__)))
    install("start.pth", f"{site}/tpgen_coverage.pth")
    install("rc", f"{SCRATCH}/rc", PARTS=PARTS, TREE=TREE)
    for path in (NOTES, PARTS):
        os.makedirs(path, exist_ok=True)
    os.chmod(PARTS, 0o1777)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS", "PYTHON"))}
    env |= {"PATH": f"{BIN}:{env['PATH']}", "CC": "gcc", "CXX": "g++", "PYTHONDONTWRITEBYTECODE": "1"}
    options = ["-s", f"-j{len(os.sched_getaffinity(0))}", f"PYTHON={PYTHON}/bin/python3"]
    if subprocess.run(["make", *options, "check-programs"], cwd=TREE, env=env, check=False).returncode:
        sys.exit(f"{TREE} does not build")
    for path in glob.glob(f"{NOTES}/*.gcda"):  # of the build, and of earlier runs
        os.truncate(path, 0)
    for path in [*glob.glob(f"{PARTS}/*"), *glob.glob(f"{SCRATCH}/data*")]:
        os.unlink(path)
    return env


def test(env: dict[str, str], which: str, names: list[str]) -> str:
    """Runs the tests. Returns the runner's last line."""
    command, line = [f"{PYTHON}/bin/python3", "tests/run.py", which, *names], ""
    with subprocess.Popen(command, cwd=TREE, env=env, text=True, errors="replace", stdout=subprocess.PIPE) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
    return line.strip()


def main(which: str, *names: str) -> None:
    env, ended, found = prepare(), {}, []
    for step in ("check", "rest") if which == "all" else (which,):
        ended[step] = test(env, step, [*names])
        found.append(figures({"check": "check", "rest": f"check-{which}"}[step]))
    for step, text in ended.items():
        print(f"tests of {step}: {text}")
    if which == "all":
        more = {name: sum(was and not found[0].get(name, {}).get(number) for number, was in lines.items())
                for name, lines in found[1].items()}
        print("lines that only check-all runs:")
        for name in sorted(filter(more.get, more), key=lambda name: (-more[name], name))[:15]:
            print(f"  {more[name]:5}  {name}")


if __name__ == "__main__":
    main(*sys.argv[1:])

# SPDX-License-Identifier: MIT
"""Builds and runs the torture test in all its variants: compilers, sanitizers, kinds of call sites.

    python3 tests/torture/variants.py [VARIANT]... [OPTION=NUMBER]...

runs these variants, or all, one after another, and says for each what it did.
The options are the program's, see torture.c; without seconds=, it is SECONDS of
the environment, or 60. CC and CXX of the environment are the first compiler;
the second is clang, or gcc where the first is clang.

The runtime is built from its sources for each compiler and sanitizer, below
build/torture, where anything has changed since.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import building  # noqa: E402
from building import DEBUG, SANITIZERS, BuildError, generate, once, sanitize, sanitized  # noqa: E402
from support import BUILD, run  # noqa: E402

TORTURE_SANITIZER = {"asan": ["-DTORTURE_SANITIZER=1"], "tsan": ["-DTORTURE_SANITIZER=2"]}

# What the runtime says about what the test does on purpose.
EXPECTED = re.compile(r"tp: (tracepoint_synchronize_unregister\(\) was called from inside a probe|"
                      r"text output: records lost: \d+ \(nested: \d+\)$|.*\bfork)")

NR_GUESTS = 4
# Seconds until a thread without progress counts as hanging, and for which what has not happened yet is waited for.
# More than any run needs, however busy the machine is with other things.
STALL = 300
PATIENCE = 300


@dataclasses.dataclass
class Variant:
    name: str
    cc: str
    cxx: str
    sanitizer: str = ""
    flags: tuple[str, ...] = ()  # of the program and its modules
    sources: tuple[str, ...] = ()
    command: tuple[str, ...] = ()  # in front of the program
    options: tuple[str, ...] = ()
    idle: frozenset[str] = frozenset({"mallocs", "dark"})  # counts that may be 0

    def tools(self) -> list[str]:
        return [self.cc.split()[0], self.cxx.split()[0], *self.command[:1]]


def variants() -> list[Variant]:
    first = (os.environ.get("CC") or "gcc", os.environ.get("CXX") or "g++")
    second = ("gcc", "g++") if "clang" in os.path.basename(first[0]) else ("clang", "clang++")
    found = []
    for cc, cxx in (first, second):
        name = os.path.basename(cc.split()[0])
        found.append(Variant(name, cc, cxx))
        # The sanitizers of gcc 12 and clang 14 do not hold their allocator's locks across a fork (ThreadSanitizer only
        # those of its own, internal one): malloc may hang in the child of a program with threads.
        found += [Variant(f"{name}-{sanitizer}", cc, cxx, sanitizer, options=("child_allocates=0",))
                  for sanitizer in SANITIZERS]
    cc, cxx = first
    name = found[0].name
    found.append(Variant(f"{name}-load", cc, cxx, flags=("-DTP_STATIC_KEYS=0",)))
    found.append(Variant(f"{name}-malloc", cc, cxx, sources=("malloc.c",), idle=frozenset({"dark"})))
    # One thread at a time, and slowly. Code that changes itself must be looked at again. Once a handler has run on an
    # alternate stack, memcheck takes frames of the thread's own stack for memory below it.
    found.append(Variant(f"{name}-valgrind", cc, cxx,
                         command=("valgrind", "-q", "--error-exitcode=99", "--smc-check=all", "--fair-sched=yes",
                                  "--child-silent-after-fork=yes"),
                         options=("hitters=1", "registrars=1", "visitors=1", "alternate=0"),
                         idle=frozenset({"mallocs", "dark", "refused", "deadlk"})))
    return found


# ---- Building ----

INPUTS = ("runtime", "tpgen", "templates", "tests/torture")


def _headers() -> str:
    directory = os.path.join(BUILD, "torture", "headers")
    tp = [os.path.join("tests/torture", name) for name in ("points.tp", "visitor.tp")]
    once(directory, None, lambda: generate(directory, *tp), *INPUTS)
    return directory


def build(variant: Variant) -> str:
    """The directory with the program and its modules."""
    headers = _headers()
    runtime = sanitized(variant.sanitizer, variant.cc)
    directory = os.path.join(BUILD, "torture", variant.name)
    flags = [DEBUG, *sanitize(variant.sanitizer, variant.cc), *TORTURE_SANITIZER.get(variant.sanitizer, []), *variant.flags]
    libs = [f"-L{runtime}", f"-Wl,-rpath,{runtime}", "-Wl,-z,now", "-ltp", "-lurcu-bp", "-lpthread", "-ldl"]

    def out(name: str) -> str:
        return os.path.join(directory, name)

    def make(output: str, *sources: str, compiler: str = variant.cc, more: tuple[str, ...] = (), link=libs) -> None:
        building.build(out(output), *(os.path.join(HERE, name) for name in sources), compiler=compiler, include=[headers],
                       flags=[*flags, *more], libtp="", link=link)

    def make_all() -> None:
        make("hitters.o", "hitters.cpp", compiler=variant.cxx, more=("-fno-exceptions", "-fno-rtti"))
        make("torture", "torture.c", "points.c", "probes.c", "modules.c", "processes.c", "threads.c", "sinks.c",
             *variant.sources, link=["-rdynamic", out("hitters.o"), *libs])
        make("visitor-a.so", "visitor.c")
        make("visitor-b.so", "visitor.c", more=("-DTP_STATIC_KEYS=0",))  # sites of both kinds in one program
        make("guest-0.so", "guest.c")
        for n in range(1, NR_GUESTS):
            shutil.copy(out("guest-0.so"), out(f"guest-{n}.so"))
    once(directory, (variant.cc, variant.cxx, flags), make_all, *INPUTS)
    return directory


# ---- Running ----

@dataclasses.dataclass
class Outcome:
    variant: Variant
    skipped: str = ""
    failed: str = ""
    summary: str = ""
    counts: dict[str, int] = dataclasses.field(default_factory=dict)


def _missing(variant: Variant) -> str:
    """Why the variant can't be built here; empty if it can."""
    for tool in variant.tools():
        if not shutil.which(tool):
            return f"{tool} is not installed"
    if variant.sanitizer:
        for compiler, language in ((variant.cc, "c"), (variant.cxx, "c++")):
            done = run([*compiler.split(), *sanitize(variant.sanitizer, compiler), "-x", language, "-", "-o", "/dev/null"],
                       stdin=None, input="int main(void) { return 0; }\n")
            if done.returncode != 0:
                return f"{compiler} has no {variant.sanitizer} here"
    return ""


def torture(variant: Variant, options: list[str], timeout: float) -> Outcome:
    """Builds the variant and runs it."""
    outcome = Outcome(variant, skipped=_missing(variant))
    if outcome.skipped:
        return outcome
    try:
        directory = build(variant)
    except BuildError as error:
        outcome.failed = str(error)
        return outcome
    env = {**os.environ, "TSAN_OPTIONS": "halt_on_error=1 history_size=4", "UBSAN_OPTIONS": "print_stacktrace=1"}
    patience = [f"patience={PATIENCE}", f"stall={STALL}", *(f"{name}=0" for name in sorted(variant.idle))]
    command = [*variant.command, "./torture", *patience, *variant.options, *options]
    # Files, as a child that hangs would keep a pipe open; a process group, so that it goes, too.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with subprocess.Popen(command, cwd=directory, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                              start_new_session=True) as process:
            late = ""
            try:
                process.wait(timeout)
            except subprocess.TimeoutExpired:
                late = f"has not ended after {timeout} seconds\n"
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        for file in (out, err):
            file.seek(0)
        stdout, stderr = (file.read().decode(errors="replace") for file in (out, err))
    outcome.summary = stdout.strip()
    outcome.counts = {name: int(number) for name, number in re.findall(r"(\w+)=(\d+)", stdout)}
    idle = sorted(name for name, count in outcome.counts.items() if count == 0 and name not in variant.idle)
    unexpected = [line for line in stderr.splitlines() if not EXPECTED.match(line)]
    if process.returncode != 0 or unexpected:
        outcome.failed = "\n".join([f"exit status {process.returncode} {late}", *unexpected, stdout])
    elif idle or not outcome.counts:
        outcome.failed = f"these did nothing: {', '.join(idle) or 'all'}: {stdout}"
    return outcome


def main(arguments: list[str]) -> int:
    options = [a for a in arguments if "=" in a]
    names = [a for a in arguments if "=" not in a]
    if not any(option.startswith("seconds=") for option in options):
        options.append(f"seconds={os.environ.get('SECONDS') or 60}")
    seconds = max(int(option.split("=")[1]) for option in options if option.startswith("seconds="))
    chosen = [v for v in variants() if not names or v.name in names]
    unknown = sorted(set(names) - {v.name for v in chosen})
    if unknown:
        print(f"there is no {', '.join(unknown)}; there are {', '.join(v.name for v in variants())}", file=sys.stderr)
        return 2
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(lambda v: _missing(v) or build(v), chosen))
    failed = 0
    for variant in chosen:
        outcome = torture(variant, options, seconds + 600)
        word = "skipped" if outcome.skipped else "FAILED" if outcome.failed else "ok"
        failed += word == "FAILED"
        print(f"{word:7} {variant.name:16} {outcome.skipped or outcome.failed or outcome.summary}", flush=True)
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

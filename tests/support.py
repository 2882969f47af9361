# SPDX-License-Identifier: MIT
"""What the tests share: where things are, and how to run them."""

from __future__ import annotations

import atexit
import contextlib
import functools
import glob
import hashlib
import importlib
import itertools
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import unittest
from collections.abc import Callable

import store

TESTS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(TESTS)
BUILD = os.path.join(ROOT, "build")
UPDATE = os.environ.get("UPDATE") == "1"

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
# What the runtime is made of, for tests that build it their own way.
RUNTIME_SOURCES = sorted(glob.glob(os.path.join(ROOT, "runtime/src/**/*.c"), recursive=True))
RUNTIME_INCLUDES = ["-I", os.path.join(ROOT, "runtime/include"), "-iquote", os.path.join(ROOT, "runtime/src")]
INCLUDES = ["-I", os.path.join(ROOT, "runtime/include"), "-iquote", os.path.join(ROOT, "generated")]

# Folders of the tree that hold no sources of it.
NOT_SOURCES = (".git", "build", "__pycache__")

BT2_PYTHON = "/usr/bin/python3"  # Debian's bt2 is for Debian's Python

# Seconds for which something is waited for that takes a fraction of one: however busy the machine is, more is a hang.
PATIENCE = 600

# The members of the head of a CTF trace's packet, and their offsets.
PACKET_HEAD = {"magic": 0, "stream_id": 4, "stream_instance_id": 8, "content_size": 16, "packet_size": 24,
               "timestamp_begin": 32, "timestamp_end": 40, "packet_seq_num": 48, "events_discarded": 56}

# What tests/run.py prints of a file besides its numbers, and the reasons for which CI may skip.
NOTES: list[str] = []
UNAVAILABLE: list[str] = []

# A process may have several.
INSTANCES = itertools.count()


def run(command: list[str], cwd: str = ROOT, timeout: float = PATIENCE, **options) -> subprocess.CompletedProcess:
    """Runs a command to its end, with its output as text. What a compiler has made before is taken from the store."""
    entry = None if options else store.entry(command, cwd)
    if entry and entry.take():
        return subprocess.CompletedProcess(command, 0, "", "")
    options.setdefault("stdin", subprocess.DEVNULL)
    done = subprocess.run(command, cwd=cwd, timeout=timeout, capture_output=True, text=True, errors="surrogateescape",
                          check=False, **options)
    if entry and not (done.returncode or done.stdout or done.stderr):
        entry.put()
    return done


def tpgen(*args: str, cwd: str = ROOT, python: str = sys.executable, **options) -> subprocess.CompletedProcess:
    """Runs tpgen of this source tree, in a process of its own."""
    if python == sys.executable and not set(options) - {"env", "timeout"}:
        return _fork_tpgen(args, cwd, **options)
    env = {**os.environ, "PYTHONPATH": ROOT, **options.pop("env", {})}
    return run([python, "-m", "tpgen", *args], cwd=cwd, env=env, **options)


def _fork_tpgen(args: tuple[str, ...], cwd: str, env: dict[str, str] | None = None,
                timeout: float = PATIENCE) -> subprocess.CompletedProcess:
    """Forks this process, which has tpgen imported: to start Python anew takes longer than most inputs do."""
    command = importlib.import_module("tpgen.cli").main
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        pid = os.fork()
        if not pid:
            status = 1
            try:
                _become(out.fileno(), err.fileno(), cwd, {**os.environ, "PYTHONPATH": ROOT, **(env or {})})
                status = command(args)
            except SystemExit as end:
                status = int(end.code or 0)
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        with contextlib.ExitStack() as stack:
            handle = os.pidfd_open(pid)
            stack.callback(os.close, handle)
            if not select.select([handle], [], [], timeout)[0]:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                raise subprocess.TimeoutExpired(["tpgen", *args], timeout)
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "surrogateescape"))
    return subprocess.CompletedProcess(["tpgen", *args], status, *texts)


def _become(out: int, err: int, cwd: str, env: dict[str, str]) -> None:
    """In a forked child: what a process has that was started anew."""
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out, 1)
    os.dup2(err, 2)
    # pylint: disable=consider-using-with
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)


def reader(command: list[str], cwd: str = ROOT) -> subprocess.CompletedProcess:
    """Runs a trace reader: a broken trace may make it eat all memory, or never end. Of many chapters, it has many files open."""
    return run(["sh", "-c", "ulimit -v 4000000; ulimit -S -n $(ulimit -H -n); exec timeout \"$@\"", "sh", str(PATIENCE), *command], cwd=cwd)


def until(condition: Callable[[], object], why: str | Callable[[], str] = "") -> None:
    """Waits for the condition, however long a busy machine needs. It is looked at often, as some tests want the moment."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"waited for {PATIENCE} seconds: {why() if callable(why) else why}"
        time.sleep(0.0005)


def state(process: int | str) -> str:
    """A letter of proc(5); "" if there is no such process, or thread, which is PID/task/TID."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="surrogateescape") as file:
            return file.read().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def has_ended(pid: int) -> bool:
    """Whether there is no such process, or a zombie, which has closed all that it had."""
    return state(pid) in ("", "Z")


def sources() -> list[str]:
    """The files of the tree, by their names from its root: those of a clone, and new ones. No repository is asked."""
    found = []
    for top, folders, names in os.walk(ROOT):
        folders[:] = [folder for folder in folders if folder not in NOT_SOURCES]
        found += [os.path.relpath(os.path.join(top, name), ROOT) for name in names]
    return sorted(found)


def copy_sources(to: str) -> None:
    """A copy of the tree as a clone of it would be, with what is not committed yet."""
    shutil.copytree(ROOT, to, symlinks=True, ignore=shutil.ignore_patterns(*NOT_SOURCES))


def new_directory(of: str) -> str:
    """A directory that has the same name whenever this is what it is made for, so that store.py knows its files again."""
    path = os.path.join(tempfile.gettempdir(), f"tpgen-test-{hashlib.sha256(of.encode()).hexdigest()[:8]}")
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        path = tempfile.mkdtemp(prefix="tpgen-test-")
    return path


def temporary() -> str:
    """A directory for all tests of a file."""
    path = new_directory(f"temporary {next(INSTANCES)}")
    atexit.register(shutil.rmtree, path, True)
    return path


@functools.cache
def has_bt2() -> bool:
    return os.path.exists(BT2_PYTHON) and reader([BT2_PYTHON, "-c", "import bt2"]).returncode == 0


def need_bt2(test: unittest.TestCase) -> None:
    """Skips the test where babeltrace2's Python bindings are missing."""
    if not has_bt2():
        test.skipTest("python3-bt2 is not installed")


def need(test: unittest.TestCase, *tools: str) -> None:
    """Skips the test where a tool is missing."""
    for tool in tools:
        if not shutil.which(tool):
            test.skipTest(f"{tool} is not installed")


def note(text: str) -> None:
    """Says on what the test has found its result, such as the version of what it read."""
    NOTES.append(text)


def unavailable(test: unittest.TestCase, reason: str) -> None:
    """Skips the test for want of what no package can bring, such as a mount that containers don't have."""
    UNAVAILABLE.append(reason)
    test.skipTest(reason)


def check_all(why: str) -> Callable:
    """Marks a test, or a class of tests, as one for "make check-all" only, and says why "make check" can do without.
    A file all of whose tests are such has CHECK_ALL = "why"."""
    def mark(test):
        test.check_all = why
        return test
    return mark


def both(test):
    """Marks a test, or a class of tests, that both run: "make check" a few times, "make check-all" many times."""
    test.both = True
    return test


def few_or_many(few: int, many: int, name: str = "") -> int:
    """How often "make check" and "make check-all" do it; or as often as the variable of this name says."""
    return int(os.environ.get(name) or (few if os.environ.get("TPGEN_TESTS") == "check" else many))


class Case(unittest.TestCase):
    """A test with a directory of its own."""

    maxDiff = None

    def setUp(self) -> None:
        self.dir = new_directory(self.id())
        self.addCleanup(shutil.rmtree, self.dir, True)

    def path(self, name: str) -> str:
        return os.path.join(self.dir, name)

    def write(self, name: str, text: str) -> str:
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        return path

    def mount(self, kind: str, name: str, *options: str) -> str:
        """A directory of that name with such a file system in it; skips the test where it can't be mounted."""
        place = self.path(name)
        os.mkdir(place)
        done = run(["mount", "-t", kind, *options, "none", place])
        if done.returncode:
            reason = done.stderr.partition("\n")[0]
            unavailable(self, f"no {kind} can be mounted here: {reason}")
        self.addCleanup(run, ["umount", "-l", place])
        return place

    def trace_instance(self) -> str:
        """The directory of an instance of the kernel's trace buffers, the test's own; skips it where there can't be one."""
        instance = os.path.join(self.mount("tracefs", "tracing"), "instances", f"tpgen-test-{os.getpid()}-{next(INSTANCES)}")
        try:
            os.mkdir(instance)
        except OSError as error:
            unavailable(self, f"tracefs has no instances here: {error}")
        self.addCleanup(run, ["rmdir", instance])
        return instance

    def small_disk(self, size: str) -> str:
        """A directory on a disk of its own, of so many bytes."""
        return self.mount("tmpfs", "disk", "-o", f"size={size}")

    def succeed(self, command: list[str], **options) -> subprocess.CompletedProcess:
        """Runs a command that must succeed."""
        done = run(command, **options)
        self.assertEqual(done.returncode, 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}")
        return done

    def read_by(self, *command: str) -> str:
        """What a trace reader prints, which must find nothing wrong."""
        done = reader([*command])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout


# Control characters, bytes that are no UTF-8, and what ends a line or changes its direction; as tp_printable_char().
UNPRINTABLE = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\udc80-\udcff]")


def printable(text: str) -> str:
    """As lines of events have it."""
    return UNPRINTABLE.sub(lambda found: r"\n" if found[0] == "\n" else
                           "".join(rf"\x{byte:02x}" for byte in found[0].encode(errors="surrogateescape")), text)


def read(path: str) -> str:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def expect(test: unittest.TestCase, path: str, text: str) -> None:
    """text must be what the file holds; with UPDATE=1 it is made so."""
    if UPDATE:
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        return
    if not os.path.exists(path):
        test.fail(f"{path} does not exist; UPDATE=1 writes it")
    test.assertEqual(text, read(path), f"{path} differs; UPDATE=1 writes it anew")

# SPDX-License-Identifier: MIT
"""Runs the recorder, and compares what a reader finds with what the recorder knows.

With SECONDS in the environment, as "make torture" sets it, whatever is random
goes on for that long, and with sanitizers in turn; else it is done a few times.
RECORD_SEED repeats the round that a failure names, and SANITIZER=asan or tsan
runs all with that one.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import glob
import os
import random
import re
import resource
import shlex
import signal
import struct
import subprocess
import time

import building
from support import BUILD, PATIENCE, Case, few_or_many, need, note, read, reader, run, until

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = min(int(os.environ.get("SECONDS") or 0), 400)  # for a file, in less than TIMEOUT of tests/run.py
SANITIZER = os.environ.get("SANITIZER", "")  # for all that is run

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # of all the crashes
PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # children's children are waited for here

# An option: who makes packets.
PREPARE = ("", "", ",prepare=thread")

HEAD = 64  # struct shared
WHO = struct.Struct("=Qii48x")
HOLE = re.compile(r"WARNING: Tracer discarded \d+ packets? |\n")
LOST = re.compile(r"WARNING: Tracer discarded (\d+) events? ")
MAYBE_LOST = re.compile(r"WARNING: Tracer may have discarded events ")  # in a first packet: it asks for a difference
PACKET = struct.Struct("=II7Q")  # struct tp_ctf_packet, whose last are packet_seq_num and events_discarded


# ---- Building ----

def build(sanitizer: str = "") -> str:
    """The directory with the programs, which are built where anything has changed since."""
    directory = os.path.join(BUILD, "ctf", sanitizer or "plain")

    def make() -> None:
        building.generate(directory, os.path.join(HERE, "record.tp"))
        building.build(os.path.join(directory, "recorder"),
                       *(os.path.join(HERE, name) for name in ("recorder.c", "threads.c", "processes.c")),
                       include=[directory], libtp=sanitizer or "static")
        building.build(os.path.join(directory, "check"), os.path.join(HERE, "check.c"), libtp="")
    building.once(directory, building.CC, make, "runtime", "tpgen", "templates", "tests/ctf")
    return directory


# ---- What there is ----

@dataclasses.dataclass
class Who:
    """A sequence of events, as the recorder knows it."""
    hits: int
    tid: int
    pid: int


@dataclasses.dataclass
class Seen:
    """The same, as the reader has seen it."""
    tid: int
    first: int
    last: int
    events: int
    breaks: int
    whole: int  # events before the first break


@dataclasses.dataclass
class Trace:
    seen: dict[int, Seen]
    discarded: int  # as its packets say
    said: str  # by the reader

    def events(self) -> int:
        return sum(seen.events for seen in self.seen.values())


def files(trace: str) -> list[str]:
    return sorted(glob.glob(os.path.join(glob.escape(trace), "stream-*")))


def streams(trace: str) -> dict[int, dict[int, int]]:
    """Of each, the numbers of its packets, and the lost events that each of these says."""
    found: dict[int, dict[int, int]] = {}
    for name in files(trace):
        with open(name, "rb") as file:
            _, _, stream, *_, number, lost = PACKET.unpack(file.read(PACKET.size))
        found.setdefault(stream, {})[number] = lost
    return found


def discarded(trace: str) -> int:
    """What the streams' last packets say, as each counts on from the one before it."""
    return sum(max(packets.values()) for packets in streams(trace).values())


def disk_usage(trace: str) -> int:
    """Bytes of all that holds events, hidden files too."""
    found = 0
    for name in os.listdir(trace):
        if name.startswith(("stream-", ".stream-")):
            with contextlib.suppress(FileNotFoundError):
                found += os.lstat(os.path.join(trace, name)).st_blocks * 512
    return found


class Recording(Case):
    """Tests with a recorder, and a trace in the test's directory."""

    sanitizer = SANITIZER

    def setUp(self) -> None:
        super().setUp()
        need(self, "babeltrace2", "bash")
        os.chmod(self.dir, 0o755)  # for tests that become another user
        self.shared = self.path("shared")
        self.trace = self.path("trace")
        self.repeat = ""  # how to

    def rounds(self, nr: int):
        """A random generator for each of so many rounds, in "make check" of a third, or for as long as SECONDS says. A
        failure tells its seed."""
        nr = few_or_many((nr + 2) // 3, nr)
        first = int(os.environ.get("RECORD_SEED") or time.time_ns() % 10**9)
        end = time.monotonic() + SECONDS / self.SHARES
        at = 0
        while at < nr or SECONDS and time.monotonic() < end:
            self.sanitizer = SANITIZER or (("", "", "asan", "tsan")[at % 4] if SECONDS else "")
            self.repeat = f"RECORD_SEED={first + at}, round {at}"
            yield random.Random(first + at)
            at += 1
            self.again()
        self.sanitizer = SANITIZER
        note(f"{self.id().rsplit('.', 1)[-1]}: {at} rounds")

    SHARES = 2  # tests of a file that have rounds
    LOST_ONLY = r"(tp: CTF trace '.*': records lost: .*\n)?"

    def again(self) -> None:
        """Nothing is left of what was recorded."""
        run(["rm", "-rf", self.shared, *glob.glob(glob.escape(self.trace) + "*")])
        self.repeat = ""

    # ---- Running it ----

    def command(self, *commands: object) -> list[str]:
        return [os.path.join(build(self.sanitizer), "recorder"), self.shared, *map(str, commands)]

    def environment(self, **env: str) -> dict[str, str]:
        return {**os.environ, "TSAN_OPTIONS": "halt_on_error=1 history_size=4 die_after_fork=0",
                "UBSAN_OPTIONS": "print_stacktrace=1", "ASAN_OPTIONS": "handle_segv=0:handle_abort=0", **env}

    def tell(self, command: list[str], env: dict[str, str]) -> None:
        """How a failure can be repeated."""
        self.repeat += f"\n{' '.join(f'{k}={shlex.quote(v)}' for k, v in env.items())} {shlex.join(command)}\n"

    def start(self, *commands: object, **env: str) -> subprocess.Popen:
        """Starts it, in a process group of its own, with its output in files."""
        command = self.command(*commands)
        self.tell(command, env)
        with open(self.path("out"), "wb") as out, open(self.path("err"), "wb") as err:
            process = subprocess.Popen(command, cwd=self.dir, env=self.environment(**env), stdin=subprocess.PIPE,
                                       stdout=out, stderr=err, start_new_session=True)
        self.addCleanup(self.end, process)
        return process

    def end(self, process: subprocess.Popen) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        with contextlib.suppress(ChildProcessError):
            while True:  # its children, which go on dying
                os.waitpid(-process.pid, 0)
        process.stdin.close()

    def finish(self, process: subprocess.Popen, status: int = 0, message: str = "") -> str:
        """Waits for its end, and for nothing but the message on its stderr. Returns its output."""
        late = ""
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            late = f"has not ended after {PATIENCE} s"
        self.end(process)
        out, err = read(self.path("out")), read(self.path("err"))
        self.assertEqual((late, process.returncode), ("", status), f"{out}{err}{self.repeat}")
        self.assertRegex(err, rf"\A{message}\Z", self.repeat)
        return out

    def record(self, *commands: object, status: int = 0, message: str = "", **env: str) -> str:
        return self.finish(self.start(*commands, **env), status, message)

    def wait_for_line(self) -> None:
        """The recorder has come to its command "wait"."""
        until(lambda: "waiting\n" in read(self.path("out")), self.repeat)

    def go_on(self, process: subprocess.Popen) -> None:
        """Behind its command "wait"."""
        process.stdin.write(b"\n")
        process.stdin.flush()

    # ---- Looking at it ----

    def whos(self, path: str = "") -> dict[int, Who]:
        """What the recorder knows, by the index that its events carry."""
        try:
            with open(path or self.shared, "rb") as file:
                data = file.read(HEAD)
                if len(data) < HEAD:
                    return {}
                nr = struct.unpack_from("=I", data)[0]
                data = file.read(nr * WHO.size)
        except FileNotFoundError:
            return {}
        return {i: Who(*WHO.unpack_from(data, i * WHO.size)) for i in range(nr)}

    def hits(self) -> int:
        return sum(who.hits for who in self.whos().values())

    def read_trace(self, *traces: str, live: bool = False) -> Trace:
        """What babeltrace2 has to say of the trace, or of several at once, which must be without an error or a warning.

        A live one may seem to lack a packet: of two that were made while the directory was listed, the later one may
        be found, and the earlier one not. And babeltrace2 reads a packet's size byte by byte: where it changes in that
        very moment, in one out of thousands of reads, it gets half of each, and takes what was in the file before for events.
        Not twice in a row.
        """
        traces = tuple(filter(None, traces)) or (self.trace,)
        script = 'babeltrace2 --no-delta "${@:2}" | "$1"'
        command = ["bash", "-o", "pipefail", "-c", script, "bash", os.path.join(build(), "check"), *traces]
        done = reader(command)
        if live and done.returncode and "CTF/MSG-ITER" in done.stderr:  # it could not read what is in a packet
            done = reader(command)
        complaints = "".join(line for line in done.stderr.splitlines(True) if not LOST.match(line) and
                             not MAYBE_LOST.match(line) and not (live and HOLE.match(line)))
        if done.returncode or complaints:
            kept = f"/tmp/record-failed-{os.getpid()}"
            os.makedirs(kept, exist_ok=True)
            run(["cp", "-r", *traces, kept])
            self.fail(f"babeltrace2 or check: exit status {done.returncode}\n{complaints[:3000]}\n"
                      f"the trace is kept in {kept}\n{self.repeat}")
        seen = {int(line.split()[0]): Seen(*map(int, line.split()[1:])) for line in done.stdout.splitlines()}
        found = Trace(seen, sum(map(discarded, traces)), done.stderr)
        said = sum(map(int, LOST.findall(done.stderr)))
        if not live:
            self.assertLessEqual(said, found.discarded, self.repeat)
            self.assertTrue(said == found.discarded or MAYBE_LOST.search(done.stderr),
                            f"{found.discarded} lost events are in the packets\n{done.stderr}\n{self.repeat}")
        return found

    def read_clean(self, *traces: str) -> Trace:
        """The same, and nothing was lost."""
        found = self.read_trace(*traces)
        self.assertEqual((found.discarded, found.said), (0, ""), self.repeat)
        return found

    def compare(self, whos: dict[int, Who], trace: Trace, newest: bool = False, on_their_way: int = 0,
                lost: bool = False) -> None:
        """Each sequence is in the trace without a gap, up to its end, and from its beginning unless newest is enough.

        So many more than the recorder knows of may be there; with lost, any may be missing.
        """
        for i, who in whos.items():
            seen = trace.seen.get(i)
            if not seen:
                self.assertTrue(lost or who.hits == 0, f"{i}: {who} is not in the trace\n{self.repeat}")
                continue
            text = f"{i}: {who} {seen}\n{self.repeat}"
            self.assertEqual(seen.tid, who.tid, text)
            self.assertLessEqual(seen.last + 1, who.hits + on_their_way, text)
            if lost:
                continue
            self.assertEqual(seen.breaks, 0, text)
            self.assertGreaterEqual(seen.last + 1, who.hits, text)
            self.assertTrue(newest or seen.first == 0, text)
        self.assertLessEqual(set(trace.seen), set(whos), self.repeat)

    def all_is_there(self, **how) -> Trace:
        trace = self.read_trace() if how.get("lost") else self.read_clean()
        self.compare(self.whos(), trace, **how)
        return trace

    def rings_are_full(self, packets: int, hidden: int = 1) -> None:
        """As many packets of each stream are there as there may be, less those that were being made; none is missing."""
        for stream, found in streams(self.trace).items():
            numbers = sorted(found)
            text = f"{stream}: {numbers}\n{self.repeat}"
            self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))), text)
            self.assertLessEqual(len(numbers), packets, text)
            self.assertTrue(numbers[0] == 0 or len(numbers) >= packets - hidden, text)

    def all_is_counted(self) -> Trace:
        """What is not in the trace was counted as lost: by the trace itself."""
        trace = self.all_is_there(lost=True)
        self.assertEqual(self.hits(), trace.events() + trace.discarded, self.repeat)
        return trace

# SPDX-License-Identifier: MIT
"""TP_OUTPUT=perfetto:FILE: the file is a valid Perfetto trace at every instant, and has what the program's CTF trace has."""

from __future__ import annotations

import contextlib
import ctypes
import glob
import os
import random
import re
import signal
import struct
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "trace_dat")]

from building import build, generate  # noqa: E402
from dat import Recorded  # noqa: E402
from packets import Shown, events, pieces  # noqa: E402
from support import BUILD, Case, check_all, few_or_many, run, state, unavailable, until  # noqa: E402
from test_perfetto import PAIRS, TRACKS  # noqa: E402
from viewed import Viewed  # noqa: E402

TP = os.path.join(BUILD, "tp")
LOST = "events lost"


class Storm(Viewed, Case):
    """A test with the program storm.c."""

    NESTED = r"(tp: Perfetto trace '.*': records lost: (\d+) \(nested: \2\)\n)?"

    @classmethod
    def setUpClass(cls) -> None:
        directory = os.path.join(BUILD, "perfetto")
        os.makedirs(directory, exist_ok=True)
        generate(directory, os.path.join(HERE, "storm.tp"))
        cls.program = build(os.path.join(directory, "storm"), os.path.join(HERE, "storm.c"), include=[directory], libtp="ranks",
                            link=["-Wl,--export-dynamic"])

    def setUp(self) -> None:
        super().setUp()
        self.shared = self.path("shared")

    def environment(self, file: str = "", **more: str) -> dict[str, str]:
        return {**os.environ, "TP_OUTPUT": f"perfetto:{file or self.file}", **more}

    def storm(self, *commands: str, message: str = "", status: int = 0, **more: str) -> str:
        done = run([self.program, self.shared, *commands], cwd=self.dir, env=self.environment(**more))
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr, rf"\A{message}\Z")
        return done.stdout

    def start(self, *commands: str, **more: str) -> subprocess.Popen:
        process = subprocess.Popen([self.program, self.shared, *commands], cwd=self.dir, env=self.environment(**more),
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(self.finish, process)
        return process

    @staticmethod
    def finish(process: subprocess.Popen) -> None:
        process.kill()
        process.communicate()

    def hits(self) -> dict[int, int]:
        """How often each has hit, as it says itself."""
        with open(self.shared, "rb") as file:
            nr = struct.unpack("L", file.read(8) or bytes(8))[0]
            return dict(enumerate(struct.unpack(f"{nr}L", file.read(8 * nr)), 1))

    def numbers(self, shown: list[Shown]) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for event in shown:
            if event.name != LOST:
                found.setdefault(event.fields["who"], []).append(event.fields["nr"])
        return found

    def all_there(self, shown: list[Shown], on_their_way: bool = False) -> None:
        """Each one's hits without a gap, from the first to the last; or to one that was on its way when the program was killed."""
        found = self.numbers(shown)
        for who, hits in self.hits().items():
            numbers = found.pop(who, [])
            self.in_a_row(numbers)
            self.assertIn(len(numbers), (hits, hits + 1) if on_their_way else (hits,), who)
        self.assertEqual(list(found), [])

    def counted(self, shown: list[Shown]) -> None:
        """All hits are there in their order, but for those that are counted as lost."""
        lost = sum(e.fields["lost"] for e in shown if e.name == LOST)
        for numbers in self.numbers(shown).values():
            self.assertTrue(numbers == sorted(set(numbers)))
        self.assertEqual(len([e for e in shown if e.name != LOST]) + lost, sum(self.hits().values()))

    def in_a_row(self, numbers: list[int]) -> None:
        self.assertTrue(numbers == list(range(len(numbers))), f"{len(numbers)} numbers: {numbers[:20]}")


class Content(Viewed, Recorded):
    """What is in it, beside what tp convert makes of the CTF trace of the same run."""

    def setUp(self) -> None:
        super().setUp()
        self.converted = self.path("converted")
        self.more_outputs = f";perfetto:{self.file}"

    def both(self) -> tuple[list[Shown], list[Shown]]:
        self.assertEqual(self.read_by(TP, "convert", "--to", "perfetto", "-o", self.converted, self.trace), "")
        return events(self.file), events(self.converted)

    def same(self) -> list[Shown]:
        ours, theirs = self.both()
        self.equal([self.content(event) for event in ours], [self.content(event) for event in theirs])
        return ours

    def equal(self, ours: list, theirs: list) -> None:
        """A list of thousands is no message."""
        for one, other in zip(ours, theirs):
            self.assertEqual(one, other)
        self.assertEqual(len(ours), len(theirs))

    @staticmethod
    def content(event: Shown) -> tuple:
        def track(descriptor: dict | None) -> object:
            if not descriptor:
                return None
            process = descriptor.get("process", [{}])[0]
            return (descriptor.get("name"), descriptor.get("thread"), process.get("pid"), "counter" in descriptor)
        # What structures are, only the program knows: to those who have the format file, an array of small ones is one of numbers. On
        # the other hand, these find more names of values in the format's text.
        def bare(value: object) -> object:
            return bytes(value).hex() if isinstance(value, list) and all(isinstance(v, int) and 0 <= v < 256 for v in value) else value
        fields = {name: bare(value) for name, value in event.fields.items() if not name.endswith(".name") and len(repr(value)) < 50000}
        return (event.type, event.name, event.category, event.level, event.source, repr(fields), event.counter, track(event.track),
                track(event.parent))

    def test_random(self) -> None:
        """Every event of random programs with all its fields."""
        for seed in range(1, few_or_many(2, 12) + 1):
            with self.subTest(seed):
                run(["rm", "-rf", self.trace])
                self.record_random(seed)
                self.assertTrue(self.same())

    def test_fields_of_all_kinds(self) -> None:
        self.record(2, 30, options=",context=name")
        ours, theirs = (sorted(map(repr, map(self.content, events))) for events in self.both())
        self.assertEqual(len(ours), len(theirs))
        self.equal(ours, theirs)

    def test_tracks_and_levels(self) -> None:
        self.record_program("both", PAIRS + TRACKS + "TRACEPOINT_LOGLEVEL(both, step, TRACE_WARNING)\n", """
            trace_begin(1, "caf\\xc3\\xa9 \\xff"); trace_span('B', "outer"); trace_span('I', "now"); trace_end(1, -5); trace_span('E', "");
            trace_job('B', "one", "jobs", 77); trace_job('B', "two", "more jobs", 77); trace_job('E', "", "jobs", 77);
            trace_step(3); for (int i = 0; i < 3; i++) { trace_depth(10 * i, 1); trace_depth(-i, 2); }""")
        shown = self.same()
        step = next(e for e in shown if e.name == "step")
        self.assertEqual((step.category, step.level), ("both", "warning"))
        self.assertEqual(next(e for e in shown if e.name == "end").fields, {"request": 1, "error": -5, "error.name": "EIO"})
        self.assertRegex(step.source, r"both\.tp:\d+\Z")
        self.assertEqual(next(e for e in shown if e.name == "outer").track["name"], ["span"])

    def test_markers(self) -> None:
        self.record_program("both", "#include <tp/marker.h>\n" + PAIRS, 'trace_mark(both_mark, "id %d name %s", 7, "x"); trace_step(3);')
        shown = self.same()
        self.assertEqual([(e.category, e.name, e.fields) for e in shown],
                         [("marker", "both_mark", {"id": 7, "name": "x"}), ("both", "step", {"n": 3})])

    def test_trace_processor(self) -> None:
        began = time.time_ns()
        self.record_program("both", PAIRS + TRACKS + "TRACEPOINT_LOGLEVEL(both, step, TRACE_WARNING)\n", """
            trace_span('B', "outer"); trace_begin(1, "a"); trace_span('E', ""); trace_step(3); trace_depth(5, 1); trace_depth(-9000000000, 1);""")
        ended = time.time_ns()
        out = self.asked(
            "SELECT s.name, s.dur > 0 AS lasts, s.category, t.name AS track FROM slice s JOIN track t ON s.track_id = t.id ORDER BY s.ts",
            "SELECT p.name, t.name AS thread FROM thread t JOIN process p USING (upid) WHERE t.tid > 0",
            "SELECT a.key, a.display_value AS value FROM slice s JOIN args a USING (arg_set_id) WHERE s.name = 'begin' AND a.key LIKE 'debug.%' "
            "ORDER BY a.key",
            "SELECT t.name, CAST(c.value AS INT) AS value FROM counter c JOIN counter_track t ON c.track_id = t.id ORDER BY c.ts",
            "SELECT a.key, a.display_value LIKE '%both.tp' AS is_there FROM slice s JOIN args a USING (arg_set_id) WHERE s.name = 'step' "
            "AND a.key = 'source.file_name'",
            "SELECT to_realtime(ts) AS ns FROM slice ORDER BY ts LIMIT 1")
        self.assertEqual(out[:-1], [
            "name=outer | lasts=1 | category=both,debug_line | track=span", "name=begin | lasts=0 | category=both,debug_line | track=null",
            "name=step | lasts=0 | category=both,warning | track=null", "name=both | thread=both",
            "key=debug.id | value=1", "key=debug.peer | value=a",
            "name=depth queue 1 | value=5", "name=depth queue 1 | value=-9000000000", "key=source.file_name | is_there=1"])
        self.assertIn(int(out[-1].removeprefix("ns=")), range(began, ended))

    def test_beside_a_converted_trace(self) -> None:
        """Both files as one trace: their times are those of one clock."""
        self.record_program("both", "#include <unistd.h>\n" + PAIRS, "for (int n = 0; n < 3; n++) { trace_step(n); usleep(1000); }")
        self.both()
        archive = self.path("both.tar")
        with tarfile.open(archive, "w", format=tarfile.USTAR_FORMAT) as tar:
            for name in ("out", "converted"):
                tar.add(self.path(name), name)
        out = self.asked("SELECT a.int_value AS n FROM slice s JOIN args a USING (arg_set_id) WHERE s.name = 'step' AND a.key = 'debug.n' "
                         "ORDER BY s.ts", file=archive)
        self.assertEqual(out, ["n=0", "n=0", "n=1", "n=1", "n=2", "n=2"])


class Instants(Storm):
    """Whenever somebody looks, or the program is killed."""

    def test_killed(self) -> None:
        for seed in range(few_or_many(3, 20)):
            with self.subTest(seed):
                self.storm(f"kill={random.Random(seed).randrange(300, 1500)}", "threads=8", status=-signal.SIGKILL)
                self.all_there(events(self.file), on_their_way=True)
                os.remove(self.shared)

    def test_killed_as_trace_processor_sees_it(self) -> None:
        self.storm("each=10", "threads=8", "kill=1000", "each=0", "threads=8", status=-signal.SIGKILL)
        shown = events(self.file)
        out = self.asked("SELECT COUNT(*) AS hits FROM slice WHERE name = 'hit'")
        self.assertEqual(out, [f"hits={len(shown)}"])

    def copied(self) -> list[Shown]:
        run(["cp", self.file, self.path("copy")])
        return events(self.path("copy"))

    @contextlib.contextmanager
    def stopped(self, process: subprocess.Popen) -> Iterator[None]:
        """All its threads stand still."""
        process.send_signal(signal.SIGSTOP)
        tasks = f"{process.pid}/task"
        until(lambda: {state(f"{tasks}/{task}") for task in os.listdir(f"/proc/{tasks}")} == {"T"}, "all threads are stopped")
        yield
        process.send_signal(signal.SIGCONT)

    def test_read_meanwhile(self) -> None:
        """A copy is read, as each look takes its time: it is a valid trace of all that was there when it began. At an instant, it has all."""
        process = self.start("pace=1", "threads=4")
        until(lambda: os.path.exists(self.shared) and len(self.hits()) == 4 and all(self.hits().values()))
        for _ in range(few_or_many(3, 20)):
            before = self.hits()
            found = self.numbers(self.copied())
            for who, hits in before.items():
                numbers = found.get(who, [])
                self.in_a_row(numbers[:hits])  # while later pieces are copied, threads may go on from earlier ones to these
                self.assertGreaterEqual(len(numbers), hits)
                self.assertEqual(numbers, sorted(set(numbers)))
            with self.stopped(process):
                self.all_there(self.copied(), on_their_way=True)
        self.finish(process)

    def test_killed_children(self) -> None:
        """Children that write to the same file are killed, and the others go on."""
        self.storm("each=50", "killed=20")
        self.all_there(events(self.file), on_their_way=True)


@check_all("the file is looked at after each instruction")
class EachInstruction(Storm):
    """kill -9 may come anywhere. The program is single-stepped, and what a reader finds is looked at whenever it has changed."""

    ATTACH, STEP, HITS = 16, 9, 30

    def ptrace(self, request: int, pid: int, number: int = 0) -> None:
        call = ctypes.CDLL(None, use_errno=True).ptrace
        call.argtypes, call.restype = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p], ctypes.c_long
        if call(request, pid, None, number) < 0:
            unavailable(self, f"no process can be traced here: {os.strerror(ctypes.get_errno())}")

    def fields(self, content: bytes) -> int:
        """How many packets there are; whole fields up to the end, but for zeros."""
        return len(list(pieces(content)))

    def test_each_instruction(self) -> None:
        process = self.start("each=1", "threads=1", "each=30", "wait", "threads=0", "texts=300")
        assert process.stdin and process.stdout
        process.stdout.readline()
        self.ptrace(self.ATTACH, process.pid)
        os.waitpid(process.pid, 0)
        process.stdin.write(b"\n")
        process.stdin.flush()
        steps = looks = packets = number = 0
        last = b""
        while self.hits().get(2, 0) < self.HITS:
            self.ptrace(self.STEP, process.pid, number)
            _, status = os.waitpid(process.pid, 0)
            self.assertTrue(os.WIFSTOPPED(status), status)
            number = 0 if os.WSTOPSIG(status) == signal.SIGTRAP else os.WSTOPSIG(status)
            steps += 1
            with open(self.file, "rb") as file:
                content = file.read()
            if content != last:
                last, looks = content, looks + 1
                found = self.fields(content)
                self.assertGreaterEqual(found, packets, f"after {steps} instructions")
                packets = found
        self.assertGreater(packets, self.HITS)
        self.assertGreater(looks, self.HITS)
        self.finish(process)
        self.assertGreaterEqual(len(self.numbers(events(self.file))[2]), self.HITS - 1)  # which are counted when they begin


class Processes(Storm):
    def test_fork(self) -> None:
        """Without %p, all are in one file; each process and each thread has its own track."""
        self.storm("each=500", "forks=5", "threads=3")
        shown = events(self.file)
        self.all_there(shown)
        self.assertEqual(len({e.track["thread"][0]["pid"][0] for e in shown}), 6)
        self.assertEqual(len({e.track["uuid"][0] for e in shown}), 5 * 2 + 1 + 3)

    def test_fork_with_ids(self) -> None:
        self.storm("each=500", "forks=5", file=self.path("out-%p"))
        files = sorted(glob.glob(self.path("out-*")))
        self.assertEqual(len(files), 6)
        shown = []
        for file in files:
            of_file = events(file)
            self.assertEqual({str(e.track["thread"][0]["pid"][0]) for e in of_file}, {file.rpartition("-")[2]})
            shown += of_file
        self.all_there(shown)

    def test_child_without_hits_has_no_file(self) -> None:
        self.storm("shell", SHELL_COMMAND="true", file=self.path("out-%p"))
        self.assertEqual(len(glob.glob(self.path("out-*"))), 1)

    def test_fork_in_handlers(self) -> None:
        """Some of the children are forked in the middle of a record: that one is the parent's alone."""
        self.storm(f"fork-in-handler={few_or_many(30, 100)}")
        self.all_there(events(self.file))

    def test_file_in_use(self) -> None:
        """A program that this one starts has the same TP_OUTPUT: it leaves the file alone."""
        other = self.path("other")
        message = (rf"tp: TP_OUTPUT=perfetto:{re.escape(self.file)}: File exists; a process writes to this file: take another one, or put %p, "
                   r"the process id, in its name; nothing goes there\n")
        self.storm("each=10", "threads=1", "shell", "threads=1", SHELL_COMMAND=f"{self.program} {other} each=10 threads=1", message=message)
        self.all_there(events(self.file))

    def test_older_file(self) -> None:
        """It makes way, and whoever reads it keeps it."""
        self.storm("each=10", "threads=1")
        with open(self.file, "rb") as old:
            os.remove(self.shared)
            self.storm("each=20", "threads=1")
            self.assertNotEqual(os.fstat(old.fileno()).st_ino, os.stat(self.file).st_ino)
            self.assertEqual(len(old.read()), os.fstat(old.fileno()).st_size)
        self.all_there(events(self.file))

    def test_closed_descriptors(self) -> None:
        self.storm("each=1500", "threads=2", "close-all=3", "threads=2", "close-all=0", "forks=2")
        self.all_there(events(self.file))

    def test_end_of_the_file(self) -> None:
        """No more than what was written, and the rest of its page."""
        self.storm("each=1", "threads=1")
        self.assertLess(os.stat(self.file).st_size, 8192)


class Signals(Storm):
    def test_handlers(self) -> None:
        """Where a handler interrupts its thread at the end of a chunk, its record is lost, and counted."""
        self.storm(f"signals={few_or_many(20000, 60000)}", message=self.NESTED)
        shown = events(self.file)
        self.counted(shown)
        self.assertGreater(len(self.numbers(shown)[1]), 3)

    def test_handlers_that_leave(self) -> None:
        """What they left in the middle is lost, and all before and behind that is there."""
        out = self.storm(f"jump={few_or_many(20000, 60000)}", message=r"(tp: Perfetto trace '.*': records lost: .*\n)?")
        self.assertGreater(int(re.search(r"jumps (\d+)", out)[1]), 3)
        shown = events(self.file)
        hits, found = self.hits(), self.numbers(shown)
        lost = sum(e.fields["lost"] for e in shown if e.name == LOST)
        for who in hits:
            self.assertEqual(found[who], sorted(found[who]))
            self.assertGreaterEqual(len(set(found[who])) + lost, hits[who])


    def test_handlers_that_leave_another_one(self) -> None:
        """The thread, which nobody has left, goes on."""
        out = self.storm(f"jump-inside={few_or_many(20000, 60000)}", message=r"(tp: Perfetto trace '.*': records lost: .*\n)?")
        jumps = int(re.search(r"jumps (\d+)", out)[1])
        self.assertGreater(jumps, 3)
        shown = events(self.file)
        hits, found = self.hits(), self.numbers(shown)
        thread = min(hits)
        self.assertEqual(found[thread], sorted(set(found[thread])))
        self.assertGreaterEqual(len(found[thread]), hits[thread] - jumps)
        lost = sum(e.fields["lost"] for e in shown if e.name == LOST)
        self.assertGreaterEqual(sum(map(len, found.values())) + lost, sum(hits.values()))


class Threads(Storm):
    def test_come_and_go(self) -> None:
        """Thousands of threads one after the other share what one thread needs."""
        threads = few_or_many(2000, 20000)
        self.storm("each=2", f"come-and-go={threads}")
        shown = events(self.file)
        self.all_there(shown)
        self.assertEqual(len({e.sequence for e in shown}), 1)
        self.assertLess(os.stat(self.file).st_size, threads * 600)

    def test_many_at_once(self) -> None:
        self.storm("each=2", "threads=300", "threads=300")
        shown = events(self.file)
        self.all_there(shown)
        self.assertLess(os.stat(self.file).st_blocks * 512, 300 * 64 * 1024)


class Records(Storm):
    def test_modules(self) -> None:
        """Events of modules that come and go, with a layout of their own."""
        self.write("module.tp", "#define TRACE_SYSTEM module\nTRACE_EVENT(of_module, TP_PROTO(int who, unsigned long nr), TP_ARGS(who, nr), "
                   "TP_STRUCT__entry(__field(int, who) __field(unsigned long, nr)), TP_fast_assign(__entry->who = who; __entry->nr = nr;), "
                   'TP_printk("%d %lu", __entry->who, __entry->nr));\n')
        self.write("module.c", '#define CREATE_TRACE_POINTS\n#include "module.h"\nvoid hit_module(int who, unsigned long nr);\n'
                   "void hit_module(int who, unsigned long nr)\n{\n\ttrace_of_module(who, nr);\n}\n")
        generate(self.dir, self.path("module.tp"))
        module = build(self.path("module.so"), self.path("module.c"), include=[self.dir], libtp="ranks")
        self.storm("modules=50", "each=10", "threads=1", "modules=50", MODULE=module)
        shown = events(self.file)
        self.all_there(shown)
        self.assertEqual(len([e for e in shown if (e.category, e.name) == ("module", "of_module")]), 100)

    def test_sizes(self) -> None:
        """Up to the longest records; a text that needs more room than its thread's part of the file has gets that."""
        for length in (0, 1, 7, 8, 9, 100, 4000, 60000, 65000):
            with self.subTest(length):
                self.storm("each=12", f"texts={length}")
                self.assertEqual({e.fields["text"] for e in events(self.file)}, {"x" * length})
                self.all_there(events(self.file))
                os.remove(self.shared)
        self.storm("each=3", "bytes=15000", "bytes=3")
        self.assertEqual([len(e.fields["bytes"]) for e in events(self.file)], [15000] * 3 + [3] * 3)

    def test_without_fields(self) -> None:
        """A field that needs more than there is room for is left out; the others are there."""
        self.storm("each=3", "bytes=60000", "bytes=3")
        shown = events(self.file)
        self.assertEqual([len(e.fields.get("bytes", [])) for e in shown], [0] * 3 + [3] * 3)
        self.all_there(shown)

    def test_too_large(self) -> None:
        self.storm("each=3", "texts=66000", "threads=1", message=r"tp: Perfetto trace '.*': records lost: 3 \(too large: 3\)\n")
        shown = events(self.file)
        self.assertEqual([(e.name, e.fields.get("lost")) for e in shown if e.name == LOST], [(LOST, 3)])
        self.assertEqual(len(shown), 4)

    def test_hostile(self) -> None:
        """Names and texts of bytes that are no UTF-8, and a file whose name is not either."""
        file = os.fsencode(self.dir) + b"/o\xff \"'\n;%u"
        file = file.replace(b";", b":")
        self.storm("each=5", "hostile=2000", file=os.fsdecode(file))
        with open(os.fsdecode(file), "rb") as one, open(self.file, "wb") as other:
            other.write(one.read())
        shown = events(self.file)
        self.assertEqual({e.fields["text"] for e in shown}, {"\\xff" * 2000})
        self.assertEqual(shown[0].track["thread"][0]["thread_name"], ["\\xff\"\n\x01\\xc3"])
        self.assertEqual(self.asked("SELECT COUNT(*) AS events FROM slice"), ["events=5"])


@check_all("the same storms run without sanitizers")
class Sanitized(Storm):
    def test_sanitizers(self) -> None:
        directory = os.path.join(BUILD, "perfetto")
        for sanitizer in ("asan", "tsan"):
            self.program = build(os.path.join(directory, f"storm-{sanitizer}"), os.path.join(HERE, "storm.c"), include=[directory], libtp=sanitizer)
            for commands in (("each=500", "forks=3", "threads=4", "come-and-go=50", "threads=4"), ("each=3", "bytes=60000", "texts=60000", "hostile=3000")):
                with self.subTest((sanitizer, commands)):
                    self.storm(*commands)
                    self.all_there(events(self.file))
                    os.remove(self.shared)


class Trouble(Storm):
    GROWS = r"tp: Perfetto output '.*': it can't grow: {}; records are lost until it can\n"
    ENDS = r"tp: Perfetto trace '.*': records lost: \d+ \(no file: \d+\)\n"

    def lost_and_found(self, file: str) -> list[Shown]:
        shown = events(file)
        self.assertIn(LOST, {e.name for e in shown})
        self.counted(shown)
        return shown

    def test_full_disk(self) -> None:
        disk = self.small_disk("1m")
        file = os.path.join(disk, "out")
        self.storm("each=12000", "threads=2", file=file, message=self.GROWS.format("No space left on device") + self.ENDS)
        self.lost_and_found(file)

    def test_room_again(self) -> None:
        disk = self.small_disk("2m")
        file, ballast = os.path.join(disk, "out"), os.path.join(disk, "ballast")
        with open(ballast, "wb") as other:
            other.write(bytes(1600000))
        self.storm("each=10000", "threads=2", "shell", "sleep=200", "each=10", "threads=2", file=file, SHELL_COMMAND=f"rm {ballast}",
                   message=self.GROWS.format("No space left on device") + self.ENDS)
        shown = self.lost_and_found(file)
        self.assertEqual([numbers for numbers in self.numbers(shown).values() if len(numbers) == 10], [list(range(10))] * 2)

    def test_full_disk_at_the_start(self) -> None:
        disk = self.small_disk("64k")
        with open(os.path.join(disk, "ballast"), "wb") as other, contextlib.suppress(OSError):
            other.write(bytes(100000))
        file = os.path.join(disk, "out")
        self.storm("each=10", "threads=2", file=file,
                   message=rf"tp: TP_OUTPUT=perfetto:{file}: No space left on device; nothing goes there\n")
        self.assertFalse(os.path.exists(file))

    def test_limit_of_files(self) -> None:
        self.storm("each=100", "threads=1", "limit=200000", "each=5000", "threads=2", message=self.GROWS.format("File too large") + self.ENDS)
        self.lost_and_found(self.file)

    def test_copying(self) -> None:
        """On a file system of which the runtime does not know that it keeps its promise of room, a system call copies packets."""
        file = os.path.join(self.mount("ramfs", "ram"), "out")
        self.storm("each=1500", "threads=3", "forks=2", f"fork-in-handler={few_or_many(30, 100)}", file=file)
        self.all_there(events(file))
        os.remove(self.shared)
        self.storm("signals=10000", file=file, message=self.NESTED)
        self.counted(events(file))

    def test_copying_fails(self) -> None:
        """A chunk ends there. In the next one, the sequence says anew what was told in what is lost."""
        file = os.path.join(self.mount("ramfs", "ram"), "out")
        self.storm("fail-copies=50", "each=2000", "threads=2", "sleep=200", "threads=2", "fail-copies=0", file=file, message=f"(?:{self.GROWS.format('Bad address')})*{self.ENDS}")
        shown = self.lost_and_found(file)
        self.assertGreater(len(shown), 500)
        self.assertEqual({(e.category, e.name) for e in shown if e.name != LOST}, {("storm", "hit")})

    def test_wrong(self) -> None:
        os.mkdir(self.path("directory"))
        os.mkfifo(self.path("fifo"))
        for name, why in (("", ".*the name is missing; use .*perfetto:FILE.*"),
                          ("none/out", ".*: No such file or directory; nothing goes there"),
                          ("directory", ".*: Invalid argument; it is there, and is no regular file: take another name; nothing goes there"),
                          ("fifo", ".*: Invalid argument; it is there, and is no regular file: take another name; nothing goes there"),
                          ("out,packet=4K", "Perfetto output 'out': it has no options, and 'packet=4K' is none; ctf has options; nothing goes there")):
            with self.subTest(name):
                done = run([self.program, self.shared, "each=2", "threads=1"], cwd=self.dir,
                           env={**os.environ, "TP_OUTPUT": f"perfetto:{name}"})
                self.assertEqual(done.returncode, 0)
                self.assertRegex(done.stderr, rf"\Atp: {why}\n\Z")


del Recorded, Case  # which are no tests themselves

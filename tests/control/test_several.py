# SPDX-License-Identifier: MIT
"""Commands of tp for several processes: -p repeated, --all, --children; a master whose workers come and go."""

from __future__ import annotations

import glob
import json
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from reaching import Reaching  # noqa: E402
from support import read, until  # noqa: E402


class SeveralProcesses(Reaching):
    def workers(self, master: int) -> list[int]:
        return [int(pid) for pid in read(f"/proc/{master}/task/{master}/children").split()]

    def outputs_enabled(self, pid: int, rule: str = "served_request") -> int:
        return len(re.findall(rf"^ +enable {re.escape(rule)}$", self.tp("outputs", "-p", str(pid)).stdout, re.M))


class Several(SeveralProcesses):
    def setUp(self) -> None:
        super().setUp()
        self.env["TP_OUTPUT"] = f"ctf:{self.path('flight-%p')},mode=flight,packet=4K"
        self.env["TP_ENABLE"] = "no:event"

    def two(self) -> list[int]:
        return sorted(self.start("loop").pid for _ in range(2))

    def by_process(self, text: str) -> dict[int, str]:
        """What is printed of each process, below its heading."""
        found = re.split(rf"^'{self.name}' \((\d+)\):\n", text, flags=re.M)
        self.assertEqual(found[0], "", text)
        return {int(pid): part for pid, part in zip(found[1::2], found[2::2])}

    def test_each_command(self) -> None:
        pids = self.two()
        each = [word for pid in pids for word in ("-p", str(pid))]
        all_of_name = ("-p", self.name, "--all")
        for who in (each, all_of_name):
            with self.subTest(who=who):
                parts = self.by_process(self.done("list", *who))
                self.assertEqual(list(parts), pids)
                for part in parts.values():
                    self.assertEqual(len(re.findall(r"^served:", part, re.M)), 2)
                for args, wanted in (
                    (("enable", *who, "served_request"), "1 event enabled on output 1"),
                    (("filter", *who, "served_request", "n > 10"), "1 event filtered on output 1"),
                    (("filter", *who), "served_request if n > 10"),
                    (("outputs", *who), "enable served_request if n > 10"),
                    (("trigger", *who, "served_request", "traceoff if n == 0"), "the trigger is set; 1 event fires it"),
                    (("trigger", *who), "traceoff:unlimited if n == 0"),
                    (("trigger", *who, "served_idle", "hist:keys=n"), "the trigger is set"),
                    (("hist", *who), "trigger info: hist:keys=n"),
                    (("trigger", *who, "served_idle", "!hist:keys=n"), "taken off"),
                    (("trigger", *who, "served_request", "!traceoff"), "taken off"),
                    (("disable", *who, "served_request"), "1 event disabled on output 1"),
                ):
                    parts = self.by_process(self.done(*args))
                    self.assertEqual(list(parts), pids, args)
                    for part in parts.values():
                        self.assertIn(wanted, part, args)
        lines = self.done("ps", *each).splitlines()
        self.assertEqual([int(line.split()[0]) for line in lines[1:]], pids)

    def test_newest(self) -> None:
        """Whatever its id is: ids begin anew some day."""
        pids = [self.start("loop").pid for _ in range(3)]
        self.done("enable", "-p", self.name, "--newest", "served_idle")
        self.assertEqual([self.enabled(pid) for pid in pids], [[], [], ["served:served_idle"]])

    def test_snapshot_and_open(self) -> None:
        """What is made has a name for each."""
        pids = self.two()
        names = sorted(f"{self.name}-{pid}" for pid in pids)
        self.done("enable", "-p", self.name, "--all", "*")
        for pid in pids:
            until(lambda: glob.glob(self.path(f"flight-{pid}/stream-*")))
        done = self.tp("snapshot", "-p", self.name, "--all", "-o", "snapshots")
        self.assertEqual((done.returncode, sorted(os.listdir(self.path("snapshots")))), (0, names), done.stderr)
        for name in names:
            self.assertTrue(os.path.exists(self.path(f"snapshots/{name}/metadata")))
        self.done("outputs", "-p", self.name, "--all", "--open", "ctf:traces")
        self.assertEqual(sorted(os.listdir(self.path("traces"))), names)
        self.assertIn("is not empty", self.tp("outputs", "-p", self.name, "--all", "--open", "ctf:traces").stderr)

    def test_what_one_does_not_like(self) -> None:
        """The others go on, and tp fails. What can't be reached stops all before that."""
        pids = self.two()
        other = self.start("loop", env={"TP_OUTPUT": "", "TP_ENABLE": ""}).pid
        done = self.tp("enable", "-p", str(pids[0]), "-p", str(other), "-p", str(pids[1]), "served_idle")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, rf"\Atp: '{self.name}' \({other}\) has no output; \"tp outputs --open\" opens one, such as [^\n]*\n\Z")
        for pid in pids:
            self.assertEqual(self.enabled(pid), ["served:served_idle"])
        self.assertIn("there is no process 4194304", self.fails("disable", "-p", str(pids[0]), "-p", "4194304", "served_idle"))
        self.assertEqual(self.enabled(pids[0]), ["served:served_idle"])

    def test_trace(self) -> None:
        pids = self.two()
        tp = self.begin("trace", "-p", self.name, "--all", "-e", "served_idle")
        seen = set()
        while seen != set(pids):
            seen.add(int(self.next_line(tp.stdout).split()[1].split("/")[0]))
        _, err = self.interrupt(tp)
        self.assertRegex(err, r"\Atp: \d+ lines? of 2 processes; lost: 0\n\Z")
        for pid in pids:
            until(lambda: self.enabled(pid) == [])

    def test_sums(self) -> None:
        """Of histograms and statistics: what is below all of them is their sum."""
        steps = (f"wait={self.path('go')}", "hit=50", f"wait={self.path('never')}")
        pids = sorted(self.start(*steps).pid for _ in range(3))
        hist = self.begin("hist", "-p", self.name, "--all", "-e", "served_request", "keys=peer:vals=n", "--for", "100")
        stat = self.begin("stat", "-p", self.name, "--all", "-e", "served_request", "--for", "100")
        until(lambda: all(len(self.outputs(pid)) == 3 for pid in pids))
        until(lambda: all(self.outputs_enabled(pid) == 2 for pid in pids))
        self.write("go", "")
        until(lambda: all(read(f"/proc/{pid}/comm") and self.hits(pid) == 50 for pid in pids))
        out, _ = self.interrupt(hist)
        self.assertEqual(re.findall(r"^\{ peer: *10\.0\.0\.1 *\} hitcount: +(\d+)  n: +(\d+)$", out, re.M), [("50", "1275")] * 3 + [("150", "3825")])
        self.assertRegex(out, r"\nall 3 processes:\n\{[^\n]*\n\nTotals:\n    Hits: 150\n    Entries: 1\n\Z")
        out, _ = self.interrupt(stat)
        self.assertEqual(re.findall(r"^served:served_request +(?:all|'\w+' \(\d+\)) +(\d+) ", out, re.M), ["150"] + ["50"] * 3)

    def hits(self, pid: int) -> int:
        found = re.search(r"Hits: (\d+)", self.done("hist", "-p", str(pid)))
        return int(found[1]) if found else 0

    def test_sums_of_odd_entries(self) -> None:
        """Keys of several lines, and values that are no sums."""
        self.two()
        for definition, entry in (("keys=common_stacktrace", r"\{ common_stacktrace:\n(?: +[^\n]+\n)+\} hitcount: +(\d+)\n"),
                                  ("keys=peer:vals=n.percent,n.graph", r"\{ peer: 10\.0\.0\.1 +\} hitcount: +(\d+)\n")):
            out = self.counted(r"\A(?:(?!Hits: 0\n)[\s\S])*\Z", "hist", "-p", self.name, "--all", "-e", "served_request", definition)
            each = [int(n) for n in re.findall(r"^    Hits: (\d+)$", out, re.M)]
            self.assertEqual((len(each), each[2]), (3, each[0] + each[1]), out)
            entries = re.findall(entry, out[out.index("all 2 processes:"):])
            self.assertEqual(sum(map(int, entries)), each[2], out)

    def test_json(self) -> None:
        """One object after the other."""
        pids = self.two()
        text = self.done("stat", "-p", self.name, "--all", "--for", "0.1", "--json")
        found, decoder = [], json.JSONDecoder()
        while text.strip():
            report, end = decoder.raw_decode(text.lstrip())
            found.append(report["pid"])
            text = text.lstrip()[end:]
        self.assertEqual(sorted(found), pids)


class Begun(SeveralProcesses):
    def test_just_begun(self) -> None:
        """Whoever asks at once waits for the moment that it takes until a child listens."""
        def asked_at_once() -> bool:
            master = self.start("workers=1", "loop")
            until(lambda: self.workers(master.pid))
            return self.tp("list", "-p", str(self.workers(master.pid)[0])).returncode == 0

        self.assertTrue(any(asked_at_once() for _ in range(10)))  # a busy machine may leave a child no time


class Children(SeveralProcesses):
    def reload(self, master: int, directory: str = "") -> list[int]:
        """The new workers, when they listen and the old ones have ended."""
        old = self.workers(master)
        os.kill(master, signal.SIGHUP)
        until(lambda: len(self.workers(master)) == len(old) and not set(old) & set(self.workers(master)))
        new = self.workers(master)
        for pid in new:
            self.wait_for_socket(pid, directory)
        return new

    def start_master(self, *steps: str) -> int:
        process = self.start("workers=2", *steps)
        until(lambda: len(self.workers(process.pid)) == 2)
        for pid in self.workers(process.pid):
            self.wait_for_socket(pid)
        return process.pid

    def seen_in_trace(self, tp: subprocess.Popen, pids: list[int]) -> None:
        """Reads lines until there are some of each."""
        missing = set(pids)
        while missing:
            missing.discard(int(self.next_line(tp.stdout).split()[1].split("/")[0]))

    def three_are_listed(self, master: str) -> None:
        done = self.asked(r"(served:served_idle[\s\S]*){3}", "list", "-p", master, "--children")
        self.assertEqual((done.returncode, done.stderr, done.stdout.count("served:served_idle")), (0, "", 3), done.stdout)

    def test_master_by_name(self) -> None:
        """All have the name; the master is meant."""
        master = self.start_master("loop")
        self.three_are_listed(self.name)
        self.start("loop")
        self.assertIn("is the program of several processes", self.tp("list", "-p", self.name, "--children").stderr)
        self.three_are_listed(str(master))

    def test_trace(self) -> None:
        master = self.start_master("loop")
        tp = self.begin("trace", "-p", self.name, "--children", "-e", "served_idle")
        self.seen_in_trace(tp, self.workers(master))
        for _ in range(3):
            self.seen_in_trace(tp, self.reload(master))
        _, err = self.interrupt(tp)
        self.assertRegex(err, r"tp: \d+ lines? of 3 processes; lost: 0; 2 have ended, and can't be asked\n\Z")
        for pid in (master, *self.workers(master)):
            self.left_alone(pid)

    def test_programs_that_workers_become(self) -> None:
        """They have inherited nothing: tp comes to them."""
        master = self.start_master(f"exec={self.program}", "loop")
        trace = self.begin("trace", "-p", str(master), "--children", "-e", "served_idle")
        record = self.begin("record", "-p", str(master), "--children", "-e", "served_request", "-o", "traces")
        workers = self.workers(master)
        for _ in range(2):
            self.seen_in_trace(trace, self.workers(master))
            for pid in self.workers(master):
                until(lambda: glob.glob(self.path(f"traces/{self.name}-{pid}/stream-*")))
            workers += self.reload(master)
        self.seen_in_trace(trace, self.workers(master))
        self.interrupt(trace)
        self.interrupt(record)
        self.assertLessEqual({f"{self.name}-{pid}" for pid in workers[:4]}, set(os.listdir(self.path("traces"))))

    def test_record_through_reloads(self) -> None:
        """What a worker records that has come since is below the master's."""
        master = self.start_master("loop")
        first = self.workers(master)
        tp = self.begin("record", "-p", str(master), "--children", "-e", "served_request", "-o", "traces")
        until(lambda: all(self.enabled(pid) for pid in (master, *first)))
        later = []
        for _ in range(3):
            later += self.reload(master)
            until(lambda: all(self.records_of(pid) for pid in later[-2:]))
        _, err = self.interrupt(tp)
        self.assertEqual(sorted(os.listdir(self.path("traces"))), sorted(f"{self.name}-{pid}" for pid in (master, *first)))
        for pid in later:
            self.assertTrue(self.records_of(pid), pid)
        self.assertNotIn("not empty", err)
        self.assertEqual(len(re.findall(r"lost: 0$", err, re.M)), 3, err)

    def records_of(self, pid: int) -> bool:
        done = self.tp("report", "traces")
        return f" {pid}/{pid} " in done.stdout

    def test_counts(self) -> None:
        """Of a worker that has come since: from its first hit on."""
        master = self.start_master(f"wait={self.path('go')}", "hit=40", f"wait={self.path('never')}")
        hist = self.begin("hist", "-p", str(master), "--children", "-e", "served_request", "keys=common_pid", "--for", "100")
        stat = self.begin("stat", "-p", str(master), "--children", "-e", "served_request", "--for", "100", "--interval", "0.1")
        until(lambda: all(self.outputs_enabled(pid) == 2 for pid in (master, *self.workers(master))))
        until(lambda: all(self.is_looked_into(pid, 2) for pid in self.workers(master)))
        self.write("go", "")
        workers = self.workers(master) + self.reload(master)
        for pid in workers[2:]:
            until(lambda: "Hits: 40" in self.tp("hist", "-p", str(pid)).stdout)
            until(lambda: self.is_looked_into(pid, 2), "both have found the new workers")
        out, err = self.interrupt(hist)
        for pid in workers[2:]:
            self.assertRegex(out, rf"(?m)^\{{ common_pid: +{pid} *\}} hitcount: +40$")
        sums = out[out.index("\nall "):]
        for pid in workers[2:]:
            self.assertRegex(sums, rf"(?m)^\{{ common_pid: +{pid} *\}} hitcount: +40$")
        out, err = self.interrupt(stat)
        hits = dict(re.findall(rf"^served:served_request +'{self.name}' \((\d+)\) +(\d+) ", out, re.M))
        self.assertEqual([hits[str(pid)] for pid in workers[2:]], ["40", "40"], out)
        self.assertLessEqual({hits[str(pid)] for pid in workers[:2]}, {"0", "40"}, out)
        self.assertRegex(err, r"has ended: these are the numbers of up to 0.1 s before")

    @staticmethod
    def clients(pid: int) -> int:
        """Connections to the process: of its socket's name, which /proc/net/unix shows, and connected."""
        lines = [line.split() for line in read("/proc/net/unix").splitlines()[1:]]
        return sum(len(line) == 8 and os.path.basename(line[7]).startswith((f"{pid}.", f".{pid}.")) and line[5] == "03" for line in lines)

    def is_looked_into(self, pid: int, nr: int) -> bool:
        """By so many for a while: connections by which somebody only looks are closed soon."""
        for _ in range(20):
            if self.clients(pid) < nr:
                return False
            time.sleep(0.02)
        return True

    def test_end_of_the_family(self) -> None:
        process = self.start("fork=2", f"wait={self.path('go')}", "hit=1")
        until(lambda: len(self.workers(process.pid)) == 2)
        for pid in self.workers(process.pid):
            self.wait_for_socket(pid)
        tps = [self.begin(*args) for args in (("trace", "-p", str(process.pid), "--children"),
                                              ("record", "-p", str(process.pid), "--children", "-o", "traces"),
                                              ("stat", "-p", str(process.pid), "--children"))]
        until(lambda: all(self.outputs_enabled(pid, "*") == 3 for pid in (process.pid, *self.workers(process.pid))))
        self.write("go", "")
        for tp in tps:
            self.finished(tp)
            self.assertEqual(tp.returncode, 0)

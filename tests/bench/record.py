# SPDX-License-Identifier: MIT
"""Recording: what it costs beside peers, and the goals that it is held against."""

from __future__ import annotations

import contextlib
import os
import re
import statistics
import subprocess
from dataclasses import replace
from fractions import Fraction

import latency
import sessions
from general import many_events
from goals import Figures, Measured, Table, Way
from runner import Bench, read

FLIGHT = "ctf:shm/trace,mode=flight,size=16M"
STREAM = "ctf:shm/trace"
NAMES = {"lttng": "LTTng-UST", "rdtsc": "counter", "fprintf": "fprintf", "processes": "two processes"}
WARM = 1200000  # events, with which each of the rings has gone round


class Recorded(Measured):
    """What is not a group's, besides."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        self.lost: dict[str, int] = {}  # by LTTng-UST's discard mode, in groups
        self.memory: dict[str, Figures] = {}
        self.latency: dict[str, latency.Distribution] = {}

    def group_of(self, key: str, heading: str, shape: str, ways: dict[str, Way], events: int, count: int = 0,
                 times: int = 1, note: str = "", unit: str = "ns") -> None:
        """Measures them, and sees what LTTng-UST has lost."""
        group = self.group(key, heading, shape, ways, unit)
        before = sessions.discarded(self.bench) if "discard" in ways else 0
        group.measure(events, count, times)
        group.notes += [note] if note else []
        if "discard" in ways:
            self.lost[key] = sessions.discarded(self.bench) - before
            group.notes.append(f"LTTng-UST, discard mode, has lost of all these: {self.lost[key]} events.")
        group.show()

    def results_of(self, key: str, way: str = "ours") -> Figures:
        """Those of a group, with this way to use tpgen as tpgen's, and the better of LTTng-UST's as LTTng-UST's."""
        return self.better(key, self.as_ours(self.results(key), way))

    def better(self, key: str, figures: Figures) -> Figures:
        """What has lost events counts for nothing."""
        if self.lost.get(key):
            figures = {**figures, "discard": None}
        known = [figure for figure in map(figures.get, ("snapshot", "discard")) if figure is not None]
        return {**figures, "lttng": min(known, default=None)}

    @staticmethod
    def as_ours(figures: Figures, way: str) -> Figures:
        return figures if way == "ours" else {**figures, "ours": figures[way], "load": None}


def measure(bench: Bench) -> Recorded:
    measured = Recorded(bench)
    bench.subject("rdtsc", "rdtsc.h")
    bench.write("wide.tp", read("wide.tp"))
    bench.tpgen("wide.tp")
    bench.ours("ours-wide", "ours.h", '-DEVENTS="wide.h"', "-DEVENT=bench_wide")
    measured.memory = memory(bench)  # before there is a daemon: an LTTng-UST maps what its sessions have
    why = sessions.start(bench)
    if why:
        bench.absent.append(f"LTTng-UST does not record here: {why}.")
        print(f"\n{bench.absent[-1]}")
    touch(bench)
    group = measured.group_of
    ways = all_ways(bench, not why)
    small = "{u64, u32, char[16]}"

    group("one", f"Record {small}, one thread", "loop 1", without(ways, "nothing"), 300000, count=45000,
          note="Under valgrind, a clock may be a system call, the instructions of which are not counted.")
    several = without(ways, "nothing", "load", "disk", "fprintf")
    group("two", "The same, two threads at once, beside each alone", "scale 2", without(several, "discard"), 750000,
          note="LTTng-UST's discard mode is not here: its daemon would find no processor, and lose events.", unit="×")
    group("processes", "The same, two processes at once, beside each alone", "scale 1",
          without(several, "discard", "snapshot"), 750000, unit="×",
          note="LTTng-UST is not here: a process that has forked needs another of its libraries.")
    group("work", "The same between about 200 ns of other work, above that work", "work 1",
          without(ways, "stream", "disk"), 75000, times=3)  # a small difference between larger times
    wide = {name: replace(way, program={"ours": "ours-wide", "ours-load": "ours-wide-load"}.get(
                way.program, way.program.replace("lttng-", "lttng-wide-")))
            for name, way in without(ways, "nothing", "rdtsc", "disk", "fprintf").items()}
    group("wide", "Record 16 fields, two of them strings, one thread", "loop 1", wide, 300000)
    each = {**several, "nothing": replace(ways["nothing"], kind="plain")}
    group("longest", f"Record {small} 1,000,000 times: the longest, with a reading of the clock", "longest 1", each,
          1000000)
    group("percentile", "The same: the 99.99th percentile", "percentile 1", each, 1000000)
    measured.latency = latency.measure(bench, without(each, "rdtsc"))
    enable(measured)
    return measured


def touch(bench: Bench) -> None:
    """
    Takes more memory than any row does, 16 fields in stream mode the most, and gives it back. The first time that a virtual machine uses a page, its
    host takes longer to find one than any recorder does for what it writes there: that is nobody's cost.
    """
    available = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    with open(bench.path("shm/touch"), "wb") as file, contextlib.suppress(OSError):
        for _ in range(1 if bench.quick else min(2048, available // 2)):
            file.write(bytes(1 << 20))
    os.remove(bench.path("shm/touch"))


def all_ways(bench: Bench, lttng: bool) -> dict[str, Way]:
    warm = 1000 if bench.quick else WARM

    def ours(label: str, output: str, program: str = "ours", arguments: str = "-1") -> Way:
        return Way("ours", f"tpgen: {label}", program, arguments, {"TP_ENABLE": "bench:*", "TP_OUTPUT": output})

    return {"nothing": Way("base", "nothing at all", "nothing"),
            "rdtsc": Way("plain", "the processor's counter", "rdtsc"),
            **{mode: Way("peer", f"LTTng-UST, {mode} mode", f"lttng-{mode}", f"-1 {warm}")
               for mode in ("snapshot", "discard") if lttng},
            "fprintf": Way("plain", "fprintf of the same to /dev/null", "fprintf"),
            "ours": ours("flight recorder", FLIGHT, arguments=f"-1 {warm}"),
            "load": ours("flight recorder, load and branch", FLIGHT, "ours-load", f"-1 {warm}"),
            "stream": ours("stream, tmpfs", STREAM),
            "disk": ours("stream, build disk", "ctf:trace")}


def without(ways: dict[str, Way], *names: str) -> dict[str, Way]:
    return {name: way for name, way in ways.items() if name not in names}


def enable(measured: Recorded) -> None:
    """Of many events, each with a site; and what comes before."""
    bench = measured.bench
    bench.write("many.tp", many_events(bench.sites))
    bench.tpgen("many.tp")
    bench.write("many_sites.h", "".join(f"trace_many_{i}(number, id, name);\n" for i in range(bench.sites)))
    bench.ours("enable", "enable.h")
    many = f"{bench.sites:,} events"
    for key, argument, heading in (("enable", 1, f"Enable all of {many}"), ("open", 2, f"Open a CTF sink with {many}")):
        ways = {name: Way("ours", label, program, str(argument)) for name, label, program in
                (("ours", "tpgen", "enable"), ("load", "tpgen, load and branch", "enable-load"))}
        measured.group_of(key, heading, "first 1", ways, 15)


# ---- What a process has ----

def memory(bench: Bench) -> dict[str, Figures]:
    """Threads, files and KiB that a program has while its event is off, more than the same without one."""
    programs = {"nothing": "nothing", "ours": "ours", "load": "ours-load", "lttng": "lttng"}
    seen = {name: [process(bench, program) for _ in range(bench.rounds)]
            for name, program in programs.items() if name in bench.have}
    medians = {name: [statistics.median(values) for values in zip(*rounds)] for name, rounds in seen.items()}
    result: dict[str, Figures] = {
        what: {name: values[i] - (0 if name == "nothing" else medians["nothing"][i])
               for name, values in medians.items()} for i, what in enumerate(("threads", "files", "KiB"))}
    print("\nOff, before anything was enabled: what a process has more than one without an event")
    print(f"  {'':46} " + " ".join(f"{what:>9}" for what in result))
    for name in seen:
        label = {"nothing": "nothing at all (all of it)", "load": "tpgen, load and branch", "ours": "tpgen",
                 "lttng": "LTTng-UST"}[name]
        print(f"  {label:46} " + " ".join(f"{figures[name]:9.0f}" for figures in result.values()))
    return result


def process(bench: Bench, program: str) -> tuple[int, int, int]:
    """Its threads, its open files, and KiB of its anonymous memory."""
    with subprocess.Popen([f"./{program}", "15", "stay", "1"], cwd=bench.dir, env=bench.environment, text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdout
        running.stdout.readline()
        here = f"/proc/{running.pid}"
        with open(f"{here}/smaps_rollup", encoding="ascii") as file:
            anonymous = re.search(r"^Anonymous: +(\d+)", file.read(), re.M)
        return len(os.listdir(f"{here}/task")), len(os.listdir(f"{here}/fd")), int(anonymous[1] if anonymous else 0)


# ---- The goals ----

def table(measured: Recorded) -> Table:
    result = Table("bench-record", NAMES, "ratio", {
        "load": "load and branch", "lttng": "LTTng-UST", "snapshot": "snapshot", "discard": "discard",
        "fprintf": "fprintf", "rdtsc": "counter", "processes": "two processes", "nothing": "nothing"})
    line, of, bench = result.line, measured.results_of, measured.bench
    line("flight recorder, warm: ns", of("one"), Fraction(1, 8), "lttng")
    line("… beside the processor's counter", of("one"), 1.4, "rdtsc")
    line("… beside fprintf of the same text", of("one"), Fraction(1, 12), "fprintf")
    instructions = measured.better("one", measured.instructions("one"))
    line("… instructions", instructions, 70)
    line("… instructions, load and branch", measured.as_ours(instructions, "load"), 70)
    line("stream, tmpfs: ns", of("one", "stream"), Fraction(1, 4), "lttng")
    line("stream, build disk: ns", of("one", "disk"))
    line("flight recorder, between 200 ns of work: ns more", {**of("work"), "nothing": measured.base("work")},
         Fraction(1, 10), "lttng", or_most=5)
    for way, label in (("ours", "flight recorder"), ("stream", "stream, tmpfs")):
        # 1.95 of the 2 that there are where the machine does not hold up one for the other.
        line(f"{label}, two threads: throughput over one",
             {**of("two", way), "processes": measured.results("processes")[way]}, 0.975, "processes", least=True,
             digits=2)
    line("16 fields, flight recorder: ns", of("wide"), Fraction(1, 5), "lttng")
    line("16 fields, stream, tmpfs: ns", of("wide", "stream"), Fraction(7, 20), "lttng")
    line("longest of 1,000,000 events, flight recorder: µs", scaled(of("longest")), 1, "lttng")
    line("… 99.99th percentile: µs", scaled(of("percentile")), 1, "lttng", digits=2)
    line("longest of 1,000,000 events, stream, tmpfs: µs", scaled(of("longest", "stream")), 1, "lttng")
    line("… 99.99th percentile: µs", scaled(of("percentile", "stream")), 1, "lttng", digits=2)
    line(f"enable all of {bench.sites:,} events: ms", measured.scaled("enable", 1e6), 10, digits=2)
    line("… opening the CTF sink before: ms", measured.scaled("open", 1e6), digits=2)
    line("off, before the first enable: threads more", measured.memory["threads"], 0, digits=0)
    line("… files more", measured.memory["files"], 0, digits=0)
    line("… KiB of anonymous memory more", measured.memory["KiB"], 64, digits=0)
    result.notes.append("Single events, as many in a million that the number has so many digits, by the time that each "
                        f"took:\n\n{latency.text(measured.latency)}")
    result.pictures[latency.PICTURE] = latency.picture(measured.latency)
    lost = sum(measured.lost.values())
    if measured.lost:
        result.notes.append(f"LTTng-UST's discard mode lost {lost} events" +
                            (", and does not count in the rows in which it lost any." if lost else "."))
    return result


def scaled(figures: Figures) -> Figures:
    return {name: None if figure is None else figure / 1000 for name, figure in figures.items()}

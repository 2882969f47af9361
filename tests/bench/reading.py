# SPDX-License-Identifier: MIT
"""Reading a trace: events a second of a processor, beside babeltrace2; and memory, with a trace of a quarter of the size.

READ_MB in the environment is the size of the trace in MB, 100 without it.
"""

from __future__ import annotations

import os
import shutil
import statistics

from goals import Figures, Measured, Table
from runner import HERE, Bench, read

SIZE = int(os.environ.get("READ_MB", "100"))
EVENT = 70.6  # bytes of the trace
SMALLER = 4
GOAL = 10  # times as many lines a second as babeltrace2
THREADS = 4

# How tp reads it, with where the output goes.
COMMANDS = {
    "text": ("tp report", ["report", "TRACE"]),
    "summary": ("tp report --summary", ["report", "--summary", "TRACE"]),
    "json": ("tp convert --to json", ["convert", "--to", "json", "TRACE"]),
    "perfetto": ("tp convert --to perfetto", ["convert", "--to", "perfetto", "-o", "out", "TRACE"]),
    "parquet": ("tp convert --to parquet", ["convert", "--to", "parquet", "-o", "out", "TRACE"]),
    "dat": ("tp convert --to trace.dat", ["convert", "--to", "trace.dat", "-o", "out", "TRACE"]),
    "timeline": ("tp timeline", ["timeline", "-o", "out", "TRACE"]),
    "latency": ("tp latency", ["latency", "TRACE", "bench_begin", "bench_end", "--key", "id"]),
}

class Readings(Measured):
    """Of each command, and of babeltrace2: events a second, and MiB of memory for each of the two traces."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        self.size = 1 if bench.quick else SIZE
        self.rate: dict[str, float] = {}
        self.memory: dict[str, tuple[float, float]] = {}


def record(bench: Bench, name: str, megabytes: float) -> int:
    """Returns the number of events."""
    events = int(megabytes * 1e6 / EVENT) // (2 * THREADS) * 2 * THREADS
    bench.run(["./record-read", str(events), str(THREADS)], {"TP_ENABLE": "bench:*", "TP_OUTPUT": f"ctf:{name}"})
    return events


def taken(bench: Bench, command: list[str], trace: str) -> tuple[float, float]:
    """Seconds of the processor, MiB of memory."""
    bench.run(["sh", "-c", 'exec ./peak taken "$@" >/dev/null', "sh", *(trace if word == "TRACE" else word for word in command)])
    out = bench.path("out")
    if os.path.isdir(out):
        shutil.rmtree(out)
    elif os.path.exists(out):
        os.remove(out)
    with open(bench.path("taken"), encoding="ascii") as file:
        seconds, memory = file.read().split()
    return float(seconds), int(memory) / 1024


def measure(bench: Bench) -> Readings:
    measured = Readings(bench)
    bench.write("read.tp", read("read.tp"))
    bench.tpgen("read.tp")
    bench.compile("record-read", os.path.join(HERE, "read.c"), bench.library, "-lurcu-bp", "-pthread")
    bench.compile("peak", os.path.join(HERE, "peak.c"))
    events = record(bench, "large", measured.size)
    record(bench, "smaller", measured.size / SMALLER)
    tp = os.path.join(bench.build, "tp")
    commands = {name: [tp, *words] for name, (_, words) in COMMANDS.items()}
    if shutil.which("babeltrace2"):
        commands["babeltrace2"] = ["babeltrace2", "TRACE"]
    else:
        bench.absent.append("babeltrace2 is left out: it is not installed.")
    times: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(min(bench.rounds, 3)):
        for name, command in commands.items():
            seconds, memory = taken(bench, command, "large")
            times[name].append(seconds)
            if turn == 0:
                measured.memory[name] = (memory, taken(bench, command, "smaller")[1])
    for name, seconds_of in times.items():
        measured.rate[name] = events / max(statistics.median(seconds_of), 1e-3) / 1e6
    for name in ("large", "smaller"):
        shutil.rmtree(bench.path(name))
    return measured


def table(measured: Readings) -> Table:
    result = Table("bench-read", {"babeltrace2": "babeltrace2"}, "to babeltrace2", {"babeltrace2": "babeltrace2", "quarter": "a quarter"})
    result.notes.append(f"A trace of {measured.size} MB: events of five fields, four threads; times are those of a processor.")
    for name, (label, _) in COMMANDS.items():
        figures: Figures = {"ours": measured.rate[name]}
        if name == "text":
            figures["babeltrace2"] = measured.rate.get("babeltrace2")
            result.line(f"{label}: million events a second", figures, GOAL, "babeltrace2", least=True, digits=2)
        else:
            result.line(label, figures, digits=2)
    for name, (label, _) in COMMANDS.items():
        large, quarter = measured.memory[name]
        figures = {"ours": large, "quarter": quarter}
        if name == "text" and "babeltrace2" in measured.memory:
            figures["babeltrace2"] = measured.memory["babeltrace2"][0]
        result.line(f"{label}: MiB", figures)
    return result

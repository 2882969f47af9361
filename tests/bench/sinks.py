# SPDX-License-Identifier: MIT
"""Sinks: what each costs an event, beside the way of its tool without us."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator

import sessions
from goals import Measured, Table, Way
from record import FLIGHT, STREAM
from runner import Bench

NAMES = {"own": "its own way"}
WARM = 200000  # events
EVENT = "{u64, u32, char[16]}"

# Of each row of the table: our way, the tool's own, and what they are.
ROWS = [("text", "fprintf", "text, to /dev/null; beside fprintf"),
        ("flight", "lttng", "CTF, flight recorder; beside LTTng-UST's snapshot mode"),
        ("stream", None, "CTF, stream, tmpfs"),
        ("to-lttng", "lttng", "LTTng, snapshot mode; beside a native provider"),
        ("ftrace", "trace_marker", "ftrace; beside snprintf and a write to trace_marker"),
        ("usdt", "sdt", "TP_SDT=1, bpftrace counts; beside sys/sdt.h"),
        ("record", None, "sdt sink, bpftrace counts"),
        ("record-off", None, "sdt sink, nobody attached"),
        ("stats", None, "statistics"),
        ("stats-field", None, "statistics with a field's histogram"),
        ("marker", None, "marker to CTF, flight recorder"),
        ("both", None, "CTF, flight recorder, and statistics")]
OFF = [("ours", None, "tracepoint"),
       ("marker", None, "marker"),
       ("usdt", "sdt", "TP_SDT=1; beside sys/sdt.h")]


def measure(bench: Bench) -> Measured:
    measured = Measured(bench)
    bench.ours("marker", "marker.h")
    bench.ours("usdt", "ours.h", "-DTP_SDT=1")
    why = sessions.start(bench)
    if why:
        bench.absent.append(f"LTTng-UST does not record here: {why}.")
    with contextlib.ExitStack() as stack:
        ways = all_ways(bench, stack, not why)
        measured.group("on", f"An event {EVENT} to each sink, one thread", "loop 1", ways).measure(30000, count=4800)
        measured.groups["on"].show()
        off = {"nothing": Way("base", "nothing at all", "nothing"),
               **{name: Way("ours", f"tpgen: {label}", name) for name, _, label in OFF}}
        if "sdt" in bench.have:
            off["sdt"] = Way("plain", "sys/sdt.h", "sdt")
        measured.group("off", "Off, 32 sites in a row", "sites 1", off).measure(4800000, count=48000)
        measured.groups["off"].show()
    return measured


def all_ways(bench: Bench, stack: contextlib.ExitStack, lttng: bool) -> dict[str, Way]:
    def ours(label: str, output: str, program: str = "ours", pattern: str = "bench:*") -> Way:
        return Way("ours", f"tpgen: {label}", program, "-1 1000" if bench.quick else f"-1 {WARM}",
                   {"TP_ENABLE": pattern, "TP_OUTPUT": output})

    field = "field=bench:bench_event.number"
    ways = {"nothing": Way("base", "nothing at all", "nothing"),
            "fprintf": Way("plain", "fprintf of the same to /dev/null", "fprintf", "1"),
            "text": ours("text, to /dev/null", "text:/dev/null"),
            "flight": ours("CTF, flight recorder", FLIGHT),
            "stream": ours("CTF, stream, tmpfs", STREAM),
            "stats": ours("statistics", "stats:shm/stats"),
            "stats-field": ours("statistics with a field", f"stats:shm/stats,{field}"),
            "record-off": ours("sdt sink, nobody attached", "sdt:"),
            "marker": ours("marker to CTF, flight recorder", FLIGHT, "marker", "marker:*"),
            "both": ours("CTF, flight recorder, and statistics", f"{FLIGHT};stats:shm/stats")}
    if lttng:
        bench.run(["lttng", "enable-event", "-s", "snapshot", "-u", "bench:bench_event", "-c", "snapshot"])
        ways["lttng"] = Way("plain", "LTTng-UST, snapshot mode, native", "lttng-snapshot", f"-1 {WARM}")
        ways["to-lttng"] = ours("LTTng, snapshot mode", "lttng:")
    marker = stack.enter_context(trace_marker(bench))
    if marker:
        bench.subject("trace_marker", "trace_marker.h")
        ways["trace_marker"] = Way("plain", "snprintf, write to trace_marker", "trace_marker", "0", {"TRACE_MARKER": marker})
        ways["ftrace"] = ours("ftrace", f"ftrace:{os.path.dirname(marker)}")
    for name, program, probe in (("sdt", "sdt", "bench:event"), ("usdt", "usdt", "bench:bench_event"),
                                 ("record", "ours", "tp:record")):
        if program in bench.have | {"usdt"} and stack.enter_context(attached(bench, f"{program}-attached", program, probe)):
            ways[name] = (Way("plain", "sys/sdt.h, bpftrace counts", "sdt-attached") if name == "sdt" else
                          Way("ours", "tpgen: TP_SDT=1, bpftrace counts", "usdt-attached") if name == "usdt" else
                          ours("sdt sink, bpftrace counts", "sdt:", "ours-attached"))
    return ways


@contextlib.contextmanager
def trace_marker(bench: Bench) -> Iterator[str]:
    """The trace_marker of a trace buffer of our own; "" where the system lets nobody have one."""
    tracefs = bench.path("tracefs")
    os.mkdir(tracefs)
    if bench.quick or bench.run(["mount", "-t", "tracefs", "none", tracefs], fatal=False).returncode:
        if not bench.quick:
            bench.absent.append("ftrace is left out: tracefs can't be mounted.")
        yield ""
        return
    instance = f"{tracefs}/instances/tpgen-bench-{os.getpid()}"
    try:
        os.mkdir(instance)
        yield f"{instance}/trace_marker"
    finally:
        with contextlib.suppress(OSError):
            os.rmdir(instance)
        bench.run(["umount", tracefs])


@contextlib.contextmanager
def attached(bench: Bench, copy: str, program: str, probe: str) -> Iterator[bool]:
    """Whether bpftrace counts this probe of the program's copy, which is made for that."""
    shutil.copy(bench.path(program), bench.path(copy))
    if bench.quick or not shutil.which("bpftrace"):
        if not bench.quick:
            bench.absent.append(f"bpftrace on {probe} is left out: it is not installed.")
        yield False
        return
    script = f'usdt:{bench.path(copy)}:{probe} {{ @ = count(); }} BEGIN {{ printf("ready\\n"); }}'
    with subprocess.Popen(["bpftrace", "-e", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as tracer:
        assert tracer.stdout
        said = [tracer.stdout.readline()]
        while said[-1] not in ("", "ready\n"):
            said.append(tracer.stdout.readline())
        counts = said[-1] != ""
        if not counts:
            bench.absent.append(f"bpftrace on {probe} is left out: {''.join(said).strip()}")
        try:
            yield counts
        finally:
            tracer.send_signal(signal.SIGINT)
            tracer.communicate()


def table(measured: Measured) -> Table:
    result = Table("bench-sinks", NAMES, "ratio", {"own": "its own way"})
    instructions = measured.instructions("on")
    for group, rows, what in (("on", ROWS, "on"), ("off", OFF, "off")):
        results = measured.results(group)
        for ours, own, label in rows:
            if ours in results:
                result.line(f"{what}: {label}: ns", {"ours": results[ours], "own": results.get(own or "")}, of="own",
                            digits=1 if group == "on" else 3)
    for ours, own, label in ROWS:
        if instructions.get(ours) is not None:
            result.line(f"instructions: {label}", {"ours": instructions[ours], "own": instructions.get(own or "")},
                        of="own", digits=0)
    return result

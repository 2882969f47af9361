# SPDX-License-Identifier: MIT
"""Sinks: what each costs an event, beside the way of its tool without us."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from fractions import Fraction

import sessions
from goals import Measured, Table, Way
from record import FLIGHT, STREAM, WARM
from runner import Bench, read

NAMES = {"own": "its own way"}
EVENT = "{u64, u32, char[16]}"

# Of each row of the table: our way, the tool's own, and what they are.
ROWS = [("text", "fprintf", "text, to /dev/null; beside fprintf"),
        ("text-file", "fprintf-file", "text, to a file on tmpfs; beside fprintf"),
        ("flight", "lttng", "CTF, flight recorder; beside LTTng-UST's snapshot mode"),
        ("stream", None, "CTF, stream, tmpfs"),
        ("perfetto", None, "Perfetto, tmpfs"),
        ("to-lttng", "lttng", "LTTng, snapshot mode; beside a native provider"),
        ("ftrace", "trace_marker", "ftrace; beside snprintf and a write to trace_marker"),
        ("record", None, "sdt sink, nobody attached"),
        ("stats", None, "statistics"),
        ("stats-field", None, "statistics with a field's histogram"),
        ("marker", "like-marker", "marker to CTF, flight recorder; beside an event of a .tp file with its fields"),
        ("both", None, "CTF, flight recorder, and statistics"),
        ("accepted", "lttng-accepted", "CTF, flight recorder, a filter that accepts; beside LTTng-UST's"),
        ("hist", None, "a hit of a histogram: one key")]
GOALS = {"hist": 15}  # ns

# The same for both; ids of the events are below 77.
FILTERS = {"refused": "number >= 0 && id == 77", "accepted": "number >= 0 && id != 77"}
HIST = {"TP_TRIGGER": "bench:* hist:keys=id", "TP_HIST": "shm/hist"}
LATENCY = "latency:shm/latency,begin=bench:pair_begin,end=bench:pair_end,key=id"
ATTACHED = [("usdt", "sdt", "TP_SDT=1, bpftrace counts; beside sys/sdt.h"),
            ("record", None, "sdt sink, bpftrace counts"),
            ("latency", "sdt-latency", "latency of a pair, by a field; beside bpftrace's map on two USDT probes")]
# What bpftrace does.
COUNT = "usdt:COPY:PROBE { @ = count(); }"
MAP = ("usdt:COPY:bench:pair_begin { @begin[arg0] = nsecs; } "
       "usdt:COPY:bench:pair_end /@begin[arg0]/ { @ = hist(nsecs - @begin[arg0]); delete(@begin[arg0]); }")
OFF = [("ours", None, "tracepoint"),
       ("marker", None, "marker"),
       ("usdt", "sdt", "TP_SDT=1; beside sys/sdt.h")]


def measure(bench: Bench) -> Measured:
    measured = Measured(bench)
    bench.ours("marker", "marker.h")
    bench.write("like_marker.tp", read("like_marker.tp"))
    bench.tpgen("like_marker.tp")
    bench.ours("ours-like-marker", "ours.h", '-DEVENTS="like_marker.h"', "-DEVENT=bench_like_marker")
    bench.write("two_strings.tp", read("two_strings.tp"))
    bench.tpgen("two_strings.tp")
    bench.ours("ours-strings", "ours.h", '-DEVENTS="two_strings.h"', "-DEVENT=bench_strings")
    bench.ours("usdt", "ours.h", "-DTP_SDT=1")
    bench.write("pair.tp", read("pair.tp"))
    bench.tpgen("pair.tp")
    bench.ours("latency", "latency.h")
    if "sdt" in bench.have:
        bench.subject("sdt-latency", "sdt_latency.h")
    why = sessions.start(bench)
    if why:
        bench.absent.append(f"LTTng-UST does not record here: {why}.")
    with contextlib.ExitStack() as stack:
        ways = all_ways(bench, stack, not why)
        group(measured, "on", f"An event {EVENT} to each sink, one thread", "loop 1", ways, 30000, 4800)
        group(measured, "two", "The histogram, two threads on one key", "loop 2", {"hist": hist(bench)}, 3000000)
        # A breakpoint of the kernel's, which valgrind would take for its own: no instructions are counted.
        group(measured, "attached", "The same, while bpftrace counts", "loop 1", attached_ways(bench, stack), 30000)
    off = {name: Way("ours", f"tpgen: {label}", name) for name, _, label in OFF}
    if "sdt" in bench.have:
        off["sdt"] = Way("plain", "sys/sdt.h", "sdt")
    group(measured, "off", "Off, 32 sites in a row", "sites 1", off, 4800000, 48000)
    return measured


def group(measured: Measured, key: str, heading: str, shape: str, ways: dict[str, Way], events: int,
          count: int = 0) -> None:
    one = measured.group(key, heading, shape, {"nothing": Way("base", "nothing at all", "nothing"), **ways})
    one.measure(events, count)
    one.show()


def ours(bench: Bench, label: str, output: str, program: str = "ours", pattern: str = "bench:*") -> Way:
    return enabled(bench, label, program, {"TP_ENABLE": pattern, "TP_OUTPUT": output})


def hist(bench: Bench) -> Way:
    return enabled(bench, "histogram, one key", "ours", HIST)


def enabled(bench: Bench, label: str, program: str, environment: dict[str, str]) -> Way:
    return Way("ours", f"tpgen: {label}", program, "-1 1000" if bench.quick else f"-1 {WARM}", environment)


def all_ways(bench: Bench, stack: contextlib.ExitStack, lttng: bool) -> dict[str, Way]:
    field = "field=bench:bench_event.number"
    ways = {"fprintf": Way("plain", "fprintf of the same to /dev/null", "fprintf", "1"),
            "text": ours(bench, "text, to /dev/null", "text:/dev/null"),
            "fprintf-file": Way("plain", "fprintf of the same to a file, tmpfs", "fprintf", "1",
                                {"FPRINTF_FILE": "shm/lines"}),
            "text-file": ours(bench, "text, to a file, tmpfs", "text:shm/text"),
            "flight": ours(bench, "CTF, flight recorder", FLIGHT),
            "stream": ours(bench, "CTF, stream, tmpfs", STREAM),
            "perfetto": ours(bench, "Perfetto, tmpfs", "perfetto:shm/perfetto"),
            "stats": ours(bench, "statistics", "stats:shm/stats"),
            "stats-field": ours(bench, "statistics with a field", f"stats:shm/stats,{field}"),
            "record": ours(bench, "sdt sink, nobody attached", "sdt:"),
            "like-marker": ours(bench, "CTF, flight recorder, with the marker's fields", FLIGHT, "ours-like-marker"),
            "marker": ours(bench, "marker to CTF, flight recorder", FLIGHT, "marker", "marker:*"),
            "hist": hist(bench),
            "both": ours(bench, "CTF, flight recorder, and statistics", f"{FLIGHT};stats:shm/stats")}
    for name, expression in FILTERS.items():
        ways[name] = ours(bench, f"CTF, flight recorder, {name} by a filter", FLIGHT, pattern=f"bench:* if {expression}")
        if lttng:
            bench.lttng(f"lttng-{name}", "lttng.h", name)
            bench.run(["lttng", "enable-event", "-s", "snapshot", "-u", f"bench:{name}", "-c", "snapshot",
                       "--filter", expression])
            ways[f"lttng-{name}"] = Way("plain", f"LTTng-UST, snapshot mode, {name} by a filter", f"lttng-{name}", f"-1 {WARM}")
    refused = FILTERS["refused"]
    ways["strings-refused"] = ours(bench, "CTF, flight recorder, two strings, refused", FLIGHT, "ours-strings", f"bench:* if {refused}")
    if lttng:
        bench.lttng("lttng-strings", "lttng.h", "strings")
        bench.run(["lttng", "enable-event", "-s", "snapshot", "-u", "bench:strings", "-c", "snapshot", "--filter", refused])
        ways["lttng-strings"] = Way("plain", "LTTng-UST, snapshot mode, two strings, refused", "lttng-strings", f"-1 {WARM}")
        bench.run(["lttng", "enable-event", "-s", "snapshot", "-u", "bench:bench_event", "-c", "snapshot"])
        ways["lttng"] = Way("plain", "LTTng-UST, snapshot mode, native", "lttng-snapshot", f"-1 {WARM}")
        ways["to-lttng"] = ours(bench, "LTTng, snapshot mode", "lttng:")
    marker = stack.enter_context(trace_marker(bench))
    if marker:
        bench.subject("trace_marker", "trace_marker.h")
        ways["trace_marker"] = Way("plain", "snprintf, write to trace_marker", "trace_marker", "0",
                                   {"TRACE_MARKER": marker})
        ways["ftrace"] = ours(bench, "ftrace", f"ftrace:{os.path.dirname(marker)}")
    return ways


def attached_ways(bench: Bench, stack: contextlib.ExitStack) -> dict[str, Way]:
    ways = {"sdt": ("sdt", "bench:event", Way("plain", "sys/sdt.h", "sdt-attached")),
            "usdt": ("usdt", "bench:bench_event", Way("ours", "tpgen: TP_SDT=1", "usdt-attached")),
            "record": ("ours", "tp:record", ours(bench, "sdt sink", "sdt:", "ours-attached"))}
    found = {name: way for name, (program, probe, way) in ways.items()
             if program in bench.have | {"usdt"} and stack.enter_context(attached(bench, way.program, program, probe))}
    found["latency"] = ours(bench, "latency of a pair", LATENCY, "latency")
    if "sdt" in bench.have and stack.enter_context(attached(bench, "sdt-latency-attached", "sdt-latency", "pair_begin", MAP)):
        found["sdt-latency"] = Way("plain", "sys/sdt.h, bpftrace's map", "sdt-latency-attached")
    return found


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
def attached(bench: Bench, copy: str, program: str, probe: str, actions: str = COUNT) -> Iterator[bool]:
    """Whether bpftrace does this at probes of the program's copy, which is made for that."""
    shutil.copy(bench.path(program), bench.path(copy))
    if bench.quick or not shutil.which("bpftrace"):
        if not bench.quick:
            bench.absent.append(f"bpftrace on {probe} is left out: it is not installed.")
        yield False
        return
    script = actions.replace("COPY", bench.path(copy)).replace("PROBE", probe) + ' BEGIN { printf("ready\\n"); }'
    with subprocess.Popen(["bpftrace", "-e", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as tracer:
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
    for key, rows, digits in (("on", ROWS, 1), ("attached", ATTACHED, 1), ("off", OFF, 3)):
        results = measured.results(key)
        for way, own, label in rows:
            if way in results:
                result.line(f"{'off: ' if key == 'off' else ''}{label}: ns",
                            {"ours": results[way], "own": results.get(own or "")}, goal=GOALS.get(way),
                            of="own" if own else "", digits=digits)
    on = measured.results("on")
    result.line("latency of a pair, by a field: ns", {"ours": measured.results("attached")["latency"]}, goal=60)
    result.line("a hit of a histogram, two threads on one key: ns", {"ours": measured.results("two")["hist"]})
    result.line("CTF, an event that a filter refuses; beside LTTng-UST's with the same filter: ns",
                {"ours": on.get("refused"), "own": on.get("lttng-refused")}, goal=Fraction(1, 2), of="own")
    result.line("CTF, the same for an event with two strings: ns",
                {"ours": on.get("strings-refused"), "own": on.get("lttng-strings")}, goal=Fraction(1, 2), of="own")
    if on.get("accepted") is not None and on.get("flight") is not None:
        result.line("CTF, what a filter that accepts adds: ns", {"ours": on["accepted"] - on["flight"]}, goal=8)
    counted = measured.instructions("on")
    for way, own, label in ROWS:
        if counted.get(way) is not None:
            result.line(f"{label}: instructions", {"ours": counted[way], "own": counted.get(own or "")}, of="own",
                        digits=0)
    return result

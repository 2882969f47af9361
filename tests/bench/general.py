# SPDX-License-Identifier: MIT
"""The tables of "make bench" that have no goals: printing, what is paid once, and tpgen itself."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable

from runner import HERE, Bench, Group, read, text_of


def measure(bench: Bench) -> None:
    print_text(bench, 1, "Print {u64, u32, char[16]} to one FILE, /dev/null, with a full buffer, one thread")
    print_text(bench, 2, "The same, two threads at once, each")
    print_lines(bench, 1, "The same, line-buffered (a system call a line), one thread")
    print_lines(bench, 2, "The same, line-buffered, two threads at once, each")
    once(bench)
    generate(bench)


def print_text(bench: Bench, threads: int, heading: str) -> None:
    group = Group(bench, heading, "ns")
    group.row("peer", "fprintf", f"fprintf loop {threads}")
    group.row("ours", "tpgen: tp_text_sink()", f"ours loop {threads} -2")
    group.measure(75000, count=15000 if threads == 1 else 0)
    group.show()


def print_lines(bench: Bench, threads: int, heading: str) -> None:
    """As the environment opens a text sink, so that one sees what a program does while it runs."""
    group = Group(bench, heading, "ns")
    group.row("peer", "fprintf", f"fprintf loop {threads} 1")
    group.row("ours", "tpgen: TP_OUTPUT=text:FILE", f"ours loop {threads} -1", TP_OUTPUT="text:/dev/null")
    group.measure(75000)
    group.show()


def once(bench: Bench) -> None:
    """From its making to its end. A thread that is traced has a file of its own in a trace."""
    bench.compile("once", os.path.join(HERE, "once.c"), bench.library, "-lurcu-bp", "-pthread")
    for what, heading in (("threads", "A thread that hits once, from its making to its end"),
                          ("forks", "A fork of a process that is traced, until the child has ended")):
        group = Group(bench, heading, "ns")
        group.row("plain", "nothing is on", f"once {what} off")
        group.row("ours", "a probe", f"once {what} probe")
        group.row("ours", "text:/dev/null", f"once {what} on", TP_ENABLE="*", TP_OUTPUT="text:/dev/null")
        group.row("ours", "ctf:DIR,mode=flight", f"once {what} on", TP_ENABLE="*", TP_OUTPUT="ctf:trace,mode=flight")
        group.row("ours", "stats:FILE", f"once {what} on", TP_ENABLE="*", TP_OUTPUT="stats:shm/stats")
        group.measure(2000)
        group.show()


# ---- tpgen itself ----

def many_events(count: int) -> str:
    """A .tp file of events that differ a little, lest the compiler make one of them."""
    event = read("bench.tp").partition("TRACE_EVENT")
    events = ((event[1] + event[2]).replace("bench_event", f"many_{i}").replace("= number;", f"= number + {i};", 1)
              for i in range(count))
    return "#define TRACE_SYSTEM many\n#include <stdint.h>\n#include <string.h>\n" + "\n".join(events)


def many_lttng_events(count: int) -> str:
    """The same for LTTng-UST, whose macros do tpgen's work."""
    header = re.sub(r"LTTNG_UST_TRACEPOINT_EVENT_INSTANCE\(.*\n.*\n", "", read("subjects/lttng_events.h"))
    header = header.replace("lttng_events.h", "many_lttng.h")
    before, event, after = re.split(r"(LTTNG_UST_TRACEPOINT_EVENT_CLASS\((?:.*\n)*?\)\n)", header)
    event = event.replace("EVENT_CLASS", "EVENT", 1)
    return before + "".join(event.replace("bench, event", f"bench, many_{i}", 1)
                            .replace("number, number)", f"number, number + {i})", 1) for i in range(count)) + after


def generate(bench: Bench) -> None:
    # The compiler's time grows with the events, so that it is given fewer of them.
    generated, compiled, sizes = (100, 10, (10,)) if bench.quick else (1000, 200, (10, 100, 1000, 2500))
    compiler = bench.compiler[0]
    bench.write("many.tp", many_events(generated))
    bench.write("some.tp", many_events(compiled))
    bench.tpgen("some.tp")
    bench.write("some.c", '#define CREATE_TRACE_POINTS\n#include "some.h"\n')
    bench.write("many_lttng.h", many_lttng_events(compiled))
    bench.write("some_lttng.c", "#define LTTNG_UST_TRACEPOINT_CREATE_PROBES\n#define LTTNG_UST_TRACEPOINT_DEFINE\n"
                '#include "many_lttng.h"\n')

    def again() -> None:
        """tpgen leaves a file alone that would not change."""
        if os.path.exists(bench.path("many.h")):
            os.remove(bench.path("many.h"))
        bench.tpgen("many.tp")

    group = Group(bench, "Many events like that in one file, an event", "ms")
    steps = [(group.row("plain", f"tpgen gen, {generated} events"), generated, again),
             (group.row("ours", f"{compiler} -O2 of what it generates, {compiled} events"), compiled,
              lambda: bench.compile("some.o", "-c", "some.c"))]
    if "lttng" in bench.have:
        steps.append((group.row("peer", f"{compiler} -O2 of LTTng-UST's macros, {compiled} events"), compiled,
                      lambda: bench.compile("some_lttng.o", "-c", "some_lttng.c")))
    for _ in range(min(bench.rounds, 3)):
        for row, events, step in steps:
            row.values.append(milliseconds(step) / events)
    group.notes.append("At most three rounds.")
    group.show()

    for heading, section in (("Code of the same, without call sites, an event", "code"),
                             ("Code, constants and unwind tables (the text of size) of the same, an event", "text"),
                             ("Data of the same, an event", "data")):
        group = Group(bench, heading, "bytes")
        for kind, label, name in (("ours", "tpgen", "some.o"), ("peer", "LTTng-UST", "some_lttng.o")):
            if os.path.exists(bench.path(name)):
                group.row(kind, label).values.append(size(bench.path(name), section) / compiled)
        group.show()

    print(f"\nFrom 10 to {sizes[-1]:,} events in one file, an event\n  {'events':>10} {'tpgen gen, ms':>16} "
          f"{compiler + ' -O2, ms':>16}")
    bench.write("many.c", '#define CREATE_TRACE_POINTS\n#include "many.h"\n')
    for events in sizes:
        bench.write("many.tp", many_events(events))
        print(f"  {events:10} {milliseconds(again) / events:16.2f} "
              f"{milliseconds(lambda: bench.compile('many.o', '-c', 'many.c')) / events:16.2f}", flush=True)
    print("  One round each, with the start of both.")


def milliseconds(step: Callable[[], object]) -> float:
    before = time.monotonic()
    step()
    return (time.monotonic() - before) * 1000


def size(path: str, what: str) -> int:
    if what == "code":
        return sum(int(bytes_) for bytes_ in re.findall(r"^\.text\S*\s+(\d+)", text_of(["size", "-A", path]), re.M))
    return int(text_of(["size", path]).splitlines()[1].split()[["text", "data"].index(what)])

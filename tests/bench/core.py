# SPDX-License-Identifier: MIT
"""The core's tables: sites that are off, sites that are on, and switching; and the goals that they are held against."""

from __future__ import annotations

import os
import re
from fractions import Fraction
from functools import partial

from goals import Measured, Table, Way
from runner import HERE, NAMES, Bench, read, text_of

PROGRAMS = {**{name: name for name in NAMES}, "load": "ours-load"}


def measure_group(measured: Measured, key: str, heading: str, arguments: str, programs: dict[str, str], events: int,
                  count: int = 0, note: str = "", unit: str = "ns") -> None:
    """Of those ways to trace that are here. The arguments are the shape, the threads, and the subject's."""
    kinds = {"nothing": "base", "ours": "ours", "load": "ours"}
    group = measured.group(key, heading, arguments,
                           {name: Way(kinds.get(name, "peer"), NAMES[name], program)
                            for name, program in programs.items() if name in measured.bench.have}, unit)
    group.notes += [note] if note else []
    group.measure(events, count)
    group.show()


def measure(bench: Bench) -> Measured:
    prepare(bench)
    measured = Measured(bench)
    group = partial(measure_group, measured)
    on = {name: PROGRAMS[name] for name in ("flag", "lttng", "ours", "load")}
    group("sites", "Off: 32 sites in straight-line code, a site, above nothing at all", "sites 1", PROGRAMS,
          events=24000000, count=480000)
    group("leaf", "Off: a site in a leaf function, a call, above nothing at all", "leaf 1", PROGRAMS,
          events=6000000, count=30000,
          note="Where times differ by less than their noise, the instructions tell.")
    group("one", "On: one empty probe, with its loop", "loop 1 1", on, events=3000000, count=30000,
          note="A plain flag, and a direct call.")
    group("three", "On: three empty probes, with their loop", "loop 1 3", {**on, "flag": "flag3"},
          events=3000000, count=30000, note="A plain flag, and three direct calls.")
    group("two", "On: one empty probe, two threads at once, beside each alone", "scale 2 1", on, events=6000000,
          unit="×")
    switch = {"ours": "switch", "load": "switch-load"}
    many = f"{bench.sites:,}"
    group("switch1", "Switch on the one site of a tracepoint", "loop 1 1", switch, events=15)
    group("switch2", f"Switch on the {many} sites of a tracepoint", "loop 1 2", switch, events=15)
    group("switch3", f"Switch on {many} tracepoints of a site each, through tp_enable()", "loop 1 3", switch,
          events=15)
    register = {"lttng": "register-lttng", "ours": "register", "load": "register-load"}
    group("register0", "Register, unregister and synchronize: no other thread", "loop 1 0", register,
          events=450)
    group("register1", "Register, unregister and synchronize: another thread sleeps", "loop 1 1", register,
          events=450)
    group("register2", "Register, unregister and synchronize: another thread is in a second probe",
          "loop 1 2", register, events=450,
          note="It has a processor of its own, and is seen to run before each time.")
    return measured


def prepare(bench: Bench) -> None:
    bench.ours("register", "register.h", '-DTRACER="ours.h"')
    if "lttng" in bench.have:
        bench.lttng("register-lttng", "register.h", "off", '-DTRACER="lttng.h"')
    each = [f"switched_each_{i}" for i in range(bench.sites)]
    bench.write("switched.tp", "#define TRACE_SYSTEM switched\n#include <stdint.h>\n"
                "DECLARE_EVENT_CLASS(switched_class, TP_PROTO(uint64_t number), TP_ARGS(number),\n"
                "\tTP_STRUCT__entry(__field(uint64_t, number)), TP_fast_assign(__entry->number = number;),\n"
                "\tTP_printk(\"%llu\", (unsigned long long)__entry->number));\n" +
                "".join(f"DEFINE_EVENT(switched_class, {name}, TP_PROTO(uint64_t number), TP_ARGS(number));\n"
                        for name in ["switched_one", "switched_same", *each]))
    bench.tpgen("switched.tp")
    bench.write("switched_sites.h", "".join(f"trace_{name}(number);\n" for name in each))
    bench.ours("switch", "switch.h")


# ---- What objects tell ----

def sections(path: str) -> dict[str, int]:
    """Bytes of code, of code that was put away from it, and of all else that is loaded; and of SDT's note."""
    sizes = {"hot": 0, "cold": 0, "tables": 0}
    for name, kind, size, flags in re.findall(r"^ +\[ *\d+\] (\S+) +(\w+) +\w+ \w+ (\w+) \w+ +(\w*)",
                                              text_of(["readelf", "-SW", path]), re.M):
        if "X" in flags:
            sizes["cold" if re.match(r"\.text\.(unlikely|cold)", name) else "hot"] += int(size, 16)
        elif "A" in flags or kind == "NOTE":
            sizes["tables"] += int(size, 16)
    return sizes


def bytes_a_site(bench: Bench) -> dict[str, dict[str, float | None]]:
    """A site's share of what an object with many has more than one without; and of what is executed there, if off."""
    result: dict[str, dict[str, float | None]] = {"hot": {}, "executed": {}, "cold": {}, "tables": {}}
    keys = {"load": ["-DTP_STATIC_KEYS=0"], "flag": ["-DCALLS=1"], "lttng": ["-DEVENT=off"]}
    for name in NAMES:
        if name not in bench.have or name == "nothing":
            continue
        sizes = []
        for sites in ("-DNO_SITES", "-DMANY_SITES"):
            bench.subject("sites.o", "ours.h" if name == "load" else f"{name}.h", "-c", *keys.get(name, []), sites)
            sizes.append(sections(bench.path("sites.o")))
        executed = sum(length for _, length in hot_path(bench.path("sites.o"), "many_sites"))
        result["executed"][name] = round(executed / bench.sites)
        for part in sizes[0]:
            result[part][name] = round((sizes[1][part] - sizes[0][part]) / bench.sites)
    return result


def saved_registers(bench: Bench) -> dict[str, float | None]:
    """How many of them leaf() puts on the stack, if its site is off."""
    return {name: saved(hot_path(bench.path(program), "leaf")) for name, program in PROGRAMS.items()
            if name in bench.have}


def leaves(bench: Bench) -> dict[str, dict[str, float | None]]:
    """Instructions that a site adds to the hot path of each function of leaves.c."""
    bench.write("leaves.tp", read("leaves.tp"))
    bench.tpgen("leaves.tp")
    ours = ['-DLEAVES="leaves.h"', "-DREAL=trace_leaves_real", "-DSIX=trace_leaves_six"]
    ways = {"nothing": [], "ours": ours, "load": [*ours, "-DTP_STATIC_KEYS=0"], "lttng": ['-DLEAVES="lttng_leaves.h"']}
    lengths: dict[str, dict[str, int]] = {"leaf_real": {}, "leaf_six": {}}
    for name in bench.have & ways.keys():
        bench.compile("leaves.o", "-c", *ways[name], os.path.join(HERE, "leaves.c"))
        for function, of in lengths.items():
            of[name] = len(hot_path(bench.path("leaves.o"), function))
    return {function: {name: of[name] - of["nothing"] for name in of if name != "nothing"}
            for function, of in lengths.items()}


def saved(path: list[tuple[str, int]]) -> int:
    return sum(bool(re.match(r"push|mov\w*\s+%\w+,\S*\(%rsp\)|st[pr]\s.*\[sp", what)) for what, _ in path)


def hot_path(program: str, function: str) -> list[tuple[str, int]]:
    """The instructions of a call in which no conditional branch is taken, and their lengths."""
    # In an object file, all sections begin at 0.
    text = next(text for text in text_of(["objdump", "-d", "--no-show-raw-insn", program]).split("\nDisassembly of ")
                if f" <{function}>:" in text)
    code = [(int(at, 16), what) for at, what in re.findall(r"^ *([0-9a-f]+):\t(.*)", text, re.M)]
    lengths = {at: (what, code[i + 1][0] - at if i + 1 < len(code) else 1) for i, (at, what) in enumerate(code)}
    start = re.search(rf"^([0-9a-f]+) <{function}>:", text, re.M)
    at = int(start[1], 16) if start else -1
    path: list[tuple[str, int]] = []
    while at in lengths:
        path.append(lengths.pop(at))
        jump = re.match(r"(?:jmp|b)\s+([0-9a-f]+)", path[-1][0])
        if path[-1][0].startswith("ret"):
            break
        at = int(jump[1], 16) if jump else at + path[-1][1]
    return path


# ---- The goals ----

def table(measured: Measured) -> Table:
    bench = measured.bench
    result = Table("bench-core", NAMES, "to LTTng-UST", {"load": "load and branch", "lttng": "LTTng-UST", "sdt": "SDT",
                                                         "flag": "flag", "nothing": "nothing"})
    line = result.line
    size, more = bytes_a_site(bench), leaves(bench)
    one = measured.results("one")
    line("off, 32 sites in a row: ns a site", measured.results("sites"), 0.4, "lttng", digits=3)
    line("… instructions a site", measured.instructions("sites"), 1)
    line("off, in a leaf function: more instructions", measured.instructions("leaf"), 4)
    line("… registers saved on the hot path", saved_registers(bench), 0, digits=0)
    line("… with a double", more["leaf_real"], 1, digits=0)
    line("… with six arguments", more["leaf_six"], 1, digits=0)
    line("bytes a site: hot", size["hot"], 5, digits=0)
    line("… of these, executed when off", size["executed"], digits=0)
    line("… cold", size["cold"], 32, digits=0)
    line("… tables", size["tables"], 12, digits=0)
    line("on, one empty probe: ns", one, Fraction(1, 5), "lttng")
    line("… instructions", measured.instructions("one"))
    line("on, three empty probes: ns", measured.results("three"), Fraction(1, 3), "lttng")
    line("… instructions", measured.instructions("three"))
    line("on, two threads: throughput over one", measured.results("two"), 0.975, "flag", least=True, digits=2)
    line("switch on one site: µs", measured.scaled("switch1", 1000), 3, digits=2)
    line(f"… {bench.sites:,} sites of a tracepoint: µs", measured.scaled("switch2", 1000), 100)
    line(f"… {bench.sites:,} tracepoints, by tp_enable(): µs", measured.scaled("switch3", 1000))
    line("register, unregister, synchronize: µs", measured.scaled("register1", 1000), 3, digits=2)
    return result

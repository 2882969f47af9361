# SPDX-License-Identifier: MIT
"""The core's tables: sites that are off, sites that are on, and switching; and the goals that they are held against."""

from __future__ import annotations

import os
import re
from fractions import Fraction

from runner import NAMES, ROOT, Bench, Group, Row, machine, text_of

PROGRAMS = {**{name: name for name in NAMES}, "load": "ours-load"}
PERFORMANCE = os.path.join(ROOT, "docs/performance.md")


class Measured:
    """Groups, of whose rows there is one for each of NAMES, or fewer."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.rows: dict[str, dict[str, Row]] = {}
        self.groups: dict[str, Group] = {}

    def group(self, key: str, heading: str, arguments: str, programs: dict[str, str], events: int, count: int = 0,
              note: str = "") -> None:
        group = self.groups[key] = Group(self.bench, heading, "ns")
        kinds = {"nothing": "base", "ours": "ours", "load": "ours"}
        self.rows[key] = {name: group.row(kinds.get(name, "peer"), NAMES[name], f"{program} {arguments}")
                          for name, program in programs.items() if name in self.bench.have}
        group.notes += [note] if note else []
        group.measure(events, count)
        group.show()

    def results(self, key: str) -> dict[str, float | None]:
        """In the group's unit; of nothing at all, what the others are above."""
        return {name: self.groups[key].result(row) for name, row in self.rows[key].items()}

    def microseconds(self, key: str) -> dict[str, float | None]:
        return {name: row.median / 1000 for name, row in self.rows[key].items()}

    def instructions(self, key: str) -> dict[str, float | None]:
        return {name: self.groups[key].counted(row) for name, row in self.rows[key].items()}


def measure(bench: Bench) -> Measured:
    prepare(bench)
    measured = Measured(bench)
    on = {name: PROGRAMS[name] for name in ("flag", "lttng", "ours", "load")}
    measured.group("sites", "Off: 32 sites in straight-line code, a site, above nothing at all", "sites 1", PROGRAMS,
                   events=24000000, count=480000)
    measured.group("leaf", "Off: a site in a leaf function, a call, above nothing at all", "leaf 1", PROGRAMS,
                   events=6000000, count=30000,
                   note="Where times differ by less than their noise, the instructions tell.")
    measured.group("one", "On: one empty probe, with its loop", "loop 1 1", on, events=3000000, count=30000,
                   note="A plain flag, and a direct call.")
    measured.group("three", "On: three empty probes, with their loop", "loop 1 3", {**on, "flag": "flag3"},
                   events=3000000, count=30000, note="A plain flag, and three direct calls.")
    measured.group("two", "On: one empty probe, two threads at once, each, with its loop", "loop 2 1", on,
                   events=6000000)
    switch = {"ours": "switch", "load": "switch-load"}
    many = f"{bench.sites:,}"
    measured.group("switch1", "Switch on the one site of a tracepoint", "loop 1 1", switch, events=15)
    measured.group("switch2", f"Switch on the {many} sites of a tracepoint", "loop 1 2", switch, events=15)
    measured.group("switch3", f"Switch on {many} tracepoints of a site each, through tp_enable()", "loop 1 3", switch,
                   events=15)
    register = {"lttng": "register-lttng", "ours": "register", "load": "register-load"}
    measured.group("register0", "Register, unregister and synchronize: no other thread", "loop 1 0", register,
                   events=450)
    measured.group("register1", "Register, unregister and synchronize: another thread sleeps", "loop 1 1", register,
                   events=450)
    measured.group("register2", "Register, unregister and synchronize: another thread is in a second probe",
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

HEADINGS = ["", "goal", "tpgen", "met?", "to LTTng-UST", "load and branch", "LTTng-UST", "SDT", "flag", "nothing"]


def line(what: str, figures: dict[str, float | None], goal: float | Fraction | None = None, of: str = "",
         least: bool = False, digits: int = 1) -> list[str]:
    """A row of the table. The goal is a bound, from above if not the least; or, with of, one on the ratio to a peer."""
    shown = {name: None if value is None else round(value, digits) for name, value in figures.items()}
    ours, lttng = figures.get("ours"), figures.get("lttng")
    ratio = ours / lttng if ours is not None and lttng and not least else None
    held = ratio if of else shown.get("ours")
    verdict = "" if goal is None else "not known" if held is None else \
        "met" if (held >= goal if least else held <= goal) else "missed"
    bound = "" if goal is None else f"{'≥' if least else '≤'} {goal}{of and ' × ' + NAMES[of]}"

    def cell(name: str) -> str:
        value = shown.get(name)
        return "–" if value is None else f"{value:.{digits}f}"

    return [what, bound, cell("ours"), verdict, "–" if ratio is None else f"{ratio:.2f}",
            *map(cell, ("load", "lttng", "sdt", "flag", "nothing"))]


def lines(measured: Measured) -> list[list[str]]:
    bench = measured.bench
    size = bytes_a_site(bench)
    one, two = measured.results("one"), measured.results("two")
    scale = {name: 2 * (one[name] or 0) / (two[name] or 1) for name in two}
    return [
        line("off, 32 sites in a row: ns a site", measured.results("sites"), 0.4, "lttng", digits=3),
        line("… instructions a site", measured.instructions("sites"), 1),
        line("off, in a leaf function: more instructions", measured.instructions("leaf"), 4),
        line("… registers saved on the hot path", saved_registers(bench), 0, digits=0),
        line("bytes a site: hot", size["hot"], 5, digits=0),
        line("… of these, executed when off", size["executed"], digits=0),
        line("… cold", size["cold"], 32, digits=0),
        line("… tables", size["tables"], 12, digits=0),
        line("on, one empty probe: ns", one, Fraction(1, 5), "lttng"),
        line("… instructions", measured.instructions("one")),
        line("on, three empty probes: ns", measured.results("three"), Fraction(1, 3), "lttng"),
        line("… instructions", measured.instructions("three")),
        line("on, two threads: throughput over one", dict(scale), 1.95, least=True, digits=2),
        line("switch on one site: µs", measured.microseconds("switch1"), 3, digits=2),
        line(f"… {bench.sites:,} sites of a tracepoint: µs", measured.microseconds("switch2"), 100),
        line(f"… {bench.sites:,} tracepoints, by tp_enable(): µs", measured.microseconds("switch3")),
        line("register, unregister, synchronize: µs", measured.microseconds("register1"), 3, digits=2),
    ]


def report(bench: Bench, measured: Measured, update: bool) -> None:
    """Prints the goals' table; if asked, docs/performance.md gets it."""
    table = [HEADINGS, *lines(measured)]
    widths = [max(len(row[i]) for row in table) for i in range(len(HEADINGS))]
    table.insert(1, ["-" * width for width in widths])
    table[1][2:] = [dashes[:-1] + ":" if i != 1 else dashes for i, dashes in enumerate(table[1][2:])]
    text = "\n".join("| " + " | ".join(f"{cell:{width}}" if i in (0, 1, 3) else f"{cell:>{width}}" for i, (cell, width)
                                       in enumerate(zip(row, widths))) + " |" for row in table)
    sites = "static keys" if "tp_sites" in text_of(["readelf", "-SW", bench.path("ours")]) else "load and branch"
    text = (f"{machine(bench.compiler[0])}; medians of {bench.rounds} rounds; tpgen's sites: {sites}.\n" +
            "".join(f"{note}\n" for note in bench.absent) + f"\n{text}\n")
    print(f"\n{text}", end="")
    if update:
        with open(PERFORMANCE, encoding="utf-8") as file:
            document = file.read()
        with open(PERFORMANCE, "w", encoding="utf-8") as file:
            file.write(updated(document, text))
        print(f"{os.path.relpath(PERFORMANCE, ROOT)} has it now.")


def updated(document: str, text: str) -> str:
    """The document with the text between its marks."""
    before, begin, rest = re.split(r"(<!-- begin: .*-->\n)", document, maxsplit=1)
    return f"{before}{begin}\n{text}\n{''.join(rest.partition('<!-- end -->')[1:])}"

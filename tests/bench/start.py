# SPDX-License-Identifier: MIT
"""The start of a program with many tracepoints of which none is enabled, and memory; and the goals for them."""

from __future__ import annotations

import os
import re
import subprocess

from core import bytes_a_site
from general import many_events, many_lttng_events
from goals import Figures, Measured, Table, Way
from record import WARM
from runner import HERE, Bench, text_of

NAMES = {"lttng": "LTTng-UST"}
FLIGHT = "ctf:shm/trace,mode=flight"
THREADS = 8
MAIN = os.path.join(HERE, "start.c")
# The programs, by their kind, and how each is linked from the same objects.
KINDS: dict[str, list[str]] = {
    "ours": [], "relr": ["-Wl,-z,pack-relative-relocs"], "fixed": ["-no-pie"],
    "least": [f"-Wl,--wrap=tp_module_{word}" for word in ("announce", "unload")]}
LABELS = {"ours": "tpgen", "relr": "tpgen, -z pack-relative-relocs", "fixed": "tpgen, -no-pie",
          "least": "relocations alone", "lttng": "LTTng-UST", "nothing": "nothing at all"}
PLAIN = {"lttng": "peer", "nothing": "base"}


class Started(Measured):
    """Besides times: what a program of each kind and number of tracepoints does and has."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        # Tracepoints: no more than tpgen takes in one file, and many files of those.
        self.sizes = (1, bench.sites, (2 if bench.quick else 10) * bench.sites)
        self.kinds = [kind for kind in LABELS if kind != "lttng" or kind in bench.have]

    def milliseconds(self, size: int) -> Figures:
        return {kind: ns and ns / 1e6 for kind, ns in self.results(str(size)).items()}

    def each(self, figure: dict[str, dict[int, float]], size: int) -> Figures:
        """A tracepoint's share of what a program with so many has more than one with one."""
        return {kind: (of[size] - of[1]) / (size - 1) for kind, of in figure.items()}


def measure(bench: Bench) -> Started:
    measured = Started(bench)
    build(measured)
    for size in measured.sizes:
        ways = {kind: Way(PLAIN.get(kind, "ours"), LABELS[kind], "spawn", program(kind, size))
                for kind in measured.kinds}
        heading = f"Start and end of a program with {size:,} tracepoint{'s' * (size > 1)}, more than of one without"
        group = measured.group(str(size), heading, "", ways)
        group.measure(30)
        group.show()
    return measured


def program(kind: str, size: int) -> str:
    return "start-nothing" if kind == "nothing" else f"start-{kind}-{size}"


# ---- Programs ----

def build(measured: Started) -> None:
    """Of files with as many events each as there are in the middle size, and of one with a single event."""
    bench = measured.bench
    one, many, most = measured.sizes
    parts = {one: ["one"], many: ["0"], most: [str(i) for i in range(most // many)]}
    bench.compile("spawn", os.path.join(HERE, "spawn.c"))
    bench.compile("start-nothing", MAIN)
    for part in ["one", *parts[most]]:
        count = one if part == "one" else many
        our_part(bench, part, count)
        if "lttng" in measured.kinds:
            lttng_part(bench, part, count)
    for size, names in parts.items():
        for kind, flags in KINDS.items():
            our_program(bench, program(kind, size), names, *flags)
        if "lttng" in measured.kinds:
            bench.compile(program("lttng", size), MAIN, *(f"lttng-{name}.o" for name in names), "-llttng-ust",
                          "-llttng-ust-tracepoint", "-ldl")


def our_part(bench: Bench, part: str, count: int) -> None:
    """With a site of each."""
    bench.write(f"many{part}.tp", many_events(count).replace("many", f"many{part}"))
    bench.tpgen(f"many{part}.tp")
    hits = "".join(f"\ttrace_many{part}_{i}(number, id, name);\n" for i in range(count))
    sites = f"void sites_{part}(uint64_t number, uint32_t id, const char *name)"
    bench.write(f"part-{part}.c", f'#define CREATE_TRACE_POINTS\n#include "many{part}.h"\n{sites};\n{sites}\n'
                f"{{\n{hits}}}\n")
    bench.compile(f"part-{part}.o", "-c", f"part-{part}.c")


def our_program(bench: Bench, name: str, parts: list[str], *flags: str) -> None:
    bench.compile(name, "-DHAS_SINKS", MAIN, *(f"part-{part}.o" for part in parts), *flags, bench.library,
                  "-lurcu-bp", "-pthread")


def lttng_part(bench: Bench, part: str, count: int) -> None:
    bench.write(f"many{part}_lttng.h", many_lttng_events(count).replace("many", f"many{part}")
                .replace("bench", f"bench{part}"))
    bench.write(f"lttng-{part}.c", "#define LTTNG_UST_TRACEPOINT_CREATE_PROBES\n#define LTTNG_UST_TRACEPOINT_DEFINE\n"
                f'#include "many{part}_lttng.h"\n')
    bench.compile(f"lttng-{part}.o", "-O0", "-c", f"lttng-{part}.c")  # none of it runs, and the compiler takes longer


# ---- What a program does ----

def instructions(bench: Bench, name: str) -> float:
    said = bench.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"./{name}"]).stderr
    counted = re.search(r" Collected : (\d+)", said)
    assert counted, said
    return float(counted[1])


def relocations(bench: Bench, name: str) -> float:
    """Those that the dynamic loader applies at the start, packed ones too."""
    text = text_of(["readelf", "-rW", bench.path(name)])
    return len(re.findall(r"_RELATIVE\b", text)) + sum(map(int, re.findall(r"^ +(\d+) offsets$", text, re.M)))


def faults(bench: Bench, name: str) -> float:
    return float(bench.run(["./spawn", "3", f"./{name}", "faults"]).stdout)


def of_each(measured: Started, what: str) -> dict[str, dict[int, float]]:
    function = {"instructions": instructions, "relocations": relocations, "faults": faults}[what]
    return {kind: {size: function(measured.bench, program(kind, size)) for size in measured.sizes}
            for kind in measured.kinds if kind != "nothing"}


# ---- What a process has ----

def kibibytes(bench: Bench, command: str, what: str, threads: int = 1, output: str = "") -> float:
    """Of its memory, this part of smaps_rollup, once all its threads have said that they are there."""
    environment = {**bench.environment, **({"TP_ENABLE": "*", "TP_OUTPUT": output} if output else {})}
    with subprocess.Popen([f"./{command.split()[0]}", *command.split()[1:]], cwd=bench.dir, env=environment, text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        for _ in range(threads):
            assert process.stdout.readline(), command
        with open(f"/proc/{process.pid}/smaps_rollup", encoding="ascii") as file:
            found = re.search(rf"^{what}: +(\d+) kB", file.read(), re.M)
    bench.remove_traces()
    return float(found[1] if found else 0)


def a_thread(bench: Bench, subject: str, arguments: str, output: str = "") -> float:
    """KiB that one thread more has."""
    one, more = (kibibytes(bench, f"{subject} 15 stay {threads} {arguments}", "Rss", threads, output)
                 for threads in (1, 1 + THREADS))
    return (more - one) / THREADS


def memory(measured: Started) -> dict[str, Figures]:
    bench, size = measured.bench, measured.sizes[1]

    def own(kind: str, what: str) -> float:
        """What a program with many has more than one with one tracepoint, for a thousand."""
        many, one = (kibibytes(bench, f"{program(kind, n)} {what}", "Anonymous") for n in (size, 1))
        return (many - one) * 1000 / size

    bare = a_thread(bench, "nothing", "0")
    warm = 1000 if bench.quick else WARM
    kinds = [kind for kind in measured.kinds if kind != "nothing"]
    loaded: Figures = {kind: own(kind, "stay") for kind in kinds}
    return {"loaded": loaded, "enabled": {"ours": own("ours", "enable") - (loaded["ours"] or 0)},
            "thread": {"ours": a_thread(bench, "ours", "-1", FLIGHT) - bare, "least": 4},
            "ring": {"ours": a_thread(bench, "ours", f"-1 {warm}", FLIGHT) - bare}}


# ---- The goals ----

def table(measured: Started) -> Table:
    bench = measured.bench
    result = Table("bench-start", NAMES, "to LTTng-UST", {"relr": "packed relocations", "fixed": "not PIE",
                                                          "least": "the least", "lttng": "LTTng-UST"})
    line = result.line
    counted = of_each(measured, "instructions") if bench.counts else {}
    relocated, touched = of_each(measured, "relocations"), of_each(measured, "faults")
    for size in measured.sizes:
        many = size > 1
        line(f"start with {size:,} tracepoint{'s' * many}: ms more than without", measured.milliseconds(size),
             size * 0.2 / 1000 if many else None, digits=3 if size <= 1000 else 2)
        if many:
            line("… instructions a tracepoint", measured.each(counted, size), digits=0)
            line("… relocations a tracepoint", measured.each(relocated, size), digits=0)
            line("… page faults for 1,000 tracepoints",
                 {kind: (value or 0) * 1000 for kind, value in measured.each(touched, size).items()}, digits=0)
    has = memory(measured)
    for what, label in (("loaded", "1,000 tracepoints, nothing enabled: KiB of its own"),
                        ("enabled", "1,000 events described and enabled in a CTF output: KiB more"),
                        ("thread", "a thread, flight recorder, its first event: KiB"),
                        ("ring", "a thread, flight recorder, its ring full: KiB")):
        line(label, has[what], digits=0)
    parts = bytes_a_site(bench)
    line("a site: bytes of code and tables",
         {kind: sum(parts[part][kind] or 0 for part in ("hot", "cold", "tables")) for kind in parts["hot"]}, digits=0)
    return result

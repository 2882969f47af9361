# SPDX-License-Identifier: MIT
"""How anything is measured here: the place to work in, programs, the peers that are installed, groups of rows.

Only figures of one run can be compared, and only their ratios with those of another machine.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CALLGRIND = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=timed"]
NAMES = {"nothing": "nothing at all", "flag": "plain flag", "sdt": "SDT nop", "lttng": "LTTng-UST",
         "ours": "tpgen", "load": "tpgen, load and branch"}


def text_of(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}" if abs(value) < 100 else f"{value:.0f}"


def machine(compiler: str) -> str:
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        model = re.search(r"^model name\s*: (.*)", file.read(), re.M)
    return (f"{model[1] if model else os.uname().machine}, {len(os.sched_getaffinity(0))} cores, Linux "
            f"{os.uname().release}, {text_of([compiler, '--version']).splitlines()[0]}")


class Row:
    """What one way to trace takes. It may be "base" (what the others contain), "peer", "ours", or "plain" (none)."""

    def __init__(self, kind: str, label: str, command: list[str], environment: dict[str, str]) -> None:
        self.kind = kind
        self.label = label
        self.command = command
        self.environment = environment
        self.values: list[float] = []
        self.instructions: float | None = None

    @property
    def median(self) -> float:
        return statistics.median(self.values)


class Group:
    """Rows that are measured in turn, round by round."""

    def __init__(self, bench: Bench, heading: str, unit: str) -> None:
        self.bench = bench
        self.heading = heading
        self.unit = unit
        self.rows: list[Row] = []
        self.notes: list[str] = []

    def row(self, kind: str, label: str, command: str = "", **environment: str) -> Row:
        self.rows.append(Row(kind, label, command.split(), environment))
        return self.rows[-1]

    def measure(self, events: int, count: int = 0, times: int = 1) -> None:
        """Runs each row's program for so many events, so many times a round; and counts the instructions of some."""
        bench = self.bench
        if bench.quick:
            events, count = min(events, max(events // 1000, 480)), min(count, 480)
        for _ in range(bench.rounds * times):
            for row in self.rows:
                row.values.append(float(bench.hit(row, events).stdout))
        for row in self.rows if count and bench.counts else ():
            done = bench.hit(row, count, CALLGRIND)
            row.instructions = int(re.search(r" Collected : (\d+)", done.stderr)[1]) / count  # type: ignore[index]

    def result(self, row: Row) -> float:
        """The median, without what the base takes."""
        return row.median - sum(base.median for base in self.rows if base.kind == "base" and base is not row)

    def counted(self, row: Row) -> float | None:
        if row.instructions is None:
            return None
        return row.instructions - sum(base.instructions or 0 for base in self.rows
                                      if base.kind == "base" and base is not row)

    def show(self) -> None:
        best = min((self.result(row) for row in self.rows if row.kind == "peer"), default=0.0)
        counted = any(row.instructions is not None for row in self.rows)
        print(f"\n{self.heading}")
        print(f"  {'':46} {self.unit:>9} {'min .. max':>21} {'to best' if best else '':>10} "
              f"{'instructions' if counted else '':>13}".rstrip())
        for row in self.rows:
            result = self.result(row)
            off = row.median - result
            spread = f"{number(min(row.values) - off)} .. {number(max(row.values) - off)}" if row.values[1:] else ""
            ratio = f"{result / best:.2f}" if best > 0 and row.kind in ("peer", "ours") else ""
            instructions = "" if row.instructions is None else f"{self.counted(row):.1f}"
            print(f"  {row.label:46} {number(result):>9} {spread:>21} {ratio:>10} {instructions:>13}".rstrip())
        for note in self.notes:
            print(f"  {note}")
        sys.stdout.flush()
        self.bench.noise += [((max(row.values) - min(row.values)) / row.median, self.heading, row)
                             for row in self.rows if row.values[1:] and row.median > 0]


class Bench:
    """A run, in a directory on the build disk, with "shm" in it for one in memory."""

    def __init__(self, build: str, quick: bool = False) -> None:
        self.build = os.path.abspath(build)
        self.quick = quick
        self.rounds = 1 if quick else int(os.environ.get("ROUNDS", "9"))
        self.compiler = shlex.split(os.environ.get("CC", "gcc"))
        self.sites = 10 if quick else 1000
        self.began = time.monotonic()
        self.noise: list[tuple[float, str, Row]] = []
        self.absent: list[str] = []
        self.counts = not quick and shutil.which("valgrind") is not None
        self.sessiond: subprocess.Popen[bytes] | None = None
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("TP_")}
        self.library = os.path.join(self.build, "libtp.a")
        if not os.path.exists(self.library):
            sys.exit(f"runner.py: there is no {self.library}: \"make all\" builds it")

    def __enter__(self) -> Bench:
        self.dir = tempfile.mkdtemp(prefix="bench.", dir=self.build)
        memory = "/dev/shm"
        self.shm = tempfile.mkdtemp(prefix="tp-bench.", dir=memory if os.access(memory, os.W_OK) else self.dir)
        os.symlink(self.shm, self.path("shm"))
        if not self.shm.startswith(memory):
            self.absent.append('There is no /dev/shm: "tmpfs" below is the build disk, too.')
        return self

    def __exit__(self, *_: object) -> None:
        if self.sessiond:
            self.sessiond.terminate()
            self.sessiond.wait()
        shutil.rmtree(self.shm, True)
        shutil.rmtree(self.dir, True)

    def path(self, name: str) -> str:
        return os.path.join(self.dir, name)

    def write(self, name: str, text: str) -> None:
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def run(self, command: list[str], environment: dict[str, str] | None = None,
            fatal: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(command, cwd=self.dir, capture_output=True, text=True, check=False,
                              env={**self.environment, **(environment or {})})
        if fatal and done.returncode:
            sys.exit(f"runner.py: {shlex.join(command)} has failed:\n{(done.stdout + done.stderr)[:4000]}")
        return done

    def hit(self, row: Row, events: int, tool: list[str] | None = None) -> subprocess.CompletedProcess[str]:
        """Runs the row's program."""
        program, *arguments = row.command
        done = self.run([*(tool or []), f"./{program}", str(events), *arguments], row.environment)
        said = re.search(r"^tp: .*", done.stderr, re.M)
        if said:  # such as that it has lost records: then it did not do what the others did
            sys.exit(f"runner.py: {row.label}: {said[0]}")
        self.remove_traces()
        return done

    def remove_traces(self) -> None:
        for trace in ("trace", "shm/trace"):
            shutil.rmtree(self.path(trace), True)

    # ---- Compiling ----

    def tpgen(self, name: str) -> None:
        self.run([sys.executable, "-m", "tpgen", "gen", "-o", ".", name],
                 {"CC": shlex.join(self.compiler), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": ROOT})

    def compile(self, output: str, *arguments: str) -> None:
        """With the project's warnings for what is the project's, which the peers' macros are not."""
        is_ours = not re.search("lttng|sdt", " ".join(arguments))
        strict = ["-Wpedantic", "-Wshadow", "-Wconversion"] if is_ours else []
        done = self.run([*self.compiler, "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", *strict,
                         "-I", os.path.join(HERE, "subjects"), "-I", ".", "-I", os.path.join(ROOT, "runtime/include"),
                         "-o", output, *arguments])
        sys.stderr.write(done.stderr)

    def subject(self, name: str, header: str, *arguments: str) -> None:
        """The program that measures what the header says."""
        sites = "TEN(x)" if self.quick else "TEN(TEN(TEN(x)))"
        self.compile(name, f'-DSUBJECT="{header}"', f"-DSITES(x)={sites}", os.path.join(HERE, "bench.c"), *arguments,
                     "-pthread")

    def lttng(self, name: str, header: str, event: str, *arguments: str) -> None:
        self.subject(name, header, f"-DEVENT={event}", *arguments, "-llttng-ust", "-llttng-ust-tracepoint", "-ldl")

    def ours(self, name: str, header: str, *arguments: str) -> None:
        """The program, and the same with sites that load and branch."""
        arguments += (self.library, "-lurcu-bp")
        self.subject(name, header, *arguments)
        self.subject(f"{name}-load", header, "-DTP_STATIC_KEYS=0", *arguments)

    def has_header(self, name: str) -> bool:
        self.write("include.c", f"#include <{name}>\n")
        return self.run([*self.compiler, "-E", "include.c"], fatal=False).returncode == 0

    def find_peers(self) -> None:
        """Compiles what several tables measure."""
        self.write("bench.tp", read("bench.tp"))
        self.tpgen("bench.tp")
        self.subject("nothing", "nothing.h")
        self.subject("flag", "flag.h", "-DCALLS=1")
        self.subject("flag3", "flag.h", "-DCALLS=3")
        self.subject("fprintf", "fprintf.h")
        self.ours("ours", "ours.h")
        self.have = {"nothing", "flag", "ours", "load"}
        if self.has_header("sys/sdt.h"):
            self.subject("sdt", "sdt.h")
            self.have.add("sdt")
        else:
            self.absent.append("SDT is left out: sys/sdt.h is not installed.")
        if self.has_header("lttng/tracepoint.h"):
            self.lttng("lttng", "lttng.h", "off")
            self.have.add("lttng")
        else:
            self.absent.append("LTTng-UST is left out: its headers are not installed.")
        if not self.counts:
            self.absent.append("No instructions are counted: " +
                               ("this is a quick run." if self.quick else "valgrind is not installed."))

    # ---- What is said of the run ----

    def begin(self) -> None:
        print(f"Machine: {machine(self.compiler[0])}; load before the run {os.getloadavg()[0]:.2f}")
        print(f"Each figure is the median of {self.rounds} rounds, in which the rows of a group take turns. A round "
              "gives the median of\n15 slices where there is one thread, the mean of all where there are more, each "
              "on a processor of its own;\nwhere threads are compared with each alone, the median of 45 comparisons.")
        sys.stdout.writelines(f"{line}\n" for line in self.absent)
        sys.stdout.flush()

    def end(self) -> None:
        noise = sorted(self.noise, key=lambda one: one[0])
        if noise:
            _, heading, row = noise[-1]
            print(f"\nNoise: in half of the rows, max - min of the rounds is at most {noise[len(noise) // 2][0]:.0%} "
                  f"of the median; the noisiest is\n\"{heading}: {row.label}\", min {number(min(row.values))}, median "
                  f"{number(row.median)}, max {number(max(row.values))}.")
        print(f"All of it took {time.monotonic() - self.began:.0f} s.")


def read(name: str) -> str:
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()

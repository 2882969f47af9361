# SPDX-License-Identifier: MIT
"""What tracepoints cost on this machine, beside other ways to trace. It measures and judges nothing.

    bench.py BUILD_DIR           all tables, as "make bench"
    bench.py BUILD_DIR core      those of the core, as "make bench-core"
    bench.py BUILD_DIR record    those of recording, as "make bench-record"
    bench.py BUILD_DIR sinks     those of the sinks, as "make bench-sinks"
    bench.py BUILD_DIR start     those of the start of a program and of memory, as "make bench-start"
    bench.py BUILD_DIR control   those of a process that is looked into, as "make bench-control"
    bench.py BUILD_DIR read      those of reading a trace, as "make bench-read"; READ_MB=N: of N MB instead of 100
    bench.py BUILD_DIR ... quick one round of few events, to see that it works

In the environment, ROUNDS=N takes N rounds instead of 9, and with UPDATE=1 docs/internals/bench-tables.md gets the
tables that there are goals for, docs/performance.md some of their rows, and docs/costs.svg its bars. Peers that are not
installed are left out: LTTng-UST (liblttng-ust-dev, lttng-tools), SDT (systemtap-sdt-dev); without valgrind no
instructions are counted.
"""

from __future__ import annotations

import os
import signal
import sys

import control
import core
import general
import reading
import record
import sinks
import start
from runner import Bench


def main(arguments: list[str]) -> None:
    words = set(arguments[1:])
    if not arguments or not words <= {"core", "record", "sinks", "start", "control", "read", "quick"}:
        sys.exit(__doc__)
    os.environ["LC_ALL"] = "C"
    for end in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(end, lambda *_: sys.exit(1))
    with Bench(arguments[0], "quick" in words) as bench:
        bench.find_peers()
        bench.begin()
        tables = []
        for word, part in (("core", core), ("record", record), ("sinks", sinks), ("start", start),
                           ("control", control), ("read", reading)):
            if word in words or words <= {"quick"}:
                tables.append(part.table(part.measure(bench)))
        if words <= {"quick"}:
            general.measure(bench)
        bench.end()
        for table in tables:
            table.report(bench, os.environ.get("UPDATE") == "1")


if __name__ == "__main__":
    main(sys.argv[1:])

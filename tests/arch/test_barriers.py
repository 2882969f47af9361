# SPDX-License-Identifier: MIT
"""The lettered barriers are in the code of a processor that needs them.

x86-64 hides one that is missing, as each of its loads is an acquire and each of its stores a release; so does an
emulator that runs on it. On arm64 they are instructions of their own, which are looked for here.
"""

from __future__ import annotations

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from platforms import AARCH64  # noqa: E402
from support import PACKET_HEAD, ROOT, RUNTIME_INCLUDES, WARNINGS, Case, unavailable  # noqa: E402

CHECK_ALL = "another processor, in an emulator"

COMPILERS = ([AARCH64.cc], ["clang", "--target=aarch64-linux-gnu"])
INLINE = "tests/arch/barriers.c"
ACQUIRE, RELEASE = r"lda\w*r\b", r"stl\w*r\b"


class Barriers(Case):
    def setUp(self) -> None:
        super().setUp()
        if AARCH64.missing():
            unavailable(self, AARCH64.missing())

    def code(self, compiler: list[str], source: str, function: str) -> list[str]:
        """The function's instructions with their operands."""
        name = self.path("object.o")
        # Without inlining, and calls for atomic instructions, each function's barriers are in it.
        self.succeed([*compiler, "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-fno-inline", "-mno-outline-atomics", *WARNINGS, *AARCH64.cflags,
                      *RUNTIME_INCLUDES, "-c", "-o", name, os.path.join(ROOT, source)])
        text = self.succeed([AARCH64.objdump, "-d", "--no-show-raw-insn", f"--disassemble={function}", name]).stdout
        found = re.findall(r"^ +\w+:\t([^/\n]*)", text, re.M)
        self.assertTrue(found, f"{function} is not in {source}")
        return found

    def has(self, source: str, function: str, barrier: str) -> None:
        for compiler in COMPILERS:
            with self.subTest(compiler=compiler[0], function=function):
                self.assertRegex("\n".join(self.code(compiler, source, function)), barrier)

    def test_a(self) -> None:
        """A reader's loads: of the array, once it can be seen to be a reader; and of each element's function."""
        self.has(INLINE, "tp_read_lock", r"(?s)\bbl\t.*_urcu_bp_read_lock.*\nb\t.*<tp_read_array>")
        self.has(INLINE, "tp_read_array", ACQUIRE)
        self.has(INLINE, "tp_probe_func", ACQUIRE)

    def test_b(self) -> None:
        """The store of an array whose elements have been written."""
        self.has("runtime/src/core/probes.c", "publish_at", RELEASE)

    def test_d(self) -> None:
        """The stores of timestamp_end, then of content_size, each behind what comes before it."""
        for compiler in COMPILERS:
            with self.subTest(compiler=compiler[0]):
                at, stored = {}, []
                for insn in self.code(compiler, INLINE, "tp_stream_publish"):
                    if m := re.match(r"add\t(x\d+), x\d+, #(0x\w+)", insn):
                        at[m[1]] = int(m[2], 16)
                    elif m := re.match(rf"{RELEASE}\tx\w+, \[(x\d+)\]", insn):
                        stored.append(at[m[1]])
                self.assertEqual(stored, [PACKET_HEAD["timestamp_end"], PACKET_HEAD["content_size"]])

    def test_e(self) -> None:
        """The store of a function that takes another's place."""
        self.has("runtime/src/core/probes.c", "tp_probes_replace", RELEASE)

    def test_filter(self) -> None:
        """The store of a filter's program that takes another's place."""
        self.has("runtime/src/events/filtering.c", "tp_filtering_set", RELEASE)

    def test_enable_flag(self) -> None:
        """The store of an iterator whose flag has been written; and in the check, the load of it comes first."""
        self.has("runtime/src/core/enable_flag.c", "tp_enable_flag_set", RELEASE)
        self.has("runtime/src/core/enable_flag.c", "tp_check_enable_flag", r"dmb\tishld\nldr\t")

    def test_hist(self) -> None:
        """The loads of a slot of a histogram's table, and the exchange by which an entry that has been filled in gets there."""
        self.has("runtime/src/count/table.c", "occupy", RELEASE)
        for function in ("tp_count_table_search", "tp_count_table_find", "tp_count_table_each"):
            self.has("runtime/src/count/table.c", function, ACQUIRE)
        self.has("runtime/src/sinks/hist/act.c", "tp_count_table_insert", ACQUIRE)
        self.has("runtime/src/sinks/hist/act.c", "tp_counters_row", ACQUIRE)

# SPDX-License-Identifier: MIT
"""Pages of the kernel's ring buffer, word by word: those that a kernel writes rarely, and those that none writes."""

from __future__ import annotations

import functools
import os
import random
import struct
import sys

from building import build
from support import ROOT, Case, few_or_many, run, temporary

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = os.path.join(ROOT, "runtime/tools")
LITTLE = sys.byteorder == "little"

LOST, STORED = 1 << 31, 1 << 30
PADDING, EXTEND, STAMP = 29, 30, 31


def header(word: int = 8, data: int = 0, size: int = 4080) -> str:
    return (f"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:{word};\tsigned:1;\n"
            f"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char data;\toffset:{data or 8 + word};\tsize:{size};\tsigned:0;\n")


def head(kind: int, delta: int) -> bytes:
    return struct.pack("=I", delta << 5 | kind if LITTLE else kind << 27 | delta)


def event(delta: int, record: bytes) -> bytes:
    return head(len(record) // 4, delta) + record


def page(*parts: bytes, time: int = 1000, flags: int = 0, behind: bytes = b"", word: str = "Q") -> bytes:
    data = b"".join(parts)
    return struct.pack(f"=Q{word}", time, len(data) | flags) + data + behind


@functools.cache
def program() -> str:
    return build(os.path.join(temporary(), "pages"), os.path.join(HERE, "pages.c"), os.path.join(TOOLS, "kernel/ring_page.c"), include=[TOOLS],
                 flags=["-iquote", TOOLS, "-Wno-pedantic"], libtp="asan")


class Pages(Case):
    def shown(self, *pages: bytes, text: str = "") -> list[str]:
        with open(self.path("page"), "wb") as file:
            for data in pages:
                file.write(struct.pack("=I", len(data)) + data)
        with open(self.path("page"), "rb") as file:
            done = run([program(), text or header()], stdin=file)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.splitlines()

    def test_events(self) -> None:
        large = bytes(range(200))
        data = page(event(0, b"abcd"), event(7, b"efghijkl"), head(0, 3) + struct.pack("=I", len(large) + 4) + large)
        self.assertEqual(self.shown(data), ["1000 61626364", "1007 65666768696a6b6c", f"1010 {large.hex()}"])

    def test_times(self) -> None:
        """Times that are far apart; and those that have lost their upper bits, of a counter that counts since long ago."""
        far = head(EXTEND, 5) + struct.pack("=I", 3)
        self.assertEqual(self.shown(page(far, event(2, b"abcd"))), [f"{1000 + 5 + (3 << 27) + 2} 61626364"])
        begin = (9 << 59) + 1000
        stamp = head(STAMP, 77) + struct.pack("=I", 1)
        self.assertEqual(self.shown(page(stamp, event(0, b"abcd"), time=begin)), [f"{(9 << 59) + 77 + (1 << 27)} 61626364"])
        self.assertEqual(self.shown(page(stamp, event(0, b"abcd"), time=(10 << 59) - 1)), [f"{(10 << 59) + 77 + (1 << 27)} 61626364"])

    def test_padding(self) -> None:
        """What was discarded is skipped; a page ends where padding has no time."""
        gone = head(PADDING, 4) + struct.pack("=I", 12) + b"discarded..."[:8]
        self.assertEqual(self.shown(page(event(0, b"abcd"), gone, event(1, b"efgh"))), ["1000 61626364", "1005 65666768"])
        self.assertEqual(self.shown(page(event(0, b"abcd"), head(PADDING, 0) + bytes(40))), ["1000 61626364"])

    def test_lost(self) -> None:
        self.assertEqual(self.shown(page(event(0, b"abcd"), flags=LOST)), ["lost -1", "1000 61626364"])
        self.assertEqual(self.shown(page(event(0, b"abcd"), flags=LOST | STORED, behind=struct.pack("=Q", 12))), ["lost 12", "1000 61626364"])
        self.assertEqual(self.shown(page(event(0, b"abcd"), flags=LOST | STORED)), ["lost -1", "1000 61626364"])

    def test_32_bits(self) -> None:
        data = page(event(0, b"abcd"), flags=LOST | STORED, behind=struct.pack("=I", 12), word="I")
        self.assertEqual(self.shown(data, text=header(4)), ["lost 12", "1000 61626364"])

    def test_no_layout(self) -> None:
        for text in ("\n", header(2), header(8, 8), header(8, 99), header(size=1), header(size=1 << 30), header().replace("commit", "committed"),
                     header().replace(";", "")):
            self.assertEqual(self.shown(b"", text=text), ["no layout"])

    def test_no_page(self) -> None:
        for data in (b"", bytes(15), page(event(0, b"abcd"))[:-1]):
            self.assertEqual(self.shown(data), ["no page"])

    def test_damaged(self) -> None:
        """Nothing outside of the page is read, whatever it says: the sanitizer looks on."""
        self.assertEqual(self.shown(page(head(10, 0) + b"abcd")), [])
        self.assertEqual(self.shown(page(head(0, 0) + struct.pack("=I", 2**32 - 1))), [])
        self.assertEqual(self.shown(page(head(0, 0) + struct.pack("=I", 3))), [])
        self.assertEqual(self.shown(page(head(EXTEND, 0))), [])
        numbers = random.Random(7)
        pages = []
        for _ in range(few_or_many(1000, 50000)):
            data = b"".join(head(numbers.randrange(32), numbers.choice((0, 1))) + struct.pack("=I", numbers.choice((0, 4, 8, 2**32 - 1)))
                            for _ in range(numbers.randrange(12)))
            pages.append(page(data[:numbers.randrange(len(data) + 1)], flags=numbers.choice((0, LOST, LOST | STORED))))
        self.shown(*pages)

# SPDX-License-Identifier: MIT
"""Stacks of damaged traces and programs: tp report ends, in bounded memory, and shows each stack. Under AddressSanitizer.

FUZZ=N reads N of them instead of the short form's number, SEED=N begins elsewhere.
"""

from __future__ import annotations

import glob
import os
import random
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from building import build  # noqa: E402
from support import BUILD, PACKET_HEAD, both, few_or_many, read, run  # noqa: E402
from test_stack_names import Named  # noqa: E402

TP = os.path.join(BUILD, "asan/tp")
RUNS = few_or_many(40, 150, "FUZZ")
SEED = int(os.environ.get("SEED", "1"))
HEAD = PACKET_HEAD["events_discarded"] + 8
LIMITS = [0, 1, 7, 24, 0xff, 0x1000, 0xffff, 0x7fffffff, 0xffffffff, 2**40, 2**62, 2**63, 2**64 - 24, 2**64 - 1]


class Hostile(Named):
    def setUp(self) -> None:
        super().setUp()
        # Without a build id, by which a damaged one might be refused.
        self.plain = build(self.path("plain"), os.path.join(HERE, "stacked.c"), include=[self.directory],
                           link=["-Wl,--build-id=none"])
        self.succeed([self.plain, "open", self.path("trace"), "", "hit"])
        with open(self.plain, "rb") as file:
            self.data = file.read()
        shoff, shnum = struct.unpack_from("<Q", self.data, 40)[0], struct.unpack_from("<H", self.data, 60)[0]
        headers = [struct.unpack_from("<IIQQQQIIQQ", self.data, shoff + 64 * i) for i in range(shnum)]
        self.places = [(0, 64), (struct.unpack_from("<Q", self.data, 32)[0], 56 * struct.unpack_from("<H", self.data, 56)[0]),
                       (shoff, 64 * shnum), *((header[4], header[5]) for header in headers if header[1] in (2, 3, 7, 11))]

    def damage(self, data: bytes, places: list[tuple[int, int]], rng: random.Random) -> bytes:
        damaged = bytearray(data)
        for _ in range(rng.randint(1, 4)):
            at, size = rng.choice(places)
            at += rng.randrange(max(size - 8, 1)) & (~7 if rng.random() < 0.7 else ~0)
            code = rng.choice("BHIQ")
            value = rng.choice(LIMITS) & (256**struct.calcsize(code) - 1)
            struct.pack_into(f"<{code}", damaged, at, value)
        return bytes(damaged[:rng.randrange(len(damaged))]) if rng.random() < 0.1 else bytes(damaged)

    def shown(self, results: tuple[int, ...], what: str) -> str:
        done = run([TP, "report", self.path("trace")], cwd=self.dir)
        self.assertIn(done.returncode, results, what + done.stderr)
        self.assertNotIn("Sanitizer", done.stderr, what)
        self.assertNotIn("runtime error", done.stderr, what)
        return done.stdout

    @both
    def test_program(self) -> None:
        """Its lines are there, whatever names are in them; nothing is said."""
        for i in range(RUNS):
            with open(self.plain, "wb") as file:
                file.write(self.damage(self.data, self.places, random.Random(SEED + i)))
            self.assertEqual(self.shown((0,), f"seed {SEED + i}\n").count(" tp:stacktrace: => "), 1)

    @both
    def test_trace(self) -> None:
        (packet,) = glob.glob(self.path("trace/stream-*"))
        with open(packet, "rb") as file:
            data = file.read()
        content = struct.unpack_from("<Q", data, PACKET_HEAD["content_size"])[0] // 8
        for i in range(RUNS):
            with open(packet, "wb") as file:
                file.write(self.damage(data, [(HEAD, content - HEAD)], random.Random(SEED + i)))
            self.shown((0, 1), f"seed {SEED + i}\n")

    def test_formats(self) -> None:
        """Fields of other sizes and kinds."""
        path = self.path("trace/format/tp")
        text = read(path)
        for old, new in (("field:unsigned long start", "field:unsigned char start"), ("unsigned long[] caller", "char[] caller"),
                         ("unsigned long[] caller", "u32[] caller"), ("char[] path", "int[] path"), (" caller;", " called;"),
                         ("offset:8;\tsize:4", "offset:60000;\tsize:4"), ("field:unsigned long end", "field:long end"),
                         (" build_id;", " id;")):
            with self.subTest(new):
                self.assertIn(old, text)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text.replace(old, new))
                self.shown((0, 1), new)

    def test_control_characters_in_names(self) -> None:
        with open(self.plain, "wb") as file:
            file.write(self.data.replace(b"\0deepest\0", b"\0\x1b[31m\nx\0"))
        self.assertIn("=> \\x1b[31m\\nx+0x", self.shown((0,), ""))

    def test_file_that_is_none(self) -> None:
        """Nobody waits for a pipe that nobody writes into."""
        os.remove(self.plain)
        os.mkfifo(self.plain)
        self.assertIn("=> plain(+0x", self.shown((0,), ""))

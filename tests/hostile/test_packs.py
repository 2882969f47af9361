# SPDX-License-Identifier: MIT
"""Hostile packed traces: tp report, convert and pack end, in bounded time and memory, and write nothing but what they were asked for.
Under AddressSanitizer. FUZZ=N and SEED=N as in test_traces.py."""

from __future__ import annotations

import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from test_traces import LIMITS, SEED, TOOL, data_of, made, put  # noqa: E402
from support import Case, both, few_or_many, note  # noqa: E402

RUNS = few_or_many(25, 200, "FUZZ")
NAMES = [b"/etc/x", b"../../x", b"trace/metadata", b"trace", b"", b"a" * 100, b"\xff\n\x1b[2J", b"trace/stream-1-2-3", b"./././x"]
CHECKSUM = 148


def heads(data: bytes) -> list[int]:
    found, at = [], 0
    while data[at:at + 512].strip(b"\0"):
        found.append(at)
        at += 512 + (int(data[at + 124:at + 135], 8) + 511) // 512 * 512
    return found


def sign(data: bytearray, at: int) -> None:
    """Makes the checksum right, so that what was changed is looked at."""
    data[at + CHECKSUM:at + CHECKSUM + 8] = b" " * 8
    data[at + CHECKSUM:at + CHECKSUM + 8] = b"%06o\0 " % sum(data[at:at + 512])


def change_head(rng: random.Random, data: bytearray) -> None:
    at = rng.choice(heads(data))
    what = rng.randrange(4)
    if what == 0:
        name = rng.choice(NAMES)
        data[at:at + 100] = name.ljust(100, b"\0")
    elif what == 1:
        data[at + 124:at + 136] = (b"%011o" % (rng.choice(LIMITS) % 8 ** 11)).ljust(12, b"\0")
    elif what == 2:
        data[at + 156] = rng.choice(b"0123456789xgLKSVM\0\xff")
    else:
        data[at + rng.randrange(512)] = rng.randrange(256)
    sign(data, at)


def change_bytes(rng: random.Random, data: bytearray) -> None:
    for _ in range(rng.choice((1, 3, 30))):
        data[rng.randrange(len(data))] = rng.randrange(256)


def cut(rng: random.Random, data: bytearray) -> None:
    del data[rng.choice((0, 1, 511, 512, 513, rng.randrange(len(data)))):]


def twice(rng: random.Random, data: bytearray) -> None:
    at = rng.choice(heads(data))
    data[at:at] = data[at:at + rng.choice((512, 1024, 8192))]


def pax(rng: random.Random, data: bytearray) -> None:
    at = rng.choice(heads(data))
    text = b"%d path=%s\n" % (rng.choice((len(NAMES), 17, 5, 10 ** 18)), rng.choice(NAMES)) * rng.choice((1, 2, 40))
    head = bytearray(data[at:at + 512])
    head[156] = ord("x")
    head[124:136] = b"%011o\0" % len(text)
    sign(head, 0)
    data[at:at] = bytes(head) + text + bytes(-len(text) % 512)


@both
class Packs(Case):
    def setUp(self) -> None:
        super().setUp()
        self.file = self.path("trace.tar")

    def call(self, what: str, *arguments: str) -> int:
        env = {**os.environ, "ASAN_OPTIONS": "hard_rss_limit_mb=1024:detect_leaks=1"}
        with open(self.path("lines"), "wb") as lines:
            done = subprocess.run([TOOL, *arguments], cwd=self.dir, stdin=subprocess.DEVNULL, stdout=lines, stderr=subprocess.PIPE,
                                  check=False, env=env, text=True, errors="surrogateescape", timeout=120)
        self.assertIn(done.returncode, (0, 1), f"{what}: {done.stderr[:5000]}")
        wrong = r"tp: [^\0-\x1f\x7f]*'trace\.tar[^\0-\x1f\x7f]*\n" if done.returncode else ""
        self.assertRegex(done.stderr, rf"\A{wrong}\Z", what)
        return done.returncode

    def test_mutations(self) -> None:
        rng = random.Random(SEED)
        packed = []
        for number, trace in enumerate(made()):
            packed.append(self.path(f"whole{number}.tar"))
            self.succeed([TOOL, "pack", trace, "-o", packed[-1]])
        refused = 0
        before = {*os.listdir(self.dir), "trace.tar", "lines"}
        for number in range(RUNS):
            data = bytearray(data_of(rng.choice(packed)))
            kind = rng.choice((change_head, change_head, change_bytes, cut, twice, pax))
            kind(rng, data)
            put(self.file, data)
            what = f"SEED={SEED}, mutation {number}: {kind.__name__}"
            status = self.call(what, "report", "trace.tar")
            refused += status
            self.assertEqual({*os.listdir(self.dir)}, before, what)
            for command in (("pack", "trace.tar", "-o", "x"), ("convert", "trace.tar", "--to", "trace.dat", "-o", "x")):
                done = self.call(what, *command)
                self.assertEqual({*os.listdir(self.dir)} - before, set() if done else {"x"}, what)
                if not done:
                    os.unlink(self.path("x"))
        note(f"{RUNS} mutations, {refused} of them refused")
        self.assertTrue(RUNS // 10 < refused < RUNS)

    def test_many_files(self) -> None:
        """The list of an archive takes a part of the archive's own size in memory."""
        trace = made()[0]
        self.succeed([TOOL, "pack", trace, "-o", "one.tar"], cwd=self.dir)
        data = data_of(self.path("one.tar"))
        head = bytearray(data[:512])
        head[124:136] = b"%011o\0" % 0
        with open(self.file, "wb") as file:
            for number in range(100000):
                head[:100] = (b"trace/%d" % number).ljust(100, b"\0")
                sign(head, 0)
                file.write(head)
            file.write(data)
        self.assertEqual(self.call("many", "report", "trace.tar"), 0)

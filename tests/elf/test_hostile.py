# SPDX-License-Identifier: MIT
"""Damaged programs: tp list ends, in bounded time and memory, and lists events or says which file is wrong. Under
AddressSanitizer.

FUZZ=N reads N of them instead of the short form's number, SEED=N begins elsewhere:

    FUZZ=5000 SEED=$RANDOM python3 tests/run.py elf/test_hostile
"""

from __future__ import annotations

import os
import random
import re
import resource
import struct
import sys
from collections.abc import Callable

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from building import build, generate  # noqa: E402
from listed import Listed  # noqa: E402
from support import BUILD, both, check_all, few_or_many, note, run  # noqa: E402

TP = os.path.join(BUILD, "asan/tp")
RUNS = few_or_many(60, 400, "FUZZ")
SEED = int(os.environ.get("SEED", "1"))
SECONDS = 60  # of the processor, for one file; a sanitizer makes it slower
MEGABYTES = 1536  # of memory, with what the sanitizer needs of its own

LIMITS = [0, 1, 2, 7, 8, 63, 64, 72, 0xff, 0x1000, 0xfff8, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff,
          0x100000000, 2**40, 2**62, 2**63 - 8, 2**63, 2**64 - 8, 2**64 - 1]
PLACES = ("header", "segments", "sections", "names", "dynamic", "definitions", "definitions", "constants")


class Elf:
    """Where things are in the program that is damaged."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        shoff, shnum, names = self.at("<Q", 40), self.at("<H", 60), self.at("<H", 62)
        phoff, phnum = self.at("<Q", 32), self.at("<H", 56)
        self.sections = {}
        headers = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + 64 * i) for i in range(shnum)]
        for header in headers:
            start = headers[names][4] + header[0]
            self.sections[data[start:data.index(b"\0", start)].decode()] = (header[4], header[5])
        self.places = {
            "header": (0, 64), "segments": (phoff, 56 * phnum), "sections": (shoff, 64 * shnum),
            "names": self.sections[".shstrtab"], "dynamic": self.sections.get(".dynamic", (0, 64)),
            "definitions": next(where for name, where in self.sections.items() if name.startswith("tp_definitions")),
            "constants": self.sections[".rodata"],
        }

    def at(self, code: str, offset: int) -> int:
        return struct.unpack_from(code, self.data, offset)[0]

    def place(self, rng: random.Random) -> tuple[int, int]:
        """A part of the file that is read."""
        return self.places[rng.choice(PLACES)]


def change_words(rng: random.Random, elf: Elf, data: bytearray) -> None:
    """Numbers, addresses and sizes, which are at places of some alignment."""
    for _ in range(rng.choice((1, 1, 2, 5))):
        start, length = elf.place(rng)
        size, code = rng.choice(((8, "<Q"), (8, "<Q"), (4, "<I"), (2, "<H")))
        if length < size:
            continue
        at = start + rng.randrange(0, length - size + 1) // size * size
        if at + size > len(data):
            continue
        value = rng.choice(LIMITS)
        if rng.random() < 0.5:
            value = struct.unpack_from(code, data, at)[0] + rng.choice((-64, -8, -1, 1, 8, 16, 24, 64, 72, 4096))
        struct.pack_into(code, data, at, value % 2 ** (8 * size))


def copy_words(rng: random.Random, elf: Elf, data: bytearray) -> None:
    """A number in another's place: so the structures are mixed."""
    for _ in range(rng.choice((1, 2, 10))):
        (start, length), (other, other_length) = elf.place(rng), elf.place(rng)
        at = start + rng.randrange(0, max(1, length - 7)) // 8 * 8
        of = other + rng.randrange(0, max(1, other_length - 7)) // 8 * 8
        if at + 8 <= len(data) and of + 8 <= len(data):
            data[at:at + 8] = data[of:of + 8]


def change_bytes(rng: random.Random, elf: Elf, data: bytearray) -> None:
    for _ in range(rng.choice((1, 4, 30))):
        start, length = elf.place(rng)
        at = start + rng.randrange(max(1, length))
        if at < len(data):
            data[at] = rng.choice((0, 0x80, 0xff, rng.randrange(256), data[at] ^ 1 << rng.randrange(8)))


def fill(rng: random.Random, elf: Elf, data: bytearray) -> None:
    """No NUL where texts were, so that none ends; or nothing else."""
    start, length = elf.place(rng)
    length = min(length, rng.choice((8, 100, length)))
    if start + length <= len(data):
        data[start:start + length] = bytes([rng.choice((0, 0x41, 0xff))]) * length


def cut(rng: random.Random, elf: Elf, data: bytearray) -> None:
    start, length = elf.place(rng)
    del data[rng.choice((start, start + length // 2, rng.randrange(len(data) + 1))):]


class Hostile(Listed):
    """Some programs are made, and damaged in a copy."""

    def setUp(self) -> None:
        super().setUp()
        generate(self.dir, os.path.join(HERE, "../language/forms.tp"))
        self.copy = self.path("copy")
        self.elves = [self.elf(self.build("pie", "program.c")),
                      self.elf(self.build("fixed", "program.c", flags=["-no-pie", "-fno-pie"])),
                      self.elf(build(self.path("forms.so"), os.path.join(HERE, "../language/forms.c"), include=[self.dir],
                                     libtp=""))]

    def elf(self, path: str) -> Elf:
        """Without debugging information, so that it is small."""
        self.succeed(["strip", path])
        with open(path, "rb") as file:
            return Elf(file.read())

    def list_copy(self, what: str, *options: str) -> int:
        """Returns 0, or 1 where the file is refused."""
        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        env = {**os.environ, "ASAN_OPTIONS": f"hard_rss_limit_mb={MEGABYTES}:detect_leaks=1"}
        done = run([TP, "list", "-v", *options, self.copy], preexec_fn=limit, env=env)
        self.assertIn(done.returncode, (0, 1), f"{what}: {done.stderr[:5000]}")
        line = rf"tp: [^\0-\x1f\x7f]*'{re.escape(self.copy)}'[^\0-\x1f\x7f]*\n"
        self.assertRegex(done.stderr, rf"\A({line})?({line})?\Z", what)
        self.assertEqual(bool(done.stdout), done.returncode == 0, what)
        if done.returncode:
            self.assertNotEqual(done.stderr, "", what)
        return done.returncode

    def write_copy(self, data: bytes) -> None:
        with open(self.copy, "wb") as file:
            file.write(data)

    def test_unchanged(self) -> None:
        for elf in self.elves:
            self.write_copy(elf.data)
            self.assertEqual(self.list_copy("unchanged"), 0)

    @both
    def test_mutations(self) -> None:
        changes: tuple[Callable[[random.Random, Elf, bytearray], None], ...] = (
            change_words, change_words, change_words, copy_words, copy_words, change_bytes, fill, cut)
        refused = 0
        for i in range(RUNS):
            rng = random.Random(f"{SEED} {i}")
            elf = rng.choice(self.elves)
            data = bytearray(elf.data)
            for _ in range(rng.choice((1, 1, 1, 3))):
                rng.choice(changes)(rng, elf, data)
            self.write_copy(data)
            refused += self.list_copy(f"SEED={SEED}, number {i}", *(["--no-libraries"] if rng.random() < 0.7 else []))
        note(f"{RUNS} damaged programs, {refused} of them refused")
        self.assertGreater(refused, RUNS // 20)
        self.assertLess(refused, RUNS)

    def sparse(self, elf: Elf, section: str, size: int) -> None:
        """A copy in which a section, and the segment that it is in, are as large as that, with a hole behind."""
        data = bytearray(elf.data)
        phoff, phnum, shoff, shnum = elf.at("<Q", 32), elf.at("<H", 56), elf.at("<Q", 40), elf.at("<H", 60)
        for at in range(phoff, phoff + 56 * phnum, 56):
            if elf.at("<I", at) == 1:
                struct.pack_into("<QQ", data, at + 32, size, size)
        for at in range(shoff, shoff + 64 * shnum, 64):
            if elf.at("<Q", at + 24) == elf.sections[section][0]:
                struct.pack_into("<Q", data, at + 32, size)
        self.write_copy(data)
        with open(self.copy, "r+b") as file:
            file.truncate(1 << 42)

    def test_endless_section(self) -> None:
        """A section of any number of definitions, most of them zeros."""
        for elf in self.elves:
            name = next(name for name in elf.sections if name.startswith("tp_definitions"))
            self.sparse(elf, name, 1 << 41)
            self.list_copy("a section of 2^41 bytes")

    @check_all("large tables are read by a tp with AddressSanitizer")
    def test_one_for_all(self) -> None:
        """Each event has 65,535 fields, all of them in the same large table: much more than the file holds."""
        source = self.write("large.c", """\
#define TP_ENVIRONMENT 0
#include <tp/event.h>
#define MANY 65535
const struct {
	struct tp_event_class head;
	struct tp_field_numbers fields[MANY];
	struct tp_eval evals[MANY];
	char text[3 * MANY + 1][8];
} description TP_HIDDEN = {
	{ 8, sizeof(description) - sizeof(description.text), MANY, MANY, sizeof(description.head), sizeof(description.fields[0]) },
	{ [0 ... MANY - 1] = { .element_size = 1 } }, { [0 ... MANY - 1] = { 1, 1 } }, { [0 ... 3 * MANY] = "xxxxxxx" },
};
struct tracepoint tracepoint TP_HIDDEN = {0};
const char text[] TP_HIDDEN = "e\\0\\0f\\0s";
__asm__(".pushsection " TP_SECTION("tp_definitions") ", \\"a\\", %progbits\\n\\t"
	".rept 65535\\n\\t"
	".long tracepoint - ., text - ., 0, 0, description - ., 0, 0, 1, 13\\n\\t"
	".endr\\n\\t"
	".popsection");
int main(void)
{
	return 0;
}
""")
        os.replace(build(self.path("large"), source, flags=["-w"], libtp=""), self.copy)
        self.assertEqual(self.list_copy("65,535 events of 65,535 fields"), 1)

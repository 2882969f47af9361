# SPDX-License-Identifier: MIT
"""Threads that end inside TP_fast_assign, or leave it and go on: what they were recording is lost, and nothing else, now or later.

A thread that comes later may go on in the stream of the one that has ended, and takes the same locks.
"""

from __future__ import annotations

import functools
import os
import re
import struct

from building import build, generate
from support import PACKET_HEAD, Case, need, read, reader, run, temporary

HERE = os.path.dirname(os.path.abspath(__file__))
ENDS = ("exit", "cancel", "jump", "survive", "main")
THREADS = 60
HEAD = struct.Struct(f"={PACKET_HEAD['packet_seq_num']}xQQ")  # a packet's head up to that, and events_discarded


@functools.cache
def built(libtp: str) -> str:
    """The program, with the runtime as it ships or with a sanitizer."""
    path = temporary()
    generate(path, os.path.join(HERE, "dying.tp"))
    return build(os.path.join(path, "dying"), os.path.join(HERE, "dying.c"), include=[path], libtp=libtp)


class Dying(Case):
    def die(self, how: str, inside: int, output: str, libtp: str = "static") -> tuple[int, int, int, str]:
        """How many records there must be; how many are lost where they are made in place; how many are a thread's last,
        made as it leaves TP_fast_assign; and what is said."""
        for name in os.listdir(self.dir):
            self.succeed(["rm", "-r", self.path(name)])
        self.write("tracing/trace_marker", "")  # what looks like a directory of tracefs
        # The program has signal stacks of its own, which clang's sanitizer would unmap at a thread's end; and what only the main
        # thread's stack refers to, libc's things, counts as a leak.
        # The helper's first malloc() may come late, and an arena of its own would be taken for memory of dead threads.
        env = {**os.environ, "TP_ENABLE": "*", "TP_OUTPUT": output.replace("%s", self.dir), "MALLOC_ARENA_MAX": "1",
               "ASAN_OPTIONS": f"use_sigaltstack=0:detect_leaks={int(how != 'main')}"}
        done = run([built(libtp), how, str(inside), str(THREADS)], cwd=self.dir, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        words = THREADS if inside and how not in ("jump", "survive") else 0
        dead = THREADS + (how == "main")
        return int(done.stdout), dead * (1 + inside), words, done.stderr

    def numbers(self, text: str, pattern: str = r"[ {]n = (-?\d+)") -> list[int]:
        return [int(n) for n in re.findall(pattern, text)]

    def same(self, found: list[int], wanted: list[int]) -> None:
        """As assertEqual, but a failure does not fill a book."""
        if found != wanted:
            at = next((i for i, pair in enumerate(zip(found, wanted)) if pair[0] != pair[1]), min(len(found), len(wanted)))
            self.fail(f"{len(found)} records instead of {len(wanted)}; from {at} on {found[at:at + 5]}... "
                      f"instead of {wanted[at:at + 5]}...")

    def packets(self) -> list[str]:
        return sorted(name for name in os.listdir(self.path("trace")) if name.startswith("stream-"))

    def discarded(self) -> int:
        """By each stream's last packet, which counts on from the one before. One that was prepared may have an earlier name."""
        last: dict[str, tuple[int, int]] = {}
        for name in self.packets():
            stream = name.rsplit("-", 1)[0]
            with open(self.path(f"trace/{name}"), "rb") as file:
                last[stream] = max(last.get(stream, (-1, 0)), HEAD.unpack(file.read(HEAD.size)))
        return sum(discarded for _, discarded in last.values())

    def trace(self) -> list[int]:
        done = reader(["babeltrace2", self.path("trace")])
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.numbers(done.stdout)

    def counted(self, lost: int, said: str) -> None:
        """Inside a record, there is no next packet: what finds this one full is lost as nested."""
        self.assertRegex(said, rf"\Atp: CTF trace '{self.path('trace')}': records lost: {lost} "
                               r"\((nested: \d+, )?other: \d+\)\n\Z")

    def record(self, options: str, inside: int, libtp: str = "static") -> None:
        """All that is recorded is in the trace, in order, and what was lost is counted, to the record."""
        need(self, "babeltrace2")
        for how in ENDS:
            with self.subTest(how=how, inside=inside, options=options):
                number, lost, words, said = self.die(how, inside, f"ctf:%s/trace,packet=4K{options}", libtp)
                self.counted(lost, said)
                found = self.trace()
                self.same([n for n in found if n != -2], [*range(1, number + 1), -3])
                self.assertEqual(found.count(-2), words)
                self.assertEqual(self.discarded(), lost)
                # One goes on in the stream of the other.
                self.assertLessEqual(len({name.rsplit("-", 1)[0] for name in self.packets()}), 3)

    def test_ctf(self) -> None:
        for inside in (0, 2):
            self.record("", inside)
            self.record(",prepare=thread", inside)
            self.record(",context=cpu+name", inside)

    def test_ctf_under_address_sanitizer(self) -> None:
        self.record("", 2, "asan")

    def test_handler_on_a_stack_above(self) -> None:
        """It is inside the record, which is not lost."""
        need(self, "babeltrace2")
        number, _, _, said = self.die("above", 0, "ctf:%s/trace,packet=4K")
        self.assertEqual(said, "")
        found = self.trace()
        self.same([n for n in found if n != -4], [*range(1, number + 1), -3])
        self.assertEqual(found.count(-4), 20)

    def test_flight_recorder(self) -> None:
        """Before a dead thread's packet was given back, few deaths left no packet to anybody."""
        need(self, "babeltrace2")
        for options in (",mode=flight,packets=3", ",mode=flight,size=64K", ",size=64K,full=overwrite"):
            for how in ENDS:
                for inside in (0, 2):
                    with self.subTest(options=options, how=how, inside=inside):
                        number, lost, _, said = self.die(how, inside, f"ctf:%s/trace,packet=4K{options}")
                        self.counted(lost, said)
                        found = [n for n in self.trace() if n != -2]
                        self.same(found, [*range(number - len(found) + 2, number + 1), -3])
                        self.assertGreater(len(found), 100)

    def test_full_trace(self) -> None:
        """A dead thread takes no room: all that these record fits."""
        for how in ENDS:
            number, lost, _, said = self.die(how, 0, "ctf:%s/trace,packet=4K,size=192K")
            self.counted(lost, said)
            self.same(self.trace(), [*range(1, number + 1), -3])

    def test_sinks_with_scratch_memory(self) -> None:
        """The record is dropped, uncounted; what was recorded inside it stays."""
        for libtp in ("static", "asan"):
            for how in ENDS:
                with self.subTest(how=how, libtp=libtp):
                    number, lost, words, said = self.die(how, 2, "text:%s/log", libtp)
                    self.assertEqual(said, "")
                    found = self.numbers(read(self.path("log")), r"n=(-?\d+)")
                    self.same([n for n in found if n > 0], [*range(1, number + 1)])
                    self.assertEqual((found.count(-1), found.count(-2)), (lost - lost // 3, words))
                    number, _, _, said = self.die(how, 2, "ftrace:%s/tracing", libtp)
                    self.assertEqual(said, "")
                    found = self.numbers(read(self.path("tracing/trace_marker")), r"n=(-?\d+)")
                    self.same([n for n in found if n > 0], [*range(1, number + 1)])
                    self.assertEqual(self.die(how, 2, "sdt:", libtp)[-1], "")

    def test_statistics(self) -> None:
        """Where a field is counted, the event's records are made, and the hit of one that is not completed doesn't count."""
        for libtp in ("static", "asan"):
            for how in ENDS:
                with self.subTest(how=how, libtp=libtp):
                    number, lost, words, said = self.die(how, 2, "stats:%s/stats,field=dying_work.*", libtp)
                    self.assertEqual(said, "")
                    self.assertRegex(read(self.path("stats")), rf"\ndying:dying_work +{number} ")
                    self.assertRegex(read(self.path("stats")), rf"\ndying:dying_inside +{lost - lost // 3 + words + 1} ")

    def test_several_sinks(self) -> None:
        for how in ENDS:
            number, _, _, said = self.die(how, 0, "text:%s/log;ctf:%s/trace;stats:%s/stats,field=dying_work.n")
            self.same([n for n in self.numbers(read(self.path("log")), r"n=(-?\d+)") if n > 0],
                      [*range(1, number + 1)])
            self.assertRegex(read(self.path("stats")), rf"\ndying:dying_work +{number} ")
            self.assertNotIn("nested", said)

# SPDX-License-Identifier: MIT
"""rotate= begins chapters, each a trace of its own, and together they have each event once."""

from __future__ import annotations

import glob
import os
import random
import re
import shutil
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from recording import PACKET, PREPARE, Recording, Trace, files  # noqa: E402
from support import both, few_or_many, run, until  # noqa: E402

NOBODY = 65534


# Before a commit threads sleep after so many hits: else there are hundreds of chapters to read before the tenth is seen.
PACE = f"pace={few_or_many(20, 0)}"


class Chapters(Recording):
    SHARES = 5

    def numbers(self, trace: str = "") -> list[int]:
        """Those of a trace's chapters that have ended."""
        return sorted(int(name.rsplit(".", 1)[1]) for name in glob.glob(glob.escape(trace or self.trace) + ".*"))

    def chapters(self, trace: str = "") -> list[str]:
        """Those of a trace, the oldest first."""
        trace = trace or self.trace
        found = [*(f"{trace}.{number}" for number in self.numbers(trace)), *([trace] if os.path.exists(trace) else [])]
        complete = [name for name in found if os.path.exists(f"{name}/metadata")]
        for name in found:  # one that was just being begun has no packet yet
            self.assertTrue(name in complete or not files(name), f"{name}{self.repeat}")
        return complete

    def read_chapters(self, chapters: list[str]) -> Trace:
        """Each alone, and all at once, in which each sequence goes on."""
        alone = [self.read_trace(chapter) for chapter in chapters]
        found = self.read_trace(*chapters)
        self.assertEqual(sum(trace.events() for trace in alone), found.events(), self.repeat)
        self.assertEqual(sum(trace.discarded for trace in alone), found.discarded, self.repeat)
        return found

    def all_is_in(self, chapters: list[str], **how) -> Trace:
        found = self.read_chapters(chapters)
        self.compare(self.whos(), found, **how)
        if not how.get("lost"):
            self.assertEqual(found.discarded, 0, self.repeat)
        return found

    def output(self, rng: random.Random, rotate: str) -> str:
        return (f"{self.trace},packet={rng.choice((4, 8, 16))}K,rotate={rotate}{rng.choice(PREPARE)}"
                + rng.choice(("", "", ",context=cpu+pid+name")) + rng.choice(("", "", "", ",write=call")))

    @staticmethod
    def clock(rng: random.Random) -> dict[str, str]:
        return {"TP_CLOCK": "monotonic"} if rng.random() < 0.3 else {}

    def until_chapter(self, number: int, trace: str = "") -> str:
        """That one, or another by which it has been removed, has been closed."""
        last = f"ls -d {trace or self.trace}.* 2>&- | sed 's/.*[.]//' | sort -n | tail -1"
        return f'sh=until [ "0$({last})" -ge {number} ]; do sleep 0.01; done'


SLOW_FORMATS = r"""
#define _GNU_SOURCE
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int mkdirat(int dir, const char *name, mode_t mode)
{
	if (!strcmp(name, "format"))
		usleep(20000); /* others have time to record more than a chapter */
	return syscall(SYS_mkdirat, dir, name, mode);
}
"""


class Begun(Chapters):
    @both
    def test_by_size(self) -> None:
        for rng in self.rounds(6):
            self.record(f"open={self.output(rng, f'{rng.choice((4, 20, 100))}K')}", f"text={rng.choice((8, 64, 900))}",
                        PACE, f"threads={rng.randint(1, 8)}", self.until_chapter(10), "stop", "close", **self.clock(rng))
            chapters = self.chapters()
            self.assertGreaterEqual(len(chapters), 11)
            self.all_is_in(chapters)
            self.assertFalse(glob.glob(glob.escape(self.trace) + "*/.stream-*"), self.repeat)

    def test_size_of_a_chapter(self) -> None:
        """As much as is asked for, and less than a packet more for each thread; an unused end is not written."""
        source = self.write("slow.c", SLOW_FORMATS)
        self.succeed(["gcc", "-shared", "-fPIC", "-o", self.path("slow.so"), source])
        self.record(f"open={self.trace},packet=16K,rotate=100K", "text=300", "threads=3", self.until_chapter(10), "stop",
                    "close", LD_PRELOAD=self.path("slow.so"))
        *old, _ = self.chapters()
        for chapter in old:
            written = 0
            for name in files(chapter):
                with open(name, "rb") as file:
                    written += PACKET.unpack(file.read(PACKET.size))[3] // 8
            self.assertLess(written, 100 * 1024 + 3 * 16 * 1024)
            self.assertGreater(written, 100 * 1024 - 3 * 16 * 1024)

    @both
    def test_by_time(self) -> None:
        for rotate in ("1s+1G", "1s", "1G+1s")[:few_or_many(1, 3)]:
            began = time.monotonic()
            self.record(f"open={self.trace},packet=4K,rotate={rotate}", "pace=10", "threads=2", self.until_chapter(2), "stop",
                        "close")
            seconds = time.monotonic() - began
            chapters = self.chapters()
            self.assertGreaterEqual(len(chapters), 3)
            self.assertLessEqual(len(chapters) - 1, seconds)  # each but the last takes one; more of them, if the end comes late
            self.all_is_in(chapters)
            self.again()

    def test_not_yet(self) -> None:
        for rotate in ("1G", "1h", "1000m+1M"):
            self.record(f"open={self.trace},packet=4K,rotate={rotate}", "hit=3000", "close")
            self.assertEqual(self.chapters(), [self.trace])
            self.all_is_there()
            self.again()

    @both
    def test_keep(self) -> None:
        """What is left goes on to the end without a gap."""
        for rng in self.rounds(3):
            keep = rng.randint(1, 3)
            self.record(f"open={self.output(rng, '20K')},keep={keep}", PACE, "threads=3", self.until_chapter(20), "until=3000",
                        "stop", "close", **self.clock(rng))
            chapters = self.chapters()
            self.assertEqual(len(chapters), keep + 1, self.repeat)
            found = self.all_is_in(chapters, lost=True)
            self.assertEqual((found.discarded, sum(seen.breaks for seen in found.seen.values())), (0, 0), self.repeat)

    def test_with_idle_threads(self) -> None:
        """Their packets stay where they are, until they record again."""
        for prepare in ("", ",prepare=thread"):
            # Each hits once before it is held: so all of that is in the first chapter, however slow a thread is.
            self.record(f"open={self.trace},packet=8K,rotate=100K{prepare}", "text=64", "pace=1", "hold", "threads=3", "hold",
                        "hit=10000", self.until_chapter(5), f"sh=cp -r {self.trace}.1 {self.path('copy')}",
                        "go", "until=600", "stop", "close")
            chapters = self.chapters()
            found = self.all_is_in(chapters)
            idle = {0, 4, 8}
            self.assertLessEqual(idle, set(found.seen))
            for chapter in chapters[1:5]:
                self.assertFalse(idle & set(self.read_trace(chapter).seen))
            for name in files(self.path("copy")):
                with open(name, "rb") as before, open(name.replace(self.path("copy"), chapters[0]), "rb") as after:
                    self.assertEqual(before.read(), after.read())
            shutil.rmtree(self.path("copy"))
            self.again()

    def test_threads_that_come_and_go(self) -> None:
        self.record(f"open={self.trace},packet=4K,rotate=16K", "text=300", "short=300,5", "stop", "close")
        self.assertGreater(len(self.chapters()), 5)
        self.all_is_in(self.chapters())

    @both
    def test_signal_handlers(self) -> None:
        """What they lose is counted, in the chapter in which it was."""
        for rng in self.rounds(4):
            out = self.record(f"open={self.output(rng, '20K')}{rng.choice(('', ',keep=100000'))}", "text=64",
                              PACE, f"signals={rng.choice((300, 1000, 2000))}", f"threads={rng.randint(1, 4)}",
                              self.until_chapter(few_or_many(4, 10)), "stop", "lost", "close", message=self.LOST_ONLY,
                              **self.clock(rng))
            found = self.all_is_in(self.chapters(), lost=True)
            self.assertEqual(self.hits(), found.events() + found.discarded, self.repeat)
            self.assertEqual(found.discarded, int(re.search(r"^lost (\d+)$", out, re.M)[1]), self.repeat)

    def test_messages(self) -> None:
        """They go into the chapter of their time."""
        self.record(f"open={self.trace},packet=4K,rotate=8K", "hit=1000", "fsize=2000", "untillost=0", "hit=1000", "close",
                    message=r"(tp: [^\n]*\n)*")
        logs = glob.glob(glob.escape(self.trace) + "*/log/*")
        self.assertEqual([os.path.dirname(os.path.dirname(name)) for name in logs], [self.trace])


class Forked(Chapters):
    @both
    def test_with_process_ids(self) -> None:
        """Each process has chapters of its own."""
        for rng in self.rounds(3):
            self.record(f"forks={rng.choice((200, 1000))}", f"threads={rng.randint(1, 3)}", "until=4000", "stop",
                        TP_OUTPUT=f"ctf:{self.trace}-%p,packet=4K,rotate=16K{rng.choice(PREPARE)}", message=self.LOST_ONLY)
            chapters = [chapter for pid in {who.pid for who in self.whos().values() if who.hits}
                        for chapter in self.chapters(f"{self.trace}-{pid}")]
            found = self.all_is_in(chapters, lost=True)
            self.assertEqual(self.hits(), found.events() + found.discarded, self.repeat)
            self.assertEqual(sorted(chapters), sorted(glob.glob(glob.escape(self.trace) + "*")))

    def test_without(self) -> None:
        """Children go on in the chapter in which they were forked, and say so; only the process that made it rotates."""
        self.record("threads=1", "until=300", "hold", "fork=3", "hit=1000", "parent", "go", "until=3000", "stop",
                    TP_OUTPUT=f"ctf:{self.trace},packet=4K,rotate=16K",
                    message=r"(tp: [^\n]* process \d+ goes on in '[^\n]*', the trace of its parent\n){3}")
        chapters = self.chapters()
        self.assertGreater(len(chapters), 5)
        self.all_is_in(chapters)
        parent = self.whos()[0].pid
        shared = [chapter for chapter in chapters if any(f"stream-{parent}-" not in name for name in files(chapter))]
        self.assertEqual(len(shared), 1)

    @both
    def test_without_at_any_moment(self) -> None:
        """Also between two chapters, when there is no directory of the trace's name."""
        for rng in self.rounds(3):
            self.record(f"forks={rng.choice((200, 1000))}", f"threads={rng.randint(1, 3)}", "until=4000", "stop",
                        TP_OUTPUT=f"ctf:{self.trace},packet=4K,rotate=8K",
                        message=r"(tp: [^\n]* process \d+ goes on in '[^\n]*', the trace of its parent\n)*"
                                r"(tp: [^\n]*records lost: [^\n]*\n)?")
            chapters = self.chapters()
            found = self.all_is_in(chapters, lost=True)
            self.assertEqual(self.hits(), found.events() + found.discarded, self.repeat)
            for chapter in chapters:
                shutil.rmtree(chapter)


class Killed(Chapters):
    @both
    def test_any_instant(self) -> None:
        """All is there, and the next start has a trace again."""
        for rng in self.rounds(25):
            output = f"ctf:{self.output(rng, rng.choice(('4K', '4K', '30K')))}"
            process = self.start(f"text={rng.choice((64, 900))}", f"threads={rng.randint(1, 6)}", "sleep=600000000",
                                 TP_OUTPUT=output, **self.clock(rng))
            until(lambda: self.hits() or process.poll() is not None, self.repeat)
            time.sleep(rng.expovariate(1 / 0.01))
            os.killpg(process.pid, signal.SIGKILL)
            self.finish(process, -signal.SIGKILL)
            before = self.chapters()
            self.all_is_in(before, on_their_way=1)
            hits = self.hits()
            self.record("hit=20", TP_OUTPUT=output)
            after = self.chapters()
            self.assertIn(len(after) - len(before), (0, 1) if self.trace not in before else (1,), self.repeat)
            found = self.read_chapters(after)
            self.assertGreaterEqual(found.events(), hits + 20, self.repeat)
            self.assertEqual(self.read_clean(self.trace).events(), 20, self.repeat)

    @both
    def test_with_keep(self) -> None:
        """One that was half removed goes at the next start."""
        for rng in self.rounds(8):
            output = f"ctf:{self.output(rng, '4K')},keep=1"
            process = self.start("threads=3", "sleep=600000000", TP_OUTPUT=output)
            until(lambda: max(self.numbers(), default=0) >= 2 or process.poll() is not None, self.repeat)
            time.sleep(rng.expovariate(1 / 0.01))
            os.killpg(process.pid, signal.SIGKILL)
            self.finish(process, -signal.SIGKILL)
            for chapter in self.chapters()[-2:]:
                self.read_trace(chapter)
            self.record("hit=20", TP_OUTPUT=output)
            self.assertEqual(len(self.chapters()), 2, self.repeat)
            left = [name for name in glob.glob(glob.escape(self.trace) + "*") if os.listdir(name)]
            self.assertEqual(len(left), 2, f"{left}{self.repeat}")  # a directory that is empty is not known to be ours


class Trouble(Chapters):
    NO_PACKET = (r"tp: CTF trace '[^\n]*': no new packet [^\n]*No space left[^\n]*\n{}"
                 r"tp: CTF trace '[^\n]*': records lost: [^\n]*\n")
    REFUSED = r"tp: CTF trace '[^\n]*': rotate= can't begin another chapter: {}[^\n]*\n"

    def test_full_disk(self) -> None:
        """What is lost is counted; when there is room again, the trace goes on, and rotates."""
        disk = self.small_disk("400k")
        self.trace = os.path.join(disk, "trace")
        with open(os.path.join(disk, "ballast"), "wb") as file:
            file.write(bytes(200000))
        self.record(f"open={self.trace},packet=8K,rotate=20K", "text=300", "threads=2", "untillost=1000", "hold", "pace=1",
                    f"sh=ls -d {self.trace}.* | wc -l >{self.path('before')}; rm {disk}/ballast; sleep 1.1", "go",
                    "until=200", "stop", "close",
                    message=r"(tp: [^\n]* (no new packet|can't begin)[^\n]*No space left[^\n]*\n){1,2}"
                            r"tp: [^\n]* the format texts [^\n]*\n|tp: [^\n]* records lost: [^\n]*\n")
        with open(self.path("before"), encoding="ascii") as file:
            self.assertGreater(len(self.chapters()), int(file.read()) + 1)
        found = self.all_is_in(self.chapters(), lost=True)
        self.assertEqual(self.hits(), found.events() + found.discarded, self.repeat)

    def test_no_room_for_the_metadata(self) -> None:
        """The directory has its name again, and nothing else is left."""
        disk = self.small_disk("400k")
        self.trace = os.path.join(disk, "trace")
        self.record(f"open={self.trace},packet=8K,rotate=4K,prepare=self", "text=300", "hit=10", f"sh=cat /dev/zero >{disk}/more 2>&- || :",
                    "hit=1000", "sleep=150000", "hit=1", f"sh=test -f {self.trace}/metadata && ! test -e {self.trace}.1 && rm {disk}/more && sleep 1.1", "hit=20",
                    "lost", "close", message=self.NO_PACKET.format(self.REFUSED.format("No space left")))
        self.assertGreater(len(self.chapters()), 1)
        found = self.all_is_in(self.chapters(), lost=True)
        self.assertEqual(self.hits(), found.events() + found.discarded, self.repeat)

    def test_no_right_to_make_a_directory(self) -> None:
        """The trace goes on in the chapter that there is, without a loss; and is rotated when it can be."""
        place = self.path("place")
        os.mkdir(place)
        commands = []
        if os.geteuid() == 0:
            os.chown(place, NOBODY, NOBODY)
            os.chmod(self.write("shared", ""), 0o666)
            commands = [f"setuid={NOBODY}"]
        self.trace = os.path.join(place, "trace")
        self.record(*commands, f"open={self.trace},packet=4K,rotate=16K,keep=1", "text=300", "hit=10",
                    f"sh=chmod 555 {place}", "hit=1000", f"sh=ls {place} >{place}/trace/log/.ls; chmod 755 {place}; sleep 1.1",
                    "hit=20", "close", message=self.REFUSED.format("Permission denied"))
        names = run(["cat", f"{place}/trace.1/log/.ls"]).stdout
        self.assertEqual(names, "trace\n")
        self.assertEqual(len(self.chapters()), 2)
        self.all_is_in(self.chapters())

    def test_the_directory_was_renamed(self) -> None:
        """The next chapter has the name again."""
        self.record(f"open={self.trace},packet=4K,rotate=16K", "text=300", "hit=10", f"sh=mv {self.trace} {self.trace}.77",
                    "hit=1000", "close")
        chapters = self.chapters()
        self.assertEqual(os.path.basename(chapters[0]), "trace.77")
        self.assertGreater(len(chapters), 5)
        self.all_is_in(chapters)

    def test_another_one_has_the_name(self) -> None:
        """It is left alone, and nothing is lost."""
        self.record(f"open={self.trace},packet=4K,rotate=16K", "text=300", "hit=10",
                    f"sh=mv {self.trace} {self.trace}.1; mkdir {self.trace}; echo mine >{self.trace}/notes", "hit=1000",
                    "close", message=self.REFUSED.format("Directory not empty"))
        self.assertEqual(os.listdir(self.trace), ["notes"])
        self.all_is_in([f"{self.trace}.1"])

    def test_descriptors_are_closed(self) -> None:
        self.record(f"open={self.trace},packet=4K,rotate=8K", "text=300", "threads=2", "until=50", "hold", "closefrom=3", "take",
                    "go", self.until_chapter(10), "taken", "stop", "close")
        self.all_is_in(self.chapters())

    def test_no_descriptor_is_left_over(self) -> None:
        """By a hundred rotations."""
        # The helper may have one open for a moment.
        count = "sh=for i in $(seq 20); do ls /proc/$PPID/fd | wc -l; sleep 0.02; done | sort -n | head -n 1"
        out = self.record(f"open={self.trace},packet=4K,rotate=8K", "hit=1", count, "text=300", "threads=2",
                          self.until_chapter(100), "stop", count, "close")
        self.assertEqual(*re.findall(r"^(\d+)$", out, re.M))

    def test_options(self) -> None:
        for value in ("", "0", "0s", "1d", "1G+", "1G+2G", "1h+2m", "+", "1G+1h+1s", "x", "-1", "1K1",
                      "99999999999999999999", "9999999999999h"):
            self.record(f"open={self.trace},rotate={value}", status=99,
                        message=r"tp: CTF trace '[^\n]*': option 'rotate=[^\n]*': rotate= takes [^\n]*; there is no trace\n"
                                r"recorder: [^\n]*\n")
        for more in ("mode=flight", "full=overwrite,size=1M", "size=1M", "packets=2"):
            self.record(f"open={self.trace},rotate=1G,{more}", status=99,
                        message=r"tp: CTF trace '[^\n]*': rotate= goes with mode=stream only, [^\n]*\nrecorder: [^\n]*\n")
        self.assertFalse(os.path.exists(self.trace))

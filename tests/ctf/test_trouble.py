# SPDX-License-Identifier: MIT
"""Where the system refuses what the recorder needs, losses are counted and said once, and the program runs on."""

from __future__ import annotations

import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from recording import Recording, files  # noqa: E402
from support import run, unavailable  # noqa: E402

NO_FILE = 0  # TP_LOST_NO_FILE
NOBODY = 65534
EACH = "until=5000"  # more records of each thread than the packets hold that are there when no more can be made


class Trouble(Recording):
    def said(self, why: str, lost: bool = True) -> str:
        """What must be on stderr: the cause, once, and the sum at the end."""
        return (rf"tp: CTF trace '[^\n]*': [^\n]*{why}[^\n]*\n"
                + (r"tp: CTF trace '[^\n]*': records lost: [1-9][^\n]*\n" if lost else self.LOST_ONLY))

    def lost(self, out: str, cause: int = NO_FILE) -> int:
        """As the program was told; all for this cause."""
        lost = int(re.search(r"^lost (\d+)$", out, re.M)[1])
        for number, count in re.findall(r"^lost-(\d+) (\d+)$", out, re.M):
            self.assertEqual(int(count), lost if int(number) == cause else 0, out + self.repeat)
        return lost

    def loses(self, why: str, *commands: object, trace: str = "", resumes: bool = False, packet: str = "16K") -> None:
        """The commands bring the trouble."""
        out = self.record(f"open={trace or self.trace},packet={packet}", "text=300", "threads=2", "until=50",
                          *commands, "stop", "lost", "close", message=self.said(why))
        found = self.read_trace(trace)
        whos = self.whos()
        self.compare(whos, found, lost=True)
        self.assertEqual(found.events() + self.lost(out), self.hits(), out + self.repeat)
        self.assertGreater(found.discarded, 0)
        for i, who in whos.items():
            if who.hits and (resumes or i in found.seen):
                seen = found.seen[i]
                text = f"{i}: {who} {seen}{self.repeat}"
                self.assertTrue(not resumes or seen.last + 1 == who.hits and (seen.breaks or seen.first), text)

    def loses_nothing(self, *commands: object, **env: str) -> None:
        out = self.record(f"open={self.trace},packet=8K", "threads=2", "until=50", *commands, "until=1000", "stop",
                          "lost", "close", **env)
        self.assertEqual(self.lost(out), 0)
        self.all_is_there()

    def test_removed_packets_of_a_flight_recorder(self) -> None:
        """They are written to all the same; at the end it is said that they are gone. A directory goes with its packets."""
        for what in ("/stream-*", ""):
            self.record(f"open={self.trace},mode=flight,packet=4K,packets=4", "threads=2", "until=1000", "hold",
                        f"sh=rm -r {self.trace}{what}", "go", "until=5000", "stop", "close",
                        message=r"tp: CTF trace '[^\n]*': somebody has removed [1-9]\d* of its packets, [^\n]*\n")
            self.again()

    # ---- No room ----

    def trace_on_small_disk(self) -> str:
        """The trace's directory, on a disk of 300 KB with 100 KB in the way."""
        disk = self.small_disk("300k")
        with open(os.path.join(disk, "ballast"), "wb") as file:
            file.write(bytes(100000))
        return os.path.join(disk, "trace")

    def test_full_disk(self) -> None:
        trace = self.trace_on_small_disk()
        self.loses("No space left", "untillost=1000", trace=trace)

    def test_full_disk_that_has_room_again(self) -> None:
        trace = self.trace_on_small_disk()
        ballast = os.path.join(os.path.dirname(trace), "ballast")
        # So much that it is not full again before the end.
        self.loses("No space left", "untillost=1000", EACH, "hold", f"sh=rm {ballast}; sleep 0.15", "each=50", trace=trace,
                   resumes=True)

    def test_full_disk_and_a_flight_recorder(self) -> None:
        """Which has all that it needs."""
        trace = self.trace_on_small_disk()
        self.record(f"open={trace},mode=flight,packet=8K,packets=3", "threads=2", "until=5000",
                    f"sh=cat /dev/zero >{os.path.dirname(trace)}/more 2>&- || :", "until=5000", "stop", "close")
        self.compare(self.whos(), self.read_clean(trace), newest=True)

    def test_disk_full_from_the_start(self) -> None:
        """The directory and the metadata find room, the first packet not; and later it does."""
        trace = self.trace_on_small_disk()
        disk = os.path.dirname(trace)
        out = self.record(f"open={trace},packet=16K", f"sh=cat /dev/zero >{disk}/more 2>&- || :", "hit=20",
                          f"sh=rm {disk}/more; sleep 0.15", "hit=30", "lost", "close",
                          message=self.said("No space left"))
        found = self.read_trace(trace)
        self.assertEqual((self.lost(out), found.events()), (20, 30))

    def test_no_room_for_the_metadata(self) -> None:
        trace = self.trace_on_small_disk()
        done = run(["sh", "-c", f"cat /dev/zero >{os.path.dirname(trace)}/more"])
        self.assertNotEqual(done.returncode, 0)
        self.record(f"open={trace}", "hit=1", status=99, message=r"(tp: .*\n)?recorder: .*: No space left.*\n")

    def test_file_size_limit(self) -> None:
        self.loses("File too large", "fsize=4096", "untillost=1000")

    def test_file_size_limit_that_is_lowered_just_now(self) -> None:
        """Between the look at it and the making of a packet: then the system sends a signal, which must not end the program."""
        source = self.write("nolimit.c", "#define _GNU_SOURCE\n#include <sys/resource.h>\n"
                            "int getrlimit(__rlimit_resource_t which, struct rlimit *limit)\n"
                            "{ (void)which; limit->rlim_cur = limit->rlim_max = RLIM_INFINITY; return 0; }\n")
        self.succeed(["gcc", "-shared", "-fPIC", "-o", self.path("nolimit.so"), source])
        out = self.record(f"open={self.trace},packet=16K", "text=300", "threads=2", "until=50", "fsize=4096", "untillost=1000",
                          "stop", "lost", "close", message=self.said("File too large"), LD_PRELOAD=self.path("nolimit.so"))
        self.assertGreaterEqual(self.lost(out), 1000)

    def test_file_size_limit_that_is_lifted(self) -> None:
        self.loses("File too large", "fsize=4096", "untillost=1000", EACH, "fsize=1000000", "sleep=150000", "until=5000",
                   resumes=True)

    def test_no_more_memory(self) -> None:
        """Less than there is: with so much as there is now, packets that go make room for those that come."""
        self.loses("Cannot allocate memory", "as=-1500000", "untillost=100", packet="1M")

    # ---- The directory ----

    def test_unwritable_directory(self) -> None:
        os.mkdir(self.path("locked"), 0o555)
        commands = [f"setuid={NOBODY}"] if os.geteuid() == 0 else []
        self.record(*commands, f"open={self.path('locked')}/trace", status=99,
                    message=r"(tp: .*\n)?recorder: .*: Permission denied\n")

    def test_directory_is_removed(self) -> None:
        # The helper may make a packet while rm looks away, and rm then finds that the directory is not empty.
        out = self.record(f"open={self.trace},packet=8K", "threads=2", "until=50", "hold",
                          f"sh=until rm -rf {self.trace} 2>/dev/null; do :; done", "go", "untillost=1000", "stop", "lost", "close",
                          message=self.said("No such file or directory"))
        self.assertGreaterEqual(self.lost(out), 1000)
        self.assertFalse(os.path.exists(self.trace))

    def test_another_directory_in_its_place(self) -> None:
        """Nothing is put into it."""
        self.record(f"open={self.trace},packet=8K", "threads=2", "until=50",
                    f"sh=mv {self.trace} {self.trace}-old; mkdir {self.trace}", "hold", "closefrom=3", "go",
                    "untillost=1000", "stop", "close", message=self.said("No such file or directory"))
        self.assertEqual(os.listdir(self.trace), [])
        self.compare(self.whos(), self.read_trace(f"{self.trace}-old"), lost=True)

    def test_directory_is_a_link(self) -> None:
        os.mkdir(self.path("target"))
        os.symlink("target", self.trace)
        self.record(f"open={self.trace}", status=99,
                    message=r"(tp: .*\n)?recorder: .*: (Not a directory|Too many levels of symbolic links)\n")
        self.assertEqual(os.listdir(self.path("target")), [])

    def test_names_taken_in_advance(self) -> None:
        """Links and files under the names to come: what they lead to is left alone, and none is written to."""
        victim = self.write("victim", "precious")
        take = (f"for i in 0 1; do for j in 1 2 3; do ln -s {victim} {self.trace}/.stream-$PPID-$((3 * i + j)); "
                f"ln -s {victim} {self.trace}/stream-$PPID-$i-$j; done; done; "
                f"ln -s {victim} {self.trace}/.metadata-$PPID")
        release = f"find {self.trace} -type l -delete"
        self.record(f"open={self.trace},packet=8K", f"sh={take}", "text=300", "threads=2", "sleep=300000",
                    f"sh={release}", "sleep=150000", "until=100", "stop", "lost", "close",
                    message=rf"({self.said('File exists', lost=False)})?")
        self.assertEqual(open(victim, encoding="ascii").read(), "precious")
        self.all_is_counted()

    def test_foreign_files_are_refused(self) -> None:
        self.write("trace/notes", "mine")
        self.record(f"open={self.trace}", status=99, message=r"(tp: .*\n)?recorder: .*: Directory not empty\n")
        os.rename(self.path("trace/notes"), self.path("trace/metadata"))
        self.record(f"open={self.trace}", status=99, message=r"(tp: .*\n)?recorder: .*: File exists\n")
        self.assertEqual(os.listdir(self.trace), ["metadata"])

    # ---- What programs do to themselves ----

    def test_descriptors_are_closed(self) -> None:
        self.loses_nothing("hold", "closefrom=3", "go")

    def test_descriptors_are_taken(self) -> None:
        """Theirs are neither written to nor closed."""
        self.loses_nothing("hold", "closefrom=3", "take", "go", "until=1000", "taken", "threads=1", "until=50", "taken")

    def test_descriptors_are_closed_in_the_middle(self) -> None:
        """Of a packet's making, even: what is lost for that is counted."""
        for _ in range(4):
            self.record(f"open={self.trace},packet=4K", "threads=2", "until=50", "closefrom=3", "sleep=150000",
                        "until=1000", "stop", "close", message=rf"({self.said('', lost=False)})?")
            self.all_is_counted()
            self.again()

    def test_no_descriptors(self) -> None:
        self.loses("Too many open files", "nofile=0", "untillost=1000", EACH, "nofile=1000", "sleep=150000", "until=1000",
                   resumes=True)

    def test_no_descriptors_and_none_in_reserve(self) -> None:
        """What is said is why the packet can't be made, not how a look at what was in reserve failed. The directory is 3."""
        self.loses("Too many open files", "hold", "closefrom=4", "nofile=0", "go", "untillost=1000", EACH, "nofile=1000",
                   "sleep=150000", "until=1000", resumes=True)

    def test_chdir(self) -> None:
        os.mkdir(self.path("elsewhere"))
        self.record("open=trace,packet=8K", "threads=2", "until=50", f"chdir={self.path('elsewhere')}", "hold",
                    "closefrom=3", "go", "until=1000", "stop", "close")
        self.all_is_there()
        self.assertEqual(os.listdir(self.path("elsewhere")), [])

    def root(self) -> None:
        if os.geteuid() != 0:
            unavailable(self, "to become another user, or to change the root, takes root")

    def test_chroot(self) -> None:
        self.root()
        os.mkdir(self.path("jail"))
        self.loses_nothing(f"chroot={self.path('jail')}")
        self.assertEqual(os.listdir(self.path("jail")), [])

    def test_chroot_and_closed_descriptors(self) -> None:
        self.root()
        os.mkdir(self.path("jail"))
        self.loses("No such file or directory", f"chroot={self.path('jail')}", "hold", "closefrom=3", "go",
                   "untillost=1000")

    def test_becomes_nobody_who_has_the_directory(self) -> None:
        self.root()
        os.mkdir(self.trace)
        os.chown(self.trace, NOBODY, NOBODY)
        self.loses_nothing(f"setuid={NOBODY}")
        self.assertIn(NOBODY, {os.stat(path).st_uid for path in files(self.trace)})

# SPDX-License-Identifier: MIT
"""Whole programs under a filter: the lists of docs/internals/system-calls.md, and those of programs that are known for theirs."""

from __future__ import annotations

import errno
import os
import re
import sys
from itertools import product

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from sandboxes import DOCUMENT, MOMENTS, SANDBOXED, SIGSYS, Run, Sandboxes, rows  # noqa: E402
from support import both, few_or_many, need, read  # noqa: E402

TEXT = "`text:`"
RECORDER = "`ctf:` in `mode=flight`" + SANDBOXED

# No program gets by with less.
STRICT = ("read", "write", "futex", "exit_group", "clock_gettime", "rt_sigprocmask")

# What a program does that makes and joins threads, tells its result and exits, with glibc 2.36.
LIFE = ("clone3", "exit", "exit_group", "futex", "madvise", "mmap", "mprotect", "munmap", "rseq", "rt_sigprocmask",
        "sched_yield", "set_robust_list", "write")

# memcached 1.6 with -o drop_privileges: its main thread, and its workers. Other calls are SIGSYS.
MEMCACHED = ("sigreturn", "rt_sigreturn", "rt_sigprocmask", "rt_sigaction", "futex", "epoll_wait", "epoll_pwait",
             "epoll_ctl", "accept4", "accept", "write", "writev", "fstat", "close", "mmap", "munmap", "shmctl", "exit",
             "exit_group", "brk", "msync", "umask", "clock_gettime")
MEMCACHED_WORKER = ("sigreturn", "rt_sigreturn", "rt_sigprocmask", "rt_sigaction", "futex", "epoll_wait", "epoll_pwait",
                    "epoll_ctl", "poll", "ppoll", "read", "readv", "mprotect", "getpeername", "close", "sendmsg",
                    "getrusage", "mmap", "mremap", "munmap", "recvfrom", "brk", "msync", "clone", "set_robust_list",
                    "madvise", "exit", "getsockname", "getpid", "write:0=1", "writev:0=1", "write:0=2", "writev:0=2")

# OpenSSH's, of the process that talks to strangers. Some calls fail, others end it.
READ_WRITE = 3
OPENSSH = (*(f"{call}!{errno.EACCES}" for call in ("lstat", "fstat", "open", "openat", "newfstatat", "stat", "shmget",
                                                   "shmat", "shmdt", "statx")),
           "brk", "clock_gettime", "close", "exit", "exit_group", "futex", "geteuid", "getpgid", "getpid", "getrandom",
           "gettid", "gettimeofday", "getuid", "madvise:2=4", f"mmap:2&{READ_WRITE}", f"mprotect:2&{READ_WRITE}",
           "mremap", "munmap", "nanosleep", "clock_nanosleep", "ppoll", "poll", "pselect6", "read", "rt_sigprocmask",
           "select", "shutdown", "time", "write", "writev", "getsockopt", "getsockname", "getpeername", "uname")

OTHERS = ("`sdt:`" + SANDBOXED, "`stats:`" + SANDBOXED)
# Of a flight recorder whose threads meet, in no row: once in hundreds of runs.
SELDOM = {"unlinkat"}
FEW = {"SANDBOX_HITS": "20"}  # a packet holds more
FEW_TO_STDERR = {**FEW, "TP_OUTPUT": "text:stderr"}


class Lists(Sandboxes):
    def list_of(self, title: str) -> set[str]:
        """The last filter in the document's part of this title."""
        part = read(DOCUMENT).split(f"\n### {title}\n")[1].split("\n#")[0]
        return set(re.findall(r"SCMP_SYS\((\w+)\)", part)) or set(part.split("SystemCallFilter=")[-1].split("\n")[0].split())

    def test_lists_to_copy(self) -> None:
        """They are the table's."""
        everything = {call for row in rows() for call in row.calls} | self.helper()
        later = {call for row in rows() for call in row.calls if MOMENTS[row.moment] != "open"} | self.helper()
        for title, expected in (("Everything but the opening", later), ("systemd", everything),
                                ("A flight recorder with `TP_SANDBOX=1`", self.after_the_first_event(RECORDER) | {"futex"} | SELDOM),
                                ("Text with `TP_SANDBOX=1`", self.after_the_first_event(TEXT + SANDBOXED) | {"futex"})):
            self.assertEqual(sorted(self.list_of(title)), sorted(expected), title)

    def helper(self) -> set[str]:
        return set(re.findall(r"`(\w+)`", read(DOCUMENT).split("is set: ")[1].split(".\n")[0]))

    def after_the_first_event(self, sink: str) -> set[str]:
        moments = ("first", "event", "rename", "together", "packet", "ring", "taken", "thread", "end", "message")
        return {call for row in rows() if row.sink == sink and MOMENTS[row.moment] in moments for call in row.calls}

    def lives(self, sink: str, calls: set[str]) -> Run:
        return self.sandbox(sink, "life", "kill", *sorted(calls | set(LIFE)), SANDBOX_NEW_THREADS="1")

    def life(self, sink: str, *more: str) -> None:
        """Old and new threads, packets that get full, the end: the union of the table's rows is enough."""
        self.need_these_calls()
        done = self.lives(sink, self.after_the_first_event(sink) | (SELDOM if sink == RECORDER else set()) | set(more))
        self.assertEqual((done.status, done.err), (0, ""))
        recorded = done.recorded()
        if recorded is not None:
            self.assertEqual(recorded + done.number("lost"), done.number("hits"))
        self.assertGreaterEqual(done.number("hits"), 8000)

    def test_life_of_text(self) -> None:
        self.life(TEXT)

    def test_life_of_text_in_a_sandbox(self) -> None:
        self.life(TEXT + SANDBOXED)

    def test_life_of_ctf(self) -> None:
        need(self, "babeltrace2")
        self.life("`ctf:`", *self.helper())

    def test_life_of_perfetto(self) -> None:
        self.life("`perfetto:`")

    def test_life_of_recorder(self) -> None:
        self.life("`ctf:` in `mode=flight`")

    def test_life_of_recorder_in_a_sandbox(self) -> None:
        self.life(RECORDER)

    def test_life_of_stats(self) -> None:
        self.life("`stats:`")

    def test_life_of_sdt(self) -> None:
        self.life("`sdt:`")


class Refused(Sandboxes):
    """A safety that can't be had is no reason to lose a record."""

    def test_nothing_is_lost(self) -> None:
        need(self, "babeltrace2")

        def refused(sink: str, moment: str, call: str, error: str) -> None:
            done = self.sandbox(sink, moment, error, call)
            self.assertEqual((done.status, done.err), (0, ""), (sink, call, error))
            self.assertEqual(done.number("lost"), 0, (sink, call, error))
            self.assertEqual(done.recorded(), done.number("hits"), (sink, call, error))
        calls = (*((TEXT, "event", call) for call in ("fcntl", "fstat", "newfstatat", "rt_sigprocmask", "gettid")),
                 ("`ctf:`", "first", "fstat"), ("`ctf:`", "first", "gettid"), ("`ctf:`", "packet", "fstat"))
        self.together(refused, *((*call, error) for call in calls for error in ("EPERM", "ENOSYS")))

    @both
    def test_membarrier(self) -> None:
        """By which liburcu reaches the readers, and aborts the program without: they are waited for all the same."""
        def refused(moment: str, error: str, libtp: str) -> None:
            done = self.sandbox(TEXT, moment, error, "membarrier", libtp=libtp)
            self.assertEqual((done.status, done.err), (0, ""), (moment, error, libtp))
        self.together(refused, *product(("register", "unregister", "close"), ("EPERM", "ENOSYS"), ("shared", "static")))


class Device(Sandboxes):
    """It raises no signal, so that none is held back."""

    def test_event(self) -> None:
        self.need_these_calls()
        done = self.sandbox(TEXT, "event", "kill", "fcntl", "write", TP_OUTPUT="text:/dev/null")
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertEqual(done.number("lost"), 0)


class Recorder(Sandboxes):
    """A flight recorder whose ring is full makes no system call."""

    @both
    def test_full(self) -> None:
        """Of one thread; and of one of several, after a snapshot."""
        def full(moment: str, sink: str, libtp: str) -> None:
            done = self.sandbox(sink, moment, "kill", libtp=libtp, SANDBOX_HITS=str(few_or_many(50000, 1000000)))
            self.assertEqual((done.status, done.err), (0, ""), (moment, sink, libtp))
            self.assertEqual(done.number("lost"), 0, (moment, sink, libtp))
        self.together(full, *product(("ring", "rings"), (RECORDER, RECORDER.removesuffix(SANDBOXED)), ("shared", "static")))

    @both
    def test_from_the_first_event_on(self) -> None:
        """With TP_SANDBOX=1 that makes a thread's ring: no call is needed by it but what a thread needs that waits."""
        def strict(workers: int, limits: str, libtp: str) -> None:
            done = self.sandbox(RECORDER, "first_event_on", "kill", *STRICT, "--", *STRICT, libtp=libtp,
                                SANDBOX_WORKERS=str(workers), SANDBOX_HITS=str(few_or_many(50000, 1000000)),
                                TP_OUTPUT=f"ctf:{self.path(f'{workers}-{limits}-{libtp}')},mode=flight,packet=4K,{limits}")
            self.assertEqual((done.status, done.err), (0, ""), (workers, limits, libtp))
            self.assertEqual(done.number("lost"), 0, (workers, limits, libtp))
        self.together(strict, *product((0, 1, 3), ("packets=8", "size=64K"), ("shared", "static")))

    def test_not_full(self) -> None:
        """Nor does any, up to the end of a packet."""
        done = self.sandbox(RECORDER, "event", "kill")
        self.assertEqual((done.status, done.number("hits"), done.number("lost")), (0, 11, 0))


class Memcached(Sandboxes):
    def memcached(self, sink: str, **more: str) -> Run:
        return self.sandbox(sink, "workers", "kill", *MEMCACHED, "--", *MEMCACHED_WORKER, **more)

    def recorder(self) -> None:
        done = self.memcached(RECORDER, **FEW)
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertEqual(done.number("lost"), 0)
        self.assertIn("sandbox:sandbox_hit", self.succeed(["babeltrace2", done.file]).stdout)

    def recorder_goes_round(self) -> None:
        done = self.memcached(RECORDER)
        self.assertEqual((done.status, done.err), (0, ""))

    def text(self) -> None:
        """Workers may write to the standard descriptors only."""
        done = self.memcached(TEXT + SANDBOXED, **FEW_TO_STDERR)
        self.assertEqual(done.status, 0)
        self.assertGreaterEqual(done.err.count("sandbox:sandbox_hit"), done.number("hits"))

    def other(self, sink: str) -> None:
        done = self.memcached(sink)
        self.assertEqual((done.status, done.err), (0, ""), sink)
        self.assertEqual(done.number("lost"), 0)

    def killed(self, sink: str, more: dict[str, str]) -> None:
        self.assertEqual(self.memcached(sink, **more).status, SIGSYS, sink)

    def test_in_a_sandbox(self) -> None:
        need(self, "babeltrace2")
        self.together(lambda check, *args: check(*args), (self.recorder,), (self.recorder_goes_round,), (self.text,),
                      *((self.other, sink) for sink in OTHERS))

    def test_killed(self) -> None:
        """Without TP_SANDBOX=1."""
        self.together(self.killed, (RECORDER.removesuffix(SANDBOXED), FEW), (TEXT, FEW_TO_STDERR), ("`stats:`", FEW))


class OpenSSH(Sandboxes):
    def openssh(self, sink: str, **more: str) -> Run:
        return self.sandbox(sink, "alone", "kill", *OPENSSH, SANDBOX_LIMITS="1", **more)

    def recorder(self) -> None:
        done = self.openssh(RECORDER, **FEW)
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertEqual((done.number("hits"), done.number("lost")), (61, 0))
        self.assertEqual(self.succeed(["babeltrace2", done.file]).stdout.count("sandbox:sandbox_hit"), 61)

    def recorder_goes_round(self) -> None:
        done = self.openssh(RECORDER)
        self.assertEqual((done.status, done.err), (0, ""))

    def other(self, sink: str) -> None:
        done = self.openssh(sink)
        self.assertEqual((done.status, done.err), (0, ""), sink)
        self.assertEqual(done.number("lost"), 0)

    def text(self, sink: str) -> None:
        """fstat fails: the lines are written all the same."""
        done = self.openssh(sink, **FEW_TO_STDERR)
        self.assertEqual((done.status, done.err.count("sandbox:sandbox_hit")), (0, 61), sink)
        self.assertEqual((done.number("hits"), done.number("lost")), (61, 0), sink)

    def test_with_and_without_a_sandbox(self) -> None:
        need(self, "babeltrace2")
        self.together(lambda check, *args: check(*args), (self.recorder,), (self.recorder_goes_round,),
                      *((self.other, sink) for sink in OTHERS), (self.text, TEXT), (self.text, TEXT + SANDBOXED))

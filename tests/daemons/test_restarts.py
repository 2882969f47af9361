# SPDX-License-Identifier: MIT
"""A daemon that is started again has a trace again; what the one before it recorded is kept, as long as keep= says."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from building import build  # noqa: E402
from daemons import HANDLER, Daemons, built  # noqa: E402
from support import PATIENCE, need, read, run, unavailable  # noqa: E402

REFUSED = r"tp: TP_OUTPUT=ctf:[^\n]*: (File exists; there is a trace in it already|Directory not empty;)[^\n]*\n"


class Restarts(Daemons):
    def setUp(self) -> None:
        super().setUp()
        need(self, "babeltrace2")
        os.mkdir(self.path("all"))

    def once(self, *steps: str, name: str = "trace", options: str = "", said: str = "") -> None:
        """Starts the program, and waits for its end."""
        done = run([self.program, *steps], cwd=self.path("all"), timeout=PATIENCE,
                   env=self.environment(TP_ENABLE="*", TP_OUTPUT=f"ctf:{name},packet=8K{options}"))
        self.assertRegex(done.stderr, rf"\A{said}\Z")
        self.assertIn(done.returncode, (0, -signal.SIGKILL))

    def hits(self, count: int, *more: str, **how: str) -> None:
        """It hits so many times, by which its trace is known."""
        self.once(f"work={count}", *more, **how)

    def held(self, *steps: str, name: str = "trace") -> None:
        """One that lives until "go" is there."""
        self.start(*steps, f"pid={self.path('pid')}", f"wait={self.path('go')}", cwd="all", TP_ENABLE="*",
                   TP_OUTPUT=f"ctf:{name}", TP_LOG="/dev/null")
        self.wait_for("pid")

    def release(self) -> None:
        pid = self.pid()
        self.write("go", "")
        self.gone(pid)
        for name in ("go", "pid"):
            os.unlink(self.path(name))

    def counts(self) -> dict[str, int]:
        """The records of each trace, by its name, which must be 1, 2, 3 ..."""
        found = {}
        for name in sorted(os.listdir(self.path("all"))):
            if os.path.exists(self.path(f"all/{name}/metadata")):
                records = self.records(self.path(f"all/{name}"))
                self.assertEqual(sorted(records), list(range(1, len(records) + 1)))
                found[name] = len(records)
        return found

    def clear(self) -> None:
        shutil.rmtree(self.path("all"))
        os.mkdir(self.path("all"))

    def snapshot(self, name: str) -> list[tuple[str, int, int, str]]:
        """All that is below it: names, inodes, modes and contents."""
        found = []
        for top, directories, files in os.walk(self.path(f"all/{name}")):
            for entry in sorted((*directories, *files)):
                path = os.path.join(top, entry)
                st = os.lstat(path)
                found.append((path, st.st_ino, st.st_mode, read(path) if os.path.isfile(path) else ""))
        return found


class Names(Restarts):
    def test_again(self) -> None:
        """However the process has ended."""
        for options in ("", ",mode=flight", ",prepare=thread"):
            with self.subTest(options=options):
                self.hits(1, options=options)
                self.hits(2, "kill", options=options)
                self.hits(3, "fork", f"pid={self.path('pid')}", "kill", options=options)
                self.gone(self.pid())  # it may close its pipe before its trace
                os.unlink(self.path("pid"))
                self.hits(4, options=options)
                self.hits(600, "kill", options=options)
                self.assertEqual(self.counts(), {"trace": 600, "trace.1": 1, "trace.2": 2, "trace.3": 3, "trace.4": 4})
                self.clear()

    def test_one_that_was_forked_lives(self) -> None:
        """Its launcher is gone, and it has closed every descriptor."""
        for steps in (("work=1",), ("work=1", "closeall"), ("fork", "work=1"), ("work=1", "double", "closeall"),
                      ("closeall", "double", "work=1")):
            with self.subTest(steps=steps):
                self.held(*steps)
                self.hits(5, said=REFUSED)
                self.assertEqual(self.counts(), {"trace": 1})
                self.release()
                self.hits(5)
                self.assertEqual(self.counts(), {"trace": 5, "trace.1": 1})
                self.clear()

    def test_exec(self) -> None:
        """The process is the same, but what wrote the trace is gone."""
        for name in ("trace", "t-%p"):
            self.once("work=2", f"exec={self.program}", name=name,
                      said=r"tp: CTF trace '(trace|t-\d+)': what process \d+ recorded there before, as the program that has "
                           r"called exec or as an earlier process, is in '\1\.1' now\n")
            counts = self.counts()
            self.assertEqual(sorted(counts.values()), [1, 2])
            old = max(counts, key=len)
            self.assertEqual((counts[old], old.endswith(".1")), (2, True))
            self.clear()

    def test_not_a_trace_of_ours(self) -> None:
        """It is neither renamed nor written to, and nothing in it is removed."""
        def lttngs() -> None:
            text = read(self.path("all/trace/metadata"))
            self.write("all/trace/metadata", text.replace('"tp"', '"lttng-ust"'))

        def link() -> None:
            os.rename(self.path("all/trace/metadata"), self.path("metadata"))
            os.symlink(self.path("metadata"), self.path("all/trace/metadata"))

        for spoil in (lambda: self.write("all/trace/README", "mine"),
                      lambda: self.write("all/trace/.hidden", "mine"),
                      lambda: self.write("all/trace/stream-1-2-x", "mine"),
                      lambda: self.write("all/trace/format/mine", "mine"),
                      lambda: os.mkdir(self.path("all/trace/mine")),
                      lambda: os.mkdir(self.path("all/trace/format/mine")),
                      lambda: os.symlink("metadata", self.path("all/trace/stream-1-1-1")),
                      lambda: os.unlink(self.path("all/trace/.lock")),  # as older versions make it, and snapshots
                      link, lttngs):
            self.hits(1)
            spoil()
            before = self.snapshot("trace")
            for options in ("", ",keep=1"):
                self.once("work=1", options=options, said=REFUSED)
                self.assertEqual(self.snapshot("trace"), before)
                self.assertEqual(os.listdir(self.path("all")), ["trace"])
            self.clear()

    def test_the_name_is_a_link(self) -> None:
        self.hits(1, name="old")
        os.symlink("old", self.path("all/trace"))
        self.once("work=1", said=r"tp: TP_OUTPUT=[^\n]*symbolic link[^\n]*\n")
        self.assertEqual(self.counts(), {"old": 1, "trace": 1})

    def test_a_number_is_taken(self) -> None:
        self.write("all/trace.7", "mine")
        os.mkdir(self.path("all/trace.x"))
        self.hits(1)
        self.hits(2)
        self.hits(3)
        self.assertEqual(self.counts(), {"trace": 3, "trace.8": 1, "trace.9": 2})
        self.assertEqual(read(self.path("all/trace.7")), "mine")

    def test_many_at_once(self) -> None:
        """One of them records; the trace of the dead one is kept, once."""
        for _ in range(10):
            self.hits(9, "kill")
            processes = [self.start("work=4", f"pid={self.path(name)}", f"wait={self.path('go')}", cwd="all",
                                    stderr=subprocess.PIPE, TP_ENABLE="*", TP_OUTPUT="ctf:trace") for name in "abcdef"]
            for name in "abcdef":
                self.wait_for(name)
                os.unlink(self.path(name))
            self.write("go", "")
            said = [process.communicate(timeout=PATIENCE)[1].decode() for process in processes]
            self.assertEqual(sorted(map(bool, said)), [False] + [True] * 5, said)
            self.assertEqual(self.counts(), {"trace": 4, "trace.1": 9})
            self.clear()
            os.unlink(self.path("go"))

    def test_the_same_id_again(self) -> None:
        """As in containers, where each start has the same one; and in a signal handler that must not allocate."""
        if os.geteuid() or run(["unshare", "--pid", "--fork", "true"]).returncode:
            unavailable(self, "no namespace of process ids can be made")
        program = build(self.path("program"), self.write("program.c", HANDLER), include=[built()])
        for command in ([self.program, "children=1", "work=7", "kill"], [program]):
            for _ in range(3):
                done = run(["unshare", "--pid", "--fork", *command], cwd=self.path("all"),
                           env=self.environment(TP_ENABLE="*", TP_OUTPUT="ctf:t-%p,prepare=self"))
                self.assertEqual((done.returncode, done.stderr), (0, ""))
            names = sorted(os.listdir(self.path("all")))
            self.assertEqual(names, ["t-2", "t-2.1", "t-2.2"])
            for name in names:
                self.assertEqual(self.records(self.path(f"all/{name}"))[-1], 7)
            self.clear()


class Keep(Restarts):
    def test_of_a_name(self) -> None:
        for count in range(1, 7):
            self.hits(count, options=",keep=2")
        self.assertEqual(self.counts(), {"trace": 6, "trace.4": 4, "trace.5": 5})
        self.assertEqual(len(os.listdir(self.path("all"))), 3)
        self.hits(7, options=",keep=1")
        self.assertEqual(self.counts(), {"trace": 7, "trace.6": 6})
        self.hits(8)
        self.assertEqual(self.counts(), {"trace": 8, "trace.6": 6, "trace.7": 7})

    def test_with_process_ids(self) -> None:
        """The oldest go, whatever their ids are."""
        for count in range(1, 8):
            self.hits(count, name="t-%p", options=",keep=3", *random.choice(((), ("kill",))))
        self.assertEqual(sorted(self.counts().values()), [4, 5, 6, 7])
        self.assertEqual(len(os.listdir(self.path("all"))), 4)

    def test_that_lives(self) -> None:
        """It is the oldest, and its process has closed all."""
        self.held("work=1", "closeall", name="t-%p")
        for count in range(2, 6):
            self.hits(count, name="t-%p", options=",keep=1")
        self.assertEqual(sorted(self.counts().values()), [1, 4, 5])
        self.release()
        self.hits(6, name="t-%p", options=",keep=1")
        self.assertEqual(sorted(self.counts().values()), [5, 6])

    def test_others_stay(self) -> None:
        """Other names, other files, and links."""
        for name in ("t-12x", "t-", "t-12.x", "t-0", "u-12", "t-99999999999", "t--5", "xt-12", "t-012"):
            self.hits(1, name=name)
        self.hits(2, name="t-12")
        self.write("all/t-12/.notes", "mine")
        self.hits(2, name="elsewhere")
        os.symlink("elsewhere", self.path("all/t-13"))
        os.mkdir(self.path("all/t-14"))
        self.write("all/t-15", "mine")
        self.hits(3, name="t-16")
        os.unlink(self.path("all/t-16/.lock"))
        before = self.snapshot("")
        for name in ("t-17", "t-18", "t-19"):
            self.hits(4, name=name)
        self.hits(5, name="t-%p", options=",keep=1")
        gone = self.snapshot("")
        self.assertEqual([entry for entry in before if entry not in gone], [])
        counts = self.counts()
        self.assertEqual([name for name in ("t-17", "t-18", "t-19") if name in counts], ["t-19"])

    def test_all_that_a_trace_may_have(self) -> None:
        """Packets that were made ahead, messages, several processes, half a file of metadata."""
        self.hits(2000, "children=2", "work=2000", "plugin=" + os.path.join(built(), "plugin.so"), "kill", options=",prepare=thread",
                  said=r"(tp: [^\n]*\n)*")
        self.assertTrue(os.path.isdir(self.path("all/trace/log")))
        self.write("all/trace/.metadata-77", "half")
        self.write("all/trace/.stream-77-1", "half")
        self.hits(1, options=",keep=1")
        self.assertTrue(os.path.isdir(self.path("all/trace.1")))
        self.hits(1, options=",keep=1")
        self.assertEqual(sorted(os.listdir(self.path("all"))), ["trace", "trace.2"])

    def test_killed_in_the_middle(self) -> None:
        """Of a trace's making, or of its removal."""
        self.hits(1)
        self.write("all/trace/format/other", "")
        self.hits(2)
        os.mkdir(self.path("all/trace.7"))
        self.write("all/trace.7/.lock", "")
        os.mkdir(self.path("all/trace.8"))
        self.hits(3)
        self.assertEqual(self.counts(), {"trace": 3, "trace.1": 1, "trace.9": 2})
        self.hits(4, options=",keep=2")
        self.assertEqual(sorted(os.listdir(self.path("all"))), ["trace", "trace.10", "trace.8", "trace.9"])

    def test_values(self) -> None:
        for value in ("0", "-1", "x", "", "1K"):
            self.once(options=f",keep={value}",
                      said=r"tp: CTF trace 'trace': option 'keep=[^\n]*': keep= takes 1 or more; there is no trace\n")
            self.assertEqual(os.listdir(self.path("all")), [])

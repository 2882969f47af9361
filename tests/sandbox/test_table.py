# SPDX-License-Identifier: MIT
"""The table of docs/internals/system-calls.md: with these system calls each moment works, without any of them it does not."""

from __future__ import annotations

import os
import socket
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../lttng")]

from daemon import Daemon  # noqa: E402
from sandboxes import (DOCUMENT, MAY_FAIL, MEETS_HELPER, MOMENTS, MUST_NOT_FAIL, NOT_ONLY_THE_RUNTIMES, OWN,  # noqa: E402
                       SIGSYS, Row, Run, Sandboxes, rows)
from support import UPDATE, need, read  # noqa: E402

CHECK_ALL = "each line of the table is a run of each program"

NEEDED = {"`ctf:`": "babeltrace2"}

# Some calls are made in some runs only: if threads meet in a certain way (a third of the runs), or if the clock is measured
# anew, which a busy processor puts off.
TRIES = 60


class Table(Sandboxes):
    """For one kind of sink after the other."""

    def of_table(self, *sinks: str) -> list[Row]:
        found = [row for row in rows() if row.sink.startswith(sinks)]
        self.assertTrue(found)
        return found

    def watched(self, row: Row) -> Row:
        moment = MOMENTS[row.moment]
        done = self.sandbox(row.sink, moment, "watch")
        self.assertEqual(done.status, 0, f"{row}\n{done.err}")
        maybe = NOT_ONLY_THE_RUNTIMES.get(moment, set()) & set(row.calls)
        calls = (set(done.calls) | maybe) - set(OWN.get(moment, ()))
        return Row(row.sink, row.moment, tuple(sorted(calls)))

    def complete(self, row: Row) -> None:
        """Nothing else is called."""
        moment = MOMENTS[row.moment]
        lock = ("futex",) if (row.sink, moment) in MEETS_HELPER else ()
        done = self.sandbox(row.sink, moment, "kill", *row.calls, *lock, *OWN.get(moment, ()))
        self.assertEqual(done.status, 0, f"{row}\nkilled; called are: {self.watched(row).calls}\n{done.err}")
        self.counted(row, done)

    def minimal(self, row: Row, call: str) -> None:
        moment = MOMENTS[row.moment]
        others = [other for other in row.calls if other != call]
        for _ in range(TRIES):
            done = self.sandbox(row.sink, moment, "kill", *others, *OWN.get(moment, ()))
            if done.status == SIGSYS:
                break
        self.assertEqual(done.status, SIGSYS, f"{row}\n{call} is not needed")

    def fails(self, row: Row, call: str, error: str) -> None:
        """The program goes on, and each record is there or counted as lost."""
        done = self.sandbox(row.sink, MOMENTS[row.moment], error, call)
        if MOMENTS[row.moment] == "open" and done.status == 1:  # the function has returned an error
            if call != "write":
                self.assertRegex(done.err, r"(?m)^sandbox: open: .*$")
            return
        self.assertEqual(done.status, 0, f"{row}\n{call} fails with {error}\n{done.err}")
        self.counted(row, done)

    def counted(self, row: Row, done: Run) -> None:
        if MOMENTS[row.moment] in ("end", "together", "open"):
            return
        if MOMENTS[row.moment] == "fork" and row.sink.startswith("`stats:`"):
            return  # the child has a file of its own
        recorded = done.recorded()
        if recorded is not None:
            self.assertEqual(recorded + done.number("lost"), done.number("hits"), f"{row}\n{done.err}")

    def table(self, *sinks: str) -> None:
        self.need_these_calls()
        for sink, tool in NEEDED.items():
            if sink in sinks:
                need(self, tool)
        if UPDATE:
            text = read(DOCUMENT)
            for row in self.of_table(*sinks):
                text = text.replace(str(row), str(self.watched(row)))
            with open(DOCUMENT, "w", encoding="utf-8") as file:
                file.write(text)
            return
        jobs = []
        for row in self.of_table(*sinks):
            only = NOT_ONLY_THE_RUNTIMES.get(MOMENTS[row.moment], set())
            jobs.append((self.complete, row))
            jobs += [(self.minimal, row, call) for call in row.calls if call not in only]
            jobs += [(self.fails, row, call, error) for call in row.calls if call not in only
                     and (call not in MUST_NOT_FAIL or (MOMENTS[row.moment], call) in MAY_FAIL)
                     for error in ("EPERM", "ENOSYS")]
        self.together(lambda check, *args: check(*args), *jobs)

    def test_core(self) -> None:
        self.table("all")

    def test_text(self) -> None:
        self.table("`text:`")

    def test_socket(self) -> None:
        """One that reads all that is sent."""
        self.listener = self.path("lines")
        reader = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(reader.close)
        reader.bind(self.listener)
        os.chmod(self.listener, 0o777)

        def read_all() -> None:
            while reader.recv(1 << 16) != b"end":
                pass

        def end() -> None:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.sendto(b"end", self.listener)
            thread.join()
        thread = threading.Thread(target=read_all)
        thread.start()
        self.addCleanup(end)
        self.table("`socket:`")

    def test_ctf(self) -> None:
        self.table("`ctf:`")

    def test_perfetto(self) -> None:
        self.table("`perfetto:`")

    def test_stats(self) -> None:
        self.table("`stats:`")

    def test_sdt(self) -> None:
        self.table("`sdt:`")

    def test_ftrace(self) -> None:
        self.instance = self.trace_instance()
        self.table("`ftrace:`")

    def test_lttng(self) -> None:
        need(self, "lttng-sessiond", "lttng")
        daemon = Daemon()
        self.addCleanup(daemon.end)
        daemon.start()
        daemon.lttng("create", "sandbox", f"--output={daemon.path('trace')}")
        daemon.lttng("enable-event", "-u", "sandbox:*")
        daemon.lttng("start")
        os.chmod(self.dir, 0o755)
        self.user = daemon.user
        self.more = {name: value for name, value in daemon.env.items() if name.startswith(("LTTNG_", "HOME"))}
        self.table("`lttng:`")

    def test_every_row_is_tested(self) -> None:
        tested = ("all", "`text:`", "`socket:`", "`ctf:`", "`perfetto:`", "`stats:`", "`sdt:`", "`ftrace:`", "`lttng:`")
        self.assertEqual([row for row in rows() if not row.sink.startswith(tested)], [])

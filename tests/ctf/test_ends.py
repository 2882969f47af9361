# SPDX-License-Identifier: MIT
"""However a process ends, what it has recorded can be read."""

from __future__ import annotations

import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from recording import Recording, Who  # noqa: E402

OUTPUTS = (",packet=8K", ",mode=flight,packet=8K,packets=3", ",packet=8K,prepare=thread")


class Ends(Recording):
    def ends(self, *commands: object, status: int = 0) -> None:
        """With threads that record to the very end."""
        for output in OUTPUTS:
            self.record("threads=2", "until=200", "hit=3", *commands, status=status,
                        TP_OUTPUT=f"ctf:{self.trace}{output}")
            self.all_is_there(on_their_way=1, newest="flight" in output)
            self.again()

    def output(self, name: str = "") -> str:
        return f"ctf:{name or self.trace}{OUTPUTS[0]}"

    def last_words(self) -> None:
        """That of the handler is there."""
        handler = self.whos()[self.HANDLER]
        self.assertEqual(handler.hits, 1)
        self.assertEqual(self.read_trace().seen[self.HANDLER].events, 1)

    HANDLER = 0  # its sequence: catch= is the first command in these tests

    def test_segv(self) -> None:
        self.ends("crash=segv", status=-signal.SIGSEGV)

    def test_abort(self) -> None:
        self.ends("crash=abort", status=-signal.SIGABRT)

    def test_kill(self) -> None:
        self.ends("crash=kill", status=-signal.SIGKILL)

    def test_underscore_exit(self) -> None:
        self.ends("crash=_exit")

    def test_quick_exit(self) -> None:
        self.ends("crash=quick_exit")

    def test_segv_with_a_handler(self) -> None:
        for how, crash, status in (("return", "segv", -signal.SIGSEGV), ("exit", "segv", 3),
                                   ("raise", "segv", -signal.SIGSEGV), ("return", "abort", -signal.SIGABRT)):
            with self.subTest(how=how, crash=crash):
                self.record(f"catch={how}", "threads=2", "until=200", f"crash={crash}", status=status,
                            TP_OUTPUT=self.output())
                self.all_is_there(on_their_way=1)
                self.last_words()
            self.again()

    def test_segv_inside_a_record(self) -> None:
        """The handler's own record waits for the one that it interrupted; nothing else is lost."""
        self.record("catch=exit", "hit=5", "crash=inside", status=3, TP_OUTPUT=self.output())
        trace = self.read_trace()
        whos = self.whos()
        self.assertEqual(whos.pop(self.HANDLER).hits, 1)
        trace.seen.pop(self.HANDLER, None)
        self.compare(whos, trace)

    # ---- Threads go on while the output is ended: they record into nothing then ----

    def goes_on(self, *commands: object) -> None:
        for output in OUTPUTS:
            self.record("pace=2000", "threads=2", "until=200", "hit=3", *commands, TP_OUTPUT=f"ctf:{self.trace}{output}")
            trace = self.read_clean()
            for i, who in self.whos().items():
                seen = trace.seen.get(i)
                text = f"{i}: {who} {seen} {self.repeat}"
                self.assertTrue(seen or not who.hits, text)
                if seen:
                    self.assertTrue(not seen.breaks and (not seen.first or "flight" in output), text)
                    self.assertTrue(min(who.hits, 200) <= seen.last + 1 <= who.hits + 1, text)
            self.again()

    def test_exit(self) -> None:
        for _ in range(5):
            self.goes_on("crash=exit")

    def test_return_from_main(self) -> None:
        self.goes_on()

    def test_return_while_a_thread_is_in_a_probe(self) -> None:
        self.goes_on("stick")

    def test_main_thread_exits(self) -> None:
        self.record("limit=3000", "threads=2", "hit=3", "crash=pthread_exit", TP_OUTPUT=self.output())
        self.all_is_there()

    # ---- exec ----

    def test_exec(self) -> None:
        """The new program finds the trace of the old one, and puts it out of the way."""
        for name in (self.trace, f"{self.trace}-%p"):
            process = self.start("threads=2", "until=200", "exec", "hit=7", TP_OUTPUT=self.output(name))
            self.finish(process, message=r"tp: CTF trace '[^\n]*': what process \d+ recorded there before, [^\n]* is in "
                                         r"'[^\n]*\.1' now\n")
            whos = self.whos()
            name = name.replace("%p", str(process.pid))
            last = max(whos)
            self.assertEqual(whos[last].hits, 7)
            self.compare({last: whos.pop(last)}, self.read_trace(name))
            self.compare(whos, self.read_trace(f"{name}.1"), on_their_way=1)
            self.again()

    def test_children_exec(self) -> None:
        """A process id a trace."""
        self.record("hit=2", "fork=2", "exec", "hit=7", "parent", "reap", TP_OUTPUT=self.output(f"{self.trace}-%p"))
        whos = self.whos()
        self.assertEqual(sorted(who.hits for who in whos.values()), [2, 7, 7])
        for i, who in whos.items():
            self.compare({i: who}, self.read_trace(f"{self.trace}-{who.pid}"))

    def test_children_of_threads(self) -> None:
        """Threads record while others fork: each process that records has a trace of its own, and all is there."""
        self.record("forks=100", "threads=4", "until=400", "stop", TP_OUTPUT=self.output(f"{self.trace}-%p"))
        processes: dict[int, dict[int, Who]] = {}
        for i, who in self.whos().items():
            if who.hits:
                processes.setdefault(who.pid, {})[i] = who
        self.assertGreater(len(processes), 4)
        for pid, whos in processes.items():
            self.compare(whos, self.read_trace(f"{self.trace}-{pid}"))

# SPDX-License-Identifier: MIT
"""The examples of the kernel's Documentation/trace/histogram.rst, section 2.1, with events of the same fields.

Of each, a few entries that are in the documentation are counted, and the text has to have its form. Three things are as in the
kernel's code, where its documentation is older: the head says "vals=hitcount,...", a stack is "common_stacktrace", and texts in
filters have quotes.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from building import build, generate  # noqa: E402
from support import PATIENCE, Case, temporary  # noqa: E402

TOTALS = "\nTotals:\n    Hits: {}\n    Entries: {}\n    Dropped: {}\n"
WGET = 'if filename=="/usr/bin/wget"'
EXIT = 'if comm=="wget"'


@functools.cache
def program() -> str:
    directory = temporary()
    generate(directory, os.path.join(HERE, "kernel.tp"))
    return build(os.path.join(directory, "examples"), os.path.join(HERE, "examples.c"), include=[directory], flags=["-rdynamic"],
                 link=["-ldl"])


class Examples(Case):
    program: str

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.program = program()

    def ask(self, *lines: str) -> str:
        done = subprocess.run([self.program], input="\n".join(lines) + "\n", capture_output=True, text=True,
                              timeout=PATIENCE, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn("error", done.stdout)
        return done.stdout

    def shown(self, *lines: str) -> list[str]:
        """What each "hist" shows."""
        texts = re.findall(r"((?:^# event histogram$.*?)?)^\.$", self.ask(*lines), re.M | re.S)
        return [text for text in texts if text]

    def form(self, text: str, info: str, *entries: str, totals: tuple[int, int, int] | None = None) -> None:
        """A text has that head and these entries, in that order; addresses of the process and of its functions are ADDRESS,
        ids of threads PID."""
        expected = f"# event histogram\n#\n# trigger info: {info}\n#\n\n" + "".join(f"{entry}\n" for entry in entries)
        found = re.sub(r"\[[0-9a-f]{8,}\]", "[ADDRESS]", text)
        found = re.sub(r"\[[ \d]{10}\]", "[PID]", found)
        if totals is None:
            found = found.split("\nTotals:")[0]
        else:
            expected += TOTALS.format(*totals)
        self.assertEqual(found, expected)


class Kmalloc(Examples):
    SYMBOLS = ("kmalloc napi_gro_receive+4 100 128", "kmalloc process_backlog+8 7 8", "kmalloc process_backlog+8 8 8")

    def test_number(self) -> None:
        text, = self.shown("trigger kmem:kmalloc hist:key=call_site:val=bytes_req", "kmalloc 18446744071580795365 48 64",
                           "kmalloc 18446744072106379007 176 192", *["kmalloc 18446744071580795365 48 64"] * 2, "hist kmem:kmalloc")
        self.form(text, "hist:keys=call_site:vals=hitcount,bytes_req:sort=hitcount:size=2048 [active]",
                  "{ call_site: 18446744072106379007 } hitcount:          1  bytes_req:        176",
                  "{ call_site: 18446744071580795365 } hitcount:          3  bytes_req:        144", totals=(4, 2, 0))

    def test_taken_off(self) -> None:
        self.assertEqual(self.ask("trigger kmem:kmalloc hist:key=call_site:val=bytes_req", "kmalloc 1 2 3",
                                  "trigger kmem:kmalloc !hist:key=call_site:val=bytes_req", "hist kmem:kmalloc"), "1\n0\n.\n")

    def test_hex(self) -> None:
        text, = self.shown("trigger kmem:kmalloc hist:key=call_site.hex:val=bytes_req", "kmalloc 0xffffffffa026b291 433 512",
                           "kmalloc 0xffffffff811dc1e5 144 256", "kmalloc 0xffffffff811dc1e5 0 8", "hist kmem:kmalloc")
        self.form(text, "hist:keys=call_site.hex:vals=hitcount,bytes_req:sort=hitcount:size=2048 [active]",
                  "{ call_site: ffffffffa026b291 } hitcount:          1  bytes_req:        433",
                  "{ call_site: ffffffff811dc1e5 } hitcount:          2  bytes_req:        144")

    def test_symbols(self) -> None:
        text, = self.shown("trigger kmem:kmalloc hist:key=call_site.sym:val=bytes_req", *self.SYMBOLS, "hist kmem:kmalloc")
        self.form(text, "hist:keys=call_site.sym:vals=hitcount,bytes_req:sort=hitcount:size=2048 [active]",
                  "{ call_site: [ADDRESS] napi_gro_receive                              } hitcount:          1  bytes_req:        100",
                  "{ call_site: [ADDRESS] process_backlog                               } hitcount:          2  bytes_req:         15")

    def test_sorted_by_a_value(self) -> None:
        text, = self.shown("trigger kmem:kmalloc hist:key=call_site.sym:val=bytes_req:sort=bytes_req.descending", *self.SYMBOLS,
                           "hist kmem:kmalloc")
        self.form(text, "hist:keys=call_site.sym:vals=hitcount,bytes_req:sort=bytes_req.descending:size=2048 [active]",
                  "{ call_site: [ADDRESS] napi_gro_receive                              } hitcount:          1  bytes_req:        100",
                  "{ call_site: [ADDRESS] process_backlog                               } hitcount:          2  bytes_req:         15")

    def test_symbols_with_offsets(self) -> None:
        text, = self.shown("trigger kmem:kmalloc hist:key=call_site.sym-offset:val=bytes_req:sort=bytes_req.descending", *self.SYMBOLS,
                           "hist kmem:kmalloc")
        self.form(re.sub(r"(/0x[0-9a-f]+) +\}", r"\1 }", text),
                  "hist:keys=call_site.sym-offset:vals=hitcount,bytes_req:sort=bytes_req.descending:size=2048 [active]",
                  *(entry.format(size) for entry, size in zip(
                      ("{{ call_site: [ADDRESS] napi_gro_receive+0x4/{} }} hitcount:          1  bytes_req:        100",
                       "{{ call_site: [ADDRESS] process_backlog+0x8/{} }} hitcount:          2  bytes_req:         15"),
                      re.findall(r"/(0x[0-9a-f]+)", text))))
        for name in re.findall(r"\] (\S+ +)\}", text):
            self.assertEqual(len(name), 56)

    def test_two_values(self) -> None:
        text, = self.shown("trigger kmem:kmalloc hist:keys=call_site.sym:values=bytes_req,bytes_alloc:sort=bytes_alloc.descending",
                           *self.SYMBOLS, "hist kmem:kmalloc")
        self.form(text, "hist:keys=call_site.sym:vals=hitcount,bytes_req,bytes_alloc:sort=bytes_alloc.descending:size=2048 [active]",
                  "{ call_site: [ADDRESS] napi_gro_receive                              } hitcount:          1  bytes_req:        100"
                  "  bytes_alloc:        128",
                  "{ call_site: [ADDRESS] process_backlog                               } hitcount:          2  bytes_req:         15"
                  "  bytes_alloc:         16")

    def test_stacks(self) -> None:
        text, = self.shown("trigger kmem:kmalloc hist:keys=stacktrace:values=bytes_req,bytes_alloc:sort=bytes_alloc",
                           "kmalloc 1 100 128", "kmalloc 1 7 8", "hist kmem:kmalloc")
        self.assertRegex(text, r"hist:keys=common_stacktrace:vals=hitcount,bytes_req,bytes_alloc:sort=bytes_alloc:size=2048 \[active\]\n"
                               r"#\n\n\{ common_stacktrace:\n(?:         \S+\n)+"
                               r"\} hitcount:          2  bytes_req:        107  bytes_alloc:        136\n\nTotals:")


class Syscalls(Examples):
    def test_execname(self) -> None:
        text, = self.shown("trigger syscalls:sys_enter_read hist:key=common_pid.execname:val=count:sort=count.descending",
                           "thread init read 2", "thread gnome-terminal read 1093512", "thread dbus-daemon-launch read 47739",
                           "hist syscalls:*")
        self.form(text, "hist:keys=common_pid.execname:vals=hitcount,count:sort=count.descending:size=2048 [active]",
                  "{ common_pid: gnome-terminal  [PID] } hitcount:          1  count:    1093512",
                  "{ common_pid: dbus-daemon-lau [PID] } hitcount:          1  count:      47739",
                  "{ common_pid: init            [PID] } hitcount:          1  count:          2")

    @unittest.skipUnless(os.uname().machine == "x86_64", "the numbers are those of x86-64")
    def test_syscall(self) -> None:
        text, = self.shown("trigger raw_syscalls:sys_enter hist:key=id.syscall:val=hitcount", "enter 74", "enter 16", "enter 16",
                           *["enter 580"] * 3, *["enter 0"] * 4, "hist raw_syscalls:sys_enter")
        self.form(text, "hist:keys=id.syscall:vals=hitcount:sort=hitcount:size=2048 [active]",
                  "{ id: sys_fsync                     [ 74] } hitcount:          1",
                  "{ id: sys_ioctl                     [ 16] } hitcount:          2",
                  "{ id: unknown_syscall               [580] } hitcount:          3",
                  "{ id: sys_read                      [  0] } hitcount:          4", totals=(10, 4, 0))

    @unittest.skipUnless(os.uname().machine == "x86_64", "the numbers are those of x86-64")
    def test_compound_key(self) -> None:
        for condition, entries in (("", ("read                      [  0], common_pid: bash           ",)), (" if id == 16", ())):
            text, = self.shown(f"trigger raw_syscalls:sys_enter hist:key=id.syscall,common_pid.execname:val=hitcount:sort=id,hitcount{condition}",
                               "thread Xorg enter 16", "thread bash enter 0", "hist raw_syscalls:sys_enter")
            self.form(text, "hist:keys=id.syscall,common_pid.execname:vals=hitcount:sort=id.syscall,hitcount:size=2048"
                            f"{condition} [active]",
                      *(f"{{ id: sys_{entry} [PID] }} hitcount:          1"
                        for entry in (*entries, "ioctl                     [ 16], common_pid: Xorg           ")))

    def test_two_sort_keys(self) -> None:
        text, = self.shown("trigger syscalls:sys_enter_recvfrom hist:key=common_pid.execname,size:val=hitcount:sort=common_pid,size",
                           "recvfrom 408880", "recvfrom 4", "recvfrom 588", "recvfrom 4", "hist syscalls:sys_enter_recvfrom")
        self.form(text, "hist:keys=common_pid.execname,size:vals=hitcount:sort=common_pid.execname,size:size=2048 [active]",
                  "{ common_pid: examples        [PID], size:          4 } hitcount:          2",
                  "{ common_pid: examples        [PID], size:        588 } hitcount:          1",
                  "{ common_pid: examples        [PID], size:     408880 } hitcount:          1", totals=(4, 3, 0))


class Forks(Examples):
    def test_paused_and_continued(self) -> None:
        texts = self.shown("trigger sched:sched_process_fork hist:key=child_comm:val=hitcount:size=256", "fork dconf worker", "fork bash",
                           "fork bash", "hist sched:sched_process_fork",
                           "trigger sched:sched_process_fork hist:key=child_comm:val=hitcount:size=256:pause", "fork bash",
                           "hist sched:sched_process_fork",
                           "trigger sched:sched_process_fork hist:key=child_comm:val=hitcount:size=256:cont", "fork bash",
                           "hist sched:sched_process_fork")
        self.assertEqual(len(texts), 3)
        for text, state, count in zip(texts, ("active", "paused", "active"), (2, 2, 3)):
            self.form(text, f"hist:keys=child_comm:vals=hitcount:sort=hitcount:size=256 [{state}]",
                      "{ child_comm: dconf worker                                       } hitcount:          1",
                      f"{{ child_comm: bash                                               }} hitcount:          {count}",
                      totals=(count + 1, 2, 0))

    def test_dropped(self) -> None:
        """More keys than the table has entries for: 256."""
        text, = self.shown("trigger sched:sched_process_fork hist:key=child_comm:val=hitcount:size=200",
                           *(f"fork child {i}" for i in range(300)), "hist sched:sched_process_fork")
        self.assertIn(":size=256 [active]", text)
        self.assertTrue(text.endswith(TOTALS.format(256, 256, 44)), text[-80:])


class Network(Examples):
    def stacks(self, text: str) -> list[tuple[list[str], int, int]]:
        """The functions of each, its hits and its bytes. main() and those that it calls may be inlined, or not."""
        found = re.findall(r"\{ common_stacktrace:\n((?: {9}\S+\n)+)\} hitcount: +(\d+)(?:  len: +(\d+))?\n", text)
        return [([name for name in re.findall(r"^ +(\w+)\+0x", stack, re.M) if name.startswith(("netif", "napi", "process"))],
                 int(hits), int(length or 0)) for stack, hits, length in found]

    def test_wget(self) -> None:
        """Only while the program runs, stacks are counted and events are logged."""
        wget = ("exec /bin/true", "receive 1000 1", "exec /usr/bin/wget", "receive ffff88009c353100 60", "exit bash",
                "backlog ffff88009c353200 130", "receive ffff88009c352b00 40", "exit wget", "receive 1000 1")
        answers = self.ask(
            "trigger net:netif_receive_skb hist:key=stacktrace:vals=len:pause",
            f"trigger sched:sched_process_exec enable_hist:net:netif_receive_skb {WGET}",
            "trigger sched:sched_process_exit disable_hist:net:netif_receive_skb " + EXIT, *wget, "hist net:*",
            "trigger net:netif_receive_skb hist:key=stacktrace:vals=len:clear", "hist net:*",
            f"logged sched:sched_process_exec enable_event:net:netif_receive_skb {WGET}",
            "logged sched:sched_process_exit disable_event:net:netif_receive_skb " + EXIT, *wget, "hist net:*")
        first, cleared, second = re.findall(r"^# event histogram$.*?^\.$", answers, re.M | re.S)
        for text in (first, second):
            self.assertIn("hist:keys=common_stacktrace:vals=hitcount,len:sort=hitcount:size=2048 [paused]", text)
            self.assertEqual(self.stacks(text), [(["netif_receive_skb_internal", "process_backlog"], 1, 130),
                                                 (["netif_receive_skb_internal", "napi_gro_receive"], 2, 100)])
        self.form(cleared[:-1], "hist:keys=common_stacktrace:vals=hitcount,len:sort=hitcount:size=2048 [paused]", totals=(0, 0, 0))
        self.assertEqual(re.findall(r"netif_receive_skb: (.*)", answers),
                         ["skbaddr=0xffff88009c353100 len=60", "skbaddr=0xffff88009c353200 len=130", "skbaddr=0xffff88009c352b00 len=40"])

    def test_several_of_an_event(self) -> None:
        triggers = ("hist:keys=skbaddr.hex:vals=len if len < 0", "hist:keys=skbaddr.hex:vals=len if len > 4096",
                    "hist:keys=skbaddr.hex:vals=len if len == 256", "hist:keys=skbaddr.hex:vals=len", "hist:keys=len:vals=common_preempt_count")
        text, = self.shown(*(f"trigger net:netif_receive_skb {trigger}" for trigger in triggers), "receive ffff8800d2bcda00 7164",
                           "receive ffff8800d2bcda00 14328", "receive ffff8800baee5e00 130", "hist net:netif_receive_skb")
        texts = [f"# event{part}" for part in text.split("# event")[1:]]
        keys, vals = "hist:keys=skbaddr.hex:vals=hitcount,len:sort=hitcount:size=2048", "{{ skbaddr: {} }} hitcount: {:10}  len: {:10}"
        self.assertEqual(len(texts), 5)
        self.form(texts[0].rstrip("\n") + "\n", f"{keys} if len < 0 [active]", totals=(0, 0, 0))
        self.form(texts[1].rstrip("\n") + "\n", f"{keys} if len > 4096 [active]", vals.format("ffff8800d2bcda00", 2, 21492), totals=(2, 1, 0))
        self.form(texts[2].rstrip("\n") + "\n", f"{keys} if len == 256 [active]", totals=(0, 0, 0))
        self.form(texts[3].rstrip("\n") + "\n", f"{keys} [active]", vals.format("ffff8800baee5e00", 1, 130),
                  vals.format("ffff8800d2bcda00", 2, 21492), totals=(3, 2, 0))
        self.form(texts[4].rstrip("\n") + "\n", "hist:keys=len:vals=hitcount,common_preempt_count:sort=hitcount:size=2048 [active]",
                  *(f"{{ len: {n:10} }} hitcount:          1  common_preempt_count:          0" for n in (130, 7164, 14328)))

    def test_named(self) -> None:
        texts = self.shown("trigger net:netif_receive_skb hist:name=foo:keys=skbaddr.hex:vals=len",
                           "trigger net:netif_rx hist:name=foo:keys=skbaddr.hex:vals=len", "receive ffff88000ad53500 46",
                           "rx ffff8800d2bccb00 468", "rx ffff88000ad53500 30", "hist net:netif_receive_skb", "hist net:netif_rx")
        self.assertEqual(len(texts), 2)
        for text in texts:
            self.form(text, "hist:name=foo:keys=skbaddr.hex:vals=hitcount,len:sort=hitcount:size=2048 [active]",
                      "{ skbaddr: ffff8800d2bccb00 } hitcount:          1  len:        468",
                      "{ skbaddr: ffff88000ad53500 } hitcount:          2  len:         76", totals=(3, 2, 0))

    def test_named_of_different_events(self) -> None:
        texts = self.shown("trigger sched:sched_process_fork hist:name=bar:key=stacktrace:val=hitcount",
                           "trigger net:netif_receive_skb hist:name=bar:key=stacktrace:val=hitcount", "fork a", "receive 1 2", "receive 1 2",
                           "hist sched:sched_process_fork", "hist net:netif_receive_skb")
        self.assertEqual(texts[0], texts[1])
        self.assertIn("hist:name=bar:keys=common_stacktrace:vals=hitcount:sort=hitcount:size=2048 [active]", texts[0])
        self.assertEqual(self.stacks(texts[0]), [([], 1, 0), (["netif_receive_skb_internal", "napi_gro_receive"], 2, 0)])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: MIT
"""The ftrace sink in the running kernel: lines in its trace buffer, and what comes in between.

Everything happens in instances of the tests' own, so that nobody else's tracing is touched. What needs no kernel
is tested in unit/test_ftrace.c.
"""

from __future__ import annotations

import functools
import os
import re

from building import build, generate
from support import Case, need, read, run, temporary, unavailable

HERE = os.path.dirname(os.path.abspath(__file__))
NOBODY = 65534
OFF = "tracing is off (tracing_on is 0), or the buffer is full (options/overwrite is 0)"
SYSTEM = "ftrace_test"


@functools.cache
def program() -> str:
    path = temporary()
    os.chmod(path, 0o755)  # for nobody
    generate(path, os.path.join(HERE, "ftrace.tp"))
    return build(os.path.join(path, "program"), os.path.join(HERE, "program.c"), include=[path])


def put(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


class Refused(Case):
    """Where there is nothing to write to, one line says so, and the program runs on."""

    def refused(self, message: str, *command: str, output: str = "ftrace:") -> None:
        done = run([*command, program(), "hit=3", "sh=echo runs on"], env={**os.environ, "TP_OUTPUT": output})
        self.assertEqual((done.returncode, done.stdout), (0, "runs on\n"), done.stderr)
        self.assertRegex(done.stderr, rf"\Atp: ftrace output: {message}\n\Z")

    def test_no_such_directory(self) -> None:
        self.refused(f"{self.dir}/none/trace_marker: No such file or directory; a directory must be there, .*",
                     output=f"ftrace:{self.dir}/none")

    def test_no_name(self) -> None:
        self.refused(r"'a/b' is no name of an instance: .*", output="ftrace:a/b")

    def test_the_other_outputs_go_on(self) -> None:
        log = self.path("log")
        self.refused(".*", output=f"ftrace:{self.dir}/none;text:{log}")
        self.assertEqual(read(log).count("number="), 3)

    def test_not_mounted(self) -> None:
        """In a mount namespace of its own."""
        need(self, "unshare")
        away = 'umount -l -a -t tracefs,debugfs; ! grep -q "tracefs\\|debugfs" /proc/mounts'
        if os.geteuid() or run(["unshare", "-m", "sh", "-c", away]).returncode:
            unavailable(self, "tracefs can't be unmounted here, in a mount namespace of its own")
        for output in ("ftrace:", "ftrace:name"):
            self.refused(r"tracefs is not mounted: as root, mount -t tracefs nodev /sys/kernel/tracing",
                         "unshare", "-m", "sh", "-c", f'{away} && exec "$@"', "sh", output=output)


class Ftrace(Case):
    def setUp(self) -> None:
        super().setUp()
        self.instance = self.trace_instance()
        self.name = os.path.basename(self.instance)
        self.output = f"ftrace:{self.instance}"
        self.set("trace_clock", "mono")  # the same on all processors

    def set(self, name: str, value: str) -> None:
        put(os.path.join(self.instance, name), value)

    def run_program(self, *commands: str, message: str = "", output: str = "", **options) -> str:
        """Its stdout; its stderr must be message, a regular expression."""
        done = run([program(), *commands], env={**os.environ, "TP_OUTPUT": output or self.output}, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, rf"\A{message}\Z")
        return done.stdout

    def entries(self) -> list[str]:
        """What is in the buffer, an entry each."""
        with open(os.path.join(self.instance, "trace"), encoding="utf-8") as file:
            return [line.rstrip("\n") for line in file if not line.startswith("#")]

    def lines(self) -> list[str]:
        """The sink's: the rest of the entry is the kernel's."""
        return [entry.split("tracing_mark_write: ")[1] for entry in self.entries()]

    def numbers(self) -> list[int]:
        return [int(line.removeprefix(f"{SYSTEM}:ftrace_number: number=")) for line in self.lines()]

    # ---- What is there ----

    def test_lines_are_the_text_sinks(self) -> None:
        log = self.path("log")
        texts = ["", "plain", "Grüße %s", "two\nlines", "ends\n", "\x01\x1b[31m\t\x7f\\"]
        self.run_program("hit=2", *(f"text={text}" for text in texts), "hit=1", output=f"{self.output};text:{log}")
        expected = re.sub(r"^\d+\.\d{9} \d+/\d+ ", "", read(log), flags=re.M).splitlines()
        self.assertEqual(len(expected), 9)
        self.assertEqual(self.lines(), expected)
        thread = re.match(r"\S+ \d+/(\d+) ", read(log))[1]
        for entry in self.entries():
            self.assertRegex(entry, rf"^ +\S+-{thread} +\[")

    def test_between_the_kernels_events(self) -> None:
        self.set("buffer_size_kb", "65536")  # for the switches of a busy system
        try:
            self.set("events/sched/sched_switch/enable", "1")
        except OSError as error:
            unavailable(self, f"this kernel has no event sched:sched_switch: {error}")
        child = self.run_program("hit=1", "sleep", "hit=1", "sleep", "hit=1", "fork").strip()
        self.set("events/sched/sched_switch/enable", "0")
        order = []
        thread = ""
        for entry in self.entries():
            ours = re.match(rf" +\S+-(\d+) .*: {SYSTEM}:\w+: \w+=(\w+)$", entry)
            if ours:
                thread = thread or ours[1]
                order.append(ours[2])
                self.assertEqual(ours[1], child if ours[2] == "child" else thread)
            elif re.search(rf": sched_switch: .*prev_pid={thread or None} ", entry) and order[-1] != "switch":
                order.append("switch")
        self.assertEqual(order[:5], ["0", "switch", "1", "switch", "2"])
        self.assertIn("child", order)

    def test_long_lines(self) -> None:
        """Each is one entry, and is not cut by the kernel."""
        limit = 4000 if os.path.exists(os.path.join(self.instance, "buffer_subbuf_size_kb")) else 1024
        head = len(f"{SYSTEM}:ftrace_text: text=")
        lengths = [limit - head - 4, limit - head - 3, limit - head - 2, limit - head, 5000, 60000]
        self.run_program(*(f"long={n}" for n in lengths))
        lines = self.lines()
        self.assertEqual([len(line) for line in lines], [limit - 4, limit - 3, limit, limit, limit, limit])
        self.assertEqual([line.endswith("x...") for line in lines], [False, False, True, True, True, True])

    def test_instance_by_name(self) -> None:
        """It is made, and stays."""
        os.rmdir(self.instance)
        self.run_program("hit=2", output=f"ftrace:{self.name}")
        self.assertEqual(self.numbers(), [0, 1])
        self.run_program("hit=1", output=f"ftrace:{self.name}")
        self.assertEqual(self.numbers(), [0, 1, 0])

    def test_threads_forks_and_signals(self) -> None:
        self.set("buffer_size_kb", "4096")
        self.run_program("threads=4")
        self.assertEqual(sorted(self.numbers()), sorted([*range(1000)] * 4))
        self.set("trace", "")
        child = self.run_program("hit=1", "fork", "hit=1").strip()
        self.assertEqual([line.split("=")[1] for line in self.lines()], ["0", "child", "1"])
        self.assertRegex(self.entries()[1], rf"^ +\S+-{child} ")
        self.set("trace", "")
        hits, handled = (int(n) for n in self.run_program("signals=200").split())
        lines = self.lines()
        self.assertEqual([line for line in lines if "text" not in line],
                         [f"{SYSTEM}:ftrace_number: number={i}" for i in range(hits)])
        self.assertEqual(lines.count(f"{SYSTEM}:ftrace_text: text=from the handler"), handled)

    # ---- What the kernel refuses ----

    def loses(self, why: str, lost: int | None = None) -> str:
        marker = f"tp: ftrace output: {self.instance}/trace_marker: "
        return (rf"{marker}{re.escape(why)}; records are lost until it works again\n"
                rf"tp: ftrace output: records lost: {lost or '[0-9]+'} \(no file: .*\)\n")

    def test_tracing_off_and_on(self) -> None:
        switch = os.path.join(self.instance, "tracing_on")
        self.run_program("hit=2", f"sh=echo 0 >{switch}", "hit=3", f"sh=echo 1 >{switch}", "hit=1",
                         f"sh=echo 0 >{switch}", "hit=4", f"sh=echo 1 >{switch}", "hit=1",
                         message=self.loses(OFF, 7))
        self.assertEqual(self.numbers(), [0, 1, 5, 10])

    def test_no_markers(self) -> None:
        option = os.path.join(self.instance, "options/markers")
        self.run_program("hit=1", f"sh=echo 0 >{option}", "hit=3", f"sh=echo 1 >{option}", "hit=1",
                         message=self.loses("the buffer takes no text (options/markers is 0)", 3))
        self.assertEqual(self.numbers(), [0, 4])

    def test_full_buffer(self) -> None:
        self.set("options/overwrite", "0")
        self.set("buffer_size_kb", "4")
        self.run_program("hit=10000", message=self.loses(OFF))
        numbers = self.numbers()
        self.assertEqual(numbers[:10], [*range(10)])
        self.assertLess(len(numbers), 10000)

    # ---- What programs and people do to it ----

    def test_closed_descriptors(self) -> None:
        self.run_program("hit=1", "close", "hit=1", "close", "fork", "hit=1")
        self.assertEqual([line.split("=")[1] for line in self.lines()], ["0", "1", "child", "2"])

    def test_removed_instance(self) -> None:
        """Not while it is open; then it may be gone, and come back."""
        self.run_program("hit=1", f"sh=! rmdir {self.instance} 2>&-", "hit=1", "close", f"sh=rmdir {self.instance}",
                         "hit=3", f"sh=mkdir {self.instance}", "hit=2",
                         message=self.loses("No such file or directory", 3))
        self.assertEqual(self.numbers(), [5, 6])

    def test_becomes_nobody(self) -> None:
        """The descriptor stays good, but can't be opened again."""
        self.run_program("hit=1", "nobody", "hit=2", "close", "hit=1",
                         message=self.loses("Permission denied", 1))
        self.assertEqual(self.numbers(), [0, 1, 2])

    def test_is_nobody(self) -> None:
        os.chmod(self.dir, 0o755)
        for output in (self.output, f"ftrace:{self.name}", f"ftrace:{self.name}-other", "ftrace:"):
            self.run_program("hit=1", output=output, user=NOBODY, group=NOBODY, extra_groups=[],
                             message=r"tp: ftrace output: \S*/trace_marker: Permission denied; run it as root, or let a "
                                     r"group in: as root, mount -o remount,gid=GROUP,mode=0750 on the tracefs\n")
        self.assertEqual(self.lines(), [])

    def test_instance_that_can_not_be_made(self) -> None:
        """By one who may look at everything, but write to nothing."""
        need(self, "setpriv")
        os.chmod(self.dir, 0o755)
        name = f"{self.name}-other"
        done = run(["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups", "--inh-caps",
                    "+dac_read_search", "--ambient-caps", "+dac_read_search", program(), "hit=1"],
                   env={**os.environ, "TP_OUTPUT": f"ftrace:{name}"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, rf"\Atp: ftrace output: \S*/instances/{name}: the instance can't be made: "
                                      rf"Permission denied; make it as root\n\Z")

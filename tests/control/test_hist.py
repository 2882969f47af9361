# SPDX-License-Identifier: MIT
"""tp trigger and tp hist."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from reaching import Reaching  # noqa: E402
from support import need, run, until  # noqa: E402


class Trigger(Reaching):
    def setUp(self) -> None:
        super().setUp()
        self.process = self.start("loop")
        self.pid = str(self.process.pid)

    def triggers(self, *more: str) -> list[str]:
        done = self.tp("trigger", "-p", self.pid, *more)
        self.assertEqual((done.returncode, bool(done.stdout)), (0, not done.stderr), done.stderr)
        return [" ".join(line.split()) for line in done.stdout.splitlines()[1:]]

    def set(self, *args: str) -> str:
        return self.done("trigger", "-p", self.pid, *args)

    def test_set_and_taken_off(self) -> None:
        self.done("outputs", "-p", self.pid, "--open", "text:/dev/null")
        self.assertEqual(self.triggers(), [])
        self.assertEqual(self.set("served:*", "traceoff:2 if n < 0"), "the trigger is set; 2 events fire it\n")
        self.assertEqual(self.set("served_idle", "hist:keys=n"), "the trigger is set; 1 event fires it\n")
        self.assertEqual(self.set("served_idle", "hist:keys=n:pause"), "")
        self.assertEqual(self.triggers(), ["- served_idle hist:keys=n:vals=hitcount:sort=hitcount:size=2048 [paused]",
                                           "1 served:* traceoff:count=2 if n < 0"])
        self.assertEqual(self.triggers("-o", "1"), ["1 served:* traceoff:count=2 if n < 0"])
        self.assertEqual(self.set("served:*", "!traceoff"), "the trigger is taken off\n")
        self.assertEqual(self.set("served_idle", "!hist:keys=n"), "the trigger is taken off\n")
        self.assertEqual(self.triggers(), [])
        self.set("served_idle, served_request", "traceon if n < 0")
        self.assertEqual(self.triggers(), ["1 served_idle,served_request traceon:unlimited if n < 0"])

    def test_it_fires(self) -> None:
        self.done("outputs", "-p", self.pid, "--open", "text:lines", "-e", "served_idle")
        self.set("served_request", "disable_event:served:served_idle")

        def size() -> int:
            return os.stat(self.path("lines")).st_size
        self.counted("^served:served_request +[1-9]", "stat", "-p", self.pid, "-e", "served_request")
        before = size()
        self.done("stat", "-p", self.pid, "-e", "served_idle", "--for", "0.1")
        self.assertEqual(size(), before)

    def test_snapshot(self) -> None:
        need(self, "babeltrace2")
        self.done("outputs", "-p", self.pid, "--open", "ctf:trace,mode=flight")
        self.assertIn('a directory must be passed for it ("tp trigger --directory DIR")', self.fails("trigger", "-p", self.pid, "served_idle", "snapshot:1"))
        self.assertIn("No such trigger", self.fails("trigger", "-p", self.pid, "served_idle", "nothing", "--directory", "copies"))
        self.assertFalse(os.path.exists(self.path("copies")))
        self.set("--directory", "copies", "served_idle", "snapshot:1")
        until(lambda: os.path.exists(self.path("copies/snapshot-1/metadata")), "a snapshot")
        self.set("served_idle", "!snapshot")
        self.assertIn("served:served_idle", self.read_by("babeltrace2", self.path("copies/snapshot-1")))

    def test_snapshot_by_a_histogram(self) -> None:
        """It is the one action that acts on an output."""
        trigger = "hist:keys=common_pid:v=n:onmax($v).snapshot() if n > 0"
        self.assertIn("has no output", self.fails("trigger", "-p", self.pid, "served_idle", trigger))
        self.done("outputs", "-p", self.pid, "--open", "ctf:trace,mode=flight", "-e", "served_idle")
        self.assertEqual(self.set("--directory", "copies", "served_idle", trigger), "the trigger is set; 1 event fires it\n")
        until(lambda: os.path.exists(self.path("copies/snapshot-1/metadata")), "a snapshot")
        self.assertEqual(len(self.triggers("-o", "1")), 1)
        self.assertEqual(self.set("served_idle", "!" + trigger), "the trigger is taken off\n")

    def test_mistakes(self) -> None:
        self.assertIn("has no output", self.fails("trigger", "-p", self.pid, "served_idle", "traceoff"))
        self.assertIn("Couldn't find field", self.fails("trigger", "-p", self.pid, "served_idle", "hist:keys=m"))
        self.done("outputs", "-p", self.pid, "--open", "text:/dev/null")
        self.assertIn("No such trigger, at 'traceof': there are traceon, ",
                      self.fails("trigger", "-p", self.pid, "served_idle", "traceof"))
        self.assertIn("there is no such trigger on served_idle", self.fails("trigger", "-p", self.pid, "served_idle", "!traceoff"))
        done = self.tp("trigger", "-p", self.pid, "nothing:*", "traceoff")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("no event of", done.stderr)
        for args in ((), ("-p", self.pid, "served_idle"), ("-p", self.pid, "served_idle", "traceoff", "if"),
                     ("-p", self.pid, "--directory", "copies"), ("-p", self.pid, "--", "true")):
            self.fails("trigger", *args, status=2)



class NotCounted(Reaching):
    """What is told of hits that did not count."""

    DROPPED = r"hist:keys=n:size=128: [1-9]\d* hits were dropped, as all of its 128 entries are taken: size=256 has room for more\n"
    UNSET = "none of [1-9][0-9]* hits counts, as a variable that it reads was not set for their keys\n"
    TAKEN = (r"at served:served_request, hist:keys=n:d=common_timestamp-\$t reads \$t first, and unsets it: a hit that counts there does not count "
             r"here; let hist:keys=n:t=common_timestamp set a variable for each of the two")

    def after_a_while(self, wanted: str, *args: str) -> subprocess.CompletedProcess:
        for seconds in ("0.2", "2", "20"):
            done = self.tp(*args, "--for", seconds)
            if re.search(wanted, done.stderr):
                break
        return done

    def told(self, wanted: str, *args: str, done: subprocess.CompletedProcess | None = None) -> str:
        done = done or self.tp(*args)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, rf"\Atp: '{self.name}' \(\d+\): {wanted}\Z")
        return done.stdout

    def test_at_the_end_of_the_program(self) -> None:
        env = {**self.env, "TP_TRIGGER": "served_request hist:keys=n:size=128; served_request hist:keys=peer"}
        for more in ({"TP_HIST": self.path("hist")}, {"TP_HIST": self.path("hist.json")}, {}):
            done = run([self.program, "hit=200"], env={**env, **more})
            self.assertRegex(done.stderr.partition("Totals:")[2] if not more else done.stderr, rf"(^|\n)tp: {self.DROPPED}\Z")

    def test_dropped(self) -> None:
        process = self.start("storm")
        hist = ("hist", "-p", self.name, "-e", "served_request", "keys=n:size=128")
        self.told(self.DROPPED, done=self.after_a_while(self.DROPPED, *hist))
        self.assertIn('"dropped"', self.told(self.DROPPED, done=self.after_a_while(self.DROPPED, *hist, "--json")))
        self.done("trigger", "-p", self.name, "served_request", "hist:keys=n:size=128")
        until(lambda: self.tp("hist", "-p", self.name).stderr)
        self.told(self.DROPPED, "hist", "-p", self.name)
        self.done("trigger", "-p", self.name, "served_request", "!hist:keys=n:size=128")
        self.left_alone(process.pid)

    def test_on_a_terminal(self) -> None:
        self.start("storm")
        for columns in (80, 120):
            terminal = self.terminal("hist", "-p", self.name, "--interval", "0.02", "-e", "served_request", "keys=n:size=128", rows=9, columns=columns)
            terminal.wait_for(r"[1-9]\d* dropped")
            terminal.type(b"\x03")
            self.assertEqual(terminal.end(), 0)
            self.assertRegex(terminal.text().replace("\r", ""), rf"\ntp: '{self.name}' \(\d+\): {self.DROPPED}\Z")

    def test_variables(self) -> None:
        self.start("loop")
        self.done("trigger", "-p", self.name, "served_request", "hist:keys=n:t=common_timestamp")
        self.done("trigger", "-p", self.name, "served_request", "hist:keys=n:d=common_timestamp-$t")
        second = "keys=n:e=common_timestamp-$t"
        self.told(f"{self.TAKEN}\n", "trigger", "-p", self.name, "served_request", f"hist:{second}")
        until(lambda: self.tp("hist", "-p", self.name).stderr)
        self.assertRegex(self.told(rf"hist:{re.escape(second)}: {self.UNSET}", "hist", "-p", self.name), r"\n    Unset: [1-9]")
        done = self.after_a_while(self.UNSET, "hist", "-p", self.name, "-e", "served_request", second.replace("e=", "f="))
        self.assertRegex(done.stderr, self.TAKEN)
        self.assertRegex(done.stderr, self.UNSET)

    def test_that_come_first(self) -> None:
        """Those of tp hist come behind the triggers, which were set later."""
        process = self.start("loop")
        pid = str(process.pid)
        self.done("trigger", "-p", pid, "served_request", "hist:keys=n:t=common_timestamp")
        tp = self.begin("hist", "-p", pid, "-e", "served_request", "keys=n:e=common_timestamp-$t")
        until(lambda: len(self.outputs(process.pid)) == 1 and self.tp("hist", "-p", pid).stdout.count("# event histogram") == 2)
        self.done("trigger", "-p", pid, "served_request", "hist:keys=n:d=common_timestamp-$t")
        self.interrupt(tp)

    def test_no_event(self) -> None:
        self.start("loop")
        self.tp("trigger", "-p", self.name, "later:event", "hist:keys=n:t=common_timestamp")
        self.told(r"no hit counts yet: hist:keys=n:t=common_timestamp sets \$t, and has no event now\n", "trigger", "-p", self.name,
                  "served_request", "hist:keys=n:d=common_timestamp-$t")
        self.assertIn("Couldn't find variable", self.fails("trigger", "-p", self.name, "served_request", "hist:keys=n:d=common_timestamp-$u"))

    def test_environment(self) -> None:
        setter = "served_request hist:keys=n:t=common_timestamp; served_request hist:keys=n:d=common_timestamp-$t;"
        done = run([self.program, "hit=1"], env={**self.env, "TP_HIST": "/dev/null", "TP_TRIGGER": f"{setter} served_request hist:keys=n:vals=$t"})
        self.assertRegex(done.stderr, rf"(?m)^tp: TP_TRIGGER=served_request hist:keys=n:vals=\$t: {self.TAKEN}$")
        waits = "later:event hist:keys=n:t=common_timestamp; served_request hist:keys=n:d=common_timestamp-$t"
        done = run([self.program, "hit=1"], env={**self.env, "TP_HIST": "/dev/null", "TP_TRIGGER": waits})
        self.assertNotIn("no hit counts yet", done.stderr)


class Hist(Reaching):
    def test_once(self) -> None:
        process = self.start("loop")
        out = self.counted(r"^\{ peer: 10\.0\.0\.1 +\} hitcount: +[1-9]\d*  n: +[1-9]\d*$",
                           "hist", "-p", self.name, "-e", "served_request if n > 3", "keys=peer:vals=n")
        self.assertRegex(out, r"# trigger info: hist:keys=peer:vals=hitcount,n:sort=hitcount:size=2048 ")
        self.assertEqual(out.count("# event histogram"), 1)
        self.left_alone(process.pid)

    def test_stacks_without_symbols(self) -> None:
        """Offsets in the program's file, by which addr2line has the functions: addresses differ from process to process."""
        need(self, "addr2line")
        self.start("loop")
        args = ("hist", "-p", self.name, "-e", "served_request", "keys=stacktrace")
        place = rf"\b{self.name}\(\+(0x[0-9a-f]+)\)"
        offsets = re.findall(place, self.counted(place, *args))
        offsets += [hex(call["offset"]) for entry in json.loads(self.counted('"file"', *args, "--json"))["entries"]
                    for call in entry["keys"][0]["value"] if call.get("file") == self.name]
        functions = self.succeed(["addr2line", "-f", "-e", self.program, *offsets]).stdout.split("\n")[::2]
        self.assertGreater(functions.count("run") + functions.count("main"), 1, functions)  # main is what clang inlines run into
        terminal = self.terminal(*args, "--interval", "0.05")
        terminal.wait_for(place)
        terminal.type(b"\x03")
        self.assertEqual(terminal.end(), 0)

    def test_the_filter_is_shown(self) -> None:
        """As the kernel shows it, where all events have the same."""
        self.start("loop")
        for events, shown in (("served_request if n > 3", " if n > 3"), ("served_request", ""),
                              ("served_request if n > 3; served_idle if n > 3", " if n > 3"),
                              ("served_request if n > 3; served_idle", ""), ("served_request; served_idle if n > 3", "")):
            with self.subTest(events=events):
                out = self.done("hist", "-p", self.name, "-e", events, "keys=n", "--for", "0.1")
                self.assertRegex(out, rf"(?m)^# trigger info: hist:keys=n:.*:size=2048{shown} \[active\]$")

    def test_filter_behind_the_definition(self) -> None:
        """As in a trigger."""
        process = self.start("loop")
        out = self.done("hist", "-p", self.name, "-e", "served_idle", "hist:keys=n if n < 0", "--for", "0.1", "--json")
        self.assertEqual(json.loads(out)["totals"], {"hits": 0, "entries": 0, "dropped": 0})
        self.fails("hist", "-p", self.name, "-e", "served_idle if n > 1", "keys=n if n < 0", status=2)
        self.left_alone(process.pid)

    def test_those_that_are_there(self) -> None:
        process = self.start("loop", env={"TP_TRIGGER": "served_idle hist:keys=n.log2"})
        pid = str(process.pid)
        self.done("trigger", "-p", pid, "served_request", "hist:keys=peer")
        out = self.done("hist", "-p", pid)
        self.assertEqual(re.findall(r"# trigger info: hist:keys=(\S+):vals", out), ["n.log2", "peer"])
        self.assertEqual(len(json.loads(self.done("hist", "-p", pid, "--json"))), 2)
        self.assertEqual(self.done("hist", "-p", pid, "-e", "served_request").count("# event histogram"), 1)
        self.assertIn("has no histogram of 'nothing'", self.fails("hist", "-p", pid, "-e", "nothing"))

    def test_misspelt(self) -> None:
        self.start("loop")
        wanted = "Couldn't find field, at 'pere.*': did you mean 'peer'\\? 'served:served_request' has n, peer, "
        self.assertRegex(self.fails("hist", "-p", self.name, "-e", "served_request", "keys=pere"), wanted)
        self.assertRegex(self.fails("trigger", "-p", self.name, "served_request", "hist:keys=n:vals=pere"), wanted)
        self.assertRegex(self.fails("trace", "-p", self.name, "-e", "served_request if pere == 'x'"), "Field not found.*did you mean 'peer'")

    def test_live(self) -> None:
        process = self.start("loop")
        terminal = self.terminal("hist", "-p", self.name, "--interval", "0.02", "-e", "served_request", "keys=n.log2", rows=9)
        until(lambda: terminal.text().count("\x1b[H") > 5)
        terminal.type(b"\x03")
        self.assertEqual(terminal.end(), 0)
        self.assertRegex(terminal.text().partition("\x1b[?1049l")[2], r"\n\d+ hits?, \d+ entr(y|ies), 0 dropped\r\n")
        self.left_alone(process.pid)

    def test_end_of_the_process(self) -> None:
        process = self.start("loop")
        tp = self.begin("hist", "-p", str(process.pid), "--interval", "0.05", "keys=n")
        until(lambda: self.enabled(process.pid))
        process.send_signal(signal.SIGKILL)
        _, err = self.finished(tp)
        self.assertEqual(tp.returncode, 0)
        self.assertIn("has ended: these are the numbers of up to 0.05 s before", err)

    def test_kept(self) -> None:
        process = self.start("loop")
        pid = str(process.pid)
        self.done("outputs", "-p", pid, "--open", "hist:keys=n.log2", "-e", "served_idle if n > 0")
        self.assertEqual(self.outputs(process.pid), ["kept hist:keys=n.log2"])
        until(lambda: re.search(r"n: ~ 2\^\d", self.done("hist", "-p", pid)), "a hit")
        self.done("outputs", "-p", pid, "--close", "hist:keys=n.log2")

    def hits(self, text: str) -> list[int]:
        return list(map(int, re.findall(r"^    Hits: (\d+)$", text, re.M)))

    def test_program(self) -> None:
        """From its first event on, and its status."""
        done = self.tp("hist", "-e", "served_request", "keys=peer:vals=n if n > 4", "--", self.program, "hit=10", "exit=6")
        self.assertEqual((done.returncode, done.stderr, self.hits(done.stdout)), (6, "", [6]))
        self.assertRegex(done.stdout, r"(?m)^\{ peer: 10\.0\.0\.1 +\} hitcount: +6  n: +45$")
        self.assertEqual(os.listdir(self.path("run")), ["tp"])
        done = self.tp("hist", "-e", 'served_request if peer == "a;b"', "keys=n", "--", self.program, "hit=3")
        self.assertEqual((done.returncode, done.stderr, self.hits(done.stdout)), (0, "", [0]))

    def test_family(self) -> None:
        """A histogram each."""
        script = f"'{self.program}' hit=10 fork=2 hit=3; '{self.program}' hit=4; exit 1"
        done = self.tp("hist", "keys=n", "-e", "served_request", "--", "sh", "-c", script)
        self.assertEqual((done.returncode, sorted(self.hits(done.stdout))), (1, [3, 3, 4, 10]))
        done = self.tp("hist", "--json", "keys=n", "--", "sh", "-c", f"'{self.program}' hit=10; '{self.program}' hit=4")
        first, end = json.JSONDecoder().raw_decode(done.stdout)
        second = json.loads(done.stdout[end:])
        self.assertEqual([report[0]["totals"]["hits"] for report in (first, second)], [10, 4])

    def test_file_of_each_process(self) -> None:
        """%p is the process's id, but not in the name of a directory that the program happens to be in."""
        os.mkdir(self.path("in%p"))
        self.succeed(["sh", "-c", f"""cd '{self.path("in%p")}' && TP_TRIGGER='served_request hist:keys=n' TP_HIST=n-%p '{self.program}' hit=2"""])
        self.assertRegex(" ".join(os.listdir(self.path("in%p"))), r"\An-\d+\Z")

    def test_program_that_does_not_end_well(self) -> None:
        done = self.tp("hist", "keys=n", "--", self.program, "hit=10", "crash")
        self.assertEqual((done.returncode, done.stdout), (128 + signal.SIGSEGV, ""))
        self.assertRegex(done.stderr, r"was killed by signal 11 .*: what it has counted is not in these numbers\n")
        done = self.tp("hist", "keys=m", "--", self.program, "hit=10")
        self.assertEqual((done.returncode, self.hits(done.stdout)), (0, [0]))
        self.assertIn("Couldn't find field", done.stderr)
        self.assertEqual(self.tp("hist", "keys=n", "--", "/nowhere/program").returncode, 127)

    def test_mistakes(self) -> None:
        process = self.start("loop")
        pid = str(process.pid)
        self.assertIn("at 'm': 'served:served_", self.fails("hist", "-p", pid, "keys=m"))
        self.assertIn("has no histogram", self.fails("hist", "-p", pid))
        self.assertIn("Field not found", self.fails("hist", "-p", pid, "-e", "served_idle if m > 3", "keys=n"))
        for args in ((), ("-p", pid, "keys=n", "vals=n"), ("-p", pid, "--for", "1"), ("--", "true"), ("keys=n", "--"),
                     ("-p", pid, "keys=n", "--", "true"), ("--for", "1", "keys=n", "--", "true"),
                     ("-e", "a if n > 1", "-e", "b if n > 2", "keys=n", "--", "true"),
                     ("keys=n:vals=m;served_idle traceoff", "--", "true"), ("keys=n if n > 7; served_idle traceoff", "--", "true")):
            self.fails("hist", *args, status=2)
        self.left_alone(process.pid)

# SPDX-License-Identifier: MIT
"""tp report: its lines are the text sink's, in the order in which babeltrace2 has the events."""

from __future__ import annotations

import contextlib
import glob
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "trace_dat"))

from dat import Recorded  # noqa: E402
from support import BUILD, PACKET_HEAD, PATIENCE, both, few_or_many, need, read, run, until  # noqa: E402

TP = os.path.join(BUILD, "tp")
LINE = re.compile(r" *(?P<comm>.*?) +(?P<pid>\d+)/(?P<tid>\d+) +(?:\[(?P<cpu>\d{3})\] )?(?P<time>\d{10}\.\d{9}): "
                  r"(?:(?P<event>\S+:\S+): (?P<text>.*)|\[LOST (?:(?P<lost>\d+) )?EVENTS\])")


def ns(text: str) -> int:
    return int(text.replace(".", ""))


class Report(Recorded):
    # ---- Steps ----

    def lines(self, *arguments: str) -> list[str]:
        return self.read_by(TP, "report", *(arguments or (self.trace,))).split("\n")[:-1]

    def report(self, *arguments: str) -> list[dict[str, str]]:
        found = []
        for line in self.lines(*arguments):
            match = LINE.fullmatch(line)
            self.assertTrue(match, line)
            found.append(match.groupdict())
        return found

    def compare(self) -> list[dict[str, str]]:
        """The text sink's lines with ours, thread by thread; both together in the order of their times."""
        found = self.report()
        want: dict[str, list[str]] = {}
        got: dict[str, list[str]] = {}
        for line in read(self.text).splitlines():
            _, ids, event, text = line.split(" ", 3)
            want.setdefault(ids, []).append(f"{event} {text}")
        for line in found:
            got.setdefault(f"{line['pid']}/{line['tid']}", []).append(f"{line['event']}: {line['text']}")
        self.assertEqual(got, want)
        times = [line["time"] for line in found]
        self.assertEqual(times, sorted(times))
        return found

    def refused(self, message: str, *arguments: str, status: int = 1, **options) -> None:
        done = run([TP, "report", *arguments], **options)
        self.assertRegex(done.stderr, rf"\Atp: {message}.*\n\Z")
        self.assertEqual((done.returncode, done.stdout), (status, ""))

    def export_program(self, name: str, events: str, hits: str) -> list[dict[str, str]]:
        self.record_program(name, events, hits)
        return self.report()

    # ---- Lines ----

    def test_text_sink(self) -> None:
        self.record(4, 60)
        found = self.compare()
        self.assertEqual(len(found), 6724)
        self.assertEqual({(line["comm"], line["cpu"]) for line in found}, {("dat", None)})

    def test_context(self) -> None:
        for context in ("cpu", "pid", "name", "cpu+pid+name"):
            with self.subTest(context):
                self.record(2, 20, options=f",context={context},packet=128K")
                found = self.compare()
                self.assertEqual({line["comm"] for line in found},
                                 {"worker 0", "worker 1"} if "name" in context else {"dat"})
                self.assertEqual({line["cpu"] is None for line in found}, {"cpu" not in context})
                shutil.rmtree(self.trace)
                os.unlink(self.text)

    def test_order_of_babeltrace2(self) -> None:
        need(self, "babeltrace2")
        self.record(4, 40, options=",packet=128K")
        text = self.read_by("babeltrace2", "--clock-seconds", "--no-delta", "--names=none", self.trace)
        # Its rounding differs by a nanosecond, so events of nearly one time may be in another order there.
        theirs = [(ns(m[1]), m[2], m[3]) for m in re.finditer(r"^\[(\d+\.\d+)\] (?:\S+ )?(\S+:\S+): .*?\{ (?:\d+, )*(\d+) \}", text, re.M)]
        ours = [(ns(line["time"]), line["event"], line["tid"]) for line in self.report()]
        self.assertEqual(len(ours), len(theirs))
        for number, (a, b) in enumerate(zip(ours, theirs)):
            self.assertLessEqual(abs(a[0] - b[0]), 1, f"event {number}: {a}, {b}")
        for tid in {line[2] for line in ours}:
            self.assertEqual([a[1] for a in ours if a[2] == tid], [b[1] for b in theirs if b[2] == tid])

    def test_child(self) -> None:
        """Each event has its own process."""
        self.record(2, 10, "fork")
        found = self.compare()
        self.assertEqual(len({line["pid"] for line in found}), 2)

    def test_fields(self) -> None:
        found = self.report(*self.kinds("--fields"))
        self.assertEqual(found[0]["text"],
                         r'c=-1 uc=200 s=-300 u=4000000000 ll=-5000000000 ull=18446744073709551615 f=0.1 d=-1e+300 '
                         r'p=0x1234 text="a\"b\\c\n\x01 gr' "\u00fc" r'n" empty="" name="abc" words={1,65535} '
                         r'bytes={0,255} odd={01,02,03} reals={1.5,0.1} rel="x"')

    def kinds(self, *arguments: str) -> tuple[str, ...]:
        self.export_program("kinds", r"""
            struct odd { char b[3]; };
            TRACE_EVENT(kinds, TP_PROTO(int n), TP_ARGS(n),
                TP_STRUCT__entry(__field(signed char, c) __field(unsigned char, uc) __field(short, s) __field(unsigned int, u)
                    __field(long long, ll) __field(uint64_t, ull) __field(float, f) __field(double, d) __field(void *, p)
                    __string(text, "a\"b\\c\n\001 gr\303\274n") __string(empty, "") __array(char, name, 8)
                    __dynamic_array(unsigned short, words, 2) __array(uint8_t, bytes, 2) __field_struct(struct odd, odd)
                    __array(double, reals, 2) __rel_string(rel, "x")),
                TP_fast_assign(static const unsigned short words[] = { 1, 65535 };
                    __entry->c = (signed char)n; __entry->uc = 200; __entry->s = -300; __entry->u = 4000000000u;
                    __entry->ll = -5000000000ll; __entry->ull = UINT64_MAX; __entry->f = 0.1f; __entry->d = -1e300;
                    __entry->p = (void *)0x1234; __assign_str(text); __assign_str(empty); memcpy(__entry->name, "abc\0defg", 8);
                    memcpy(__get_dynamic_array(words), words, 4); __entry->bytes[0] = 0; __entry->bytes[1] = 255;
                    memcpy(&__entry->odd, "\1\2\3", 3); __entry->reals[0] = 1.5; __entry->reals[1] = 0.1; __assign_rel_str(rel);),
                TP_printk("%f %d", __entry->d, __entry->c));
            """, "trace_kinds(-1);")
        return (*arguments, self.trace)

    @both
    def test_random_events(self) -> None:
        """Those of roundtrip/test_random: each text is the text output's, but where constants have no TRACE_DEFINE_ENUM."""
        for number in range(few_or_many(1, 3)):
            hits = self.record_random(number)
            found = [line for line in self.report() if line["event"]]
            self.assertEqual([line["event"].split(":", 1)[1] for line in found], [hit["event"] for hit in hits])
            for line, hit, text in zip(found, hits, read(self.path("lines")).split("\n")):
                self.assertTrue(text.split(" ")[2].endswith(f":{hit['event']}:"), text)
                text = text.split(": ", 1)[1]
                if hit["readable"] and not text.endswith("..."):  # it was too long there
                    self.assertEqual(line["text"], text)
            shutil.rmtree(self.trace)
            os.unlink(self.path("lines"))

    def test_control_characters(self) -> None:
        """No text makes a line of its own, or moves the cursor."""
        found = self.export_program("evil", """
            TRACE_EVENT(evil, TP_PROTO(const char *s), TP_ARGS(s), TP_STRUCT__entry(__string(s, s)),
                TP_fast_assign(__assign_str(s);), TP_printk("%s", __get_str(s)));
            """, r'trace_evil("a\nb\033[2J\177\2332J\302\233\342\200\256\377\303\274");')
        self.assertEqual([line["text"].removeprefix('s="').removesuffix('"') for line in found], [r"a\nb\x1b[2J\x7f\x9b2J\xc2\x9b\xe2\x80\xae\xffü"])

    # ---- Which lines ----

    def test_events(self) -> None:
        self.record(2, 5)
        everything = self.report()
        for patterns, wanted in ((["dat:n*"], ("dat:n",)), (["dat:n*,!dat:names", "--events", "dat-other:*"], ("dat:no", "dat:nu", "dat-o")),
                                 (["*,!dat:*"], ("dat-other",)), (["numbers"], ("dat:numbers", "dat-other:numbers"))):
            found = self.report("-e", *patterns, self.trace)
            self.assertEqual(found, [line for line in everything if line["event"].startswith(wanted)])
            self.assertTrue(found)
        self.refused(f"no event in '{self.trace}' matches 'nono:\\*'", "-e", "nono:*", self.trace)
        self.refused("'!x' is no list of events", "-e", "!x", self.trace)

    def test_since_and_until(self) -> None:
        self.record(2, 30, options=",packet=128K")
        everything = self.report()
        begin, end = ns(everything[0]["time"]), ns(everything[-1]["time"])

        def text(moment: int) -> str:
            return f"{moment // 10**9}.{moment % 10**9:09}"

        # By their number, as a busy machine may have paused in the middle.
        first, second = (ns(everything[len(everything) * third // 3]["time"]) for third in (1, 2))
        os.environ["TZ"] = "XYZ-5:30"
        self.addCleanup(os.environ.pop, "TZ")
        utc = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(first // 10**9)) + f".{first % 10**9:09}"
        local = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(first // 10**9 + 19800)) + f".{first % 10**9:09}"
        for since, until_, options in ((text(first), text(second), []), (f"+{first - begin}ns", f"+{(second - begin) / 10**9:.9f}", []),
                                       (f"-{end - first}ns", f"-{end - second}ns", []), (utc, text(second), ["--utc"]),
                                       (utc + "Z", text(second), []), (local, text(second), [])):
            with self.subTest(since):
                found = self.lines("--since", since, "--until", until_, self.trace)
                if "--utc" in options:
                    found = self.lines("--utc", "--since", since, "--until", until_, self.trace)
                want = [line for line in everything if first <= ns(line["time"]) <= second]
                self.assertEqual(len(found), len(want))
                self.assertTrue(0 < len(want) < len(everything))
        self.assertEqual(self.report("--since", "+0", self.trace), everything)
        self.assertEqual(self.report("--since", "+1h", self.trace), [])
        self.assertEqual(self.report("--until", "1", self.trace), [])
        for wrong in ("", "x", "+", "+5x", "5s", "1.", "2026-13-01 00:00", "2026-01-01", "99999999999999999999", "-" + "9" * 30, "+1e5"):
            self.refused(r"report: --since '.*' is no time, such as .*; \"tp help report\"", "--since", wrong, self.trace, status=2)

    def test_times(self) -> None:
        self.record(1, 1, patterns="dat:nothing")
        moment = ns(self.report()[0]["time"])
        os.environ["TZ"] = "XYZ-5:30"
        self.addCleanup(os.environ.pop, "TZ")
        for option, offset in (("--utc", 0), ("--local", 19800)):
            want = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(moment // 10**9 + offset)) + f".{moment % 10**9:09}"
            self.assertIn(f" {want}: dat:nothing: ", self.lines(option, self.trace)[0])
        self.refused("report: give it --utc or --local", "--utc", "--local", self.trace, status=2)

    def test_several_traces(self) -> None:
        """They are merged; so are those in a directory."""
        traces = []
        for number in range(3):
            self.trace = self.path(f"all/{number}")
            os.makedirs(self.path("all"), exist_ok=True)
            self.record(2, 3)
            traces.append(self.trace)
        each = [line for trace in traces for line in self.report(trace)]
        self.assertEqual(self.report(*reversed(traces)), sorted(each, key=lambda line: line["time"]))
        self.assertEqual(self.report(self.path("all")), self.report(*traces))
        os.mkdir(self.path("all/empty"))
        self.write("all/README", "")
        self.assertEqual(self.report(self.path("all")), self.report(*traces))
        self.assertEqual(len({line["pid"] for line in self.report(self.path("all"))}), 3)

    def test_lost(self) -> None:
        """Where they were lost: before the first event of a packet that counts them, and behind the last event."""
        self.record(1, 60, options=",packet=128K")
        packets = sorted(glob.glob(os.path.join(self.trace, "stream-*-1-*")), key=lambda p: int(p.rsplit("-", 1)[1])) or \
            sorted(glob.glob(os.path.join(self.trace, "stream-*")), key=lambda p: int(p.rsplit("-", 1)[1]))
        self.assertGreater(len(packets), 3)
        for number, lost in enumerate((7, 7, 7 + 3000000, 9 + 3000000)):
            with open(packets[number], "r+b") as file:
                file.seek(PACKET_HEAD["events_discarded"])
                file.write(struct.pack("=Q", lost))
        for path in packets[4:]:
            os.unlink(path)
        with open(packets[3], "r+b") as file: # has no events
            file.seek(PACKET_HEAD["content_size"])
            file.write(struct.pack("=Q", 64 * 8))
        found = self.report()
        self.assertEqual([line["lost"] for line in found if line["event"] is None], ["7", "3000000", "2"])
        self.assertEqual([found[0]["lost"], found[-1]["lost"]], ["7", "2"])
        self.assertEqual(found[0]["tid"], found[1]["tid"])
        self.assertEqual([line["lost"] for line in self.report("-e", "nothing", self.trace) if line["event"] is None],
                         ["7", "3000000", "2"])
        os.unlink(packets[1])
        self.assertEqual([line["lost"] for line in self.report() if line["event"] is None], ["7", None, "2"])

    # ---- Traces that are in the middle of something ----

    def test_killed(self) -> None:
        self.record(3, 30, "kill", status=-signal.SIGKILL)
        self.assertEqual(len(self.compare()), 2523)

    def test_live(self) -> None:
        with self.before_the_end():
            self.compare()
        self.compare()

    def test_live_flight_recorder(self) -> None:
        """Its packets go on while they are read: it may come to an end, or be told why not."""
        with self.flight_recorder():
            until(lambda: glob.glob(os.path.join(self.trace, "stream-*-1-3")), "the fourth packet")
            for _ in range(10):
                done = run([TP, "report", self.trace])
                self.assertRegex(done.stderr, r"\A(tp: .*/stream-\S+' (is not there|has become another packet): "
                                 r"the program goes on recording .*\n)?\Z")
                self.assertEqual(done.returncode, 1 if done.stderr else 0)

    def test_snapshot(self) -> None:
        snapshot = self.path("snapshot")
        self.record(2, 60, self.path("flight"), snapshot)
        found = self.report(snapshot)
        self.assertEqual({line["tid"] for line in found}, {line["tid"] for line in self.report()})
        self.assertFalse([line for line in found if not line["event"]])

    def test_chapters(self) -> None:
        self.record(2, 200, options=",rotate=256K,packet=128K")
        chapters = glob.glob(self.trace + "*")
        self.assertGreater(len(chapters), 1)
        want = len(read(self.text).splitlines())
        self.assertEqual(len(self.report(*chapters)), want)

    def test_empty(self) -> None:
        self.record(1, 0, patterns="dat:numbers")
        self.assertEqual(self.report(), [])

    # ---- Bounds ----

    def test_memory_does_not_grow(self) -> None:
        """With less of it than the trace is long, and with fewer descriptors than there are streams."""
        self.record(64, 60)
        size = sum(os.stat(path).st_size for path in glob.glob(os.path.join(self.trace, "stream-*")))
        self.assertGreater(size, 60 << 20)
        done = run(["sh", "-c", 'ulimit -v 50000; ulimit -n 20; exec "$@" >/dev/null', "sh", TP, "report", self.trace])
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_nobody_reads(self) -> None:
        self.record(4, 100)
        with subprocess.Popen([TP, "report", self.trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout and process.stderr
            process.stdout.readline()
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")
            self.assertEqual(process.wait(PATIENCE), -signal.SIGPIPE)

    def test_killed_itself(self) -> None:
        """The process that prints ends with it, and has no rights while it runs."""
        self.record(4, 100)
        with subprocess.Popen([TP, "report", self.trace], stdout=subprocess.PIPE) as process:
            children = f"/proc/{process.pid}/task/{process.pid}/children"
            if not os.path.exists(children):
                process.kill()
                self.skipTest("this kernel does not tell a process's children")
            until(lambda: read(children).split(), "the printer")
            printer = int(read(children))
            until(lambda: "\nUid:\t0\t" not in self.status(printer), "another user")
            process.kill()
        until(lambda: "\nState:" not in self.status(printer) or "\nState:\tZ" in self.status(printer), "the printer's end")

    def test_full_disk(self) -> None:
        self.record(4, 100)
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([TP, "report", self.trace], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, "tp: the output can't be written: No space left on device\n"))

    def test_progress(self) -> None:
        """There is a bar while it takes long and somebody sees it, and none is left in the end."""
        self.record(4, 400)
        control, terminal = pty.openpty()
        self.addCleanup(os.close, control)
        with subprocess.Popen([TP, "report", self.trace], stdout=subprocess.PIPE, stderr=terminal) as process:
            os.close(terminal)
            assert process.stdout
            shown = output = b""
            while select.select([process.stdout], [], [], PATIENCE)[0]:
                if not shown:
                    time.sleep(0.05)  # until the bar is there, as slowly as a person
                piece = os.read(process.stdout.fileno(), 65536)
                output += piece
                if not piece:
                    break
                shown += self.read_terminal(control)
            self.assertEqual(process.wait(PATIENCE), 0)
            shown += self.read_terminal(control)
        lines = [line for line in output.splitlines() if b" [LOST " not in line]  # the largest are too large
        self.assertEqual(len(lines), len(read(self.text).splitlines()))
        self.assertRegex(shown, rb"\A(\r\[#*\.*\] +\d+%)+\r\x1b\[K\Z")

    @staticmethod
    def status(pid: int) -> str:
        with contextlib.suppress(OSError):
            return read(f"/proc/{pid}/status")
        return ""

    @staticmethod
    def read_terminal(control: int) -> bytes:
        found = b""
        with contextlib.suppress(OSError):  # nobody has the other side any more
            while select.select([control], [], [], 0)[0]:
                found += os.read(control, 65536)
        return found

    # ---- Hostile formats ----

    @both
    def test_hostile_formats(self) -> None:
        """They are shown by their fields, and all others by their texts."""
        self.record(2, 20)
        path = os.path.join(self.trace, "format/dat")
        text = read(path)
        want = self.report()
        for name, print_fmt in (("deep", '"%d", ' + "(" * 300000 + "1" + ")" * 300000),
                                ("long", '"%s", __print_array(REC->byte, 2147483647, 1)'),
                                ("hex", '"%s", __print_hex(REC->byte, 2000000000)'),
                                ("wide", '"%2000000000d", REC->byte'))[:few_or_many(3, 4)]:  # takes seconds
            with self.subTest(name):
                self.write("trace/format/dat", re.sub(r"(?s)(name: (?:flags|symbolic)\n.*?\nprint fmt: )[^\n]*",
                                                      lambda m: m[1] + print_fmt, text))
                found = self.report()
                self.assertEqual(len(found), len(want))
                for got, line in zip(found, want):
                    if line["event"] not in ("dat:flags", "dat:symbolic"):
                        self.assertEqual(got, line)
                    else:
                        self.assertEqual(got["event"], line["event"])

    def test_wrong_calls(self) -> None:
        for arguments in ((), ("--nono", self.dir), ("--since",), ("-e",), ("--utc=x", self.dir)):
            self.refused(r"report: .*; \"tp help report\" says how it is called", *arguments, status=2)
        self.refused(f"'{self.dir}/metadata' is not there: ", self.dir)
        self.refused("'/nono' can't be opened: No such file or directory", "/nono")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: MIT
"""tp convert --to trace.dat: what trace-cmd reads in a trace.dat is what the text sink and babeltrace2 say of the same events."""

from __future__ import annotations

import glob
import os
import random
import re
import resource
import shutil
import signal
import struct
import sys
import unittest
from collections import Counter

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from dat import Recorded, expected  # noqa: E402
from support import BUILD, PACKET_HEAD, need, note, read, reader, run, until  # noqa: E402

TOOL = (os.path.join(BUILD, "tp"), "convert", "--to", "trace.dat")
CONTENT_SIZE, DISCARDED = PACKET_HEAD["content_size"], PACKET_HEAD["events_discarded"]

LINE = re.compile(r" *(?P<comm>.*)-(?P<tid>\d+) +\[(?P<cpu>\d+)\] +(?P<time>\d+\.\d+): "
                  r"(?P<event>\S+): *(?P<text>.*)", re.S)


def number_of(path: str) -> int:
    """The packet's number, from its head; 0 if the file is gone again."""
    at = PACKET_HEAD["packet_seq_num"]
    try:
        with open(path, "rb") as file:
            head = file.read(at + 8)
    except FileNotFoundError:
        return 0
    return int.from_bytes(head[at:], sys.byteorder)


class Dat(Recorded):
    def setUp(self) -> None:
        super().setUp()
        need(self, "trace-cmd")
        self.dat = self.path("trace.dat")

    # ---- Steps ----

    def export(self, trace: str = "") -> str:
        """Makes trace.dat, and returns what the tool says."""
        said = self.read_by(*TOOL, "-o", self.dat, trace or self.trace)
        self.assertFalse(glob.glob(self.path(".trace.dat.*")))
        return said

    def report(self) -> list[dict[str, str]]:
        """What trace-cmd prints, an event each; "dropped" is in the one behind a loss, with its number or "?"."""
        text = self.read_by("trace-cmd", "report", "-t", "-N", self.dat)
        found: list[dict[str, str]] = []
        dropped = ""
        # Of a text with ends of lines in it, the lines that follow have no head.
        for part in re.split(r"(?:^|\n)(?=CPU:\d+ \[| *\S[^\n]{0,30}-\d+ +\[\d+\] )", text)[1:]:
            loss = re.match(r"CPU:\d+ \[(?:(\d+) )?EVENTS DROPPED\]", part)
            if loss:
                dropped = loss[1] or "?"
                continue
            line = LINE.fullmatch(part.rstrip("\n"))
            self.assertTrue(line, part)
            found.append({**line.groupdict(), "dropped": dropped})
            dropped = ""
        return found

    def compare(self) -> list[dict[str, str]]:
        """The text sink's lines with trace-cmd's, thread by thread."""
        found = self.report()
        want: dict[str, list[tuple[str, str]]] = {}
        got: dict[str, list[tuple[str, str]]] = {}
        for line in read(self.text).splitlines():
            _, ids, event, text = line.split(" ", 3)
            name = event[:-1].split(":")[1]
            want.setdefault(ids.split("/")[1], []).append((name, expected(name, text)))
        for line in found:
            text = line["text"].replace("\n", "\\n").strip(" ")
            got.setdefault(line["tid"], []).append((line["event"], text))
        self.assertEqual({tid: len(lines) for tid, lines in got.items()},
                         {tid: len(lines) for tid, lines in want.items()})
        for tid, lines in want.items():
            for number, (ours, theirs) in enumerate(zip(lines, got[tid])):
                self.assertEqual(theirs, ours, f"event {number} of thread {tid}")
        return found

    def compare_times(self, found: list[dict[str, str]]) -> None:
        """babeltrace2's times with trace-cmd's, but for its rounding: it turns the offset into time for itself."""
        need(self, "babeltrace2")
        text = self.read_by("babeltrace2", "--clock-seconds", "--no-delta", self.trace)
        theirs = [int(line[1:21].replace(".", "")) for line in text.splitlines()]
        ours = [int(line["time"].replace(".", "")) for line in found]
        self.assertEqual(len(ours), len(theirs))
        self.assertLessEqual(max(abs(a - b) for a, b in zip(ours, theirs)), 1)

    def export_program(self, name: str, events: str, hits: str) -> None:
        self.record_program(name, events, hits)
        self.export()

    # ---- What is the same ----

    def test_several(self) -> None:
        """The traces of a directory are one file: with their events, of which some have one id in two traces, or are the same."""
        everything = Counter()
        for name in ("one", "other", "third", "same"):
            self.trace = self.path(f"all/{name}")
            os.makedirs(self.path("all"), exist_ok=True)
            if name == "third":
                self.record_program("third", """
                    TRACE_EVENT(third_hit, TP_PROTO(double d, int n), TP_ARGS(d, n), TP_STRUCT__entry(__field(double, d) __field(int, n)),
                        TP_fast_assign(__entry->d = d; __entry->n = n;), TP_printk("%.3f %d", __entry->d, __entry->n));
                    TRACE_EVENT(third_end, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, n)),
                        TP_fast_assign(__entry->n = n;), TP_printk("end %d", __entry->n));""", "trace_third_hit(1.5, 2); trace_third_end(-7);")
            else:
                self.record(2, 20)
            self.export()
            everything.update((line["tid"], line["time"], line["event"], line["text"]) for line in self.report())
        said = self.export(self.path("all"))
        self.assertIn(f": {everything.total()} events; ", said)
        found = self.report()
        self.assertEqual([line["time"] for line in found], sorted(line["time"] for line in found))
        self.assertEqual(Counter((line["tid"], line["time"], line["event"], line["text"]) for line in found), everything)
        with open(self.dat, "rb") as file:
            data = file.read()
        names = [name.decode() for name in re.findall(rb"\nname: (\w+)\nID: |name: (\w+)\nID: ", data) for name in name if name]
        # One that has its text with it in some traces only, as negative values want it, is two.
        self.assertEqual({name for name, nr in Counter(names).items() if nr > 1} - {"numbers"}, set())

    def test_floating_point(self) -> None:
        """libtraceevent can't print it: such a record has its text with it."""
        self.export_program("real", """
            TRACE_EVENT(real_one, TP_PROTO(double d, float f, int n), TP_ARGS(d, f, n),
                TP_STRUCT__entry(__field(double, d) __field(float, f) __field(int, n) __string(s, "x\\"y")),
                TP_fast_assign(__entry->d = d; __entry->f = f; __entry->n = n; __assign_str(s);),
                TP_printk("d=%6.2f%% n=%d f=%*g x=%.1e s=%s m=%-*d \\"q, %%\\" %lld", __entry->d, __entry->n, 9,
                          __entry->f, __entry->d * 100, __get_str(s), 4, __entry->n + 1, (long long)__entry->n));
            TRACE_EVENT(real_only, TP_PROTO(double d), TP_ARGS(d), TP_STRUCT__entry(__field(double, d)),
                TP_fast_assign(__entry->d = d;), TP_printk("%g", __entry->d));
            """, "trace_real_one(1.5, 2.5f, 7);\n\ttrace_real_only(-2);")
        texts = [event["text"] for event in self.report()]
        self.assertEqual(texts, ['d=  1.50% n=7 f=      2.5 x=1.5e+02 s=x"y m=8    "q, %" 7', "-2"])
        fields = self.read_by("trace-cmd", "report", "-R", self.dat)
        self.assertIn(' s=x"y tp_text=d=', fields)
        filtered = self.read_by("trace-cmd", "report", "-F", "real_one:n == 7 && s == 'x\"y'", self.dat)
        self.assertEqual(len(filtered.splitlines()), 2)

    def test_the_largest_records(self) -> None:
        """Where the text has no room, it is cut, or is there without the payloads."""
        self.export_program("large", """
            TRACE_EVENT(large, TP_PROTO(size_t n, double d), TP_ARGS(n, d),
                TP_STRUCT__entry(__field(double, d) __dynamic_array(char, bytes, n) __string(tp_text, "x")),
                TP_fast_assign(__entry->d = d; memset(__get_dynamic_array(bytes), 'b', n); __assign_str(tp_text);),
                TP_printk("%f %s", __entry->d, __get_str(tp_text)));
            """, " ".join(f"trace_large({n}, 1.5);" for n in (1, 65000, 65440, 65481, 65490, 65494, 65495, 65500)))
        texts = [event["text"] for event in self.report()]
        self.assertEqual(len(texts), len(read(self.text).splitlines()))
        self.assertEqual(texts[:2], ["1.500000 x"] * 2)
        for text in texts:
            self.assertTrue("1.500000 x".startswith(text), text)
        self.assertEqual(texts[-1], "1.500000 x")

    def test_ends_of_lines(self) -> None:
        """A format file has them as they are."""
        self.export_program("lines", r"""
            TRACE_EVENT(lines, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, n)),
                TP_fast_assign(__entry->n = n;), TP_printk("first %d\nsecond\n\\third %d", __entry->n, __entry->n + 1));
            """, "trace_lines(7);")
        self.assertEqual([line["text"] for line in self.compare()], ["first 7\nsecond\n\\third 8"])

    def test_names_of_constants(self) -> None:
        """Of enumerations and of what tables name, which no TRACE_DEFINE_ENUM says: trace-cmd knows no C."""
        self.write("transport.h", """
            enum transport { TCP = 1, UDP, UNIX_SOCKET = 40 };
            #define RELIABLE 0x10
            #define PASTED(what) FLAG_##what
            enum { FLAG_READ = 0x20 };\n""")
        self.export_program("conn", """
            #include "transport.h"
            #define TRANSPORTS { TCP, "tcp" }, { UDP, "udp" }, { UNIX_SOCKET, "unix" }
            TRACE_EVENT(conn_new, TP_PROTO(int transport, int flags), TP_ARGS(transport, flags),
                TP_STRUCT__entry(__field(int, transport) __field(int, flags)),
                TP_fast_assign(__entry->transport = transport; __entry->flags = flags;),
                TP_printk("transport=%s flags=%s %s %d", __print_symbolic(__entry->transport, TRANSPORTS),
                          __print_flags(__entry->flags, "|", { RELIABLE, "reliable" }, { PASTED(READ), "read" }, { 1 << UDP, "four" }),
                          __entry->transport == UNIX_SOCKET ? "local" : "far", __entry->transport + UDP));
            """, "for (int n = 0; n < 50; n++)\n\t\ttrace_conn_new(n, n);")
        texts = [line["text"] for line in self.compare()]
        self.assertEqual(texts[40], "transport=unix flags=read|0x8 local 42")

    def test_types_of_expressions(self) -> None:
        """Of typeof() trace-cmd knows nothing: it is told what that is to C."""
        self.export_program("kinds", """
            struct box { unsigned char a; long long big; void *p; float f; struct { int x; } s; };
            #define OF(member) typeof(((struct box *)0)->member)
            TRACE_EVENT(kinds, TP_PROTO(typeof(int) n), TP_ARGS(n),
                TP_STRUCT__entry(__field(typeof(int), n) __field(OF(big), big) __field(OF(p), p) __field(OF(f), f)
                    __field_struct(OF(s), s) __array(typeof(char), text, 4) __array(OF(a), a, 2) __dynamic_array(typeof(short), shorts, 2)),
                TP_fast_assign(__entry->n = n; __entry->big = n * 2; __entry->p = NULL; __entry->f = 1; __entry->s.x = 1;
                    memcpy(__entry->text, "abc", 4); memset(__entry->a, 0, 2); memset(__get_dynamic_array(shorts), 1, 4);),
                TP_printk("%d %lld %s %s", __entry->n, __entry->big, __entry->text, __print_hex(__get_dynamic_array(shorts), 4)));
            """, "trace_kinds(7);")
        self.assertEqual([line["text"] for line in self.compare()], ["7 14 abc 01 01 01 01"])
        self.assertEqual(re.findall(r"^\t(field:(?!.* common_)[^\t]*)", read(self.path("trace/format/kinds")), re.M), [
            "field:int n;", "field:long long big;", "field:void * p;", "field:float f;", "field:struct typeof s;", "field:char text[4];",
            "field:unsigned char a[2];", "field:__data_loc short[] shorts;"])

    def test_all_helpers_in_threads(self) -> None:
        self.record(4, 60)
        self.assertRegex(self.export(), r": 6724 events; 4 CPUs, .*; 0 events were lost while recording\n$")
        found = self.compare()
        self.compare_times(found)
        self.assertEqual({line["comm"] for line in found}, {"dat"})
        # Records of up to 65 KB: so the pages are larger than the usual 4 KiB.
        with open(self.dat, "rb") as file:
            self.assertEqual(struct.unpack("=I", file.read(18)[14:])[0], 128 << 10)
        self.assertEqual(len({(line["tid"], line["cpu"]) for line in found}), 4)

    def test_context(self) -> None:
        for context in ("cpu", "pid", "name", "cpu+name", "cpu+pid", "cpu+pid+name"):
            with self.subTest(context):
                self.record(2, 20, options=f",context={context},packet=128K")
                self.export()
                found = self.compare()
                self.compare_times(found)
                names = {line["comm"] for line in found}
                self.assertEqual(names, {"worker 0", "worker 1"} if "name" in context else {"dat"})
                shutil.rmtree(self.trace)
                os.unlink(self.text)

    def test_a_name_that_a_terminal_would_obey(self) -> None:
        """trace-cmd shows the names of threads as they are."""
        for name, shown in (("d\u009b2Jt", "d??2Jt"), ("d\u202et", "d???t"), ("gr\u00fcn", "gr\u00fcn")):
            with self.subTest(shown):
                self.succeed([shutil.copy(self.program, self.path(name)), "1", "1"], env=self.environment())
                self.export()
                self.assertEqual({line["comm"] for line in self.report()}, {shown})
                shutil.rmtree(self.trace)

    def test_small_records_have_small_pages(self) -> None:
        self.record(1, 40, patterns="dat:n*,dat-other:*")
        self.export()
        self.compare()
        with open(self.dat, "rb") as file:
            self.assertEqual(struct.unpack("=I", file.read(18)[14:])[0], 4096)

    def test_systems(self) -> None:
        """Two events of one name: each line is that of the record's own system."""
        self.record(1, 5, patterns="*:numbers")
        self.export()
        self.assertEqual(sorted(line["text"][:2] for line in self.compare()), ["i="] * 5 + ["sq"] * 5)

    def test_many_threads(self) -> None:
        self.record(64, 3)
        self.export()
        self.compare()

    def test_child(self) -> None:
        self.record(2, 10, "fork")
        self.export()
        self.assertEqual(len({line["tid"] for line in self.compare()}), 3)

    def test_pauses(self) -> None:
        """For a time like that since the event before, a record has too few bits."""
        self.record(1, 3, "slow")
        self.export()
        self.compare_times(self.compare())

    def test_statistics(self) -> None:
        self.record(2, 3)
        self.export()
        done = reader(["trace-cmd", "report", "--stat", self.dat])
        self.assertRegex(done.stdout, r"CPU: 1\nstream: stream-\d+-1\nevents: 85\nlost: 0\n")

    def test_random_events(self) -> None:
        """Those of roundtrip/test_random: all are found, and what libtraceevent can print is what was passed."""
        hits = self.record_random(2)
        self.export()
        found = self.report()
        self.assertEqual([line["event"] for line in found], [hit["event"] for hit in hits])
        for line, hit in zip(found, hits):
            if hit["readable"]:
                text = bytes.fromhex(hit["text"]).decode(errors="surrogateescape").replace("\r", "\n")
                self.assertEqual(line["text"].strip(" \n"), text.strip(" \n"))

    # ---- Traces that are in the middle of something ----

    def test_killed(self) -> None:
        self.record(3, 30, "kill", status=-signal.SIGKILL)
        self.assertIn(": 2523 events;", self.export())
        self.assertEqual(len(self.report()), 2523)

    def test_live(self) -> None:
        with self.before_the_end():
            self.export()
        self.compare()

    def test_live_flight_recorder(self) -> None:
        """Its packets go on while they are read: it may come to an end, or be told why not."""
        with self.flight_recorder():
            packets = os.path.join(self.trace, "stream-*-1-*")
            until(lambda: any(number_of(path) >= 9 for path in glob.glob(packets)), "the tenth packet")
            for _ in range(10):
                done = reader([*TOOL, "-o", self.dat, self.trace])
                self.assertRegex(done.stderr, r"\A(tp: .*(/stream-\S+' (is not there|has become another "
                                 r"packet): the program goes on recording .*|has changed while it was read; .*)"
                                 r"\n)?\Z")
                self.assertEqual(done.returncode, 1 if done.stderr else 0)

    def test_snapshot(self) -> None:
        """A flight recorder's newest packets: nothing is lost in it, and each thread's events are its last ones."""
        snapshot = self.path("snapshot")
        self.record(2, 60, self.path("flight"), snapshot)
        self.assertRegex(self.export(snapshot), r"; 0 events were lost while recording\n$")
        found = self.report()
        texts = read(self.text).splitlines()
        for tid in {line["tid"] for line in found}:
            mine = [line for line in found if line["tid"] == tid]
            all_of_it = [line.split(" ", 3) for line in texts if f"/{tid} " in line.split(": ", 1)[0]]
            self.assertLess(len(mine), len(all_of_it))
            self.assertEqual([line["event"] for line in mine],
                             [words[2][:-1].split(":")[1] for words in all_of_it[-len(mine):]])
            self.assertFalse([line for line in mine if line["dropped"]])

    def test_lost(self) -> None:
        """What the packets count as lost, trace-cmd shows; a packet that is not there, too."""
        self.record(1, 60, options=",packet=128K")
        packets = sorted(glob.glob(os.path.join(self.trace, "stream-*")), key=lambda p: int(p.rsplit("-", 1)[1]))
        self.assertGreater(len(packets), 3)
        for number, lost in enumerate((7, 7, 7 + 3000000)):
            with open(packets[number], "r+b") as file:
                file.seek(DISCARDED)
                file.write(struct.pack("=Q", lost))
        for path in packets[3:]:
            os.unlink(path)
        self.assertRegex(self.export(), r"; 3000007 events were lost while recording\n$")
        self.assertEqual([line["dropped"] for line in self.report() if line["dropped"]], ["7", "3000000"])
        os.unlink(packets[1])
        self.export()
        self.assertEqual([line["dropped"] for line in self.report() if line["dropped"]], ["7", "?"])

    def test_empty(self) -> None:
        self.record(1, 0, patterns="dat:numbers")
        self.export()
        self.assertEqual(self.report(), [])

    def test_memory_does_not_grow(self) -> None:
        """With less of it than the trace is long."""
        self.record(2, 2000)
        size = sum(os.stat(path).st_size for path in glob.glob(os.path.join(self.trace, "stream-*")))
        self.assertGreater(size, 10 << 20)
        done = run(["sh", "-c", 'ulimit -v 9000; exec "$@"', "sh", *TOOL, "-o", self.dat, self.trace])
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Trouble(Dat):
    """What is no trace, and what can't be written."""

    def refused(self, message: str, *arguments: str, status: int = 1, **options) -> None:
        done = run([*TOOL, *(arguments or ("-o", self.dat, self.trace))], **options)
        self.assertRegex(done.stderr, message)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1 if status == 1 else done.stderr.count("\n"), done.stderr)
        self.assertFalse(glob.glob(self.path("*.dat")) + glob.glob(self.path(".*")))

    def packet(self) -> str:
        return glob.glob(os.path.join(self.trace, "stream-*"))[0]

    def put(self, path: str, offset: int, data: bytes) -> None:
        with open(path, "r+b") as file:
            file.seek(offset)
            file.write(data)

    def test_usage(self) -> None:
        for arguments in ((), ("a", "b"), ("-x",), ("-o",), ("-o", "-", self.dir), ("--to", "x", self.dir), ("--", self.dir, "a")):
            done = run([*TOOL, *arguments])
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, r"\Atp: convert: .*; \"tp help convert\" says how it is called\n\Z")
        done = run([TOOL[0], "convert", self.dir])
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("give it --to FORMAT", done.stderr)

    def test_no_trace(self) -> None:
        self.refused(r"'.*/trace' can't be opened: No such file or directory\n$")
        self.write("trace", "text")
        self.refused(r"'.*/trace' is neither the directory of a trace nor a file that \"tp pack\" has made\n$")
        os.unlink(self.trace)
        os.mkdir(self.trace)
        self.refused(r"'.*/trace/metadata' is not there: give the directory of a trace, which has such a file\n$")
        self.write("trace/metadata", "\x75\xd1\x1d\xc1")
        self.refused(r"'.*/metadata' is no text description of a CTF 1.8 trace: .* offset 0\n$")
        self.write("trace/metadata", "/* CTF 1.8 */\n\nenv {\n\ttracer_name = \"lttng-ust\";\n};\n")
        self.refused(r"/metadata' is of no trace of tpgen's CTF output: at offset 36, it has no tracer_name = \"tp\"\n$")
        os.unlink(self.path("trace/metadata"))
        os.symlink("metadata", self.path("trace/metadata"))
        self.refused(r"'.*/metadata' can't be opened: it is a symbolic link\n$")

    def test_metadata_of_another_version(self) -> None:
        self.record(1, 1)
        metadata = os.path.join(self.trace, "metadata")
        text = read(metadata)
        for old, new, message, place in (("uint16_t id;", "uint32_t id;", "laid out as this version does not know", "\nstream {\n"),
                                         ("\tint32_t tid;\n", "\tint32_t tid;\n\t\tint32_t more;\n", "laid out as this",
                                          "\t\t/* The alignment skips"),
                                         ("magic;", "magics;", "laid out as this", "\ntrace {\n"),
                                         ("\tfreq = ", "\tfreq = 0", "no clock that can be understood", "\nclock {\n"),
                                         ("byte_order = le", "byte_order = be", "another byte order", "\n\tbyte_order = ")):
            with self.subTest(new):
                self.assertIn(old, text)
                changed = re.sub(r"freq = 0\d+", "freq = 0", text.replace(old, new))
                self.write("trace/metadata", changed)
                self.refused(rf"/metadata' .*{message}.*, at offset {changed.index(place)}\b")

    def test_damaged_packets(self) -> None:
        self.record(1, 4)
        packet = self.packet()
        with open(packet, "rb") as file:
            whole = file.read()
        content = struct.unpack_from("=Q", whole, CONTENT_SIZE)[0]
        name = re.escape(os.path.basename(packet))
        for offset, data, message in (
                (0, b"\0", r"is no packet of a trace: its magic number, at offset 0, is 0xc1fc1f00 and"),
                (4, b"\1", r"its stream_id, at offset 4, is 1"),
                (CONTENT_SIZE, struct.pack("=Q", 2**64 - 8), r"its content_size, at offset 16, is \d+ bits"),
                (CONTENT_SIZE, struct.pack("=Q", 8), r"its content_size, at offset 16, is 8 bits"),
                (CONTENT_SIZE, struct.pack("=Q", content - 8), r"at offset \d+ an event begins that is longer than"),
                (64, b"\xff" * 8, r"at offset \d+ an event is older than"),
                (72, b"\xff\xff", r"the event at offset 64 has the ID 65535, which is in no file of '.*/format'"),
                (0, b"\0" * 4096, r"no packet of a trace: its magic number, at offset 0, is 0x00000000")):
            with self.subTest(message):
                self.put(packet, 0, whole)
                self.put(packet, offset, data)
                self.refused(rf"/{name}'.*{message}")
        for size in (0, 63, 64, 1000):
            with self.subTest(size):
                with open(packet, "wb") as file:
                    file.write(whole[:size])
                self.refused(rf"/{name}' is cut off: .* (ends at offset|has \d+ bytes of content)")

    def test_what_is_no_plain_file(self) -> None:
        self.record(1, 1)
        for make in (lambda path: os.symlink(path, path), os.mkfifo, os.mkdir):
            path = os.path.join(self.trace, "stream-1-0-0")
            make(path)
            self.refused(r"'.*/stream-1-0-0' (is no plain file|can't be opened: it is a symbolic link)\n$")
            (os.rmdir if os.path.isdir(path) else os.unlink)(path)
        # Hidden files and others are none of the trace.
        self.write("trace/.stream-1-0-0", "")
        self.write("trace/README", "")
        self.export()

    def test_formats(self) -> None:
        self.record(1, 2)
        path = os.path.join(self.trace, "format/dat")
        text = read(path)
        second = text.index("\n\nname: ") + 2
        for changed, message in ((text.replace("name: ", "nome: ", 1), r"no text of format files"),
                                 (text.replace("ID: ", "IT: ", 1), r"at offset 0 describes no event: it has no ID"),
                                 (text[:second] + text, rf"/format/dat': two events have the ID \d+, that at offset {second} and another\n"),
                                 (text.replace("offset:8", "offset:65535", 1), r"outside of what a record can be"),
                                 (text[:second] + "\0" + text[second:], rf"there is a NUL at offset {second}\n"),
                                 (text[:second - 1], r"has the ID \d+, which is in no file of")):
            self.write("trace/format/dat", changed)
            self.refused(message)

    def test_output(self) -> None:
        self.record(1, 2)
        self.refused(r"'.*/no/x' can't be made: No such file", "-o", self.path("no/x"), self.trace)
        self.refused(r"'/dev/null' is no plain file", "-o", "/dev/null", self.trace)
        self.write("old", "old")
        limited = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))}
        self.refused(r"'.*/old' can't be written: File too large\n$", "-o", self.path("old"), self.trace, **limited)
        self.assertEqual(read(self.path("old")), "old")
        done = run([*TOOL, "-o", self.path("old"), self.trace])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotEqual(read(self.path("old")), "old")

    def test_mutations(self) -> None:
        """Bytes that are not what they were: it ends, and says why, or all is well; the sanitizers find nothing."""
        tool = (os.path.join(BUILD, "asan/tp"), *TOOL[1:])
        self.record(2, 2, options=",context=cpu+name")
        files = [*glob.glob(os.path.join(self.trace, "stream-*")), os.path.join(self.trace, "metadata"),
                 *glob.glob(os.path.join(self.trace, "format/*"))]
        wholes = {path: open(path, "rb").read() for path in files}
        rng = random.Random(1)
        refused = 0
        for number in range(200):
            path = rng.choice(files)
            data = bytearray(wholes[path])
            content = struct.unpack_from("=Q", data, CONTENT_SIZE)[0] // 8 if "stream-" in path else len(data)
            for _ in range(rng.choice((1, 1, 3, 20))):
                at = rng.randrange(rng.choice((min(64, content), content)))
                data[at] = rng.choice((0, 1, 255, rng.randrange(256)))
            if rng.random() < 0.1:
                del data[rng.randrange(len(data)):]
            with open(path, "wb") as file:
                file.write(data)
            done = run([*tool, "-o", self.dat, self.trace])
            self.assertIn(done.returncode, (0, 1), f"mutation {number} of {path}: {done.stderr}")
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1) if done.stderr else (0, 0), done.stderr)
            refused += done.returncode
            with open(path, "wb") as file:
                file.write(wholes[path])
        note(f"200 mutations, {refused} of them refused")
        self.assertTrue(20 < refused < 200)


def load_tests(loader: unittest.TestLoader, *_: object) -> unittest.TestSuite:
    """Trouble has the steps of Dat, but its own tests only."""
    suite = unittest.TestSuite(loader.loadTestsFromTestCase(Dat))
    suite.addTests(test for test in loader.loadTestsFromTestCase(Trouble)
                   if test.id().rsplit(".", 1)[1] in Trouble.__dict__)
    return suite

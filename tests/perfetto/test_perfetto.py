# SPDX-License-Identifier: MIT
"""tp convert --to perfetto: what protoc decodes by our own .proto, and what Perfetto's Trace Processor has of it in SQL."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "trace_dat")]

from dat import Recorded  # noqa: E402
from packets import Shown, events  # noqa: E402
from support import BUILD, PACKET_HEAD, few_or_many, read, run  # noqa: E402
from viewed import Viewed  # noqa: E402

TP = os.path.join(BUILD, "tp")

PAIRS = """
TRACE_EVENT(begin, TP_PROTO(int id, const char *peer), TP_ARGS(id, peer), TP_STRUCT__entry(__field(int, id) __string(peer, peer)),
    TP_fast_assign(__entry->id = id; __assign_str(peer);), TP_printk("%d %s", __entry->id, __get_str(peer)));
TRACE_EVENT(end, TP_PROTO(int id, int error), TP_ARGS(id, error), TP_STRUCT__entry(__field(int, request) __field(int, error)),
    TP_fast_assign(__entry->request = id; __entry->error = error;),
    TP_printk("%d %s", __entry->request, __print_symbolic(__entry->error, { 0, "none" }, { -5, "EIO" })));
TRACE_EVENT(step, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, n)), TP_fast_assign(__entry->n = n;),
    TP_printk("%d", __entry->n));
"""

# The fields of the kernel's track events.
TRACKS = """
TRACE_EVENT(span, TP_PROTO(char type, const char *name), TP_ARGS(type, name),
    TP_STRUCT__entry(__field(char, track_event_type) __string(slice_name, name)),
    TP_fast_assign(__entry->track_event_type = type; __assign_str(slice_name);), TP_printk("%c", __entry->track_event_type));
TRACE_EVENT(job, TP_PROTO(char type, const char *name, const char *track, int pid), TP_ARGS(type, name, track, pid),
    TP_STRUCT__entry(__field(char, track_event_type) __string(slice_name, name) __string(track_name, track) __field(int, scope_tgid)),
    TP_fast_assign(__entry->track_event_type = type; __assign_str(slice_name); __assign_str(track_name); __entry->scope_tgid = pid;),
    TP_printk("%c", __entry->track_event_type));
TRACE_EVENT(depth, TP_PROTO(long value, int queue), TP_ARGS(value, queue),
    TP_STRUCT__entry(__field(long, counter_value) __field(int, scope_queue)),
    TP_fast_assign(__entry->counter_value = value; __entry->scope_queue = queue;), TP_printk("%ld", __entry->counter_value));
"""


class Perfetto(Viewed, Recorded):
    # ---- Steps ----

    def shown(self, *arguments: str) -> list[Shown]:
        self.assertEqual(self.read_by(TP, "convert", "--to", "perfetto", "-o", self.file, *arguments), "")
        return events(self.file)

    def pairs(self, hits: str) -> None:
        self.record_program("pairs", PAIRS, hits)

    def slices(self, *arguments: str) -> list[tuple]:
        """Name, track, fields of begin and end; the end is None where there is none."""
        found, stacks = [], {}
        for event in self.shown(*arguments):
            stack = stacks.setdefault(event.track["uuid"][0], [])
            if event.type == "SLICE_BEGIN":
                found.append([event.name, event.track.get("name", [""])[0], event.fields, None])
                stack.append(found[-1])
            elif event.type == "SLICE_END":
                stack.pop()[3] = event.fields
        return [tuple(slice_) for slice_ in found]

    # ---- Instants ----

    def test_as_json(self) -> None:
        """Every event of random programs with all its fields, where JSON has them."""
        for seed in range(1, few_or_many(1, 3) + 1):
            with self.subTest(seed):
                shutil.rmtree(self.trace, ignore_errors=True)
                self.record_random(seed)
                lines = [json.loads(line) for line in self.read_by(TP, "convert", "--to", "json", self.trace).splitlines()]
                shown = self.shown(self.trace)
                self.assertEqual([(e.type, e.ns, e.category, e.name) for e in shown], [("INSTANT", l["ns"], l["system"], l["event"]) for l in lines])
                for event, line in zip(shown, lines):
                    self.assertEqual(event.track["thread"][0], {"pid": [line["pid"]], "tid": [line["tid"]], "thread_name": [line["comm"]]})
                    self.same_fields(event, line)

    def same_fields(self, event: Shown, line: dict) -> None:
        values = list(line["fields"].values())
        ours = [value for name, value in event.fields.items() if not name.endswith(".name")]
        self.assertEqual(len(ours), len(values))
        for one, other in zip(ours, values):
            if isinstance(other, str) and re.fullmatch("0x[0-9a-f]+", other):
                other = int(other, 16)
            if isinstance(other, list) and other and isinstance(other[0], str):
                other = [int(o, 16) for o in other]
            if one != other and (one or other):
                numbers = (one, other) if isinstance(one, list) else ([one], [other])
                for number, text in zip(*numbers):
                    self.assertTrue(_is_near(number, text), f"{event}\n{line}")

    def test_names_of_values(self) -> None:
        self.pairs("trace_end(1, -5); trace_end(2, 7);")
        first, second = self.shown(self.trace)
        self.assertEqual(first.fields, {"request": 1, "error": -5, "error.name": "EIO"})
        self.assertEqual(second.fields, {"request": 2, "error": 7})

    def test_which(self) -> None:
        self.pairs("for (int i = 0; i < 5; i++) trace_step(i);")
        self.assertEqual([e.fields for e in self.shown("-e", "step if n > 2", self.trace)], [{"n": 3}, {"n": 4}])

    def test_lost(self) -> None:
        self.record(1, 300, options=",packet=16K")
        packets = sorted(name for name in os.listdir(self.trace) if name.startswith("stream"))
        with open(os.path.join(self.trace, packets[0]), "r+b") as file:
            file.seek(PACKET_HEAD["events_discarded"])
            file.write(struct.pack("=Q", 7))
        want = re.findall(r"\[LOST (\d+ )?EVENTS\]", self.read_by(TP, "report", self.trace))
        lost = [e for e in self.shown(self.trace) if e.category == "tp"]
        self.assertEqual([(e.name, e.fields.get("lost")) for e in lost], [("events lost", int(n) if n else None) for n in want])

    def test_machines(self) -> None:
        """Processes of two hosts, which may have the same numbers, are two."""
        self.pairs("trace_step(1);")
        self.succeed(["cp", "-r", self.trace, self.path("other")])
        metadata = read(self.path("other/metadata"))
        self.write("other/metadata", re.sub(r'hostname = "[^"]*"', 'hostname = "elsewhere"', metadata))
        one, other = self.shown(self.trace, self.path("other"))
        self.assertEqual((one.machine, other.machine), (1, 2))
        self.assertNotEqual(one.track["uuid"], other.track["uuid"])
        self.assertEqual(len({e.track["uuid"][0] for e in self.shown(self.trace, self.trace)}), 1)

    # ---- Spans ----

    def test_pairs_by_fields(self) -> None:
        """They may overlap, in two tracks of one name; an end without a begin is an instant, and a begin without an end stays open."""
        self.pairs('trace_end(9, 0); trace_begin(1, "a"); trace_step(0); trace_begin(2, "b"); trace_end(1, -5); trace_begin(3, "c"); '
                   'trace_end(2, 0); trace_begin(4, "d"); trace_end(3, 0);')
        slices = self.slices("--span", "begin/end by id:request", self.trace)
        self.assertEqual([(s[0], s[1], s[2]["id"], s[3] and s[3]["request"]) for s in slices],
                         [("begin", "begin", 1, 1), ("begin", "begin", 2, 2), ("begin", "begin", 3, 3), ("begin", "begin", 4, None)])
        self.assertEqual(slices[0][3], {"request": 1, "error": -5, "error.name": "EIO"})
        found = self.shown("--span", "begin/end by id:request", self.trace)
        self.assertEqual([e.fields for e in found if e.type == "INSTANT"], [{"request": 9, "error": 0, "error.name": "none"}, {"n": 0}])
        begins = [e for e in found if e.type == "SLICE_BEGIN"]
        self.assertEqual({e.fields["tid"] for e in begins}, {begins[0].parent["process"][0]["pid"][0]})
        self.assertEqual(len({e.track["uuid"][0] for e in begins}), 2)

    def test_pairs_of_a_thread(self) -> None:
        """The innermost first."""
        self.pairs('trace_begin(1, "a"); trace_begin(2, "b"); trace_end(2, 0); trace_end(1, 0);')
        slices = self.slices("--span", "begin/end", self.trace)
        self.assertEqual([(s[2]["id"], s[3]["request"]) for s in slices], [(1, 1), (2, 2)])
        self.assertIn("thread", self.shown("--span", "begin/end", self.trace)[0].parent)

    def test_pairs_with_filters(self) -> None:
        self.pairs('for (int i = 0; i < 4; i++) { trace_begin(i, i % 2 ? "odd" : "even"); trace_end(i, 0); }')
        slices = self.slices("--span", 'begin if peer == "odd"/end by id:request', self.trace)
        self.assertEqual([(s[2]["id"], s[3]["request"]) for s in slices], [(1, 1), (3, 3)])

    def test_kernels_track_events(self) -> None:
        """Slices in the thread, slices in a process's track by name, counters for each value of a scope."""
        self.record_program("tracks", TRACKS, """
            trace_span('B', "outer"); trace_span('B', "inner"); trace_span('I', "now"); trace_span('E', ""); trace_span('E', "");
            trace_job('B', "one", "jobs", 77); trace_job('B', "two", "more jobs", 77); trace_job('E', "", "jobs", 77);
            for (int i = 0; i < 3; i++) { trace_depth(10 * i, 1); trace_depth(-i, 2); }""")
        found = self.shown(self.trace)
        self.assertEqual([(e.type, e.name) for e in found[:5]], [("SLICE_BEGIN", "outer"), ("SLICE_BEGIN", "inner"), ("INSTANT", "now"),
                                                                 ("SLICE_END", ""), ("SLICE_END", "")])
        self.assertEqual({(e.track["name"][0], "thread" in e.parent) for e in found[:5]}, {("span", True)})
        jobs = [(e.type, e.name, e.track["name"][0], e.parent["process"][0]["pid"]) for e in found[5:8]]
        self.assertEqual(jobs, [("SLICE_BEGIN", "one", "jobs", [77]), ("SLICE_BEGIN", "two", "more jobs", [77]), ("SLICE_END", "", "jobs", [77])])
        counters = [(e.track["name"][0], e.counter, e.parent) for e in found[8:]]
        self.assertEqual(counters, [(f"depth queue {q}", value, None) for i in range(3) for q, value in ((1, 10 * i), (2, -i))])

    # ---- Perfetto itself ----

    def test_trace_processor(self) -> None:
        self.record_program("both", PAIRS + TRACKS, """
            trace_begin(1, "caf\\xc3\\xa9 \\xff"); trace_span('B', "outer"); trace_begin(2, "b"); trace_span('E', ""); trace_end(1, -5); trace_end(2, 0);
            trace_step(3); trace_depth(5, 1); trace_depth(-9000000000, 1);""")
        self.shown("--span", "begin/end by id:request", self.trace)
        lines = [json.loads(line) for line in self.read_by(TP, "convert", "--to", "json", self.trace).splitlines()]
        at = [line["ns"] for line in lines]
        out = self.asked(
            "SELECT s.name, s.ts, s.dur, s.category, t.name AS track FROM slice s JOIN track t ON s.track_id = t.id ORDER BY s.ts",
            "SELECT p.name, t.name AS thread, t.tid FROM thread t JOIN process p USING (upid) WHERE t.tid > 0",
            "SELECT a.key, a.display_value AS value FROM slice s JOIN args a USING (arg_set_id) WHERE s.ts = "
            f"{at[0]} AND a.key LIKE 'debug.%' ORDER BY a.key",
            "SELECT t.name, c.ts, CAST(c.value AS INT) AS value FROM counter c JOIN counter_track t ON c.track_id = t.id ORDER BY c.ts",
            "SELECT to_realtime(ts) AS ns FROM slice ORDER BY ts LIMIT 1")
        pid = lines[0]["pid"]
        self.assertEqual(out, [
            f"name=begin | ts={at[0]} | dur={at[4] - at[0]} | category=both,debug_line | track=begin",
            f"name=outer | ts={at[1]} | dur={at[3] - at[1]} | category=both,debug_line | track=span",
            f"name=begin | ts={at[2]} | dur={at[5] - at[2]} | category=both,debug_line | track=begin",
            f"name=step | ts={at[6]} | dur=0 | category=both,debug_line | track=null",
            f"name=both | thread=both | tid={pid}",
            "key=debug.error | value=-5", "key=debug.error_name | value=EIO", "key=debug.id | value=1", "key=debug.peer | value=café \\xff",
            "key=debug.request | value=1", f"key=debug.tid | value={pid}",
            f"name=depth queue 1 | ts={at[7]} | value=5", f"name=depth queue 1 | ts={at[8]} | value=-9000000000",
            f"ns={at[0]}"])

    # ---- What goes wrong ----

    def test_wrong(self) -> None:
        self.pairs('trace_begin(1, "a"); trace_end(1, 0);')
        for arguments, status, message in (
                (("--span", "begin"), 1, "'begin' is no span, such as 'block_start/block_end by block'"),
                (("--span", "begin/"), 1, "'begin/' is no span.*"), (("--span", "begin/end by "), 1, "'begin/end by ' is no span.*"),
                (("--span", "begin/nosuch"), 1, ".*nosuch.*"),
                (("--span", "begin/end by id"), 1, "event 'pairs:end' has no field 'id' that is an integer or a text: .*"),
                (("--span", "begin/end by a,b,c,d"), 1, "'a,b,c,d' has more than 3 fields"),
                (("-o", "-"), 2, "convert: a perfetto can't be written to a pipe: give -o the name of a file.*"),
                (("-o", self.path("none/out")), 1, "'.*none/out' can't be made: No such file or directory")):
            with self.subTest(arguments):
                done = run([TP, "convert", "--to", "perfetto", self.trace, *arguments], cwd=self.dir)
                self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
                self.assertRegex(done.stderr, rf"\A(?s:tp: {message}\n)\Z")
        done = run([TP, "convert", "--to", "json", "--span", "begin/end", self.trace])
        self.assertEqual(done.returncode, 2)
        self.assertIn("a json has no spans: leave --span out, or give --to perfetto", done.stderr)


def _is_near(one: object, other: object) -> bool:
    """The same number; a float of four bytes has fewer digits in JSON, which has no infinities."""
    if other is None:
        return isinstance(one, float) and not math.isfinite(one) or one in ("inf", "-inf", "nan")
    if not isinstance(one, (int, float)) or not isinstance(other, (int, float)):
        return False
    return math.isclose(one, other, rel_tol=1e-6) or abs(one - other) < 1e-40

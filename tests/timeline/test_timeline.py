# SPDX-License-Identifier: MIT
"""tp timeline: what the picture has, by its elements. How it looks is for eyes."""

from __future__ import annotations

import os
import re
import shutil
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "trace_dat")]

from dat import Recorded  # noqa: E402
from support import BUILD, few_or_many, read, run  # noqa: E402

TP = os.path.join(BUILD, "tp")
SVG = "{http://www.w3.org/2000/svg}"
COLUMNS, LEFT = 1200, 190
LARGEST = 2 << 20

EVENTS = """
TRACE_EVENT(work_begin, TP_PROTO(int id), TP_ARGS(id), TP_STRUCT__entry(__field(int, id)), TP_fast_assign(__entry->id = id;),
    TP_printk("%d", __entry->id));
TRACE_EVENT(work_end, TP_PROTO(int id), TP_ARGS(id), TP_STRUCT__entry(__field(int, id)), TP_fast_assign(__entry->id = id;),
    TP_printk("%d", __entry->id));
TRACE_EVENT(note, TP_PROTO(const char *s), TP_ARGS(s), TP_STRUCT__entry(__string(s, s)), TP_fast_assign(__assign_str(s);),
    TP_printk("%s", __get_str(s)));
TRACE_EVENT(span, TP_PROTO(char type, const char *name), TP_ARGS(type, name),
    TP_STRUCT__entry(__field(char, track_event_type) __string(slice_name, name)),
    TP_fast_assign(__entry->track_event_type = type; __assign_str(slice_name);), TP_printk("%c", __entry->track_event_type));
TRACE_EVENT(depth, TP_PROTO(long value), TP_ARGS(value), TP_STRUCT__entry(__field(long, counter_value) __field(int, scope_tgid)),
    TP_fast_assign(__entry->counter_value = value; __entry->scope_tgid = 1;), TP_printk("%ld", __entry->counter_value));
"""
PAIR = ("--span", "work_begin/work_end by id")


@dataclass
class Lane:
    name: str
    bars: list[tuple[float, float, str]] = field(default_factory=list)  # x, width, title
    ticks: int = 0
    hovers: list[str] = field(default_factory=list)
    value: str = ""
    x: list[float] = field(default_factory=list)  # of a counter's line
    busy: int = 0


class Timeline(Recorded):
    def setUp(self) -> None:
        super().setUp()
        self.file = self.path("out.svg")

    # ---- Steps ----

    def hit(self, hits: str) -> None:
        self.record_program("picture", EVENTS, f"#include <time.h>\nconst struct timespec ms = {{.tv_nsec = 1000000}};\n(void)ms;\n{hits}")

    def hit_in_columns(self, hits: str) -> None:
        """A millisecond is a column at least: again where the machine has let it stand still for so long that it is less."""
        for _ in range(20):
            shutil.rmtree(self.trace, ignore_errors=True)
            self.hit(hits)
            times = self.times()
            if times[-1] - times[0] < COLUMNS / 1000:
                break

    def times(self) -> list[float]:
        return [float(t) for t in re.findall(r" (\d+\.\d{9}): ", self.read_by(TP, "report", self.trace))]

    def drawn(self, *arguments: str) -> ET.Element:
        self.assertEqual(self.read_by(TP, "timeline", "-o", self.file, *arguments), "")
        self.assertLess(os.path.getsize(self.file), LARGEST)
        return ET.parse(self.file).getroot()

    def lanes(self, *arguments: str) -> dict[str, Lane]:
        """The first of each name. All that is drawn is within the picture."""
        root = self.drawn(*arguments)
        _, _, width, height = map(float, root.attrib["viewBox"].split())
        found = {}
        for group in root.iter(SVG + "g"):
            lane = Lane(group.find(f"{SVG}text/{SVG}title").text or "")
            for rect in group.findall(SVG + "rect"):
                x, w, title = float(rect.attrib["x"]), float(rect.attrib["width"]), rect.find(SVG + "title")
                self.assertLessEqual(x + w, width)
                self.assertLessEqual(float(rect.attrib["y"]) + float(rect.attrib["height"]), height)
                if rect.attrib.get("class", "").startswith("r "):
                    lane.bars.append((x - LEFT, w, title.text or ""))
                elif rect.attrib.get("opacity") == "0":
                    lane.hovers.append(title.text or "")
            for path in group.findall(SVG + "path"):
                if path.attrib["class"] == "v":
                    lane.value = path.find(SVG + "title").text or ""
                    self.assertRegex(path.attrib["d"], r"\AM\d+ [\d.]+(V[\d.]+|H\d+)+\Z")
                    lane.x = [float(x) for x in re.findall(r"[MH](\d+)", path.attrib["d"])]
                elif "opacity" in path.attrib:
                    lane.busy += path.attrib["d"].count("M")
                else:
                    lane.ticks += path.attrib["d"].count("M")
            found.setdefault(lane.name, lane)
        return found

    # ---- What is drawn ----

    def test_spans(self) -> None:
        self.hit_in_columns("trace_work_begin(1); nanosleep(&ms, NULL); trace_work_begin(2); nanosleep(&ms, NULL); trace_work_end(1); "
                            "nanosleep(&ms, NULL); trace_work_end(2); trace_work_begin(3);")
        times = self.times()
        lane = self.lanes(*PAIR, self.trace)["work"]
        scale = COLUMNS / (times[-1] - times[0])
        self.assertEqual([re.findall(r"\bid=(\d)", bar[2]) for bar in lane.bars], [["1"]])
        (x, width, title), = lane.bars
        self.assertAlmostEqual(x, 0, delta=0.2)
        self.assertAlmostEqual(width, (times[2] - times[0]) * scale, delta=0.5)
        self.assertRegex(title, r"\Awork\n\+0\.000000 ms, thread \d+\nid=1\Z")

    def test_overlapping(self) -> None:
        """Two lanes of one name."""
        self.hit_in_columns("trace_work_begin(1); nanosleep(&ms, NULL); trace_work_begin(2); nanosleep(&ms, NULL); trace_work_end(1); "
                            "nanosleep(&ms, NULL); trace_work_end(2);")
        names = [text.find(SVG + "title").text for text in self.drawn(*PAIR, self.trace).iter(SVG + "text") if text.find(SVG + "title") is not None]
        self.assertEqual(names, ["work", "work"])

    def test_instants_and_counters(self) -> None:
        self.hit_in_columns('for (int i = 0; i < 5; i++) { trace_note(i == 2 ? "<a> & \\"b\\" \\033[31m \\xff" : "plain"); nanosleep(&ms, NULL); '
                            'trace_depth(10 - 5 * i); } trace_span(\'B\', "outer"); nanosleep(&ms, NULL); trace_span(\'B\', "inner"); '
                            'nanosleep(&ms, NULL); trace_span(\'E\', ""); trace_span(\'E\', "");')
        lanes = self.lanes(self.trace)
        thread = next(lane for name, lane in lanes.items() if name.startswith("picture "))
        self.assertEqual((thread.ticks, len(thread.hovers)), (5, 5))
        self.assertRegex(thread.hovers[2], r'\Anote\n\+\d+\.\d{6} ms, thread \d+\ns="<a> & \\"b\\" \\x1b\[31m \\xff"\Z')
        self.assertEqual(lanes["depth"].value, "-10 to 10, at the end -10")
        self.assertEqual(sorted(lanes["depth"].x), lanes["depth"].x)
        self.assertGreaterEqual(lanes["depth"].x[0], LEFT)
        self.assertEqual(lanes["depth"].x[-1], LEFT + COLUMNS)
        spans = next(lane for name, lane in lanes.items() if name.startswith("span "))
        self.assertEqual([bar[2].split("\n")[0] for bar in spans.bars], ["inner", "outer"])

    def test_names(self) -> None:
        """A slice has the colour of its name; the legend has room for the first ones, and counts the others."""
        self.hit_in_columns('for (int i = 0; i < 15; i++) { char name[] = {(char)(97 + i % 14), 0}; trace_span(\'B\', name); nanosleep(&ms, NULL); '
                            'trace_span(\'E\', ""); }')
        root = self.drawn(self.trace)
        texts = [text.text for text in root.iter(SVG + "text")]
        self.assertEqual([text for text in texts if re.match(r"[a-z]:", text or "")], ["a: 2", *(f"{name}: 1" for name in "bcdefghijkl")])
        self.assertIn("and of other names: 2", texts)
        colours = [rect.attrib["class"] for rect in root.iter(SVG + "rect") if rect.attrib.get("class", "").startswith("r ")]
        self.assertEqual(colours[:9], ["r c0", *(f"r c{i}" for i in range(1, 8)), "r c0"])
        self.assertEqual(colours[-1], "r c0")

    def test_whole(self) -> None:
        """The axis, the processes and the legend."""
        self.record(2, 20)
        root = self.drawn(self.trace)
        texts = [text.text for text in root.iter(SVG + "text")]
        self.assertRegex(texts[0], r"\A2\d{3}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC, [\d.e-]+ s, \d+ events of 1 process; lost: \d+\Z")
        self.assertRegex(texts[1], r"\A\+0(\.0+)? (ns|µs|ms|s)\Z")
        self.assertTrue(any(re.fullmatch(r"dat \(\d+\)", text or "") for text in texts))
        self.assertEqual(len([text for text in texts if re.fullmatch(r"\w+: \d+", text or "")]), 12)
        self.assertEqual(root.find(SVG + "title").text, texts[0])

    def test_page(self) -> None:
        self.record(1, 3)
        self.succeed([TP, "timeline", self.trace, "-o", self.path("out.html")])
        page = read(self.path("out.html"))
        self.assertRegex(page, r'\A<!doctype html>\n<meta charset="utf-8">\n<title>2[^<]*</title>\n<svg ')

    # ---- Much of it ----

    def test_million(self) -> None:
        """Short spans are added up, and the file is bounded; hundreds of lanes, too."""
        nr = few_or_many(30000, 300000)
        self.hit(f"for (int i = 0; i < {nr}; i++) {{ trace_work_begin(i); trace_note(\"note\"); trace_work_end(i); "
                 f"if (i % {nr // 1000} == 0) nanosleep(&ms, NULL); }}")
        lane = self.lanes(*PAIR, self.trace)["work"]
        self.assertLess(len(lane.bars), 3001)
        self.assertGreater(lane.busy, 100)

    def test_many_lanes(self) -> None:
        self.hit("for (int i = 0; i < 3000; i++) trace_work_begin(i); for (int i = 0; i < 3000; i++) trace_work_end(i); for (int i = 0; i < 9; i++) trace_note(\"x\");")
        root = self.drawn(*PAIR, self.trace)
        self.assertEqual(len(list(root.iter(SVG + "g"))), 64)
        self.assertIn("and 2937 lanes with fewer events", [text.text for text in root.iter(SVG + "text")])

    # ---- What goes wrong ----

    def test_wrong(self) -> None:
        self.hit("trace_work_begin(1);")
        for arguments, status, message in (
                ((), 2, "timeline: give it a DIR, that of a trace"), ((self.trace, "-o", "-"), 2, "timeline: a picture can't be written to a pipe"),
                ((self.trace, "--span", "x"), 1, "'x' is no span"), ((self.trace, "-e", "work_begin if id == 2"), 1, "has no event to show"),
                ((self.path("nothing"),), 1, "nothing")):
            with self.subTest(arguments):
                done = run([TP, "timeline", *arguments], cwd=self.dir)
                self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
                self.assertIn(message, done.stderr)
                self.assertEqual([name for name in os.listdir(self.dir) if "svg" in name], [])

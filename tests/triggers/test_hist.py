# SPDX-License-Identifier: MIT
"""hist, enable_hist and disable_hist as triggers. tests/hist/ has what histograms count."""

from __future__ import annotations

import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from driving import Driven  # noqa: E402
from support import read  # noqa: E402

BESIDE = "-17 Hist trigger already exists on one of these events; take that off first"
NONE = "-2 there is no such trigger on order"


class Histograms(Driven):
    def counts(self, lines: list[str]) -> list[tuple[int, int]]:
        """Each entry's key and hits."""
        return [(int(key), int(hits)) for key, hits in re.findall(r"\{ \w+: +(-?\d+) \} hitcount: +(\d+)", "\n".join(lines))]


class Commands(Histograms):
    def test_counts(self) -> None:
        lines = self.drive("trigger - order hist:keys=price", "armed order", "order 1 7", "order 2 7", "order 3 9", "list",
                           "hist order", "trigger - order !hist:keys=price", "list", "armed order", "hist order")
        self.assertEqual(lines[:3], ["1", "1", "- order hist:keys=price:vals=hitcount:sort=hitcount:size=2048 [active]"])
        self.assertEqual(lines[3:6], ["# event histogram", "#", "# trigger info: hist:keys=price:vals=hitcount:sort=hitcount:"
                                      "size=2048 [active]"])
        self.assertEqual(self.counts(lines), [(9, 1), (7, 2)])
        self.assertEqual(lines[-3:], ["0", "0", "ENOENT"])
        self.quiet()

    def test_json(self) -> None:
        lines = self.drive("trigger - order hist:keys=price:vals=id", "order 1 7", "order 2 7", "hist shop:* json", "hist a,,b")
        found = json.loads("\n".join(lines[1:-1]))
        self.assertEqual(len(found), 1)
        self.assertEqual(found[0]["totals"], {"hits": 2, "entries": 1, "dropped": 0})
        self.assertEqual(lines[-1], "EINVAL")

    def test_no_output(self) -> None:
        """It belongs to no sink, and is none that is shown among them."""
        self.assertEqual(self.drive("open a", "trigger a order hist:keys=id", "close a", "list"),
                         ["1", "0", "- order hist:keys=id:vals=hitcount:sort=hitcount:size=2048 [active]"])

    def test_filter(self) -> None:
        lines = self.drive("trigger - order hist:keys=price if id > 1", "order 1 7", "order 2 7", "order 3 9", "hist order",
                           "trigger - order !hist:keys=price", "trigger - order !hist:keys=price if id > 2",
                           "trigger - order !hist:keys=price if id > 1", "list")
        self.assertEqual(self.counts(lines), [(7, 1), (9, 1)])
        self.assertEqual(lines[-3:], [NONE, NONE, "0"])

    def test_several(self) -> None:
        self.assertEqual(self.drive("trigger - order hist:keys=price", "trigger - order hist:keys=id", "trigger - order hist:keys=price",
                                    "trigger - order hist:keys=price if id > 1", "trigger - shop:* hist:key=price",
                                    "trigger - detail hist:keys=n", "trigger - order !hist:keys=id", "trigger - order !hist:keys=id"),
                         ["1", "1", BESIDE, "1", BESIDE, "1", "0", NONE])

    def test_paused_continued_cleared(self) -> None:
        for where, expected in (("pause", [(1, 1)]), ("cont", [(1, 1), (2, 1)]), ("clear", [(2, 1)])):
            lines = self.drive("trigger - order hist:keys=price", "order 1 1", f"trigger - order hist:keys=price:{where}",
                               "order 2 2", "hist order")
            self.assertEqual(lines[:2], ["1", "0"])
            self.assertEqual(self.counts(lines), expected, where)
        lines = self.drive("trigger - order hist:keys=price:pause", "order 1 1", "list", "trigger - order hist:keys=price:cont",
                           "order 2 2", "list", "hist order")
        self.assertEqual(self.counts(lines), [(2, 1)])
        self.assertIn("[paused]", lines[1])
        self.assertIn("[active]", lines[3])

    def test_read_by_another(self) -> None:
        """It can't be taken off before that one is."""
        busy = "-16 its variables are read by hist:keys=id:d=price-$v on shop:order; take that off first"
        self.assertEqual(self.drive("trigger - detail hist:keys=n:v=n", "trigger - order hist:keys=id:d=price-$v",
                                    "trigger - detail !hist:keys=n:v=n", "list", "trigger - order !hist:keys=id:d=price-$v",
                                    "trigger - detail !hist:keys=n:v=n", "list"),
                         ["1", "1", busy, "- order hist:keys=id:vals=hitcount:d=price-$v:sort=hitcount:size=2048 [active]",
                          "- detail hist:keys=n:vals=hitcount:v=n:sort=hitcount:size=2048 [active]", "0", "0"])

    def test_named(self) -> None:
        """Histograms of one name count together."""
        lines = self.drive("trigger - order hist:keys=common_pid:name=both", "trigger - detail hist:keys=common_pid:name=both",
                           "order 1 1", "detail 2", "hist order", "trigger - failure hist:keys=code:name=both")
        self.assertEqual([hits for _, hits in self.counts(lines)], [2])
        self.assertEqual(lines[-3:][0], "-22 hist:keys=code:name=both")
        self.assertIn("Named hist trigger doesn't match existing named trigger", lines[-1])

    def test_switched(self) -> None:
        lines = self.drive("trigger - order hist:keys=price:pause", "trigger - failure enable_hist:shop:order:1",
                           "trigger - detail disable_hist:shop:order", "order 0 0", "failure 1 x", "order 1 1", "detail 1",
                           "order 2 2", "failure 1 x", "order 3 3", "hist order", "list")
        self.assertEqual(self.counts(lines), [(1, 1)])
        self.assertEqual([line for line in lines if "able_hist" in line],
                         ["- detail disable_hist:shop:order:unlimited", "- failure enable_hist:shop:order:count=0"])

    def test_child(self) -> None:
        lines = self.drive("trigger - order hist:keys=price", "order 1 1", "fork", "order 2 2", "hist order",
                           "trigger - order !hist:keys=price", "list")
        self.assertEqual(self.counts(lines), [(2, 1)])
        self.assertEqual(lines[-1], "0")


class Wrong(Histograms):
    def wrong(self, trigger: str, caret: int, message: str) -> None:
        with self.subTest(trigger):
            lines = self.drive(f"trigger - order {trigger}", "list", "armed order")
            self.assertEqual(lines[:2], [f"-22 {trigger}", " " * caret + "^"])
            self.assertIn(f"parse_error: {message}", lines[2])
            self.assertEqual(lines[3:], ["0"])

    def test_places(self) -> None:
        self.wrong("hist:keys=prize", 10, "Couldn't find field")
        self.wrong("hist:keys=price:vals=x", 21, "Couldn't find field")
        self.wrong("hist:keys=price:clear", 5, "Can't clear or continue a nonexistent hist trigger")
        self.wrong("hist:keys=price:lat=id-$ts0", 24, "Couldn't find variable: no histogram sets any; the one that does must be there first")
        self.wrong("hist", 4, "No keys")
        self.assertEqual(self.drive("trigger - order hist:keys=price if prize > 1", "list", "armed order")[:2],
                         ["-22 prize > 1", "^"])
        self.assertEqual(self.drive("trigger - order enable_hist:shop")[2],
                         "parse_error: No event found: write enable_hist:SYSTEM:EVENT")


    def test_none_fits(self) -> None:
        """In the environment it waits for events of modules, but those that there are say at once what they lack."""
        for trigger, at in (("hist:keys=prize", "prize': did you mean 'price'? '"), ("hist:keys=price:vals=x", "x': '"), ("hist:keys=price vals=id", "price vals=id': '")):
            with self.subTest(trigger):
                self.drive("order 1 1", TP_TRIGGER=f"order {trigger}", TP_HIST="counts")
                self.assertEqual(self.stderr, f"tp: TP_TRIGGER=order {trigger}: it fits none of the events that there are: "
                                              f"Couldn't find field, at '{at}shop:order' has id, price, common_type, "
                                              "common_flags, common_preempt_count, common_pid, cpu, comm, common_timestamp, "
                                              "hitcount, stacktrace\n")
        self.drive("order 1 1", TP_TRIGGER="shop:* hist:keys=price", TP_HIST="counts")
        self.quiet()


class AtTheEnd(Histograms):
    HITS = ("order 1 7", "order 2 7", "order 3 9")

    def test_standard_error(self) -> None:
        self.assertEqual(self.drive(*self.HITS, TP_TRIGGER="order hist:keys=price; shop:detail hist:keys=n"), [])
        self.assertEqual(self.counts(self.stderr.splitlines()), [(9, 1), (7, 2)])
        self.assertEqual(self.stderr.count("# event histogram"), 2)

    def test_file(self) -> None:
        self.drive(*self.HITS, TP_TRIGGER="order hist:keys=price", TP_HIST="counts")
        self.quiet()
        self.assertEqual(self.counts(read(self.path("counts")).splitlines()), [(9, 1), (7, 2)])

    def test_json(self) -> None:
        self.drive(*self.HITS, TP_TRIGGER="order hist:keys=price; order hist:keys=id", TP_HIST=self.path("counts.json"))
        self.quiet()
        with open(self.path("counts.json"), encoding="utf-8") as file:
            self.assertEqual([found["totals"]["entries"] for found in json.load(file)], [2, 3])

    def test_beside_an_output(self) -> None:
        """Once, however many outputs there are."""
        self.assertEqual(self.drive(*self.HITS, TP_TRIGGER="order hist:keys=price; order traceoff", TP_HIST="counts",
                                    TP_OUTPUT="text:stdout; text:other", TP_ENABLE="order"), ["order: id=1 price=7"])
        self.assertEqual(self.counts(read(self.path("counts")).splitlines()), [(9, 1), (7, 2)])
        self.quiet()

    def test_children(self) -> None:
        """One that has counted nothing writes nothing."""
        self.drive("order 1 1", "fork", "order 2 2", TP_TRIGGER="order hist:keys=price", TP_HIST="counts")
        names = sorted(name for name in os.listdir(self.dir) if name.startswith("counts"))
        self.assertEqual(len(names), 2)
        self.assertEqual([self.counts(read(self.path(name)).splitlines()) for name in names], [[(1, 1)], [(2, 1)]])
        os.remove(self.path(names[1]))
        self.drive("order 1 1", "fork", TP_TRIGGER="order hist:keys=price", TP_HIST="counts")
        self.assertEqual([name for name in os.listdir(self.dir) if name.startswith("counts")], ["counts"])

    def test_wrong(self) -> None:
        self.drive(*self.HITS, TP_TRIGGER="order hist:keys=", TP_HIST="counts")
        self.assertRegex(self.stderr, r"^tp: TP_TRIGGER=order hist:keys=: .*; it is not set\n$")
        self.drive(*self.HITS, TP_TRIGGER="order hist:keys=price", TP_HIST="none/counts")
        self.assertRegex(self.stderr, r"^tp: the histograms of TP_TRIGGER are not written to /\S*/none/counts: "
                                      r"No such file or directory; TP_HIST=PATH says where they are to be\n$")

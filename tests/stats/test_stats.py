# SPDX-License-Identifier: MIT
"""Statistics of whole programs: they say what the trace of the same run says, at any time and after any end."""

from __future__ import annotations

import collections
import contextlib
import glob
import json
import math
import os
import re
import signal
import sys
import time
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "ctf"))

from building import build, generate  # noqa: E402
from recording import SANITIZER, Recording  # noqa: E402
from support import BT2_PYTHON, PATIENCE, ROOT, Case, both, few_or_many, need_bt2, note, read, run, temporary, until  # noqa: E402

READ_TRACE = os.path.join(ROOT, "tests/roundtrip/read_trace.py")


def statistics(path: str) -> dict[str, Any]:
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def events(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {event["event"]: event for event in found["events"]}


class Values(Case):
    """What is counted is what is recorded."""

    built: str  # the directory of the programs

    @classmethod
    def setUpClass(cls) -> None:
        cls.built = temporary()
        generate(cls.built, *(os.path.join("tests/stats", name + ".tp") for name in ("values", "guest")))
        for output, source in (("values", "values.c"), ("guest.so", "guest.c")):
            build(cls.program(output), os.path.join(HERE, source), include=[cls.built], libtp=SANITIZER or "shared")

    @classmethod
    def program(cls, name: str) -> str:
        return os.path.join(cls.built, name)

    def values(self, *args: object, options: str = "json", trace: bool = False, said: str = "") -> dict[str, Any]:
        """Runs it, and returns the statistics."""
        output = f"stats:{self.path('stats')},{options}" + (f";ctf:{self.path('trace')}" if trace else "")
        env = {**os.environ, "TP_OUTPUT": output, "TSAN_OPTIONS": "halt_on_error=1"}
        done = run([self.program("values"), *map(str, args)], env=env)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertRegex(done.stderr, rf"\A{said}\Z")
        return statistics(self.path("stats")) if "json" in options else {}

    def recorded(self) -> dict[str, list[dict[str, Any]]]:
        need_bt2(self)
        found: dict[str, list[dict[str, Any]]] = {}
        for line in self.read_by(BT2_PYTHON, READ_TRACE, self.path("trace")).splitlines():
            record = json.loads(line)
            if "fields" in record:
                found.setdefault(record["name"], []).append(record)
        return found

    def same_numbers(self, field: dict[str, Any], values: list[float]) -> None:
        name = field["field"]
        self.assertEqual((field["count"], field["min"], field["max"], field["sum"]),
                         (len(values), min(values), max(values), sum(values)), name)
        self.assertTrue(math.isclose(field["mean"], sum(values) / len(values), rel_tol=1e-12), name)
        self.assertEqual(sum(bucket["count"] for bucket in field["histogram"]), len(values), name)
        real = field["kind"] == "float"
        for bucket in field["histogram"]:
            low, high = sorted((bucket["from"], bucket["to"]))
            inside = [v for v in values if low <= v <= high and not (real and v and v == bucket["to"])]
            self.assertEqual(bucket["count"], len(inside), (name, bucket))

    def same_top(self, field: dict[str, Any], values: list[Any]) -> None:
        text = field["kind"] == "text"
        known = collections.Counter((value[:63], len(value)) if text else (value, None) for value in values)
        self.assertEqual((field["count"], field["distinct"], field["other"]), (len(values), len(known), 0))
        shown = {(top["value"], top.get("length")): top["count"] for top in field["top"]}
        self.assertEqual(sorted(shown.values(), reverse=True), [n for _, n in known.most_common(len(shown))])
        for value, count in shown.items():
            self.assertEqual(count, known[value], value)
        self.assertEqual(field["rest"], len(values) - sum(shown.values()))

    def agrees_in_time(self, event: dict[str, Any], records: list[dict[str, Any]], began: int, ended: int) -> None:
        """A thread's first hit was counted before its record of the next one; its last hit after half of its records."""
        times = collections.defaultdict(list)
        for record in sorted(records, key=lambda record: record["time"]):
            times[record["tid"]].append(record["time"])
        self.assertIn(event["first_ns"], range(began, min(of_thread[1] for of_thread in times.values())))
        self.assertIn(event["last_ns"], range(max(of_thread[len(of_thread) // 2] for of_thread in times.values()), ended))

    def all_agrees(self, threads: int, hits: int, options: str) -> None:
        began = time.time_ns()
        found = events(self.values(threads, hits, trace=True,
                                   options=f"json,by=thread,field=values_*.u8+*.s16+*.s32+*.u64+*.s64+*.single+*.wide+"
                                           f"*.level+*.flags+*.comm+*.text{options}"))
        ended = time.time_ns()
        recorded = self.recorded()
        self.assertEqual(set(found), set(recorded))
        for name, records in recorded.items():
            event = found[name]
            self.assertEqual((event["hits"], len(records)), (threads * hits, threads * hits))
            self.assertEqual(event["intervals"], threads * (hits - 1))
            by_tid = collections.Counter(record["tid"] for record in records)
            self.assertEqual({t["tid"]: t["hits"] for t in event["threads"]}, by_tid)
            self.agrees_in_time(event, records, began, ended)
            for field in event["fields"]:
                values = [record["fields"][field["field"]] for record in records]
                check = self.same_numbers if field["kind"] in ("integer", "float") else self.same_top
                check(field, [v if not isinstance(v, list) else bytes(v).split(b"\0")[0].decode() for v in values])
        names = {top["value"]: top.get("name") for top in self.field(found, "level")["top"]}
        self.assertEqual(names, {-1: "NONE", 0: "LOW", 1: "HIGH", 2: None, 3: None})
        flags = {top["value"]: top.get("name") for top in self.field(found, "flags")["top"]}
        self.assertEqual(flags, {0: None, 1: "A", 4: None})

    @staticmethod
    def field(found: dict[str, Any], name: str) -> dict[str, Any]:
        return next(field for event in found.values() for field in event.get("fields", ()) if field["field"] == name)

    @both
    def test_agrees_with_the_trace(self) -> None:
        self.all_agrees(4, few_or_many(500, 3000), "")

    @both
    def test_agrees_while_it_is_written_often(self) -> None:
        self.all_agrees(3, few_or_many(1000, 4000), ",interval=0.01,top=5")

    def test_module_that_is_loaded_later(self) -> None:
        found = events(self.values(1, 10, self.program("guest.so"), options="json,field=guest:*.n"))
        self.assertEqual(found["guest:guest_visit"]["hits"], 42)
        self.same_numbers(self.field(found, "n"), [*range(21)] * 2)

    def test_a_field_that_no_event_has(self) -> None:
        said = r"tp: statistics '[^\n]*': field=values:\*\.nothing: the event has no such field\n"
        self.values(1, 10, options="json,field=values:*.nothing+*.u8", said=said)
        said = r"tp: statistics '[^\n]*': field=value:\*\.u8: no event of this program has such a name\n"
        self.values(1, 10, options="json,field=value:*.u8", said=said)

    def test_globs_for_fields(self) -> None:
        found = events(self.values(1, 10, options="json,field=values_numbers.s*+*.[tc]*+*.nothing*",
                                   said=r"tp: [^\n]*: field=\*\.nothing\*: the event has no such field\n"))
        self.assertEqual({name: {field["field"] for field in event.get("fields", [])} for name, event in found.items()},
                         {"values:values_numbers": {"s16", "s32", "s64", "single"},
                          "values:values_names": {"comm", "text"}})

    def test_text_is_aligned(self) -> None:
        self.values(2, 1000, options="by=thread,field=*.s32+*.text+*.level+*.wide")
        text = read(self.path("stats"))
        self.assertTrue(text.startswith("values, process "), text)
        tables = [part.splitlines() for part in re.split(r"\n\n", text) if part.startswith("EVENT")]
        self.assertEqual([len(table) for table in tables], [3, 5], text)
        for head, *rows in tables:
            for column in ("HITS", "RATE/s", "MIN", "MEAN", "MAX"):
                end = head.index(column) + len(column)
                for row in rows:
                    self.assertRegex(row[end - 1:end + 2], r"\S  ", f"{column}\n{text}")
            for row in rows:
                self.assertRegex(row[head.index("FIRST"):], r"^\d\d:\d\d:\d\d\.\d{6}  \d\d:\d\d:\d\d\.\d{6}$", text)
        fields = [part.splitlines()[1:] for part in re.split(r"\n\n", text)
                  if not part.startswith(("EVENT", "values,"))]
        self.assertEqual(len(fields), 4, text)
        for bars in fields:
            self.assertGreater(len(bars), 4, text)
            self.assertEqual(len({len(re.sub(r" \*+$", "", line)) for line in bars}), 1, text)

    # ---- What a program pays is said elsewhere; that it writes nowhere else, here ----

    def test_mistakes(self) -> None:
        for output, said in (
                (f"{self.path('stats')},bye=thread", "there is no option 'bye=thread'"),
                (f"{self.path('none/stats')}", "No such file or directory; nothing goes there"),
                ("/dev/null", "that is no file")):
            done = run([self.program("values")], env={**os.environ, "TP_OUTPUT": f"stats:{output}"})
            self.assertEqual((done.returncode, done.stderr.count("\n")), (0, 1), done.stderr)
            self.assertIn(said, done.stderr)
        self.assertFalse(glob.glob(self.path("stats*")))
        twice = f"stats:{self.path('stats')},json;stats:{self.dir}/./stats"
        done = run([self.program("values"), "1", "10"], env={**os.environ, "TP_OUTPUT": twice})
        self.assertIn("this file has other statistics of the process already", done.stderr)
        self.assertTrue(events(statistics(self.path("stats"))))


class Programs(Recording):
    """The recorder knows how often it hit its event, whatever happened to it."""

    def output(self, options: str = "", file: str = "") -> dict[str, str]:
        return {"TP_OUTPUT": f"stats:{file or self.path('stats')},json,field=record_hit.number+*.text{options}",
                "TP_ENABLE": "record:*"}

    def file(self) -> dict[str, Any]:
        return statistics(self.path("stats"))

    def counted(self, path: str = "", runs: bool = False) -> int:
        """Hits, and what must agree with them in each whole file; runs: threads may be in the middle of more of them."""
        found = statistics(path or self.path("stats"))
        event = events(found).get("record:record_hit")
        if not event:
            return 0
        number, text = event["fields"]
        for field in () if found["lost"] else (number, text):
            (self.assertGreaterEqual if runs else self.assertEqual)(field["count"], event["hits"])
        self.assertEqual(sum(bucket["count"] for bucket in number["histogram"]), number["count"])
        self.assertEqual(sum(top["count"] for top in text["top"]) + text["rest"] + text["other"], text["count"])
        return event["hits"]

    def until(self, hits: int) -> str:
        """A shell command that waits until the file says so many."""
        return f"until grep -q '\"hits\": {hits},' {self.path('stats')}; do sleep 0.01; done"

    def sum(self) -> int:
        """Of the events' numbers, as each sequence counts from 0."""
        return sum(who.hits * (who.hits - 1) // 2 for who in self.whos().values())

    def all_is_counted_here(self) -> None:
        self.assertEqual(self.counted(), self.hits())
        self.assertEqual(events(self.file())["record:record_hit"]["fields"][0]["sum"], self.sum())

    def test_thousands_of_short_threads(self) -> None:
        for options in ("", ",by=thread"):
            self.record("short=3000,8", **self.output(options))
            self.all_is_counted_here()
            event = events(self.file())["record:record_hit"]
            self.assertEqual(event["intervals"], 6000)
            threads = event.get("threads", [])
            self.assertEqual((len(threads), sum(t["hits"] for t in threads)), (1001, 9000) if options else (0, 0))
            self.again()

    def test_signal_storm(self) -> None:
        """In three signals that interrupt one another: each hit is counted."""
        self.record("signals=10000", "threads=3", "sleep=250000", "stop", **self.output(",interval=0.01"))
        self.all_is_counted_here()

    def test_read_while_it_runs(self) -> None:
        """Each time a whole file, whose counts never go back."""
        process = self.start("threads=3", "wait", "stop", **self.output(",interval=0.01,by=thread"))
        before, reads, files = 0, 0, set()
        end = time.monotonic() + PATIENCE
        while len(files) < 30 and time.monotonic() < end:
            if not os.path.exists(self.path("stats")):
                continue
            files.add(self.file()["time_ns"])
            now = self.counted(runs=True)
            self.assertGreaterEqual(now, before)
            before, reads = now, reads + 1
        self.assertEqual(len(files), 30)
        self.go_on(process)
        self.finish(process)
        self.all_is_counted_here()
        note(f"{reads} reads of {len(files)} files, {before} hits")

    def test_kill(self) -> None:
        process = self.start("hit=1000", "wait", **self.output(",interval=0.02"))
        self.wait_for_line()
        until(lambda: self.counted(runs=True) == 1000, self.repeat)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.assertEqual(self.counted(), 1000)

    def test_end_without_a_word(self) -> None:
        """By _exit(), when all was written; by exec, in whose program counting begins anew."""
        self.record("hit=100", f"sh={self.until(100)}", "crash=_exit", **self.output(",interval=0.02"))
        self.assertEqual(self.counted(), 100)
        self.again()
        self.record("hit=100", "exec", "hit=5", **self.output())
        self.assertEqual(self.counted(), 5)

    def test_forks(self) -> None:
        """Each child has a file of its own. Those with 20 hits end by _exit(): theirs is as old as the last writing, if any."""
        # LeakSanitizer looks in children for the parent's threads.
        options = ",interval=0" if SANITIZER == "asan" else ",interval=0.01"
        for children in ("live", "end"):
            self.record("forks=500", "threads=2", "until=3000", "stop", "fork=3", "hit=7", "crash=exit", "parent", "reap",
                        **self.output(f"{options},children={children}"))
            by_pid: collections.Counter[int] = collections.Counter()
            for who in self.whos().values():
                by_pid[who.pid] += who.hits
            killed = {pid for pid, hits in by_pid.items() if hits == 20}
            files = {statistics(path)["pid"]: path for path in glob.glob(self.path("stats*"))}
            found = {pid: self.counted(path, runs=pid in killed) for pid, path in files.items()}
            self.assertEqual({pid: hits for pid, hits in found.items() if pid not in killed},
                             {pid: hits for pid, hits in by_pid.items() if pid not in killed}, children)
            self.assertTrue(killed and all(0 < found[pid] <= 20 for pid in killed & found.keys()), found)
            if children == "end":
                self.assertEqual(killed & found.keys(), set())
            self.again()
            run(["rm", "-f", *glob.glob(self.path("stats*"))])

    def test_two_at_once_and_an_end_of_one(self) -> None:
        """Of two files, one is on a disk that is full: the other has all."""
        disk = self.small_disk("64k")
        full = os.path.join(disk, "stats")
        env = self.output(",interval=0.02")
        env["TP_OUTPUT"] += f";stats:{full},json,field=*.number+*.text,interval=0.02;ctf:{self.trace}"
        process = self.start("hit=50", "wait", "hit=50", "wait", "hit=50", "sleep=200000", **env)
        self.wait_for_line()
        until(lambda: self.counted(full, runs=True) == 50, self.repeat)
        run(["sh", "-c", f"cat /dev/zero >{disk}/more"])
        self.go_on(process)
        until(lambda: self.counted(runs=True) == 100 and "can't be written" in read(self.path("err")), self.repeat)
        with contextlib.suppress(FileNotFoundError):
            self.assertEqual(self.counted(full), 50)  # what was there stays whole
        self.assertEqual(self.counted(), 100)
        os.unlink(f"{disk}/more")
        self.go_on(process)
        self.finish(process, message=r"tp: statistics '[^\n]*': can't be written: No space left on device; [^\n]*\n")
        self.assertEqual((self.counted(), self.counted(full)), (150, 150))
        self.assertEqual(glob.glob(f"{disk}/.*"), [])
        self.assertEqual(self.read_trace().events(), 150)

    def test_the_directory_goes(self) -> None:
        os.mkdir(self.path("dir"))
        file = self.path("dir/stats")
        self.record("hit=10", f"sh=until rm -rf {self.path('dir')} 2>/dev/null; do :; done", "hit=10", "sleep=100000", "hit=10",
                    **self.output(",interval=0.02", file),
                    message=r"tp: statistics '[^\n]*': can't be written: No such file or directory; [^\n]*\n")

    def test_a_thread_that_sits_in_a_probe(self) -> None:
        """The end of the program does not wait for it, and its hits are there."""
        self.record("threads=1", "until=100", "stop", "stick", "hit=20",
                    **self.output("+record_inside.what,interval=0"))
        self.assertEqual(self.counted(), self.hits())
        self.assertFalse(self.file()["final"])

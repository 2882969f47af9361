# SPDX-License-Identifier: MIT
"""docs/fleet.md: copies of traces that are being recorded; tables of several machines, and what the page asks of them."""

from __future__ import annotations

import collections
import datetime
import glob
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import duck  # noqa: E402
import fleet  # noqa: E402
from fleet import PAGE, TP, queries  # noqa: E402
from support import BUILD, Case, few_or_many, need, note, run, unavailable, until  # noqa: E402

HOSTS = ("web1", "web2", "db.example.org")


class Fleet(Case):
    program = newer = ""

    @classmethod
    def setUpClass(cls) -> None:
        directory = os.path.join(BUILD, "fleet")
        newer = re.sub(r"__field\(\s*int,\s*status\s*\)", "__field(long, status) __field(int, region)", fleet.EVENTS)
        newer = newer.replace("= status;", "= status; __entry->region = 7;").replace("status=%d", "status=%ld")
        cls.program, cls.newer = fleet.server(directory), fleet.server(os.path.join(directory, "newer"), newer)

    def started(self, trace: str, *arguments: object, command: tuple[str, ...] = (), program: str = "", more: str = "") -> subprocess.Popen:
        env = {**os.environ, "TP_ENABLE": "*", "TP_OUTPUT": f"ctf:{self.path(trace)}{more}"}
        process = subprocess.Popen([*command, program or self.program, *map(str, arguments)], text=True, env=env,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin and process.stdout
        for end in (process.wait, process.kill, process.stdin.close, process.stdout.close):
            self.addCleanup(end)
        return process

    def go_on(self, process: subprocess.Popen) -> None:
        """From "half" to "all"."""
        process.stdin.write("\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), "all\n")

    # ---- Copies ----

    def copy(self, *less: str) -> None:
        """By the page's command, without some of its options."""
        command = re.search(r"^\t(rsync .*)$", PAGE, re.M)
        assert command
        words = [word for word in command[1].replace("web1:/var/tmp/trace/", "trace/").replace("'", "").split() if word not in less]
        self.assertIn("trace/", words)
        self.succeed(words, cwd=self.dir)

    def events(self, trace: str) -> int:
        """By both readers, which must find nothing wrong."""
        report = self.read_by(TP, "report", self.path(trace)).count("\n")
        counted = re.findall(r"(\d+) Event messages", self.read_by("babeltrace2", self.path(trace), "--component=sink.utils.counter"))
        self.assertEqual(int(counted[-1]), report)
        return report

    def times(self) -> dict[str, int]:
        """Of the trace's files, by which rsync looks."""
        return {path: os.stat(path).st_mtime_ns for path in glob.glob(self.path("trace/**"), recursive=True)}

    def test_copied_twice(self) -> None:
        """
        The first copy is a trace of half of it. In the second, what mapped files have got since then is missed without --checksum,
        until the kernel gives them a new time, which is when it likes.
        """
        need(self, "rsync", "babeltrace2")
        process = self.started("trace", 10000, 2, "wait")
        self.assertEqual(process.stdout.readline(), "half\n")
        times = self.times()
        self.copy()
        half = self.events("web1")
        self.assertEqual(half, self.events("trace"))
        self.go_on(process)
        self.copy("--checksum")
        if times == self.times():
            self.assertEqual(self.events("web1"), half, "without --checksum: if this works now, the page need not have it")
        self.copy()
        self.assertEqual(self.events("web1"), 10000)
        process.kill()
        process.wait()
        self.copy()
        self.assertEqual(self.events("web1"), 10000)

    def test_copied_always(self) -> None:
        """Each copy is a trace, and the last one has all."""
        need(self, "rsync", "babeltrace2")
        nr, before = few_or_many(200000, 600000), 0
        process = self.started("trace", nr, 2, more=";text:/dev/null")  # which takes longer
        until(lambda: os.path.exists(self.path("trace/metadata")) and any(name.startswith("stream") for name in os.listdir(self.path("trace"))))
        while process.poll() is None:
            self.copy()
            process.send_signal(signal.SIGSTOP)
            now = self.events("web1")
            process.send_signal(signal.SIGCONT)
            self.assertGreaterEqual(now, before)
            before = now
        self.assertEqual(process.returncode, 0)
        self.copy()
        self.assertEqual(self.events("web1"), nr)

    def test_packed(self) -> None:
        """tp pack takes what there is, while it is recorded."""
        process = self.started("trace", 10000, 2, "wait")
        self.assertEqual(process.stdout.readline(), "half\n")
        self.succeed([TP, "pack", "-o", self.path("half.tar"), self.path("trace")])
        half = self.read_by(TP, "report", self.path("half.tar")).count("\n")
        self.assertEqual(half, self.read_by(TP, "report", self.path("trace")).count("\n"))
        self.assertTrue(0 < half < 10000)

    # ---- Tables ----

    def record(self) -> list[str]:
        """Traces of three machines: two processes of the first; a program that was killed; a newer version."""
        need(self, "unshare", "hostname")
        traces = []
        for number, (host, program, arguments) in enumerate((
                (HOSTS[0], self.program, (1000, 2)), (HOSTS[0], self.program, (500, 1)), (HOSTS[1], self.program, (2000, 4, "wait")),
                (HOSTS[2], self.newer, (800, 3)))):
            on_host = ("unshare", "-u", "sh", "-c", f'hostname {host} && exec "$@"', "sh")
            if run([*on_host, "true"]).returncode:
                unavailable(self, "nobody can have another host name here")
            trace = f"{host}-{number}"
            process = self.started(trace, *arguments, command=on_host, program=program)
            if "wait" in arguments:
                self.assertEqual(process.stdout.readline(), "half\n")
                process.kill()
            process.wait()
            traces.append(trace)
        return traces

    def tables_of_all(self, traces: list[str]) -> None:
        """As the page's first command."""
        self.assertIn("\ttp convert web1 web2 --to parquet -o tables ", PAGE)
        self.succeed([TP, "convert", *traces, "--to", "parquet", "-o", "tables"], cwd=self.dir)

    def tables_of_each(self, traces: list[str]) -> None:
        """As its second command, on each machine."""
        self.assertIn('\ttp convert trace --to parquet -o "tables/$(hostname)" ', PAGE)
        os.mkdir(self.path("tables"))
        for host in HOSTS:
            of_host = [trace for trace in traces if trace.startswith(f"{host}-")]
            self.succeed([TP, "convert", *of_host, "--to", "parquet", "-o", f"tables/{host}"], cwd=self.dir)

    def test_queries(self) -> None:
        traces = self.record()
        events = [json.loads(line) for line in self.succeed([TP, "convert", *traces, "--to", "json"], cwd=self.dir).stdout.splitlines()]
        want = [_plain(rows) for rows in _answers(events)]
        self.assertEqual({event["host"] for event in events}, set(HOSTS))
        self.assertTrue(all(want))
        for make in (self.tables_of_all, self.tables_of_each):
            with self.subTest(make.__name__):
                shutil.rmtree(self.path("tables"), ignore_errors=True)
                make(traces)
                got = [_plain([list(row.values()) for row in rows]) for rows, query in zip(duck.asked(self, *queries(), cwd=self.dir), queries())
                       if query.startswith("SELECT")]
                self.assertEqual(len(got), len(want))
                for one, other in zip(got, want):
                    self.assertEqual(one, other)

    def test_versions(self) -> None:
        """A field that only some have is NULL elsewhere."""
        traces = self.record()
        self.tables_of_all(traces)
        self.assertIn("net.request_end.2.parquet", os.listdir(self.path("tables")))
        views = [query for query in queries() if not query.startswith("SELECT")]
        rows = duck.asked(self, *views, "SELECT host, region, typeof(status) AS type, count(*) > 0 AS some FROM ends GROUP BY ALL ORDER BY ALL", cwd=self.dir)[-1]
        self.assertEqual([list(row.values()) for row in rows], [[host, 7 if host == HOSTS[2] else None, "BIGINT", True] for host in sorted(HOSTS)])

    def test_columns(self) -> None:
        """The page's table of columns."""
        traces = self.record()
        self.tables_of_all(traces)
        rows = duck.asked(self, "DESCRIBE FROM 'tables/net.request_begin.parquet'", cwd=self.dir)[0]
        got = {row["column_name"]: row["column_type"] for row in rows}
        types = {"timestamp": "TIMESTAMP WITH TIME ZONE", "int64": "BIGINT", "int32": "INTEGER", "text": "VARCHAR"}
        documented = {}
        for names, kind in re.findall(r"^\| (`.*?) \| (\w+)", PAGE, re.M):
            documented |= {name: types[kind] for name in re.findall(r"`(\w+)`", names)}
        self.assertEqual(documented, {name: got[name] for name in list(got)[:len(documented)]})
        self.assertEqual(list(got)[len(documented):], ["id", "peer", "method", "method_name"])

    def test_many_rows(self) -> None:
        """EVENTS=10000000 says what those cost; "python3 tests/parquet/fleet.py 10000000" prints it."""
        nr = few_or_many(20000, 250000, "EVENTS")
        found = fleet.costs(self.dir, nr, duck.environment(self)["DUCKDB"])
        per_thread = 2 * nr // fleet.THREADS // 5
        answers = [json.loads(found[query].printed.splitlines()[-1]) for query in queries() if query.startswith("SELECT")]
        self.assertEqual([int(row["n"]) for row in answers[0]], fleet.THREADS * [per_thread])
        self.assertEqual([int(row["n"]) for row in answers[1]], [fleet.THREADS * per_thread])
        self.assertEqual(answers[3], [])
        self.assertEqual(sum(int(row["hits"]) for row in answers[4]), fleet.THREADS * (2 * per_thread + per_thread // 2))
        self.assertLess(fleet.size_of(self.path("tables")), fleet.size_of(self.path("trace")))
        note(f"{nr} events: tables made in {found['tp convert'].seconds:.1f} s")


# ---- What the page's queries are to find ----

Event = dict[str, Any]


def _answers(events: list[Event]) -> list[list]:
    begins = [e for e in events if e["event"] == "request_begin"]
    ends = [e for e in events if e["event"] == "request_end"]
    requests = _requests(begins, ends)
    return [_by_thread(requests), _by_host(requests), _top(begins), _without_end(begins, ends), _per_second(events)]


def _key(event: Event) -> tuple:
    return event["host"], event["pid"], event["fields"]["id"]


def _requests(begins: list[Event], ends: list[Event]) -> list[tuple[Event, int]]:
    """Each end, and the time since the latest begin."""
    by_key: dict[tuple, list[int]] = collections.defaultdict(list)
    for event in begins:
        by_key[_key(event)].append(event["ns"])
    return [(event, event["ns"] - max(since)) for event in ends if (since := [ns for ns in by_key[_key(event)] if ns <= event["ns"]])]


def _grouped(requests: list[tuple[Event, int]], *names: str) -> list[tuple[tuple, list[tuple[Event, int]]]]:
    groups: dict[tuple, list] = collections.defaultdict(list)
    for event, took in requests:
        groups[tuple(event[name] for name in names)].append((event, took))
    return sorted(groups.items())


def _by_thread(requests: list[tuple[Event, int]]) -> list:
    return [[*group, len(of), [_quantile([took for _, took in of], q) for q in (0.5, 0.99)]] for group, of in _grouped(requests, "host", "pid", "tid")]


def _by_host(requests: list[tuple[Event, int]]) -> list:
    return [[*group, len(of), sum(e["fields"]["status"] >= 500 for e, _ in of), max(took for _, took in of)] for group, of in _grouped(requests, "host")]


def _quantile(values: list[int], q: float) -> int:
    return sorted(values)[max(math.ceil(q * len(values)) - 1, 0)]


def _top(begins: list[Event]) -> list:
    hits = collections.Counter(event["fields"]["peer"] for event in begins)
    return sorted(([peer, n] for peer, n in hits.items()), key=lambda row: (-row[1], row[0]))[:5]


def _without_end(begins: list[Event], ends: list[Event]) -> list:
    ended = {_key(event) for event in ends}
    return sorted([*_key(event), event["fields"]["peer"]] for event in begins if _key(event) not in ended)


def _per_second(events: list[Event]) -> list:
    hits = collections.Counter((e["ns"] // 10**9, e["host"], e["event"]) for e in events)
    return [[datetime.datetime.fromtimestamp(second, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S+00"), host, event, n]
            for (second, host, event), n in sorted(hits.items())]


def _plain(value: Any) -> Any:
    """Long numbers are texts in what DuckDB answers."""
    return [_plain(one) for one in value] if isinstance(value, list) else str(value)


# SPDX-License-Identifier: MIT
"""Latencies: which begin belongs to which end, groups, percentiles, the slowest, and bounds; in processes and of traces."""

from __future__ import annotations

import functools
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
from collections import defaultdict

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../control"))

from building import build, generate  # noqa: E402
from reaching import Reaching  # noqa: E402
from support import BUILD, Case, both, few_or_many, need, run, temporary  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
TP = os.path.join(BUILD, "tp")
SEED = os.environ.get("SEED", "1")
ROUNDS = few_or_many(4, 20, "LATENCIES")


@functools.cache
def pairs(libtp: str = "static") -> str:
    directory = temporary()
    os.chmod(directory, 0o755)
    generate(directory, os.path.join(HERE, "pairs.tp"))
    return build(os.path.join(directory, "pairs"), os.path.join(HERE, "pairs.c"), include=[directory], libtp=libtp)


def bucket(ns: int) -> int:
    """The least value of its bucket."""
    return ns >> (ns.bit_length() - 6) << (ns.bit_length() - 6) if ns >= 64 else ns


class Latencies(Case):
    def measure(self, options: str, *args: str, events: str = "*", stderr: str = "") -> dict:
        """What the program's own file says."""
        file = self.path("latency")
        done = self.succeed([pairs(), *args], env={
            **os.environ, "TP_ENABLE": events, "TP_OUTPUT": f"latency:{file},begin=pairs_begin,end=pairs_end{options}"})
        self.assertEqual(done.stderr, stderr)
        with open(file, encoding="utf-8") as text:
            return json.load(text)

    def seqs(self, measured: dict) -> set[tuple[int, int]]:
        """Of each pair, the numbers of its begin and end."""
        return {tuple(int(re.search(r"seq=(-?\d+)", one[end])[1]) for end in ("begin", "end")) for one in measured["slowest"]}

    def counts(self, measured: dict) -> tuple[int, int, int, int]:
        return (sum(group["count"] for group in measured["groups"]), measured["waiting"], measured["forgotten"], measured["unmatched"])

    def test_by_key(self) -> None:
        """The latest begin of the same key, in whatever thread; its width and sign do not matter."""
        got = self.measure(",key=id:request,slowest=100", "b:1", "b:2", "b:1", "Te:1", "e:2", "e:1", "e:7", "b:-3", "Tb:5", "e:-3", "b:9")
        self.assertEqual(self.seqs(got), {(3, 4), (2, 5), (1, 6), (8, 10)})
        self.assertEqual(self.counts(got), (4, 2, 0, 1))
        self.assertGreater(got["oldest_ns"], 0)

    def test_by_thread(self) -> None:
        """The innermost first; another thread's is another's."""
        got = self.measure(",slowest=100", "b:1", "b:2", "Te:1", "b:3", "Tb:4", "e:0", "e:0", "e:0", "e:0")
        self.assertEqual(self.seqs(got), {(4, 6), (2, 7), (1, 8)})
        self.assertEqual(self.counts(got), (3, 1, 0, 2))

    def test_texts(self) -> None:
        """Of several fields, all must be the same; long texts, by their first 255 bytes."""
        long = "long" * 70
        got = self.measure(",key=id:request+peer,slowest=100", "b:1:a", "b:1:b", "e:1:a", f"b:2:{long}", f"e:2:{long}", "e:1:ab", "e:1:b")
        self.assertEqual(self.seqs(got), {(1, 3), (2, 7), (4, 5)})

    def test_groups(self) -> None:
        """By the end's fields, or else by the begin's; values have their names."""
        args = ("b:1:a:1", "e:1:x:200", "b:1:b:2", "e:1:x:500", "b:1:a:7", "e:1:x:-1", "b:1:a:1", "e:1:x:200", "b:2:zzz:2")
        for by, groups in (("status", {(200,): 2, (500,): 1, (-1,): 1}), ("method", {(1, "GET"): 2, (2, "POST"): 1, (7,): 1}),
                           ("peer", {("x",): 4}), ("id", {(1,): 4})):
            with self.subTest(by=by):
                got = self.measure(f",key=id:request,by={by}", *args)
                self.assertEqual({tuple(group["by"][0].values()): group["count"] for group in got["groups"]}, groups)
        got = self.measure(",key=id:request,by=method+peer", *(arg.replace(":x:", ":").replace("e:1:", "e:1:x:") for arg in args))
        self.assertEqual({tuple(v["value"] for v in group["by"]): group["count"] for group in got["groups"]}, {(1, "a"): 2, (2, "b"): 1, (7, "a"): 1})

    def test_bounds(self) -> None:
        """Begins that wait, groups and records have bounds, and what is beyond them is told."""
        got = self.measure(",slowest=100", *(f"b:{i}" for i in range(20)), *("e:0" for _ in range(20)))
        self.assertEqual(self.counts(got), (16, 0, 4, 4))
        self.assertEqual(self.seqs(got), {(20 - i, 21 + i) for i in range(16)})
        got = self.measure(",key=id:request,by=status", *(arg for i in range(600) for arg in (f"b:{i}", f"e:{i}:x:{i}")))
        others = [group["count"] for group in got["groups"] if not group["by"]]
        self.assertEqual((len(got["groups"]), others, self.counts(got)[0]), (512, [600 - 511], 600))
        got = self.measure(",key=id:request,slowest=2", "b:2:x:1:4000", "s:2000", "b:1:x:1:400", "e:1", "s:2000", "e:2")
        self.assertIn("too long to be kept", got["slowest"][0]["begin"])
        self.assertIn("status=1", got["slowest"][0]["end"])
        self.assertIn("seq=2", got["slowest"][1]["begin"])

    def test_many_wait(self) -> None:
        """Those of other keys are hardly ever forgotten."""
        got = self.measure(",key=id:request", *(f"b:{i}" for i in range(5000)), *(f"e:{i}" for i in range(5000)))
        self.assertEqual(self.counts(got), (5000, 0, 0, 0))

    def test_an_event_that_is_both(self) -> None:
        file = self.path("latency")
        self.succeed([pairs(), "b:1", "b:2", "b:1", "b:1"], env={**os.environ, "TP_ENABLE": "*",
                     "TP_OUTPUT": f"latency:{file},begin=pairs_begin,end=pairs_begin,key=id,slowest=9"})
        with open(file, encoding="utf-8") as text:
            self.assertEqual(self.seqs(json.load(text)), {(1, 3), (3, 4)})

    def test_times(self) -> None:
        got = self.measure(",key=id:request,slowest=1", "b:1", "s:20000", "e:1", "b:1", "e:1")
        group, = got["groups"]
        self.assertGreaterEqual(group["max_ns"], 20_000_000)
        self.assertEqual(group["max_ns"], got["slowest"][0]["ns"])
        self.assertEqual({begin for begin, _ in group["buckets"]}, {bucket(group["max_ns"]), bucket(group["min_ns"])})
        begin, end = (float(got["slowest"][0][which].split(" ")[0]) for which in ("begin", "end"))
        self.assertAlmostEqual(end - begin, group["max_ns"] / 1e9, places=5)

    def test_filters(self) -> None:
        got = self.measure(",key=id:request,slowest=9", "b:1", "b:2", "e:1", "e:2", events="pairs_begin if id == 2; pairs_end")
        self.assertEqual((self.seqs(got), got["unmatched"]), ({(2, 4)}, 1))

    def test_forks(self) -> None:
        """A child begins at nothing, and has a file of its own, if it has measured anything."""
        self.measure(",key=id:request,slowest=9", "b:1", "f", "e:1", "b:2", "e:2")
        measured = {}
        for name in os.listdir(self.dir):
            if name.startswith("latency"):
                with open(self.path(name), encoding="utf-8") as text:
                    measured[name == "latency"] = json.load(text)
        self.assertEqual({own: (self.seqs(one), one["unmatched"]) for own, one in measured.items()},
                         {True: ({(1, 2), (3, 4)}, 0), False: ({(3, 4)}, 1)})

    @both
    def test_storm(self) -> None:
        """Threads that end what others have begun, and handlers in between: each pair is counted, once."""
        nr = few_or_many(5000, 30000)
        for libtp in ("static", "asan"):
            with self.subTest(libtp=libtp):
                file = self.path("storm")
                done = self.succeed([pairs(libtp), f"storm:4:{nr}"], env={**os.environ, "TP_ENABLE": "*",
                                    "TP_OUTPUT": f"latency:{file},begin=pairs_begin,end=pairs_end,key=seq,by=status,slowest=10"})
                with open(file, encoding="utf-8") as text:
                    got = json.load(text)
                counted = {group["by"][0]["value"]: group["count"] for group in got["groups"]}
                lost = got["forgotten"] + got["unmatched"] + got["lost"]
                handlers = counted.pop(9, 0)
                self.assertLessEqual(abs(sum(counted.values()) - 4 * nr) + abs(handlers - int(done.stdout)), 2 * lost)
                self.assertLessEqual(lost, nr // 100)
                self.assertEqual(len(got["slowest"]), 10)
                for group in got["groups"]:
                    self.assertEqual(sum(hits for _, hits in group["buckets"]), group["count"])

    def test_mistakes(self) -> None:
        for options, message in (
                (",begin=pairs_begin,end=pairs_end,key=idd", r"event 'pairs:pairs_begin' has no field 'idd': did you mean 'id'.* has id, peer, method"),
                (",begin=pairs_begin,end=pairs_end,key=id", r"event 'pairs:pairs_end' has no field 'id'"),
                (",begin=pairs_begin,end=pairs_end,key=peer:status", r"'status' of event 'pairs:pairs_end' is a number, unlike that of"),
                (",begin=pairs_begin,end=pairs_end,by=foo", "neither the begin nor the end has all fields of by="),
                (",begin=pairs_begin,end=pairs_end,by=method+status", "neither the begin nor the end has all fields of by="),
                (",begin=pairs_begin,end=pairs_end,by=load", "neither the begin nor the end"),
                (",begin=pairs_begin", "begin=EVENT and end=EVENT say from where to where"),
                (",begin=pairs_begin,end=pairs_end,key=a+b+c+d", "takes one to three fields"),
                (",begin=pairs_begin,end=pairs_end,key=:a", "takes one to three fields"),
                (",begin=pairs_begin,end=pairs_end,slowest=101", "takes a number up to 100"),
                (",start=pairs_begin", "there is no option 'start=pairs_begin'; there are begin=, end=, key=, by= and slowest=")):
            with self.subTest(options=options):
                done = self.succeed([pairs(), "b:1"], env={**os.environ, "TP_ENABLE": "*", "TP_OUTPUT": f"latency:{self.path('l')}{options}"})
                self.assertRegex(done.stderr, f"^tp: latency '{self.path('l')}': {'.*' if options[1] != 'x' else ''}{message}.*; nothing is measured\n$")
                self.assertFalse(os.path.exists(self.path("l")))


def percentile(values: list[int], part: float) -> int:
    """By rank, exactly."""
    return sorted(values)[max(math.ceil(part * len(values)), 1) - 1]


class Traces(Case):
    """tp latency DIR, beside babeltrace2 and an evaluator of a few lines."""

    def events(self, trace: str) -> list[tuple[int, str, dict[str, str]]]:
        lines = self.read_by("babeltrace2", "--clock-seconds", "--no-delta", trace).splitlines()
        found = []
        for line in lines:
            time, name = re.match(r"\[(\d+\.\d{9})\] .*?pairs:pairs_(begin|end):", line).groups()
            plain = re.sub(r"\( [^)]*container = (-?\d+) \)", r"\1", line)  # without the names of values
            fields = dict(re.findall(r"(\w+) = \"?([^\",\s]*)\"?", plain))
            found.append((int(time.replace(".", "")), name, fields))
        return found

    def evaluate(self, events: list[tuple[int, str, dict[str, str]]], key: tuple[str, str] | None, by: str | None) -> dict:
        waiting: dict[str, list] = defaultdict(list)
        groups: dict[str, list[int]] = defaultdict(list)
        unmatched = most = 0
        for time, name, fields in events:
            what = fields["tid"] if not key else fields[key[name == "end"]]
            if name == "begin":
                waiting[what].append((time, fields))
                most = max(most, len(waiting[what]))
            elif waiting[what]:
                begun, of_begin = waiting[what].pop()
                groups[fields.get(by, of_begin.get(by)) if by else ""].append(time - begun)
            else:
                unmatched += 1
        return {"groups": groups, "waiting": sum(map(len, waiting.values())), "unmatched": unmatched, "most": most}

    @both
    def test_random(self) -> None:
        need(self, "babeltrace2")
        for number in range(ROUNDS):
            rng = random.Random(f"{SEED}/{number}")
            args = []
            for _ in range(300):
                kind = rng.choice(("b", "e", "e", "b", "Tb", "Te"))
                args.append(f"{kind}:{rng.randrange(8)}:p{rng.randrange(3)}:{rng.randrange(1, 4)}")
                if rng.random() < 0.1:
                    args.append(f"s:{rng.randrange(300)}")
            trace, file = self.path(f"trace{number}"), self.path("latency")
            key, by = rng.choice((("id", "request"), ("peer", "peer"), None)), rng.choice(("status", "method", None))
            options = (",key=" + ":".join(key) if key else "") + (f",by={by}" if by else "")
            self.succeed([pairs(), *args], env={**os.environ, "TP_ENABLE": "*", "TP_OUTPUT":
                         f"ctf:{trace};latency:{file},begin=pairs_begin,end=pairs_end{options}"})
            expected = self.evaluate(self.events(trace), key, by)
            what = f"SEED={SEED}, round {number}: {options}"
            if expected["most"] > 16:  # some are forgotten
                continue
            done = self.succeed([TP, "latency", trace, "pairs_begin", "pairs_end", "--json",
                                 *(("--key", ":".join(key)) if key else ()), *(("--by", by) if by else ())])
            got = json.loads(done.stdout)
            with open(file, encoding="utf-8") as text:
                live = json.load(text)
            for one in (got, live):
                self.assertEqual((one["waiting"], one["unmatched"], one["forgotten"]), (expected["waiting"], expected["unmatched"], 0), what)
                self.assertEqual({str(group["by"][0]["value"]) if by else "": group["count"] for group in one["groups"]},
                                 {name: len(values) for name, values in expected["groups"].items()}, what)
            for group in got["groups"]:
                values = expected["groups"][str(group["by"][0]["value"]) if by else ""]
                for name, exact in (("min_ns", min(values)), ("max_ns", max(values)), ("mean_ns", sum(values) // len(values))):
                    self.assertLessEqual(abs(group[name] - exact), 2, f"{what}: {name}")  # babeltrace2 rounds ticks otherwise
                for name, part in (("p50_ns", 0.5), ("p90_ns", 0.9), ("p99_ns", 0.99), ("p99.9_ns", 0.999)):
                    exact = percentile(values, part)
                    self.assertLessEqual(abs(group[name] - exact), exact * 0.02 + 1, f"{what}: {name}")

    def test_slowest(self) -> None:
        trace = self.path("trace")
        self.succeed([pairs(), "b:1:a", "s:10000", "b:2:b", "s:3000", "b:3:x:1:4000", "e:3", "s:3000", "e:2", "s:10000", "e:1"],
                     env={**os.environ, "TP_ENABLE": "*", "TP_OUTPUT": f"ctf:{trace}"})
        out = self.succeed([TP, "latency", trace, "pairs_begin", "pairs_end", "--key", "id:request", "--slowest", "3"]).stdout
        self.assertRegex(out, r"(?s)slowest 1: \d+\.\d\d m?s\n  \S+ \d+/\d+ pairs:pairs_begin: id=1 peer=a method=GET seq=1\n"
                              r"  \S+ \d+/\d+ pairs:pairs_end: request=1 peer=x status=1 seq=6\n\nslowest 2: .*seq=2\n.*seq=5\n\nslowest 3: .*too long")

    def test_filters(self) -> None:
        trace = self.path("trace")
        self.succeed([pairs(), "b:1:a:1", "b:2:b:2", "e:1", "e:2"], env={**os.environ, "TP_ENABLE": "*", "TP_OUTPUT": f"ctf:{trace}"})
        got = json.loads(self.succeed([TP, "latency", trace, "pairs_begin if method == 2", "pairs_end", "--key", "id:request", "--by", "method",
                                       "--json"]).stdout)
        self.assertEqual(([group["by"] for group in got["groups"]], got["unmatched"]), ([[{"value": 2, "name": "POST"}]], 1))

    def test_packed(self) -> None:
        trace, pack = self.path("trace"), self.path("trace.tar")
        self.succeed([pairs(), "b:1:a:1", "s:1000", "e:1"], env={**os.environ, "TP_ENABLE": "*", "TP_OUTPUT": f"ctf:{trace}"})
        self.succeed([TP, "pack", trace, "-o", pack])
        shown = [self.succeed([TP, "latency", path, "pairs_begin", "pairs_end", "--json"]).stdout for path in (trace, pack)]
        self.assertEqual(shown[0], shown[1])

    def test_processes_of_a_trace(self) -> None:
        """Begins and ends of two processes don't belong together."""
        for name, args in (("one", ("b:1", "s:5000", "e:2")), ("two", ("b:2", "e:1"))):
            self.succeed([pairs(), *args], env={**os.environ, "TP_ENABLE": "*", "TP_OUTPUT": f"ctf:{self.path('all/' + name)}"}
                         if os.makedirs(self.path("all"), exist_ok=True) is None else None)
        got = json.loads(self.succeed([TP, "latency", self.path("all"), "pairs_begin", "pairs_end", "--key", "id:request", "--json"]).stdout)
        self.assertEqual((got["groups"], got["waiting"], got["unmatched"]), ([], 2, 2))

    def test_mistakes(self) -> None:
        trace = self.path("trace")
        self.succeed([pairs(), "b:1", "e:1"], env={**os.environ, "TP_ENABLE": "*", "TP_OUTPUT": f"ctf:{trace}"})
        for args, message, status in (
                (("pairs_begin", "pairs_edn"), "no event in .* matches 'pairs_edn' .did you mean 'pairs_end'", 1),
                (("pairs_begin", "pairs_end", "--key", "id"), "event 'pairs:pairs_end' has no field 'id' that is an integer or a text: .* has request, peer, status", 1),
                (("pairs_begin if idd > 1", "pairs_end"), "the filter .* is wrong: .*did you mean 'id'", 1),
                (("pairs_begin", "pairs_end", "--by", "foo"), "neither the begin nor the end has 'foo'", 1),
                (("pairs_begin", "pairs_end", "--by", "method,status"), "neither the begin nor the end has all of 'method,status'", 1),
                (("pairs_begin", "pairs_end", "--slowest", "0"), "--slowest takes a number from 1 to 100, not '0'", 2),
                (("pairs_begin", "pairs_end", "--for", "1"), "--for and --interval go with -p", 2),
                (("pairs_begin",), "-p", 2)):
            with self.subTest(args=args):
                done = self.run_tp("latency", trace, *args)
                self.assertEqual((done.returncode, done.stdout), (status, ""))
                self.assertRegex(done.stderr, message)

    def run_tp(self, *args: str) -> subprocess.CompletedProcess:
        return run([TP, *args])


class Live(Reaching):
    def setUp(self) -> None:
        super().setUp()
        os.unlink(self.program)
        os.symlink(pairs(), self.program)

    def test_a_process(self) -> None:
        process = self.start("loop")
        out = self.counted(r"^200 +[1-9]\d* .* [num]?s$", "latency", "-p", self.name, "pairs_begin", "pairs_end", "--key", "id:request",
                           "--by", "status")
        self.assertRegex(out, r"(?m)^pairs_begin -> pairs_end, by id:request: \d+ pairs$")
        self.assertRegex(out, r"(?m)^status +PAIRS +P50 +P90 +P99 +P99.9 +MAX +MEAN$")
        self.assertRegex(out, r"(?m)^ +FROM +PAIRS +%$")
        self.left_alone(process.pid)

    def test_json(self) -> None:
        self.start("loop")
        self.start("loop")
        out = self.counted('"GET"', "latency", "-p", self.name, "--all", "pairs_begin if method == 1", "pairs_end", "--by", "method", "--json",
                           "--slowest", "2")
        got = json.loads(out)
        self.assertEqual([group["by"] for group in got["groups"]], [[{"value": 1, "name": "GET"}]])
        self.assertEqual(len(got["slowest"]), 2)
        self.assertGreaterEqual(got["slowest"][0]["ns"], got["slowest"][1]["ns"])

    def test_no_begin_is_seen_before_the_ends_are(self) -> None:
        """Otherwise those of the first moments would wait for ever, as requests that hang do. The program's one thread has one at most."""
        self.start("busy")
        for _ in range(20):
            done = self.tp("latency", "-p", self.name, "pairs_begin", "pairs_end", "--json", "--for", "0.02")
            self.assertLessEqual(json.loads(done.stdout)["waiting"], 1)

    def test_names_that_nothing_has(self) -> None:
        self.start("loop")
        done = self.tp("latency", "-p", self.name, "pairs_begin", "pairs_edn", "--for", "0.1")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "no event of .* is called 'pairs_edn' now .did you mean '.*pairs_end'")
        self.assertIn("has no field 'idd'", self.fails("latency", "-p", self.name, "pairs_begin", "pairs_end", "--key", "idd"))
        self.assertIn("have no filter", self.fails("latency", "-p", self.name, "pairs_begin if id > 1", "pairs_begin", status=2))

    def test_a_program(self) -> None:
        done = self.tp("latency", "pairs_begin", "pairs_end", "--key", "id:request", "--slowest", "1", "--", pairs(), "b:1", "s:2000", "f", "e:1")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"(?s)^pairs_begin -> pairs_end, by id:request: 1 pair\nends without a begin: 1\n.*\nslowest 1: .*seq=1\n")
        self.assertEqual(self.tp("latency", "pairs_begin", "pairs_end", "--", "/nowhere").returncode, 127)

    def test_a_program_whose_events_end_before_the_library(self) -> None:
        done = self.tp("latency", "pairs_begin", "pairs_end", "--slowest", "1", "--", pairs("shared"), "b:1", "s:2000", "e:1",
                       env={"LD_LIBRARY_PATH": BUILD})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"slowest 1: .*\n .* pairs:pairs_begin: .*seq=1\n .* pairs:pairs_end: .*seq=2\n\Z")

    def test_on_a_terminal(self) -> None:
        self.start("loop")
        for columns in (80, 120):
            with self.subTest(columns=columns):
                terminal = self.terminal("latency", "-p", self.name, "pairs_begin", "pairs_end", "--by", "status", "--interval", "0.05",
                                         columns=columns)
                terminal.wait_for(r"\n200 +[1-9]\d+ ")
                terminal.type(b"\x03")
                self.assertEqual(terminal.end(), 0)
                last = terminal.text().rpartition("pairs_begin -> pairs_end")[2].replace("\r", "")
                self.assertRegex(last, r"\nstatus +PAIRS .*\nall +\d+ .*\n200 +\d+")
                self.assertRegex(last, r"\n +\d.*#+\n")
                self.assertLessEqual(max(map(len, last.splitlines()[1:])), columns)

    def test_it_ends_with_the_process(self) -> None:
        process = self.start("loop")
        terminal = self.terminal("latency", "-p", self.name, "pairs_begin", "pairs_end", "--interval", "0.05")
        terminal.wait_for(r"\d+ pairs?")
        process.send_signal(signal.SIGKILL)
        self.assertEqual(terminal.end(), 0)
        self.assertIn("has ended: these are the numbers of up to", terminal.text())

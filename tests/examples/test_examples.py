# SPDX-License-Identifier: MIT
"""The examples do what they say."""

from __future__ import annotations

import collections
import gzip
import os
import random
import re
import shutil

from support import BUILD, ROOT, UPDATE, Case, need, read, run

MODULES = os.path.join(BUILD, "examples/tracepoint-example")
SCHED = os.path.join(BUILD, "examples/sched-trace/sched-trace")
CACHE = os.path.join(BUILD, "examples/cxx/cache")
PGZ = os.path.join(BUILD, "examples/pgz/pgz")
LARGEST = 100_000  # bytes of the README's picture


class TracepointExample(Case):
    """The sample of the seeds: two modules, loaded in either order."""

    def host(self, *modules: str) -> list[str]:
        done = self.succeed([os.path.join(MODULES, "host"), *(os.path.join(MODULES, m + ".so") for m in modules)])
        self.assertEqual(done.stderr, "")
        return done.stdout.splitlines()

    HIT = "tracepoint-probe-example: subsys_eventname, firstarg=1 comm=cat"

    def test_either_order(self) -> None:
        for first, second in (("tracepoint-example", "tracepoint-probe-example"),
                              ("tracepoint-probe-example", "tracepoint-example")):
            with self.subTest(first=first):
                self.assertEqual(self.host(first, second), [
                    f"$ modprobe {first}", f"$ modprobe {second}",
                    "$ cat /proc/tracepoint-example", "cat: /proc/tracepoint-example: Operation not permitted",
                    f"$ rmmod {first}", f"$ rmmod {second}", "$ dmesg",
                    f"{first}: init", f"{second}: init", self.HIT, f"{first}: exit", f"{second}: exit"])

    def test_without_a_probe(self) -> None:
        self.assertNotIn(self.HIT, self.host("tracepoint-example"))

    def test_without_a_tracepoint(self) -> None:
        self.assertEqual(self.host("tracepoint-probe-example")[-2:],
                         ["tracepoint-probe-example: init", "tracepoint-probe-example: exit"])


class Cache(Case):
    """Tracepoints of C++: a template's sites, std::string_view, a class as a probe's data."""

    WORDS = ("one", "two", "three", "one", "one")
    PRINTED = "ONE 3\nTWO 3\nTHREE 5\nONE 3\nONE 3\n7 misses\n"

    def test_nobody_listens(self) -> None:
        done = self.succeed([CACHE, *self.WORDS])
        self.assertEqual((done.stdout, done.stderr), (self.PRINTED, ""))

    def test_text(self) -> None:
        done = self.succeed([CACHE, *self.WORDS], env={**os.environ, "TP_ENABLE": "cache:*"})
        self.assertEqual(done.stdout, self.PRINTED)
        lines = [line.split(" ", 2)[2] for line in done.stderr.splitlines()]
        self.assertEqual([line for line in lines if "lengths" in line], [
            f"cache:cache_{line}" for line in (
                "get: cache=lengths key=one result=miss", "get: cache=lengths key=two result=miss",
                "get: cache=lengths key=three result=miss", "evict: cache=lengths key=one left=1",
                "get: cache=lengths key=one result=miss", "evict: cache=lengths key=two left=1",
                "get: cache=lengths key=one result=hit")])
        self.assertEqual(sum("cache=texts" in line and "result=hit" in line for line in lines), 2)


class SchedTrace(Case):
    """The fourth of the seeds: a marker in the probe of a tracepoint, which sinks are connected to from outside."""

    SWITCHES = [(1, 2, 0), (2, 3, 1), (3, 1, 0)]

    def sched(self, **env: str) -> str:
        done = self.succeed([SCHED], env={**os.environ, **env})
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_nobody_listens(self) -> None:
        self.assertEqual(self.sched(), "")

    def test_text(self) -> None:
        lines = self.sched(TP_ENABLE="marker:*").splitlines()
        self.assertEqual([line.split(" ", 2)[2] for line in lines], [
            f"marker:kernel_sched_switch: prev_pid {prev} next_pid {next} prev_state {state}"
            for prev, next, state in self.SWITCHES])

    def test_ctf(self) -> None:
        need(self, "babeltrace2")
        trace = self.path("trace")
        self.assertEqual(self.sched(TP_ENABLE="marker:*", TP_OUTPUT=f"ctf:{trace}"), "")
        self.assertEqual([line.split("marker:kernel_sched_switch: ")[1].split("}, ")[1] for line in
                          self.read_by("babeltrace2", trace).splitlines()],
                         [f"{{ prev_pid = {prev}, next_pid = {next}, prev_state = {state} }}"
                          for prev, next, state in self.SWITCHES])


class Pgz(Case):
    def setUp(self) -> None:
        super().setUp()
        rng = random.Random(1)
        self.files = {"empty": b"", "one": b"x", "name with space": b"hello\n" * 1000, "random": rng.randbytes(300_000),
                      "blocks": b"0123456789abcdef" * 16384 * 2, "text": b"a tracepoint " * 100_000}
        for name, data in self.files.items():
            with open(self.path(name), "wb") as file:
                file.write(data)

    def restored(self) -> None:
        for name, data in self.files.items():
            self.succeed(["gzip", "-t", self.path(name + ".gz")])
            with gzip.open(self.path(name + ".gz")) as file:
                self.assertEqual(file.read(), data, name)
            self.assertTrue(os.path.exists(self.path(name)))

    def test_restores(self) -> None:
        for options in ([], ["-p", "1"], ["-p", "8", "-b", "4K", "-9"], ["-1"]):
            with self.subTest(options):
                self.succeed([PGZ, "-f", *options, *(self.path(n) for n in self.files)])
                self.restored()

    def test_errors(self) -> None:
        done = run([PGZ, self.path("none"), self.path("one")])
        self.assertEqual(done.returncode, 1)
        self.assertIn("none: No such file or directory", done.stderr)
        self.assertTrue(os.path.exists(self.path("one.gz")))
        self.assertIn("one.gz", run([PGZ, self.path("one")]).stderr)  # it is there already

    def test_traced(self) -> None:
        """Each block is queued, started and ended once, with sizes that add up."""
        done = self.succeed([PGZ, "-p", "4", "-b", "16K", *(self.path(n) for n in self.files)],
                            env={**os.environ, "TP_ENABLE": "pgz:*", "TP_OUTPUT": f"text:{self.path('log')}"})
        self.assertEqual(done.stderr, "")
        self.restored()
        counts: collections.Counter[str] = collections.Counter()
        sizes: collections.Counter[str] = collections.Counter()
        for line in read(self.path("log")).splitlines():
            if re.match(r"\d+\.\d{9} \d+/\d+ pgz:pgz_(step: type=[BE] step=(read|compress|wait|write)|waiting: waiting=\d+)$", line):
                counts["for pictures"] += 1
                continue
            match = re.match(r"\d+\.\d{9} \d+/\d+ pgz:(\w+): name=(.*?) (\w+=.*)", line)
            assert match, line
            counts[match[1]] += 1
            fields = dict(pair.split("=", 1) for pair in match[3].split())
            if match[1] == "pgz_block_end":
                sizes[match[2]] += int(fields["in"])
                self.assertRegex(fields["level"], r"^[a-z]")
        self.assertEqual(counts["pgz_file_open"], len(self.files))
        self.assertEqual(counts["pgz_file_close"], len(self.files))
        self.assertEqual(counts["pgz_block_queue"], counts["pgz_block_start"])
        self.assertEqual(counts["pgz_block_queue"], counts["pgz_block_end"])
        self.assertEqual(counts["for pictures"], (4 * 2 + 2) * counts["pgz_block_queue"])
        self.assertEqual({n: sizes[self.path(n)] for n in self.files}, {n: len(d) for n, d in self.files.items()})

    def test_demo(self) -> None:
        """make demo's script, in a build directory of its own. The README shows the timeline: UPDATE=1 makes that anew."""
        need(self, "babeltrace2", "trace-cmd")
        os.makedirs(self.path("build/examples/pgz"))
        os.symlink(PGZ, self.path("build/examples/pgz/pgz"))
        os.symlink(os.path.join(BUILD, "tp"), self.path("build/tp"))
        for _ in range(2):  # again over its own output
            done = self.succeed([os.path.join(ROOT, "examples/pgz/demo.sh"), "build"], cwd=self.dir)
            self.assertIn("pgz:pgz_block_end", done.stdout)
            self.assertIn("build/demo/trace", done.stdout)
        for name in ("timeline.svg", "pgz.perfetto", "trace.dat"):
            self.assertRegex(done.stdout, rf"(?m)^build/demo/{re.escape(name)} +[a-z]")
        self.assertGreater(len(self.read_by("babeltrace2", self.path("build/demo/trace")).splitlines()), 100)
        self.assertGreater(len(self.read_by("trace-cmd", "report", self.path("build/demo/trace.dat")).splitlines()), 100)
        made, kept = self.path("build/demo/timeline.svg"), os.path.join(ROOT, "docs/timeline.svg")
        if UPDATE:
            shutil.copy(made, kept)
        names = r"<text[^>]*>(pgz_\w+|read|wait|compress|write): \d+</text>"
        self.assertEqual(set(re.findall(names, read(made))), set(re.findall(names, read(kept))))
        self.assertLess(os.path.getsize(kept), LARGEST)

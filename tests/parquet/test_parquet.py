# SPDX-License-Identifier: MIT
"""tp convert --to parquet: what DuckDB reads in the tables is what JSON has of the same events."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "trace_dat")]

from dat import Recorded  # noqa: E402
from support import BUILD, few_or_many, need, read, run, unavailable, until  # noqa: E402

TP = os.path.join(BUILD, "tp")
PACKAGE = "@duckdb/node-api@1.5.6-r.1"
COMMON = ["host", "process", "pid", "tid", "comm", "cpu"]

SALES = """
TRACE_EVENT(sale, TP_PROTO(const char *item, int n, int way), TP_ARGS(item, n, way),
    TP_STRUCT__entry(__string(item, item) __field(int, n) __field(unsigned char, way) __field(int, pid) __array(short, list, 3)
        __dynamic_array(unsigned int, more, n % 4)),
    TP_fast_assign(__assign_str(item); __entry->n = n; __entry->way = (unsigned char)way; __entry->pid = -n;
        for (int i = 0; i < 3; i++) __entry->list[i] = (short)(n - i);
        for (int i = 0; i < n % 4; i++) ((unsigned int *)__get_dynamic_array(more))[i] = 4294967295u - (unsigned int)i;),
    TP_printk("%d %s", __entry->n, __print_symbolic(__entry->way, { 1, "card" }, { 2, "cash" })));
"""


def duckdb() -> str:
    """The directory in which DuckDB's package is installed, or "" where npm does not have it."""
    directory = os.path.join(BUILD, "duckdb")
    if not os.path.exists(os.path.join(directory, "node_modules/@duckdb/node-api")):
        if not shutil.which("npm") or not shutil.which("node"):
            return ""
        os.makedirs(directory, exist_ok=True)
        command = ["timeout", "100", "npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", directory, PACKAGE]
        if run(command).returncode:
            shutil.rmtree(directory)
            return ""
    return directory


class Parquet(Recorded):
    folder = "parquet"

    def setUp(self) -> None:
        super().setUp()
        self.tables = self.path("tables")

    # ---- Steps ----

    def asked(self, *queries: str) -> list[list[dict]]:
        place = duckdb()
        if not place:
            unavailable(self, "npm has no DuckDB here")
        return [json.loads(line) for line in
                self.succeed(["node", os.path.join(HERE, "query.mjs"), *queries], env={**os.environ, "DUCKDB": place}).stdout.split("\n") if line]

    def converted(self, *arguments: str) -> dict[str, str]:
        """The tables' files, by event."""
        shutil.rmtree(self.tables, ignore_errors=True)
        self.assertEqual(self.read_by(TP, "convert", "--to", "parquet", "-o", self.tables, *arguments), "")
        return {name.removesuffix(".parquet"): os.path.join(self.tables, name) for name in sorted(os.listdir(self.tables))}

    def sell(self, nr: int, hits: str = "") -> None:
        self.record_program("shop", SALES, hits or f'for (int i = 0; i < {nr}; i++) trace_sale(i % 3 ? "tea" : "caf\\xc3\\xa9 \\xff", i, i % 3);')

    # ---- What is in it ----

    def test_long_names(self) -> None:
        """C's names may be longer than those of files, and differ only in what these have no room for."""
        names = ["n" * 300 + end for end in ("one", "two")]
        self.record_program("long", "".join(
            f"TRACE_EVENT({name}, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, n)), TP_fast_assign(__entry->n = n;), "
            'TP_printk("%d", __entry->n));\n' for name in names), "".join(f"trace_{name}(1);" for name in names))
        found = list(self.converted(self.trace))
        self.assertEqual(len(found), 2, found)
        for name in found:
            self.assertRegex(name, r"\Along\.n+_[0-9a-f]{16}\Z")

    def test_as_json(self) -> None:
        """All rows of random programs, and their order."""
        for seed in range(1, few_or_many(1, 4) + 1):
            with self.subTest(seed):
                shutil.rmtree(self.trace, ignore_errors=True)
                self.record_random(seed)
                lines: dict[str, list[dict]] = {}
                for line in self.read_by(TP, "convert", "--to", "json", self.trace).splitlines():
                    event = json.loads(line)
                    lines.setdefault(f"{event['system']}.{event['event']}", []).append(event)
                files = self.converted(self.trace)
                plain = {name: lines[name] for name in lines if name.isascii() and "$" not in name}
                self.assertLessEqual(set(plain), set(files))
                self.assertEqual(len(files), len(lines))
                names = sorted(plain)
                answers = self.asked(*(f"SELECT epoch_ns(time) AS ns, * EXCLUDE (time) FROM '{files[name]}'" for name in names))
                for name, rows in zip(names, answers):
                    self.assertEqual(len(rows), len(plain[name]))
                    for row, line in zip(rows, plain[name]):
                        self.same(row, line)

    def same(self, row: dict, line: dict) -> None:
        self.assertEqual([int(row["ns"]), *(row[name] for name in ("host", "pid", "tid", "comm"))],
                         [line["ns"], *(line[name] for name in ("host", "pid", "tid", "comm"))])
        # In their order; names that are taken have another, and names of values come in between.
        values = list(row.items())[1 + len(COMMON):]
        for name, want in line["fields"].items():
            while values and not re.fullmatch(rf"{re.escape(name)}(_\d+)?", values[0][0]):
                values.pop(0)
            self.assertTrue(values, f"{name} of {row}")
            self.assertTrue(_is_equal(values.pop(0)[1], want), f"{name}={want!r} of {row}")

    def test_columns(self) -> None:
        """Types, names of values, lists, a field that is called as a column is."""
        self.sell(6)
        file = self.converted(self.trace)["shop.sale"]
        described, rows, metadata = self.asked(
            f"SELECT column_name AS n, column_type AS t FROM (DESCRIBE SELECT * FROM '{file}')", f"SELECT * FROM '{file}'",
            f"SELECT path_in_schema AS p, encodings AS e, stats_min_value AS lo, stats_max_value AS hi, stats_null_count AS nulls FROM parquet_metadata('{file}')")
        self.assertEqual([(c["n"], c["t"]) for c in described], [
            ("time", "TIMESTAMP_NS"), ("host", "VARCHAR"), ("process", "VARCHAR"), ("pid", "INTEGER"), ("tid", "INTEGER"), ("comm", "VARCHAR"), ("cpu", "INTEGER"),
            ("item", "VARCHAR"), ("n", "INTEGER"), ("way", "UTINYINT"), ("way_name", "VARCHAR"), ("pid_2", "INTEGER"), ("list", "SMALLINT[]"), ("more", "UINTEGER[]")])
        self.assertEqual([(r["item"], r["n"], r["way_name"], r["pid_2"], r["list"], r["more"]) for r in rows], [
            ("tea" if i % 3 else "café \\xff", i, ("", "card", "cash")[i % 3], -i, [i, i - 1, i - 2], [4294967295 - k for k in range(i % 4)]) for i in range(6)])
        of = {m["p"]: m for m in metadata}
        self.assertEqual([(of[name]["lo"], of[name]["hi"], of[name]["nulls"]) for name in ("item", "n", "pid_2", "way")],
                         [("café \\xff", "tea", "0"), ("0", "5", "0"), ("-5", "0", "0"), ("0", "2", "0")])
        self.assertIn("RLE_DICTIONARY", of["process"]["e"])

    def test_groups(self) -> None:
        """Rows beyond one group; dictionaries are chosen for each; filters skip by ranges."""
        nr = few_or_many(250000, 1000000)
        self.sell(0, f'char item[32]; extern int snprintf(char *, size_t, const char *, ...); for (int i = 0; i < {nr}; i++) {{ snprintf(item, sizeof(item), i < 130000 ? "item %d" : "item", i); '
                     'trace_sale(item, i, i % 3); }')
        file = self.converted(self.trace)["shop.sale"]
        (total,), groups, some = self.asked(
            f"SELECT count(*) AS rows, sum(n) AS sum, count(DISTINCT item) AS items, min(len(more)) AS lo, max(len(more)) AS hi FROM '{file}'",
            f"SELECT DISTINCT row_group_id AS id, row_group_num_rows AS rows FROM parquet_metadata('{file}') ORDER BY id",
            f"SELECT item, more FROM '{file}' WHERE n BETWEEN 129999 AND 130001 ORDER BY n")
        self.assertEqual((int(total["rows"]), int(total["sum"]), int(total["items"])), (nr, nr * (nr - 1) // 2, 130001))
        self.assertEqual((int(total["lo"]), int(total["hi"])), (0, 3))
        self.assertGreater(len(groups), 1)
        self.assertEqual(sum(int(group["rows"]) for group in groups), nr)
        self.assertEqual([row["item"] for row in some], ["item 129999", "item", "item"])

    def test_fleet(self) -> None:
        """Several machines are one table; another layout of the event is another file."""
        self.sell(3)
        self.succeed(["cp", "-r", self.trace, self.path("other")])
        self.write("other/metadata", re.sub(r'hostname = "[^"]*"', 'hostname = "elsewhere"', read(self.path("other/metadata"))))
        shutil.move(self.trace, self.path("new"))
        self.record_program("shop", SALES.replace("__field(int, n)", "__field(long, n)").replace("%d %s", "%ld %s"), "trace_sale(\"new\", 7, 1);")
        files = self.converted(self.path("new"), self.path("other"), self.trace)
        self.assertEqual(sorted(files), ["shop.sale", "shop.sale.2"])
        hosts, both = self.asked(f"SELECT host, count(*) AS n FROM '{files['shop.sale']}' GROUP BY host ORDER BY n, host",
                                 f"SELECT sum(n) AS n FROM read_parquet('{self.tables}/shop.sale*.parquet', union_by_name = true)")
        self.assertEqual([(row["host"], int(row["n"])) for row in hosts], sorted([("elsewhere", 3), (os.uname().nodename, 3)]))
        self.assertEqual(int(both[0]["n"]), 13)

    def test_which(self) -> None:
        self.sell(9)
        file = self.converted("-e", "sale if n > 6", self.trace)["shop.sale"]
        self.assertEqual([row["n"] for row in self.asked(f"SELECT n FROM '{file}'")[0]], [7, 8])

    # ---- What goes wrong ----

    def left(self) -> list[str]:
        return [name for name in os.listdir(self.dir) if name.startswith("tables")]

    def test_wrong(self) -> None:
        self.sell(3)
        self.write("there", "mine")
        for arguments, status, message in (
                (("-o", "there", self.trace), 1, "'there' is there already: give another name, or remove it"),
                (("-o", "none/tables", self.trace), 1, "'none/tables' can't be made: No such file or directory"),
                (("-o", "tables", self.path("nothing")), 1, "nothing"), (("-o", "-", self.trace), 2, "give -o the name of a file"),
                (("-o", "tables", "-e", "nosuch", self.trace), 1, "nosuch")):
            with self.subTest(arguments):
                done = run([TP, "convert", "--to", "parquet", *arguments], cwd=self.dir)
                self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
                self.assertIn(message, done.stderr)
                self.assertEqual(self.left(), [])
        self.assertEqual(read(self.path("there")), "mine")

    def test_full(self) -> None:
        """Nothing is left where the disk is full."""
        need(self, "prlimit")
        self.sell(20000)
        done = run(["prlimit", "--fsize=100000", TP, "convert", "--to", "parquet", "-o", "tables", self.trace], cwd=self.dir, preexec_fn=lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Atp: 'tables\..*parquet' can't be written: File too large\n\Z")
        self.assertEqual(self.left(), [])

    def test_interrupted(self) -> None:
        self.sell(few_or_many(200000, 500000))
        for sig in (signal.SIGINT, signal.SIGTERM):
            with subprocess.Popen([TP, "convert", "--to", "parquet", "-o", "tables", self.trace], cwd=self.dir) as process:
                until(lambda: self.left() or process.poll() is not None)
                process.send_signal(sig)
                process.wait()
            self.assertIn(process.returncode, (-sig, 0))
            self.assertEqual(self.left(), ["tables"] if process.returncode == 0 else [])
            shutil.rmtree(self.tables, ignore_errors=True)


def _is_equal(one: object, other: object) -> bool:
    """As JSON has it: pointers are texts there, a number that is none is null; DuckDB's are texts where they are long."""
    if isinstance(other, list):
        return isinstance(one, list) and len(one) == len(other) and all(map(_is_equal, one, other)) or (not one and not other)
    if other is None:
        return one in ("NaN", "Infinity", "-Infinity", "nan", "inf", "-inf", None) or isinstance(one, float) and not math.isfinite(one)
    if isinstance(other, str) and re.fullmatch("0x[0-9a-f]+", other) and not isinstance(one, str):
        other = int(other, 16)
    if isinstance(other, str):
        other = other.removeprefix("\ufeff")  # Node takes it for a mark
        return one == other or (re.fullmatch("0x[0-9a-f]+", other) is not None and str(one) == str(int(other, 16))) or (not one and not other)
    if isinstance(other, int) and not isinstance(one, float):
        return str(one) == str(other)
    return math.isclose(float(str(one)), float(str(other)), rel_tol=1e-6) or abs(float(str(one)) - float(str(other))) < 1e-40

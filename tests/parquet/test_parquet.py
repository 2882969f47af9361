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

import duck  # noqa: E402
from dat import Recorded  # noqa: E402
from support import BUILD, few_or_many, need, read, run, until  # noqa: E402

TP = os.path.join(BUILD, "tp")
COMMON = ["ns", "host", "process", "pid", "tid", "comm", "cpu"]
SAME = ("host", "process", "pid", "tid", "comm")  # as in JSON

SALES = """
TRACE_EVENT(sale, TP_PROTO(const char *item, int n, int way), TP_ARGS(item, n, way),
    TP_STRUCT__entry(__string(item, item) __field(int, n) __field(unsigned char, way) __field(int, pid) __array(short, list, 3)
        __dynamic_array(unsigned int, more, n % 4)),
    TP_fast_assign(__assign_str(item); __entry->n = n; __entry->way = (unsigned char)way; __entry->pid = -n;
        for (int i = 0; i < 3; i++) __entry->list[i] = (short)(n - i);
        for (int i = 0; i < n % 4; i++) ((unsigned int *)__get_dynamic_array(more))[i] = 4294967295u - (unsigned int)i;),
    TP_printk("%d %s", __entry->n, __print_symbolic(__entry->way, { 1, "card" }, { 2, "cash" })));
"""


class Parquet(Recorded):
    def setUp(self) -> None:
        super().setUp()
        self.tables = self.path("tables")

    # ---- Steps ----

    def asked(self, *queries: str) -> list[list[dict]]:
        return duck.asked(self, *queries)

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
                answers = self.asked(*(f"SELECT epoch_us(time) AS us, * EXCLUDE (time) FROM '{files[name]}'" for name in names))
                for name, rows in zip(names, answers):
                    self.assertEqual(len(rows), len(plain[name]))
                    for row, line in zip(rows, plain[name]):
                        self.same(row, line)

    def same(self, row: dict, line: dict) -> None:
        self.assertEqual([int(row["us"]), int(row["ns"]), *(row[name] for name in SAME)], [line["ns"] // 1000, line["ns"], *(line[name] for name in SAME)])
        self.assertEqual(row["cpu"], line.get("cpu", -1))
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
            ("time", "TIMESTAMP WITH TIME ZONE"), ("ns", "BIGINT"), ("host", "VARCHAR"), ("process", "VARCHAR"), ("pid", "INTEGER"), ("tid", "INTEGER"), ("comm", "VARCHAR"), ("cpu", "INTEGER"),
            ("item", "VARCHAR"), ("n", "INTEGER"), ("way", "UTINYINT"), ("way_name", "VARCHAR"), ("pid_2", "INTEGER"), ("list", "SMALLINT[]"), ("more", "UINTEGER[]")])
        self.assertEqual([(r["item"], r["n"], r["way_name"], r["pid_2"], r["list"], r["more"]) for r in rows], [
            ("tea" if i % 3 else "café \\xff", i, ("", "card", "cash")[i % 3], -i, [i, i - 1, i - 2], [4294967295 - k for k in range(i % 4)]) for i in range(6)])
        of = {m["p"]: m for m in metadata}
        self.assertEqual([(of[name]["lo"], of[name]["hi"], of[name]["nulls"]) for name in ("item", "n", "pid_2", "way")],
                         [("café \\xff", "tea", "0"), ("0", "5", "0"), ("-5", "0", "0"), ("0", "2", "0")])
        self.assertEqual({name for name in of if "RLE_DICTIONARY" in of[name]["e"]} & {"process", "pid", "tid", "cpu", "way", "n", "ns", "time"},
                         {"process", "pid", "tid", "cpu", "way"})

    def test_numbers(self) -> None:
        """Differences of all widths, also beyond 64 bits, and blocks of them that are not full."""
        event = """TRACE_EVENT(e, TP_PROTO(unsigned long long i), TP_ARGS(i),
            TP_STRUCT__entry(__field(uint64_t, step) __field(int64_t, jump) __field(uint64_t, wide) __field(int64_t, down) __field(uint64_t, random)
                __field(double, real) __field(float, few)),
            TP_fast_assign(__entry->step = i; __entry->jump = i % 777 == 776 ? INT64_MIN : i % 776 == 775 ? INT64_MAX : (int64_t)i;
                __entry->wide = i << (i % 32); __entry->down = -(int64_t)(i * i * i); __entry->random = (i * 0x9e3779b97f4a7c15 ^ i * 0x9e3779b97f4a7c15 >> 29) * 0xbf58476d1ce4e5b9;
                __entry->real = (double)i / 3; __entry->few = (float)(i % 5) / 2;),
            TP_printk("%llu", (unsigned long long)__entry->step));"""
        for nr in (1, 4096, 4097, 4098, *range(4224, few_or_many(4225, 4260), 3)):
            with self.subTest(nr):
                shutil.rmtree(self.trace, ignore_errors=True)
                self.record_program("numbers", event, f"for (unsigned long long i = 0; i < {nr}; i++) trace_e(i);")
                file = self.converted(self.trace)["numbers.e"]
                rows, encodings = self.asked(f"SELECT * EXCLUDE (time, host, process, pid, tid, comm, cpu) FROM '{file}'",
                                             f"SELECT path_in_schema AS p, encodings AS e FROM parquet_metadata('{file}')")
                lines = [json.loads(line) for line in self.read_by(TP, "convert", "--to", "json", self.trace).splitlines()]
                self.assertEqual([[str(row[name]) for name in ("ns", "step", "jump", "wide", "down", "random")] for row in rows],
                                 [[str(line["ns"]), *(str(line["fields"][name]) for name in ("step", "jump", "wide", "down", "random"))] for line in lines])
                for name in ("real", "few"):
                    self.assertTrue(all(_is_equal(row[name], line["fields"][name]) for row, line in zip(rows, lines)), name)
                if nr > 4096:
                    self.assertEqual({e["p"]: e["e"].replace("PLAIN, RLE", "").strip(", ") for e in encodings if e["p"] not in ("time", "host", "process", "pid", "tid", "comm", "cpu")},
                                     {"ns": "DELTA_BINARY_PACKED", "step": "DELTA_BINARY_PACKED", "jump": "DELTA_BINARY_PACKED", "wide": "DELTA_BINARY_PACKED",
                                      "down": "DELTA_BINARY_PACKED", "random": "", "real": "", "few": "RLE_DICTIONARY"})

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
        self.check_skipped(file, nr)

    def check_skipped(self, file: str, nr: int) -> None:
        """By their ranges, groups are not even read in which nothing can be: all but the last one is now broken."""
        (last,), = self.asked(f"SELECT min(coalesce(dictionary_page_offset, data_page_offset)) AS at FROM parquet_metadata('{file}') GROUP BY row_group_id ORDER BY 1 DESC LIMIT 1")
        (bounds,), = self.asked(f"SELECT ns FROM '{file}' WHERE n = {nr - 3}")
        (whole,), = self.asked(f"SELECT count(*) AS n FROM '{file}' WHERE item = 'item 3'")
        self.assertEqual(whole["n"], "1")
        with open(file, "r+b") as out:
            out.seek(4)
            out.write(bytes(int(last["at"]) - 4))
        for condition in (f"n >= {nr - 3}", f"ns >= {bounds['ns']}", f"time >= make_timestamptz({bounds['ns']} // 1000)"):
            (found,), = self.asked(f"SELECT max(n) AS n, count(item) AS items FROM '{file}' WHERE {condition}")
            self.assertEqual((found["n"], int(found["items"]) >= 3), (nr - 1, True), condition)
        self.assertNotEqual(run(duck.command(f"SELECT count(item) FROM '{file}' WHERE n < 5"), env=duck.environment(self)).returncode, 0)

    def test_many_events(self) -> None:
        """Memory is bounded for all tables together."""
        need(self, "prlimit")
        nr, rows = few_or_many(12, 100), few_or_many(110000, 60000)
        event = ("TRACE_EVENT(e{0}, TP_PROTO(long n), TP_ARGS(n), TP_STRUCT__entry(__field(long, n) __array(char, text, 40)), "
                 'TP_fast_assign(__entry->n = n; memset(__entry->text, \'a\', 40); __entry->text[39] = 0;), TP_printk("%ld %s", __entry->n, __entry->text));')
        self.record_program("many", "\n".join(event.format(i) for i in range(nr)),
                            f"for (long n = 0; n < {rows}; n++) {{ {' '.join(f'trace_e{i}(n);' for i in range(nr))} }}",
                            {**os.environ, "TP_ENABLE": "*", "TP_OUTPUT": f"ctf:{self.trace}"})
        self.succeed(["prlimit", f"--as={300 << 20}", TP, "convert", "--to", "parquet", "-o", self.tables, self.trace])
        (total,), = self.asked(f"SELECT count(*) AS rows, sum(n) AS sum, min(text) AS text FROM '{self.tables}/*.parquet'")
        self.assertEqual((int(total["rows"]), int(total["sum"]), total["text"]), (nr * rows, nr * rows * (rows - 1) // 2, "a" * 39))

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

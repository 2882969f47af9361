# SPDX-License-Identifier: MIT
"""Kernel headers in a user-space program: unchanged, with a small compatibility header, and what they print."""

from __future__ import annotations

import collections
import concurrent.futures
import json
import os
import re
import shutil

from kernel import firing, table, tree
from support import BUILD, ROOT, need, note, printable, read, run, tpgen

HERE = os.path.dirname(os.path.abspath(__file__))
COMPAT = os.path.join(HERE, "compat")
ROUNDTRIP = os.path.join(os.path.dirname(HERE), "roundtrip")
_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.M)
_LINE = re.compile(r"\d+\.\d+ \d+/\d+ (.*)")

# What libtraceevent (1.7) prints otherwise than the kernel would, by event.
_ARRAYS = "%*ph takes no array that is not dynamic"
EXPLAINED = {
    "alarmtimer:alarmtimer_suspend": "1 << flag is undefined for the flag that is passed",
    "fsi_master_i2cr:i2cr_i2c_error": "sizeof(uint32_t) is not understood",
    "fsi_master_i2cr:i2cr_read": "sizeof(uint32_t) is not understood",
    "fsi_master_i2cr:i2cr_write": "sizeof(uint32_t) is not understood",
    "host1x:host1x_cdma_push_gather": "two fields are called cmdbuf, and it takes the first",
    "i2c_slave:i2c_slave": _ARRAYS,
    "ipi:ipi_send_cpumask": "a cpumask is printed as a list",
    "maple_tree:ma_op": "a tab in the format is not understood",
    "maple_tree:ma_read": "a tab in the format is not understood",
    "maple_tree:ma_write": "a tab in the format is not understood",
    "smbus:smbus_write": _ARRAYS,
    "smbus:smbus_reply": _ARRAYS,
    "sunvnet:vnet_tx_trigger": "in (a > 0 ? ...) a negative a counts as positive",
    "thermal_power_allocator:thermal_power_allocator": "__print_array is printed as decimal numbers",
}


def selection(found: tree.Tree) -> list[str]:
    """The names in compat/headers, without .h, that are a header of this kernel and not marked for the other."""
    lines = [line.split() for line in read(os.path.join(COMPAT, "headers")).splitlines()]
    return tree.sample([name for name, *series in lines if name != "#" and series in ([], [found.series])
                        and os.path.exists(f"{found.common}/include/trace/events/{name}.h")])


class Compat(tree.Series):
    def generate(self, found: tree.Tree) -> tuple[list[str], list[dict]]:
        """Into self.dir: the headers that tpgen makes, and a file each that fires the events."""
        names = selection(found)
        paths = [f"{found.common}/include/trace/events/{n}.h" for n in names]
        options = ["-include", os.path.join(COMPAT, "macros.h")]
        done = tpgen("gen", *options, "-o", self.dir, *paths)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = tpgen("dump", *options, *paths)
        self.assertEqual(done.returncode, 0, done.stderr)
        events = json.loads(done.stdout)["events"]
        # The kernel's includes are there, and empty: compat.h stands for them all.
        for path in paths:
            for name in _INCLUDE.findall(read(path)):
                self.write(f"stub/{name}", "")
        by_file = collections.defaultdict(list)
        for event in events:
            by_file[event["file"]].append(event)
        known = firing.objects(read(os.path.join(COMPAT, "compat.h")))
        for name, path in zip(names, paths):
            self.write(f"fire_{name}.c", firing.fire(name, by_file[path], known))
        self.write("fire_all.c", firing.fire_all(names))
        for own in (os.path.join(COMPAT, "compat.c"), os.path.join(ROUNDTRIP, "record_events.c")):
            shutil.copy(own, self.dir)
        return names, events

    def compile(self, cc: str, names: list[str]) -> str:
        """The program, compiled with one compiler."""
        need(self, cc)
        flags = [cc, "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-g", "-Wall", "-Werror", "-iquote", self.dir, "-iquote", ROUNDTRIP,
                 "-I", self.path("stub"), "-I", COMPAT, "-I", os.path.join(ROOT, "runtime/include")]
        sources = [f"fire_{n}" for n in names] + ["fire_all", "record_events", "compat"]

        def compile_one(name: str) -> str:
            return run([*flags, "-c", "-o", self.path(f"{name}.o"), self.path(f"{name}.c")]).stderr
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            self.assertEqual("".join(text[:1500] for text in pool.map(compile_one, sources)), "")
        self.succeed([cc, "-o", self.path(cc), *(self.path(f"{n}.o") for n in sources),
                      os.path.join(BUILD, "libtp.a"), "-lurcu-bp", "-lpthread"])
        return self.path(cc)

    def reader(self) -> str:
        flags = run(["pkg-config", "--cflags", "--libs", "libtraceevent"])
        if flags.returncode:
            self.skipTest("libtraceevent-dev is not installed")
        self.succeed(["gcc", "-Wall", "-Wextra", "-Werror", "-o", self.path("reader"), os.path.join(ROUNDTRIP, "read_events.c"),
                      *flags.stdout.split()])
        return self.path("reader")

    def check_series(self, found: tree.Tree) -> None:
        reader = self.reader()
        names, events = self.generate(found)
        self.assertGreaterEqual(len(names), 25 // tree.EACH)
        self.assertGreaterEqual(len(events), 150 // tree.EACH)
        different: list[str] = []
        seen: set[str] = set()
        for cc in ("gcc", "clang"):
            program = self.compile(cc, names)
            done = self.succeed([program, self.path("text"), self.path("records")])
            self.assertEqual(done.stderr, "")
            ours = [match[1] for match in map(_LINE.fullmatch, read(self.path("text")).splitlines()) if match]
            done = self.succeed([reader, self.path("records")])
            self.assertEqual(done.stderr, "")
            theirs = [escape(f"{event['system']}:{event['event']}: {bytes.fromhex(event['text']).decode(errors='surrogateescape')}")
                      for event in map(json.loads, done.stdout.splitlines())]
            self.assertEqual(len(ours), len(theirs))
            seen |= {line.split(": ")[0] for line in ours}
            different += [f"ours:   {a}\ntheirs: {b}" for a, b in zip(ours, theirs) if a != b]
        silent = {f"{e['system']}:{e['name']}" for e in events} - seen
        self.assertEqual(silent, set(), "these have not been fired")
        bad = {d.split(": ")[1].strip() for d in different}
        note(f"Linux {found.series}, package {found.package}: {len(names)} headers, {len(seen)} events compile and are "
             f"fired; libtraceevent prints {len(seen) - len(bad)} as we do, {len(bad & EXPLAINED.keys())} in a known "
             "other way")
        table.check(self, "programs", found, [len(names), len(events), len(events), len(seen), len(seen) - len(bad)])
        unexplained = [d for d in different if d.split(": ")[1].strip() not in EXPLAINED]
        if unexplained:
            self.fail(f"{len(unexplained)} texts differ\n" + "\n".join(unexplained[:60]))


def escape(text: str) -> str:
    """As the text sink writes it."""
    return printable(text[:-1] if text.endswith("\n") else text)

# SPDX-License-Identifier: MIT
"""Random events with random values: babeltrace2 and libtraceevent read what the program has passed.

SEED=N begins elsewhere, SEEDS=N takes so many seeds. Run as a program, it takes others each time, for SECONDS:

    SEED=1000 SEEDS=50 python3 tests/run.py roundtrip/test_random
    SECONDS=60 python3 tests/roundtrip/test_random.py
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import time
import unittest
from collections.abc import Iterator

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from building import build, generate  # noqa: E402
from random_events import Program, random_program, write  # noqa: E402
from support import BT2_PYTHON, BUILD, Case, both, few_or_many, has_bt2, printable, read, run  # noqa: E402

CC = os.environ.get("CC", "gcc")
SEED = int(os.environ.get("SEED", "1"))
SEEDS = few_or_many(2, 6, "SEEDS")


def seeds(seconds: float = 0) -> Iterator[int]:
    """So many of them, or those that there is time for."""
    end = time.monotonic() + seconds
    seed = SEED
    while time.monotonic() < end if seconds else seed < SEED + SEEDS:
        yield seed
        seed += 1


class Seed(Case):
    def test_says_all(self) -> None:
        """What a failure names repeats it, in another process too."""
        texts = []
        for hashes in ("1", "2"):
            os.mkdir(self.path(hashes))
            self.succeed([sys.executable, os.path.join(HERE, "random_events.py"), str(SEED), self.path(hashes)],
                         env={**os.environ, "PYTHONHASHSEED": hashes})
            texts.append([read(self.path(f"{hashes}/{name}")) for name in sorted(os.listdir(self.path(hashes)))])
        self.assertEqual(len(texts[0]), 3)
        self.assertTrue(texts[0] == texts[1], "they differ")


class Random(Case):
    seconds = 0.0

    def setUp(self) -> None:
        super().setUp()
        # What there is to read with.
        flags = run(["pkg-config", "--cflags", "--libs", "libtraceevent"])
        self.has_traceevent = flags.returncode == 0
        if self.has_traceevent:
            self.succeed(["gcc", "-Wall", "-Wextra", "-Werror", "-O1", "-o", self.path("read_events"),
                          os.path.join(HERE, "read_events.c"), *flags.stdout.split()])

    def differ(self, number: int, what: str, got: object, want: object) -> None:
        hit = self.expected["hits"][number]
        self.fail(f"hit {number}, of {hit['event']}: {what}\nread:   {_short(got)}\npassed: {_short(want)}\n\n"
                  f"{self.expected['events'][hit['event']]['tp']}")

    def check(self, seed: int) -> None:
        """All of one seed; a failure says how to repeat it."""
        try:
            program = random_program(seed)
            self.expected = program.expected
            self.options = program.options
            self.run_program(program)
            self.check_text()
            self.check_json()
            if has_bt2():
                self.check_babeltrace2()
            if self.has_traceevent:
                self.check_traceevent()
        except (AssertionError, subprocess.TimeoutExpired) as error:
            kept = os.path.join(BUILD, "random")
            shutil.rmtree(kept, True)
            shutil.copytree(self.dir, kept)
            raise AssertionError(f"seed {seed}: {error}\n\nCC={CC} SEED={seed} SEEDS=1 python3 tests/run.py "
                                 f"roundtrip/test_random repeats it; what was made is in {kept}") from None

    def run_program(self, program: Program) -> None:
        write(program, self.dir)
        generate(self.dir, self.path("random.tp"))
        build(self.path("random"), self.path("random.c"), os.path.join(HERE, "record_events.c"), include=[self.dir],
              flags=["-O1", "-Wno-conversion", "-Wno-shadow", "-Wno-pedantic"])
        shutil.rmtree(self.path("trace"), True)
        done = run([self.path("random"), self.path("text"), self.path("records")], env={
            **os.environ, "TP_ENABLE": "*", "TP_OUTPUT": f"ctf:{self.path('trace')},{program.options}"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def check_json(self) -> None:
        lines = self.read_by(os.path.join(BUILD, "tp"), "convert", "--to", "json", self.path("trace")).splitlines()
        self.assertEqual(len(lines), len(self.expected["hits"]))
        for number, (line, hit) in enumerate(zip(lines, self.expected["hits"])):
            got = json.loads(line)
            event = self.expected["events"][hit["event"]]
            names: list[str] = []
            for field in event["fields"]:
                before = sum(f["name"] == field["name"] for f in event["fields"][:len(names)])
                names.append(f"{field['name']}_{before + 1}" if before else field["name"])
            if (got["system"], got["event"], list(got["fields"])) != (event["system"], hit["event"], names):
                self.differ(number, "the event", got, event)
            for name, field, data, want in zip(names, event["fields"], hit["bytes"], hit["values"]):
                value, passed = _from_json(field, got["fields"][name]), _in_json(field, want, data)
                if value != passed and (value or passed):  # of an array of nothing, nobody knows what it is of
                    self.differ(number, f"field {field['name']} as JSON", value, passed)

    def check_babeltrace2(self) -> None:
        text = self.read_by(BT2_PYTHON, os.path.join(HERE, "read_trace.py"), self.path("trace"), "--hidden")
        version, *lines = [line for line in text.splitlines() if not line.startswith('{"environment"')]
        old = tuple(int(n) for n in json.loads(version)["bt2"].split(".")[:3]) < (2, 0, 5)
        self.assertEqual(len(lines), len(self.expected["hits"]))
        for number, (line, hit) in enumerate(zip(lines, self.expected["hits"])):
            got = json.loads(line)
            event = self.expected["events"][hit["event"]]
            if got.get("name") != f"{event['system']}:{hit['event']}":
                self.differ(number, "the event", got, event["system"])
            self.check_context(number, got)
            for field, want in zip(event["fields"], hit["values"]):
                self.check_ctf_field(number, event, field, got, want, old)
            self.check_names(number, event, got["fields"])

    def check_context(self, number: int, got: dict) -> None:
        """The one thread's id is the process's."""
        context = got["context"]
        wanted = {"pid": context["tid"], "procname": "random"} if "context=" in self.options else {}
        if {name: context.get(name) for name in wanted} != wanted or not 0 <= context.get("cpu_id", 0) < 1024:
            self.differ(number, "the context", context, wanted)

    def check_ctf_field(self, number: int, event: dict, field: dict, got: dict, want: object, old: bool) -> None:
        name = field["name"]
        before = [f for f in sorted(event["fields"], key=lambda f: f["dynamic"])]
        if any(f["name"] in (name, f"_{name}") for f in before[:before.index(field)]):
            # To babeltrace2 the same name: this one got another.
            names = [n for n in got["fields"] if re.fullmatch(rf"_+{name.lstrip('_')}_field(_\d+)?", n)]
            name = next((n for n in names if _read(got["fields"][n], field) == want), names[-1] if names else name)
        if name not in got["fields"]:
            self.differ(number, f"field {name} is not there", got["fields"], want)
        value = _read(got["fields"][name], field)
        if field["cpus"]:  # the machine's number of them
            value = value[:1] + [v for v in value[1:] if v]
        # babeltrace2's defect, mended in 2.0.5: of an empty text it shows an earlier one.
        if value != want and not (old and field["text"] and want == ""):
            self.differ(number, f"babeltrace2's field {name}", value, want)
        labels = got["labels"].get(name)
        if field["table"]:
            names = {value & (1 << 64) - 1: name for value, name in field["table"]}
            wanted = [names[want & (1 << 64) - 1]] if want & (1 << 64) - 1 in names else []
            if (labels or []) != wanted:  # where no entry's value fits, there is no enumeration
                self.differ(number, f"labels of {name}", labels, wanted)
        elif labels and labels != [self.expected["hits"][number]["flags"].get(field["name"])]:
            # Not all sets of flags need have a label; nor what is in no entry.
            self.differ(number, f"labels of {name}", labels, self.expected["hits"][number]["flags"].get(field["name"]))

    def check_names(self, number: int, event: dict, fields: dict) -> None:
        """What is there beside the fields has an underscore in front, as readers know it for hidden."""
        more = [n for n in fields if not n.startswith("_") and n not in {f["name"] for f in event["fields"]}]
        if more:
            self.differ(number, "names that are no field's", more, [])

    def check_traceevent(self) -> None:
        lines = self.read_by(self.path("read_events"), self.path("records")).splitlines()
        self.assertEqual(len(lines), len(self.expected["hits"]))
        for number, (line, hit) in enumerate(zip(lines, self.expected["hits"])):
            got = json.loads(line)
            event = self.expected["events"][hit["event"]]
            if (got["system"], got["event"]) != (event["system"], hit["event"]):
                self.differ(number, "the event", got["event"], hit["event"])
            if hit["size"] and got["size"] != hit["size"]:
                self.differ(number, "the record's size", got["size"], hit["size"])
            names = [[f["name"] for f in fields] for fields in (got["fields"], event["fields"])]
            if names[0] != names[1]:
                self.differ(number, "the names", *names)
            for field, theirs, data, value in zip(event["fields"], got["fields"], hit["bytes"], hit["values"]):
                self.check_tep_field(number, field, theirs, data, value)
            if hit["readable"] and bytes.fromhex(got["text"]) != bytes.fromhex(hit["text"]):
                self.differ(number, "libtraceevent's text", bytes.fromhex(got["text"]), bytes.fromhex(hit["text"]))

    def check_tep_field(self, number: int, field: dict, theirs: dict, data: str, value: object) -> None:
        for key in ("array", "dynamic", "rel", "signed"):
            want = field[key]
            if key == "signed":
                want = want or field["kind"] == "float"
            elif key == "array":
                want = want and not field["cpus"]  # "cpumask_t name", without brackets, as in the kernel
            if bool(theirs[key]) != bool(want):
                self.differ(number, f"libtraceevent's field {field['name']}: {key}", theirs, want)
        if "bytes" not in theirs:
            return
        got = theirs["bytes"][:len(data)] if field["cpus"] else theirs["bytes"]
        if got != data:
            self.differ(number, f"libtraceevent's field {field['name']}", got, data)
        if field["kind"] in ("int", "pointer") and not field["text"] and not field["cpus"] and "numbers" in theirs:
            want = value if isinstance(value, list) else [value]
            if theirs["numbers"] != want:
                self.differ(number, f"libtraceevent's field {field['name']}", theirs["numbers"], want)

    def check_text(self) -> None:
        with open(self.path("text"), "rb") as file:
            lines = file.read().split(b"\n")[:-1]
        self.assertEqual(len(lines), len(self.expected["hits"]))
        for number, (line, hit) in enumerate(zip(lines, self.expected["hits"])):
            event = self.expected["events"][hit["event"]]
            got = line.split(b" ", 2)[2]
            want = f"{event['system']}:{hit['event']}: ".encode() + _printed(bytes.fromhex(hit["text"]))
            if hit["cut"] and got.endswith(b"...") and len(got) > 60000:
                continue
            if any(field["cpus"] for field in event["fields"]):  # the machine's number of them
                got, want = (re.sub(rb"(00000000,)+", b"", text) for text in (got, want))
            if got != want:
                self.differ(number, "the text", got, want)

    @both
    def test_random(self) -> None:
        count = 0
        for count, seed in enumerate(seeds(self.seconds), 1):
            self.check(seed)
        if self.seconds:
            print(f"random events: seeds {SEED} to {SEED + count - 1}")
        for there, name in ((has_bt2(), "python3-bt2"), (self.has_traceevent, "libtraceevent-dev")):
            if not there:
                self.skipTest(f"{name} is not installed")


def _in_json(field: dict, want: object, data: str) -> object:
    """The field as "tp convert --to json" has it; data: the bytes of the record."""
    if field["text"]:
        assert isinstance(want, str)
        return "".join(rf"\x{ord(c) & 0xff:02x}" if "\udc80" <= c <= "\udcff" else c for c in want)
    if field["kind"] in ("struct", "wide"):
        return data
    if isinstance(want, list):
        return [_number_in_json(field, value) for value in want]
    return _number_in_json(field, want)


def _number_in_json(field: dict, want: object) -> object:
    if field["kind"] == "pointer":
        return f"{want:#x}"
    if field["kind"] == "float":
        number = float(str(want))
        return number if math.isfinite(number) else None
    return want


def _from_json(field: dict, value: object) -> object:
    """As passed: a float of four bytes has no more digits than such a one needs; the machine has more processors than the mask."""
    if isinstance(value, list) and field["cpus"]:
        return value[:1] + [v for v in value[1:] if v]
    if field["kind"] == "struct" and not isinstance(value, str):  # the same, as large as a number
        numbers = value if isinstance(value, list) else [value]
        return b"".join(int(v).to_bytes(field["size"], sys.byteorder, signed=v < 0) for v in numbers).hex()
    if isinstance(value, list):
        return [_from_json(field, v) for v in value]
    if field["kind"] == "pointer" and isinstance(value, int):  # of a type with a name of its own
        return f"{value:#x}"
    if field["kind"] == "float" and field["size"] == 4 and isinstance(value, (int, float)):
        return struct.unpack("f", struct.pack("f", value))[0]
    return float(value) if field["kind"] == "float" and isinstance(value, (int, float)) else value


def _read(value: object, field: dict) -> object:
    """As the generator says what it passed: floats as text."""
    value = _flat(value)
    if field["kind"] != "float":
        return value
    return [repr(v) for v in value] if isinstance(value, list) else repr(value)


def _flat(value: object) -> object:
    """Structures are lists of bytes, and lists of these one list."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [byte for element in value for byte in element["bytes"]]
    return value


def _printed(text: bytes) -> bytes:
    """As the text sink writes it."""
    return printable(text.removesuffix(b"\n").decode(errors="surrogateescape")).encode(errors="surrogateescape")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) < 2000 else f"{text[:1000]} ... {text[-900:]}"


if __name__ == "__main__":
    if "SEED" not in os.environ:
        SEED = int(time.time())  # others than the last time
    Random.seconds = float(os.environ.get("SECONDS") or 60)
    unittest.main()

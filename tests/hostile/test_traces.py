# SPDX-License-Identifier: MIT
"""Hostile traces: tp convert and tp report end, in bounded time and memory, and make what they are to make, or say which file is wrong. Under
AddressSanitizer.

FUZZ=N reads N of them instead of the short form's number, MANY=N so many by all commands, SEED=N begins elsewhere:

    FUZZ=5000 SEED=$RANDOM python3 tests/run.py hostile/test_traces
    MANY=100000 SEED=$RANDOM python3 tests/run.py all hostile/test_traces Traces.test_many
"""

from __future__ import annotations

import functools
import os
import random
import re
import resource
import shutil
import socket
import struct
import subprocess
import tempfile
from collections.abc import Callable

from building import build, generate
from support import BUILD, PACKET_HEAD, ROOT, Case, both, few_or_many, need, note, read, run, temporary

TOOL = os.path.join(BUILD, "asan/tp")
DAT = os.path.join(ROOT, "tests/trace_dat")
READER = os.path.join(BUILD, "asan/reader")
RUNS = few_or_many(25, 150, "FUZZ")
MANY = few_or_many(200, 600, "MANY")
PARTS = 3 if MANY > 10000 else 1  # of so many, each is read by a part of the commands
LEAKS_EACH = 20  # of so many traces, one is looked at for memory that was not freed
SEED = int(os.environ.get("SEED", "1"))
SECONDS = 60  # of the processor, for one trace; a sanitizer makes it slower
MEGABYTES = 1024  # of memory, with what the sanitizer needs of its own

# What a person needs to find the damage: the file, and where in it. A file that can't be opened, or is too short, has no such place.
PLACED = r"(?s)\Atp: .*'[^']*/(metadata|format/[^']*|stream-[^']*)'.*(offsets? \d+|\d+ bytes).*\n\Z"
# The trace is read, but there is nothing in it for this command.
NOTHING_TO_SHOW = r"has no event to show|no event in .* matches"
LIMITS = [0, 1, 7, 8, 63, 64, 65, 511, 512, 513, 4095, 4096, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000,
          0xffffffff, 0x100000000, 2**62, 2**63 - 1, 2**63, 2**64 - 8, 2**64 - 1]
NUMBERS = ["0", "1", "7", "8", "65534", "65535", "65536", "4294967295", "4294967296", "9223372036854775808",
           "18446744073709551615", "18446744073709551616", "-1", "-9223372036854775809", "x", "", "9" * 3000]
WORDS = ["__get_str(", "__get_dynamic_array(", "__print_flags(", "__print_hex_dump(", "__get_rel_dynamic_array_len(", "REC->", "\"",
         "'", "\\", "%", "%*d", "%5$n", "%f", "(", ")", "{", "}", ",", ";", "\n", "\n\nname: ", "\tfield:", "__data_loc ", "__rel_loc ",
         "\0", "\x1b[2J", "\udcff", "print fmt: ", "ID: ", " "]


def data_of(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def put(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


# ---- Packets ----

def change_head(rng: random.Random, data: bytearray) -> None:
    for name in rng.sample(list(PACKET_HEAD), rng.choice((1, 1, 2, 4))):
        size = "=I" if name in ("magic", "stream_id") else "=Q"
        value = rng.choice(LIMITS)
        if rng.random() < 0.3:
            value = struct.unpack_from(size, data, PACKET_HEAD[name])[0] + rng.choice((-64, -8, -1, 1, 8, 64, 4096))
        struct.pack_into(size, data, PACKET_HEAD[name], value % 2 ** (32 if size == "=I" else 64))


def change_words(rng: random.Random, data: bytearray) -> None:
    """Times, headers, words that say where a payload is: they are all at places of some alignment."""
    content = min(struct.unpack_from("=Q", data, PACKET_HEAD["content_size"])[0] // 8, len(data))
    for _ in range(rng.choice((1, 1, 2, 10))):
        size, code = rng.choice(((8, "=Q"), (4, "=I"), (4, "=I"), (2, "=H")))
        at = rng.randrange(64, max(65, content - 8)) // size * size
        value = rng.choice(LIMITS)
        if rng.random() < 0.3 and size == 4:  # a payload's word
            value = rng.choice(LIMITS) % 65536 << 16 | rng.choice(LIMITS) % 65536
        struct.pack_into(code, data, at, value % 2 ** (8 * size))


def cut(rng: random.Random, data: bytearray) -> None:
    del data[rng.choice((0, 1, 63, 64, 65, 72, rng.randrange(len(data)))):]


def splice(rng: random.Random, data: bytearray) -> None:
    begin = rng.randrange(64, len(data)) // 8 * 8
    end = min(len(data), begin + rng.choice((8, 16, 40, 1000)))
    data[begin:end] = data[begin:end] * rng.choice((0, 2, 3))


# ---- Texts ----

def change_text(rng: random.Random, text: str) -> str:
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(text) + 1)
        numbers = list(re.finditer(r"\d+", text))
        lines = text.splitlines(True)
        what = rng.randrange(6)
        if what == 0 and numbers:
            number = rng.choice(numbers)
            text = text[:number.start()] + rng.choice(NUMBERS) + text[number.end():]
        elif what == 1:
            text = text[:at] + rng.choice(WORDS) * rng.choice((1, 1, 2, 1000)) + text[at:]
        elif what == 2 and lines:
            del lines[rng.randrange(len(lines))]
            text = "".join(lines)
        elif what == 3 and lines:
            i = rng.randrange(len(lines))
            text = "".join(lines[:i] + lines[i:i + 1] * rng.choice((2, 3, 5000)) + lines[i + 1:])
        elif what == 4:
            text = text[:at] + text[at + rng.choice((1, 5, 100, 10000)):]
        else:
            text = text[:at] + text[max(0, at - rng.choice((1, 20, 500))):]
    return text


OTHERS = (("convert", "--to", "json"), ("convert", "--to", "perfetto"), ("convert", "--to", "parquet"), ("timeline",),
          ("convert", "--to", "perfetto", "--span", "*/*"))


@functools.cache
def made() -> list[str]:
    """Traces, each of another kind."""
    path = temporary()
    generate(path, os.path.join(DAT, "dat.tp"))
    program = build(os.path.join(path, "dat"), os.path.join(DAT, "dat.c"), include=[path])
    traces = []
    for options in ("", ",context=cpu+pid+name,packet=64K", ",mode=flight,packet=8K,packets=3"):
        traces.append(os.path.join(path, f"trace{len(traces)}"))
        # The largest of its records are longer than such packets: these are lost, which it says.
        done = run([program, "2", "1"], cwd=path, env={**os.environ, "TP_OUTPUT": f"ctf:{traces[-1]}{options}"})
        assert done.returncode == 0, done.stderr
    return traces


@both
class Traces(Case):
    """One trace is made, and damaged in a copy."""

    as_user: list[str] = []  # what makes the tool obey the files' modes
    other = 0

    def setUp(self) -> None:
        super().setUp()
        self.traces = made()
        self.trace, self.dat, self.lines = self.path("copy"), self.path("x.dat"), self.path("lines")

    def copy(self, trace: str) -> list[str]:
        """Makes the copy, and returns its packets."""
        shutil.rmtree(self.trace, True)
        shutil.copytree(trace, self.trace)
        return sorted(name for name in os.listdir(self.trace) if name.startswith("stream-"))

    def export(self, what: str) -> int:
        """Returns 0, or 1 where the trace is refused."""
        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
        env = {**os.environ, "ASAN_OPTIONS": f"hard_rss_limit_mb={MEGABYTES}:detect_leaks=1"}
        def call(*arguments: str) -> int:
            with open(self.lines, "wb") as lines:
                done = subprocess.run([*self.as_user, TOOL, *arguments], stdin=subprocess.DEVNULL, stdout=lines, check=False,
                                      stderr=subprocess.PIPE, preexec_fn=limit, env=env, text=True, errors="surrogateescape")
            self.assertIn(done.returncode, (0, 1), f"{what}: {done.stderr[:5000]}")
            wrong = rf"tp: [^\0-\x1f\x7f]*'{re.escape(self.trace)}(/[^\0-\x1f\x7f]*)?'[^\0-\x1f\x7f]*\n"
            self.assertRegex(done.stderr, rf"\A{wrong if done.returncode else ''}\Z", what)
            return done.returncode

        status = call("convert", "--to", "trace.dat", "-o", self.dat, self.trace)
        self.assertEqual(os.path.exists(self.dat), status == 0, what)
        if not status:
            os.remove(self.dat)
        self.assertFalse([name for name in os.listdir(self.dir) if name.startswith(".")], what)
        # Of one that is refused, once is enough before a commit.
        call("report", "-e", '* if common_pid > 0 || COMM ~ "d*"', self.trace)  # with no formats there is nothing that matches
        for options in ((), ("--fields",), ("--summary",))[:few_or_many(1, 3) if status else 3]:
            self.assertEqual(call("report", *options, self.trace), status, what)
            with open(self.lines, "rb") as lines:
                for line in lines:
                    self.assertNotRegex(line[:-1], rb"[\0-\x1f\x7f]", what)
        # Of the other formats one a trace.
        self.other += 1
        for arguments in (OTHERS[self.other % len(OTHERS):][:1] if few_or_many(1, 0) else OTHERS):
            out = self.path("out")
            made = call(*arguments, "-o", out, self.trace)
            self.assertTrue(made == status or arguments[0] == "timeline", what)  # without events there is no picture
            self.assertEqual(os.path.exists(out), made == 0, what)
            if os.path.isdir(out):
                shutil.rmtree(out)
            elif not made:
                os.remove(out)
            self.assertFalse([name for name in os.listdir(self.dir) if name.startswith((".", "out"))], what)
        return status

    def test_mutations(self) -> None:
        rng = random.Random(SEED)
        refused = 0
        for number in range(RUNS):
            packets = self.copy(rng.choice(self.traces))
            kind: Callable = rng.choice((change_head, change_words, change_words, change_words, cut, splice, change_text))
            if kind is change_text:
                path = os.path.join(self.trace, rng.choice(("metadata", "format/dat", "format/dat")))
                text = change_text(rng, read(path))
                put(path, text.encode("utf-8", "surrogateescape"))
            else:
                path = os.path.join(self.trace, rng.choice(packets))
                data = bytearray(data_of(path))
                kind(rng, data)
                put(path, data)
            refused += self.export(f"SEED={SEED}, mutation {number}: {kind.__name__} of {path}")
        note(f"{RUNS} mutations, {refused} of them refused")
        self.assertTrue(RUNS // 10 < refused < RUNS)

    # ---- By the thousand ----

    def commands(self, out: str) -> list[list[str]]:
        """With each of these, all packets are read; each has its own way to do so, and its own output."""
        return [["report", self.trace], ["report", "--fields", "--utc", "--delta", self.trace], ["report", "--summary", self.trace],
                ["convert", "--to", "trace.dat", "-o", f"{out}.dat", self.trace], ["convert", "--to", "json", "-o", f"{out}.json", self.trace],
                ["convert", "--to", "perfetto", "--span", "*/*", "-o", f"{out}.perfetto", self.trace],
                ["convert", "--to", "parquet", "-o", f"{out}.d", self.trace], ["timeline", "-o", f"{out}.svg", self.trace],
                ["latency", self.trace, "*", "*"]]

    def mutate(self, rng: random.Random, trace: str) -> str:
        """The trace, with other links to its files, but for the one that is damaged."""
        shutil.rmtree(self.trace, True)
        os.makedirs(os.path.join(self.trace, "format"))
        names = ["metadata", *sorted(f"format/{name}" for name in os.listdir(os.path.join(trace, "format"))),
                 *sorted(name for name in os.listdir(trace) if name.startswith("stream-"))]
        kind: Callable = rng.choice((change_head, change_words, change_words, change_words, cut, splice, change_text, change_text))
        damaged = rng.choice([name for name in names if name.startswith("stream-") != (kind is change_text)])
        for name in names:
            if name != damaged:
                os.link(os.path.join(trace, name), os.path.join(self.trace, name))
        path = os.path.join(self.trace, damaged)
        if kind is change_text:
            put(path, change_text(rng, read(os.path.join(trace, damaged))).encode("utf-8", "surrogateescape"))
        else:
            data = bytearray(data_of(os.path.join(trace, damaged)))
            kind(rng, data)
            put(path, data)
        return f"{kind.__name__} of {damaged} of {os.path.basename(trace)}"

    def check_answers(self, reader: subprocess.Popen[bytes], messages: str, commands: list[list[str]], what: str) -> bool:
        """Whether the trace was refused: by all commands, or by none, and for a reason that names a file and a place in it."""
        assert reader.stdout
        refused = []
        for command in commands:
            head = reader.stdout.readline().split()
            if len(head) != 2 or head[0] == b"end":
                self.fail(f"{what}: {command}: {head}\n{read(messages)[:8000]}")
            said = reader.stdout.read(int(head[1])).decode(errors="surrogateescape")
            self.assertIn(head[0], (b"0", b"1"), f"{what}: {command}: {said}")
            self.assertRegex(said, rf"{PLACED}|{NOTHING_TO_SHOW}" if head[0] == b"1" else r"\A\Z", f"{what}: {command}")
            if not re.search(NOTHING_TO_SHOW, said):
                refused.append(head[0] == b"1")
        self.assertEqual(reader.stdout.readline(), b"end 0\n", f"{what}: {read(messages)[:8000]}")
        self.assertEqual(len(set(refused)), 1, f"{what}: {list(zip(commands, refused))}")
        return refused[0]

    def test_many(self) -> None:
        rng = random.Random(SEED)
        here = tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else self.dir)
        self.addCleanup(shutil.rmtree, here, True)
        traces = [shutil.copytree(trace, os.path.join(here, os.path.basename(trace))) for trace in self.traces]
        self.trace, messages, out = os.path.join(here, "copy"), os.path.join(here, "messages"), os.path.join(here, "out")
        all_commands, refused = self.commands(out), 0
        env = {**os.environ, "ASAN_OPTIONS": f"hard_rss_limit_mb={MEGABYTES}:detect_leaks=1:malloc_context_size=2:quarantine_size_mb=16"}
        with subprocess.Popen([READER, messages], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as reader:
            assert reader.stdin
            for number in range(MANY):
                what = f"SEED={SEED}, mutation {number}: {self.mutate(rng, rng.choice(traces))}"
                commands = all_commands[number % PARTS::PARTS]
                line = "\t;\t".join("\t".join(command) for command in commands)
                reader.stdin.write(f"{'!' * (number % LEAKS_EACH == 0)}{line}\n".encode())
                reader.stdin.flush()
                refused += self.check_answers(reader, messages, commands, what)
                left = [name for name in os.listdir(here) if name.startswith((".", "out."))]
                for name in left:
                    path = os.path.join(here, name)
                    (shutil.rmtree if os.path.isdir(path) else os.remove)(path)
            reader.stdin.close()
        note(f"{MANY} mutations, {refused} of them refused")
        self.assertTrue(MANY // 10 < refused < MANY)

    def refuse(self, what: str) -> None:
        self.assertEqual(self.export(what), 1, what)

    def test_what_stands_where_files_are_expected(self) -> None:
        """A pipe's writer is not waited for, no link is followed."""
        def socket_at(path: str) -> None:
            with socket.socket(socket.AF_UNIX) as listening:
                listening.bind(path)

        for name in ("metadata", "format", "format/dat", "stream"):
            for make in (os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path), lambda path: os.symlink("..", path),
                         lambda path: os.symlink(path, path), socket_at):
                packets = self.copy(self.traces[0])
                path = os.path.join(self.trace, packets[0] if name == "stream" else name)
                (shutil.rmtree if name == "format" else os.remove)(path)
                make(path)
                self.refuse(name)
        for name in ("stream-" + "x" * 200, "stream-\n\x1b[2J-0-0", "stream-\udcff-0-0", "stream-"):
            self.copy(self.traces[0])
            put(os.path.join(self.trace, name), b"")
            self.refuse(name)

    def test_unreadable(self) -> None:
        if not os.geteuid():
            need(self, "setpriv")
            self.as_user = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"]
        for name in ("metadata", "format", "format/dat", "stream", ""):
            packets = self.copy(self.traces[0])
            path = os.path.join(self.trace, packets[0] if name == "stream" else name)
            os.chmod(path, 0)
            self.refuse(name)
            os.chmod(path, 0o700)

    def test_huge(self) -> None:
        """Files that are long, but take no room on the disk; and many of them."""
        for name, size in (("metadata", 1 << 40), ("metadata", 200 << 20), ("format/dat", 1 << 40), ("format/dat", 60 << 20)):
            self.copy(self.traces[0])
            os.truncate(os.path.join(self.trace, name), size)
            self.export(f"{name} of {size} bytes")
        packets = self.copy(self.traces[0])
        path = os.path.join(self.trace, packets[0])
        with open(path, "r+b") as file:
            file.truncate(1 << 40)
            file.seek(PACKET_HEAD["content_size"])
            file.write(struct.pack("=Q", 8 << 40))
            file.seek(PACKET_HEAD["packet_size"])
            file.write(struct.pack("=Q", 8 << 40))
        self.refuse("a packet of a terabyte")
        self.copy(self.traces[0])
        for i in range(3000):
            os.link(os.path.join(self.trace, packets[0]), os.path.join(self.trace, f"stream-1-{i}-0"))
        self.export("a packet under many names")
        self.copy(self.traces[0])
        for i in range(500):
            shutil.copy(os.path.join(self.trace, "format/dat"), os.path.join(self.trace, f"format/dat{i}"))
        self.refuse("events of one ID")

    # Formats that take long, one event's or many.
    HEAD = "name: e\nID: %d\nformat:\n"
    FIELD = "\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:0;\n"

    def event(self, number: int, fields: str, text: str) -> str:
        return self.HEAD % number + self.FIELD % ("int common_pid", 4, 4) + fields + f"\nprint fmt: {text}\n\n"

    def test_formats_that_take_long(self) -> None:
        fields = "".join(self.FIELD % (f"__data_loc char[] {'a' * (i + 1)}", 8 + 4 * i, 4) for i in range(200))
        cases = {
            "quotes": self.event(1, "", '"' * 60000),
            "formats": self.event(1, "", '"' + '%d" ,' * 10000),
            "parentheses": self.event(1, "", '"%d", ' + "(" * 60000),
            "helpers": self.event(1, "", '"%d", ' + "__print_hex_dump(" * 3000),
            "helpers in helpers": self.event(1, "", '"%d", ' + "__print_dynamic_array(a, " * 2000 + "1" + ")" * 2000),
            "lengths": self.event(1, fields, '"%d", ' + "__get_rel_dynamic_array_len(a) + " * 1000 + "1"),
            "reals": self.event(1, fields, '"' + "%f" * 120 + '"' + ", REC->a" * 120),
            "conversions": self.event(1, "", '"' + "%*.*f" * 9000 + '"' + ", 1" * 9000),
        }
        for name, text in cases.items():
            self.copy(self.traces[0])
            found = "".join(text.replace("ID: 1\n", f"ID: {60000 + i}\n") for i in range(few_or_many(10, 30)))
            put(os.path.join(self.trace, "format/more"), found.encode())
            self.export(f"{name}: {len(found)} bytes")

    def write_trace(self, event: str, *records: bytes) -> None:
        """Of one event, whose records begin with their fixed part's fields."""
        packets = self.copy(self.traces[0])
        put(os.path.join(self.trace, "format/dat"), event.encode())
        for name in packets[1:]:
            os.remove(os.path.join(self.trace, name))
        path = os.path.join(self.trace, packets[0])
        head = bytearray(data_of(path)[:64])
        content = b""
        for record in records:
            content += b"\0" * (-len(content) % 8) + struct.pack("=QHHi", 2**62, 1, 0, 1) + record
        for name in ("content_size", "packet_size"):
            struct.pack_into("=Q", head, PACKET_HEAD[name], 8 * (64 + len(content)))
        put(path, bytes(head) + content)

    def test_payloads_of_many_events(self) -> None:
        """Each event has all of the format's payloads to be looked at: so they are no more than a record has room for."""
        self.write_trace(self.event(1, self.FIELD % ("__data_loc char[] a", 8, 4) * 300000, '""'), *[struct.pack("=II", 12, 0)] * 40000)
        self.refuse("40000 events")

    def test_payloads_in_one_place(self) -> None:
        """All of a record's payloads together are no more than a record."""
        fields = "".join(self.FIELD % (f"__data_loc u8[] a{i}", 8 + 4 * i, 4) for i in range(1000))
        self.write_trace(self.event(1, fields, '""'), struct.pack("=I", 60000 << 16) * 1000 + b"x" * (60000 - 8 - 4000))
        self.refuse("1000 payloads of the same 60000 bytes")

    def test_largest_records(self) -> None:
        """In which a text of ours has no room."""
        for size in (65440, 65447, 65448, 65449, 65455, 65456, 65519, 65520, 65527):
            self.write_trace(self.event(1, self.FIELD % (f"char a[{size}]", 8, size), '"\u00e9%s%s", REC->a, REC->a'), b"x" * size)
            self.assertEqual(self.export(f"a field of {size} bytes"), 0)

    def test_element_behind_the_field(self) -> None:
        """A size that is no multiple of its elements', and a number that readers are not to take for a negative one."""
        fields = (self.FIELD % ("s64 a[2]", 8, 9)).replace("signed:0", "signed:1")
        self.write_trace(self.event(1, fields, '"%lld", REC->a[0] + 0'), b"\0" * 9)
        self.assertEqual(self.export("9 bytes"), 0)

    def test_many_fields(self) -> None:
        """More than can be compared with each other; and names that a packet has no room for."""
        wrong = "'format/dat': the event 'e' has 50000 fields, and can have 1024 here"
        for number, name, forms, message in ((50000, 9, ("parquet", "perfetto"), wrong),
                                             (1000, 3000, ("perfetto",), "the names of an event's fields are longer than a packet can be")):
            fields = "".join(self.FIELD % (f"u8 {'a' * name}{i}", 8 + i, 1) for i in range(number))
            self.write_trace(self.event(1, fields, '""'), b"\0" * number)
            for form in forms:
                done = run([TOOL, "convert", "--to", form, "-o", self.path("out"), self.trace])
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, rf"\Atp: ('.*/out' can't be written: )?{message}\n\Z")
                self.assertFalse([file for file in os.listdir(self.dir) if file.startswith((".", "out"))])

# SPDX-License-Identifier: MIT
"""Random filters and records: an expression is a tree, which is written as text, and evaluated here in the plainest way."""

from __future__ import annotations

import dataclasses
import math
import random
import re
import struct

NUMBERS = {"s8": (1, True), "u8": (1, False), "s16": (2, True), "u16": (2, False), "s32": (4, True), "u32": (4, False),
           "s64": (8, True), "u64": (8, False), "method": (4, True), "mode": (4, False), "common_pid": (4, True)}
METHODS = {"GET": 1, "POST": 2, "NONE": -1}
MODES = {"R": 1, "W": 2, "X": 4}
REALS = {"real": "<d", "single": "<f"}
NEAR_REALS = (0.0, -0.0, 0.1, 0.5, 1.0, 1.5, 2.0, 3.0, 1e10, 16777217.0, 5e-324, 1e-45, 2.2250738585072014e-308, 1.1754943508222875e-38, 3.4028234663852886e38,
              1.7976931348623157e308, math.inf)
OPERATORS = ("==", "!=", "<", "<=", ">", ">=", "&")
NEAR = (0, 1, 2, 3, 7, 8, 100, 127, 128, 200, 255, 256, 32767, 32768, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1)
WORDS = ("", "a", "ab", "abc", "abcd", "abcdefgh", "b", "bc", "10.0.0.1", "10.0.0.2", "x*y", "[a]", "a\\b", "0", "7a", "!a", "Abc")
GLOBS = ("*", "a*", "*c", "*b*", "?", "??", "a?c*", "[a-c]*", "[!a]*", "10.*.1", "7*", "0?", "x\\*y", "[a", "*[0-9]", "**", "!a*", "!*",
         "\\[a\\]", "[]a]*", "a\\\\b", "*a*b*", "[a-]*", "!", "*.?", "\\!a")


@dataclasses.dataclass
class Record:
    numbers: dict[str, int]
    reals: dict[str, float]
    fixed: bytes
    text: bytes
    cpus: frozenset[int]


def wrap(value: int, size: int, signed: bool) -> int:
    """What a field of this size holds of it."""
    value &= (1 << 8 * size) - 1
    return value - (1 << 8 * size) if signed and value >> 8 * size - 1 else value


def held(value: float, form: str) -> float:
    """What a field of this type holds of it."""
    try:
        return struct.unpack(form, struct.pack(form, value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def random_real(rng: random.Random, form: str) -> float:
    kind = rng.random()
    if kind < 0.7:
        return held(rng.choice(NEAR_REALS) * rng.choice((1, -1)), form)
    if kind < 0.8:
        return math.nan
    return struct.unpack(form, rng.randbytes(struct.calcsize(form)))[0]


def random_record(rng: random.Random) -> Record:
    numbers = {name: wrap(rng.choice(NEAR) * rng.choice((1, -1)), *kind) for name, kind in NUMBERS.items()}
    numbers["method"] = rng.choice((1, 2, -1, 9))
    numbers["mode"] = rng.randrange(8)
    return Record(numbers, {name: random_real(rng, form) for name, form in REALS.items()}, rng.choice(WORDS)[:8].encode(), rng.choice(WORDS).encode(),
                  frozenset(rng.sample(range(100), rng.randrange(4))))


def pack(record: Record, event_format: str) -> bytes:
    """The record's bytes, by the offsets and sizes of its format file."""
    fields = re.findall(r"^\tfield:.*?(\w+)(?:\[\d*\])?;\toffset:(\d+);\tsize:(\d+);", event_format, re.M)
    offsets = {name: (int(offset), int(size)) for name, offset, size in fields}
    data = bytearray(max(sum(place) for place in offsets.values()))
    data[:2] = struct.pack("<H", int(re.findall(r"^ID: (\d+)", event_format, re.M)[0]))
    for name, (size, signed) in NUMBERS.items():
        at = offsets[name][0]
        data[at:at + size] = record.numbers[name].to_bytes(size, "little", signed=signed)
    for name, form in REALS.items():
        struct.pack_into(form, data, offsets[name][0], record.reals[name])
    at, size = offsets["fixed"]
    data[at:at + size] = record.fixed.ljust(size, b"\0")
    at = offsets["text"][0]
    data[at:at + 4] = struct.pack("<I", len(record.text) + 1 << 16 | len(data))
    data += record.text + b"\0"
    data += bytes(-len(data) % 8)
    mask = sum(1 << cpu for cpu in record.cpus).to_bytes(16, "little")
    at = offsets["cpus"][0]
    data[at:at + 4] = struct.pack("<I", len(mask) << 16 | len(data))
    return bytes(data + mask)


# ---- Expressions ----


def glob_to_re(glob: str) -> str:
    out, i = "", 0
    while i < len(glob):
        c = glob[i]
        i += 1
        if c == "*":
            out += ".*"
        elif c == "?":
            out += "."
        elif c == "\\" and i < len(glob):
            out += re.escape(glob[i])
            i += 1
        elif c == "[":
            match = re.match(r"(!?)((?:.-[^\]]|.)(?:[^\]]-[^\]]|[^\]])*)\]", glob[i:], re.S)
            if match:
                inside = re.sub(r"([\\\[\]^&~|])", r"\\\1", match[2])
                inside = inside[:-1] + "\\-" if inside.endswith("-") else inside
                out += f"[{'^' if match[1] else ''}{inside}]"
                i += match.end()
            else:
                out += re.escape(c)
        else:
            out += re.escape(c)
    return out


def compare(op: str, a: int, b: int) -> bool:
    return {"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "&": (a & b) != 0}[op]


class Number:
    def __init__(self, rng: random.Random, common: bool):
        names = ("u8", "u16", "u32", "u64", "mode") if common else tuple(NUMBERS)
        self.name, self.op = rng.choice(names), rng.choice(OPERATORS)
        self.size, self.signed = NUMBERS[self.name]
        value = rng.choice(NEAR)
        if common:
            value &= (1 << 8 * self.size) - 1
        elif self.signed and rng.random() < 0.4:
            value = -min(value, 2**63)
        if self.signed:
            value = min(value, 2**63 - 1)
        self.value = wrap(value, self.size, self.signed)
        forms = [str(value)]
        if not common:
            forms += [f"{'-' if value < 0 else ''}{form}" for form in (f"0x{abs(value):x}", f"0X{abs(value):X}", f"0{abs(value):o}")]
            forms += [f'"{name}"' for name, number in METHODS.items() if self.name == "method" and number == value]
            forms += [f'"{name}"' for name, number in MODES.items() if self.name == "mode" and number == value]
            forms += ["'R|W'", "'W|R'"] if self.name == "mode" and value == 3 else []
        self.literal = rng.choice([form for form in forms if len(form) <= 23] or [str(value)])

    def text(self, rng: random.Random) -> str:
        return f"{self.name}{blank(rng)}{self.op}{blank(rng)}{self.literal}"

    def holds(self, record: Record) -> bool:
        return compare(self.op, record.numbers[self.name], self.value)


class Real:
    def __init__(self, rng: random.Random):
        self.name, self.op = rng.choice(tuple(REALS)), rng.choice([op for op in OPERATORS if op != "&"])
        self.value = random_real(rng, REALS[self.name])
        if math.isnan(self.value):
            self.value = 1.0
        forms = [repr(self.value), f"{self.value:.17e}", f"{self.value:.9e}"]
        if math.isfinite(self.value) and abs(self.value) < 1e15:
            forms += [f"{self.value:.15f}", f"{self.value:.1f}"]
            forms += [f"{self.value:.0f}", f"{self.value:.0f}."] if self.value.is_integer() else []
        if abs(self.value) < 1 and self.value:
            forms += [form.replace("0.", ".", 1) for form in forms if form.lstrip("-").startswith("0.") and form.strip("-0.")]
        self.literal = rng.choice(forms)
        self.value = held(float(self.literal), REALS[self.name])
        if math.isinf(self.value):  # a decimal number that has become too large
            self.literal = repr(self.value)

    def text(self, rng: random.Random) -> str:
        return f"{self.name}{blank(rng)}{self.op}{blank(rng)}{self.literal}"

    def holds(self, record: Record) -> bool:
        has = record.reals[self.name]
        return {"==": has == self.value, "!=": has != self.value, "<": has < self.value, "<=": has <= self.value,
                ">": has > self.value, ">=": has >= self.value}[self.op]


class Text:
    def __init__(self, rng: random.Random, common: bool):
        self.name = rng.choice(("fixed", "text"))
        self.op = rng.choice(("==", "!=") if common else ("==", "!=", "~"))
        words = [word for word in WORDS if word and "\\" not in word] if common else WORDS
        self.value = rng.choice(GLOBS if self.op == "~" else words)
        self.quote = '"' if common else rng.choice("\"'")  # libtraceevent takes 'a' for a number

    def text(self, rng: random.Random) -> str:
        return f"{self.name}{blank(rng)}{self.op}{blank(rng)}{self.quote}{self.value}{self.quote}"

    def holds(self, record: Record) -> bool:
        has = getattr(record, self.name).decode()
        if self.op != "~":
            return (has == self.value) == (self.op == "==")
        inverted = self.value.startswith("!")
        return (re.fullmatch(glob_to_re(self.value[inverted:]), has, re.S) is not None) != inverted


class Cpus:
    def __init__(self, rng: random.Random):
        self.name, self.op = rng.choice(("cpus", "u8", "u32", "s16")), rng.choice(("==", "!=", "&"))
        first = rng.randrange(0, 100)
        last = first + rng.choice((0, 1, 5, 100))
        group = rng.randrange(1, 4)
        used = rng.randrange(1, group + 1)
        self.set = {cpu for cpu in range(first, last + 1) if (cpu - first) % group < used}
        self.list = f"{first}-{last}:{used}/{group}"
        if rng.random() < 0.5:
            other = rng.randrange(0, 300)
            self.set.add(other)
            self.list += f",{other}"

    def text(self, rng: random.Random) -> str:
        return f"{self.name}{blank(rng)}{self.op}{blank(rng)}CPUS{{{self.list}}}"

    def holds(self, record: Record) -> bool:
        has = set(record.cpus) if self.name == "cpus" else {record.numbers[self.name]}
        return {"==": has == self.set, "!=": has != self.set, "&": bool(has & self.set)}[self.op]


@dataclasses.dataclass
class Not:
    part: object
    full: bool  # always with parentheses

    def text(self, rng: random.Random) -> str:
        inner = self.part.text(rng)
        need = self.full or isinstance(self.part, Several)
        return f"!{blank(rng)}({inner})" if need or rng.random() < 0.5 else f"!{blank(rng)}{inner}"

    def holds(self, record: Record) -> bool:
        return not self.part.holds(record)


@dataclasses.dataclass
class Several:
    op: str
    parts: list
    full: bool = False

    def text(self, rng: random.Random) -> str:
        def one(part: object) -> str:
            text = part.text(rng)
            need = self.full or isinstance(part, Several) and (part.op == "||" or self.op == "||")
            return f"({blank(rng)}{text}{blank(rng)})" if need or rng.random() < 0.2 else text
        return f"{blank(rng)}{self.op}{blank(rng)}".join(map(one, self.parts))

    def holds(self, record: Record) -> bool:
        return (all if self.op == "&&" else any)(part.holds(record) for part in self.parts)


class Mixed(Several):
    """a && b || c, without parentheses: "&&" binds closer."""

    def text(self, rng: random.Random) -> str:
        return " || ".join(part.text(rng) for part in self.parts)


def blank(rng: random.Random) -> str:
    return rng.choice(("", " ", " ", "  ", "\t"))


def predicate(rng: random.Random, common: bool) -> object:
    kind = rng.random()
    if kind < 0.2 and not common:
        return Real(rng)
    if kind < 0.6:
        return Number(rng, common)
    return Text(rng, common) if kind < 0.9 or common else Cpus(rng)


def random_expression(rng: random.Random, common: bool = False, depth: int = 3) -> object:
    """common: as libtraceevent reads it, too, for which "&&" and "||" bind alike, and which knows no "!" before a field."""
    kind = rng.random()
    if depth == 0 or kind < 0.3:
        return predicate(rng, common)
    if kind < 0.45:
        return Not(random_expression(rng, common, depth - 1), common)
    if kind < 0.55 and not common:
        return Mixed("||", [Several("&&", [predicate(rng, common) for _ in range(rng.randrange(1, 3))]) for _ in range(2)])
    parts = [random_expression(rng, common, depth - 1) for _ in range(2 if common else rng.randrange(2, 4))]
    return Several(rng.choice(("&&", "||")), parts, common)

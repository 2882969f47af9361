# SPDX-License-Identifier: MIT
"""What random_events.py makes: a program's events, their fields and values, and how values print, as C does it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from random_values import Type

# Lengths of arrays that are no plain number.
LENGTHS = {5: "SEVEN - 2", 7: "SEVEN", 8: "sizeof(uint64_t)", 16: "TWICE(SEVEN + 1)"}


# ---- The model ----

@dataclass
class Field:
    macro: str  # without the underscores in front, and without rel_
    rel: bool
    type: Type
    name: str
    length: int = 0  # of an __array
    source: str = ""  # where TP_fast_assign finds it, in C
    count: str = ""  # and the number of its elements, bytes or bits
    table: list[tuple[int, str]] | None = None  # of __print_symbolic
    flags: bool = False  # there is a __print_flags of it
    by_value: bool = False  # the source is no address

    @property
    def dynamic(self) -> bool:
        return self.macro not in ("field", "field_struct", "field_ext", "field_struct_ext", "array")

    @property
    def is_text(self) -> bool:
        return self.macro in ("string", "string_len", "vstring") or self.type.is_char and "array" in self.macro

    def declaration(self) -> str:
        parts = {
            "field": f"{self.type.text}, {self.name}", "field_struct": f"{self.type.text}, {self.name}",
            "field_ext": f"{self.type.text}, {self.name}, FILTER_OTHER",
            "field_struct_ext": f"{self.type.text}, {self.name}, FILTER_OTHER",
            "array": f"{self.type.text}, {self.name}, {LENGTHS.get(self.length, self.length)}",
            "dynamic_array": f"{self.type.text}, {self.name}, {self.count}",
            "string": f"{self.name}, {self.source}", "string_len": f"{self.name}, {self.source}, {self.count}",
            "vstring": f"{self.name}, fmt, va", "bitmask": f"{self.name}, {self.count}", "cpumask": self.name,
            "sockaddr": f"{self.name}, {self.count}",
        }
        return f"__{'rel_' if self.rel else ''}{self.macro}({parts[self.macro]})"

    def helper(self, name: str) -> str:
        """__get_NAME(field), or __get_rel_NAME."""
        return f"__get_{'rel_' if self.rel else ''}{name}({self.name})"

    def assignment(self, rng: random.Random) -> str:
        rel = "rel_" if self.rel else ""
        if self.by_value:
            return f"__entry->{self.name} = {self.source};"
        if self.macro == "dynamic_array":
            return f"memcpy({self.helper('dynamic_array')}, {self.source}, {self.helper('dynamic_array_len')});"
        if not self.dynamic:
            at = "" if self.macro == "array" else "&"
            return f"memcpy({at}__entry->{self.name}, {self.source}, sizeof(__entry->{self.name}));"
        if self.macro == "string":
            old = f", {self.source}" if rng.random() < 0.3 else ""  # as kernels before 6.10 want it
            return f"__assign_{rel}str({self.name}{old});"
        if self.macro == "string_len":
            old = f"str_len({self.name}, {self.source}, {self.count})" if rng.random() < 0.3 else f"str({self.name})"
            return f"__assign_{rel}{old};"
        if self.macro == "vstring":
            return f"__assign_vstr({self.name}, fmt, va);"
        if self.macro == "cpumask":
            return f"__assign_{rel}cpumask({self.name}, {self.source});"
        return f"__assign_{rel}{self.macro}({self.name}, {self.source}, {self.count});"


@dataclass
class Value:
    """What a field holds in one record."""
    plain: object = None  # a number, or a list of them
    data: bytes = b""  # its bytes in the record; a payload's


Record = dict[int, Value]  # by the index of the field


@dataclass
class Argument:
    """One conversion of a TP_printk, and the text in front of it."""
    front: str
    conversion: str
    code: str  # C
    render: Callable[[Record], bytes]
    readable: Callable[[Record], bool]  # libtraceevent prints it so, too
    flags_of: str = ""  # a field: its bits' names


@dataclass
class Class:
    name: str
    fields: list[Field] = field(default_factory=list)
    parameters: list[tuple[str, str]] = field(default_factory=list)  # declaration, name
    by_structure: bool = False
    texts: dict[str, list[Argument]] = field(default_factory=dict)  # of the event; "" is the class's own

    @property
    def has_vstring(self) -> bool:
        return any(f.macro == "vstring" for f in self.fields)

    @property
    def names_are_unique(self) -> bool:
        return len({f.name for f in self.fields}) == len(self.fields)


@dataclass
class Event:
    name: str
    system: str
    event_class: Class
    text: str = ""  # the definition

    @property
    def arguments(self) -> list[Argument]:
        return self.event_class.texts.get(self.name, self.event_class.texts[""])


@dataclass
class Program:
    seed: int
    options: str  # of the trace
    tp: str
    c: str
    expected: dict  # "events" by their names, "hits" in their order


# ---- Printing, as C does ----

def c_integer(conversion: str, value: int, bits: int) -> bytes:
    flags, letter = re.match(r"%([-+#0-9]*)[a-z]*([a-zA-Z])$", conversion).groups()
    value &= (1 << bits) - 1
    if letter in "di":
        value -= value >> bits - 1 << bits
    elif letter == "u":
        letter = "d"
    if value == 0:
        flags = flags.replace("#", "")
    return f"%{flags}{letter}".__mod__(value).encode()


def c_float(conversion: str, value: float) -> bytes:
    return (conversion % value).encode()


def c_string(conversion: str, text: bytes) -> bytes:
    return conversion.encode() % text.split(b"\0")[0]


def symbolic(value: int, table: list[tuple[int, str]]) -> bytes:
    word = value & (1 << 64) - 1
    for mask, name in table:
        if mask & (1 << 64) - 1 == word:
            return name.encode()
    return b"0x%x" % word


def flag_names(value: int, delimiter: str, table: list[tuple[int, str]]) -> bytes:
    word, names = value & (1 << 64) - 1, []
    for mask, name in table:
        if word & mask == mask and mask:
            names.append(name.encode())
            word &= ~mask
    if word:
        names.append(b"0x%x" % word)
    return delimiter.encode().join(names)


def bitmap(data: bytes) -> bytes:
    words = [int.from_bytes(data[at:at + 4], "little") for at in range(0, len(data), 4)]
    return b",".join(b"%08x" % w for w in reversed(words))

# SPDX-License-Identifier: MIT
"""Types of fields for random_events.py, random values of them, and how C writes and stores these."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Type:
    text: str  # in the .tp file
    kind: str  # int, float, pointer, struct, or wide: an integer of 16 bytes, which is only bytes to readers
    size: int
    align: int
    signed: bool = False
    is_char: bool = False  # an array of it is text
    length: str = ""  # of a conversion that prints it
    cast: str = ""  # where it is printed
    code: str = ""  # what the struct module calls it
    members: tuple[str, ...] = ()  # of a structure: their codes
    enumerators: tuple[int, ...] = ()


# The declarations of all that is used below, for the .tp file.
PRELUDE = """\
#include <linux/types.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

#define SEVEN 7
#define TWICE(n) (2 * (n))

typedef int32_t s32;
typedef uint64_t u64;
typedef uint16_t own_u16;
typedef signed char own_tiny;
typedef double own_double;
typedef void (*own_function)(int);

enum color { RED, GREEN = 7, BLUE = -2, DEEP = -2147483647 - 1 };
enum level { LOW, HIGH = 4000000000u };

struct point { int x; int y; };
struct odd { uint8_t a; uint16_t b; } __attribute__((packed));
struct holes { char c; long l; short s; };
struct tiny { uint8_t a; };
struct nothing { };
struct nested { struct point at; uint8_t t[3]; };
union both { uint32_t u; float f; };
"""


def _int(text: str, size: int, signed: bool, length: str = "", cast: str = "", is_char: bool = False,
         enumerators: tuple[int, ...] = ()) -> Type:
    code = {1: "b", 2: "h", 4: "i", 8: "q"}[size]
    return Type(text, "int", size, size, signed, is_char, length, cast, code if signed else code.upper(),
                enumerators=enumerators)


_LL, _ULL = {"length": "ll", "cast": "(long long)"}, {"length": "ll", "cast": "(unsigned long long)"}
BOOL = Type("bool", "int", 1, 1, code="?")
CHAR = _int("char", 1, True, is_char=True)
ENUMS = [_int("enum color", 4, True, enumerators=(0, 7, -2, -2**31)),
         _int("enum level", 4, False, enumerators=(0, 4000000000))]
INTS = [
    BOOL, CHAR, *ENUMS, _int("signed char", 1, True), _int("unsigned char", 1, False),
    _int("short", 2, True), _int("short int", 2, True), _int("unsigned short", 2, False),
    _int("int", 4, True), _int("unsigned int", 4, False), _int("unsigned", 4, False),
    _int("long", 8, True, "l"), _int("unsigned long", 8, False, "l"), _int("long long", 8, True, "ll"),
    _int("unsigned long long", 8, False, "ll"), _int("long int", 8, True, "l"),
    _int("int8_t", 1, True), _int("uint8_t", 1, False), _int("int16_t", 2, True), _int("uint16_t", 2, False),
    _int("int32_t", 4, True), _int("uint32_t", 4, False), _int("int64_t", 8, True, **_LL),
    _int("uint64_t", 8, False, **_ULL), _int("size_t", 8, False, "z"), _int("ssize_t", 8, True, "z"),
    _int("ptrdiff_t", 8, True, **_LL), _int("uintptr_t", 8, False, **_ULL), _int("pid_t", 4, True),
    _int("__u8", 1, False), _int("__s8", 1, True), _int("__u16", 2, False), _int("__s16", 2, True),
    _int("__u32", 4, False), _int("__s32", 4, True), _int("__u64", 8, False, **_ULL), _int("__s64", 8, True, **_LL),
    _int("s32", 4, True), _int("u64", 8, False, **_ULL), _int("own_u16", 2, False), _int("own_tiny", 1, True),
]
FLOATS = [Type("float", "float", 4, 4, True, code="f"), Type("double", "float", 8, 8, True, code="d"),
          Type("own_double", "float", 8, 8, True, code="d")]
POINTERS = [Type(text, "pointer", 8, 8, code="Q", cast="(const void *)")
            for text in ("void *", "const void *", "struct point *", "const int *", "void **")]
POINTERS.append(Type("own_function", "pointer", 8, 8, code="Q", cast="(void *)"))
# members: the codes, "x" for the paddings of C.
STRUCTS = [
    Type("struct point", "struct", 8, 4, members=("i", "i")), Type("struct odd", "struct", 3, 1, members=("B", "H")),
    Type("struct holes", "struct", 24, 8, members=("b", "7x", "q", "h", "6x")),
    Type("struct tiny", "struct", 1, 1, members=("B",)),
    Type("struct nested", "struct", 12, 4, members=("i", "i", "B", "B", "B", "x")),
    Type("union both", "struct", 4, 4, members=("I",)), Type("struct nothing", "struct", 0, 1),
]
WIDE = [Type("__int128", "wide", 16, 16, True), Type("unsigned __int128", "wide", 16, 16)]
BY_NAME = {one.text: one for one in INTS + FLOATS + POINTERS + STRUCTS + WIDE}


# ---- Random values: ints, floats, and tuples of ints for structures ----

def _int_of(rng: random.Random, bits: int, signed: bool) -> int:
    low, high = (-1 << bits - 1, (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if rng.random() < 0.5:
        return rng.choice([low, high, 0, 1, low + 1, high - 1, high // 2])
    value = rng.getrandbits(rng.randint(1, bits - signed))
    return -value if signed and rng.random() < 0.5 else value


def _float_of(rng: random.Random, single: bool) -> float:
    kind = rng.randrange(6)
    if kind == 0:
        return rng.choice([0.0, -0.0, 1.0, -1.5, math.inf, -math.inf, math.nan])
    if kind == 1:  # denormal, smallest and largest
        if single:
            return rng.choice([2.0**-149, -2.0**-149 * 12345, 2.0**-126, (2 - 2.0**-23) * 2.0**127])
        return rng.choice([5e-324, -5e-324 * 98765, 2.2250738585072014e-308, 1.7976931348623157e308])
    value = math.ldexp(rng.getrandbits(24 if single else 53), rng.randint(-60, 60))
    return -value if rng.random() < 0.5 else value


def value_of(rng: random.Random, one: Type):
    if one.text == "bool":
        return rng.randrange(2)
    if one.enumerators and rng.random() < 0.6:
        return rng.choice(one.enumerators)
    if one.kind == "float":
        return _float_of(rng, one.size == 4)
    if one.kind == "struct":
        return tuple(_int_of(rng, 8 * struct.calcsize(m), m.islower()) for m in one.members if "x" not in m)
    return _int_of(rng, 8 * one.size, one.signed)


# ---- In memory ----

def bytes_of(one: Type, value) -> bytes:
    if one.kind == "struct":
        members = iter(value)
        return b"".join(struct.pack(f"<{m}", *() if "x" in m else (next(members),)) for m in one.members)
    if one.kind == "wide":
        return value.to_bytes(16, "little", signed=one.signed)
    return struct.pack(f"<{one.code}", value)


# ---- In C ----

def literal(one: Type, value) -> str:
    """The value as C writes it, for an initialiser or an argument of that type."""
    if one.kind == "struct":
        if one.text == "struct nested":
            return "{{ {{ {}, {} }}, {{ {}, {}, {} }} }}".format(*map(integer, value))
        return "{ " + ", ".join(integer(v) for v in value) + " }"
    if one.kind == "float":
        suffix = "f" if one.size == 4 else ""
        if math.isnan(value):
            return f'__builtin_nan{suffix}("")'
        if math.isinf(value):
            return f"{'-' if value < 0 else ''}__builtin_inf{suffix}()"
        return value.hex() + suffix
    if one.kind == "pointer":
        return f"({one.text})0x{value:x}ul"
    if one.kind == "wide":
        high, low = (value >> 64) & (1 << 64) - 1, value & (1 << 64) - 1
        return f"({one.text})((unsigned __int128){integer(high)} << 64 | {integer(low)})"
    if one.text == "bool":
        return "true" if value else "false"
    return f"(enum {one.text[5:]}){integer(value)}" if one.enumerators else integer(value)


def integer(value: int) -> str:
    if value < 0:
        return f"({value + 1}ll - 1)" if value < -2**31 + 1 else f"({value})"
    return f"{value}{'' if value < 2**31 else 'll' if value < 2**63 else 'ull'}"


def quoted(text: bytes) -> str:
    """A string literal; long ones on several lines."""
    def escaped(piece: bytes) -> str:
        return "".join(chr(c) if 32 <= c < 127 and c not in b'"\\?' else f"\\{c:03o}" for c in piece)
    return " ".join(f'"{escaped(text[at:at + 400])}"' for at in range(0, max(len(text), 1), 400))


# ---- Texts ----

_ALPHABETS: Sequence[str] = (
    "abcdefghijklmnopqrstuvwxyzABCXYZ0123456789", " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
    "äöüßéñøþ", "Жукдй", "漢字仮名", "😀🚀🎉", "e\u0301\u200d\ufeff\u2028", "\n\t\r\x01\x1b\x7f\x80\x9f")


def text_of(rng: random.Random, most: int) -> bytes:
    """Text without NUL, of at most so many bytes: the last character may be cut."""
    length = rng.choice([0, 0, 1, 2, 3, 7, 8, rng.randint(4, 30), rng.randint(10, 100), most])
    alphabets = rng.choices(_ALPHABETS, [6, 2, 1, 1, 1, 1, 1, 1], k=3)
    out = bytearray()
    while len(out) < min(length, most):
        out += rng.choice(rng.choice(alphabets)).encode()
    return bytes(out[:min(length, most)])

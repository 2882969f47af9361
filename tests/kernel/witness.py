# SPDX-License-Identifier: MIT
"""What the kernel itself says of a trace header: its own macros make the tables that its format files are printed
from (see witness.h), the compiler makes an object of them as of any file of the kernel, and here they are read.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field

from kernel.elf import Object, Place
from kernel.tree import Tree
from support import run

HERE = os.path.dirname(os.path.abspath(__file__))
FLAGS = ["-nostdinc", "-std=gnu11", "-O1", "-w", "-fno-common", "-ffreestanding", "-fno-strict-aliasing", "-fno-pic",
         '-DKBUILD_MODNAME="witness"', "-DMODULE"]
MACHINE = {"x86": ["-mcmodel=kernel", "-mno-sse", "-mno-red-zone"], "arm64": ["-mgeneral-regs-only"]}
# What is there already when the kernel creates the tracepoints of a header; and private types of some.
PRELUDE = ("linux/trace_events.h", os.path.join(HERE, "private.h"))
# Names of TRACE_DEFINE_ENUM without a value here: the header declares them behind it, and the kernel reads it twice.
UNEVALUATED: set[str] = set()
_UNDECLARED = re.compile(r"error: \S(\w+)\S undeclared here")
_WHERE = re.compile(r"/trace/events/(\w[\w-]*\.h):\d+:\d+: (?:fatal )?error:")


@dataclass
class Event:
    """As in a format file: ("char comm[16]", offset, size, signed) and the print format."""

    system: str
    fields: list[tuple[str, int, int, int]] = field(default_factory=list)
    print_fmt: str = ""


def compiler(tree: Tree) -> list[str]:
    """The kernel's compiler. Not $CC: the configuration was made for gcc."""
    return ["gcc", *FLAGS, *MACHINE.get(tree.arch, []), *char_flags(tree)]


def char_flags(tree: Tree) -> list[str]:
    """Since 6.2 the kernel is built with this on all machines."""
    return [] if tree.series == "6.1" else ["-funsigned-char"]


def ask(tree: Tree, headers: list[str], directory: str) -> dict[str, Event]:
    """The events of those of the headers whose field types are all known."""
    source = os.path.join(directory, "witness.c")
    names = [os.path.basename(h) for h in headers]
    unknown: set[str] = set()
    while names:
        with open(source, "w", encoding="utf-8") as file:
            includes = dict.fromkeys(path for name in names for path in tree.includes(name))
            file.write("".join(f"#include \"{name}\"\n" for name in [*PRELUDE, *includes])
                       + "".join(f"#define WITNESS_NO_{name} 1\n" for name in sorted(unknown))
                       + '#include "witness.h"\n' + "".join(f"#include <trace/events/{n}>\n" for n in names))
        done = run([*compiler(tree), "-DCREATE_TRACE_POINTS",
                    "-I", os.path.join(HERE, "instead"), *tree.full, "-I", HERE,
                    "-c", "-o", source[:-2] + ".o", source])
        if not done.returncode:
            return _events(Object(source[:-2] + ".o"))
        now = set(_UNDECLARED.findall(done.stderr)) - unknown
        unknown |= now
        UNEVALUATED.update(now)
        bad = set(_WHERE.findall(done.stderr))
        # What is undeclared may be a value alone, and the header be good without.
        if not now:
            if not bad & set(names):
                raise RuntimeError(done.stderr[:3000])
            names = [n for n in names if n not in bad]
    return {}


def _events(obj: Object) -> dict[str, Event]:
    layout = _layout(obj)
    values = _values(obj)
    found: dict[str, Event] = {}
    for symbol, place in obj.symbols.items():
        if symbol.startswith("witness_event_"):
            system, name, fields, print_fmt = (obj.pointer(place + n) for n in range(0, 32, 8))
            assert system and name and fields and print_fmt
            event = Event(obj.text(system))
            event.fields = _fields(obj, fields, layout)
            event.print_fmt = _replace(values.get(event.system, {}), obj.text(print_fmt))
            found[obj.text(name)] = event
    return found


def _layout(obj: Object) -> tuple[int, int, int, int]:
    """Of the kernel's rows: the size, where the name stands, where the three numbers begin, and an array's length."""
    row = obj.symbols["witness_layout"]
    pointers = [n for n in range(0, 256, 4) if obj.pointer(row + n)]
    numbers, length = (next(n for n in range(0, 64, 4) if obj.read(row + n, "I")[0] == mark)
                       for mark in (0x11111111, 0x22222222))
    return pointers[2], pointers[1], numbers, length


def _fields(obj: Object, at: Place, layout: tuple[int, int, int, int]) -> list[tuple[str, int, int, int]]:
    """What trace_define_field() reckons and f_show() prints of a table."""
    stride, name_at, numbers_at, length_at = layout
    fields = []
    end = 8
    while type_at := obj.pointer(at):
        name_place = obj.pointer(at + name_at)
        assert name_place
        size, align, signed = obj.read(at + numbers_at, "3i")
        offset = (end + align - 1) // align * align
        end = offset + size
        type_text, name = obj.text(type_at), obj.text(name_place)
        length, = obj.read(at + length_at, "i")
        element, bracket, _ = type_text.partition("[")
        if type_text.startswith("__data_loc") or not bracket:
            decl = f"{type_text} {name}"
        else:
            decl = f"{element} {name}[{length or ''}]"
        fields.append((decl, offset, size, signed & 1))
        at = at + stride
    return fields


def _values(obj: Object) -> dict[str, dict[str, int]]:
    """TRACE_DEFINE_ENUM and TRACE_DEFINE_SIZEOF, by system."""
    values: dict[str, dict[str, int]] = {}
    for symbol, place in obj.symbols.items():
        if symbol.startswith("witness_value_"):
            system, text = obj.pointer(place), obj.pointer(place + 8)
            assert system and text
            values.setdefault(obj.text(system), {})[obj.text(text)] = obj.read(place + 16, "q")[0]
    return values


def _replace(values: dict[str, int], text: str) -> str:
    """Names outside of literals, and not those of members, by their values."""
    sizes = "".join(re.escape(v) + "|" for v in values if v.startswith("sizeof"))
    return re.sub(rf'"(?:\\.|[^"\\])*"|(?:->|\.)\s*\w+|{sizes}\w+',
                  lambda m: str(values.get(m[0], m[0])), text, flags=re.S)

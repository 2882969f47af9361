# SPDX-License-Identifier: MIT
"""A prelude for bpftrace: the records as structures of C's own types, each member where $CC has it.

bpftrace compiles for another machine, and knows none of the program's headers.
So nothing is left to its rules: what stands elsewhere than C's alignment puts
it has padding in front of it that is written down, or is bytes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence

from tpgen.backends.output import Ask, Output
from tpgen.layout import HEADER, HEADER_ALIGN, HEADER_SIZE, WORD, aligned, lay_out
from tpgen.model import Answers, Eval, EventClass, Field, Layout, Print, Symbols, Unit

_INTEGERS = {1: "char", 2: "short", 4: "int", 8: "long long"}
_FLOATS = {4: "float", 8: "double"}
_POINTER = 8  # bytes of one in bpftrace

_NUMBER = re.compile(r"([0-9]+|0[xX][0-9a-fA-F]+)[uUlL]*")
_NAME = re.compile(r"[A-Za-z_]\w*")

# Columns of a comment.
_WIDTH = 90


def outputs(units: Sequence[Unit], ask: Ask) -> Iterator[Output]:
    """One prelude for each file that has events."""
    for unit in units:
        answers = ask(unit, [f for c in unit.classes for f in c.fields], _evals(unit)) if unit.classes else None
        if answers:
            yield Output(unit, os.path.splitext(os.path.basename(unit.path))[0] + ".bt.h", "bpftrace/prelude.h.j2", {
                "path": unit.path, "header": HEADER, "classes": [view for c in unit.classes if (view := _class(c, unit, answers))],
                "values": _values(unit, answers)})


def _evals(unit: Unit) -> list[Eval]:
    """What has a value: the names of TRACE_DEFINE_ENUM, and what tables name."""
    named = {e.text: e for e in unit.evals}
    for print_ in _prints(unit):
        for value in (value for symbols in print_.symbols for value in symbols.values(unit.path)):
            if not _NUMBER.fullmatch(value.text):
                named.setdefault(value.text, value)
    return list(named.values())


def _prints(unit: Unit) -> Iterator[Print]:
    yield from (c.print for c in unit.classes)
    yield from (t.print for t in unit.tracepoints if t.print)


def _values(unit: Unit, answers: Answers) -> list[tuple[str, int]]:
    """The constants that have a name, but not that of C's own."""
    return [(name, value) for name, value in answers.values.items() if _NAME.fullmatch(name)]


def _class(event_class: EventClass, unit: Unit, answers: Answers) -> Mapping[str, object] | None:
    layouts = answers.of(event_class.fields)
    if layouts is None:
        return None
    users = [t for t in unit.tracepoints if t.event_class is event_class]
    prints = [event_class.print, *(t.print for t in users if t.print)]
    tables = [symbols for print_ in prints for symbols in print_.symbols]
    about = [f"{t.system}:{t.name}" for t in users] or [f"{event_class.name}: the class of no event"]
    return {"record": event_class.record,
            "comment": [line for texts in (about, *(_shown(s, answers) for s in tables if not s.field))
                        for line in _lines(texts)],
            "members": list(_members(event_class.fields, layouts, tables, answers))}


def _members(fields: Sequence[Field], layouts: Sequence[Layout], tables: Sequence[Symbols],
             answers: Answers) -> Iterator[Mapping[str, object]]:
    names = {f.member for f in fields}
    end = HEADER_SIZE
    for field, layout, (free, offset, end) in zip(fields, layouts, lay_out((one.size, one.align) for one in layouts)):
        yield from _padding(names, free, offset)
        if field.dynamic:
            yield {"declaration": f"unsigned int {field.member}", "note": "", "comment": [_location(field, offset)]}
        else:
            names_of = [_shown(s, answers) for s in tables if s.field == field.name]
            declaration, note = _declared(field, layout, offset)
            yield {"declaration": declaration, "note": note,
                   "comment": [line for texts in names_of for line in _lines(texts)]}
    yield from _padding(names, end, aligned(end, max([HEADER_ALIGN, *(one.align for one in layouts)])))


def _padding(names: set[str], begin: int, end: int) -> Iterator[Mapping[str, object]]:
    if begin != end:
        name = f"__pad_{begin}"
        while name in names:
            name = "_" + name
        yield {"declaration": f"unsigned char {name}[{end - begin}]", "note": "", "comment": []}


def _location(field: Field, offset: int) -> str:
    """How to get at a payload."""
    word = f"$e->{field.member}"
    place = f"(uint8 *)$e + {f'{offset + WORD} + ' if field.rel else ''}({word} & 0xffff)"
    return f"str({place})" if field.kind.name == "string" else f"{field.type}: {word} >> 16 bytes at {place}"


def _declared(field: Field, layout: Layout, offset: int) -> tuple[str, str]:
    """The member, and what its type is in the program where that says more."""
    length = f"[{layout.size // layout.element}]" if field.kind.counted and layout.element else ""
    type_ = _scalar(field, layout)
    natural = layout.align >= layout.element and offset % (layout.element or 1) == 0
    if not type_ or not natural:
        return f"unsigned char {field.name}[{layout.size}]", field.type
    return f"{type_} {field.name}{length}".replace("* ", "*"), "" if type_ == field.type else field.type


def _scalar(field: Field, layout: Layout) -> str:
    """The type of an element as bpftrace has it; "" where it has none."""
    size = layout.element
    if layout.type_class == "pointer" and size == _POINTER:
        return "char *" if re.fullmatch(r"(?:const )?char \*", field.c_type) else "void *"
    if layout.type_class == "float":
        return _FLOATS.get(size, "")
    if layout.type_class == "other" or size not in _INTEGERS:
        return ""
    if re.fullmatch(r"(?:const )?char", field.c_type):
        return "char"  # an array of it is a text
    if size == 1 and layout.signed:
        return "signed char"
    return ("" if layout.signed else "unsigned ") + _INTEGERS[size]


def _shown(symbols: Symbols, answers: Answers) -> list[str]:
    """The entries of a table, for people."""
    return [f"{_value(value, answers)} {name}" for _, value, name in symbols.entries]


def _value(value: str, answers: Answers) -> str:
    number = _NUMBER.fullmatch(value)
    if number:
        return number[1]
    known = answers.values.get(value)
    if known is None:
        return value
    return f"{value} ({known})" if _NAME.fullmatch(value) else str(known)


def _lines(texts: Sequence[str]) -> Iterator[str]:
    """Lines of a comment, which no text ends."""
    line = ""
    for text in texts:
        text = text.replace("*/", "* /").replace("/*", "/ *")
        if line and len(line) + len(text) > _WIDTH:
            yield line + ","
            line = text
        else:
            line += (", " if line else "") + text
    yield line

# SPDX-License-Identifier: MIT
"""Rules on a record's size and layout, as it is on LP64 machines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tpgen.check.scope import Record, constant
from tpgen.ctype import CType, KNOWN
from tpgen.lexer import lex
from tpgen.model import Field

# A record, with its header, in bytes; the runtime's TP_RECORD_MAX.
MAX_RECORD = 65528
_HEADER = 8
_WORD = 4  # of a dynamic field


@dataclass(frozen=True, slots=True)
class _Place:
    field: Field
    size: int
    align: int


def check_layout(record: Record) -> None:
    places = [_place(record, field) for field in record.event_class.fields]
    _too_long(record, [p for p in places if p])
    if record.diag.remarks:
        for field in record.event_class.fields:
            if field.dynamic and field.kind.counted:
                _unbounded(record, field)
        if None not in places:
            _padding(record, [p for p in places if p])
        _misaligned(record)


def _place(record: Record, field: Field) -> _Place | None:
    """The field's member of the record; None where only the C compiler knows its size."""
    if field.dynamic:
        return _Place(field, _WORD, _WORD)
    size = _bytes(record.types[field.member])
    length = _length(record, field) if field.kind.counted else 1
    return _Place(field, size * length, size) if size and length is not None else None


def _bytes(of: CType | None) -> int | None:
    """The size of a type, which is its alignment, too."""
    if not of or of.kind == "other":
        return None
    return 4 if of.kind == "float" and "float" in of.text else of.bits // 8


def _length(record: Record, field: Field) -> int | None:
    return constant(lex(field.code[0].text, record.text.source.path)) if field.code else None


def _too_long(record: Record, places: Iterable[_Place]) -> None:
    """Records that never fit."""
    for field in record.event_class.fields:
        length = _length(record, field) if field.kind.counted else None
        size = (length or 0) * (_bytes(record.types[field.member]) or 1)
        if size > MAX_RECORD - _HEADER:
            record.diag.error(field.span, "TP025", f"'{field.name}' has {size} bytes; a record holds at most "
                              f"{MAX_RECORD} with its header")
            return
    size = sum(p.size for p in places) + _HEADER
    if size > MAX_RECORD:
        record.diag.error(record.text.span(record.decl.name), "TP025", f"the record of '{record.event_class.name}' has "
                          f"at least {size} bytes; it holds at most {MAX_RECORD}")


def _unbounded(record: Record, field: Field) -> None:
    """A count of a type that can exceed what a record holds."""
    tokens = lex(field.code[0].text, record.text.source.path)
    param = next((p for p in record.event_class.params if [p.name] == [t.text for t in tokens]), None)
    of = KNOWN.get(param.type) or _INTS.get(param.canonical) if param else None
    if not param or not of or ((1 << of.bits) - 1) * (_bytes(record.types[field.member]) or 1) <= MAX_RECORD - _HEADER:
        return
    record.diag.remark(field.span, "TP026", f"'{field.name}' has as many elements as '{param.name}' says, which is of "
                       f"type {of.text}: a record that is longer than {MAX_RECORD} bytes is lost")


_INTS = {name: CType("int", bits, True, name) for name, bits in (
    ("char", 8), ("short", 16), ("unsigned short", 16), ("int", 32), ("unsigned int", 32), ("long", 64),
    ("unsigned long", 64), ("long long", 64), ("unsigned long long", 64))}


def _padding(record: Record, places: Sequence[_Place]) -> None:
    """Bytes between fields that another order would not need."""
    length, holes = _laid_out(places)
    better = sorted(places, key=lambda p: -p.align)
    saved = length - _laid_out(better)[0]
    if saved > 0:
        names = ", ".join(f"'{p.field.name}'" for p, _ in holes)
        record.diag.remark(holes[0][0].field.span, "TP027", f"{_count(sum(n for _, n in holes))} of padding in front "
                           f"of {names}; in the order {', '.join(p.field.name for p in better)} the record is "
                           f"{_count(saved)} shorter")


def _count(number: int) -> str:
    return f"{number} byte{'' if number == 1 else 's'}"


def _laid_out(places: Sequence[_Place]) -> tuple[int, list[tuple[_Place, int]]]:
    """The length of the record's fixed part, and the fields with padding in front of them."""
    at = _HEADER
    holes: list[tuple[_Place, int]] = []
    for place in places:
        hole = -at % place.align
        if hole:
            holes.append((place, hole))
        at += hole + place.size
    return at + (0 if any(p.field.dynamic for p in places) else -at % max((p.align for p in places), default=1)), holes


def _misaligned(record: Record) -> None:
    """Payloads stand in the fields' order: behind a string, any address can be that of the next."""
    odd: tuple[Field, int] | None = None  # that with the smallest elements so far
    for field in record.event_class.fields:
        size = _bytes(record.types[field.member]) or 1
        if not field.dynamic:
            continue
        if odd and size > odd[1] and field.kind.counted:
            record.diag.remark(field.span, "TP028", f"the {size}-byte elements of '{field.name}' stand behind "
                               f"'{odd[0].name}', whose end may be anywhere: the kernel misaligns them, and here up to "
                               f"{_count(size - odd[1])} are lost; declare '{field.name}' in front of '{odd[0].name}'")
        if not odd or size < odd[1]:
            odd = field, size

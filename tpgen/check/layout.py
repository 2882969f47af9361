# SPDX-License-Identifier: MIT
"""Rules on a record's size and layout, as it is on LP64 machines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tpgen.check.scope import Record, constant
from tpgen.ctype import CType, KNOWN
from tpgen.layout import HEADER_SIZE, RECORD_MAX, WORD, aligned, lay_out
from tpgen.lexer import lex
from tpgen.model import Field


@dataclass(frozen=True, slots=True)
class _Member:
    field: Field
    size: int
    align: int


def check_layout(record: Record) -> None:
    members = [_member(record, field) for field in record.event_class.fields]
    _too_long(record, [m for m in members if m])
    if record.diag.remarks:
        for field in record.event_class.fields:
            if field.dynamic and field.kind.counted:
                _unbounded(record, field)
        if None not in members:
            _padding(record, [m for m in members if m])
        _misaligned(record)


def _member(record: Record, field: Field) -> _Member | None:
    """The field's member of the record; None where only the C compiler knows its size."""
    if field.dynamic:
        return _Member(field, WORD, WORD)
    size = _bytes(record.types[field.member])
    length = _length(record, field) if field.kind.counted else 1
    return _Member(field, size * length, size) if size and length is not None else None


def _bytes(of: CType | None) -> int | None:
    """The size of a type, which is its alignment, too."""
    if not of or of.kind == "other":
        return None
    return 4 if of.kind == "float" and "float" in of.text else of.bits // 8


def _length(record: Record, field: Field) -> int | None:
    return constant(lex(field.code[0].text, record.text.source.path)) if field.code else None


def _too_long(record: Record, members: Iterable[_Member]) -> None:
    """Records that never fit."""
    for field in record.event_class.fields:
        length = _length(record, field) if field.kind.counted else None
        if length is not None and length >> 63:
            record.diag.error(field.span, "TP025", f"'{field.name}' has a negative length, {length - (1 << 64)}")
            return
        size = (length or 0) * (_bytes(record.types[field.member]) or 1)
        if size > RECORD_MAX - HEADER_SIZE:
            record.diag.error(field.span, "TP025", f"'{field.name}' has {size} bytes; a record holds at most "
                              f"{RECORD_MAX} with its header")
            return
    size = sum(m.size for m in members) + HEADER_SIZE
    if size > RECORD_MAX:
        record.diag.error(record.text.span(record.decl.name), "TP025", f"the record of '{record.event_class.name}' has "
                          f"at least {size} bytes; it holds at most {RECORD_MAX}")


def _unbounded(record: Record, field: Field) -> None:
    """A count of a type that can exceed what a record holds."""
    tokens = lex(field.code[0].text, record.text.source.path)
    param = next((p for p in record.event_class.params if [p.name] == [t.text for t in tokens]), None)
    of = KNOWN.get(param.type) or _INTS.get(param.canonical) if param else None
    size = _bytes(record.types[field.member]) or 1
    if not param or not of or ((1 << of.bits) - 1) * size <= RECORD_MAX - HEADER_SIZE:
        return
    record.diag.remark(field.span, "TP026", f"'{field.name}' has as many elements as '{param.name}' says, which is of "
                       f"type {of.text}: a record that is longer than {RECORD_MAX} bytes is lost")


_INTS = {name: CType("int", bits, True, name) for name, bits in (
    ("char", 8), ("short", 16), ("unsigned short", 16), ("int", 32), ("unsigned int", 32), ("long", 64),
    ("unsigned long", 64), ("long long", 64), ("unsigned long long", 64))}


def _padding(record: Record, members: Sequence[_Member]) -> None:
    """Bytes between fields that another order would not need."""
    length, holes = _laid_out(members)
    better = sorted(members, key=lambda m: -m.align)
    saved = length - _laid_out(better)[0]
    if saved > 0:
        names = ", ".join(f"'{m.field.name}'" for m, _ in holes)
        record.diag.remark(holes[0][0].field.span, "TP027", f"{_count(sum(n for _, n in holes))} of padding before "
                           f"{names}; in the order {', '.join(m.field.name for m in better)} the record is "
                           f"{_count(saved)} shorter")


def _count(number: int) -> str:
    return f"{number} byte{'' if number == 1 else 's'}"


def _laid_out(members: Sequence[_Member]) -> tuple[int, list[tuple[_Member, int]]]:
    """The length of the record's fixed part, and the fields with padding in front of them."""
    laid_out = list(lay_out((m.size, m.align) for m in members))
    end = laid_out[-1].end if laid_out else HEADER_SIZE
    if not any(m.field.dynamic for m in members):
        end = aligned(end, max((m.align for m in members), default=1))
    return end, [(m, at.offset - at.free) for m, at in zip(members, laid_out) if at.offset > at.free]


def _misaligned(record: Record) -> None:
    """Payloads stand in the fields' order: behind a string, any address can be that of the next."""
    odd: tuple[Field, int] | None = None  # that with the smallest elements so far
    for field in record.event_class.fields:
        size = _bytes(record.types[field.member]) or 1
        if not field.dynamic:
            continue
        if odd and size > odd[1] and field.kind.counted:
            record.diag.remark(field.span, "TP028", f"the {size}-byte elements of '{field.name}' stand after "
                               f"'{odd[0].name}', whose end may be anywhere: the kernel misaligns them, and here up to "
                               f"{_count(size - odd[1])} are lost; declare '{field.name}' before '{odd[0].name}'")
        if not odd or size < odd[1]:
            odd = field, size

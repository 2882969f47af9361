# SPDX-License-Identifier: MIT
"""Rules on the tables of __print_flags and __print_symbolic: entries that are never printed, names that stand twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tpgen.check.scope import Record, code_of, constant
from tpgen.diag import Note
from tpgen.lexer import Token, spell
from tpgen.printk import TABLE_HELPERS, table_calls
from tpgen.tokens import Part, split

# With so many entries in front, masks are compared each with each; a word has 64 bits.
_MAX_COMPARED = 256


@dataclass(frozen=True, slots=True)
class _Entry:
    """One { value, "name" }."""

    value: int | None  # if it is known
    text: str          # its expression
    name: str
    at: Token
    end: Token


def check_tables(record: Record, part: Part, seen: set[str]) -> None:
    """All tables of one TP_printk; seen are those that were checked already: a macro makes many the same."""
    for token, every, _ in table_calls(code_of(part)):
        first = TABLE_HELPERS[token.text]
        if not _well_formed(record, token, every, first):
            continue
        arguments = every[first:]
        entries = [made for argument in arguments if (made := _entry(argument.tokens))]
        key = token.text + "".join(f"{{{e.text},{e.name}}}" for e in entries)
        if key not in seen:
            seen.add(key)
            _table(record, entries, "flags" in token.text)


def _well_formed(record: Record, helper: Token, arguments: Sequence[Part], first: int) -> bool:
    """Whether what stands for entries may be some: { value, "name" }, or a macro of an included header."""
    for number, argument in enumerate(arguments):
        begins = argument.tokens[0] if argument.tokens else None
        if not begins or number < first and begins.text != "{":
            continue
        if number < first:
            what = "a delimiter is missing in front of the table" if first == 2 and number == 1 else "a value belongs here"
        elif begins.text == "{" and not _entry(argument.tokens) or begins.kind in ("num", "str", "chr"):
            what = 'an entry is written { value, "name" }'
        else:
            continue
        record.diag.error(record.text.span(argument.at, argument.end), "TP066", f"{helper.text}: {what}")
        return False
    return True


def _entry(tokens: Sequence[Token]) -> _Entry | None:
    if len(tokens) < 5 or tokens[0].text != "{" or tokens[-1].text != "}":
        return None
    parts = [p.tokens for p in split(tokens[1:-1], tokens[0], tokens[-1])]
    if len(parts) < 2 or not parts[0]:
        return None
    return _Entry(constant(parts[0]), spell(parts[0]), spell(parts[1]), tokens[0], tokens[-1])


def _table(record: Record, entries: Sequence[_Entry], flags: bool) -> None:
    values: dict[int | str, _Entry] = {}
    names: dict[str, _Entry] = {}
    for entry in entries:
        key: int | str = entry.text if entry.value is None else entry.value
        same = values.get(key)
        part = _contained(entry, values) if flags and not same else None
        if same:
            _say(record, entry, same, "TP080", f"{entry.name} is never printed: {same.name}, in front of it, has the "
                 f"same {'mask' if flags else 'value'}")
        elif part:
            _say(record, entry, part, "TP080", f"{entry.name} is never printed: {part.name}, in front of it, takes "
                 "bits of its mask")
        elif flags and entry.value == 0:
            _say(record, entry, None, "TP080", f"{entry.name} has no bit: it is printed where others are "
                 "left, and never for 0")
        elif flags and entry.name in names:
            _say(record, entry, names[entry.name], "TP081", f"two entries of the table are called {entry.name}")
        values.setdefault(key, entry)
        names.setdefault(entry.name, entry)


def _contained(entry: _Entry, values: dict[int | str, _Entry]) -> _Entry | None:
    """An entry in front whose bits are all in this one's mask: where that matches, they are done already."""
    if entry.value is None or len(values) > _MAX_COMPARED:
        return None
    return next((e for e in values.values() if e.value and e.value & entry.value == e.value), None)


def _say(record: Record, entry: _Entry, other: _Entry | None, code: str, message: str) -> None:
    span = record.text.span(entry.at, entry.end)
    where = record.text.span(other.at, other.end) if other else span
    record.diag.warning(span, code, message, [Note(where, "it is here")] if where != span else [])

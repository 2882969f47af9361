# SPDX-License-Identifier: MIT
"""Rules on the tables of __print_flags and __print_symbolic: entries that are never printed, names that stand twice."""

from __future__ import annotations

from collections.abc import Sequence

from tpgen.check.scope import Record, constant
from tpgen.diag import Note
from tpgen.printk import Entry, Printk, TableCall

# With so many entries in front, masks are compared each with each; a word has 64 bits.
_MAX_COMPARED = 256


def check_tables(record: Record, printk: Printk, seen: set[str]) -> None:
    """All tables of one TP_printk; seen are those that were checked already: a macro makes many the same."""
    for call in printk.tables:
        if not _well_formed(record, call):
            continue
        entries = [e for e in call.entries if e]
        key = call.helper.text + "".join(f"{{{e.value},{e.name}}}" for e in entries)
        if key not in seen:
            seen.add(key)
            _table(record, entries, "flags" in call.helper.text)


def _well_formed(record: Record, call: TableCall) -> bool:
    """Whether what stands for entries may be some: { value, "name" }, or a macro of an included header."""
    first = call.first
    for number, argument in enumerate(call.arguments):
        begins = argument.tokens[0] if argument.tokens else None
        if not begins or number < first and begins.text != "{":
            continue
        if number < first:
            what = "a delimiter is missing before the table" if first == 2 and number == 1 else "a value belongs here"
        elif begins.text == "{" and not call.entries[number - first] or begins.kind in ("num", "str", "chr"):
            what = 'an entry is written { value, "name" }'
        else:
            continue
        record.diag.error(record.text.span(argument.at, argument.end), "TP066", f"{call.helper.text}: {what}")
        return False
    return True


def _table(record: Record, entries: Sequence[Entry], flags: bool) -> None:
    values: dict[int | str, Entry] = {}
    names: dict[str, Entry] = {}
    end: Entry | None = None
    for entry in entries:
        if end:
            _say(record, entry, end, "TP080", f"{entry.name or 'this'} is never printed: the table ends before it")
            return
        if not entry.tokens:
            end = entry
            continue
        number = constant(entry.tokens)
        key: int | str = entry.value if number is None else number
        same = values.get(key)
        part = _contained(number, values) if flags and not same else None
        if same:
            _say(record, entry, same, "TP080", f"{entry.name} is never printed: {same.name}, before it, has the "
                 f"same {'mask' if flags else 'value'}")
        elif part:
            _say(record, entry, part, "TP080", f"{entry.name} is never printed: {part.name}, before it, takes "
                 "bits of its mask")
        elif flags and number == 0:
            _say(record, entry, None, "TP080", f"{entry.name} has no bit: it is printed where others are "
                 "left, and never for 0")
        elif flags and entry.name in names:
            _say(record, entry, names[entry.name], "TP081", f"two entries of the table are called {entry.name}")
        values.setdefault(key, entry)
        names.setdefault(entry.name, entry)


def _contained(mask: int | None, values: dict[int | str, Entry]) -> Entry | None:
    """An entry in front whose bits are all in this one's mask: where that matches, they are done already."""
    if mask is None or len(values) > _MAX_COMPARED:
        return None
    return next((e for value, e in values.items() if isinstance(value, int) and value and value & mask == value), None)


def _say(record: Record, entry: Entry, other: Entry | None, code: str, message: str) -> None:
    span = record.text.span(entry.at, entry.end)
    where = record.text.span(other.at, other.end) if other else span
    record.diag.warning(span, code, message, [Note(where, "it is here")] if where != span else [])

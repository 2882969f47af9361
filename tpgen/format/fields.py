# SPDX-License-Identifier: MIT
"""TP_STRUCT__entry: a field a line, in columns if most fields are."""

from __future__ import annotations

from collections.abc import Iterator

from tpgen.format.lists import write_list
from tpgen.format.writer import TAB, Writer, most, stop, tabs, width
from tpgen.kinds import FIELD_MACROS
from tpgen.tokens import matching

_MARGIN = 2 * TAB


def write_fields(writer: Writer, begin: int, end: int) -> None:
    calls = dict(_calls(writer, begin, end))
    lines = _columns(writer, [first for first, last in calls.items() if _is_plain(writer, first, last)], calls)
    index = begin
    behind_field = False
    while index < end:
        last = calls.get(index, index)
        if writer.breaks(index) or writer.must_break(index) or behind_field and writer.tokens[index].kind == "id" or index == begin:
            behind_field = False
            if writer.tokens[index].kind != "dir":
                writer.begin(_MARGIN, index > begin and writer.breaks(index) > 1)
        else:
            writer.put(writer.space(index) or " " * writer.is_aside(index))
        if index in lines:
            writer.put(lines[index])
        else:
            writer.token(index)
            if last > index:
                writer.put("(")
                write_list(writer, index + 2, last, False)
                if writer.must_break(last):
                    writer.begin(_MARGIN)
                writer.put(")")
        behind_field = behind_field or last > index
        index = last + 1


def _calls(writer: Writer, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """The indexes of the name and of the closing bracket of each call that stands in no other."""
    index = begin
    while index < end - 1:
        if writer.tokens[index].kind == "id" and writer.punct(index + 1, "("):
            last = matching(writer.tokens, index + 1)
            yield index, last
            index = last
        index += 1


def _is_plain(writer: Writer, first: int, last: int) -> bool:
    """Whether it is a field in one line, but for where lines do not break at its brackets, and has no empty argument."""
    return writer.tokens[first].text in FIELD_MACROS and not any(writer.is_aside(index) for index in range(first + 2, last)) and \
        not any(writer.breaks(index) for index in range(first + 3, last)) and \
        all(begin < end for begin, end in writer.items(first + 2, last))


def _columns(writer: Writer, fields: list[int], calls: dict[int, int]) -> dict[int, str]:
    """The text of each field. If a tab is behind most brackets, or behind most commas, all have tabs there up to the same
    column; so it is in front of the closing bracket, if there are such columns at all."""
    items = {first: writer.items(first + 2, calls[first]) for first in fields}
    opened = most(writer.has_tab(first + 2) for first in fields)
    parted = opened or most(writer.has_tab(begin) for first in fields for begin, _ in items[first][1:])
    closed = parted and most(writer.has_tab(calls[first]) for first in fields)
    lines = {first: writer.words[first] + "(" for first in fields}
    for number in range(max(map(len, items.values()), default=0)):
        here = [first for first in fields if number < len(items[first])]
        if parted if number else opened:
            _align(lines, here)
        for first in here:
            begin, end = items[first][number]
            lines[first] += " " * (number > 0 and not parted) + _spelled(writer, begin, end) + "," * (end < calls[first])
    if closed:
        _align(lines, fields)
    return {first: line + ")" for first, line in lines.items()}


def _align(lines: dict[int, str], here: list[int]) -> None:
    widths = {first: width(lines[first], _MARGIN) for first in here}
    at = stop(widths.values())
    for first in here:
        lines[first] += tabs(widths[first], at)


def _spelled(writer: Writer, begin: int, end: int) -> str:
    return "".join(" " * (index > begin and writer.gaps[index] != "") + writer.words[index] for index in range(begin, end))

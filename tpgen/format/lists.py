# SPDX-License-Identifier: MIT
"""Parameters and arguments: lines that the author breaks, aligned with the bracket around."""

from __future__ import annotations

from itertools import groupby

from tpgen.format.writer import TAB, Writer
from tpgen.tokens import CLOSING

# The kernel's coding style: lines of 80 columns are preferred, those of more than 100 are too long.
_PREFERRED, _LIMIT = 80, 100


def write_list(writer: Writer, begin: int, end: int, stringified: bool) -> None:
    """The tokens of a list without its brackets, from the writer's column on. Each line that is too long is broken at commas.

    If stringified, the C preprocessor makes a text of the list, to which each blank matters: none is added or removed.
    """
    mark, column = writer.mark(), writer.column
    broken: set[int] = set()
    while more := _too_long(*_write(writer, begin, end, stringified, broken), column) - broken:
        broken |= more
        writer.back(mark)


def _write(writer: Writer, begin: int, end: int, stringified: bool,
           broken: set[int]) -> tuple[list[tuple[int, int, int]], dict[int, int]]:
    """Each item in the middle of a line: its token, its line and its column; and the width of each line."""
    margins = [writer.column]  # of lines in each bracket
    items: list[tuple[int, int, int]] = []
    widths: dict[int, int] = {}
    for index in range(begin, end):
        if writer.punct(index, ")]}"):
            margins.pop()
        if index > begin and (writer.breaks(index) or index in broken or writer.must_break(index)):
            if writer.tokens[index].kind != "dir":
                writer.begin(margins[-1], writer.breaks(index) > 1)
        elif index > begin:
            space = writer.space(index)
            if not stringified and len(margins) == 1 and not writer.is_aside(index):
                space = "" if writer.punct(index, ",") else space or " " * writer.punct(index - 1, ",")
            writer.put(space)
            if space and len(margins) == 1 and writer.punct(index - 1, ","):
                items.append((index, writer.line, writer.column))
        writer.token(index)
        if writer.punct(index, CLOSING):
            margins.append(margins[-1] + TAB if writer.breaks(index + 1) else writer.column)
        widths[writer.line] = writer.column
    widths[writer.line] = writer.column + len("),")
    return items, widths


def _too_long(items: list[tuple[int, int, int]], widths: dict[int, int], column: int) -> set[int]:
    """The items that begin a line of their own, so that lines are filled up to the preferred width."""
    broken: set[int] = set()
    for line, here in groupby(items, lambda item: item[1]):
        if widths[line] <= _LIMIT:
            continue
        starts = [(index, at) for index, _, at in here]
        moved = 0
        for (index, at), behind in zip(starts, [*(at - 1 for _, at in starts[1:]), widths[line]]):
            if behind - moved > _PREFERRED:
                broken.add(index)
                moved = at - column
    return broken

# SPDX-License-Identifier: MIT
"""An event: its parts, with a blank line between them."""

from __future__ import annotations

from collections.abc import Sequence

from tpgen.format.fields import write_fields
from tpgen.format.lists import write_list
from tpgen.format.statements import write_statements
from tpgen.format.writer import TAB, Foreign, Writer
from tpgen.lexer import Token
from tpgen.parser import FORMS, PART_WORDS, WORDS
from tpgen.tokens import matching

# The declarations with a record.
EVENTS = frozenset(macro for macro, form in FORMS.items() if "struct" in form)

# MACRO ( name ,
_BEHIND_NAME = 4


def layout(text: str, tokens: Sequence[Token]) -> str | None:
    """The text of an event, whose tokens go from its macro to its closing bracket; None if it is not written as events are."""
    try:
        writer = Writer(text, tokens)
        _write_event(writer)
    except Foreign:
        return None
    return writer.text()


def _write_event(writer: Writer) -> None:
    form = FORMS[writer.tokens[0].text]
    end = len(writer.tokens) - 1
    parts = writer.items(2, end)
    if len(parts) != len(form):
        raise Foreign
    writer.put(writer.words[0] + "(")
    for role, (begin, behind) in zip(form, parts):
        _write_part(writer, role, begin, behind)
        if behind < end:
            _close(writer, behind)
    writer.begin(0)
    writer.put(")")


def _write_part(writer: Writer, role: str, begin: int, end: int) -> None:
    """A part with the comments and directives around it."""
    inside = [index for index in range(begin, end) if not writer.is_aside(index)]
    if not inside or role == "name" and inside != [begin]:
        raise Foreign
    first, last = inside[0], inside[-1]
    new = role not in ("name", "unreg")  # a blank line is to come
    for index in range(begin, first):
        if writer.breaks(index) or writer.must_break(index):
            new = _begin(writer, index, new)
        else:
            writer.put(writer.space(index) or " ")
        writer.token(index)
    if role == "unreg" and not writer.breaks(first) and first == begin:
        writer.put(" ")
    elif role != "name":
        _begin(writer, first, new)
    _write_core(writer, role, first, last)
    for index in range(last + 1, end):
        if writer.tokens[index].kind != "dir":
            if writer.breaks(index):
                writer.begin(TAB)
            else:
                writer.put(writer.space(index))
        writer.token(index)


def _begin(writer: Writer, index: int, new: bool) -> bool:
    """A line for a part, or for what is in front of it. Whether a blank line is still to come: it does not come twice, and
    behind the event's name it is the author's choice."""
    if writer.tokens[index].kind != "dir":
        breaks = writer.breaks(index)
        writer.begin(TAB, breaks > 1 or new and not (index == _BEHIND_NAME and breaks))
    return False


def _write_core(writer: Writer, role: str, first: int, last: int) -> None:
    if role not in WORDS:
        write_list(writer, first, last + 1, False)
        return
    # Position decides what a part is, not its word.
    if writer.tokens[first].text not in PART_WORDS or not writer.punct(first + 1, "(") or matching(writer.tokens, first + 1) != last:
        raise Foreign
    writer.put(writer.words[first] + "(")
    begin = first + 2
    if begin == last:
        writer.put(")")
    elif role in ("struct", "assign"):
        (write_fields if role == "struct" else write_statements)(writer, begin, last)
        writer.begin(TAB)
        writer.put(")")
    else:
        _write_lines(writer, begin, last, role in ("print", "cond"), role == "print")


def _write_lines(writer: Writer, begin: int, last: int, stringified: bool, is_print: bool) -> None:
    """Arguments and the bracket behind them. The author may break the line at the brackets, but a format is in the first line."""
    if writer.breaks(begin) and not is_print and writer.tokens[begin].kind != "dir":
        writer.begin(2 * TAB)
    write_list(writer, begin, last, stringified)
    if writer.breaks(last) and not (writer.breaks(begin) and is_print) and not writer.must_break(last):
        writer.begin(TAB)
    _close(writer, last)


def _close(writer: Writer, index: int) -> None:
    """A comma or a bracket at the end of a line."""
    if writer.must_break(index):
        writer.begin(TAB)
    writer.put(writer.words[index])

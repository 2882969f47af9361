# SPDX-License-Identifier: MIT
"""TP_fast_assign: lines of C, indented as the kernel does it. Where lines break is left to the author."""

from __future__ import annotations

from tpgen.format.writer import TAB, Writer, most, stop, tabs
from tpgen.tokens import CLOSING, matching

_CONTROL = ("if", "for", "while", "switch")


def write_statements(writer: Writer, begin: int, end: int) -> None:
    mark = writer.mark()
    assigned = _Statements(writer, {}).write(begin, end)
    writer.back(mark)
    # In front of most there is a tab: all are aligned.
    at = stop(assigned.values()) if most(writer.has_tab(index) for index in assigned) else 0
    _Statements(writer, {index: tabs(column, at) or " " for index, column in assigned.items()}).write(begin, end)


class _Statements:
    def __init__(self, writer: Writer, spaces: dict[int, str]):
        self._writer = writer
        self._spaces = spaces            # in front of the = of assignments
        self._margins: list[int] = []    # of lines in each bracket that is open
        self._blocks: list[tuple[int, list[str]]] = []  # for each brace around: the depth and the heads outside
        self._depth = 2                  # in tabs
        self._heads: list[str] = []      # each if, else, for ... whose statement is to come
        self._ended: list[str] = []      # those of the statement in front
        self._condition = 0              # the bracket that closes a head's condition
        self._fresh = True               # the next token begins a statement
        self._is_field = False           # the statement begins with __entry
        self._is_assigned = False        # a = was in it
        self._is_label = False           # it begins with case or default

    def write(self, begin: int, end: int) -> dict[int, int]:
        """The = of each assignment to a field, and its column without white space in front."""
        writer = self._writer
        assigned: dict[int, int] = {}
        for index in range(begin, end):
            if writer.is_aside(index):
                self._aside(index, index == begin)
                continue
            self._before(index)
            if index == begin or writer.breaks(index) or writer.must_break(index) or \
                    self._fresh and writer.punct(index - 1, ";") and not self._blocks:
                writer.begin(self._margin(index), index > begin and writer.breaks(index) > 1)
            elif writer.punct(index, "=") and self._is_field and not self._is_assigned and not self._margins:
                assigned[index] = writer.column
                writer.put(self._spaces.get(index, " "))
            elif not writer.punct(index, ",;"):
                writer.put(writer.space(index) or " " * (writer.punct(index - 1, ",") or index - 1 in assigned))
            writer.token(index)
            self._after(index)
        return assigned

    def _aside(self, index: int, first: bool) -> None:
        writer = self._writer
        if writer.tokens[index].kind != "dir":
            if first or writer.breaks(index) or writer.must_break(index):
                writer.begin(self._margin(index), not first and writer.breaks(index) > 1)
            else:
                writer.put(writer.space(index))
        writer.token(index)

    def _before(self, index: int) -> None:
        writer = self._writer
        text = writer.tokens[index].text
        if writer.punct(index, ")]}") and self._margins:
            self._margins.pop()
        elif writer.punct(index, "}") and self._blocks:
            self._depth, self._heads = self._blocks.pop()
            self._fresh = False
        elif writer.breaks(index) and not self._margins and not self._fresh and (
                writer.punct(index - 1, ",") or writer.punct(index - 1, ")") and writer.tokens[index].kind == "id"):
            self._begin_statement()  # after a macro's call without a semicolon
        if not self._fresh or self._margins:
            return
        if text == "else":
            while self._ended and self._ended.pop() != "if":
                pass
            self._heads = self._ended
        self._ended = []
        self._is_field = text == "__entry"
        self._is_label = text in ("case", "default")

    def _margin(self, index: int) -> int:
        """Where a line begins."""
        writer = self._writer
        if self._margins:
            return self._margins[-1]
        depth = self._depth + len(self._heads)
        if writer.punct(index, "{}])"):
            return TAB * (depth - bool(self._heads))
        if self._fresh or writer.is_aside(index) and self._writer.punct(index - 1, ";{}:"):
            return TAB * (depth - (self._is_label and not writer.is_aside(index)))
        return TAB * (depth + 1)

    def _after(self, index: int) -> None:
        writer = self._writer
        text = writer.tokens[index].text
        if writer.punct(index, "{") and not self._margins and not self._is_assigned:
            self._blocks.append((self._depth, self._heads))
            self._depth += max(1, len(self._heads))
            self._heads = []
            self._begin_statement()
        elif writer.punct(index, CLOSING):
            outer = self._margins[-1] if self._margins else writer.margin
            self._margins.append(outer + TAB if writer.breaks(index + 1) else writer.column)
            self._fresh = False
        elif self._margins:
            pass
        elif writer.punct(index, ";}"):
            self._ended, self._heads = (self._heads if text == ";" else [*self._heads[:-1], "if"]), []
            self._begin_statement()
        elif index == self._condition or self._is_label and text == ":":
            self._begin_statement()
        elif self._fresh and (text in ("else", "do") or text in _CONTROL or "for_each" in text):
            self._head(index, text)
        else:
            self._is_assigned = self._is_assigned or text == "="
            self._fresh = False

    def _head(self, index: int, text: str) -> None:
        """Behind a word for which a statement follows; behind a condition, if there is one."""
        if self._heads[-1:] == ["else"] and text == "if":
            self._heads.pop()
        self._heads.append(text)
        if text not in ("else", "do"):
            self._condition = matching(self._writer.tokens, index + 1)
            self._fresh = False

    def _begin_statement(self) -> None:
        self._fresh = True
        self._is_assigned = self._is_field = self._is_label = False

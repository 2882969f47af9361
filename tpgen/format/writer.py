# SPDX-License-Identifier: MIT
"""The tokens of an event with the white space between them, and the lines that are made of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tpgen.lexer import Token
from tpgen.tokens import CLOSING, matching

TAB = 8

# Lines begin no further to the right: it bounds what a hostile input can cost.
_FAR = 50 * TAB


class Foreign(Exception):
    """The event is not written as events are, and is left alone."""


def indent(column: int) -> str:
    return "\t" * (column // TAB) + " " * (column % TAB)


def width(text: str, column: int = 0) -> int:
    """The column behind text that begins at column."""
    rest = column % TAB
    return column - rest + len((" " * rest + text).expandtabs(TAB))


def stop(columns: Iterable[int]) -> int:
    """The tab stop behind all of them."""
    return (max(columns, default=0) // TAB + 1) * TAB


def tabs(column: int, to: int) -> str:
    """What leads from a column to a tab stop."""
    return "\t" * ((to - column + TAB - 1) // TAB)


def most(answers: Iterable[bool]) -> bool:
    """Whether more than half are true."""
    said = list(answers)
    return 2 * sum(said) > len(said)


class Writer:
    """Reads an event's tokens, by their indexes, and writes them."""

    def __init__(self, text: str, tokens: Sequence[Token]):
        self.tokens = tokens
        self.words = [text[token.start:token.end] for token in tokens]
        self.gaps = ["", *(text[a.end:b.start] for a, b in zip(tokens, tokens[1:]))]
        if any(gap.strip(" \t\n") for gap in self.gaps) or any("\\\n" in w for w, t in zip(self.words, tokens) if t.kind == "id"):
            raise Foreign
        self._out: list[str] = []
        self.line = 0       # of so many that are finished
        self.column = 0     # behind what is in the line
        self.margin = 0     # the column at which the line begins

    # ---- Reading ----

    def punct(self, index: int, texts: Iterable[str]) -> bool:
        return self.tokens[index].kind == "punct" and self.tokens[index].text in texts

    def breaks(self, index: int) -> int:
        """How many newlines are in front of a token."""
        return self.gaps[index].count("\n")

    def must_break(self, index: int) -> bool:
        """Whether the token in front can have no other behind it."""
        return self.tokens[index - 1].kind == "dir" or self.words[index - 1].startswith("//")

    def is_aside(self, index: int) -> bool:
        """Whether it is a comment or a directive."""
        return self.tokens[index].kind in ("comment", "dir")

    def has_tab(self, index: int) -> bool:
        """Whether a tab is between a token and the one in front of it in its line."""
        return "\t" in self.gaps[index] and not self.breaks(index)

    def space(self, index: int) -> str:
        """The white space in front of a token in its line: one blank, or what has a tab as it is; nothing for nothing."""
        return self.gaps[index] if self.has_tab(index) else " " * (self.gaps[index] != "")

    def commas(self, begin: int, end: int) -> Iterator[int]:
        """Those that are in no brackets."""
        index = begin
        while index < end:
            if self.punct(index, CLOSING):
                index = matching(self.tokens, index)
            elif self.punct(index, ","):
                yield index
            index += 1

    def items(self, begin: int, end: int) -> list[tuple[int, int]]:
        """The parts between such commas."""
        commas = list(self.commas(begin, end))
        return list(zip([begin, *(comma + 1 for comma in commas)], [*commas, end]))

    # ---- Writing ----

    def text(self) -> str:
        return "".join(self._out)

    def put(self, text: str) -> None:
        self._out.append(text)
        before, newline, last = text.rpartition("\n")
        self.line += before.count("\n") + len(newline)
        self.column = width(last, 0 if newline else self.column)

    def begin(self, column: int, blank: bool = False) -> None:
        """A new line, with a blank one in front of it."""
        column = min(column, _FAR)
        self._out.append("\n" * (1 + blank) + indent(column))
        self.line += 1 + blank
        self.column = self.margin = column

    def token(self, index: int) -> None:
        """A token; a directive in a line of its own. A comment whose lines begin with stars moves with its first line."""
        word = self.words[index]
        if self.tokens[index].kind == "dir":
            self.begin(0, self.breaks(index) > 1)
        elif self.tokens[index].kind == "comment":
            first, *more = word.split("\n")
            if all(line.lstrip(" \t").startswith("*") for line in more):
                word = "\n".join([first, *(indent(self.column) + " " + line.lstrip(" \t") for line in more)])
        self.put(word)

    def mark(self) -> tuple[int, int, int, int]:
        """This place, for back()."""
        return len(self._out), self.line, self.column, self.margin

    def back(self, mark: tuple[int, int, int, int]) -> None:
        """Takes back what was written since mark()."""
        length, self.line, self.column, self.margin = mark
        del self._out[length:]

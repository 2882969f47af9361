# SPDX-License-Identifier: MIT
"""A small terminal: what a person sees of what a program has written there."""

from __future__ import annotations

import itertools
import re

STYLES = {"1": "bold", "2": "dim", "31": "red"}
_SEQUENCE = re.compile(r"\x1b\[(\?)?([\d;]*)([A-Za-z])")


class Screen:
    """The lines of a window, of xterm as far as tp needs it. An unknown sequence is an error."""

    def __init__(self, rows: int = 24, columns: int = 80) -> None:
        self.rows, self.columns = rows, columns
        self.style = ""  # of what is written next
        self.cells = self._empty()
        self.before: list[list[tuple[str, str]]] | None = None  # while the other screen is shown
        self.row = self.column = 0
        self.saved = (0, 0)
        self.wraps = True

    def _empty(self) -> list[list[tuple[str, str]]]:
        """Rows of characters with their styles."""
        return [[(" ", "")] * self.columns for _ in range(self.rows)]

    @property
    def is_other(self) -> bool:
        return self.before is not None

    def lines(self) -> list[str]:
        """Without the empty ones at the end."""
        lines = ["".join(char for char, _ in row).rstrip() for row in self.cells]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def styled_lines(self) -> list[list[tuple[str, str]]]:
        """The same, as pieces of text, each with its style, which is a word of STYLES or empty."""
        return [[("".join(char for char, _ in piece), style)
                 for style, piece in itertools.groupby(row[:len(line)], lambda cell: cell[1])]
                for row, line in zip(self.cells, self.lines())]

    def text(self) -> str:
        return "\n".join(self.lines())

    def feed(self, text: str) -> "Screen":
        at = 0
        while at < len(text):
            found = _SEQUENCE.match(text, at)
            if found:
                self._obey(*found.groups())
                at = found.end()
            elif text[at] == "\x1b":
                if len(text) - at < 12:  # not all of it has come yet
                    return self
                raise ValueError(f"an unknown sequence: {text[at:at + 12]!r}")
            else:
                self._put(text[at])
                at += 1
        return self

    def _put(self, char: str) -> None:
        if char == "\r":
            self.column = 0
        elif char == "\n":
            self._next_line()
        elif char == "\a":
            pass
        elif char == "\b":
            self.column = max(0, self.column - 1)
        elif ord(char) < 32 or 0x7f <= ord(char) < 0xa0:
            raise ValueError(f"a control character: {char!r}")
        else:
            if self.column == self.columns and self.wraps:
                self.column = 0
                self._next_line()
            self.cells[self.row][min(self.column, self.columns - 1)] = (char, self.style)
            self.column = min(self.column + 1, self.columns)

    def _next_line(self) -> None:
        if self.row + 1 < self.rows:
            self.row += 1
        else:
            self.cells = [*self.cells[1:], [(" ", "")] * self.columns]

    def _obey(self, private: str | None, numbers: str, letter: str) -> None:
        if private:
            self._set_mode(numbers, letter == "h")
        elif letter == "H" and not numbers:
            self.row = self.column = 0
        elif letter == "K" and not numbers:
            for column in range(self.column, self.columns):
                self.cells[self.row][column] = (" ", "")
        elif letter == "J" and not numbers:
            self._obey(None, "", "K")
            for row in range(self.row + 1, self.rows):
                self.cells[row] = [(" ", "")] * self.columns
        elif letter == "m" and numbers in ("0", *STYLES):
            self.style = STYLES.get(numbers, "")
        else:
            raise ValueError(f"an unknown sequence: {numbers}{letter}")

    def _set_mode(self, mode: str, is_on: bool) -> None:
        if mode == "1049" and is_on != self.is_other:
            if is_on:
                self.before, self.saved = self.cells, (self.row, self.column)
                self.cells = self._empty()
            else:
                assert self.before is not None
                self.cells, self.before = self.before, None
                self.row, self.column = self.saved
        elif mode == "7":
            self.wraps = is_on
        elif mode not in ("25", "1049"):
            raise ValueError(f"an unknown mode: {mode}")


def seen(text: str, rows: int = 24, columns: int = 80) -> list[str]:
    """The lines of a terminal that has got this text."""
    return Screen(rows, columns).feed(text).lines()

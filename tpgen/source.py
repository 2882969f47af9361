# SPDX-License-Identifier: MIT
"""Files and positions in them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

# No definition file is that long; it bounds what a hostile input can cost.
MAX_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of one line. line and col count from 1, col and length in characters; line 0 is the whole file."""

    path: str
    line: int
    col: int = 1
    length: int = 1


class SourceError(Exception):
    """A file can't be read. str() is the reason, without the path."""


def read(path: str | int) -> bytes:
    """The bytes of a file, or of a descriptor, which stays open."""
    try:
        with open(path, "rb", closefd=not isinstance(path, int)) as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SourceError(error.strerror or str(error)) from error
    except ValueError as error:  # a NUL in the path
        raise SourceError(str(error)) from error
    if len(data) > MAX_BYTES:
        raise SourceError(f"longer than {MAX_BYTES >> 20} MiB")
    return data


def decoded(data: bytes) -> str:
    """Their text. Bytes that are not UTF-8 survive a round trip by encoded()."""
    return data.decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


class Source:
    """The text of one file, without a byte order mark, and with newlines at the ends of lines."""

    def __init__(self, path: str, text: str):
        self.path = path
        self.text = text
        self._lines: list[str] = []
        self._offsets: list[int] = []

    @classmethod
    def read(cls, path: str) -> Source:
        return cls.of(path, read(path))

    @classmethod
    def of(cls, path: str, data: bytes) -> Source:
        """The source that a file with these bytes is."""
        return cls(path, unix_lines(decoded(data).removeprefix("\ufeff")))

    def line(self, number: int) -> str:
        """The text of a line, without its end; empty outside of the file."""
        self._index()
        return self._lines[number - 1] if 0 < number <= len(self._lines) else ""

    def offset(self, number: int) -> int:
        """Where a line begins in text; its end for lines that are not there."""
        self._index()
        return self._offsets[number - 1] if 0 < number <= len(self._lines) else len(self.text)

    def place(self, offset: int) -> tuple[int, int]:
        """The line and the column of an offset in text, from 1."""
        self._index()
        line = bisect_right(self._offsets, offset, 0, len(self._lines))
        return line, offset - self._offsets[line - 1] + 1

    def _index(self) -> None:
        if not self._lines:
            self._lines = self.text.split("\n")
            self._offsets = list(accumulate((len(line) + 1 for line in self._lines), initial=0))


def unix_lines(text: str) -> str:
    """text with \\n at the end of each line."""
    return text.replace("\r\n", "\n").replace("\r", "\n")

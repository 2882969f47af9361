# SPDX-License-Identifier: MIT
"""A text that an editor changes, with its name and the positions in it, as the protocol counts them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cached_property
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

from tpgen.format import formatted
from tpgen.lexer import lex
from tpgen.lsp.outline import Outline
from tpgen.lsp.wire import INVALID_PARAMS, Refused
from tpgen.source import Source, SourceError, Span, unix_lines

# What a position's character counts: code units of so many bytes. The default is meant if nothing else is agreed on.
ENCODINGS = {"utf-16": ("utf-16-le", 2), "utf-8": ("utf-8", 1), "utf-32": ("utf-32-le", 4)}
DEFAULT = "utf-16"

_LINE_END = re.compile(r"\r\n|\r|\n")
_SURROGATE = re.compile("[\ud800-\udfff]")


def path_of(uri: str) -> str:
    """The file's name; of what is no file, such as a new buffer, one by which messages can call it."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return "untitled.tp"
    path = re.sub(r"[\0\r\n]", "?", os.fsdecode(unquote_to_bytes(parts.path)))
    return path if parts.scheme == "file" and path.startswith("/") else os.path.basename(path) or "untitled.tp"


def uri_of(path: str) -> str:
    return "file://" + quote_from_bytes(os.fsencode(os.path.abspath(path)))


def units(text: str, encoding: str) -> int:
    """How long text is, as positions count."""
    codec, size = ENCODINGS[encoding]
    return len(text.encode(codec)) // size


def characters(line: str, count: int, encoding: str) -> int:
    """How many characters so many units are; within a character they end in front of it, and behind the line at its end."""
    codec, size = ENCODINGS[encoding]
    return len(line.encode(codec)[:count * size].decode(codec, "ignore"))


class Document:
    """One version of a text. What is changed is a new one."""

    def __init__(self, uri: str, version: object, text: str, encoding: str):
        self.uri = uri
        self.version = version
        self.encoding = encoding
        self._text = _SURROGATE.sub("\ufffd", text)  # halves of characters can't be written to a file

    @cached_property
    def source(self) -> Source:
        """As the compiler reads it; a byte order mark stays a character, so that the columns are the editor's."""
        text = " " + self._text[1:] if self._text.startswith("\ufeff") else self._text
        return Source(path_of(self.uri), unix_lines(text))

    @cached_property
    def outline(self) -> Outline:
        try:
            return Outline(self.source, lex(self.source.text, self.source.path))
        except SourceError:  # too long
            return Outline(self.source, [])

    def changed(self, version: object, changes: list[Mapping[str, object]]) -> Document:
        """The text after changes, each of which is the whole text, or that of a range."""
        text = self._text
        for change in changes:
            new, where = change.get("text"), change.get("range")
            if not isinstance(new, str):
                raise Refused(INVALID_PARAMS, "a change has no text")
            if where is None:
                text = new
                continue
            if not isinstance(where, dict):
                raise Refused(INVALID_PARAMS, "a change's range is an object")
            starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
            start, end = (self._raw(text, starts, where.get(name)) for name in ("start", "end"))
            text = text[:start] + new + text[max(start, end):]
        return Document(self.uri, version, text, self.encoding)

    def formatted(self) -> list[dict[str, object]]:
        """The edit that lays out the events, if there is anything to change: of the lines between the first and the last that differ."""
        try:
            old, new = self._text.split("\n"), formatted(self._text).split("\n")
        except SourceError as error:
            raise Refused(INVALID_PARAMS, str(error)) from error
        if old == new:
            return []
        first = last = 0
        while first < min(len(old), len(new)) - 1 and old[first] == new[first]:
            first += 1
        while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
            last += 1
        until = {"line": len(old) - last, "character": 0} if last else {"line": len(old) - 1, "character": units(old[-1], self.encoding)}
        text = "\n".join(new[first:len(new) - last]) + ("\n" if last and len(new) - last > first else "")
        return [{"range": {"start": {"line": first, "character": 0}, "end": until}, "newText": text}]

    def _raw(self, text: str, starts: list[int], position: object) -> int:
        line, count = _position(position)
        if line >= len(starts):
            return len(text)
        end = starts[line + 1] if line + 1 < len(starts) else len(text)
        return starts[line] + characters(text[starts[line]:end].rstrip("\r\n"), count, self.encoding)

    def offset(self, position: object) -> int:
        """Of a position, in source.text."""
        line, count = _position(position)
        return min(self.source.offset(line + 1) + characters(self.source.line(line + 1), count, self.encoding), len(self.source.text))

    def position(self, line: int, col: int) -> dict[str, int]:
        """Of a line and a column, from 1."""
        return {"line": max(line, 1) - 1, "character": units(self.source.line(line)[:col - 1], self.encoding)}

    def range(self, start: int, end: int) -> dict[str, object]:
        """Of two offsets in source.text."""
        return {"start": self.position(*self.source.place(start)), "end": self.position(*self.source.place(end))}

    def of_span(self, span: Span) -> dict[str, object]:
        """What is said of the whole file stands at its first line."""
        if not span.line:
            return {"start": self.position(1, 1), "end": self.position(1, len(self.source.line(1)) + 1)}
        return {"start": self.position(span.line, span.col), "end": self.position(span.line, span.col + span.length)}


def _position(position: object) -> tuple[int, int]:
    found = (position.get("line"), position.get("character")) if isinstance(position, dict) else (None, None)
    line, character = found
    if not isinstance(line, int) or not isinstance(character, int) or line < 0 or character < 0:
        raise Refused(INVALID_PARAMS, "a position has a line and a character, from 0")
    return line, character

# SPDX-License-Identifier: MIT
"""Tokens back to C text: word for word where no macro changed them, else line by line as preprocessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tpgen.lexer import Token
from tpgen.model import Code
from tpgen.text import Text


def code(text: Text, tokens: Sequence[Token]) -> Code:
    """tokens as C text."""
    line, texts = pieces(text, tokens, {})
    return Code(line, "".join(map(str, texts)))


def pieces(text: Text, tokens: Sequence[Token],
           changed: Mapping[Token, str | int]) -> tuple[int, tuple[str | int, ...]]:
    """The same with other texts for some tokens, and numbers, which stay pieces of their own; and the first line."""
    if not tokens:
        return 0, ()
    first, last = tokens[0], tokens[-1]
    if not changed:
        written = text.as_written(first, last)
        if written is not None:
            return first.line, (text.indent(first.line) + written,)
    lines: dict[int, list[Token]] = {}
    for token in tokens:
        lines.setdefault(token.line, []).append(token)
    out: list[str | int] = []
    breaks = 0  # in front of the next line that is not empty
    for number in range(first.line, last.line + 1):
        line = _line(text, number, lines.get(number, []), changed)
        if line:
            out += ["\n" * breaks, text.indent(number), *line]
            breaks = 0
        breaks += 1
    return first.line, tuple(out)


def _line(text: Text, number: int, tokens: Sequence[Token], changed: Mapping[Token, str | int]) -> list[str | int]:
    if tokens and not any(t in changed for t in tokens):
        written = text.as_written(tokens[0], tokens[-1])
        if written is not None:
            return [written]
    out: list[str | int] = []
    previous: Token | None = None
    for token in tokens:
        piece = changed.get(token, token.text)
        if piece != "":
            if out and previous and previous.end != token.start:
                out.append(" ")
            out.append(piece)
        previous = token
    return out

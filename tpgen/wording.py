# SPDX-License-Identifier: MIT
"""Tokens back to C text: word for word where no macro changed them, else line by line as preprocessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tpgen.lexer import Token
from tpgen.model import Code
from tpgen.text import Text


def code(text: Text, tokens: Sequence[Token], changed: Mapping[Token, str] | None = None) -> Code:
    """tokens as C text: word for word where no macro changed them, else line by line as preprocessed."""
    tokens = [t for t in tokens if t.kind != "dir"]
    if not tokens:
        return Code(0, "")
    first, last = tokens[0], tokens[-1]
    if not changed:
        written = text.as_written(first, last)
        if written is not None:
            return Code(first.line, text.indent(first.line) + written)
    lines: dict[int, list[Token]] = {}
    for token in tokens:
        lines.setdefault(token.line, []).append(token)
    return Code(first.line, "\n".join(_line(text, number, lines.get(number, []), changed or {})
                                      for number in range(first.line, last.line + 1)).rstrip())


def _line(text: Text, number: int, tokens: Sequence[Token], changed: Mapping[Token, str]) -> str:
    if not any(changed.get(t, t.text) for t in tokens):
        return ""
    written = None
    if not any(t in changed for t in tokens):
        written = text.as_written(tokens[0], tokens[-1])
    return text.indent(number) + (written if written is not None else _respell(tokens, changed))


def _respell(tokens: Sequence[Token], changed: Mapping[Token, str]) -> str:
    out: list[str] = []
    previous: Token | None = None
    for token in tokens:
        text = changed.get(token, token.text)
        if text:
            out.append(" " if previous and previous.end != token.start else "")
            out.append(text)
        previous = token
    return "".join(out).strip()

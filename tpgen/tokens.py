# SPDX-License-Identifier: MIT
"""What all that reads C by its tokens shares: brackets, parts between commas, calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tpgen.lexer import Token

# What can name nothing in C.
C_KEYWORDS = frozenset(
    "void char short int long float double signed unsigned _Bool _Complex __int128 const volatile restrict static "
    "register extern inline _Atomic struct union enum sizeof if else for while do switch case default return break "
    "continue goto typedef auto".split())

CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a declaration, or one argument of a call, without its decoration. at and end are never None:
    where there are no tokens, they are the brackets or commas around. Directives are no tokens of it."""

    tokens: tuple[Token, ...]
    at: Token
    end: Token


@dataclass(frozen=True, slots=True)
class Call:
    """NAME(argument, ...)"""

    name: Token
    args: tuple[Part, ...]
    close: Token


def brackets(tokens: Sequence[Token]) -> Iterator[tuple[int, Token]]:
    """Each token with its depth: how many brackets are open around it (a bracket is outside of itself)."""
    depth = 0
    for token in tokens:
        if token.kind == "punct" and token.text in ")]}":
            depth -= 1
        yield depth, token
        if token.kind == "punct" and token.text in "([{":
            depth += 1


def split(tokens: Sequence[Token], at: Token, end: Token, types: bool = False) -> tuple[Part, ...]:
    """The parts between the commas of the lowest level. at and end are the brackets around tokens. In types, as those of a
    prototype are, < and > are brackets, too."""
    if not tokens:
        return ()
    parts: list[Part] = []
    before, begin, depth, angles = at, 0, 0, 0
    for index, token in enumerate(tokens):
        if token.kind != "punct":
            continue
        if token.text in "([{":
            depth += 1
        elif token.text in ")]}":
            depth -= 1
        elif types and depth == 0 and token.text in ("<", ">", ">>"):
            angles += 1 if token.text == "<" else -len(token.text)
        elif token.text == "," and depth == 0 and angles <= 0:
            parts.append(part_of(tokens[begin:index], before, token))
            before, begin = token, index + 1
    parts.append(part_of(tokens[begin:], before, end))
    return tuple(parts)


def part_of(tokens: Sequence[Token], before: Token, after: Token) -> Part:
    return Part(tuple(tokens), tokens[0] if tokens else before, tokens[-1] if tokens else after)


def calls(tokens: Sequence[Token]) -> Iterator[Call | Token]:
    """tokens as a sequence of calls; what is no part of a call comes as the token it is. Brackets must match."""
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.kind == "id" and index + 1 < len(tokens) and tokens[index + 1].text == "(":
            close = matching(tokens, index + 1)
            yield Call(token, split(tokens[index + 2:close], tokens[index + 1], tokens[close]), tokens[close])
            index = close + 1
        else:
            yield token
            index += 1


def matching(tokens: Sequence[Token], opening: int) -> int:
    """The index of the bracket that closes the one at index opening; the last token where there is none."""
    depth = 0
    for index in range(opening, len(tokens)):
        if tokens[index].kind == "punct":
            depth += (tokens[index].text in "([{") - (tokens[index].text in ")]}")
            if depth == 0:
                return index
    return len(tokens) - 1

# SPDX-License-Identifier: MIT
"""Text to tokens, for the file as written and for what the preprocessor made of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tpgen.source import SourceError

# Of one file, as written and as preprocessed: some 7,500 events of four fields, which take a second and 100 MB for each 1,000.
# It bounds what a hostile input can cost.
MAX_TOKENS = 1_000_000

# A character of an identifier by its number, as gcc prints those that are not ASCII.
_UCN = r"\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
_NAME = rf"""(?:[A-Za-z_$\u0080-\ud7ff\ue000-\U0010ffff]|{_UCN})
            (?:[A-Za-z0-9_$\u0080-\ud7ff\ue000-\U0010ffff]|\\\n|{_UCN})*"""
# Within an identifier: that, and a newline that is none to C.
_SPELLING = re.compile(rf"\\\n|{_UCN}")

_TOKEN = re.compile(
    r"""[ \t\f\v]*
      (?:(?P<newline>\n)
      | (?P<space>\\\n|\Z)
      | (?P<comment>/\*.*?\*/|//(?:\\\n|[^\n])*)
      | (?P<id>(?:::)?{_NAME}(?:::{_NAME})*)
      | (?P<num>\.?[0-9](?:[eEpP][+-]|[A-Za-z0-9_.])*)
      | (?P<str>"(?:\\.|[^"\\\n])*")
      | (?P<chr>'(?:\\.|[^'\\\n])*')
      | (?P<punct>->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||\.\.\.|[-+*/%&|^]=|\#\#|[][(){}<>=!~&|^+*/%?:;,.\#-])
      | (?P<bad>/\*|"(?:\\.|[^"\\\n])*|'(?:\\.|[^'\\\n])*|.))""".replace("{_NAME}", _NAME),
    re.S | re.X)

_DIRECTIVE = re.compile(r"""[ \t\f\v]*(\#(?:/\*.*?\*/|//(?:\\\n|[^\n])*|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|\\\n
                        |[^\n/\\]|[/\\])*)""", re.S | re.X)
_MARKER = re.compile(r'#[ \t]*(?:line[ \t]+)?(\d+)[ \t]+"((?:\\.|[^"\\])*)"')


class Token(NamedTuple):
    """kind: id (net::state is one), num, str, chr, punct, dir (a whole directive), bad (a character that begins no token); comment, if asked
    for."""

    kind: str
    text: str
    path: str
    line: int
    start: int  # offsets in the text that was lexed
    end: int


def lex(text: str, path: str, at: int = 0, length: int | None = None, markers: bool = False,
        comments: bool = False) -> list[Token]:
    """All tokens of text, or of the part between two offsets. Line markers tell the place, if they are to."""
    tokens: list[Token] = []
    line, fresh = 1, True
    length = len(text) if length is None else length
    match = _TOKEN.match
    while at < length:
        directive = _DIRECTIVE.match(text, at) if fresh else None
        if directive:
            marker = _MARKER.match(directive[1]) if markers else None
            if marker:
                # The marker names the line after it; the newline between them is still to come.
                line, path = int(marker[1]) - 1, marker[2].replace('\\"', '"').replace("\\\\", "\\")
            else:
                tokens.append(Token("dir", directive[1], path, line, directive.start(1), directive.end()))
                line += directive[1].count("\n")
            at, fresh = directive.end(), False
            continue
        found = match(text, at)
        assert found and found.lastgroup
        kind, at = found.lastgroup, found.end()
        if kind == "newline":
            line, fresh = line + 1, True
        elif kind == "space" or kind == "comment":
            if comments and kind == "comment":
                tokens.append(Token(kind, found[kind], path, line, found.start(kind), at))
            line += found[0].count("\n")
        else:
            word = found[kind]
            said = characters(word) if kind == "id" else word
            tokens.append(Token(kind, said, path, line, at - len(word), at))
            fresh = False
            if len(tokens) > MAX_TOKENS:
                raise SourceError(f"more than {MAX_TOKENS:,} words and signs; part its events into several files")
            if kind in ("str", "chr", "id"):
                line += word.count("\n")
    return tokens


def characters(word: str) -> str:
    """An identifier as it is to C."""
    return _SPELLING.sub(_character, word) if "\\" in word else word


def _character(match: re.Match[str]) -> str:
    """What a part of an identifier is to C: the character of that number, or nothing."""
    number = int(match[0][2:] or "-1", 16)
    if number < 0:
        return ""
    return chr(number) if 0x80 <= number < 0xd800 or 0xdfff < number < 0x110000 else match[0]


def spell(tokens: Sequence[Token]) -> str:
    """The tokens in one line, a single space wherever there was white space between them."""
    out: list[str] = []
    previous: Token | None = None
    for token in tokens:
        if previous and previous.end != token.start:
            out.append(" ")
        out.append(token.text)
        previous = token
    return "".join(out)

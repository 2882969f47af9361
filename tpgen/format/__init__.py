# SPDX-License-Identifier: MIT
"""The layout of events, as the kernel's trace headers have it.

Each part, field and statement begins a line. Inside of them, line breaks are the author's, and so is whether there is
white space between two tokens. All other text of the file stays as it is. Only tokens as they are written count: no
macro is expanded, and an event in which macros make parts is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tpgen.format.event import EVENTS, layout
from tpgen.lexer import Token, lex
from tpgen.parser import FORMS
from tpgen.tokens import CLOSING


def formatted(text: str) -> str:
    """A file's text, with its events laid out and a newline at its end. All line ends become those of most lines.

    SourceError: there are too many tokens.
    """
    end = "\r\n" if 2 * text.count("\r\n") > text.count("\n") else "\n"
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    text = text.removeprefix(mark).replace("\r\n", "\n")
    out: list[str] = []
    done = 0
    tokens = lex(text, "", comments=True)
    for first, last in _events(tokens):
        event = layout(text, tokens[first:last + 1])
        if event:
            begin = tokens[first].start
            line = text.rfind("\n", 0, begin) + 1
            out += [text[done:begin if text[line:begin].strip(" \t") else line], event]
            done = tokens[last].end
    out.append(text[done:])
    text = "".join(out)
    # What ends in a backslash would go on behind a newline, and a carriage return would become a part of it.
    return mark + (text + "\n" * (text[-1:] not in ("", "\n", "\r", "\\"))).replace("\n", end)


def _events(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """The indexes of the macro and of the closing bracket of each event."""
    index = 0
    while index < len(tokens) - 1:
        if tokens[index].kind == "id" and tokens[index].text in EVENTS and tokens[index + 1].text == "(":
            last = _closing(tokens, index + 1)
            if last:
                yield index, last
                index = last
        index += 1


def _closing(tokens: Sequence[Token], opening: int) -> int:
    """The index of the bracket that closes the one at opening; 0 if a token in front of it is wrong there. So is a #, which would
    make a directive of its line."""
    open_: list[str] = []
    for index in range(opening, len(tokens)):
        token = tokens[index]
        if token.kind == "bad" or token.text in FORMS or token.kind == "punct" and token.text in ("#", "##"):
            return 0
        if token.kind == "punct" and token.text in CLOSING:
            open_.append(CLOSING[token.text])
        elif token.kind == "punct" and token.text in ")]}":
            if open_.pop() != token.text:
                return 0
            if not open_:
                return index
    return 0

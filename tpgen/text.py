# SPDX-License-Identifier: MIT
"""A file as written and as preprocessed, and the way from the second to the first.

Preprocessed text tells the line of each token, but not its column, and
whatever a macro made stands where the macro was used. Text finds the place
as written, and the wording as written, line by line.
"""

from __future__ import annotations

import difflib
import os
import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

from tpgen.lexer import MAX_TOKENS, Token, characters, lex
from tpgen.source import Source, SourceError, Span
from tpgen.tokens import matching

_MARKER_LINE = re.compile(r'^#[ \t]*(?:line[ \t]+)?\d+[ \t]+"', re.M)


def _lex_of(text: str, path: str) -> list[Token]:
    """The tokens of what comes from the file path, in text with line markers. What included files have made of
    themselves, which may be much, is passed over."""
    tokens: list[Token] = []
    quoted = path.replace("\\", "\\\\").replace('"', '\\"')
    own = re.compile(rf'^#[ \t]*(?:line[ \t]+)?\d+[ \t]+"{re.escape(quoted)}"', re.M)
    at = 0
    while begin := own.search(text, at):
        end = _MARKER_LINE.search(text, begin.end())
        at = end.start() if end else len(text)
        tokens.extend(lex(text, path, begin.start(), at, True))
        if len(tokens) > MAX_TOKENS:
            raise SourceError(f"its macros make more than {MAX_TOKENS:,} words and signs; part its events into several files")
    return tokens


_MARKED = re.compile(r'^# \d+ "((?!<)(?:\\.|[^"\\\n])+)"(?!.* 3\b)', re.M)


def _files(expanded: str) -> list[str]:
    """The files that text with line markers comes from, but for the system's. What a #line in one names need not be there."""
    names = dict.fromkeys(re.sub(r"\\(.)", r"\1", name) for name in _MARKED.findall(expanded))
    return [name for name in names if os.path.isfile(name)]


_DEFINED_VALUE = re.compile(r"\bTRACE_DEFINE_(ENUM|SIZEOF)[ \t]*\([ \t]*((?:[^\W\d]|\\U)(?:[\w *]|\\U)*?)[ \t]*\)")

_SYSTEM_NAME = re.compile(r"^#define TRACE_SYSTEM ([A-Za-z_]\w*)$", re.M)


def _system_names(expanded: str) -> dict[str, str]:
    """What the names are that TRACE_SYSTEM is defined to, where they are macros themselves."""
    found: dict[str, str] = {}
    for match in _SYSTEM_NAME.finditer(expanded):
        name, value = match[1], match[1]
        seen: set[str] = set()
        while value not in seen:
            seen.add(value)
            defined = expanded.rfind(f"\n#define {value} ")
            # The kernel asks at the end of the file, by when it may have been taken back.
            if defined > expanded.rfind(f"\n#undef {value}\n", 0, match.start()):
                value = expanded[defined:expanded.find("\n", defined + 1)].split(" ", 2)[2].strip() or value
        if value != name:
            found[name] = value
    return found


_COMMENT_OR_LITERAL = re.compile(r"""/\*.*?\*/|//(?:\\\n|[^\n])*|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?""", re.S)


class Text:
    """One file: as written (raw) and as preprocessed (tokens), and the way back from the second to the first."""

    def __init__(self, source: Source, expanded: str):
        self.source = source
        self.files = list(dict.fromkeys([source.path, *_files(expanded)]))  # this one, and those that were expanded with it
        # (ENUM or SIZEOF, name): what an included file, if it was expanded, says of its constants is meant for this one.
        self.defined_values = [(m[1], " ".join(characters(m[2]).split())) for m in _DEFINED_VALUE.finditer(expanded)
                               if expanded[expanded.rfind("\n", 0, m.start()) + 1] != "#"]
        self.system_names = _system_names(expanded)
        self.raw = lex(source.text, source.path)
        self.tokens = _lex_of(expanded, source.path)
        self._raw_lines = _by_line(self.raw)
        self._lines = _by_line(self.tokens)
        self._aligned: dict[int, _Line] = {}

    @cached_property
    def _starts(self) -> list[int]:
        return [t.start for t in self.tokens]

    @cached_property
    def comments(self) -> dict[int, int]:
        """Where the comments of the first kind end, and where those begin: offsets in the file as written."""
        return {m.end(): m.start() for m in _COMMENT_OR_LITERAL.finditer(self.source.text) if m[0].startswith("/*")}

    @cached_property
    def own_types(self) -> frozenset[str]:
        """The names that the file makes types of."""
        names: set[str] = set()
        previous: Token | None = None
        inside = False
        for token in self.tokens:
            inside = inside or token.text == "typedef"
            if inside and token.text == ";":
                # The last identifier of a typedef without brackets behind it; others the C compiler checks anyway.
                names.update([previous.text] if previous and previous.kind == "id" else [])
                inside = False
            previous = token
        return frozenset(names)

    @cached_property
    def own_enumerators(self) -> frozenset[str]:
        """The names that the file gives to values of its enumerations."""
        names: set[str] = set()
        depth = 0  # of brackets in an enumeration's
        previous = ["", ""]
        for token in self.tokens:
            if depth:
                depth += (token.text in "([{") - (token.text in ")]}") if token.kind == "punct" else 0
                if depth == 1 and token.kind == "id" and previous[-1] in ("{", ","):
                    names.add(token.text)
            elif token.text == "{" and "enum" in previous:
                depth = 1
            previous = [previous[-1], token.text]
        return frozenset(names)

    @cached_property
    def own_macros(self) -> frozenset[str]:
        """The macros that the file defines."""
        return frozenset(m[1] for t in self.raw if t.kind == "dir" and (m := re.match(r"#\s*define\s+(\w+)", t.text)))

    def on_lines(self, first: int, number: int) -> list[Token]:
        """The tokens of so many lines, as preprocessed."""
        return [t for line in range(first, first + number) for t in self._lines.get(line, [])]

    def made_by_macros(self, line: int) -> list[Token]:
        """The tokens of a line that nobody wrote there."""
        return [t for t in self._lines.get(line, []) if not self._same(t)]

    def written(self, token: Token) -> Token | None:
        """The token of raw that token is; None if a macro made it."""
        return self._same(token)

    def span(self, first: Token, last: Token | None = None) -> Span:
        """Where first was written, up to last if that stands in the same line.

        What a macro made is where the macro was used.
        """
        start, end = self._written(first)
        if last and last.line == first.line:
            end = max(end, self._written(last)[1])
        begin = self.source.text.rfind("\n", 0, start) + 1
        newline = self.source.text.find("\n", start, end)
        return Span(self.source.path, first.line, start - begin + 1, max(1, (newline if newline >= 0 else end) - start))

    def as_written(self, first: Token, last: Token) -> str | None:
        """The text between two tokens with its comments and white space, if no macro or directive changed it."""
        for number in range(first.line, last.line + 1):
            line = self._line(number)
            same = line.head == len(line.written) == len(line.expanded)
            low = line.index(first) if number == first.line else 0
            high = line.index(last) + 1 if number == last.line else len(line.expanded)
            in_head = high <= line.head and (same or number == last.line)
            in_tail = low >= len(line.expanded) - line.tail and (same or number == first.line)
            if not in_head and not in_tail:
                return None
        start, end = self._same(first), self._same(last)
        return self.source.text[start.start:end.end] if start and end else None

    def spell(self, tokens: Sequence[Token]) -> str:
        """The tokens in one line, as the preprocessor's # would stringify them."""
        return "".join(self.words(tokens))

    def words(self, tokens: Sequence[Token]) -> list[str]:
        """The same, as a text for each token, which begins with the blank in front of it where there is one.

        What -E prints has a blank where # sets one, and besides between two tokens that would become one, and a line's
        end behind a macro's call of several lines. Those stand as far apart as they were written.
        """
        out: list[str] = []
        for previous, token in zip([None, *tokens], tokens):
            if previous:
                apart = previous.end != token.start
                if previous.line != token.line:
                    after = self._after_call(previous.line)
                    apart = not after or after.line != token.line or self._blank_before(after)
                elif apart and _may_paste(previous, token):
                    before, same = self._same(previous), self._same(token)
                    # Both written, and not next to each other: token begins what a macro made of its arguments.
                    between = self.source.text[before.end:same.start] if before and same and before.line == same.line else ""
                    if same and not between.strip():
                        apart = self.source.text[same.start - 1].isspace()
                out.append(f" {token.text}" if apart else token.text)
            else:
                out.append(token.text)
        return out

    def _after_call(self, number: int) -> Token | None:
        """Of a line in which a macro's call begins that ends in another one: the raw token behind it."""
        open_: list[Token] = []
        line = self._raw_lines.get(number, [])
        for token in line:
            if token.kind == "punct" and token.text in "([{":
                open_.append(token)
            elif token.kind == "punct" and token.text in ")]}" and open_:
                open_.pop()
        # The bracket may be in another line than the name.
        called = [(opening, line.index(opening) - 1) for opening in open_] or [(token, len(line) - 1) for token in line[-1:]]
        for opening, before in called:
            if before >= 0 and line[before] in self._line(number).gone:
                at = bisect_left(self.raw, opening.end, key=lambda t: t.start) - (opening.text == "(")
                if self.raw[at:at + 1] and self.raw[at].text == "(":
                    close = matching(self.raw, at) + 1
                    return self.raw[close] if close < len(self.raw) else None
        return None

    def _blank_before(self, token: Token) -> bool:
        """Whether white space is in front of a token that was written, or a comment."""
        at = token.start
        while self.source.text.endswith("\\\n", 0, at):
            at -= 2
        return self.source.text[at - 1:at].isspace() or at in self.comments

    def unexpanded(self, tokens: Sequence[Token]) -> str | None:
        """An argument of a macro as it was written, in one line; None where a macro made the whole call."""
        index = bisect_left(self._starts, tokens[0].start)
        around = self.tokens[index - 1], self.tokens[min(index + len(tokens), len(self.tokens) - 1)]
        before, after = map(self._same, around)
        if not before or not after or before.end > after.start:
            return None
        return " ".join(re.sub(r"/\*.*?\*/|//[^\n]*", " ", self.source.text[before.end:after.start], flags=re.S).split())

    def comment_before(self, line: int) -> tuple[int, int]:
        """Where the comment stands that ends in the line in front of a declaration: offsets, equal where there is none."""
        source = self.source
        begin_of_line = source.offset(line)
        end = source.offset(line - 1) + len(source.line(line - 1).rstrip()) if line > 1 else 0
        begin = self.comments.get(end)
        if begin is None or source.text[source.text.rfind("\n", 0, begin) + 1:begin].strip():
            return begin_of_line, begin_of_line
        return begin, end

    def indent(self, line: int) -> str:
        """The white space that a line begins with."""
        text = self.source.line(line)
        return text[:len(text) - len(text.lstrip())]

    def _line(self, number: int) -> _Line:
        if number not in self._aligned:
            self._aligned[number] = _Line(self._raw_lines.get(number, []), self._lines.get(number, []))
        return self._aligned[number]

    def _same(self, token: Token) -> Token | None:
        """The raw token that token is, or None if a macro made it."""
        return self._line(token.line).same(token)

    def _written(self, token: Token) -> tuple[int, int]:
        """Offsets in the raw text of what token is or was made from."""
        line = self._line(token.line)
        if not line.written:
            begin = self.source.offset(token.line)
            return begin, begin + 1
        at = line.same(token) or line.macro(token)
        return at.start, at.end


# Operators that would become another one with the character behind them.
_PASTE = {">": "=>", "<": "=<:%", "+": "+=", "-": "->=", "/": "/*=", "*": "=", "%": "=:", "&": "&=", "|": "|=", ":": ":>",
          ".": ".%", "#": "#%", "->": "*", "!": "=", "=": "=", "^": "=", "<<": "=", ">>": "="}


def _may_paste(first: Token, second: Token) -> bool:
    """Whether the two without a blank between them would be another token."""
    if first.kind == "id":
        return second.kind != "punct"
    if first.kind == "num":
        return second.kind in ("id", "num", "chr") or second.text[0] in ".+-"
    return second.kind == "punct" and second.text[0] in _PASTE.get(first.text, "") or \
        first.text == "." and second.kind == "num"


# Between two macros, so many tokens of a line are compared each with each.
_MAX_COMPARED = 400


class _Line:
    """One line as written and as preprocessed: their first head tokens are the same, and their last tail ones."""

    def __init__(self, written: list[Token], expanded: list[Token]):
        self.written = written
        self.expanded = expanded
        self._starts = [t.start for t in expanded]
        self.head = _common(written, expanded)
        self.tail = _common(written[::-1], expanded[::-1])
        self._between: dict[int, Token] | None = None

    def index(self, token: Token) -> int:
        """token's place in expanded."""
        return bisect_left(self._starts, token.start)

    def same(self, token: Token) -> Token | None:
        """The token of written that token is."""
        index = self.index(token)
        if index < self.head:
            return self.written[index]
        back = len(self.expanded) - index
        if back <= self.tail:
            return self.written[-back]
        if self._between is None:
            self._between = self._compare()
        return self._between.get(index)

    def macro(self, token: Token) -> Token:
        """The name of the macro that made token: of those that are gone, the last in front of what follows it."""
        after = self._following[self.index(token)]
        number = bisect_left(self.gone, after.start, key=lambda t: t.start) if after else len(self.gone)
        return self.gone[number - 1] if number else self.written[min(self.head, len(self.written) - 1)]

    @cached_property
    def _following(self) -> list[Token | None]:
        """For each token of expanded, the first behind it that was written."""
        found: list[Token | None] = []
        after: Token | None = None
        for token in reversed(self.expanded):
            found.append(after)
            after = self.same(token) or after
        return found[::-1]

    @cached_property
    def gone(self) -> list[Token]:
        """The identifiers that are in written only."""
        there = {t.start for t in map(self.same, self.expanded) if t}
        return [t for t in self.written if t.kind == "id" and t.start not in there]

    def _compare(self) -> dict[int, Token]:
        """What is the same between the head and the tail."""
        overlap = min(self.tail, len(self.written) - self.head, len(self.expanded) - self.head)
        written = [t.text for t in self.written[self.head:len(self.written) - overlap]]
        expanded = [t.text for t in self.expanded[self.head:len(self.expanded) - overlap]]
        if len(written) + len(expanded) > _MAX_COMPARED:
            return {}
        blocks = difflib.SequenceMatcher(None, written, expanded, False).get_matching_blocks()
        return {self.head + block.b + n: self.written[self.head + block.a + n] for block in blocks
                for n in range(block.size)}


def _common(a: list[Token], b: list[Token]) -> int:
    """How many tokens a and b have in common at their beginning."""
    return next((n for n, (x, y) in enumerate(zip(a, b)) if x.text != y.text), min(len(a), len(b)))


def _by_line(tokens: list[Token]) -> dict[int, list[Token]]:
    lines: dict[int, list[Token]] = {}
    for token in tokens:
        lines.setdefault(token.line, []).append(token)
    return lines

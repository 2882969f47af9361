# SPDX-License-Identifier: MIT
"""The C of a file that passes through to the generated header: what stands between its declarations."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice

from tpgen.diag import Diagnostics, Note
from tpgen.lexer import Token, lex, spell
from tpgen.model import Code, Verbatim
from tpgen.parser import FORMS, Declaration
from tpgen.source import Span
from tpgen.text import Text

# Directives and includes that frame a kernel trace header; they say nothing to a user-space program.
_FRAME = re.compile(
    r"#\s*(?:(?:define|undef)\s+TRACE_(?:SYSTEM|SYSTEM_VAR|INCLUDE_PATH|INCLUDE_FILE)\b"
    r"|include\s*[<\"](?:linux/tracepoint\.h|trace/define_(?:custom_)?trace\.h)[>\"]"
    r"|pragma\s+once\b|line\b|[0-9])")  # the generated header has a guard of its own, and is read again to create tracepoints
_GUARD = re.compile(r"#\s*(?:ifndef\s+(\w+)|if\s+!\s*defined\s*\(?\s*(\w+)\s*\)?"
                    r"\s*\|\|\s*defined\s*\(?\s*TRACE_(?:HEADER|CUSTOM)_MULTI_READ\s*\)?)")


_CONDITIONAL = re.compile(r"#\s*(if|elif|else|endif)")
_DEFINITION = re.compile(r"#\s*(?:define|undef)\b")

# C code, and how many of the file's declarations stand in front of it.
Piece = tuple[Code, int]


def passed_through(text: Text, declarations: Sequence[Declaration], diag: Diagnostics) -> tuple[tuple[Verbatim, ...], str]:
    """C code, by its line, and the file's first comment, both as written."""
    pieces, comment = _beyond(text, declarations, diag)
    ordered = sorted([*pieces, *_beside(text, declarations)], key=lambda piece: piece[0].line)
    return tuple(_using(text, declarations, ordered)), comment


def _using(text: Text, declarations: Sequence[Declaration], pieces: Sequence[Piece]) -> Iterator[Verbatim]:
    """Each piece with the tracepoints that it is the first one to use, in its branch of the #ifs around."""
    numbers = {d.name.text: number for number, d in enumerate(declarations)
               if "proto" in d.parts and "CUSTOM" not in d.macro.text and "CLASS" not in d.macro.text}
    declared: list[set[str]] = [set()]  # outside, and in the branch of each open #if
    for code, front in pieces:
        used: set[str] = set()
        tokens = lex(code.text, text.source.path)
        if front:
            words = {t.text for t in [*tokens, *text.on_lines(code.line, code.text.count("\n") + 1)] if t.kind == "id"}
            used = {name for word in words for name in _names(word) if numbers.get(name, front) < front}
        uses = tuple(sorted(used.difference(*declared), key=numbers.__getitem__))
        declared[-1].update(uses)
        yield Verbatim(code.line, code.text, uses, len(declared) > 1)
        for word in _conditionals(tokens):
            if word != "if" and len(declared) > 1:
                declared.pop()
            if word != "endif":
                declared.append(set())


def _names(word: str) -> Iterator[str]:
    """What tracepoints may be called that an identifier belongs to: trace_x, trace_x_enabled, register_trace_x and so on."""
    for text in {word, word.removesuffix("_enabled")}:
        yield text
        yield from (text[m.end():] for m in re.finditer("_", text))


def _conditionals(tokens: Sequence[Token]) -> Iterator[str]:
    return (m[1] for t in tokens if t.kind == "dir" and (m := _CONDITIONAL.match(t.text)))


def _beside(text: Text, declarations: Sequence[Declaration]) -> Iterator[Piece]:
    """What macros make beside declarations, as preprocessed: the calls of such macros are not copied to the output."""
    lines: dict[int, list[Declaration]] = {}
    for decl in declarations:
        lines.setdefault(decl.macro.line, []).append(decl)
    for line, here in lines.items():
        between: dict[int, list[Token]] = {}
        for token in text.made_by_macros(line):
            if token.kind != "dir" and not any(d.macro.start <= token.start < d.close.end for d in here):
                between.setdefault(sum(d.macro.start < token.start for d in here), []).append(token)
        for tokens in between.values():
            if any(t.text != ";" for t in tokens):
                yield Code(line, spell(tokens).lstrip("; ")), sum(d.macro.start < tokens[0].start for d in declarations)


def _beyond(text: Text, declarations: Sequence[Declaration], diag: Diagnostics) -> tuple[Iterator[Piece], str]:
    """What is left of the file when its declarations and its frame are taken out, and its first comment."""
    raw, source = text.raw, text.source.text
    holes = list(_frame(raw))
    lines = {d.macro.line for d in declarations}
    ends = [(text.written(d.macro), text.written(d.close)) for d in declarations]
    split = _split(text, declarations, ends, diag)
    closes = {first.start: last.start for first, last in ends if first and last}
    index, depth = 0, 0
    while index < len(raw):
        token = raw[index]
        if split and split[0][0] <= token.start:
            start, end = split.pop(0)
            behind = bisect_left(raw, end, key=lambda t: t.start)
            holes.extend(_around([t for t in raw[index:behind] if t.kind == "dir"], start, end))
            index, depth = behind, 0
            continue
        if token.kind == "punct" and token.text in ("{", "}"):
            depth = max(0, depth + (1 if token.text == "{" else -1))
        call = token.kind == "id" and index + 1 < len(raw) and raw[index + 1].text == "("
        here, own = token.line in lines, token.text in text.own_macros
        if call and token.text in FORMS and (here or not own) or here and own and depth == 0:
            if token.start in closes:
                end = bisect_left(raw, closes[token.start], key=lambda t: t.start)
            else:
                end, whole = _end(raw, index + 1) if call else (index, True)
                if here and not whole:
                    diag.error(_span(text, token), "TP004", f"an #if ends inside of {token.text}(...), which makes an event: put all of "
                               "it into each branch")
            if end + 1 < len(raw) and raw[end + 1].text == ";":
                end += 1
            begin = text.comment_before(token.line)[0]
            alone = not text.source.line(token.line)[:token.start - text.source.offset(token.line)].strip()
            holes.extend(_around([t for t in raw[index:end] if t.kind == "dir"], min(token.start, begin) if alone else token.start,
                                 raw[end].end))
            index, depth = end, 0
        index += 1
    comment = ""
    match = re.match(r"\s*((?:/\*.*?\*/\s*|//[^\n]*\n\s*)+)", source, re.S)
    if match:
        comment = match[1].strip()
        holes.append((0, match.end()))
    starts = [first.start if first else _place(text, d.macro) for d, (first, _) in zip(declarations, ends)]
    return ((code, bisect_left(starts, at)) for at, code in _between(source, sorted(holes))), comment


def _around(directives: Sequence[Token], start: int, end: int) -> Iterator[tuple[int, int]]:
    """What is left of a hole around the macros that are defined in it, with the #ifs around them."""
    if any(_DEFINITION.match(t.text) and not _FRAME.match(t.text) for t in directives):
        for token in directives:
            if not _FRAME.match(token.text):
                yield start, token.start
                start = token.end
    yield start, end


def _place(text: Text, token: Token) -> int:
    """Where a token was written, or what made it."""
    span = text.span(token)
    return text.source.offset(span.line) + span.col - 1


def _split(text: Text, declarations: Sequence[Declaration], ends: Sequence[tuple[Token | None, Token | None]],
           diag: Diagnostics) -> list[tuple[int, int]]:
    """Where declarations stand of which an #if has a part in its branches, and not all: such an #if belongs to them as a whole."""
    conditionals = list(_partners(text.raw))
    starts = [token.start for token, _ in conditionals]
    found: list[tuple[int, int]] = []
    for decl, (first, last) in zip(declarations, ends):
        if not conditionals or not first or not last:
            continue
        # Where one begins or ends elsewhere, it has those in it that are nested.
        inside = [group for _, group in conditionals[bisect_left(starts, first.start):bisect_left(starts, last.end)]]
        begin = min([first, *(opens for opens, _ in inside)], key=lambda t: t.start)
        end = max([last, *(closes for _, closes in inside)], key=lambda t: t.end)
        if begin is first and end is last:
            continue
        other = _beside_it(text, decl, begin.start, end.end)
        if other:
            cut = begin if begin is not first else next(opens for opens, closes in inside if closes is end)
            diag.error(_span(text, cut), "TP004", f"this #if has a part of '{decl.name.text}' in it, and other code, too: put all of "
                       "the event into each branch, or the other code elsewhere", [Note(text.span(other), "the other code is here")])
        after = bisect_left(text.raw, end.end, key=lambda t: t.start)
        found.append((begin.start, text.raw[after].end if [t.text for t in text.raw[after:after + 1]] == [";"] else end.end))
    return found


def _partners(raw: Sequence[Token]) -> Iterator[tuple[Token, tuple[Token, Token]]]:
    """Each #if, #elif, #else and #endif in their order, with the first and the last of them that belong together."""
    directives = [(t, m[1]) for t in raw if t.kind == "dir" and (m := _CONDITIONAL.match(t.text))]
    opened: list[Token] = []
    ends: dict[Token, Token] = {}
    begins: list[tuple[Token, Token]] = []
    for token, word in directives:
        if word == "if":
            opened.append(token)
        if opened:
            begins.append((token, opened[-1]))
            if word == "endif":
                ends[opened.pop()] = token
    return ((token, (begin, ends[begin])) for token, begin in begins if begin in ends)


def _beside_it(text: Text, decl: Declaration, begin: int, end: int) -> Token | None:
    """The first thing between two offsets of the file that is not the declaration's."""
    tokens = text.tokens
    first, last = (bisect_left(tokens, t.start, key=lambda t: t.start) for t in (decl.macro, decl.close))
    number = bisect_left(tokens, begin, 0, first, key=lambda t: _place(text, t))
    if number < first:
        return tokens[number]
    behind = next((t for t in islice(tokens, last + 1, None) if t.text != ";"), None)
    return behind if behind and _place(text, behind) < end else None


def _span(text: Text, token: Token) -> Span:
    """Where a token of the file as written is."""
    return Span(text.source.path, token.line, token.start - text.source.offset(token.line) + 1, token.end - token.start)


def _end(raw: Sequence[Token], opening: int) -> tuple[int, bool]:
    """Where the call ends whose bracket is at index opening, with each #if in it; or where the branch ends that it is in, and
    whether it has ended before."""
    depth = nested = 0
    closed = False
    for index in range(opening, len(raw)):
        token = raw[index]
        if token.kind == "dir":
            for word in _conditionals([token]):
                if word != "if" and not nested:
                    return index - 1, False
                nested += (word == "if") - (word == "endif")
        elif token.kind == "punct":
            depth += (token.text in "([{") - (token.text in ")]}")
            closed = closed or not depth
        if closed and not nested:
            return index, True
    return len(raw) - 1, False


def _frame(raw: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Where the directives of a kernel trace header's frame stand."""
    directives = [t for t in raw if t.kind == "dir"]
    for token in directives:
        if _FRAME.match(token.text):
            yield token.start, token.end
    yield from _guard(raw, directives)


def _guard(raw: Sequence[Token], directives: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """The include guard: #if and #define in front of everything else, and the #endif."""
    rest = [t for t in directives if not _FRAME.match(t.text)]
    match = _GUARD.match(rest[0].text) if len(rest) > 2 else None
    if not match or not re.match(rf"#\s*define\s+{re.escape(match[1] or match[2])}\s*(?:/\*.*)?$", rest[1].text, re.S):
        return
    if any(t.kind != "dir" and t.start < rest[1].start for t in raw):
        return
    depth = 0
    for token in rest:
        word = re.match(r"#\s*(\w*)", token.text)
        assert word
        depth += word[1].startswith("if")
        depth -= word[1] == "endif"
        if depth == 0:
            for one in (rest[0], rest[1], token):
                yield one.start, one.end
            return


def _between(source: str, holes: Sequence[tuple[int, int]]) -> Iterator[tuple[int, Code]]:
    at, line = 0, 1
    for start, end in [*holes, (len(source), len(source))]:
        chunk = source[at:start] if start > at else ""
        code = re.sub(r"/\*.*?\*/|//[^\n]*", "", chunk, flags=re.S)
        if code.strip():
            lead = len(chunk) - len(chunk.lstrip())
            first = chunk.rfind("\n", 0, lead) + 1
            yield at + lead, Code(line + chunk.count("\n", 0, first), chunk[first:].rstrip())
        if end > at:
            line += source.count("\n", at, end)
            at = end

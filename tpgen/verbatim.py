# SPDX-License-Identifier: MIT
"""The C of a file that passes through to the generated header: what stands between its declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tpgen.lexer import Token, spell
from tpgen.model import Code
from tpgen.parser import FORMS, Declaration
from tpgen.text import Text
from tpgen.tokens import matching

# Directives and includes that frame a kernel trace header; they say nothing to a user-space program.
_FRAME = re.compile(
    r"#\s*(?:(?:define|undef)\s+TRACE_(?:SYSTEM|SYSTEM_VAR|INCLUDE_PATH|INCLUDE_FILE)\b"
    r"|include\s*[<\"](?:linux/tracepoint\.h|trace/define_(?:custom_)?trace\.h)[>\"]"
    r"|pragma\s+once\b|line\b|[0-9])")  # the generated header has a guard of its own, and is read again to create tracepoints
_GUARD = re.compile(r"#\s*(?:ifndef\s+(\w+)|if\s+!\s*defined\s*\(?\s*(\w+)\s*\)?"
                    r"\s*\|\|\s*defined\s*\(?\s*TRACE_(?:HEADER|CUSTOM)_MULTI_READ\s*\)?)")


def passed_through(text: Text, declarations: Sequence[Declaration]) -> tuple[tuple[Code, ...], str]:
    """C code, by its line, and the file's first comment, both as written."""
    pieces, comment = _beyond(text, declarations)
    return tuple(sorted([*pieces, *_beside(text, declarations)], key=lambda piece: piece.line)), comment


def _beside(text: Text, declarations: Sequence[Declaration]) -> Iterator[Code]:
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
                yield Code(line, spell(tokens).lstrip("; "))


def _beyond(text: Text, declarations: Sequence[Declaration]) -> tuple[Iterator[Code], str]:
    """What is left of the file when its declarations and its frame are taken out, and its first comment."""
    raw, source = text.raw, text.source.text
    holes = list(_frame(raw))
    lines = {d.macro.line for d in declarations}
    index, depth = 0, 0
    while index < len(raw):
        token = raw[index]
        if token.kind == "punct" and token.text in ("{", "}"):
            depth = max(0, depth + (1 if token.text == "{" else -1))
        call = token.kind == "id" and index + 1 < len(raw) and raw[index + 1].text == "("
        here, own = token.line in lines, token.text in text.own_macros
        if call and token.text in FORMS and (here or not own) or here and own and depth == 0:
            end = matching(raw, index + 1) if call else index
            if end + 1 < len(raw) and raw[end + 1].text == ";":
                end += 1
            begin = text.comment_before(token.line)[0]
            alone = not text.source.line(token.line)[:token.start - text.source.offset(token.line)].strip()
            holes.append((min(token.start, begin) if alone else token.start, raw[end].end))
            index, depth = end, 0
        index += 1
    comment = ""
    match = re.match(r"\s*((?:/\*.*?\*/\s*|//[^\n]*\n\s*)+)", source, re.S)
    if match:
        comment = match[1].strip()
        holes.append((0, match.end()))
    return _between(source, sorted(holes)), comment


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


def _between(source: str, holes: Sequence[tuple[int, int]]) -> Iterator[Code]:
    at, line = 0, 1
    for start, end in [*holes, (len(source), len(source))]:
        chunk = source[at:start] if start > at else ""
        code = re.sub(r"/\*.*?\*/|//[^\n]*", "", chunk, flags=re.S)
        if code.strip():
            lead = len(chunk) - len(chunk.lstrip())
            first = chunk.rfind("\n", 0, lead) + 1
            yield Code(line + chunk.count("\n", 0, first), chunk[first:].rstrip())
        if end > at:
            line += source.count("\n", at, end)
            at = end

# SPDX-License-Identifier: MIT
"""What a name is: a record, its fields, a parameter, a macro of the language; and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tpgen.diag import Diagnostic, Unexplained, explain
from tpgen.kinds import FIELD_MACROS
from tpgen.layout import HEADER_SIZE, RECORD_MAX
from tpgen.lsp.analysis import Member, Record, Records
from tpgen.lsp.document import Document
from tpgen.lsp.outline import Symbol
from tpgen.manual import macros
from tpgen.parser import FORMS, PART_WORDS, WORDS, written

# Of a macro's definition.
MAX_LINES = 20

_WORD = re.compile(r"\w+")


def hover(document: Document, records: Records, offset: int, found: Sequence[Diagnostic], markdown: bool) -> object:
    outline = document.outline
    index = outline.index(offset)
    texts: list[str] = []
    if index is not None:
        symbol = outline.symbol(index)
        texts = list(_symbol(document, symbol, records) if symbol else _word(outline.tokens[index].text))
    else:  # perhaps in the definition of a macro
        texts = [text for match in _WORD.finditer(document.source.line(document.source.place(offset)[0]))
                 if match.start() < document.source.place(offset)[1] <= match.end() for text in _word(match[0])]
    codes = dict.fromkeys(one.code for one in found if _covers(document, one, offset))
    texts += [text for code in codes for text in _explained(code)]
    if not texts:
        return None
    return {"contents": {"kind": "markdown" if markdown else "plaintext",
                         "value": "\n\n".join(text if markdown else text.replace("```c\n", "").replace("\n```", "") for text in texts)},
            **({"range": document.range(outline.tokens[index].start, outline.tokens[index].end)} if index is not None else {})}


def _covers(document: Document, one: Diagnostic, offset: int) -> bool:
    line, col = document.source.place(offset)
    return one.span.line == line and one.span.col <= col <= one.span.col + one.span.length


def _explained(code: str) -> Iterator[str]:
    try:
        yield explain([code])
    except Unexplained:  # the page is not installed
        pass


def _symbol(document: Document, symbol: Symbol, records: Records) -> Iterator[str]:
    owner = symbol.owner
    if symbol.kind == "macro":
        yield _code("\n".join(symbol.at.text.splitlines()[:MAX_LINES]))
    elif symbol.kind == "parameter" and owner:
        written_ = next((p.text for p in owner.params if p.name is symbol.at), "")
        yield _code(written_)
        yield "a parameter"
    elif symbol.kind == "field" and owner:
        yield from _field(symbol, records)
    elif owner:
        record = records.get((symbol.kind, symbol.at.text))
        yield _code(f"{owner.macro.text}({symbol.at.text})")
        if record:
            yield from _record(symbol, record)
        elif document.outline.record(owner):
            yield "Its record is shown when nothing is wrong with it."


def _field(symbol: Symbol, records: Records) -> Iterator[str]:
    assert symbol.owner
    name = symbol.owner.named("name")
    record = records.get(("class", name.text)) if name else None
    declared = next(f for f in symbol.owner.fields if f.name is symbol.at)
    member = next((m for m in record.members if m.field.name == symbol.at.text), None) if record else None
    yield _code(member.field.decl if member else declared.text)
    assert declared.kind
    kind = declared.kind.name.replace("_", " ")
    if member and member.offset is not None:
        kind += f"; offset {member.offset}, size {member.size}" + (", of the word that says where its payload is" if member.field.dynamic else "")
    elif member:
        kind += "; the C compiler does not know the size of each type of this record"
    yield kind


def _record(symbol: Symbol, record: Record) -> Iterator[str]:
    title = f"{record.system}:{symbol.at.text}" if record.system else symbol.at.text
    lines = [f"{'offset':>6} {'size':>5}  {title}", f"{0:6} {HEADER_SIZE:5}  the common header"] if record.length is not None else [title]
    yield _code("\n".join([*lines, *map(_member, record.members)]))
    payloads = ", ".join(m.field.name for m in record.members if m.field.dynamic)
    if record.length is None:
        yield "The C compiler does not know the size of each type."
    else:
        yield f"{record.length} bytes" + (f", and the payloads of {payloads}: at most {RECORD_MAX}" if payloads else "")
    yield _code(record.text)


def _member(member: Member) -> str:
    place = f"{member.offset:6} {member.size:5}  " if member.offset is not None else ""
    return f"{place}{member.field.decl}"


def _word(word: str) -> Iterator[str]:
    called, text = macros().get(word) or macros().get(word.replace("_rel_", "_", 1)) or ("", "")
    if word in FORMS:
        called = written(word)
    elif word in FIELD_MACROS:
        called = f"{word}({', '.join(FIELD_MACROS[word][0].arguments)})"
    elif word in PART_WORDS:
        called, text = word, macros().get(next(role for role, words in WORDS.items() if word in words), ("", ""))[1]
    elif not word.startswith(("__", "TRACE_", "LTTNG_")):
        return
    if called:
        yield _code(called)
        yield text


def _code(text: str) -> str:
    return f"```c\n{text}\n```"

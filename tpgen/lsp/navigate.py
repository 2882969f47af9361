# SPDX-License-Identifier: MIT
"""Where names are declared and used, and what a file declares."""

from __future__ import annotations

from tpgen.lsp.analysis import Records
from tpgen.lsp.document import Document
from tpgen.lsp.outline import ENTRIES, Declared, Symbol

# Numbers of the protocol's.
_CLASS, _FIELD, _EVENT, _FUNCTION = 5, 8, 24, 12


def definition(document: Document, records: Records, offset: int) -> object:
    index = document.outline.index(offset)
    if index is None:
        return None
    symbol = document.outline.symbol(index)
    if symbol:
        return _location(document, symbol)
    # A field that a macro of the file makes is in the compiler's record only.
    tokens = document.outline.tokens
    declared = document.outline.around(offset)
    owner = document.outline.record(declared) if declared and index > 1 and tokens[index - 2].text in ENTRIES else None
    name = owner.named("name") if owner else None
    record = records.get(("class", name.text)) if name else None
    member = next((m for m in record.members if m.field.name == tokens[index].text), None) if record else None
    return {"uri": document.uri, "range": document.of_span(member.field.span)} if member else None


def _location(document: Document, symbol: Symbol) -> dict[str, object]:
    return {"uri": document.uri, "range": document.range(symbol.at.start, symbol.at.end)}


def references(document: Document, _: Records, offset: int, declaration: bool) -> object:
    outline = document.outline
    index = outline.index(offset)
    symbol = outline.symbol(index) if index is not None else None
    if not symbol or index is None:
        return None
    # A site's trace_X names the event X.
    texts = {outline.tokens[index].text, symbol.at.text, f"trace_{symbol.at.text}"}
    found = [t for number, t in enumerate(outline.tokens) if t.kind in ("id", "num") and t.text in texts
             and (said := outline.symbol(number)) and said.at is symbol.at and (declaration or t is not symbol.at)]
    return [{"uri": document.uri, "range": document.range(t.start, t.end)} for t in found]


def symbols(document: Document, hierarchical: bool) -> object:
    """The events, classes and bare tracepoints; below each, its fields."""
    out: list[dict[str, object]] = []
    for declared in document.outline.declared:
        name = declared.named("name")
        if not name or not (declared.is_event or declared.is_class):
            continue
        kind = _CLASS if declared.is_class else _EVENT if "EVENT" in declared.macro.text else _FUNCTION
        whole = document.range(declared.macro.start, min(declared.end, len(document.source.text)))
        if hierarchical:
            out.append({"name": name.text, "detail": declared.macro.text, "kind": kind, "range": whole,
                        "selectionRange": document.range(name.start, name.end), "children": _fields(document, declared)})
        else:
            out.append({"name": name.text, "kind": kind, "location": {"uri": document.uri, "range": whole}})
    return out


def _fields(document: Document, declared: Declared) -> list[dict[str, object]]:
    return [{"name": f.name.text, "detail": f.text, "kind": _FIELD, "range": document.range(f.macro.start, f.end),
             "selectionRange": document.range(f.name.start, f.name.end)} for f in declared.fields if f.macro]

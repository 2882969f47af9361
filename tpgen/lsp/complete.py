# SPDX-License-Identifier: MIT
"""What may stand at a place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tpgen.check.fields import HELPERS
from tpgen.kinds import FIELD_MACROS, FieldKind, twin
from tpgen.lsp.analysis import Records
from tpgen.lsp.document import Document
from tpgen.lsp.outline import ENTRIES, Declared, Region
from tpgen.manual import macros
from tpgen.model import LOGLEVELS
from tpgen.parser import FORMS, WORDS

# Numbers of the protocol's.
_FUNCTION, _FIELD, _VARIABLE, _CLASS, _KEYWORD, _ENUMERATOR, _EVENT = 3, 5, 6, 7, 14, 20, 23

_NO_CODE = re.compile(r"""(?P<closed>/\*.*?\*/ | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*') | /\*.* | //(?:\\\n|[^\n])*
                      | "(?:\\.|[^"\\\n])* | '(?:\\.|[^'\\\n])* | ^[ \t]*\#(?:\\\n|[^\n])* | \b[0-9][\w.]*""", re.S | re.M | re.X)
_CALLED = re.compile(r"\w*[ \t]*\(")


@dataclass(frozen=True, slots=True)
class _Item:
    label: str
    kind: int
    detail: str = ""
    snippet: str = ""  # what becomes of it, with places to fill in


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    kind: FieldKind
    rel: bool

    def fits(self, takes: str, rel: bool) -> bool:
        """Whether a helper of such fields takes it."""
        return self.kind.dynamic and self.rel == rel and (takes in ("any", self.kind.name) or takes in self.kind.fits)


def complete(document: Document, records: Records, offset: int, snippets: bool) -> object:
    text = document.source.text
    begin = offset
    while begin and (text[begin - 1].isalnum() or text[begin - 1] == "_"):
        begin -= 1
    if _in_no_code(text, offset):
        return []
    place = document.range(begin, offset)
    called = _CALLED.match(text, offset)
    out = []
    for number, item in enumerate({one.label: one for one in _items(document, records, begin)}.values()):
        new = item.snippet if snippets and item.snippet and not called else item.label
        out.append({"label": item.label, "kind": item.kind, "sortText": f"{number:04}", "textEdit": {"range": place, "newText": new},
                    **({"insertTextFormat": 2} if new == item.snippet else {}), **({"detail": item.detail} if item.detail else {})})
    return out


def _in_no_code(text: str, offset: int) -> bool:
    """Whether the place is in a comment, a literal, a directive or a number."""
    for match in _NO_CODE.finditer(text):
        if offset <= match.end():
            return match.start() < offset and (offset < match.end() or not match["closed"])
    return False


def _items(document: Document, records: Records, begin: int) -> Iterator[_Item]:
    outline = document.outline
    declared = outline.around(begin)
    if not declared or begin <= declared.macro.start:
        yield from (_Item(macro, _KEYWORD, ", ".join(form), _skeleton(macro)) for macro, form in FORMS.items())
        return
    region = declared.at(begin)
    if not region or not region.word:
        yield from _parts(document, declared, region)
    elif region.role == "struct":
        yield from _struct(declared, region, begin)
    elif region.role in ("args", "cond"):
        yield from _params(declared)
    elif region.role in ("assign", "print"):
        yield from _statement(declared, region, begin, list(_fields(document, declared, records)))


def _parts(document: Document, declared: Declared, region: Region | None) -> Iterator[_Item]:
    """Where no word is around a part: a name of the file's, or the word."""
    role = region.role if region else ""
    if role == "class":
        yield from (_Item(name, _CLASS) for name in document.outline.classes)
    elif role == "event":
        yield from (_Item(name, _EVENT) for name in document.outline.events)
    elif role == "level":
        yield from (_Item(f"TRACE_{level}", _ENUMERATOR) for level in LOGLEVELS)
    elif role not in ("name", "enum", "sizeof", "system"):
        there = {one.role for one in declared.regions if one.word}
        missing = [one for one in FORMS[declared.macro.text] if one in WORDS and one not in there]
        missing.sort(key=lambda one: one != role)  # what belongs here comes first
        yield from (_Item(WORDS[one][0], _KEYWORD, _said(one), _part(one, 1)) for one in missing)
        if role in ("reg", "unreg", "cond"):
            yield from _params(declared)


def _said(word: str) -> str:
    return macros().get(word, ("", ""))[1]


def _struct(declared: Declared, region: Region, begin: int) -> Iterator[_Item]:
    macro, number = _call(region, begin)
    if not macro:
        for name, (kind, _) in FIELD_MACROS.items():
            yield _Item(name, _FUNCTION, ", ".join(kind.arguments),
                        f"{name}({', '.join(_hole(n, argument) for n, argument in enumerate(kind.arguments, 1))})")
    elif macro not in FIELD_MACROS or FIELD_MACROS[macro][0].arguments[number:number + 1] not in (("type",), ("name",)):
        yield from _params(declared)


def _statement(declared: Declared, region: Region, begin: int, fields: list[_Field]) -> Iterator[_Item]:
    """In TP_fast_assign and TP_printk."""
    before = [t.text for t in region.tokens if t.end <= begin][-2:]
    if before[-1:] in (["->"], ["."]):
        if before[0] in ENTRIES:
            yield from (_Item(f.name, _FIELD) for f in fields if not f.kind.dynamic)
        return
    helper, number = _call(region, begin)
    if helper in HELPERS and HELPERS[helper].takes and not number:
        yield from (_Item(f.name, _FIELD) for f in fields if f.fits(HELPERS[helper].takes, HELPERS[helper].rel))
        return
    yield from (_Item(f"__entry->{f.name}", _FIELD) for f in fields if not f.kind.dynamic)
    for f in (f for f in fields if f.kind.dynamic):
        if region.role == "assign":
            yield from _assigner(f)
        if region.role == "print" or f.kind.counted:
            yield _Item(f"{f.kind.getter(f.rel)}({f.name})", _FUNCTION)
    if region.role == "assign":
        yield from _params(declared)
    other = "__print_" if region.role == "assign" else "__assign_"
    yield from (_Item(name, _FUNCTION, _said(name), f"{name}($1)") for name in HELPERS if not name.startswith(other))


def _assigner(f: _Field) -> Iterator[_Item]:
    for name in f.kind.assigners[:1]:
        helper, more = twin(name) if f.rel else name, f.kind.assigned > 1
        call = f"{helper}({f.name}"
        yield _Item(f"{call}, ...)" if more else f"{call})", _FUNCTION, "", _plain(call) + (", $1);" if more else ");"))


def _fields(document: Document, declared: Declared, records: Records) -> Iterator[_Field]:
    """Also those that macros of the file make, if the compiler knows them."""
    owner = document.outline.record(declared)
    name = owner.named("name") if owner else None
    record = records.get(("class", name.text)) if name else None
    if owner:
        yield from (_Field(f.name.text, f.kind, f.rel) for f in owner.fields if f.kind)
    if record:
        yield from (_Field(m.field.name, m.field.kind, m.field.rel) for m in record.members)


def _params(declared: Declared) -> Iterable[_Item]:
    return (_Item(p.name.text, _VARIABLE, p.text) for p in declared.params)


def _call(region: Region, begin: int) -> tuple[str, int]:
    """The innermost call around a place: its name, and the number of the argument."""
    calls: list[tuple[str, int]] = []
    previous = ""
    for token in region.tokens:
        if token.end > begin:
            break
        if token.text in FIELD_MACROS:
            calls.clear()  # what is in front of it is never closed
        if token.kind == "punct" and token.text in "([{":
            calls.append((previous, 0))
        elif token.kind == "punct" and token.text in ")]}" and calls:
            calls.pop()
        elif token.text == "," and calls:
            calls[-1] = (calls[-1][0], calls[-1][1] + 1)
        previous = token.text
    return calls[-1] if calls else ("", 0)


def _plain(text: str) -> str:
    """In a snippet."""
    return text.replace("$", "\\$")


def _hole(number: int, text: str) -> str:
    return f"${{{number}:{text}}}"


def _part(role: str, number: int) -> str:
    inside = {"struct": f"\n\t\t${{{number}}}\n\t", "assign": f"\n\t\t${{{number}}}\n\t", "print": f'"${{{number}}}"'}
    return f"{WORDS[role][0]}({inside.get(role, f'${{{number}}}')})"


def _skeleton(macro: str) -> str:
    """A declaration with all its parts; one with a record has a line for each."""
    parts = [_part(role, n) if role in WORDS else _hole(n, role) for n, role in enumerate(FORMS[macro], 1)]
    between, end = (",\n\t", "\n") if "struct" in FORMS[macro] else (", ", "")
    return f"{macro}({between.join(parts)}{end});"

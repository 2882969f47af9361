# SPDX-License-Identifier: MIT
"""The rules: what is wrong with a definition that could be compiled. Here, those on declarations across all files.

The C compiler sees only what tpgen makes of a definition; most of these
mistakes it would compile in silence, or report in lines nobody wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tpgen import ctype
from tpgen.check.fields import check_fields
from tpgen.check.layout import check_layout
from tpgen.check.print import check_print
from tpgen.check.scope import Record, code_of, unevaluated
from tpgen.check.tables import check_tables
from tpgen.diag import Diagnostics, Note, nearest
from tpgen.lexer import Text, Token, lex, spell
from tpgen.lower import Lowered
from tpgen.model import Param, Tracepoint
from tpgen.parser import C_KEYWORDS, Declaration, matching, split
from tpgen.source import Span

# A name that stands for a number, by the habits of C.
_CONSTANT = re.compile(r"(?!NULL$|PRI[a-zA-Z]|TRUE$|FALSE$)[A-Z][A-Z0-9_]{2,}$")


def check(units: Sequence[Lowered], diag: Diagnostics) -> None:
    """All rules, over all files of a run."""
    _duplicates(units, diag)
    _custom_prototypes(units, diag)
    for lowered in units:
        records = _records(lowered, diag)
        tables: set[str] = set()
        for record in records:
            if "CLASS" in record.decl.macro.text:
                _arguments(record.decl, record.event_class.params, lowered.text, diag)
            check_fields(record)
            check_layout(record)
            for part in record.prints:
                check_print(record, part)
                check_tables(record, part, tables)
        for decl, tracepoint in lowered.tracepoints:
            _arguments(decl, tracepoint.params, lowered.text, diag)
            _prototypes(decl, tracepoint, lowered, diag)
        if diag.remarks:
            _single_events(lowered, diag)
            _cpp_names(lowered, diag)
            _unevaluated_names(lowered, records, diag)


def _records(lowered: Lowered, diag: Diagnostics) -> list[Record]:
    records = [Record(event_class, decl, [decl.parts["print"]], lowered.text, diag)
               for decl, event_class in lowered.classes]
    by_class = {id(r.event_class): r for r in records}
    for decl, tracepoint in lowered.tracepoints:
        if tracepoint.print and tracepoint.event_class:
            by_class[id(tracepoint.event_class)].prints.append(decl.parts["print"])
    return records


def _duplicates(units: Sequence[Lowered], diag: Diagnostics) -> None:
    """Two tracepoints of a name, and two classes; a TRACE_EVENT is both. Custom events have names of their own."""
    tracepoints: dict[tuple[str, bool], Span] = {}
    classes: dict[tuple[str, bool], Span] = {}
    for lowered in units:
        for decl, tracepoint in lowered.tracepoints:
            span = lowered.text.span(decl.name)
            first = tracepoints.setdefault((tracepoint.name, tracepoint.custom), span)
            if first != span:
                what = "custom events" if tracepoint.custom else "tracepoints"
                diag.error(span, "TP030", f"two {what} are called '{tracepoint.name}'; names are global to a program",
                           [Note(first, "the first is here")])
        for decl, event_class in lowered.classes:
            span = lowered.text.span(decl.name)
            key = event_class.name, event_class.custom
            first = classes.setdefault(key, span)
            if first != span and not tracepoints.get(key, span) == first:
                remedy = "rename one" if first.path == span.path else "rename one, or move its events into the file of the other"
                diag.error(span, "TP031", f"two event classes are called '{event_class.name}'; names are global to a program: "
                           f"{remedy}",
                           [Note(first, "the first is here")])


def _arguments(decl: Declaration, params: Sequence[Param], text: Text, diag: Diagnostics) -> None:
    """TP_ARGS must be the parameters' names in their order."""
    part, proto = decl.parts["args"], decl.parts["proto"]
    args = [spell(a.tokens) for a in split(part.tokens, part.at, part.end)]
    names = [p.name for p in params]
    if args == (names or ["void"]) or args == names:
        return
    if len(args) != len(names):
        what = f"{_count(len(args), 'argument')} for {_count(len(names), 'parameter')}"
    elif sorted(args) == sorted(names):
        what = "the arguments are not in the prototype's order"
    else:
        wrong = next(a for a, n in zip(args, names) if a != n)
        what = f"'{wrong}' is not the parameter at its place{nearest(wrong, names)}"
    span = text.span(part.at, part.end) if part.tokens else text.span(decl.name)
    diag.error(span, "TP041", f"TP_ARGS of '{decl.name.text}': {what}; it must be TP_ARGS({', '.join(names)})",
               [Note(text.span(proto.at, proto.end), "the prototype is here")])


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _prototypes(decl: Declaration, tracepoint: Tracepoint, lowered: Lowered, diag: Diagnostics) -> None:
    """An event has its class's prototype."""
    event_class = tracepoint.event_class
    if not event_class or "class" not in decl.parts:
        return
    own, its = [p.type for p in tracepoint.params], [p.type for p in event_class.params]
    if len(own) == len(its) and all(ctype.may_be_same(a.canonical, b.canonical)
                                    for a, b in zip(tracepoint.params, event_class.params)):
        return
    part = decl.parts["proto"]
    where = next(d for d, c in lowered.classes if c is event_class).parts["proto"]
    diag.error(lowered.text.span(part.at, part.end), "TP033",
               f"the prototype of '{tracepoint.name}', ({', '.join(own)}), is not that of its class "
               f"'{event_class.name}', ({', '.join(its)})",
               [Note(lowered.text.span(where.at, where.end), "the class's prototype is here")])


def _custom_prototypes(units: Sequence[Lowered], diag: Diagnostics) -> None:
    """A custom event has the prototype of its tracepoint, where a file of the run has that."""
    points = {t.name: (decl, t, lowered) for lowered in units for decl, t in lowered.tracepoints
              if not t.custom and not t.nop}
    for lowered in units:
        for decl, event in lowered.tracepoints:
            if not event.custom or event.name not in points:
                continue
            theirs, point, where = points[event.name]
            if len(event.params) == len(point.params) and all(ctype.may_be_same(a.canonical, b.canonical)
                                                              for a, b in zip(event.params, point.params)):
                continue
            part, proto = decl.parts["proto"], theirs.parts["proto"]
            diag.error(lowered.text.span(part.at, part.end), "TP033",
                       f"the prototype of the custom event '{event.name}', ({', '.join(p.type for p in event.params)}), is "
                       f"not that of its tracepoint, ({', '.join(p.type for p in point.params)})",
                       [Note(where.text.span(proto.at, proto.end), "the tracepoint's prototype is here")])


_CPP_KEYWORDS = frozenset(
    "alignas alignof and and_eq asm bitand bitor bool catch char16_t char32_t class compl concept const_cast constexpr "
    "decltype delete dynamic_cast explicit export false friend mutable namespace new noexcept not not_eq nullptr operator "
    "or or_eq private protected public reinterpret_cast requires static_assert static_cast template this thread_local "
    "throw true try typeid typename using virtual wchar_t xor xor_eq".split())


def _cpp_names(lowered: Lowered, diag: Diagnostics) -> None:
    """Names by which C++ files can't include the header."""
    for decl, tracepoint in lowered.tracepoints:
        for param in tracepoint.params:
            if param.name in _CPP_KEYWORDS:
                part = decl.parts["proto"]
                diag.remark(lowered.text.span(part.at, part.end), "TP042", f"parameter '{param.name}' of "
                            f"'{tracepoint.name}' is a keyword of C++, whose files then can't include the header")
    for _, event_class in lowered.classes:
        for field in event_class.fields:
            if field.name in _CPP_KEYWORDS:
                diag.remark(field.span, "TP042", f"field '{field.name}' of '{event_class.name}' is a keyword of C++, whose "
                            "files then can't include the header")


def _single_events(lowered: Lowered, diag: Diagnostics) -> None:
    """A class is there for several events."""
    events: dict[int, list[Tracepoint]] = {}
    for _, tracepoint in lowered.tracepoints:
        events.setdefault(id(tracepoint.event_class), []).append(tracepoint)
    for decl, event_class in lowered.classes:
        own = events.get(id(event_class), [])
        if "CLASS" in decl.macro.text and len(own) < 2:
            what = f"only one event, '{own[0].name}'; write TRACE_EVENT({own[0].name}, ...)" if own else "no event"
            diag.remark(lowered.text.span(decl.name), "TP035", f"class '{event_class.name}' has {what}")


def _unevaluated_names(lowered: Lowered, records: Sequence[Record], diag: Diagnostics) -> None:
    """Names in a format file that its readers can't look up, each once a file."""
    known = {e.text for e in lowered.unit.evals}
    for record in records:
        named = [(one, lowered.text.span(at)) for part in record.prints for one, at in _constants(code_of(part))]
        for field in record.event_class.fields:
            if field.kind == "array":
                length = lex(field.code[0].text, lowered.text.source.path)
                named.extend((one, field.span) for one, _ in _constants(length))
        for (text, remedy), span in named:
            if text not in known:
                known.add(text)
                diag.remark(span, "TP056", f"'{text}' stands in the event's format by name, where readers of a trace "
                            f"can't look it up; {remedy}; gives them its value")


def _constants(tokens: Sequence[Token]) -> Iterator[tuple[tuple[str, str], Token]]:
    """What only the C compiler can evaluate, with the declaration that tells readers its value, and its place."""
    unseen = unevaluated(tokens)
    for index, token in enumerate(tokens):
        after = tokens[index + 1].text if index + 1 < len(tokens) else ""
        before = tokens[index - 1].text if index else ""
        if token.text == "sizeof" and after == "(":
            of = tokens[index + 2:matching(tokens, index + 1)]
            # Readers know the sizes of C's own types.
            if "__entry" not in [t.text for t in of] and not all(t.text in C_KEYWORDS for t in of):
                yield (f"sizeof({spell(of)})", f"TRACE_DEFINE_SIZEOF({spell(of)})"), token
        elif index not in unseen and _CONSTANT.match(token.text) and token.kind == "id" and after != "(" \
                and before not in ("->", "."):
            yield (token.text, f"TRACE_DEFINE_ENUM({token.text})"), token

# SPDX-License-Identifier: MIT
"""Rules on declarations: names that stand twice or that C++ can't have, classes that no second event has."""

from __future__ import annotations

from collections.abc import Sequence

from tpgen.diag import Diagnostics, Note
from tpgen.lower import Lowered
from tpgen.model import Tracepoint
from tpgen.source import Span

_CPP_KEYWORDS = frozenset(
    "alignas alignof and and_eq asm bitand bitor bool catch char16_t char32_t class compl concept const_cast constexpr "
    "decltype delete dynamic_cast explicit export false friend mutable namespace new noexcept not not_eq nullptr operator "
    "or or_eq private protected public reinterpret_cast requires static_assert static_cast template this thread_local "
    "throw true try typeid typename using virtual wchar_t xor xor_eq".split())


def check_duplicates(units: Sequence[Lowered], diag: Diagnostics) -> None:
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


def check_cpp_names(lowered: Lowered, diag: Diagnostics) -> None:
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


def check_single_events(lowered: Lowered, diag: Diagnostics) -> None:
    """A class is there for several events."""
    events: dict[int, list[Tracepoint]] = {}
    for _, tracepoint in lowered.tracepoints:
        events.setdefault(id(tracepoint.event_class), []).append(tracepoint)
    for decl, event_class in lowered.classes:
        own = events.get(id(event_class), [])
        if "CLASS" in decl.macro.text and len(own) < 2:
            what = f"only one event, '{own[0].name}'; write TRACE_EVENT({own[0].name}, ...)" if own else "no event"
            diag.remark(lowered.text.span(decl.name), "TP035", f"class '{event_class.name}' has {what}")

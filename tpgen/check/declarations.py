# SPDX-License-Identifier: MIT
"""Rules on declarations: names that stand twice or that the generated code needs, classes that no second event has."""

from __future__ import annotations

from collections.abc import Sequence

from tpgen.diag import Diagnostics, Note
from tpgen.lower import Lowered
from tpgen.model import Param, Tracepoint
from tpgen.parser import Declaration
from tpgen.source import Span

# Beside the parameters of a tracepoint's iterator, and of the writer of its records.
_ITERATOR = ("__data", "__it", "__probe")
_WRITER = ("__entry", "__rec", "__record", "__size")


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


def check_reserved_names(lowered: Lowered, diag: Diagnostics) -> None:
    """Parameters that are called as what stands beside them in the generated code."""
    users: dict[int, list[str]] = {}
    for decl, tracepoint in lowered.tracepoints:
        users.setdefault(id(tracepoint.event_class), []).append(tracepoint.name)
        if not tracepoint.nop:
            _reserved(decl, tracepoint.params, _ITERATOR if not tracepoint.custom else _ITERATOR[:1], lowered, diag)
    for decl, event_class in lowered.classes:
        own = users.get(id(event_class), [])
        if own:
            dynamic = any(f.dynamic for f in event_class.fields)
            names = [*_WRITER, *(["__dyn"] if dynamic else []), *(["__event"] if own != [event_class.name] else [])]
            _reserved(decl, event_class.params, names, lowered, diag)


def _reserved(decl: Declaration, params: Sequence[Param], names: Sequence[str], lowered: Lowered, diag: Diagnostics) -> None:
    for param in params:
        if param.name in names:
            at = next(t for t in decl.parts["proto"].tokens if t.text == param.name)
            diag.error(lowered.text.span(at), "TP043", f"parameter '{param.name}' of '{decl.name.text}' has the "
                       "name of a variable of the code that tpgen makes of it; rename the parameter")


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

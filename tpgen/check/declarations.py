# SPDX-License-Identifier: MIT
"""Rules on declarations: names that stand twice or that the generated code needs, classes that no second event has."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tpgen.check.print import KERNEL_HEADER
from tpgen.diag import Diagnostics, Note
from tpgen.lower import Lowered
from tpgen.model import Param, Tracepoint
from tpgen.parser import Declaration
from tpgen.source import Span

# What a header has for a tracepoint: the functions that every file sees, and those of one that does nothing.
_NOTHING = ("trace_{}", "trace_{}_enabled")
_FUNCTIONS = (*_NOTHING, "register_trace_{}", "register_trace_prio_{}", "unregister_trace_{}", "check_trace_callback_type_{}")
# What the program has of it, once, if it is an event.
_EVENT = ("tp_event_{}", "tp_record_{}")
GENERATED = (*_FUNCTIONS, *_EVENT)
# The runtime's own functions and macros with such names. tests/structure/test_limits.py compares.
RUNTIME = {"trace_mark": "marker.h", "tp_event_format": "event.h", "tp_event_field_at": "event.h", "tp_event_field_at_sized": "event.h",
           **{f"trace_seq_{name}": "trace_seq.h" for name in (
               "bitmask", "buffer_ptr", "has_overflowed", "init", "printf", "putc", "putmem", "puts", "vprintf")}}

# Macros that are no words for a compiler, and where they come from.
_GNU = "a macro of compilers in their GNU mode; rename it, or compile with -std=c11 or the like"
_MACROS = {"unix": _GNU, "linux": _GNU, "i386": _GNU, "errno": "a macro of <errno.h>, which the runtime's headers include; rename it"}

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


def check_generated_names(units: Sequence[Lowered], diag: Diagnostics) -> None:
    """Functions that the header would have twice, or that the runtime has."""
    functions: dict[str, tuple[Span, Tracepoint]] = {}
    for lowered in units:
        for decl, tracepoint in lowered.tracepoints:
            if tracepoint.custom:
                continue
            span, name = lowered.text.span(decl.name), tracepoint.name
            named = _NOTHING if tracepoint.nop else GENERATED if tracepoint.event_class else _FUNCTIONS
            own = next((f for f in (g.format(name) for g in named) if f in RUNTIME), None)
            if own:
                diag.error(span, "TP045", f"the header of tracepoint '{name}' would have {own}(), which is the runtime's, in "
                           f"tp/{RUNTIME[own]}; rename the tracepoint")
            for function in (f.format(name) for f in (_NOTHING if tracepoint.nop else _FUNCTIONS)):
                first, other = functions.setdefault(function, (span, tracepoint))
                if other.name == name:
                    continue
                together = "" if first.path == span.path else ", and no file could include both headers"
                say = diag.warning if together else diag.error
                say(span, "TP044", f"tracepoints '{name}' and '{other.name}' would both have a function {function}(){together}; "
                    "rename one", [Note(first, "the other is here")])


def check_macros(lowered: Lowered, diag: Diagnostics) -> None:
    """Parameters and fields that are called like macros, which stand for something else in the generated code."""
    said: set[Span] = set()
    # The kernel has no such macros.
    say = diag.remark if KERNEL_HEADER.search(lowered.text.source.text) else diag.warning
    for decl, tracepoint in lowered.tracepoints:
        for param in tracepoint.params:
            if param.name in _MACROS and "proto" in decl.parts:
                at = next(t for t in decl.parts["proto"].tokens if t.text == param.name)
                _macro("parameter", param.name, lowered.text.span(at), said, say)
    for _, event_class in lowered.classes:
        for field in event_class.fields:
            if field.name in _MACROS:
                _macro("field", field.name, field.span, said, say)


def _macro(what: str, name: str, span: Span, said: set[Span], say: Callable[[Span, str, str], None]) -> None:
    if span not in said:
        said.add(span)
        say(span, "TP046", f"{what} '{name}' is called like {_MACROS[name]}")


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

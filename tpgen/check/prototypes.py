# SPDX-License-Identifier: MIT
"""Rules on prototypes: TP_ARGS has a prototype's parameters, an event its class's prototype, a custom event its tracepoint's."""

from __future__ import annotations

from collections.abc import Sequence

from tpgen import ctype
from tpgen.diag import Diagnostics, Note, nearest
from tpgen.lexer import spell
from tpgen.lower import Lowered
from tpgen.model import Param, Tracepoint
from tpgen.parser import Declaration
from tpgen.text import Text
from tpgen.tokens import split


def check_arguments(decl: Declaration, params: Sequence[Param], text: Text, diag: Diagnostics) -> None:
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


def check_copies(decl: Declaration, params: Sequence[Param], text: Text, diag: Diagnostics) -> None:
    """What is passed by value is copied at each call, also while the tracepoint is off."""
    part = decl.parts["proto"]
    for param, place in zip(params, split(part.tokens, part.at, part.end, types=True)):
        if ctype.is_costly(param.canonical):
            instead = " or std::string_view" if param.canonical == "std::string" else ""
            diag.warning(text.span(place.at, place.end), "TP042", f"'{param.name}' is copied for each call of trace_{decl.name.text}(), "
                         f"even while the tracepoint is off; use const {param.canonical} &{instead}")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def check_prototype(decl: Declaration, tracepoint: Tracepoint, lowered: Lowered, diag: Diagnostics) -> None:
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


def check_custom_prototypes(units: Sequence[Lowered], diag: Diagnostics) -> None:
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

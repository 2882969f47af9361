# SPDX-License-Identifier: MIT
"""What the kernel shows of an event in tracefs: SYSTEM/EVENT/format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from tpgen.backends.output import Ask, Output
from tpgen.layout import HEADER, Place, lay_out
from tpgen.model import Answers, Layout, Tracepoint, Unit

# A name, and those of members behind it, which have no values. (Behind a bracket they have, as in the kernel.)
_LITERAL_OR_NAME = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|(sizeof\([\w *]+\)|[^\W\d]\w*)((?:\s*(?:->|\.)\s*\w+)*)',
                              re.S)


def outputs(units: Sequence[Unit], ask: Ask) -> Iterator[Output]:
    """IDs count from 1 in the order of the events."""
    number = 0
    for unit in units:
        events = [t for t in unit.tracepoints if t.event_class]
        if not events:
            continue
        fields = [f for t in events if t.event_class for f in t.event_class.fields]
        answers = ask(unit, fields, unit.evals)
        for event in events if answers else ():
            number += 1
            view = _view(event, number, answers) if answers else None
            if view:
                yield Output(unit, f"{event.system}/{event.name}/format", "ftrace/format.j2", view)


def _view(event: Tracepoint, number: int, answers: Answers) -> Mapping[str, object] | None:
    event_class = event.event_class
    assert event_class
    layouts = answers.of(event_class.fields)
    if layouts is None:
        return None
    header = lay_out(((size, size) for _, _, size, _ in HEADER), 0)
    fields = lay_out((one.size, one.align) for one in layouts)
    return {"name": event.name, "id": number,
            "common": [_field(f"{type_} common_{name}", place, signed)
                       for (type_, name, _, signed), place in zip(HEADER, header)],
            "fields": [_field(evaluate(field.bounded(_bound(layout)), answers.values), place,
                              layout.signed and not field.kind.whole)
                       for field, layout, place in zip(event_class.fields, layouts, fields)],
            "print_fmt": evaluate((event.print or event_class.print).text, answers.values)}


def _field(decl: str, place: Place, signed: bool) -> Mapping[str, object]:
    return {"decl": decl, "offset": place.offset, "size": place.end - place.offset, "signed": int(signed)}


def _bound(layout: Layout) -> str:
    """How many elements an array has, as the kernel writes it between the brackets: nothing for none."""
    return str(layout.size // layout.element) if layout.size else ""


def evaluate(text: str, values: Mapping[str, int]) -> str:
    """text with the values of TRACE_DEFINE_ENUM and TRACE_DEFINE_SIZEOF for their names, outside of literals."""
    def value(match: re.Match[str]) -> str:
        known = values.get(match[1] or "")
        return match[0] if known is None else f"{known}{match[2]}"
    return _LITERAL_OR_NAME.sub(value, text)

# SPDX-License-Identifier: MIT
"""The rules: what is wrong with a definition that could be compiled.

The C compiler sees only what tpgen makes of a definition; most of these
mistakes it would compile in silence, or report in lines nobody wrote.
"""

from __future__ import annotations

from collections.abc import Sequence

from tpgen.check.constants import check_unevaluated_names
from tpgen.check.declarations import check_duplicates, check_generated_names, check_macros, check_reserved_names, check_single_events
from tpgen.check.fields import check_fields
from tpgen.check.layout import check_layout
from tpgen.check.print import check_print
from tpgen.check.prototypes import check_arguments, check_copies, check_custom_prototypes, check_prototype
from tpgen.check.scope import Record
from tpgen.check.sources import check_sources
from tpgen.check.tables import check_tables
from tpgen.diag import Diagnostics
from tpgen.lower import Lowered
from tpgen.parser import FORMS


def check(units: Sequence[Lowered], diag: Diagnostics) -> None:
    """All rules, over all files of a run."""
    check_duplicates(units, diag)
    check_generated_names(units, diag)
    check_custom_prototypes(units, diag)
    for lowered in units:
        records = _records(lowered, diag)
        tables: set[str] = set()
        for record in records:
            if "CLASS" in record.decl.macro.text:
                check_arguments(record.decl, record.event_class.params, lowered.text, diag)
            check_fields(record)
            check_sources(record)
            check_layout(record)
            for printk in record.prints:
                check_print(record, printk)
                check_tables(record, printk, tables)
        for decl, tracepoint in lowered.tracepoints:
            check_arguments(decl, tracepoint.params, lowered.text, diag)
            check_copies(decl, tracepoint.params, lowered.text, diag)
            check_prototype(decl, tracepoint, lowered, diag)
        check_reserved_names(lowered, diag)
        check_macros(lowered, diag)
        if diag.remarks:
            check_single_events(lowered, diag)
            check_unevaluated_names(lowered, records, diag)
        if not diag.errors:
            _nothing(lowered, diag)


def _nothing(lowered: Lowered, diag: Diagnostics) -> None:
    """A file that declares something as it is written, and nothing when it is preprocessed."""
    if lowered.unit.tracepoints:
        return
    raw = lowered.text.raw
    first = next((token for token, after in zip(raw, raw[1:]) if token.kind == "id" and after.text == "("
                  and "proto" in FORMS.get(token.text, ())), None)
    if first:
        why = "its event classes have no events" if lowered.classes else \
            f"the preprocessor has taken out its declarations; look at its #if, and at what defines {first.text}"
        diag.warning(lowered.text.span(first), "TP017", f"no event comes of this file: {why}")


def _records(lowered: Lowered, diag: Diagnostics) -> list[Record]:
    records = [Record(event_class, decl, [lowered.printks[decl.macro]], lowered.text, diag)
               for decl, event_class in lowered.classes]
    by_class = {id(r.event_class): r for r in records}
    for decl, tracepoint in lowered.tracepoints:
        if tracepoint.print and tracepoint.event_class:
            by_class[id(tracepoint.event_class)].prints.append(lowered.printks[decl.macro])
    return records

# SPDX-License-Identifier: MIT
"""Rules on constants: what stands in a format by a name that its readers can't look up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tpgen.check.print import KERNEL_HEADER
from tpgen.check.scope import Record, unevaluated
from tpgen.diag import Diagnostics
from tpgen.lexer import Token, lex, spell
from tpgen.lower import Lowered
from tpgen.source import Span
from tpgen.tokens import C_KEYWORDS, matching

# A name that stands for a number, by the habits of C.
_CONSTANT = re.compile(r"(?!NULL$|PRI[a-zA-Z]|TRUE$|FALSE$)[A-Z][A-Z0-9_]{2,}$")


def check_unevaluated_names(lowered: Lowered, records: Sequence[Record], diag: Diagnostics) -> None:
    """Names in format files that their readers can't look up: one remark a file, at the first."""
    known = {e.text for e in lowered.unit.evals}
    if not KERNEL_HEADER.search(lowered.text.source.text):
        known |= lowered.text.own_enumerators | _resolved(lowered)
    found: dict[str, tuple[str, Span]] = {}
    for record in records:
        named = [(one, lowered.text.span(at)) for printk in record.prints for one, at in _constants(printk.tokens)]
        for field in record.event_class.fields:
            if field.kind.name == "array":
                length = lex(field.code[0].text, lowered.text.source.path)
                named.extend((one, field.span) for one, _ in _constants(length))
        for (text, remedy), span in named:
            if text not in known:
                found.setdefault(text, (remedy, span))
    if found:
        names = ", ".join(f"'{text}'" for text in list(found)[:5]) + (", ..." if len(found) > 5 else "")
        stands, it, value = ("stands", "it", "its value") if len(found) == 1 else ("stand", "them", "their values")
        remedies = " ".join(f"{remedy};" for remedy, _ in list(found.values())[:5]) + (" ..." if len(found) > 5 else "")
        _, first = next(iter(found.values()))
        diag.remark(first, "TP056", f"{names} {stands} in the formats of this file's events by name, where readers of a trace "
                    f"can't look {it} up; {remedies} gives them {value}")


def _resolved(lowered: Lowered) -> set[str]:
    """What the program itself gives the values of, as the C compiler knows them: values in tables, and sizes."""
    unit = lowered.unit
    prints = [*(c.print for c in unit.classes), *(t.print for t in unit.tracepoints if t.print)]
    texts = [c.text for print_ in prints for c in print_.constants if c.value]
    # FLAG(READ) is one value.
    return {*texts, *(t.text for text in texts if "(" in text for t in lex(text, unit.path) if not text.startswith("sizeof"))}


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

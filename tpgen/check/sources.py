# SPDX-License-Identifier: MIT
"""Rules on what payloads are made of: casts in the generated code hide a wrong type from the C compiler."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tpgen.check.scope import Record, bare, branches
from tpgen.ctype import Shape, shape
from tpgen.kinds import FIELD_MACROS, twin
from tpgen.lexer import Token, spell
from tpgen.tokens import Call, Part, calls

# What the helpers of TP_fast_assign take behind the field's name; a text's source was the macro's.
_COPIES = {"__assign_vstr": ("const char *", "va_list *"),
           **{of(name): ("const void *",) for name in ("__assign_bitmask", "__assign_cpumask", "__assign_sockaddr")
              for of in (str, twin)}}

_NOUNS = {"const char *": "text", "size_t": "number", "va_list *": "va_list *", "const void *": "address"}


def check_sources(record: Record) -> None:
    """Parameters that are plainly not what a macro makes of them."""
    for call in calls(record.decl.parts["struct"].tokens):
        if isinstance(call, Call) and call.name.text in FIELD_MACROS:
            kind, _ = FIELD_MACROS[call.name.text]
            given = [part for role, part in zip(kind.arguments, call.args) if role not in ("type", "name")]
            _check(record, call.name, given, kind.casts, frozenset())
    for token, arguments in _calls_within(record.assign):
        _check(record, token, arguments[1:], _COPIES[token.text], frozenset(record.locals))


def _calls_within(tokens: Sequence[Token]) -> Iterator[tuple[Token, Sequence[Part]]]:
    for index, token in enumerate(tokens):
        if token.text in _COPIES:
            call = next(calls(tokens[index:]))
            if isinstance(call, Call):
                yield token, call.args


def _check(record: Record, macro: Token, arguments: Sequence[Part], wanted: Sequence[str], hidden: frozenset[str]) -> None:
    types = {p.name: p.canonical for p in record.event_class.params if p.name not in hidden}
    for part, wants in zip(arguments, wanted):
        for branch in branches(part.tokens):
            got = _shape(branch, types, record.text.own_types)
            if not got or got.may_be(wants):
                continue
            shown = spell(bare(branch))
            noun = _NOUNS[wants]
            record.diag.error(record.text.span(part.at, part.end), "TP069",
                              f"{macro.text}: '{shown}' is {got}, and no {noun}{_remedy(got, wants, shown)}")
            break


def _shape(tokens: Sequence[Token], types: dict[str, str], own: frozenset[str]) -> Shape | None:
    """That of a parameter, or of what it points to; None for all other expressions."""
    tokens = bare(tokens)
    followed = 0
    while tokens and tokens[0].text in ("*", "&"):
        followed += 1 if tokens[0].text == "*" else -1
        tokens = bare(tokens[1:])
    if len(tokens) == 4 and tokens[1].text == "[":  # a text's letter is no text, but an element of a table of texts may be
        followed += 1
        tokens = tokens[:1]
    if len(tokens) != 1 or tokens[0].text not in types:
        return None
    return shape(types[tokens[0].text], followed, own)


def _remedy(got: Shape, wants: str, shown: str) -> str:
    if wants == "size_t" or wants == "va_list *" and got.base != "va_list":
        return ""
    if wants == "va_list *":
        return "; a function that has a va_list passes a pointer to a copy of it"
    if wants == "const char *" and Shape(got.base, got.is_known, 1).may_be(wants) and (got.stars == 2 or shown[0] == "*"):
        return f"; write {'*' * (got.stars - 1) + shown if shown[0] not in '&*' else shown[1:]}"
    if got.stars == 0 and not got.is_structure:
        return f"; a number is recorded by __field({got.base}, name)"
    if got.is_structure and wants == "const char *":
        member = f"{shown}->name" if got.stars == 1 and shown.isidentifier() else "its name"
        return f"; record a member that is one, such as {member}"
    if got.is_wide:
        return "; turn it into a multibyte text, as wcstombs() does"
    return "; an array is recorded by __dynamic_array" if got.stars == 1 else ""

# SPDX-License-Identifier: MIT
"""The rules: what is wrong with a definition that could be compiled.

The C compiler sees only what tpgen makes of a definition; most of these
mistakes it would compile in silence, or report in lines nobody wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from tpgen import ctype
from tpgen.ctype import CType
from tpgen.diag import Diagnostics, Note, nearest
from tpgen.lexer import Text, Token, lex, spell
from tpgen.lower import Lowered, format_value, print_arguments
from tpgen.model import EventClass, Field, Param, Tracepoint
from tpgen.parser import Declaration, Part, matching, split
from tpgen.source import Span

_CONVERSION = re.compile(r"%(?P<flags>[-+ #0']*)(?P<width>\*|\d+)?(?P<precision>\.(?:\*|\d+)?)?"
                         r"(?P<length>hh|h|ll|l|j|z|t|L|q)?(?P<conversion>.)?", re.S)

# What follows %p in the kernel and means nothing to printf.
_KERNEL_POINTER = re.compile(r"%p(?:[fFsSBRrbMmIEUVKNhaudgDtCOxev][A-Za-z0-9]*)")

_HELPER = re.compile(r"__(?:print|get|assign)_\w+$")

# The helpers of TP_fast_assign and TP_printk, with the number of arguments that must not be empty.
HELPERS = {"__assign_str": 1, "__get_str": 1, "__get_dynamic_array": 1, "__get_dynamic_array_len": 1,
           "__print_flags": 3, "__print_symbolic": 2}

# Those of the kernel that are not there yet.
KERNEL_HELPERS = frozenset(
    "__assign_str_len __assign_vstr __assign_bitmask __assign_cpumask __assign_sockaddr __assign_rel_str "
    "__assign_rel_str_len __assign_rel_bitmask __assign_rel_cpumask __assign_rel_sockaddr __print_flags_u64 "
    "__print_symbolic_u64 __print_hex __print_hex_str __print_array __print_dynamic_array __print_hex_dump "
    "__print_ns_to_secs __print_ns_without_secs __get_bitmask __get_cpumask __get_sockaddr __get_buf __get_rel_str "
    "__get_rel_dynamic_array __get_rel_dynamic_array_len __get_rel_bitmask __get_rel_cpumask __get_rel_sockaddr".split())

_LENGTH_BITS = {"hh": 32, "h": 32, "": 32, "l": 64, "ll": 64, "q": 64, "j": 64, "z": 64, "t": 64, "L": 64}

_ASSIGNMENTS = frozenset("= += -= *= /= %= &= |= ^= <<= >>= ++ -- [ . ->".split())


def check(units: Sequence[Lowered], diag: Diagnostics) -> None:
    """All rules, over all files of a run."""
    _duplicates(units, diag)
    for lowered in units:
        for decl, event_class in lowered.classes:
            if decl.macro.text == "DECLARE_EVENT_CLASS":
                _arguments(decl, event_class.params, lowered.text, diag)
            _Record(event_class, decl, lowered, diag).check()
        for decl, tracepoint in lowered.tracepoints:
            _arguments(decl, tracepoint.params, lowered.text, diag)
            _prototypes(decl, tracepoint, lowered, diag)


def _duplicates(units: Sequence[Lowered], diag: Diagnostics) -> None:
    """Two tracepoints of a name, and two classes; a TRACE_EVENT is both."""
    tracepoints: dict[str, Span] = {}
    classes: dict[str, Span] = {}
    for lowered in units:
        for decl, _ in lowered.tracepoints:
            span = lowered.text.span(decl.name)
            first = tracepoints.setdefault(decl.name.text, span)
            if first != span:
                diag.error(span, "TP030", f"two tracepoints are called '{decl.name.text}'; names are global to a "
                           "program", [Note(first, "the first is here")])
        for decl, event_class in lowered.classes:
            span = lowered.text.span(decl.name)
            first = classes.setdefault(event_class.name, span)
            if first != span and not tracepoints.get(event_class.name, span) == first:
                diag.error(span, "TP031", f"two event classes are called '{event_class.name}'",
                           [Note(first, "the first is here")])


def _arguments(decl: Declaration, params: Sequence[Param], text: Text, diag: Diagnostics) -> None:
    """TP_ARGS must be the parameters' names in their order."""
    part, proto = decl.parts["args"], decl.parts["proto"]
    args = [spell(a.tokens) for a in split(part.tokens, part.at, part.end)]
    names = [p.name for p in params]
    if args == names:
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


class _Record:
    """The rules on one event class: its fields, TP_fast_assign and TP_printk."""

    def __init__(self, event_class: EventClass, decl: Declaration, lowered: Lowered, diag: Diagnostics):
        self.event_class = event_class
        self.fields = {f.name: f for f in event_class.fields}
        self.decl = decl
        self.text = lowered.text
        self.own = lowered.text.own_types
        self.macros = lowered.text.own_macros
        self.diag = diag

    def check(self) -> None:
        self._helpers()
        printed = self._known_fields(self.decl.parts["print"].tokens)
        self._known_fields(self.decl.parts["assign"].tokens)
        self._assigned(printed)
        self._format()

    def _helpers(self) -> None:
        """Calls of helpers that there are none of, or with too few arguments."""
        for role in ("assign", "print"):
            for index, token in enumerate(tokens := self.decl.parts[role].tokens):
                if not _HELPER.match(token.text) or tokens[index + 1:index + 2] == () or tokens[index + 1].text != "(":
                    continue
                if token.text in KERNEL_HELPERS:
                    self.diag.error(self.text.span(token), "TP064", f"{token.text} is the kernel's, and not understood yet")
                elif token.text not in HELPERS and nearest(token.text, HELPERS) and token.text not in self.macros:
                    self.diag.error(self.text.span(token), "TP064",
                                    f"no helper is called '{token.text}'{nearest(token.text, HELPERS)}")
                elif token.text in HELPERS:
                    self._helper(token, split(tokens[index + 2:matching(tokens, index + 1)], tokens[index + 1], token))

    def _helper(self, token: Token, arguments: Sequence[Part]) -> None:
        least = HELPERS[token.text]
        if len(arguments) < least or not all(a.tokens for a in arguments[:least]):
            self.diag.error(self.text.span(token), "TP066", f"{token.text} takes at least {_count(least, 'argument')}, "
                            "none of them empty")
        elif token.text == "__assign_str" and len(arguments) > 1 and len(arguments[0].tokens) == 1:
            field = self.fields.get(arguments[0].tokens[0].text)
            said = " ".join(t.text for t in arguments[1].tokens)
            meant = " ".join(t.text for t in lex(field.code.text, self.text.source.path)) if field else said
            if said != meant:
                self.diag.warning(self.text.span(arguments[1].at, arguments[1].end), "TP065",
                                  f"__assign_str copies what __string({arguments[0].tokens[0].text}, ...) measured, "
                                  "which is not this", [Note(field.span, "it is declared here")] if field else [])

    def _misspelt(self, field: Field) -> bool:
        """Whether an unknown name in TP_fast_assign, which was reported, may mean the field."""
        unknown = [t.text for t, _ in _mentions(self.decl.parts["assign"].tokens) if t.text not in self.fields]
        return any(nearest(name, [field.name]) for name in unknown)

    def _known_fields(self, tokens: Sequence[Token]) -> dict[str, Token]:
        """Reports fields that are not there; returns those that are, with their first mention."""
        mentioned: dict[str, Token] = {}
        for token, macro in _mentions(tokens):
            field = self.fields.get(token.text)
            if not field:
                if token.text != "ent":
                    self.diag.error(self.text.span(token), "TP063", f"'{self.event_class.name}' has no field "
                                    f"'{token.text}'{nearest(token.text, self.fields)}")
                continue
            mentioned.setdefault(token.text, token)
            if macro and not field.dynamic:
                self.diag.error(self.text.span(token), "TP062",
                                f"{macro}: '{field.name}' is no dynamic field; write __entry->{field.name}",
                                [Note(field.span, "it is declared here")])
            elif macro in ("__assign_str", "__get_str") and field.kind != "string" and field.type != "char":
                self.diag.error(self.text.span(token), "TP062", f"{macro}: '{field.name}' is no string",
                                [Note(field.span, "it is declared here")])
            elif not macro and field.dynamic:
                getter = "__get_str" if field.kind == "string" else "__get_dynamic_array"
                self.diag.error(self.text.span(token), "TP062",
                                f"'{field.name}' is a dynamic field; write {getter}({field.name})",
                                [Note(field.span, "it is declared here")])
        return mentioned

    def _assigned(self, printed: dict[str, Token]) -> None:
        tokens = [t for t in self.decl.parts["assign"].tokens if t.kind != "dir"]
        if _whole_entry(tokens):
            return
        written = _written(tokens, self.fields)
        for field in self.event_class.fields:
            if field.name in written or self._misspelt(field):
                continue
            notes = [Note(self.text.span(printed[field.name]), "it is printed here")] if field.name in printed else []
            say = self.diag.error if notes or field.dynamic else self.diag.warning
            if field.kind == "string":
                self.diag.error(field.span, "TP061", f"string '{field.name}' is never copied into the record; add "
                                f"__assign_str({field.name}); to TP_fast_assign", notes)
            elif field.kind == "dynamic_array":
                self.diag.error(field.span, "TP060", f"array '{field.name}' is never filled in; copy its elements to "
                                f"__get_dynamic_array({field.name}) in TP_fast_assign", notes)
            else:
                how = f"memcpy(__entry->{field.name}, ...)" if field.kind == "array" else f"__entry->{field.name} = ..."
                say(field.span, "TP060", f"field '{field.name}' is never assigned; add {how}; to TP_fast_assign", notes)

    # ---- TP_printk ----

    def _format(self) -> None:
        arguments = print_arguments(self.decl.parts["print"])
        format_, values = arguments[0], list(arguments[1:])
        text, known = format_value(format_.tokens)
        if not known:
            return  # a macro of an included header: the C compiler knows
        span = self.text.span(format_.at, format_.end)
        for odd in _KERNEL_POINTER.findall(text.replace("%%", "")):
            self.diag.warning(span, "TP054", f"'{odd}' is a conversion of the kernel's; printf prints the pointer and "
                              f"then '{odd[2:]}'")
        wanted = list(self._conversions(text, span))
        if len(wanted) != len(values):
            many = len(values) > len(wanted)
            at = self.text.span(values[len(wanted)].at, values[len(wanted)].end) if many else span
            self.diag.error(at, "TP051", f"too {'many' if many else 'few'} arguments for the format: it takes "
                            f"{len(wanted)}, not {len(values)}")
            return
        types = {f.name: self._field_type(f) for f in self.event_class.fields}
        for (spec, conversion, length), value in zip(wanted, values):
            if not value.tokens:
                self.diag.error(self.text.span(value.at), "TP051", f"the argument for '{spec}' is empty")
                continue
            got = ctype.infer(value.tokens, types, self.own)
            if got:
                self._agree(spec, conversion, length, value, got)

    def _conversions(self, text: str, span: Span) -> Iterator[tuple[str, str, str]]:
        """(text, conversion, length) for each argument that the format takes; '*' takes an int."""
        for match in _CONVERSION.finditer(text):
            conversion = match["conversion"]
            if conversion in ("%", "m"):  # m prints errno's text, and takes no argument
                continue
            for star in (match["width"], match["precision"]):
                if star and "*" in star:
                    yield match[0], "d", ""
            if not conversion or conversion not in "diouxXcspfFeEgGaA":
                self.diag.error(span, "TP053", f"'{match[0]}' is no conversion that TP_printk can have")
            if conversion:
                yield match[0], conversion, match["length"] or ""

    def _field_type(self, field: Field) -> CType | None:
        tokens = lex(field.type, self.text.source.path)
        if any(t.text in self.own for t in tokens):
            return None  # the file's own, which the C compiler knows
        try:
            of = ctype.parse_type(tokens)
        except ctype.NotC:
            return None
        if field.kind == "field":
            return of
        return ctype.STRING if of and of.kind == "int" and of.bits == 8 else ctype.POINTER

    def _agree(self, spec: str, conversion: str, length: str, value: Part, got: CType) -> None:
        if conversion in "diouxXc":
            good = got.kind == "int" and (_LENGTH_BITS[length] if conversion != "c" else 32) == got.bits
            wants = "an int" if conversion == "c" or _LENGTH_BITS[length] == 32 else "a 64-bit integer"
        elif conversion in "fFeEgGaA":
            good, wants = got.kind == "float" and (got.bits == 128) == (length == "L"), "a floating-point value"
        elif conversion == "s":
            good, wants = got.kind in ("string", "pointer"), "a string"
        elif conversion == "p":
            good, wants = got.kind in ("string", "pointer"), "a pointer"
        else:
            return
        if good:
            return
        advice = _conversion_for(got, conversion)
        words = " ".join("".join(t.text for t in value.tokens).split())
        shown = words if len(words) <= 40 else words[:37] + "..."
        self.diag.error(self.text.span(value.at, value.end), "TP052",
                        f"'{spec}' takes {wants}, but '{shown}' is {_article(got.text)}{advice}")


def _article(text: str) -> str:
    """text with its article, by its sound: a uint32_t, an int, a union, an unsigned long."""
    return f"{'an' if re.match(r'[aeio]|un(?!ion)', text) else 'a'} {text}"


def _conversion_for(got: CType, conversion: str) -> str:
    """`; use %...`: what prints such a value, as near to what was written as can be."""
    if got.kind == "string":
        return "; use %s"
    if got.kind == "pointer":
        return "; use %p"
    if got.kind == "float":
        return "; use %Lf" if got.bits == 128 else "; use %f"
    if got.kind == "other":
        return "; print its members"
    letter = conversion if conversion in "xXo" else "d" if got.signed else "u"
    if got.bits < 64:
        return f"; use %{letter}"
    by_name = {"size_t": "z", "ssize_t": "z", "ptrdiff_t": "t", "intmax_t": "j", "uintmax_t": "j"}
    if got.text in by_name:
        return f"; use %{by_name[got.text]}{letter}"
    if got.text in ("int64_t", "uint64_t"):
        return f'; use %" PRI{letter}64 "'
    return f"; use %{'ll' if 'long long' in got.text or got.text in ('u64', 's64', '__u64', '__s64') else 'l'}{letter}"


_MACROS = ("__assign_str", "__get_str", "__get_dynamic_array", "__get_dynamic_array_len")


def _mentions(tokens: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    """Each field that is named: (__entry->NAME, "") or (MACRO(NAME), MACRO)."""
    for index in range(len(tokens) - 2):
        first, second, third = tokens[index:index + 3]
        if first.text == "__entry" and second.text == "->" and third.kind == "id":
            yield third, ""
        elif first.text in _MACROS and second.text == "(" and third.kind == "id":
            yield third, first.text


def _whole_entry(tokens: Sequence[Token]) -> bool:
    """Whether __entry itself is handed to something, which may then assign any field."""
    return any(t.text == "__entry" and (index + 1 == len(tokens) or tokens[index + 1].text != "->")
               for index, t in enumerate(tokens))


def _written(tokens: Sequence[Token], fields: Mapping[str, Field]) -> set[str]:
    """The fields that TP_fast_assign may write. In doubt it does: inside a call, or by its address."""
    written: set[str] = set()
    inside = _inside_calls(tokens)
    for index, token in enumerate(tokens):
        if token.text in ("__assign_str", "__get_str", "__get_dynamic_array") and index + 2 < len(tokens):
            written.add(tokens[index + 2].text)
        if token.text != "__entry" or index + 2 >= len(tokens) or tokens[index + 1].text != "->":
            continue
        name = tokens[index + 2].text
        field = fields.get(name)
        after = tokens[index + 3].text if index + 3 < len(tokens) else ""
        before = tokens[index - 1].text if index else ""
        if after in _ASSIGNMENTS or before in ("&", "++", "--") or field and field.kind == "array" or inside[index]:
            written.add(name)
    return written


def _inside_calls(tokens: Sequence[Token]) -> list[bool]:
    """For each token whether it is an argument of a call (of a function or of a macro)."""
    out: list[bool] = []
    stack: list[bool] = []
    for index, token in enumerate(tokens):
        out.append(any(stack))
        if token.text == "(":
            before = tokens[index - 1] if index else None
            stack.append(bool(before and before.kind == "id"
                              and before.text not in ("if", "while", "for", "switch", "sizeof", "return")))
        elif token.text == ")" and stack:
            stack.pop()
    return out

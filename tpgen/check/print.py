# SPDX-License-Identifier: MIT
"""Rules on TP_printk: its conversions and their arguments, and what is no longer there when a record is printed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tpgen import ctype
from tpgen.check.fields import HELPERS
from tpgen.check.fields import getter
from tpgen.check.scope import MAX_NESTED, Record, bare, branches, declared, unevaluated
from tpgen.ctype import CType
from tpgen.diag import Note
from tpgen.lexer import Token
from tpgen.model import Field
from tpgen.printk import Conversion, Printk, conversions, format_value
from tpgen.source import Span
from tpgen.tokens import Part, matching

_LENGTH_BITS = {"hh": 32, "h": 32, "": 32, "l": 64, "ll": 64, "q": 64, "j": 64, "z": 64, "t": 64, "L": 64}

# What of the kernel's %p looks at the address only.
_ADDRESS = re.compile(r"(?:[sSBfF]\w*|[xKe])?$")

# The printer's own variables, which a parameter may be called like.
_PRINTER = frozenset(["p", "__entry"])

# A kernel trace header's last line.
KERNEL_HEADER = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<trace/define_trace\.h>", re.M)

# What is there for ever, beside text.
_STATIC = (["__func__"], ["__FUNCTION__"], ["NULL"], ["0"])


def check_print(record: Record, printk: Printk) -> None:
    """All rules on one TP_printk of the record's."""
    _Print(record, printk).check()


class _Print:
    def __init__(self, record: Record, printk: Printk):
        self.record = record
        self.text = record.text
        self.diag = record.diag
        self.tokens, self.format, self.values = printk.tokens, printk.format, printk.values
        self.types = {f.name: _value_type(f, record.types[f.member]) for f in record.members.values()}

    def check(self) -> None:
        self._variables()
        self._dereferenced()
        text, known = format_value(self.format.tokens)
        if not known:
            return  # a macro of an included header: the C compiler knows
        span = self.text.span(self.format.at, self.format.end)
        errors = self.diag.errors
        wanted = list(self._conversions(text, span))
        if self.diag.errors > errors:
            return  # how many arguments it takes is not known
        if len(wanted) != len(self.values):
            many = len(self.values) > len(wanted)
            extra = self.values[min(len(wanted), len(self.values) - 1)] if many else self.format
            self.diag.error(self.text.span(extra.at, extra.end), "TP051", f"too {'many' if many else 'few'} arguments "
                            f"for the format: it takes {len(wanted)}, not {len(self.values)}")
            return
        for one, value in zip(wanted, self.values):
            if not value.tokens:
                self.diag.error(self.text.span(value.at), "TP051", f"the argument for '{one.text}' is empty")
                continue
            # What a statement expression comes to, the C compiler knows.
            whole = all(a.text != "(" or b.text != "{" for a, b in zip(value.tokens, value.tokens[1:]))
            got = ctype.infer(value.tokens, self.types, self.text.own_types) if whole else None
            if got and not self._agrees(one, value, got):
                continue
            if one.letter == "s" or one.pointer and not _ADDRESS.match(one.pointer):
                self._stored(one, value)

    def _conversions(self, text: str, span: Span) -> Iterator[Conversion]:
        """One for each argument that the format takes; '*' takes an int."""
        for one in conversions(text):
            if not one.values:
                continue
            for _ in range(one.stars):
                yield replace(one, letter="d", length="", suffix="", stars=-1)
            if not one.letter or one.letter not in "diouxXcspfFeEgGaA":
                self.diag.error(span, "TP053", f"'{one.text}' is no conversion that TP_printk can have")
            elif one.suffix and not one.pointer:
                self.diag.warning(span, "TP054", f"'{one.text}' is the kernel's, and means nothing in a process; "
                                  f"printf prints the pointer and then '{one.suffix}'")
            elif one.pointer != one.suffix:
                text = one.suffix[len(one.pointer):]
                self.diag.warning(span, "TP054", f"'{text}' is never printed: as in the kernel, all letters after '%p' belong "
                                  f"to it; part them, '%p{one.pointer} {text}'")
            if one.letter:
                yield one

    # ---- Conversions and types ----

    def _agrees(self, one: Conversion, value: Part, got: CType) -> bool:
        """Reports a conversion that does not fit its argument."""
        letter = one.letter
        if letter in "diouxXc":
            bits = 32 if letter == "c" else _LENGTH_BITS[one.length]
            good, wants = got.kind == "int" and bits == got.bits, "an int" if bits == 32 else "a 64-bit integer"
        elif letter in "fFeEgGaA":
            good, wants = got.kind == "float" and (got.bits == 128) == (one.length == "L"), "a floating-point value"
        elif letter == "s":
            good, wants = got.kind == "string" or got.kind == "pointer" and self._may_be_text(got), "a string"
        elif letter == "p":
            good, wants = got.kind in ("string", "pointer", "array"), "a pointer"
        else:
            return False
        if good:
            return True
        shown = _shown(value.tokens)
        advice = _conversion_for(got, letter)
        if one.stars < 0:
            advice = "; cast it to int"
        if one.suffix and got.kind in ("int", "other"):
            advice = "; cast it to a pointer" if _ADDRESS.match(one.pointer or one.suffix) else f"; write &{shown}"
        self.diag.error(self.text.span(value.at, value.end), "TP052",
                        f"'{one.text}' takes {wants}, but '{shown}' is {ctype.article(got.text)}{advice}")
        return False

    def _may_be_text(self, pointer: CType) -> bool:
        shape = ctype.shape(pointer.text, 0, self.text.own_types)
        return not shape or shape.may_be("const char *")

    # ---- What the record does not hold ----

    def _variables(self) -> None:
        """Parameters and local variables are gone when the record is printed."""
        variables = self.record.variables
        # A statement expression may declare variables of its own.
        own = {*_PRINTER, *(name for name, _ in declared(self.tokens))}
        said: set[str] = set()
        for index, token in enumerate(self.tokens):
            name = token.text
            if name not in variables or name in own or name in said:
                continue
            before = self.tokens[index - 1].text if index else ""
            after = self.tokens[index + 1].text if index + 1 < len(self.tokens) else ""
            if before in ("->", ".", "struct", "union", "enum") or after == "(":
                continue
            caller = self.tokens[index - 2].text if before == "(" and index > 1 else ""
            if HELPERS[caller].takes if caller in HELPERS else caller.startswith(("__get_", "__print_")):
                continue  # it names a field
            said.add(name)
            field = self.record.field(name, False)
            remedy = f"write {_reader(field)}" if field else "store it in a field"
            self.diag.warning(self.text.span(token), "TP067", f"'{name}' is {variables[name]}, which is gone when the "
                            f"record is printed; {remedy}")

    def _dereferenced(self) -> None:
        """__entry->pointer->member and its like: the record holds the pointer only."""
        for value in self.values:
            tokens = bare(value.tokens)
            if not tokens or tokens[0].text == "&":
                continue  # an address only
            unseen = unevaluated(tokens)
            for index in range(2, len(tokens)):
                if tokens[index - 2].text != "__entry" or tokens[index - 1].text != "->" or index in unseen \
                        or not self.record.stored_pointer(tokens[index].text):
                    continue
                after = tokens[index + 1].text if index + 1 < len(tokens) else ""
                if after in ("->", "[") or index > 2 and tokens[index - 3].text == "*" and _unary(tokens, index - 3):
                    field = self.record.members[tokens[index].text]
                    self.diag.warning(self.text.span(tokens[index - 2], tokens[index]), "TP055",
                                      f"'__entry->{field.name}' is a pointer, and what it points to may be gone when "
                                      "the record is printed; store what is printed of it",
                                      [Note(field.span, "it is declared here")])

    def _stored(self, one: Conversion, value: Part) -> None:
        """%s, or a %p that looks at what is there, of an address in the record."""
        for branch in branches(value.tokens):
            tokens = _without_casts(branch)
            if len(tokens) != 3 or tokens[0].text != "__entry" or tokens[1].text != "->":
                continue
            if not self.record.stored_pointer(tokens[2].text):
                continue
            field = self.record.members[tokens[2].text]
            origins = {self._origin(tokens) for tokens in _assigned_to(self.record.assign, field.name)}
            if origins == {"static"}:
                continue
            # The kernel prints only text that it knows to be there for ever, so that is what its trace headers store.
            kernel = one.letter == "s" and origins and origins <= {"static", "parameter"} \
                and KERNEL_HEADER.search(self.text.source.text)
            say = self.diag.remark if kernel else self.diag.warning
            remedy = f"record the text, with __string({field.name}, ...)" if one.letter == "s" else \
                "record what it points to, with __array"
            say(self.text.span(value.at, value.end), "TP055", f"'{one.text}' reads what '__entry->{field.name}' points "
                f"to, which is not in the record and may be gone; {remedy}", [Note(field.span, "it is declared here")])

    def _origin(self, tokens: Sequence[Token]) -> str:
        """Where a pointer comes from: "static" is there for ever, "parameter" may be, "other" is not."""
        kinds = {self._origin_of(_without_casts(branch)) for branch in branches(tokens)}
        return next(kind for kind in ("other", "parameter", "static") if kind in kinds)

    def _origin_of(self, tokens: Sequence[Token]) -> str:
        words = [t.text for t in tokens]
        if all(t.kind == "str" for t in tokens) or words[:1] == ["tracepoint_string"] or words in _STATIC:
            return "static"
        if not words or tokens[0].kind != "id" or words[0] in self.record.locals:
            return "other"
        param = next((p for p in self.record.event_class.params if p.name == words[0]), None)
        if not param:
            # A global, or an element of a table; not what a function returns.
            element = words[1:2] == ["["] and matching(tokens, 1) == len(tokens) - 1
            return "static" if len(words) == 1 or element else "other"
        member = "const" in param.type and all(t.kind == "id" or t.text in ("->", ".") for t in tokens)
        return "parameter" if len(words) == 1 or member else "other"


def _value_type(field: Field, of: CType | None) -> CType | None:
    """What __entry->field is; of is its type, or that of its elements."""
    if field.kind.name != "array":
        return of
    if not of or of.kind != "int":
        return replace(ctype.POINTER, text=f"{field.c_type} *")
    return ctype.STRING if of.bits == 8 else CType("array", 64, False, f"array of {of.text}")


def _reader(field: Field) -> str:
    return f"{getter(field)}({field.name})" if field.dynamic else f"__entry->{field.name}"


def _shown(tokens: Sequence[Token]) -> str:
    words = "".join(t.text for t in tokens)
    return words if len(words) <= 40 else words[:37] + "..."


def _conversion_for(got: CType, conversion: str) -> str:
    """`; use %...`: what prints such a value, as near to what was written as can be."""
    if got.kind == "string":
        return "; use %s"
    if got.kind == "pointer":
        return "; use %p"
    if got.kind == "array":
        return "; use %s with __print_array"
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
    twice = "long long" in got.text or re.fullmatch("(__)?[us]64|__[bl]e64", got.text)
    return f"; use %{'ll' if twice else 'l'}{letter}"


def _unary(tokens: Sequence[Token], star: int) -> bool:
    """Whether a '*' stands in front of its only operand."""
    before = tokens[star - 1] if star else None
    return not before or before.kind == "punct" and before.text not in (")", "]")


def _without_casts(tokens: Sequence[Token]) -> Sequence[Token]:
    """An expression without the casts and brackets in front of and around it."""
    for _ in range(MAX_NESTED):
        tokens = bare(tokens)
        if len(tokens) < 3 or tokens[0].text != "(":
            break
        tokens = tokens[matching(tokens, 0) + 1:]
    return tokens


def _assigned_to(tokens: Sequence[Token], name: str) -> Iterator[Sequence[Token]]:
    """What TP_fast_assign assigns to a field; nothing where it is written in another way."""
    for index in range(3, len(tokens)):
        if tokens[index].text != "=" or [t.text for t in tokens[index - 3:index]] != ["__entry", "->", name]:
            continue
        end, depth = index + 1, 0
        while end < len(tokens) and (depth or tokens[end].text not in (";", ",")) and depth >= 0:
            depth += (tokens[end].text in "([{") - (tokens[end].text in ")]}") if tokens[end].kind == "punct" else 0
            end += 1
        yield tokens[index + 1:end]

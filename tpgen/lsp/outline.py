# SPDX-License-Identifier: MIT
"""The declarations of a text as they are written, also where brackets, commas or whole parts are still missing.

The parser gives up a declaration that has a mistake, and needs the C preprocessor. What is typed has a mistake most of the time.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from tpgen.check.fields import HELPERS
from tpgen.kinds import FIELD_MACROS, FieldKind
from tpgen.lexer import Token, spell
from tpgen.parser import FORMS, PART_WORDS, WORDS
from tpgen.source import Source
from tpgen.tokens import split

_ROLES = {word: role for role, words in WORDS.items() for word in words}
_DEFINE = re.compile(r"#[ \t]*define[ \t]+(\w+)")

# What the record is called.
ENTRIES = ("__entry", "entry", "REC")


@dataclass(slots=True)
class Region:
    """Where a part of a declaration stands: offsets, behind the bracket or comma in front of it, and in front of that behind it."""

    role: str
    begin: int
    end: int = -1
    word: Token | None = None
    tokens: list[Token] = field(default_factory=list)


class Named(NamedTuple):
    """A field or a parameter: its name; the macro and its kind where it is a field; how it is written."""

    name: Token
    text: str
    kind: FieldKind | None = None
    rel: bool = False
    macro: Token | None = None
    end: int = 0


@dataclass
class Declared:
    """A declaration, up to its closing bracket, or to what can't be in it."""

    macro: Token
    end: int = -1
    regions: list[Region] = field(default_factory=list)

    def region(self, role: str) -> Region | None:
        return next((one for one in self.regions if one.role == role), None)

    def at(self, offset: int) -> Region | None:
        """The part in which offset is; of an empty one, both ends are in it."""
        return next((one for one in reversed(self.regions) if one.begin <= offset <= one.end), None)

    def named(self, role: str) -> Token | None:
        """The name that is the whole part."""
        region = self.region(role)
        return region.tokens[0] if region and len(region.tokens) == 1 and region.tokens[0].kind in ("id", "num") else None

    @property
    def is_class(self) -> bool:
        return "CLASS" in self.macro.text

    @property
    def is_event(self) -> bool:
        return bool({"proto", "class"} & set(FORMS[self.macro.text])) and not self.is_class

    @cached_property
    def fields(self) -> list[Named]:
        region = self.region("struct")
        return list(_fields(region.tokens)) if region else []

    @cached_property
    def params(self) -> list[Named]:
        region = self.region("proto")
        return list(_params(region.tokens)) if region else []


def _fields(tokens: Sequence[Token]) -> Iterator[Named]:
    for index, token in enumerate(tokens):
        if token.text in FIELD_MACROS and _opens(tokens, index + 1):
            kind, rel = FIELD_MACROS[token.text]
            arguments, end = _arguments(tokens, index + 2)
            number = kind.arguments.index("name")
            name = arguments[number][-1] if number < len(arguments) and arguments[number] else None
            if name and name.kind == "id":
                yield Named(name, spell(tokens[index:end + 1]), kind, rel, token, tokens[min(end, len(tokens) - 1)].end)


def _params(tokens: Sequence[Token]) -> Iterator[Named]:
    for part in split(tokens, tokens[0], tokens[-1], types=True) if tokens else ():
        words = [t for t in _without_brackets(part.tokens) if t.kind == "id"]
        if words and len(part.tokens) > 1:
            yield Named(words[-1], spell(part.tokens))


class Symbol(NamedTuple):
    """What a name means: "event", "class", "field", "parameter" or "macro"; the token that declares it, and in which declaration."""

    kind: str
    at: Token
    owner: Declared | None


class Outline:
    def __init__(self, source: Source, tokens: Sequence[Token]):
        self.source = source
        self.tokens = tokens
        self._starts = [t.start for t in tokens]
        self.declared = list(_declarations(tokens, len(source.text)))
        self._begins = [one.macro.start for one in self.declared]

    @cached_property
    def classes(self) -> dict[str, Declared]:
        return _by_name(one for one in self.declared if one.region("struct"))

    @cached_property
    def events(self) -> dict[str, Declared]:
        return _by_name(one for one in self.declared if one.is_event)

    @cached_property
    def _macros(self) -> dict[str, Token]:
        return {match[1]: t for t in reversed(self.tokens) if t.kind == "dir" and (match := _DEFINE.match(t.text))}

    def index(self, offset: int) -> int | None:
        """Of the token at offset, or that ends there."""
        index = bisect_right(self._starts, offset) - 1
        # Between two that touch, a word is meant.
        for one in (index, index - 1):
            if one >= 0 and self.tokens[one].start <= offset <= self.tokens[one].end and self.tokens[one].kind == "id":
                return one
        return None

    def before(self, offset: int) -> int:
        """The number of tokens that begin in front of offset."""
        return bisect_left(self._starts, offset)

    def around(self, offset: int) -> Declared | None:
        index = bisect_right(self._begins, offset) - 1
        return self.declared[index] if index >= 0 and offset < self.declared[index].end else None

    def record(self, declared: Declared) -> Declared | None:
        """The declaration that has the fields of this one."""
        if declared.region("struct"):
            return declared
        name = declared.named("class")
        return self.classes.get(name.text) if name else None

    def symbol(self, index: int) -> Symbol | None:
        """What the token of this number means."""
        token = self.tokens[index]
        declared = self.around(token.start)
        found = self._in_part(declared, index) if declared else None
        if not found and token.text.startswith("trace_") and token.text[6:] in self.events and not declared:
            found = _name_of("event", self.events[token.text[6:]])
        if not found and token.text in self._macros:
            return Symbol("macro", self._macros[token.text], None)
        return found

    def _in_part(self, declared: Declared, index: int) -> Symbol | None:
        token = self.tokens[index]
        region = declared.at(token.start)
        if not region or region.word is token:
            return None
        if region.role == "name":
            return _name_of("class" if declared.is_class else "event", declared)
        if region.role in ("class", "event"):
            known = self.classes if region.role == "class" else self.events
            return _name_of(region.role, known[token.text]) if token.text in known else None
        before = [t.text for t in self.tokens[max(0, index - 2):index]]
        owner = self.record(declared)
        if owner and (region.role == "struct" or before[-1:] in (["->"], ["."]) and before[0] in ENTRIES
                      or before[-1:] == ["("] and before[0] in HELPERS and HELPERS[before[0]].takes):
            found = next((f for f in owner.fields if f.name.text == token.text and (region.role != "struct" or f.name is token)), None)
            if found:
                return Symbol("field", found.name, owner)
        if before[-1:] in (["->"], ["."]):
            return None
        param = next((p for p in declared.params if p.name.text == token.text and (region.role != "proto" or p.name is token)), None)
        return Symbol("parameter", param.name, declared) if param else None


def _by_name(declared: Iterable[Declared]) -> dict[str, Declared]:
    """The first of each name."""
    found: dict[str, Declared] = {}
    for one in declared:
        name = one.named("name")
        if name:
            found.setdefault(name.text, one)
    return found


def _name_of(kind: str, declared: Declared) -> Symbol | None:
    name = declared.named("name")
    return Symbol(kind, name, declared) if name else None


def _opens(tokens: Sequence[Token], index: int) -> bool:
    return index < len(tokens) and tokens[index].text == "("


def _declarations(tokens: Sequence[Token], length: int) -> Iterator[Declared]:
    index = 0
    while index < len(tokens):
        if tokens[index].kind == "id" and tokens[index].text in FORMS and _opens(tokens, index + 1):
            declared, index = _declaration(tokens, index, length)
            yield declared
        else:
            index += 1


def _declaration(tokens: Sequence[Token], first: int, length: int) -> tuple[Declared, int]:
    """The declaration that begins with that token, and where to go on."""
    form = FORMS[tokens[first].text]
    declared = Declared(tokens[first])
    number, depth = 0, 1  # of the part; of the brackets, the declaration's included
    region: Region | None = _undressed(form, number, tokens[first + 1].end)

    def close(end: int) -> None:
        if region:
            region.end = end
            declared.regions.append(region)

    index = first + 2
    while index < len(tokens):
        token = tokens[index]
        if token.kind == "id" and token.text in FORMS and _opens(tokens, index + 1):
            break
        if token.kind == "id" and token.text in PART_WORDS and _opens(tokens, index + 1):
            if region and (region.word or region.tokens):  # whose bracket, or comma, is missing
                close(token.start)
            role = _ROLES[token.text]
            number = form.index(role) if role in form else number
            region, depth = Region(role, tokens[index + 1].end, word=token), 2
            index += 2
            continue
        depth += (token.text in "([{") - (token.text in ")]}") if token.kind == "punct" else 0
        if depth == 0 or depth == 1 and token.text == ")" and region and region.word:
            close(token.start)
            region = None
        elif depth == 1 and token.text == ",":
            close(token.start)
            number += 1
            region = _undressed(form, number, token.end)
        elif region and token.kind != "dir":
            region.tokens.append(token)
        if depth == 0:
            declared.end = token.end
            return declared, index + 1
        index += 1
    declared.end = tokens[index].start if index < len(tokens) else length + 1
    close(declared.end - 1)
    return declared, index


def _undressed(form: Sequence[str], number: int, begin: int) -> Region:
    return Region(form[number] if number < len(form) else "", begin)


def _arguments(tokens: Sequence[Token], index: int) -> tuple[list[list[Token]], int]:
    """The arguments of a call from the token behind its bracket on, and the number of the token that ends them."""
    out: list[list[Token]] = [[]]
    depth = 0
    while index < len(tokens):
        token = tokens[index]
        depth += (token.text in "([{") - (token.text in ")]}") if token.kind == "punct" else 0
        if depth < 0 or token.text in FIELD_MACROS:
            break
        if token.text == "," and not depth:
            out.append([])
        else:
            out[-1].append(token)
        index += 1
    return out, index


def _without_brackets(tokens: Sequence[Token]) -> Iterator[Token]:
    """What may be a parameter's name: nothing in brackets, but in those of a pointer to a function or an array."""
    depth = 0
    for token, after in zip(tokens, [*tokens[1:], None]):
        pointer = token.text == "(" and not depth and after and after.text == "*"
        depth += ((token.text in "([{") - (token.text in ")]}")) if token.kind == "punct" and not pointer else 0
        if depth < 0:
            return
        if not depth:
            yield token

# SPDX-License-Identifier: MIT
"""What the rules share: a record with the syntax it comes from, and what can be said of C without a C compiler."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tpgen import ctype
from tpgen.ctype import CType
from tpgen.diag import Diagnostics
from tpgen.lexer import Token, lex
from tpgen.model import EventClass, Field
from tpgen.parser import Declaration
from tpgen.printk import Printk
from tpgen.text import Text
from tpgen.tokens import matching

# Types of the kernel's whose names alone say how wide they are.
_KERNEL = {f"__{order}{bits}": CType("int", bits, False, f"__{order}{bits}") for order in ("be", "le")
           for bits in (16, 32, 64)}
# 64 bits to glibc, 32 to the kernel.
_EITHER = frozenset(["dev_t"])

# What looks at no value of its operand.
_UNEVALUATED = frozenset("sizeof typeof __typeof__ offsetof ARRAY_SIZE _Alignof __alignof__ BUILD_BUG_ON".split())

_WORD = re.compile(r"[A-Z][A-Z0-9_]*$")
_NO_DECLARATION = frozenset("return goto case default else break continue do if while switch".split())


@dataclass
class Record:
    """An event class, its declaration, and each TP_printk that prints its records."""

    event_class: EventClass
    decl: Declaration
    prints: list[Printk]
    text: Text
    diag: Diagnostics

    @cached_property
    def members(self) -> dict[str, Field]:
        """The fields of __entry->NAME."""
        return {f.name: f for f in self.event_class.fields if not f.dynamic}

    @cached_property
    def dynamic(self) -> dict[str, Field]:
        """The fields of __get_str(NAME) and its like: of another may be the same name."""
        return {f.name: f for f in self.event_class.fields if f.dynamic}

    def field(self, name: str, dynamic: bool) -> Field | None:
        """The field of that name; where there is none of that kind, one of the other."""
        first, second = (self.dynamic, self.members) if dynamic else (self.members, self.dynamic)
        return first.get(name) or second.get(name)

    @cached_property
    def assign(self) -> tuple[Token, ...]:
        return self.decl.parts["assign"].tokens

    @cached_property
    def types(self) -> dict[str, CType | None]:
        """By the record's members, the type of each field, or of its elements, as far as it is known."""
        return {f.member: self._type(f) for f in self.event_class.fields}

    def _type(self, field: Field) -> CType | None:
        if field.c_type in _KERNEL:
            return _KERNEL[field.c_type]
        tokens = lex(field.c_type, self.text.source.path)
        if any(t.text in self.text.own_types or t.text in _EITHER for t in tokens):
            return None  # the C compiler knows
        try:
            return ctype.parse_type(tokens)
        except ctype.NotC:
            return None

    def is_bytes(self, field: Field) -> bool:
        """Whether its elements may be characters."""
        element = self.types[field.member]
        return not element or element.bits == 8

    def stored_pointer(self, name: str) -> bool:
        """Whether it is a field that holds an address, and nothing of what is there."""
        field = self.members.get(name)
        return bool(field and field.kind.name == "field" and field.c_type.endswith("*"))

    @cached_property
    def locals(self) -> dict[str, Sequence[Token]]:
        """The local variables of TP_fast_assign, with what each is initialized with."""
        return dict(declared(self.assign))

    @cached_property
    def variables(self) -> dict[str, str]:
        """What TP_fast_assign sees and TP_printk does not: parameters and local variables."""
        return {**{name: "a local variable of TP_fast_assign" for name in self.locals},
                **{p.name: "a parameter" for p in self.event_class.params}}

    @cached_property
    def entries(self) -> frozenset[str]:
        """What TP_fast_assign may call the record: in the kernel, __entry and entry are the same."""
        return frozenset(["__entry"] if "entry" in self.variables else ["__entry", "entry"])


def unevaluated(tokens: Sequence[Token]) -> set[int]:
    """The indices of tokens of which only the type counts."""
    found: set[int] = set()
    for index, token in enumerate(tokens[:-1]):
        if token.text in _UNEVALUATED and tokens[index + 1].text == "(":
            found.update(range(index, matching(tokens, index + 1) + 1))
    return found


def in_doubt(tokens: Sequence[Token]) -> bool:
    """Whether a statement is a macro of an included header, which may do anything."""
    before = ";"
    for index, token in enumerate(tokens):
        after = tokens[index + 1].text if index + 1 < len(tokens) else ";"
        if before in ";{}" and token.kind == "id" and _WORD.match(token.text) and after in ("(", ";") \
                and "BUG_ON" not in token.text and "WARN_ON" not in token.text:
            return True
        before = token.text
    return False


def declared(tokens: Sequence[Token]) -> Iterator[tuple[str, Sequence[Token]]]:
    """The variables that statements declare (a type and a name, and what ends a declarator), and their values."""
    begins = True
    for index, token in enumerate(tokens):
        if begins and token.kind == "id" and token.text not in _NO_DECLARATION:
            yield from _declarators(tokens, index)
        begins = token.text in ("{", "}", ";") or token.text == "(" and index > 0 and tokens[index - 1].text == "for" \
            or token.text == ")" and index > 2 and tokens[index - 3].text == "_Pragma"


def _declarators(tokens: Sequence[Token], index: int) -> Iterator[tuple[str, Sequence[Token]]]:
    words = 0
    while index < len(tokens) and (tokens[index].kind == "id" or tokens[index].text == "*"):
        words += tokens[index].kind == "id"
        index += 1
    while 1 < words and index < len(tokens) and tokens[index - 1].kind == "id" and tokens[index].text in "=;,[":
        name, start = tokens[index - 1].text, index + 1
        while index < len(tokens) and tokens[index].text not in ",;":
            index = matching(tokens, index) if tokens[index].text in "([{" else index
            index += 1
        yield name, tokens[start:index]
        if index >= len(tokens) or tokens[index].text == ";":
            return
        index += 1
        while index < len(tokens) and tokens[index].text == "*":
            index += 1
        index += 1


def bare(tokens: Sequence[Token]) -> Sequence[Token]:
    """An expression without brackets around all of it."""
    opened: list[int] = []
    closes: dict[int, int] = {}
    for index, token in enumerate(tokens):
        if token.kind == "punct" and token.text in "([{":
            opened.append(index)
        elif token.kind == "punct" and token.text in ")]}" and opened:
            closes[opened.pop()] = index
    begin, end = 0, len(tokens)
    while end - begin > 2 and tokens[begin].text == "(" and closes.get(begin) == end - 1:
        begin, end = begin + 1, end - 1
    return tokens[begin:end]


# Nobody writes more casts in a row, or more ?: in one another; it bounds what a hostile file can cost.
MAX_NESTED = 32


def branches(tokens: Sequence[Token], most: int = MAX_NESTED) -> Iterator[Sequence[Token]]:
    """The values that an expression may have: of a ?: both sides, else itself."""
    tokens = bare(tokens)
    depth, nested, question = 0, 0, -1
    for index, token in enumerate(tokens if most else ()):
        depth += (token.text in "([{") - (token.text in ")]}") if token.kind == "punct" else 0
        if depth or token.kind != "punct":
            continue
        if token.text == "?":
            question = index if question < 0 else question
            nested += 1
        elif token.text == ":" and nested:
            nested -= 1
            if not nested:
                yield from branches(tokens[question + 1:index] or tokens[:question], most - 1)  # a ?: b is a, or b
                yield from branches(tokens[index + 1:], most - 1)
                return
    yield tokens


# ---- Constants ----

_LEVELS = (("|",), ("^",), ("&",), ("<<", ">>"), ("+", "-"), ("*",))
_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "|": operator.or_, "^": operator.xor, "&": operator.and_, "<<": operator.lshift, ">>": operator.rshift,
    "+": operator.add, "-": operator.sub, "*": operator.mul}
_ONES = (1 << 64) - 1


class _NotConstant(Exception):
    pass


def constant(tokens: Sequence[Token]) -> int | None:
    """The value of an expression of numbers, modulo 2 to the 64th; None where it has names, but for BIT(n)."""
    if not 0 < len(tokens) < 64:
        return None
    try:
        value, at = _binary(tokens, 0, 0)
    except (_NotConstant, IndexError):
        return None
    return value if at == len(tokens) else None


def _binary(tokens: Sequence[Token], at: int, level: int) -> tuple[int, int]:
    if level == len(_LEVELS):
        return _unary(tokens, at)
    left, at = _binary(tokens, at, level + 1)
    while at < len(tokens) and tokens[at].text in _LEVELS[level]:
        word = tokens[at].text
        right, at = _binary(tokens, at + 1, level + 1)
        left = _operate(word, left, right)
    return left, at


def _operate(word: str, left: int, right: int) -> int:
    if word in ("<<", ">>") and right >= 64:
        raise _NotConstant
    return _OPERATORS[word](left, right) & _ONES


def _unary(tokens: Sequence[Token], at: int) -> tuple[int, int]:
    token = tokens[at]
    if token.text in ("BIT", "BIT_ULL") and tokens[at + 1].text == "(":
        value, at = _unary(tokens, at + 1)
        return _operate("<<", 1, value), at
    if token.text == "(":
        value, at = _binary(tokens, at + 1, 0)
        if tokens[at].text != ")":
            raise _NotConstant
        return value, at + 1
    if token.text in ("-", "~", "+"):
        value, at = _unary(tokens, at + 1)
        return {"-": -value, "~": ~value, "+": value}[token.text] & _ONES, at
    match = re.fullmatch(r"(?:0[xX]([0-9a-fA-F]+)|0([0-7]*)|([1-9][0-9]*))[uUlL]*", token.text)
    if not match:
        raise _NotConstant
    if match[1]:
        return int(match[1], 16) & _ONES, at + 1
    return (int(match[3]) if match[3] else int(match[2] or "0", 8)) & _ONES, at + 1

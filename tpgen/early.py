# SPDX-License-Identifier: MIT
"""Which fields of an event can be computed before its record is made: those that TP_fast_assign sets from parameters alone.

The statements are copied, and run in front of everything else that the event's writer does. So nothing that comes before
them there may have an effect on them. What is not understood ends the search, or excludes the event.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tpgen.ctype import KNOWN
from tpgen.kinds import FIELD_MACROS, GETTERS, twin
from tpgen.lexer import Token
from tpgen.model import Early, Field, Param
from tpgen.text import Text
from tpgen.tokens import C_KEYWORDS, matching, split
from tpgen.wording import code

MAX_FIELDS = 64  # as many bits as the runtime has for them

_ASSIGNMENTS = frozenset("= += -= *= /= %= &= |= ^= <<= >>=".split())
_CHANGES = _ASSIGNMENTS | {"++", "--"}
_TYPE_WORDS = frozenset("void char short int long float double signed unsigned _Bool const struct union enum".split())
# What may run anything, or go anywhere. A label may be where a goto leads.
_OPAQUE = frozenset("asm __asm__ __asm goto return typeof __typeof__ __typeof _Generic __extension__ __auto_type "
                    "__builtin_va_arg va_arg volatile __volatile__ __volatile _Atomic".split())
_VALUES = frozenset(["NULL", "true", "false"])
# Functions that only read, and functions that only write what the first argument points to.
_READERS = frozenset("strlen strnlen strcmp strncmp memcmp".split())
_GETTERS = frozenset(["__get_dynamic_array_len", "__get_rel_dynamic_array_len", *GETTERS])
_ASSIGNERS = frozenset(twin(name) if rel else name for kind, rel in FIELD_MACROS.values() for name in kind.assigners)
_WRITERS = frozenset("memcpy memmove memset strcpy strncpy strlcpy strscpy strscpy_pad strlcat".split())


@dataclass
class _Seen:
    """What an expression does."""

    good: bool = True     # it changes nothing but what functions change that it calls: no parameter is changed
    memory: bool = False  # it reads memory, or takes an address
    calls: bool = False
    other: bool = False   # it has what only its own place knows: local variables, fields, addresses of literals
    names: list[str] = field(default_factory=list)      # values that may be macros
    functions: list[str] = field(default_factory=list)  # called, and may be macros
    written: list[str] = field(default_factory=list)    # fields whose address is taken


def find_early(params: Sequence[Param], fields: Sequence[Field], sizes: Sequence[Sequence[Token]], assign: Sequence[Token],
               text: Text, uses_alias: bool) -> Early | None:
    """The early fields; sizes are the expressions that measure the dynamic fields. None: there are no early ones."""
    if len(fields) > MAX_FIELDS or any(re.search(r"volatile|_Atomic", p.text) for p in params):
        return None
    return _Search(params, fields, text, uses_alias).run(sizes, assign)


class _Opaque(Exception):
    """Something that can have any effect, wherever it stands."""


class _Search:
    def __init__(self, params: Sequence[Param], fields: Sequence[Field], text: Text, uses_alias: bool):
        self.text = text
        self.params = {p.name for p in params}
        self.locals: set[str] = set()
        self.entries = frozenset(["__entry", "entry"] if uses_alias else ["__entry"])
        self.arrays = {f.name for f in fields if f.kind.name == "array"}
        self.numbers = {f.name: n for n, f in enumerate(fields) if _is_scalar(f)}
        self.types = (KNOWN.keys() | text.own_types) - self.params
        self.names: dict[str, None] = {}
        self.functions: dict[str, None] = {}
        self.found: dict[str, tuple[Sequence[Token], bool]] = {}  # by the field: its statement, and whether it is exact
        self.taken: set[str] = set()  # fields that have been assigned, or may be elsewhere
        self.exact_only = False       # memory may have changed

    def run(self, sizes: Sequence[Sequence[Token]], assign: Sequence[Token]) -> Early | None:
        try:
            for tokens in sizes:
                if not self._passed(self._look(tokens)):
                    return None
            self._statements(assign)
        except _Opaque:
            return None
        found = {name: one for name, one in self.found.items() if name not in self.taken}
        if not found:
            return None
        return Early(sum(1 << self.numbers[name] for name in found),
                     sum(1 << self.numbers[name] for name, (_, exact) in found.items() if exact),
                     tuple(code(self.text, statement) for statement, _ in found.values()),
                     frozenset(t.text for statement, _ in found.values() for n, t in enumerate(statement)
                               if not n or statement[n - 1].text not in ("->", ".", "struct", "union", "enum")),
                     any(statement[0].text == "entry" for statement, _ in found.values()),
                     tuple(self.names), tuple(self.functions))

    def _passed(self, seen: _Seen) -> bool:
        """Goes past an expression. False: behind it, nothing is known of the parameters."""
        self.names.update(dict.fromkeys(seen.names))
        self.functions.update(dict.fromkeys(seen.functions))
        self.taken.update(seen.written)
        self.exact_only = self.exact_only or seen.calls
        return seen.good

    # ---- Statements ----

    def _statements(self, tokens: Sequence[Token]) -> None:
        at, depth, begins = 0, 0, True  # begins: no condition is in front of it
        while at < len(tokens):
            word = tokens[at].text
            if word in (";", "{", "}"):
                depth += (word == "{") - (word == "}")
                at, begins = at + 1, True
                continue
            if word == "else":
                at, begins = at + 1, False
                continue
            if word == "if" and _text(tokens, at + 1) == "(":
                close = matching(tokens, at + 1)
                if not self._passed(self._look(tokens[at + 2:close])):
                    break
                at, begins = close + 1, False
                continue
            end = _end(tokens, at)
            if not self._statement(tokens[at:end], begins and depth == 0):
                break
            at = end
        self._rest(tokens[at:])

    def _statement(self, tokens: Sequence[Token], always: bool) -> bool:
        """Goes past one, without its ';'. False: it is not understood."""
        words = [t.text for t in tokens[:4]]
        if len(words) == 4 and words[0] in self.entries and words[1] == "->" and words[3] == "=":
            return self._assignment(tokens, always)
        if len(words) == 4 and words[0] in self.entries and words[2] in self.arrays and words[3] == "[":
            close = matching(tokens, 3)
            return _text(tokens, close + 1) == "=" and \
                all(self._passed(self._look(part)) for part in (tokens[4:close], tokens[close + 2:]))
        if words[1:2] == ["("] and matching(tokens, 1) == len(tokens) - 1:
            return self._call(tokens)
        return self._declaration(tokens)

    def _assignment(self, tokens: Sequence[Token], always: bool) -> bool:
        name, seen = tokens[2].text, self._look(tokens[4:])
        exact = not seen.memory
        early = always and seen.good and not (seen.calls or seen.other) and (exact or not self.exact_only)
        if early and name in self.numbers and name not in self.found:
            self.found[name] = (tokens, exact)
        else:
            self.taken.add(name)
        return self._passed(seen)

    def _call(self, tokens: Sequence[Token]) -> bool:
        """One that fills in a field."""
        name = tokens[0].text
        args = split(tokens[2:-1], tokens[1], tokens[-1])
        if name in _ASSIGNERS:
            return all(self._passed(self._look(a.tokens)) for a in args[1:])
        if name not in _WRITERS or not args or not self._is_in_record([t.text for t in args[0].tokens]):
            return False
        self.functions[name] = None
        return all(self._passed(self._look(a.tokens)) for a in args)

    def _is_in_record(self, words: Sequence[str]) -> bool:
        """Whether this is the address of a field, not what a field points to."""
        if words[:1] == ["&"]:
            return len(words) == 4 and words[1] in self.entries
        if words[:1] and words[0] in self.entries:
            return len(words) == 3 and words[2] in self.arrays
        return len(words) == 4 and words[0] in GETTERS

    def _declaration(self, tokens: Sequence[Token]) -> bool:
        """A local variable. A parameter of its name can't be seen any more."""
        equals = next((n for n, t in enumerate(tokens) if t.text == "="), len(tokens))
        front = tokens[:equals]
        if len(front) < 2 or front[-1].kind != "id" or front[-1].text in C_KEYWORDS or not self._is_type(front[:-1]):
            return False
        good = self._passed(self._look(tokens[equals + 1:]))
        self.locals.add(front[-1].text)
        self.params.discard(front[-1].text)
        self.types.discard(front[-1].text)
        return good and front[-1].text not in self.entries

    def _rest(self, tokens: Sequence[Token]) -> None:
        """What comes behind the last statement that is understood. It may change the fields that it names."""
        for at, token in enumerate(tokens):
            before, after = _text(tokens, at - 1) if at else "", _text(tokens, at + 1)
            self._check(token, after)
            if token.kind != "id" or token.text in C_KEYWORDS:
                continue
            if token.text in self.entries and before not in ("->", "."):
                if after != "->":
                    raise _Opaque
                self.taken.add(_text(tokens, at + 2))
            elif before not in ("->", ".", "struct", "union", "enum"):
                if after == ":" and before in ("", ";", "{", "}"):
                    raise _Opaque
                self._name(token.text, after == "(", self.names, self.functions)

    # ---- Expressions ----

    def _check(self, token: Token, after: str) -> None:
        if token.text in _OPAQUE or token.text == "(" and after == "{" or token.kind in ("dir", "bad") or token.text == "#":
            raise _Opaque

    def _name(self, name: str, called: bool, names: dict[str, None], functions: dict[str, None]) -> None:
        """An identifier that is no member, and may be a macro."""
        if called and name not in _GETTERS and name not in _ASSIGNERS:
            functions[name] = None
        elif not called and not any(name in known for known in (
                self.params, self.locals, self.entries, _VALUES, self.text.own_enumerators, self.types)):
            names[name] = None

    def _look(self, tokens: Sequence[Token]) -> _Seen:
        """What an expression does, or several with commas in between, as arguments are."""
        seen = _Seen()
        at, before = 0, ""  # before: the token in front; a cast is none
        while at < len(tokens):
            token, after = tokens[at], _text(tokens, at + 1)
            self._check(token, after)
            if token.text == "sizeof" and after == "(":
                close = matching(tokens, at + 1)
                seen.good = seen.good and not any(t.text in _CHANGES for t in tokens[at:close])
                at, before = close + 1, ")"
                continue
            if token.text == "(" and not _ends_operand(before) and self._is_type(tokens[at + 1:matching(tokens, at)]):
                at, before = matching(tokens, at) + 1, "cast"
                continue
            if token.kind == "punct":
                self._sign(seen, tokens, at, before)
            elif token.kind == "id" and before in ("->", "."):
                if after == "(":
                    seen.functions.append(token.text)
            elif token.kind == "id":
                self._word(seen, tokens, at)
            elif token.kind == "str":
                seen.other = True
            before = token.text if token.kind == "punct" else "operator" if token.text == "sizeof" else "operand"
            if token.kind == "id":
                before = "name"
            at += 1
        return seen

    def _sign(self, seen: _Seen, tokens: Sequence[Token], at: int, before: str) -> None:
        word, unary = tokens[at].text, not _ends_operand(before)
        if word in _CHANGES or word in (";", "{", "}", "..."):
            seen.good = False
        elif word == "(" and not unary:
            seen.calls = seen.calls or not (before == "name" and tokens[at - 1].text in _READERS | _GETTERS)
            seen.memory = True
        elif word == ",":
            seen.other = True
        elif word in ("->", ".", "[") or word == "*" and unary:
            seen.memory = True
        elif word == "&" and unary:
            self._address(seen, tokens[at + 1:])

    def _address(self, seen: _Seen, tokens: Sequence[Token]) -> None:
        """That of a parameter itself is another one in each function, and leads to the parameter."""
        seen.memory = True
        name, after = _text(tokens, 0), _text(tokens, 1)
        if name in self.entries and after == "->":
            seen.written.append(_text(tokens, 2))
            seen.other = True
        elif after not in ("->", "[") or not tokens[0].kind == "id":
            seen.good = False

    def _word(self, seen: _Seen, tokens: Sequence[Token], at: int) -> None:
        name, after = tokens[at].text, _text(tokens, at + 1)
        if name in self.entries:
            if after != "->":
                raise _Opaque
            seen.other = True
        elif name in self.locals:
            seen.other = True
        elif name in C_KEYWORDS:
            seen.good = seen.good and name == "sizeof"
        else:
            names: dict[str, None] = {}
            functions: dict[str, None] = {}
            self._name(name, after == "(", names, functions)
            seen.names += names
            seen.functions += functions
            seen.memory = seen.memory or bool(names)  # it may be a variable
            seen.other = seen.other or after == "("

    def _is_type(self, tokens: Sequence[Token]) -> bool:
        """Whether this can only be a type: words of one, the tag of a structure, stars."""
        words = [t.text for t in tokens]
        while words[-1:] and words[-1] in ("*", "const"):
            words.pop()
        if not words or not set(words) - {"const"}:
            return False
        return all(w in _TYPE_WORDS or w in self.types or n > 0 and words[n - 1] in ("struct", "union", "enum") and w.isidentifier()
                   for n, w in enumerate(words))


def _is_scalar(one: Field) -> bool:
    return one.kind.name == "field" and not one.by_value and not re.search(r"volatile|_Atomic", one.c_type)


def _ends_operand(before: str) -> bool:
    """Whether an operator behind this has a left side, and a '(' is a call's."""
    return before in ("name", "operand", ")", "]")


def _text(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].text if at < len(tokens) else ""


def _end(tokens: Sequence[Token], at: int) -> int:
    """Where the statement's ';' is."""
    while at < len(tokens) and tokens[at].text != ";":
        at = matching(tokens, at) + 1 if tokens[at].text in ("(", "[", "{") and tokens[at].kind == "punct" else at + 1
    return min(at, len(tokens))

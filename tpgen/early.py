# SPDX-License-Identifier: MIT
"""Early fields: those for which TP_fast_assign says no more than `__entry->field = parameter;`.

Their values are those of the parameters, so they are known before anything else of a record is computed. That is so only
if nothing else sets the field, nothing changes the parameter, and the statement is always reached. Whatever might do one
of these, by its looks, excludes the field: no more is understood of C here than what a statement and a name are. What
looks like a name can be a macro of a header that tpgen does not read. So names are collected, too: the C compiler's
preprocessor tells whether one of them is a macro, and if so, the event has no early fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tpgen.kinds import FIELD_MACROS, GETTERS, twin
from tpgen.lexer import Token
from tpgen.model import Early, Field, Param
from tpgen.text import Text
from tpgen.tokens import C_KEYWORDS, brackets
from tpgen.wording import code

# The runtime has a bit for each of these, and one for all others.
MAX_FIELDS = 63

_CHANGES = frozenset("= += -= *= /= %= &= |= ^= <<= >>= ++ -- &".split())
# What may go anywhere or do anything, names a type of its own, or is a variable of the writer's.
_OPAQUE = frozenset("goto return asm __asm __asm__ typedef __builtin_va_arg __rec __dyn __size __data __event __record".split())
# Digraphs and trigraphs: other signs, which are not looked for.
_SPELLINGS = (("<", "%"), ("?", "?"))
_OURS = frozenset([*GETTERS, "__get_dynamic_array_len", "__get_rel_dynamic_array_len",
                   *(twin(name) if rel else name for kind, rel in FIELD_MACROS.values() for name in kind.assigners)])
# Statements that call one of these do what it does, and no more.
_CALLS = _OURS | frozenset("memcpy memmove memset strcpy strncpy strlcpy strscpy strscpy_pad snprintf".split())
# Macros of every C library, and of the kernel: values, and what makes one of others.
_VALUES = frozenset("NULL true false bool errno htons htonl ntohs ntohl min max min_t max_t MIN MAX".split())
# What the writer needs for early fields, and a parameter may be called.
_GENERATED = frozenset(["__bytes", "tp_early_sink"])
# Names that are no macros which change anything.
_KNOWN = C_KEYWORDS | _OURS | _VALUES | {"__entry"}


def find_early(params: Sequence[Param], fields: Sequence[Field], sizes: Sequence[Sequence[Token]], assign: Sequence[Token],
               text: Text) -> Early | None:
    """The early fields, or None; sizes are the expressions that measure the dynamic fields."""
    tokens = [token for part in (*sizes, assign) for token in part]
    uses = [after.text for entry, after in zip(tokens, tokens[2:]) if entry.text == "__entry"]  # behind a "->"
    known = {f.name for f in fields}
    names = {p.name for p in params}
    if _is_opaque(tokens) or any(map(_lets_go, (*sizes, assign))) or not known.issuperset(uses) or \
            any(f.length == "0" for f in fields) or not names.isdisjoint(_GENERATED):
        return None
    numbers = {f.name: n for n, f in enumerate(fields[:MAX_FIELDS]) if f.kind.name == "field" and not f.by_value}
    found: dict[str, tuple[str, Sequence[Token]]] = {}  # the parameter, and the statement
    doubtful = {p.name for p in params if "&" in p.type}  # parameters that may not be what they were
    for part in sizes:
        doubtful |= _changed(part, names)
    for statement in _statements(assign):
        words = [t.text for t in statement]
        if words[:2] == ["__entry", "->"] and words[3:4] == ["="] and words[2] in numbers:
            if _value(words[4:]) in names:
                found[words[2]] = _value(words[4:]), statement
            doubtful |= _changed(statement[4:], names)
        elif words[0] in _CALLS:
            doubtful |= _changed(statement, names)
        else:  # a declaration, perhaps, of something that is called like a parameter
            doubtful |= names.intersection(words)
    early = {name: one for name, one in found.items() if uses.count(name) == 1 and one[0] not in doubtful}
    if not early:
        return None
    return Early(tuple(numbers[name] for name in early), tuple(code(text, statement) for _, statement in early.values()),
                 tuple(_macros(tokens, names | known)))


def _is_opaque(tokens: Sequence[Token]) -> bool:
    return any(t.text in _OPAQUE or t.kind in ("dir", "bad") for t in tokens) or \
        any((token.text, after.text) in _SPELLINGS for token, after in zip(tokens, tokens[1:]))


def _lets_go(tokens: Sequence[Token]) -> bool:
    """Whether the address of the record, or of a field, is taken: then anything may be written there."""
    taken: list[int] = []  # the depths of each "&" whose operand may not have ended
    for (depth, token), after in zip(brackets(tokens), [*(t.text for t in tokens[1:]), ""]):
        if token.text == "__entry" and (taken or after != "->"):
            return True
        if token.text in (",", ";"):
            taken = [d for d in taken if d < depth]
        elif token.text in (")", "]", "}"):
            taken = [d for d in taken if d <= depth]
        elif token.text == "&":
            taken.append(depth)
    return False


def _statements(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """What ends with a ';' or a '}' that is in no brackets, without the ';'. What begins with __entry is always reached."""
    begin = 0
    for at, (depth, token) in enumerate(brackets(tokens)):
        if depth == 0 and token.text in (";", "}"):
            end = at + (token.text == "}")
            if end > begin:
                yield tokens[begin:end]
            begin = at + 1
    if tokens[begin:]:
        yield tokens[begin:]


def _value(words: Sequence[str]) -> str:
    """The parameter, perhaps behind a cast; "": something else."""
    if len(words) > 3 and words[0] == "(" and words[-2] == ")" and "enum" not in words and \
            all(w.isidentifier() or w == "*" for w in words[1:-2]):
        return words[-1]
    return words[0] if len(words) == 1 else ""


def _changed(tokens: Sequence[Token], names: set[str]) -> set[str]:
    """The parameters in an expression that changes something."""
    words = {t.text for t in tokens}
    return names & words if words & _CHANGES or "{" in words else set()


def _macros(tokens: Sequence[Token], ours: set[str]) -> Iterator[str]:
    """The names that might be macros, each once. Those of parameters and fields only where they look like functions."""
    names = (token.text for token, after in zip(tokens, [*(t.text for t in tokens[1:]), ""])
             if token.kind == "id" and token.text not in _KNOWN and "::" not in token.text and (token.text not in ours or after == "("))
    yield from dict.fromkeys(names)

# SPDX-License-Identifier: MIT
"""Rules on fields and helpers: which there are, how each is used, and whether TP_fast_assign fills it in."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tpgen.check.scope import Record, bare, branches, in_doubt, unevaluated
from tpgen.ctype import KNOWN
from tpgen.diag import Note, nearest
from tpgen.kinds import FIELD_MACROS, GETTERS, KINDS, twin
from tpgen.lexer import Token, lex
from tpgen.model import Field
from tpgen.tokens import C_KEYWORDS, Part, matching, split


@dataclass(frozen=True, slots=True)
class Helper:
    least: int        # so many arguments must be there, none of them empty
    takes: str = ""   # the kind of the field that the first one names; "any" for all dynamic ones
    rel: bool = False  # it is one of the _rel_ twins


# All that TP_fast_assign and TP_printk may call.
HELPERS = {
    "__get_dynamic_array_len": Helper(1, "any"), "__get_rel_dynamic_array_len": Helper(1, "any", True),
    "__print_dynamic_array": Helper(2, "any"),
    "__get_buf": Helper(1), "__print_flags": Helper(3), "__print_flags_u64": Helper(3), "__print_symbolic": Helper(2),
    "__print_symbolic_u64": Helper(2), "__print_hex": Helper(2), "__print_hex_str": Helper(2),
    "__print_array": Helper(3), "__print_hex_dump": Helper(7), "__print_ns_to_secs": Helper(1),
    "__print_ns_without_secs": Helper(1),
    **{name: Helper(1, "any" if kind.counted else kind.name, rel) for name, (kind, rel) in GETTERS.items()},
    **{twin(name) if rel else name: Helper(kind.assigned, kind.name, rel) for kind, rel in FIELD_MACROS.values()
       for name in kind.assigners},
}

# What messages call the kinds that helpers take.
_NOUNS = {kind.name: kind.noun for kind in KINDS.values()}

# What other languages call a text.
_TEXTS = frozenset("string String str cstring cstr".split())
# By their letters.
_KNOWN_TYPES = {"".join(sorted(name)): name for name in (*C_KEYWORDS, *KNOWN)}
# Headers of which it is known that they define no type of a name like these.
_STANDARD = re.compile(r"#\s*include\s*<(?:(?:sys|linux|net|netinet|arpa|asm|tp|trace)/[\w/.]+|assert\.h|ctype\.h|errno\.h|fcntl\.h|inttypes\.h"
                       r"|limits\.h|locale\.h|math\.h|netdb\.h|poll\.h|pthread\.h|sched\.h|signal\.h|stdarg\.h|stdbool\.h|stddef\.h"
                       r"|stdint\.h|stdio\.h|stdlib\.h|string\.h|time\.h|unistd\.h|wchar\.h)>")

# A local variable is followed to no longer expression, in tokens.
_MAX_FOLLOWED = 16

_ASSIGNMENTS = frozenset("= += -= *= /= %= &= |= ^= <<= >>= ++ -- [ . ->".split())
# What a '(' behind it makes no argument of.
_NO_CALL = frozenset("if while for switch return".split())


def check_fields(record: Record) -> None:
    _Fields(record).check()


@lru_cache(maxsize=4096)
def _lexed(text: str) -> list[Token]:
    return lex(text, "")


def _few(names: set[str]) -> set[str]:
    """Names, unless they are so many that nobody has misspelt them."""
    return names if len(names) <= 50 else set()


class _Fields:
    def __init__(self, record: Record):
        self.record = record
        self.text = record.text
        self.diag = record.diag

    def check(self) -> None:
        self._types()
        self._helpers(self.record.assign)
        for token in self.record.assign:
            if token.text == "return":
                self.diag.error(self.text.span(token), "TP068", "'return' would leave a record that is begun and never "
                                "ended, in which the trace stops; use 'if', or TRACE_EVENT_CONDITION for no record at all")
        printed: dict[str, Token] = {}
        for printk in self.record.prints:
            self._helpers(printk.tokens)
            printed = {**self._known_fields(printk.tokens, frozenset(["__entry"])), **printed}
        self._known_fields(self.record.assign, self.record.entries)
        self._assigned(printed)

    # ---- Types ----

    def _types(self) -> None:
        """Types that the file does not define, nor anything that it includes: a text, or a misspelt word."""
        for field in self.record.event_class.fields:
            meant = _KNOWN_TYPES.get("".join(sorted(field.c_type)), field.c_type)
            if field.c_type not in _TEXTS and field.c_type == meant or field.c_type in self.text.own_types or not self._knows_all():
                continue
            remedy = f"did you mean '{meant}'?" if meant != field.c_type else f"a text is recorded by __string({field.name}, ...)"
            self.diag.warning(field.span, "TP029", f"nothing here defines a type '{field.c_type}'; {remedy}")

    def _knows_all(self) -> bool:
        """Whether no included header may define types of its own."""
        return all(_STANDARD.match(t.text) for t in self.text.raw if t.kind == "dir" and re.match(r"#\s*(?:include|import)", t.text))

    # ---- Helpers ----

    def _helpers(self, tokens: Sequence[Token]) -> None:
        """Calls of helpers that there are none of, or with too few arguments."""
        for index, token in enumerate(tokens[:-1]):
            if not token.text.startswith(("__print_", "__get_", "__assign_")) or tokens[index + 1].text != "(":
                continue
            if token.text in HELPERS:
                close = matching(tokens, index + 1)
                self._helper(token, split(tokens[index + 2:close], tokens[index + 1], tokens[close]))
            elif token.text not in self.text.own_macros:
                meant = difflib.get_close_matches(token.text, HELPERS, 1, 0.85)
                if meant:
                    self.diag.error(self.text.span(token), "TP064",
                                    f"no helper is called '{token.text}'; did you mean '{meant[0]}'?")

    def _helper(self, token: Token, arguments: Sequence[Part]) -> None:
        least = HELPERS[token.text].least
        if len(arguments) < least or not all(a.tokens for a in arguments[:least]):
            self.diag.error(self.text.span(token), "TP066", f"{token.text} takes at least {least} "
                            f"argument{'' if least == 1 else 's'}, none of them empty")
            return
        field = self.record.dynamic.get(arguments[0].tokens[0].text)
        if "_str" in token.text and token.text.startswith("__assign") and len(arguments[0].tokens) == 1 and field \
                and field.kind.name == "string" and field.macro != "vstring":
            self._source(token, arguments, field)

    def _source(self, token: Token, arguments: Sequence[Part], field: Field) -> None:
        """A string is measured before it is copied: both must be of the same thing."""
        for argument, code in zip(arguments[1:], field.code):
            measured = _lexed(code.text)
            good = [self._resolved(measured), *map(self._resolved, branches(measured))]
            if self._resolved(argument.tokens) not in good:
                macro = f"__{'rel_' if field.rel else ''}{field.macro}"
                self.diag.warning(self.text.span(argument.at, argument.end), "TP065",
                                  f"{token.text} copies what {macro}({field.name}, ...) measured, which is not this",
                                  [Note(field.span, "it is declared here")])

    def _resolved(self, tokens: Sequence[Token], depth: int = 3) -> list[str]:
        """An expression's words, where a local variable stands for what it is initialized with."""
        words: list[str] = []
        for index, token in enumerate(tokens := bare(tokens)):
            member = index > 0 and tokens[index - 1].text in ("->", ".")
            value = self.record.locals.get(token.text, ()) if depth and not member else ()
            words.extend(self._resolved(value, depth - 1) if 0 < len(value) <= _MAX_FOLLOWED else [token.text])
        return words

    # ---- Which fields there are, and what kind each is ----

    def _known_fields(self, tokens: Sequence[Token], entries: frozenset[str]) -> dict[str, Token]:
        """Reports fields that are not there; returns those that are, by member, with their first mention."""
        mentioned: dict[str, Token] = {}
        for token, macro, index in _places(tokens, entries):
            field = self._named(token, macro)
            if field:
                mentioned.setdefault(field.member, token)
                if token.text == field.name:
                    self._fits(token, macro, field, [t.text for t in tokens[index + 1:index + 2]] == ["="])
            elif token.text != "ent":
                known = [f.name for f in self.record.event_class.fields]
                self.diag.error(self.text.span(token), "TP063", f"'{self.record.event_class.name}' has no field "
                                f"'{token.text}'{nearest(token.text, known)}")
        return mentioned

    def _named(self, token: Token, macro: str) -> Field | None:
        """The field that is meant; __entry->__data_loc_x is the word of the dynamic field x."""
        return self.record.field(token.text, bool(macro)) or \
            next((f for f in self.record.dynamic.values() if f.member == token.text), None)

    def _fits(self, token: Token, macro: str, field: Field, assigned: bool) -> None:
        what = ""
        if not macro:
            if field.dynamic:
                remedy = _assigner(field) if assigned else f"{getter(field)}({field.name})"
                what = f"'{field.name}' is a dynamic field; write {remedy}"
        elif not field.dynamic:
            what = f"{macro}: '{field.name}' is no dynamic field; write __entry->{field.name}"
        elif HELPERS[macro].rel != field.rel:
            other = macro.replace("_rel_", "_") if not field.rel else twin(macro)
            what = f"{macro}: '{field.name}' is {'a' if field.rel else 'no'} __rel_ field; write {other}({field.name})"
        elif not self._is(HELPERS[macro].takes, field):
            other = _assigner(field) if macro.startswith("__assign_") else f"{getter(field)}({field.name})"
            what = f"{macro}: '{field.name}' is no {_NOUNS[HELPERS[macro].takes]}; write {other}"
        if what:
            self.diag.error(self.text.span(token), "TP062", what, [Note(field.span, "it is declared here")])

    def _is(self, takes: str, field: Field) -> bool:
        if takes == "any" or takes in field.kind.fits:
            return True
        return takes == "string" and field.kind.counted and self.record.is_bytes(field)

    # ---- Which fields are assigned ----

    def _assigned(self, printed: Mapping[str, Token]) -> None:
        tokens = self.record.assign
        if self._whole_entry(tokens) or in_doubt(tokens):
            return
        written = self._written(tokens)
        missing = [f for f in self.record.event_class.fields if f.member not in written and not self._scratch(f)]
        if not missing:
            return
        misspelt = _misspelt(tokens)
        unknown = _few({t.text for t, macro, _ in _places(tokens, self.record.entries) if not self._named(t, macro)})
        for field in missing:
            if field.name in misspelt or any(nearest(name, [field.name]) for name in unknown):
                continue
            mention = printed.get(field.member)
            notes = [Note(self.text.span(mention), "it is printed here")] if mention else []
            if field.kind.name == "string":
                self.diag.error(field.span, "TP061", f"string '{field.name}' is never copied into the record; add "
                                f"{_assigner(field)}; to TP_fast_assign", notes)
            else:
                self.diag.warning(field.span, "TP060", f"{_noun(field)} '{field.name}' is never {_remedy(field)}",
                                  notes)

    def _scratch(self, field: Field) -> bool:
        """Whether it is room for a text that a function called in TP_printk makes: an old habit of drivers."""
        if not field.dynamic or not field.kind.counted or not self.record.is_bytes(field) or self._depends(field):
            return False
        for printk in self.record.prints:
            inside = _inside_calls(printk.tokens)
            if any(token.text == field.name and helper and inside[index - 2]
                   for token, helper, index in _places(printk.tokens, frozenset())):
                return True
        return False

    def _depends(self, field: Field) -> bool:
        """Whether its length is another for each record."""
        return any(t.text in self.record.variables for t in lex(field.code[0].text, self.text.source.path))

    def _whole_entry(self, tokens: Sequence[Token]) -> bool:
        """Whether the record itself is handed to something, which may then assign any field."""
        unseen = unevaluated(tokens)
        return any(t.text in self.record.entries and index not in unseen
                   and (index + 1 == len(tokens) or tokens[index + 1].text != "->")
                   and not (index and tokens[index - 1].text in ("->", ".")) for index, t in enumerate(tokens))

    def _written(self, tokens: Sequence[Token]) -> set[str]:
        """The members that TP_fast_assign may write. In doubt it does: inside a call, or by its address."""
        written: set[str] = set()
        inside = _inside_calls(tokens)
        unseen = unevaluated(tokens)
        for token, macro, index in _places(tokens, self.record.entries):
            if index in unseen:
                continue
            field = self._named(token, macro)
            before, after = _around(tokens, index - 2, index)
            if field and (after in _ASSIGNMENTS or before in ("&", "++", "--") or field.kind.name == "array"
                          or (not macro.endswith("array_len") if macro else inside[index])):
                written.add(field.member)
        return written


def _places(tokens: Sequence[Token], entries: frozenset[str]) -> Iterator[tuple[Token, str, int]]:
    """Each field that is named: (NAME, "", index) of __entry->NAME, or (NAME, HELPER, index) of HELPER(NAME)."""
    for index in range(2, len(tokens)):
        first, second, third = tokens[index - 2:index + 1]
        if third.kind != "id":
            continue
        if first.text in entries and second.text == "->":
            yield third, "", index
        elif second.text == "(" and first.text in HELPERS and HELPERS[first.text].takes:
            yield third, first.text, index


def _misspelt(tokens: Sequence[Token]) -> set[str]:
    """What may be fields that helpers assign which there are none of."""
    return {c.text for a, b, c in zip(tokens, tokens[1:], tokens[2:])
            if b.text == "(" and a.text.startswith(("__assign_", "__get_")) and a.text not in HELPERS}


def getter(field: Field) -> str:
    """The helper that reads a dynamic field."""
    return field.kind.getter(field.rel)


def _assigner(field: Field) -> str:
    """The call that fills in a dynamic field."""
    if not field.kind.assigners:
        return f"memcpy({getter(field)}({field.name}), ...)"
    macro = field.kind.assigners[0]
    given = "".join(", " + " ".join(c.text.split()) for c in field.code) if field.macro == "vstring" else \
        "" if field.kind.name == "string" else ", ..."
    return f"{twin(macro) if field.rel else macro}({field.name}{given})"


def _noun(field: Field) -> str:
    return "array" if field.kind.counted else "field"


def _remedy(field: Field) -> str:
    """What is missing of a field that is no string, and the call or assignment that would be it."""
    if field.dynamic:
        return f"filled in; add {_assigner(field)}; to TP_fast_assign"
    how = f"memcpy(__entry->{field.name}, ...)" if field.kind.counted else f"__entry->{field.name} = ..."
    return f"assigned; add {how}; to TP_fast_assign"


def _around(tokens: Sequence[Token], front: int, back: int) -> tuple[str, str]:
    """What stands in front of an expression and behind it, outside of brackets of its own."""
    while 0 < front and back + 1 < len(tokens) and tokens[front - 1].text == "(" and tokens[back + 1].text == ")":
        if front > 1 and (tokens[front - 2].kind == "id" or tokens[front - 2].text in (")", "]")):
            break  # a call's or a condition's
        front, back = front - 1, back + 1
    return tokens[front - 1].text if front else "", tokens[back + 1].text if back + 1 < len(tokens) else ""


def _inside_calls(tokens: Sequence[Token]) -> list[bool]:
    """For each token whether it is an argument of a call (of a function or of a macro)."""
    out: list[bool] = []
    stack = [False]
    for index, token in enumerate(tokens):
        out.append(stack[-1])
        if token.text == "(":
            before = tokens[index - 1] if index else None
            stack.append(stack[-1] or bool(before and before.kind == "id" and before.text not in _NO_CALL))
        elif token.text == ")" and len(stack) > 1:
            stack.pop()
    return out

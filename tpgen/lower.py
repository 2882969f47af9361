# SPDX-License-Identifier: MIT
"""Syntax tree to model: takes the parts of each declaration apart, and resolves classes.

What makes a declaration unusable is reported here; what is merely wrong with
a usable one is check's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tpgen import ctype
from tpgen.diag import Diagnostics, Note, nearest
from tpgen.lexer import Text, Token, spell
from tpgen.model import TABLE, Code, EventClass, Field, Param, Print, Symbols, Tracepoint, Unit
from tpgen.parser import C_KEYWORDS, Call, Declaration, Part, Tree, brackets, calls, matching, split

# The arguments of each field macro; the macro's name without its underscores is the field's kind.
FIELD_MACROS: dict[str, tuple[str, ...]] = {
    "__field": ("type", "name"),
    "__array": ("type", "name", "length"),
    "__string": ("name", "source"),
    "__dynamic_array": ("type", "name", "length"),
}

# The helpers of TP_printk whose arguments from this one on are a table.
TABLE_HELPERS = {"__print_flags": 2, "__print_symbolic": 1}

# What <inttypes.h> makes of its macros on LP64 machines, for texts that no C compiler sees.
_PRI_LENGTH = {"8": "", "16": "", "32": "", "64": "l", "MAX": "l", "PTR": "l"}
_PRI = re.compile(r"PRI([diouxX])(8|16|32|64|MAX|PTR)$")

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b"}


@dataclass(slots=True)
class Lowered:
    """A unit with the syntax that each of its things comes from, for check."""

    unit: Unit
    text: Text
    classes: list[tuple[Declaration, EventClass]]  # those whose name is taken too, which unit leaves out
    tracepoints: list[tuple[Declaration, Tracepoint]]


def lower(tree: Tree, text: Text, diag: Diagnostics) -> Lowered:
    return _Lowering(text, diag).run(tree)


def string_value(token: Token) -> str:
    """The characters that a C string literal stands for."""
    def one(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] == "x":
            return chr(int(code[1:], 16) & 0xff)
        if code[0] in "01234567":
            return chr(int(code, 8) & 0xff)
        return _ESCAPES.get(code, code)
    return re.sub(r"\\(x[0-9a-fA-F]+|[0-7]{1,3}|.)", one, token.text[1:-1], flags=re.S)


def format_value(tokens: Sequence[Token]) -> tuple[str, bool]:
    """The text of a format, and whether every token of it is known (PRIu64 is, on LP64)."""
    out: list[str] = []
    known = True
    for token in tokens:
        if token.kind == "str":
            out.append(string_value(token))
            continue
        match = _PRI.match(token.text)
        known = known and bool(match)
        out.append(_PRI_LENGTH[match[2]] + match[1] if match else token.text)
    return "".join(out), known


def print_arguments(part: Part) -> tuple[Part, ...]:
    """TP_printk's arguments: the format, then the values."""
    return split(part.tokens, part.at, part.end)


class _Lowering:
    def __init__(self, text: Text, diag: Diagnostics):
        self.text = text
        self.diag = diag
        self.said_system = False

    def run(self, tree: Tree) -> Lowered:
        verbatim = tuple(Code(v.line, v.text) for v in tree.verbatim)
        classes: dict[str, EventClass] = {}
        broken = set(tree.broken)
        declared: list[tuple[Declaration, EventClass]] = []
        for decl in tree.declarations:
            if "struct" not in decl.parts:
                continue
            made = self._event_class(decl)
            if not made:
                broken.add(decl.name.text)
            else:
                classes.setdefault(decl.name.text, made)
                declared.append((decl, made))
        tracepoints: list[tuple[Declaration, Tracepoint]] = []
        for decl in tree.declarations:
            made_point = self._tracepoint(decl, classes, broken)
            if made_point:
                tracepoints.append((decl, made_point))
        self._definitions(tree)
        unit = Unit(self.text.source.path, tree.comment, verbatim, tuple(classes.values()),
                    tuple(point for _, point in tracepoints))
        return Lowered(unit, self.text, declared, tracepoints)

    def _definitions(self, tree: Tree) -> None:
        """DEFINE_TRACE(name) says nothing new, but the name must be declared."""
        names = tree.broken | {d.name.text for d in tree.declarations if "proto" in d.parts}
        for decl in tree.declarations:
            if len(decl.parts) == 1 and decl.name.text not in names:
                self.diag.error(self.text.span(decl.name), "TP034",
                                f"DEFINE_TRACE({decl.name.text}): no DECLARE_TRACE in this file declares it"
                                f"{nearest(decl.name.text, names)}")

    def _tracepoint(self, decl: Declaration, classes: Mapping[str, EventClass], broken: set[str]) -> Tracepoint | None:
        if decl.macro.text == "DECLARE_EVENT_CLASS" or len(decl.parts) == 1:
            return None
        event_class = None
        if "class" in decl.parts or "struct" in decl.parts:
            wanted = decl.parts["class" if "class" in decl.parts else "name"].tokens[0]
            event_class = classes.get(wanted.text)
            if not event_class:
                if wanted.text not in broken:
                    self.diag.error(self.text.span(wanted), "TP032",
                                    f"no event class is called '{wanted.text}'{nearest(wanted.text, classes)}")
                return None
        # The kernel asks for TRACE_SYSTEM only where there is a record.
        system = self._system(decl) if event_class or decl.system else ""
        # A TRACE_EVENT's prototype was complained of as its class's.
        params = self._params(decl, say="struct" not in decl.parts)
        if system is None or params is None:
            return None
        args = tuple(spell(a.tokens) for a in split(decl.parts["args"].tokens, decl.parts["args"].at,
                                                    decl.parts["args"].end))
        return Tracepoint(system, decl.name.text, params, args, event_class, decl.comment, self.text.span(decl.macro))

    def _system(self, decl: Declaration) -> str | None:
        if decl.system and re.fullmatch(r"[A-Za-z_]\w*", decl.system):
            return decl.system
        if not self.said_system:
            self.said_system = True
            if decl.system is None:
                self.diag.error(self.text.span(decl.macro), "TP070",
                                "TRACE_SYSTEM is not defined: put '#define TRACE_SYSTEM name' in front of the first "
                                "event")
            else:
                self.diag.error(self.text.span(decl.macro), "TP071",
                                f"TRACE_SYSTEM must be a C identifier, not '{decl.system}'")
        return None

    def _params(self, decl: Declaration, say: bool = True) -> tuple[Param, ...] | None:
        part = decl.parts["proto"]
        tokens = [t for t in part.tokens if t.kind != "dir"]
        try:
            parsed = ctype.parse_params(tokens)
        except ctype.NotC as why:
            if say:
                self.diag.error(self.text.span(part.at, part.end), "TP040",
                                f"the prototype of '{decl.name.text}' is no C parameter list{why}")
            return None
        texts = [spell(a.tokens) for a in split(tokens, part.at, part.end)] if parsed else []
        names = [name for _, name, _ in parsed]
        for number, (type_, name, _) in enumerate(parsed):
            wrong = "has no name" if not name else "has the name of another" if name in names[:number] else ""
            if wrong:
                if say:
                    self.diag.error(self.text.span(part.at, part.end), "TP040",
                                    f"parameter {number + 1} of '{decl.name.text}' ({type_} {name}".rstrip()
                                    + f") {wrong}")
                return None
        return tuple(Param(t, n, text, canonical) for (t, n, canonical), text in zip(parsed, texts))

    def _event_class(self, decl: Declaration) -> EventClass | None:
        params = self._params(decl)
        fields = self._fields(decl)
        print_ = self._print(decl)
        if params is None or fields is None or print_ is None:
            return None
        assign = decl.parts["assign"]
        return EventClass(decl.name.text, params, fields, self._code(assign.tokens, {}),
                          frozenset(_variables(decl.parts["struct"].tokens, assign.tokens)), print_)

    # ---- Fields ----

    def _fields(self, decl: Declaration) -> tuple[Field, ...] | None:
        out: list[Field] = []
        good = True
        for item in calls([t for t in decl.parts["struct"].tokens if t.kind != "dir"]):
            if isinstance(item, Call):
                made = self._field(item)
                good = good and made is not None
                if made:
                    out.append(made)
            elif item.text != ";":
                self.diag.error(self.text.span(item), "TP020",
                                f"a field is expected here, such as __field(type, name), not '{item.text}'")
                return None
        return tuple(out) if good and self._distinct(out) else None

    def _distinct(self, fields: Sequence[Field]) -> bool:
        seen: dict[str, Field] = {}
        good = True
        for one in fields:
            if one.name == "ent":
                self.diag.error(one.span, "TP022", "a field can't be called 'ent': the record's header is")
                good = False
            if one.name in seen:
                self.diag.error(one.span, "TP022", f"two fields are called '{one.name}'",
                                [Note(seen[one.name].span, "the first is here")])
                good = False
            seen.setdefault(one.name, one)
        return good

    def _field(self, call: Call) -> Field | None:
        form = FIELD_MACROS.get(call.name.text)
        if not form:
            self.diag.error(self.text.span(call.name), "TP020",
                            f"no field macro is called '{call.name.text}'{nearest(call.name.text, FIELD_MACROS)}")
            return None
        if len(call.args) != len(form):
            hint = "; is a ',' missing?" if len(call.args) < len(form) else ""
            self.diag.error(self.text.span(call.name, call.close), "TP021", f"{call.name.text} takes {len(form)} "
                            f"arguments ({', '.join(form)}), not {len(call.args)}{hint}")
            return None
        given = dict(zip(form, call.args))
        name = given["name"]
        if len(name.tokens) != 1 or name.tokens[0].kind != "id" or name.tokens[0].text in C_KEYWORDS:
            array = any(t.text == "[" for t in name.tokens)
            remedy = "; an array is written __array(type, name, length)" if array else ""
            self.diag.error(self.text.span(name.at, name.end), "TP023",
                            f"a field's name must be a C identifier, not '{spell(name.tokens)}'{remedy}")
            return None
        type_ = "char"
        if "type" in given:
            spelled = self._type(call, given["type"])
            if not spelled:
                return None
            type_ = spelled
        extra = given.get("length") or given.get("source")
        if extra and not extra.tokens:
            self.diag.error(self.text.span(call.name, call.close), "TP021",
                            f"{call.name.text}: the {form[-1]} is empty")
            return None
        code = self._code(extra.tokens, {}) if extra else Code(call.name.line, "")
        return Field(call.name.text[2:], type_, name.tokens[0].text,
                     self.text.spell(given["length"].tokens) if "length" in given else None,
                     code, self.text.span(call.name, call.close))

    def _type(self, call: Call, part: Part) -> str | None:
        try:
            if not part.tokens:
                raise ctype.NotC(": it is empty")
            ctype.parse_type(part.tokens)
        except ctype.NotC as why:
            self.diag.error(self.text.span(part.at, part.end), "TP024",
                            f"{call.name.text}: '{spell(part.tokens)}' is no C type{why}")
            return None
        return self.text.spell(part.tokens)

    # ---- TP_printk ----

    def _print(self, decl: Declaration) -> Print | None:
        part = decl.parts["print"]
        arguments = print_arguments(part)
        format_ = arguments[0].tokens if arguments else ()
        if not all(t.kind in ("str", "id") for t in format_) and format_[0].kind == "str":
            odd = next(n for n, t in enumerate(format_) if t.kind not in ("str", "id"))
            # An identifier in front of what can't be a format's: the argument begins with it.
            odd -= format_[odd - 1].kind == "id"
            self.diag.error(self.text.span(decl.macro), "TP012", f"{decl.macro.text}({decl.name.text}): ',' is missing in "
                            "TP_printk", [Note(self.text.span(format_[odd - 1]), "it belongs behind this"),
                                          Note(self.text.span(format_[odd]), "noticed here")])
            return None
        if not any(t.kind == "str" for t in format_) or any(t.kind not in ("str", "id") for t in format_):
            self.diag.error(self.text.span(part.at, part.end), "TP050",
                            f"TP_printk of '{decl.name.text}' must begin with a format string")
            return None
        changed: dict[Token, str] = {}
        symbols: list[Symbols] = []
        for argument in arguments[1:]:
            self._tables(argument.tokens, changed, symbols)
        rest = part.tokens[len(arguments[0].tokens) + 1:]
        text = "".join(f", {spelled}" for spelled in [re.sub(r"\b__entry\b", "REC", self.text.spell(rest))] if spelled)
        value, _ = format_value(arguments[0].tokens)
        return Print(self._code(part.tokens, changed), tuple(symbols), spell(arguments[0].tokens),
                     all(t.kind == "str" for t in arguments[0].tokens), text, f'"{value}"{text}')

    def _tables(self, tokens: Sequence[Token], changed: dict[Token, str], symbols: list[Symbols]) -> None:
        """Takes the tables out of the print helpers' calls, so that they can be data of their own."""
        for index, token in enumerate(tokens[:-1]):
            if token.text not in TABLE_HELPERS or tokens[index + 1].text != "(":
                continue
            first = TABLE_HELPERS[token.text]
            close = matching(tokens, index + 1)
            arguments = split(tokens[index + 2:close], tokens[index + 1], tokens[close])
            entries = [_entry(a.tokens) for a in arguments[first:]]
            if not entries or None in entries:
                continue  # a macro of an included header: the C compiler expands it into tp/print.h's
            value = arguments[0].tokens
            if not value:
                continue  # check says so
            words = [t.text for t in value if t.text not in "()"]
            exact = token.text == "__print_symbolic" and len(words) == 3 and words[:2] == ["__entry", "->"]
            changed[token] = f"{TABLE}{token.text}{TABLE}"
            head, *tail = [t for t in tokens[tokens.index(arguments[first].tokens[0]):close]]
            changed[head] = f"{TABLE}{len(symbols)}{TABLE}"
            changed.update((t, "") for t in tail)
            symbols.append(Symbols(tuple(e for e in entries if e), words[2] if exact else None))

    # ---- C text ----

    def _code(self, tokens: Sequence[Token], changed: Mapping[Token, str]) -> Code:
        """tokens as C text: word for word where no macro changed them, else line by line as preprocessed."""
        tokens = [t for t in tokens if t.kind != "dir"]
        if not tokens:
            return Code(0, "")
        first, last = tokens[0], tokens[-1]
        if not changed:
            written = self.text.as_written(first, last)
            if written is not None:
                return Code(first.line, self.text.indent(first.line) + written)
        lines: dict[int, list[Token]] = {}
        for token in tokens:
            lines.setdefault(token.line, []).append(token)
        return Code(first.line, "\n".join(self._line(number, lines.get(number, []), changed)
                                          for number in range(first.line, last.line + 1)).rstrip())

    def _line(self, number: int, tokens: Sequence[Token], changed: Mapping[Token, str]) -> str:
        if not any(changed.get(t, t.text) for t in tokens):
            return ""
        written = None
        if not any(t in changed for t in tokens):
            written = self.text.as_written(tokens[0], tokens[-1])
        return self.text.indent(number) + (written if written is not None else _respell(tokens, changed))


def _variables(struct: Sequence[Token], assign: Sequence[Token]) -> Iterator[str]:
    """The identifiers that may be parameters: no members, no names of fields, and not what __assign_str ignores."""
    for call in calls(struct):
        form = FIELD_MACROS.get(call.name.text) if isinstance(call, Call) else None
        if isinstance(call, Call) and form and form[-1] != "name":  # a source or a length
            yield from (t.text for part in call.args[-1:] for t in part.tokens if t.kind == "id")
    index = 0
    while index < len(assign):
        if assign[index].text == "__assign_str" and assign[index + 1:index + 2]:
            index = matching(assign, index + 1)
        elif assign[index].kind == "id" and not (index and assign[index - 1].text in ("->", ".")):
            yield assign[index].text
        index += 1


def _respell(tokens: Sequence[Token], changed: Mapping[Token, str]) -> str:
    out: list[str] = []
    previous: Token | None = None
    for token in tokens:
        text = changed.get(token, token.text)
        if text:
            out.append(" " if previous and previous.end != token.start else "")
            out.append(text)
        previous = token
    return "".join(out).strip()


def _entry(tokens: Sequence[Token]) -> tuple[int, str, str] | None:
    """A table's { value, "name" }; None for anything else."""
    if len(tokens) < 5 or tokens[0].text != "{" or tokens[-1].text != "}":
        return None
    if any(depth == 0 for depth, _ in list(brackets(tokens))[1:-1]):
        return None
    parts = split(tokens[1:-1], tokens[0], tokens[-1])
    if len(parts) == 3 and not parts[2].tokens:
        parts = parts[:2]
    return (tokens[0].line, spell(parts[0].tokens), spell(parts[1].tokens)) if len(parts) == 2 else None

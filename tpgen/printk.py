# SPDX-License-Identifier: MIT
"""TP_printk: its format, its arguments, and what of them is rewritten for a user-space printf."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from tpgen.diag import Diagnostics, Note
from tpgen.kinds import GETTERS
from tpgen.lexer import Token, spell
from tpgen.model import Constant, Print, Symbols
from tpgen.parser import Declaration
from tpgen.text import Text
from tpgen.tokens import C_KEYWORDS, Part, brackets, matching, split
from tpgen.wording import pieces

# The helpers whose arguments from this one on are a table.
TABLE_HELPERS = {"__print_flags": 2, "__print_flags_u64": 2, "__print_symbolic": 1, "__print_symbolic_u64": 1}

# A pointer to TP_fast_assign, a text to TP_printk; in C that takes two names.
_TEXTS = {name: name.replace("__get_", "__print_") for name, (kind, _) in GETTERS.items() if kind.printer}

# What <inttypes.h> makes of its macros on LP64 machines, for texts that no C compiler sees.
_PRI_LENGTH = {"8": "", "16": "", "32": "", "64": "l", "MAX": "l", "PTR": "l"}
_PRI = re.compile(r"PRI([diouxX])(8|16|32|64|MAX|PTR)$")

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b"}

_CONVERSION = re.compile(r"%(?P<flags>[-+ #0']*)(?P<width>\*|\d+)?(?P<precision>\.(?:\*|\d+)?)?"
                         r"(?P<length>hh|h|ll|l|j|z|t|L|q)?(?P<conversion>.)?", re.S)

# All letters and digits behind %p are the kernel's. These the runtime prints (tp_seq_pointer); what is behind them, nobody.
_SUFFIX = re.compile(r"[A-Za-z0-9]+")
_POINTERS = re.compile(r"S[RBb]*|sR?|B|[fF]$|[iI](?:4[hnbl]?|6c?|S[pfschnbl]*)|[mM][RF]?|U[bBlL]?|h[CDN]?|bl?|[xKe]|a[dp]?")


@dataclass(frozen=True, slots=True)
class Conversion:
    """A conversion of a format: the arguments that it takes are stars ints, then a value unless letter is % or m."""

    start: int
    end: int
    text: str
    flags: str
    width: str
    stars: int
    length: str
    letter: str  # "" at the format's end
    suffix: str  # behind a p: what the kernel prints of what is pointed to

    @property
    def pointer(self) -> str:
        """What the kernel looks at of the suffix, where the runtime prints it."""
        known = _POINTERS.match(self.suffix)
        return known[0] if known else ""

    @property
    def values(self) -> int:
        return 0 if self.letter in ("%", "m") else self.stars + 1


def conversions(text: str) -> Iterator[Conversion]:
    at = 0
    while match := _CONVERSION.search(text, at):
        at = match.end()
        suffix = _SUFFIX.match(text, at) if match["conversion"] == "p" else None
        at = suffix.end() if suffix else at
        width, precision = match["width"] or "", match["precision"] or ""
        yield Conversion(match.start(), at, text[match.start():at], match["flags"], width,
                         (width == "*") + (precision == ".*"), match["length"] or "", match["conversion"] or "",
                         suffix[0] if suffix else "")


def string_value(token: Token) -> str:
    """The characters that a C string literal stands for."""
    def one(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] in "uU" and len(code) > 1:
            number = int(code[1:], 16)
            return chr(number) if number < 0xd800 or 0xdfff < number < 0x110000 else match[0]
        if code[0] in "x01234567" and code != "x":
            byte = int(code.lstrip("x"), 16 if code[0] == "x" else 8) & 0xff
            return chr(byte if byte < 0x80 else 0xdc00 + byte)  # as what is no UTF-8 is read
        return _ESCAPES.get(code, code)
    return re.sub(r"\\(x[0-9a-fA-F]+|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|.)", one, token.text[1:-1], flags=re.S)


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


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands for an entry of a table: { value, "name" }; or { }, which ends it."""

    tokens: tuple[Token, ...]  # the value's; none of what ends the table
    value: str
    name: str
    at: Token
    end: Token
    only: bool  # nothing else is between the braces


@dataclass(frozen=True, slots=True)
class TableCall:
    """A call of a helper that takes a table."""

    helper: Token
    arguments: tuple[Part, ...]
    entries: tuple[Entry | None, ...]  # None for what is none, such as a macro of an included header
    inside: tuple[Token, ...]  # all between its brackets

    @property
    def first(self) -> int:
        """The argument that the table begins with."""
        return TABLE_HELPERS[self.helper.text]


@dataclass(frozen=True, slots=True)
class Printk:
    """A TP_printk taken apart."""

    tokens: tuple[Token, ...]
    format: Part
    values: tuple[Part, ...]
    tables: tuple[TableCall, ...]


def parse_print(decl: Declaration, text: Text, diag: Diagnostics) -> tuple[Print, Printk] | None:
    """The TP_printk of a declaration; None after an error."""
    part = decl.parts["print"]
    arguments = split(part.tokens, part.at, part.end)
    format_ = arguments[0].tokens if arguments else ()
    if format_ and not all(t.kind in ("str", "id") for t in format_) and format_[0].kind == "str":
        odd = next(n for n, t in enumerate(format_) if t.kind not in ("str", "id"))
        # An identifier in front of what can't be a format's: the argument begins with it.
        odd -= format_[odd - 1].kind == "id"
        diag.error(text.span(decl.macro), "TP012", f"{decl.macro.text}({decl.name.text}): ',' is missing in "
                   "TP_printk", [Note(text.span(format_[odd - 1]), "it belongs after this"),
                                 Note(text.span(format_[odd]), "noticed here")])
        return None
    # It may be a macro of an included header, as a whole.
    if not format_ or any(t.kind not in ("str", "id") for t in format_):
        diag.error(text.span(part.at, part.end), "TP050",
                   f"TP_printk of '{decl.name.text}' must begin with a format string")
        return None
    changed: dict[Token, str] = {}
    symbols: dict[Token, Symbols] = {}
    rest = part.tokens[len(format_) + 1:]
    changed.update((t, _TEXTS[t.text]) for t in rest if t.text in _TEXTS)
    syntax = Printk(part.tokens, arguments[0], arguments[1:], tuple(_table_calls(rest)))
    for call in syntax.tables:
        _table(call, changed, symbols)
    _pointers(format_, syntax.values, changed)
    if all(t.text == '""' for t in format_):
        changed.update({**dict.fromkeys(format_, ""), format_[0]: '"%s", ""'})  # compilers warn of a format of no length
    spelled = _stringified(text, rest)
    values = f", {spelled}" if spelled else ""
    value, _ = format_value(format_)
    numbers = {token: number for number, token in enumerate(symbols)}
    return Print(*pieces(text, part.tokens, {**changed, **numbers}), tuple(symbols.values()), spell(format_),
                 all(t.kind == "str" for t in format_), values, f'"{value}", {spelled}', _constants(text, syntax, changed)), syntax


# Helpers that are arithmetic to the readers of a format.
_ARITHMETIC = {"__print_ns_to_secs": " / 1000000000UL", "__print_ns_without_secs": " % 1000000000UL"}
# Helpers without an argument, as readers of a format see them.
_FLAGS = {f"__event_in_{context}": f"(REC->common_flags & {mask:#x})"
          for context, mask in (("hardirq", 0x8), ("softirq", 0x10), ("irq", 0x18))}


def _stringified(text: Text, tokens: Sequence[Token]) -> str:
    """Arguments as the kernel prints them: __entry is REC, and helpers that are arithmetic are written out."""
    words = text.words(tokens)
    for index, token in enumerate(tokens):
        if token.text == "__entry":
            words[index] = words[index].replace("__entry", "REC")
        elif token.text in _ARITHMETIC and index + 1 < len(tokens) and tokens[index + 1].text == "(":
            close = matching(tokens, index + 1)
            words[index] = words[index].removesuffix(token.text)
            words[index + 1] = "("
            words[index + 2] = words[index + 2].lstrip()
            words[close] = ")" + _ARITHMETIC[token.text]
        elif token.text in _FLAGS and [t.text for t in tokens[index + 1:index + 3]] == ["(", ")"]:
            words[index:index + 3] = [words[index].replace(token.text, _FLAGS[token.text]), "", ""]
    return "".join(words)


def _pointers(format_: Sequence[Token], values: Sequence[Part], changed: dict[Token, str]) -> None:
    """What printf does not know of the kernel's %p becomes a %s of what a helper makes of its argument."""
    if not any("%" in t.text and "p" in t.text for t in format_ if t.kind == "str"):
        return
    text, owner = "", []  # the format as it is spelled, and for each character the token that it is of
    for token in format_:
        match = _PRI.match(token.text)
        spelled = token.text[1:-1] if token.kind == "str" else match[1] if match else ""
        if not spelled and token.kind != "str":
            return  # a macro of an included header: the arguments can't be counted
        text += spelled
        owner += [token] * len(spelled)
    found = list(conversions(text))
    made = list(text)
    for one in found:
        if _printed(one, owner):
            made[one.start:one.end] = [_as_string(one), *[""] * (one.end - one.start - 1)]
    new: dict[Token, str] = {}
    for token, piece in zip(owner, made):
        new[token] = new.get(token, "") + piece
    number = 0
    for one in found:
        taken = values[number:number + one.values]
        number += one.values
        if len(taken) < one.values or not all(v.tokens for v in taken) or not _printed(one, owner):
            continue
        how = f'__print_pointer("{one.pointer}", '
        if _counted(one):
            how = f'__print_pointer_n("{one.pointer}", {"" if one.stars else one.width + ", "}'
        opening, closing = taken[0].tokens[0], taken[-1].tokens[-1]
        if not _counted(one):
            opening = taken[-1].tokens[0]
        changed[opening] = how + changed.get(opening, opening.text)
        changed[closing] = changed.get(closing, closing.text) + ")"
    changed.update((token, f'"{spelled}"') for token, spelled in new.items()
                   if token.kind == "str" and spelled != token.text[1:-1])


def _printed(one: Conversion, owner: Sequence[Token]) -> bool:
    """Whether it is a %p that the runtime prints. Its letters may be of several literals."""
    return bool(one.pointer) and all(token.kind == "str" for token in owner[one.start:one.end])


def _counted(one: Conversion) -> bool:
    """Whether its width is a number of bytes or bits."""
    return one.suffix[0] in "hb" and bool(one.width)


def _as_string(one: Conversion) -> str:
    return "%s" if _counted(one) else f"%{'-' if '-' in one.flags else ''}{one.width}s"


def _table_calls(tokens: Sequence[Token]) -> Iterator[TableCall]:
    for index, token in enumerate(tokens[:-1]):
        if token.text in TABLE_HELPERS and tokens[index + 1].text == "(":
            close = matching(tokens, index + 1)
            inside = tuple(tokens[index + 2:close])
            arguments = split(inside, tokens[index + 1], tokens[close])
            yield TableCall(token, arguments, tuple(_entry(a.tokens) for a in arguments[TABLE_HELPERS[token.text]:]), inside)


def _table(call: TableCall, changed: dict[Token, str], symbols: dict[Token, Symbols]) -> None:
    """Takes the table out of a call, so that it can be data of its own; in symbols by its first token."""
    first, entries = call.first, list(call.entries)
    if entries and not call.arguments[-1].tokens:
        entries.pop()  # a ',' behind the last one
    known = [e for e in entries if e and e.only]
    if not entries or len(known) != len(entries):
        return  # a macro of an included header: the C compiler expands it into tp/print.h's
    begin = known[0].at
    known = known[:next((n for n, e in enumerate(known) if not e.tokens), None)]
    value = call.arguments[0].tokens
    if not value:
        return  # check says so
    delimiter = call.arguments[1].tokens if first == 2 else ()
    changed[call.helper] = f"{call.helper.text}_table"  # of tp/print.h, which takes it by its name
    head, *tail = call.inside[call.inside.index(begin):]
    changed.update((t, "") for t in tail)
    symbols[head] = Symbols(tuple((e.at.line, e.value, e.name) for e in known),
                            _field(value) if known and all(t.kind == "str" for t in delimiter) else None, spell(delimiter),
                            call.helper.text.endswith("_u64"))


def _constants(text: Text, syntax: Printk, changed: Container[Token]) -> tuple[Constant, ...]:
    """What of the arguments may be constants. Tables of changed calls are data of their own."""
    found: dict[str, Constant] = {}
    for part in syntax.values:
        for one in _Named(text, syntax.tables, changed).of(part.tokens, False):
            if one.text not in found or one.value:
                found[one.text] = one
    return tuple(found.values())


# The helpers all of whose arguments are values.
_OF_VALUES = {"__print_hex", "__print_hex_str", "__print_array", *_ARITHMETIC}
# Variables of the printer's own, which are not there at file scope; with other words that are no constants.
_PRINTERS = {"p", "entry", "__entry", "__record", "__start"}
_NO_CONSTANTS = C_KEYWORDS | _PRINTERS | {"NULL", "true", "false", "__func__", "__FUNCTION__",
                               "__PRETTY_FUNCTION__"}
# What may follow a name that is an operand, other than members and elements of a variable.
_BEHIND = frozenset("* / % + - << >> < > <= >= == != & ^ | && || ? : , )".split())
# What can't follow a type in brackets: it is a name, then.
_BEHIND_NAME = frozenset("/ % << >> < > <= >= == != ^ | || ? : , )".split())


class _Named:
    """Names in expressions that may be those of constants: as an operand, but for what is looked at or changed itself.

    What a macro of an included header makes of its arguments is not known, nor what two operands beside each other are.
    """

    def __init__(self, text: Text, tables: Sequence[TableCall], changed: Container[Token]):
        self.text = text
        self.tables = {call.helper: call for call in tables}
        self.changed = changed

    def of(self, tokens: Sequence[Token], value: bool) -> Iterator[Constant]:
        index = 0
        operand, address = True, False  # what is to come; of which the address is taken
        while index < len(tokens):
            token = tokens[index]
            after = tokens[index + 1].text if index + 1 < len(tokens) else ")"
            close = matching(tokens, index + 1) if after == "(" else index
            if token.kind in ("id", "num", "str", "chr"):
                if not operand and token.kind != "str":
                    return
                if token.kind == "id" and after == "(":
                    yield from self._call(tokens[index:close + 1], value)
                    index = close
                elif token.kind == "id" and after in _BEHIND and not address and token.text not in _NO_CONSTANTS:
                    yield Constant(token.line, token.text, value)
                operand = False
            elif token.text == "(":
                close = matching(tokens, index)
                inside = tokens[index + 1:close]
                if inside and inside[0].text == "{":
                    return
                if not _is_type(inside, tokens[close + 1].text if close + 1 < len(tokens) else ")"):
                    yield from self.of(inside, value)
                    operand = False
                index = close
            elif token.text == "[":
                index = matching(tokens, index)
            elif token.text in ("->", "."):
                index += 1
            elif token.text == "{":
                return
            else:
                address = token.text == "&" and operand
                operand = token.text not in ("++", "--")
            index += 1

    def _call(self, tokens: Sequence[Token], value: bool) -> Iterator[Constant]:
        name = tokens[0]
        inside = tokens[2:-1]
        if name in self.tables:
            call = self.tables[name]
            if call.arguments:
                yield from self.of(call.arguments[0].tokens, value)
            for entry in (e for e in call.entries if e and e.tokens):
                whole = entry.tokens[0].kind == "id" and entry.tokens[1:2] and entry.tokens[1].text == "(" \
                    and matching(entry.tokens, 1) == len(entry.tokens) - 1
                if whole and name in self.changed and entry.tokens[0].text not in C_KEYWORDS:
                    yield Constant(entry.at.line, self.text.spell(entry.tokens), True)
                else:
                    yield from self.of(entry.tokens, name in self.changed)
        elif name.text in _OF_VALUES:
            for part in split(inside, tokens[1], tokens[-1]):
                yield from self.of(part.tokens, value)
        elif name.text == "sizeof" and inside and all(t.kind == "id" or t.text == "*" for t in inside) \
                and _PRINTERS.isdisjoint(t.text for t in inside) and not all(t.text in C_KEYWORDS or t.text == "*" for t in inside):
            yield Constant(name.line, self.text.spell(tokens), True)


def _is_type(tokens: Sequence[Token], after: str) -> bool:
    """Whether what is in brackets may be a type, to which something is cast."""
    names = sum(t.kind == "id" for t in tokens)
    if not names or names + sum(t.text == "*" for t in tokens) != len(tokens):
        return False
    return names > 1 or tokens[-1].text == "*" or after not in _BEHIND_NAME


# What the helpers themselves cast the value to may stand in front of it.
_CASTS: tuple[list[str], ...] = ([], ["long"], ["unsigned", "long"], ["__force", "long"], ["__force", "unsigned", "long"])


def _field(value: Sequence[Token]) -> str | None:
    """The field whose very value this is."""
    words = [t.text for t in value if t.text not in ("(", ")")]
    return words[-1] if words[-3:-1] == ["__entry", "->"] and words[:-3] in _CASTS else None


def _entry(tokens: Sequence[Token]) -> Entry | None:
    if [t.text for t in tokens] == ["{", "}"]:
        return Entry((), "", "", tokens[0], tokens[-1], True)
    if len(tokens) < 5 or tokens[0].text != "{" or tokens[-1].text != "}":
        return None
    parts = split(tokens[1:-1], tokens[0], tokens[-1])
    if len(parts) < 2 or not parts[0].tokens:
        return None
    only = (len(parts) == 2 or len(parts) == 3 and not parts[2].tokens) and \
        all(depth for depth, _ in list(brackets(tokens))[1:-1])
    return Entry(parts[0].tokens, spell(parts[0].tokens), spell(parts[1].tokens), tokens[0], tokens[-1], only)

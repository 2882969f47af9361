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
from tpgen.diag import Diagnostics, nearest
from tpgen.early import find_early
from tpgen.fields import parse_fields
from tpgen.kinds import FIELD_MACROS, FieldKind
from tpgen.lexer import Token, spell
from tpgen.loglevel import EventKey, parse_loglevels
from tpgen.model import CPP_KEYWORDS, Eval, EventClass, Param, Print, Tracepoint, Unit, cpp_name
from tpgen.parser import WORDS, Declaration, Tree, written
from tpgen.printk import Printk, parse_print
from tpgen.text import Text
from tpgen.tokens import C_KEYWORDS, Call, Part, calls, matching, split
from tpgen.verbatim import passed_through
from tpgen.wording import code

# A class's name, and whether it is one of custom events.
ClassKey = tuple[str, bool]


@dataclass(slots=True)
class Lowered:
    """A unit with the syntax that each of its things comes from, for check."""

    unit: Unit
    text: Text
    classes: list[tuple[Declaration, EventClass]]  # those whose name is taken too, which unit leaves out
    tracepoints: list[tuple[Declaration, Tracepoint]]
    printks: dict[Token, Printk]  # by the macro of the declaration


def lower(tree: Tree, text: Text, diag: Diagnostics) -> Lowered:
    return _Lowering(text, diag).run(tree)


class _Lowering:
    def __init__(self, text: Text, diag: Diagnostics):
        self.text = text
        self.diag = diag
        self.said_system = False
        self.loglevels: dict[EventKey, str] = {}
        self.printks: dict[Token, Printk] = {}

    def run(self, tree: Tree) -> Lowered:
        tree = self._in_order(tree)
        classes: dict[ClassKey, EventClass] = {}
        broken = set(tree.broken)
        declared: list[tuple[Declaration, EventClass]] = []
        for decl in tree.declarations:
            if "struct" not in decl.parts or _nop(decl):
                continue
            made = self._event_class(decl)
            if not made:
                broken.add(decl.name.text)
            else:
                classes.setdefault((made.name, made.custom), made)
                declared.append((decl, made))
        exported = {d.name.text for d in tree.declarations if d.macro.text.startswith("EXPORT_")}
        self.loglevels = parse_loglevels(tree, self.text, self.diag)
        tracepoints: list[tuple[Declaration, Tracepoint]] = []
        for decl in tree.declarations:
            made_point = self._tracepoint(decl, classes, broken, exported)
            if made_point:
                tracepoints.append((decl, made_point))
        self._mentions(tree)
        verbatim, comment = passed_through(self.text, tree.declarations, self.diag)
        unit = Unit(self.text.source.path, comment, verbatim, tuple(classes.values()),
                    tuple(point for _, point in tracepoints), tuple(self._evals(tree)))
        return Lowered(unit, self.text, declared, tracepoints, self.printks)

    def _in_order(self, tree: Tree) -> Tree:
        """The tree without the declarations whose parts stand in one another's places."""
        wrong: set[Token] = set()
        for decl in tree.declarations:
            place = next(((role, word) for role, word in decl.words.items()
                          if word.text not in WORDS.get(role, ()) and not _fits(role, decl.parts[role])), None)
            if place:
                role, word = place
                self.diag.error(self.text.span(word), "TP019", f"{decl.macro.text}({decl.name.text}): {word.text} stands where "
                                f"{WORDS[role][0] if role in WORDS else role} belongs; it is written {written(decl.macro.text)}")
                wrong.add(decl.macro)
        return Tree(tuple(d for d in tree.declarations if d.macro not in wrong),
                    tree.broken | {d.name.text for d in tree.declarations if d.macro in wrong}) if wrong else tree

    def _mentions(self, tree: Tree) -> None:
        """DEFINE_TRACE(name) and what says something of a tracepoint declare nothing: the name must be declared."""
        names = tree.broken | {d.name.text for d in tree.declarations if "proto" in d.parts}
        for decl in tree.declarations:
            if ("event" in decl.parts or list(decl.parts) == ["name"]) and decl.name.text not in names:
                self.diag.error(self.text.span(decl.name), "TP034",
                                f"{decl.macro.text}({decl.name.text}): no tracepoint of this file has that name"
                                f"{nearest(decl.name.text, names)}")

    def _evals(self, tree: Tree) -> Iterator[Eval]:
        """What is no identifier is a number already, in the format, too."""
        places = {d.name.text: d.name for d in tree.declarations if "enum" in d.parts or "sizeof" in d.parts}
        start = self.text.tokens[0] if self.text.tokens else None
        for macro, name in dict.fromkeys(self.text.defined_values):
            place = places.get(name, start)
            if place:
                yield Eval(name if macro == "ENUM" else f"sizeof({name})", self.text.span(place))

    def _tracepoint(self, decl: Declaration, classes: Mapping[ClassKey, EventClass], broken: set[str],
                    exported: set[str]) -> Tracepoint | None:
        parts, macro = decl.parts, decl.macro.text
        if "proto" not in parts or macro.startswith("DECLARE_") and "CLASS" in macro:
            return None
        event_class = None
        if ("class" in parts or "struct" in parts) and not _nop(decl):
            wanted = parts["class" if "class" in parts else "name"].tokens[0]
            event_class = classes.get((wanted.text, _custom(decl)))
            if not event_class:
                if wanted.text not in broken:
                    known = [name for name, custom in classes if custom == _custom(decl)]
                    self.diag.error(self.text.span(wanted), "TP032",
                                    f"no event class is called '{wanted.text}'{nearest(wanted.text, known)}")
                return None
        # The kernel asks for TRACE_SYSTEM only where there is a record.
        system = self._system(decl) if event_class or decl.system else ""
        # A TRACE_EVENT's prototype was complained of as its class's.
        params = self._params(decl, say="struct" not in parts or _nop(decl))
        own_print = self._print(decl) if "print" in parts and "struct" not in parts else None
        if "cond" in parts and not parts["cond"].tokens:
            self.diag.error(self.text.span(decl.macro), "TP013", f"{macro}({decl.name.text}): the condition is empty")
            return None
        if system is None or params is None or "print" in parts and "struct" not in parts and not own_print:
            return None
        args = tuple(spell(a.tokens) for a in split(parts["args"].tokens, parts["args"].at, parts["args"].end))
        callbacks = (code(self.text, parts["reg"].tokens), code(self.text, parts["unreg"].tokens)) if "reg" in parts else None
        return Tracepoint(
            system, decl.name.text, params, args if args != ("void",) else (), event_class, decl.comment,
            self.text.span(decl.macro), custom=_custom(decl), nop=_nop(decl),
            condition=code(self.text, parts["cond"].tokens) if "cond" in parts else None, callbacks=callbacks,
            writable=code(self.text, parts["size"].tokens) if "size" in parts else None,
            exported=decl.name.text in exported, print=own_print,
            loglevel=self.loglevels.get((system, decl.name.text), "DEBUG_LINE"))

    def _print(self, decl: Declaration) -> Print | None:
        made = parse_print(decl, self.text, self.diag)
        if not made:
            return None
        print_, self.printks[decl.macro] = made
        return print_

    def _system(self, decl: Declaration) -> str | None:
        if not decl.system and _custom(decl):
            return "custom"  # as in the kernel
        if decl.system and re.fullmatch(r"\w[\w-]*", decl.system):
            return decl.system
        if not self.said_system:
            self.said_system = True
            if decl.system is None:
                self.diag.error(self.text.span(decl.macro), "TP070",
                                "TRACE_SYSTEM is not defined: put '#define TRACE_SYSTEM name' before the first "
                                "event")
            else:
                self.diag.error(self.text.span(decl.macro), "TP071",
                                f"TRACE_SYSTEM must be a word of letters, digits, '_' and '-', not '{decl.system}'")
        return None

    def _params(self, decl: Declaration, say: bool = True) -> tuple[Param, ...] | None:
        part, args = decl.parts["proto"], decl.parts["args"]
        try:
            parsed = ctype.parse_params(part.tokens)
        except ctype.NotC as why:
            if say:
                self.diag.error(self.text.span(*_culprit(part, why)), "TP040",
                                f"the prototype of '{decl.name.text}' is no C parameter list{why}")
            return None
        declared = split(part.tokens, part.at, part.end, types=True) if parsed else ()
        seen: set[str] = set()
        for number, (type_, name, _) in enumerate(parsed):
            wrong = "has the name of another" if name in seen else "has a name that is no identifier" if "::" in name else ""
            if not name:
                nameless = type_ in [spell(a.tokens) for a in split(args.tokens, args.at, args.end)]
                wrong = f"has no type; it is written TYPE {type_}" if nameless else "has no name"
            seen.add(name)
            if wrong:
                if say:
                    culprit = declared[number]
                    self.diag.error(self.text.span(culprit.at, culprit.end), "TP040",
                                    f"parameter {number + 1} of '{decl.name.text}' ({type_} {name}".rstrip()
                                    + f") {wrong}")
                return None
        names = frozenset(seen)
        return tuple(_param(type_, name, canonical, a.tokens, names) for (type_, name, canonical), a in zip(parsed, declared))

    def _event_class(self, decl: Declaration) -> EventClass | None:
        params = self._params(decl)
        fields = parse_fields(decl.parts["struct"].tokens, self.text, self.diag)
        print_ = self._print(decl)
        if params is None or fields is None or print_ is None:
            return None
        struct, assign = decl.parts["struct"].tokens, decl.parts["assign"].tokens
        alias = _uses_alias(assign, params)
        sizes = [part.tokens for kind, part in _sizing(struct) if kind.dynamic]
        return EventClass(decl.name.text, _custom(decl), params, fields, code(self.text, assign),
                          frozenset(_variables(struct, assign)), _is_plain(struct, assign) and not any(p.cxx for p in params), alias, print_,
                          None if alias else find_early(params, fields, sizes, assign, self.text))


def _fits(role: str, part: Part) -> bool:
    """Whether a part is what belongs at its place, whatever the word around it: in the kernel's sof_intel.h, TP_PROTO and TP_ARGS
    are exchanged, and what they hold is not."""
    first = part.tokens[0] if part.tokens else None
    if role == "proto":
        try:
            return all(name for _, name, _ in ctype.parse_params(part.tokens))
        except ctype.NotC:
            return False
    if role == "struct":
        return not first or first.text in FIELD_MACROS
    if role == "assign":
        return not first or first.kind != "str"
    return role == "args" or role == "print" and bool(first) and all(t.text != ";" for t in part.tokens)


def _culprit(part: Part, why: ctype.NotC) -> tuple[Token, Token]:
    """Where a prototype is no C: what why knows, or else the first parameter that is none by itself."""
    if why.tokens:
        return why.tokens[0], why.tokens[-1]
    for one in split(part.tokens, part.at, part.end, types=True):
        try:
            ctype.parse_params(one.tokens)
        except ctype.NotC:
            return one.at, one.end
    return part.at, part.end


def _param(type_: str, name: str, canonical: str, tokens: Sequence[Token], names: frozenset[str]) -> Param:
    """A parameter of a prototype that has these names."""
    tokens = ctype.portable(tokens, names)
    text = spell(tokens)
    if ctype.needs_c(tokens, names):
        site = cpp_name(name)
        return Param(type_, name, text, canonical, site, f"TP_CPP_OR_C(const void *{site}, {_renamed(tokens, names)})", "")
    return Param(type_, name, text, canonical, cpp_name(name), text if names.isdisjoint(CPP_KEYWORDS) else _renamed(tokens, names),
                 ctype.cxx(tokens))


def _renamed(tokens: Sequence[Token], names: frozenset[str]) -> str:
    """A parameter as C++ reads it, which has keywords of its own."""
    befores = ["", *(t.text for t in tokens)]
    return spell([token._replace(text=cpp_name(token.text)) if token.text in names and
                  before not in ("struct", "union", "enum", "->", ".") else token for token, before in zip(tokens, befores)])


def _custom(decl: Declaration) -> bool:
    return "CUSTOM" in decl.macro.text


def _nop(decl: Declaration) -> bool:
    """One that the kernel compiles to nothing."""
    return decl.macro.text.endswith("_NOP")


def _uses_alias(assign: Sequence[Token], params: Sequence[Param]) -> bool:
    """Whether entry is a variable that nothing declares."""
    uses = [(assign[index - 1].text if index else "", assign[index + 1].text if index + 1 < len(assign) else "")
            for index, token in enumerate(assign) if token.text == "entry"]
    declared = any((before == "*" or before.isidentifier() and before not in C_KEYWORDS) and after in ("=", ";", ",")
                   for before, after in uses)
    return any(before not in ("->", ".") for before, _ in uses) and not declared \
        and not any(p.name == "entry" for p in params)


def _sizing(struct: Sequence[Token]) -> Iterator[tuple[FieldKind, Part]]:
    """The expressions that size fields."""
    for call in calls(struct):
        if isinstance(call, Call) and call.name.text in FIELD_MACROS:
            kind, _ = FIELD_MACROS[call.name.text]
            yield from ((kind, part) for role, part in zip(kind.arguments, call.args)
                        if role not in ("type", "name", "filter type"))


# What stands in front of a parenthesis in a plain writer: calls that stay calls, or become a few moves.
_PLAIN = frozenset("if sizeof memcpy memset strlen".split())


def _is_plain(struct: Sequence[Token], assign: Sequence[Token]) -> bool:
    for tokens in (*(part.tokens for kind, part in _sizing(struct) if kind.dynamic), assign):
        for index, token in enumerate(tokens):
            called = token.kind == "id" and index + 1 < len(tokens) and tokens[index + 1].text == "("
            if token.text in ("do", "goto") or \
                    called and token.text not in _PLAIN and not token.text.startswith(("__assign_", "__get_")):
                return False
    return True


def _variables(struct: Sequence[Token], assign: Sequence[Token]) -> Iterator[str]:
    """The identifiers that may be parameters: no members, no names of fields, and not what __assign_str ignores."""
    for _, part in _sizing(struct):
        yield from (t.text for t in part.tokens if t.kind == "id")
    index = 0
    while index < len(assign):
        if assign[index].text == "__assign_str" and assign[index + 1:index + 2]:
            index = matching(assign, index + 1)
        elif assign[index].kind == "id" and not (index and assign[index - 1].text in ("->", ".")):
            yield assign[index].text
        index += 1

# SPDX-License-Identifier: MIT
"""Tokens to a syntax tree: which declarations stand in a file, and the parts of each.

The words around a part (TP_PROTO, TP_ARGS, ...) are decoration, as in the
kernel: position decides what a part is.
"""

from __future__ import annotations

import difflib
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tpgen.diag import Diagnostics, Note, nearest
from tpgen.kinds import FIELD_MACROS
from tpgen.lexer import Token
from tpgen.text import Text
from tpgen.tokens import C_KEYWORDS, CLOSING, Part, brackets, matching, part_of, split

_EVENT = ("name", "proto", "args", "struct", "assign", "print")
_POINT = ("name", "proto", "args")
_OF_CLASS = ("class", "name", "proto", "args")

# The parts of each declaration, in order. A last part "expr" takes all that is left.
FORMS: dict[str, tuple[str, ...]] = {
    "TRACE_EVENT": _EVENT,
    "TRACE_EVENT_CONDITION": (*_POINT, "cond", "struct", "assign", "print"),
    "TRACE_EVENT_FN": (*_EVENT, "reg", "unreg"),
    "TRACE_EVENT_FN_COND": (*_POINT, "cond", "struct", "assign", "print", "reg", "unreg"),
    "TRACE_EVENT_SYSCALL": (*_EVENT, "reg", "unreg"),
    "TRACE_EVENT_NOP": _EVENT,
    "TRACE_CUSTOM_EVENT": _EVENT,
    "DECLARE_EVENT_CLASS": _EVENT,
    "DECLARE_EVENT_CLASS_NOP": _EVENT,
    "DECLARE_EVENT_SYSCALL_CLASS": _EVENT,
    "DECLARE_CUSTOM_EVENT_CLASS": _EVENT,
    "DEFINE_EVENT": _OF_CLASS,
    "DEFINE_EVENT_CONDITION": (*_OF_CLASS, "cond"),
    "DEFINE_EVENT_FN": (*_OF_CLASS, "reg", "unreg"),
    "DEFINE_EVENT_PRINT": (*_OF_CLASS, "print"),
    "DEFINE_EVENT_WRITABLE": (*_OF_CLASS, "size"),
    "DEFINE_EVENT_NOP": _OF_CLASS,
    "DEFINE_CUSTOM_EVENT": _OF_CLASS,
    "DECLARE_TRACE": _POINT,
    "DECLARE_TRACE_CONDITION": (*_POINT, "cond"),
    "DECLARE_TRACE_SYSCALL": _POINT,
    "DECLARE_TRACE_EVENT": _POINT,
    "DECLARE_TRACE_EVENT_CONDITION": (*_POINT, "cond"),
    "DECLARE_TRACE_EVENT_SYSCALL": _POINT,
    "DECLARE_TRACE_WRITABLE": (*_POINT, "size"),
    "DECLARE_EVENT_NOP": _POINT,
    "DEFINE_TRACE": _POINT,
    "DEFINE_TRACE_FN": ("name", "reg", "unreg", "proto", "args"),
    "DEFINE_TRACE_SYSCALL": ("name", "reg", "unreg", "proto", "args"),
    "TRACE_EVENT_FLAGS": ("event", "expr"),
    "TRACE_EVENT_PERF_PERM": ("event", "expr"),
    "TRACE_DEFINE_ENUM": ("enum",),
    "TRACE_DEFINE_SIZEOF": ("sizeof",),
    "TRACEPOINT_LOGLEVEL": ("system", "event", "level"),
    "LTTNG_UST_TRACEPOINT_LOGLEVEL": ("system", "event", "level"),
    "EXPORT_TRACEPOINT_SYMBOL": ("event",),
    "EXPORT_TRACEPOINT_SYMBOL_GPL": ("event",),
}

# What decorates each part; the first spelling is today's.
WORDS: dict[str, tuple[str, ...]] = {
    "proto": ("TP_PROTO", "TPPROTO", "TPPTOTO"),
    "args": ("TP_ARGS", "TPARGS"),
    "cond": ("TP_CONDITION",),
    "struct": ("TP_STRUCT__entry",),
    "assign": ("TP_fast_assign",),
    "print": ("TP_printk",),
}
PART_WORDS = frozenset(word for words in WORDS.values() for word in words)

# All that an included header must not define.
MACROS = (*FORMS, *sorted(PART_WORDS))

# As many brackets as clang, too, takes within one another: what is nested takes time by its depth.
MAX_DEPTH = 256

_SYSTEM = re.compile(r"#\s*(define|undef)\s+TRACE_SYSTEM\b[ \t]*(.*)", re.S)

# The parts that name something; but for "class", a declaration has one of them.
_NAMES = ("name", "event", "enum", "sizeof")


@dataclass(frozen=True, slots=True)
class Declaration:
    """One use of a declaration macro. parts holds those that FORMS names, but for DEFINE_TRACE(name) the name only.

    name is what it declares, or what it says something of."""

    macro: Token
    parts: dict[str, Part]
    words: dict[str, Token]  # those around the parts, as they are written
    close: Token
    system: str | None  # TRACE_SYSTEM at this place
    comment: str        # the comment in front of it, as written

    @property
    def name(self) -> Token:
        return next(self.parts[role] for role in _NAMES if role in self.parts).at


@dataclass(frozen=True, slots=True)
class Tree:
    declarations: tuple[Declaration, ...]
    broken: frozenset[str]  # what declarations in which there was an error declare, as far as that is known


def parse(text: Text, diag: Diagnostics) -> Tree:
    parser = _Parser(text, diag)
    declarations = tuple(parser.declarations())
    return Tree(declarations, frozenset(parser.broken))


class _Parser:
    def __init__(self, text: Text, diag: Diagnostics):
        self.text = text
        self.tokens = text.tokens
        self.diag = diag
        # Where the kernel defines it under #ifdef CREATE_TRACE_POINTS.
        directives = (_SYSTEM.match(t.text) for t in text.raw if t.kind == "dir")
        self.system = next((self._system(m[2]) for m in directives if m and m[1] == "define"), None)
        if any(t.kind == "dir" and _SYSTEM.match(t.text) for t in text.tokens):
            self.system = None
        self.broken: set[str] = set()

    def declarations(self) -> Iterator[Declaration]:
        index, depth = 0, 0
        last: Declaration | None = None  # the declaration in front, unless there was an error in it
        broken = False
        while index < len(self.tokens):
            token = self.tokens[index]
            index += 1
            if token.kind == "dir":
                self._directive(token)
            elif token.kind == "bad":
                self._bad(token)
            elif token.kind == "punct" and token.text in "{}":
                depth = max(0, depth + (1 if token.text == "{" else -1))
            elif token.kind == "id" and index < len(self.tokens) and self.tokens[index].text == "(":
                if token.text in FORMS:
                    stop, declaration = self._declaration(token, index)
                    last, broken = declaration, not declaration
                    if declaration:
                        yield declaration
                    else:
                        self.broken.update(t.text for t in self.tokens[index + 1:index + 2])
                    index, depth = stop, 0
                elif depth == 0 and not (broken and token.text in PART_WORDS):
                    index = self._other(token, index, last)
            elif token.kind == "id" and token.text in FORMS and depth == 0:
                self.diag.error(self.text.span(token), "TP011", f"'(' is missing after {token.text}")
                broken = True

    def _directive(self, token: Token) -> None:
        match = _SYSTEM.match(token.text)
        if match:
            self.system = self._system(match[2]) if match[1] == "define" else None

    def _system(self, definition: str) -> str:
        """The system that a #define TRACE_SYSTEM names."""
        system = " ".join(re.sub(r"/\*.*?\*/|//.*|\\\n", " ", definition, flags=re.S).split())
        return self.text.system_names.get(system, system)

    def _bad(self, token: Token) -> None:
        what = {'"': "this string is not closed", "'": "this character constant is not closed",
                "/": "this comment is not closed"}.get(token.text[0], f"stray character {token.text!r}")
        self.diag.error(self.text.span(token), "TP003", what)

    def _other(self, token: Token, opening: int, last: Declaration | None) -> int:
        """A call at file level that declares nothing we know: a C declaration, or a mistake."""
        if not token.text.isupper() and token.text not in PART_WORDS:
            return opening
        close = self._skip(opening)
        inside = self.tokens[opening:close]
        if self.text.own_macros & FORMS.keys():
            return close  # a header that makes nothing of its events, where its configuration is off
        if token.text in PART_WORDS:
            notes = [Note(self.text.span(last.close), f"'{last.name.text}' ends here: is there a ')' too many?")] \
                if last else []
            self.diag.error(self.text.span(token), "TP014", f"{token.text} outside of an event", notes)
            return close
        if any(t.text in PART_WORDS for t in inside) or _misspelt(token.text):
            self.diag.error(self.text.span(token), "TP010",
                            f"no declaration macro is called '{token.text}'{nearest(token.text, FORMS)}")
            self.broken.update(t.text for t in inside if t.kind == "id")
        return close

    def _skip(self, opening: int) -> int:
        """Behind the bracket that closes the one at opening, or at the next declaration where that comes first."""
        depth = 0
        for index in range(opening, len(self.tokens)):
            token = self.tokens[index]
            if index > opening and self._begins_declaration(index):
                return index
            depth += (token.text in CLOSING) - (token.text in ")]}") if token.kind == "punct" else 0
            if depth <= 0:
                return index + 1
        return len(self.tokens)

    def _begins_declaration(self, index: int) -> bool:
        token = self.tokens[index]
        return token.text in FORMS and token.kind == "id" \
            and index + 1 < len(self.tokens) and self.tokens[index + 1].text == "("

    def _declaration(self, macro: Token, opening: int) -> tuple[int, Declaration | None]:
        """The declaration whose bracket opens at index opening, and where to go on."""
        inside: list[Token] = []
        open_: list[Token] = []
        part = ""  # the word before the bracket that is open in the declaration's
        for index in range(opening, len(self.tokens)):
            token = self.tokens[index]
            if token.kind == "dir":
                self._directive(token)
                if len(open_) > 1 and part in WORDS["assign"]:
                    inside.extend(_pragma(token))
                continue
            if token.kind == "bad":
                self._bad(token)
                return self._skip(opening), None
            part_word = token.kind == "id" and token.text in PART_WORDS
            if index > opening and (self._begins_declaration(index) or part_word and len(open_) > 1):
                self._unclosed(macro, open_[-1], token)
                return self._resume(index), None
            if token.kind == "punct" and token.text in CLOSING:
                open_.append(token)
                if len(open_) == 2:
                    part = self.tokens[index - 1].text
                if len(open_) > MAX_DEPTH:
                    self.diag.error(self.text.span(token), "TP018", f"more than {MAX_DEPTH} brackets are open here, since that of "
                                    f"{macro.text}", [Note(self.text.span(macro), "it begins here")])
                    return self._resume(index), None
            elif token.kind == "punct" and token.text in ")]}":
                if CLOSING[open_[-1].text] != token.text:
                    self._unclosed(macro, open_[-1], token)
                    return self._resume(index + 1), None
                open_.pop()
                if not open_:
                    return index + 1, self._build(macro, inside, self.tokens[opening], token)
            if index > opening:
                inside.append(token)
        self._unclosed(macro, open_[-1], None)
        return len(self.tokens), None

    def _resume(self, index: int) -> int:
        """After an error: at the next declaration."""
        while index < len(self.tokens) and not self._begins_declaration(index):
            if self.tokens[index].kind == "dir":
                self._directive(self.tokens[index])
            index += 1
        return index

    def _unclosed(self, macro: Token, bracket: Token, noticed: Token | None) -> None:
        begin = bisect_left(self.tokens, macro.start, key=lambda t: t.start)
        end = bisect_left(self.tokens, noticed.start, key=lambda t: t.start) if noticed else len(self.tokens)
        inside = [t for t in self.tokens[begin:end] if t.kind != "dir"]
        at = _forgotten(inside, bisect_left(inside, bracket.start, key=lambda t: t.start))
        word, bracket = inside[at - 1] if inside[at - 1].kind == "id" else None, inside[at]
        what = f"'{word.text}('" if word else f"'{bracket.text}'"
        name = "".join(t.text for t in inside[2:3])
        note = f"noticed here, at '{noticed.text}'" if noticed else "noticed here, at the end of the file"
        self.diag.error(self.text.span(word or bracket, bracket), "TP011",
                        f"{macro.text}({name}): '{CLOSING[bracket.text]}' is missing: {what} is never closed",
                        [Note(self.text.span(noticed or self.tokens[-1]), note)])

    def _build(self, macro: Token, inside: list[Token], opening: Token, close: Token) -> Declaration | None:
        form = FORMS[macro.text]
        arguments = split(inside, opening, close)
        if macro.text == "DEFINE_TRACE" and arguments:
            form, arguments = _define_trace(form, arguments, close)
        if macro.text == "DEFINE_TRACE_SYSCALL" and len(arguments) == len(_POINT):
            form = _POINT  # a spelling of ours, which the kernel does not have
        if form[-1] == "expr" and len(arguments) > len(form):
            rest = arguments[len(form) - 1:]
            arguments = (*arguments[:len(form) - 1], _join(rest, close))
        good = self._without_brackets(macro, arguments)
        good = self._missing_commas(macro, arguments) and good
        if good and len(arguments) != len(form):
            self._count(macro, form, arguments, close)
            good = False
        if not good:
            return None
        parts: dict[str, Part] = {}
        words: dict[str, Token] = {}
        for role, argument in zip(form, arguments):
            part = self._name(macro, role, argument) if role in ("class", "name", "event") else self._undress(role, argument)
            if not part:
                return None
            parts[role] = part
            if part is not argument:
                words[role] = argument.at
        begin, end = self.text.comment_before(macro.line)
        return Declaration(macro, parts, words, close, self.system, self.text.source.text[begin:end])

    def _name(self, macro: Token, role: str, argument: Part) -> Part | None:
        if len(argument.tokens) == 1 and argument.tokens[0].text not in C_KEYWORDS:
            token = argument.tokens[0]
            # 9p_client_req is a good name, since C sees it behind trace_ and the like only.
            if token.kind == "id" and "::" not in token.text or re.fullmatch(r"[0-9]\w*[A-Za-z_]\w*", token.text):
                return argument
        what = "class" if role == "class" else "event" if "EVENT" in macro.text else "tracepoint"
        self.diag.error(self.text.span(argument.at, argument.end), "TP016",
                        f"{macro.text}: the {what}'s name must be a C identifier")
        return None

    def _undress(self, role: str, argument: Part) -> Part | None:
        """A part without the word around it."""
        tokens = argument.tokens
        if len(tokens) < 3 or tokens[0].kind != "id" or tokens[1].text != "(" \
                or matching(tokens, 1) != len(tokens) - 1:
            return argument
        word = tokens[0]
        if word.text not in PART_WORDS and role in WORDS and word.text.upper().startswith("TP_"):
            self.diag.error(self.text.span(word), "TP015",
                            f"no part is called '{word.text}'{nearest(word.text, PART_WORDS)}")
            return None
        if word.text in PART_WORDS:
            return part_of(tokens[2:-1], tokens[1], tokens[-1])
        return argument

    def _without_brackets(self, macro: Token, arguments: Sequence[Part]) -> bool:
        good = True
        for argument in arguments:
            word = argument.at
            if argument.tokens and word.kind == "id" and word.text in PART_WORDS and [t.text for t in argument.tokens[1:2]] != ["("]:
                self.diag.error(self.text.span(word), "TP011",
                                f"{macro.text}: '(' is missing after {word.text}; it is written {word.text}(...)")
                good = False
        return good

    def _missing_commas(self, macro: Token, arguments: Sequence[Part]) -> bool:
        good = True
        for argument in arguments:
            tokens = argument.tokens
            for index, (depth, word) in enumerate(brackets(tokens)):
                if not index or depth or word.kind != "id" or word.text not in PART_WORDS:
                    continue
                before = tokens[index - 1]
                self.diag.error(self.text.span(macro), "TP012",
                                f"{macro.text}: ',' is missing before {word.text}",
                                [Note(self.text.span(before), "it belongs after this"),
                                 Note(self.text.span(word), "noticed here")])
                good = False
        return good

    def _count(self, macro: Token, form: tuple[str, ...], arguments: Sequence[Part], close: Token) -> None:
        """A wrong number of parts: say which, by their words."""
        said = [a.tokens[0].text if a.tokens else "" for a in arguments]
        missing = [WORDS[role][0] for role in form if role in WORDS and not set(WORDS[role]) & set(said)]
        if len(arguments) < len(form) and missing:
            what = f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
        else:
            what = f"{len(arguments)} parts where {len(form)} belong"
        self.diag.error(self.text.span(macro), "TP013", f"{macro.text}: {what}; it is written {written(macro.text)}",
                        [Note(self.text.span(close), "it ends here")])


def written(macro: str) -> str:
    """How a declaration is written."""
    return f"{macro}({', '.join(WORDS[role][0] + '(...)' if role in WORDS else role for role in FORMS[macro])})"


def _forgotten(inside: Sequence[Token], opening: int) -> int:
    """Which bracket is never closed: the one at index opening, which the others say, or one in it that is closed by what was
    meant for another: a field in which a field begins, a call with a ';' in it, or what ends by a ')' at the beginning of
    a line, as a part or an event does."""
    stack: list[int] = []
    for index in range(opening + 1, len(inside)):
        token = inside[index]
        if stack and inside[stack[-1]].text == "(" and inside[stack[-1] - 1].kind == "id":
            around = inside[stack[-1] - 1].text
            if token.kind == "id" and token.text in FIELD_MACROS and around in FIELD_MACROS \
                    or token.text == ";" and around not in PART_WORDS and around != "for":
                return stack[-1]
        if token.kind == "punct" and token.text in CLOSING:
            stack.append(index)
        elif token.kind == "punct" and token.text in ")]}" and stack:
            inner = stack.pop()
            ends = index + 2 == len(inside) and inside[index + 1].text in (",", ";")
            if ends and not stack and token.line > inside[index - 1].line:
                return _forgotten(inside[:index + 1], inner)
    return opening


def _pragma(directive: Token) -> Iterator[Token]:
    """#pragma as the operator that does the same, in which a statement may begin; nothing of another directive."""
    match = re.match(r"#\s*pragma\b\s*(.*)", directive.text, re.S)
    if match:
        said = match[1].replace("\\", "\\\\").replace('"', '\\"')
        for kind, text in (("id", "_Pragma"), ("punct", "("), ("str", f'"{said}"'), ("punct", ")")):
            yield directive._replace(kind=kind, text=text, end=directive.start)


def _misspelt(word: str) -> bool:
    """Whether word may be meant for a declaration macro. Many names of the kernel's begin as those do."""
    return word != "DECLARE_TRACEPOINT" and bool(difflib.get_close_matches(word, FORMS, 1, 0.85))


def _define_trace(form: tuple[str, ...], arguments: tuple[Part, ...],
                  close: Token) -> tuple[tuple[str, ...], tuple[Part, ...]]:
    """DEFINE_TRACE has three spellings: (name), (name, TPPROTO(...), TPARGS(...)), (name, parameter, ...)."""
    if len(arguments) == 1:
        return ("name",), arguments
    if any(a.tokens and a.tokens[0].text in PART_WORDS for a in arguments):
        return form, arguments
    names = [part_of(a.tokens[-1:], a.at, a.end) for a in arguments[1:] if a.tokens and a.tokens[-1].text != "void"]
    return form, (arguments[0], _join(arguments[1:], close), _join(names, close))


def _join(arguments: Sequence[Part], close: Token) -> Part:
    """Arguments as one part, with the commas that split() took out."""
    tokens: list[Token] = []
    for argument in arguments:
        if tokens:
            last = tokens[-1]
            tokens.append(Token("punct", ",", last.path, last.line, last.end, last.end + 1))
        tokens.extend(argument.tokens)
    return part_of(tokens, close, close)

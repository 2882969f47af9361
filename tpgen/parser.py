# SPDX-License-Identifier: MIT
"""Tokens to a syntax tree: which declarations stand in a file, and the parts of each.

The words around a part (TP_PROTO, TP_ARGS, ...) are decoration, as in the
kernel: position decides what a part is.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tpgen.diag import Diagnostics, Note, nearest
from tpgen.lexer import Text, Token, spell

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
    "DECLARE_TRACE_WRITABLE": (*_POINT, "size"),
    "DECLARE_EVENT_NOP": _POINT,
    "DEFINE_TRACE": _POINT,
    "DEFINE_TRACE_FN": ("name", "reg", "unreg", "proto", "args"),
    "DEFINE_TRACE_SYSCALL": _POINT,
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

# What can name nothing in C.
C_KEYWORDS = frozenset(
    "void char short int long float double signed unsigned _Bool _Complex __int128 const volatile restrict static "
    "register extern inline _Atomic struct union enum sizeof if else for while do switch case default return break "
    "continue goto typedef auto".split())

_CLOSING = {"(": ")", "[": "]", "{": "}"}

# Directives and includes that frame a kernel trace header; they say nothing to a user-space program.
_FRAME = re.compile(
    r"#\s*(?:(?:define|undef)\s+TRACE_(?:SYSTEM|SYSTEM_VAR|INCLUDE_PATH|INCLUDE_FILE)\b"
    r"|include\s*[<\"](?:linux/tracepoint\.h|trace/define_(?:custom_)?trace\.h)[>\"]"
    r"|pragma\s+once\b|line\b|[0-9])")  # the generated header has a guard of its own, and is read again to create tracepoints
_GUARD = re.compile(r"#\s*(?:ifndef\s+(\w+)|if\s+!\s*defined\s*\(?\s*(\w+)\s*\)?"
                    r"\s*\|\|\s*defined\s*\(?\s*TRACE_(?:HEADER|CUSTOM)_MULTI_READ\s*\)?)")
_SYSTEM = re.compile(r"#\s*(define|undef)\s+TRACE_SYSTEM\b[ \t]*(.*)", re.S)


# The parts that name something; but for "class", a declaration has one of them.
_NAMES = ("name", "event", "enum", "sizeof")


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a declaration, or one argument of a call, without its decoration. at and end are never None:
    where there are no tokens, they are the brackets or commas around."""

    tokens: tuple[Token, ...]
    at: Token
    end: Token


@dataclass(frozen=True, slots=True)
class Call:
    """NAME(argument, ...)"""

    name: Token
    args: tuple[Part, ...]
    close: Token


@dataclass(frozen=True, slots=True)
class Declaration:
    """One use of a declaration macro. parts holds those that FORMS names, but for DEFINE_TRACE(name) the name only.

    name is what it declares, or what it says something of."""

    macro: Token
    parts: dict[str, Part]
    close: Token
    system: str | None  # TRACE_SYSTEM at this place
    comment: str        # the comment in front of it, as written

    @property
    def name(self) -> Token:
        return next(self.parts[role] for role in _NAMES if role in self.parts).at


@dataclass(frozen=True, slots=True)
class Verbatim:
    """C code that passes through to the generated header as it is written."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Tree:
    declarations: tuple[Declaration, ...]
    broken: frozenset[str]  # what declarations in which there was an error declare, as far as that is known
    verbatim: tuple[Verbatim, ...]
    comment: str  # the file's first comment, as written


def parse(text: Text, diag: Diagnostics) -> Tree:
    parser = _Parser(text, diag)
    declarations = tuple(parser.declarations())
    verbatim, comment = _verbatim(text, declarations)
    pieces = sorted([*verbatim, *_beside(text, declarations)], key=lambda piece: piece.line)
    return Tree(declarations, frozenset(parser.broken), tuple(pieces), comment)


def _beside(text: Text, declarations: Sequence[Declaration]) -> Iterator[Verbatim]:
    """What macros make beside declarations, as preprocessed: the calls of such macros are not copied to the output."""
    lines: dict[int, list[Declaration]] = {}
    for decl in declarations:
        lines.setdefault(decl.macro.line, []).append(decl)
    for line, here in lines.items():
        between: dict[int, list[Token]] = {}
        for token in text.made_by_macros(line):
            if token.kind != "dir" and not any(d.macro.start <= token.start < d.close.end for d in here):
                between.setdefault(sum(d.macro.start < token.start for d in here), []).append(token)
        for tokens in between.values():
            if any(t.text != ";" for t in tokens):
                yield Verbatim(line, spell(tokens).lstrip("; "))


def brackets(tokens: Sequence[Token]) -> Iterator[tuple[int, Token]]:
    """Each token with its depth: how many brackets are open around it (a bracket is outside of itself)."""
    depth = 0
    for token in tokens:
        if token.kind == "punct" and token.text in ")]}":
            depth -= 1
        yield depth, token
        if token.kind == "punct" and token.text in "([{":
            depth += 1


def split(tokens: Sequence[Token], at: Token, end: Token) -> tuple[Part, ...]:
    """The parts between the commas of the lowest level. at and end are the brackets around tokens."""
    if not tokens:
        return ()
    parts: list[Part] = []
    before, begin, depth = at, 0, 0
    for index, token in enumerate(tokens):
        if token.kind != "punct":
            continue
        if token.text in "([{":
            depth += 1
        elif token.text in ")]}":
            depth -= 1
        elif token.text == "," and depth == 0:
            parts.append(_part(tokens[begin:index], before, token))
            before, begin = token, index + 1
    parts.append(_part(tokens[begin:], before, end))
    return tuple(parts)


def _part(tokens: Sequence[Token], before: Token, after: Token) -> Part:
    return Part(tuple(tokens), tokens[0] if tokens else before, tokens[-1] if tokens else after)


def calls(tokens: Sequence[Token]) -> Iterator[Call | Token]:
    """tokens as a sequence of calls; what is no part of a call comes as the token it is. Brackets must match."""
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.kind == "id" and index + 1 < len(tokens) and tokens[index + 1].text == "(":
            close = matching(tokens, index + 1)
            yield Call(token, split(tokens[index + 2:close], tokens[index + 1], tokens[close]), tokens[close])
            index = close + 1
        else:
            yield token
            index += 1


def matching(tokens: Sequence[Token], opening: int) -> int:
    """The index of the bracket that closes the one at index opening; the last token where there is none."""
    depth = 0
    for index in range(opening, len(tokens)):
        if tokens[index].kind == "punct":
            depth += (tokens[index].text in "([{") - (tokens[index].text in ")]}")
            if depth == 0:
                return index
    return len(tokens) - 1


class _Parser:
    def __init__(self, text: Text, diag: Diagnostics):
        self.text = text
        self.tokens = text.tokens
        self.diag = diag
        # Where the kernel defines it under #ifdef CREATE_TRACE_POINTS.
        directives = (_SYSTEM.match(t.text) for t in text.raw if t.kind == "dir")
        self.system = next((_system(m[2]) for m in directives if m and m[1] == "define"), None)
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
                self.diag.error(self.text.span(token), "TP011", f"'(' is missing behind {token.text}")
                broken = True

    def _directive(self, token: Token) -> None:
        match = _SYSTEM.match(token.text)
        if match:
            self.system = _system(match[2]) if match[1] == "define" else None

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
            depth += (token.text in _CLOSING) - (token.text in ")]}") if token.kind == "punct" else 0
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
        words: list[Token | None] = []  # for each open bracket the word in front of it
        for index in range(opening, len(self.tokens)):
            token = self.tokens[index]
            if token.kind == "dir":
                self._directive(token)
                continue
            if token.kind == "bad":
                self._bad(token)
                return self._skip(opening), None
            part_word = token.kind == "id" and token.text in PART_WORDS
            if index > opening and (self._begins_declaration(index) or part_word and len(open_) > 1):
                self._unclosed(macro, open_, words, token)
                return self._resume(index), None
            if token.kind == "punct" and token.text in _CLOSING:
                before = self.tokens[index - 1]
                words.append(before if before.kind == "id" else None)
                open_.append(token)
            elif token.kind == "punct" and token.text in ")]}":
                if _CLOSING[open_[-1].text] != token.text:
                    self._unclosed(macro, open_, words, token)
                    return self._resume(index + 1), None
                open_.pop()
                words.pop()
                if not open_:
                    return index + 1, self._build(macro, inside, self.tokens[opening], token)
            if index > opening:
                inside.append(token)
        self._unclosed(macro, open_, words, None)
        return len(self.tokens), None

    def _resume(self, index: int) -> int:
        """After an error: at the next declaration."""
        while index < len(self.tokens) and not self._begins_declaration(index):
            if self.tokens[index].kind == "dir":
                self._directive(self.tokens[index])
            index += 1
        return index

    def _unclosed(self, macro: Token, open_: list[Token], words: list[Token | None], noticed: Token | None) -> None:
        word = words[-1]
        what = f"'{word.text}('" if word else f"'{open_[-1].text}'"
        name = next((t.text for t in self.tokens[self.tokens.index(macro) + 2:]), "")
        notes = [Note(self.text.span(word or open_[-1], open_[-1]), f"{what} is opened here")] \
            if word is not macro else []
        if noticed:
            notes.append(Note(self.text.span(noticed), f"noticed here, at '{noticed.text}'"))
        else:
            notes.append(Note(self.text.span(self.tokens[-1]), "noticed here, at the end of the file"))
        self.diag.error(self.text.span(macro), "TP011",
                        f"{macro.text}({name}): '{_CLOSING[open_[-1].text]}' is missing: {what} is never closed", notes)

    def _build(self, macro: Token, inside: list[Token], opening: Token, close: Token) -> Declaration | None:
        form = FORMS[macro.text]
        arguments = split(inside, opening, close)
        if macro.text == "DEFINE_TRACE" and arguments:
            form, arguments = _define_trace(form, arguments, close)
        if form[-1] == "expr" and len(arguments) > len(form):
            rest = arguments[len(form) - 1:]
            arguments = (*arguments[:len(form) - 1], _join(rest, close))
        good = self._missing_commas(macro, arguments)
        if good and len(arguments) != len(form):
            self._count(macro, form, arguments, close)
            good = False
        if not good:
            return None
        parts: dict[str, Part] = {}
        for role, argument in zip(form, arguments):
            part = self._name(macro, role, argument) if role in ("class", "name", "event") else self._undress(role, argument)
            if not part:
                return None
            parts[role] = part
        begin, end = _comment_before(self.text, macro.line)
        return Declaration(macro, parts, close, self.system, self.text.source.text[begin:end])

    def _name(self, macro: Token, role: str, argument: Part) -> Part | None:
        if len(argument.tokens) == 1 and argument.tokens[0].text not in C_KEYWORDS:
            token = argument.tokens[0]
            # 9p_client_req is a good name, since C sees it behind trace_ and the like only.
            if token.kind == "id" or re.fullmatch(r"[0-9]\w*[A-Za-z_]\w*", token.text):
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
            return _part(tokens[2:-1], tokens[1], tokens[-1])
        return argument

    def _missing_commas(self, macro: Token, arguments: Sequence[Part]) -> bool:
        good = True
        for argument in arguments:
            tokens = argument.tokens
            words = [t for depth, t in brackets(tokens) if depth == 0 and t.kind == "id" and t.text in PART_WORDS]
            for word in words:
                if word is tokens[0]:
                    continue
                before = tokens[tokens.index(word) - 1]
                self.diag.error(self.text.span(macro), "TP012",
                                f"{macro.text}: ',' is missing in front of {word.text}",
                                [Note(self.text.span(before), "it belongs behind this"),
                                 Note(self.text.span(word), "noticed here")])
                good = False
        return good

    def _count(self, macro: Token, form: tuple[str, ...], arguments: Sequence[Part], close: Token) -> None:
        """A wrong number of parts: say which, by their words."""
        said = [a.tokens[0].text if a.tokens else "" for a in arguments]
        missing = [WORDS[role][0] for role in form if role in WORDS and not set(WORDS[role]) & set(said)]
        wanted = ", ".join(WORDS[role][0] + "(...)" if role in WORDS else role for role in form)
        if len(arguments) < len(form) and missing:
            what = f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
        else:
            what = f"{len(arguments)} parts where {len(form)} belong"
        self.diag.error(self.text.span(macro), "TP013", f"{macro.text}: {what}; it is written {macro.text}({wanted})",
                        [Note(self.text.span(close), "it ends here")])


def _system(definition: str) -> str:
    """The system that a #define TRACE_SYSTEM names."""
    return " ".join(re.sub(r"/\*.*?\*/|//.*|\\\n", " ", definition, flags=re.S).split())


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
    names = [_part(a.tokens[-1:], a.at, a.end) for a in arguments[1:] if a.tokens and a.tokens[-1].text != "void"]
    return form, (arguments[0], _join(arguments[1:], close), _join(names, close))


def _join(arguments: Sequence[Part], close: Token) -> Part:
    """Arguments as one part, with the commas that split() took out."""
    tokens: list[Token] = []
    for argument in arguments:
        if tokens:
            last = tokens[-1]
            tokens.append(Token("punct", ",", last.path, last.line, last.end, last.end + 1))
        tokens.extend(argument.tokens)
    return _part(tokens, close, close)


# ---- What passes through ----


def _comment_before(text: Text, line: int) -> tuple[int, int]:
    """Where the comment stands that ends in the line in front of a declaration: offsets, equal where there is none."""
    source = text.source
    begin_of_line = source.offset(line)
    end = source.offset(line - 1) + len(source.line(line - 1).rstrip()) if line > 1 else 0
    begin = text.comments.get(end)
    if begin is None or source.text[source.text.rfind("\n", 0, begin) + 1:begin].strip():
        return begin_of_line, begin_of_line
    return begin, end


def _verbatim(text: Text, declarations: Sequence[Declaration]) -> tuple[tuple[Verbatim, ...], str]:
    """What is left of the file when its declarations and its frame are taken out, and its first comment."""
    raw, source = text.raw, text.source.text
    holes = list(_frame(raw))
    lines = {d.macro.line for d in declarations}
    index, depth = 0, 0
    while index < len(raw):
        token = raw[index]
        if token.kind == "punct" and token.text in ("{", "}"):
            depth = max(0, depth + (1 if token.text == "{" else -1))
        call = token.kind == "id" and index + 1 < len(raw) and raw[index + 1].text == "("
        if call and token.text in FORMS and (token.text not in text.own_macros or token.line in lines) or depth == 0 and token.text in text.own_macros and token.line in lines:
            end = matching(raw, index + 1) if call else index
            if end + 1 < len(raw) and raw[end + 1].text == ";":
                end += 1
            begin = _comment_before(text, token.line)[0]
            alone = not text.source.line(token.line)[:token.start - text.source.offset(token.line)].strip()
            holes.append((min(token.start, begin) if alone else token.start, raw[end].end))
            index, depth = end, 0
        index += 1
    comment = ""
    match = re.match(r"\s*((?:/\*.*?\*/\s*|//[^\n]*\n\s*)+)", source, re.S)
    if match:
        comment = match[1].strip()
        holes.append((0, match.end()))
    return tuple(_between(source, sorted(holes))), comment


def _frame(raw: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Where the directives of a kernel trace header's frame stand."""
    directives = [t for t in raw if t.kind == "dir"]
    for token in directives:
        if _FRAME.match(token.text):
            yield token.start, token.end
    yield from _guard(raw, directives)


def _guard(raw: Sequence[Token], directives: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """The include guard: #if and #define in front of everything else, and the #endif."""
    rest = [t for t in directives if not _FRAME.match(t.text)]
    match = _GUARD.match(rest[0].text) if len(rest) > 2 else None
    if not match or not re.match(rf"#\s*define\s+{re.escape(match[1] or match[2])}\s*(?:/\*.*)?$", rest[1].text, re.S):
        return
    if any(t.kind != "dir" and t.start < rest[1].start for t in raw):
        return
    depth = 0
    for token in rest:
        word = re.match(r"#\s*(\w*)", token.text)
        assert word
        depth += word[1].startswith("if")
        depth -= word[1] == "endif"
        if depth == 0:
            for one in (rest[0], rest[1], token):
                yield one.start, one.end
            return


def _between(source: str, holes: Sequence[tuple[int, int]]) -> Iterator[Verbatim]:
    at, line = 0, 1
    for start, end in [*holes, (len(source), len(source))]:
        chunk = source[at:start] if start > at else ""
        code = re.sub(r"/\*.*?\*/|//[^\n]*", "", chunk, flags=re.S)
        if code.strip():
            lead = len(chunk) - len(chunk.lstrip())
            first = chunk.rfind("\n", 0, lead) + 1
            yield Verbatim(line + chunk.count("\n", 0, first), chunk[first:].rstrip())
        if end > at:
            line += source.count("\n", at, end)
            at = end

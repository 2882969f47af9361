# SPDX-License-Identifier: MIT
"""C declarations and expressions, as far as tpgen must understand them. The only user of pycparser.

tpgen does not see the program's headers. Names that must be types by C's
grammar are declared as such before pycparser reads the text; where an
expression's type depends on what only the C compiler knows, it is None, and
the C compiler checks it at the .tp file's line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from pycparser import c_ast, c_generator, c_parser  # type: ignore[import]  # it has no type hints

from tpgen.kinds import GETTERS
from tpgen.lexer import Token, spell
from tpgen.tokens import C_KEYWORDS as KEYWORDS
from tpgen.tokens import matching

_SPECIFIERS = frozenset("void char short int long float double signed unsigned _Bool _Complex __int128".split())
# Spellings of GNU C and of sparse that pycparser does not know and that change no type.
_IGNORED = frozenset("__user __kernel __iomem __percpu __rcu __force __bitwise __must_check __extension__ "
                     "__restrict __restrict__ restrict __inline __inline__ __maybe_unused __always_unused".split())
_SYNONYMS = {"__const": "const", "__const__": "const", "__volatile__": "volatile", "__signed__": "signed"}


# Spellings that not all standards of C and C++ know, and those that they do.
_PORTABLE = {"restrict": "__restrict", "typeof": "__typeof__"}
# Between the brackets of a parameter, in C only; they change no type that a caller sees.
_IN_BRACKETS = frozenset("static const volatile restrict __restrict __restrict__ _Atomic".split())


@dataclass(frozen=True, slots=True)
class CType:
    """What printf must know of a type. kind: int, float, string (char array or pointer), pointer, other (by value).

    bits is the width of an int or float, on LP64 machines.
    """

    kind: str
    bits: int
    signed: bool
    text: str


INT = CType("int", 32, True, "int")
STRING = CType("string", 64, False, "char *")
POINTER = CType("pointer", 64, False, "void *")


def _known() -> dict[str, CType]:
    known = {"size_t": (64, False), "ssize_t": (64, True), "ptrdiff_t": (64, True), "intptr_t": (64, True),
             "uintptr_t": (64, False), "intmax_t": (64, True), "uintmax_t": (64, False), "off_t": (64, True),
             "loff_t": (64, True), "off64_t": (64, True), "time_t": (64, True), "pid_t": (32, True),
             "uid_t": (32, False), "gid_t": (32, False), "mode_t": (32, False), "socklen_t": (32, False),
             "dev_t": (64, False), "ino_t": (64, False), "sector_t": (64, False), "ktime_t": (64, True),
             "bool": (8, False), "in_addr_t": (32, False), "in_port_t": (16, False), "clockid_t": (32, True)}
    for bits in (8, 16, 32, 64):
        for name, signed in ((f"int{bits}_t", True), (f"uint{bits}_t", False), (f"s{bits}", True), (f"u{bits}", False),
                             (f"__s{bits}", True), (f"__u{bits}", False)):
            known[name] = (bits, signed)
    return {name: CType("int", bits, signed, name) for name, (bits, signed) in known.items()}


KNOWN = _known()

# What the helpers of TP_printk return.
_HELPERS = {**{name: STRING for name in (
    "__print_flags __print_flags_u64 __print_symbolic __print_symbolic_u64 __print_hex __print_hex_str __print_array "
    "__print_dynamic_array __print_hex_dump").split()},
    **{name: STRING if kind.text else POINTER for name, (kind, _) in GETTERS.items()},
    **{name: CType("int", 32, False, "unsigned int") for name in (
        "__get_dynamic_array_len", "__get_rel_dynamic_array_len")},
    **{name: CType("int", 32, True, "int") for name in ("__event_in_hardirq", "__event_in_softirq", "__event_in_irq")}}

_parser = c_parser.CParser()
_generator = c_generator.CGenerator()


# A name that pycparser takes for one that it does not: it holds the characters by their numbers.
_NAME = re.compile(r"tp_hex_((?:[0-9a-f]{2})+)_")
_TYPEOF = frozenset(["typeof", "__typeof", "__typeof__"])


def _as_name(text: str) -> str:
    return f"tp_hex_{text.encode('utf-8', 'surrogateescape').hex()}_"


def _as_written(text: str) -> str:
    """A text of pycparser's with what names stand for."""
    if "tp_hex_" not in text:
        return text
    return _NAME.sub(lambda m: bytes.fromhex(m[1]).decode("utf-8", "surrogateescape"), text)


class NotC(Exception):
    """The text is no C that tpgen understands. str() is empty, or says why, from the colon on; tokens are what it is about, if
    that is known."""

    def __init__(self, why: str = "", tokens: Sequence[Token] = ()):
        super().__init__(why)
        self.tokens = tokens


def parse_params(tokens: Sequence[Token]) -> list[tuple[str, str, str]]:
    """(type, name, canonical type) of each parameter of a prototype; the name is "" where it has none."""
    text, types = _prepare(tokens)
    if text in ("", "void"):
        return []
    try:
        return list(_params(text, types))
    except RecursionError:
        raise NotC(": it is nested too deeply") from None


@lru_cache(maxsize=65536)
def _params(text: str, types: frozenset[str]) -> tuple[tuple[str, str, str], ...]:
    tree = _parse(f"void f({text});", types)
    function = tree.ext[-1].type
    out: list[tuple[str, str, str]] = []
    for param in function.args.params:
        if isinstance(param, c_ast.EllipsisParam):
            raise NotC(": '...' can't be passed on to a probe")
        if isinstance(param, c_ast.ID):
            raise NotC(f": '{_as_written(param.name)}' has no type")
        out.append((_as_written(_generator.visit(param.type)), _as_written(param.name or ""), _as_written(_canonical(param.type))))
    return tuple(out)


# ---- Types of C++ ----


def cxx(tokens: Sequence[Token]) -> str:
    """What of a type, or of a parameter, is no C but C++: std::string_view, T<int>, or a reference; or ""."""
    index = 0
    while index < len(tokens):
        end = _qualified(tokens, index)
        if end:
            return _one_line(tokens[index:end])
        if tokens[index].text in ("&", "&&"):
            return _one_line(tokens[:index + 1])
        index = matching(tokens, index + 1) + 1 if _is_opaque(tokens, index) else index + 1
    return ""


# Classes of std that keep their characters or elements elsewhere, or belong to an owner.
_CLASS = re.compile(r"(?:const )?(?:::)?std::(?:(?P<view>(?:w|u8|u16|u32|basic_)?string_view)|(?P<text>(?:w|u8|u16|u32|basic_)?string)"
                    r"|span|(?P<owner>vector|deque|list|forward_list|(?:unordered_)?(?:multi)?(?:map|set)|optional|variant|any|function"
                    r"|shared_ptr|unique_ptr|filesystem::path))(?:<.*>)?$")


def is_text_class(type_: str) -> bool:
    """Whether it is one of std's strings, or a view of one."""
    match = _CLASS.match(type_)
    return bool(match and (match["view"] or match["text"]))


def keeps_elsewhere(type_: str) -> bool:
    """Whether what an object of the type holds is not in the object, by its name."""
    return bool(_CLASS.match(type_))


def is_costly(type_: str) -> bool:
    """Whether copying an object of the type allocates memory, or may, by its name."""
    match = _CLASS.match(type_)
    return bool(match and (match["text"] or match["owner"]))


def _is_opaque(tokens: Sequence[Token], index: int) -> bool:
    """Whether a bracket behind the token holds an expression, in which & and < are operators."""
    return index + 1 < len(tokens) and (tokens[index].text in _TYPEOF or tokens[index + 1].text == "[")


def _qualified(tokens: Sequence[Token], index: int, types: bool = True) -> int:
    """The end of a name of C++ that begins at index, such as std::vector<int>; 0 if none begins there. In expressions, < compares."""
    begin = index
    while index < len(tokens) and tokens[index].kind == "id" and tokens[index].text not in KEYWORDS:
        index += 1
        if not types or index >= len(tokens) or tokens[index].text != "<":
            break
        index = _angle(tokens, index) + 1
        if index >= len(tokens) or not tokens[index].text.startswith("::"):
            break
    return index if any("::" in t.text or t.text == "<" for t in tokens[begin:index]) else 0


def _angle(tokens: Sequence[Token], opening: int) -> int:
    """The index of the > that closes the < at index opening; the last token where there is none."""
    depth = angles = 0
    for index in range(opening, len(tokens)):
        text = tokens[index].text if tokens[index].kind == "punct" else ""
        depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
        if depth == 0 and text in ("<", ">", ">>"):
            angles += 1 if text == "<" else -len(text)
            if angles <= 0:
                return index
    return len(tokens) - 1


def _one_line(tokens: Sequence[Token]) -> str:
    """A type of C++ as every spelling of it comes out."""
    out = ""
    for token in tokens:
        text = _as_written(token.text)
        if token.text in ("*", "&", "&&"):
            out += text if out[-1:] in ("*", "&", " ", "") else f" {text}"
        elif token.text == ",":
            out += ", "
        else:
            out += f" {text}" if re.search(r"[\w*&>]$", out) and re.match(r"\w", text) else text
    return out


def _with_references(tokens: Sequence[Token]) -> list[Token]:
    """tokens, in which a name stands for each reference with what it refers to: pycparser knows none."""
    out: list[Token] = []
    begin = [0]  # of the parameter in each open bracket
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        if token.text == "[":
            close = matching(tokens, index - 1)
            out += tokens[index - 1:close + 1]
            index = close + 1
        elif token.text in ("&", "&&") and begin:
            if token.text == "&&":
                raise NotC(": several probes would get what '&&' moves to one; use '&'", [token])
            if len(out) == begin[-1]:
                raise NotC(": tpgen knows no references to arrays and functions; use a pointer", [token])
            refers = [*out[begin[-1]:], token]
            # No token ends where the next one starts, so that spell() parts it from a name.
            out[begin[-1]:] = [token._replace(kind="id", text=_as_name(_one_line(refers)), start=refers[0].start, end=-1)]
        else:
            out.append(token)
            if token.text == "(":
                begin.append(len(out))
            elif token.text == ")" and len(begin) > 1:
                begin.pop()
            elif token.text == ",":
                begin[-1] = len(out)
    return out


def portable(tokens: Sequence[Token], params: frozenset[str] = frozenset()) -> Sequence[Token]:
    """A type, or a parameter of a prototype with these, as C and C++ read it: without what only one of them has."""
    if not any(t.text == "[" or t.text in _PORTABLE for t in tokens):
        return tokens
    out: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        out.append(token._replace(text=_PORTABLE[token.text]) if token.text in _PORTABLE else token)
        if token.text != "[":
            continue
        close = matching(tokens, index - 1)
        first = index
        while first < close and tokens[first].text in _IN_BRACKETS:
            first += 1
        # What is the first element's is no part of the type: a pointer is passed.
        if index > 1 and tokens[index - 2].kind == "id" and any(t.text in params or t.text == "*" and close == first + 1
                                                                for t in tokens[first:close]):
            first = close
        if first != index:
            out.append(tokens[first]._replace(start=token.end))
            index = first + 1
    return out


def needs_c(tokens: Sequence[Token], params: frozenset[str]) -> bool:
    """Whether a parameter, after portable(), is of a type that C++ does not have: arrays as long as another one says."""
    return any(t.text == "[" and any(one.text in params for one in tokens[n:matching(tokens, n)])
               for n, t in enumerate(tokens))


# The words of a type in any order, as the standard lists them; int goes without saying.
_ARITHMETIC = {"signed": "int", "unsigned": "unsigned int", "char signed": "signed char", "char unsigned": "unsigned char",
               "short": "short", "short signed": "short", "short unsigned": "unsigned short", "long": "long",
               "long signed": "long", "long unsigned": "unsigned long", "long long": "long long",
               "long long signed": "long long", "long long unsigned": "unsigned long long",
               "double long": "long double", "_Bool": "bool"}


def _canonical(node: c_ast.Node) -> str:
    """A parameter's type as every spelling of it comes out. Changes node."""
    if isinstance(node, c_ast.ArrayDecl):
        node = c_ast.PtrDecl([], node.type)
    elif isinstance(node, c_ast.FuncDecl):
        node = c_ast.PtrDecl([], node)
    _normalize(node)
    node.quals = []  # the parameter's own, which the caller does not see
    return str(_generator.visit(node))


def may_be_same(a: str, b: str) -> bool:
    """Whether two canonical types may be the same: what typedefs stand for only the C compiler knows."""
    if a == b or "__typeof__" in a + b:
        return True
    words = re.findall(r"(?:struct |union |enum )?[A-Za-z_]\w*", f"{a} {b}")
    return any(w not in _SPECIFIERS | {"const", "volatile", "bool"} and " " not in w for w in words) \
        and a.count("*") == b.count("*")


# The characters of texts that printf and strlen don't know.
_WIDE = frozenset("wchar_t char16_t char32_t wint_t".split())
_QUALIFIERS = frozenset("const volatile restrict __restrict __restrict__ _Atomic".split())


@dataclass(frozen=True, slots=True)
class Shape:
    """A type as a base and so many pointers to it. Of a base that is not known, only the C compiler knows what it is."""

    base: str
    is_known: bool
    stars: int

    def __str__(self) -> str:
        return f"{article(self.base)}{' ' if self.stars else ''}{'*' * self.stars}"

    @property
    def is_structure(self) -> bool:
        return self.base.startswith(("struct ", "union "))

    @property
    def is_wide(self) -> bool:
        return self.base in _WIDE

    def may_be(self, wanted: str) -> bool:
        """Whether it may be meant for one of these: const char *, const void *, va_list *, size_t."""
        if wanted == "size_t":
            return self.stars == 0
        if wanted == "const void *":
            return self.stars > 0 or not self.is_known
        if self.stars != 1:
            return self.stars == 0 and not self.is_known and self.base != "va_list"
        byte = "char" in self.base.split() or self.base != "bool" and self.base in KNOWN and KNOWN[self.base].bits == 8
        return not self.is_known or self.base == "void" or byte and wanted == "const char *"


def shape(type_: str, followed: int, own: frozenset[str]) -> Shape | None:
    """Of a type, or of what so many pointers of it lead to; own are the file's types. None where that can't be told."""
    words = [w for w in re.findall(r"\w+|\S", type_) if w not in _QUALIFIERS]
    stars = words.count("*")
    base = words[:len(words) - stars]
    if not base or not all(re.match(r"\w", w) for w in base) or stars < followed:
        return None
    known = base[0] in ("struct", "union", "enum") or _SPECIFIERS.issuperset(base) or \
        len(base) == 1 and (base[0] in KNOWN or base[0] in _WIDE)
    return Shape(" ".join(base), known and own.isdisjoint(base), stars - followed)


def article(text: str) -> str:
    """text with its article, by its sound: a uint32_t, an int, a union, an unsigned long."""
    return f"{'an' if re.match(r'[aeio]|un(?!ion)', text) else 'a'} {text}"


def _normalize(node: c_ast.Node) -> None:
    if isinstance(node, c_ast.TypeDecl):
        node.declname = None
    elif isinstance(node, (c_ast.Decl, c_ast.Typename)):
        node.name = None
    elif isinstance(node, c_ast.IdentifierType):
        words = sorted(w for w in node.names if w != "int" or len(node.names) == 1)
        node.names = [_ARITHMETIC.get(" ".join(words), " ".join(node.names if len(node.names) == 1 else words))]
    for _, child in node.children():
        _normalize(child)


def parse_type(tokens: Sequence[Token]) -> CType | None:
    """The type that tokens name; None for one that only the C compiler knows."""
    text, types = _prepare(tokens)
    try:
        return _type(text, types)
    except RecursionError:
        raise NotC(": it is nested too deeply") from None


@lru_cache(maxsize=65536)
def _type(text: str, types: frozenset[str]) -> CType | None:
    tree = _parse(f"void f({text});", types)
    params = tree.ext[-1].type.args.params
    if len(params) != 1 or not isinstance(params[0], c_ast.Typename) and getattr(params[0], "name", None):
        raise NotC
    return _of(params[0].type)


def declares(tokens: Sequence[Token]) -> str:
    """What is missing where a name stands behind a type: "" nothing, "inside" the name belongs inside, as in int (*NAME)(int),
    "array" it is one."""
    if not any(t.text in ("(", "[") for t in tokens):
        return ""
    text, types = _prepare(tokens)
    node = _parse(f"void f({text});", types).ext[-1].type.args.params[0].type
    if isinstance(node, c_ast.ArrayDecl):
        return "array" if isinstance(node.type, c_ast.TypeDecl) else "inside"
    while isinstance(node, c_ast.PtrDecl):
        node = node.type
    return "" if isinstance(node, c_ast.TypeDecl) else "inside"


def _of(node: c_ast.Node) -> CType | None:
    text = _as_written(_generator.visit(node))
    if isinstance(node, (c_ast.PtrDecl, c_ast.ArrayDecl)):
        to = _of(node.type)
        if to and to.kind == "int" and to.bits == 8 and re.search(r"\bchar\b", to.text):
            return replace(STRING, text=text)
        return replace(POINTER, text=text)
    if isinstance(node, c_ast.FuncDecl):
        return replace(POINTER, text=text)
    base = node.type
    if isinstance(base, c_ast.Typename):  # in _Atomic(type)
        return _of(base.type)
    if isinstance(base, (c_ast.Struct, c_ast.Union)):
        return CType("other", 0, False, text)
    if isinstance(base, c_ast.Enum):
        return replace(INT, text=text)
    words = " ".join(base.names).split()
    if len(words) == 1 and words[0] in KNOWN:
        return replace(KNOWN[words[0]], text=words[0])
    if not _SPECIFIERS.issuperset(words):
        return None
    signed = "unsigned" not in words and "_Bool" not in words
    if "double" in words:
        return CType("float", 128 if "long" in words else 64, True, text)
    if "float" in words:
        return CType("float", 64, True, text)  # passed as a double
    if "void" in words:
        return CType("other", 0, False, text)
    bits = 8 if "char" in words or "_Bool" in words else 16 if "short" in words else 64 if "long" in words else 32
    return CType("int", bits, signed, text)


def infer(tokens: Sequence[Token], fields: Mapping[str, CType | None], own: frozenset[str]) -> CType | None:
    """The type of an argument of TP_printk, after C's promotions; fields are those of __entry, own the file's types."""
    if any(t.text in own for t in tokens):
        return None
    words = [t.text for t in tokens]
    if any(a == ")" and b == "{" for a, b in zip(words, words[1:])):
        return None  # a compound literal
    if len(words) == 3 and words[:2] == ["__entry", "->"]:
        return _promote(fields.get(words[2]))
    if len(words) > 2 and words[0] in _HELPERS and words[1] == "(" and _closes(words):
        return _HELPERS[words[0]]
    try:
        text, _ = _prepare(_without_braces(tokens), types=False)
    except NotC:
        return None
    names = frozenset(n for n in re.findall(r"\(\s*(?:const\s+|struct\s+)*([A-Za-z_]\w*)[\s*]*\)", text)
                      if n in KNOWN or n.endswith("_t"))
    expression = _expression(text, names)
    try:
        return _infer(expression, fields) if expression else None
    except RecursionError:
        return None


@lru_cache(maxsize=65536)
def _expression(text: str, types: frozenset[str]) -> c_ast.Node | None:
    try:
        return _parse(f"int x = ({text});", types).ext[-1].init
    except NotC:
        return None


def _closes(words: Sequence[str]) -> bool:
    depth = 0
    for index, word in enumerate(words[1:]):
        depth += (word == "(") - (word == ")")
        if depth == 0:
            return index == len(words) - 2
    return False


def _without_braces(tokens: Sequence[Token]) -> list[Token]:
    """A table's entries, which are no expressions, as 0."""
    out: list[Token] = []
    depth = 0
    for token in tokens:
        if token.text == "{":
            if depth == 0:
                out.append(token._replace(kind="num", text="0"))
            depth += 1
        elif token.text == "}":
            depth -= 1
        elif depth == 0:
            out.append(token)
    return out


def _infer(node: c_ast.Node, fields: Mapping[str, CType | None]) -> CType | None:
    if isinstance(node, c_ast.Constant):
        return _constant(node)
    if isinstance(node, c_ast.StructRef):
        if isinstance(node.name, c_ast.ID) and node.name.name == "__entry":
            return _promote(fields.get(_as_written(node.field.name)))
        return None
    if isinstance(node, c_ast.Cast):
        try:
            return _promote(_of(node.to_type.type))
        except AttributeError:
            return None
    if isinstance(node, c_ast.FuncCall):
        return _HELPERS.get(node.name.name) if isinstance(node.name, c_ast.ID) else None
    if isinstance(node, c_ast.UnaryOp):
        if node.op == "sizeof":
            return KNOWN["size_t"]
        if node.op == "!":
            return INT
        if node.op == "&":
            return POINTER
        return _promote(_infer(node.expr, fields)) if node.op in "+-~" else None
    if isinstance(node, c_ast.BinaryOp):
        if node.op in ("<", ">", "<=", ">=", "==", "!=", "&&", "||"):
            return INT
        left = _infer(node.left, fields)
        if node.op == "-" and left and left.kind in ("string", "pointer"):
            return None  # a pointer, or the distance of two
        return left if node.op in ("<<", ">>") else _common(left, _infer(node.right, fields))
    if isinstance(node, c_ast.TernaryOp):
        return _common(_infer(node.iftrue, fields), _infer(node.iffalse, fields))
    return None


def _constant(node: c_ast.Constant) -> CType | None:
    if node.type == "string":
        return STRING
    if node.type in ("float", "double", "long double"):
        return CType("float", 128 if "long" in node.type else 64, True, node.type)
    if node.type == "char":
        return INT
    match = re.match(r"(0[xX][0-9a-fA-F]+|[0-9]+)(.*)", node.value)
    if not match:
        return None
    value, suffix = int(match[1], 16 if match[1][:2] in ("0x", "0X") else 10), match[2].lower()
    narrow = value < 1 << (31 if match[1].isdigit() and "u" not in suffix else 32)
    return CType("int", 64 if "l" in suffix or not narrow else 32, "u" not in suffix, node.type)


def _promote(ctype: CType | None) -> CType | None:
    if ctype and ctype.kind == "int" and ctype.bits < 32:
        return replace(ctype, bits=32, signed=True)
    return ctype


def _common(left: CType | None, right: CType | None) -> CType | None:
    """The type of an operator with these operands."""
    if not left or not right:
        return None
    for kind in ("string", "pointer"):
        if kind in (left.kind, right.kind):
            return left if left.kind == kind else right
    if left.kind == right.kind:
        return left if left.bits >= right.bits else right
    return left if left.kind == "float" else right if right.kind == "float" else None


def _prepare(tokens: Sequence[Token], types: bool = True) -> tuple[str, frozenset[str]]:
    """tokens as text that pycparser reads, and the identifiers that must be types by C's grammar. They are types or parameters,
    or else an expression."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        if token.kind == "dir" or token.text in _IGNORED:
            continue
        if token.text in ("__attribute__", "__attribute") and index < len(tokens) and tokens[index].text == "(":
            depth = 0
            while index < len(tokens):
                depth += (tokens[index].text == "(") - (tokens[index].text == ")")
                index += 1
                if depth == 0:
                    break
            continue
        qualified = _qualified(tokens, index - 1, types)
        if qualified:
            name = tokens[index - 1:qualified]
            kept.append(token._replace(kind="id", text=_as_name(_one_line(name)), end=name[-1].end))
            index = qualified
            continue
        if token.text == "[" and index < len(tokens) and tokens[index].text == "[":
            raise NotC(": an attribute is written __attribute__((...)) there, as in all standards of C",
                       tokens[index - 1:matching(tokens, index - 1) + 1])
        if token.text == "_BitInt" and index < len(tokens) and tokens[index].text == "(":
            raise NotC(": tpgen does not know _BitInt; use an integer of 8, 16, 32 or 64 bits, or a pointer",
                       tokens[index - 1:matching(tokens, index) + 1])
        if token.text in _TYPEOF and index < len(tokens) and tokens[index].text == "(":
            close = matching(tokens, index)
            token = token._replace(text=_as_name(f"__typeof__{spell(tokens[index:close + 1])}"), end=tokens[close].end)
            index = close + 1
        elif token.kind == "id" and not token.text.isascii():
            token = token._replace(text=_as_name(token.text))
        kept.append(token._replace(text=_SYNONYMS[token.text]) if token.text in _SYNONYMS else token)
    if types and any(t.text in ("&", "&&") for t in kept):
        kept = _with_references(kept)
    return spell(kept), frozenset(_type_names(kept))


def _type_names(tokens: Sequence[Token]) -> list[str]:
    """In a list of declarations, an identifier in front of which no type was named is itself one."""
    names: list[str] = []
    stack: list[bool] = []
    seen = tag = False
    for index, token in enumerate(tokens):
        if token.text in ("struct", "union", "enum"):
            tag = seen = True
        elif token.text in _SPECIFIERS:
            seen = True
        elif token.kind == "id" and token.text not in KEYWORDS:
            if not tag and not seen:
                names.append(token.text)
            seen, tag = True, False
        elif token.text == "(":
            stack.append(seen)
            seen = seen and index + 1 < len(tokens) and tokens[index + 1].text == "*"
        elif token.text == ")":
            seen = stack.pop() if stack else seen
        elif token.text == ",":
            seen = False
    return names


def _parse(text: str, types: frozenset[str]) -> c_ast.FileAST:
    declared = "".join(f"typedef int {name}; " for name in sorted(types))
    try:
        return _parser.parse(declared + text)
    except RecursionError:
        raise NotC(": it is nested too deeply") from None
    except Exception:  # pycparser raises ParseError, and on odd input AssertionError and others
        # Its messages differ between its versions, and say little.
        raise NotC from None

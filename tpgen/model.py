# SPDX-License-Identifier: MIT
"""What a definition file says: all that a backend may see. Nothing here knows C text or templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tpgen.kinds import FieldKind
from tpgen.source import Span

# What can name nothing in C++, but something in C.
CPP_KEYWORDS = frozenset(
    "alignas alignof and and_eq asm bitand bitor bool catch char8_t char16_t char32_t class co_await co_return co_yield compl "
    "concept const_cast consteval constexpr constinit decltype delete dynamic_cast explicit export false friend mutable "
    "namespace new noexcept not not_eq nullptr operator or or_eq private protected public reinterpret_cast requires "
    "static_assert static_cast template this thread_local throw true try typeid typename using virtual wchar_t xor "
    "xor_eq".split())


def cpp_name(name: str) -> str:
    """What a parameter or a member of this name is called where C++ reads it, too."""
    return f"__{name}_" if name in CPP_KEYWORDS else name


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of a prototype: ("long int", "n", "long int n", "long", ...)."""

    type: str
    name: str
    text: str       # as written, but for words that not every standard of C has
    canonical: str  # the type as every spelling of it comes out
    site_name: str  # its name where C++ reads it, too
    site_text: str  # the parameter there
    cxx: str        # what of it is no C but C++: "std::string_view"; or ""


@dataclass(frozen=True, slots=True)
class Code:
    """C text with the place it comes from: its lines follow one another there as they do here."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Verbatim:
    """C of the file's own, between its declarations, and the tracepoints that must be declared in front of it, as it uses them."""

    line: int
    text: str
    uses: tuple[str, ...]
    conditional: bool  # an #if is open where it begins


@dataclass(frozen=True, slots=True)
class Symbols:
    """The table of a __print_flags or __print_symbolic: for each entry its line, a C expression and a C string."""

    entries: tuple[tuple[int, str, str], ...]
    field: str | None  # the field whose very value it names, if it is one
    delimiter: str     # of __print_flags, as a C string, if it is one; "" for __print_symbolic
    wide: bool         # it is that of a _u64 helper

    def values(self, path: str) -> Iterator[Eval]:
        """The values of the entries, in the file of this path."""
        return (Eval(value, Span(path, line)) for line, value, _ in self.entries)


# How much an event matters, as enum tp_loglevel counts: what comes first matters more.
LOGLEVELS = ("EMERG", "ALERT", "CRIT", "ERR", "WARNING", "NOTICE", "INFO", "DEBUG_SYSTEM", "DEBUG_PROGRAM", "DEBUG_PROCESS",
             "DEBUG_MODULE", "DEBUG_UNIT", "DEBUG_FUNCTION", "DEBUG_LINE", "DEBUG")


@dataclass(frozen=True, slots=True)
class Field:
    kind: FieldKind
    rel: bool           # one of the __rel_ twins: its offset counts from the end of its own word
    type: str           # the element's, as the kernel prints it, white space collapsed
    c_type: str         # the same for the C compiler: with the file's own macros expanded
    by_value: bool      # of a structure or union that is named as such: is no number
    name: str
    length: str | None  # array: elements; dynamic_array: the count expression
    code: tuple[Code, ...]  # what sizes it: the length; a string's source; a format and its va_list ...
    span: Span

    @property
    def macro(self) -> str:
        return self.kind.macro

    @property
    def dynamic(self) -> bool:
        return self.kind.dynamic

    @property
    def member(self) -> str:
        """The record's member that holds it, or tells where it is."""
        return f"__{'rel' if self.rel else 'data'}_loc_{self.name}" if self.dynamic else self.name

    @property
    def of_expression(self) -> bool:
        """Whether its type is one of an expression or of C++, of which readers of a format know nothing."""
        return "__typeof__" in self.c_type or self.is_cxx

    @property
    def is_cxx(self) -> bool:
        """Whether its type has a name that only C++ knows: net::state."""
        return "::" in self.c_type or "<" in self.c_type

    @property
    def in_record(self) -> tuple[str, str]:
        """What its place in the record's fixed part depends on: the type, and the length of an array; "" for none."""
        return self.c_type, "[]" if self.dynamic else " ".join(self.code[0].text.split()) if self.kind.counted else ""

    @property
    def decl(self) -> str:
        """As bounded() has it, but that what an array is long stays as it was written."""
        return self.bounded(self.length)

    def bounded(self, length: str | None) -> str:
        """What the kernel prints behind "field:" in a format file, where an array is so long."""
        if not self.dynamic:
            return f"{self.type} {self.name}" + (f"[{length}]" if self.kind.counted else "")
        if self.kind.whole:
            return f"__{'rel' if self.rel else 'data'}_loc {self.type} {self.name}"
        # The kernel puts what begins with '[' behind the name, unless the type begins with __data_loc.
        return f"__rel_loc {self.type} {self.name}[]" if self.rel else f"__data_loc {self.type}[] {self.name}"


@dataclass(frozen=True, slots=True)
class Eval:
    """A TRACE_DEFINE_ENUM or TRACE_DEFINE_SIZEOF: a text that readers of a format can't evaluate, and C that can."""

    text: str  # "HI_SOFTIRQ", "sizeof(page_t)"
    span: Span


@dataclass(frozen=True, slots=True)
class Constant:
    """What may be a constant of the program's, of which readers of a format know nothing: "RED", "sizeof(struct pixel)"."""

    line: int
    text: str    # as it stands in the format
    value: bool  # it is a value at file scope: that of a table's entry. Other names may be of what is none there, such as a macro


@dataclass(frozen=True, slots=True)
class Print:
    """TP_printk."""

    line: int       # of the first piece
    pieces: tuple[str | int, ...]  # C text; n stands for the table of symbols[n]
    symbols: tuple[Symbols, ...]
    format: str     # the format's tokens, as C: string literals, perhaps macros of an included header
    literal: bool   # the format is string literals only
    arguments: str  # ", " and the other arguments as the kernel stringifies them, __entry as REC; "" for none
    text: str       # what the kernel prints behind "print fmt: ": the ", " stands there without arguments, too
    constants: tuple[Constant, ...]  # each once

    @property
    def at_run_time(self) -> str:
        """text, but without a ", " at its end, which libtraceevent does not take: the kernel has no such event."""
        return self.text if self.arguments else self.text.removesuffix(", ")


@dataclass(frozen=True, slots=True)
class Early:
    """The fields that are set to parameters, and so are known before a record is made: see early.py."""

    numbers: tuple[int, ...]      # counted from 0
    statements: tuple[Code, ...]  # that set them, without their ';'
    names: tuple[str, ...]        # if one of these is a macro, there are no early fields


@dataclass(frozen=True, slots=True)
class EventClass:
    """The record of one or more events."""

    name: str
    custom: bool    # of custom events, which have names of their own
    params: tuple[Param, ...]
    fields: tuple[Field, ...]
    assign: Code
    mentioned: frozenset[str]  # the variables that the struct and assign parts use
    plain: bool                # the writer neither loops nor calls what the compiler might inline
    uses_alias: bool           # TP_fast_assign says entry for __entry, as the kernel's own writers call it
    print: Print
    early: Early | None

    @property
    def record(self) -> str:
        """The tag of the record's structure."""
        return f"trace_{'custom_' if self.custom else ''}event_raw_{self.name}"


@dataclass(frozen=True, slots=True)
class Tracepoint:
    """A tracepoint; with a class it is an event. A custom event is a second one of a tracepoint that is elsewhere."""

    system: str  # "" for a bare tracepoint in front of any TRACE_SYSTEM
    name: str
    params: tuple[Param, ...]
    args: tuple[str, ...]
    event_class: EventClass | None
    comment: str
    span: Span
    custom: bool = False
    nop: bool = False               # trace_X() is empty
    condition: Code | None = None   # probes are called where it is true
    callbacks: tuple[Code, Code] | None = None  # C expressions: before the first probe, after the last
    writable: Code | None = None    # the size that *(first argument) must have
    exported: bool = False          # other modules may link to it
    print: Print | None = None      # its own, of DEFINE_EVENT_PRINT
    loglevel: str = "DEBUG_LINE"    # one of LOGLEVELS


@dataclass(frozen=True, slots=True)
class Unit:
    """One definition file. A class stands in classes in front of the tracepoints that use it."""

    path: str
    comment: str
    verbatim: tuple[Verbatim, ...]
    classes: tuple[EventClass, ...]
    tracepoints: tuple[Tracepoint, ...]
    evals: tuple[Eval, ...]

    @property
    def only_cxx(self) -> Code | None:
        """The first type that C can't read, and its line."""
        found = [Code(t.span.line, p.cxx) for t in self.tracepoints for p in t.params if p.cxx]
        found += [Code(f.span.line, f.c_type) for c in self.classes for f in c.fields if f.is_cxx]
        return min(found, key=lambda one: one.line, default=None)


@dataclass(frozen=True, slots=True)
class Layout:
    """Of a field's type: sizeof; the alignment as a member of a structure; whether it is a signed number."""

    size: int
    align: int
    signed: bool
    element: int     # sizeof an array's elements; of a word that says where a dynamic field is, its own
    type_class: str  # of an element: integer, also bool and enumerations; pointer, float, or other


@dataclass(frozen=True, slots=True)
class Answers:
    """What the C compiler says of a unit; what it does not know is not there."""

    layouts: Mapping[tuple[str, str], Layout]  # by Field.in_record
    values: Mapping[str, int]                  # by Eval.text

    def of(self, fields: Sequence[Field]) -> list[Layout] | None:
        """The layouts of a record's fields; None where the compiler does not know one, which it has been complained of."""
        known = [self.layouts[f.in_record] for f in fields if f.in_record in self.layouts]
        return known if len(known) == len(fields) else None

# SPDX-License-Identifier: MIT
"""What a definition file says: all that a backend may see. Nothing here knows C text or templates."""

from __future__ import annotations

from dataclasses import dataclass

from tpgen.source import Span


# A character for private use, which no definition has any use for.
TABLE = "\ue000"


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of a prototype: ("long int", "n", "long int n", "long")."""

    type: str
    name: str
    text: str       # as written
    canonical: str  # the type as every spelling of it comes out


@dataclass(frozen=True, slots=True)
class Code:
    """C text with the place it comes from: its lines follow one another there as they do here."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Symbols:
    """The table of a __print_flags or __print_symbolic: for each entry its line, a C expression and a C string."""

    entries: tuple[tuple[int, str, str], ...]
    field: str | None  # the field whose very value __print_symbolic names, if it is one


@dataclass(frozen=True, slots=True)
class Field:
    kind: str           # the macro's name without its underscores: field, array, string, dynamic_array
    type: str           # the element's, as written, white space collapsed
    name: str
    length: str | None  # array: elements; dynamic_array: the count expression
    code: Code          # the length, or a string's source, with its place
    span: Span

    @property
    def dynamic(self) -> bool:
        return self.kind in ("string", "dynamic_array")

    @property
    def decl(self) -> str:
        """What the kernel prints behind "field:" in a format file."""
        if self.dynamic:
            return f"__data_loc {self.type}[] {self.name}"
        return f"{self.type} {self.name}" + (f"[{self.length}]" if self.kind == "array" else "")


@dataclass(frozen=True, slots=True)
class Print:
    """TP_printk. In code, symbols[n] stands as n between two TABLEs, and so does the helper that it was taken from."""

    code: Code
    symbols: tuple[Symbols, ...]
    format: str     # the format's tokens, as C: string literals, perhaps macros of an included header
    literal: bool   # the format is string literals only
    arguments: str  # ", " and the other arguments as the kernel stringifies them, __entry as REC
    text: str       # what the kernel prints behind "print fmt: "


@dataclass(frozen=True, slots=True)
class EventClass:
    """The record of one or more events."""

    name: str
    params: tuple[Param, ...]
    fields: tuple[Field, ...]
    assign: Code
    mentioned: frozenset[str]  # the variables that the struct and assign parts use
    print: Print


@dataclass(frozen=True, slots=True)
class Tracepoint:
    """A tracepoint; with a class it is an event."""

    system: str  # "" for a bare tracepoint in front of any TRACE_SYSTEM
    name: str
    params: tuple[Param, ...]
    args: tuple[str, ...]
    event_class: EventClass | None
    comment: str
    span: Span


@dataclass(frozen=True, slots=True)
class Unit:
    """One definition file. A class stands in classes in front of the tracepoints that use it."""

    path: str
    comment: str
    verbatim: tuple[Code, ...]
    classes: tuple[EventClass, ...]
    tracepoints: tuple[Tracepoint, ...]

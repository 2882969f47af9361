# SPDX-License-Identifier: MIT
"""What a field is, by the macro that declares it: all that any stage knows of one macro stands in one record."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class FieldKind:
    """A field macro. Its own name is without underscores and "rel_"; several may make fields of one kind."""

    macro: str                   # the key: string, string_len, vstring ...
    name: str                    # the kind: string is TP_STRING of tp/event.h
    arguments: tuple[str, ...]   # what each argument of the macro is
    noun: str = "field"          # in messages
    dynamic: bool = False        # its payload stands behind the fixed part
    relative: bool = False       # there is a __rel_ twin
    whole: bool = False          # to readers it is a structure: no elements, no sign
    types: tuple[str, str] | None = None  # the element's, where no argument is: as the kernel prints it, and for C
    sizer: str = ""              # the runtime's function that measures a payload
    casts: tuple[str, ...] = ()  # of the sizer's arguments, which are the macro's own
    short: str = ""              # in the names of its helpers
    fits: tuple[str, ...] = ()   # the kinds whose helpers take it
    text: bool = False           # to TP_printk, __get_ is a text, otherwise a pointer
    printer: bool = False        # that is another thing than what __get_ is to TP_fast_assign, and is called __print_
    assigners: tuple[str, ...] = ()  # the helpers that fill it in; the first one is advised
    assigned: int = 0            # so many arguments they take at least

    @property
    def counted(self) -> bool:
        """Whether it is an array of elements of a type of its own."""
        return "type" in self.arguments and "length" in self.arguments

    def getter(self, rel: bool) -> str:
        """The helper that reads it, where it is dynamic."""
        return twin(f"__get_{self.short}") if rel else f"__get_{self.short}"


def twin(helper: str) -> str:
    """The helper of __rel_ fields that does what helper does of others."""
    return helper.replace("__get_", "__get_rel_").replace("__assign_", "__assign_rel_")


_FIELD = FieldKind("field", "field", ("type", "name"))
_STRUCT = FieldKind("field_struct", "struct", ("type", "name"), whole=True)
_STRING = FieldKind("string", "string", ("name", "source"), "string", dynamic=True, relative=True, types=("char", "char"),
                    sizer="tp_size_string", casts=("const char *",), short="str", fits=("string",), text=True,
                    assigners=("__assign_str", "__assign_str_len"), assigned=1)
_BITMASK = FieldKind("bitmask", "bitmask", ("name", "number of bits"), "bitmask", dynamic=True, relative=True,
                     types=("unsigned long", "unsigned long"), sizer="tp_size_bitmask", casts=("size_t",), short="bitmask",
                     fits=("bitmask", "cpumask"), text=True, printer=True, assigners=("__assign_bitmask",), assigned=3)

KINDS = {kind.macro: kind for kind in (
    _FIELD,
    replace(_FIELD, macro="field_ext", arguments=("type", "name", "filter type")),
    _STRUCT,
    replace(_STRUCT, macro="field_struct_ext", arguments=("type", "name", "filter type")),
    FieldKind("array", "array", ("type", "name", "length"), "array"),
    FieldKind("dynamic_array", "dynamic_array", ("type", "name", "length"), "array", dynamic=True, relative=True,
              sizer="tp_size_array", casts=("size_t",), short="dynamic_array", fits=("sockaddr",)),
    _STRING,
    replace(_STRING, macro="string_len", arguments=("name", "source", "length"), sizer="tp_size_string_len",
            casts=("const char *", "size_t")),
    replace(_STRING, macro="vstring", arguments=("name", "format", "va_list *"), relative=False, sizer="tp_size_vstring",
            casts=("const char *", "va_list *"), assigners=("__assign_vstr",), assigned=3),
    _BITMASK,
    replace(_BITMASK, macro="cpumask", name="cpumask", arguments=("name",), noun="cpumask", whole=True,
            types=("cpumask_t", "unsigned long"), sizer="tp_size_cpumask", casts=(), short="cpumask",
            assigners=("__assign_cpumask",), assigned=2),
    FieldKind("sockaddr", "sockaddr", ("name", "length"), "socket address", dynamic=True, relative=True,
              types=("u8", "unsigned char"), sizer="tp_size_sockaddr", casts=("size_t",), short="sockaddr",
              fits=("sockaddr",), assigners=("__assign_sockaddr",), assigned=3),
)}

# The macros as they are written: the kind, and whether it is a __rel_ twin.
FIELD_MACROS = {**{f"__{kind.macro}": (kind, False) for kind in KINDS.values()},
                **{f"__rel_{kind.macro}": (kind, True) for kind in KINDS.values() if kind.relative}}

# What reads each dynamic kind; the kinds of strings have one name.
GETTERS = {kind.getter(rel): (kind, rel) for kind in KINDS.values() if kind.relative for rel in (False, True)}

# SPDX-License-Identifier: MIT
"""What tpgen knows of the runtime's C headers by numbers and names of its own is what stands there."""

from __future__ import annotations

import os
import re

from support import BUILD, ROOT, RUNTIME_INCLUDES, Case, read

from tpgen.backends.userspace import CALL_ARGS, CALL_WORDS, SDT_ARGS
from tpgen.check.declarations import GENERATED, RUNTIME
from tpgen.kinds import KINDS
from tpgen.layout import HEADER, HEADER_ALIGN, HEADER_SIZE, RECORD_MAX, lay_out
from tpgen.model import LOGLEVELS


def header(name: str) -> str:
    return read(os.path.join(ROOT, "runtime/include/tp", name))


def enumeration(name: str) -> list[str]:
    """The constants of an enum of event.h, in its order."""
    inside = re.search(rf"^enum {name} \{{\n(.*?)^\}};", header("event.h"), re.S | re.M)
    assert inside, name
    return re.findall(r"^\t(\w+),", inside[1], re.M)


class Limits(Case):
    def test_record(self) -> None:
        self.assertEqual(re.findall(r"^#define TP_RECORD_MAX (\d+)$", header("event.h"), re.M), [str(RECORD_MAX)])

    def test_arguments_of_a_call(self) -> None:
        for macro, first, last in (("TP_CALL_WORDS_", 0, CALL_WORDS), ("TP_CALL_VALUES_", 1, CALL_ARGS)):
            known = {int(n) for n in re.findall(rf"^#define {macro}(\d+)\(probe, tp", header("call.h"), re.M)}
            self.assertEqual(known, set(range(first, last + 1)))

    def test_arguments_of_a_probe(self) -> None:
        for macro in ("TP_SDT_OPERANDS", "TP_SDT_TEXTS"):
            known = {int(n) for n in re.findall(rf"^#define {macro}_(\d+)\b", header("sdt.h"), re.M)}
            self.assertEqual(known, set(range(SDT_ARGS + 1)))

    def test_levels(self) -> None:
        self.assertEqual(enumeration("tp_loglevel"), [f"TP_LOGLEVEL_{level}" for level in LOGLEVELS])

    def test_kinds(self) -> None:
        self.assertEqual(set(enumeration("tp_field_kind")), {f"TP_{kind.name.upper()}" for kind in KINDS.values()})

    def test_what_measures_and_fills_in(self) -> None:
        """Functions and macros for generated code, and no other, have the names that tpgen writes and knows."""
        assign = header("assign.h")
        self.assertEqual(set(re.findall(r"\b(tp_size_\w+)\(", assign)), {k.sizer for k in KINDS.values() if k.sizer})
        known = {name.replace("__assign_", "__assign_" + rel) for kind in KINDS.values() for name in kind.assigners
                 for rel in ("", "rel_")[:1 + kind.relative]}
        self.assertEqual(set(re.findall(r"^#define (__assign_\w+)\(", assign, re.M)), known)

    def test_names_of_generated_functions(self) -> None:
        """What the runtime calls like a tracepoint's functions: in its headers, and in the library, which programs link."""
        like = re.compile("|".join(f"{name.format('')}[a-z]\\w*(?<!_)" for name in GENERATED))
        found = {}
        for name in os.listdir(os.path.join(ROOT, "runtime/include/tp")):
            code = re.sub(r"/\*.*?\*/|\b(?:struct|enum) \w+|#include .*?\n", "", header(name), flags=re.S)
            found.update({word: name for word in re.findall(r"\b\w+\b", code) if like.fullmatch(word)})
        self.assertEqual(found, RUNTIME)
        symbols = self.succeed(["nm", "-g", "--defined-only", os.path.join(BUILD, "libtp.a")]).stdout.split()
        self.assertLessEqual({word for word in symbols if like.fullmatch(word)}, set(RUNTIME))

    def test_header_of_a_record(self) -> None:
        asserts = [f"sizeof(struct trace_entry) == {HEADER_SIZE}", f"_Alignof(struct trace_entry) == {HEADER_ALIGN}"]
        places = lay_out(((size, size) for _, _, size, _ in HEADER), 0)
        for (type_, name, size, signed), place in zip(HEADER, places):
            asserts += [f"offsetof(struct trace_entry, {name}) == {place.offset}", f"sizeof({type_}) == {size}",
                        f"(({type_})-1 < 0) == {int(signed)}",
                        f"_Generic(((struct trace_entry *)0)->{name}, {type_}: 1, default: 0)"]
        path = self.write("entry.c", "#include <stddef.h>\n#include <tp/event.h>\n"
                          + "".join(f'_Static_assert({one}, "");\n' for one in asserts))
        self.succeed(["cc", "-std=gnu11", *RUNTIME_INCLUDES, "-fsyntax-only", path])

# SPDX-License-Identifier: MIT
"""What only the C compiler knows: sizes, alignments and signedness of types, and the values of constants.

tpgen does not need the program's headers, but a format file is full of
numbers. So a C file that includes what the definition file includes is
compiled to assembler text, in which the numbers stand: as in the kernel's
asm-offsets.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from tpgen.compiler import CompilerError, compile_text
from tpgen.cpp import Options, compilable
from tpgen.diag import Diagnostics
from tpgen.layout import WORD
from tpgen.model import Answers, Eval, Field, Layout
from tpgen.source import Source, Span

_ANSWER = re.compile(r"->tpgen (\d+)((?: -?\d+)+)")
# What __builtin_classify_type says; clang tells more kinds of integers from one another than gcc does.
_CLASSES = {1: "integer", 2: "integer", 3: "integer", 4: "integer", 5: "pointer", 8: "float"}

_ERROR = re.compile(r"^<tpgen>:(\d+):", re.M)
_FATAL = re.compile(r"^(?!<tpgen>).*?:\d+:(?:\d+:)? (?:fatal )?error: .*$", re.M)


def ask(source: Source, options: Options, fields: Sequence[Field], evals: Sequence[Eval],
        diag: Diagnostics) -> Answers | None:
    """The layouts of fields and the values of evals; None after an error."""
    types: dict[tuple[str, str], Field] = {}
    for field in fields:
        types.setdefault(field.in_record, field)
    questions = [_questions(one) for one in types.values()] + [_halves(one.text) for one in evals]
    answers: dict[int, list[int]] = {}
    left = list(range(len(questions)))
    while left:
        said, wrong = _compile(source, options, [(n, questions[n]) for n in left])
        if isinstance(wrong, str):
            diag.error(Span(source.path, 0), "TP093", f"the C compiler, asked for the sizes of its types, says: {wrong}")
            return None
        if not wrong:
            answers = {int(m[1]): [int(word) for word in m[2].split()] for m in _ANSWER.finditer(said)}
            break
        left = [n for n in left if n not in wrong]
    for number, field in enumerate(types.values()):
        if number not in answers:
            diag.warning(field.span, "TP094", f"the C compiler does not know {_shown(field)} "
                         "here, so that events with this field are left out; -include the header that defines it")
    unknown = [one for number, one in enumerate(evals, len(types)) if number not in answers]
    if unknown:
        names = ", ".join(one.text for one in unknown[:5]) + (", ..." if len(unknown) > 5 else "")
        diag.warning(unknown[0].span, "TP095", f"the C compiler does not know {names}, which stays a name; "
                     "-include the header that defines it")
    return Answers({one: _layout(answers[n])
                    for n, one in enumerate(types) if n in answers},
                   {one.text: answers[n][0] << 32 | answers[n][1] & 0xffffffff
                    for n, one in enumerate(evals, len(types)) if n in answers})


def _shown(field: Field) -> str:
    return field.c_type + (f" of length {field.in_record[1]}" if field.kind.name == "array" else "")


def _layout(answer: Sequence[int]) -> Layout:
    size, align, signed, element, type_class = answer
    return Layout(size, align, bool(signed), element, _CLASSES.get(type_class, "other"))


def _questions(field: Field) -> tuple[str, ...]:
    type_, length = field.in_record
    # A structure is compared with nothing.
    signed = "0" if field.by_value else f"(({type_})-1 < ({type_})1)"
    if length == "[]":  # the word that says where a dynamic field is
        return str(WORD), str(WORD), signed, str(WORD), "1"
    return (f"sizeof({type_}{f'[{length}]' if length else ''})", f"__alignof__(struct {{ {type_} member; }})", signed,
            f"sizeof({type_})", f"__builtin_classify_type(*({type_} *)0)")


def _halves(value: str) -> tuple[str, str]:
    """As signed words: gcc for x86-64 prints no wider constant."""
    return f"(int)((long long)({value}) >> 32)", f"(int)(long long)({value})"


def _compile(source: Source, options: Options,
             questions: Sequence[tuple[int, tuple[str, ...]]]) -> tuple[str, set[int] | str]:
    """The assembler text, and the questions that are no C, or what the compiler says of something else."""
    lines = [compilable(source, options), "void tpgen_ask(void);", "void tpgen_ask(void) {"]
    for number, constants in questions:
        places = " ".join(f"%c{n}" for n, _ in enumerate(constants))
        operands = ", ".join(f'"i"({one})' for one in constants)
        lines += [f'# {number + 1} "<tpgen>"', f'__asm__ volatile("\\n.ascii \\"->tpgen {number} {places}\\"" : : {operands});']
    lines.append("}")
    # Without optimization, asm operands of the kernel's inline functions are no constants. C that calls an event or appends to
    # a struct trace_seq calls nothing that is declared here: an error with gcc 14 and clang 16.
    arguments = ["-S", "-O1", "-w", "-Wno-implicit-function-declaration", "-Wno-int-conversion", "-x", "c",
                 "-iquote", os.path.dirname(source.path) or ".", *options.arguments, "-o-"]
    try:
        assembler, said = compile_text(arguments, "\n".join(lines))
    except CompilerError as error:
        return "", str(error)
    if assembler is not None:
        return assembler, set()
    wrong = {int(number) - 1 for number in _ERROR.findall(said)}
    other = _FATAL.search(said)
    if wrong and not other:
        return "", wrong
    return "", other[0] if other else said.strip() or "nothing, but fails"

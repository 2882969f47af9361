# SPDX-License-Identifier: MIT
"""The C header of a definition file, for programs that link with the runtime."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from tpgen import INTERFACE_VERSION
from tpgen.backends.output import Ask, Output
from tpgen.model import Code, Eval, EventClass, Field, Param, Print, Symbols, Tracepoint, Unit, cpp_name

# The highest n of the macros TP_CALL_n in tp/call.h.
CALL_WORDS = 5
CALL_ARGS = 7

# As many arguments as TP_SDT_PROBE in tp/sdt.h has room for.
SDT_ARGS = 12


@dataclass(frozen=True, slots=True)
class TracepointView:
    """A tracepoint, and C that the templates write of it."""

    tracepoint: Tracepoint
    event_class: Mapping[str, object] | None
    id: str           # what C names of its event end with
    title: str        # SYSTEM:NAME, and whether it is a custom event
    probe_proto: str  # a probe's
    site_proto: str   # the parameters where C++ reads them, too
    site_probe_proto: str
    probe_args: str   # a probe's
    names: Sequence[str]  # of the parameters
    types: str        # those of the parameters, by which a probe's type is compared
    spellings: Sequence[str]  # the types, and, where an assembler can't have them in a name, what it can
    iterator: str     # the tracepoint after which the function is named that calls its probes
    call: str
    sdt: str
    print_id: str     # what C names of its printer end with
    once: str         # the macro that tells whether it is declared already, where that depends on an #if; or ""


def outputs(units: Sequence[Unit], ask: Ask) -> Iterator[Output]:
    """One header for each file. What it needs of the C compiler, it asks when it is compiled."""
    return (header(unit, "userspace/header.h.j2") for unit in units)


def header(unit: Unit, template: str) -> Output:
    """The header of a file, as this template writes it."""
    stem = os.path.splitext(os.path.basename(unit.path))[0]
    users: dict[int, list[Tracepoint]] = {}
    for tracepoint in unit.tracepoints:
        users.setdefault(id(tracepoint.event_class), []).append(tracepoint)
    classes = {id(c): _class(c, users.get(id(c), []), unit) for c in unit.classes}
    iterators: dict[str, str] = {}
    in_doubt = {name for code in unit.verbatim if code.conditional for name in code.uses}
    views = [_tracepoint(t, classes.get(id(t.event_class)), iterators, in_doubt) for t in unit.tracepoints]
    by_name = {view.tracepoint.name: view for view in views if not view.tracepoint.custom}
    declared = {name for code in unit.verbatim if not code.conditional for name in code.uses}
    return Output(unit, stem + ".h", template, {
        "path": unit.path,
        "file": stem + ".h",
        "guard": _guard(stem, unit),
        "version": INTERFACE_VERSION,
        "comment": unit.comment,
        "verbatim": [(code, [by_name[name] for name in code.uses if name in by_name]) for code in unit.verbatim],
        "call_site": os.path.dirname(template) + "/call_site.h.j2",
        "classes": list(classes.values()),
        "trace_seq": _appends(code.text for code in unit.verbatim),
        "only_cxx": unit.only_cxx,
        "only_c": _only_c(unit),
        "imports": any(t.exported for t in unit.tracepoints),
        "tracepoints": views,
        "rest": [view for view in views if view.tracepoint.custom or view.tracepoint.name not in declared],
    })


def _only_c(unit: Unit) -> Code | None:
    """The first thing that C++ can't read where tracepoints are created, and its line: sites have other names for it."""
    found = [Code(t.span.line, f"a parameter called '{p.name}'" if p.name != p.site_name else
                  f"an array of C's as '{p.name}', with a parameter in its length")
             for t in unit.tracepoints for p in t.params if p.site_text != p.text]
    found += [Code(f.span.line, f"a field called '{f.name}'") for c in unit.classes for f in c.fields if cpp_name(f.name) != f.name]
    return min(found, key=lambda one: one.line, default=None)


def _appends(texts: Iterable[str]) -> bool:
    """Whether the file's own C calls functions of a struct trace_seq, and defines neither them nor the structure itself."""
    text = "\n".join(texts)
    return bool(re.search(r"\btrace_seq_\w+\s*\(", text)) and \
        not re.search(r"\bstruct\s+trace_seq\s*\{|\btrace_seq_\w+\s*\([^;{}()]*\)\s*\{", text)


def _guard(stem: str, unit: Unit) -> str:
    """Two files of a name may come together in one program, of one system, too: what they declare is not the same."""
    systems = [t.system for t in unit.tracepoints[:1] if t.system not in ("", stem)]
    declared = [f"{_id(t.name, t.custom)}({', '.join(p.canonical for p in t.params)})" for t in unit.tracepoints]
    declared += [c.record for c in unit.classes]
    code = [] if declared else [v.text for v in unit.verbatim]
    number = zlib.crc32("\n".join(declared + code).encode("utf-8", "surrogateescape"))
    # a-b and a_b are two files.
    words = [re.sub(r"\W", lambda m: f"_{ord(m[0]):x}_", part.upper()) for part in [stem, *systems]]
    return "_".join([*words, f"{number:08X}", "H"])


def _id(name: str, custom: bool) -> str:
    """What the C names of a class or an event end with. Custom events are apart, and may be called like others."""
    return f"custom__{name}" if custom else name


def _title(tracepoint: Tracepoint) -> str:
    return ":".join(filter(None, (tracepoint.system, tracepoint.name))) + (", custom" if tracepoint.custom else "")


def _class(event_class: EventClass, users: Sequence[Tracepoint], unit: Unit) -> Mapping[str, object]:
    name = _id(event_class.name, event_class.custom)
    fields = _fields(event_class, name, event_class.print)
    alone = [t.name for t in users] == [event_class.name]
    return {
        "id": name,
        "name": event_class.name,
        "record": event_class.record,
        # The class of a TRACE_EVENT that nothing else uses needs no writer of its own.
        "alone": alone,
        "title": _title(users[0]) if alone else f"event class {event_class.name}",
        "used": bool(users),
        # By itself: where the class is an event's, too, that is what there is twice.
        "declared": event_class.name not in [t.name for t in users],
        # Where the linker finds two classes of this name, it says which files have them.
        "section": re.sub(r"[^\w ,./+-]", ".", f"event class {event_class.name} of {unit.path}", flags=re.A),
        "proto": _proto(event_class.params),
        "fields": fields,
        # What no member of the record has the type of, so that the C compiler sees it in its line first.
        "elements": [(f.span.line, f.c_type, _element(event_class, f)) for f in event_class.fields if f.dynamic and f.kind.counted],
        "dynamic": [view for view, f in zip(fields, event_class.fields) if f.dynamic],
        "assign": _assign(event_class.assign),
        "plain": event_class.plain,
        "uses_alias": event_class.uses_alias,
        "early": event_class.early,
        "unused": [p.name for p in event_class.params if p.name not in event_class.mentioned],
        "prints": [_print(name, event_class.print, event_class, unit.evals),
                   *(_print(t.name, t.print, event_class, unit.evals) for t in users if t.print)] if users else [],
    }


def _fields(event_class: EventClass, name: str, print_: Print) -> list[Mapping[str, object]]:
    """The fields, each with the table that names its values in this TP_printk."""
    by_field: dict[str, str] = {}
    for number, symbols in enumerate(print_.symbols, 1):
        if symbols.field and not symbols.wide:
            by_field.setdefault(symbols.field, f"TP_TABLE({name}, {number})")
    lines = [0, *(f.span.line for f in event_class.fields)]
    return [_field(event_class.record, f, by_field, _element(event_class, f), f.span.line if f.span.line != before + 1 else 0)
            for before, f in zip(lines, event_class.fields)]


def _element(event_class: EventClass, field: Field) -> str:
    """What C calls the type of a field, or of its elements."""
    if not field.dynamic or not field.kind.counted:
        return field.c_type
    # Numbers, as those of tables.
    number = next(n for n, one in enumerate(event_class.fields, 1) if one is field)
    return f"tp_element_{_id(event_class.name, event_class.custom)}__{number}"


def _print(name: str, print_: Print, event_class: EventClass, evals: Sequence[Eval]) -> Mapping[str, object]:
    """A TP_printk, and the description of the record that goes with it."""
    texts = " ".join([print_.text, *(f.length or "" for f in event_class.fields)])
    named = [e.text for e in evals if re.search(rf"(?<!\w){re.escape(e.text)}(?!\w)", texts)]
    constants = [{"line": 0, "text": text, "macro": False} for text in named]
    # What may be a macro is one, or else a constant.
    constants += [{"line": c.line, "text": c.text, "macro": not c.value and "::" not in c.text} for c in print_.constants if c.text not in named]
    fields = _fields(event_class, name, print_)
    return {
        "id": name,
        "tables": [_table(number, symbols) for number, symbols in enumerate(print_.symbols, 1)],
        "fields": fields,
        "printk": "".join(f"TP_TABLE_OF({name}, {piece + 1})" if isinstance(piece, int) else piece for piece in print_.pieces),
        "print": print_,
        "evals": constants,
    }


def _tracepoint(tracepoint: Tracepoint, event_class: Mapping[str, object] | None,
                iterators: dict[str, str], in_doubt: Set[str]) -> TracepointView:
    proto = _proto(tracepoint.params)
    site_proto = ", ".join(p.site_text for p in tracepoint.params)
    types = ", ".join(p.canonical for p in tracepoint.params) or "void"
    # Tracepoints of one prototype are iterated over by one function, which is named after the first.
    shared = not (tracepoint.condition or tracepoint.custom or tracepoint.nop)
    return TracepointView(
        tracepoint, event_class,
        id=_id(tracepoint.name, tracepoint.custom),
        title=_title(tracepoint),
        probe_proto="void *__data" + (f", {proto}" if proto else ""),
        site_proto=site_proto or "void",
        site_probe_proto="void *__data" + (f", {site_proto}" if site_proto else ""),
        probe_args=", ".join(["__data", *tracepoint.args]),
        names=[p.name for p in tracepoint.params],
        types=types,
        spellings=list(dict.fromkeys([types, re.sub(r"[^\w *,()\[\]]", ".", types)])),
        iterator=iterators.setdefault(types, tracepoint.name) if shared else tracepoint.name,
        call=_call(tracepoint),
        sdt=_sdt(tracepoint),
        print_id=tracepoint.name if tracepoint.print else str(event_class["id"]) if event_class else "",
        once=f"TP_DECLARED_{tracepoint.name}" if tracepoint.name in in_doubt and not tracepoint.custom else "")


def _call(tracepoint: Tracepoint) -> str:
    """What a site does while it is on, from TP_CALL_PROBES on. Registers have room for so many arguments."""
    args = _site_args(tracepoint)
    if not args:
        return f"_0({tracepoint.name})"
    real = any(p.canonical in ("float", "double") for p in tracepoint.params)
    many = len(args) > CALL_ARGS or any(p.cxx for p in tracepoint.params)  # tp/call.h copies what is passed, also of a reference
    count = "MANY" if many else f"{'VALUES' if real or len(args) > CALL_WORDS else 'WORDS'}_{len(args)}"
    return f"({', '.join([tracepoint.name, count, *args])})"


def _sdt(tracepoint: Tracepoint) -> str:
    """The arguments of the probe that tools see from outside, in files that are compiled with it. They want a provider."""
    names = (f'"{tracepoint.system or "tp"}"', f'"{tracepoint.name}"')
    unseen = {p.site_name for p in tracepoint.params if p.cxx}
    return ", ".join([*names, *[arg for arg in _site_args(tracepoint) if arg not in unseen][:SDT_ARGS]])


def _site_args(tracepoint: Tracepoint) -> list[str]:
    """TP_ARGS as a site calls them."""
    names = {p.name: p.site_name for p in tracepoint.params}
    return [names.get(arg, arg) for arg in tracepoint.args]


def _proto(params: Sequence[Param]) -> str:
    return ", ".join(p.text for p in params)


def _field(record: str, field: Field, tables: Mapping[str, str], element: str, line: int) -> Mapping[str, object]:
    return {
        "line": line,  # 0 where it is the one behind that of the field before
        "kind": ("REL_" if field.rel else "") + field.kind.name.upper(),
        "type_text": "" if field.of_expression else field.type,
        "extra": element if field.dynamic else tables.get(field.name, "0") if field.kind.name == "field" else "0",
        "relative": field.rel,
        "name": field.name,
        "member": field.member,
        "declaration": f"tp_data_loc_t {field.member};" if field.dynamic else f"{_member(field)};",
        "comment": f"{field.type}[]" if field.dynamic else "",
        "sizer": field.kind.sizer,
        "element": f", sizeof({element}), __extension__ TP_ALIGN_OF({element})" if field.kind.counted else "",
        "code": list(zip(_converters(field), field.code)),
        "code_line": 0 if field.kind.counted else _line_of(field.code),
        "place": "tp_place_rel" if field.rel else "tp_place",
    }


def _converters(field: Field) -> Sequence[str]:
    """What makes its type of each argument. A cast would make an address of a number, and no compiler would say so."""
    return ["tp_as_text" if cast == "const char *" and "source" in field.kind.arguments else f"({cast})" for cast in field.kind.casts]


def _line_of(code: Sequence[Code]) -> int:
    """The line of the file on which all of it is, if that is only names: in them there is nothing to point at. Else 0."""
    lines = {one.line if re.fullmatch(r"\s*\w+\s*", one.text) else 0 for one in code}
    return lines.pop() if len(lines) == 1 else 0


def _member(field: Field) -> str:
    behind = f"[{field.length}]" if field.kind.counted else ""
    c, cpp = (f"{field.c_type} {name}{behind}" for name in (field.name, cpp_name(field.name)))
    return c if c == cpp else f"TP_CPP_OR_C({cpp}, {c})"


def _table(number: int, symbols: Symbols) -> Mapping[str, object]:
    """Its values as C, those of one line together, with its number, or 0 for the line behind the one before; and its texts."""
    cast = "unsigned long long" if symbols.wide else "unsigned long"
    lines: dict[int, list[str]] = {}
    for line, value, _ in symbols.entries:
        is_number = re.fullmatch(r"[0-9]+|0[xX][0-9a-fA-F]+", value)
        lines.setdefault(line, []).append(f"{value if is_number else f'({cast})({value})'},")
    is_flags = bool(symbols.field and symbols.delimiter)
    return {
        "number": number,
        "count": len(symbols.entries),
        "is_flags": int(is_flags),
        "texts": [f'{text} "\\0"' for text in ([symbols.delimiter] if is_flags else []) + [name for _, _, name in symbols.entries]],
        "lines": [(0 if line - 1 in lines else line, " ".join(values)) for line, values in lines.items()],
    }


def _assign(code: Code) -> Code:
    """The body as statements: the last ';' may be missing, as it may in the kernel."""
    behind = "\n;" if code.text.rpartition("\n")[2].startswith("#") else ";"
    return code if code.text[-1:] in ("", ";") else Code(code.line, code.text + behind)

# SPDX-License-Identifier: MIT
"""The command line: gen, check, dump and explain."""

from __future__ import annotations

import argparse
import gc
import json
import os
import signal
import time
import traceback
from collections.abc import Iterable, Mapping, Sequence

from tpgen import INTERFACE_VERSION, VERSION
from tpgen.backends import BACKENDS
from tpgen.check import check
from tpgen.cpp import Options, preprocess
from tpgen.diag import Diagnostics, Unexplained, explain
from tpgen.emit import GENERATED, RULE, Outputs, Unnamable, depfile, make_directory
from tpgen.lower import Lowered, lower
from tpgen.model import Answers, Eval, Field, Param, Tracepoint, Unit
from tpgen.parser import MACROS, parse
from tpgen.render import render
from tpgen.source import Source, SourceError, Span
from tpgen.target import ask
from tpgen.text import Text

DESCRIPTION = """Compiles event definitions in the Linux kernel's TRACE_EVENT language (.tp files) to C headers.

Diagnostics go to stderr as FILE:LINE:COLUMN: error: MESSAGE [CODE]. Exit status: 0, or 1 after an error,
or 2 for a wrong command line. The C preprocessor is $CC, or cc."""


_PREPROCESSOR = (
    ("-I", "DIR", "look for headers there"),
    ("-isystem", "DIR", "the same, after all -I"),
    ("-D", "NAME[=VALUE]", "define a macro"),
    ("-U", "NAME", "undefine a macro"),
    ("-include", "FILE", "read FILE first"),
    ("-imacros", "FILE", "the same, for its macros only"),
)


class _Passed(argparse.Action):
    """An option for the C preprocessor: options of several kinds keep their order."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: object,
                 option_string: str | None = None) -> None:
        assert option_string
        namespace.cpp = [*(namespace.cpp or []), option_string, str(values)]


def _parsers() -> tuple[argparse.ArgumentParser, list[argparse.ArgumentParser]]:
    common = argparse.ArgumentParser(add_help=False)
    for option, metavar, what in _PREPROCESSOR:
        common.add_argument(option, dest="cpp", action=_Passed, metavar=metavar, help=what)
    common.add_argument("--expand-includes", action="store_true",
                        help="expand the macros of included headers, too, where they are found")
    common.add_argument("-W", dest="remarks", action="store_true", help="make remarks on what could be better")
    common.add_argument("files", nargs="+", metavar="FILE.tp", help="what is compiled")
    parser = argparse.ArgumentParser(prog="tpgen", description=DESCRIPTION,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", action="version",
                        version=f"tpgen {VERSION}, for interface {INTERFACE_VERSION} of its runtime")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    gen = subparsers.add_parser("gen", parents=[common], help="write DIR/NAME.h for each NAME.tp")
    gen.add_argument("-o", dest="output", metavar="DIR|FILE.h", required=True,
                     help="where to: a directory, which is made if need be, or the file that one FILE.tp becomes")
    gen.add_argument("--backend", choices=sorted(BACKENDS), default="userspace", help="what to write")
    gen.add_argument("--depfile", metavar="FILE", help="write a make rule of what the outputs depend on")
    gen.add_argument("--stamp", metavar="FILE", help="date FILE, last: the rule's target in place of outputs, which are only "
                     "written where they change")
    checked = subparsers.add_parser("check", parents=[common], help="only say what is wrong")
    dump = subparsers.add_parser("dump", parents=[common], help="print the model as JSON")
    explained = subparsers.add_parser("explain", help="say what a message's code means, with an example and the remedy")
    explained.add_argument("codes", nargs="*", metavar="CODE", help="a code such as TP052; without one, all are listed")
    return parser, [gen, checked, dump, explained]


def commands() -> list[argparse.ArgumentParser]:
    """Those of each command, for the man page."""
    return _parsers()[1]


def main(argv: Sequence[str]) -> int:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.disable()  # there is next to no garbage in cycles, and looking for it takes an eighth of the time
    parser, _ = _parsers()
    options = parser.parse_args(argv)
    if options.command == "explain":
        try:
            print(explain(options.codes), end="")
        except Unexplained as why:
            parser.error(str(why))
        return 0
    if options.command == "gen" and _is_file(options) and (len(dict.fromkeys(options.files)) > 1 or options.backend == "ftrace"):
        parser.error(f"-o {options.output} names one output, but there are several: give a directory")
    diag = Diagnostics(options.remarks)
    try:
        return _run(options, diag)
    except MemoryError:
        diag.error(Span("tpgen", 0), "TP002", "not enough memory; look at the limits that ulimit -a prints")
        diag.print()
        return 1
    except Exception as error:  # a defect of tpgen's own, whatever the input
        at = traceback.extract_tb(error.__traceback__)[-1]
        diag.error(Span("tpgen", 0), "TP099", f"internal error at {os.path.basename(at.filename)}:{at.lineno}: "
                   f"{type(error).__name__}: {error}; please report it, with the file")
        diag.print()
        return 1


def _run(options: argparse.Namespace, diag: Diagnostics) -> int:
    began = time.time_ns()
    cpp = Options(tuple(options.cpp or ()), options.expand_includes, MACROS)
    lowered = compile_files(options.files, cpp, diag)
    if options.command == "dump":
        _dump(lowered, diag)  # an error in one event hides no other
    elif options.command == "gen" and not diag.errors:
        _generate(lowered, options, cpp, began, diag)
    diag.print()
    return 1 if diag.errors else 0


def compile_files(paths: Sequence[str], cpp: Options, diag: Diagnostics) -> list[Lowered]:
    """The stages up to the model and its rules, over all files."""
    units: list[Lowered] = []
    for path in dict.fromkeys(paths):
        try:
            source = Source.read(path)
        except SourceError as error:
            diag.error(Span(path, 0), "TP001", f"can't read it: {error}")
            continue
        diag.add_source(source)
        expanded = preprocess(source, cpp, diag)
        if expanded is None:
            continue
        try:
            text = Text(source, expanded)
        except SourceError as error:
            diag.error(Span(path, 0), "TP001", f"can't read it: {error}")
            continue
        units.append(lower(parse(text, diag), text, diag))
    check(units, diag)
    return units


def _is_file(options: argparse.Namespace) -> bool:
    """Whether -o names a file."""
    return options.output.endswith(".h") and not os.path.isdir(options.output)


def _generate(units: Sequence[Lowered], options: argparse.Namespace, cpp: Options, began: int, diag: Diagnostics) -> None:
    sources = {lowered.unit.path: lowered.text.source for lowered in units}

    def asks(unit: Unit, fields: Sequence[Field], evals: Sequence[Eval]) -> Answers | None:
        if unit.only_cxx:
            diag.error(Span(unit.path, unit.only_cxx.line), "TP093", f"--backend {options.backend} compiles the file as C, and "
                       f"'{unit.only_cxx.text}' is no C type; the program has its formats when it runs: tp_event_format()")
            return None
        return ask(sources[unit.path], cpp, fields, evals, diag)

    made_of: dict[str, str] = {}
    texts: dict[str, str] = {}
    for output in BACKENDS[options.backend]([lowered.unit for lowered in units], asks):
        path = options.output if _is_file(options) else os.path.join(options.output, output.path)
        if path in texts:
            diag.error(Span(output.unit.path, 0), "TP092", f"its output, {path}, is also that of {made_of[path]}; "
                       "rename one of them")
            return
        made_of[path] = output.unit.path
        texts[path] = render(output.template, {**output.view, "file": os.path.basename(path)}, path)
    if not diag.errors:
        _write(texts, sources, options, began, diag)


def _write(texts: Mapping[str, str], sources: Iterable[str], options: argparse.Namespace, began: int,
           diag: Diagnostics) -> None:
    """All outputs, or none where something stands in the way of one."""
    try:
        rule = depfile([options.stamp] if options.stamp else texts, sources) if options.depfile else ""
    except Unnamable as why:
        diag.error(Span(options.depfile, 0), "TP091", f"can't write it: {why}")
        return
    outputs = Outputs(sources, diag)
    wanted = [*((path, GENERATED) for path in texts), (options.depfile, RULE), (options.stamp, None)]
    if not all([outputs.may_write(path, ours) for path, ours in wanted if path]):
        return
    for path, text in texts.items():
        if not make_directory(os.path.dirname(path), diag) or not outputs.write(path, text, GENERATED):
            return
    if options.depfile and not outputs.write(options.depfile, rule, RULE):
        return
    if options.stamp:
        outputs.stamp(options.stamp, began)


def _dump(units: Sequence[Lowered], diag: Diagnostics) -> None:
    points = [(lowered.unit.path, t) for lowered in units for t in lowered.unit.tracepoints]
    model = {"events": [_event(path, t) for path, t in points if t.event_class],
             "tracepoints": [{"system": t.system, "name": t.name, "nop": t.nop, "proto": _proto(t.params), "file": path,
                              "line": t.span.line} for path, t in points if not t.event_class]}
    # In ASCII, since names need not be UTF-8. Not through sys.stdout, which would try again at exit what has failed.
    text = json.dumps(model, indent=2, ensure_ascii=True) + "\n"
    try:
        with open(1, "wb", buffering=0, closefd=False) as stdout:
            view = memoryview(text.encode("ascii"))
            while view:
                view = view[stdout.write(view) or 0:]
    except OSError as error:
        diag.error(Span("<stdout>", 0), "TP091", f"can't write it: {error.strerror}")


def _event(path: str, event: Tracepoint) -> dict[str, object]:
    event_class = event.event_class
    assert event_class
    return {"system": event.system, "name": event.name, "class": event_class.name, "custom": event.custom,
            "loglevel": f"TRACE_{event.loglevel}", "proto": _proto(event.params),
            "fields": [{"kind": ("rel_" if f.rel else "") + f.macro, "type": f.type, "name": f.name, "length": f.length,
                        "decl": f.decl} for f in event_class.fields],
            "print_fmt": (event.print or event_class.print).text, "file": path, "line": event.span.line}


def _proto(params: Sequence[Param]) -> list[dict[str, str]]:
    return [{"type": p.type, "name": p.name} for p in params]

# SPDX-License-Identifier: MIT
"""The command line: gen, check and dump."""

from __future__ import annotations

import argparse
import gc
import json
import os
import signal
import time
import traceback
from collections.abc import Sequence

from tpgen.backends import BACKENDS
from tpgen.check import check
from tpgen.cpp import Options, preprocess
from tpgen.diag import Diagnostics
from tpgen.emit import depfile, emit, make_directory, stamp
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
    ("-isystem", "DIR", "the same, behind all -I"),
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


def _options() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    for option, metavar, what in _PREPROCESSOR:
        common.add_argument(option, dest="cpp", action=_Passed, metavar=metavar, help=what)
    common.add_argument("--expand-includes", action="store_true",
                        help="expand the macros of included headers, too, where they are found")
    common.add_argument("-W", dest="remarks", action="store_true", help="make remarks on what could be better")
    common.add_argument("files", nargs="+", metavar="FILE.tp")
    parser = argparse.ArgumentParser(prog="tpgen", description=DESCRIPTION,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    gen = commands.add_parser("gen", parents=[common], help="write DIR/NAME.h for each NAME.tp")
    gen.add_argument("-o", dest="directory", metavar="DIR", required=True, help="where to; it is made if need be")
    gen.add_argument("--backend", choices=sorted(BACKENDS), default="userspace", help="what to write")
    gen.add_argument("--depfile", metavar="FILE", help="write a make rule of what the outputs depend on")
    gen.add_argument("--stamp", metavar="FILE", help="date FILE, last: the rule's target in place of outputs, which are only "
                     "written where they change")
    commands.add_parser("check", parents=[common], help="only say what is wrong")
    commands.add_parser("dump", parents=[common], help="print the model as JSON")
    return parser


def main(argv: Sequence[str]) -> int:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.disable()  # there is next to no garbage in cycles, and looking for it takes an eighth of the time
    options = _options().parse_args(argv)
    diag = Diagnostics(options.remarks)
    try:
        return _run(options, diag)
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
    if not diag.errors:
        if options.command == "gen":
            _generate(lowered, options, cpp, diag)
            if options.stamp and not diag.errors:
                stamp(options.stamp, began, diag)
        elif options.command == "dump":
            _dump(lowered, diag)
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
        if expanded is not None:
            text = Text(source, expanded)
            units.append(lower(parse(text, diag), text, diag))
    check(units, diag)
    return units


def _generate(units: Sequence[Lowered], options: argparse.Namespace, cpp: Options, diag: Diagnostics) -> None:
    sources = {lowered.unit.path: lowered.text.source for lowered in units}

    def asks(unit: Unit, fields: Sequence[Field], evals: Sequence[Eval]) -> Answers | None:
        return ask(sources[unit.path], cpp, fields, evals, diag)

    outputs: dict[str, str] = {}
    for output in BACKENDS[options.backend]([lowered.unit for lowered in units], asks):
        path = os.path.join(options.directory, output.path)
        if path in outputs:
            diag.error(Span(output.unit.path, 0), "TP092", f"its output, {path}, is also that of {outputs[path]}; "
                       "rename one of them")
            return
        outputs[path] = output.unit.path
        if not make_directory(os.path.dirname(path), diag) or \
                not emit(path, render(output.template, output.view, path), diag):
            return
    if options.depfile and not diag.errors:
        emit(options.depfile, depfile([options.stamp] if options.stamp else outputs, sources), diag)


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

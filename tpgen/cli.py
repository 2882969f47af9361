# SPDX-License-Identifier: MIT
"""The command line: gen, check, dump, fmt, explain and lsp."""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import signal
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NoReturn

from tpgen import INTERFACE_VERSION, VERSION
from tpgen.backends import BACKENDS
from tpgen.cpp import Options
from tpgen.diag import Diagnostics, Unexplained, explain
from tpgen.emit import GENERATED, RULE, Outputs, Unnamable, depfile, make_directory, print_out
from tpgen.format.command import format_files
from tpgen.frontend import compile_files, reported
from tpgen.lower import Lowered
from tpgen.model import Answers, Eval, Field, Param, Tracepoint, Unit
from tpgen.parser import MACROS
from tpgen.render import render
from tpgen.source import Span
from tpgen.target import ask

DESCRIPTION = """Compiles event definitions in the Linux kernel's TRACE_EVENT language (.tp files) to C headers.

Diagnostics go to stderr as FILE:LINE:COLUMN: error: MESSAGE [CODE]. Exit status: 0, or 1 after an error,
or 2 for a wrong command line. The C preprocessor is $CC, or cc. @FILE stands for the arguments that FILE has, each in a line."""


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


def _of_compiler(arguments: Iterable[str]) -> Iterator[str]:
    """The preprocessor's options among those of a compiler, each in two words."""
    pattern = re.compile(rf"({'|'.join(option for option, _, _ in _PREPROCESSOR)})(.*)", re.S)
    rest = iter(arguments)
    for match in filter(None, map(pattern.fullmatch, rest)):
        value = match[2] or next(rest, "-")
        if not value.startswith("-"):  # as in -include-pch, which is another option
            yield from (match[1], value)


class _Flags(argparse.ArgumentParser):
    """Of how a file is compiled, without the file."""

    def __init__(self) -> None:
        super().__init__(add_help=False)
        for option, metavar, what in _PREPROCESSOR:
            self.add_argument(option, dest="cpp", action=_Passed, metavar=metavar, help=what)
        self.add_argument("--cc", metavar="COMMAND", help="the C compiler with its options, in place of $CC")
        self.add_argument("--expand-includes", action="store_true",
                          help="expand the macros of included headers, too, where they are found")
        self.add_argument("--cflags", nargs=argparse.REMAINDER, default=[], metavar="...",
                          help="last: what follows are a compiler's options; those above are taken from them, the others ignored")
        self.add_argument("-W", dest="remarks", action="store_true", help="make remarks on what could be better")

    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def _parsers() -> tuple[argparse.ArgumentParser, list[argparse.ArgumentParser]]:
    flags = _Flags()
    common = argparse.ArgumentParser(add_help=False, parents=[flags])
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
    fmt = subparsers.add_parser("fmt", parents=[flags], help="lay out events as the kernel does, in place")
    fmt.add_argument("--check", action="store_true", help="change no file: list those that would change, and exit with 1 if there are any")
    fmt.add_argument("--diff", action="store_true", help="change no file: print what would change")
    fmt.add_argument("files", nargs="+", metavar="FILE.tp", help="what is formatted; - alone for standard input, to standard output")
    explained = subparsers.add_parser("explain", help="say what a message's code means, with an example and the remedy")
    explained.add_argument("codes", nargs="*", metavar="CODE", help="a code such as TP052; without one, all are listed")
    lsp = subparsers.add_parser("lsp", parents=[flags], help="serve an editor by the Language Server Protocol, on stdin and stdout")
    return parser, [gen, checked, dump, fmt, explained, lsp]


def commands() -> list[argparse.ArgumentParser]:
    """Those of each command, for the man page."""
    return _parsers()[1]


def main(argv: Sequence[str]) -> int:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.disable()  # there is next to no garbage in cycles, and looking for it takes an eighth of the time
    parser, _ = _parsers()
    try:
        options = parser.parse_args(_whole(argv))
    except OSError as error:
        parser.error(f"can't read the arguments in {error.filename}: {error.strerror}")
    if options.command == "explain":
        try:
            print(explain(options.codes), end="")
        except Unexplained as why:
            parser.error(str(why))
        return 0
    if options.command == "lsp":
        return _serve(options)
    if options.command == "gen" and _is_file(options) and (len(dict.fromkeys(options.files)) > 1 or options.backend == "ftrace"):
        parser.error(f"-o {options.output} names one output, but there are several: give a directory")
    if options.command == "fmt" and "-" in options.files and options.files != ["-"]:
        parser.error("- is standard input, and stands alone")
    diag = Diagnostics(options.remarks)
    with reported(diag):
        return _run(options, diag)
    diag.print()
    return 1


def _cpp(options: argparse.Namespace) -> Options:
    if options.cc:
        os.environ["CC"] = options.cc
    return Options((*(options.cpp or ()), *_of_compiler(options.cflags)), options.expand_includes, MACROS)


def _serve(options: argparse.Namespace) -> int:
    # What no other command needs would take a good part of their time.
    from tpgen.lsp.analysis import Settings  # pylint: disable=import-outside-toplevel
    from tpgen.lsp.server import Server  # pylint: disable=import-outside-toplevel

    def settings(flags: Sequence[str]) -> Settings:
        """Of the command line, and of flags behind it."""
        both = _Flags().parse_args(flags, argparse.Namespace(**vars(options)))
        return Settings(_cpp(both), both.remarks)

    signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # an editor that is gone is noticed in writing to it
    return Server(settings).run()


def _whole(argv: Sequence[str]) -> list[str]:
    """The command line, with the arguments of each @FILE in its place."""
    arguments: list[str] = []
    for argument in argv:
        if argument.startswith("@"):
            with open(argument[1:], encoding="utf-8", errors="surrogateescape") as file:
                arguments += filter(None, file.read().split("\n"))
        else:
            arguments.append(argument)
    return arguments


def _run(options: argparse.Namespace, diag: Diagnostics) -> int:
    began = time.time_ns()
    cpp = _cpp(options)
    if options.command == "fmt":
        changes = format_files(options.files, cpp, options.check, options.diff, diag)
        diag.print()
        return 1 if diag.errors or changes and options.check else 0
    lowered = compile_files(options.files, cpp, diag)
    if options.command == "dump":
        _dump(lowered, diag)  # an error in one event hides no other
    elif options.command == "gen" and not diag.errors:
        _generate(lowered, options, cpp, began, diag)
    diag.print()
    return 1 if diag.errors else 0


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
        _write(texts, [path for lowered in units for path in lowered.text.files], options, began, diag)


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
    # In ASCII, since names need not be UTF-8.
    print_out((json.dumps(model, indent=2, ensure_ascii=True) + "\n").encode("ascii"), diag)


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

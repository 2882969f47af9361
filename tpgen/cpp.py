# SPDX-License-Identifier: MIT
"""Macros that the .tp file defines, expanded by the real C preprocessor.

The declaration macros (TRACE_EVENT, TP_PROTO, ...) are left undefined, so
that they come out as they went in; C #includes are taken out, so that what
the program's headers define stays as written, unless the user wants the
includes expanded as well, as the kernel does. Line markers tell where each
line of the result comes from, and -dD keeps #define and #undef, by which the
parser follows TRACE_SYSTEM.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tpgen.compiler import CompilerError, compile_text
from tpgen.diag import Diagnostics
from tpgen.source import Source, Span

# Comments and literals are matched so that nothing in them is taken for a directive.
_INCLUDE = re.compile(
    r"""/\*.*?(?:\*/|\Z) | //(?:\\\n|[^\n])*
      | "(?:\\.|[^"\\\n])*"? | '(?:\\.|[^'\\\n])*'?
      | (?P<line>^[ \t]*\#[ \t]*(?:line\b|[0-9])[^\n]*)
      | (?P<include>^[ \t]*\#(?:[ \t]|/\*(?:(?!\*/).)*\*/)*(?:include|include_next|import)\b(?:\\\n|[^\n])*)""",
    re.S | re.M | re.X)
_NAMED = re.compile(r'include\s*(?:"(?P<quoted>[^"\n]+)"|<(?P<angled>[^>\n]+)>)')

# These define the declaration macros, or read the file again; --expand-includes leaves them out.
_OURS = re.compile(r"(?:^|/)(?:linux/tracepoint\.h|trace/define_(?:custom_)?trace\.h|tp/\w+\.h)$")

# Whenever linux/tracepoint.h is read, it makes new definitions where there are none of these two.
_KEPT = ("TRACE_EVENT", "DECLARE_TRACE")

# What the kernel's headers put around parts of declarations and arguments, and what means nothing.
_WRAPPERS = ("-DPARAMS(args...)=args", "-D__perf_count(count)=count", "-D__perf_task(task)=task")

_MESSAGE = re.compile(r'^(?P<path>.*?):(?P<line>\d+):(?:(?P<col>\d+):)? (?:fatal )?error: (?P<text>.*)$')


@dataclass(frozen=True, slots=True)
class Options:
    """How the preprocessor sees a file. arguments are its own, as on its command line: ["-I", "dir", "-D", "NAME"]."""

    arguments: tuple[str, ...] = ()
    expand_includes: bool = False
    undefined: tuple[str, ...] = ()  # macros that stay as written, whatever an included header makes of them

    def directories(self) -> Iterator[str]:
        """Where included files are looked for."""
        for option, value in zip(self.arguments, self.arguments[1:]):
            if option in ("-I", "-isystem"):
                yield value

    def defined(self) -> Iterator[str]:
        """The macros of -D."""
        for option, value in zip(self.arguments, self.arguments[1:]):
            if option == "-D":
                yield re.split(r"\W", value, maxsplit=1)[0]


def preprocess(source: Source, options: Options, diag: Diagnostics) -> str | None:
    """The file's text with its own macros expanded and with line markers; None after an error."""
    # linux, unix and i386 are macros to GNU compilers, and good names in events. _Pragma would become a line of its own, and is
    # for who compiles the event's code.
    arguments = ["-E", "-dD", "-w", "-x", "c", "-Ulinux", "-Uunix", "-Ui386", "-U_Pragma", *_WRAPPERS, *options.arguments]
    try:
        expanded, said = compile_text(arguments, expandable(source, options))
    except CompilerError as error:
        diag.error(Span(source.path, 0), "TP002", str(error))
        return None
    if expanded is None:
        _report(source, said, diag)
    return expanded


def expandable(source: Source, options: Options) -> str:
    """The file's text for the preprocessor, with only those includes that are to be expanded."""
    head: list[str] = []
    directories = list(options.directories())
    given = set(options.defined())
    # But for those that the file defines itself, which stay as it says.
    own = given.union(re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", source.text, re.M))
    again = list(_as_written(options, own))

    def include(match: re.Match[str]) -> str:
        if not match["include"]:
            return "" if match["line"] else match[0]  # places are those in this file
        named = _NAMED.search(match[0])
        found = _find(named, source.path, directories) if named and options.expand_includes else None
        if found and not _OURS.search(found):
            # It may define declaration macros, or include what does: linux/trace_events.h defines TRACE_CUSTOM_EVENT.
            below = source.text.count("\n", 0, match.end()) + 1
            return "\n".join([f'#include "{_quoted(found)}"', '# 1 "<tpgen>"', *again, f'# {below} "{_quoted(source.path)}"', ""])
        return "\n" * match[0].count("\n")

    text = _INCLUDE.sub(include, source.text)
    if options.expand_includes:
        head.extend(_theirs(options))
        if head:  # among what it brings may be this very file, whose guard has closed then
            head.append("#define TRACE_HEADER_MULTI_READ")
        head += _as_written(options, given)
    return "\n".join([*head, f'# 1 "{_quoted(source.path)}"', text, ""])


def _as_written(options: Options, own: set[str]) -> Iterator[str]:
    """Takes the declaration macros back, but for those that are somebody's own."""
    yield from (f"#undef {name}" for name in options.undefined if name not in own)
    yield from (f"#define {name} {name}" for name in _KEPT if name not in own)


def compilable(source: Source, options: Options) -> str:
    """The file's text for the C compiler: its C declarations and its includes, those that are there, and no events."""
    def include(match: re.Match[str]) -> str:
        named = _NAMED.search(match["include"] or "")
        if not named:
            return "" if match["include"] else match[0]
        if _OURS.search(named["quoted"] or named["angled"]):
            return ""
        what = named[0][len("include"):].strip()
        below = source.text.count("\n", 0, match.end()) + 2
        return f'#if __has_include({what})\n#include {what}\n#endif\n# {below} "{_quoted(source.path)}"'

    # What functions that TP_printk calls have as a parameter.
    return "\n".join(["struct trace_seq;", *_theirs(options), *(f"#undef {name}\n#define {name}(...)" for name in options.undefined),
                      f'# 1 "{_quoted(source.path)}"', _INCLUDE.sub(include, source.text), ""])


def _theirs(options: Options) -> Iterator[str]:
    """The kernel's own definitions of the declaration macros: read, for what else they bring, and then taken back."""
    for directory in options.directories():
        path = os.path.join(directory, "linux/tracepoint.h")
        if os.path.exists(path):
            yield f'#include "{_quoted(path)}"'
            return


def _find(named: re.Match[str], path: str, directories: Sequence[str]) -> str | None:
    """The path of an included file, where one of directories has it."""
    name = named["quoted"] or named["angled"]
    beside = [os.path.dirname(path) or "."] if named["quoted"] else []
    return next((path for d in [*beside, *directories] if os.path.isfile(path := os.path.join(d, name))), None)


def _quoted(path: str) -> str:
    return path.replace("\\", "\\\\").replace('"', '\\"')


def _report(source: Source, messages: str, diag: Diagnostics) -> None:
    said: list[re.Match[str]] = []
    for match in filter(None, map(_MESSAGE.match, messages.splitlines())):
        if match["path"] == source.path:
            # IS_ENABLED() and its like, in the kernel's headers.
            hint = "; -D or -include what defines the macro" if "missing binary operator before token \"(\"" in match["text"] \
                or "function-like macro" in match["text"] else ""
            diag.error(Span(source.path, int(match["line"]), int(match["col"] or 1)), "TP002",
                       f"the C preprocessor says: {match['text']}{hint}")
        said.append(match)
    if any(match["path"] == source.path for match in said):
        return
    first = [match[0] for match in said] or messages.strip().splitlines()
    # What is wrong in an included file stands at the #include.
    included = re.search(rf"^(?:In file included|[ \t]+) *from {re.escape(source.path)}:(\d+)", messages, re.M) if said else None
    diag.error(Span(source.path, int(included[1]) if included else 0), "TP002",
               f"the C preprocessor has failed{': ' + first[0] if first else ' without a message'}")

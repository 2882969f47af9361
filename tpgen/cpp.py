# SPDX-License-Identifier: MIT
"""Macros that the .tp file defines, expanded by the real C preprocessor.

The declaration macros (TRACE_EVENT, TP_PROTO, ...) are left undefined, so
that they come out as they went in; C #includes are taken out, so that what
the program's headers define stays as written. Line markers tell where each
line of the result comes from, and -dD keeps #define and #undef, by which the
parser follows TRACE_SYSTEM.
"""

from __future__ import annotations

import os
import re
import resource
import shlex
import subprocess
import tempfile

from tpgen.diag import Diagnostics
from tpgen.source import Source, Span

# Bounds for a hostile file: macros can double their text at each step.
MAX_OUTPUT = 32 << 20
MAX_SECONDS = 60

# Comments and literals are matched so that nothing in them is taken for a directive.
_INCLUDE = re.compile(
    r"""/\*.*?(?:\*/|\Z) | //(?:\\\n|[^\n])*
      | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
      | (?P<include>^[ \t]*\#(?:[ \t]|/\*.*?\*/)*(?:include|include_next|import)\b(?:\\\n|[^\n])*)""",
    re.S | re.M | re.X)

_MESSAGE = re.compile(r'^(?P<path>.*?):(?P<line>\d+):(?:(?P<col>\d+):)? (?:fatal )?error: (?P<text>.*)$')


def compiler() -> list[str]:
    """The C compiler's command: $CC, else cc."""
    command = os.environ.get("CC") or "cc"
    try:
        return shlex.split(command)
    except ValueError:  # a quote that is not closed
        return [command]


def _bounds() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_OUTPUT, MAX_OUTPUT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def preprocess(source: Source, options: list[str], diag: Diagnostics) -> str | None:
    """The file's text with its own macros expanded and with line markers; None after an error.

    options are the preprocessor's own, such as -DNAME and -IDIR.
    """
    text = _INCLUDE.sub(lambda m: "\n" * m[0].count("\n") if m["include"] else m[0], source.text)
    quoted = source.path.replace("\\", "\\\\").replace('"', '\\"')
    # linux, unix and i386 are macros to GNU compilers, and good names in events.
    command = [*compiler(), "-E", "-dD", "-w", "-x", "c", "-Ulinux", "-Uunix", "-Ui386", *options, "-"]
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        stdin.write(f'# 1 "{quoted}"\n{text}\n'.encode("utf-8", "surrogateescape"))
        stdin.seek(0)
        try:
            done = subprocess.run(command, stdin=stdin, stdout=stdout, stderr=stderr, timeout=MAX_SECONDS,
                                  env={**os.environ, "LC_ALL": "C"}, preexec_fn=_bounds, check=False)
        except OSError as error:
            diag.error(Span(source.path, 0), "TP002", f"can't run the C preprocessor '{command[0]}': {error.strerror}; "
                       "install a C compiler, or set CC to its name")
            return None
        except subprocess.TimeoutExpired:
            diag.error(Span(source.path, 0), "TP002", f"the C preprocessor has not finished in {MAX_SECONDS} seconds; "
                       "look for macros that multiply their text")
            return None
        if done.returncode == 0:
            stdout.seek(0)
            return stdout.read().decode("utf-8", "surrogateescape")
        if os.fstat(stdout.fileno()).st_size >= MAX_OUTPUT:
            diag.error(Span(source.path, 0), "TP002", f"its macros expand to more than {MAX_OUTPUT >> 20} MiB")
            return None
        stderr.seek(0)
        _report(source, stderr.read().decode("utf-8", "replace"), diag)
        return None


def _report(source: Source, messages: str, diag: Diagnostics) -> None:
    said = False
    for line in messages.splitlines():
        match = _MESSAGE.match(line)
        if match and match["path"] == source.path:
            diag.error(Span(source.path, int(match["line"]), int(match["col"] or 1)), "TP002",
                       f"the C preprocessor says: {match['text']}")
            said = True
    if not said:
        first = messages.strip().splitlines()
        diag.error(Span(source.path, 0), "TP002",
                   f"the C preprocessor has failed{': ' + first[0] if first else ' without a message'}")

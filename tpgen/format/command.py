# SPDX-License-Identifier: MIT
"""tpgen fmt: files are read, formatted and written again, unless there is an error in them."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from tpgen.cpp import Options, preprocess
from tpgen.diag import Diagnostics
from tpgen.emit import print_out, rewrite
from tpgen.format import formatted
from tpgen.parser import parse
from tpgen.source import Source, SourceError, Span, decoded, encoded, read
from tpgen.text import Text


def format_files(paths: Sequence[str], cpp: Options, check: bool, diff: bool, diag: Diagnostics) -> bool:
    """Formats files in place; "-" from standard input to standard output. To check, and for a diff, only says what would change.
    Whether a file changes."""
    out: list[str] = []
    changes = False
    for path in dict.fromkeys(paths):
        name = "<stdin>" if path == "-" else path
        try:
            data = read(0 if path == "-" else path)
            new = encoded(formatted(decoded(data)))
            good = _parses(Source.of(name, data), cpp, diag)
        except SourceError as error:
            diag.error(Span(name, 0), "TP001", f"can't read it: {error}")
            continue
        if not good:
            continue
        changes = changes or new != data
        if diff:
            out.append(_diff(name, decoded(data), decoded(new)))
        elif check:
            out.append(name + "\n" if new != data else "")
        elif path == "-":
            out.append(decoded(new))
        elif new != data:
            rewrite(path, new, diag)
    print_out(encoded("".join(out)), diag)
    return changes


def _parses(source: Source, cpp: Options, diag: Diagnostics) -> bool:
    errors = diag.errors
    diag.add_source(source)
    expanded = preprocess(source, cpp, diag)
    if expanded is not None:
        parse(Text(source, expanded), diag)
    return diag.errors == errors


def _diff(name: str, old: str, new: str) -> str:
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
                   for line in difflib.unified_diff(_lines(old), _lines(new), name, name))


def _lines(text: str) -> list[str]:
    lines = [line + "\n" for line in text.split("\n")]
    return [*lines[:-1], *([] if text.endswith("\n") or not text else [lines[-1][:-1]])]

# SPDX-License-Identifier: MIT
"""The stages up to the model and its rules, in order."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from tpgen.check import check
from tpgen.cpp import Options, preprocess
from tpgen.diag import Diagnostics
from tpgen.lower import Lowered, lower
from tpgen.parser import parse
from tpgen.source import Source, SourceError, Span
from tpgen.text import Text


def compile_files(paths: Sequence[str], cpp: Options, diag: Diagnostics) -> list[Lowered]:
    """All files, as they are on the disk."""
    return compile_sources(_read(paths, diag), cpp, diag)


def compile_sources(sources: Iterable[Source], cpp: Options, diag: Diagnostics) -> list[Lowered]:
    """All files, whatever is on the disk."""
    units: list[Lowered] = []
    for source in sources:
        diag.add_source(source)
        expanded = preprocess(source, cpp, diag)
        if expanded is None:
            continue
        try:
            text = Text(source, expanded)
        except SourceError as error:
            diag.error(Span(source.path, 0), "TP001", f"can't read it: {error}")
            continue
        units.append(lower(parse(text, diag), text, diag))
    check(units, diag)
    return units


def _read(paths: Sequence[str], diag: Diagnostics) -> Iterator[Source]:
    for path in dict.fromkeys(paths):
        try:
            yield Source.read(path)
        except SourceError as error:
            diag.error(Span(path, 0), "TP001", f"can't read it: {error}")


@contextmanager
def reported(diag: Diagnostics) -> Iterator[None]:
    """What the input does to tpgen itself becomes an error."""
    try:
        yield
    except MemoryError:
        diag.error(Span("tpgen", 0), "TP002", "not enough memory; look at the limits that ulimit -a prints")
    except Exception as error:  # a defect of tpgen's own, whatever the input
        at = traceback.extract_tb(error.__traceback__)[-1]
        diag.error(Span("tpgen", 0), "TP099", f"internal error at {os.path.basename(at.filename)}:{at.lineno}: "
                   f"{type(error).__name__}: {error}; please report it, with the file")

# SPDX-License-Identifier: MIT
"""Collects diagnostics and prints them. Nothing else writes to stderr, but argparse of a wrong command line.

    net.tp:8:3: error: field 'length' is never assigned; add __entry->length = ...; to TP_fast_assign [TP060]
    		__field(int, length)
    		^~~~~~~~~~~~~~~~~~~~
    net.tp:13:59: note: it is printed here
    	TP_printk("host=%s length=%d", __get_str(host), __entry->length)
    	                                                         ^~~~~~
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from tpgen.source import Source, Span

# After so many errors a run says no more: the rest follows from the first ones, as a rule.
MAX_ERRORS = 100

# A longer source line (a macro's expansion, a hostile file) is shown in part.
MAX_SHOWN = 160


# Among more names than these a misspelt one is not looked for.
MAX_NEAR = 2000


@dataclass(frozen=True, slots=True)
class Note:
    """A second place that matters."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    severity: str  # "error", "warning", "remark"
    span: Span
    code: str
    message: str
    notes: tuple[Note, ...] = ()


class Diagnostics:
    """All that is to be said in one run."""

    def __init__(self, remarks: bool = False) -> None:
        self.remarks = remarks
        self.found: list[Diagnostic] = []
        self._sources: dict[str, Source] = {}

    def add_source(self, source: Source) -> None:
        """Makes the file's lines known, to be shown."""
        self._sources[source.path] = source

    def error(self, span: Span, code: str, message: str, notes: Iterable[Note] = ()) -> None:
        self.found.append(Diagnostic("error", span, code, message, tuple(notes)))

    def warning(self, span: Span, code: str, message: str, notes: Iterable[Note] = ()) -> None:
        self.found.append(Diagnostic("warning", span, code, message, tuple(notes)))

    def remark(self, span: Span, code: str, message: str, notes: Iterable[Note] = ()) -> None:
        if self.remarks:
            self.found.append(Diagnostic("remark", span, code, message, tuple(notes)))

    @property
    def errors(self) -> int:
        return sum(one.severity == "error" for one in self.found)

    def text(self) -> str:
        """Everything found, by file in order of appearance, then by position; each thing once."""
        files = {path: number for number, path in enumerate(dict.fromkeys(d.span.path for d in self.found))}
        ordered = sorted(dict.fromkeys(self.found), key=lambda d: (files[d.span.path], d.span.line, d.span.col))
        out: list[str] = []
        errors = 0
        for one in ordered:
            errors += one.severity == "error"
            if errors > MAX_ERRORS:
                out.append(f"tpgen: more than {MAX_ERRORS} errors; the rest is not shown\n")
                break
            out.append(self._entry(one.span, one.severity, f"{one.message} [{one.code}]"))
            out.extend(self._entry(note.span, "note", note.message) for note in one.notes)
        return "".join(out)

    def print(self) -> None:
        text = self.text()
        if text:
            sys.stderr.buffer.write(text.encode("utf-8", "surrogateescape"))
            sys.stderr.flush()

    def _entry(self, span: Span, severity: str, message: str) -> str:
        if not span.line:
            return f"{span.path}: {severity}: {message}\n"
        head = f"{span.path}:{span.line}:{span.col}: {severity}: {message}\n"
        source = self._sources.get(span.path)
        line = source.line(span.line) if source else ""
        if not line.strip():
            return head
        start, length = span.col - 1, span.length
        if len(line) > MAX_SHOWN:
            cut = max(0, min(start - MAX_SHOWN // 2, len(line) - MAX_SHOWN))
            line, start = line[cut:cut + MAX_SHOWN], start - cut
        line = "".join(c if c == "\t" or c.isprintable() else "?" for c in line)
        # Tabs are copied, so that the caret stands right whatever their width.
        blank = "".join("\t" if c == "\t" else " " for c in line[:start])
        mark = "^" + "~" * (min(length, len(line) - start) - 1)
        return f"{head}{line}\n{blank}{mark}\n"


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?`, or nothing where no known word is near."""
    near = [one for one in known if abs(len(one) - len(word)) <= len(word)]
    close = difflib.get_close_matches(word, near, 1, 0.6) if len(near) <= MAX_NEAR else []
    return f"; did you mean '{close[0]}'?" if close else ""

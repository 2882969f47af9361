# SPDX-License-Identifier: MIT
"""Collects diagnostics, prints them, and says what they mean. Nothing else writes to stderr, but argparse of a wrong command line.

    net.tp:8:3: error: field 'length' is never assigned; add __entry->length = ...; to TP_fast_assign [TP060]
    		__field(int, length)
    		^~~~~~~~~~~~~~~~~~~~
    net.tp:13:59: note: it is printed here
    	TP_printk("host=%s length=%d", __get_str(host), __entry->length)
    	                                                         ^~~~~~
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate

from tpgen.manual import NoPage, read_page
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

    def shown(self) -> list[Diagnostic]:
        """What was found, by file in order of appearance, then by position; each thing once, up to the last error that is shown."""
        files = {path: number for number, path in enumerate(dict.fromkeys(d.span.path for d in self.found))}
        ordered = sorted(dict.fromkeys(self.found), key=lambda d: (files[d.span.path], d.span.line, d.span.col))
        errors = accumulate(one.severity == "error" for one in ordered)
        return [one for one, number in zip(ordered, errors) if number <= MAX_ERRORS]

    def text(self) -> str:
        """All that is shown, as it is printed."""
        out: list[str] = []
        shown = self.shown()
        for one in shown:
            out.append(self._entry(one.span, one.severity, f"{one.message} [{one.code}]"))
            out.extend(self._entry(note.span, "note", note.message) for note in one.notes)
        if len(shown) < len(set(self.found)):
            out.append(f"tpgen: more than {MAX_ERRORS} errors; the rest is not shown\n")
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


# ---- What the codes mean: the sections of docs/diagnostics.md ----

_SECTION = re.compile(r"^### (TP\d{3}) ([^\n]+)\n(.*?)(?=^##|\Z)", re.S | re.M)


class Unexplained(Exception):
    """The text says why there is nothing to show."""


def _sections() -> Mapping[str, tuple[str, str]]:
    try:
        return {code: (title, body) for code, title, body in _SECTION.findall(read_page("diagnostics.md"))}
    except NoPage as why:
        raise Unexplained(str(why)) from None


def _plain(body: str) -> str:
    """Code is indented instead of fenced, and links are their texts."""
    lines: list[str] = []
    fenced = False
    for line in body.strip().splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced:
            lines.append(f"    {line}" if line else "")
        else:
            lines.append(re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", line))
    return "\n".join(lines)


def explain(codes: list[str]) -> str:
    """The sections of these codes, which may lack the TP and zeros; without codes, a line each of all."""
    sections = _sections()
    if not codes:
        return "".join(f"{code} {title}\n" for code, (title, _) in sections.items())
    texts = []
    for given in codes:
        number = re.fullmatch(r"\[?(?:TP)?0*(\d{1,3})\]?", given, re.I)
        code = f"TP{int(number[1]):03}" if number else given
        if code not in sections:
            raise Unexplained(f"there is no code {given}; \"tpgen explain\" lists them")
        title, body = sections[code]
        texts.append(f"{code} {title}\n\n{_plain(body)}\n")
    return "\n".join(texts)

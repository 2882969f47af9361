# SPDX-License-Identifier: MIT
"""What the C preprocessor says that a trace header declares: a count, and a text, that owe nothing to tpgen.

oracle.h makes each declaration a line of markers; see there.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field

from support import run

HERE = os.path.dirname(os.path.abspath(__file__))
_DIRECTIVE = re.compile(r"^#.*\n", re.M)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include\b.*', re.M)
_MISSING = re.compile(r"fatal error: '?([^':\n]+)'?(?:: No such file| file not found)")
_MARK = re.compile(r"@@(class|event|point|own|enum|sizeof)\b(.*?)@@end", re.S)
_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"', re.S)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]+|[0-7]{1,3}|.)", re.S)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\033"}


@dataclass
class Header:
    """What one file declares. The keys are names."""

    events: dict[str, tuple[str, str]] = field(default_factory=dict)  # (system, class)
    fields: dict[str, list[str]] = field(default_factory=dict)        # of a class: what stands behind "field:"
    prints: dict[str, str] = field(default_factory=dict)              # of a class or event: print fmt
    points: list[str] = field(default_factory=list)                   # bare tracepoints


def unquote(text: str) -> str:
    """What adjacent C string literals amount to."""
    def one(match: re.Match[str]) -> str:
        word = match[1]
        if word[0] == "x":
            return chr(int(word[1:], 16))
        return chr(int(word, 8)) if word[0] in "01234567" else _LETTERS.get(word, word)
    return "".join(_ESCAPE.sub(one, literal) for literal in _LITERAL.findall(text))


def _print_fmt(part: str) -> str:
    """The print format text of TP_printk's markers; a macro that nothing has defined stays as it is."""
    fmt, _, args = part.partition("@:")[2].partition("@,")
    text = ""
    at = 0
    for match in _LITERAL.finditer(fmt):
        text += " ".join(fmt[at:match.start()].split()) + unquote(match[0])
        at = match.end()
    text += " ".join(fmt[at:].split())
    return f'"{text}", {unquote(args)}'


def _fields(part: str) -> list[str]:
    return [" ".join(unquote(item).split()) for item in re.split(r"@(?:field|array)\b", part)[1:]]


def read(header: str, options: list[str], expand: bool) -> Header:
    """Preprocesses the header with oracle.h in front; expand keeps its #includes, those that are there."""
    with open(header, encoding="utf-8", errors="surrogateescape") as file:
        text = file.read()
    if not expand:
        text = _INCLUDE.sub("", text)
    # Expanded, the kernel's linux/tracepoint.h comes first, for what it includes; oracle.h redefines what it defines.
    first = ["-include", "linux/tracepoint.h"] if expand else ["-D_LINUX_TRACEPOINT_H"]
    again = "#define TRACE_HEADER_MULTI_READ\n" if expand else ""
    command = ["gcc", "-E", "-w", "-nostdinc", "-Ulinux", "-Uunix", "-DCREATE_TRACE_POINTS",
               "-I", os.path.join(HERE, "instead"), *options, *first, "-iquote",
               os.path.dirname(header), "-include", os.path.join(HERE, "oracle.h"), "-"]
    while True:
        done = run(command, stdin=None, input=f'{again}# 1 "{header}"\n{text}')
        missing = _MISSING.search(done.stderr)
        shorter = re.sub(rf'^[ \t]*#[ \t]*include[ \t]*["<]{re.escape(missing[1])}[">].*', "", text,
                         flags=re.M) if missing else text
        if shorter == text:
            break
        text = shorter
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
    return parse(done.stdout, header)


def parse(text: str, header: str) -> Header:
    found = Header()
    for kind, rest in _MARK.findall(_DIRECTIVE.sub("", text)):
        names = _LITERAL.findall(rest)
        if kind in ("class", "event", "point", "own") and names[0] != header:
            continue
        if kind == "class":
            head, _, tail = rest.partition("@{")
            struct, _, printk = tail.partition("@}")
            found.fields[names[1]] = _fields(struct)
            found.prints[names[1]] = _print_fmt(printk)
        elif kind == "event":
            system, event_class, name = (unquote(f'"{n}"') for n in names[1:4])
            found.events[name] = (system, event_class)
        elif kind == "own":
            found.prints[names[1]] = _print_fmt(rest)
        elif kind == "point":
            found.points.append(names[1])
    return found

# SPDX-License-Identifier: MIT
"""The one Jinja2 environment, and #line."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import jinja2

# Beside the package in the source tree and where it is installed.
TEMPLATES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "templates")

# Columns of a line of ours. What comes from the definition file is as wide as it is there.
WIDTH = 110

# What stands in a template's output where the lines that follow are not copied from the definition file.
_OURS = "#line <ours>"


@lru_cache(maxsize=256)  # that of the definition file's path stands in each #line
def c_string(text: str) -> str:
    """text as a C string literal."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    # An octal escape ends after three digits, whatever follows it.
    return '"' + re.sub(r"[^\x20-\x7e]", _octal, escaped).replace("??", '?""?') + '"'


def _octal(match: re.Match[str]) -> str:
    return "".join(f"\\{byte:03o}" for byte in match[0].encode("utf-8", "surrogateescape"))


def c_strings(text: str, between: str) -> str:
    """text as adjacent C string literals with this between them, broken behind spaces."""
    lines = [""]
    for word in re.split(r"(?<= )", text):
        if lines[-1] and len(c_string(lines[-1] + word)) > WIDTH - 8 * between.count("\t") - 4:
            lines.append("")
        lines[-1] += word
    return between.join(map(c_string, lines))


def wrapped(parts: Sequence[str]) -> str:
    """The parts of a macro, as many on a line as there is room for."""
    lines = [""]
    for part in parts:
        if lines[-1] and len(lines[-1]) + len(part) > WIDTH - 20:
            lines.append("")
        lines[-1] += f"{part} "
    return "\\\n\t" + " \\\n\t".join(line.rstrip() for line in lines) if len(lines) > 1 else lines[0].rstrip()


def _fold(line: str) -> list[str]:
    """A line of code of ours that is too long, as several: broken behind commas that stand outside of literals."""
    if len(line) + 7 * line.count("\t") <= WIDTH:
        return [line]
    out = []
    indent = line[:len(line) - len(line.lstrip("\t"))] + "\t\t"
    while len(line.expandtabs(8)) > WIDTH:
        places = [m.end() for m in re.finditer(r'"(?:\\.|[^"\\])*"|(?P<comma>, )', line)
                  if m["comma"] and len(line[:m.end()].expandtabs(8)) <= WIDTH]
        if not places or not line[:places[-1]].strip():
            break
        out.append(line[:places[-1]].rstrip())
        line = indent + line[places[-1]:]
    return [*out, line]


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), undefined=jinja2.StrictUndefined,
                                     trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
                                     autoescape=False, auto_reload=False)
    environment.filters["c_string"] = c_string
    environment.filters["c_strings"] = c_strings
    environment.filters["wrapped"] = wrapped
    environment.globals["ours"] = _OURS
    return environment


_env: jinja2.Environment | None = None


def render(template: str, view: Mapping[str, object], path: str) -> str:
    """The template's text, for the file at path.

    #line stands before what is copied from the definition file, and before each event's own code. It never leads back
    to the output: so no number in the output depends on where in it something stands.
    """
    global _env
    _env = _env or _environment()
    lines: list[str] = []
    ours = True
    code_file = path.endswith(".h")
    for line in _env.get_template(template).render(view).split("\n"):
        if line == _OURS:
            ours = True
        elif not ours:
            lines.append(line)
        elif line.startswith("#define ") and len(line) > WIDTH and code_file and ") " in line:
            head, _, body = line.partition(") ")
            lines.extend([f"{head}) \\", f"\t{body}"])
        elif line or not lines or lines[-1] or not code_file:
            ours = not line.startswith("#line ")
            code = line.lstrip()[:1] not in ("#", "/", "*") and not (lines and lines[-1].endswith("\\"))
            lines.extend(_fold(line) if code and code_file else [line])
    return "\n".join(lines)

# SPDX-License-Identifier: MIT
"""Makes a man page of a Markdown page of this folder, or of a command's argparse table.

    python3 docs/manpage.py NAME SECTION "WHAT IT IS" PAGE.md[#HEADING]     one page; only that heading's part
    python3 docs/manpage.py --tpgen                                         tpgen(1), of its own options

VERSION and DATE are in the environment. The page goes to stdout, in the macros of man(7), with tables for tbl(1).
"""

from __future__ import annotations

import os
import re
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
_INLINE = re.compile(r"`(?P<code>[^`]+)`|\*\*(?P<bold>[^*]+)\*\*|(?<![\w*])\*(?P<italic>[^*\s][^*]*)\*|\[(?P<text>(?:[^]`]|`[^`]*`)+)\]\((?P<target>[^)]+)\)")


def escaped(text: str) -> str:
    """What the formatter takes for letters: no escapes, no requests at the beginning of a line."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("^", r"\(ha").replace("~", r"\(ti").replace("`", r"\(ga")
    return "".join(c if ord(c) < 128 else rf"\[u{ord(c):04X}]" for c in text)


def folded(text: str) -> list[str]:
    """A paragraph, in lines that a person can read, too."""
    lines = textwrap.wrap(inline(text), 76, break_long_words=False, break_on_hyphens=False)
    return [r"\&" + line if line.startswith((".", "'")) else line for line in lines]


def inline(text: str) -> str:
    """A paragraph's text on one line, with the marks of Markdown as fonts."""
    out, at = [], 0
    for match in _INLINE.finditer(text):
        out.append(escaped(text[at:match.start()]))
        at = match.end()
        if match["code"]:
            out.append(rf"\fB{escaped(match['code'])}\fR")
        elif match["bold"]:
            out.append(rf"\fB{inline(match['bold'])}\fR".replace(r"\fR\fR", r"\fR"))
        elif match["italic"]:
            out.append(rf"\fI{escaped(match['italic'])}\fR")
        else:
            out.append(inline(match["text"]))
            if match["target"].startswith("http"):
                out.append(escaped(f" <{match['target']}>"))
    return "".join(out) + escaped(text[at:])


def breakable(word: str) -> str:
    r"""A long word may end in the middle, without a hyphen: \: says where. A column of a table can be narrower than it."""
    return re.sub(r"([_/,=:])(?=\w)", r"\1\:", word) if len(word) > 20 else word


def table(rows: list[list[str]]) -> list[str]:
    """For tbl: the first column as wide as it is, the last one gets the rest of the line. Cells have a ragged edge."""
    columns = max(map(len, rows))
    form = " ".join(["lb"] + ["l"] * (columns - 2) + ["lx"]) if columns > 1 else "lx"
    out = [".na", ".TS", "allbox;", f"{form}."]
    for row in rows:
        cells = ["\n".join(["T{", *(re.sub(r"\S+", lambda word: breakable(word[0]), line) for line in folded(cell)), "T}"]) if cell else ""
                 for cell in row + [""] * (columns - len(row))]
        out.append("\t".join(cells))
    return [*out, ".TE", ".ad"]


def _cells(line: str) -> list[str]:
    """Of a row; a bar within code is a letter."""
    line = re.sub(r"`[^`]*`", lambda code: code[0].replace("|", "\0"), line.strip()).replace(r"\|", "\0")
    return [cell.strip().replace("\0", "|") for cell in line.strip("|").split("|")]


def body(markdown: str) -> list[str]:
    """The macros of a page's text, from its second line on."""
    out: list[str] = []
    lines = markdown.splitlines()
    i = 0
    while i < len(lines):
        line = lines[i]
        if line.startswith("```") or line.startswith("\t"):
            fenced = line.startswith("```")
            i += fenced
            code = []
            while i < len(lines) and (not lines[i].startswith("```") if fenced else lines[i].startswith("\t") or not lines[i].strip()):
                code.append(lines[i] if fenced else lines[i][1:])
                i += 1
            i += fenced
            while code and not code[-1].strip():
                code.pop()
            out += [".PP", ".RS 4", ".nf", *(rf"\&{escaped(c.expandtabs(4))}" if c else "" for c in code), ".fi", ".RE"]
        elif line.startswith("#"):
            level, _, title = line.partition(" ")
            out.append(f'.{"SH" if len(level) <= 2 else "SS"} "{escaped(re.sub("[`*]", "", title)).replace(chr(34), "")}"')
            i += 1
        elif line.startswith("|"):
            rows = []
            while i < len(lines) and lines[i].startswith("|"):
                if not re.fullmatch(r"[|\-: ]+", lines[i]):
                    rows.append(_cells(lines[i]))
                i += 1
            rows = [row for row in rows if any(row)]
            out += table(rows) if rows else []
        elif line.startswith("!["):
            i += 1
        elif line.strip():
            mark = re.match(r"(?:- |\d+\. )", line)
            text = [line[mark.end():] if mark else line]
            i += 1
            while i < len(lines) and lines[i].strip() and not re.match(r"#|\||```|- |\d+\. |\t", lines[i]):
                text.append(lines[i].strip())
                i += 1
            out += [r".IP \(bu 2" if mark else ".PP", *folded(" ".join(text))]
        else:
            i += 1
    return out


def part(markdown: str, heading: str) -> str:
    """What stands below a heading, up to the next one that is as high."""
    match = re.search(rf"^(#+) {re.escape(heading)}\n(.*?)(?=^#{{1,2}} |\Z)", markdown, re.S | re.M)
    if not match:
        sys.exit(f"manpage.py: there is no heading '{heading}'")
    return match[2]


def page(name: str, section: str, what: str, source: str, version: str, date: str) -> str:
    path, _, heading = source.partition("#")
    with open(os.path.join(HERE, path), encoding="utf-8") as file:
        markdown = file.read()
    text = part(markdown, heading) if heading else markdown.split("\n", 1)[1]
    head = [rf'.TH {name.upper()} {section} "{date}" "tpgen {version}"', ".SH NAME", rf"{escaped(name)} \- {escaped(what)}"]
    first = text.strip()
    if not first.startswith("#"):
        head.append(".SH DESCRIPTION")
    out = body(text)
    # A paragraph's macro behind a heading has nothing to part.
    lines = [line for before, line in zip(["", *head, *out], [*head, *out]) if not (line == ".PP" and before.startswith((".SH", ".SS")))]
    return ("'\\\" t\n" if ".TS" in lines else "") + "\n".join(lines) + "\n"


def tpgen_page(version: str, date: str) -> str:
    """tpgen(1): usage and options are argparse's own."""
    sys.path.insert(0, os.path.dirname(HERE))
    from tpgen.cli import DESCRIPTION, commands  # pylint: disable=import-outside-toplevel

    out = [rf'.TH TPGEN 1 "{date}" "tpgen {version}"', ".SH NAME", r"tpgen \- compile tracepoint definitions to C headers", ".SH SYNOPSIS", ".nf"]
    found = commands()
    for command in found:
        out.append(escaped(" ".join(command.format_usage().split()[1:])))
    out += [".fi", ".SH DESCRIPTION"]
    for paragraph in DESCRIPTION.split("\n\n"):
        out += [*folded(" ".join(paragraph.split())), ".PP"]
    out.pop()
    for command in found:
        out.append(f'.SH "{escaped(command.prog.upper())}"')
        for action in command._actions:  # pylint: disable=protected-access # argparse has no other way to list them
            names = ", ".join(action.option_strings) or str(action.metavar)
            metavar = f" {action.metavar}" if action.option_strings and action.metavar else ""
            out += [".TP", rf"\fB{escaped(names)}\fR{escaped(metavar)}", *folded(action.help or "")]
    out += [".SH SEE ALSO", r"\fBtp\fR(1), \fBtp-language\fR(5), \fBlibtp\fR(3)"]
    return "\n".join(out) + "\n"


def main(argv: list[str]) -> None:
    version, date = os.environ["VERSION"], os.environ["DATE"]
    if argv == ["--tpgen"]:
        sys.stdout.write(tpgen_page(version, date))
    elif len(argv) == 4:
        sys.stdout.write(page(*argv, version, date))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])

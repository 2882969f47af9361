# SPDX-License-Identifier: MIT
"""Preprocessing tokens and comments of a text, and other white space between them: without any code of tpgen's."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

_TOKEN = re.compile(r"""
    (?P<directive>(?m:^)[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
  | (?P<comment>/\*.*?\*/|//(?:\\\n|[^\n])*)
  | (?P<space>(?:[ \t\f\v]|\\\n|\n(?![ \t]*\#))+|\n)
  | (?P<word>(?:\\\n|[\w$])+)
  | (?P<literal>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<operator>->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||\.\.\.|[-+*/%&|^]=|\#\#|.)""", re.S | re.X)
_EVENT = re.compile(r"^(?:TRACE_EVENT\w*|DECLARE_EVENT_CLASS|TRACE_CUSTOM_EVENT|DECLARE_CUSTOM_EVENT_CLASS)\(\w+,\n.*?^\)", re.S | re.M)
_ROW = re.compile(r"\t\t__(?:rel_)?(?:field|array|string|dynamic_array|bitmask|cpumask|vstring|sockaddr)\w*\(")


def tokens(text: str) -> list[str]:
    """All but white space. In a comment, the lines' white space in front of stars does not count, nor does the indentation of
    a directive."""
    found = []
    for match in _TOKEN.finditer(text.replace("\r\n", "\n").removeprefix("\ufeff")):
        if match.lastgroup == "comment":
            found.append(re.sub(r"\n[ \t]*\*", "\n*", match[0]))
        elif match.lastgroup != "space":
            found.append(match[0].lstrip() if match.lastgroup == "directive" else match[0])
    return found


def mutated(text: str, rng: random.Random, formatted: Callable[[str], str]) -> str:
    """A formatted text with other white space in its events, where the author has no say: how wide white space is, how lines
    are indented and what ends them, how many blank lines there are, whether parts begin lines at all."""
    out, done = [], 0
    for event in _EVENT.finditer(text):
        left_alone = formatted(" " + event[0]).startswith(" ")
        out += [text[done:event.start()], event[0] if left_alone else "".join(_mutated(event[0], rng))]
        done = event.end()
    return "".join(out) + text[done:]


def _mutated(event: str, rng: random.Random) -> Iterator[str]:
    matches = list(_TOKEN.finditer(event))
    for index, match in enumerate(matches):
        if match.lastgroup != "space":
            yield match[0]
            continue
        before = matches[index - 1]
        after = matches[index + 1] if index + 1 < len(matches) else None
        yield _other(event, match, before, after, rng)


def _blanks(rng: random.Random, letters: str, least: int) -> str:
    return "".join(rng.choice(letters) for _ in range(rng.randint(least, 4)))


def _other(event: str, match: re.Match[str], before: re.Match[str], after: re.Match[str] | None, rng: random.Random) -> str:
    space = match[0]
    plain = before.lastgroup not in ("comment", "directive") and (not after or after.lastgroup not in ("comment", "directive"))
    if rng.randrange(3) or not after or "space" in (before.lastgroup, after.lastgroup):
        return space
    if plain and before[0] == "," and re.match(r"\n\n\tTP_\w+\(", event[match.start():]):
        return rng.choice(["", " ", "\n", "\t\n \n\n\n"]) if match.start() > event.index("TP_") else rng.choice(["", " ", "\n\n\n"])
    if "\n" in space and after.lastgroup != "directive":
        if before[0] == "(" and re.search(r"(?:entry|assign)\($", event[:match.start()]):
            return rng.choice(["", " ", "\n\n"]) if plain else space
        newlines = "\n" if space.count("\n") == 1 else rng.choice(["\n\n", "\n\n\n"])
        ahead = "" if before.lastgroup in ("comment", "directive") else _blanks(rng, " \t", 0)  # it would belong to the token
        return ahead + newlines + _blanks(rng, " \t", 0)
    if "\t" in space and "\n" not in space:
        line = event[event.rfind("\n", 0, match.start()) + 1:match.start()]
        if after[0] == "=" and line.startswith("\t\t__entry->") or _ROW.match(line) and plain:
            return _blanks(rng, " \t", 0) + "\t" + _blanks(rng, " \t", 0)
        return space
    return _blanks(rng, " ", 1) if "\n" not in space else space


# What a hand or a tool may leave in a file.
_PIECES = (" ", "\t", "\n", "\n\n", "  \n", "(", ")", "[", "]", "{", "}", ",", ";", "=", ":", "#", "##", "\"", "'", "\"a\"", "/*", "*/", "\\\n", "\f",
           "\r\n", "\r", "\0", "\udcff", "// x\n", "/* a\n * b */", "/* c */", "if (x) ", "else ", "do ", "for_each(a) ", "case 1:", "\n#if X\n",
           "__field(int,\ta)", "TRACE_EVENT(", "TP_printk(")


def mangled(text: str, rng: random.Random) -> str:
    """A text that ends early, or in which tokens are gone, or are there twice, or are not what was there."""
    words = [match[0] for match in _TOKEN.finditer(text)]
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(words) + 1)
        kind = rng.randrange(8)
        if kind == 0:
            del words[at:]
        elif kind < 3:
            del words[at:at + rng.randint(1, 5)]
        elif kind < 5:
            words[at:at] = words[at:at + rng.randint(1, 20)]
        else:
            words.insert(at, rng.choice(_PIECES))
    return "".join(words)

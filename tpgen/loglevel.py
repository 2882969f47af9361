# SPDX-License-Identifier: MIT
"""TRACEPOINT_LOGLEVEL: how much an event matters. The words are LTTng-UST's, before its version 2.13 and since."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tpgen.diag import Diagnostics, Note, nearest
from tpgen.lexer import spell
from tpgen.model import LOGLEVELS
from tpgen.parser import Declaration, Tree
from tpgen.text import Text

_OLD, _NEW = "TRACE_", "LTTNG_UST_TRACEPOINT_LOGLEVEL_"
_WORDS = {prefix + level: level for prefix in (_OLD, _NEW) for level in LOGLEVELS}

# An event by its system and its name, as all that is said of levels names it.
EventKey = tuple[str, str]


def parse_loglevels(tree: Tree, text: Text, diag: Diagnostics) -> dict[EventKey, str]:
    """The events of the file that have a level of their own, and which: one of LOGLEVELS."""
    return _Levels(tree, text, diag).parse(d for d in tree.declarations if "level" in d.parts)


class _Levels:
    def __init__(self, tree: Tree, text: Text, diag: Diagnostics):
        self.text = text
        self.diag = diag
        self.declared: dict[str, list[Declaration]] = {}
        for decl in tree.declarations:
            if "proto" in decl.parts:
                self.declared.setdefault(decl.name.text, []).append(decl)

    def parse(self, said: Iterator[Declaration]) -> dict[EventKey, str]:
        levels: dict[EventKey, str] = {}
        first: dict[EventKey, Declaration] = {}
        for decl in said:
            key = spell(decl.parts["system"].tokens), decl.name.text
            level = self._level(decl)
            if not self._has_record(decl, key) or not level:
                continue
            if first.setdefault(key, decl) is not decl:
                self.diag.error(self.text.span(decl.macro), "TP038", f"the log level of '{key[1]}' is given twice",
                                [Note(self.text.span(first[key].macro), "the first time is here")])
            levels.setdefault(key, level)
        return levels

    def _level(self, decl: Declaration) -> str | None:
        part = decl.parts["level"]
        word = spell(part.tokens)
        if word not in _WORDS:
            hint = nearest(word, _WORDS) or "; they are " + ", ".join(_OLD + level for level in LOGLEVELS)
            self.diag.error(self.text.span(part.at, part.end), "TP036", f"no log level is called '{word}'{hint}")
        return _WORDS.get(word)

    def _has_record(self, decl: Declaration, key: EventKey) -> bool:
        """Whether key is an event of this file. That there is nothing of that name at all has been said."""
        system, name = key
        here = self.declared.get(name, [])
        if not here or any(_is_event(d) and _system(d) in (system, None) for d in here):
            return bool(here)
        event = next((d for d in here if _is_event(d)), None)
        if event:
            part = decl.parts["system"]
            self.diag.error(self.text.span(part.at, part.end), "TP037",
                            f"the event is '{_system(event)}:{name}', not '{system}:{name}'; write "
                            f"{decl.macro.text}({_system(event)}, {name}, ...)", self._place(event))
        else:
            is_class = "struct" in here[0].parts
            why = "is an event class: give each of its events a level" if is_class else \
                "is a tracepoint without a record, which no reader sees: only events have a level"
            self.diag.error(self.text.span(decl.name), "TP039", f"'{name}' {why}", self._place(here[0]))
        return False

    def _place(self, decl: Declaration) -> Sequence[Note]:
        return [Note(self.text.span(decl.name), "it is declared here")]


def _is_event(decl: Declaration) -> bool:
    """Also one that is configured out."""
    macro = decl.macro.text
    return macro.endswith("_NOP") and "CLASS" not in macro or "class" in decl.parts or \
        "struct" in decl.parts and not macro.startswith("DECLARE_")


def _system(decl: Declaration) -> str | None:
    """None where it is missing, which is said elsewhere."""
    return "custom" if not decl.system and "CUSTOM" in decl.macro.text else decl.system

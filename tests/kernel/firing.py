# SPDX-License-Identifier: MIT
"""C that fires every tracepoint of a header, out of the prototypes that tpgen dump tells."""

from __future__ import annotations

import re

# Four rounds: small numbers that differ from one another, the ends of the types' ranges, and, since some events have
# a condition, nothing but 0 and nothing but 1.
ROUNDS = 4
_NUMBER = re.compile(r"void|bool|size_t|u?int\d+_t|(__)?[usbl]e?(8|16|32|64)|"
                     r"(unsigned |signed )?(char|short|int|long)( long)?")
_OBJECT = re.compile(r"^extern (?P<type>(?:struct|union) \w+) (?P<object>compat_\w+);", re.M)
_TYPE = re.compile(r"\bconst\b|\bvolatile\b|\b__percpu\b|\b__user\b|\b__rcu\b")


def objects(compat: str) -> dict[str, str]:
    """The objects that a compatibility header declares for pointers to their types: by the type, the object."""
    return {m["type"]: m["object"] for m in _OBJECT.finditer(compat)}


def value(type_text: str, name: str, place: int, turn: int, known: dict[str, str], buffers: bool) -> str:
    """An argument for a parameter."""
    bare = " ".join(_TYPE.sub(" ", type_text).split())
    if bare == "char *":
        return f'(char *)fire_string("{name}-{place}")' if turn == 0 else '(char *)fire_string("")'
    if bare.endswith("*"):
        pointed = bare[:-1].strip()
        if _NUMBER.fullmatch(pointed):
            return f"({type_text})(void *)compat_bytes"
        return f"&{known[pointed]}" if pointed in known else f"({type_text})(uintptr_t){0x1000 * (place + 1)}"
    if "(*" in bare:
        return f"({type_text})(uintptr_t){0x1000 * (place + 1)}"
    if bare in known:
        return known[bare]
    if turn >= 2:
        return f"({bare})({turn - 2})"
    if turn == 0 or buffers:  # it may be the length of what a pointer points to
        return f"({bare})({7 * place + 5 - turn})"
    return f"({bare})({'-1' if place % 2 else '0x7edcba9876543210'})"


def fire(header: str, events: list[dict], known: dict[str, str]) -> str:
    """The file that creates a header's tracepoints and fires them."""
    calls = []
    for turn in range(ROUNDS):
        for event in events:
            params = event["proto"]
            buffers = any("*" in p["type"] for p in params)
            values = ", ".join(value(p["type"], p["name"], n, turn, known, buffers) for n, p in enumerate(params))
            calls.append(f"\ttrace_{event['name']}({values});\n")
    function = function_of(header)
    return (f'#include "compat.h"\n#define CREATE_TRACE_POINTS\n#include "{header}.h"\n#include "record_events.h"\n\n'
            f"void {function}(void);\nvoid {function}(void)\n{{\n{''.join(calls)}}}\n")


def function_of(header: str) -> str:
    return "fire_" + re.sub(r"\W", "_", header)


def fire_all(headers: list[str]) -> str:
    names = [function_of(h) for h in headers]
    return ('#include "compat.h"\n#include "record_events.h"\n\n' + "".join(f"void {n}(void);\n" for n in names)
            + "\nstatic void fire_headers(void)\n{\n" + "".join(f"\t{n}();\n" for n in names) + "}\n"
            + '\nvoid fire_all(void)\n{\n\tcompat_with_format(fire_headers, "a %s of %d", "text", 42);\n}\n')

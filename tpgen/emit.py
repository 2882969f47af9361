# SPDX-License-Identifier: MIT
"""Writes outputs: only those whose content has changed, each as a whole or not at all. What make needs beside them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable

from tpgen.diag import Diagnostics
from tpgen.source import Span


def emit(path: str, text: str, diag: Diagnostics) -> bool:
    """Makes text the content of the file. After an error the file is as it was."""
    data = text.encode("utf-8", "surrogateescape")
    try:
        with open(path, "rb") as file:
            if file.read() == data:
                return True
    except OSError:
        pass  # it is to be written; if it can't be, that is said below
    temporary = ""
    try:
        descriptor, temporary = tempfile.mkstemp(prefix="." + os.path.basename(path) + ".",
                                                 dir=os.path.dirname(path) or ".")
        with open(descriptor, "wb") as file:
            file.write(data)
            os.fchmod(file.fileno(), 0o666 & ~_umask())
        os.replace(temporary, path)
        return True
    except OSError as error:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)
        kept = "; the file is as it was before" if os.path.exists(path) else ""
        diag.error(Span(path, 0), "TP091", f"can't write it: {error.strerror}{kept}")
        return False


def stamp(path: str, began: int, diag: Diagnostics) -> None:
    """Dates the file to when the run began, in nanoseconds: an input that has changed since is newer."""
    try:
        with open(path, "ab"):
            os.utime(path, ns=(began, began))
    except OSError as error:
        diag.error(Span(path, 0), "TP091", f"can't write it: {error.strerror}")


def make_directory(path: str, diag: Diagnostics) -> bool:
    try:
        os.makedirs(path, exist_ok=True)
        return True
    except OSError as error:
        diag.error(Span(path, 0), "TP091", f"can't make the output directory: {error.strerror}")
        return False


def depfile(outputs: Iterable[str], inputs: Iterable[str]) -> str:
    """A rule for make: outputs depend on inputs; a missing input is no error, since its absence means to run again."""
    inputs = list(inputs)
    rule = " ".join(map(_quote, outputs)) + ":" + "".join(f" \\\n  {_quote(one)}" for one in inputs) + "\n"
    return rule + "".join(f"\n{_quote(one)}:\n" for one in inputs)


def _quote(path: str) -> str:
    return path.replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

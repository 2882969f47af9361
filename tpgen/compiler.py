# SPDX-License-Identifier: MIT
"""Runs the C compiler, within bounds: macros can double their text at each step."""

from __future__ import annotations

import os
import resource
import shlex
import subprocess
import tempfile
from collections.abc import Sequence

MAX_OUTPUT = 32 << 20
MAX_SECONDS = 60
MAX_MEMORY = 4 << 30


class CompilerError(Exception):
    """It can't be run, or does not come to an end. str() says why, and what to do."""


def _command() -> list[str]:
    """$CC, else cc."""
    command = os.environ.get("CC") or "cc"
    try:
        return shlex.split(command)
    except ValueError:  # a quote that is not closed
        return [command]


def _bounds() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_OUTPUT, MAX_OUTPUT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # For what the compiler's driver starts, too, which outlives it when it is killed.
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))


def compile_text(arguments: Sequence[str], text: str) -> tuple[str | None, str]:
    """What the compiler writes for text, which is its standard input, or None after an error; and what it says."""
    command = [*_command(), *arguments, "-"]
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        stdin.write(text.encode("utf-8", "surrogateescape"))
        stdin.seek(0)
        try:
            done = subprocess.run(command, stdin=stdin, stdout=stdout, stderr=stderr, timeout=MAX_SECONDS,
                                  env={**os.environ, "LC_ALL": "C"}, preexec_fn=_bounds, check=False)
        except OSError as error:
            raise CompilerError(f"can't run the C preprocessor '{command[0]}': {error.strerror}; install a C compiler, "
                                "or set CC to its name") from None
        except subprocess.TimeoutExpired:
            raise CompilerError(f"the C preprocessor has not finished in {MAX_SECONDS} seconds; look for macros that "
                                "multiply their text") from None
        if done.returncode == 0:
            stdout.seek(0)
            return stdout.read().decode("utf-8", "surrogateescape"), ""
        if os.fstat(stdout.fileno()).st_size >= MAX_OUTPUT:
            raise CompilerError(f"its macros expand to more than {MAX_OUTPUT >> 20} MiB")
        stderr.seek(0)
        return None, stderr.read().decode("utf-8", "replace")

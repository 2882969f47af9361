# SPDX-License-Identifier: MIT
"""Runs the C compiler, within bounds: macros can double their text at each step."""

from __future__ import annotations

import os
import resource
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from typing import IO

MAX_OUTPUT = 32 << 20
MAX_SAID = 1 << 20
MAX_SECONDS = 60
MAX_CPU_SECONDS = 8
MAX_MEMORY = 448 << 20  # that it writes to; what it maps, such as its libraries, is more

# Garbage has as many errors as lines, and gcc takes long for each.
_ARGUMENTS = ("-fmax-errors=100",)


class CompilerError(Exception):
    """It can't be run, or does not come to an end. str() says why, and what to do."""


def _command() -> list[str]:
    """$CC, else cc."""
    command = os.environ.get("CC") or "cc"
    try:
        return shlex.split(command)
    except ValueError:  # a quote that is not closed
        return [command]


def _bound(which: int, most: int) -> int:
    """The least of our bound and those that the process has already, which can't be raised."""
    return min([most, *(limit for limit in resource.getrlimit(which) if limit != resource.RLIM_INFINITY)])


def _bounds() -> None:
    # The time is for what the compiler's driver starts, too, which outlives it when it is killed.
    for which, most in ((resource.RLIMIT_FSIZE, MAX_OUTPUT), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_CPU, MAX_CPU_SECONDS),
                        (resource.RLIMIT_DATA, MAX_MEMORY)):
        limit = _bound(which, most)
        # A second more, as the signal of the lower limit tells why; that of the other is like any kill.
        resource.setrlimit(which, (limit, _bound(which, most + 1) if which == resource.RLIMIT_CPU else limit))


def compile_text(arguments: Sequence[str], text: str) -> tuple[str | None, str]:
    """What the compiler writes for text, which is its standard input, or None after an error; and what it says."""
    command = [*_command(), *_ARGUMENTS, *arguments, "-"]
    try:
        with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            stdin.write(text.encode("utf-8", "surrogateescape"))
            stdin.seek(0)
            return _run(command, stdin, stdout, stderr)
    except OSError as error:
        raise CompilerError(f"can't give it to the C preprocessor in a temporary file: {error.strerror}; look at the limits "
                            "that ulimit -a prints, and at TMPDIR") from None


def _run(command: Sequence[str], stdin: IO[bytes], stdout: IO[bytes], stderr: IO[bytes]) -> tuple[str | None, str]:
    try:
        done = subprocess.run(command, stdin=stdin, stdout=stdout, stderr=stderr, timeout=MAX_SECONDS,
                              env={**os.environ, "LC_ALL": "C"}, preexec_fn=_bounds, check=False)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        if isinstance(error, subprocess.TimeoutExpired):
            raise CompilerError(f"the C preprocessor has not finished in {MAX_SECONDS} seconds; look for macros that "
                                "multiply their text") from None
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise CompilerError(f"can't run the C preprocessor '{command[0]}': {why}; install a C compiler, "
                            "or set CC to its name") from None
    if done.returncode == 0:
        stdout.seek(0)
        return stdout.read().decode("utf-8", "surrogateescape"), ""
    most = _bound(resource.RLIMIT_FSIZE, MAX_OUTPUT)
    if os.fstat(stdout.fileno()).st_size >= most:
        size = f"{most >> 20} MiB" if most == MAX_OUTPUT else f"the {most} bytes that ulimit -f allows"
        raise CompilerError(f"its macros expand to more than {size}")
    stderr.seek(0)
    said = stderr.read(MAX_SAID).decode("utf-8", "replace")
    if "CPU time limit exceeded" in said or done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        seconds = _bound(resource.RLIMIT_CPU, MAX_CPU_SECONDS)
        raise CompilerError(f"the C preprocessor has not finished in {seconds} seconds of the processor; "
                            "look for macros that multiply their text")
    if "out of memory" in said or "virtual memory exhausted" in said or "Cannot allocate memory" in said:
        raise CompilerError("the C preprocessor wants more memory than it may have; look for macros that multiply their text")
    return None, said

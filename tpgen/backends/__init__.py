# SPDX-License-Identifier: MIT
"""A backend makes of the models of a run what templates print: for each output its file's name, the template, the view."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tpgen.backends import bpftrace, ftrace, nop, userspace
from tpgen.backends.output import Ask, Output
from tpgen.model import Unit

Backend = Callable[[Sequence[Unit], Ask], Iterator[Output]]

BACKENDS: dict[str, Backend] = {"bpftrace": bpftrace.outputs, "ftrace": ftrace.outputs, "nop": nop.outputs,
                                "userspace": userspace.outputs}

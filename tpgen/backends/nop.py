# SPDX-License-Identifier: MIT
"""The C header of a definition file for builds without the runtime: what the userspace header declares, and does nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tpgen.backends import userspace
from tpgen.backends.output import Ask, Output
from tpgen.model import Unit


def outputs(units: Sequence[Unit], ask: Ask) -> Iterator[Output]:
    """One header for each file, with the same name as the userspace backend's."""
    return (userspace.header(unit, "nop/header.h.j2") for unit in units)

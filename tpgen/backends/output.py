# SPDX-License-Identifier: MIT
"""What goes into a backend, beside the model, and what comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tpgen.model import Answers, Eval, Field, Unit

# What the C compiler knows of fields and constants of a unit; None after an error, which it has reported.
Ask = Callable[[Unit, Sequence[Field], Sequence[Eval]], Answers | None]


@dataclass(frozen=True, slots=True)
class Output:
    """One file: of which definition file, its path below the output directory, and what is in it."""

    unit: Unit
    path: str
    template: str
    view: Mapping[str, object]

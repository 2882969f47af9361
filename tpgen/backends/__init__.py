# SPDX-License-Identifier: MIT
"""A backend makes of a model what templates print: for each unit (file name, template, view)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tpgen.backends import userspace
from tpgen.model import Unit

Output = tuple[str, str, Mapping[str, object]]

BACKENDS: dict[str, Callable[[Unit], Output]] = {"userspace": userspace.output}

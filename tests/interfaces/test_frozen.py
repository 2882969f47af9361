# SPDX-License-Identifier: MIT
"""Programs of every interface that was released, with the present library."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Sequence

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import frozen  # noqa: E402
from building import CC, interface_version, oldest_interface, soname  # noqa: E402
from frozen import Interface, Outcome, interfaces  # noqa: E402
from support import INCLUDES, Case, expect, need  # noqa: E402

# How a program may be linked, by which compiler; with AddressSanitizer, what a program does not have is not read.
WAYS = (("shared", CC, ["-O2"]), ("whole", CC, ["-O0"]), ("asan", CC, ["-O1"]), ("shared", "clang", ["-O2"]),
        ("shared", CC, ["-O2", "-DTP_STATIC_KEYS=0"]))


class Frozen(Case):
    def of(self, interface: Interface, libtp: str, compiler: str = CC, flags: Sequence[str] = (),
           link: Sequence[str] = ()) -> Outcome:
        need(self, "babeltrace2", compiler)
        return frozen.run_program(self, frozen.build_program(self, interface, libtp, compiler, flags, link))

    def test_present_is_frozen(self) -> None:
        """The interface that the library is of is among them."""
        self.assertIn(interface_version(), [interface.number for interface in interfaces()],
                      'a new interface is frozen when it is released: "make freeze-interface"')

    def test_soname(self) -> None:
        """A library serves all interfaces that its name stands for, and only those."""
        for interface in interfaces():
            with self.subTest(interface=interface.number):
                self.assertEqual(interface.soname, soname(), "TP_OLDEST_INTERFACE and TP_SONAME, in core/interface.h, are "
                                                             "raised together; then the folders of older interfaces go")
                self.assertGreaterEqual(interface.number, oldest_interface())

    def test_served(self) -> None:
        """What they say and record is what they said and recorded when they were frozen."""
        for interface in interfaces():
            for libtp, compiler, flags in WAYS:
                with self.subTest(interface=interface.number, libtp=libtp, compiler=compiler, flags=flags):
                    outcome = self.of(interface, libtp, compiler, flags)
                    self.assertEqual(outcome.stderr, "")
                    self.assertEqual("no sites" in outcome.stdout, "-DTP_STATIC_KEYS=0" in flags)
                    expect(self, os.path.join(interface.directory, "expected"), outcome.all())

    def test_compiled_again(self) -> None:
        """A header of the present interface that an older tpgen wrote compiles with today's headers."""
        [interface] = [one for one in interfaces() if one.number == interface_version()]
        for compiler, part in itertools.product(("gcc", "clang"), ("program", "plugin", "user")):
            need(self, compiler)
            with self.subTest(compiler=compiler, part=part):
                self.succeed([compiler, "-std=gnu11", "-O2", "-Werror", *INCLUDES, "-I", interface.directory, "-c",
                              "-o", self.path(f"{part}.o"), os.path.join(interface.directory, f"{part}.c")])

# SPDX-License-Identifier: MIT
"""The tools, the libraries and the emulator of a processor that this machine has not."""

from __future__ import annotations

import os
import shutil

import building
from support import BUILD

CC = "aarch64-linux-gnu-gcc"
OBJDUMP = "aarch64-linux-gnu-objdump"

LIBC = "/usr/aarch64-linux-gnu"  # where Debian's packages for cross compilers put it
ARM = os.path.join(BUILD, "aarch64")  # what make makes below build/, for this processor
SYSROOT = os.path.join(ARM, "sysroot")  # what .ci/deps has unpacked
LIBRARIES = os.path.join(SYSROOT, "usr/lib/aarch64-linux-gnu")

CFLAGS = [f"-isystem{SYSROOT}/usr/include", f"-isystem{SYSROOT}/usr/include/aarch64-linux-gnu"]
LDFLAGS = [f"-L{LIBRARIES}", f"-Wl,-rpath,{LIBRARIES}"]
# A test that is for another processor only leaves functions behind.
STRICT = ["-Werror"]


def missing() -> str:
    """The first of what is needed that is not there, or nothing."""
    for tool in (CC, OBJDUMP, "clang", "qemu-aarch64"):
        if not shutil.which(tool):
            return f"{tool} is not installed"
    for file in (f"{LIBC}/lib/libc.so", f"{LIBRARIES}/liburcu-bp.so.8", f"{LIBRARIES}/liburcu-bp.so",
                 f"{LIBRARIES}/libcheck_pic.a", f"{LIBRARIES}/libsubunit.a"):
        if not os.path.exists(file):
            return f"{os.path.basename(file)} for aarch64 is not there"
    return ""


def emulated(*command: str) -> list[str]:
    return ["qemu-aarch64", "-L", LIBC, *command]


def make(*targets: str) -> None:
    """Makes files below ARM."""
    building.make(*targets, build=ARM, CC=CC, AR="aarch64-linux-gnu-ar", CFLAGS=" ".join(["-O2", "-g", *STRICT, *CFLAGS]),
                  LDFLAGS=" ".join(LDFLAGS), CHECK_LIBS="-lcheck_pic -lsubunit -lrt -lm")

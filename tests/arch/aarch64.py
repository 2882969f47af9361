# SPDX-License-Identifier: MIT
"""The tools, the libraries and the emulator of a processor that this machine has not."""

from __future__ import annotations

import fcntl
import os
import shutil

from support import BUILD, run

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
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CFLAGS", "LDFLAGS")}
    with open(os.path.join(ARM, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another file of tests may be at it
        done = run(["make", f"-j{os.cpu_count() or 1}", "BUILD=build/aarch64", f"CC={CC}", "AR=aarch64-linux-gnu-ar",
                    f"CFLAGS={' '.join(['-O2', '-g', *STRICT, *CFLAGS])}", f"LDFLAGS={' '.join(LDFLAGS)}",
                    "CHECK_LIBS=-lcheck_pic -lsubunit -lrt -lm", *(f"build/aarch64/{target}" for target in targets)],
                   env=env)
    assert done.returncode == 0, done.stdout + done.stderr

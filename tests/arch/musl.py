# SPDX-License-Identifier: MIT
"""The libraries that programs need under musl, a C library for which Debian has no others: built from Debian's sources."""

from __future__ import annotations

import glob
import os
import shutil

import building
from support import BUILD

CC = "musl-gcc"
DIRECTORY = os.path.join(BUILD, "musl")
SOURCE = os.path.join(DIRECTORY, "source")  # where .ci/deps has unpacked them, each in a folder with its package's name
SYSROOT = os.path.join(DIRECTORY, "sysroot")
CFLAGS = (f"-isystem{SYSROOT}/include",)
LDFLAGS = (f"-L{SYSROOT}/lib", f"-Wl,-rpath,{SYSROOT}/lib")
# For stack traces: there is no unwinder for musl, but Debian's static one does, with a function of glibc's.
FIND_OBJECT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "find_object.c")
UNWINDER = f"-Wl,--eh-frame-hdr -Wl,-u,_Unwind_Backtrace {SYSROOT}/lib/find_object.o"

# Of each package: the folders and targets to make, what configure is told, and the headers, as patterns.
PACKAGES = {
    "liburcu": (("include all", "src liburcu-bp.la"), ("--enable-shared",),
                ("include/**/*.h", "../../source/liburcu/include/**/*.h")),
    "check": (("lib all", "src libcheck.la"), ("--disable-shared", "--disable-subunit"), ("./check_stdint.h", "src/check.h")),
}
# Headers of the kernel and of LTTng, which are the same for each C library. musl-gcc does not look where they are.
HEADERS = ("linux", "asm", "asm-generic", "lttng")
PLACES = ("/usr/include", "/usr/include/x86_64-linux-gnu")


def build() -> None:
    """Fills SYSROOT, unless it is filled."""
    building.once(SYSROOT, PACKAGES, _build, "tests/arch/musl.py", FIND_OBJECT)


def _build() -> None:
    for name in ("include", "lib"):
        shutil.rmtree(os.path.join(SYSROOT, name), True)
        os.makedirs(os.path.join(SYSROOT, name))
    for name in HEADERS:
        for place in PLACES:
            if os.path.exists(os.path.join(place, name)):
                os.symlink(os.path.join(place, name), os.path.join(SYSROOT, "include", name))
                break
    for package in PACKAGES:
        _build_package(package)
    building.call([CC, "-O2", "-g", *building.WARNINGS, "-c", "-o", f"{SYSROOT}/lib/find_object.o", FIND_OBJECT])


def _build_package(package: str) -> None:
    targets, options, headers = PACKAGES[package]
    place = os.path.join(DIRECTORY, "made", package)
    shutil.rmtree(place, True)
    os.makedirs(place)
    _succeed(place, os.path.join(SOURCE, package, "configure"), "-q", "--with-pic",
             "--disable-dependency-tracking", *options, f"CC={CC}", f"CFLAGS=-O2 -g {' '.join(CFLAGS)}")
    for target in targets:
        folder, goal = target.split()
        _succeed(place, "make", "-s", f"-j{os.cpu_count() or 1}", "-C", folder, goal)
    for kind in ("*.a", "*.so*"):
        for library in glob.glob(os.path.join(place, "src/.libs", kind)):
            shutil.copy(library, os.path.join(SYSROOT, "lib"), follow_symlinks=False)
    for pattern in headers:
        folder = os.path.join(place, pattern.removesuffix("**/*.h") if "*" in pattern else os.path.dirname(pattern))
        for header in glob.glob(os.path.join(place, pattern), recursive=True):
            to = os.path.join(SYSROOT, "include", os.path.relpath(header, folder))
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copy(header, to)


def _succeed(place: str, *command: str) -> None:
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CFLAGS", "LDFLAGS", "CC")}
    done = building.run([*command], cwd=place, env=env)
    if done.returncode:
        raise building.BuildError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")

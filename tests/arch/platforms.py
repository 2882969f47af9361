# SPDX-License-Identifier: MIT
"""Platforms that this machine is not, processors or C libraries: their tools, their libraries, what runs their programs."""

from __future__ import annotations

import glob
import os
import shlex
import shutil
import subprocess
import sys
import unittest
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import building
import musl
from support import BUILD, ROOT, TESTS, run

sys.path.insert(0, os.path.join(TESTS, "unit"))

from units import suite  # noqa: E402


@dataclass(frozen=True)
class Platform:
    name: str  # also of its directory below build/
    cc: str
    binutils: str = ""  # what their names begin with
    tools: Sequence[str] = ()  # what else must be installed
    files: Sequence[str] = ()  # what must be there: libraries of other packages
    emulator: Sequence[str] = ()  # what runs programs
    cflags: Sequence[str] = ()
    ldflags: Sequence[str] = ()
    check_libs: str = ""  # how unit tests are linked
    prepare: Callable[[], None] = lambda: None  # makes libraries that no package brings

    @property
    def directory(self) -> str:
        """Where make makes this platform's files."""
        return os.path.join(BUILD, self.name)

    @property
    def objdump(self) -> str:
        return f"{self.binutils}objdump"

    def missing(self) -> str:
        """The first of what is needed that is not there, or nothing."""
        for tool in (self.cc, self.objdump, *self.tools, *self.emulator[:1]):
            if not shutil.which(tool):
                return f"{tool} is not installed"
        for file in self.files:
            if not os.path.exists(file):
                return f"{os.path.basename(file)} for {self.name} is not there"
        return ""

    def command(self, *command: str) -> list[str]:
        """Runs the platform's program."""
        return [*self.emulator, *command]

    def variables(self) -> dict[str, str]:
        """What make is told. A test that is for another processor only leaves functions behind."""
        return {"CC": self.cc, "AR": f"{self.binutils}ar", "CFLAGS": shlex.join(["-O2", "-g", "-Werror", *self.cflags]),
                "LDFLAGS": shlex.join(self.ldflags), "CHECK_LIBS": self.check_libs}

    def make(self, *targets: str) -> None:
        """Makes files below the directory."""
        self.prepare()
        building.make(*targets, build=self.directory, **self.variables())

    def install(self, **places: str) -> None:
        """The library, tpgen and tp, with the man pages, which this machine's tp writes."""
        host = {"HOST_TP": os.path.join(BUILD, "tp")}
        self.prepare()
        building.make("help.stamp", "libtp.a", "libtp.so", build=self.directory, **self.variables(), **host)
        done = run(["make", "-s", "install", f"BUILD={os.path.relpath(self.directory, ROOT)}",
                    *(f"{name}={value}" for name, value in {**self.variables(), **host, **places}.items())])
        if done.returncode:
            raise building.BuildError(done.stdout + done.stderr)


def _debian(name: str, gnu: str, *, multiarch: str = "", qemu: str = "", **parts) -> Platform:
    """A processor for which Debian has a cross compiler; gnu is what that calls it, multiarch the directories of libraries."""
    libc = f"/usr/{gnu}"  # where Debian's packages for cross compilers put it
    sysroot = os.path.join(BUILD, name, "sysroot")  # what .ci/deps has unpacked
    multiarch = multiarch or gnu
    libraries = f"{sysroot}/usr/lib/{multiarch}"
    # Without an emulator, the program names the loader itself.
    loader = [] if qemu else [f"-Wl,--dynamic-linker={libc}/lib/{_LOADER}", f"-Wl,-rpath,{libc}/lib"]
    return Platform(
        name=name, cc=f"{gnu}-gcc", binutils=f"{gnu}-", tools=("clang",),
        files=(f"{libc}/lib/libc.so", *(f"{libraries}/{name}" for name in (
            "liburcu-bp.so.8", "liburcu-bp.so", "libcheck_pic.a", "libsubunit.a"))),
        emulator=(qemu, "-L", libc) if qemu else (),
        cflags=(f"-isystem{sysroot}/usr/include", f"-isystem{sysroot}/usr/include/{multiarch}"),
        ldflags=(f"-L{libraries}", f"-Wl,-rpath,{libraries}", *loader), check_libs="-lcheck_pic -lsubunit -lrt -lm", **parts)


_LOADER = "ld-linux.so.2"


def _runs_i386() -> bool:
    """Whether this kernel runs programs of 32-bit x86 by itself, as most of x86-64 do."""
    try:
        return subprocess.run([f"/usr/i686-linux-gnu/lib/{_LOADER}", "--version"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False).returncode == 0
    except OSError:
        return False


AARCH64 = _debian("aarch64", "aarch64-linux-gnu", qemu="qemu-aarch64")
ARMHF = _debian("armhf", "arm-linux-gnueabihf", qemu="qemu-arm")
I386 = _debian("i386", "i686-linux-gnu", multiarch="i386-linux-gnu", qemu="" if _runs_i386() else "qemu-i386")

# A long and a pointer have 32 bits. On the second, a 64-bit number in a structure is aligned to 4 bytes.
NARROW = (ARMHF, I386)

MUSL = Platform(
    name="musl", cc=musl.CC, files=[f"{musl.SOURCE}/{package}/configure" for package in musl.PACKAGES],
    cflags=musl.CFLAGS, ldflags=musl.LDFLAGS, check_libs=f"-lcheck {musl.UNWINDER}", prepare=musl.build)


# The unit tests of what another processor may do otherwise: order of memory, instructions that are patched, counters, stacks, arguments
# of variable number, signed char, layouts. Options, files, texts and lists are the same everywhere.
DEPENDS = """clock ctf ctf_handlers ctf_instant ctf_threads enable_if events filter fork format enable_flag hist_instant hist_saved
    language lttng marker marker_event pointer probes registry sdt seq_print armed stack stats stats_field switch synthetic_storm
    text_threads thread""".split()

# What besides depends on the width of a long or of an off_t.
NARROW_DEPENDS = "counters ctf_format ctf_in ctf_options ctf_snapshot print_data stats_options synthetic text trigger".split()


class Missing(unittest.TestCase):
    """Stands for unit tests that can't be built."""

    platform: Platform

    def test_units(self) -> None:
        self.skipTest(self.platform.missing())


def unit_tests(file: str, loader: unittest.TestLoader, platform: Platform, names: Sequence[str], few: bool = False,
               ) -> unittest.TestSuite:
    """The runtime's unit tests of these names, without "test_", for a test file. few: each as often as "make check" does it."""
    if platform.missing():
        return loader.loadTestsFromTestCase(type("Missing", (Missing,), {"platform": platform}))
    names = [f"test_{name}" for name in names]
    platform.make(*(f"obj/unit/{name}" for name in names))
    # What is run is a script that starts the emulator.
    set_few = "export TPGEN_TESTS=check\n" if few else ""
    os.makedirs(os.path.join(platform.directory, "unit"), exist_ok=True)
    for old in glob.glob(os.path.join(platform.directory, "unit", "*")):
        os.remove(old)
    for name in names:
        script = os.path.join(platform.directory, "unit", name)
        command = shlex.join(platform.command(os.path.join(platform.directory, "obj/unit", name)))
        with open(script, "w", encoding="utf-8") as out:
            out.write(f"#!/bin/sh\n{set_few}exec {command}\n")
        os.chmod(script, 0o755)
    return suite(file, platform.name)

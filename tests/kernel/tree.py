# SPDX-License-Identifier: MIT
"""The kernel headers that Debian packages, as .ci/deps has installed them."""

from __future__ import annotations

import abc
import functools
import glob
import os
import re
import shlex
import subprocess
import unittest
from dataclasses import dataclass

from support import BUILD, Case

SERIES = ("6.1", "6.12")
# Of so many headers one is looked at, by "make check"; by "make check-kernel" and "make torture" all are.
EACH = 1 if os.environ.get("KERNEL") == "all" else 10


def sample(names: list[str]) -> list[str]:
    """Some of the headers, or all."""
    return names[::EACH]


@dataclass(frozen=True)
class Tree:
    """One kernel version's headers."""

    series: str   # "6.12"
    release: str  # "6.12.117+deb12": part of the package's name
    common: str   # the folder of linux-headers-RELEASE-common
    config: str   # that of linux-headers-RELEASE-ARCH: the configuration and what the kernel's build generates
    arch: str     # the kernel's name for the machine, a folder below arch/

    @property
    def headers(self) -> list[str]:
        return sample(sorted(glob.glob(f"{self.common}/include/trace/events/*.h")))

    def includes(self, header: str) -> list[str]:
        """What the kernel reads in front of a header, beside what it includes itself."""
        name = os.path.basename(header).removesuffix(".h")
        return [path for path in _includes().get(name, [])
                if any(os.path.exists(f"{self.common}/{place}/{path}") for place in ("include", "include/uapi"))]

    @property
    def package(self) -> str:
        """The version of the package: what a table of numbers is true of."""
        done = subprocess.run(["dpkg-query", "-W", "-f=${Version}", f"linux-headers-{self.release}-common"],
                              capture_output=True, text=True, check=False)
        return f"{done.stdout or self.release} {os.path.basename(self.config).rsplit('-', 1)[1]}"

    @property
    def plain(self) -> list[str]:
        """For the preprocessor: Debian's configuration, and IS_ENABLED() to ask for it."""
        return [f"-I{self.common}/include", f"-I{self.config}/include", "-D__KERNEL__",
                "-include", f"{self.common}/include/linux/kconfig.h"]

    @property
    def full(self) -> list[str]:
        """For the preprocessor: what the kernel's build gives it, so that every #include is found."""
        arch = [f"{self.common}/arch/{self.arch}/include", f"{self.config}/arch/{self.arch}/include/generated",
                f"{self.common}/include", f"{self.config}/include"]
        uapi = [f"{self.common}/arch/{self.arch}/include/uapi",
                f"{self.config}/arch/{self.arch}/include/generated/uapi",
                f"{self.common}/include/uapi", f"{self.config}/include/generated/uapi"]
        forced = [f"{self.common}/include/linux/{name}" for name in ("compiler-version.h", "kconfig.h",
                                                                     "compiler_types.h")]
        return ["-isystem", _compiler_headers(), *("-I" + d for d in arch + uapi),
                *(word for path in forced for word in ("-include", path)), "-D__KERNEL__", "-DCC_USING_FENTRY"]


@functools.cache
def _includes() -> dict[str, list[str]]:
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "includes"), encoding="ascii") as file:
        lines = [line.split() for line in file if not line.startswith("#")]
    return {name: paths for name, *paths in lines}


@functools.cache
def _compiler_headers() -> str:
    cc = shlex.split(os.environ.get("CC") or "gcc")
    done = subprocess.run([*cc, "-print-file-name=include"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _order(path: str) -> list[int]:
    return [int(n) for n in re.findall(r"\d+", os.path.basename(path))]


def find(series: str) -> Tree | None:
    """The newest installed headers of a series, None where a package is missing."""
    for common in sorted(glob.glob(f"/usr/src/linux-headers-{series}.*-common"), key=_order, reverse=True):
        release = os.path.basename(common)[len("linux-headers-"):-len("-common")]
        for place in ("/usr/src", os.path.join(BUILD, "kernel")):
            for conf in sorted(glob.glob(f"{place}/linux-headers-{release}-*/include/generated/autoconf.h")):
                config = conf[:-len("/include/generated/autoconf.h")]
                arch = os.listdir(f"{config}/arch")
                if "-rt-" not in config and "-cloud-" not in config and len(arch) == 1:
                    return Tree(series, release, common, config, arch[0])
    return None


class Series(Case, abc.ABC):
    """A test that looks at each series."""

    @abc.abstractmethod
    def check_series(self, found: Tree) -> None:
        """Looks at one."""

    def test_6_1(self) -> None:
        self.check_series(need(self, "6.1"))

    def test_6_12(self) -> None:
        self.check_series(need(self, "6.12"))


def need(test: unittest.TestCase, series: str) -> Tree:
    """The tree of a series; skips the test where it is not installed."""
    found = find(series)
    if not found:
        test.skipTest(f"linux-headers-{series}.*-common or its configuration is not installed: make deps check")
    assert found
    return found

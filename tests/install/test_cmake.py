# SPDX-License-Identifier: MIT
"""CMake, as docs/adopting/cmake.md shows it."""

from __future__ import annotations

from install.project import Project, shown
from support import check_all, need

PAGE = "docs/adopting/cmake.md"


class CMake(Project):
    def setUp(self) -> None:
        super().setUp()
        need(self, "cmake")
        self.env["CMAKE_PREFIX_PATH"] = self.path("usr")

    def cmake(self, generator: str) -> None:
        text = shown(PAGE, "CMakeLists.txt")
        self.save("CMakeLists.txt", text.replace("stats.c)", "stats.c other.c)").replace("net.tp)", "net.tp disk.tp)"))
        self.succeed(["cmake", "-G", generator, "-S", ".", "-B", "build"], cwd=self.project, env=self.env)
        self.all_of(["cmake", "--build", "build", "-j4"])

    @check_all("test_make_with_the_fragment is one build system")
    def test_cmake_for_make(self) -> None:
        self.cmake("Unix Makefiles")

    @check_all("test_make_with_the_fragment is one build system")
    def test_cmake_for_ninja(self) -> None:
        need(self, "ninja")
        self.cmake("Ninja")

    @check_all("x")
    def test_cmake_for_ninja_multi(self) -> None:
        need(self, "ninja")
        self.cmake("Ninja Multi-Config")

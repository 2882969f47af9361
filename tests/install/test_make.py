# SPDX-License-Identifier: MIT
"""make and ninja, as docs/adopting/make.md shows them: what is run again when a .tp file is touched, and when it changes."""

from __future__ import annotations

import os

from install.project import Project, shown
from support import check_all, need, read

PAGE = "docs/adopting/make.md"


class Make(Project):
    def test_make_with_the_fragment(self) -> None:
        self.save("Makefile", "include $(shell pkg-config --variable=makefile tp)\nserver: server.o stats.o other.o\n"
                  "server.o stats.o: net.h\nserver.o: disk.h\n")
        self.all_of(["make"])
        os.unlink(self.path("project/net.h"))
        self.assertEqual(self.ran(["make"]), ["gcc server.c", "gcc stats.c", "link", "tpgen net.tp"], "deleted")
        self.assertEqual(self.ran(["make"]), [])
        self.assertIn("up to date", self.succeed(["make"], cwd=self.project, env=self.env).stdout)

    @check_all("test_make_with_the_fragment is one build system")
    def test_make_by_hand(self) -> None:
        text = shown(PAGE, "Makefile").replace("server.o stats.o\n", "server.o stats.o other.o\n", 1)
        rules = text[text.index("net.stamp:"):]
        self.save("Makefile", text + "server.o: disk.h\n" + rules.replace("net", "disk"))
        self.all_of(["make", "-j4"])

    @check_all("test_make_with_the_fragment is one build system")
    def test_ninja_by_hand(self) -> None:
        need(self, "ninja")
        text = shown(PAGE, "build.ninja").replace("cc server.c || net.h", "cc server.c || net.h disk.h")
        self.save("build.ninja", text.replace("link server.o", "link other.o server.o") +
                  "build disk.h: tpgen disk.tp\nbuild other.o: cc other.c\n")
        self.all_of(["ninja"])

    @check_all("it is make and ninja that this is of, and not tpgen")
    def test_what_goes_wrong_without(self) -> None:
        """What docs/adopting/make.md has stamps and restat for."""
        head = shown(PAGE, "Makefile").split("net.stamp:")[0]
        touched, users = ["tpgen net.tp"], ["gcc server.c", "gcc stats.c", "link", "tpgen net.tp"]
        self.save("server.c", shown("README.md", "server.c"))
        need(self, "ninja")
        self.save("build.ninja", shown(PAGE, "build.ninja").replace("  restat = 1\n", ""))
        for makefile, build, after, again in (
                (head + "net.h: net.tp\n\t$(TPGEN) gen -o . net.tp\n", "make", touched, touched),
                (head + "net.h: net.tp\n\t$(TPGEN) gen -o . net.tp && touch $@\n", "make", users, []),
                ("", "ninja", users, users)):
            with self.subTest(makefile + build):
                self.save("Makefile", makefile)
                self.ran([build])
                self.save("net.tp", read(self.path("project/net.tp")))
                self.assertEqual(self.ran([build]), after)
                self.assertEqual(self.ran([build]), again)

# SPDX-License-Identifier: MIT
"""Autoconf and Automake, as docs/adopting/autotools.md shows them."""

from __future__ import annotations

import os
import re
import shutil

from docs.pages import blocks
from install.project import AARCH64, Project, shown
from support import ROOT, check_all, need, read, run

from tpgen import VERSION

PAGE = "docs/adopting/autotools.md"
SHORT = "test_page is the shortest package"
M4, MAKE = ([block.text for block in blocks(read(os.path.join(ROOT, PAGE))) if block.kind == kind] for kind in ("m4", "make"))


class Autotools(Project):
    def setUp(self) -> None:
        super().setUp()
        need(self, "autoconf", "automake")
        self.env["ACLOCAL_PATH"] = self.path("usr/share/aclocal")
        for name in ("TPGEN", "TP_CFLAGS", "TP_LIBS", "CONFIG_SITE"):
            self.env.pop(name, None)

    def package(self, configure: str = M4[0], makefile: str = MAKE[0]) -> None:
        """Its files, with disk.tp and other.c beside those of the page."""
        self.save("configure.ac", configure)
        self.save("Makefile.am", makefile.replace("net.tp", "net.tp disk.tp other.c").replace("= net.h", "= net.h disk.h"))
        self.succeed(["autoreconf", "-i"], cwd=self.project, env=self.env)

    def call(self, *command: str, folder: str = "", status: int = 0, **env: str) -> str:
        """What a command says."""
        done = run([*command], cwd=os.path.join(self.project, folder), env={**self.env, **env})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_page(self) -> None:
        """Word for word. With V=0, a line for each .tp file. All that is made is cleaned."""
        self.package()
        before = set(os.listdir(self.project))
        self.call("./configure")
        configured = set(os.listdir(self.project))
        self.all_of(["make", "-j4"])
        os.utime(self.place("net.tp"))
        self.assertIn(f"  GEN      net.tp.{VERSION}.stamp\n", self.call("make"))
        self.save("net.tp", read(self.place("net.tp")).replace("__string", "__strng"))
        said = self.call("make", "-j4", status=2)
        self.assertEqual(len(re.findall("net.tp:.*: error: no field macro is called '__strng'; did you mean '__string'?", said)), 1, said)
        self.call("make", "clean")
        self.assertEqual(set(os.listdir(self.project)), configured)
        self.call("make", "distclean")
        self.assertEqual(set(os.listdir(self.project)) - {".deps"}, before)

    @check_all(SHORT)
    def test_distcheck(self) -> None:
        """The source tree can't be written to there. The .tp files are distributed, and the headers are not."""
        self.package()
        self.call("./configure")
        self.call("make", "distcheck", "-j2")
        files = self.succeed(["tar", "tf", self.place("server-1.0.tar.gz")]).stdout.split()
        self.assertIn("server-1.0/net.tp", files)
        self.assertEqual([name for name in files if name.endswith((".h", ".stamp", ".tracepoints.c"))], [])

    @check_all(SHORT)
    def test_directories(self) -> None:
        """Built elsewhere, below a path with spaces, objects in folders, C files that are generated."""
        self.save("server.c", re.sub("#define CREATE_TRACE_POINTS.*\n", "", read(self.place("server.c"))))
        self.move(server="src", stats="src", other="src", net="src", disk="src")
        self.save("configure.ac", M4[0].replace("[foreign]", "[foreign subdir-objects]"))
        names = re.sub(r"\b(server\.c|stats\.c|net\.tp|net\.h)", r"src/\1", MAKE[0])
        self.save("Makefile.am", names.replace("src/net.tp", "src/net.tp src/disk.tp src/other.c").replace("src/net.h", "src/net.h src/disk.h")
                  + "AM_CPPFLAGS = -I$(builddir)/src\nnodist_server_SOURCES = src/net.tracepoints.c src/disk.tracepoints.c\n")
        self.call("autoreconf", "-i")
        os.mkdir(self.path("with space"))
        self.project, source = self.path("with space"), self.project
        before = {os.path.join(top, name) for top, _, names in os.walk(source) for name in names}
        self.call("../project/configure")
        build = ["make", "-j4"]
        self.assertEqual(self.ran(build), ["gcc other.c", "gcc server.c", "gcc stats.c", "gcc tracepoints.c", "gcc tracepoints.c", "link",
                                           "tpgen disk.tp", "tpgen net.tp"])
        self.assertEqual(self.ran(build), [])
        os.utime(os.path.join(source, "src/net.tp"))
        self.assertEqual(self.ran(build), ["tpgen net.tp"])
        self.assertEqual({os.path.join(top, name) for top, _, names in os.walk(source) for name in names}, before)
        self.assertIn("disk:disk_request", self.succeed(["./server"], cwd=self.project, env={**self.env, "TP_ENABLE": "*"}).stderr)
        self.call("make", "distclean")
        self.assertEqual([name for _, _, names in os.walk(self.project) for name in names], [])

    @check_all(SHORT)
    def test_libtool(self) -> None:
        """Tracepoints in a library, shared and static; and libtp.a."""
        need(self, "libtoolize")
        self.save("server.c", re.sub("#define CREATE_TRACE_POINTS.*\n", "", read(self.place("server.c"))))
        for name in ("net", "disk"):
            self.save(f"{name}.tp", read(self.place(f"{name}.tp")) + f"EXPORT_TRACEPOINT_SYMBOL({name}_request);\n")
        self.package(M4[0].replace("AC_PROG_CC\n", "AC_PROG_CC\nAM_PROG_AR\nLT_INIT\n"),
                     MAKE[0].replace("server.c stats.c net.tp", "server.c net.tp") + "LDADD = libstats.la\nlib_LTLIBRARIES = libstats.la\n"
                     "libstats_la_SOURCES = stats.c\nnodist_libstats_la_SOURCES = net.tracepoints.c disk.tracepoints.c\n")
        for options, program in ((["--disable-static"], ".libs/server"), (["--disable-shared"], "server"),
                                 ([f"TP_LIBS=-L{self.path('usr/lib')} -l:libtp.a -lurcu-bp -lpthread", "--disable-shared"], "server")):
            with self.subTest(options):
                self.call("./configure", *options)
                self.call("make", "-j4")
                done = self.succeed(["./server"], cwd=self.project, env={**self.env, "TP_ENABLE": "*"})
                self.assertIn("net:net_request", done.stderr)
                self.assertIn("disk:disk_request", done.stderr)
                needed = self.succeed(["readelf", "-d", self.place(program)]).stdout
                self.assertEqual("libtp.so" in needed, "TP_LIBS" not in options[0])
                self.call("make", "distclean")

    @check_all(SHORT)
    def test_without_tracing(self) -> None:
        """The page's package goes on where tpgen is missing."""
        self.package(M4[0].replace("TPGEN_CHECK([0.9])\n", M4[1]), MAKE[0].replace("BUILT_SOURCES = net.h\n", MAKE[1]))
        self.call(self.path("usr/bin/tpgen"), "gen", "--backend", "nop", "-o", "notrace", "net.tp", "disk.tp")
        self.save("stats.c", shown("README.md", "stats.c").split("#include")[0])
        said = self.call("./configure", PKG_CONFIG_PATH="/none", PKG_CONFIG_LIBDIR="/none")
        self.assertIn("configure: WARNING: no tracing: tpgen is not found: ", said)
        self.assertEqual(self.ran(["make"]), ["gcc other.c", "gcc server.c", "gcc stats.c", "link"])
        self.call("make", "distclean")
        self.call("./configure")
        self.assertIn("tpgen net.tp", self.ran(["make"]))

    @check_all(SHORT)
    def test_mistakes(self) -> None:
        """Each with its message, and the remedy."""
        self.save("configure.ac", "AC_INIT([server], [1.0])\nAC_PROG_CC\nTPGEN_CHECK\nAC_OUTPUT\n")
        self.call("aclocal")
        self.call("autoconf", "--force")  # files of one second are of one age to it
        tools = self.path("tools")
        self.fails({"PKG_CONFIG": ""}, "tpgen is not found: install it, or add the directory of its tp.pc to PKG_CONFIG_PATH",
                   PKG_CONFIG_PATH="/none", PKG_CONFIG_LIBDIR="/none")
        self.save("configure.ac", read(self.place("configure.ac")).replace("CHECK", "CHECK([99.0])"))
        self.call("autoconf", "--force")
        self.fails({}, f"tpgen {VERSION} is too old, 99.0 is needed: install a newer one, or add the directory of its tp.pc to PKG_CONFIG_PATH")
        self.save("configure.ac", read(self.place("configure.ac")).replace("([99.0])", ""))
        self.call("autoconf", "--force")
        # Only what configure needs.
        os.mkdir(tools)
        for tool in os.listdir("/usr/bin"):
            if "pkg" not in tool:
                os.symlink(f"/usr/bin/{tool}", os.path.join(tools, tool))
        self.fails({}, "pkg-config is missing, by which tpgen is found: install it, or set PKG_CONFIG to its path", PATH=tools)
        self.fails({}, f"{self.path('usr/bin/tpgen')} does not run: no Python 3 with Jinja2 and pycparser among: false; install "
                   "python3-jinja2 and python3-pycparser, or set TPGEN_PYTHON", TPGEN_PYTHON="false")
        self.fails({"TPGEN": "/none/tpgen"}, "/none/tpgen does not run: /none/tpgen: No such file or directory")
        self.write("bin/gcc", '#!/bin/sh\ncase $* in *-lurcu-bp*) echo "cannot find -lurcu-bp" >&2; exit 1;; esac\nexec /usr/bin/gcc "$@"\n')
        self.fails({}, "liburcu is missing, which tpgen's library is linked with: install it (liburcu-dev)")
        self.write("bin/gcc", '#!/bin/sh\nexec /usr/bin/gcc "$@"\n')
        self.fails({"TP_LIBS": "-ltp-of-none"}, "a program can't be linked with tpgen's library by "
                   f"'-I{self.path('usr/include')}' and '-ltp-of-none': config.log says why")
        self.assertIn("-ltp-of-none", read(self.place("config.log")))

    def fails(self, variables: dict[str, str], message: str, **env: str) -> None:
        """configure ends with this."""
        done = run(["./configure", *(f"{name}={value}" for name, value in variables.items())], cwd=self.project, env={**self.env, **env})
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(done.stderr, f"configure: error: {message}\n")

    @check_all(SHORT)
    def test_cross(self) -> None:
        """For arm64, with a library of that processor, in an emulator."""
        if AARCH64.missing():
            self.skipTest(AARCH64.missing())
        AARCH64.make("libtp.a", "libtp.so")
        for name in ("libtp.a", "libtp.so.1"):
            shutil.copy(os.path.join(AARCH64.directory, name.removesuffix(".1")), self.path(f"usr/lib/{name}"))
        self.save("net.tp", read(self.place("net.tp")) + "#ifndef __aarch64__\n#error for the wrong processor\n#endif\n")
        self.package()
        self.env.pop("CC")
        self.call("./configure", "--host=aarch64-linux-gnu", f"CPPFLAGS={' '.join(AARCH64.cflags)}", f"LDFLAGS={' '.join(AARCH64.ldflags)}")
        self.call("make", "-j4")
        done = self.succeed(AARCH64.command(self.place("server")), env={**self.env, "TP_ENABLE": "*"})
        self.assertIn("net:net_request", done.stderr)

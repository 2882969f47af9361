# SPDX-License-Identifier: MIT
"""Meson, as docs/adopting/meson.md shows it."""

from __future__ import annotations

import os
import re
import subprocess

from install.project import AARCH64, MISTAKE, Project, page_script, shown, shown_with
from support import ROOT, check_all, need, read, run

PAGE = "docs/adopting/meson.md"
ONE_IS_ENOUGH = "test_page configures, builds and runs"


class Meson(Project):
    def setUp(self) -> None:
        super().setUp()
        need(self, "meson", "ninja")

    def program(self) -> str:
        """The page's meson.build, with the files of the base class."""
        return shown(PAGE, "meson.build").replace("'stats.c'", "'stats.c', 'other.c'").replace("'net.tp')", "'net.tp', 'disk.tp')")

    def configure(self, text: str, *options: str) -> subprocess.CompletedProcess:
        self.save("meson.build", text)
        return run(["meson", "setup", "build", "project", *options], cwd=self.dir, env=self.env)

    def built(self, text: str, *options: str) -> None:
        done = self.configure(text, *options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.succeed(["ninja", "-C", "build"], cwd=self.dir, env=self.env)


class Page(Meson):
    def test_page(self) -> None:
        """As a reader types it."""
        self.save("server.c", shown("README.md", "server.c"))
        self.save("meson.build", shown(PAGE, "meson.build"))
        os.symlink(self.path("usr"), self.path("tp"))
        del self.env["PKG_CONFIG_PATH"]
        done = self.succeed(["sh", "-e", "-c", page_script(PAGE)], cwd=self.project, env={**self.env, "HOME": self.dir})
        self.assertEqual(len(re.findall("net:net_request: peer=", done.stderr)), 6)

    @check_all(ONE_IS_ENOUGH)
    def test_run_again(self) -> None:
        self.save("meson.build", self.program())
        build = ["ninja", "-C", "x = y"]
        self.succeed(["meson", "setup", "x = y"], cwd=self.project, env=self.env)
        self.all_of(build)
        both = ["tpgen disk.tp", "tpgen net.tp"]
        os.utime(self.path("usr/bin/tpgen"))
        self.assertEqual(self.ran(build), both, "another tpgen, such as after an upgrade; nothing is compiled")
        self.assertEqual(self.ran(build), [])
        self.break_tp()
        done = run([*build, "-j4"], cwd=self.project, env=self.env)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout.count(MISTAKE), 1, done.stdout)
        self.assertRegex(done.stdout, rf"\n\.\./net.tp:15:3: {re.escape(MISTAKE)}[^\n]*\n\t\t__feild\([^\n]*\n\t\t\^~")


@check_all(ONE_IS_ENOUGH)
class Kinds(Meson):
    """Of libraries, languages and processors."""

    def test_macros(self) -> None:
        self.save("net.tp", "#if !defined(NAME) || !defined(__clang__)\n#error wrong\n#endif\n" + read(self.path("project/net.tp")))
        need(self, "clang")
        self.env["CC"] = "clang"
        text = read(os.path.join(ROOT, PAGE))
        compiler = re.search(r"add `('--cc',\n' '[^`]*)`", text)[1]
        extra = re.search(r"`tpgen.process\('net.tp'(, extra_args: [^`]*)\)`", text)[1]
        self.built(self.program().replace("['gen',", f"['gen', {compiler},").replace("'disk.tp')", f"'disk.tp'{extra})").replace(
            "\n\n", "\nadd_project_arguments('-DNAME', language: 'c')\n", 1))

    def test_static(self) -> None:
        for options, needed in ((["--prefer-static"], "liburcu-bp"), ([], "libtp")):
            self.built(self.program().replace("'>=1.0'", "'>=1.0', static: true"), *options)
            self.assertEqual(self.events("build/server"), ["net"] * 6 + ["disk"])
            self.assertNotIn(needed, self.succeed(["readelf", "-d", self.path("build/server")]).stdout)
            self.succeed(["rm", "-r", self.path("build")])

    def test_cxx(self) -> None:
        need(self, "g++")
        self.save("main.cpp", '#include "disk.h"\n#include "net.h"\nint main()\n{\n\ttrace_net_request("a", 1, 2);\n'
                  '\ttrace_disk_request("b", 1, 2);\n}\n')
        self.save("events.c", '#define CREATE_TRACE_POINTS\n#include "disk.h"\n#include "net.h"\n')
        self.built(self.program().replace("'c')", "'c', 'cpp')").replace("'server.c', 'stats.c', 'other.c'", "'main.cpp', 'events.c'"))
        self.assertEqual(self.events("build/server"), ["net", "disk"])

    def test_subproject(self) -> None:
        """With a library, whose events the program has sites of; it is installed, too."""
        self.other("lib", "subprojects/lib/lib.tp", True)
        self.save("subprojects/lib/meson.build", shown_with(PAGE, "project('lib', 'c')"))
        self.save("subprojects/lib/lib.c", '#define CREATE_TRACE_POINTS\n#include "lib.h"\nint lib(void);\nint lib(void)\n{\n'
                  '\ttrace_lib_request("lib", 1, 2);\n\treturn 0;\n}\n')
        for name in ("first", "second"):
            self.save(f"{name}.c", '#include <lib.h>\nint lib(void);\nint main(void)\n{\n\ttrace_lib_request("user", 1, 2);\n'
                      "\treturn lib();\n}\n")
        dependency = re.search(r"`(subproject\('lib'\)[^`]*)`", read(os.path.join(ROOT, PAGE)))[1]
        text = f"project('users', 'c')\nlib_dep = {dependency}\n" + "".join(
            f"executable('{name}', '{name}.c', dependencies: lib_dep)\n" for name in ("first", "second"))
        self.built(text, f"--prefix={self.path('out')}", "--libdir=lib")
        self.assertEqual(self.events("build/first"), ["lib", "lib"])
        self.assertEqual(self.events("build/second"), ["lib", "lib"])
        self.succeed(["ninja", "-C", "build", "install"], cwd=self.dir, env=self.env)
        self.assertEqual(read(self.path("out/include/lib.h")), read(self.path("build/subprojects/lib/lib.h")))
        path = self.path("project/subprojects/lib/lib.tp")
        self.save("subprojects/lib/lib.tp", read(path))
        self.assertEqual(self.ran(["ninja", "-C", self.path("build")]), ["tpgen lib.tp"])
        self.save("subprojects/lib/lib.tp", read(path).replace("__field(", "__feild("))
        done = run(["ninja", "-C", "build", "-j4"], cwd=self.dir, env=self.env)
        self.assertEqual(done.stdout.count("lib.tp:15:3: " + MISTAKE), 1, done.stdout)

    def test_arm64(self) -> None:
        if AARCH64.missing():
            self.skipTest(AARCH64.missing())
        root = self.path("root")
        AARCH64.install(DESTDIR=root, PREFIX="/usr", LIBDIR="/usr/lib/aarch64-linux-gnu")
        cross = self.write("arm64.ini", f"""[binaries]
c = '{AARCH64.cc}'
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
[properties]
sys_root = '{root}'
pkg_config_libdir = ['{root}/usr/lib/aarch64-linux-gnu/pkgconfig']
[built-in options]
c_args = {list(AARCH64.cflags)}
c_link_args = {list(AARCH64.ldflags)}
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
""")
        del self.env["CC"], self.env["PKG_CONFIG_PATH"]
        for tpgen in ("root/usr", "usr"):
            self.built(self.program(), "--cross-file", cross)
            done = self.succeed(AARCH64.command(self.path("build/server")), env={**self.env, "TP_ENABLE": "*"})
            self.assertEqual(len(re.findall("_request: peer=", done.stderr)), 7)
            self.assertIn(f"COMMAND = {self.path(tpgen)}/bin/tpgen gen", read(self.path("build/build.ninja")))
            self.succeed(["rm", "-r", self.path("build"), self.path(f"{tpgen}/bin/tpgen")])


@check_all(ONE_IS_ENOUGH)
class Messages(Meson):
    def test_messages(self) -> None:
        """Each is in the page's table."""
        table = read(os.path.join(ROOT, PAGE)).split("## Messages")[1]
        no_python = {"TPGEN_PYTHON": "/none"}
        for text, env, shown_as, message in (
                (self.program().replace("1.0", "9.0"), {}, "Invalid version, need 'tp' ['>=9.0'] found '1.0.0",
                 "project/meson.build:3:0: ERROR: Dependency lookup for tp with method 'pkgconfig' failed: Invalid version, need 'tp' "
                 "['>=9.0'] found '1.0.0~rc1'."),
                (self.program(), {"PKG_CONFIG_PATH": ""}, 'Dependency "tp" not found',
                 'project/meson.build:3:0: ERROR: Dependency "tp" not found, tried pkgconfig'),
                (self.program().replace("disk.tp", "deep/net.tp"), {}, "Multiple producers for Ninja target",
                 'ERROR: Multiple producers for Ninja target "server.p/net.h". Please rename your targets.'),
                (self.program().replace("disk.tp", "dsik.tp"), {}, "File dsik.tp does not exist",
                 "project/meson.build:6:0: ERROR: File dsik.tp does not exist."),
                (self.program(), no_python, "no Python 3 with Jinja2 and pycparser",
                 "tpgen: no Python 3 with Jinja2 and pycparser among: /none; install python3-jinja2 and python3-pycparser, or set "
                 "TPGEN_PYTHON"),
                (self.program().replace("tpgen.process('net.tp', 'disk.tp')", "[]"), {}, "net.h: No such file",
                 "disk.h: No such file or directory")):
            with self.subTest(message):
                self.save("deep/net.tp", read(self.path("project/net.tp")))
                self.env, saved = {**self.env, **env}, self.env
                done = self.configure(text)
                said = done.stdout + done.stderr
                if done.returncode == 0:
                    done = run(["ninja", "-C", "build"], cwd=self.dir, env=self.env)
                    said = done.stdout + done.stderr
                self.env = saved
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(message, said)
                self.assertIn(shown_as, table)
                run(["rm", "-rf", self.path("build")])

    def test_error(self) -> None:
        """A project's own, as the page proposes it."""
        text = "project('server', 'c')\n" + shown_with(PAGE, "if not tp.found()").replace("1.0", "9.0")
        done = self.configure(text)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ERROR: Problem encountered: tpgen 9.0 is missing: see https://..., or configure with -Dtracing=false", done.stdout)

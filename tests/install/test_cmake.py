# SPDX-License-Identifier: MIT
"""CMake, as docs/adopting/cmake.md shows it."""

from __future__ import annotations

import os
import re
import subprocess

from install.project import AARCH64, MISTAKE, Project, page_script, shown, shown_with
from support import ROOT, check_all, need, read, run

PAGE = "docs/adopting/cmake.md"
ONE_IS_ENOUGH = "test_page configures, builds and runs"
HEAD = "cmake_minimum_required(VERSION 3.20)\nproject(server C)\nfind_package(tpgen 1.0 REQUIRED)\n"


class CMake(Project):
    def setUp(self) -> None:
        super().setUp()
        need(self, "cmake")
        self.env["CMAKE_PREFIX_PATH"] = self.path("usr")

    def configure(self, text: str, *options: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess:
        """With this CMakeLists.txt, and without the options of the last time."""
        self.save("CMakeLists.txt", text)
        if os.path.exists(self.path("build/CMakeCache.txt")):
            os.unlink(self.path("build/CMakeCache.txt"))  # the compiler is known from files beside it
        return run(["cmake", "-Wdev", "-S", "project", "-B", "build", *options], cwd=self.dir, env={**self.env, **(env or {})})

    def built(self, text: str, *options: str) -> None:
        done = self.configure(text, *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.succeed(["cmake", "--build", "build", "-j4"], cwd=self.dir, env=self.env)

    def refused(self, text: str, *options: str, env: dict[str, str] | None = None) -> str:
        """The error's text, without line breaks and the stack of calls."""
        done = self.configure(text, *options, env=env)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        message = re.match(r"CMake Error(?: at [^\n]*:\n| in [^\n]*:\n|: )(.*?)\n(?:Call Stack|\n\n|\Z)", done.stderr, re.S)
        self.assertTrue(message, done.stderr)
        return " ".join(message[1].split())


class Page(CMake):
    def test_page(self) -> None:
        """As a reader types it."""
        self.save("server.c", shown("README.md", "server.c"))
        self.save("CMakeLists.txt", shown(PAGE, "CMakeLists.txt"))
        os.rename(self.path("usr/bin/tpgen.real"), self.path("usr/bin/tpgen"))
        os.rename(self.path("usr"), self.path("tp"))
        del self.env["CMAKE_PREFIX_PATH"]
        env = {**self.env, "HOME": self.dir}
        done = self.succeed(["sh", "-e", "-c", page_script(PAGE)], cwd=self.project, env=env)
        self.assertEqual(len(re.findall("net:net_request: peer=", done.stderr)), 6)

    def run_again(self, generator: str) -> None:
        text = shown(PAGE, "CMakeLists.txt")
        self.save("CMakeLists.txt", text.replace("stats.c)", "stats.c other.c)").replace("net.tp)", "net.tp disk.tp)"))
        configure = ["cmake", "-G", generator, "-S", ".", "-B", "b $[1]"]
        build = ["cmake", "--build", "b $[1]", "-j4"]
        self.succeed(configure, cwd=self.project, env=self.env)
        self.all_of(build)
        both = ["tpgen disk.tp", "tpgen net.tp"]
        os.utime(self.path("usr/bin/tpgen"))
        self.assertEqual(self.ran(build), both, "another tpgen, such as after an upgrade; nothing is compiled")
        self.assertEqual(self.ran(build), [])
        self.succeed([*configure, "-DCMAKE_C_FLAGS=-DTRACED=1"], cwd=self.project, env=self.env)
        self.assertEqual([line for line in self.ran(build) if line.startswith("tpgen")], both, "other options of the compiler")
        self.assertEqual(self.ran(build), [])
        self.break_tp()
        done = run(build, cwd=self.project, env=self.env)
        said = done.stdout + done.stderr
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(said.count(MISTAKE), 1, said)
        self.assertRegex(said, rf"{self.project}/net.tp:15:3: {re.escape(MISTAKE)}[^\n]*\n\t\t__feild\([^\n]*\n\t\t\^~")

    @check_all(ONE_IS_ENOUGH)
    def test_make(self) -> None:
        self.run_again("Unix Makefiles")

    @check_all(ONE_IS_ENOUGH)
    def test_ninja(self) -> None:
        need(self, "ninja")
        self.run_again("Ninja")

    @check_all(ONE_IS_ENOUGH)
    def test_ninja_for_several_configurations(self) -> None:
        need(self, "ninja")
        self.run_again("Ninja Multi-Config")


TREE = {
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.20)
project(tree C CXX)
add_subdirectory(lib)
add_subdirectory(only)
add_subdirectory(object)
add_subdirectory(app)
""",
    # The file's own macros; options that concern other languages; what CMake itself has trouble with.
    "lib/CMakeLists.txt": """find_package(tpgen REQUIRED)
add_library(lib lib.c)
target_compile_definitions(lib PUBLIC $<$<COMPILE_LANGUAGE:CXX>:CXX_ONLY> "TEXT=\\"a b,c\\"" PRIVATE IN_LIB)
target_include_directories(lib PUBLIC "in lib")
target_compile_options(lib PRIVATE "SHELL:-include stdio.h" -DOPTION=1 $<$<COMPILE_LANGUAGE:C>:-Wall>)
tpgen_add_events(lib PUBLIC lib.tp CREATE_TRACE_POINTS OPTIONS --expand-includes)
""",
    "lib/lib.c": '#include "lib.h"\nint lib(void);\nint lib(void)\n{\n\ttrace_lib_request("lib", 1, 2);\n\treturn 0;\n}\n',
    "lib/in lib/fields.h": "#define METHOD __field(char, method)\n",
    "only/CMakeLists.txt": """add_library(only INTERFACE)
target_compile_definitions(only INTERFACE IN_ONLY)
find_package(tpgen REQUIRED)
tpgen_add_events(only only.tp CREATE_TRACE_POINTS)
add_library(tree::only ALIAS only)
""",
    "object/CMakeLists.txt": """find_package(tpgen REQUIRED)
add_library(object OBJECT object.c)
target_include_directories(object PRIVATE "in object")
tpgen_add_events(object object.tp CREATE_TRACE_POINTS INCLUDE_DIRECTORIES "in object" OPTIONS --expand-includes)
""",
    "object/object.c": '#include "object.h"\nint object(void);\nint object(void)\n{\n\ttrace_object_request("o", 1, 2);\n\treturn 0;\n}\n',
    "object/in object/fields.h": "#define METHOD __field(int, method)\n",
    # With the old signature of target_link_libraries(); with a file that is used twice, one that is made, and one outside.
    "app/CMakeLists.txt": """find_package(tpgen REQUIRED)
add_executable(app app.c two.cpp)
target_link_libraries(app lib tree::only object)
add_custom_command(OUTPUT made.tp COMMAND cp ${CMAKE_CURRENT_SOURCE_DIR}/made.in made.tp DEPENDS made.in)
tpgen_add_events(app app.tp ../../outside.tp)
tpgen_add_events(app made.tp sched.tp CREATE_TRACE_POINTS)
add_executable(second second.c)
target_compile_definitions(second PRIVATE IN_SECOND)
tpgen_add_events(second app.tp CREATE_TRACE_POINTS)
""",
    "app/app.c": """#include <pthread.h>
#define CREATE_TRACE_POINTS
#include "app.h"
#include "outside.h"
#undef CREATE_TRACE_POINTS
#include "lib.h"
#include "made.h"
#include "only.h"
#include "sched.h"
int lib(void);
int object(void);
int two(void);
int main(void)
{
	trace_app_request("a", 1, 2);
	trace_outside_request("a", 1, 2);
	trace_lib_request("a", 1, 2);
	trace_made_request("a", 1, 2);
	trace_only_request("a", 1, 2);
	trace_sched_request("a", 1, SCHED_RR);
	return lib() + object() + two();
}
""",
    "app/two.cpp": """#include "app.h"
#include "only.h"
extern "C" int two(void);
int two(void)
{
	trace_app_request("b", 1, 2);
	trace_only_request("b", 1, 2);
	return 0;
}
""",
    "app/second.c": '#include "app.h"\nint main(void)\n{\n\ttrace_app_request("c", 1, 2);\n\treturn 0;\n}\n',
}
TRACED = ["app", "outside", "lib", "made", "only", "sched", "lib", "object", "app", "only"]


@check_all(ONE_IS_ENOUGH)
class Tree(CMake):
    """Folders with other include paths, in whose names are blanks; targets of all kinds, whose events others use; a system
    header's name."""

    def setUp(self) -> None:
        super().setUp()
        os.rename(self.path("usr/bin/tpgen.real"), self.path("usr/bin/tpgen"))
        os.rename(self.path("usr"), self.path("moved = to here"))
        self.env["CMAKE_PREFIX_PATH"] = self.path("moved = to here")
        self.source = "project/a = b"
        for name, text in TREE.items():
            self.write(f"{self.source}/{name}", text)
        for name, path in (("lib", "lib/lib.tp"), ("only", "only/only.tp"), ("object", "object/object.tp"), ("app", "app/app.tp"),
                           ("outside", "../outside.tp"), ("made", "app/made.in"), ("sched", "app/sched.tp")):
            self.other(name, f"a = b/{path}", name == "lib")
        for name in ("lib", "object"):
            path = f"a = b/{name}/{name}.tp"
            text, nr = re.subn(r"__field\(\s*char,\s*method\s*\)", "METHOD", read(self.path(f"project/{path}")))
            self.assertEqual(nr, 1)
            self.save(path, text.replace("#include", '#include "fields.h"\n#include', 1))
        # Each knows whose macros it is made with.
        for name, wanted in (("lib", "defined(IN_LIB) && defined(TEXT) && OPTION == 1 && !defined(CXX_ONLY) && FLAG == 2"),
                             ("only", "defined(IN_ONLY)"), ("object", "!defined(TEXT)"),
                             ("app", "defined(IN_SECOND) != defined(TEXT)")):
            path = f"a = b/{name}/{name}.tp"
            text = read(self.path(f"project/{path}"))
            self.save(path, text.replace("TRACE_EVENT(", f"#if {wanted}\nTRACE_EVENT(", 1).replace("\n);\n", "\n);\n#endif\n", 1))

    def tree(self, generator: str, *options: str) -> None:
        done = run(["cmake", "-G", generator, "-S", self.source, "-B", "x = y z", "-DCMAKE_C_FLAGS='-DFLAG=2'", *options],
                   cwd=self.dir, env=self.env)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        build = ["cmake", "--build", "x = y z", "-j4"]
        self.succeed(build, cwd=self.dir, env=self.env)
        places = [os.path.join(top, "app") for top, _, names in os.walk(self.path("x = y z")) if "app" in names]
        self.assertEqual([self.events(place) for place in places], [TRACED])
        self.assertEqual(self.events(places[0].replace("app/Debug/app", "app/Debug/second").replace("app/app", "app/second")), ["app"])
        self.assertNotRegex(self.succeed(build, cwd=self.dir, env=self.env).stdout, "Making|Building")
        fields = f"{self.source}/lib/in lib/fields.h"
        self.write(fields, read(self.path(fields)).replace("char", "short"))
        said = self.succeed(build, cwd=self.dir, env=self.env).stdout
        self.assertEqual(re.findall(r"Making (\S+)", said), ["lib.h"], "what it includes has changed")
        self.assertEqual(len(re.findall(r"Building C object (\S+)", said)), 3, said)  # two of lib, one of app
        self.write(fields, "#define METHOD __feild(char, method)\n")
        done = run(build, cwd=self.dir, env=self.env)
        self.assertEqual((done.stdout + done.stderr).count(MISTAKE), 1, done.stdout + done.stderr)

    def test_make_shared(self) -> None:
        self.tree("Unix Makefiles", "-DBUILD_SHARED_LIBS=ON")

    def test_ninja_for_several_configurations_unity(self) -> None:
        need(self, "ninja")
        self.tree("Ninja Multi-Config", "-DCMAKE_UNITY_BUILD=ON")


@check_all(ONE_IS_ENOUGH)
class Kinds(CMake):
    """Of libraries, languages and processors."""

    def test_static(self) -> None:
        server = "add_executable(server server.c)\n"
        for text in (f"set(tpgen_USE_STATIC_LIBS ON)\n{HEAD}{server}",
                     f"{HEAD}{server}target_link_libraries(server PRIVATE tpgen::tp_static)\n"):
            self.built(text + "tpgen_add_events(server net.tp disk.tp)\n")
            self.assertEqual(self.events("build/server"), ["net"] * 6 + ["disk"])
            self.assertNotIn("libtp.so", self.succeed(["readelf", "-d", self.path("build/server")]).stdout)

    def test_alone(self) -> None:
        """With neither libtp.so nor liburcu-bp.so, and the C library in the program, too."""
        suffix = "set(CMAKE_FIND_LIBRARY_SUFFIXES .a)\nset(tpgen_USE_STATIC_LIBS ON)\nfind"
        self.built(HEAD.replace("find", suffix, 1) + "add_executable(server server.c)\n"
                   "target_link_options(server PRIVATE -static)\ntpgen_add_events(server net.tp disk.tp)\n")
        self.assertEqual(self.events("build/server"), ["net"] * 6 + ["disk"])

    def test_installed_library(self) -> None:
        self.other("lib", "lib.tp", True)
        self.save("lib.c", TREE["lib/lib.c"])
        self.save("user/user.c", '#include <lib.h>\nint lib(void);\nint main(void)\n{\n\ttrace_lib_request("user", 1, 2);\n'
                  "\treturn lib();\n}\n")
        self.save("lib-config.cmake", "include(CMakeFindDependencyMacro)\nfind_dependency(tpgen)\n"
                  "include(${CMAKE_CURRENT_LIST_DIR}/lib-targets.cmake)\n")
        self.save("user/CMakeLists.txt", "cmake_minimum_required(VERSION 3.20)\nproject(user C)\nfind_package(lib REQUIRED)\n"
                  "add_executable(user user.c)\ntarget_link_libraries(user PRIVATE lib)\n")
        for kind in ("STATIC", "SHARED"):
            self.built(HEAD.replace("server", "lib") + f"add_library(lib {kind} lib.c)\n" + shown_with(PAGE, "TPGEN_HEADERS") + """\
install(TARGETS lib EXPORT lib DESTINATION lib INCLUDES DESTINATION include)
install(EXPORT lib FILE lib-targets.cmake DESTINATION lib/cmake/lib)
install(FILES lib-config.cmake DESTINATION lib/cmake/lib)
""", f"-DCMAKE_INSTALL_PREFIX={self.path('usr')}", "-DCMAKE_INSTALL_RPATH_USE_LINK_PATH=ON")
            self.succeed(["cmake", "--install", "build"], cwd=self.dir, env=self.env)
            done = run(["cmake", "-S", "project/user", "-B", "user"], cwd=self.dir, env=self.env)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.succeed(["cmake", "--build", "user"], cwd=self.dir, env=self.env)
            self.assertEqual(self.events("user/user"), ["lib", "lib"])

    def test_cxx(self) -> None:
        need(self, "g++")
        self.save("main.cpp", '#include "disk.h"\n#include "net.h"\nint main()\n{\n\ttrace_net_request("a", 1, 2);\n'
                  '\ttrace_disk_request("b", 1, 2);\n}\n')
        text = HEAD.replace("server C", "server CXX") + "add_executable(server main.cpp)\ntpgen_add_events(server net.tp disk.tp"
        self.env["CXXFLAGS"] = "-std=c++17"
        done = self.configure(text + " CREATE_TRACE_POINTS)\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        made = read(self.path("build/server.events/server.events.cxx"))
        self.assertIn('#define CREATE_TRACE_POINTS\n#include "net.h"\n#include "disk.h"\n', made)
        if "must be defined in a C file" not in read(os.path.join(ROOT, "templates/userspace/header.h.j2")):
            self.succeed(["cmake", "--build", "build"], cwd=self.dir, env=self.env)
            self.assertEqual(self.events("build/server"), ["net", "disk"])
        self.built(text.replace("server CXX", "server C CXX") + " CREATE_TRACE_POINTS)\n")
        self.assertEqual(self.events("build/server"), ["net", "disk"])

    def test_clang(self) -> None:
        need(self, "clang")
        self.built(HEAD + "add_executable(server server.c)\ntpgen_add_events(server net.tp disk.tp)\n", "-DCMAKE_C_COMPILER=clang",
                   "-DCMAKE_C_COMPILER_TARGET=x86_64-linux-gnu" if os.uname().machine == "x86_64" else "-DNONE=",
                   "-DCMAKE_BUILD_TYPE=Release")
        self.assertEqual(self.events("build/server"), ["net"] * 6 + ["disk"])
        self.assertIn("--cc\n'/usr/bin/clang'  --target=x86_64-linux-gnu", read(self.path("build/server.events/server.events.arguments.C")))

    def test_old_project(self) -> None:
        """One that knows nothing of new policies, links by the old signature, and gives events to another folder's target."""
        self.save("sub/CMakeLists.txt", "find_package(tpgen REQUIRED)\nadd_executable(server ../server.c ../stats.c)\n"
                  "target_link_libraries(server m)\ntarget_precompile_headers(server PRIVATE <stdio.h> <net.h>)\n"
                  "tpgen_add_events(server ../net.tp)\n")
        self.built(HEAD.replace("3.20", "3.5").replace("find", "add_subdirectory(sub)\nfind") + "tpgen_add_events(server disk.tp)\n",
                   "-DCMAKE_WARN_DEPRECATED=OFF")
        self.assertEqual(self.events("build/sub/server"), ["net"] * 6 + ["disk"])

    def test_places(self) -> None:
        """A directory that is a link, as /lib is one to /usr/lib; another command."""
        root = self.path("root")
        os.mkdir(root)
        os.rename(self.path("usr"), f"{root}/usr")
        os.symlink("usr/lib", f"{root}/lib")
        os.rename(f"{root}/usr/bin/tpgen.real", f"{root}/usr/bin/tpgen")
        os.makedirs(f"{root}/opt/bin")
        os.symlink("../../usr/bin/tpgen", f"{root}/opt/bin/trace-generator")
        place = f"-Dtpgen_DIR={root}/lib/cmake/tpgen"
        text = HEAD + "add_executable(server server.c)\ntpgen_add_events(server net.tp disk.tp)\n" \
            'get_target_property(command tpgen::tpgen LOCATION)\nmessage(STATUS "command: ${command}")\n'
        for options, command in ((), "usr/bin/tpgen"), ((f"-DTPGEN_EXECUTABLE={root}/opt/bin/trace-generator",), "opt/bin/trace-generator"):
            done = self.configure(text, place, *options)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn(f"command: {root}/{command}\n", done.stdout)
            self.succeed(["cmake", "--build", "build"], cwd=self.dir, env=self.env)
            self.assertEqual(self.events("build/server"), ["net"] * 6 + ["disk"])

    def test_arm64(self) -> None:
        """With tpgen and libtp for it below a root of its own, as Debian lays them out."""
        if AARCH64.missing():
            self.skipTest(AARCH64.missing())
        root = self.path("root")
        AARCH64.install(DESTDIR=root, PREFIX="/usr", LIBDIR="/usr/lib/aarch64-linux-gnu")
        toolchain = self.write("arm64.cmake", f"""set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER {AARCH64.cc})
set(CMAKE_FIND_ROOT_PATH {root} {os.path.join(AARCH64.directory, 'sysroot')})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
""")
        del self.env["CC"], self.env["CMAKE_PREFIX_PATH"]
        self.save("net.tp", "#ifndef __aarch64__\n#error not for it\n#endif\n" + read(self.path("project/net.tp")))
        events = "add_executable(server server.c)\ntpgen_add_events(server net.tp disk.tp)\n"
        for static in ("OFF", "ON"):
            self.built(HEAD + events, f"-DCMAKE_TOOLCHAIN_FILE={toolchain}", f"-Dtpgen_USE_STATIC_LIBS={static}")
            done = self.succeed(AARCH64.command(self.path("build/server")), env={**self.env, "TP_ENABLE": "*"})
            self.assertEqual(len(re.findall("_request: peer=", done.stderr)), 7)
        # That of this machine is none for the other.
        self.assertEqual(self.refused(HEAD + events, "-DCMAKE_SYSTEM_NAME=Linux", f"-DCMAKE_C_COMPILER={AARCH64.cc}",
                                      f"-DCMAKE_PREFIX_PATH={self.path('usr')}"),
                         'Could not find a configuration file for package "tpgen" that is compatible with requested version "1.0". '
                         f"The following configuration files were considered but not accepted: {self.path('usr')}/lib/cmake/tpgen/"
                         f"tpgen-config.cmake, version: 1.0.0~rc1 (for {os.uname().machine}-linux-gnu)")


@check_all(ONE_IS_ENOUGH)
class Messages(CMake):
    def test_use(self) -> None:
        self.save("deep/net.tp", "")
        self.save("beside/net.tp", "")
        self.save("beside/net.h", "")
        at = self.project
        for call, message in (
                ("net.tp", "there is no target 'net.tp': add_executable() or add_library() comes first."),
                ("server", "there is no .tp file: name at least one."),
                ("server nte.tp", f"there is no file {at}/nte.tp: correct its name, or make it."),
                ("server PRIVAT net.tp", "'PRIVAT' is neither a .tp file nor one of PRIVATE, PUBLIC, INTERFACE, CREATE_TRACE_POINTS, "
                                         "LANGUAGE, INCLUDE_DIRECTORIES and OPTIONS."),
                ("server net.tp deep/net.tp", "'deep/net.tp' is not the only net.tp of server, whose headers are in one directory: "
                                              "rename one."),
                ("server beside/net.tp", f"files beside {at}/beside/net.h would include that, and not the header that is made of net.tp "
                                         "in the build directory: remove net.h, or rename one of the two."),
                ("server PUBLIC PRIVATE net.tp", "one call can't be PRIVATE and PUBLIC: make one for each."),
                ("only PUBLIC net.tp", "an INTERFACE library can't have PUBLIC events: write INTERFACE."),
                ("server INTERFACE net.tp CREATE_TRACE_POINTS", "CREATE_TRACE_POINTS makes a file of server include the headers: write "
                                                                "PUBLIC, not INTERFACE."),
                ("server net.tp LANGUAGE Rust", "LANGUAGE is C or CXX, not 'Rust'."),
                ("server net.tp LANGUAGE CXX", "the project has no compiler for CXX: write project(... LANGUAGES CXX)."),
                ("nothing net.tp", "'nothing' is not built of files here: name an executable or a library of this project."),
                ("tpgen::tp net.tp", "'tpgen::tp' is not built of files here: name an executable or a library of this project.")):
            with self.subTest(call):
                said = self.refused(f"{HEAD}add_executable(server server.c)\nadd_library(only INTERFACE)\nadd_custom_target(nothing)\n"
                                    f"tpgen_add_events({call})\n")
                self.assertEqual(said, f"tpgen_add_events({call.split()[0]}): {message}")

    def test_both_libraries(self) -> None:
        said = self.refused(HEAD + "add_executable(server server.c)\ntpgen_add_events(server net.tp disk.tp)\n"
                            "target_link_libraries(server PRIVATE tpgen::tp_static)\n")
        self.assertEqual(said, 'The INTERFACE_TPGEN_LIBRARY property of "tpgen::tp_static" does not agree with the value of '
                         'TPGEN_LIBRARY already determined for "server". CMake Generate step failed. Build files cannot be regenerated '
                         "correctly.")

    def test_not_found(self) -> None:
        config = self.path("usr/lib/cmake/tpgen/tpgen-config.cmake")
        where = f'Found package configuration file: {config} but it set tpgen_FOUND to FALSE so package "tpgen" is considered to be ' \
            "NOT FOUND. Reason given by package: "
        self.save("older", "#!/bin/sh\necho tpgen 0.1, for interface 0 of its runtime\n")
        os.chmod(self.path("project/older"), 0o755)
        for options, env, message in (
                ((), {"TPGEN_PYTHON": "/none"},
                 f"{self.path('usr/bin/tpgen')} --version fails (1): tpgen: no Python 3 with Jinja2 and pycparser among: /none; "
                 "install python3-jinja2 and python3-pycparser, or set TPGEN_PYTHON"),
                (("-DTPGEN_EXECUTABLE=/none",), {}, "/none --version fails (No such file or directory):"),
                ((f"-DTPGEN_EXECUTABLE={self.project}/older",), {},
                 f"{self.project}/older is of another version (tpgen 0.1, for interface 0 of its runtime) than the library in "
                 f"{self.path('usr')}/lib, which has interface 1: install tpgen 1.0.0~rc1, and set TPGEN_EXECUTABLE to its path."),
                (("-Dtpgen_URCU_BP_LIBRARY=",), {},
                 "programs with tracepoints are linked with liburcu, which is not found: install liburcu-dev, or set "
                 "tpgen_URCU_BP_LIBRARY to liburcu-bp.so and tpgen_URCU_INCLUDE_DIR to the directory of urcu/static/urcu-bp.h.")):
            with self.subTest(message):
                self.assertEqual(self.refused(HEAD, *options, env=env), where + message)
        done = self.configure(HEAD.replace("REQUIRED", "REQUIRED COMPONENTS tpgen"), "-Dtpgen_URCU_BP_LIBRARY=")
        self.assertEqual((done.returncode, done.stderr), (0, ""), "who only makes headers needs no liburcu")
        self.assertEqual(self.refused(HEAD.replace("REQUIRED", "REQUIRED COMPONENTS tp perl")),
                         where + "tpgen has no component 'perl'; its components are tp, tp_static and tpgen.")
        done = self.configure(HEAD.replace("REQUIRED", "COMPONENTS perl") + 'message("${tpgen_FOUND}: ${tpgen_NOT_FOUND_MESSAGE}")\n')
        self.assertIn("\n0: tpgen has no component 'perl'; its components are tp, tp_static and tpgen.\n", done.stderr)
        self.assertEqual(done.returncode, 0)
        os.unlink(self.path("usr/lib/libtp.a"))
        self.assertEqual(self.refused(HEAD, "-Dtpgen_USE_STATIC_LIBS=ON"), where + f"tpgen's library {self.path('usr')}/lib/libtp.a is "
                         "not there: install tpgen again.")
        self.assertEqual(self.configure(HEAD).returncode, 0)

    def test_versions(self) -> None:
        for wanted, found in (("", 1), ("1", 1), ("1.0.0", 1), ("1.0...1.9", 1), ("0.1...1", 1), ("1.1", 0), ("0.9", 0), ("2", 0), ("1.1...2", 0),
                              ("0.1...<1", 0), ("1.0.0 EXACT", 1), ("1.0.1 EXACT", 0)):
            with self.subTest(wanted):
                done = self.configure(HEAD.replace("1.0 REQUIRED", f"{wanted} QUIET") + 'message(STATUS "found: ${tpgen_FOUND}")\n')
                self.assertIn(f"found: {found}\n", done.stdout)
        self.assertEqual(self.refused(HEAD.replace("1.0", "9.1")),
                         'Could not find a configuration file for package "tpgen" that is compatible with requested version "9.1". '
                         f"The following configuration files were considered but not accepted: {self.path('usr')}/lib/cmake/tpgen/"
                         "tpgen-config.cmake, version: 1.0.0~rc1")

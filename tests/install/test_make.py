# SPDX-License-Identifier: MIT
"""make and ninja, as docs/adopting/make.md shows them: what is run again when a .tp file is touched, and when it changes."""

from __future__ import annotations

import os
import re
import shutil

from docs.pages import blocks
from install.project import AARCH64, Project, shown
from support import ROOT, check_all, need, read, run

from tpgen import VERSION

PAGE = "docs/adopting/make.md"
INCLUDE = "include $(shell pkg-config --variable=makefile tp)\n"
SHORT = "test_make_with_the_fragment is the shortest Makefile"

# Of the page: events in folders, below a build directory, and rules by hand.
FOLDERS, BELOW, BY_HAND = (block.text for block in blocks(read(os.path.join(ROOT, PAGE))) if block.name == "Makefile")

STAMP = f".tp.{VERSION}.stamp"

EVENT = """#define TRACE_SYSTEM {0}
TRACE_EVENT({0}_hit, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, n)),
	TP_fast_assign(__entry->n = n;), TP_printk("n=%d", __entry->n));
"""
MAIN = """#define CREATE_TRACE_POINTS
#include "one.h"
int main(void)
{
	trace_one_hit(1);
	return 0;
}
"""


# As nginx's auto/make: every object has a rule of its own; the files of src/core are compiled without the paths of src/http.
CONFIGURE = r"""#!/bin/sh
CFLAGS="-W -Wall -Werror -O" CORE_LIBS=-lm
CORE_DEPS="src/core/ngx_config.h src/core/ngx_core.h src/core/ngx_trace.h" CORE_SRCS="src/core/nginx.c"
HTTP_SRCS="src/http/ngx_http.c src/core/ngx_trace.tracepoints.c"
mkdir -p objs/src/core objs/src/http
{
cat <<END
CFLAGS = $CFLAGS \$(TP_CFLAGS)
include \$(shell pkg-config --variable=makefile tp)
CORE_INCS = -I src/core
HTTP_INCS = -I src/http
CORE_DEPS = $CORE_DEPS
build: objs/nginx
objs/nginx: $(for src in $CORE_SRCS $HTTP_SRCS; do echo objs/${src%.c}.o; done | tr '\n' ' ')
	\$(CC) -o objs/nginx \$^ `echo $CORE_LIBS '$(TP_LIBS)'`
END
for src in $CORE_SRCS; do
	printf '%s: $(CORE_DEPS) %s\n\t$(CC) -c $(CFLAGS) $(CORE_INCS) -o $@ %s\n' objs/${src%.c}.o $src $src
done
for src in $HTTP_SRCS; do
	printf '%s: $(CORE_DEPS) %s\n\t$(CC) -c $(CFLAGS) $(CORE_INCS) $(HTTP_INCS) -o $@ %s\n' objs/${src%.c}.o $src $src
done
} >objs/Makefile
"""
NGINX = {
    "configure": CONFIGURE,
    "Makefile": "default:\n\t$(MAKE) -f objs/Makefile\n",
    "src/core/ngx_config.h": "#include <stddef.h>\n",
    "src/core/ngx_core.h": "#pragma once\ntypedef struct ngx_connection_s { unsigned long number; } ngx_connection_t;\n",
    "src/http/ngx_http.h": "#pragma once\nstruct ngx_http_request_s { ngx_connection_t *connection; };\n"
                           "void ngx_http_process(struct ngx_http_request_s *r);\n",
    "src/core/nginx.c": "#include <ngx_config.h>\n#include <ngx_core.h>\n#include <ngx_trace.h>\nvoid ngx_http_init(ngx_connection_t *c);\n"
                        "int main(void)\n{\n\tngx_connection_t c = { 7 };\n\n\ttrace_ngx_open(&c);\n\tngx_http_init(&c);\n\treturn 0;\n}\n",
    "src/http/ngx_http.c": "#include <ngx_config.h>\n#include <ngx_core.h>\n#include <ngx_http.h>\n#include <ngx_trace.h>\n"
                           "void ngx_http_init(ngx_connection_t *c);\nvoid ngx_http_init(ngx_connection_t *c)\n{\n"
                           "\tstruct ngx_http_request_s r = { c };\n\n\ttrace_ngx_request(&r);\n}\n",
}
NGINX_EVENTS = """
TRACE_EVENT(ngx_open,
	TP_PROTO(ngx_connection_t *c),
	TP_ARGS(c),
	TP_STRUCT__entry(__field(unsigned long, number)),
	TP_fast_assign(__entry->number = c->number;),
	TP_printk("c=%lu", __entry->number)
);
TRACE_EVENT(ngx_request,
	TP_PROTO(struct ngx_http_request_s *r),
	TP_ARGS(r),
	TP_STRUCT__entry(__field(unsigned long, number)),
	TP_fast_assign(__entry->number = r->connection->number;),
	TP_printk("c=%lu", __entry->number)
);
"""


class Make(Project):
    def make(self, *arguments: str, status: int = 0, cwd: str = "") -> str:
        """What make says."""
        done = run(["make", *arguments], cwd=os.path.join(self.project, cwd), env=self.env)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def fresh(self) -> None:
        """A project of one event and one file, in place of the tour's."""
        shutil.rmtree(self.project)
        self.folders = {}
        self.save("one.tp", EVENT.format("one"))
        self.save("main.c", MAIN)

    def files(self) -> set[str]:
        return {os.path.relpath(os.path.join(top, name), self.project) for top, _, names in os.walk(self.project)
                for name in names}

    def traced(self, program: str) -> str:
        return self.succeed([os.path.join(self.project, program)], env={**self.env, "TP_ENABLE": "*"}).stderr

    def test_make_with_the_fragment(self) -> None:
        self.save("Makefile", INCLUDE + "server: server.o stats.o other.o\nserver.o stats.o: net.h\nserver.o: disk.h\n")
        self.all_of(["make", "-j4"])
        os.unlink(self.path("project/net.h"))
        self.assertEqual(self.ran(["make"]), ["gcc server.c", "gcc stats.c", "link", "tpgen net.tp"], "deleted")
        self.assertEqual(self.ran(["make"]), [])
        self.assertIn("up to date", self.succeed(["make"], cwd=self.project, env=self.env).stdout)
        # A newer tpgen; and other ones of packages, whose files are older than the headers.
        os.utime(self.path("usr/bin/tpgen"))
        self.assertEqual(self.ran(["make"]), ["tpgen disk.tp", "tpgen net.tp"])
        self.assertEqual(self.ran(["make"]), [])
        fragment = self.path("usr/share/tpgen/tp.mk")
        text = read(fragment)
        for version in ("0.9", VERSION):
            self.write("usr/share/tpgen/tp.mk", text.replace(f"TP_VERSION := {VERSION}\n", f"TP_VERSION := {version}\n"))
            self.assertEqual(self.ran(["make"]), ["tpgen disk.tp", "tpgen net.tp"])
            self.assertEqual(self.ran(["make"]), [])
        self.assertEqual({name for name in os.listdir(self.project) if ".stamp" in name},
                         {name + STAMP + end for name in ("net", "disk") for end in ("", ".d")})

    @check_all(SHORT)
    def test_folders(self) -> None:
        """The page's Makefile, with a C file that is generated."""
        self.save("server.c", re.sub("#define CREATE_TRACE_POINTS.*\n", "", read(self.place("server.c"))))
        self.save("request.c", "#include \"net.h\"\n")
        self.move(server="src", request="src/http", net="src/http", disk="src")
        text = read(self.place("server.c"))
        text = text.replace('#include "disk.h"', '#define CREATE_TRACE_POINTS\n#include "disk.h"\n#undef CREATE_TRACE_POINTS')
        self.save("server.c", text.replace('"net.h"', '"http/net.h"'))
        self.save("Makefile", FOLDERS.replace("src/http/net.h\n", "src/http/net.h\nsrc/server.o: src/disk.h\n"))
        before = self.files()
        build = ["make", "-j4"]
        self.assertEqual(self.ran(build), ["gcc request.c", "gcc server.c", "gcc tracepoints.c", "link", "tpgen disk.tp", "tpgen net.tp"])
        self.assertEqual(self.ran(build), [])
        self.assertEqual(self.files() - before, {"server", "src/server.o", "src/disk.h", "src/disk" + STAMP, "src/disk" + STAMP + ".d"} | {
            "src/http/" + name for name in ("net.h", "net" + STAMP, "net" + STAMP + ".d", "net.tracepoints.c", "net.tracepoints.o",
                                            "request.o")})
        self.save("net.tp", read(self.place("net.tp")))
        self.assertEqual(self.ran(build), ["tpgen net.tp"])
        self.save("net.tp", read(self.place("net.tp")).replace("size=%zu", "bytes=%zu"))
        self.assertEqual(self.ran(build), ["gcc request.c", "gcc server.c", "gcc tracepoints.c", "link", "tpgen net.tp"])
        self.assertEqual(self.ran(build), [])
        self.assertRegex(self.traced("server"), "net:net_request: peer=10.0.0.1 method=GET bytes=100")
        self.ran(["make", "clean"])
        self.assertEqual(self.files(), before)

    @check_all(SHORT)
    def test_below_a_build_directory(self) -> None:
        """The page's Makefile, in a directory whose name has a space: the source tree stays as it is."""
        self.save("server.c", re.sub("#define CREATE_TRACE_POINTS.*\n", "", read(self.place("server.c"))))
        self.move(server="src", stats="src/http", other="src/http", net="src/http", disk="src/http")
        spaced = os.path.join(self.dir, "a project (1)")
        os.rename(self.project, spaced)
        self.project = spaced
        self.save("Makefile", BELOW.replace("build/net.tracepoints.o", "build/net.tracepoints.o build/disk.tracepoints.o"))
        before = self.files()
        build = ["make", "-j4"]
        created = ["gcc tracepoints.c"]
        self.assertEqual(self.ran(build), ["gcc other.c", "gcc server.c", "gcc stats.c", *created, *created, "link", "tpgen disk.tp",
                                           "tpgen net.tp"])
        self.assertEqual(self.ran(build), [])
        self.assertEqual({name for name in self.files() - before if not name.startswith("build/")}, set())
        self.save("net.tp", read(self.place("net.tp")))
        self.assertEqual(self.ran(build), ["tpgen net.tp"])
        self.save("net.tp", read(self.place("net.tp")).replace("size=%zu", "bytes=%zu"))
        self.assertEqual(self.ran(build), ["gcc server.c", "gcc stats.c", *created, "link", "tpgen net.tp"])
        self.assertEqual(self.ran(build), [])
        self.assertRegex(self.traced("build/server"), "net:net_request: peer=10.0.0.1 method=GET bytes=100")

    @check_all(SHORT)
    def test_recursive(self) -> None:
        """A Makefile in each folder. All variables are exported, as some trees do."""
        self.save("disk.c", "#define CREATE_TRACE_POINTS\n#include \"disk.h\"\n")
        self.save("server.c", read(self.place("server.c")).replace(
            '#include "disk.h"', "#undef CREATE_TRACE_POINTS\n#include \"sub dir/disk.h\"\n#define CREATE_TRACE_POINTS"))
        self.move(disk="sub dir", other="sub dir")
        self.save("Makefile", f"export\nTP_STATIC := 1\n{INCLUDE}server: server.o stats.o sub.a\nserver.o stats.o: net.h\nserver.o: sub.a\n"
                  "sub.a: FORCE\n\t$(MAKE) -C 'sub dir'\nFORCE:\n")
        self.write("project/sub dir/Makefile", f"{INCLUDE}../sub.a: disk.o other.o\n\t$(AR) rcs $@ $^\ndisk.o: disk.h\n")
        first = self.ran(["make", "-j4"])
        self.assertEqual(first, ["gcc disk.c", "gcc other.c", "gcc server.c", "gcc stats.c", "link", "tpgen disk.tp", "tpgen net.tp"])
        self.assertIn("disk:disk_request", self.traced("server"))
        self.save("disk.tp", read(self.place("disk.tp")).replace("size=%zu", "bytes=%zu"))
        self.assertEqual([line for line in self.ran(["make", "-j4"]) if "link" not in line],
                         ["gcc disk.c", "gcc server.c", "tpgen disk.tp"])

    @check_all(SHORT)
    def test_vpath(self) -> None:
        self.save("Makefile", f"VPATH := ../project\n{INCLUDE}server: server.o stats.o other.o\nserver.o stats.o: net.h\nserver.o: disk.h\n")
        before = self.files()
        os.mkdir(self.path("out"))
        self.ran(["make", "-j4", "-C", self.path("out"), "-f", "../project/Makefile"])
        self.assertEqual(self.files(), before)
        self.assertIn("net:net_request", self.succeed([self.path("out/server")], env={**self.env, "TP_ENABLE": "*"}).stderr)
        self.save("net.tp", read(self.place("net.tp")).replace("size=%zu", "bytes=%zu"))
        self.assertEqual(self.ran(["make", "-C", self.path("out"), "-f", "../project/Makefile"]),
                         ["gcc server.c", "gcc stats.c", "link", "tpgen net.tp"])

    @check_all(SHORT)
    def test_compiler_and_its_options(self) -> None:
        """tpgen runs the compiler that CC names, and sees the macros that the C files see. So does a make whose command line
        sets the variables."""
        self.fresh()
        self.save("one.tp", EVENT.format("one") + "#if A == 1 && B == 2 && C == 3\n" + EVENT.replace("#define TRACE_SYSTEM {0}\n", "").format("two") +
                  "#endif\n")
        self.save("main.c", MAIN.replace("return", "trace_two_hit(2);\n\treturn"))
        self.save("with space.h", "#define C 3\n")
        os.rename(self.path("bin/gcc"), self.path("bin/gcc-of-mine"))
        self.save("Makefile", f"CC = gcc-of-mine\n{INCLUDE}CPPFLAGS += -MMD -DA=1 -iquote none -include 'with space.h'\nCFLAGS = -O2 -D B='2' `echo -g`\n"
                  "main: main.o\nmain.o: one.h\n")
        self.env.pop("CC")
        self.make("-j4")
        self.assertIn("gcc -fmax-errors", read(self.log))
        self.assertIn("one:two_hit", self.traced("main"))
        # -include made it a prerequisite.
        self.save("with space.h", "#define C 4\n")
        self.assertIn("trace_two_hit", self.make(status=2))
        self.assertNotIn("trace_two_hit", read(self.place("one.h")))
        self.save("with space.h", "#define C 3\n")
        self.save("Makefile", INCLUDE + "main: main.o\nmain.o: one.h\n")
        os.unlink(self.place("main.o"))
        self.make("CC=gcc-of-mine", "CPPFLAGS=-DA=1 -D'B=2' -DC=3", "LDLIBS=-lm", "CFLAGS=")
        self.assertIn("one:two_hit", self.traced("main"))

    @check_all(SHORT)
    def test_options_of_tpgen(self) -> None:
        """For one header, and for those of a folder; whatever it is that wants them."""
        self.fresh()
        for name in ("two.tp", "a/one.tp", "a/two.tp"):
            self.save(name, EVENT.format(name[-6:-3]))
        self.save("Makefile", f"{INCLUDE}all: two.h a/two.h one.tracepoints.c a/one.tracepoints.c\none.h: TPGEN_FLAGS = -Done_hit=other\n"
                  "a/%.h: TPGEN_FLAGS = -Done_hit=of_a -Dtwo_hit=of_a\n")
        self.make("-j4")
        names = {name: re.findall(r"void trace_(\w+)\(", read(self.place(name))) for name in ("one.h", "two.h", "a/one.h", "a/two.h")}
        self.assertEqual(names, {"one.h": ["other"], "two.h": ["two_hit"], "a/one.h": ["of_a"], "a/two.h": ["of_a"]})
        self.make("-B", "CFLAGS=", "--warn-undefined-variables", "AM_V_GEN=@")
        self.assertEqual(self.make("-B", "CFLAGS=", "--warn-undefined-variables", "AM_V_GEN=@"), "")

    @check_all(SHORT)
    def test_full_disk(self) -> None:
        """What could not be written is written by the next make."""
        self.fresh()
        self.save("main.c", MAIN.replace("#define CREATE_TRACE_POINTS\n", ""))
        self.save("Makefile", INCLUDE + "main: main.o one.tracepoints.o\nmain.o: one.h\n")
        for target in ("one.h", "one.tracepoints.c"):
            done = run(["sh", "-c", f"ulimit -f 0; exec make {target}"], cwd=self.project, env=self.env)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.make(target)
        self.make()
        self.assertIn("one:one_hit: n=1", self.traced("main"))

    @check_all("test_folders has .tp files in folders")
    def test_nginx(self) -> None:
        """Its layout, with the page's .tp file and what the page changes in its build."""
        shutil.rmtree(self.project)
        for name, text in NGINX.items():
            self.save(name, text)
        page = read(os.path.join(ROOT, PAGE))
        for change in ("include \\$(shell pkg-config --variable=makefile tp)", "\\$(TP_CFLAGS)", "'$(TP_LIBS)'", "src/core/ngx_trace.h",
                       "src/core/ngx_trace.tracepoints.c"):
            self.assertIn(f"`{change}`", page)
            self.assertIn(change, CONFIGURE)
        self.save("src/core/ngx_trace.tp", next(block.text for block in blocks(page) if "ngx_core.h" in block.text) + NGINX_EVENTS)
        self.succeed(["sh", "configure"], cwd=self.project)
        self.assertEqual(self.ran(["make", "-j4"]), ["gcc nginx.c", "gcc ngx_http.c", "gcc tracepoints.c", "tpgen ngx_trace.tp"])
        self.assertEqual(re.findall(r"ngx:.*", self.traced("objs/nginx")), ["ngx:ngx_open: c=7", "ngx:ngx_request: c=7"])
        self.save("src/core/ngx_trace.tp", read(self.place("src/core/ngx_trace.tp")))
        self.assertEqual(self.ran(["make", "-j4"]), ["tpgen ngx_trace.tp"])

    @check_all("test_make_with_the_fragment links the shared library")
    def test_static(self) -> None:
        self.fresh()
        self.save("Makefile", INCLUDE + "main: main.o\nmain.o: one.h\n")
        self.make()
        self.assertIn("libtp.so", self.succeed(["readelf", "-d", self.place("main")]).stdout)
        os.unlink(self.place("main"))
        self.make("TP_STATIC=1")
        self.assertNotIn("libtp", self.succeed(["readelf", "-d", self.place("main")]).stdout)
        self.assertIn("one:one_hit: n=1", self.traced("main"))
        os.unlink(self.place("main"))
        self.make("TP_STATIC=1", "LDFLAGS=-static")
        self.assertNotIn("NEEDED", self.succeed(["readelf", "-d", self.place("main")]).stdout)
        self.assertIn("one:one_hit: n=1", self.traced("main"))

    @check_all("test_destdir of test_outside_project installs below DESTDIR")
    def test_where_the_loader_looks(self) -> None:
        """No -I and no -rpath to where compilers and the loader look anyway; and which directories these are."""
        for prefix, libdir, cflags, libs in (
                ("/usr", "/usr/lib/x86_64-linux-gnu", [], ["-ltp", "-lurcu-bp"]),
                ("/usr", "/lib64", [], ["-ltp", "-lurcu-bp"]),
                ("/opt/tp", "/opt/lib", ["-I/opt/tp/include"], ["-L/opt/lib", "-Wl,-rpath,/opt/lib", "-ltp", "-lurcu-bp"]),
                ("/usr", "/usr/lib/tpgen", [], ["-L/usr/lib/tpgen", "-Wl,-rpath,/usr/lib/tpgen", "-ltp", "-lurcu-bp"])):
            with self.subTest(libdir):
                top = self.path("pkg")
                shutil.rmtree(top, True)
                self.succeed(["make", "-C", ROOT, "install", f"DESTDIR={top}", f"PREFIX={prefix}", f"LIBDIR={libdir}"])
                self.write("project/flags.mk", f"include {top}{prefix}/share/tpgen/tp.mk\nall:\n\t@echo $(CPPFLAGS)\n\t@echo $(LDLIBS)\n")
                said = self.make("-f", "flags.mk").splitlines()
                self.assertEqual([line.split() for line in said], [cflags, libs])
                rpath = self.succeed(["pkg-config", "--variable=rpath", "tp"], env={
                    **self.env, "PKG_CONFIG_PATH": f"{top}{libdir}/pkgconfig"}).stdout.strip()
                self.assertEqual([rpath] if rpath else [], [word for word in libs if "rpath" in word])

    def test_mistakes(self) -> None:
        """Each with its message, which is the whole of what is said, and said once."""
        self.fresh()
        makefile = self.path("usr/share/tpgen/tp.mk")
        program = "main: main.o two.o\nmain.o two.o: one.h\n"
        self.save("two.c", '#include "one.h"\n')
        self.save("one.tp", EVENT.format("one").replace("__field(", "__feild("))
        self.save("Makefile", INCLUDE + program)
        self.assertEqual(self.make("-j4", status=2).split("--cflags")[1].partition("\n")[2],
                         "one.tp:2:68: error: no field macro is called '__feild'; did you mean '__field'? [TP020]\n"
                         "TRACE_EVENT(one_hit, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__feild(int, n)),\n"
                         "                                                                   ^~~~~~~\n"
                         f"make: *** [{makefile}:{self.line('$(eval $(call tp-rules,%')}: one{STAMP}] Error 1\n")
        self.assertFalse(os.path.exists(self.place("one.h")))
        self.save("one.tp", EVENT.format("one"))
        os.makedirs(self.path("project/a"))
        self.write("project/a/one.tp", EVENT.format("one"))
        self.write("project/a/one.h", "")
        self.write("out/one.tp", EVENT.format("one"))
        for text, message in (
                ("TP_FILES := nte.tp\n", "nte.tp in TP_FILES is not there: correct TP_FILES"),
                ("TP_FILES := one.c\n", "one.c in TP_FILES is no .tp file: correct TP_FILES"),
                ("TP_FILES := one.tp ../out/one.tp\n", "../out/one.tp in TP_FILES is outside of this directory; so would be its header: "
                 "set TP_DIR to where headers are to go"),
                ("TP_DIR = build/\n", "a/one.tp one.tp would have the same header build/one.h: rename one; or list those that are wanted in "
                 "TP_FILES"),
                ("TP_FILES = a/one.tp\nTP_DIR = build\n", "a/one.h shadows the header that is made in build: remove it"),
                ("TP_FILES = one.tp\nTP_DIR = /a b/build\n", "TP_DIR = /a b/build has spaces: write it as a path from this directory"),
                ("TP_REQUIRED := 99.0\n", f"this project needs tpgen 99.0, but that in {self.path('usr')} is {VERSION}: install a newer one")):
            with self.subTest(text):
                self.save("Makefile", text + INCLUDE + program)
                said = self.make("-j4", status=2)
                self.assertEqual(re.sub(r"mk:\d+:", "mk:N:", said), f"{makefile}:N: *** tp.mk: {message}.  Stop.\n")
        self.save("Makefile", "TPGEN := /none/tpgen\n" + INCLUDE + program)
        self.assertEqual(re.sub(r"mk:\d+:", "mk:N:", self.make("-j4", status=2)), f"{makefile}:N: *** tp.mk: there is no /none/tpgen: "
                         "install tpgen again, or set TPGEN to where it is.  Stop.\n")
        self.save("Makefile", INCLUDE + "main: main.o\nmain.o: nte.h\n")
        self.assertEqual(self.make(status=2), "make: *** No rule to make target 'nte.h', needed by 'main.o'.  Stop.\n")
        # What is older is enough; and what is there already needs no tpgen.
        self.save("Makefile", "TP_REQUIRED := 0.0.1\n" + INCLUDE + "main: main.o\nmain.o: one.h\n")
        self.make()
        self.assertIn("up to date", self.make("TPGEN=/none/tpgen"))

    @check_all(SHORT)
    def test_not_found(self) -> None:
        """By the page's line: pkg-config without tpgen, and no pkg-config."""
        self.fresh()
        line = re.findall(r"^\t(include \$\(or .*)", read(os.path.join(ROOT, PAGE)), re.M)[0]
        self.save("Makefile", line + "\nmain: main.o\nmain.o: one.h\n")
        self.make("-n")
        message = "Makefile:1: *** tpgen is not found: install it, or set PKG_CONFIG_PATH.  Stop.\n"
        for env in ({"PKG_CONFIG_PATH": "", "PKG_CONFIG_LIBDIR": "/none"}, {"PATH": self.path("bin")}):
            done = run([shutil.which("make"), "main"], cwd=self.project, env={**self.env, **env})
            self.assertEqual((done.returncode, done.stderr[-len(message):]), (2, message))

    def line(self, text: str) -> int:
        """Where the installed file has this."""
        return read(self.path("usr/share/tpgen/tp.mk")).partition(text)[0].count("\n") + 1

    @check_all(SHORT)
    def test_variables(self) -> None:
        """Those that the page names are those that the file says."""
        page = set(re.findall(r"`(TP\w+)`", re.findall(r"## Variables\n(.*?)\n## ", read(os.path.join(ROOT, PAGE)), re.S)[0]))
        text = read(self.path("usr/share/tpgen/tp.mk"))
        self.assertEqual(page, set(re.findall(r"\b(TP(?:GEN)?_[A-Z]+|TPGEN)\b", text[:text.index("ifeq")])))

    @check_all("test_compiler_and_its_options has another compiler")
    def test_cross(self) -> None:
        """For arm64, with a library of that processor, in an emulator."""
        if AARCH64.missing():
            self.skipTest(AARCH64.missing())
        AARCH64.make("libtp.a", "libtp.so")
        for name in ("libtp.a", "libtp.so.1"):
            shutil.copy(os.path.join(AARCH64.directory, name.removesuffix(".1")), self.path(f"usr/lib/{name}"))
        self.fresh()
        self.save("Makefile", f"CC = {AARCH64.cc}\nCFLAGS = {' '.join(AARCH64.cflags)}\n{INCLUDE}main: main.o\nmain.o: one.h\n")
        self.save("one.tp", EVENT.format("one") + "#ifndef __aarch64__\n#error for the wrong processor\n#endif\n")
        self.env.pop("CC")
        for static in ("", "1"):
            self.make("-j4", f"LDFLAGS={' '.join(AARCH64.ldflags)}", f"TP_STATIC={static}")
            done = self.succeed(AARCH64.command(self.place("main")), env={**self.env, "TP_ENABLE": "*"})
            self.assertIn("one:one_hit: n=1", done.stderr)
            os.unlink(self.place("main"))

    @check_all("test_make_with_the_fragment is one build system")
    def test_make_by_hand(self) -> None:
        text = BY_HAND.replace("server.o stats.o\n", "server.o stats.o other.o\n", 1)
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
        head = BY_HAND.split("net.stamp:")[0]
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

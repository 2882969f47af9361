# SPDX-License-Identifier: MIT
"""Another project uses an installed tpgen: what is where, and which options that takes."""

from __future__ import annotations

import functools
import json
import os
import re
import stat
import subprocess

from support import PATIENCE, ROOT, Case, need, read, run, temporary, unavailable

TP = """#define TRACE_SYSTEM shop
#include <stddef.h>
TRACE_EVENT(shop_sale,
	TP_PROTO(const char *item, size_t price),
	TP_ARGS(item, price),
	TP_STRUCT__entry(
		__string(item, item)
		__field(size_t, price)
	),
	TP_fast_assign(
		__assign_str(item);
		__entry->price = price;
	),
	TP_printk("item=%s price=%zu", __get_str(item), __entry->price)
);
"""

C = """#define CREATE_TRACE_POINTS
#include "shop.h"
int main(void)
{
	trace_shop_sale("tea", 3);
	return 0;
}
"""

MAKEFILE = """include $(shell pkg-config --variable=makefile tp)
server: server.o
server.o: shop.h
"""


@functools.cache
def installed() -> tuple[str, str]:
    """The directory of what is installed, and what make has said."""
    prefix = os.path.join(temporary(), "usr")
    done = run(["make", "-C", ROOT, "install", f"PREFIX={prefix}"])
    assert done.returncode == 0, done.stdout + done.stderr
    return prefix, done.stdout


class Outside(Case):
    def setUp(self) -> None:
        super().setUp()
        need(self, "pkg-config", "make")
        self.prefix, self.installed = installed()
        self.env = {**os.environ, "PKG_CONFIG_PATH": os.path.join(self.prefix, "lib/pkgconfig"), "MAKEFLAGS": ""}
        for name, text in (("shop.tp", TP), ("server.c", C), ("Makefile", MAKEFILE)):
            self.write(f"project/{name}", text)
        self.project = self.path("project")

    def traced(self, program: str) -> None:
        done = self.succeed([program], cwd=self.project, env={**os.environ, "TP_ENABLE": "shop:*"})
        self.assertRegex(done.stderr, r"^\d+\.\d{9} \d+/\d+ shop:shop_sale: item=tea price=3\n$")

    def test_mistake_stops_make(self) -> None:
        self.write("project/shop.tp", TP.replace("__field", "__feild"))
        done = run(["make"], cwd=self.project, env=self.env)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("shop.tp:8:3: error: no field macro is called '__feild'; did you mean '__field'?", done.stderr)
        self.assertFalse(os.path.exists(self.path("project/shop.h")))

    def test_language_server(self) -> None:
        """It has the installed documentation's words."""
        place = {"textDocument": {"uri": "file:///x.tp"}, "position": {"line": 0, "character": 15}}
        talk = [{"id": 1, "method": "initialize", "params": {}},
                {"method": "textDocument/didOpen", "params": {"textDocument": {"uri": "file:///x.tp", "text": "TRACE_EVENT(x, "}}},
                {"id": 2, "method": "textDocument/completion", "params": place}, {"id": 3, "method": "shutdown"}, {"method": "exit"}]
        bodies = [json.dumps(message).encode() for message in talk]
        done = subprocess.run([os.path.join(self.prefix, "bin/tpgen"), "lsp"], check=False, capture_output=True, timeout=PATIENCE, env=self.env,
                              input=b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies))
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn(b"parameters, each with a name", done.stdout)

    def test_pkg_config_shared_and_static(self) -> None:
        self.succeed([os.path.join(self.prefix, "bin/tpgen"), "gen", "-o", ".", "shop.tp"], cwd=self.project)
        flags = self.succeed(["pkg-config", "--cflags", "--libs", "tp"], env=self.env).stdout.split()
        lib = os.path.join(self.prefix, "lib")
        self.succeed(["gcc", "-o", "shared", "server.c", *flags, f"-Wl,-rpath,{lib}"], cwd=self.project)
        self.traced("./shared")
        self.succeed(["gcc", "-o", "static", "server.c", f"-I{self.prefix}/include", f"{lib}/libtp.a", "-lurcu-bp"],
                     cwd=self.project)
        self.traced("./static")
        flags = self.succeed(["pkg-config", "--cflags", "--static", "--libs", "tp"], env=self.env).stdout.split()
        self.succeed(["gcc", "-static", "-o", "alone", "server.c", *flags], cwd=self.project)
        self.traced("./alone")

    def test_linker_garbage_collection(self) -> None:
        need(self, "ld.lld")
        self.succeed([os.path.join(self.prefix, "bin/tpgen"), "gen", "-o", ".", "shop.tp"], cwd=self.project)
        for linker in ("bfd", "lld"):
            self.succeed(["gcc", "-O2", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", f"-fuse-ld={linker}",
                          "-o", linker, "server.c", f"-I{self.prefix}/include", f"{self.prefix}/lib/libtp.a", "-lurcu-bp"],
                         cwd=self.project)
            self.traced(f"./{linker}")

    def test_several_files_create(self) -> None:
        """Two definition files in two C files of one program, and in a shared object of it."""
        tpgen = os.path.join(self.prefix, "bin/tpgen")
        self.write("project/bank.tp", TP.replace("shop", "bank"))
        self.succeed([tpgen, "gen", "-o", ".", "shop.tp", "bank.tp"], cwd=self.project)
        self.write("project/bank.c", "#define CREATE_TRACE_POINTS\n#include \"bank.h\"\nvoid bank(void);\n"
                   "void bank(void)\n{\n\ttrace_bank_sale(\"gold\", 9);\n}\n")
        self.write("project/main.c", "#define CREATE_TRACE_POINTS\n#include \"shop.h\"\nvoid bank(void);\nint main(void)\n{\n"
                   "\ttrace_shop_sale(\"tea\", 3);\n\tbank();\n\treturn 0;\n}\n")
        base = ["gcc", f"-I{self.prefix}/include", f"-L{self.prefix}/lib", f"-Wl,-rpath,{self.prefix}/lib", "-Wl,-rpath,."]
        libs = ["-ltp", "-lurcu-bp"]
        self.succeed([*base, "-o", "one", "main.c", "bank.c", *libs], cwd=self.project)
        self.succeed([*base, "-shared", "-fPIC", "-o", "libbank.so", "bank.c", *libs], cwd=self.project)
        self.succeed([*base, "-o", "two", "main.c", "-L.", "-lbank", *libs], cwd=self.project)
        for program in ("./one", "./two"):
            done = self.succeed([program], cwd=self.project, env={**os.environ, "TP_ENABLE": "*"})
            self.assertEqual(re.findall(r" (\w+:\w+): item=(\w+)", done.stderr),
                             [("shop:shop_sale", "tea"), ("bank:bank_sale", "gold")])

    def test_destdir(self) -> None:
        self.succeed(["make", "-C", ROOT, "install", f"DESTDIR={self.path('pkg')}", "PREFIX=/opt/tp"])
        pc = read(self.path("pkg/opt/tp/lib/pkgconfig/tp.pc"))
        self.assertIn("prefix=/opt/tp\n", pc)
        self.assertNotIn(self.dir, pc + read(self.path("pkg/opt/tp/share/tpgen/tp.mk")))
        for name in ("tpgen-config", "tpgen-config-version", "tpgen-events"):  # they go by where they are
            text = read(self.path(f"pkg/opt/tp/lib/cmake/tpgen/{name}.cmake"))
            self.assertNotIn("/opt/tp", text)
            self.assertEqual(re.findall(r"@[A-Z_]+@", text), [])
        for program in ("tpgen", "tp"):
            self.assertTrue(os.stat(self.path(f"pkg/opt/tp/bin/{program}")).st_mode & stat.S_IXUSR)
        for page in ("man/man1/tp.1", "man/man1/tp-report.1", "man/man1/tpgen.1", "man/man3/libtp.3", "man/man5/tp-language.5", "man/man7/tp-environment.7",
                     "doc/tp/diagnostics.md", "bash-completion/completions/tp", "zsh/site-functions/_tp"):
            self.assertTrue(read(self.path(f"pkg/opt/tp/share/{page}")))

    def test_system_directories(self) -> None:
        """Where compiler, linker and loader look by themselves, nobody says so to them; a package for all processors names none."""
        triplet = self.succeed(["gcc", "-print-multiarch"]).stdout.strip()
        options = {}
        for libdir in ("/usr/lib", f"/usr/lib/{triplet}", "/usr/lib/private"):
            where = [f"DESTDIR={self.path('pkg')}", "PREFIX=/usr", f"LIBDIR={libdir}"]
            self.succeed(["make", "-C", ROOT, "install", *where])
            self.write("shown", f"include {self.path('pkg')}/usr/share/tpgen/tp.mk\nall:\n\t@echo $(CPPFLAGS) $(LDLIBS)\n")
            options[libdir] = self.succeed(["make", "-s", "-f", self.path("shown"), "all"], env=self.env).stdout.strip()
            pkg_config = {**self.env, "PKG_CONFIG_LIBDIR": self.path(f"pkg{libdir}/pkgconfig")}
            pkg_config.pop("PKG_CONFIG_PATH")
            said = self.succeed(["pkg-config", "--cflags", "--libs", "tp"], env=pkg_config).stdout.strip()
            self.assertEqual(said, "-L/usr/lib/private -ltp -lurcu-bp" if "private" in libdir else "-ltp -lurcu-bp")
        self.assertEqual(options, {"/usr/lib": "-ltp -lurcu-bp", f"/usr/lib/{triplet}": "-ltp -lurcu-bp",
                                   "/usr/lib/private": "-L/usr/lib/private -Wl,-rpath,/usr/lib/private -ltp -lurcu-bp"})

    def test_flags(self) -> None:
        """Whoever packages it says how to compile and to link."""
        flags = {name: f"-DFROM_{name}" for name in ("CPPFLAGS", "CFLAGS", "LDFLAGS")}
        shown = self.succeed(["make", "-C", ROOT, "-n", "-B", f"BUILD={self.path('build')}", "V=1", *(f"{name}={value}" for name, value in flags.items()),
                              f"{self.path('build')}/libtp.so", f"{self.path('build')}/tp"]).stdout.splitlines()
        compiled = [line for line in shown if " -c -o " in line]
        linked = [line for line in shown if re.search(r" -o \S+/(libtp\.so|tp) ", line)]
        self.assertGreater(len(compiled), 300)
        self.assertEqual(len(linked), 2)
        for line in compiled:
            self.assertTrue("FROM_CPPFLAGS" in line and "FROM_CFLAGS" in line, line)
        for line in linked:
            self.assertIn("FROM_LDFLAGS", line)

    def test_uninstall(self) -> None:
        where = [f"DESTDIR={self.path('pkg')}", "PREFIX=/opt/tp", "LIBDIR=/opt/lib/multiarch"]
        mine = self.write("pkg/opt/tp/include/tp/mine.h", "")
        self.succeed(["make", "-C", ROOT, "install", *where])
        self.assertIn("libdir=/opt/lib/multiarch\n", read(self.path("pkg/opt/lib/multiarch/pkgconfig/tp.pc")))
        self.assertIn("TP_LIBDIR := /opt/lib/multiarch\n", read(self.path("pkg/opt/tp/share/tpgen/tp.mk")))
        self.assertIn('"${_tpgen_libdir}/../../tp"', read(self.path("pkg/opt/lib/multiarch/cmake/tpgen/tpgen-config.cmake")))
        self.assertFalse(os.path.exists(self.path("pkg/opt/tp/lib")))
        for _ in range(2):  # what is gone already is no error
            self.succeed(["make", "-C", ROOT, "uninstall", *where])
            left = [os.path.join(folder, name) for folder, _, names in os.walk(self.path("pkg")) for name in names]
            self.assertEqual(left, [mine])

    def test_loader(self) -> None:
        """Where the loader doesn't look, the message has the option that a linker needs."""
        self.assertIn(f"programs need -Wl,-rpath,{self.prefix}/lib, as tp.mk sets it", self.installed)

    def test_loader_knows(self) -> None:
        """In a directory where the loader looks, programs need no -rpath: make has run ldconfig."""
        need(self, "unshare")
        alone = ('cp -a /etc "$1" && mount --bind "$1"/etc /etc && mkdir -p /usr/local/lib && '
                 'mount -t tmpfs tp /usr/local/lib')
        mine = self.path("usr")
        self.write("away/x", "")
        if os.geteuid() or run(["unshare", "-m", "sh", "-c", alone, "sh", self.path("away")]).returncode:
            unavailable(self, "the loader's directories can't be replaced here, in a mount namespace of its own")
        script = (f'{alone} && make -s -C {ROOT} install PREFIX={mine} LIBDIR=/usr/local/lib && cd {self.project} && '
                  f'{mine}/bin/tpgen gen -o . shop.tp && export PKG_CONFIG_PATH=/usr/local/lib/pkgconfig && '
                  f'gcc -o server server.c $(pkg-config --cflags --libs tp) && TP_ENABLE="*" ./server')
        done = self.succeed(["unshare", "-m", "sh", "-c", script, "sh", self.path("away")])
        self.assertIn("shop:shop_sale: item=tea price=3\n", done.stderr)
        self.assertNotIn("loader", done.stdout)

    def test_exported_names(self) -> None:
        """libtp.so exports what the public headers declare, and nothing else."""
        symbols = self.succeed(["nm", "-D", "--defined-only", os.path.join(self.prefix, "lib/libtp.so")]).stdout
        exported = {line.split()[-1].split("@")[0] for line in symbols.splitlines() if " A " not in line}
        headers = "".join(read(os.path.join(self.prefix, "include/tp", name))
                          for name in os.listdir(os.path.join(self.prefix, "include/tp")))
        renamed = dict(re.findall(r"(?m)^#define (trace_seq_\w+) (tp_trace_seq_\w+)$", headers))
        declared = {renamed.get(name, name) for name in re.findall(r"(?m)^TP_PUBLIC\s[^;(]*\b(\w+)\(", headers)}
        declared |= set(re.findall(r"(?m)^extern TP_PUBLIC __thread struct \w+ (\w+)", headers))
        self.assertEqual(exported, declared, "runtime/libtp.symbols lists what the library exports")

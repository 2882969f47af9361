# SPDX-License-Identifier: MIT
"""Sites are switched on a processor of another architecture, which is emulated."""

from __future__ import annotations

import itertools
import os
import re
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from platforms import AARCH64  # noqa: E402
from support import ROOT, WARNINGS, Case, need, read, run, tpgen  # noqa: E402

CHECK_ALL = "another processor, in an emulator"

# How sites are compiled; and how those of first_... and second_... are.
CLANG = ["clang", "--target=aarch64-linux-gnu"]
SITES = {"keys": [AARCH64.cc], "flags": [AARCH64.cc, "-DTP_STATIC_KEYS=0"], "clang": CLANG}
KINDS = {"keys": ("keys", "keys"), "flags": ("flags", "flags"), "mixed": ("keys", "flags"), "clang": ("clang", "clang")}
ROUNDS = 50  # in which sites go on and off

# How a program is compiled and linked; a static one loads no modules.
SHARED = [f"-L{AARCH64.directory}", f"-Wl,-rpath,{AARCH64.directory}", "-ltp"]
STATIC = [os.path.join(AARCH64.directory, "libtp.a")]
LINKED = {
    "shared": (["-fPIE"], ["-pie", "-rdynamic", *SHARED]),
    "pie": (["-fPIE"], ["-pie", "-rdynamic", *STATIC]),
    "static": (["-fno-pie"], ["-static", *STATIC]),
}

TEXT = re.compile(r"^\d+\.\d{9} \d+/\d+ keys:keys_hit: n=(-?\d+) plain=(-?\d+) big=(-?\d+) text=some text$")
CTF = re.compile(r"keys:keys_hit: .*{ n = (-?\d+), plain = (-?\d+), big = (-?\d+), .* = (\S+), text = \"some text\" }$")
# What `keys hit` records, 3 times each: n, the char of it, which has no sign there, and -2^40 times n.
HITS = [(str(n), str(n & 255), str(-n << 40)) for n in (200, -8)] * 3


class Aarch64(Case):
    def setUp(self) -> None:
        super().setUp()
        if AARCH64.missing():
            self.skipTest(AARCH64.missing())
        AARCH64.make("libtp.a", "libtp.so")
        done = tpgen("gen", "-o", self.dir, "tests/arch/keys.tp", "tests/arch/module.tp", env={"CC": AARCH64.cc})
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def compile(self, source: str, name: str, *command: str) -> str:
        """Compiles a file here, unless it was before, and returns the output's path."""
        path = self.path(name)
        if not os.path.exists(path):
            self.succeed([*command, "-std=gnu11", "-D_GNU_SOURCE", "-g", *WARNINGS, f"-DROUNDS={ROUNDS}",
                          *AARCH64.cflags, "-I", os.path.join(ROOT, "runtime/include"), "-I", self.dir, "-o", path,
                          os.path.join(HERE, source)])
        return path

    def program(self, opt: str, kind: str, linked: str) -> str:
        """Builds the program, and returns its name."""
        compiled, flags = LINKED[linked]
        tag = opt + compiled[0]
        objects = [self.compile("keys.c", f"keys{tag}.o", AARCH64.cc, "-c", opt, *compiled)]
        for of, k in zip(("first", "second"), KINDS[kind]):
            objects.append(self.compile("sites.c", f"{of}{tag}-{k}.o", *SITES[k], "-c", opt, *compiled,
                                        f"-DSITES_ARE={of}"))
        name = f"./keys{opt}-{kind}-{linked}"
        self.succeed([AARCH64.cc, "-o", self.path(name), *objects, *flags, *AARCH64.ldflags, "-lurcu-bp", "-lpthread",
                      "-ldl"])
        return name

    def run_it(self, program: str, what: str, **env: str) -> None:
        done = run(AARCH64.command(program, what), cwd=self.dir, env={**os.environ, **env})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), f"{program} {what}")

    def test_switching(self) -> None:
        for opt, kind, linked in itertools.product(("-O0", "-O2"), KINDS, LINKED):
            self.run_it(self.program(opt, kind, linked), "switch")

    def test_switching_under_threads(self) -> None:
        for opt, kind, linked in (("-O2", "keys", "shared"), ("-O2", "mixed", "static"), ("-O0", "mixed", "pie")):
            self.run_it(self.program(opt, kind, linked), "storm")

    def test_module(self) -> None:
        """A module, with the runtime as a library, and in the program."""
        for opt, kind, linked in (("-O2", "keys", "shared"), ("-O0", "keys", "pie"), ("-O2", "flags", "pie")):
            program = self.program(opt, kind, linked)
            os.replace(self.compile("module.c", "new.so", *SITES[kind], opt, "-shared", "-fPIC",
                                    *(SHARED if linked == "shared" else [])), self.path("module.so"))
            self.run_it(program, "module")

    def test_text(self) -> None:
        for linked in ("shared", "static"):
            log = self.path(f"{linked}.log")
            self.run_it(self.program("-O2", "mixed", linked), "hit", TP_ENABLE="keys:*", TP_OUTPUT=f"text:{log}")
            lines = read(log).splitlines()
            self.assertEqual([m and m.groups() for m in map(TEXT.match, lines)], HITS, lines)

    def test_ctf(self) -> None:
        """What that machine has written is read here."""
        need(self, "babeltrace2")
        for linked in ("shared", "static"):
            trace = self.path(linked)
            self.run_it(self.program("-O2", "mixed", linked), "hit", TP_ENABLE="keys:*", TP_OUTPUT=f"ctf:{trace}")
            lines = self.read_by("babeltrace2", trace).splitlines()
            self.assertEqual([m and m.groups() for m in map(CTF.search, lines)],
                             [(*hit, f"{int(hit[0]) / 8:g}") for hit in HITS], lines)

    def test_site_is_one_nop(self) -> None:
        """Off, a function with nothing but a site does nothing; and each site in the table is a nop."""
        for opt, kind, linked in itertools.product(("-O0", "-O2"), ("keys", "clang"), LINKED):
            program = self.path(self.program(opt, kind, linked))
            code = self.instructions(program)
            self.assertEqual({code.get(site) for site in self.sites(program)}, {"nop"}, program)
            if opt == "-O2":
                for function in ("first_shared", "second_shared"):
                    insns = list(self.instructions(program, f"--disassemble={function}").values())
                    self.assertEqual(insns[:2], ["nop", "ret"], program)

    def instructions(self, program: str, *which: str) -> dict[int, str]:
        """By address, in their order."""
        text = self.succeed([AARCH64.objdump, "-d", "--no-show-raw-insn", *which, program]).stdout
        return {int(address, 16): insn.strip() for address, insn in re.findall(r"^ +(\w+):\t([^/\n]*)", text, re.M)}

    def sites(self, program: str) -> list[int]:
        """Their addresses: of three distances each in the table, the first, which is from where it stands."""
        section = re.findall(r"\btp_sites_\d+", self.succeed([AARCH64.objdump, "-h", program]).stdout)[0]
        text = self.succeed([AARCH64.objdump, "-s", "-j", section, program]).stdout
        lines = re.findall(r"^ ([0-9a-f]+) ((?:[0-9a-f]{2,8} ){1,4})", text, re.M)
        table = struct.iter_unpack("<iii", b"".join(bytes.fromhex(words) for _, words in lines))
        start = int(lines[0][0], 16)
        return [start + 12 * i + distance for i, (distance, _, _) in enumerate(table)]

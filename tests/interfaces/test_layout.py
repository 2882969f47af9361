# SPDX-License-Identifier: MIT
"""What crosses the border between generated code and library is what it was when the interface was frozen."""

from __future__ import annotations

import os
import platform
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import freeze  # noqa: E402
from building import CC, interface_version  # noqa: E402
from frozen import Interface, interfaces  # noqa: E402
from support import BUILD, ROOT, Case, read, run, unavailable  # noqa: E402

LAYOUT = os.path.join(HERE, "layout.c")
# A change of a header that is not made; which interfaces it goes against; what is said.
CHANGES = (
    ("event.h", "	void *reserved[2];", "	void *reserved[2];\n	long more;", "present", "struct tp_event"),
    ("event.h", "	uint16_t nr_fields;\n	uint16_t nr_evals;", "	uint16_t nr_evals;\n	uint16_t nr_fields;", "all",
     "nr_fields of struct tp_event_class"),
    ("tracepoint.h", "	const int *enable_flag;\n};\n\n/* The load", "	const int *enable_flag;\n	long more;\n};\n\n/* The load", "all",
     "struct tracepoint"),
    ("sink.h", "	TP_LOST_OTHER, ", "	TP_LOST_MORE,\n	TP_LOST_OTHER, ", "all", "TP_LOST_OTHER"),
    ("module.h", "tp_module_load(struct tp_module *module)", "tp_module_load(const struct tp_module *module)", "all",
     "conflicting types"),
)


class Layout(Case):
    def compile(self, interface: Interface, headers: str, exact: bool) -> tuple[int, str]:
        self.write("all.h", freeze.all_headers())
        names = {name: os.path.join(interface.directory, name.lower()) for name in ("LAYOUT", "FUNCTIONS")}
        done = run([CC, "-std=gnu11", "-D_GNU_SOURCE", "-fsyntax-only", "-I", headers, "-iquote", self.dir,
                    f"-DEXACT={int(exact)}", *(f'-D{name}="{path}"' for name, path in names.items()), LAYOUT])
        return done.returncode, done.stderr

    def served(self) -> list[Interface]:
        if platform.machine() != "x86_64":
            unavailable(self, "frozen layouts are those of x86-64")
        return interfaces()

    def test_layout(self) -> None:
        """Of the present interface exactly; what older ones know has stayed where it was."""
        for interface in self.served():
            with self.subTest(interface=interface.number):
                code, said = self.compile(interface, freeze.HEADERS, interface.number == interface_version())
                self.assertEqual(code, 0, said)

    def test_changes_are_found(self) -> None:
        """Members that are added or moved, values that are, and functions of another type do not compile."""
        interface = self.served()[-1]
        for file, old, new, where, said in CHANGES:
            with self.subTest(file=file, new=new):
                headers = self.path("headers")
                self.succeed(["rm", "-rf", headers])
                self.succeed(["cp", "-r", freeze.HEADERS, headers])
                text = read(os.path.join(headers, "tp", file))
                self.assertEqual(text.count(old), 1)
                self.write(f"headers/tp/{file}", text.replace(old, new))
                code, complaint = self.compile(interface, headers, True)
                self.assertNotEqual(code, 0)
                self.assertIn(said, complaint)
                code, complaint = self.compile(interface, headers, False)
                self.assertEqual(code != 0, where == "all", complaint)

    def test_symbols(self) -> None:
        """The library exports what is listed, and all that it exported in the interfaces that it serves."""
        now = freeze.exported(os.path.join(BUILD, "libtp.so"))
        listed = [line for line in read(os.path.join(ROOT, "runtime/libtp.symbols")).splitlines() if line[0] != "#"]
        if platform.machine() != "x86_64":
            listed.remove("tp_call_probes")
        self.assertEqual(now, listed, "runtime/libtp.symbols is the list")
        for interface in self.served():
            gone = set(read(os.path.join(interface.directory, "symbols")).split()) - set(now)
            self.assertEqual(gone, set(), f"programs of interface {interface.number} use them: they stay, or "
                                          "TP_SONAME and TP_OLDEST_INTERFACE are raised")

    def test_documented(self) -> None:
        """docs/internals/architecture.md says which structures may grow, and which may not."""
        text = read(os.path.join(ROOT, "docs/internals/architecture.md"))
        table = dict(re.findall(r"^\| (grow at their end|are fixed)[^|]* \| (.*) \|$", text, re.M))
        listed = {row: set(re.findall(r"`(\w+)`(?! begins)", names)) for row, names in table.items()}
        layout = read(os.path.join(self.served()[-1].directory, "layout"))
        self.assertEqual(listed["grow at their end"], set(freeze.GROWING))
        self.assertEqual(listed["grow at their end"], set(re.findall(r"^GROWING\((\w+)", layout, re.M)))
        self.assertEqual(listed["are fixed"], set(re.findall(r"^FIXED\((\w+)", layout, re.M)))

    def test_freeze_never_writes_again(self) -> None:
        """An interface that is frozen stays as it is."""
        done = run([sys.executable, os.path.join(HERE, "freeze.py")])
        self.assertEqual(done.returncode, 1)
        self.assertIn("an interface that was frozen never changes", done.stderr)

    def test_freeze(self) -> None:
        """What it writes today is what it wrote, but for what changes within an interface."""
        self.served()
        directory = self.path(str(interface_version()))
        freeze.freeze(directory)
        frozen = Interface(interface_version()).directory
        for name in ("layout", "soname"):  # gcc and clang describe enumerations in different orders
            written, kept = (sorted(read(os.path.join(where, name)).splitlines()) for where in (directory, frozen))
            self.assertEqual(written, kept)
        self.assertLessEqual({"functions", "symbols", "include", "program.c", "frozen.h"}, set(os.listdir(directory)))

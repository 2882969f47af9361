# SPDX-License-Identifier: MIT
"""Tables of tp: columns for a width, rows for a height."""

from __future__ import annotations

import functools
import os
import re

from building import build
from support import ROOT, Case, run, temporary

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = os.path.join(ROOT, "runtime/tools")
SOURCES = os.path.join(ROOT, "runtime/src")


@functools.cache
def program() -> str:
    sources = [os.path.join(TOOLS, name) for name in ("client/table.c", "client/lines.c", "client/clean.c", "fail_msg.c")]
    return build(os.path.join(temporary(), "table"), os.path.join(HERE, "table.c"), *sources, os.path.join(SOURCES, "base/text.c"),
                 include=[TOOLS], flags=["-iquote", SOURCES, "-iquote", TOOLS, "-Wno-pedantic"], libtp="asan")


class Table(Case):
    def laid_out(self, rows: list[str], width: int = 0, height: int = 0) -> list[str]:
        self.write("rows", "".join(f"{row}\n" for row in rows))
        with open(self.path("rows"), encoding="utf-8") as file:
            done = run([program(), str(width), str(height)], stdin=file)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        for line in lines:
            self.assertEqual(line, line.rstrip())
            if width:
                self.assertLessEqual(len(line), width, done.stdout)
        if height:
            self.assertLessEqual(len(lines), height, done.stdout)
        return lines

    def test_as_wide_as_what_is_in_it(self) -> None:
        lines = self.laid_out(["net:request,7,1", "a,18446744073709551615,0.5"])
        self.assertEqual([re.sub("#+", "#", line) for line in lines], [
            "                                   -- between hits --",
            "EVENT                        HITS      MIN        MAX  LAST",
            "net:request                     7  1.00 us  123.45 ms  11:17:06.000001  #",
            "a            18446744073709551615  1.00 us  123.45 ms  11:17:06.000001  #"])
        self.assertEqual([line.count("#") for line in lines[2:]], [40, 20])
        self.assertEqual(len(self.laid_out([])), 2)

    def test_narrow(self) -> None:
        """Columns go before texts are cut; digits are never cut."""
        name = "system:an_event_with_a_name_that_is_long"
        for width in range(24, 140):
            lines = self.laid_out([f"{name},18446744073709551615,1", f"{name},1,0.001"], width)
            found = [line for line in lines if line.startswith(("syst", ".."))]
            self.assertEqual(len(found), 2, lines)
            if "MIN" in lines[1]:
                self.assertEqual(re.sub("[ -]+", " ", lines[0]).strip(), "between hits")
            text = " ".join(found)
            if width >= 30:
                self.assertIn("18446744073709551615", text)
            for word in re.findall(r"\d[\d.]*(?: [um]s)?", text):
                self.assertIn(word.strip(" "), ("18446744073709551615", "1", "1.00 us", "123.45 ms", "11", "17", "06.000001"), lines)
            if "11:17" in text:
                self.assertIn(name, text)
        self.assertIn("##", self.laid_out([f"{name},1,1"], 80)[-1])
        self.assertNotIn("LAST", "".join(self.laid_out([f"{name},1,1"], 80)))

    def test_narrower_than_anything(self) -> None:
        for width in range(1, 24):
            self.laid_out(["system:event,18446744073709551615,1"], width, 5)

    def test_height(self) -> None:
        """What does not fit is counted."""
        rows = [f"row{i},{i},0" for i in range(100)]
        for height in range(4, 110):
            lines = self.laid_out(rows, 80, height)
            shown = [line for line in lines if line.startswith("row")]
            self.assertEqual(shown[0].split()[0], "row0")
            self.assertEqual(len(lines), min(height, 102))
            if len(shown) < 100:
                self.assertEqual(lines[-1], f"... {100 - len(shown)} more")

    def test_below(self) -> None:
        """Belongs to its row, which is shown as a whole or not at all."""
        rows = [f"row{i},{i},0,below {i}" for i in range(5)]
        self.assertEqual([line.split()[0] for line in self.laid_out(rows, 80, 8)], ["--", "EVENT", "row0", "below", "row1", "below", "..."])
        self.assertEqual(len(self.laid_out(rows, 80, 12)), 12)
        self.assertEqual(len(self.laid_out(rows)), 12)

    def test_strangers(self) -> None:
        """Nothing reaches the terminal but what it shows; characters are counted, not bytes."""
        lines = self.laid_out(["ev\x1b[2J\tb,1,0", "\u00e4\u00f6\u00fc\u00df,2,0,be\x1blow"], 60)
        self.assertEqual([line.split()[0] for line in lines[2:]], ["ev?[2J", "\u00e4\u00f6\u00fc\u00df", "be?low"])
        self.assertEqual(lines[2].index("1"), lines[3].index("2"))

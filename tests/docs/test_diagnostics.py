# SPDX-License-Identifier: MIT
"""docs/diagnostics.md has a section for each code, and each example there prints what the page says.

A section's C block is demo.tp, else that is a good event; its sh block is
run, else demo.tp is checked. UPDATE=1 writes the messages anew.
"""

from __future__ import annotations

import os
import re
import sys

from support import ROOT, Case, expect, read, run, tpgen

PAGE = os.path.join(ROOT, "docs/diagnostics.md")

_SECTION = re.compile(r"^### (?P<code>TP\d{3}) (?P<severity>error|warning|remark): [^\n]+\n(?P<body>.*?)(?=^##|\Z)",
                      re.S | re.M)
_MESSAGE = re.compile(r"(^```text\n).*?(^```$)", re.S | re.M)

GOOD = """#define TRACE_SYSTEM demo

DECLARE_TRACE(demo_send, TP_PROTO(int length), TP_ARGS(length));
"""


def codes() -> set[str]:
    """The codes that tpgen has."""
    found: set[str] = set()
    for top, _, names in os.walk(os.path.join(ROOT, "tpgen")):
        for name in names:
            if name.endswith(".py"):
                found.update(re.findall(r'"(TP\d{3})"', read(os.path.join(top, name))))
    return found


def block(kind: str, body: str) -> str | None:
    match = re.search(rf"^```{kind}\n(.*?)^```$", body, re.S | re.M)
    return match[1] if match else None


class Explain(Case):
    def test_each_code(self) -> None:
        """tpgen explain prints the section."""
        listed = tpgen("explain").stdout
        for match in _SECTION.finditer(read(PAGE)):
            code = match["code"]
            self.assertRegex(listed, rf"(?m)^{code} {match['severity']}: ")
            done = tpgen("explain", code)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout.splitlines()[0], match[0].split("\n", 1)[0].removeprefix("### "))
            for line in (block("c", match["body"]) or "").splitlines():
                self.assertIn(f"    {line}\n" if line else "", done.stdout)

    def test_spellings(self) -> None:
        wanted = tpgen("explain", "TP052").stdout
        for given in ("52", "tp052", "[TP052]", "TP52"):
            self.assertEqual(tpgen("explain", given).stdout, wanted)
        self.assertEqual(tpgen("explain", "52", "1").stdout, wanted + "\n" + tpgen("explain", "TP001").stdout)

    def test_none(self) -> None:
        done = tpgen("explain", "TP999")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", done.stderr))
        self.assertTrue(done.stderr.endswith("tpgen: error: there is no code TP999; \"tpgen explain\" lists them\n"), done.stderr)


class Diagnostics(Case):
    def example(self, body: str, severity: str) -> str:
        """What a section's example prints."""
        code = block("c", body) or GOOD
        self.write("demo.tp", code)
        self.write("more/demo.tp", code.replace("demo_", "more_"))
        command = block("sh", body)
        if command is None:
            wanted = ["-W"] if severity == "remark" else []
            return tpgen("check", *wanted, "demo.tp", cwd=self.dir, env={"CC": "gcc"}).stderr
        script = f'tpgen() {{ "{sys.executable}" -m tpgen "$@"; }}\n{command}'
        return run(["bash", "-c", script], cwd=self.dir, env={**os.environ, "PYTHONPATH": ROOT, "CC": "gcc"}).stderr

    def test_each_code_has_a_section(self) -> None:
        self.assertEqual(sorted(codes()), [m["code"] for m in _SECTION.finditer(read(PAGE))])

    def test_examples(self) -> None:
        page = read(PAGE)
        for match in _SECTION.finditer(page):
            if "```" not in match["body"]:
                continue  # nothing that a file could bring about
            with self.subTest(match["code"]):
                printed = self.example(match["body"], match["severity"])
                self.assertEqual(set(re.findall(r": (\w+): [^\n]* \[(TP\d{3})\]$", printed, re.M)),
                                 {(match["severity"], match["code"])}, printed)
                body = _MESSAGE.sub(lambda m, text=printed: m[1] + text + m[2], match["body"])
                page = page.replace(match["body"], body)
        expect(self, PAGE, page)

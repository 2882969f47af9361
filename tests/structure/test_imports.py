# SPDX-License-Identifier: MIT
"""The stages of tpgen import in one direction only, and each does only what it is there for."""

from __future__ import annotations

import ast
import os
import re
import unittest

from support import ROOT

ORDER = ["source", "manual", "diag", "compiler", "cpp", "lexer", "tokens", "text", "kinds", "parser", "ctype", "model", "layout", "wording", "verbatim", "loglevel",
         "early", "fields", "printk", "lower", "check", "frontend",
         "target", "backends", "render", "emit", "format", "lsp", "cli"]


def imports(path: str) -> set[str]:
    """The modules that a file imports, by their dotted names."""
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative import"
            found.add(node.module or "")
            if node.module in ("tpgen", "tpgen.backends", "tpgen.lsp"):
                found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def stages() -> dict[str, set[str]]:
    """For each stage what its files import."""
    out: dict[str, set[str]] = {}
    for top, _, files in os.walk(os.path.join(ROOT, "tpgen")):
        for name in files:
            if not name.endswith(".py"):
                continue
            relative = os.path.relpath(os.path.join(top, name), os.path.join(ROOT, "tpgen"))
            stage = relative.split(os.sep)[0].removesuffix(".py")
            out.setdefault(stage, set()).update(imports(os.path.join(top, name)))
    return out


class Imports(unittest.TestCase):
    def test_every_file_is_a_stage(self) -> None:
        self.assertEqual(set(stages()) - {"__init__", "__main__"}, set(ORDER))

    def test_one_direction(self) -> None:
        for stage, imported in stages().items():
            if stage in ("__init__", "__main__"):
                continue
            for name in imported:
                parts = name.split(".")
                if parts[0] != "tpgen" or len(parts) < 2 or parts[1] not in ORDER or parts[1] == stage:
                    continue
                self.assertLess(ORDER.index(parts[1]), ORDER.index(stage), f"tpgen/{stage} imports {name}")

    def test_one_direction_in_the_language_server(self) -> None:
        """As lsp/__init__.py lists its files."""
        with open(os.path.join(ROOT, "tpgen/lsp/__init__.py"), encoding="utf-8") as file:
            order = re.findall(r"\w+", " ".join(re.findall(r"^    (\w+(?:, \w+)*)  ", file.read(), re.M)))
        for number, name in enumerate(order):
            for imported in imports(os.path.join(ROOT, "tpgen/lsp", f"{name}.py")):
                if imported.startswith("tpgen.lsp."):
                    self.assertIn(imported.split(".")[2], order[:number], f"{name} imports {imported}")
        self.assertEqual({f"{name}.py" for name in order} | {"__init__.py"},
                         {name for name in os.listdir(os.path.join(ROOT, "tpgen/lsp")) if name.endswith(".py")})

    def test_backends_see_the_model_only(self) -> None:
        for name in stages()["backends"]:
            if name.startswith("tpgen."):
                self.assertIn(name.split(".")[1], ("model", "layout", "backends", "INTERFACE_VERSION"), name)

    def test_one_user_each(self) -> None:
        for package, stage in (("pycparser", "ctype"), ("jinja2", "render"), ("subprocess", "compiler")):
            users = {s for s, imported in stages().items() if any(n.split(".")[0] == package for n in imported)}
            self.assertEqual(users, {stage}, package)

    def test_one_printer(self) -> None:
        for top, _, files in os.walk(os.path.join(ROOT, "tpgen")):
            for name in files:
                if name.endswith(".py") and name != "diag.py":
                    with open(os.path.join(top, name), encoding="utf-8") as file:
                        self.assertNotIn("sys.stderr", file.read(), name)

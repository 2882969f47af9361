# SPDX-License-Identifier: MIT
"""textDocument/formatting: its edits make of a text what tpgen fmt makes of the file."""

from __future__ import annotations

import glob
import os
import random
import re

from lsp.client import LspCase
from support import ROOT, few_or_many, read

from tpgen.format import formatted

URI = "file:///tmp/shop.tp"
OPTIONS = {"tabSize": 8, "insertSpaces": False}


def mixed_up(text: str, rng: random.Random) -> str:
    """The same tokens with other white space."""
    return re.sub(r"(?<=[,(])[ \t]*(?=[a-z_])", lambda _: rng.choice(("", " ", "\t", "   ")), text)


class Format(LspCase):
    def test_as_the_command(self) -> None:
        client = self.client().initialize()
        rng = random.Random(1)
        files = sorted(glob.glob(os.path.join(ROOT, "defs/*.tp")) + glob.glob(os.path.join(ROOT, "examples/*/*.tp")))
        edits = version = 0
        for path in files:
            for text in (read(path), *(mixed_up(read(path), rng) for _ in range(few_or_many(2, 10))), read(path).replace("\n", "\r\n"),
                         "\ufeff" + mixed_up(read(path), rng) + "/* 𝄞", ""):
                version += 1
                uri = f"{URI}{version}.tp"
                client.open(uri, text)
                found = client.ask("textDocument/formatting", textDocument={"uri": uri}, options=OPTIONS)
                edits += len(found)
                self.assertEqual(bool(found), formatted(text) != text)
                # The server's own way to apply an edit: what is asked again has nothing more to change.
                client.change(uri, *({"range": edit["range"], "text": edit["newText"]} for edit in found))
                self.assertEqual(self.text_of(text, found), formatted(text), path)
                self.assertEqual(client.ask("textDocument/formatting", textDocument={"uri": uri}, options=OPTIONS), [])
        self.assertGreater(edits, len(files))

    def text_of(self, text: str, edits: list[dict]) -> str:
        lines = text.split("\n")
        for edit in edits:
            (first, at), (last, until) = ((edit["range"][end]["line"], edit["range"][end]["character"]) for end in ("start", "end"))
            self.assertEqual(at, 0)
            rest = "\n".join(lines[last:])
            behind = rest.encode("utf-16-le")[2 * until:].decode("utf-16-le")
            return "\n".join([*lines[:first], ""]) * bool(first) + edit["newText"] + behind
        return text

    def test_unfinished(self) -> None:
        """An event whose bracket is open is left alone."""
        client = self.client().initialize()
        text = "#define TRACE_SYSTEM shop\nTRACE_EVENT(shop_pay,TP_PROTO(int n), TP_ARGS(n"
        client.open(URI, text + "\n")
        self.assertEqual(client.ask("textDocument/formatting", textDocument={"uri": URI}, options=OPTIONS), [])

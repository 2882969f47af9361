# SPDX-License-Identifier: MIT
"""What tpgen lsp finds wrong is what "tpgen check" prints: of all inputs of tests/errors, of texts that are typed, of options."""

from __future__ import annotations

import glob
import json
import os
import random
import re

from lsp.client import Client, LspCase, lines_of, position, uri_of
from lsp.test_protocol import EVENT
from support import ROOT, both, few_or_many, read, tpgen

from tpgen.lsp.wire import frame

ERRORS = os.path.join(ROOT, "tests/errors")
SEED = int(os.environ.get("SEED", "1"))

_HEAD = re.compile(r"^[^:\n]+: (?=error|warning|remark|note)|^[^:\n]+:(\d+:\d+): (?=error|warning|remark|note)")


def checked(text: str) -> list[str]:
    """The first lines of what "tpgen check" prints, without the file's name; what is of the whole file is of its beginning."""
    found = []
    for line in text.splitlines():
        head = _HEAD.match(line)
        if head:
            found.append(f"{head[1] or '1:1'}: {line[head.end():]}")
    return found


def with_notes(found: list[dict]) -> list[str]:
    lines = []
    for line, one in zip(lines_of(found), found):
        lines.append(line)
        for note in one.get("relatedInformation", []):
            start = note["location"]["range"]["start"]
            lines.append(f"{start['line'] + 1}:{start['character'] + 1}: note: {note['message']}")
    return lines


class Same(LspCase):
    """The goldens' own messages, and all notes."""

    def compare(self, client: Client, names: list[str]) -> None:
        for path in names:
            uri = uri_of(path)
            client.open(uri, read(path))
            with self.subTest(os.path.relpath(path, ERRORS)):
                golden = path.removesuffix(".tp") + ".err"
                expected = checked(read(golden)) if os.path.exists(golden) else []
                self.assertEqual(with_notes(client.diagnostics(uri)), expected)
            client.notify("textDocument/didClose", textDocument={"uri": uri})

    def test_errors(self) -> None:
        client = self.client().initialize(capabilities={"general": {"positionEncodings": ["utf-32"]}, "textDocument": {
            "publishDiagnostics": {"relatedInformation": True}}})
        self.assertEqual(client.initialized["capabilities"]["positionEncoding"], "utf-32")
        names = sorted(glob.glob(os.path.join(ERRORS, "[!r]*.tp")) + glob.glob(os.path.join(ERRORS, "r[!e]*.tp"))
                       + glob.glob(os.path.join(ERRORS, "re[!m]*.tp")))
        self.assertGreater(len(names), 100)
        self.compare(client, names)
        self.end(client)

    def test_remarks_and_good(self) -> None:
        client = self.client("-W").initialize(capabilities={"general": {"positionEncodings": ["utf-32", "utf-8"]}, "textDocument": {
            "publishDiagnostics": {"relatedInformation": True}}})
        self.compare(client, sorted(glob.glob(os.path.join(ERRORS, "remark-*.tp")) + glob.glob(os.path.join(ERRORS, "good", "*.tp"))))
        self.end(client)


class Typed(LspCase):
    def checked(self, text: str) -> list[str]:
        return checked(tpgen("check", self.write("typed.tp", text)).stderr)

    def test_each_prefix(self) -> None:
        """A file is typed, key by key, as fast as can be: what is said at the end is of the end."""
        client = self.client().initialize()
        uri = uri_of(self.path("typed.tp"))
        text = EVENT.replace('a=%d", __entry->a', 'a=%s", __entry->b')
        client.open(uri, "")
        self.assertEqual(client.diagnostics(uri), [])
        version = 0
        for at, letter in enumerate(text):
            place = {"line": text.count("\n", 0, at), "character": at - text.rfind("\n", 0, at) - 1}
            version = client.change(uri, {"range": {"start": place, "end": place}, "text": letter})
            for method in ("completion", "definition", "references"):
                client.ask(f"textDocument/{method}", textDocument={"uri": uri}, position=place)
            client.ask("textDocument/documentSymbol", textDocument={"uri": uri})
        self.assertEqual(with_notes(client.diagnostics(uri, version)), self.checked(text))
        self.end(client)

    def test_keys_without_a_pause(self) -> None:
        """They are not compiled one by one: after many that come at once, the text is."""
        client = self.client().initialize()
        uri = uri_of(self.path("typed.tp"))
        client.open(uri, EVENT)
        self.assertEqual(client.diagnostics(uri), [])
        keys = [{"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {
            "textDocument": {"uri": uri, "version": number}, "contentChanges": [{"text": EVENT + "x" * (number % 9) + ";"}]}}
                for number in range(100, 200)]
        data = b"".join(frame(json.dumps(key).encode()) for key in keys)
        self.assertLess(len(data), 1 << 16)  # what a pipe takes
        os.write(client.stdin, data)
        self.assertEqual(client.diagnostics(uri, 199), [])
        self.end(client)
        self.assertEqual([m for m in client.come if m.get("method") == "textDocument/publishDiagnostics"], [])

    @both
    def test_random_edits(self) -> None:
        """Pieces are taken out, doubled and exchanged; each time, what is said is what a whole text of the same gets."""
        choose = random.Random(SEED)
        client = self.client().initialize()
        uri = uri_of(self.path("typed.tp"))
        sources = [read(path) for path in sorted(glob.glob(os.path.join(ROOT, "defs/*.tp")))] + [EVENT]
        text = ""
        client.open(uri, text)
        client.diagnostics(uri)
        for run in range(few_or_many(25, 100, "FUZZ")):
            if not run % 5:
                new, start, end = choose.choice(sources), 0, len(text)
            else:
                pieces = [m.span() for m in re.finditer(r"\w+|\s+|.", text)] or [(0, 0)]
                start, end = choose.choice(pieces)
                new = choose.choice(["", "", text[start:end] * 2, "(", ")", '"', "/*", ",", "__entry->", "TRACE_EVENT(", "\r\n", "\u00e9\U0001f600"])
            places = [{"line": text.count("\n", 0, at), "character": at - text.rfind("\n", 0, at) - 1
                       + sum(c > "\uffff" for c in text[text.rfind("\n", 0, at) + 1:at])} for at in (start, end)]
            version = client.change(uri, {"range": {"start": places[0], "end": places[1]}, "text": new})
            text = (text[:start] + new + text[end:]).replace("\r\n", "\n")
            for _ in range(8):
                at = {"textDocument": {"uri": uri}, "position": {"line": choose.randrange(text.count("\n") + 2), "character": choose.randrange(60)}}
                client.request("textDocument/" + choose.choice(["completion", "definition", "references", "hover"]), **at)
            client.request("textDocument/documentSymbol", textDocument={"uri": uri})
            found = [re.sub(r"^(\d+):\d+", r"\1", line) for line in with_notes(client.diagnostics(uri, version))]
            self.assertEqual(found, [re.sub(r"^(\d+):\d+", r"\1", line) for line in self.checked(text)], f"SEED={SEED}, run {run}")
        wrong = [m["error"] for m in client.come if "error" in m]
        self.assertEqual([error for error in wrong if error["code"] != -32801], [])  # the text has changed
        self.end(client)


class Positions(LspCase):
    def columns(self, encodings: list[str] | None, text: str) -> list[int]:
        general = {"general": {"positionEncodings": encodings}} if encodings else {}
        client = self.client().initialize(capabilities=general)
        client.open("file:///x.tp", text)
        found = client.diagnostics("file:///x.tp")
        self.end(client)
        self.assertEqual([d["code"] for d in found], ["TP060", "TP063"])
        return [found[1]["range"][end]["character"] for end in ("start", "end")]

    def test_encodings(self) -> None:
        """A line with tabs, and characters of each length."""
        text = EVENT.replace("TP_fast_assign(", "TP_fast_assign(\t/* \U0001f600 \u00e9 \u20ac */ ").replace("__entry->a = a", "__entry->\u00e9 = a")
        line = next(line for line in text.splitlines() if "\U0001f600" in line)
        at = line.index("\u00e9 =")
        for encodings, unit in ((None, 16), (["utf-16"], 16), (["utf-8", "utf-16"], 8), (["utf-32"], 32), (["ebcdic"], 16), ([], 16), ("x", 16)):
            columns = [len(line[:end].encode(f"utf-{unit}-le" if unit > 8 else "utf-8")) * 8 // unit for end in (at, at + 1)]
            self.assertEqual(self.columns(encodings, text), columns, encodings)

    def test_edits_in_units(self) -> None:
        client = self.client().initialize()
        client.open("file:///x.tp", "\U0001f600\U0001f600x\r\ny\rz\n")

        def edit(start: tuple[int, int], end: tuple[int, int], text: str) -> None:
            client.change("file:///x.tp", {"range": {"start": dict(zip(("line", "character"), start)),
                                                     "end": dict(zip(("line", "character"), end))}, "text": text})
        edit((0, 2), (0, 4), "#define A ")            # the second of the two
        edit((0, 0), (0, 2), "")                      # and the first
        edit((1, 0), (2, 1), "TRACE_EVENT(e, ")       # of a line of \r\n to that of \r
        edit((0, 99), (0, 99), "1")                   # behind the line is at its end, in front of \r\n
        edit((99, 0), (99, 0), "TP_PROTO(int \u00e9),")
        edit((2, 13), (2, 13), "b, int ")
        where = client.ask("textDocument/completion", textDocument={"uri": "file:///x.tp"}, position={"line": 2, "character": 99})
        self.assertIn("TP_ARGS", [item["label"] for item in where])
        version = client.change("file:///x.tp", {"range": {"start": {"line": 2, "character": 99}, "end": {"line": 2, "character": 99}}, "text": "TP_ARGS()"})
        found = client.ask("textDocument/completion", textDocument={"uri": "file:///x.tp"},
                           position={"line": 2, "character": len("TP_PROTO(int b, int \u00e9),TP_ARGS(")})
        self.assertEqual([item["label"] for item in found], ["b", "\u00e9"])
        client.diagnostics("file:///x.tp", version)
        self.end(client)

    def test_line_ends(self) -> None:
        """CRLF, CR, and a byte order mark: the same places."""
        text = EVENT.replace("%d", "%s")
        client = self.client().initialize()
        for number, same in enumerate((text, text.replace("\n", "\r\n"), text.replace("\n", "\r"), "\ufeff" + text)):
            uri = f"file:///{number}.tp"
            client.open(uri, same)
            self.assertEqual([(d["range"]["start"], d["code"]) for d in client.diagnostics(uri)],
                             [(position(text, "__entry->a)"), "TP052")])
        self.end(client)

    def test_no_unicode(self) -> None:
        """Halves of characters, NULs, and what is no character."""
        client = self.client().initialize()
        client.open("file:///x.tp", "\ud83d\ude00\0\udc80\ud800\x7f\u2028\uffff" + EVENT)
        client.diagnostics("file:///x.tp")
        version = client.change("file:///x.tp", {"text": EVENT + "/* \udead */"})
        self.assertEqual(client.diagnostics("file:///x.tp", version), [])
        self.end(client)


class Options(LspCase):
    """-I and -D: of the command line, of initialize, and as the editor changes them."""

    TEXT = EVENT.replace("#define TRACE_SYSTEM test", '#define TRACE_SYSTEM test\n#include "types.h"\n#if COUNT != 3\n#error wrong\n#endif')

    def setUp(self) -> None:
        super().setUp()
        self.write("src/include/types.h", "#define COUNT 3\n")
        self.uri = uri_of(self.path("src/defs/x.tp"))
        self.root = uri_of(self.path("src"))

    def codes(self, client: Client, version: int = 1) -> list[str]:
        return [d["code"] for d in client.diagnostics(self.uri, version)]

    def test_command_line(self) -> None:
        for params in ({"rootUri": self.root}, {"rootUri": None, "workspaceFolders": [{"uri": self.root, "name": "src"}]}):
            client = self.client("--expand-includes", "-Iinclude").initialize(**params)
            client.open(self.uri, self.TEXT)
            self.assertEqual(self.codes(client), [])
            self.end(client)
        client = self.client("-DCOUNT=3").initialize()
        client.open(self.uri, self.TEXT)
        self.assertEqual(self.codes(client), [])
        self.end(client)

    def test_folders(self) -> None:
        """Of several, the one that has the file; otherwise the file's own."""
        self.write("src/defs/own/types.h", "#define COUNT 3\n")
        for folders, flag in (([self.root + "/include", self.root], "-Iinclude"), ([self.root + "/include"], "-Iown"), (7, "-Iown"), ([], "-Iown")):
            client = self.client("--expand-includes", flag).initialize(
                workspaceFolders=[{"uri": one, "name": "x"} for one in folders] if isinstance(folders, list) else folders)
            client.open(self.uri, self.TEXT)
            self.assertEqual(self.codes(client), [], folders)
            self.end(client)

    def test_initialize(self) -> None:
        client = self.client("--expand-includes").initialize(rootUri=self.root, initializationOptions={"flags": ["-Iinclude"]})
        client.open(self.uri, self.TEXT)
        self.assertEqual(self.codes(client), [])
        self.end(client)

    def test_changed(self) -> None:
        client = self.client().initialize()
        client.open(self.uri, self.TEXT)
        self.assertEqual(self.codes(client), ["TP002"])
        for settings, codes in (({"tpgen": {"flags": ["-D", "COUNT=3"]}}, []), ({"flags": []}, ["TP002"]), ({"flags": ["-DCOUNT=3"]}, []),
                                ({}, []), ({"tpgen": {"flags": []}}, ["TP002"])):
            client.notify("workspace/didChangeConfiguration", settings=settings)
            self.assertEqual(self.codes(client), codes, settings)
        self.end(client)

    def test_wrong(self) -> None:
        """What is wrong is said, and the flags before are used on."""
        client = self.client("-DCOUNT=3").initialize()
        client.open(self.uri, self.TEXT)
        self.assertEqual(self.codes(client), [])
        for flags, said in ((7, "a list of texts"), ([1], "a list of texts"), ("-DX", "a list of texts"), (["-Q"], "unrecognized arguments: -Q"),
                            (["-I"], "expected one argument"), (["x.tp"], "unrecognized arguments: x.tp"), (["--help"], "unrecognized arguments")):
            client.notify("workspace/didChangeConfiguration", settings={"flags": flags})
            self.assertIn(said, client.wait(lambda m: m.get("method") == "window/showMessage")["params"]["message"])
            self.assertEqual(self.codes(client), [])
        self.end(client)

    def test_saved(self) -> None:
        """An included file may have been."""
        client = self.client("--expand-includes", "-Iinclude").initialize(rootUri=self.root)
        client.open(self.uri, self.TEXT)
        self.assertEqual(self.codes(client), [])
        self.write("src/include/types.h", "#define COUNT 3\n#error broken\n")
        client.notify("textDocument/didSave", textDocument={"uri": self.uri})
        found = client.diagnostics(self.uri)
        self.assertEqual([(d["code"], d["range"]["start"]["line"]) for d in found], [("TP002", 1)])
        self.assertIn("types.h:2:2: error: #error broken", found[0]["message"])
        self.end(client)

    def test_flood(self) -> None:
        """A mistake that makes many is said as often as "tpgen check" says it."""
        client = self.client().initialize()
        text = EVENT.split("\n", 1)[0] + "\n" + "".join(f"TRACE_EVNT(e{n}, TP_PROTO(int a), TP_ARGS(a), TP_printk(\"\"));\n" for n in range(1000))
        client.open(self.uri, text)
        self.assertEqual(len(client.diagnostics(self.uri)), 100)
        self.end(client)

    def test_notes_of_an_editor_without_related_information(self) -> None:
        client = self.client().initialize(capabilities={})
        client.open(self.uri, EVENT.replace("__entry->a = a;", ""))
        self.assertRegex(client.diagnostics(self.uri)[0]["message"], r"(?s)never assigned.*\n7:29: note: it is printed here$")
        self.end(client)

    def test_ten_thousand_lines(self) -> None:
        client = self.client().initialize()
        text = EVENT.split("\n", 1)[0] + "\n" + "".join(EVENT.split("\n", 1)[1].replace("(e,", f"(e{n},") for n in range(1250))
        self.assertGreater(text.count("\n"), 8_700)
        text += "\n" * 1300
        client.open(self.uri, text)
        for _ in range(50):
            version = client.change(self.uri, {"range": {"start": {"line": 5000, "character": 0}, "end": {"line": 5000, "character": 0}}, "text": "\n"})
        items = client.ask("textDocument/completion", textDocument={"uri": self.uri}, position={"line": 3, "character": 9})
        self.assertEqual([item["label"] for item in items], ["a"])
        self.assertEqual(client.diagnostics(self.uri, version), [])
        hover = client.ask("textDocument/hover", textDocument={"uri": self.uri}, position={"line": 1, "character": 12})
        self.assertIn("12 bytes", hover["contents"]["value"])
        self.end(client)

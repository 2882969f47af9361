# SPDX-License-Identifier: MIT
"""An editor, as far as tpgen lsp sees one: a script that writes to its stdin and reads from its stdout."""

from __future__ import annotations

import itertools
import json
import os
import select
import subprocess
import sys
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from support import PATIENCE, ROOT, Case

from tpgen.lsp.wire import Frames, frame

# What today's editors say of themselves.
CAPABILITIES = {"textDocument": {
    "hover": {"contentFormat": ["markdown", "plaintext"]}, "completion": {"completionItem": {"snippetSupport": True}},
    "documentSymbol": {"hierarchicalDocumentSymbolSupport": True}, "publishDiagnostics": {"relatedInformation": True}}}


class Client:
    def __init__(self, *flags: str, cwd: str = ROOT, env: dict[str, str] | None = None):
        # pylint: disable=consider-using-with # close() ends it
        self.process = subprocess.Popen([sys.executable, "-m", "tpgen", "lsp", *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, bufsize=0, cwd=cwd,
                                        env={**os.environ, "CC": "gcc", "PYTHONPATH": ROOT, **(env or {})})
        assert self.process.stdin and self.process.stdout
        self.stdin, self.stdout = self.process.stdin.fileno(), self.process.stdout.fileno()
        self.frames = Frames()
        self.come: list[dict[str, Any]] = []
        self.ids = itertools.count(1)
        self.versions = itertools.count(2)
        self.initialized: dict[str, Any] = {}

    def raw(self, data: bytes) -> None:
        """Writes, and reads meanwhile: neither side waits for the other."""
        while data:
            readable, writable, _ = select.select([self.stdout], [self.stdin], [], PATIENCE)
            assert readable or writable, "the server neither reads nor writes"
            if readable:
                self._read()
            if writable:
                data = data[os.write(self.stdin, data[:select.PIPE_BUF]):]

    def send(self, **message: Any) -> None:
        self.raw(frame(json.dumps({"jsonrpc": "2.0", **message}).encode()))

    def notify(self, method: str, **params: Any) -> None:
        self.send(method=method, params=params)

    def request(self, method: str, **params: Any) -> int:
        number = next(self.ids)
        self.send(id=number, method=method, params=params)
        return number

    def _read(self) -> bool:
        data = os.read(self.stdout, 1 << 16)
        self.come += [json.loads(body) for body in self.frames.feed(data)]
        return bool(data)

    def wait(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first message of that kind, which is taken out of what has come."""
        while True:
            for message in self.come:
                if wanted(message):
                    self.come.remove(message)
                    return message
            assert select.select([self.stdout], [], [], PATIENCE)[0], f"no answer in {PATIENCE} seconds; there was {self.come}"
            assert self._read(), f"the server has ended; {self.process.wait(PATIENCE)}, {self.errors()}"

    def answer(self, number: object) -> dict[str, Any]:
        return self.wait(lambda m: "method" not in m and m.get("id") == number)

    def ask(self, method: str, **params: Any) -> Any:
        """The result of a request that must succeed."""
        answer = self.answer(self.request(method, **params))
        assert "result" in answer, answer
        return answer["result"]

    def refused(self, method: str, **params: Any) -> int:
        return self.answer(self.request(method, **params))["error"]["code"]

    def initialize(self, **params: Any) -> Client:
        self.initialized = self.ask("initialize", **{"processId": os.getpid(), "rootUri": None, "capabilities": CAPABILITIES, **params})
        self.notify("initialized")
        return self

    def open(self, uri: str, text: str, version: int = 1) -> None:
        self.notify("textDocument/didOpen", textDocument={"uri": uri, "languageId": "c", "version": version, "text": text})

    def change(self, uri: str, *changes: dict[str, Any]) -> int:
        version = next(self.versions)
        self.notify("textDocument/didChange", textDocument={"uri": uri, "version": version}, contentChanges=list(changes))
        return version

    def diagnostics(self, uri: str, version: int = 1) -> list[dict[str, Any]]:
        """Those of a version, the first time that they come."""
        return self.wait(lambda m: m.get("method") == "textDocument/publishDiagnostics" and m["params"]["uri"] == uri
                         and m["params"].get("version") == version)["params"]["diagnostics"]

    def errors(self) -> str:
        assert self.process.stderr
        return self.process.stderr.read().decode()

    def exit(self) -> int:
        """Shuts it down as an editor does."""
        self.send(id="shutdown", method="shutdown", params=None)  # as Emacs does
        assert self.answer("shutdown")["result"] is None
        self.send(method="exit")
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe
            pipe.close()


class LspCase(Case):
    def client(self, *flags: str, **options: Any) -> Client:
        client = Client(*flags, **options)
        self.addCleanup(client.close)
        return client

    def end(self, client: Client) -> None:
        """The server must end well, and have said nothing besides."""
        self.assertEqual((client.exit(), client.errors()), (0, ""))
        internal = [m for m in client.come if "internal error" in json.dumps(m)]
        self.assertEqual(internal, [])


def uri_of(path: str) -> str:
    return "file://" + quote(path)


def position(text: str, what: str, plus: int = 0, after: str = "") -> dict[str, int]:
    """Of a word in text that is ASCII; the first behind another one."""
    at = text.index(what, text.index(after)) + plus
    return {"line": text.count("\n", 0, at), "character": at - text.rfind("\n", 0, at) - 1}


def lines_of(found: list[dict[str, Any]]) -> list[str]:
    """Diagnostics as "tpgen check" begins them, without the file's name."""
    names = {1: "error", 2: "warning", 3: "remark"}
    return [f"{d['range']['start']['line'] + 1}:{d['range']['start']['character'] + 1}: {names[d['severity']]}: {d['message']} [{d['code']}]"
            for d in found]

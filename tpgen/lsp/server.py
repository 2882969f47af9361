# SPDX-License-Identifier: MIT
"""The server: one thread, which waits for the editor, for the compilation that runs, and for a pause in what is typed.

    new --initialize--> serving --shutdown--> over --exit--> status 0; exit anywhere else: status 1
"""

from __future__ import annotations

import gc
import os
import traceback
from collections.abc import Callable, Sequence

from tpgen import VERSION
from tpgen.lsp import wire
from tpgen.lsp.analysis import Settings
from tpgen.lsp.complete import complete
from tpgen.lsp.hover import hover
from tpgen.lsp.navigate import definition, references, symbols
from tpgen.lsp.wire import Connection, Refused, Unframed
from tpgen.lsp.workspace import Params, Workspace, items, member


class Server:
    """settings is that of Workspace."""

    def __init__(self, settings: Callable[[Sequence[str]], Settings]):
        self._editor = Connection()
        self._workspace = Workspace(self._editor, settings, self._request)
        self._state = "new"
        self._status: int | None = None

    def run(self) -> int:
        gc.enable()  # it stays
        try:
            while self._status is None:
                self._step()
            self._editor.flush()
        except OSError:  # the editor is gone
            self._status = 1
        self._workspace.end()
        return self._status

    def _step(self) -> None:
        sent, analysed = self._editor.ready(self._workspace.output, self._workspace.pause())
        if analysed:
            self._workspace.analysed()
        if sent:
            self._receive()
        else:  # all that was typed has been read
            self._workspace.compile()

    def _receive(self) -> None:
        bodies = self._editor.receive()
        if bodies is None:
            self._status = 1
        try:
            for body in bodies or ():
                if self._status is None:
                    self._message(body)
        except Unframed as why:
            self._editor.log(f"tpgen lsp ends: {why}")
            self._status = 1

    def _message(self, body: bytes) -> None:
        try:
            message = wire.decode(body)
        except Refused as why:
            self._editor.refuse(None, why.code, str(why))
            return
        if "method" not in message and ("result" in message or "error" in message):
            return  # an answer; nothing was asked
        method, id_, params = message.get("method"), message.get("id"), message.get("params")
        is_request = "id" in message
        if not isinstance(method, str) or is_request and not isinstance(id_, (int, str)):
            self._editor.refuse(None, wire.INVALID_REQUEST, "a message has a method, and a request has an id")
        elif params is not None and not isinstance(params, dict):
            self._editor.refuse(id_, wire.INVALID_PARAMS, "params is an object")
        elif is_request:
            self._request(method, id_, params or {})
        elif method == "exit":
            self._status = 0 if self._state == "over" else 1
        elif self._state == "serving" and method in NOTIFICATIONS:
            self._guarded(lambda: NOTIFICATIONS[method](self._workspace, params or {}), lambda code, why: self._editor.log(why))

    def _request(self, method: str, id_: object, params: Params) -> None:
        def answer() -> None:
            # Hover wants sizes.
            waits = method == "textDocument/hover" and self._state == "serving" and self._workspace.waits(method, id_, params)
            if not waits:
                self._editor.send({"id": id_, "result": self._answer(method, params)})
        self._guarded(answer, lambda code, why: self._editor.refuse(id_, code, why))

    def _guarded(self, act: Callable[[], None], refuse: Callable[[int, str], None]) -> None:
        try:
            act()
        except Refused as why:
            refuse(why.code, str(why))
        except Exception as error:  # a defect of tpgen's own, whatever the editor sent
            at = traceback.extract_tb(error.__traceback__)[-1]
            refuse(wire.INTERNAL_ERROR, f"internal error at {os.path.basename(at.filename)}:{at.lineno}: {type(error).__name__}: {error}")

    def _answer(self, method: str, params: Params) -> object:
        if method == "initialize" and self._state == "new":
            return self._initialize(params)
        if self._state != "serving" or method == "initialize":
            raise Refused(wire.NOT_INITIALIZED if self._state == "new" else wire.INVALID_REQUEST,
                          f"there is no {method} while the server is {self._state}")
        if method == "shutdown":
            self._state = "over"
            return None
        if method not in REQUESTS:
            raise Refused(wire.METHOD_NOT_FOUND, f"there is no {method}")
        return REQUESTS[method](self._workspace, params)

    def _initialize(self, params: Params) -> object:
        self._workspace.initialize(params)
        self._state = "serving"
        return {"serverInfo": {"name": "tpgen", "version": VERSION},
                "capabilities": {"positionEncoding": self._workspace.encoding,
                                 "textDocumentSync": {"openClose": True, "change": 2, "save": True},
                                 "hoverProvider": True, "definitionProvider": True, "referencesProvider": True,
                                 "documentSymbolProvider": True, "documentFormattingProvider": True,
                                 "completionProvider": {"triggerCharacters": [">", "("]}}}


def _hover(workspace: Workspace, params: Params) -> object:
    open_ = workspace.document(params)
    document, _, offset = open_.place(params)
    return hover(document, open_.records, offset, open_.found, "markdown" in items(workspace.supports("hover", "contentFormat")))


def _definition(workspace: Workspace, params: Params) -> object:
    return definition(*workspace.document(params).place(params))


def _references(workspace: Workspace, params: Params) -> object:
    declaration = member(params, "context").get("includeDeclaration") is not False
    return references(*workspace.document(params).place(params), declaration)


def _format(workspace: Workspace, params: Params) -> object:
    return workspace.document(params).document.formatted()


def _symbols(workspace: Workspace, params: Params) -> object:
    hierarchical = workspace.supports("documentSymbol", "hierarchicalDocumentSymbolSupport") is True
    return symbols(workspace.document(params).document, hierarchical)


def _complete(workspace: Workspace, params: Params) -> object:
    snippets = workspace.supports("completion", "completionItem", "snippetSupport") is True
    return complete(*workspace.document(params).place(params), snippets)


REQUESTS: dict[str, Callable[[Workspace, Params], object]] = {
    "textDocument/hover": _hover,
    "textDocument/definition": _definition,
    "textDocument/references": _references,
    "textDocument/documentSymbol": _symbols,
    "textDocument/completion": _complete,
    "textDocument/formatting": _format,
}
NOTIFICATIONS: dict[str, Callable[[Workspace, Params], None]] = {
    "textDocument/didOpen": Workspace.did_open,
    "textDocument/didChange": Workspace.did_change,
    "textDocument/didSave": Workspace.did_save,
    "textDocument/didClose": Workspace.did_close,
    "workspace/didChangeConfiguration": Workspace.did_configure,
    "$/cancelRequest": Workspace.cancel,
}

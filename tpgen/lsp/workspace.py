# SPDX-License-Identifier: MIT
"""The documents that an editor has open: their texts, when they are compiled, and what the compiler says of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tpgen.diag import Diagnostic
from tpgen.lsp.analysis import Job, Record, Records, Settings, unfinished
from tpgen.lsp.document import DEFAULT, ENCODINGS, Document, path_of, uri_of
from tpgen.lsp.wire import CANCELLED, CONTENT_MODIFIED, INVALID_PARAMS, Connection, Refused

# A text is compiled after a pause: who types fast waits for nothing, and sees no mistakes of half a word.
PAUSE = 0.2

_SEVERITIES = {"error": 1, "warning": 2, "remark": 3}

Params = Mapping[str, object]


def member(of: Params, name: str) -> Params:
    """A member that is an object, or an empty one in place of anything else."""
    found = of.get(name)
    return found if isinstance(found, dict) else {}


def items(value: object) -> list[object]:
    """Of a list, or none of anything else."""
    return value if isinstance(value, list) else []


class Open:
    """An open document, with what the compiler said last, which may be of an older text."""

    def __init__(self, document: Document):
        self.document = document
        self.due: float | None = 0.0  # when it is to be compiled; None once it is, or is being
        self.found: Sequence[Diagnostic] = ()
        self.records: Records = {}
        self.known: dict[tuple[str, str], Record] = {}  # the last record of each, also of those in which a mistake is now

    def place(self, params: Params) -> tuple[Document, Records, int]:
        """For answers that old records serve, too."""
        return self.document, self.known, self.document.offset(params.get("position"))


class Workspace:
    """settings makes the settings of flags, those of the command line among them; ValueError says what is wrong with flags. again is
    called for each request that has waited for a compilation."""

    def __init__(self, editor: Connection, settings: Callable[[Sequence[str]], Settings], again: Callable[[str, object, Params], None]):
        self.encoding = DEFAULT
        self._editor = editor
        self._read_settings = settings
        self._settings = settings([])
        self._again = again
        self._client: Params = {}
        self._folders: list[str] = []
        self._open: dict[str, Open] = {}
        self._job: tuple[Job, Open] | None = None
        self._waiting: dict[object, tuple[str, Open, Params]] = {}  # requests that want the records of a text, by their ids

    def initialize(self, params: Params) -> None:
        self._client = member(params, "capabilities")
        wanted = items(member(self._client, "general").get("positionEncodings"))
        self.encoding = next((one for one in wanted if isinstance(one, str) and one in ENCODINGS), DEFAULT)
        folders = [one.get("uri") for one in items(params.get("workspaceFolders")) if isinstance(one, dict)]
        self._folders = [path_of(one) for one in folders or [params.get("rootUri")] if isinstance(one, str)]
        self._set_flags(member(params, "initializationOptions"))

    def supports(self, *names: str) -> object:
        """What the editor says of this that can be done with a text."""
        found: object = self._client.get("textDocument")
        for name in names:
            found = found.get(name) if isinstance(found, dict) else None
        return found

    def _set_flags(self, options: Params) -> None:
        """flags of the options, where they have any."""
        flags = options.get("flags")
        if flags is None:
            return
        try:
            if not isinstance(flags, list) or not all(isinstance(flag, str) for flag in flags):
                raise ValueError('it is a list of texts, such as ["-Iinclude", "-W"]')
            self._settings = self._read_settings(flags)
        except ValueError as why:
            self._editor.notify("window/showMessage", {"type": 2, "message": f"tpgen lsp: flags are not used: {why}"})

    # ---- What the editor does ----

    def document(self, params: Params) -> Open:
        uri = member(params, "textDocument").get("uri")
        if not isinstance(uri, str) or uri not in self._open:
            raise Refused(INVALID_PARAMS, f"no open document is {uri}")
        return self._open[uri]

    def did_open(self, params: Params) -> None:
        item = member(params, "textDocument")
        uri, text = item.get("uri"), item.get("text")
        if isinstance(uri, str) and isinstance(text, str):
            self._forget(uri)
            self._open[uri] = Open(Document(uri, item.get("version"), text, self.encoding))

    def did_change(self, params: Params) -> None:
        open_ = self.document(params)
        changes = [one for one in items(params.get("contentChanges")) if isinstance(one, dict)]
        open_.document = open_.document.changed(member(params, "textDocument").get("version"), changes)
        self._outdated(open_, PAUSE)

    def did_save(self, params: Params) -> None:
        """Other files may include it."""
        del params
        for open_ in self._open.values():
            self._outdated(open_, 0.0)

    def did_close(self, params: Params) -> None:
        uri = self.document(params).document.uri
        self._forget(uri)
        self._editor.notify("textDocument/publishDiagnostics", {"uri": uri, "diagnostics": []})

    def did_configure(self, params: Params) -> None:
        settings = member(params, "settings")
        self._set_flags(member(settings, "tpgen") or settings)
        self.did_save(params)

    def waits(self, method: str, id_: object, params: Params) -> bool:
        """Whether the answer comes when the text is compiled."""
        open_ = self.document(params)
        if open_.due is not None:
            open_.due = 0.0
        elif not self._job or self._job[1] is not open_:
            return False
        self._waiting[id_] = (method, open_, params)
        return True

    def cancel(self, params: Params) -> None:
        id_ = params.get("id")
        if isinstance(id_, (int, str)) and self._waiting.pop(id_, None):
            self._editor.refuse(id_, CANCELLED, "cancelled")

    def _forget(self, uri: str) -> None:
        open_ = self._open.pop(uri, None)
        if open_:
            self._outdated(open_, 0.0)

    def _outdated(self, open_: Open, pause: float) -> None:
        open_.due = time.monotonic() + pause
        if self._job and self._job[1] is open_:
            self.end()
        for id_ in [id_ for id_, (_, asked, _) in self._waiting.items() if asked is open_]:
            del self._waiting[id_]
            self._editor.refuse(id_, CONTENT_MODIFIED, "the text has changed")

    # ---- What the compiler does ----

    @property
    def output(self) -> list[int]:
        """The file descriptor, if any, that is readable when analysed() has something to do."""
        return [self._job[0].output] if self._job else []

    def pause(self) -> float | None:
        """In how many seconds compile() has something to do."""
        due = [one.due for one in self._open.values() if one.due is not None]
        return max(0.0, min(due) - time.monotonic()) if due and not self._job else None

    def compile(self) -> None:
        """Begins with the document that is due for longest, if nothing else is compiled."""
        due = [one for one in self._open.values() if one.due is not None and one.due <= time.monotonic()]
        if self._job or not due:
            return
        open_ = min(due, key=lambda one: one.due or 0.0)
        open_.due = None
        source = open_.document.source
        try:
            self._job = Job(source, self._settings, self._directory(source.path)), open_
        except OSError as why:  # no process, or no memory
            self._editor.log(f"tpgen lsp can't compile: {why.strerror}")
            self._compiled(open_)

    def _directory(self, path: str) -> str:
        """What options are relative to: the editor's folder that has the file, or else the file's own."""
        folders = [one for one in self._folders if path.startswith(one.rstrip("/") + "/")]
        return next((one for one in (*folders, os.path.dirname(path)) if os.path.isabs(one) and os.path.isdir(one)), "/")

    def analysed(self) -> None:
        assert self._job
        job, open_ = self._job
        said = job.read()
        for one in said or ():
            if isinstance(one, list):
                self._publish(open_, one)
            else:
                open_.records = {key: _sized(record, open_.known.get(key)) for key, record in one.items()}
                open_.known.update(open_.records)
        if said is None:
            status = self.end()
            if not job.said:
                self._publish(open_, [unfinished(status)])
            self._compiled(open_)

    def end(self) -> int:
        """Ends the compilation that runs, if any, and returns what became of it."""
        job, self._job = self._job, None
        return job[0].end() if job else 0

    def _compiled(self, open_: Open) -> None:
        for id_, (method, asked, params) in list(self._waiting.items()):
            if asked is open_:
                del self._waiting[id_]
                self._again(method, id_, params)

    def _publish(self, open_: Open, found: Sequence[Diagnostic]) -> None:
        open_.found = found
        document = open_.document
        version = {"version": document.version} if isinstance(document.version, int) else {}
        self._editor.notify("textDocument/publishDiagnostics",
                            {"uri": document.uri, **version, "diagnostics": [self._diagnostic(document, one) for one in found]})

    def _diagnostic(self, document: Document, one: Diagnostic) -> dict[str, object]:
        related = self.supports("publishDiagnostics", "relatedInformation") is True
        notes = "".join(f"\n{note.span.line}:{note.span.col}: note: {note.message}" for note in one.notes if not related)
        out = {"range": document.of_span(one.span), "severity": _SEVERITIES[one.severity], "code": one.code, "source": "tpgen",
               "message": one.message + notes}
        if related and one.notes:
            out["relatedInformation"] = [{"location": {
                "uri": document.uri if note.span.path == document.source.path else uri_of(note.span.path),
                "range": document.of_span(note.span)}, "message": note.message} for note in one.notes]
        return out


def _sized(now: Record, before: Record | None) -> Record:
    """The record of the text before, where the C compiler knows no size now: a bracket that is open hides all types from it."""
    same = before and [m.field.in_record for m in before.members] == [m.field.in_record for m in now.members]
    return replace(before, text=now.text) if same and before and now.length is None else now

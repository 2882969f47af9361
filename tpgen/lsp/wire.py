# SPDX-License-Identifier: MIT
"""JSON-RPC in frames: a head with Content-Length, and so many bytes."""

from __future__ import annotations

import json
import os
import re
import select
from collections.abc import Iterator, Mapping

from tpgen.source import MAX_BYTES

# A head is some 30 bytes.
MAX_HEAD = 4096

# At the end, an editor that reads nothing any more is waited for so many seconds.
PATIENCE = 2.0

_LENGTH = re.compile(rb"(?:^|\r\n)Content-Length:[ \t]*(\d{1,18})[ \t]*(?:\r\n|$)", re.I)

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32002
CANCELLED = -32800
CONTENT_MODIFIED = -32801


class Unframed(Exception):
    """Where the next frame begins is not known any more. str() says why."""


class Refused(Exception):
    """A message gets this error in place of an answer."""

    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code = code


class Frames:
    """Takes bytes as they come, and gives the bodies of the frames that are complete."""

    def __init__(self, most: int = MAX_BYTES) -> None:
        self._most = most
        self._bytes = bytearray()
        self._length: int | None = None  # of the body, once its head was read

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._bytes += data
        while True:
            if self._length is None:
                self._length = self._head()
            if self._length is None or len(self._bytes) < self._length:
                return
            body = bytes(self._bytes[:self._length])
            del self._bytes[:self._length]
            self._length = None
            yield body

    def _head(self) -> int | None:
        """The length that a complete head names."""
        end = self._bytes.find(b"\r\n\r\n", 0, MAX_HEAD)
        if end < 0:
            if len(self._bytes) >= MAX_HEAD:
                raise Unframed(f"there is no end of a head among {MAX_HEAD} bytes")
            return None
        named = _LENGTH.search(bytes(self._bytes[:end]))
        if not named:
            raise Unframed("a head names no Content-Length")
        length = int(named[1])
        if length > self._most:
            raise Unframed(f"a message of {length} bytes is longer than {self._most >> 20} MiB")
        del self._bytes[:end + 4]
        return length


class Connection:
    """stdin and stdout. What is sent is written as the editor reads it: neither waits for the other."""

    def __init__(self) -> None:
        self._frames = Frames()
        self._output = bytearray()

    def ready(self, more: list[int], seconds: float | None) -> tuple[bool, set[int]]:
        """Waits, for so long at most, and writes meanwhile. Returns whether the editor has sent something, or is gone, and which of
        more can be read."""
        readable, writable, _ = select.select([0, *more], [1] if self._output else [], [], seconds)
        if writable:
            self._write()
        return 0 in readable, {*readable} - {0}

    def receive(self) -> Iterator[bytes] | None:
        """The bodies of messages that are complete now; None at the end of the input. Only once something was sent."""
        data = os.read(0, 1 << 16)
        return self._frames.feed(data) if data else None

    def send(self, message: Mapping[str, object]) -> None:
        """What is no Unicode, as in the name of a file, becomes '?'."""
        text = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False, separators=(",", ":"))
        self._output += frame(text.encode("utf-8", "replace"))

    def notify(self, method: str, params: object) -> None:
        self.send({"method": method, "params": params})

    def log(self, message: str) -> None:
        self.notify("window/logMessage", {"type": 1, "message": message})

    def refuse(self, id_: object, code: int, message: str) -> None:
        self.send({"id": id_, "error": {"code": code, "message": message}})

    def flush(self) -> None:
        """Writes what is left, as long as the editor reads."""
        while self._output and select.select([], [1], [], PATIENCE)[1]:
            self._write()

    def _write(self) -> None:
        # Of a pipe, what select() calls writable takes so much without waiting.
        del self._output[:os.write(1, self._output[:select.PIPE_BUF])]


def frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def decode(body: bytes) -> dict[str, object]:
    try:
        message = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Refused(PARSE_ERROR, f"this is no JSON: {error}") from None
    if not isinstance(message, dict):
        raise Refused(INVALID_REQUEST, "a message is a JSON object")
    return message

# SPDX-License-Identifier: MIT
"""tpgen lsp and editors that send anything: frames in pieces, no JSON, wrong order, texts that are gone while they are compiled."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys

from lsp.client import Client, LspCase, uri_of
from support import PATIENCE, ROOT, has_ended, run, until

from tpgen.lsp.wire import frame

EVENT = """#define TRACE_SYSTEM test
TRACE_EVENT(e,
	TP_PROTO(int a),
	TP_ARGS(a),
	TP_STRUCT__entry(__field(int, a)),
	TP_fast_assign(__entry->a = a;),
	TP_printk("a=%d", __entry->a)
);
"""
URI = "file:///tmp/e.tp"


def encoded(**message: object) -> bytes:
    return frame(json.dumps({"jsonrpc": "2.0", **message}).encode())


class Protocol(LspCase):
    def dies(self, data: bytes, said: str) -> None:
        """What can't be told into messages ends the server, which says why."""
        client = self.client()
        client.raw(data)
        text = client.wait(lambda m: m.get("method") == "window/logMessage")["params"]["message"]
        self.assertRegex(text, said)
        self.assertEqual((client.process.wait(PATIENCE), client.errors()), (1, ""))

    def test_frames_split_at_every_byte(self) -> None:
        """However the pipe parts a conversation, it is the same."""
        talk = [encoded(id=1, method="initialize", params={"capabilities": {}}), encoded(method="initialized", params={}),
                encoded(id="two", method="textDocument/hover", params={}), encoded(id=3, method="shutdown"), encoded(method="exit")]
        data = b"".join(talk).replace(b"\r\n\r\n", b"\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n", 1)
        answers = set()
        for step in (1, 2, 3, 7, 4096):
            client = self.client()
            for at in range(0, len(data), step):
                client.raw(data[at:at + step])
                if step < 4096:
                    select.select([], [], [], 0.0005)  # so that the server sees the pieces
            self.assertEqual(client.process.wait(PATIENCE), 0)
            while client._read():  # pylint: disable=protected-access
                pass
            answers.add(json.dumps(client.come))
        self.assertEqual(len(answers), 1, answers)
        self.assertEqual([m["id"] for m in json.loads(answers.pop())], [1, "two", 3])

    def test_all_at_once(self) -> None:
        """A head may come in the piece of the message in front."""
        client = self.client()
        client.raw(b"".join([encoded(id=1, method="initialize", params={"capabilities": {}}), encoded(id=2, method="shutdown"),
                             encoded(method="exit")]))
        self.assertEqual(client.process.wait(PATIENCE), 0)

    def test_no_json(self) -> None:
        client = self.client().initialize()
        for body in (b"", b"{", b"\xff\xfe", b'{"id": 1', b"[" * 100000, b'{"id": ' + b"1" * 5000 + b"}"):
            client.raw(frame(body))
            self.assertEqual(client.answer(None)["error"]["code"], -32700, body[:20])
        for body in (b"[]", b"1", b"null", b'"x"', b"{}", b'{"id": null, "method": "x"}', b'{"id": {}, "method": "x"}', b'{"id": [1]}',
                     b'{"id": 1.5, "method": "shutdown"}', b'{"method": 7, "id": null}'):
            client.raw(frame(body))
            if body not in (b"{}",):
                self.assertEqual(client.answer(None)["error"]["code"], -32600, body)
        self.end(client)

    def test_no_frames(self) -> None:
        self.dies(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "no Content-Length")
        self.dies(b"Content-Length: 99999999999999\r\n\r\n{}", "99999999999999 bytes is longer than 64 MiB")
        self.dies(b"Content-Length: -5\r\n\r\n{}", "no Content-Length")
        self.dies(b"Content-Length: five\r\n\r\n{}", "no Content-Length")
        self.dies(b"x" * 10000, "no end of a head among 4096 bytes")

    def test_order(self) -> None:
        client = self.client()
        self.assertEqual(client.refused("textDocument/hover"), -32002)
        self.assertEqual(client.refused("shutdown"), -32002)
        client.open(URI, EVENT)  # dropped, as the protocol wants
        client.initialize()
        self.assertEqual(client.refused("initialize", capabilities={}), -32600)
        self.assertEqual(client.refused("textDocument/hover", textDocument={"uri": URI}, position={"line": 0, "character": 0}), -32602)
        self.assertEqual(client.refused("textDocument/rename"), -32601)
        client.notify("$/setTrace", value="off")
        client.send(id=99, result=None)  # an answer to what nobody asked
        client.ask("shutdown")
        self.assertEqual(client.refused("textDocument/hover"), -32600)
        client.send(method="exit")
        self.assertEqual((client.process.wait(PATIENCE), client.errors()), (0, ""))

    def test_exit_without_shutdown(self) -> None:
        for client in (self.client(), self.client().initialize()):
            client.send(method="exit")
            self.assertEqual((client.process.wait(PATIENCE), client.errors()), (1, ""))

    def test_end_of_input(self) -> None:
        client = self.client().initialize()
        assert client.process.stdin
        client.process.stdin.close()
        self.assertEqual((client.process.wait(PATIENCE), client.errors()), (1, ""))

    def test_editor_that_is_gone(self) -> None:
        client = self.client().initialize()
        client.come.clear()
        assert client.process.stdout
        client.process.stdout.close()
        os.write(client.stdin, encoded(id=1, method="shutdown"))
        self.assertEqual((client.process.wait(PATIENCE), client.errors()), (1, ""))
        client.process.stdout = open(os.devnull, "rb")  # pylint: disable=consider-using-with # close() closes it

    def test_editor_that_is_gone_from_a_socket(self) -> None:
        """Some editors connect servers by sockets, which tell a reader, too, that what it sent was not read."""
        ours, theirs = socket.socketpair()
        with ours, theirs:
            done = subprocess.Popen([sys.executable, "-m", "tpgen", "lsp"], stdin=theirs, stdout=theirs,  # pylint: disable=consider-using-with
                                    stderr=subprocess.PIPE, cwd=ROOT, env={**os.environ, "PYTHONPATH": ROOT})
            ours.sendall(encoded(id=1, method="initialize", params={}))
            self.assertTrue(select.select([ours], [], [], PATIENCE)[0])
        self.assertEqual((done.wait(PATIENCE), done.communicate()[1]), (1, b""))

    def test_closed_descriptors(self) -> None:
        for closed in ("<&-", ">&-", "<&- >&-"):
            done = run(["sh", "-c", f"echo | exec {sys.executable} -m tpgen lsp {closed}"], env={**os.environ, "PYTHONPATH": ROOT})
            self.assertEqual((done.returncode, done.stdout, done.stderr), (1, "", ""), closed)

    def test_wrong_parameters(self) -> None:
        """Each is refused, and the server lives."""
        client = self.client().initialize()
        client.open(URI, EVENT)
        wrong = [None, 7, "x", [], {}, {"textDocument": 7}, {"textDocument": {"uri": 7}}, {"textDocument": {"uri": URI}},
                 *({"textDocument": {"uri": URI}, "position": one} for one in
                   (None, 5, [], {}, {"line": 1}, {"line": -1, "character": 0}, {"line": "1", "character": 0}, {"line": 0.5, "character": 1}))]
        for method in ("hover", "definition", "references", "completion"):
            for params in wrong:
                client.send(id="wrong", method=f"textDocument/{method}", params=params)
                self.assertEqual(client.answer("wrong").get("error", {}).get("code"), -32602, (method, params))
        for params in (*wrong, {"textDocument": {"uri": URI}, "contentChanges": 7}, {"textDocument": {"uri": URI}, "contentChanges": [7]},
                       {"textDocument": {"uri": URI}, "contentChanges": [{}]},
                       {"textDocument": {"uri": URI}, "contentChanges": [{"text": "x", "range": 5}]},
                       {"textDocument": {"uri": URI}, "contentChanges": [{"text": "x", "range": {"start": {"line": 1, "character": 0}}}]}):
            for method in ("textDocument/didOpen", "textDocument/didChange", "textDocument/didClose", "textDocument/didSave",
                           "workspace/didChangeConfiguration", "$/cancelRequest", "initialized"):
                if method != "textDocument/didClose" or not isinstance(params, dict) or params.get("textDocument") != {"uri": URI}:
                    client.send(method=method, params=params)
        self.assertEqual(len(client.ask("textDocument/documentSymbol", textDocument={"uri": URI})), 1)
        self.end(client)

    def test_huge_positions(self) -> None:
        client = self.client().initialize()
        client.open(URI, EVENT)
        for place in ({"line": 10**30, "character": 0}, {"line": 0, "character": 10**30}, {"line": 2**31 - 1, "character": 2**31 - 1}):
            for method in ("hover", "definition", "references", "completion"):
                client.ask(f"textDocument/{method}", textDocument={"uri": URI}, position=place)
        version = client.change(URI, {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 10**9, "character": 0}}, "text": EVENT},
                                {"range": {"start": {"line": 10**9, "character": 9}, "end": {"line": 0, "character": 0}}, "text": ""})
        self.assertEqual(client.diagnostics(URI, version), [])
        self.end(client)

    def slow(self) -> Client:
        """A server with a compiler that never comes to an end, which writes its process's id to pids."""
        path = self.write("slow-cc", f"#!/bin/sh\necho $$ >>{self.path('pids')}\nexec sleep 1000\n")
        os.chmod(path, 0o755)
        return self.client(env={"CC": path}).initialize()

    def compilers(self) -> list[int]:
        if not os.path.exists(self.path("pids")):
            return []
        with open(self.path("pids"), encoding="ascii") as file:
            return [int(line) for line in file.read().splitlines()]

    def test_closed_while_it_is_compiled(self) -> None:
        """The compiler is ended, and who waits for it gets an answer."""
        client = self.slow()
        client.open(URI, EVENT)
        until(self.compilers, "the compiler")
        hover = client.request("textDocument/hover", textDocument={"uri": URI}, position={"line": 1, "character": 12})
        client.notify("textDocument/didClose", textDocument={"uri": URI})
        self.assertEqual(client.answer(hover)["error"]["code"], -32801)
        self.assertEqual(client.wait(lambda m: m.get("method") == "textDocument/publishDiagnostics")["params"],
                         {"uri": URI, "diagnostics": []})
        until(lambda: has_ended(self.compilers()[0]), "the compiler's end")
        self.end(client)

    def test_changed_while_it_is_compiled(self) -> None:
        client = self.slow()
        client.open(URI, EVENT)
        for number in (1, 2, 3):
            until(lambda: len(self.compilers()) == number, "the compiler")
            client.change(URI, {"text": EVENT + "\n" * number})
            until(lambda: has_ended(self.compilers()[-1]) or len(self.compilers()) > number, "the compiler's end")
        until(lambda: len(self.compilers()) == 4, "the last compiler")
        until(lambda: all(map(has_ended, self.compilers()[:3])), "the end of the other compilers")
        self.assertEqual([has_ended(pid) for pid in self.compilers()], [True, True, True, False])
        self.end(client)
        until(lambda: has_ended(self.compilers()[-1]), "the compiler's end")

    def test_cancelled(self) -> None:
        client = self.slow()
        client.open(URI, EVENT)
        hover = client.request("textDocument/hover", textDocument={"uri": URI}, position={"line": 1, "character": 12})
        client.notify("$/cancelRequest", id=hover)
        self.assertEqual(client.answer(hover)["error"]["code"], -32800)
        client.notify("$/cancelRequest", id=hover)
        client.notify("$/cancelRequest", id=12345)
        # What needs no compiler is answered meanwhile.
        self.assertEqual(len(client.ask("textDocument/documentSymbol", textDocument={"uri": URI})), 1)
        self.end(client)

    def test_exit_while_it_is_compiled(self) -> None:
        client = self.slow()
        client.open(URI, EVENT)
        until(self.compilers, "the compiler")
        client.send(method="exit")
        self.assertEqual(client.process.wait(PATIENCE), 1)
        until(lambda: has_ended(self.compilers()[0]), "the compiler's end")

    def test_compilation_that_is_killed(self) -> None:
        """As for want of memory: the next one is as good as any."""
        kill = self.write("kill-cc", f"#!/bin/sh\n[ -e {self.path('calm')} ] && exec gcc \"$@\"\nkill -9 $PPID\n")
        os.chmod(kill, 0o755)
        client = self.client(env={"CC": kill}).initialize()
        client.open(URI, EVENT)
        found = client.diagnostics(URI)
        self.assertEqual([(d["code"], d["range"]["start"]["line"]) for d in found], [("TP002", 0)])
        self.assertIn("was ended by signal 9", found[0]["message"])
        self.write("calm", "")
        self.assertEqual(client.diagnostics(URI, client.change(URI, {"text": EVENT})), [])
        self.end(client)

    def test_no_compiler(self) -> None:
        client = self.client(env={"CC": "/no/such/cc"}).initialize()
        client.open(URI, EVENT)
        found = client.diagnostics(URI)
        self.assertEqual([d["code"] for d in found], ["TP002"])
        self.assertIn("can't run the C preprocessor '/no/such/cc'", found[0]["message"])
        hover = client.ask("textDocument/hover", textDocument={"uri": URI}, position={"line": 1, "character": 12})
        self.assertIn("TRACE_EVENT(e)", hover["contents"]["value"])
        self.end(client)

    def test_an_editor_that_does_not_read(self) -> None:
        """The server reads on: else both would wait for each other."""
        client = self.client().initialize()
        client.open(URI, EVENT * 50)
        data = b"".join(encoded(id=n, method="textDocument/documentSymbol", params={"textDocument": {"uri": URI}}) for n in range(1000, 3000))
        while data:
            self.assertTrue(select.select([], [client.stdin], [], PATIENCE)[1], "the server does not read")
            data = data[os.write(client.stdin, data[:select.PIPE_BUF]):]
        for number in range(1000, 3000):
            self.assertEqual(len(client.answer(number)["result"]), 50)
        self.end(client)

    def test_signals(self) -> None:
        client = self.client().initialize()
        client.process.send_signal(signal.SIGTERM)
        self.assertEqual(client.process.wait(PATIENCE), -signal.SIGTERM)

    def test_uris(self) -> None:
        """With spaces and escapes; of no file; of a directory that is not there."""
        self.write("inc lude/types.h", "#define COUNT 3\n")
        text = EVENT.replace("#define TRACE_SYSTEM test", '#define TRACE_SYSTEM test\n#include "types.h"\n#if COUNT != 3\n#error no\n#endif')
        path = self.path("inc lude/é%41 b.tp")
        client = self.client("--expand-includes").initialize()
        for uri in (uri_of(path), "file://localhost" + uri_of(path).removeprefix("file://")):
            client.open(uri, text)
            self.assertEqual(client.diagnostics(uri), [])
        for uri in ("untitled:Untitled-1", "file:///no/such/dir/x.tp", "file:///%ff%fe.tp", "x", "", "file://", "http://[::1", "file:///a%00b.tp",
                    "file:///a%0Ab.tp", "git:/x.tp?{\"ref\":\"~\"}"):
            client.open(uri, EVENT.replace("%d", "%s"))
            self.assertEqual([d["code"] for d in client.diagnostics(uri)], ["TP052"], uri)
            where = client.ask("textDocument/definition", textDocument={"uri": uri}, position={"line": 5, "character": 26})
            self.assertEqual(where["uri"], uri)
        self.end(client)

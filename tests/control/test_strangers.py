# SPDX-License-Identifier: MIT
"""What tp does if something else than a traced process listens, or one that means harm."""

from __future__ import annotations

import array
import contextlib
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from emulator import seen  # noqa: E402
from reaching import NOBODY, TP, Reaching, Terminal  # noqa: E402
from support import BUILD, PATIENCE, UNPRINTABLE, both, check_all, few_or_many, read, run, until  # noqa: E402

SANITIZED = os.path.join(BUILD, "asan/tp")
RUNS = few_or_many(25, 100, "FUZZ")
SEED = int(os.environ.get("SEED", "1"))
GREETING = b"tp 1 pid=7 uid=0 events=3 outputs=1 since=1.5 version=9.9.9 program=stranger\n"
MEMORY = 256 << 20


class Stranger:
    """A listener of this process's. serve(connection) talks to each client, in a thread."""

    def __init__(self, directory: str, serve: Callable[[socket.socket], None], start: int | None = None) -> None:
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        start = time.clock_gettime_ns(time.CLOCK_BOOTTIME) if start is None else start
        self.path = os.path.join(directory, f"{os.getpid()}.{start}")
        self.listener.bind(self.path)
        self.listener.listen(8)
        self.serve = serve
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            self.serve(connection)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)


def call_this(name: str) -> None:
    """What the kernel says of this process."""
    with open("/proc/self/comm", "w", encoding="ascii") as comm:
        comm.write(name)


def requests(connection: socket.socket) -> Iterator[tuple[bytes, list[int]]]:
    """Each request, and the descriptors that came with it."""
    while True:
        text, ancillary, _, _ = connection.recvmsg(70000, 1000)
        fds = array.array("i")
        for _, _, data in ancillary:
            fds.frombytes(data[:len(data) - len(data) % fds.itemsize])
        if not text:
            return
        yield text, list(fds)


def replies(*pieces: bytes) -> Callable[[socket.socket], None]:
    """Greets, and then answers each request with the same."""
    def serve(connection: socket.socket) -> None:
        connection.send(GREETING)
        for _, fds in requests(connection):
            for fd in fds:
                os.close(fd)
            for piece in pieces:
                connection.send(piece)
    return serve


class Strangers(Reaching):
    def setUp(self) -> None:
        super().setUp()
        self.command = SANITIZED

    def listen(self, serve: Callable[[socket.socket], None], **options) -> Stranger:
        stranger = Stranger(self.control, serve, **options)
        self.addCleanup(stranger.close)
        return stranger

    def limited(self, *args: str) -> subprocess.CompletedProcess:
        """tp without a sanitizer, with bounded memory."""
        return run(["sh", "-c", f"ulimit -v {MEMORY >> 10}; exec \"$@\"", "sh", TP, *args], cwd=self.dir, env=self.env)

    def refused(self, *args: str, limited: bool = False) -> str:
        """What tp says, which must fail, in one line; with a sanitizer, or with bounded memory."""
        done = self.limited(*args) if limited else self.tp(*args)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertRegex(done.stderr, r"\Atp: [\x20-\x7e]*\n\Z")
        return done.stderr

    def test_greetings(self) -> None:
        me = str(os.getpid())
        for greeting, said in ((b"\xff\0\x1b[2J", "speaks another protocol"), (b"tp 2 pid=1", "a newer protocol"),
                               (b"x" * 65536, "speaks another protocol"), (b"error EMFILE \x1b[31mno room\n", "it says: ?[31mno room"),
                               (b"error", "another protocol"), (b"error \n", "it says: error"), (b"tp 1 ", "")):
            stranger = self.listen(lambda connection, text=greeting: connection.send(text))
            if said:
                self.assertIn(said, self.refused("list", "-p", me), greeting)
                until(lambda said=said: said in self.tp("ps").stderr, said)
            else:
                self.refused("list", "-p", me)
            stranger.close()

    def test_odd_greeting(self) -> None:
        """Keys that are not there, or are no numbers; a name that would write on the terminal."""
        self.listen(lambda connection: connection.send(b"tp 1 pid=-9 events=lots since=x.y outputs= program=\x1b]0;\xc2\x9b\x9b\xe2\x80\xae\xc3\xbcme \n")
                    and next(requests(connection)))
        out = self.listed()
        self.assertIn(f"{os.getpid()} ", out)
        self.assertIn("?]0;??????üme ", out)
        self.assert_harmless(out)

    def assert_harmless(self, text: str) -> None:
        self.assertEqual(UNPRINTABLE.sub("", text.replace("\n", "").replace("\t", "")), text.replace("\n", "").replace("\t", ""))

    def test_silence(self) -> None:
        """Nobody greets; or hangs up at once, again and again."""
        me = str(os.getpid())
        for serve in (lambda connection: connection.recv(1), lambda connection: connection.close()):
            stranger = self.listen(serve)
            self.assertIn(f"tp: process {me} (", said := self.refused("trace", "-p", me))
            self.assertIn(") has not answered: its thread tp-helper gets no processor, or the program does not call tp_control_serve()", said)
            stranger.close()

    def test_late(self) -> None:
        """A process that is asked for by its id or by its program's name may take its time."""
        name = f"late-{os.getpid()}"
        self.addCleanup(call_this, read("/proc/self/comm").strip())
        call_this(name)

        def serve(connection: socket.socket) -> None:
            time.sleep(1.5)
            replies(b"ok 0\n")(connection)
        self.listen(serve)
        for called in (str(os.getpid()), name):
            with self.subTest(called):
                self.assertIn(f"'stranger' ({os.getpid()}) has no output", self.tp("outputs", "-p", called).stderr)

    def test_full_backlog(self) -> None:
        """Where nobody accepts, and too many wait already, connect() would wait."""
        path = os.path.join(self.control, f"{os.getpid()}.1")
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener, contextlib.ExitStack() as stack:
            listener.bind(path)
            listener.listen(0)
            for _ in range(4):
                client = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
                client.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    client.connect(path)
            done = self.tp("ps")
            self.assertIn(f"tp: what listens at {path} has not answered\n", done.stderr)
        os.unlink(path)

    def test_listens_anew(self) -> None:
        """A connection that is reset before the greeting is tried again."""
        count = iter(range(1000))

        def serve(connection: socket.socket) -> None:
            if next(count) < 3:
                return
            replies(b"ok\n")(connection)
        self.listen(serve)
        self.assertIn("has no output", self.tp("outputs", "-p", str(os.getpid())).stderr)
        self.assertGreater(next(count), 3)

    def test_answers(self) -> None:
        """Of each request, in one line, with bounded memory."""
        me = str(os.getpid())
        commands = (("list", "-p", me), ("list", "-v", "-p", me), ("outputs", "-p", me), ("trace", "-p", me),
                    ("record", "-p", me, "-o", "trace"), ("stat", "-p", me), ("snapshot", "-p", me, "-o", "copy", "1"))
        for reply in ((b"error EIO \x1b[2J\x07no\n",), (b"error\n",), (b"error \n",), (b"ok\0\n", b""), (b"o",),
                      (b"ok \x1b" + b"9" * 60000 + b"\n",), (b"\n" * 1000, b"error E x\n"), (b"event \n", b"event x\n\t\n", b"error E x\n"),
                      (b"output \nrule \nrule 1\noutput 1\noutput 1 kind= owner= \n", b"error E x\n")):
            stranger = self.listen(lambda connection, r=reply: replies(*r)(connection) if len(r[-1]) > 1 else self.half(connection, r))
            for command in commands:
                with self.subTest(reply=reply[0][:40], command=command):
                    if command[0] == "outputs" and reply[0].startswith(b"ok"):
                        self.assertIn("has no output", self.tp(*command).stderr)
                    else:
                        self.refused(*command)
            stranger.close()
        self.assertEqual(set(os.listdir(self.dir)), {self.name, "run"})

    @staticmethod
    def half(connection: socket.socket, pieces: tuple[bytes, ...]) -> None:
        """Hangs up in the middle of the reply."""
        connection.send(GREETING)
        next(requests(connection))
        for piece in pieces:
            if piece:
                connection.send(piece)

    @both
    def test_random_answers(self) -> None:
        """Pieces of what a process says, in any order, and cut anywhere: no crash, and no more memory than is there."""
        pieces = [b"event ", b"a:b ", b"id=1 ", b"level=9999999999 ", b"outputs=", b"1,2,3 ", b"tracepoint=t ", b"place=", b"f:1", b"\n",
                  b"\t", b"format:\n", b"\tfield:int n;\toffset:8;\tsize:4;\tsigned:1;\n", b"\tprint fmt: \"%d\", REC->n\n", b"output ",
                  b"rule ", b"kind=ctf ", b"kind=", b"owner=kept ", b"events=7 ", b"lost=1/2/3/4/5 ", b"lost=/////", b"name=", b" ", b"\0",
                  b"\xff\xfe", b"\x1b[1m", b"\x9b1m", b"\xc2\x9b1m", b"\xe2\x80\xae", b"\xd8\x9c", b"-1", b"x" * 300, b"ok", b"ok 1\n", b"error ", b"EIO ", b"no\n"]
        me = str(os.getpid())
        commands = (("list", "-v", "-p", me), ("outputs", "-p", me), ("ps", "-p", me), ("stat", "-p", me, "--for", "0.02"),
                    ("snapshot", "-p", me, "-o", "copy"), ("outputs", "-p", me, "--close", "1"), ("enable", "-p", me, "x"))
        for number in range(RUNS):
            choice = random.Random(SEED * 1000003 + number)

            def serve(connection: socket.socket) -> None:
                connection.send(GREETING)
                for _ in requests(connection):
                    text = b"".join(choice.choices(pieces, k=choice.randrange(60)))  # pylint: disable=cell-var-from-loop
                    for end in (*sorted(choice.choices(range(len(text) + 1), k=3)), len(text)):  # pylint: disable=cell-var-from-loop
                        part, text = text[:end], text[end:]
                        if part:
                            connection.send(part)
                    connection.send(b"\nok 1\n")
            stranger = self.listen(serve)
            command = choice.choice(commands)
            done = self.tp(*command)
            stranger.close()
            run(["rm", "-rf", self.path("copy")])
            with self.subTest(number=number, command=command):
                self.assertIn(done.returncode, (0, 1), done.stderr)
                self.assertNotIn("AddressSanitizer", done.stderr)
                self.assertNotIn("runtime error", done.stderr)
                self.assert_harmless(done.stdout + done.stderr)

    STATISTICS = (b'{"version": 1, "program": "a\\u001bb", "pid": 7, "begin_ns": 1, "time_ns": 2, "seconds": 0.5, "final": false, "lost": 3, "events": ['
                  b'{"event": "a:b\\u009b", "hits": 18446744073709551615, "rate": 1e308, "first_ns": 1, "last_ns": 18446744073709551615, "intervals": 2, '
                  b'"interval_min_ns": 1, "interval_mean_ns": 2.5, "interval_max_ns": 3, "fields": [{"field": "x", "kind": "integer", "count": 2, '
                  b'"sum": -340282366920938463463374607431768211455, "min": -1, "max": 1, "mean": 0, "histogram": [{"from": 0, "to": 0, "count": 2}]}, '
                  b'{"field": "y", "kind": "text", "count": 1, "distinct": 1, "top": [{"value": "\\n\\u202e", "length": 70, "count": 1}], "rest": 1, '
                  b'"other": 1}], "threads": [{"tid": 1, "name": "t", "exited": false, "hits": 1, "rate": 1, "intervals": 0}, {"others": true}]}]}')
    HISTOGRAMS = (b'[{"trigger": "hist:keys=a:vals=hitcount:sort=hitcount:size=2048 [active]", "paused": false, "events": ["a:b"], '
                  b'"keys": [{"name": "a", "modifier": "log2"}, {"name": "s", "modifier": "stacktrace"}, {"name": "b", "modifier": "buckets", "size": 10}], '
                  b'"values": [{"name": "v", "modifier": "percent"}, {"name": "w", "modifier": "graph"}], "entries": [{"keys": [{"value": 64}, '
                  b'{"value": [{"address": 1, "symbol": "f\\u0007", "offset": 2}]}, {"value": -5, "name": "n"}], "hitcount": 3, "values": [-1, 2], '
                  b'"tracked": [{"max": 4, "variable": "m", "saved": {"x": 1, "y": "t", "z": [1]}}]}], "totals": {"hits": 3, "entries": 1, "dropped": 0}}]')

    def answer_with(self, text: bytes) -> Stranger:
        """Reports the text in lines."""
        def serve(connection: socket.socket) -> None:
            connection.send(GREETING)
            for request, _ in requests(connection):
                if request.startswith((b"report", b"histograms")):
                    for at in range(0, len(text), 30000):
                        connection.send((b"\t" if at == 0 else b"") + text[at:at + 30000].replace(b"\n", b"\n\t"))
                    connection.send(b"\n")
                connection.send(b"ok 1\n")
        return self.listen(serve)

    def shown(self, text: bytes, *args: str) -> str:
        """What comes on a terminal."""
        stranger = self.answer_with(text)
        terminal = Terminal([SANITIZED, *args], self.dir, {**self.env, "TERM": "xterm"})
        self.addCleanup(terminal.close)
        status = terminal.end()
        terminal.close()
        stranger.close()
        self.assertIn(status, (0, 1), text)
        for word in ("AddressSanitizer", "runtime error"):
            self.assertNotIn(word, terminal.text())
        seen(terminal.text())  # nothing but what tp's own drawing needs
        return terminal.text()

    def test_odd_reports(self) -> None:
        """What they name can't write on the terminal."""
        me = str(os.getpid())
        text = self.shown(self.STATISTICS, "stat", "-p", me, "--by=thread", "--for", "0.05", "--interval", "0.02")
        self.assertIn("a:b??", text)
        self.assertIn("18446744073709551615", text)
        text = self.shown(self.HISTOGRAMS, "hist", "-p", me)
        self.assertIn("3 hits, 1 entry, 0 dropped", text)
        self.assertIn("f?+0x2", text)

    def test_names_of_values(self) -> None:
        """Beside the values, whatever their modifiers are."""
        def histogram(modifier: str, *keys: str) -> bytes:
            item = f'{{"name": "k", "modifier": "{modifier}", "size": 10}}' if modifier else '{"name": "k"}'
            entries = ", ".join(f'{{"keys": [{{"value": {key}}}], "hitcount": {i + 1}, "values": []}}' for i, key in enumerate(keys))
            return (f'[{{"trigger": "hist:keys=k:vals=hitcount:sort=hitcount:size=2048 [active]", "keys": [{item}], "values": [], '
                    f'"entries": [{entries}], "totals": {{"hits": 9, "entries": 2, "dropped": 4}}}}]').encode()
        for modifier, key, shown in (("", '5, "name": "EIO"', "EIO (5)"), ("", "-7", "-7"), ("hex", "255", "0xff"), ("hex", "-1", "0xffffffffffffffff"),
                                     ("sym", '16, "symbol": "main", "offset": 0', "main"), ("sym", "16", "0x10"),
                                     ("sym-offset", '18, "symbol": "main", "offset": 2', "main+0x2"), ("execname", '9, "comm": "sh"', "sh (9)"),
                                     ("syscall", '0, "name": "read"', "read (0)"), ("log2", "0", "0 .. 1"), ("log2", "1", "2"),
                                     ("log2", "4", "9 .. 16"), ("log2", "64", "9223372036854775809 .. 18446744073709551615"),
                                     ("buckets", "20", "20 .. 29"), ("buckets", "-10", "-10 .. -1"), ("", '"text"', "text")):
            text = self.shown(histogram(modifier, '"other"', key), "hist", "-p", str(os.getpid()))
            lines = text.replace("\r", "").splitlines()
            self.assertEqual(lines[1], "9 hits, 2 entries, 4 dropped")
            self.assertRegex(lines[4], rf"^ *{re.escape(shown)} +2 +22\.2  #")  # the more frequent one is first
            self.assertRegex(lines[5], "^ *other +1 +11\\.1  #")

    def test_reports_that_are_none(self) -> None:
        me = str(os.getpid())
        for text in (b"{", b"[" * 100000, b'{"events": [' * 1000, b'{"a" 1}', b'"\\u12', b"\0", b"{}x", b"nul", b"5", b'{"a": 1,}', b'"\\'):
            stranger = self.answer_with(text)
            self.assertIn("has answered in a way that is not understood", self.refused("stat", "-p", me, "--for", "0.02"), text[:20])
            stranger.close()

    def test_random_reports(self) -> None:
        me = str(os.getpid())
        pieces = [b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"null", b"-", b"1e999", b"NaN", b"\xff", b"\x1b[2J", b"99999999999999999999999", b"0"]
        for number in range(RUNS):
            choice = random.Random(SEED * 7000003 + number)
            command, text = choice.choice(((("stat", "--by=thread", "--for", "0.03", "--interval", "0.01"), self.STATISTICS), (("hist",), self.HISTOGRAMS)))
            for _ in range(choice.randrange(6)):
                at = choice.randrange(len(text))
                text = text[:at] + choice.choice([*pieces, text[at:at + 50]]) + text[at + choice.randrange(20):]
            with self.subTest(number=number, text=text):
                self.shown(text, command[0], "-p", me, *command[1:])

    @check_all("gigabytes of replies")
    def test_endless_replies(self) -> None:
        """A line without an end; lines without an end."""
        me = str(os.getpid())

        def endless(piece: bytes) -> Callable[[socket.socket], None]:
            def serve(connection: socket.socket) -> None:
                connection.send(GREETING)
                next(requests(connection))
                while True:
                    connection.send(piece)
            return serve
        for piece in (b"x" * 60000, b"event a:b id=1 level=1 outputs=- place=f:1\n" + b"\t" + b"y" * 60000 + b"\n",
                      b"\t[" + b"0," * 30000 + b"\n", b"output 1 kind=k owner=o events=1 lost=0/0/0/0/0 name=n\n" * 500, b"\tz\n" * 10000):
            stranger = self.listen(endless(piece))
            with self.subTest(piece=piece[:20]):
                self.refused("stat" if piece.startswith(b"\t[") else "outputs" if piece.startswith(b"output") else "list", "-p", me, limited=True)
            stranger.close()

    def test_interrupt(self) -> None:
        """^C while the process does not answer."""
        asked = threading.Event()

        def serve(connection: socket.socket) -> None:
            connection.send(GREETING)
            for _ in requests(connection):
                asked.set()
        self.listen(serve)
        for command in (("trace",), ("record", "-o", "trace"), ("stat",)):
            asked.clear()
            tp = self.begin(command[0], "-p", str(os.getpid()), *command[1:])
            self.assertTrue(asked.wait(PATIENCE))
            tp.terminate()
            self.finished(tp)
            self.assertEqual(tp.returncode, 1)
        self.assertFalse(os.path.exists(self.path("trace")))

    def test_interrupt_behind_an_answer(self) -> None:
        """The process has enabled the events, and said so: tp ends as it does at any later time."""
        tp: list[subprocess.Popen] = []

        def serve(connection: socket.socket) -> None:
            connection.send(GREETING)
            for text, fds in requests(connection):
                for fd in fds:
                    os.close(fd)
                enables = text.startswith(b"enable")
                if enables:
                    until(lambda: tp)
                    tp[0].send_signal(signal.SIGSTOP)
                connection.send(b"ok 1\n")
                if enables:
                    tp[0].send_signal(signal.SIGINT)
                    tp[0].send_signal(signal.SIGCONT)
        self.listen(serve)
        tp.append(self.begin("record", "-p", str(os.getpid()), "-o", "trace"))
        _, err = self.finished(tp[0])
        self.assertEqual(tp[0].returncode, 0, err)
        self.assertIn("has the trace of", err)

    def test_lines_of_a_trace(self) -> None:
        """They can't write on the terminal but as text."""
        taken: list[int] = []

        def serve(connection: socket.socket) -> None:
            connection.send(GREETING)
            for text, fds in requests(connection):
                taken.extend(fds)
                connection.send(b"ok 1\n")
                if text.startswith(b"enable"):
                    with socket.socket(fileno=taken.pop()) as lines:
                        for line in (b"\x1b[2Jone\n", b"two", b"\xc2\x9b31m three\r\n", b"four\0\nfive\n", b"\xe6\xbc\xa2\xe2\x81\xa6\n", b"\xff" * 100000):
                            lines.send(line)
        self.listen(serve)
        tp = self.begin("trace", "-p", str(os.getpid()))
        text = b""
        assert tp.stdout
        while text.count(b"\n") < 6:
            text += tp.stdout.read(65536)
        self.assertEqual(text, b"?[2Jone\ntwo\n??31m three?\nfour??five\n\xe6\xbc\xa2???\n" + b"?" * 100000 + b"\n")
        tp.terminate()
        self.finished(tp)

    def test_descriptors_that_are_sent_to_tp(self) -> None:
        """It has no use for them."""
        def serve(connection: socket.socket) -> None:
            with open("/dev/null", "rb") as null:
                socket.send_fds(connection, [GREETING], [null.fileno()] * 100)
                for _ in requests(connection):
                    socket.send_fds(connection, [b"ok\n"], [null.fileno()] * 100)
        self.listen(serve)
        self.assertEqual(self.tp("outputs", "-p", str(os.getpid())).returncode, 0)

    def test_another_user_listens(self) -> None:
        """In a directory that is open to all, somebody has taken the place of the process."""
        self.need_root()
        stranger = self.listen(replies(b"ok\n"))
        os.chmod(self.control, 0o777)
        os.chmod(stranger.path, 0o666)
        done = run([TP, "ps"], env=self.env, user=NOBODY, group=NOBODY)
        self.assertNotIn("stranger", done.stdout)
        self.assertRegex(done.stderr, rf"(?m)^tp: what listens at {re.escape(stranger.path)} can't be reached: user 0 listens there, "
                                      rf"and you are user {NOBODY}$")

    def test_not_a_socket(self) -> None:
        """Links and pipes by the name of a process are left alone."""
        listener = self.listen(replies(b"ok\n"))
        os.rename(listener.path, self.path("elsewhere"))
        os.symlink(self.path("elsewhere"), listener.path)
        os.mkfifo(os.path.join(self.control, "1.1"))
        done = self.tp("ps")
        self.assertNotIn("stranger", done.stdout)
        self.assertIn(f"{os.getpid()}.", " ".join(os.listdir(self.control)))

    def test_clients_that_come_and_go(self) -> None:
        """Of a real process: many at once, killed at any moment."""
        process = self.start("storm")
        for _ in range(5):
            clients = [self.begin(command, "-p", str(process.pid), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                       for command in ("trace", "stat", "list", "outputs")]
            time.sleep(0.02)
            for client in clients:
                client.kill()
                client.wait()
        until(lambda: self.tp("ps", "-p", str(process.pid)).returncode == 0)
        self.left_alone(process.pid)

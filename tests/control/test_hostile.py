# SPDX-License-Identifier: MIT
"""Clients that mean harm, or that are just in a hurry: the process goes on, and serves the next one."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from control import Client, Control, Refused, Target, built  # noqa: E402
from support import PATIENCE, both, check_all, few_or_many, until  # noqa: E402

SO_SNDBUFFORCE = 32  # of asm-generic/socket.h; Python has no name for it
FUZZ = few_or_many(200, 400, "FUZZ")


class Hostile(Control):
    def works(self, target: Target) -> None:
        """The process serves somebody else, who finds it as it was."""
        client = target.connect()
        self.assertEqual(len(client.ask("events")[0]), 2)
        until(lambda: not client.outputs(), "what others have opened goes")
        client.close()
        target.do("work 10")


class TestHostile(Hostile):
    libtp = "asan"  # which also checks the order of locks

    def test_silent_clients(self) -> None:
        target = Target(self)
        silent = [target.connect() for _ in range(40)]
        self.works(target)
        for client in silent:
            client.close()
        self.works(target)

    def test_a_hundred_clients_at_once(self) -> None:
        target = Target(self)
        wrong: list[BaseException] = []

        def look() -> None:
            try:
                while True:  # one that is idle makes way for another, and comes again
                    with contextlib.suppress(EOFError, ConnectionError, Refused, BlockingIOError), \
                            contextlib.closing(Client(target.sockets()[0])) as client:
                        self.assertEqual(len(client.ask("events")[0]), 2)
                        return
            except BaseException as error:
                wrong.append(error)

        threads = [threading.Thread(target=look) for _ in range(100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.works(target)

    def test_as_many_connections_as_there_can_be_that_all_have_something_open(self) -> None:
        target = Target(self)
        clients = []
        for _ in range(16):
            client = target.connect()
            client.open("open text x", self.lines()[0].fileno())
            clients.append(client)
        with self.assertRaises(Refused) as caught:
            target.connect()
        self.assertEqual(caught.exception.name, "EMFILE")
        self.assertEqual(len(clients[0].outputs()), 16)
        for client in clients:
            client.close()
        self.works(target)

    def test_a_reader_that_stops_reading_loses_lines_and_nothing_else(self) -> None:
        target = Target(self)
        client = target.connect()
        number, ours = self.open_text(client)
        target.do("work 20000")
        client.ask(f"disable {number} *")
        lost = sum(int(part) for part in client.outputs()[number]["lost"].split("/"))
        client.ask(f"close {number}")
        lines = 0
        while line := ours.recv(65536):
            self.assertTrue(line.endswith(b"text=text\n") and line.count(b"\n") == 1, line)
            lines += 1
        self.assertEqual(lines + lost, 20000)
        self.assertGreater(lost, 0)
        self.assertEqual(target.end(), "")

    def test_pipes_and_terminals_that_nobody_reads(self) -> None:
        target = Target(self)
        client = target.connect()
        master, slave = os.openpty()
        reader, writer = os.pipe()
        for fd in (slave, writer):
            number = client.open("open text x", fd)
            self.assertTrue(os.get_blocking(fd), "the operator's own description stays as it was")
            client.ask(f"enable {number} *")
        target.do("work 20000")
        target.do("long")
        self.assertEqual([sum(map(int, output["lost"].split("/"))) > 0 for output in client.outputs().values()], [True, True])
        for fd in (master, slave, reader, writer):
            os.close(fd)
        target.do("work 10")
        client.close()
        self.works(target)

    def test_a_reader_that_is_gone(self) -> None:
        target = Target(self)
        client = target.connect()
        _, ours = self.open_text(client)
        ours.close()
        target.do("work 1000")
        client.close()
        self.works(target)
        self.assertEqual(target.end(), "")

    def test_a_client_that_does_not_read_its_replies(self) -> None:
        target = Target(self)
        client = target.connect()
        client.socket.setblocking(False)
        with contextlib.suppress(BlockingIOError, ConnectionError):
            while True:
                client.send("formats")
        self.works(target)

    def test_half_lines(self) -> None:
        """A message is a request: halves are not put together, neither of one connection nor of two."""
        target = Target(self)
        client, other = target.connect(), target.connect()
        number = client.open("open text x", self.lines()[0].fileno())
        for message, errors in ((f"enable {number}", ("EINVAL", "EPERM")), (" *", ("ENOSYS", "ENOSYS")), ("eve", ("ENOSYS", "ENOSYS")),
                                ("nts", ("ENOSYS", "ENOSYS")), ("events\nout", ("EMSGSIZE", "EMSGSIZE")),
                                ("puts\n", ("ENOSYS", "ENOSYS")), ("events\0", ("EMSGSIZE", "EMSGSIZE"))):
            for sender, error in zip((client, other), errors):
                with self.assertRaises(Refused) as caught:
                    sender.ask(message)
                self.assertEqual(caught.exception.name, error, message)
        self.assertEqual(client.outputs()[number]["events"], "0")
        client.send(f"enable {number}")  # and is gone in the middle
        client.close()
        self.works(target)

    def test_a_line_of_a_megabyte(self) -> None:
        target = Target(self)
        client = target.connect()
        client.socket.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE if os.geteuid() == 0 else socket.SO_SNDBUF, 4 << 20)
        size = 1 << 20 if os.geteuid() == 0 else 200000  # without rights, a message is no longer than net.core.wmem_max
        for line in (b"x" * size, b"events " + b"*," * (size // 2), b"enable 1 * if " + b"(" * size, b"\0" * size, b"\n" * size):
            with self.assertRaises(Refused) as caught:
                client.ask(line)
            self.assertEqual((caught.exception.name, caught.exception.text), ("EMSGSIZE", "a request has at most 65536 bytes"))
        self.assertEqual(len(client.ask("events *" + ",*" * 32764)[0]), 2)  # as long as one may be
        client.close()
        self.works(target)

    def test_clients_that_are_killed_at_every_step(self) -> None:
        target = Target(self)
        steps = ["events", "outputs", "open text x", "enable {} *", "disable {} *", "keep {}", "close {}"]
        for last in range(len(steps) + 1):
            client = target.connect()
            theirs, _ = self.lines()
            number = 0
            for step in steps[:last]:
                if step.startswith("open"):
                    number = client.open(step, theirs.fileno())
                elif step.startswith("keep") and last <= steps.index("close {}"):
                    break
                else:
                    client.ask(step.format(number))
            client.close()
            self.works(target)
        for step in steps:  # without waiting for the last answer
            client = target.connect()
            if "{}" in step:
                number = client.open("open text x", self.lines()[0].fileno())
            if not step.startswith("keep"):
                client.send(step.format(number), *([self.lines()[0].fileno()] if "text" in step else []))
            client.close()
            self.works(target)

    def test_descriptors_that_come_with_nothing_are_closed(self) -> None:
        target = Target(self)
        before = len(os.listdir(f"/proc/{target.pid}/fd"))
        for _ in range(20):
            client = target.connect()
            socket.send_fds(client.socket, [b""], [0, 0, 0])
            client.close()
        until(lambda: len(os.listdir(f"/proc/{target.pid}/fd")) == before, "all are closed")

    def test_descriptors_without_end(self) -> None:
        """As many as a message can carry, with every message, from somebody who reads no reply."""
        target = Target(self)
        before = len(os.listdir(f"/proc/{target.pid}/fd"))
        for request in (b"events", b"", b"open text x", b"open ctf x", b"snapshot 1 x"):
            client = target.connect()
            client.socket.settimeout(1)
            with contextlib.suppress(OSError):  # it is disconnected, or the kernel lets no more be under way
                for _ in range(300):
                    socket.send_fds(client.socket, [request], [0] * 253)
            client.close()
            self.works(target)
        until(lambda: len(os.listdir(f"/proc/{target.pid}/fd")) == before, "all are closed")

    def test_descriptors_that_no_trigger_wants(self) -> None:
        """One of a histogram stays when the connection has ended, and has no use for a directory."""
        target = Target(self)
        before = len(os.listdir(f"/proc/{target.pid}/fd"))
        client = target.connect()
        client.ask("trigger - target_work hist:keys=number", 0)
        client.ask("trigger - target_work !hist:keys=number", 0)
        client.ask("trigger - target_work hist:keys=number", 0)
        client.close()
        until(lambda: len(os.listdir(f"/proc/{target.pid}/fd")) == before, "all are closed")

    def test_nobody_waits_for_a_client_that_does_not_read(self) -> None:
        for serves_itself in (False, True):
            target = Target(self)
            if serves_itself:
                self.assertEqual(target.do("fd"), 0)
            slow, other = target.connect(), target.connect()
            slow.socket.setblocking(False)
            formats = other.ask("formats")
            asked = blocked = 0
            while blocked < 3:  # then both directions are full
                try:
                    slow.send("formats")
                    asked, blocked = asked + 1, 0
                except BlockingIOError:
                    self.assertEqual(other.ask("formats"), formats)
                    blocked += 1
            self.works(target)
            slow.socket.settimeout(PATIENCE)
            for _ in range(asked):
                self.assertEqual(slow.reply(), formats)

    def test_connections_that_are_sent_over_themselves(self) -> None:
        """The descriptor of the connection's other end does not keep it."""
        target = Target(self)
        before = len(os.listdir(f"/proc/{target.pid}/fd"))
        for _ in range(50):
            client = target.connect()
            client.send("events", client.socket.fileno())
            client.send("", client.socket.fileno())
            client.close()
        self.works(target)
        until(lambda: len(os.listdir(f"/proc/{target.pid}/fd")) == before, "all are closed")

    def test_connections_that_would_be_kept_by_what_they_open(self) -> None:
        """Neither an output nor a trigger has the other end of the connection, or of another one."""
        target = Target(self)
        before = len(os.listdir(f"/proc/{target.pid}/fd"))
        for request in ("open text x", "trigger - target_work hist:keys=number", "trigger 1 target_work traceoff", "events"):
            for _ in range(20):
                client, other = target.connect(), target.connect()
                for passed in (client, other):
                    with self.assertRaises(Refused) as caught:
                        client.ask(request, passed.socket.fileno())
                    self.assertEqual(caught.exception.name, "ELOOP", request)
                client.close()
                other.close()
        self.works(target)
        until(lambda: len(os.listdir(f"/proc/{target.pid}/fd")) == before, "all are closed")

    def test_modules_that_come_and_go_meanwhile(self) -> None:
        target = Target(self)
        target.tell(f"churn {built(self.libtp)}/plugin.so 300")
        client = target.connect()
        number = client.open("open text x", self.lines()[0].fileno())
        for i in range(200):
            client.ask("formats")
            client.ask(f"{'disable' if i % 2 else 'enable'} {number} *")
        self.assertEqual(target.answer(), "0")
        client.close()
        self.works(target)

    def test_a_process_that_ends_in_the_middle(self) -> None:
        for how in ("exit", "crash"):
            target = Target(self)
            client = target.connect()
            number = client.open("open text x", self.lines()[0].fileno())
            for _ in range(20):
                client.send(f"enable {number} *")
                client.send(f"disable {number} *")
            target.tell(how)
            with self.assertRaises((EOFError, ConnectionError)):
                while True:
                    client.reply()
            self.assertEqual(target.end(), "")


@check_all("forks after each of a request's instructions")
class TestForks(Hostile):
    # AddressSanitizer's malloc has locks that no fork takes: the child of a process whose other thread is there hangs.
    libtp = "ranks"

    def test_a_process_that_is_forked_in_the_middle(self) -> None:
        target = Target(self)
        client = target.connect()
        number = client.open("open text x", self.lines()[0].fileno())
        children = []
        for i in range(30):
            client.send(f"{'disable' if i % 2 else 'enable'} {number} *")
            children.append(target.do("spawn"))
            client.reply()
        for child in children:
            self.assertEqual(len(target.connect(child).ask("events")[0]), 2)
            os.kill(child, 9)
        client.close()
        self.works(target)


class TestFuzz(Control):
    libtp = "asan"

    def mutated(self, rng: random.Random) -> bytes:
        """A request, or something like one."""
        if rng.random() < 0.1:
            return rng.randbytes(rng.choice((0, 1, 3, 100, 5000)))
        words = [rng.choice(("events", "formats", "outputs", "open", "keep", "close", "enable", "disable", "report", "snapshot")),
                 rng.choice(("1", "2", "3", "text", "ctf", "stats", "x", "-1", "99999999999999999999", "")),
                 rng.choice(("*", "target:*", "!*", ",", "[", "a" * 3000, "name,mode=flight", "name,field=*.*", "json", "%n%s", "")),
                 rng.choice(("", "x", ",", "\t"))]
        data = bytearray(" ".join(words[:rng.randrange(5)]).encode())
        for _ in range(rng.choice((0, 0, 1, 3))):
            if data:
                data[rng.randrange(len(data))] = rng.randrange(256)
        return bytes(data)

    @both
    def test_requests_that_mean_nothing(self) -> None:
        seed = time.time_ns()
        rng = random.Random(seed)
        target = Target(self)
        os.mkdir(self.path("trace"))
        fds = [os.open(self.path("trace"), os.O_RDONLY), os.open(self.path("lines"), os.O_RDWR | os.O_CREAT), *os.pipe(),
               self.lines()[0].fileno(), os.open("/dev/null", os.O_RDONLY)]
        client = target.connect()
        for _ in range(FUZZ):
            request = self.mutated(rng)
            try:
                client.send(request, *rng.sample(fds, rng.choice((0, 0, 1, 1, 2))))
                if request:
                    client.reply()
            except Refused:
                pass
            except (EOFError, ConnectionError):
                self.assertIsNone(target.process.poll(), f"seed {seed}: {request!r}")
                client = target.connect()
            if rng.random() < 0.05:
                target.do("work 10")
                client.close()
                client = target.connect()
        client.close()
        self.assertEqual(len(target.connect().ask("events")[0]), 2)
        said = target.end()
        self.assertFalse("ERROR" in said, f"seed {seed}: {said}")

    def test_control_messages_that_mean_nothing(self) -> None:
        target = Target(self)
        for kind in (socket.SCM_RIGHTS, socket.SCM_CREDENTIALS):
            client = target.connect()
            data = struct.pack("iii", os.getpid(), os.geteuid(), os.getegid()) if kind == socket.SCM_CREDENTIALS else struct.pack("4i", *[0] * 4)
            with contextlib.suppress(OSError):
                client.socket.sendmsg([b"events"], [(socket.SOL_SOCKET, kind, data)])
                with contextlib.suppress(Refused):
                    client.reply()
        self.assertEqual(len(target.connect().ask("events")[0]), 2)

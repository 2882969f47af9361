# SPDX-License-Identifier: MIT
"""A process answers whoever looks into it: every request of the protocol, by a client that knows nothing but the protocol."""

from __future__ import annotations

import json
import os
import socket
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from control import Control, Refused, Target, built  # noqa: E402
from support import need, read  # noqa: E402


class TestServer(Control):
    def setUp(self) -> None:
        super().setUp()
        self.target = Target(self)
        self.client = self.target.connect()

    def refused(self, request: str, name: str, *fds: int) -> str:
        with self.assertRaises(Refused) as caught:
            self.client.ask(request, *fds)
        self.assertEqual(caught.exception.name, name, str(caught.exception))
        return caught.exception.text

    def test_greeting(self) -> None:
        version, pairs = self.client.greeting.split(" pid=")
        self.assertEqual(version, "tp 1")
        head, _, program = f"pid={pairs}".partition(" program=")
        found = dict(pair.split("=", 1) for pair in head.split(" "))
        self.assertEqual((found["pid"], found["uid"], found["events"], found["outputs"], program),
                         (str(self.target.pid), str(os.geteuid()), "2", "0", "target"))

    def test_events(self) -> None:
        lines, _ = self.client.ask("events")
        self.assertEqual({line.split(" ")[1] for line in lines}, {"target:target_work", "target:target_state"})
        work, = self.client.ask("events target_w*")[0]
        self.assertRegex(work, r"^event target:target_work id=\d+ level=13 outputs=- tracepoint=target_work place=.*target\.tp:5$")
        self.assertIn(work, lines)
        self.assertEqual(self.client.ask("events nothing:*")[0], [])
        self.assertIn("no list of patterns", self.refused("events ,,", "EINVAL"))

    def test_formats(self) -> None:
        lines, _ = self.client.ask("formats target_state")
        self.assertTrue(lines[0].startswith("event target:target_state "))
        self.assertEqual(lines[1], "\tname: target_state")
        self.assertIn("\tprint fmt: \"value=%d\", REC->value", lines)

    def test_text(self) -> None:
        theirs, ours = self.lines()
        number = self.client.open("open text the operator's terminal", theirs.fileno())
        theirs.close()
        self.assertEqual(self.client.ask(f"enable {number} target:*,!target_state")[1], "1")
        self.target.do("work 2")
        for i in (1, 2):
            self.assertRegex(ours.recv(4096).decode(), rf"^\d+\.\d{{9}} {self.target.pid}/{self.target.pid} "
                             rf"target:target_work: number={i} text=text\n$")
        self.assertEqual(self.client.ask(f"disable {number} *")[1], "1")
        self.target.do("work 1")
        self.client.ask(f"close {number}")
        self.assertEqual(ours.recv(4096), b"")
        self.assertEqual(self.client.outputs(), {})

    def test_outputs_of_all_kinds_are_listed(self) -> None:
        theirs, _ = self.lines()
        number = self.client.open("open text a name, with anything in it", theirs.fileno())
        self.client.ask(f"enable {number} target:*,!*_state")
        self.client.ask(f"disable {number} nothing")
        lines, _ = self.client.ask("outputs")
        self.assertEqual(lines, [
            f"output {number} kind=text owner=session events=1 lost=0/0/0/0/0 tracing=on name=text:a name, with anything in it",
            f"rule {number} enable target:*,!*_state", f"rule {number} disable nothing"])
        other = self.target.connect()
        self.assertEqual(other.outputs()[number]["owner"], "other")

    def test_a_name_that_a_terminal_would_obey(self) -> None:
        """Clients may print the lines as they are."""
        theirs, _ = self.lines()
        name = "gr\u00fcn \x1b[2J \u009b2J \u202e \x7f "
        number = self.client.open(b"open text " + name.encode() + b"\xff", theirs.fileno())
        self.assertEqual(self.client.outputs()[number]["name"],
                         r"text:gr\u00fcn \x1b[2J \xc2\x9b2J \xe2\x80\xae \x7f \xff".replace(r"\u00fc", "\u00fc"))

    def test_filter(self) -> None:
        theirs, ours = self.lines()
        number = self.client.open("open text filtered", theirs.fileno())
        theirs.close()
        lines, value = self.client.ask(f"enable {number} target:* if number > 2 && text ~ \"te*\"")
        self.assertEqual(value, "1")
        self.assertRegex(lines[0], "^note the filter does not fit 'target:target_state', which stays as it was: Field not found")
        self.target.do("work 4")
        for i in (3, 4):
            self.assertTrue(ours.recv(4096).endswith(b"target:target_work: number=%d text=text\n" % i))
        self.assertEqual(self.client.ask("outputs")[0][1:],
                         [f"rule {number} enable target:* if number > 2 && text ~ \"te*\""])
        self.assertIn("Field not found, at 'nubmer > 2': did you mean 'number'? 'target:target_work' has number, text, common_type",
                      self.refused(f"enable {number} target_work if nubmer > 2", "EINVAL"))
        self.assertIn("Illegal integer value, at '1x'", self.refused(f"enable {number} target_work if number == 1x", "EINVAL"))
        self.assertEqual(self.client.ask(f"enable {number} target_work")[1], "0")
        self.target.do("work 1")
        self.assertIn(b"target:target_work: number=", ours.recv(4096))

    def test_trace(self) -> None:
        need(self, "babeltrace2")
        os.mkdir(self.path("trace"))
        directory = os.open(self.path("trace"), os.O_RDONLY)
        number = self.client.open("open ctf /home/me/trace,packet=8K", directory)
        os.close(directory)
        self.client.ask(f"enable {number} *")
        self.target.do("work 1000")
        self.assertEqual(self.client.outputs()[number]["name"], "ctf:/home/me/trace,packet=8K")
        self.client.ask(f"close {number}")
        found = self.read_by("babeltrace2", self.path("trace"))
        self.assertEqual(found.count("target:target_work"), 1000)

    def test_trace_of_a_directory_that_is_not_empty_is_refused(self) -> None:
        self.write("trace/file", "")
        directory = os.open(self.path("trace"), os.O_RDONLY)
        self.addCleanup(os.close, directory)
        self.refused("open ctf trace", "ENOTEMPTY", directory)
        self.assertEqual(os.listdir(self.path("trace")), ["file"])

    def test_why_a_trace_is_refused_is_in_the_answer(self) -> None:
        os.mkdir(self.path("trace"))
        directory = os.open(self.path("trace"), os.O_RDONLY)
        self.addCleanup(os.close, directory)
        self.assertIn("there is no option 'pocket=1'", self.refused("open ctf trace,pocket=1", "EINVAL", directory))
        self.assertIn("rotate", self.refused("open ctf trace,rotate=1h", "EINVAL", directory))
        self.assertEqual(os.listdir(self.path("trace")), [])
        self.assertEqual(self.target.end(), "")

    def test_snapshot(self) -> None:
        need(self, "babeltrace2")
        for name in ("trace", "copy"):
            os.mkdir(self.path(name))
        directories = [os.open(self.path(name), os.O_RDONLY) for name in ("trace", "copy")]
        number = self.client.open("open ctf trace,mode=flight", directories[0])
        self.client.ask(f"enable {number} target_work")
        self.target.do("work 10")
        self.client.ask(f"snapshot {number} copy", directories[1])
        self.target.do("work 10")
        self.assertEqual(self.read_by("babeltrace2", self.path("copy")).count("target_work"), 10)
        for directory in directories:
            os.close(directory)

    def test_statistics(self) -> None:
        number = self.client.open("open stats tp-stat,field=target_work.number")
        self.client.ask(f"enable {number} target_work")
        self.target.do("work 42")
        lines, _ = self.client.ask(f"report {number} json")
        found = json.loads("".join(line[1:] for line in lines))
        self.assertEqual([(e["event"], e["hits"]) for e in found["events"]], [("target:target_work", 42)])
        self.assertIn("target_work", "\n".join(self.client.ask(f"report {number} text")[0]))
        self.refused(f"report {number} xml", "EINVAL")

    def test_the_end_of_a_connection_is_the_end_of_what_it_has_opened(self) -> None:
        _, ours = self.open_text(self.client)
        self.assertEqual(self.target.do("state?"), 100)
        self.client.close()
        self.assertEqual(ours.recv(10), b"")
        other = self.target.connect()
        self.assertEqual(other.outputs(), {})
        self.assertEqual(self.target.do("state?"), 101)

    def test_kept_outputs_last(self) -> None:
        with open(self.path("lines"), "ab") as file:
            number = self.client.open("open text lines", file.fileno())
        self.client.ask(f"enable {number} target_work")
        self.client.ask(f"keep {number}")
        self.refused(f"keep {number}", "EPERM")
        self.client.close()
        self.client = self.target.connect()
        self.assertEqual(self.client.outputs()[number]["owner"], "kept")
        self.target.do("work 3")
        self.assertEqual(read(self.path("lines")).count("target_work"), 3)
        self.client.ask(f"close {number}")
        self.target.do("work 3")
        self.assertEqual(read(self.path("lines")).count("target_work"), 3)
        self.refused(f"close {number}", "ENOENT")

    def test_outputs_of_another_connection_are_its_own(self) -> None:
        number, _ = self.open_text(self.client)
        self.client = self.target.connect()
        for request in (f"enable {number} *", f"disable {number} *", f"close {number}", f"keep {number}"):
            self.refused(request, "EPERM")

    def test_what_is_wrong_with_a_request(self) -> None:
        for request, name in (("\n", "ENOSYS"), ("dance", "ENOSYS"), ("open", "EINVAL"), ("open chrome x", "EINVAL"),
                              ("open text x", "EBADF"), ("open ctf x", "EBADF"), ("enable", "EINVAL"), ("enable x *", "EINVAL"),
                              ("enable 77 *", "ENOENT"), ("close 77", "ENOENT"), ("report 77", "ENOENT"), ("snapshot 77 x", "EBADF"),
                              ("keep 77", "EPERM"), ("events\nevents", "EMSGSIZE"), ("close 18446744073709551616", "EINVAL")):
            with self.subTest(request):
                self.refused(request, name)
        self.refused("x" * 70000, "EMSGSIZE")
        number = self.client.open("open stats x")
        self.assertIn("no list of patterns", self.refused(f"enable {number} ", "EINVAL"))
        self.assertIn("no flight recorder", self.refused(f"snapshot {number} x", "EINVAL", os.open("/", os.O_RDONLY)))

    def test_a_descriptor_that_nobody_uses_is_closed(self) -> None:
        theirs, ours = self.lines()
        self.client.ask("events", theirs.fileno())
        with self.assertRaises(Refused):
            self.client.ask("events", theirs.fileno(), theirs.fileno())
        theirs.close()
        self.assertEqual(ours.recv(10), b"")

    def test_several_requests_at_once_are_answered_in_order(self) -> None:
        for _ in range(50):
            self.client.send("events target_state")
        for _ in range(50):
            self.assertEqual(len(self.client.reply()[0]), 1)


class TestOfTheEnvironment(Control):
    def test_outputs_of_the_environment_can_be_changed_and_closed(self) -> None:
        target = Target(self, TP_OUTPUT="text:lines", TP_ENABLE="nothing")
        client = target.connect()
        (number, output), = client.outputs().items()
        self.assertEqual((output["owner"], output["name"]), ("environment", "text:lines"))
        self.assertEqual(client.ask(f"enable {number} target_work")[1], "1")
        target.do("work 2")
        self.assertEqual(read(self.path("lines")).count("target_work"), 2)
        client.ask(f"close {number}")
        target.do("work 2")
        self.assertEqual(read(self.path("lines")).count("target_work"), 2)
        self.assertEqual(client.outputs(), {})

    def test_an_event_of_a_library_that_comes_later_is_there(self) -> None:
        target = Target(self)
        client = target.connect()
        number, ours = self.open_text(client, "plugin:*")
        target.do(f"load {built()}/plugin.so")
        self.assertIn(b" plugin:plugin_work: n=1000000\n", ours.recv(4096))
        self.assertEqual(len(client.ask("events plugin:*")[0]), 1)
        self.assertEqual(client.outputs()[number]["events"], "1")
        target.do("unload")
        self.assertEqual(client.ask("events plugin:*")[0], [])


class TestTheSwitch(Control):
    def listens(self, **env: str) -> bool:
        target = Target(self, **env)
        threads = target.do("threads?")
        sockets = target.sockets()
        self.assertEqual(threads, 2 if sockets else 1)
        target.end()
        self.assertEqual(target.sockets(), [])
        return bool(sockets)

    def test_the_directory_is_the_switch(self) -> None:
        self.assertTrue(self.listens())
        self.assertFalse(self.listens(TP_CONTROL="0"))
        os.rmdir(self.directory)
        self.assertFalse(self.listens())

    def test_the_directory_of_the_session(self) -> None:
        self.assertTrue(self.listens(TP_CONTROL="", XDG_RUNTIME_DIR=self.dir))
        os.rmdir(self.directory)
        self.assertFalse(self.listens(TP_CONTROL="", XDG_RUNTIME_DIR=self.dir))
        self.assertTrue(self.listens(TP_CONTROL="1", XDG_RUNTIME_DIR=self.dir))
        self.assertEqual(os.stat(self.directory).st_mode & 0o777, 0o700)

    def test_a_program_with_a_filter_of_system_calls_must_ask_for_it(self) -> None:
        self.assertFalse(self.listens(TP_CONTROL="", XDG_RUNTIME_DIR=self.dir, TP_SANDBOX="1"))
        self.assertTrue(self.listens(TP_SANDBOX="1"))

    def test_a_directory_that_is_not_the_users_alone_is_refused(self) -> None:
        os.chmod(self.directory, 0o755)
        target = Target(self)
        self.assertEqual(target.sockets(), [])
        self.assertEqual(target.end(), f"tp: nobody can look into this process: '{self.directory}': others have rights to it: "
                         "chmod 700 takes them away\n")

    def test_a_link_is_not_followed(self) -> None:
        os.rename(self.directory, self.path("other"))
        os.symlink("other", self.directory)
        for end in ("", "/", "//", "/.", "/./"):
            with self.subTest(end=end):
                target = Target(self, TP_CONTROL=self.directory + end)
                self.assertEqual(os.listdir(self.path("other")), [])
                self.assertIn("it is no directory, or a symbolic link", target.end())

    def test_what_is_no_directory_is_refused(self) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as squatter:
            squatter.bind(self.path("socket"))
            for path in (self.path("socket"), self.write("file", ""), "/dev/null"):
                target = Target(self, TP_CONTROL=path)
                self.assertEqual(target.do("threads?"), 1)
                self.assertEqual(target.end(), f"tp: nobody can look into this process: '{path}': it is no directory, or a "
                                 "symbolic link\n")

    def test_another_users_directory_is_refused(self) -> None:
        if os.geteuid():
            self.skipTest("only root can give a directory away")
        os.chown(self.directory, 65534, 65534)
        self.assertFalse(self.listens())

    def test_a_long_path(self) -> None:
        self.directory = self.path("x" * 200)
        os.mkdir(self.directory, 0o700)
        self.environment["TP_CONTROL"] = self.directory
        target = Target(self)
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(self.directory)
        name, = os.listdir(".")
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
            client.connect(name)
            self.assertIn(f"pid={target.pid} ".encode(), client.recv(4096))

    def test_a_value_that_means_nothing(self) -> None:
        target = Target(self, TP_CONTROL="yes", XDG_RUNTIME_DIR=self.dir)
        self.assertEqual(len(target.sockets()), 1)
        self.assertIn("TP_CONTROL=yes: it is 0, 1 or the path of a directory", target.end())

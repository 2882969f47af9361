# SPDX-License-Identifier: MIT
"""Control in processes that do what processes do: fork, exec, change their user, close descriptors, end, crash."""

from __future__ import annotations

import contextlib
import glob
import os
import signal
import socket
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from control import Client, Control, Refused, Target, built  # noqa: E402
from reaching import TP  # noqa: E402
from support import BT2_PYTHON, PATIENCE, read, run, unavailable, until  # noqa: E402

NOBODY = 65534


class TestProcesses(Control):
    def need_root(self) -> None:
        if os.geteuid():
            unavailable(self, "only root can become somebody else")

    def has_thread(self, pid: int) -> bool:
        return "tp-helper\n" in [read(path) for path in glob.glob(f"/proc/{pid}/task/*/comm")]

    # ---- fork ----

    def test_a_child_listens_and_its_parent_goes_on_to(self) -> None:
        target = Target(self)
        child = target.do("spawn")
        self.addCleanup(os.kill, child, signal.SIGKILL)
        self.assertIn(f"pid={child} ", target.connect(child).greeting)
        self.assertIn(f"pid={target.pid} ", target.connect().greeting)

    def test_children_that_are_not_to_listen(self) -> None:
        target = Target(self, TP_CONTROL=f"{self.directory},children=end")
        child = target.do("spawn")
        self.addCleanup(os.kill, child, signal.SIGKILL)
        self.assertIn(f"pid={target.pid} ", target.connect().greeting)
        self.assertEqual(target.sockets(child), [])
        self.assertFalse(self.has_thread(child))

    def test_what_a_connection_has_opened_goes_on_in_children_until_it_ends(self) -> None:
        target = Target(self)
        client = target.connect()
        _, ours = self.open_text(client)
        target.tell("fork")
        self.assertEqual(target.answer(), "0")  # the child's
        until(lambda: len(glob.glob(f"{self.directory}/*")) == 2, "the child listens after a moment")
        child = next(int(name.split(".")[0]) for name in os.listdir(self.directory)
                     if name[0] != "." and not name.startswith(f"{target.pid}."))
        target.do("work 1")
        self.assertIn(f" {child}/{child} target:target_work: ".encode(), ours.recv(4096))
        other = target.connect(child)
        self.assertEqual(len(other.outputs()), 1)
        client.close()
        until(lambda: not other.outputs(), "the child closes it, too")
        self.assertEqual(ours.recv(10), b"")
        target.do("work 1")

    def test_what_a_connection_has_opened_ends_in_children_that_do_not_listen(self) -> None:
        target = Target(self, TP_CONTROL=f"{self.directory},children=end")
        client = target.connect()
        _, ours = self.open_text(client)
        child = target.do("spawn")
        self.addCleanup(os.kill, child, signal.SIGKILL)
        client.close()
        self.assertEqual(ours.recv(10), b"")

    def test_children_that_end_at_once_leave_no_names(self) -> None:
        target = Target(self)
        for _ in range(50):
            os.kill(target.do("spawn"), signal.SIGKILL)
        self.assertIn(f"pid={target.pid} ", target.connect().greeting)
        until(lambda: len(glob.glob(os.path.join(self.directory, "*"))) <= 5, "a busy machine may have been too slow for some")

    def test_a_main_thread_that_ends_before_the_process(self) -> None:
        target = Target(self)
        target.tell("pthread_exit")
        self.assertEqual(target.process.wait(PATIENCE), 0)

    def test_signals_stay_blocked(self) -> None:
        target = Target(self)
        client = target.connect()
        os.mkdir(self.path("trace"))
        directory = os.open(self.path("trace"), os.O_RDONLY)
        blocked = {line for path in glob.glob(f"/proc/{target.pid}/task/*/status") for line in read(path).splitlines()
                   if line.startswith("SigBlk:")}
        client.open("open ctf trace,mode=flight", directory)
        client.open("open stats x")
        os.close(directory)
        self.assertEqual({line for path in glob.glob(f"/proc/{target.pid}/task/*/status") for line in read(path).splitlines()
                          if line.startswith("SigBlk:")}, blocked)

    def test_a_daemon(self) -> None:
        target = Target(self)
        pid = target.do("daemon")
        self.assertNotEqual(pid, target.pid)
        client = target.connect(pid)
        self.assertEqual(len(client.ask("events")[0]), 2)
        target.tell("exit")
        until(lambda: not target.sockets(pid), "the daemon's name goes")
        with self.assertRaises(ConnectionRefusedError):  # the parent has ended by _exit()
            Client(target.sockets()[0])

    def test_nothing_is_left_after_exec(self) -> None:
        target = Target(self)
        client = target.connect()
        _, ours = self.open_text(client)
        before = os.listdir(f"/proc/{target.pid}/fd")
        target.tell("exec")
        self.assertEqual(ours.recv(10), b"")
        with self.assertRaises((EOFError, ConnectionError)):
            client.ask("events")
        until(lambda: read(f"/proc/{target.pid}/comm") == "sleep\n")
        until(lambda: sorted(os.listdir(f"/proc/{target.pid}/fd")) == ["0", "1", "2"], "sleep has loaded its libraries")
        self.assertGreater(len(before), 3)
        with self.assertRaises(ConnectionError):
            Client(target.sockets()[0])
        os.kill(target.pid, signal.SIGKILL)

    def test_something_else_has_the_name(self) -> None:
        """Whoever owns the directory can put anything there: it is no way to end the process, or to keep others out."""
        def file(name: str) -> None:
            with open(name, "w", encoding="utf-8"):
                pass

        def listener(name: str) -> None:
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as other:
                other.bind(name)
                other.listen()
            if os.geteuid() == 0:
                os.chown(name, NOBODY, NOBODY)

        for squat in (file, os.mkdir, listener, lambda name: os.symlink("/dev/null", name)):
            with self.subTest(squat):
                target = Target(self)
                client = target.connect()
                name, = target.sockets()
                os.unlink(name)
                squat(name)
                self.assertEqual(len(client.ask("events")[0]), 2)
                self.assertEqual((target.do("stop"), target.do("start")), (0, 0))
                other, = set(target.sockets()) - {name}
                again = Client(other)
                self.addCleanup(again.close)
                self.assertEqual(len(again.ask("events")[0]), 2)
                target.tell("exit")
                self.assertEqual(target.end(), "")
                self.assertFalse(os.path.lexists(other))

    # ---- descriptors ----

    def test_a_program_that_closes_all_descriptors_listens_again(self) -> None:
        target = Target(self)
        name = target.sockets()
        target.do("closeall")
        self.assertEqual(len(target.connect().ask("events")[0]), 2)
        self.assertEqual(len(target.sockets()), 1)
        self.assertNotEqual(target.sockets(), name)

    def test_a_program_that_closes_all_descriptors_need_not_listen(self) -> None:
        """Nothing wakes the thread then: nobody waits for it."""
        target = Target(self)
        target.do("closeall")
        target.do("stop")
        target.do("start")
        self.assertEqual(len(target.connect().ask("events")[0]), 2)

    def test_a_connection_whose_descriptor_the_program_closes_is_over(self) -> None:
        target = Target(self)
        client = target.connect()
        target.do("closeall")
        with self.assertRaises((EOFError, ConnectionError)):
            client.ask("events")
        self.assertEqual(target.connect().outputs(), {})

    def test_descriptors_that_the_program_has_opened_since_are_not_touched(self) -> None:
        target = Target(self)
        client = target.connect()
        target.do("closeall")
        target.do("useup")
        client.close()
        before = sorted(os.listdir(f"/proc/{target.pid}/fd"))
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as other:
            with contextlib.suppress(ConnectionRefusedError):  # the thread may have noticed, and can't listen again
                other.connect(target.sockets()[0])
            self.assertEqual(sorted(os.listdir(f"/proc/{target.pid}/fd")), before)
            target.do("content")
        self.assertEqual(len(target.connect().ask("events")[0]), 2)

    def test_a_client_waits_until_the_process_has_a_descriptor_for_it(self) -> None:
        target = Target(self)
        target.do("useup")
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
            client.connect(target.sockets()[0])
            target.do("content")
            client.settimeout(PATIENCE)
            self.assertTrue(client.recv(4096).startswith(b"tp 1 "))

    def test_an_output_that_there_is_no_descriptor_for(self) -> None:
        target = Target(self)
        client = target.connect()
        target.do("useup")
        theirs, _ = self.lines()
        with self.assertRaises(Refused) as caught:
            client.ask("open text x", theirs.fileno())
        self.assertIn(caught.exception.name, ("EMSGSIZE", "EBADF", "EMFILE"))
        target.do("content")
        client.open("open text x", theirs.fileno())

    # ---- users and places ----

    def test_a_process_that_drops_root_is_roots_to_look_into(self) -> None:
        self.need_root()
        target = Target(self)
        self.assertEqual(target.do(f"user {NOBODY}"), 0)
        client = target.connect()
        _, ours = self.open_text(client)
        target.do("work 1")
        self.assertIn(b"target_work", ours.recv(4096))

    def test_orders_in_which_a_daemon_gives_rights_away(self) -> None:
        """It listens, or tp says where it does, whoever asks, and what helps."""
        self.need_root()
        user, jail = f"user {NOBODY}", f"chroot {self.path('jail')}"
        os.mkdir(self.path("jail"))
        os.chmod(self.dir, 0o711)
        for steps in ((user,), ("daemon", user), (user, "daemon"), (user, "daemon", "daemon"), ("daemon", "setsid", user, "daemon"),
                      (jail, "daemon"), ("daemon", jail), (jail, user, "daemon"), (user, "undumpable", "daemon"),
                      (user, "daemon", "undumpable"), ("unshare mount", user, "daemon"), (user, "unshare user", "daemon"),
                      ("unshare net", user, "daemon"), (user, "daemon", "unshare user")):
            with self.subTest(steps=steps):
                target = Target(self)
                pid = target.pid
                for step in steps:
                    answer = target.do(step)
                    pid = answer if step == "daemon" else pid
                self.addCleanup(self.kill, pid)
                if "unshare net" in steps:
                    until(lambda pid=pid: "network namespace" in run([TP, "list", "-p", str(pid)], env=self.environment).stderr)
                    remedy = run(["nsenter", "-t", str(pid), "-n", TP, "list", "-p", str(pid)], env=self.environment)
                    self.assertEqual((remedy.returncode, remedy.stderr), (0, ""))
                    continue
                until(lambda pid=pid: run([TP, "list", "-p", str(pid)], env=self.environment).returncode == 0,
                      "a child listens after a moment")
                until(lambda pid=pid: f" {pid} " in run([TP, "ps"], env=self.environment).stdout, "it answers within tp's second")
                self.ask_as_nobody(pid, steps)
                self.kill(pid)
                until(lambda pid=pid: f" {pid} " not in run([TP, "ps"], env=self.environment).stdout)

    @staticmethod
    def kill(pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def ask_as_nobody(self, pid: int, steps: tuple[str, ...]) -> None:
        done = run([TP, "list", "-p", str(pid)], env=self.environment, user=NOBODY, group=NOBODY, extra_groups=[])
        if not any(step.startswith("user") for step in steps):
            self.assertIn("is user 0's, and you are user", done.stderr)
        elif done.returncode:
            self.assertRegex(done.stderr, rf"listens in {self.directory}, as it began as another user: .*; run tp as root\n")

    def test_what_another_process_says_in_its_name(self) -> None:
        """Names in no directory are anybody's."""
        self.need_root()
        target = Target(self, TP_CONTROL="0")
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as other:
            other.bind(f"\0tp/.{target.pid}.1000")
            other.listen()
            done = run([TP, "list", "-p", str(target.pid)], env=self.environment)
            self.assertEqual(done.returncode, 1)
            self.assertIn("TP_CONTROL=0", done.stderr)

    def test_who_had_the_id_before(self) -> None:
        """In another namespace of process ids somebody may have it still, and listen."""
        target = Target(self, TP_CONTROL="0")
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as other:
            other.bind(self.path(f".{target.pid}.1000"))
            other.listen()
            done = run([TP, "list", "-p", str(target.pid)], env=self.environment)
            self.assertIn("TP_CONTROL=0", done.stderr)

    def test_what_is_left_of_a_socket_without_its_name(self) -> None:
        """Its process was killed, or has lost its rights, before it could give it one."""
        old, new = (os.path.join(self.directory, f".30415.{number}") for number in (1, 2))
        for path in (old, new):
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as left:
                left.bind(path)
        os.utime(old, (1, 1))
        run([TP, "ps"], env=self.environment)
        self.assertEqual((os.path.exists(old), os.path.exists(new)), (False, True))

    def test_a_program_that_overwrites_its_arguments(self) -> None:
        target = Target(self)
        target.do("title worker process")
        until(lambda: " target " in run([TP, "ps"], env=self.environment).stdout, "it answers within tp's second")
        self.assertEqual(run([TP, "list", "-p", "target"], env=self.environment).stderr, "")

    def test_another_user_may_not(self) -> None:
        self.need_root()
        target = Target(self)
        done = run([BT2_PYTHON, "-c", f"""if True:
            import socket, sys
            try:
                socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect({target.sockets()[0]!r})
            except PermissionError:
                sys.exit(13)
            """], user=NOBODY, group=NOBODY)
        self.assertEqual(done.returncode, 13)

    def test_another_user_that_has_got_in_is_refused(self) -> None:
        self.need_root()
        target = Target(self)
        os.chmod(self.directory, 0o777)
        os.chmod(target.sockets()[0], 0o777)
        done = run([BT2_PYTHON, "-c", f"""if True:
            import socket
            client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            client.connect({target.sockets()[0]!r})
            print(client.recv(4096).decode(), client.recv(4096))
            """], user=NOBODY, group=NOBODY)
        self.assertEqual(done.stdout, "error EACCES only the process's own user and root may look into it\n b''\n")

    def test_a_process_in_a_jail_is_reached_from_outside(self) -> None:
        self.need_root()
        target = Target(self)
        os.mkdir(self.path("jail"))
        self.assertEqual(target.do(f"chroot {self.path('jail')}"), 0)
        client = target.connect()
        _, ours = self.open_text(client)
        target.do("work 1")
        self.assertIn(b"target_work", ours.recv(4096))
        os.mkdir(self.path("trace"))
        directory = os.open(self.path("trace"), os.O_RDONLY)
        trace = client.open("open ctf trace", directory)
        os.close(directory)
        client.ask(f"enable {trace} *")
        target.do("work 100")
        client.ask(f"close {trace}")
        self.assertEqual(self.read_by("babeltrace2", self.path("trace")).count("target_work"), 100)

    def test_a_thread_less_and_a_user_namespace_can_be_entered(self) -> None:
        target = Target(self)
        self.assertEqual(target.do("unshare user"), -22)
        self.assertEqual(target.do("stop"), 0)
        self.assertEqual(target.sockets(), [])
        result = target.do("unshare user")
        if result in (-1, -28):
            unavailable(self, "no user namespace can be entered here")
        self.assertEqual(result, 0)

    def test_set_uid_programs_do_not_listen(self) -> None:
        self.need_root()
        program = self.path("target")
        run(["cp", os.path.join(built(), "target"), program])
        os.chmod(program, 0o4755)
        os.chmod(self.directory, 0o777)
        target = Target(self, program=program, user=NOBODY)
        self.assertEqual((target.sockets(), target.do("threads?"), target.do("start"), target.do("fd")), ([], 1, -1, -1))
        self.assertIn("it is a set-uid, set-gid or capability program", target.end())

    # ---- the end ----

    def test_the_name_of_a_process_that_was_killed_refuses(self) -> None:
        target = Target(self)
        name, = target.sockets()
        os.kill(target.pid, signal.SIGKILL)
        target.end()
        with self.assertRaises(ConnectionRefusedError):
            Client(name)

    def test_a_connection_to_a_process_that_ends_ends(self) -> None:
        for how in ("exit", "crash"):
            with self.subTest(how):
                target = Target(self)
                client = target.connect()
                _, ours = self.open_text(client)
                target.do("work 1")
                target.tell(how)
                self.assertIn(b"target_work", ours.recv(4096))
                self.assertEqual(ours.recv(4096), b"")
                with self.assertRaises((EOFError, ConnectionError)):
                    client.ask("events")
                self.assertEqual(target.end(), "")

    def test_a_trace_of_a_process_that_ends_is_whole(self) -> None:
        target = Target(self)
        client = target.connect()
        os.mkdir(self.path("trace"))
        directory = os.open(self.path("trace"), os.O_RDONLY)
        number = client.open("open ctf trace", directory)
        os.close(directory)
        client.ask(f"enable {number} *")
        target.do("threads 250")
        target.tell("exit")
        target.end()
        self.assertEqual(self.read_by("babeltrace2", self.path("trace")).count("target_work"), 1000)

    # ---- from C ----

    def test_a_program_that_serves_by_itself(self) -> None:
        target = Target(self, TP_CONTROL="0")
        self.assertEqual(target.sockets(), [])
        self.environment["TP_CONTROL"] = self.directory
        target = Target(self)
        self.assertEqual(target.do("fd"), 0)
        self.assertEqual(target.do("threads?"), 1)
        client = target.connect()
        _, ours = self.open_text(client)
        target.do("work 1")
        self.assertIn(b"target_work", ours.recv(4096))
        client.close()
        self.assertEqual(ours.recv(10), b"")
        self.assertEqual(target.do("start"), 0)
        self.assertEqual(target.do("threads?"), 2)

    def test_on_and_off_and_on_again(self) -> None:
        target = Target(self, TP_CONTROL=f"{self.directory}")
        client = target.connect()
        _, ours = self.open_text(client)
        for _ in range(20):
            self.assertEqual((target.do("stop"), target.sockets(), target.do("threads?")), (0, [], 1))
            self.assertEqual((target.do("start"), target.do("start"), target.do("threads?")), (0, 0, 2))
            self.assertEqual(target.connect().outputs(), {})
        self.assertEqual(ours.recv(10), b"")

    def test_the_thread_sleeps(self) -> None:
        target = Target(self)
        target.connect().close()
        before = target.do("sleeping")
        until(lambda: target.do("work 1000") or True)
        for _ in range(100):
            target.do("work 100")
        self.assertLessEqual(target.do("sleeping") - before, 2)  # the connection's end may come late

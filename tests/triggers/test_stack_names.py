# SPDX-License-Identifier: MIT
"""tp report names the functions of a stack: by the files of the program and of its libraries, as they were mapped."""

from __future__ import annotations

import os
import re
import signal
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from building import build  # noqa: E402
from driving import Shop  # noqa: E402
from support import BUILD, run  # noqa: E402

TP = os.path.join(BUILD, "tp")
HIT = ["deepest", "hit"]


class Named(Shop):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.program("stacked")
        for name in ("first", "second"):
            cls.library(name)

    @classmethod
    def program(cls, name: str, *flags: str) -> str:
        return build(os.path.join(cls.directory, name), os.path.join(HERE, "stacked.c"), include=[cls.directory], flags=flags,
                     link=["-Wl,--build-id"])

    @classmethod
    def library(cls, name: str, *flags: str) -> str:
        return build(os.path.join(cls.directory, f"{name}.so"), os.path.join(HERE, "bounce.c"), libtp="",
                     flags=[f"-DHOP={name}_hop", *flags], link=["-Wl,--build-id"])

    # ---- Steps ----

    def record(self, *steps: str, program: str = "stacked", options: str = "", result: int = 0) -> None:
        done = run([os.path.join(self.directory, program), "open", "trace", options, *steps], cwd=self.dir)
        self.assertEqual((done.returncode, done.stderr), (result, ""))

    def copy(self, name: str) -> str:
        shutil.copy(os.path.join(self.directory, name), self.path(name))
        return self.path(name)

    def report(self, *arguments: str, trace: str = "trace") -> str:
        return self.read_by(TP, "report", *arguments, self.path(trace))

    def stacks(self, *arguments: str, trace: str = "trace") -> list[list[str]]:
        """Of each stack, the callers."""
        stacks = re.findall(r" tp:stacktrace: => (.*)", self.report(*arguments, trace=trace))
        return [stack.split(" => ") for stack in stacks]

    def names(self, **options: str) -> list[list[str]]:
        """The same, without offsets."""
        return [[caller.partition("+0x")[0] for caller in stack] for stack in self.stacks(**options)]

    def addresses(self) -> list[list[int]]:
        return [[int(number) for number in stack.split(",")]
                for stack in re.findall(r" tp:stacktrace: caller=\{([\d,]+)\}", self.report("--fields"))]

    def mappings(self) -> list[tuple[int, int, int, str]]:
        return [(int(start), int(end), int(offset), path) for start, end, offset, path in re.findall(
            r' tp:mapping: start=(\d+) end=(\d+) offset=(\d+) path="([^"]*)"', self.report("--fields"))]

    def addr2line(self, program: str, *addresses: int) -> list[str]:
        """Of each address the function whose code it is, which stands behind those that were inlined there."""
        text = self.succeed(["addr2line", "-a", "-f", "-i", "-e", program, *map(hex, addresses)]).stdout
        return [part.split("\n")[-3] for part in re.split(r"^0x", text, flags=re.M)[1:]]


class Names(Named):
    def test_as_addr2line(self) -> None:
        for name, flags, base in (("pie", ("-fPIE", "-pie"), None), ("no_pie", ("-fno-pie", "-no-pie"), 0), ("slow", ("-O0",), None)):
            with self.subTest(name):
                program = self.program(name, *flags)
                self.record("hit", program=name)
                (stack,), (addresses,) = self.stacks(), self.addresses()
                start, end, offset, _ = next(mapping for mapping in self.mappings() if mapping[3] == program)
                base = start - offset if base is None else base
                own = {i: address - 1 - base for i, address in enumerate(addresses) if start <= address < end}
                expected = self.addr2line(program, *own.values())
                self.assertEqual([stack[i].partition("+0x")[0] for i in own], expected)
                self.assertIn("deepest", expected)
                self.assertIn("main", expected)
                shutil.rmtree(self.path("trace"))

    def test_offset_in_the_function(self) -> None:
        self.record("hit")
        program = os.path.join(self.directory, "stacked")
        stack, addresses = self.stacks()[0], self.addresses()[0]
        start, _, offset, _ = next(mapping for mapping in self.mappings() if mapping[3] == program)
        symbols = dict(re.findall(r"^([0-9a-f]+) t (\w+)$", self.succeed(["nm", program]).stdout, re.M))
        begin = next(int(value, 16) for value, name in symbols.items() if name == "deepest")
        self.assertEqual(stack[0], f"deepest+0x{addresses[0] - start + offset - begin:x}")

    def test_library(self) -> None:
        """One that was loaded after the trigger had been set: a mapping that comes behind the stack."""
        self.record("load", os.path.join(self.directory, "first.so"), "bounce")
        stack = self.names()[0]
        self.assertEqual(stack[:4], [*HIT, "first_hop", "bounce"])
        self.assertIn("main", stack)

    def test_c_library(self) -> None:
        """Of which often .dynsym alone is there: __libc_start_main, or at least the file."""
        self.record("hit")
        self.assertRegex(self.stacks()[0][-2], r"^(__libc_start_main\S*|libc\.so\.6\(\+0x\w+\)|_*libc_start\w+\+0x\w+)$")

    def test_one_of_another_time(self) -> None:
        """The second library comes to lie where the first was."""
        first, second = (os.path.join(self.directory, f"{name}.so") for name in ("first", "second"))
        self.record("load", first, "no_stacks", "stacks", "bounce", "no_stacks", "unload", "load", second, "stacks", "bounce")
        self.assertEqual([stack[2] for stack in self.names()], ["first_hop", "second_hop"])

    def test_fields_are_numbers(self) -> None:
        self.record("hit")
        self.assertEqual(len(self.addresses()), 1)

    def test_events_that_are_not_shown(self) -> None:
        """The mappings are found in any case."""
        self.record("hit")
        lines = self.report("-e", "tp:stacktrace").splitlines()
        self.assertEqual(len(lines), 1)
        self.assertIn("tp:stacktrace: => deepest+0x", lines[0])

    def test_killed(self) -> None:
        self.record("hit", "kill", result=-signal.SIGKILL)
        self.assertEqual(self.names()[0][:2], HIT)


class Processes(Named):
    def test_child(self) -> None:
        """It has its code where its parent has it, and writes no mappings when it is killed."""
        self.record("hit", "fork", "hit", "kill", result=1)
        self.assertEqual([stack[:2] for stack in self.names()], [HIT, HIT])

    def test_each_has_its_own(self) -> None:
        """Both have a library in a place of the same address, as forked processes tend to."""
        first, second = (os.path.join(self.directory, f"{name}.so") for name in ("first", "second"))
        self.record("load", first, "no_stacks", "stacks", "bounce", "fork", "unload", "load", second, "no_stacks", "stacks", "bounce")
        self.assertEqual([stack[2] for stack in self.names()], ["first_hop", "second_hop"])

    def test_several_traces(self) -> None:
        self.record("hit")
        os.rename(self.path("trace"), self.path("one"))
        self.program("other", "-no-pie", "-fno-pie")
        self.record("hit", program="other")
        names = [stack.split(" => ")[0].partition("+")[0] for stack in re.findall(
            r" tp:stacktrace: => (.*)", self.read_by(TP, "report", self.path("one"), self.path("trace")))]
        self.assertEqual(names, ["deepest"] * 2)


class Files(Named):
    """Of which the symbols are not those of the process."""

    def program_only(self) -> list[str]:
        return [caller for caller in self.stacks()[0] if caller.startswith("stacked")]

    def test_stripped(self) -> None:
        program = self.copy("stacked")
        self.succeed(["strip", program])
        done = run([program, "open", self.path("trace"), "", "hit"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        callers = self.program_only()
        self.assertGreaterEqual(len(callers), 3)
        offsets = [int(re.fullmatch(r"stacked\(\+(0x\w+)\)", caller)[1], 16) for caller in callers]
        # The program with its symbols tells what they are.
        self.assertEqual(self.addr2line(os.path.join(self.directory, "stacked"), *(offset - 1 for offset in offsets[:2])), HIT)

    def moved(self, change: str) -> list[str]:
        program = self.copy("stacked")
        done = run([program, "open", self.path("trace"), "", "hit"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        os.remove(program)
        if change:
            shutil.copy(change, program)
        return self.program_only()

    def test_gone(self) -> None:
        for caller in self.moved(""):
            self.assertRegex(caller, r"^stacked\(\+0x\w+\)$")

    def test_built_again(self) -> None:
        """Its build id is another."""
        callers = self.moved(self.program("newer", "-O0"))
        self.assertGreaterEqual(len(callers), 3)
        for caller in callers:
            self.assertRegex(caller, r"^stacked\(\+0x\w+\)$")

    def test_no_elf_file(self) -> None:
        self.assertGreaterEqual(len(self.moved(os.path.join(HERE, "shop.tp"))), 3)

    def test_without_build_id(self) -> None:
        """Then the file of that name is taken for it."""
        build(self.path("plain"), os.path.join(HERE, "stacked.c"), include=[self.directory], link=["-Wl,--build-id=none"])
        self.succeed([self.path("plain"), "open", self.path("trace"), "", "hit"])
        self.assertIn('build_id=""', self.report("--fields", "-e", "tp:mapping"))
        self.assertEqual(self.names()[0][:2], HIT)

    def test_no_mapping(self) -> None:
        """Such as in a flight recorder that has written over them."""
        self.record("hit")
        path = self.path("trace/format/tp")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("name: mapping\n", "name: unknown\n"))
        addresses = self.addresses()[0]
        self.assertEqual(self.stacks()[0], [f"0x{address:x}" for address in addresses])


class Snapshots(Named):
    """They have the mappings, however long ago the trigger was set."""

    FLIGHT = "mode=flight,size=64K,packet=4K"

    def test_written_over(self) -> None:
        self.record(*["hit"] * 3000, "snapshot:1", "await", "trace-snapshot-1/metadata", "kill", options=self.FLIGHT,
                    result=-signal.SIGKILL)
        stacks = self.names(trace="trace-snapshot-1")
        self.assertGreater(len(stacks), 3)
        self.assertEqual({tuple(stack[:2]) for stack in stacks}, {tuple(HIT)})

    def test_recording_is_off(self) -> None:
        self.record(*["hit"] * 3000, "traceoff", "snapshot:1", "await", "trace-snapshot-1/metadata", "kill", options=self.FLIGHT,
                    result=-signal.SIGKILL)
        self.assertEqual({tuple(stack[:2]) for stack in self.names(trace="trace-snapshot-1")}, {tuple(HIT)})

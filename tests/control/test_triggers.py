# SPDX-License-Identifier: MIT
"""Triggers and histograms of a running process, by the requests of the protocol."""

from __future__ import annotations

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from control import Client, Control, Refused, Target  # noqa: E402
from support import need, until  # noqa: E402


class Asking(Control):
    def setUp(self) -> None:
        super().setUp()
        self.target = Target(self)
        self.client = self.target.connect()

    def refused(self, request: str, name: str, *fds: int, client: Client | None = None) -> str:
        with self.assertRaises(Refused) as caught:
            (client or self.client).ask(request, *fds)
        self.assertEqual(caught.exception.name, name, str(caught.exception))
        return caught.exception.text

    def make(self, name: str) -> int:
        os.mkdir(self.path(name))
        fd = os.open(self.path(name), os.O_RDONLY)
        self.addCleanup(os.close, fd)
        return fd


class Triggers(Asking):
    def triggers(self) -> list[str]:
        return self.client.ask("triggers")[0]

    def test_set_listed_and_taken_off(self) -> None:
        number, ours = self.open_text(self.client, "target_work")
        self.assertEqual(self.triggers(), [])
        self.assertEqual(self.client.ask(f"trigger {number} target_work traceoff:1 if number == 2"), ([], "1"))
        self.assertEqual(self.triggers(), [f"trigger {number} target_work traceoff:count=1 if number == 2"])
        self.target.do("work 4")
        for i in (1, 2):
            self.assertTrue(ours.recv(4096).endswith(b"number=%d text=text\n" % i))
        self.client.ask(f"trigger {number} target_work !traceoff")
        self.client.ask(f"trigger {number} target_state,target_work traceon if number == 6")
        self.assertEqual(self.triggers(), [f"trigger {number} target_state,target_work traceon:unlimited if number == 6"])
        self.target.do("work 3")
        self.assertTrue(ours.recv(4096).endswith(b"number=6 text=text\n"))

    def test_what_a_trigger_is_made_of_is_no_output(self) -> None:
        number, ours = self.open_text(self.client, "target_work")
        self.client.ask(f"trigger {number} target_work traceoff:1 if number == 2")
        for other in range(1, number + 8):
            if other != number:
                for request in ("disable {} *", "enable {} *", "report {}", "trigger {} target_work traceoff"):
                    self.refused(request.format(other), "ENOENT")
        self.target.do("work 3")
        for i in (1, 2):
            self.assertTrue(ours.recv(4096).endswith(b"number=%d text=text\n" % i))

    def test_not_all_events_fit(self) -> None:
        number, _ = self.open_text(self.client)
        lines, value = self.client.ask(f"trigger {number} target:* traceoff if number == 2")
        self.assertEqual(value, "1")
        self.assertRegex(lines[0], "^note the filter does not fit 'target:target_state', which does not fire the trigger: Field not found")

    def test_mistakes(self) -> None:
        number, _ = self.open_text(self.client)
        for trigger, text in (("traceof", "No such trigger, at 'traceof': there are traceon, "),
                              ("traceoff:x", "Illegal integer value, at 'x'"), ("", "No trigger found"),
                              ("traceoff if nubmer == 1", "Field not found, at 'nubmer == 1': did you mean 'number'? 'target:target_work' has number, "),
                              ("snapshot", "a snapshot is of a flight recorder")):
            name = "EOPNOTSUPP" if trigger == "snapshot" else "EINVAL"
            try:
                said = self.refused(f"trigger {number} target_work {trigger}", name)
            except AssertionError as error:
                raise AssertionError(trigger) from error
            self.assertIn(text, said)
            self.assertNotIn("^", said)
        self.assertIn("no list of patterns", self.refused(f"trigger {number} ,, traceoff", "EINVAL"))
        self.assertIn("there are no patterns", self.refused(f"trigger {number}", "EINVAL"))
        self.assertIn("'x' is no output's id", self.refused("trigger x y traceoff", "EINVAL"))
        self.assertIn("there is no output 99", self.refused("trigger 99 y traceoff", "ENOENT"))
        self.assertIn("there is none", self.refused("trigger - target_work traceoff", "EINVAL"))
        self.refused("trigger", "EINVAL")
        self.refused("trigger -", "EINVAL")
        self.assertIn("there is no such trigger", self.refused(f"trigger {number} target_work !traceoff", "ENOENT"))
        self.client.ask(f"trigger {number} target_work traceoff")
        self.assertIn("such a trigger", self.refused(f"trigger {number} target:* traceon", "EEXIST"))
        self.assertEqual(self.triggers(), [f"trigger {number} target_work traceoff:unlimited"])

    def test_of_another_connection(self) -> None:
        """Its output can't have triggers of ours, and takes its own along when it ends; those on the program's stay."""
        number, ours = self.open_text(self.client)
        self.client.ask(f"trigger {number} target_work traceoff")
        other = self.target.connect()
        self.assertIn("another connection", self.refused(f"trigger {number} target_work !traceoff", "EPERM", client=other))
        self.assertEqual(len(other.ask("triggers")[0]), 1)
        self.client.close()
        self.assertEqual(ours.recv(4096), b"")
        until(lambda: not other.ask("triggers")[0], "the triggers are gone")

    def test_triggers_of_the_environment(self) -> None:
        """On one of them the patterns have blanks, and are one word nevertheless. What is set there stays."""
        target = Target(self, TP_OUTPUT="text:/dev/null", TP_TRIGGER="target_work, target_state traceoff:4")
        self.client = target.connect()
        number, = self.client.outputs()
        environment = f"trigger {number} target_work,target_state traceoff:count=3"
        self.assertEqual(self.triggers(), [environment])
        self.client.ask(f"trigger {number} target_work enable_event:target:target_state")
        self.client.close()
        self.client = target.connect()
        self.assertEqual(self.triggers(), [f"trigger {number} target_work enable_event:target:target_state:unlimited", environment])
        self.client.ask(f"trigger {number} target_work,target_state !traceoff")
        self.client.ask(f"trigger {number} target_work !enable_event:target:target_state")
        self.assertEqual(self.triggers(), [])

    def test_snapshot(self) -> None:
        """Into a directory that comes with the request."""
        need(self, "babeltrace2")
        number = self.client.open("open ctf trace,mode=flight", self.make("trace"))
        self.client.ask(f"enable {number} target_work")
        self.assertIn("a directory must be passed", self.refused(f"trigger {number} target_work snapshot", "ENOTDIR"))
        self.client.ask(f"trigger {number} target_work snapshot:1 if number == 7", self.make("copies"))
        self.target.do("work 10")
        until(lambda: os.path.exists(self.path("copies/snapshot-1/metadata")), "a snapshot")
        self.client.ask(f"trigger {number} target_work !snapshot")
        self.assertIn("number = 7", self.read_by("babeltrace2", self.path("copies/snapshot-1")))
        self.assertEqual(os.listdir(self.path("copies")), ["snapshot-1"])

    def test_descriptors_that_nobody_wants(self) -> None:
        """Are closed."""
        number, _ = self.open_text(self.client)
        fd = self.make("copies")
        before = len(os.listdir(f"/proc/{self.target.pid}/fd"))
        for _ in range(10):
            self.refused(f"trigger {number} target_work nothing", "EINVAL", fd)
            self.client.ask(f"trigger {number} target_work traceoff", fd)
            self.client.ask(f"trigger {number} target_work !traceoff", fd)
            self.refused("trigger 99 target_work traceoff", "ENOENT", fd)
            self.client.ask("triggers", fd)
        self.assertEqual(len(os.listdir(f"/proc/{self.target.pid}/fd")), before)


class Histograms(Asking):
    def report(self, number: int) -> dict:
        return json.loads("".join(line[1:] for line in self.client.ask(f"report {number} json")[0]))

    def test_of_a_session(self) -> None:
        number = self.client.open("open hist keys=text:vals=number:sort=hitcount")
        self.assertEqual(self.client.ask(f"enable {number} target:* if number > 1")[1], "1")
        self.target.do("work 4")
        lines = [line[1:] for line in self.client.ask(f"report {number} text")[0]]
        self.assertIn("# trigger info: hist:keys=text:vals=hitcount,number:sort=hitcount:size=2048 if number > 1 [active]", lines)
        self.assertIn(f"{{ text: {'text':50} }} hitcount:          3  number:          9", lines)
        self.assertEqual(self.report(number)["totals"]["hits"], 3)
        self.assertEqual(self.client.outputs()[number]["name"], "hist:keys=text:vals=number:sort=hitcount")
        self.assertIn(f"rule {number} enable target:* if number > 1", self.client.ask("outputs")[0])
        other = self.target.connect()
        self.assertEqual(other.ask(f"report {number} text")[0][1:], ["\t" + line for line in lines[1:]])
        self.client.ask(f"close {number}")
        self.assertEqual(self.client.outputs(), {})

    def test_kept(self) -> None:
        number = self.client.open("open hist keys=number.log2")
        self.client.ask(f"enable {number} target_work")
        self.client.ask(f"keep {number}")
        self.client.close()
        self.target.do("work 4")
        self.client = self.target.connect()
        self.assertEqual(self.report(number)["totals"]["hits"], 4)

    def test_mistakes(self) -> None:
        for text, said in (("keys=a.b.c", "at '"), ("", "at the end"), ("keys=text:vals=", "at "), ("keys=text:size=x", "at ")):
            self.assertIn(said, self.refused(f"open hist {text}", "EINVAL"), text)
        number = self.client.open("open hist keys=peer")
        self.assertRegex(self.refused(f"enable {number} target:*", "EINVAL"), r"at 'peer'.*'target:target_\w+' has ")
        self.assertIn("no list of patterns", self.refused(f"enable {number} ,,", "EINVAL"))
        self.assertEqual(self.client.ask(f"enable {number} nothing:*")[1], "0")
        text, _ = self.open_text(self.client)
        self.assertIn("is neither statistics, a histogram nor a latency", self.refused(f"report {text} text", "EINVAL"))
        self.refused(f"report {number} xml", "EINVAL")

    def test_triggers_that_count(self) -> None:
        """They belong to no output, and stay."""
        self.assertEqual(self.client.ask("trigger - target_work hist:keys=text:vals=number if number > 1"), ([], "1"))
        self.client.ask("trigger - target_work disable_hist:target:target_work if number == 5")
        listed = ["trigger - target_work disable_hist:target:target_work:unlimited if number == 5",
                  "trigger - target_work hist:keys=text:vals=hitcount,number:sort=hitcount:size=2048 if number > 1 [active]"]
        self.assertEqual(self.client.ask("triggers")[0], listed)
        self.assertEqual(self.client.outputs(), {})
        self.client.close()
        self.client = self.target.connect()
        self.target.do("work 10")
        found, = json.loads("".join(self.client.ask("histograms json")[0]))
        self.assertIn(found["totals"]["hits"], (3, 4))  # either is on the event first
        self.client.ask("trigger - target_work hist:keys=text:vals=number:clear if number > 1")
        found, = json.loads("".join(self.client.ask("histograms json")[0]))
        self.assertEqual(found["entries"], [])
        self.assertIn("Couldn't find field, at 'peer': 'target:target_", self.refused("trigger - target:* hist:keys=peer", "EINVAL"))
        self.client.ask("trigger - target_work !hist:keys=text:vals=number if number > 1")
        self.client.ask("trigger - target_work !disable_hist:target:target_work")
        self.assertEqual(self.client.ask("triggers")[0], [])
        self.assertEqual(self.client.ask("histograms")[0], [])

    def test_all(self) -> None:
        self.assertEqual(self.client.ask("histograms"), ([], ""))
        self.assertEqual(json.loads(self.client.ask("histograms json")[0][0]), [])
        for key in ("text", "number"):
            number = self.client.open(f"open hist keys={key}")
            self.client.ask(f"enable {number} target_work")
        self.target.do("work 4")
        found = json.loads("".join(self.client.ask("histograms json target:*")[0]))
        self.assertEqual([(len(one["entries"]), one["totals"]["hits"]) for one in found], [(1, 4), (4, 4)])
        self.assertEqual(sum("# trigger info: " in line for line in self.client.ask("histograms text")[0]), 2)
        self.assertEqual(self.client.ask("histograms text target_state")[0], [])
        self.assertIn("no list of patterns", self.refused("histograms text ,,", "EINVAL"))
        self.assertIn("text or json", self.refused("histograms xml", "EINVAL"))

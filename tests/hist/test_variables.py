# SPDX-License-Identifier: MIT
"""Variables, arithmetic and actions of histograms: what one event leaves for another. The examples are those of the kernel's
histogram.rst, section 2.2."""

from __future__ import annotations

import json
import os
import random
import re
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from building import build, generate  # noqa: E402
from histograms import Histograms, make, objects  # noqa: E402
from support import ROOT, Case, read  # noqa: E402


class Between(Histograms):
    def rows(self, text: str) -> list[str]:
        return [re.sub(r" +", " ", row) for row in self.entries(text)]

    def well(self, *lines: str) -> list[str]:
        """The answers but for those that say that all is well."""
        return [answer for answer in self.ask(*lines) if not re.fullmatch(r"ok|\d+", answer)]

    def refused(self, *lines: str) -> str:
        """What the last line answers."""
        return self.ask(*lines)[-1]


class Variables(Between):
    SETTER = ("open 0 keys=u8:v=u64", "enable 0 shop:shop_order if s8 == 0")

    def read(self, definition: str, *hits: str) -> list[str]:
        text, = self.well(*self.SETTER, f"open 1 {definition}", "enable 1 shop:shop_order if s8 == 1", *hits, "text 1")
        return self.rows(text)

    def test_by_its_key(self) -> None:
        rows = self.read("keys=u8:vals=$v", "order u8=1 u64=10", "order u8=2 u64=20", "order u8=2 s8=1", "order u8=1 s8=1",
                         "order u8=3 s8=1", "order u8=1 s8=1")
        self.assertEqual(rows, ["{ u8: 2 } hitcount: 1 v: 20", "{ u8: 1 } hitcount: 2 v: 20"])

    def test_expressions_read_once(self) -> None:
        rows = self.read("keys=u8:d=u64-$v:vals=$d", "order u8=1 s8=1 u64=7", "order u8=1 u64=10", "order u8=1 u64=11",
                         "order u8=1 s8=1 u64=15", "order u8=1 s8=1 u64=16", "order u8=1 u64=20", "order u8=1 s8=1 u64=25")
        self.assertEqual(rows, ["{ u8: 1 } hitcount: 2 d: 9"])

    def test_operators(self) -> None:
        """Left to right, and without a sign; by 0 it is -1."""
        for expression, u64, wanted in (("u64+$v*2", 5, 25), ("u64-$v", 5, -5), ("u64-$v-1", 15, 4), ("$v/3", 0, 3),
                                        ("$v/u64", 0, -1), ("$v/u64*u64", 3, 9), ("u64*$v/4", 2, 5), ("-(u64+$v)", 5, -15), ("-(u64-$v)", 5, 5),
                                        ("2+3*4", 0, 14), ("u64*0x10", 2, 32), ("$v*$v", 0, 100), ("shop.shop_order.$v+1", 0, 11)):
            with self.subTest(expression=expression):
                rows = self.read(f"keys=u8:vals=$d:d={expression}", "order u8=1 u64=10", f"order u8=1 s8=1 u64={u64}")
                self.assertEqual(rows, [f"{{ u8: 1 }} hitcount: 1 d: {wanted % 2**64}"])

    def test_expressions_as_keys_and_values(self) -> None:
        rows = self.read("keys=u64/10:vals=u64*2", "order s8=1 u64=15", "order s8=1 u64=19", "order s8=1 u64=20")
        self.assertEqual(rows, ["{ u64/10: 2 } hitcount: 1 u64*2: 40", "{ u64/10: 1 } hitcount: 2 u64*2: 68"])

    def test_own_ones(self) -> None:
        rows = self.read("keys=$k:k=u16:ten=10:x=u64*$ten:y=$x+1:vals=$x,$y", "order s8=1 u16=3 u64=4", "order s8=1 u16=3 u64=5")
        self.assertEqual(rows, ["{ u16: 3 } hitcount: 2 x: 90 y: 92"])

    def test_sorted_by_one(self) -> None:
        rows = self.read("keys=u8:vals=$v:sort=v.descending", *(f"order u8={i} u64={i * 7 % 5}" for i in range(1, 5)),
                         *(f"order s8=1 u8={i}" for i in range(1, 5)))
        self.assertEqual([row[-1] for row in rows], ["4", "3", "2", "1"])

    def test_by_text_and_two_keys(self) -> None:
        text, = self.well("open 0 keys=text,u16:v=u64", "enable 0 shop:shop_order if s8 == 0", "open 1 keys=fixed,u32:vals=$v",
                          "enable 1 shop:shop_order if s8 == 1", "order text=abc u16=5 u64=1", "order text=abcd u16=5 u64=2",
                          "order s8=1 fixed=abc u32=5", "order s8=1 fixed=abcd u32=6", "text 1")
        self.assertEqual(self.rows(text), ["{ fixed: abc , u32: 5 } hitcount: 1 v: 1"])

    def test_unset_ones_do_not_count(self) -> None:
        text, = self.well("open 0 keys=u8:v=u64", "open 1 keys=u8:vals=u64:w=$v", "enable 1 shop:shop_order", "order u8=1 u64=3",
                          "enable 0 shop:shop_order", "order u8=1 u64=4", "order u8=1 u64=5", "text 1")
        self.assertRegex(text, "Hits: [12]\n")

    def test_of_a_closed_histogram(self) -> None:
        """It is not set any more, until another histogram has it, as what it was."""
        again = ("enable 0 shop:shop_order if s8 == 0", "order u8=1 s8=1", "order u8=1 u64=6", "order u8=1 s8=1")
        text, = self.well(*self.SETTER, "open 1 keys=u8:vals=$v", "enable 1 shop:shop_order if s8 == 1", "order u8=1 u64=4", "close 0",
                          "order u8=1 s8=1", "open 0 keys=u8:w=u16,v=u64", *again, "close 0", "order u8=1 s8=1",
                          "open 0 keys=u8:v=text", *again, "close 0", "open 0 keys=u8:v=common_timestamp.usecs", *again, "close 0",
                          "open 0 keys=u8:size=128:v=u64", *again, "text 1", "close 1", "close 0")
        self.assertEqual(self.rows(text), ["{ u8: 1 } hitcount: 2 v: 12"])

    def test_cleared(self) -> None:
        text, = self.well(*self.SETTER, "open 1 keys=u8:vals=$v", "enable 1 shop:shop_order if s8 == 1", "order u8=1 u64=4", "clear 0",
                          "order u8=1 s8=1", "order u8=1 u64=5", "order u8=1 s8=1", "text 1")
        self.assertEqual(self.rows(text), ["{ u8: 1 } hitcount: 1 v: 5"])

    def test_in_a_child(self) -> None:
        text, = self.well(*self.SETTER, "open 1 keys=u8:vals=$v", "enable 1 shop:shop_order if s8 == 1", "order u8=1 u64=4", "fork",
                          "order u8=1 s8=1", "order u8=1 u64=5", "order u8=1 s8=1", "text 1")
        self.assertEqual(self.rows(text), ["{ u8: 1 } hitcount: 1 v: 5"])

    def test_info(self) -> None:
        answer = self.ask(*self.SETTER, "open 1 keys=u8:x=u64-$v:y=$x:vals=$x,u8:onmax($x).save(s8)", "enable 1 shop:shop_order", "info 1")
        self.assertEqual(answer[-1], "hist:keys=u8:vals=hitcount,$x,u8:x=u64-$v,y=$x:sort=hitcount:size=2048:onmax($x).save(s8) [active]")

    def test_time(self) -> None:
        text, = self.well("open 0 keys=pid:ts0=common_timestamp.usecs", "enable 0 sched:sched_waking",
                          "open 1 keys=next_pid:lat=common_timestamp.usecs-$ts0:vals=$lat", "enable 1 sched:sched_switch",
                          "wake 5 1 a", "sleep", "switch 1 1 b 5 1 a", "switch 5 1 a 5 1 a", "text 1")
        row, = self.rows(text)
        self.assertGreaterEqual(int(re.fullmatch(r"\{ next_pid: 5 \} hitcount: 1 lat: (\d+)", row)[1]), 2000)


class NeverCounting(Between):
    """A hit for which a variable is not set does not count: what is said of that."""

    SETTER = ("open 0 keys=u8:v=u64", "enable 0 shop:shop_order if s8 == 0")

    def test_counted(self) -> None:
        reader = (*self.SETTER, "open 1 keys=u8:d=u64-$v", "enable 1 shop:shop_order if s8 == 1")
        hits = ("order u8=1 u64=4", "order u8=1 s8=1", "order u8=1 s8=1", "order u8=2 s8=1")
        text, setter, of_json, cleared = self.well(*reader, *hits, "text 1", "text 0", "json 1", "clear 1", "text 1")
        self.assertTrue(text.endswith("    Hits: 1\n    Entries: 1\n    Dropped: 0\n    Unset: 2\n"), text)
        self.assertEqual(json.loads(of_json)["totals"], {"hits": 1, "entries": 1, "dropped": 0, "unset": 2})
        self.assertNotIn("Unset", setter + cleared)
        text, = self.well(*reader, *hits, "fork", "order u8=2 s8=1", "text 1")
        self.assertTrue(text.endswith("    Dropped: 0\n    Unset: 1\n"), text)

    def test_second_reader(self) -> None:
        """It is told which one reads first, and hits that it does not count are told as well."""
        first = (*self.SETTER, "open 1 keys=u8:d=u64-$v", "enable 1 shop:shop_order if s8 == 1", "doubts 1")
        for second in ("keys=u8:e=u64*$v", "keys=u8:vals=$v", "keys=u8:e=u64-shop.shop_order.$v"):
            answers = self.well(*first, f"open 2 {second}", "enable 2 shop:shop_order if s8 == 1", "doubts 2", "order u8=1 u64=4",
                                "order u8=1 s8=1", "losses 1", "losses 2", "text 2")
            self.assertEqual(answers[0], "-")
            self.assertEqual(answers[1], "at shop:shop_order, hist:keys=u8:d=u64-$v reads $v first, and unsets it: a hit that counts there does not "
                                         "count here; let hist:keys=u8:v=u64 set a variable for each of the two")
            self.assertEqual(answers[2:5], ["-", f"hist:{second}: none of 1 hits counts, as a variable that it reads was not set for their keys", ""])
            self.assertIn("Unset: 1\n", answers[-1])

    def test_readers_that_do_not_meet(self) -> None:
        for first, second in (("keys=u8:vals=$v", "keys=u8:e=u64*$v"), ("keys=u8:vals=$v", "keys=u8:vals=$v,u64")):
            answers = self.well(*self.SETTER, f"open 1 {first}", "enable 1 shop:shop_order if s8 == 1", f"open 2 {second}",
                                "enable 2 shop:shop_order if s8 == 1", "doubts 1", "doubts 2", "order u8=1 u64=4", "order u8=1 s8=1", "losses 2")
            self.assertEqual(answers, ["-", "-", "-"])
        answers = self.well(*self.SETTER, "open 1 keys=u32:d=u32-$v", "enable 1 shop:shop_other", "open 2 keys=u8:d=u64-$v",
                            "enable 2 shop:shop_order if s8 == 1", "doubts 2")
        self.assertEqual(answers, ["-"])

    def test_no_event_sets_it(self) -> None:
        answers = self.well("open 0 keys=u8:v=u64", "open 1 keys=u8:vals=$v", "enable 1 shop:shop_order", "doubts 1", "doubts 1 waits",
                            "order u8=1", "losses 1", "", "enable 0 shop:shop_order", "doubts 1", "order u8=1", "order u8=1", "losses 1")
        self.assertEqual(answers[:2], ["no hit counts yet: hist:keys=u8:v=u64 sets $v, and has no event now", "-"])
        self.assertIn("none of 1 hits counts", answers[2])
        self.assertEqual(answers[-2:], ["-", "-"])

    def test_keys_of_another_kind(self) -> None:
        for mine, theirs, said in (("text", "u8", "key 1 is a number, and here it is a text"), ("u8", "text", "key 1 is a text, and here it is a number"),
                                   ("u8,u16", "u8,fixed", "key 2 is a text, and here it is a number"),
                                   ("stacktrace", "u8", "key 1 is a number, and here it is a stack")):
            answers = self.well(f"open 0 keys={theirs}:v=u64", "enable 0 shop:shop_order", f"open 1 keys={mine}:vals=$v", "fits 1 shop:shop_order",
                                "enable 1 shop:shop_order")
            self.assertEqual(answers, [f"error {len(f'keys={mine}:vals=$')} Variable has keys of other types [where it is set, {said}]"])

    def test_misspelt(self) -> None:
        for text, said in (("keys=u8:lat=u64:vals=$^lta", "did you mean '$lat'? there are $value of shop:shop_order"),
                           ("keys=u8:d=u64-$^vaule", "did you mean '$value'? there are $value of shop:shop_order"),
                           ("keys=u8:d=u64-$^other", "there are $value of shop:shop_order")):
            answers = self.well("open 0 keys=u8:value=u64", "enable 0 shop:shop_order", f"open 1 {text.replace('^', '')}")
            self.assertEqual(answers, [f"error {text.index('^')} Couldn't find variable [{said}]"])
        self.assertEqual(self.well("open 1 keys=u8:lat=u64:vals=$lta"), ["error 22 Couldn't find variable [did you mean '$lat'? no histogram sets any; "
                                                                         "the one that does must be there first]"])

    def test_dropped(self) -> None:
        orders = [f"order u16={i}" for i in range(130)]
        answers = self.well("open 0 keys=u16:size=128", "enable 0 shop:shop_order", *orders[:128], "losses 0", *orders, "losses 0", "clear 0", "losses 0")
        self.assertEqual(answers, ["-", "hist:keys=u16:size=128: 2 hits were dropped, as all of its 128 entries are taken: size=256 has room for more", "", "-"])


class Random(Between):
    """Expressions of up to three operators beside an evaluator that knows nothing of trees."""

    FIELDS = {"u8": (0, 2**8), "s16": (-2**15, 2**15), "u32": (0, 2**32), "s64": (-2**63, 2**63), "u64": (0, 2**64)}

    def evaluate(self, terms: list[int], operators: str) -> int:
        numbers, signs = terms[:1], ""
        for sign, term in zip(operators, terms[1:]):
            if sign == "*":
                numbers[-1] = numbers[-1] * term % 2**64
            elif sign == "/":
                numbers[-1] = numbers[-1] // term if term else 2**64 - 1
            else:
                numbers.append(term)
                signs += sign
        result = numbers[0]
        for sign, term in zip(signs, numbers[1:]):
            result = (result + term if sign == "+" else result - term) % 2**64
        return result

    def test_naive_evaluator(self) -> None:
        rng = random.Random(int(os.environ.get("SEED", "1")))
        for _ in range(20):
            values = {name: rng.choice([rng.randrange(*limits), rng.randrange(3)]) for name, limits in self.FIELDS.items()}
            lines, wanted = [], []
            for i in range(1, 14):
                operators = "".join(rng.choice("+-*/") for _ in range(rng.randrange(4)))
                known = [rng.choice([*values, "$v", "number"]) for _ in range(len(operators) + 1)]
                numbers = [rng.choice([1, 7, 0x100000000]) if name == "number" else 12345 if name == "$v" else values[name] % 2**64
                           for name in known]
                texts = [str(number) if name == "number" else name for name, number in zip(known, numbers)]
                text = texts[0] + "".join(sign + term for sign, term in zip(operators, texts[1:]))
                result = self.evaluate(numbers, operators)
                if len(operators) < 3 and rng.randrange(3) == 0:
                    text, result = f"-({text})", -result % 2**64
                lines += [f"open {i} keys=u8:x={text}:vals=$x", f"enable {i} shop:shop_order"]
                wanted.append((text, result))
            record = "order mode=12345 " + " ".join(f"{name}={value}" for name, value in values.items())
            # $v is set anew before each, as it is read but once.
            hits = [line for i in range(1, 14) for line in ("cont 0", record, f"cont {i}", "pause 0", record, f"pause {i}",
                                                            f"text {i}")]
            texts = self.well("open 0 keys=u8:v=mode", "enable 0 shop:shop_order", *lines, *(f"pause {i}" for i in range(1, 14)), *hits)
            for (text, result), shown in zip(wanted, texts):
                row, = self.rows(shown)
                self.assertRegex(row, f"^{{ u8: {values['u8']} }} hitcount: 1 [a-z0-9]+: {result}$", text)


class Examples(Between):
    """Of histogram.rst, 2.2.2 and 2.2.3; what is a time there is a number that the test gives."""

    def test_wakeup_new_test(self) -> None:
        for action in ("wakeup_new_test($testpid)", "trace(wakeup_new_test,$testpid)"):
            with self.subTest(action=action):
                text, = self.well("synthetic wakeup_new_test pid_t pid",
                                  f"open 0 keys=$testpid:testpid=pid:onmatch(sched.sched_wakeup_new).{action}",
                                  'enable 0 sched:sched_wakeup_new if comm=="cyclictest"',
                                  "open 1 keys=pid:sort=pid", "enable 1 synthetic:wakeup_new_test",
                                  "wakenew 7 1 cyclictest", "wakenew 3 1 cyclictest", "wakenew 3 1 other", "wakenew 3 1 cyclictest",
                                  "text 1")
                self.assertEqual(self.rows(text), ["{ pid: 3 } hitcount: 2", "{ pid: 7 } hitcount: 1"])

    def test_wakeup_latency(self) -> None:
        """lat is prio here, which the test sets."""
        answers = self.well(
            "synthetic wakeup_latency u64 lat; pid_t pid; int prio", "log synthetic:*",
            'open 0 keys=$saved_pid:saved_pid=pid:ts0=prio', 'enable 0 sched:sched_waking if comm=="cyclictest"',
            "open 1 keys=next_pid:wakeup_lat=next_prio-$ts0:"
            "onmatch(sched.sched_waking).wakeup_latency($wakeup_lat,$saved_pid,next_prio)",
            'enable 1 sched:sched_switch if next_comm=="cyclictest"',
            "open 2 keys=pid,prio,lat:sort=pid,lat", "enable 2 synthetic:wakeup_latency",
            "open 3 keys=pid,lat.log2:sort=lat", "enable 3 synthetic:wakeup_latency",
            "open 4 keys=pid,lat.buckets=10:sort=lat", "enable 4 synthetic:wakeup_latency",
            "wake 2035 100 cyclictest", "wake 2034 100 cyclictest", "wake 1 100 bash",
            "switch 1 0 bash 2034 104 cyclictest", "switch 1 0 bash 2035 115 cyclictest", "switch 1 0 bash 2035 116 cyclictest",
            "wake 2035 103 cyclictest", "switch 1 0 bash 2035 115 cyclictest", "text 2", "text 3", "text 4", "logged")
        self.assertEqual(self.rows(answers[0]), ["{ pid: 2034, prio: 104, lat: 4 } hitcount: 1",
                                                 "{ pid: 2035, prio: 115, lat: 12 } hitcount: 1",
                                                 "{ pid: 2035, prio: 115, lat: 15 } hitcount: 1"])
        self.assertIn("trigger info: hist:keys=pid,lat.log2:vals=hitcount:sort=lat.log2:size=2048 [active]", answers[1])
        self.assertEqual(self.rows(answers[1]), ["{ pid: 2034, lat: ~ 2^2 } hitcount: 1", "{ pid: 2035, lat: ~ 2^4 } hitcount: 2"])
        self.assertEqual(self.rows(answers[2]), ["{ pid: 2034, lat: ~ 0-9 } hitcount: 1", "{ pid: 2035, lat: ~ 10-19 } hitcount: 2"])
        self.assertEqual(answers[3:6], ["synthetic:wakeup_latency: lat=4 pid=2034 prio=104",
                                        "synthetic:wakeup_latency: lat=15 pid=2035 prio=115",
                                        "synthetic:wakeup_latency: lat=12 pid=2035 prio=115"])

    def test_onmax_save(self) -> None:
        text, = self.well(
            "open 0 keys=pid:ts0=prio", "enable 0 sched:sched_waking",
            "open 1 keys=next_pid:wakeup_lat=next_prio-$ts0:onmax($wakeup_lat).save(next_comm,prev_pid,prev_prio,prev_comm)",
            'enable 1 sched:sched_switch if next_comm=="cyclictest"',
            "wake 2255 100 c", "switch 1 8 swapper/1 2255 127 cyclictest", "wake 2255 100 c", "switch 2 9 swapper/2 2255 126 cyclictest",
            "wake 2256 100 c", "switch 3 120 swapper/0 2256 149 cyclictest", "wake 2256 100 c",
            "switch 4 121 a-name-longer-than-that-of-any-thread 2256 150 cyclictest", "text 1")
        self.assertTrue(text.split("\n#\n\n")[1].startswith(
            f"{{ next_pid:       2255 }} hitcount:          2\n\tmax:         27  next_comm: {'cyclictest':32}  prev_pid:          1"
            f"  prev_prio:          8  prev_comm: {'swapper/1':32}\n"
            f"{{ next_pid:       2256 }} hitcount:          2\n\tmax:         50  next_comm: {'cyclictest':32}  prev_pid:          4"
            f"  prev_prio:        121  prev_comm: a-name-longer-than-that-of-any-thread\n"), text)

    def test_saved_behind_each_value(self) -> None:
        """As the kernel's track_data_print()."""
        text, = self.well("synthetic least u64 value",
                          "open 0 keys=pid:p=prio:onmax($p).save(comm):onchange($p).least($p):onchange($p).snapshot()",
                          "enable 0 sched:sched_waking", "wake 1 5 a", "wake 1 4 b", "text 0")
        self.assertEqual(self.rows(text)[1:3], ["\tmax: 5 comm: a ", "\tchanged: 4 comm: a "])

    def test_onmax_snapshot(self) -> None:
        answers = self.ask(
            "open 0 keys=pid:ts0=prio", "enable 0 sched:sched_waking",
            "open 1 keys=next_pid:wakeup_lat=next_prio-$ts0:onmax($wakeup_lat).save(next_prio,next_comm):onmax($wakeup_lat).snapshot()",
            "enable 1 sched:sched_switch", "text 1",
            "wake 2101 0 c", "switch 1 1 s 2101 52 c", "snapshots", "wake 2103 0 c", "switch 1 1 s 2103 572 c", "snapshots",
            "wake 2101 0 c", "switch 1 1 s 2101 60 c", "snapshots", "wake 2103 0 c", "switch 1 1 s 2103 572 c", "snapshots", "text 1")
        self.assertNotIn("Snapshot", answers[4])
        self.assertEqual(answers[5:9], ["1", "2", "2", "2"])
        self.assertIn("\nSnapshot taken.  Details:\n\ttriggering value { onmax($wakeup_lat) }:        572"
                      "\ttriggered by event with key: { next_pid:       2103 }\n\nTotals:\n", answers[9])
        self.assertEqual([row for row in self.rows(answers[9]) if row.startswith("\tmax")],
                         ["\tmax: 60 next_prio: 60 next_comm: c ", "\tmax: 572 next_prio: 572 next_comm: c "])

    def test_onchange(self) -> None:
        answers = self.ask(
            "open 0 keys=pid:cwnd=prio:onchange($cwnd).save(comm):onchange($cwnd).snapshot()", "enable 0 sched:sched_waking",
            "wake 80 10 a", "snapshots", "wake 80 10 b", "snapshots", "wake 443 10 c", "snapshots", "wake 443 9 d", "snapshots",
            "wake 80 0 e", "text 0")
        self.assertEqual(answers[2:6], ["1", "1", "1", "2"])
        self.assertEqual([row for row in self.rows(answers[6]) if row.startswith("\tchanged")],
                         ["\tchanged: 9 comm: d ", "\tchanged: 0 comm: e "])
        self.assertIn("triggering value { onchange($cwnd) }:          0\ttriggered by event with key: { pid:         80 }", answers[6])

    def test_onmax_and_onchange_trace(self) -> None:
        answers = self.well(
            "synthetic most u64 value; pid_t pid; char comm[]", "log synthetic:*",
            "open 0 keys=pid:p=prio:onmax($p).trace(most,$p,pid,comm)", "enable 0 sched:sched_waking",
            "open 1 keys=pid:p=prio:onchange($p).most($p,pid,comm)", "enable 1 sched:sched_wakeup_new",
            "wake 1 5 a", "wake 1 4 b", "wake 1 6 c", "wake 2 1 sixteen-letters-", "wakenew 1 5 d", "wakenew 1 5 e", "wakenew 1 4 f",
            "text 0", "logged")
        self.assertEqual([row for row in self.rows(answers[0]) if row.startswith("\tmax")], ["\tmax: 1", "\tmax: 6"])
        self.assertEqual(answers[1:-1], [f"synthetic:most: value={value} pid={pid} comm={comm}" for value, pid, comm in (
            (5, 1, "a"), (6, 1, "c"), (1, 2, "sixteen-letters-"), (5, 1, "d"), (4, 1, "f"))])

    def test_field_of_the_matching_event(self) -> None:
        answers = self.well(
            "synthetic wakeup u64 lat; pid_t pid; int prio; char comm[16]", "log synthetic:*",
            'open 0 keys=pid:ts0=prio if comm != "skipped"', 'enable 0 sched:sched_waking if comm != "skipped"',
            "open 1 keys=next_pid:lat=next_prio-$ts0:onmatch(sched.sched_waking)."
            "trace(wakeup,$lat,next_pid,sched.sched_waking.prio,sched.sched_waking.comm)",
            "enable 1 sched:sched_switch", "wake 5 100 first", "wake 5 101 second", "wake 5 102 skipped", "switch 1 1 a 5 111 b",
            "all sched:*", "logged", "close 1", "close 0")
        self.assertEqual(sum(answer.startswith("# event") for answer in answers), 1)
        self.assertEqual(answers[0].count("# event histogram"), 2)
        self.assertEqual(answers[1], "synthetic:wakeup: lat=10 pid=5 prio=101 comm=second")

    SYNTHETIC = ("synthetic wakeup u64 lat; char comm[16]", "log synthetic:*")

    def synthetic(self, *lines: str) -> list[str]:
        """The records of synthetic events."""
        return [answer for answer in self.well(*self.SYNTHETIC, *lines) if answer.startswith("synthetic:")]

    def test_field_of_another_event_with_onmax_and_onchange(self) -> None:
        """Of one whose variable is read; as with onmatch(), which says which one it is."""
        for handler, hits in (("onmax", [11, 12]), ("onchange", [11, 5, 12])):
            with self.subTest(handler):
                made = self.synthetic(
                    "open 0 keys=pid:ts0=prio", "enable 0 sched:sched_waking",
                    f"open 1 keys=next_pid:lat=next_prio-$ts0:{handler}($lat).wakeup($lat,sched.sched_waking.comm)",
                    "enable 1 sched:sched_switch", "wake 5 100 w11", "switch 1 1 a 5 111 b", "wake 5 100 w5", "switch 1 1 a 5 105 b",
                    "wake 5 100 w12", "switch 1 1 a 5 112 b", "logged")
                self.assertEqual(made, [f"synthetic:wakeup: lat={lat} comm=w{lat}" for lat in hits])

    def test_own_field_by_its_whole_name(self) -> None:
        """Its own event is what is meant, also if it reads a variable of that; no other histogram has a say in what counts."""
        made = self.synthetic(
            "open 0 keys=prev_pid:ts0=prev_prio", "enable 0 sched:sched_switch",
            "open 1 keys=next_pid if next_pid == 1000", "enable 1 sched:sched_switch if next_pid == 1000",
            "open 2 keys=next_pid:lat=next_prio-$ts0:onmax($lat).wakeup($lat,sched.sched_switch.next_comm)",
            "enable 2 sched:sched_switch if prev_pid == 1", "switch 5 100 b 2 1 c", "switch 1 1 a 5 111 own", "logged", "close 2")
        self.assertEqual(made, ["synthetic:wakeup: lat=11 comm=own"])

    def test_field_of_an_event_that_is_not_read(self) -> None:
        """A variable can have it, a text, too. The message says so."""
        refused, made = [self.ask(*self.SYNTHETIC, "open 0 keys=pid:who=comm", "enable 0 sched:sched_waking",
                                  f"open 1 keys=next_pid:p=next_prio:onmax($p).wakeup($p,{param})", "fits 1 sched:sched_switch",
                                  "enable 1 sched:sched_switch", "wake 5 1 first", "switch 1 1 a 5 7 b", "logged")
                         for param in ("sched.sched_waking.comm", "$who")]
        self.assertRegex(refused[5], "^error .*Couldn't find param .*a histogram of that event can leave it in a variable")
        self.assertIn("synthetic:wakeup: lat=7 comm=first", made)

    def test_histogram_of_the_same_keys_is_preferred(self) -> None:
        answers = self.well(
            "synthetic wakeup pid_t pid; int prio", "log synthetic:*", "open 0 keys=prio", "enable 0 sched:sched_waking",
            "open 1 keys=pid", "enable 1 sched:sched_waking",
            "open 2 keys=pid:onmatch(sched.sched_waking).wakeup(pid,sched.sched_waking.prio)", "enable 2 sched:sched_wakeup_new",
            "wake 5 100 a", "wakenew 100 1 b", "wakenew 5 1 c", "logged", "close 2")
        self.assertEqual(answers[0], "synthetic:wakeup: pid=5 prio=100")

    def test_stacks(self) -> None:
        answers = self.well(
            "synthetic block_lat pid_t pid; u64 delta; unsigned long[] stack", "log synthetic:*",
            "open 0 keys=next_pid:ts=next_prio,st=stacktrace", "enable 0 sched:sched_switch if prev_pid == 1",
            "open 1 keys=prev_pid:delta=prev_prio-$ts,s=$st:onmax($delta).trace(block_lat,prev_pid,$delta,$s)",
            "enable 1 sched:sched_switch if prev_pid != 1",
            "open 2 keys=delta.buckets=100,stack.stacktrace:sort=delta", "enable 2 synthetic:block_lat",
            "switch 1 1 a 5 100 b", "switch 5 130 b 1 1 a", "text 2", "logged")
        self.assertRegex(answers[0], r"\{ delta: ~ 0-99, stack.stacktrace:\n[^}]*main\+0x[^}]*\} hitcount: +1\n")
        self.assertRegex(answers[1], r"^synthetic:block_lat: pid=5 delta=30 stack=STACK: => (?:(?!tp_)\S+ => )*main\+0x")

    def test_actions_together(self) -> None:
        """Of the selftests trigger-inter-event-combined-hist.tc and trigger-multi-actions-accept.tc."""
        answers = self.well(
            "synthetic waking_latency u64 lat; pid_t pid", "synthetic wakeup_latency u64 lat; pid_t pid",
            "synthetic waking_wakeup_latency u64 lat; pid_t pid", "log synthetic:*",
            "open 0 keys=pid:ts0=prio", "enable 0 sched:sched_waking",
            "open 1 keys=pid:waking_lat=prio-$ts0:onmatch(sched.sched_waking).waking_latency($waking_lat,pid)",
            "enable 1 sched:sched_wakeup_new",
            "open 2 keys=pid:ts1=prio", "enable 2 sched:sched_wakeup_new",
            "open 3 keys=next_pid:wakeup_lat=next_prio-$ts1:onmatch(sched.sched_wakeup_new).wakeup_latency($wakeup_lat,next_pid):"
            "onmax($wakeup_lat).save(next_comm):onmatch(sched.sched_wakeup_new).trace(wakeup_latency,$wakeup_lat,prev_pid)",
            "enable 3 sched:sched_switch",
            "open 4 keys=pid:w=lat", "enable 4 synthetic:waking_latency",
            "open 5 keys=pid:sum=lat+$w:onmatch(synthetic.waking_latency).waking_wakeup_latency($sum,pid)",
            "enable 5 synthetic:wakeup_latency",
            "wake 7 10 a", "wakenew 7 13 a", "switch 1 1 b 7 20 a", "logged")
        self.assertEqual(set(answers[:-1]), {"synthetic:wakeup_latency: lat=7 pid=1", "synthetic:wakeup_latency: lat=7 pid=7",
                                                "synthetic:waking_latency: lat=3 pid=7", "synthetic:waking_wakeup_latency: lat=10 pid=7"})

    def test_json(self) -> None:
        text, = self.well("open 0 keys=pid:p=prio:onmax($p).save(comm,prio):onchange($p).snapshot()", "enable 0 sched:sched_waking",
                          "wake 1 5 a", "wake 1 4 b", "json 0")
        self.assertEqual(json.loads(text)["entries"][0]["tracked"],
                         [{"max": 5, "variable": "p", "saved": {"comm": "a", "prio": 5}}, {"changed": 4, "variable": "p"}])

    def test_json_of_any_name(self) -> None:
        text, = self.well('open 0 keys=pid:p"\\=prio:onmax($p"\\).save(comm)', "enable 0 sched:sched_waking", "wake 1 5 a", "json 0")
        self.assertEqual(json.loads(text)["entries"][0]["tracked"],
                         [{"max": 5, "variable": 'p"\\', "saved": {"comm": "a"}}])


class Latency(Case):
    """The two events of a request, in two threads."""

    def test_each_is_between_what_the_program_knows(self) -> None:
        done = self.succeed([make(self.dir, "latency", "", "requests")])
        directly, by_log2, by_peer, wrong = objects(done.stdout)
        self.assertEqual(wrong, {"wrong": 0})
        for histogram in (directly, by_log2, by_peer):
            self.assertEqual(sum(entry["hitcount"] for entry in histogram["entries"]), 2000)
        self.assertEqual(len(directly["entries"]), 2000)
        self.assertEqual(len({entry["keys"][0]["value"] for entry in by_peer["entries"]}), 7)
        sums = [sum(entry["values"][0] for entry in histogram["entries"]) for histogram in (by_log2, by_peer)]
        self.assertEqual(*sums)
        for entry in by_log2["entries"]:
            power, hits = entry["keys"][0]["value"], entry["hitcount"]
            self.assertTrue(hits * (2 ** power // 2) < entry["values"][0] <= hits * 2 ** power)


    def test_without_a_line_of_code(self) -> None:
        """The example of docs/histograms.md."""
        text = read(os.path.join(ROOT, "docs/histograms.md"))
        synthetic = re.search(r"TP_SYNTHETIC='(.*)'", text)[1]
        triggers = re.search(r"TP_TRIGGER='\n(.*?)'", text, re.S)[1]
        generate(self.dir, os.path.join(HERE, "requests.tp"))
        build(self.path("requests"), os.path.join(HERE, "requests.c"), include=[self.dir])
        done = self.succeed([self.path("requests")], env={**os.environ, "TP_SYNTHETIC": synthetic, "TP_HIST": self.path("hist.json"),
                                                          "TP_TRIGGER": triggers})
        self.assertEqual((done.stdout, done.stderr), ("", ""))
        begun, ended, latencies, worst = json.loads(read(self.path("hist.json")))
        self.assertEqual([histogram["totals"]["hits"] for histogram in (begun, ended, latencies, worst)], [30, 30, 30, 30])
        peers: dict[str, int] = {}
        for entry in latencies["entries"]:
            peers[entry["keys"][0]["value"]] = peers.get(entry["keys"][0]["value"], 0) + entry["hitcount"]
        self.assertEqual(peers, {"10.0.0.0": 10, "10.0.0.1": 10, "10.0.0.2": 10})


# A ^ is before the place; the words are the kernel's. What is told when it is opened ...
OPENED = [
    ("keys=next_pid:vals=$^nothing", "Couldn't find variable [there are $ts0 of sched:sched_waking, "),
    ("keys=next_pid:lat=next_prio-$^nothing", "Couldn't find variable"),
    ("keys=next_pid:lat=next_prio-sched.sched_switch.$^ts0", "Couldn't find variable"),
    ("keys=next_pid:lat=next_prio-$^twice", "Variable name not unique, need to use fully qualified name (subsys.event.var) for variable"),
    ("keys=next_pid:a=$^b:b=next_prio", "Couldn't find variable"),
    ("keys=next_pid,next_prio:lat=next_prio-$^ts0", "Variable has another number of keys [it is set by hist:keys=pid:ts0="),
    ("keys=^$ts0", "Using variable references in keys not supported"),
    ("keys=^next_pid+$ts0", "Using variable references in keys not supported"),
    ("keys=next_pid:lat=^common_timestamp-$us", "Timestamp units in expression don't match"),
    ("keys=next_pid:lat=^common_timestamp.usecs-$ts0", "Timestamp units in expression don't match"),
    ("keys=next_pid:onmatch(sched.^nothing).lat($ts0,next_pid)", "Invalid subsystem or event name"),
    ("keys=next_pid:onmatch(sched.^sched_wak*).lat($ts0,next_pid)", "Invalid subsystem or event name"),
    ("keys=next_pid:onmatch(sched.sched_waking).^nothing($ts0,next_pid)", "Couldn't find synthetic event [TP_SYNTHETIC, tp synthetic or "),
    ("keys=next_pid:onmatch(sched.sched_waking).trace(^nothing,$ts0,next_pid)", "Couldn't find synthetic event"),
    ("keys=next_pid:onmatch(sched.sched_waking).^lat($ts0)", "Param count doesn't match synthetic event field count [it has 2]"),
    ("keys=next_pid:onmatch(sched.sched_waking).trace(^lat,$ts0,next_pid,next_prio)", "Param count doesn't match synthetic event field"),
    ("keys=next_pid:onmatch(sched.sched_waking).lat($^nothing,next_pid)", "Couldn't find param"),
    ("keys=next_pid,next_prio:onmatch(sched.sched_waking).lat(sched.sched_waking.^prio,next_pid)", "Matching event histogram not found"),
    ("keys=next_pid:onmatch(sched.sched_waking).lat(sched.sched_waking.^nothing,next_pid)", "Couldn't create histogram for field"),
    ("keys=next_pid:onmax($^ts0).save(next_prio)", "Couldn't find onmax or onchange variable"),
    ("keys=next_pid:lat=next_prio:onmax($lat).save(^$ts0)", "Couldn't create field variable"),
    ("keys=next_pid:lat=next_prio+^-(prev_prio)", "Unary minus not supported in sub-expressions"),
    ("keys=next_pid:lat=^next_prio+1+2+3+4", "Too many subexpressions (3 max)"),
    ("keys=next_pid:lat=next_prio+^1x", "Expecting numeric literal"),
    ("keys=next_pid:lat=next_prio:^lat=prev_prio", "Variable already defined"),
]
# ... and what only when it is known for which events it is.
FITTED = [
    ("keys=next_pid:lat=next_prio/^0", "Division by zero"),
    ("keys=next_pid:zero=0:lat=next_prio/^$zero", "Division by zero"),
    ("keys=next_pid:lat=^next_comm+1", "String type can not be an operand in expression"),
    ("keys=next_pid:lat=1-^$name", "String type can not be an operand in expression"),
    ("keys=next_pid:lat=-(^next_comm)", "String type can not be an operand in expression"),
    ("keys=next_pid:vals=^$name", "String type can not be an operand in expression"),
    ("keys=next_pid:lat=^nothing+1", "Couldn't find field"),
    ("keys=next_pid:onmatch(sched.sched_waking).lat($ts0,^nothing)", "Couldn't find field"),
    ("keys=next_pid:onmatch(sched.sched_waking).lat($ts0,^sched.sched_wakeup_new.pid)", "Couldn't find param [it is no field of "),
    ("keys=next_pid:onmatch(sched.sched_waking).lat($ts0,^next_comm)", "Param type doesn't match synthetic event field type ["
     "the field 'pid' is a pid_t]"),
    ("keys=next_pid:onmatch(sched.sched_waking).lat($ts0,^prev_state)", "Param type doesn't match synthetic event field type"),
    ("keys=next_pid:onmatch(sched.sched_waking).lat($ts0,^$us)", "Param type doesn't match synthetic event field type"),
    ("keys=next_pid:own=prev_state:onmatch(sched.sched_waking).lat($ts0,^$own)", "Param type doesn't match synthetic event field type"),
    ("keys=prev_state:onmatch(sched.sched_waking).lat(^sched.sched_waking.prio,next_pid)", "Matching event histogram not found ["
     "those of the other event have keys of other types]"),
    ("keys=next_comm:onmatch(sched.sched_waking).lat(^sched.sched_waking.prio,next_pid)", "Matching event histogram not found"),
    ("keys=next_pid:onmatch(sched.sched_waking).lat(^$name,next_pid)", "Param type doesn't match synthetic event field type"),
    ("keys=next_pid:lat=next_prio:onmax($lat).save(^nothing)", "Couldn't find field"),
    ("keys=next_pid:lat=next_comm:onmax(^$lat).save(next_prio)", "For onmax(x) or onchange(x), x must be a variable"),
]


class Mistakes(Between):
    SETUP = ("synthetic lat u64 lat; pid_t pid",
             "open 0 keys=pid:ts0=common_timestamp,us=common_timestamp.usecs,name=comm,twice=prio", "enable 0 sched:sched_waking",
             "open 1 keys=pid:twice=prio", "enable 1 sched:sched_wakeup_new")

    def told(self, marked: list[tuple[str, str]], *how: str) -> None:
        lines = [line for text, _ in marked for line in (f"open 2 {text.replace('^', '')}", *how, "close 2" if how else "")]
        answers = self.ask(*self.SETUP, *filter(None, lines))[len(self.SETUP):]
        if how:
            self.assertEqual(answers[::2], ["ok"] * len(marked))
            answers = answers[1::2]
        for (text, message), answer in zip(marked, answers):
            with self.subTest(text):
                self.assertTrue(answer.startswith(f"error {text.index('^')} {message}"), answer)

    def test_when_opened(self) -> None:
        self.told(OPENED)

    def test_of_an_event(self) -> None:
        self.told(FITTED, "fits 2 sched:sched_switch")

    def test_nothing_is_left_behind(self) -> None:
        """Of one that was refused: the synthetic event can be removed."""
        answers = self.ask(*self.SETUP, "open 2 keys=next_pid:a=$ts0:onmatch(sched.sched_waking)."
                           "trace(lat,sched.sched_waking.prio,$nothing)", "synthetic !lat",
                           "all sched:*", "close 0", "close 1")
        self.assertTrue(answers[5].startswith("error "), answers[5])
        self.assertEqual(answers[6:8], ["0", "2"])

    def test_a_synthetic_event_in_use_stays(self) -> None:
        answers = self.ask(*self.SETUP, "open 2 keys=next_pid:onmatch(sched.sched_waking).lat($ts0,next_pid)", "synthetic !lat",
                           "close 2", "synthetic !lat")
        self.assertEqual(answers[5:], ["ok", "-16 !lat", "^", "parse_error: Event is in use: a histogram makes its records; remove "
                                       "that first", "0"])

    def test_kernel_selftest(self) -> None:
        """trigger-hist-syntax-errors.tc, on fields that there are here."""
        for text, message in (("keys=common_pid:vals=prio:sort=common_pid,^junk", "Sort field must be a key or a val"),
                              ("keys=common_pid:vals=prio:^sort=", "Empty assignment"),
                              ("keys=common_pid:vals=prio:^sort=common_pid,", "Empty sort field"),
                              ("keys=common_pid:vals=prio:sort=common_pid.^junk", "Invalid sort modifier"),
                              ("keys=common_pid:vals=prio,pid:^sort=common_pid,prio,pid", "Too many sort fields (Max = 2)")):
            with self.subTest(text):
                answers = self.ask(f"open 0 {text.replace('^', '')}", "fits 0 sched:sched_waking" if message.startswith("Sort") else "snapshots")
                answer = answers[1] if answers[0] == "ok" else answers[0]
                self.assertTrue(answer.startswith(f"error {text.index('^')} {message}"), answers)


if __name__ == "__main__":
    unittest.main()

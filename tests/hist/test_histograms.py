# SPDX-License-Identifier: MIT
"""What histograms do besides counting: names, pauses, clearing, forks, stacks, several events; and what is wrong with them."""

from __future__ import annotations

import json
import os
import re
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from histograms import Histograms  # noqa: E402
from support import ROOT, read  # noqa: E402

TABLE = os.path.join(ROOT, "runtime/src/count/key.h")
TOTALS = "\nTotals:\n    Hits: {}\n    Entries: {}\n    Dropped: {}\n"


class Behaviour(Histograms):
    def shown(self, *lines: str, errors: str = "") -> list[str]:
        """The histograms among the answers; those before them say that all is well."""
        answers = self.ask(*lines, errors=errors)
        wrong = [answer for answer in answers if not answer.startswith("#") and not re.fullmatch(r"ok|\d+", answer)]
        self.assertEqual(wrong, [])
        return [answer for answer in answers if answer.startswith("#")]

    def rows(self, text: str) -> list[str]:
        return [re.sub(r" +", " ", row) for row in self.entries(text)]

    def test_text(self) -> None:
        text, = self.shown("open 0 keys=method,text:vals=u64 if u8 > 1", "enable 0 shop:shop_order if u8 > 1",
                           "order method=2 text=a u64=5 u8=2", "order method=-1 u64=1 u8=2", "order method=2 text=a u64=6 u8=2",
                           "order u8=1", "text 0")
        self.assertEqual(text, f"""\
# event histogram
#
# trigger info: hist:keys=method,text:vals=hitcount,u64:sort=hitcount:size=2048 if u8 > 1 [active]
#

{{ method: 18446744073709551615, text: {'':50} }} hitcount:          1  u64:          1
{{ method:          2, text: {'a':50} }} hitcount:          2  u64:         11
""" + TOTALS.format(3, 2, 0))

    def test_empty(self) -> None:
        for enable in ("enable 0 nothing:*", "enable 0 shop:shop_order"):
            text, = self.shown("open 0 keys=u8", enable, "text 0")
            self.assertTrue(text.endswith("[active]\n#\n\n" + TOTALS.format(0, 0, 0)), text)

    def test_pause(self) -> None:
        lines = ["open 0 keys=u8:pause", "enable 0 shop:*", "info 0", "order u8=1", "cont 0", "order u8=2", "pause 0", "order u8=3",
                 "contof shop:shop_other", "order u8=4", "contof shop:shop_order", "order u8=5", "pauseof shop:shop_order", "order u8=6",
                 "info 0", "text 0"]
        answers = self.ask(*lines)
        self.assertEqual(answers[2:4], ["hist:keys=u8:vals=hitcount:sort=hitcount:size=2048 [paused]"] * 2)
        self.assertEqual(self.rows(answers[-1]), ["{ u8: 2 } hitcount: 1", "{ u8: 5 } hitcount: 1"])

    def test_clear(self) -> None:
        before, after = self.shown("open 0 keys=u8:vals=u64", "clear 0", "enable 0 shop:shop_order", "order u8=1 u64=4", "text 0", "clear 0",
                                   "order u8=1 u64=5", "text 0")
        self.assertEqual(self.rows(before), ["{ u8: 1 } hitcount: 1 u64: 4"])
        self.assertEqual(self.rows(after), ["{ u8: 1 } hitcount: 1 u64: 5"])

    def test_full(self) -> None:
        """A full table counts on for the keys that it has, and is empty when it is cleared."""
        full, cleared = self.shown("open 0 keys=u32:size=100", "enable 0 shop:shop_order", *(f"order u32={i}" for i in range(200)),
                                   *(f"order u32={i}" for i in range(50)), "text 0", "clear 0", "order u32=1", "text 0")
        self.assertIn(":size=128 ", full)
        self.assertTrue(full.endswith(TOTALS.format(128 + 50, 128, 72)), full)
        self.assertTrue(cleared.endswith(TOTALS.format(1, 1, 0)), cleared)

    def test_alike_to_the_hash(self) -> None:
        """Keys of which slots have the same bits, and that begin to look for a free one at the same place."""
        factor, = (int(one, 16) for one in re.findall(r"\* 0x(\w+)u;", read(TABLE)))
        lines = []
        for low in range(50):
            lines.append(f"order u64={(0x12345678_00765400 | low) * pow(factor, -1, 1 << 64) % (1 << 64)} u8={low}")
        text, = self.shown("open 0 keys=u64:vals=u8:size=128:sort=u8", "enable 0 shop:shop_order", *lines, *lines, "text 0")
        self.assertEqual([row.split(" } ")[1] for row in self.rows(text)], [f"hitcount: 2 u8: {2 * low}" for low in range(50)])

    def test_fork(self) -> None:
        """A child begins at 0, and its parent's entries are not in its way."""
        hits = [f"order u32={i}" for i in range(200)]
        answers = self.shown("open 0 keys=u32:size=128", "enable 0 shop:shop_order", *hits, "text 0", "fork", "text 0", "order u32=1000", "text 0")
        self.assertEqual([text.split("\nTotals:")[1].split() for text in answers],
                         [["Hits:", "128", "Entries:", "128", "Dropped:", "72"], ["Hits:", "0", "Entries:", "0", "Dropped:", "0"],
                          ["Hits:", "1", "Entries:", "1", "Dropped:", "0"]])

    def test_several_events(self) -> None:
        """One table for all; an event without the field stays out of it, and so does one whose field is of another kind."""
        text, = self.shown("open 0 keys=u32", "enable 0 shop:*", "order u32=7", "other 7 x", "other 65535 x", "text 0")
        self.assertEqual(self.rows(text), ["{ u32: 65535 } hitcount: 1", "{ u32: 7 } hitcount: 2"])
        text, = self.shown("open 0 keys=u8", "enable 0 shop:*", "order u8=7", "other 7 x", "text 0")
        self.assertTrue(text.endswith(TOTALS.format(1, 1, 0)), text)
        text, = self.shown("open 0 keys=s32", "enable 0 shop:shop_other", "enable 0 shop:*", "order s32=7", "other 7 x", "text 0",
                           errors="tp: event 'shop:shop_order' is not counted in hist:keys=s32: its keys are of other types than "
                                  "those of the events that it has\n")
        self.assertEqual(self.rows(text), ["{ s32: x } hitcount: 1"])

    def test_shared_by_name(self) -> None:
        """Histograms of one name are one table, each with its events, its filter and its pauses."""
        texts = self.shown("open 0 name=foo:keys=u32", "open 1 keys=u32:name=foo:size=4096", "enable 0 shop:shop_order",
                           "enable 1 shop:shop_other", "order u32=1", "other 1 x", "text 0", "text 1", "close 0", "order u32=1",
                           "other 1 x", "text 1")
        self.assertEqual([self.rows(text) for text in texts], [["{ u32: 1 } hitcount: 2"]] * 2 + [["{ u32: 1 } hitcount: 3"]])
        self.assertIn("hist:name=foo:keys=u32:vals=hitcount:sort=hitcount:size=2048 [active]", texts[1])

    def test_name_of_another(self) -> None:
        answers = self.ask("open 0 name=foo:keys=u32", "open 1 keys=u32:vals=u64:name=foo", "open 2 keys=u32:name=bar",
                           "close 0", "open 1 keys=u32:vals=u64:name=foo")
        self.assertEqual(answers, ["ok", "error 18 Named hist trigger doesn't match existing named trigger (includes variables) "
                                         "[that is hist:name=foo:keys=u32]", "ok", "ok"])

    def test_all_of_an_event(self) -> None:
        answers = self.ask("open 0 keys=u32", "open 1 keys=u8", "open 2 keys=s32", "enable 0 shop:*", "enable 1 shop:*",
                           "enable 2 shop:shop_other", "all shop:shop_order", "jsons *:*", "jsons nothing:*")
        self.assertEqual(answers[6], "2")
        self.assertEqual(re.findall(r"keys=(\w+)", answers[7]), ["u32", "u8"])
        self.assertEqual(answers[8], "3")
        self.assertEqual([one["keys"][0]["name"] for one in json.loads(answers[9])], ["u32", "u8", "s32"])
        self.assertEqual(answers[10:], ["0", "[]", "."])

    def test_execname(self) -> None:
        """The name of the thread that made the entry."""
        text, = self.shown("name first one", "open 0 keys=common_pid.execname", "enable 0 shop:shop_order", "order", "name second", "order", "text 0")
        self.assertRegex(self.entries(text)[0], r"^\{ common_pid: first one       \[ *\d+\] \} hitcount: {10}2$")

    def test_comm_and_cpu(self) -> None:
        text, = self.shown("name me", "open 0 keys=comm,cpu:sort=common_cpu", "enable 0 shop:shop_order", "order", "text 0")
        self.assertRegex(text, r"keys=comm,common_cpu:vals=hitcount:sort=common_cpu:")
        self.assertRegex(self.rows(text)[0], r"^\{ comm: me , cpu: \d+ \} hitcount: 1$")

    def test_syscall(self) -> None:
        text, = self.shown("open 0 keys=u32.syscall:sort=u32", "enable 0 shop:shop_order", "order u32=9999", "text 0")
        self.assertEqual(self.entries(text)[0], f"{{ u32: {'unknown_syscall':30}[9999] }} hitcount:          1")

    def test_symbols(self) -> None:
        text, = self.shown("open 0 keys=address.sym,address.sym-offset", "enable 0 shop:shop_order", "order address=16", "text 0")
        self.assertEqual(self.entries(text)[0], f"{{ address: [10] {'0x10':45}, address: [10] {'0x10':55} }} hitcount:          1")

    def test_stack(self) -> None:
        """It begins with the function that has the tracepoint, with a filter and without."""
        for condition in ("", " if u8 == 0"):
            text, = self.shown("open 0 keys=stacktrace", f"enable 0 shop:shop_order{condition}", "order", "order", "text 0")
            lines = self.entries(text)
            self.assertEqual(lines[0], "{ common_stacktrace:")
            self.assertIn("         main+0x", "\n".join(lines))
            self.assertEqual(lines[-1], "} hitcount:          2")
            self.assertNotRegex(text, "tp_|trace_shop|hist_")

    def test_stack_in_a_field(self) -> None:
        text, = self.shown("open 0 keys=stack.stacktrace,u8", "enable 0 shop:shop_order", "order stack=1,2", "text 0")
        self.assertEqual(self.entries(text), ["{ stack.stacktrace:", "         0x1", "         0x2", ", u8:          0} hitcount:          1"])

    def test_control_characters(self) -> None:
        text, = self.shown("open 0 keys=text", "enable 0 shop:shop_order", "order text=a\x1b[2Jb\x7f", "text 0")
        self.assertEqual(self.entries(text)[0], "{ text: " + "a\\x1b[2Jb\\x7f".ljust(50) + " } hitcount:          1")

    def test_timestamp(self) -> None:
        """Of each clock; in microseconds if one of them is."""
        for clock in ("", ":clock=global", ":clock=mono", ":clock=mono_raw", ":clock=boot", ":clock=tai", ":clock=local"):
            texts = self.shown(f"open 0 keys=common_timestamp{clock}", f"open 1 keys=common_timestamp.usecs:vals=common_timestamp{clock}",
                               "enable 0 shop:shop_order", "enable 1 shop:shop_order", "order", "text 0", "text 1")
            ns = int(re.findall(r"common_timestamp: +(\d+)", texts[0])[0])
            usecs = [int(n) for n in re.findall(r"common_timestamp: +(\d+)", texts[1])]
            self.assertEqual(usecs[0], usecs[1])
            self.assertTrue(ns < usecs[0] * 1000 * 2 and usecs[0] < ns, (ns, usecs))
            self.assertIn(f":size=2048{clock or ':clock=global'} [active]", texts[0])

    def test_no_hitcount(self) -> None:
        text, = self.shown("open 0 keys=u8:vals=u64:NOHC", "enable 0 shop:shop_order", "order u64=5", "text 0")
        self.assertIn("hist:keys=u8:vals=u64:sort=hitcount:size=2048:nohitcount [active]", text)
        self.assertEqual(self.entries(text), ["{ u8:          0 }  u64:          5"])

    def test_json(self) -> None:
        answer = self.ask("name me", "open 0 keys=method,mode,s64:vals=s32,u8.percent:size=128", "enable 0 shop:shop_order",
                          "order method=-1 mode=9 s64=-5 s32=-6 u8=3", "json 0")[-1]
        self.assertEqual(json.loads(answer), {
            "trigger": "hist:keys=method,mode,s64:vals=hitcount,s32,u8.percent:sort=hitcount:size=128 [active]",
            "paused": False, "events": ["shop:shop_order"],
            "keys": [{"name": "method"}, {"name": "mode"}, {"name": "s64"}],
            "values": [{"name": "s32"}, {"name": "u8", "modifier": "percent"}],
            "entries": [{"keys": [{"value": -1, "name": "NONE"}, {"value": 9, "name": "R|0x8"}, {"value": -5}],
                         "hitcount": 1, "values": [-6, 3]}],
            "totals": {"hits": 1, "entries": 1, "dropped": 0}})


FIELDS = ("'shop:shop_order' has s8, u8, s16, u16, s32, u32, s64, u64, method, mode, address, fixed, text, stack, common_type, "
          "common_flags, common_preempt_count, common_pid, cpu, comm, common_timestamp, hitcount, stacktrace")
MODIFIERS = "there are hex, sym, sym-offset, syscall, execname, log2, usecs, buckets=N, percent, graph, stacktrace"

# A "^" is in front of the place of the mistake.
AT_ONCE = [
    ("keys=common_pid:vals=u64:^sort=", "Empty assignment"),
    ("keys=common_pid:vals=u64:^sort=common_pid,", "Empty sort field"),
    ("keys=common_pid:^sort=.descending", "Empty sort field"),
    ("keys=common_pid:vals=u64:sort=common_pid.^junk", "Invalid sort modifier [there are ascending, descending]"),
    ("keys=common_pid:vals=u64,u32:^sort=common_pid,u64,u32", "Too many sort fields (Max = 2)"),
    ("^", "No keys; write for example keys=common_pid"),
    ("vals=u64^", "No keys; write for example keys=common_pid"),
    ("keys=u8,u16,u32,^u64", "Too many keys (3 max)"),
    ("keys=u8:vals=u16,u32,^u64", "Too many values (2 max, besides hitcount)"),
    ("keys=u8.^foo", f"Invalid field modifier [{MODIFIERS}]"),
    ("keys=u8.^buckets", f"Invalid field modifier [{MODIFIERS}]"),
    ("keys=u8.^buckets=0", f"Invalid field modifier [{MODIFIERS}]"),
    ("keys=u8.^bucketsize=5", f"Invalid field modifier [{MODIFIERS}]"),
    ("keys=u8:size=^0x", "Invalid size; it is a number from 128 to 131072"),
    ("keys=u8:size=^131073", "Invalid size; it is a number from 128 to 131072"),
    ("keys=u8:size=^1", "Invalid size; it is a number from 128 to 131072"),
    ("keys=u8:clock=^foo", "Couldn't set trace_clock [there are global, local, mono, mono_raw, boot, tai]"),
    ("^keys=u8:nohitcount", "Non-hitcount value is required for 'nohitcount'"),
    ("^keys=u8:cont", "Can't clear or continue a nonexistent hist trigger"),
    ("^keys=u8:clear", "Can't clear or continue a nonexistent hist trigger"),
    ("keys=^1x", "Expecting numeric literal"),
    ("keys=u8:x=-^(u8)+u16", "Unary minus not supported in sub-expressions"),
    ("keys=u8:x=^u8+1+2+3+4", "Too many subexpressions (3 max)"),
    ("keys=u8:a=1,^b", "Malformed assignment"),
    ("keys=u8:a=1,^a=2", "Variable already defined"),
    ("keys=u8:a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=1,l=1,m=1,n=1,o=1,p=1,^q=1", "Too many variables defined"),
    ("keys=u8:onmatch(^shop).foo(u8)", "Missing subsystem"),
    ("keys=u8:onmatch(^shop.x", "No closing paren found"),
    ("keys=u8:onmax(^x).save(u8)", "For onmax(x) or onchange(x), x must be a variable"),
    ("keys=u8:onmax($x).save(^)", "No params found for save()"),
    ("keys=u8:onmax($x).save(u8):onchange($x).^save(u8)", "Can't have more than one save() action per hist"),
    ("keys=u8:onmatch(shop.x).^save(u8)", "Handler doesn't support action"),
    ("keys=u8:onmax($x)^.", "No action found"),
]

FOR_AN_EVENT = [
    ("keys=common_pid:vals=u64:sort=common_pid,^junk", "Sort field must be a key or a val"),
    ("keys=^foo", f"Couldn't find field [{FIELDS}]"),
    ("keys=^u9", f"Couldn't find field [did you mean 'u8'? {FIELDS}]"),
    ("keys=u8:vals=^u65", f"Couldn't find field [did you mean 'u64'? {FIELDS}]"),
    ("keys=^stacktrcae", f"Couldn't find field [did you mean 'stacktrace'? {FIELDS}]"),
    ("keys=^comon_timestmap", f"Couldn't find field [did you mean 'common_timestamp'? {FIELDS}]"),
    ("keys=u8:o=^u23:onmax($o).save(u16)", f"Couldn't find field [did you mean 'u32'? {FIELDS}]"),
    ("keys=u8:o=u32:onmax($o).save(^u23)", f"Couldn't find field [did you mean 'u32'? {FIELDS}]"),
    ("keys=^" + "x" * 200, f"Couldn't find field [{FIELDS}]"),
    ("keys=u8:vals=^text", "Expecting numeric field [it is a text]"),
    ("keys=^stack", "Expecting numeric field [it is neither a number of 1, 2, 4 or 8 bytes nor a text]"),
    ("keys=u8.^execname", "Invalid field modifier [execname is only for common_pid]"),
    ("keys=u8.^usecs", "Invalid field modifier [usecs is only for common_timestamp]"),
    ("keys=u8.^percent", "Invalid field modifier [percent and graph are for values]"),
    ("keys=text.^hex", "Invalid field modifier [the field is a text]"),
    ("keys=u64.^stacktrace", "Invalid field modifier [stacktrace is for arrays of long]"),
    ("keys=u8:vals=^u64.log2", "Invalid field modifier [values have hex, percent, graph, usecs]"),
    ("keys=u8:vals=u32,^u64.buckets=5", "Invalid field modifier [values have hex, percent, graph, usecs]"),
]


class Mistakes(Histograms):
    def wrong(self, text: str, message: str) -> tuple[str, str]:
        return text.replace("^", ""), f"error {text.index('^')} {message}"

    def test_at_once(self) -> None:
        pairs = [self.wrong(*one) for one in AT_ONCE]
        answers = self.ask(*(f"open 0 {text}" for text, _ in pairs))
        self.assertEqual([f"{text} -> {answer}" for (text, _), answer in zip(pairs, answers)], [f"{text} -> {error}" for text, error in pairs])

    def test_for_an_event(self) -> None:
        pairs = [self.wrong(*one) for one in FOR_AN_EVENT]
        answers = self.ask(*(line for text, _ in pairs for line in (f"open 0 {text}", "fits 0 shop:shop_order", "enable 0 shop:*", "close 0")))
        self.assertEqual(answers[::3], ["ok"] * len(pairs))
        self.assertEqual([f"{text} -> {answer}" for (text, _), answer in zip(pairs, answers[1::3])],
                         [f"{text} -> {error}" for text, error in pairs])
        self.assertEqual(answers[2::3], ["0"] * len(pairs))

    def test_fits_some(self) -> None:
        answers = self.ask("open 0 keys=u8", "fits 0 shop:*", "fits 0 shop:shop_other", "fits 0 nothing:*", "fits 0 shop:shop_order")
        self.assertEqual([answer.split("[")[0] for answer in answers], ["ok", "1", "error 5 Couldn't find field ", "0", "1"])


class BehaviourAsan(Behaviour):
    sanitizer = "asan"


class MistakesAsan(Mistakes):
    sanitizer = "asan"


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: MIT
"""Variables, arithmetic and actions of histograms, and synthetic events, are what a running kernel's are, and mistakes have
its words: kernel/replay/variables.txt and mistakes.txt.

Snapshots are not compared: here they are of flight recorders.
"""

from __future__ import annotations

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from kernel.replay import transcript  # noqa: E402
from kernel.replay.transcript import Command  # noqa: E402

LANGUAGE = "Histograms"
MINE = "try replay_all hist:keys=u8:"
ENDS = "try replay_end hist:keys=id:d=at-$t0:"
LAT = f"{ENDS}onmatch(replay.replay_begin)."
NO_VARIABLE = "parse_error: Couldn't find variable"
NO_PAREN = "parse_error: No closing paren found"
NOT_A_VARIABLE = "parse_error: For onmax(x) or onchange(x), x must be a variable"
COUNT = "parse_error: Param count doesn't match synthetic event field count"
NAME = "parse_error: Illegal name"

CARET = "the caret is at the beginning, or elsewhere"
OWN = "an own variable in an expression: only a field, or a constant"
TYPE = "a parameter's type must be that of the synthetic event's field"
FOLDED = "the list has folded constants, and for `y=$x` what `x` is"
SHOWN = "expressions as values are not shown"
ABSENT = "an unknown variable: `Couldn't find field`"
ACTIONS = "`Invalid action param` and the like"
KEYS = "a variable is looked up by the first bytes of the reader's keys"
TWICE = "two histograms of an event can't share a variable's name"
GFP = "`gfp_t`; `char[0]`, which is `char[]`"
NAMES = "two fields of one name, or named `int`, `common_pid` and the like"


def without_snapshots(pairs: list[tuple[Command, Command]]) -> list[tuple[Command, Command]]:
    return [pair for pair in pairs if "snapshot" not in pair[0].case + pair[0].text]


class Kernel(transcript.Replayed):
    def test_unset(self) -> None:
        """Our totals go on where a variable was not set."""
        self.assertIn("\n| hits for which a variable is not set are not seen | `Unset` |\n", transcript.differences(LANGUAGE))
        shown = [ours for _, ours in without_snapshots(self.replay("variables")) if ours.text.startswith("hist ")]
        self.assertTrue(any(line.startswith("    Unset: ") for ours in shown for line in ours.answers))

    def test_variables(self) -> None:
        self.check(without_snapshots(self.replay("variables")), LANGUAGE, {
            FOLDED: {
                "try replay_all hist:keys=flag:x=u8:y=$x": "x=u8,y=$x",
                **{f"try replay_all hist:keys=flag:x={x}": f":x={x}:" for x in (
                    "16-8-4-2", "64/8/4/2", "16-8+4+2", "4*3/2*2", "4+3*2-2", "4+6/2-2", "0x10", "010", "2-5", "7/2", "u8+2*3",
                    "1000000*1000000")},
            },
            "a number below 2^20, divided by a constant, can be one too large": {
                "divided by constants: hist replay_all": "{ u16/1000:         65, u16:      65535 }",
                "arithmetic in keys, division: hist replay_all": "{ u16/1000:         65 }",
            },
            SHOWN: {
                **{f"arithmetic: {case}: hist replay_all": f"  {shown}: " for case, shown in (
                    ("sum", "u8+u16"), ("difference", "u32-u8"), ("product", "u8*u16"), ("quotient", "u32/u8"),
                    ("quotient by a constant", "u32/7"), ("quotient by a power of two", "u32/8"), ("minus of a sum", "-(u8+u16)"),
                    ("precedence", "u8+u16*2"), ("left to right", "u32-u16-u8"), ("constant", "5"), ("mixed signs", "s8+u8"),
                    ("signed quotient", "s16/2"), ("signed by signed", "s16/s8"), ("quotient by zero", "u16/u8"))},
                "a variable in arithmetic of a value: hist replay_end": "  at-$t0: ",
            },
            OWN: {
                "trigger replay_end hist:keys=id:d=at-$t0:vals=$d,at:sort=id": "ok",
                "a difference of two events as a value: hist replay_end": "  d:       5465  at: ",
                "trigger replay_end hist:keys=id:d=at-replay.replay_begin.$t0:vals=$d:sort=id": "ok",
                "by its full name: hist replay_end": "  d:       5465",
                "by its full name: triggers replay_end": "d=at-replay.replay_begin.$t0",
                "trigger replay_end hist:keys=id:d=at-$t0:e=bytes+$c0:vals=$d,$e:sort=id": "ok",
                "two variables: hist replay_end": "  d:       5465  e:      69734",
                "two variables: triggers replay_end": "vals=hitcount,$d,$e:d=at-$t0,e=bytes+$c0",
                "trigger replay_all hist:keys=method:x=u8:y=$x+1:vals=$y:sort=method": "ok",
                "a variable of its own event: hist replay_all": "  y:        618",
                "a variable of its own event: triggers replay_all": "vals=hitcount,$y:x=u8,y=$x+1",
                "a variable of a key of two: trigger replay_end hist:keys=id,cpu_id:d=at-$t0:vals=$d:sort=id": "ok",
                "a variable of a key of two: hist replay_end": "cpu_id:          1 } hitcount:          3  d:       5465",
                "trigger replay_end hist:keys=name:d=at-$t0:vals=$d:sort=name": "ok",
                "a text as a key: hist replay_end": "hitcount:          1  d:       1582",
                "trigger replay_end hist:keys=text:d=at-$t0:vals=$d:sort=text": "ok",
                "a dynamic text as a key: hist replay_end": "hitcount:          1  d:       1582",
            },
            KEYS: {
                "keys of two numbers: trigger replay_end hist:keys=id,cpu_id:d=at-$t0:vals=$d:sort=id":
                    "parse_error: Variable has another number of keys: it is set by hist:keys=id:t0=at",
            },
            GFP: {"synth e17 gfp_t a": "parse_error: Invalid type"},
            NAMES: {"synth e25 long long a": NAME, "synth e27 u64 a; u64 a": NAME},
            "for fields of the other event there is a listed histogram": {
                "fields of the other event: triggers replay_begin": "t0=at"},
            TYPE: {
                "trigger replay_all hist:keys=seq:x=u64:onchange($x).lat(s8,u8,s16,u16,s32,u32)": "ok",
                "types of the same size have another name: recorded": "a=-15 b=1 c=0 e=10 f=3 g=2147483648",
            },
            CARET: {"trigger replay_end hist:keys=id:d=at-$t0:onmatch(replay.replay_begin).lat($d,id)": "parse_error: Param type"},
            ACTIONS: {"trigger replay_end hist:keys=id:d=at-$t0:onmatch(replay.replay_begin).lat($d,cpu_id,id)": COUNT},
            "a `char[8]` key that is full loses its last byte": {"onmax, save a text: hist replay_all": "fixed: abcdefgh"},
            "what is not saved yet is 0": {"onchange, save: hist replay_all": "\tchanged:          0\n"},
            "two `onmatch()` of one event with fields: an error": {
                "two onmatch: trigger replay_end hist:keys=id:d=at-$t0:onmatch(replay.replay_begin).lat(id,$d):"
                "onmatch(replay.replay_begin).again(id,$d)": "ok",
                "two onmatch: recorded": "again: id=6 d=3",
            },
            TWICE: {
                "trigger synthetic:lat hist:keys=id:twice=d*2:onchange($twice).sum(id,$twice)": "ok",
                "latency of a latency: recorded": "sum: id=6 s=6\nsum: id=6 s=6",
            },
        })

    def test_mistakes(self) -> None:
        cases = ("variables and arithmetic", "a name of two variables", "actions", "an event with no histogram to match",
                 "a histogram of other keys to match")
        self.check(without_snapshots([pair for pair in self.replay("mistakes") if pair[0].case in cases]), LANGUAGE, {
            ABSENT: {
                **dict.fromkeys([f"{MINE}x=$nosuch", f"{MINE}x=$", f"{MINE}x=replay.replay_begin.$nosuch", f"{MINE}vals=$nosuch",
                                 f"{MINE}x=nosuch.replay_begin.$t", f"{MINE}x=replay.nosuch.$t"], NO_VARIABLE),
                f"{MINE}x=replay.replay_begin.at": "parse_error: Invalid field modifier",
                **dict.fromkeys(["hist:keys=$x", "hist:keys=u8,$x"], "parse_error: Using variable references in keys not supported"),
                **dict.fromkeys(["try replay_all hist:keys=s32:d=u64-$t0", "try replay_all hist:keys=s32:d=u64-$t0,e=$t0"],
                                "parse_error: Variable name not unique"),
            },
            CARET: {
                **dict.fromkeys([f"{MINE}x=u8,x=u16", f"{MINE}x=u8:x=u16"], "parse_error: Variable already defined"),
                f"{MINE}x=u16:vals=x": "parse_error: Couldn't find field",
                **dict.fromkeys([f"{MINE}x=-(u8)+2", f"{MINE}x=-(1)+2"], "parse_error: Unary minus"),
                **dict.fromkeys([f"{MINE}x=u8+u16+u32+u64+s8", f"{MINE}x=32+10*3/20-4", f"{MINE}x=u8+1+2+3+4"],
                                "parse_error: Too many subexpressions"),
                **dict.fromkeys([f"{ENDS}onmax(d).save(id)", f"{ENDS}onmax(at).save(id)", f"{ENDS}onchange(d).save(id)"], NOT_A_VARIABLE),
                **dict.fromkeys([f"{LAT}lat(id,$)", f"{LAT}lat(i,$d)"], "parse_error: Invalid action param"),
                f"{ENDS}onmax($d).save($d)": "parse_error: Couldn't create field variable",
                f"{ENDS}onmax($t0).save(id)": "parse_error: Couldn't find onmax or onchange variable",
                "an event with no histogram to match: try replay_end "
                "hist:keys=id:onmatch(replay.replay_begin).lat(id,replay.replay_begin.at)": "parse_error: Matching event",
                "a histogram of other keys to match: try replay_end "
                "hist:keys=id:onmatch(replay.replay_begin).lat(id,replay.replay_begin.at)": "parse_error: Matching event",
                f"{ENDS}onmax($d).trace(lat,$d,id)": "parse_error: Param type",
            },
            ACTIONS: {
                f"{LAT}lat()": COUNT,
                f"{LAT}lat(id,$d,$d)": COUNT,
                **dict.fromkeys([f"{LAT}lat(nosuch,$d)", f"{ENDS}onmax($d).save(nosuch)", f"{ENDS}onmax($d).save(id,nosuch)"],
                                "parse_error: Couldn't find field"),
                **dict.fromkeys([f"{LAT}trace()", f"{ENDS}onchange($d).nosuch()"], "parse_error: Couldn't find synthetic event"),
                f"{ENDS}onmax()": NOT_A_VARIABLE,
                **dict.fromkeys([f"{ENDS}onmax($d).save()", f"{ENDS}onchange($d).save()"], "parse_error: No params found for save()"),
                "try replay_end hist:keys=id:onmatch(replay.replay_begin).lat(id,replay.replay_begin.nosuch)":
                    "parse_error: Couldn't create histogram",
            },
            "a closing parenthesis can be missing": dict.fromkeys(
                [f"{LAT}lat(", f"{LAT}lat(id,$d", f"{ENDS}onmax($d).save(", f"{ENDS}onmax($d).save(id"], NO_PAREN),
            TWICE: {"try replay_begin hist:keys=id:t0=at": "Hist trigger already exists", "try replay_begin hist:keys=id:t0=seq": "ok"},
            "variables have no `.log2`": {f"{MINE}x=u8.log2": "ok"},
            FOLDED: {f"{MINE}x=stacktrace": ":x=stacktrace:"},
            "arrays of numbers of up to 8 bytes, and sets of processors, count by their place in the record": {
                f"{MINE}x=cpus": "parse_error: Expecting numeric field"},
            "a 17th variable behind a comma is left out": {
                MINE + ",".join(f"v{i}=u8" for i in range(17)): "parse_error: Too many variables defined"},
        })

    def test_synthetic_events(self) -> None:
        self.check([pair for pair in self.replay("mistakes") if pair[0].case == "synthetic events"], LANGUAGE, {
            GFP: {"trysynth e char s[0]": "parse_error: Invalid array specification"},
            NAMES: dict.fromkeys(["trysynth e u8 a; u8 a", "trysynth e u8 common_pid"], NAME),
        })


if __name__ == "__main__":
    unittest.main()

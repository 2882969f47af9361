# SPDX-License-Identifier: MIT
"""Histograms show what a running kernel's show, and mistakes have its words: kernel/replay/hists.txt and mistakes.txt."""

from __future__ import annotations

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from kernel.replay import transcript  # noqa: E402

LANGUAGE = "Histograms"
NO_NUMBER = "parse_error: Expecting numeric field"
NO_MODIFIER = "parse_error: Invalid field modifier"
NO_FIELD = "parse_error: Couldn't find field"
NONE_THERE = "there is no such trigger"


class Kernel(transcript.Replayed):
    def test_hists(self) -> None:
        self.check(self.replay("hists"), LANGUAGE, {
            "a `char[8]` key that is full loses its last byte": {
                "an array of 8 characters without an end: hist replay_all": "abcdefgh"},
            "`!TRIGGER` of a histogram that is not there does nothing": dict.fromkeys(
                ["!hist:keys=flag", "!hist:keys=method if u8 > 1", "!hist:keys=flag if u8 > 2"], NONE_THERE),
        })

    def test_mistakes(self) -> None:
        self.check([pair for pair in self.replay("mistakes") if pair[0].case == "histograms"], LANGUAGE, {
            "a text as a value: its address is added up": dict.fromkeys(["hist:keys=u8:vals=text", "hist:keys=u8:vals=fixed"], NO_NUMBER),
            "`.execname` of values, modifiers of texts": dict.fromkeys(
                ["hist:keys=text.hex", "hist:keys=text.log2", "hist:keys=text.sym", "hist:keys=fixed.log2",
                 "hist:keys=fixed.buckets=3", "hist:keys=u8:vals=common_pid.execname"], NO_MODIFIER),
            "`.usecs` on any field, without effect": {"hist:keys=u8.usecs": NO_MODIFIER},
            "arrays of numbers of up to 8 bytes, and sets of processors, count by their place in the record":
                dict.fromkeys(["hist:keys=pair", "hist:keys=list", "hist:keys=cpus", "hist:keys=u8:vals=cpus"], NO_NUMBER),
            "a second modifier is part of a field's name": dict.fromkeys(
                ["hist:keys=u8.hex.hex", "hist:keys=u8.hex.log2"], NO_MODIFIER),
            "modifiers of `common_stacktrace` have no effect": {"hist:keys=common_stacktrace.hex": NO_FIELD},
            "the caret is at the beginning, or elsewhere": {
                **dict.fromkeys(["hist:keys=u8.stacktrace", "hist:keys=list.stacktrace", "hist:keys=u8.buckets=0",
                                 "hist:keys=u8.buckets=junk", "hist:keys=u8.bucketss=2"], NO_MODIFIER),
                "hist:keys=u8:=": "parse_error: Empty assignment",
            },
            "a stack as a value is an invalid modifier": dict.fromkeys(
                ["hist:keys=u8:vals=stacktrace", "hist:keys=u8:vals=common_stacktrace"], NO_FIELD),
            "a variable can have no name: `:=u8`": {"hist:keys=u8:=u8": "parse_error: Malformed assignment"},
            "`clock=` is checked only with timestamps": {"hist:keys=u8:clock=junk": "parse_error: Couldn't set trace_clock"},
        })


if __name__ == "__main__":
    unittest.main()

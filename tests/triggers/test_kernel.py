# SPDX-License-Identifier: MIT
"""Triggers do what a running kernel's do, and are listed as it lists them: kernel/replay/triggers.txt and mistakes.txt.

Snapshots are not compared: here they are of flight recorders, see test_snapshot.py.
"""

from __future__ import annotations

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from kernel.replay import transcript  # noqa: E402

NONE_THERE = "there is no such trigger"
NO_INTEGER = "parse_error: Illegal integer value"
LANGUAGE = "Triggers"


class Kernel(transcript.Replayed):
    def test_triggers(self) -> None:
        pairs = [pair for pair in self.replay("triggers") if "snapshot" not in pair[0].case]
        self.check(pairs, LANGUAGE, {
            "`!TRIGGER` without such a trigger does nothing": {"trigger replay_all !traceoff": NONE_THERE},
            "`!traceoff` takes a `traceon` off as well": {"trigger replay_all !traceon": NONE_THERE},
            "an event's triggers run in the order of their list": {"traceoff and stacktrace: recorded": "<stack trace>"},
        })

    def test_mistakes(self) -> None:
        pairs = [pair for pair in self.replay("mistakes") if pair[0].case == "triggers"]
        self.check(pairs, LANGUAGE, {
            "`!TRIGGER` without such a trigger does nothing": dict.fromkeys(
                ["!traceon", "!stacktrace", "!hist:keys=u8", "!enable_event:replay:replay_end"], NONE_THERE),
            "the count can be empty, behind a blank, or twice": {
                **dict.fromkeys(["traceon:", "traceoff:", "stacktrace:", "traceoff: 5", "traceoff:5:6",
                                 "enable_event:replay:replay_end:5:6"], NO_INTEGER),
                "traceoff 5": "parse_error: Invalid trigger: write if, and a filter behind it",
            },
            "the target of `enable_event` must exist": {
                **dict.fromkeys(["enable_event:replay:nosuch", "enable_event:nosuch:replay_end", "disable_event:replay:nosuch",
                                 "enable_event:replay:*", "enable_hist:replay:nosuch"], "ok"),
            },
        })


if __name__ == "__main__":
    unittest.main()

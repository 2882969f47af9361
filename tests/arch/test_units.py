# SPDX-License-Identifier: MIT
"""The unit tests of the runtime, on an emulated processor."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from platforms import AARCH64, unit_tests  # noqa: E402

CHECK_ALL = "another processor, in an emulator"

# What another processor may do otherwise: order of memory, instructions that are patched, counters, stacks, arguments of
# variable number, signed char, layouts. Options, files, texts and lists are the same everywhere.
DEPENDS = """clock ctf ctf_handlers ctf_instant ctf_threads enable_if events filter fork format enable_flag hist_instant hist_saved
    language lttng marker marker_event pointer probes registry sdt seq_print armed stack stats stats_field switch synthetic_storm
    text_threads thread"""


def load_tests(loader, *_):
    return unit_tests(__name__, loader, AARCH64, DEPENDS.split())

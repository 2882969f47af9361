# SPDX-License-Identifier: MIT
"""LTTng-UST's sessions, in which it records what the benchmark hits."""

from __future__ import annotations

import re
import shutil
import subprocess
import time

from runner import Bench

# LTTng-UST's: how each is made, and its channels. One has rings as large as tpgen's; the other has room for what comes
# until its daemon has run, and keeps no more than so much of what that has written, lest memory run out.
KEPT = "--tracefile-size 128M --tracefile-count 2"
SESSIONS = {"discard": ("--output={}/lttng", {"discard": f"--discard --subbuf-size 8M --num-subbuf 4 {KEPT}",
                                              "wide_discard": f"--discard --subbuf-size 16M --num-subbuf 4 {KEPT}"}),
            "snapshot": ("--snapshot", {"snapshot": "--overwrite --subbuf-size 4M --num-subbuf 4",
                                        "wide_snapshot": "--overwrite --subbuf-size 4M --num-subbuf 4"})}


def start(bench: Bench) -> str:
    """Says why there are none. Root's daemon listens where the system's would: a second one can't be had."""
    if "lttng" not in bench.have or not shutil.which("lttng") or not shutil.which("lttng-sessiond"):
        return "it or lttng-tools are not installed"
    if bench.quick:
        return "this is a quick run"
    bench.environment.update(LTTNG_HOME=bench.shm, LTTNG_UST_REGISTER_TIMEOUT="10000")
    if is_listening(bench):
        return "an lttng-sessiond is running already, and is left alone"
    bench.sessiond = subprocess.Popen(["lttng-sessiond", "--no-kernel"], env=bench.environment,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(50):
        if is_listening(bench):
            break
        time.sleep(0.1)
    else:
        return "lttng-sessiond does not start"
    for name, (of_session, channels) in SESSIONS.items():
        commands = [f"create {name} {of_session.format(bench.shm)}"]
        for event, of_channel in channels.items():
            commands += [f"enable-channel -s {name} -u {of_channel} {event}",
                         f"enable-event -s {name} -u bench:{event} -c {event}"]
        for command in [*commands, f"start {name}"]:
            if bench.run(["lttng", *command.split()], fatal=False).returncode:
                return "its sessions can not be made"
        bench.lttng(f"lttng-{name}", "lttng.h", name)
        bench.lttng(f"lttng-wide-{name}", "lttng.h", f"wide_{name}", '-DEVENTS="lttng_wide.h"')
    return ""


def discarded(bench: Bench) -> int:
    """The events that the session in discard mode has lost since it was made. What is on its way counts, too."""
    bench.run(["lttng", "stop", "discard"])
    lost = re.findall(r"Discarded events:\s*(\d+)", bench.run(["lttng", "list", "discard"]).stdout)
    bench.run(["lttng", "start", "discard"])
    return sum(map(int, lost))


def is_listening(bench: Bench) -> bool:
    return bench.run(["lttng", "--no-sessiond", "list"], fatal=False).returncode == 0

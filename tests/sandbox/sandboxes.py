# SPDX-License-Identifier: MIT
"""What the tests of sandboxes share: the program, its sinks, and the table of docs/internals/system-calls.md."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import platform
import re
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from building import build, generate
from support import ROOT, Case, read, reader, run, temporary, unavailable

HERE = os.path.dirname(os.path.abspath(__file__))
DOCUMENT = os.path.join(ROOT, "docs/internals/system-calls.md")
PARTS = ("sandbox", "filter", "watch", "moments", "process")  # of the program
CANNOT = 77
SIGSYS = -31
LIBC = ("glibc", "2.36")  # whose own calls the table has


@dataclasses.dataclass(frozen=True)
class Row:
    sink: str
    moment: str
    calls: tuple[str, ...]

    def __str__(self) -> str:
        return f"| {self.sink} | {self.moment} | {' '.join(f'`{call}`' for call in self.calls) or 'none'} |"


# What the program of the tests calls a moment of the table.
MOMENTS = {
    "opening, by its function": "open",
    "a thread's first event": "first",
    "each further event": "event",
    "an event after FILE was renamed": "rename",
    "an event that can't be written": "broken",
    "threads that wait for each other": "together",
    "a packet is full": "packet",
    "a packet is full, and so is the ring": "ring",
    "a new thread, while others have all packets": "taken",
    "a thread's exit": "thread",
    "a fork, and the child's first event": "fork",
    "the end of the process": "end",
    "`tp_sink_close()`": "close",
    "an event is enabled": "register",
    "an event is disabled": "unregister",
    "a module comes": "load",
    "a module goes": "unload",
    "each writing of the file": "write",
    "a message": "message",
}

# Not the runtime's: what the moment consists of. Allowed, but not in the table.
OWN = {
    "fork": ("clone", "set_robust_list", "wait4", "exit_group"),
    "end": ("exit_group",),
}

# The moment itself needs them, whatever the runtime does; two threads need not meet at a lock; and only a process that
# has just begun waits until it can tell how fast its clock goes.
NOT_ONLY_THE_RUNTIMES = {
    "load": {"openat", "read", "pread64", "newfstatat", "mmap", "mprotect", "munmap", "close"},
    "unload": {"munmap"},
    "open": {"futex", "clock_nanosleep", "set_robust_list"},
    "fork": {"futex"},
    "end": {"futex"},
    "close": {"futex"},
}

# Where these fail, glibc or liburcu end the program: rt_sigprocmask only where a thread is new to liburcu, or forks,
# exits or waits for readers. getpid is known never to fail.
MUST_NOT_FAIL = {"futex", "getpid", "membarrier", "rseq", "rt_sigprocmask"}
MAY_FAIL = {(moment, "rt_sigprocmask") for moment in ("event", "rename", "packet", "ring", "write")}

# At these moments, the sink's own thread may be met at a lock: for that, the document says, futex is allowed always.
MEETS_HELPER = {("`ctf:`", "load"), ("`ctf:`", "thread"), ("`stats:`", "first"), ("`stats:`", "thread"), ("`stats:`", "write")}

SANDBOXED = ", `TP_SANDBOX=1`"
OUTPUTS = {
    "all": "",
    "`text:`": "text:{file}",
    "`socket:`": "socket:{listener}",
    "`ctf:`": "ctf:{file},packet=4K",
    "`ctf:` in `mode=flight`": "ctf:{file},mode=flight,packet=4K,size=64K",
    "`perfetto:`": "perfetto:{file}",
    "`stats:`": "stats:{file},json",
    "`sdt:`": "sdt:",
    "`ftrace:`": "ftrace:{instance}",
    "`lttng:`": "lttng:",
}


def rows() -> list[Row]:
    """The table of the document."""
    found = []
    for line in read(DOCUMENT).splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 3 and cells[1] in MOMENTS:
            found.append(Row(cells[0], cells[1], tuple(re.findall(r"`(\w+)`", cells[2]))))
    return found


@functools.cache
def built() -> str:
    """The directory of the program, with either library; "" without libseccomp."""
    path = temporary()
    os.chmod(path, 0o755)
    if run(["sh", "-c", "echo '#include <seccomp.h>' | ${CC:-cc} -E - >/dev/null"]).returncode:
        return ""
    generate(path, os.path.join(HERE, "sandbox.tp"), os.path.join(HERE, "module.tp"))
    for libtp in ("shared", "static"):
        build(os.path.join(path, f"sandbox-{libtp}"), *(os.path.join(HERE, f"{part}.c") for part in PARTS), include=[path],
              libtp=libtp, link=["-lseccomp"])
    build(os.path.join(path, "module.so"), os.path.join(HERE, "module.c"), include=[path], libtp="shared")
    return path


@dataclasses.dataclass
class Run:
    """What has become of the program."""
    status: int
    out: str
    err: str
    sink: str
    file: str

    def number(self, name: str) -> int:
        found = re.search(rf"^{name}=(\d+)$", self.out, re.M)
        assert found, self.out
        return int(found[1])

    @property
    def calls(self) -> tuple[str, ...]:
        """As watched."""
        return tuple(sorted(line for line in self.out.splitlines() if "=" not in line))

    def recorded(self) -> int | None:
        """How many records are there; None where nobody can say, as they are nowhere, or only the newest are."""
        if self.sink.startswith("`text:`"):
            return sum(read(path).count("sandbox:sandbox_hit") for path in (self.file, f"{self.file}.1")
                       if os.path.exists(path))
        if self.sink == "`ctf:`":
            done = reader(["babeltrace2", self.file])
            assert done.returncode == 0, done.stderr
            return done.stdout.count("sandbox:sandbox_hit")
        if self.sink == "`stats:`" and os.path.exists(self.file):
            return sum(event["hits"] for event in json.loads(read(self.file))["events"])
        return None


class Sandboxes(Case):
    instance = ""
    listener = ""
    user: dict[str, Any] = {}
    more: dict[str, str] = {}

    def setUp(self) -> None:
        super().setUp()
        if not built():
            self.skipTest("libseccomp-dev is not installed")

    def need_these_calls(self) -> None:
        """Which calls a function makes is the C library's affair."""
        if os.uname().machine != "x86_64" or platform.libc_ver() != LIBC:
            unavailable(self, f"the table is that of {' '.join(LIBC)} on x86-64")

    def environment(self, sink: str, directory: str, moment: str) -> dict[str, str]:
        env = {k: v for k, v in os.environ.items() if not k.startswith(("TP_", "LTTNG_"))}
        file = os.path.join(directory, "out")
        output = OUTPUTS[sink.removesuffix(SANDBOXED)].format(file=file, instance=self.instance,
                                                              listener=self.listener)
        env |= {"SANDBOX_FILE": file, "SANDBOX_FILE_THEN": f"{file}.1", "SANDBOX_INSTANCE": self.instance,
                "SANDBOX_MODULE": os.path.join(built(), "module.so"), "SANDBOX_SINK": output.split(":")[0]}
        if output.startswith("stats:") and moment == "fork":
            output += ",interval=3600"  # the child's thread writes once, and sleeps
        if output and moment != "open":
            env |= {"TP_OUTPUT": output, "TP_ENABLE": "*"}
        if sink.endswith(SANDBOXED):
            env["TP_SANDBOX"] = "1"
        return env

    @staticmethod
    def together(check: Callable[..., None], *jobs: Sequence[Any]) -> None:
        """Calls check with each job's arguments, some at a time: most wait for a second that the program sleeps."""
        failures = []
        with ThreadPoolExecutor(8) as pool:
            for job in [pool.submit(check, *job) for job in jobs]:
                try:
                    job.result()
                except AssertionError as failure:
                    failures.append(str(failure))
        assert not failures, "\n".join(failures)

    def sandbox(self, sink: str, moment: str, what: str, *calls: str, libtp: str = "shared", **more: str) -> Run:
        directory = tempfile.mkdtemp(dir=self.dir)
        env = {**self.environment(sink, directory, moment), **self.more, **more}
        done = run([os.path.join(built(), f"sandbox-{libtp}"), moment, what, *calls], cwd=directory, env=env, **self.user)
        if done.returncode == CANNOT:
            unavailable(self, "no filter of system calls can be set here")
        return Run(done.returncode, done.stdout, done.stderr, sink, env["SANDBOX_FILE"])

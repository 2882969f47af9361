# SPDX-License-Identifier: MIT
"""The examples of docs/outputs, and those of filters, triggers, histograms and latencies, print what the pages say.

A block of sh is run, and the block of text behind it has lines that it prints, "..." standing for anything.
"""

from __future__ import annotations

import os
import re
import shutil
import sys

from building import build, generate
from docs.pages import blocks, have_alone, pattern
from lttng.daemon import Daemon
from lttng.test_lttng import TOOLS, has_headers
from support import BUILD, ROOT, Case, need, read, run, unavailable, until

HERE = os.path.dirname(os.path.abspath(__file__))

# In a mount namespace, where tracefs is in its usual place.
MOUNTED = ("unshare", "-m", "sh", "-c", 'mount -t tracefs none /sys/kernel/tracing && exec "$@"', "sh")

END = "<end of an example>"


def is_as(shown: str, line: str) -> bool:
    """Of the kernel's lines, threads and times may be others, too."""
    shown = re.sub(r"(?<=[a-z]-)\d{4,}\b|\b\d+\.\d{6,9}(?=:)", "...", shown)
    return re.fullmatch(pattern(shown), line) is not None


class Pages(Case):
    def server(self, name: str, *flags: str) -> dict[str, str]:
        """`./server` is a program of this folder. Returns the environment of commands."""
        generate(self.dir, os.path.join(HERE, f"{name}.tp"))
        build(self.path("server"), os.path.join(HERE, f"{name}.c"), include=[self.dir], flags=flags)
        env = {name: value for name, value in os.environ.items() if not name.startswith("TP_")}
        return env | {"PATH": f"{BUILD}:{env['PATH']}", "TP_CONTROL": "0", "LC_ALL": "C"}

    def page(self, page: str, env: dict[str, str], command: tuple[str, ...] = (), others: dict[str, str] | None = None,
             **options) -> None:
        """Runs a page's examples, by a command in front of bash. What ends with & runs already; names and commands can be others."""
        script, wanted = [], []
        text = read(os.path.join(ROOT, f"docs/{page}.md"))
        for name, other in (others or {}).items():
            text, nr = re.subn(rf"\b{name}\b", other, text)
            self.assertTrue(nr, name)
        for block in blocks(text):
            if block.kind == "sh":
                script.append(re.sub(r"^.*&\n", "", block.text, flags=re.M))
                wanted.append("")
            elif block.kind == "text":
                wanted[-1] = block.text
        text = "set -e -o pipefail; exec 2>&1\n" + f"echo '{END}'\n".join(script)
        done = run([*command, "bash", "-c", text], cwd=self.dir, env=env, **options)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertTrue(any(wanted))
        for printed, shown in zip(done.stdout.split(f"{END}\n"), wanted, strict=True):
            for line in shown.splitlines():
                if line != "..." and not any(is_as(line, one) for one in printed.splitlines()):
                    self.fail(f"docs/{page}.md says\n{line}\nbut what came is\n{printed}")

    def test_each_output(self) -> None:
        pages = {name.removesuffix(".md") for name in os.listdir(os.path.join(ROOT, "docs/outputs"))}
        self.assertEqual(pages - {name.removeprefix("test_") for name in dir(self)}, set())

    def test_ctf(self) -> None:
        need(self, "babeltrace2")
        self.page("outputs/ctf", self.server("net"))

    def test_filters(self) -> None:
        self.page("filters", self.server("requests"))

    def test_ftrace(self) -> None:
        need(self, "trace-cmd", "unshare")
        have_alone(self, "tp-record-kernel")
        instance = self.trace_instance()
        os.rmdir(instance)
        self.page("outputs/ftrace", self.server("net"), MOUNTED, {
            # For the switches of a busy system.
            "mkdir (/sys.*)": r"mkdir \1; echo 65536 >\1/buffer_size_kb", "tp record --kernel": "tp record --kernel-buffer 64M --kernel",
            "web": os.path.basename(instance)})

    def test_latency(self) -> None:
        self.page("latency", self.server("requests"))

    def test_histograms(self) -> None:
        self.page("histograms", self.server("requests"))

    def test_lttng(self) -> None:
        need(self, *TOOLS)
        if not has_headers():
            self.skipTest("liblttng-ust-dev is not installed")
        daemon = Daemon()
        self.addCleanup(daemon.end)
        self.dir = daemon.dir
        env = {**self.server("net"), **{name: daemon.env[name] for name in ("HOME", "LTTNG_HOME", "LTTNG_UST_REGISTER_TIMEOUT")}}
        daemon.start()
        server = daemon.popen(["./server", "forever"], env={**env, "TP_OUTPUT": "lttng:"})
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        until(lambda: "net_request" in daemon.lttng("list", "-u").stdout, "the server in lttng list")
        waits = "until sleep 1; lttng stop; [ \"$(babeltrace2 trace 2>/dev/null)\" ]; do lttng start; done"
        self.page("outputs/lttng", env, others={"sleep 1\nlttng stop": waits}, **daemon.user)

    def test_perfetto(self) -> None:
        self.page("outputs/perfetto", self.server("net"))

    def test_statistics(self) -> None:
        need(self, "jq")
        self.page("outputs/statistics", self.server("net"))

    def test_text(self) -> None:
        self.page("outputs/text", self.server("net"))

    def test_triggers(self) -> None:
        self.page("triggers", self.server("requests"))

    def test_usdt(self) -> None:
        need(self, "readelf", "gdb", "bpftrace", "unshare")
        if os.geteuid():
            unavailable(self, "bpftrace needs root")
        env = self.server("net", "-DTP_SDT=1")
        if run([*MOUNTED, "bpftrace", "-e", f"uprobe:{self.path('server')}:main {{ }} interval:ms:1 {{ exit(); }}"]).returncode:
            unavailable(self, "bpftrace can't attach to programs here")
        self.write("bin/tpgen", f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m tpgen "$@"\n')
        os.chmod(self.path("bin/tpgen"), 0o755)
        shutil.copy(os.path.join(HERE, "net.tp"), self.dir)
        self.page("outputs/usdt", {**env, "PATH": f"{self.path('bin')}:{env['PATH']}"}, MOUNTED)

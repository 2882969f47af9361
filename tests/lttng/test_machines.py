# SPDX-License-Identifier: MIT
"""LTTng's relayd on one machine, the program and lttng-sessiond on another: each has its own network and name."""

from __future__ import annotations

import contextlib
import glob
import itertools
import os
import re
import subprocess
import sys
from collections.abc import Iterator

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from building import build, generate  # noqa: E402
from daemon import Daemon, Target  # noqa: E402
from support import ROOT, Case, need, read, reader, run, unavailable, until  # noqa: E402
from test_lttng import HEADERS, TOOLS, has_headers  # noqa: E402

NUMBERS = itertools.count()
COLLECTOR, TRACED = "192.0.2.1", "192.0.2.2"  # RFC 5737 has these for examples
HOST = "web1"
PAGE = read(os.path.join(ROOT, "docs/fleet.md"))


def documented(begin: str) -> list[str]:
    """The page's command that begins so, for this collector and host."""
    line = re.search(rf"^\t({re.escape(begin)}.*)$", PAGE, re.M)
    assert line, begin
    return line[1].replace("COLLECTOR", COLLECTOR).replace("HOST", HOST).replace("'", "").split()


class Machines(Case):
    def setUp(self) -> None:
        super().setUp()
        need(self, *TOOLS, "ip", "setpriv", "unshare", "hostname", "stdbuf")
        if not has_headers():
            self.skipTest(HEADERS)
        names = [f"tpgen-{os.getpid()}-{next(NUMBERS)}" for _ in range(2)]
        for name in names:
            self.make_network(name)
        one, other = names
        self.ip("-n", one, "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", other)
        for name, address in ((one, COLLECTOR), (other, TRACED)):
            self.ip("-n", name, "address", "add", f"{address}/24", "dev", "eth0")
            self.ip("-n", name, "link", "set", "eth0", "up")
            self.ip("-n", name, "link", "set", "lo", "up")
        self.collector, self.traced = self.machine(one, "collector"), self.machine(other, HOST)

    def ip(self, *arguments: str) -> None:
        self.succeed(["ip", *arguments])

    def make_network(self, name: str) -> None:
        done = run(["ip", "netns", "add", name])
        if done.returncode:
            reason = done.stderr.partition("\n")[0]
            unavailable(self, f"there can be no network namespace here: {reason}")
        self.addCleanup(run, ["ip", "netns", "delete", name])

    def machine(self, network: str, host: str) -> Daemon:
        machine = Daemon(("ip", "netns", "exec", network, "unshare", "-u", "sh", "-c", f'hostname {host} && exec "$@"', "sh"))
        self.addCleanup(machine.end)
        return machine

    def end(self, process: subprocess.Popen) -> None:
        process.terminate()
        process.wait()
        for file in (process.stdin, process.stdout):
            if file:
                file.close()

    def start(self) -> Target:
        """relayd, sessiond, and the program, which waits."""
        relayd = self.collector.popen([documented("lttng-relayd")[0]])
        self.addCleanup(self.end, relayd)
        generate(self.traced.dir, os.path.join(HERE, "target.tp"))
        build(self.traced.path("target"), os.path.join(HERE, "target.c"), include=[self.traced.dir])
        self.traced.start()
        target = Target(self.traced, self.traced.path("target"))
        self.addCleanup(target.process.stdout.close)
        self.addCleanup(target.process.wait)
        self.addCleanup(target.process.kill)
        return target

    @contextlib.contextmanager
    def session(self, *less: str) -> Iterator[Target]:
        target = self.start()
        create = [word for word in documented("lttng create")[1:] if word not in less]
        until(lambda: self.traced.lttng(*create, check=False).returncode == 0, "lttng-relayd")
        self.traced.lttng(*"enable-event -u lt:*".split())
        self.traced.lttng(*documented("lttng start")[1:])
        yield target
        self.traced.lttng("destroy")
        self.assertEqual(target.end(), "")

    def test_files(self) -> None:
        """What the collector has after the end."""
        with self.session("--live") as target:
            target.do("hit 100")
        self.assertEqual(glob.glob(self.traced.path("lttng-traces/**/metadata"), recursive=True), [])
        (command,) = re.findall(r"^\tbabeltrace2 (lttng-traces/\S+)$", PAGE, re.M)
        (trace,) = glob.glob(self.collector.path(command.replace("HOST", HOST)))
        self.assertEqual(_hits(trace), list(range(100)))

    def test_live(self) -> None:
        """The collector has them before the session ends."""
        with self.session() as target:
            target.do("hit 5")
            follower = self.collector.popen(["stdbuf", "-oL", *documented("babeltrace2 -i lttng-live")], stdout=subprocess.PIPE, text=True)
            self.addCleanup(self.end, follower)
            self.assertEqual(self.follow(follower, 5), list(range(5)))
            target.do("hit 3")
            self.assertEqual(self.follow(follower, 3), list(range(3)))

    def follow(self, follower: subprocess.Popen, nr: int) -> list[int]:
        assert follower.stdout
        lines = list(itertools.islice(follower.stdout, nr))
        for line in lines:
            self.assertIn(f" {HOST} lt:lt_hit: ", line)
        return _numbers("".join(lines))


def _numbers(text: str) -> list[int]:
    return [int(n) for n in re.findall(r"[{,] n = (\d+)", text)]


def _hits(trace: str) -> list[int]:
    done = reader(["babeltrace2", trace])
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return _numbers(done.stdout)

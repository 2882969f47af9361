# SPDX-License-Identifier: MIT
"""LTTng's relayd on one machine, programs and an lttng-sessiond on each of others: all have their own network and name."""

from __future__ import annotations

import contextlib
import glob
import itertools
import os
import re
import select
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
NETWORKS = {"web1": "192.0.2", "web2": "198.51.100"}  # RFC 5737 has these for examples; .1 is the collector
PAGE = read(os.path.join(ROOT, "docs/fleet.md"))


def documented(begin: str, host: str) -> list[str]:
    """The page's command that begins so, for this host and its collector."""
    line = re.search(rf"^\t({re.escape(begin)}.*)$", PAGE, re.M)
    assert line, begin
    return line[1].replace("COLLECTOR", f"{NETWORKS[host]}.1").replace("HOST", host).replace("'", "").split()


class Machines(Case):
    def setUp(self) -> None:
        super().setUp()
        need(self, *TOOLS, "ip", "setpriv", "unshare", "hostname", "stdbuf")
        if not has_headers():
            self.skipTest(HEADERS)
        self.network = self.make_network()
        self.collector = self.machine(self.network, "collector")

    def ip(self, *arguments: str) -> None:
        self.succeed(["ip", *arguments])

    def make_network(self) -> str:
        name = f"tpgen-{os.getpid()}-{next(NUMBERS)}"
        done = run(["ip", "netns", "add", name])
        if done.returncode:
            reason = done.stderr.partition("\n")[0]
            unavailable(self, f"there can be no network namespace here: {reason}")
        self.addCleanup(run, ["ip", "netns", "delete", name])
        self.ip("-n", name, "link", "set", "lo", "up")
        return name

    def connected(self, host: str) -> Daemon:
        """A machine with a cable to the collector."""
        name = self.make_network()
        self.ip("-n", self.network, "link", "add", host, "type", "veth", "peer", "name", "eth0", "netns", name)
        for network, device, number in ((self.network, host, 1), (name, "eth0", 2)):
            self.ip("-n", network, "address", "add", f"{NETWORKS[host]}.{number}/24", "dev", device)
            self.ip("-n", network, "link", "set", device, "up")
        return self.machine(name, host)

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

    def start_relayd(self) -> None:
        relayd = self.collector.popen([documented("lttng-relayd", "web1")[0]])
        self.addCleanup(self.end, relayd)

    def started(self, machine: Daemon) -> Target:
        """The machine's lttng-sessiond, and a program, which waits."""
        generate(machine.dir, os.path.join(HERE, "target.tp"))
        build(machine.path("target"), os.path.join(HERE, "target.c"), include=[machine.dir])
        machine.start()
        target = Target(machine, machine.path("target"))
        self.addCleanup(target.process.stdout.close)
        self.addCleanup(target.process.wait)
        self.addCleanup(target.process.kill)
        return target

    @contextlib.contextmanager
    def session(self, host: str, *less: str) -> Iterator[Target]:
        machine = self.connected(host)
        target = self.started(machine)
        create = [word for word in documented("lttng create", host)[1:] if word not in less]
        until(lambda: machine.lttng(*create, check=False).returncode == 0, "lttng-relayd")
        machine.lttng(*"enable-event -u lt:*".split())
        machine.lttng(*documented("lttng start", host)[1:])
        yield target
        machine.lttng("destroy")
        self.assertEqual(target.end(), "")
        self.assertEqual(glob.glob(machine.path("lttng-traces/**/metadata"), recursive=True), [], "nothing stays there")

    def test_files(self) -> None:
        """What the collector has after the end, of two machines."""
        self.start_relayd()
        with self.session("web1", "--live") as one, self.session("web2", "--live") as other:
            one.do("hit 100")
            other.do("hit 20")
        (command,) = re.findall(r"^\tbabeltrace2 (lttng-traces/\S+)$", PAGE, re.M)
        for host, nr in (("web1", 100), ("web2", 20)):
            (trace,) = glob.glob(self.collector.path(command.replace("HOST", host)))
            self.assertEqual(_hits(trace), [(host, n) for n in range(nr)])
        both = _hits(self.collector.path("lttng-traces"))
        self.assertEqual(sorted(both), [("web1", n) for n in range(100)] + [("web2", n) for n in range(20)])

    def test_live(self) -> None:
        """The collector has them before the session ends."""
        self.start_relayd()
        with self.session("web1") as target:
            follower = self.collector.popen(["stdbuf", "-oL", *documented("babeltrace2 -i lttng-live", "web1")], stdout=subprocess.PIPE, text=True)
            self.addCleanup(self.end, follower)
            while not select.select([follower.stdout], [], [], 0.1)[0]:
                target.do("other 1")  # it follows from where it has come in
            target.do("hit 5")
            self.assertEqual(self.follow(follower, 5), [("web1", n) for n in range(5)])
            target.do("hit 3")
            self.assertEqual(self.follow(follower, 3), [("web1", n) for n in range(3)])

    def follow(self, follower: subprocess.Popen, nr: int) -> list[tuple[str, int]]:
        assert follower.stdout
        return _read("".join(itertools.islice((line for line in follower.stdout if " lt:lt_other: " not in line), nr)))


def _read(text: str) -> list[tuple[str, int]]:
    """Host and number of each hit."""
    return [(host, int(n)) for host, n in re.findall(r" (\w+) lt:lt_hit: .*[{,] n = (\d+)", text)]


def _hits(trace: str) -> list[tuple[str, int]]:
    done = reader(["babeltrace2", trace])
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return _read(done.stdout)

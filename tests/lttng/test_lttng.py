# SPDX-License-Identifier: MIT
"""The LTTng sink, with a real lttng-sessiond, its tools, lttng-relayd and babeltrace2."""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import glob
import json
import os
import re
import shutil
import struct
import sys
from collections.abc import Iterator
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from daemon import Daemon, Target, free_ports  # noqa: E402
from building import CC, build, generate, runtime, soname  # noqa: E402
from support import BT2_PYTHON, BUILD, ROOT, RUNTIME_INCLUDES, Case, need, need_bt2, read, reader, run, until  # noqa: E402

TOOLS = ("lttng", "lttng-sessiond", "lttng-relayd", "babeltrace2")
HEADERS = "liblttng-ust-dev is not installed"

daemon: Daemon


def has_headers() -> bool:
    cc = os.environ.get("CC", "gcc").split()
    source = "#include <lttng/ust-ringbuffer-context.h>\n"
    return run([*cc, "-E", "-x", "c", "-"], input=source, stdin=None).returncode == 0


def setUpModule() -> None:
    global daemon
    daemon = Daemon()
    if all(map(shutil.which, TOOLS)) and has_headers():
        _build()
        daemon.start()


def tearDownModule() -> None:
    daemon.end()


def _build() -> None:
    """The program and two modules of one event with different layouts, in the daemon's directory."""
    d = daemon.dir
    wide = os.path.join(d, "wide")
    os.mkdir(wide)
    with open(os.path.join(wide, "module.tp"), "w", encoding="utf-8") as file:
        file.write(read(os.path.join(HERE, "module.tp")).replace("__field(int, n)", "__field(long, n)").replace("%d", "%ld"))
    generate(wide, os.path.join(wide, "module.tp"))
    generate(d, *(os.path.join(HERE, f"{name}.tp") for name in ("target", "module")))
    libtp = shutil.copy(os.path.join(BUILD, "libtp.so"), os.path.join(d, soname()))  # $BUILD may be closed to the user
    for output, source, include in (("target", "target.c", d), ("module.so", "module.c", d), ("wide.so", "module.c", wide)):
        build(os.path.join(d, output), os.path.join(HERE, source), include=[include], libtp="",
              link=[libtp, "-Wl,-rpath,$ORIGIN", "-lurcu-bp", "-lpthread"])
    build(os.path.join(d, "host"), os.path.join(HERE, "host.c"), libtp="", link=["-ldl"])


def lines(trace: str) -> list[str]:
    """What babeltrace2 says of each event: "name: { context }, { fields }"."""
    done = reader(["babeltrace2", "--no-delta", trace])
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return [re.sub(r"^\[.*?\] (\S+ )?(?=\S+: \{)", "", line) for line in done.stdout.splitlines()]


def field(name: str, of: list[str]) -> list[str]:
    return [found[1] for line in of if (found := re.search(rf"[{{,] {name} = (\"[^\"]*\"|[^,\s]+)", line))]


class Lttng(Case):
    def setUp(self) -> None:
        super().setUp()
        need(self, *TOOLS)
        if not has_headers():
            self.skipTest(HEADERS)

    def target(self, output: str = "lttng:", **env: str) -> Target:
        target = Target(daemon, daemon.path("target"), output, **env)
        self.addCleanup(target.process.stdout.close)
        self.addCleanup(target.process.wait)
        self.addCleanup(target.process.kill)
        return target

    @contextlib.contextmanager
    def session(self, *enable: str, options: tuple[str, ...] = (), before: tuple[str, ...] = ()) -> Iterator[str]:
        """A session that records; at its end it has written all."""
        name = self.id().rsplit(".", 1)[-1]
        trace = daemon.path(name)
        daemon.lttng("create", name, *(options or (f"--output={trace}",)))
        for command in (*before, *enable):
            daemon.lttng(*command.split(), "-s", name)
        daemon.lttng("start", name)
        try:
            yield trace
        finally:
            daemon.lttng("destroy", name)

    def test_list(self) -> None:
        target = self.target()
        listed = daemon.lttng("list", "-u", "-f").stdout
        of_target = next(part for part in listed.split("PID: ") if part.startswith(f"{target.pid} "))
        events = {found[1]: (found[2], dict(re.findall(r"field: (\w+) \((\w+)\)", found[3])))
                  for found in re.finditer(r" (lt:\w+) \(loglevel: (\w+).*\n((?: +field: .*\n)*)", of_target)}
        self.assertEqual(set(events), {f"lt:lt_{name}" for name in ("hit", "other", "empty", "kinds", "floats")})
        self.assertEqual(events["lt:lt_hit"], ("TRACE_DEBUG_LINE", {"n": "integer", "name": "string", "ratio": "float",
                                                                    "color": "enum"}))
        self.assertEqual(events["lt:lt_other"], ("TRACE_WARNING", {"n": "integer"}))
        self.assertEqual(target.end(), "")

    def test_marker(self) -> None:
        target = self.target()
        listed = daemon.lttng("list", "-u", "-f").stdout
        self.assertRegex(listed, r"marker:lt_mark \(loglevel: TRACE_DEBUG_LINE .*\n"
                                 r" +field: at \(integer\)\n +field: name \(string\)\n +field: n \(integer\)\n")
        with self.session("enable-event -u marker:* --filter n>1") as trace:
            for n in range(4):
                target.do(f"mark {n}")
        self.assertEqual(target.end(), "")
        self.assertEqual([line.partition("}, ")[2] for line in lines(trace)],
                         [f'{{ n = {n}, name = "a \\"marker\\"", at = 0x1234 }}' for n in (2, 3)])

    def test_switched_while_it_runs(self) -> None:
        target = self.target()
        with self.session("enable-event -u lt:*") as trace:
            session = os.path.basename(trace)
            target.do("hit 2")
            daemon.lttng("disable-event", "-u", "lt:*", "-s", session)
            target.do("hit 3")
            target.do("other 1")
            daemon.lttng("enable-event", "-u", "lt:lt_other", "-s", session)
            target.do("hit 3")
            target.do("other 2")
            daemon.lttng("stop", session)
            target.do("other 3")
            daemon.lttng("start", session)
            target.do("other 4")
        self.assertEqual(target.end(), "")
        found = lines(trace)
        self.assertEqual([line.split(":")[1] for line in found], ["lt_hit", "lt_hit", "lt_other", "lt_other"])
        self.assertEqual(field("n", found), ["0", "1", "2", "4"])
        self.assertEqual(field("name", found), ['""', '"two words"'])

    def test_choices(self) -> None:
        """By filter, exclusion and level; several sessions and channels at once."""
        target = self.target()
        sessions = {"integer": ["lt:lt_hit", "--filter", "n >= 3 && n != 4"],
                    "text": ["lt:lt_hit", "--filter", 'name == "two*"'],
                    "float": ["lt:lt_hit", "--filter", "ratio < 0.5"],
                    "symbol": ["lt:lt_hit", "--filter", "color == -1"],
                    "context": ["lt:lt_hit", "--filter", "$ctx.procname == \"target\" && n == 1"],
                    "element": ["lt:lt_kinds", "--filter", "shorts[1] == 17475 && i8 == -128 && last == \"x\""],
                    "excluded": ["lt:*", "-x", "lt:lt_hit,lt:lt_kinds,lt:lt_floats"],
                    "level": ["lt:*", "--loglevel", "TRACE_WARNING"]}
        for name, choice in sessions.items():
            daemon.lttng("create", name, f"--output={daemon.path(name)}")
            daemon.lttng("enable-event", "-u", "-s", name, *choice)
            daemon.lttng("start", name)
        target.do("hit 6")
        target.do("kinds 4")
        target.do("other 9")
        with concurrent.futures.ThreadPoolExecutor() as pool:  # each waits for what is on its way
            list(pool.map(functools.partial(daemon.lttng, "destroy"), sessions))
        self.assertEqual(target.end(), "")
        found = {name: lines(daemon.path(name)) for name in sessions}
        self.assertEqual(field("n", found["integer"]), ["3", "5"])
        self.assertEqual(field("n", found["text"]), ["1", "4"])
        self.assertEqual(field("n", found["float"]), ["0", "1"])
        self.assertEqual(field("n", found["symbol"]), ["0", "3"])
        self.assertEqual(field("n", found["context"]), ["1"])
        self.assertEqual(field("i8", found["element"]), ["-128"])
        self.assertEqual([line.split()[0] for line in found["excluded"]], ["lt:lt_empty:", "lt:lt_other:"])
        self.assertEqual([line.split()[0] for line in found["level"]], ["lt:lt_other:"])

    def test_contexts(self) -> None:
        target = self.target()
        with self.session("enable-event -u lt:lt_hit", "add-context -u -t vpid -t vtid -t procname -t ip") as trace:
            target.do("threads 2")
        self.assertEqual(target.end(), "")
        found = lines(trace)
        self.assertEqual((len(found), set(field("vpid", found))), (8, {str(target.pid)}))
        self.assertEqual((len(set(field("vtid", found))), set(field("procname", found))), (4, {'"target"'}))
        self.assertEqual(len(set(field("ip", found)) - {"0x0"}), 1)

    def test_every_kind_of_field(self) -> None:
        """What the CTF sink's trace of the same run says; beside a text sink."""
        need_bt2(self)
        ctf, text = daemon.path("beside-ctf"), daemon.path("beside-text")
        target = self.target(f"lttng:;ctf:{ctf};text:{text}")
        with self.session("enable-event -u lt:*") as trace:
            target.do("kinds 60")
        self.assertEqual(target.end(), "")
        ours, theirs = (self.events(t) for t in (ctf, trace))
        self.assertEqual(len(read(text).splitlines()), 62)
        self.assertEqual([e["name"] for e in theirs], [e["name"] for e in ours])
        declared = dict(re.findall(r"TRACE_EVENT\((\w+),(.*?)\n\);", read(os.path.join(HERE, "target.tp")), re.S))
        names = re.findall(r"__(?:field|string|array|dynamic_array|bitmask|sockaddr|field_struct)"
                           r"\((?:[^,()]*, )?(\w+)(?=[,)])", declared["lt_kinds"].replace("(mask, 70)", "(x, mask)")
                           .replace("(peer, sizeof(struct sockaddr))", "(x, peer)").replace(", text)", ")"))
        self.assertEqual(len(names), 25)
        for our, their in zip(ours[:60], theirs[:60]):
            for name in names:
                self.assertEqual(_flat(their["fields"][name]), _flat(our["fields"][name]), name)
        self.assertEqual(ours[0]["fields"]["first"], "x")
        our, their = (events[61]["fields"] for events in (ours, theirs))
        self.assertEqual(struct.pack("2Q", *their["fixed"]), struct.pack("2d", *our["fixed"]))
        self.assertEqual(struct.pack("2I", *their["dynamic"]), struct.pack("2f", *our["dynamic"]))
        self.assertEqual(their["wide"], [0x11] * 16)

    def events(self, trace: str) -> list[dict[str, Any]]:
        text = self.read_by(BT2_PYTHON, os.path.join(HERE, "read_events.py"), trace)
        return [json.loads(line) for line in text.splitlines()]

    def test_names(self) -> None:
        """Names that TSDL has no letters for make nobody's trace unreadable."""
        where = daemon.path("names")
        os.mkdir(where)
        generate(where, self.write("names.tp", """#define TRACE_SYSTEM größen
TRACE_EVENT(maß$, TP_PROTO(int n), TP_ARGS(n),
	TP_STRUCT__entry(__field(int, größe) __field(int, a$) __field(int, a_u24_) __field(int, Bool) __string(名, "text") __field(int, 名)
		__dynamic_array(short, b$, 2) __dynamic_array(short, b_u24_, 1) __field(int, c)),
	TP_fast_assign(__entry->größe = n; __entry->a$ = 2; __entry->a_u24_ = 3; __entry->Bool = 4; __assign_str(名); __entry->名 = 5;
		memset(__get_dynamic_array(b$), 0, 4); memset(__get_dynamic_array(b_u24_), 0, 2); __entry->c = 6;),
	TP_printk("%s", __print_symbolic(__entry->größe, { 1, "größer" }))
);
"""))
        main = self.write("main.c", '#define CREATE_TRACE_POINTS\n#include "names.h"\nint main(void)\n{\n\ttrace_maß$(1);\n\treturn 0;\n}\n')
        program = build(os.path.join(where, "program"), main, include=[where],
                        flags=["-Wno-dollar-in-identifier-extension"] if "clang" in CC else [])
        with self.session("enable-event -u größen:*") as trace:
            done = run([program], cwd=where, env={**daemon.env, "TP_ENABLE": "*", "TP_OUTPUT": "lttng:"}, **daemon.user)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual([line.partition("}, ")[2] for line in lines(trace)],
                         ['{ gr_uf6__udf_e = ( "größer" : container = 1 ), a_u24_ = 2, a_u24__2 = 3, Bool_ = 4, _u540d_ = "text", '
                          '_u540d__2 = 5, _b_u24__length = 2, b_u24_ = [ [0] = 0, [1] = 0 ], _b_u24__length_2 = 1, '
                          'b_u24__2 = [ [0] = 0 ], c = 6 }'])

    def test_modules(self) -> None:
        """Loaded while it is recorded; unloaded, loaded again, and by then with another layout."""
        target = self.target()
        with self.session("enable-event -u ltmod:*") as trace:
            for n, name in enumerate(("module.so", "module.so", "wide.so", "module.so")):
                self.assertEqual(target.do(f"load {daemon.path(name)}"), "0")
                self.assertIn("ltmod:ltmod_hit", daemon.lttng("list", "-u").stdout)
                target.do(f"module {n}")
                self.assertEqual(target.do("unload"), "0")
        self.assertEqual(target.end(), "")
        self.assertEqual(field("n", lines(trace)), ["0", "1", "2", "3"])

    def test_opened_by_a_constructor(self) -> None:
        """Inside dlopen: in a program that has no tracepoints before."""
        with self.session("enable-event -u ltmod:*") as trace:
            done = run([daemon.path("host"), daemon.path("module.so"), "3"], env={**daemon.env, "TP_OUTPUT": "lttng:"},
                       **daemon.user)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(field("n", lines(trace)), ["0", "1", "2"])

    def test_fork(self) -> None:
        """The child is a process of its own, with its own buffers."""
        target = self.target()
        with self.session("enable-channel -u --buffers-pid own", "enable-event -u lt:lt_other -c own") as trace:
            child = target.do("fork 5")
        self.assertEqual(target.end(), "")
        found = {of.split("-")[1]: field("n", lines(os.path.join(trace, "ust", "pid", of)))
                 for of in os.listdir(os.path.join(trace, "ust", "pid"))}
        self.assertEqual(found, {child: ["5"], str(target.pid): ["6"]})

    def test_channels(self) -> None:
        """A flight recorder, and what a full channel discards, which LTTng counts."""
        target = self.target()
        name = "test_channels"
        daemon.lttng("create", name, "--snapshot", f"--output={daemon.path(name)}")
        daemon.lttng("enable-channel", "-u", "-s", name, "small", "--subbuf-size", "4k", "--num-subbuf", "2")
        daemon.lttng("enable-event", "-u", "-s", name, "-c", "small", "lt:lt_hit")
        daemon.lttng("start", name)
        os.sched_setaffinity(target.pid, {min(os.sched_getaffinity(0))})  # each processor has a buffer
        target.do("hit 20000")
        daemon.lttng("snapshot", "record", "-s", name)
        daemon.lttng("destroy", name)
        self.assertEqual(target.end(), "")
        done = reader(["babeltrace2", daemon.path(name)])
        self.assertEqual(done.returncode, 0, done.stderr)
        numbers = [int(n) for n in field("n", done.stdout.splitlines())]
        self.assertTrue(0 < len(numbers) < 20000)
        self.assertEqual(numbers, list(range(20000 - len(numbers), 20000)))

    def test_daemon_killed(self) -> None:
        """Neither the program nor another sink is hurt; and the next daemon gets events again."""
        text = daemon.path("survivor")
        target = self.target(f"lttng:;text:{text}")
        daemon.lttng("create", "first", f"--output={daemon.path('first')}")
        daemon.lttng("enable-event", "-u", "-s", "first", "lt:*")
        daemon.lttng("start", "first")
        target.do("other 1")
        daemon.kill()
        for _ in range(100):
            target.do("hit 100")
        target.do("other 2")
        daemon.start()
        listed = f"PID: {target.pid} "
        until(lambda: listed in daemon.lttng("list", "-u").stdout, "the program to be registered again")
        with self.session("enable-event -u lt:lt_other") as trace:
            target.do("other 3")
        self.assertEqual(target.end(), "")
        self.assertEqual(field("n", lines(trace)), ["3"])
        self.assertEqual(len(read(text).splitlines()), 10003)

    def test_over_the_network(self) -> None:
        """To lttng-relayd, as on another machine."""
        control, data, live = free_ports(3)
        relayed = daemon.path("relayed")
        url = "tcp://127.0.0.1:"
        relayd = daemon.popen(["lttng-relayd", "-C", f"{url}{control}", "-D", f"{url}{data}", "-L", f"{url}{live}",
                               "-o", relayed])
        self.addCleanup(relayd.wait)
        self.addCleanup(relayd.terminate)
        name = "test_over_the_network"
        create = ("create", name, f"--set-url=net://127.0.0.1:{control}:{data}")
        until(lambda: daemon.lttng(*create, check=False).returncode == 0, "lttng-relayd")
        target = self.target()
        daemon.lttng("enable-event", "-u", "-s", name, "lt:*")
        daemon.lttng("start", name)
        target.do("hit 100")
        daemon.lttng("destroy", name)
        self.assertEqual(target.end(), "")
        traces = glob.glob(os.path.join(relayed, "**", "metadata"), recursive=True)
        self.assertEqual(len(traces), 1)
        self.assertEqual(field("n", lines(os.path.dirname(traces[0]))), [str(n) for n in range(100)])

    def test_opened_by_the_program(self) -> None:
        target = self.target("")
        self.assertEqual(target.do("open"), "6")
        self.assertEqual(target.do("open"), str(-16))  # EBUSY
        with self.session("enable-event -u lt:lt_other") as trace:
            target.do("other 1")
            target.do("close")
            target.do("other 2")
            self.assertNotIn("lt:lt_other", daemon.lttng("list", "-u").stdout)
            self.assertEqual(target.do("open"), "6")
            target.do("other 3")
        self.assertEqual(target.end(), "tp: LTTng output: there is one already, and LTTng sees all events of the process "
                                       "by it\n")
        self.assertEqual(field("n", lines(trace)), ["1", "3"])

    def test_no_daemon(self) -> None:
        os.chmod(self.dir, 0o777)
        target = self.target(LTTNG_HOME=self.dir)
        target.do("hit 10")
        target.do("fork 1")
        self.assertEqual(target.end(), "")

    def test_library_missing(self) -> None:
        """The file of its name that is found first is no library; then, it is another one."""
        os.chmod(self.dir, 0o755)
        self.write("liblttng-ust.so.1", "")
        end = r"; install LTTng-UST 2.13 or later \(Debian's package is liblttng-ust1\); nothing goes to LTTng\n$"
        library = self.path("liblttng-ust.so.1")
        self.assertRegex(self.told(LD_LIBRARY_PATH=self.dir),
                         f"^tp: LTTng output: liblttng-ust.so.1 can't be loaded: {library}: file too short{end}")
        self.succeed(["gcc", "-shared", "-fPIC", "-nostdlib", "-o", library, "-xc", "/dev/null"])
        self.assertRegex(self.told(LD_LIBRARY_PATH=self.dir),
                         f"^tp: LTTng output: .*: undefined symbol: lttng_ust_probe_register{end}")

    def told(self, output: str = "lttng:", **env: str) -> str:
        target = self.target(f"{output};text:/dev/null", **env)
        target.do("hit 1")
        return target.end()

    def test_nothing_may_follow(self) -> None:
        self.assertEqual(self.told("lttng:session"),
                         "tp: TP_OUTPUT=lttng:session: nothing may follow the colon: LTTng's tools say what is "
                         "recorded, and where; nothing goes there\n")


class Without(Case):
    def test_headers(self) -> None:
        """Built without LTTng's headers: the sink says so."""
        sources = glob.glob(os.path.join(ROOT, "runtime/src/sinks/lttng/*.c"))
        main = self.write("main.c", """\
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <tp/tp.h>

int main(void)
{
	puts(tp_lttng_sink() ? "sink" : errno == ENOTSUP ? "none" : strerror(errno));
}
""")
        self.succeed([*CC.split(), "-std=gnu11", "-D_GNU_SOURCE", "-U__has_include", *RUNTIME_INCLUDES, "-o",
                      self.path("main"), main, *sources, *runtime("static")])
        done = run([self.path("main")])
        self.assertEqual(done.stdout, "none\n")
        self.assertRegex(done.stderr, "^tp: LTTng output: this libtp was built without the headers of LTTng-UST 2.13: ")


def _flat(value: Any) -> Any:
    """Structures, which are arrays of bytes to LTTng, as such."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        flat = [_flat(v) for v in value]
        return [v for part in flat for v in (part if isinstance(part, list) else [part])]
    return value

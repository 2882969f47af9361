# SPDX-License-Identifier: MIT
"""The runtime's folders use each other in one direction, and no file of it uses itself by way of others."""

from __future__ import annotations

import os
import re
import unittest

from building import build, generate
from support import BUILD, ROOT, RUNTIME_SOURCES, Case, read, run

SOURCES = os.path.join(ROOT, "runtime/src")
OBJECTS = os.path.join(BUILD, "obj/runtime/src")

# What each folder may use, besides itself. No sink is in another's list. docs/internals/architecture.md has the picture.
SINKS = ("text", "ctf", "perfetto", "stats", "hist", "latency", "lttng", "ftrace", "sdt")
LAYERS: dict[str, set[str]] = {
    "base": set(),
    "core": {"base"},
    "print": {"base"},
    "record": {"base"},
    "filter": {"base", "print"},
    "count": {"base", "print", "filter"},
    "events": {"base", "core", "print", "record", "filter"},
    **{f"sinks/{sink}": {"base", "core", "print", "record", "filter", "count", "events"} for sink in SINKS},
    "triggers": {"base", "core", "print", "record", "filter", "events", *(f"sinks/{sink}" for sink in SINKS)},
    "control": {"base", "core", "print", "record", "filter", "events", *(f"sinks/{sink}" for sink in SINKS), "triggers"},
    "start": {"base", "core", "print", "record", "filter", "events", *(f"sinks/{sink}" for sink in SINKS), "triggers",
              "control"},
}

REMEDY = """
An arrow may point to a folder below only (LAYERS in tests/structure/test_layers.py). Move the function to the
folder where it belongs, or let the folder below call a hook that the one above registers: struct tp_fork_hook,
struct tp_module_hook, tp_thread_arm() are such."""

Arrows = dict[tuple[str, str], set[str]]  # from a file to another, by what


def folder_of(name: str) -> str:
    """A sink's parts are one folder."""
    return "/".join(os.path.dirname(name).split("/")[:2])


def symbols(objects: list[str], directory: str) -> Arrows:
    """Which object uses which other, as nm sees it."""
    defined: dict[str, str] = {}
    wanted: dict[str, set[str]] = {}
    done = run(["nm", "-A", "-P", *objects])
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        path, rest = line.split(": ", 1)
        symbol, kind = rest.split()[:2]
        name = os.path.relpath(path, directory).removesuffix(".o")
        if kind in "Uw":
            wanted.setdefault(name, set()).add(symbol)
        elif kind.isupper():
            defined[symbol] = name
    arrows: Arrows = {}
    for name, used in wanted.items():
        for symbol in used:
            if symbol in defined and defined[symbol] != name:
                arrows.setdefault((name, defined[symbol]), set()).add(symbol)
    return arrows


def includes(directory: str) -> Arrows:
    """Which file includes which of the runtime's own headers."""
    arrows: Arrows = {}
    for top, _, files in os.walk(directory):
        for file in files:
            name = os.path.relpath(os.path.join(top, file), directory)
            for header in re.findall(r'^\s*#\s*include "([^"]+)"', read(os.path.join(top, file)), re.M):
                arrows.setdefault((name, header), set()).add(f'#include "{header}"')
    return arrows


def wrong_arrows(arrows: Arrows) -> list[str]:
    """Those that LAYERS does not allow, a line each."""
    wrong = []
    for (user, used), by in sorted(arrows.items()):
        above, below = folder_of(user), folder_of(used)
        if above not in LAYERS or below not in LAYERS:
            wrong.append(f"{user} uses {used} ({', '.join(sorted(by))}): LAYERS has no such folder")
        elif above != below and below not in LAYERS[above]:
            wrong.append(f"{user} must not use {used}: {', '.join(sorted(by))}")
    return wrong


def circles(arrows: Arrows) -> list[str]:
    """A line for each way on which something uses itself."""
    uses: dict[str, set[str]] = {}
    for user, used in arrows:
        uses.setdefault(user, set()).add(used)
    found: list[str] = []
    done: set[str] = set()

    def visit(name: str, way: list[str]) -> None:
        if name in way:
            found.append(" -> ".join([*way[way.index(name):], name]))
            return
        if name in done:
            return
        for used in sorted(uses.get(name, ())):
            visit(used, [*way, name])
        done.add(name)

    for name in sorted(uses):
        visit(name, [])
    return found


def folders(arrows: Arrows) -> Arrows:
    between: Arrows = {}
    for (user, used), by in arrows.items():
        if folder_of(user) != folder_of(used):
            between.setdefault((folder_of(user), folder_of(used)), set()).update(by)
    return between


class Layers(unittest.TestCase):
    def holds(self, arrows: Arrows) -> None:
        self.assertTrue(arrows)
        self.assertEqual(wrong_arrows(arrows), [], REMEDY)
        self.assertEqual(circles(arrows), [], REMEDY)
        self.assertEqual(circles(folders(arrows)), [], REMEDY)

    def test_symbols(self) -> None:
        """Of what there is by now: objects of files that are gone may be there, too."""
        self.holds(symbols([os.path.join(OBJECTS, os.path.relpath(path, SOURCES))[:-1] + "o" for path in RUNTIME_SOURCES],
                           OBJECTS))

    def test_includes(self) -> None:
        self.holds(includes(SOURCES))

    def test_every_folder_is_in_the_table(self) -> None:
        self.assertEqual({folder_of(os.path.relpath(path, SOURCES)) for path in RUNTIME_SOURCES}, set(LAYERS))


class Finds(Case):
    """What is wrong is found, and named."""

    def objects(self, **sources: str) -> Arrows:
        objects = []
        for name, text in sources.items():
            path = self.write(name.replace("__", "/") + ".c", text)
            objects.append(path[:-1] + "o")
            self.succeed(["gcc", "-c", "-o", objects[-1], path])
        return symbols(objects, self.dir)

    def test_arrow_up(self) -> None:
        arrows = self.objects(base__fork="void tp_registry_abandon(void); void f(void) { tp_registry_abandon(); }",
                              core__registry="void tp_registry_abandon(void) {}")
        self.assertEqual(wrong_arrows(arrows), ["base/fork must not use core/registry: tp_registry_abandon"])

    def test_arrow_by_data(self) -> None:
        arrows = self.objects(record__reserve="extern int slots; int f(void) { return slots; }",
                              sinks__ctf__ring__stream="int slots = 1;")
        self.assertEqual(wrong_arrows(arrows), ["record/reserve must not use sinks/ctf/ring/stream: slots"])

    def test_arrow_between_sinks(self) -> None:
        arrows = self.objects(sinks__stats__json="void utf8(void); void f(void) { utf8(); }",
                              sinks__ctf__describe__string="void utf8(void) {}")
        self.assertEqual(wrong_arrows(arrows), ["sinks/stats/json must not use sinks/ctf/describe/string: utf8"])

    def test_circle_in_a_folder(self) -> None:
        arrows = self.objects(core__a="void b(void); void a(void) { b(); }", core__b="void c(void); void b(void) { c(); }",
                              core__c="void a(void); void c(void) { a(); }")
        self.assertEqual(wrong_arrows(arrows), [])
        self.assertEqual(circles(arrows), ["core/a -> core/b -> core/c -> core/a"])

    def test_include(self) -> None:
        self.write("print/line.c", '#include "sinks/text/text.h"\n')
        self.write("sinks/ftrace/sink.c", ' # include "sinks/text/text.h"\n')
        self.assertEqual(wrong_arrows(includes(self.dir)),
                         ['print/line.c must not use sinks/text/text.h: #include "sinks/text/text.h"',
                          'sinks/ftrace/sink.c must not use sinks/text/text.h: #include "sinks/text/text.h"'])

    def test_new_folder(self) -> None:
        self.write("core/x.c", '#include "attic/old.h"\n')
        self.assertIn("LAYERS has no such folder", wrong_arrows(includes(self.dir))[0])


class Members(Case):
    """A program links what it uses."""

    def members(self, source: str, *flags: str, declaration: str = "") -> set[str]:
        """The folders of what it has of libtp.a; it runs."""
        generate(self.dir, self.write("small.tp", f"#define TRACE_SYSTEM small\n{declaration}\n"))
        build(self.path("small"), self.write("small.c", source), include=[self.dir], flags=flags,
              link=[f"-Wl,-Map={self.path('map')}"])
        self.succeed([self.path("small")])
        linked = re.findall(r"^\S*libtp\.a\(([\w-]+)\.o\)$", read(self.path("map")), re.M)
        names = {path.removesuffix(".c").replace("/", "-"): folder_of(path)
                 for path in (os.path.relpath(path, SOURCES) for path in RUNTIME_SOURCES)}
        self.linked = sorted(set(linked))
        return {names[name] for name in linked}

    SMALL = """\
#define CREATE_TRACE_POINTS
#include "small.h"

static int hits;

static void probe(void *data, int n)
{
	(void)data;
	hits += n;
}

int main(void)
{
	if (register_trace_small_hit(probe, NULL))
		return 1;
	trace_small_hit(3);
	if (unregister_trace_small_hit(probe, NULL))
		return 2;
	tracepoint_synchronize_unregister();
	trace_small_hit(4);
	return hits == 3 ? 0 : 3;
}
"""
    DECLARATION = "DECLARE_TRACE(small_hit, TP_PROTO(int n), TP_ARGS(n));"

    def test_a_tracepoint_and_a_probe(self) -> None:
        folders_linked = self.members(self.SMALL, "-DTP_ENVIRONMENT=0", declaration=self.DECLARATION)
        self.assertEqual(folders_linked, {"base", "core"}, self.linked)

    def test_environment(self) -> None:
        """The counterpart: with it, the sinks that TP_OUTPUT may name are there."""
        self.assertIn("sinks/ctf", self.members(self.SMALL, declaration=self.DECLARATION))

    def test_size(self) -> None:
        """docs/api.md says how much less it is without; in its order of magnitude, as compilers and options differ."""
        sizes = []
        for flags in ([], ["-DTP_ENVIRONMENT=0"]):
            self.members(self.SMALL, *flags, declaration=self.DECLARATION)
            self.succeed(["strip", self.path("small")])
            sizes.append(os.stat(self.path("small")).st_size)
        said = re.search(r"about\s+(\d+) KiB less", read(os.path.join(ROOT, "docs/api.md")))
        assert said
        self.assertTrue(0.5 < (sizes[0] - sizes[1]) / 1024 / int(said[1]) < 2, sizes)

    def test_one_sink(self) -> None:
        """A sink that the program opens itself brings events/, but no other sink; and it gets what comes."""
        declaration = """\
TRACE_EVENT(small_event, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, n)),
	TP_fast_assign(__entry->n = n;), TP_printk("n=%d", __entry->n));"""
        source = """\
#define CREATE_TRACE_POINTS
#include "small.h"
#include <stdlib.h>
#include <string.h>
#include <tp/tp.h>

int main(void)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	struct tp_sink *sink = tp_text_sink(file);

	if (!sink || tp_enable(sink, "small:*") != 1)
		return 1;
	trace_small_event(7);
	tp_sink_close(sink);
	fclose(file);
	return strstr(text, "small:small_event: n=7\\n") ? 0 : 2;
}
"""
        folders_linked = self.members(source, "-DTP_ENVIRONMENT=0", declaration=declaration)
        self.assertEqual(folders_linked, {"base", "core", "print", "record", "filter", "events", "sinks/text"}, self.linked)

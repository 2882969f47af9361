# SPDX-License-Identifier: MIT
"""All trace headers of two kernels go through tpgen, which finds in them what the C preprocessor does."""

from __future__ import annotations

import collections
import json
import os
import re
import resource

from kernel import oracle, table, tree
from support import Case, check_all, note, tpgen


def first_difference(theirs: str, ours: str) -> str:
    """The two texts from a little in front of the place on which they differ."""
    at = max(0, next((i for i, (a, b) in enumerate(zip(theirs, ours)) if a != b), min(len(theirs), len(ours))) - 30)
    return f"  kernel: ...{theirs[at:at + 100]!r}\n  tpgen:  ...{ours[at:at + 100]!r}"


# Debian's configuration was made for gcc, and clang's preprocessor sets other blanks.
GCC = {"CC": "gcc"}


def counted(text: str) -> str:
    """text without the numbers that the compiler counts, which depend on all that it has read."""
    return re.sub(r"(__UNIQUE_ID_\w*?)\d+", r"\1", text)


# Arguments of TP_printk: where # sets a blank depends on how the calls of macros are laid out.
SPELLINGS = (
    'show(a,\n\t"y"), AND(1\n), AND(\n2)\n, b',
    'a\n\t,show(a, /* x */ "y"\n),\n2, show(\n  a,\nNL)',
    'two(\n a\n  ),two\n  (a)\n   ,2,two\n(\na),two(a\n)\\\n,two\n',
    'show(a, /* x */\n"y")/* x */, show(a,\n"y")\\\n, show(a,"y"\n)\n\n\t,a',
    'a\n-1 + 2,\n AND(\na)-AND(a\n)- -1-\tAND(\n1\n)-AND(\n2)? AND(1\n):3',
    'AND(AND(\na), AND(b\n)), f(\nAND(a\n)), f(AND(\na)\n), ONE\n-ONE',
    '!__event_in_irq() ? a:__event_in_hardirq( ),\n__event_in_softirq()',
    'AND(\n\n"\\n"), \'\\n\'\n, "\\"" NL\n"\\\\", NL',
)


class Spelling(Case):
    def test_arguments_as_the_preprocessor_stringifies_them(self) -> None:
        head = ("#define TRACE_SYSTEM test\n#define show(a, b) __print_symbolic(a, { 1, b }, { 2, \"x\" })\n#define ONE 1\n"
                '#define two(a) a, 3\n#define NL "\\n"\n#define AND(x...) (x)\n#include <trace/define_trace.h>\n')
        path = self.write("x.h", head + "".join(
            f"TRACE_EVENT(e{n}, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, a)), TP_fast_assign(__entry->a = n;),\n"
            f'\tTP_printk(FMT "\\n", {text}));\n' for n, text in enumerate(SPELLINGS)))
        done = tpgen("dump", path, env=GCC)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = {e["name"]: e["print_fmt"] for e in json.loads(done.stdout)["events"]}
        self.assertEqual(found, oracle.read(path, [], False).prints)


@check_all("the kernel's own headers take long")
class Headers(tree.Series):
    def accepted(self, command: str, headers: list[str], options: list[str], expand: bool) -> str:
        """What tpgen says to stdout, without an error; self.seconds is the processor time that it took."""
        mode = ["--expand-includes"] if expand else []
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = tpgen(command, *mode, *options, *headers, env=GCC, timeout=1500)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.assertEqual(done.returncode, 0, done.stderr[-6000:])
        return done.stdout

    def compare(self, headers: list[str], options: list[str], expand: bool) -> tuple[int, int]:
        """Events, and those with the same fields and print format; fails where the events are not the same."""
        model = json.loads(self.accepted("dump", headers, options, expand))
        found: dict[str, dict[str, dict]] = collections.defaultdict(dict)
        for event in model["events"]:
            found[event["file"]][event["name"]] = event
        points = collections.Counter(p["file"] for p in model["tracepoints"])
        total = same = 0
        differences = []
        for header in headers:
            said = oracle.read(header, options, expand)
            name = os.path.basename(header)
            events = {n: (e["system"], e["class"]) for n, e in found[header].items()}
            self.assertEqual(events, said.events, name)
            self.assertEqual(points[header], len(said.points), name)
            for event, (_, event_class) in said.events.items():
                ours = found[header][event]
                theirs = (said.fields[event_class], said.prints.get(event, said.prints[event_class]))
                total += 1
                if ([f["decl"] for f in ours["fields"]], counted(ours["print_fmt"])) == (theirs[0], counted(theirs[1])):
                    same += 1
                else:
                    differences += [f"{name}: {event}\n" + first_difference(a, b) for a, b in zip(
                        [*theirs[0], theirs[1]], [*(f["decl"] for f in ours["fields"]), ours["print_fmt"]]) if a != b]
        if differences:
            self.fail(f"{len(differences)} events\n" + "\n".join(differences[:40]))
        return total, same

    def check_series(self, found: tree.Tree) -> None:
        headers = found.headers
        self.accepted("check", headers, found.plain, False)
        seconds = self.seconds
        total, same = self.compare(headers, found.plain, False)
        expanded, same_expanded = self.compare(headers, found.full, True)
        self.assertEqual(total, expanded)
        note(f"Linux {found.series}, package {found.package}: {len(headers)} headers, {total} events, "
             f"{seconds:.1f} s; with --expand-includes {self.seconds:.1f} s")
        table.check(self, "headers", found, [len(headers), total, total, total, same, same_expanded])

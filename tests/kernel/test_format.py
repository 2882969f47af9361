# SPDX-License-Identifier: MIT
"""The format text of the ftrace backend is the kernel's, for every event that packaged headers can lay out."""

from __future__ import annotations

import concurrent.futures
import functools
import os
import platform
import re
import shlex

from kernel import boot, formats, table, tree, witness
from support import note, temporary, tpgen, unavailable

CHECK_ALL = "the kernel's own headers take long"

AT_ONCE = 40  # headers in one compilation
# Why a format may differ from that of its own kernel: by names that a C file, or a header that is not packaged, defines.
NAMES = ("identical", "with values for names", "with names for expressions")


@functools.cache
def written(found: tree.Tree) -> tuple[dict[tuple[str, str], witness.Event], str]:
    """What tpgen gen --backend ftrace writes for all headers of a kernel, and what it says."""
    directory = temporary()
    known = [word for name in witness.PRELUDE for word in ("-include", name)]
    env = {"CC": shlex.join(witness.compiler(found))}
    at_once = os.cpu_count() or 1

    def write(headers: list[str]) -> str:
        theirs = [word for name in found.includes(headers[0]) for word in ("-include", name)]
        done = tpgen("gen", "--backend", "ftrace", "--expand-includes", *found.full, *known, *theirs, "-o", directory,
                     *headers, env=env, timeout=1500)
        return done.stderr if done.returncode else ""
    alone = [header for header in found.headers if found.includes(header)]
    rest = [header for header in found.headers if header not in alone]
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        errors = "".join(pool.map(write, filter(None, [*(rest[n::at_once] for n in range(at_once)), *([one] for one in alone)])))
    return formats.read_all(directory), errors


class Format(tree.Series):
    def check_series(self, found: tree.Tree) -> None:
        ours, errors = written(found)
        self.assertEqual(errors[-3000:], "")
        theirs: dict[str, witness.Event] = {}
        for n in range(0, len(found.headers), AT_ONCE):
            theirs.update(witness.ask(found, found.headers[n:n + AT_ONCE], self.dir))
        compared = identical = 0
        different = []
        for (system, name), event in sorted(ours.items()):
            if name in theirs:
                compared += 1
                identical += event == theirs[name]
                if not alike(plain(event), plain(theirs[name])):
                    different.append(explain(f"{system}:{name}", theirs[name], event))
        missing = sorted(n for n in theirs if (theirs[n].system, n) not in ours)
        note(f"Linux {found.series}, package {found.package}: {len(ours)} formats, {compared} compared with the "
             f"kernel's, {identical} identical")
        table.check(self, "formats", found, [len(ours), compared, identical])
        self.assertEqual(missing, [], "the kernel's tables have these, tpgen does not")
        if different:
            self.fail(f"{len(different)} of {compared} differ\n" + "\n".join(different[:40]))

    def check_booted(self, series: str) -> None:
        """Against the kernel of the very package, booted: see boot.py."""
        found = tree.need(self, series)
        if not os.path.isdir(boot.directory(found)):
            unavailable(self, f"{boot.directory(found)} is not there: python3 tests/kernel/boot.py makes it")
        ours, live = written(found)[0], formats.read_all(boot.directory(found))
        both = sorted(ours.keys() & live.keys())
        causes: dict[str, list[str]] = {cause: [] for cause in formats.CAUSES}
        fields = [explain(":".join(key), live[key], ours[key]) for key in both if ours[key].fields != live[key].fields]
        for key in both:
            cause = formats.cause(plain(live[key]), [plain(ours[key])])
            same = [formats.blanks(e.print_fmt) for e in (live[key], ours[key])]
            if cause == "with values for names" and same[0] != same[1]:
                cause = "unexplained"
            causes[cause].append(key[1] if cause in NAMES else explain(":".join(key), live[key], ours[key]))
        counts = ", ".join(f"{len(causes[cause])} {cause}" for cause in NAMES)
        note(f"Linux {series}, package {found.package}, booted: {len(live)} events, {len(both)} in the headers: {counts}")
        table.check(self, "booted", found, [len(both), len(both) - len(fields), len(causes["identical"])])
        self.assertEqual(fields, [], "declared or laid out otherwise than in the kernel")
        other = [text for cause in formats.CAUSES if cause not in NAMES for text in causes[cause]]
        self.assertEqual(other, [], "print formats that are others than the kernel's")

    def test_booted_6_1(self) -> None:
        self.check_booted("6.1")

    def test_booted_6_12(self) -> None:
        self.check_booted("6.12")

    def test_running_kernel(self) -> None:
        """Against tracefs: the same declarations must be laid out alike; for the rest, causes are counted."""
        with formats.tracefs() as events:
            if not events:
                unavailable(self, "there is no tracefs here, and it can't be mounted")
            assert events
            live = formats.read_all(events, live=True)
        packaged = [written(tree.need(self, series))[0] for series in tree.SERIES]
        self.assertTrue(all(packaged))
        causes: dict[str, list[str]] = {cause: [] for cause in formats.CAUSES}
        layouts = []
        for key in sorted(live):
            kin = [p[key] for p in packaged if key in p]
            if kin:
                cause = formats.cause(live[key], kin)
                causes[cause].append(key[1] if cause != "unexplained" else explain(":".join(key), live[key], kin[-1]))
                # Of two kernels built with -funsigned-char.
                here, newest = live[key], packaged[-1].get(key, live[key])
                same = [f[0] for f in newest.fields] == [f[0] for f in here.fields]
                # What an array is long is a number in a kernel; of an array that is as wide, the same.
                bounds = [f for f in newest.fields for g in here.fields
                          if (f[0].partition("[")[0], *f[1:]) == (g[0].partition("[")[0], *g[1:]) and f[0] != g[0]]
                if same and newest.fields != here.fields or bounds:
                    layouts.append(explain(":".join(key), here, newest))
        counts = ", ".join(f"{len(names)} {cause}" for cause, names in causes.items())
        note(f"Linux {platform.release()}, running: of its {len(live)} events, those in the packaged headers are: "
             f"{counts}")
        for text in causes["unexplained"]:
            note(text.replace("\n", " "))
        self.assertEqual(layouts, [], "laid out otherwise than in the running kernel")


def plain(event: witness.Event) -> witness.Event:
    """Without the numbers that the compiler gives to the variables of kernel macros such as min(), by counting."""
    return witness.Event(event.system, event.fields, re.sub(r"(__UNIQUE_ID_\w+?_)\d+", r"\1", event.print_fmt))


def alike(ours: witness.Event, theirs: witness.Event) -> bool:
    """Whether the two are the same, but for names that only the kernel's macros, read twice, have values for."""
    one, other = formats.words(ours.print_fmt), formats.words(theirs.print_fmt)
    return (ours.system, ours.fields, len(one)) == (theirs.system, theirs.fields, len(other)) and all(
        a == b or b in witness.UNEVALUATED and a.isdigit() for a, b in zip(one, other)) and (
        ours.print_fmt == theirs.print_fmt or not witness.UNEVALUATED.isdisjoint(other))


def explain(name: str, theirs: witness.Event, ours: witness.Event) -> str:
    """The first difference."""
    for a, b in [(theirs.system, ours.system), *zip([*theirs.fields, None], [*ours.fields, None]),
                 (theirs.print_fmt, ours.print_fmt)]:
        if a != b:
            break
    else:
        a, b = str(theirs.fields), str(ours.fields)
    one, other = str(a), str(b)
    at = max(0, next((i for i, (x, y) in enumerate(zip(one, other)) if x != y), min(len(one), len(other))) - 30)
    return f"{name}\n  kernel: ...{one[at:at + 110]!r}\n  tpgen:  ...{other[at:at + 110]!r}"

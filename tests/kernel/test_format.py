# SPDX-License-Identifier: MIT
"""The format text of the ftrace backend is the kernel's, for every event that packaged headers can lay out."""

from __future__ import annotations

import atexit
import functools
import os
import platform
import shutil
import tempfile

from kernel import formats, table, tree, witness
from support import Case, note, tpgen, unavailable

AT_ONCE = 40  # headers in one compilation


@functools.cache
def written(found: tree.Tree) -> tuple[dict[tuple[str, str], witness.Event], str]:
    """What tpgen gen --backend ftrace writes for all headers of a kernel, and what it says."""
    directory = tempfile.mkdtemp(prefix="tpgen-formats-")
    atexit.register(shutil.rmtree, directory, True)
    known = [word for name in witness.PRELUDE for word in ("-include", name)]
    compiler = " ".join(["gcc", *witness.char_flags(found)])
    done = tpgen("gen", "--backend", "ftrace", "--expand-includes", *found.full, *known, "-o", directory,
                 *found.headers, env={"CC": compiler}, timeout=500)
    return formats.read_all(directory), done.stderr if done.returncode else ""


class Format(Case):
    def tree(self, series: str) -> tree.Tree:
        found = tree.find(series)
        if not found:
            self.skipTest(f"linux-headers-{series}.*-common or its configuration is not installed: make deps")
        assert found
        return found

    def check_series(self, series: str) -> None:
        found = self.tree(series)
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
                if event == theirs[name]:
                    identical += 1
                else:
                    different.append(explain(f"{system}:{name}", theirs[name], event))
        missing = sorted(n for n in theirs if (theirs[n].system, n) not in ours)
        note(f"Linux {series}, package {found.package}: {len(ours)} formats, {compared} compared with the kernel's, "
             f"{identical} identical")
        table.check(self, "formats", series, found.package, [len(ours), compared, identical])
        self.assertEqual(missing, [], "the kernel's tables have these, tpgen does not")
        if different:
            self.fail(f"{len(different)} of {compared} differ\n" + "\n".join(different[:40]))

    def test_6_1(self) -> None:
        self.check_series("6.1")

    def test_6_12(self) -> None:
        self.check_series("6.12")

    def test_running_kernel(self) -> None:
        """Against tracefs. A difference is drift where the two packaged kernels differ as well."""
        with formats.tracefs() as events:
            if not events:
                unavailable(self, "there is no tracefs here, and it can't be mounted")
            assert events
            live = formats.read_all(events)
        packaged = [written(self.tree(series))[0] for series in tree.SERIES]
        shared = identical = 0
        drift, values, unexplained = [], [], []
        for key in sorted(live):
            kin = [p[key] for p in packaged if key in p]
            if not kin:
                continue
            shared += 1
            name = ":".join(key)
            if live[key] in kin:
                identical += 1
            elif len(kin) == 2 and kin[0].fields != kin[1].fields or live[key].fields not in [e.fields for e in kin]:
                drift.append(name)
            elif any(same_but_values(live[key].print_fmt, e.print_fmt) for e in kin):
                values.append(name)
            else:
                unexplained.append(explain(name, live[key], kin[-1]))
        note(f"Linux {platform.release()}, running: {shared} of its {len(live)} events are in the packaged headers; "
             f"{identical} identical, {len(drift)} with other fields, {len(values)} with values for names, "
             f"{len(unexplained)} otherwise")
        for text in unexplained:
            note(text.replace("\n", " "))


def same_but_values(live: str, ours: str) -> bool:
    """The same tokens, but that the kernel shows a number where a name stays with us, or the other way round."""
    one, other = formats.words(live), formats.words(ours)
    return len(one) == len(other) and all(a == b or (a[0].isalnum() or a[0] == "_") and (b[0].isalnum() or b[0] == "_")
                                          for a, b in zip(one, other))


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

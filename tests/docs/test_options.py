# SPDX-License-Identifier: MIT
"""The pages of docs/outputs list the options of sinks: those that the library knows, with the values that it takes."""

from __future__ import annotations

import functools
import glob
import os
import re

from building import build
from support import ROOT, Case, read, run, temporary

# The sinks that have options, by their folders in runtime/src/sinks, and the pages that have their tables.
NOT_IN_C = {"latency"}  # whose options are those of tp latency: tests/latency
TABLES = {"ctf": "docs/outputs/ctf.md", "stats": "docs/outputs/statistics.md"}

# Opens each of these: KIND NAME OPTIONS. What is refused is on stderr.
PROGRAM = r"""
#include <stdio.h>
#include <string.h>
#include <tp/tp.h>

int main(int argc, char **argv)
{
	for (int i = 1; i + 2 < argc; i += 3) {
		const int ctf = strcmp(argv[i], "ctf") == 0;
		struct tp_sink *sink = ctf ? tp_ctf_sink(argv[i + 1], argv[i + 2]) : tp_stats_sink(argv[i + 1], argv[i + 2]);

		printf("%s: %s\n", argv[i + 2], sink ? "opened" : "refused");
		tp_sink_close(sink);
	}
	return 0;
}
"""


@functools.cache
def program() -> str:
    source = os.path.join(temporary(), "options.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    return build(source[:-2], source)


def table(kind: str) -> dict[str, list[str]]:
    """The values of each option, as the table has them: "mode=": ["stream", "flight"]."""
    part = read(os.path.join(ROOT, TABLES[kind])).split("\n## Options\n")[1].split("\n#")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if line.startswith("| `")]
    return {row[0].strip("`"): re.findall(r"`([^`]+)`", row[1]) for row in rows}


class Options(Case):
    def open(self, kind: str, *options: str) -> list[tuple[bool, str]]:
        """For each, whether it was taken, and the message."""
        found = []
        env = {name: value for name, value in os.environ.items() if not name.startswith("TP_")}
        for i, option in enumerate(options):
            done = run([program(), kind, self.path(f"{kind}-{i}"), option], env=env)
            self.assertEqual(done.returncode, 0, done.stderr)
            found.append((done.stdout == f"{option}: opened\n", done.stderr))
        return found

    def names(self, kind: str) -> list[str]:
        """Those that the library knows: it lists them when it is given another."""
        [(taken, message)] = self.open(kind, "no-such")
        self.assertFalse(taken)
        known = re.search(r"there is no option 'no-such'; there are ([^;]*);", message)
        assert known, message
        return re.split(r", | and ", known[1])

    def test_sinks(self) -> None:
        """No other sink has options."""
        sources = glob.glob(os.path.join(ROOT, "runtime/src/sinks/*/*.c"))
        have = {os.path.basename(os.path.dirname(path)) for path in sources if "tp_options_parse(" in read(path)}
        self.assertEqual(have - NOT_IN_C, set(TABLES))

    def test_names(self) -> None:
        for kind in TABLES:
            with self.subTest(kind):
                self.assertEqual(sorted(table(kind)), sorted(self.names(kind)))

    def test_values(self) -> None:
        """Each value of the tables is taken; of an option that takes words, there are no others."""
        for kind in TABLES:
            for name, values in table(kind).items():
                with self.subTest(f"{kind} {name}"):
                    self.assertEqual(name.endswith("="), bool(values))
                    # The limits are what full=overwrite needs.
                    more = ",packets=2" if name == "full=" else ""
                    for taken, message in self.open(kind, *(f"{name}{value}{more}" for value in values)):
                        self.assertTrue(taken, message)
                    self.check_words(kind, name, [value for value in values if "+" not in value])

    def test_overwrite_needs_a_limit(self) -> None:
        """A flight recorder has one by itself."""
        options = ("full=overwrite", "full=overwrite,packets=2", "full=overwrite,size=8M", "full=overwrite,mode=flight")
        self.assertEqual([taken for taken, _ in self.open("ctf", *options)], [False, True, True, True])

    def check_words(self, kind: str, name: str, values: list[str]) -> None:
        """The message says which there are."""
        [(taken, message)] = self.open(kind, f"{name.rstrip('=')}=nonsense")
        self.assertFalse(taken)
        takes = re.search(r": \S+ takes (?:some of )?(.*?)(?:, as in [^;]*)?; there", message)
        assert takes, message
        if not values:
            self.assertEqual(takes[1], "no value")
        elif all(re.fullmatch("[a-z]+", value) for value in values):
            self.assertEqual(sorted(re.split(r", | or | and ", takes[1])), sorted(values))

# SPDX-License-Identifier: MIT
"""What gcov and coverage have counted below build/coverage: measure.py."""

from __future__ import annotations

import collections
import glob
import json
import os
import subprocess

import coverage

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRATCH = os.path.join(ROOT, "build/coverage")
TREE, BIN, NOTES, PYTHON, PARTS = (os.path.join(SCRATCH, name) for name in ("tree", "bin", "notes", "python", "parts"))

Lines = dict[str, dict[int, bool]]  # by file: whether a line was run


def of_runtime() -> tuple[Lines, int, int]:
    """Also the number of branches, and of those taken. Of a line's builds, that counts of which most was taken."""
    lines: Lines = collections.defaultdict(dict)
    branches: dict[tuple, list[bool]] = {}
    notes = sorted(glob.glob(f"{NOTES}/*.gcno"))
    for first in range(0, len(notes), 50):
        done = subprocess.run(["gcov", "-j", "-b", "-t", *notes[first:first + 50]], stdout=subprocess.PIPE, check=False,
                              stderr=subprocess.DEVNULL)
        for found in map(json.loads, filter(None, done.stdout.split(b"\n"))):
            for file in found["files"]:
                name = os.path.relpath(file["file"], TREE)
                for line in file["lines"] if name.startswith("runtime/src/") else ():
                    number = line["line_number"]
                    lines[name][number] = lines[name].get(number, False) or line["count"] > 0
                    key = (name, number, line.get("function_name"), len(line["branches"]))
                    taken = [branch["count"] > 0 for branch in line["branches"]]
                    branches[key] = [a or b for a, b in zip(taken, branches.get(key, taken))]
    best: dict[tuple, list[bool]] = {}
    for key, taken in branches.items():
        best[key[:3]] = max(best.get(key[:3], []), taken, key=lambda each: (sum(each) / max(len(each), 1), len(each)))
    return lines, sum(map(len, best.values())), sum(map(sum, best.values()))


def of_tpgen() -> tuple[Lines, int, int]:
    measured = coverage.Coverage(data_file=f"{SCRATCH}/data", config_file=False, branch=True)
    measured.load()
    measured.combine([PARTS])
    measured.save()
    measured.json_report(sorted(glob.glob(f"{TREE}/tpgen/**/*.py", recursive=True)), f"{SCRATCH}/tpgen.json")
    with open(f"{SCRATCH}/tpgen.json", encoding="utf-8") as file:
        found = json.load(file)
    lines = {os.path.relpath(os.path.join(ROOT, name), TREE): {**dict.fromkeys(each["missing_lines"], False),
                                                               **dict.fromkeys(each["executed_lines"], True)}
             for name, each in found["files"].items()}
    return lines, found["totals"].get("num_branches", 0), found["totals"].get("covered_branches", 0)


def percent(part: int, of: int) -> str:
    return f"{100 * part / of:.1f} %" if of else "none"


def figures(label: str) -> Lines:
    """Prints what was run until now, and lists what was not."""
    both: Lines = {}
    texts = []
    for place, (lines, branches, taken) in (("runtime/src", of_runtime()), ("tpgen", of_tpgen())):
        both |= lines
        run = [was for each in lines.values() for was in each.values()]
        texts.append(f"{place} lines {percent(sum(run), len(run))} branches {percent(taken, branches)}")
    with open(f"{SCRATCH}/{label}.missed", "w", encoding="utf-8") as file:
        file.writelines(f"{name}:{number}\n" for name, each in sorted(both.items())
                        for number, was in sorted(each.items()) if not was)
    print(f"{label}: {'; '.join(texts)}", flush=True)
    return both

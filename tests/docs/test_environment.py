# SPDX-License-Identifier: MIT
"""docs/environment.md has each variable that the runtime, tp and tpgen read, and its examples work."""

from __future__ import annotations

import functools
import glob
import os
import re
import shlex

from building import build, generate
from docs.pages import blocks, have_alone
from support import ROOT, Case, read, run, temporary

PAGE = read(os.path.join(ROOT, "docs/environment.md"))
READ = r'(?:getenv|setting)\("(\w+)"|proc_environment\([^,]+, "(\w+)"|environ\.get\("(\w+)"|\$\{(TPGEN_\w+)[:}]'
PROGRAM = """
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "net.h"

int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < 3; i++)
		trace_net_request("10.0.0.1", 'G', 100 * (size_t)i);
	return argc > 1 ? pause() : 0;
}
"""


def rows() -> list[list[str]]:
    """Cells of the table; a bar in a cell is written \\|."""
    lines = [line for line in PAGE.splitlines() if line.startswith("| `TP_")]
    return [[cell.strip().strip("`") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def variables() -> set[str]:
    """Those that the code reads."""
    paths = [path for pattern in ("runtime/src/**/*.[ch]", "runtime/tools/**/*.[ch]", "tpgen/**/*.py", "tpgen/launcher.sh")
             for path in glob.glob(os.path.join(ROOT, pattern), recursive=True)]
    return {name for path in paths for found in re.findall(READ, read(path)) for name in found if name}


@functools.cache
def program() -> str:
    directory = os.path.join(temporary(), "environment")
    os.mkdir(directory)
    page = blocks(read(os.path.join(ROOT, "README.md")))
    for name, text in (("net.tp", next(block.text for block in page if block.name == "net.tp")), ("server.c", PROGRAM)):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write(text)
    generate(directory, os.path.join(directory, "net.tp"))
    return build(os.path.join(directory, "server"), os.path.join(directory, "server.c"), f"-I{directory}")


class Environment(Case):
    def environment(self, **more: str) -> dict[str, str]:
        env = {name: value for name, value in os.environ.items() if not name.startswith("TP_")}
        return {**env, "XDG_RUNTIME_DIR": self.dir, **more}

    def test_variables(self) -> None:
        """The table has those of libtp, the last section those of others."""
        ours = {row[0] for row in rows()}
        others = re.findall(r"`([A-Z_]{2,})(?:=\w+)?`", PAGE.partition("\n## Variables of others\n")[2])
        self.assertEqual({name for name in variables() if re.match("TP_", name)}, ours)
        self.assertEqual(variables() - ours, set(others))

    def test_examples(self) -> None:
        """Each example sets its variable, and the runtime takes it without a message."""
        have_alone(self, "server")  # which TP_CONTROL=1 lets listen
        for name, _, _, example in rows():
            with self.subTest(example):
                variable, value = shlex.split(example)[0].split("=", 1)
                self.assertEqual(variable, name)
                value = value.replace("/var/tmp", self.dir)
                env = self.environment(**{"TP_ENABLE": "*", "TP_OUTPUT": f"ctf:{self.dir}/all-{variable}", variable: value})
                if variable == "TP_HIST":
                    env["TP_TRIGGER"] = "net_request hist:keys=method"
                done = run([program()], env=env, cwd=self.dir)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotIn("tp: ", done.stderr)

    def test_a_wrong_value_is_told(self) -> None:
        """The test's own: the runtime looks at each value, and complains of these."""
        for name, _, _, _ in rows():
            wrong = {"TP_LOG": "/no/such/file", "TP_HIST": "/no/such/file", "TP_SANDBOX": None}.get(name, "?no-such:[")
            if wrong:
                with self.subTest(name):
                    env = self.environment(**{"TP_OUTPUT": f"ctf:{self.dir}/wrong-{name}", name: wrong})
                    if name == "TP_HIST":
                        env["TP_TRIGGER"] = "net_request hist:keys=method"
                    if name == "TP_LOG":
                        env["TP_CLOCK"] = "?"
                    self.assertIn("tp: ", run([program()], env=env, cwd=self.dir).stderr)

# SPDX-License-Identifier: MIT
"""What the tests of tp report share: a program that hits events when it is told to, and a terminal."""

from __future__ import annotations

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("trace_dat", "control"):
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), folder))

from building import build, generate  # noqa: E402
from reaching import Terminal  # noqa: E402
from support import BUILD, Case, temporary  # noqa: E402

TP = os.path.join(BUILD, "tp")

EVENTS = """
#define TRACE_SYSTEM step
TRACE_EVENT(step, TP_PROTO(int n, double x), TP_ARGS(n, x), TP_STRUCT__entry(__field(int, n) __field(double, x)),
    TP_fast_assign(__entry->n = n; __entry->x = x;), TP_printk("n=%d x=%.1f", __entry->n, __entry->x));
TRACE_EVENT(other, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, n)), TP_fast_assign(__entry->n = n;),
    TP_printk("n=%d", __entry->n));
TRACE_EVENT(rare, TP_PROTO(int n), TP_ARGS(n), TP_STRUCT__entry(__field(int, n)), TP_fast_assign(__entry->n = n;),
    TP_printk("n=%d", __entry->n));
"""

# "hit N" and "thread N": so many steps, in this thread or in one that ends then.
SOURCE = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#define CREATE_TRACE_POINTS
#include "step.h"
static int number;
static void *hit(void *nr)
{
    for (long i = 0; i < (long)nr; i++) {
        trace_step(number, number / 2.0);
        if (number % 3 == 0)
            trace_other(number);
        if (number % 1000 == 0)
            trace_rare(number);
        number++;
    }
    return NULL;
}
int main(void)
{
    char word[16];
    long nr;
    while (scanf("%15s %ld", word, &nr) == 2) {
        pthread_t thread;
        if (*word == 't' && pthread_create(&thread, NULL, hit, (void *)nr) == 0)
            pthread_join(thread, NULL);
        else
            hit((void *)nr);
        puts("done");
        fflush(stdout);
    }
    return 0;
}
"""


class Stepping(Case):
    program = ""

    @classmethod
    def setUpClass(cls) -> None:
        directory = temporary()
        for name, text in (("step.tp", EVENTS), ("step.c", SOURCE)):
            with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
                file.write(text)
        generate(directory, os.path.join(directory, "step.tp"))
        cls.program = build(os.path.join(directory, "step"), os.path.join(directory, "step.c"), include=[directory], flags=["-pthread"])

    def setUp(self) -> None:
        super().setUp()
        self.trace = self.path("trace")
        self.env = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "PAGER", "LESS", "TERM")}
        self.env["TERM"] = "xterm"

    def begin(self, trace: str = "", options: str = "") -> subprocess.Popen:
        process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env={
            **os.environ, "TP_ENABLE": "*", "TP_OUTPUT": f"ctf:{trace or self.trace}{options}"})
        self.addCleanup(self.close, process)
        return process

    @staticmethod
    def close(process: subprocess.Popen) -> None:
        process.kill()
        process.communicate()

    def step(self, process: subprocess.Popen, word: str, nr: int) -> None:
        assert process.stdin and process.stdout
        process.stdin.write(f"{word} {nr}\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), "done\n")

    def record(self, *steps: tuple[str, int], trace: str = "", options: str = "") -> None:
        process = self.begin(trace, options)
        for word, nr in steps:
            self.step(process, word, nr)
        process.communicate()

    def terminal(self, *arguments: str, columns: int = 80, rows: int = 24, **env: str) -> Terminal:
        terminal = Terminal([TP, "report", *arguments], self.dir, {**self.env, **env}, rows, columns)
        self.addCleanup(terminal.close)
        return terminal

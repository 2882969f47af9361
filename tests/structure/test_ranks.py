# SPDX-License-Identifier: MIT
"""Where TP_CHECK_RANKS is set, a lock that is taken against the order of base/mutex.h ends the process."""

from __future__ import annotations

import os
import signal

from building import build, sanitized
from support import RUNTIME_INCLUDES, Case, run, temporary

PROGRAM = """\
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/locks.h"
#include "base/process.h"
#include "base/readers.h"

static struct tp_mutex one = TP_MUTEX_INIT(TP_RANK_SINK, "one sink"), other = TP_MUTEX_INIT(TP_RANK_SINK, "another");

static void in_order(void)
{
	tp_lock(&tp_events_lock);
	tp_lock(&tp_registry_lock);
	tp_mutex_lock(&one);
	tp_mutex_lock(&other);
	tp_mutex_lock(&tp_ctf_lock);
	tp_mutex_unlock(&one); /* in any order */
	tp_mutex_unlock(&tp_ctf_lock);
	tp_mutex_unlock(&other);
	tp_unlock(&tp_registry_lock);
	tp_unlock(&tp_events_lock);
	tp_wait_for_readers();
}

/* A fork takes all of them. */
static int across_fork(void)
{
	int status;

	pid_t child = fork();
	in_order();
	if (!child)
		_exit(0);
	waitpid(child, &status, 0);
	return status;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	tp_process_start();
	if (!strcmp(what, "fork"))
		return across_fork();
	in_order();
	if (!strcmp(what, "against")) {
		tp_lock(&tp_registry_lock);
		tp_lock(&tp_events_lock);
	} else if (!strcmp(what, "twice")) {
		tp_mutex_lock(&tp_ctf_lock);
		tp_mutex_lock(&tp_ctf_lock);
	} else if (!strcmp(what, "wait")) {
		tp_lock(&tp_events_lock);
		tp_wait_for_readers();
	} else if (!strcmp(what, "try")) { /* never waits, and so needs no order */
		tp_mutex_lock(&tp_ctf_lock);
		if (tp_try_lock(&tp_events_lock))
			tp_unlock(&tp_events_lock);
		tp_mutex_unlock(&tp_ctf_lock);
	} else if (!strcmp(what, "behind")) { /* but what comes after it does */
		tp_lock(&tp_registry_lock);
		tp_try_lock(&tp_events_lock);
		tp_lock(&tp_registry_lock);
	}
	return 0;
}
"""


class Ranks(Case):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        directory = temporary()
        cls.program = os.path.join(directory, "ranks")
        with open(f"{cls.program}.c", "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        build(cls.program, f"{cls.program}.c", flags=["-DTP_CHECK_RANKS=1", *RUNTIME_INCLUDES], libtp="",
              link=[os.path.join(sanitized("ranks"), "libtp.a"), "-lurcu-bp", "-lpthread"])

    def aborts(self, what: str, taken: str, held: str) -> None:
        done = run([self.program, what])
        self.assertEqual(done.returncode, -signal.SIGABRT, done.stderr)
        self.assertRegex(done.stderr, rf"\Atp: {taken} \(rank \d+\) is taken against the order of locks: this thread "
                                      rf"holds {held} \(rank \d+\); base/mutex\.h has the order\n\Z")

    def test_in_order(self) -> None:
        for what in ("", "try", "fork"):
            self.assertEqual((run([self.program, what]).stderr, self.succeed([self.program, what]).stdout),
                             ("", ""))

    def test_against_it(self) -> None:
        self.aborts("against", "tp_events_lock", "tp_registry_lock")

    def test_twice(self) -> None:
        self.aborts("twice", "tp_ctf_lock", "tp_ctf_lock")

    def test_wait_for_readers(self) -> None:
        self.aborts("wait", "the wait for readers", "tp_events_lock")

    def test_after_a_try(self) -> None:
        self.aborts("behind", "tp_registry_lock", "tp_registry_lock")

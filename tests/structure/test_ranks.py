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

#include "base/lock.h"
#include "base/process.h"
#include "base/fork.h"
#include "base/readers.h"

static struct tp_lock events = TP_LOCK_INIT(TP_RANK_EVENTS, "the events");
static struct tp_lock registry = TP_LOCK_INIT(TP_RANK_REGISTRY, "the registry");
static struct tp_mutex streams = TP_MUTEX_INIT(TP_RANK_CTF, "the streams");
static struct tp_mutex one = TP_MUTEX_INIT(TP_RANK_SINK, "one sink"), other = TP_MUTEX_INIT(TP_RANK_SINK, "another");

static struct tp_fork_hook hooks[] = {
	{.rank = TP_RANK_CTF, .lock = &streams},
	{.rank = TP_RANK_EVENTS, .lock = &events.mutex},
	{.rank = TP_RANK_REGISTRY, .lock = &registry.mutex},
};

static void in_order(void)
{
	tp_lock(&events);
	tp_lock(&registry);
	tp_mutex_lock(&one);
	tp_mutex_lock(&other);
	tp_mutex_lock(&streams);
	tp_mutex_unlock(&one); /* in any order */
	tp_mutex_unlock(&streams);
	tp_mutex_unlock(&other);
	tp_unlock(&registry);
	tp_unlock(&events);
	tp_wait_for_readers();
}

/* A fork takes all of them, whatever the order in which they were registered. */
static int across_fork(void)
{
	int status;

	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++)
		tp_fork_register(&hooks[i]);
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
		tp_lock(&registry);
		tp_lock(&events);
	} else if (!strcmp(what, "twice")) {
		tp_mutex_lock(&streams);
		tp_mutex_lock(&streams);
	} else if (!strcmp(what, "wait")) {
		tp_lock(&events);
		tp_wait_for_readers();
	} else if (!strcmp(what, "try")) { /* never waits, and so needs no order */
		tp_mutex_lock(&streams);
		if (tp_try_lock(&events))
			tp_unlock(&events);
		tp_mutex_unlock(&streams);
	} else if (!strcmp(what, "behind")) { /* but what comes after it does */
		tp_lock(&registry);
		tp_try_lock(&events);
		tp_lock(&registry);
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
        self.aborts("against", "the events", "the registry")

    def test_twice(self) -> None:
        self.aborts("twice", "the streams", "the streams")

    def test_wait_for_readers(self) -> None:
        self.aborts("wait", "the wait for readers", "the events")

    def test_after_a_try(self) -> None:
        self.aborts("behind", "the registry", "the registry")

/* SPDX-License-Identifier: MIT */
/*
 * test_losses.c - what forked children have lost, as the process tells that opened the sink.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/losses.h"
#include "util.h"

static struct tp_losses losses;
static struct tp_sink sink;

static void setup(void)
{
	ck_assert(tp_losses_begin(&losses));
	sink = (struct tp_sink){.ops = NULL};
}

static void teardown(void)
{
	tp_losses_end(&losses);
}

FIXTURE(setup, teardown)

/* A child that loses so many for want of a file, and is killed then. */
static pid_t fork_child(unsigned long nr)
{
	pid_t pid = fork();

	if (pid == 0) {
		tp_losses_in_child(&losses, &sink);
		if (nr)
			tp_sink_count_all_lost(&sink, TP_LOST_NO_FILE, nr);
		raise(SIGKILL);
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	return pid;
}

TEST(none)
{
	struct tp_losses_of_child child;
	unsigned int at = 0;

	fork_child(0);
	ck_assert(!tp_losses_next(&losses, &at, &child));
}

TEST(by_child_and_cause)
{
	struct tp_losses_of_child child;
	unsigned int at = 0;

	for (unsigned long nr = 1; nr <= 3; nr++) {
		const unsigned int before = at;
		pid_t pid = fork_child(nr);
		ck_assert(tp_losses_next(&losses, &at, &child));
		ck_assert_int_eq(child.pid, pid);
		ck_assert_uint_eq(child.lost[TP_LOST_NO_FILE], nr);
		ck_assert_uint_eq(child.lost[TP_LOST_LIMIT], 0);
		ck_assert_uint_gt(at, before);
	}
	ck_assert(!tp_losses_next(&losses, &at, &child));
	ck_assert_uint_eq(sink.lost[TP_LOST_NO_FILE], 0);
}

/* Those that lose nothing take none; when all are taken, children share the last. */
TEST(more_children_than_places)
{
	struct tp_losses_of_child child;
	unsigned long sum = 0;
	unsigned int at = 0;

	for (unsigned int i = 0; i < 100; i++)
		fork_child(0);
	const pid_t first = fork_child(1);
	for (unsigned int i = 1; i < 100; i++)
		fork_child(1);
	ck_assert(tp_losses_next(&losses, &at, &child));
	ck_assert_int_eq(child.pid, first);
	do {
		sum += child.lost[TP_LOST_NO_FILE];
	} while (tp_losses_next(&losses, &at, &child));
	ck_assert_int_eq(child.pid, 0);
	ck_assert_uint_eq(sum, 100);
}

/* A child does not tell of its brothers. */
TEST(in_a_child)
{
	struct tp_losses_of_child child;
	unsigned int at = 0;
	int status;

	fork_child(1);
	pid_t pid = fork();
	if (pid == 0) {
		tp_losses_in_child(&losses, &sink);
		_exit(tp_losses_next(&losses, &at, &child));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

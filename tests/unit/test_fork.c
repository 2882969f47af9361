/* SPDX-License-Identifier: MIT */
/*
 * test_fork.c - hooks around a fork: their order, signals meanwhile, and hooks
 * that come too late.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/process.h"
#include "util.h"

static char calls[256];

static void note(const char *what)
{
	strcat(strcat(calls, what), " ");
}

/* 0 where the child has called this, too. */
static int status_of_child(const char *in_child)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(strcmp(calls, in_child) != 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void before_low(void) { note("before-low"); }
static void before_high(void) { note("before-high"); }
static void in_child_low(void) { note("in-child-low"); }
static void in_child_high(void) { note("in-child-high"); }
static void after_low(bool child) { note(child ? "after-low-child" : "after-low"); }
static void after_high(bool child) { note(child ? "after-high-child" : "after-high"); }
static void resume_low(void) { note("resume-low"); }

TEST(in_order_of_ranks)
{
	static struct tp_fork_hook low = {.rank = TP_RANK_REGISTRY, .before = before_low, .in_child = in_child_low,
					  .after = after_low, .resume = resume_low};
	static struct tp_fork_hook high = {.rank = TP_RANK_LAST, .before = before_high, .in_child = in_child_high,
					   .after = after_high};

	tp_process_start();
	tp_fork_register(&high);
	tp_fork_register(&low);
	tp_fork_register(&high);
	ck_assert_int_eq(status_of_child("before-low before-high in-child-low in-child-high after-high-child after-low-child "
					 "resume-low "), 0);
	ck_assert_str_eq(calls, "before-low before-high after-high after-low ");
}

static void on_signal(int signal)
{
	(void)signal;
	note("handler");
}

static void raises(void)
{
	note("before");
	raise(SIGUSR1);
}

static void after(bool child)
{
	(void)child;
	note("after");
}

/* A handler may hit a tracepoint whose probe wants a lock that is held. In the child it is not pending. */
TEST(handlers_wait)
{
	/* In front of liburcu's, which blocks them, too, unless the thread is a reader that is waited for. */
	static struct tp_fork_hook hook = {.rank = TP_RANK_NONE, .before = raises, .after = after};

	tp_process_start();
	tp_fork_register(&hook);
	signal(SIGUSR1, on_signal);
	ck_assert_int_eq(status_of_child("before after "), 0);
	ck_assert_str_eq(calls, "before after handler ");
}

static struct tp_fork_hook late = {.rank = TP_RANK_SINK, .before = before_low, .after = after_low};

static void registers_another(void)
{
	note("before-high");
	tp_fork_register(&late);
}

/* As another thread may register one: what it has not taken it does not give back. */
TEST(hook_that_comes_too_late)
{
	static struct tp_fork_hook hook = {.rank = TP_RANK_LAST, .before = registers_another, .after = after_high};

	tp_process_start();
	tp_fork_register(&hook);
	ck_assert_int_eq(status_of_child("before-high after-high-child "), 0);
	ck_assert_str_eq(calls, "before-high after-high ");
	calls[0] = '\0';
	ck_assert_int_eq(status_of_child("before-low before-high after-high-child after-low-child "), 0);
}

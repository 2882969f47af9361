/* SPDX-License-Identifier: MIT */
/*
 * test_synthetic_storm.c - synthetic events are defined, removed, hit, also by signal handlers, and enabled, while the process forks.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tp/tp.h>

#include "events/synthetic.h"
#include "util.h"

#define WORD(text) ((uint64_t)(uintptr_t)(text))

static struct tp_sink *sink;

#define ROUNDS 300

static struct tp_synthetic *volatile storming;
static volatile bool ends;

static void on_signal(int number)
{
	const int error = errno;

	(void)number;
	if (storming)
		tp_synthetic_hit(storming, (uint64_t[]){7, WORD("signal")});
	errno = error;
}

static void *hit_all_the_time(void *unused)
{
	while (!ends) {
		tp_synthetic_hit(storming, (uint64_t[]){7, WORD("thread")});
		raise(SIGUSR1);
	}
	return unused;
}

static void *define_and_remove(void *name)
{
	char definition[64], removal[64];

	snprintf(definition, sizeof(definition), "%s u64 a; char b[]", (const char *)name);
	snprintf(removal, sizeof(removal), "!%s", (const char *)name);
	for (int i = 0; i < ROUNDS; i++) {
		int result = tp_synthetic_event(definition, NULL);
		ck_assert(result == 0 || result == -EEXIST);
		struct tp_synthetic *held = tp_synthetic_hold(name);
		if (held) {
			tp_synthetic_hit(held, (uint64_t[]){(uint64_t)i, WORD(name)});
			tp_synthetic_let_go(held);
		}
		result = tp_synthetic_event(removal, NULL);
		ck_assert(result == 0 || result == -ENOENT || result == -EBUSY);
	}
	return NULL;
}

static void *enable_and_disable(void *unused)
{
	while (!ends) {
		tp_enable(sink, "synthetic:*");
		tp_disable(sink, "synthetic:coming*");
	}
	return unused;
}

static void *fork_all_the_time(void *unused)
{
	while (!ends) {
		pid_t child = fork();
		/* What somebody was changing is gone, or there. AddressSanitizer's malloc is no use here, nor are check's locks. */
		if (!child) {
			int result = under_sanitizer() ? 0 : tp_synthetic_event("coming_a int other", NULL);
			_exit(result == 0 || result == -EEXIST ? 0 : 1);
		}
		int status;
		ck_assert_int_gt(child, 0);
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert_int_eq(status, 0);
	}
	return unused;
}

TEST(storm)
{
	pthread_t definers[3], hitter, enabler, forker;
	char *names[3] = {"coming_a", "coming_a", "coming_b"};

	signal(SIGUSR1, on_signal);
	ck_assert_int_eq(tp_synthetic_event("stays u64 a; char b[]", NULL), 0);
	storming = tp_synthetic_hold("stays");
	ends = false;
	sink = tp_ctf_sink(temp_dir(), "size=64K,mode=flight");
	ck_assert_ptr_nonnull(sink);
	ck_assert_int_ge(tp_enable(sink, "synthetic:*"), 0);
	pthread_create(&hitter, NULL, hit_all_the_time, NULL);
	pthread_create(&enabler, NULL, enable_and_disable, NULL);
	pthread_create(&forker, NULL, fork_all_the_time, NULL);
	for (int i = 0; i < 3; i++)
		pthread_create(&definers[i], NULL, define_and_remove, names[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(definers[i], NULL);
	ends = true;
	pthread_join(hitter, NULL);
	pthread_join(enabler, NULL);
	pthread_join(forker, NULL);
	tp_sink_close(sink);
	tp_synthetic_let_go(storming);
	storming = NULL;
	ck_assert_int_eq(tp_synthetic_event("!stays", NULL), 0);
}

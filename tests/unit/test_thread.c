/* SPDX-License-Identifier: MIT */
/* test_thread.c - threads' ids, which are found without a system call: they are the kernel's. */
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "base/thread.h"
#include "util.h"

static void *compare(void *same)
{
	*(bool *)same = tp_thread_id() == syscall(SYS_gettid) && tp_thread_id() == syscall(SYS_gettid);
	return NULL;
}

static bool is_same_in_new_thread(void)
{
	pthread_t thread;
	bool same = false;

	ck_assert_int_eq(pthread_create(&thread, NULL, compare, &same), 0);
	pthread_join(thread, NULL);
	return same;
}

TEST(id_is_the_kernels)
{
	bool same;

	compare(&same);
	ck_assert(same);
	ck_assert(is_same_in_new_thread());
}

/* In a child: whether or not the parent's thread had asked for its id. */
LOOP_TEST(id_in_a_child, 2)
{
	int status;

	tp_process_start();
	if (_i)
		tp_thread_id();
	pid_t child = fork();
	if (child == 0)
		_exit(tp_thread_id() == getpid() && is_same_in_new_thread() ? 0 : 1);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(tp_thread_id(), syscall(SYS_gettid));
}

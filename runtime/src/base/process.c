/* SPDX-License-Identifier: MIT */
/*
 * base/process.c - the start of all that base/ has.
 */
#include <pthread.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/file.h"
#include "base/fork.h"
#include "base/guard.h"
#include "base/locks.h"
#include "base/message.h"
#include "base/process.h"
#include "base/readers.h"
#include "base/thread.h"

static void start(void)
{
	tp_sandbox_start();
	tp_message_start();
	tp_clock_start();
	tp_thread_start();
	tp_exit_start();
	tp_readers_start();
	tp_fork_latch_start();
	tp_locks_start();
	tp_fork_start(); /* when all hooks are there */
}

void tp_process_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start);
}

/* SPDX-License-Identifier: MIT */
/*
 * base/scratch.c - a stack of memory for each thread, for records and their text
 * while they are being written.
 *
 * A signal handler may push and pop at any moment between two instructions
 * of the thread's own push or pop; as it leaves the top where it found it,
 * a plain load and store are enough.
 */
#include <sys/mman.h>

#include "base/base.h"
#include "base/guard.h"
#include "base/scratch.h"
#include "base/thread.h"

TP_THREAD_LOCAL char *tp_scratch_base;
TP_THREAD_LOCAL char *tp_scratch_top;

/*
 * A later destructor that hits a tracepoint makes the stack anew. What is still on it are records that the thread has
 * left in the middle, by its end.
 */
static void leave(void)
{
	char *memory = tp_scratch_base;

	if (!memory)
		return;
	tp_scratch_base = NULL;
	tp_barrier(); /* a signal handler from here on makes its own */
	munmap(memory, TP_SCRATCH_SIZE);
}

static TP_COLD bool scratch_create(void)
{
	struct tp_guard guard;
	bool done = false;

	if (!tp_guard_enter(&guard))
		return false;
	if (!tp_scratch_base && tp_thread_arm(leave)) {
		void *memory =
			mmap(NULL, TP_SCRATCH_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory != MAP_FAILED) {
			tp_scratch_top = memory;
			tp_barrier(); /* the base says that both are there */
			tp_scratch_base = memory;
		}
	}
	done = tp_scratch_base != NULL;
	tp_guard_leave(&guard);
	return done;
}

void *tp_scratch_push(size_t size)
{
	if (__builtin_expect(!tp_scratch_base, 0) && !scratch_create())
		return NULL;
	return tp_scratch_push_short(size);
}

void tp_scratch_pop(void *memory)
{
	tp_scratch_pop_short(memory);
}

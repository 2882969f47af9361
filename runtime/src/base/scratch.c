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

#include <tp/scratch.h>

#include "base/base.h"
#include "base/guard.h"
#include "base/thread.h"

#define SCRATCH_SIZE ((size_t)256 << 10)
#define SCRATCH_ALIGN ((size_t)16)

static TP_THREAD_LOCAL char *base;
static TP_THREAD_LOCAL char *top;

/*
 * A later destructor that hits a tracepoint makes the stack anew. What is still on it are records that the thread has
 * left in the middle, by its end.
 */
static void leave(void)
{
	char *memory = base;

	if (!memory)
		return;
	base = NULL;
	tp_barrier(); /* a signal handler from here on makes its own */
	munmap(memory, SCRATCH_SIZE);
}

static TP_COLD bool scratch_create(void)
{
	struct tp_guard guard;
	bool done = false;

	if (!tp_guard_enter(&guard))
		return false;
	if (!base && tp_thread_arm(leave)) {
		void *memory =
			mmap(NULL, SCRATCH_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory != MAP_FAILED) {
			top = memory;
			tp_barrier(); /* base says that both are there */
			base = memory;
		}
	}
	done = base != NULL;
	tp_guard_leave(&guard);
	return done;
}

void *tp_scratch_push(size_t size)
{
	if (__builtin_expect(!base, 0) && !scratch_create())
		return NULL;

	char *memory = top;
	size_t left = SCRATCH_SIZE - (size_t)(memory - base);
	if (size > left || ((size + SCRATCH_ALIGN - 1) & ~(SCRATCH_ALIGN - 1)) > left)
		return NULL;
	top = memory + ((size + SCRATCH_ALIGN - 1) & ~(SCRATCH_ALIGN - 1));
	tp_barrier(); /* the memory is ours before it is used: a handler would push the same */
	return memory;
}

void tp_scratch_pop(void *memory)
{
	tp_barrier(); /* ... and until it is not used any more */
	top = memory;
}

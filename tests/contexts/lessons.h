/* SPDX-License-Identifier: MIT */
/* lessons.h - what the lessons have in common. */
#ifndef LESSONS_H
#define LESSONS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <tp/tp.h>

int lessons_fn_reg(void);
void lessons_fn_unreg(void);

#include "points.h"

/* Not assert(): what it checks is done, always; and it names the place on stderr and nothing else. */
#define CHECK(condition)                                                                      \
	do {                                                                                  \
		if (!(condition)) {                                                           \
			fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #condition);   \
			abort();                                                              \
		}                                                                             \
	} while (0)

#define LESSONS(X)                                                                            \
	/* threads.c */                                                                       \
	X(hoisting) X(lock_in_a_probe) X(outlive) X(signal_first) X(signal_first_on_a_stack)  \
	X(cancel_hits) X(cancel_hits_anywhere) X(cancel_registrars) X(cancel_waiters)         \
	/* processes.c */                                                                     \
	X(fork_with_locks) X(fork_is_fresh) X(fork_among_readers) X(fork_in_a_probe)          \
	X(fork_in_a_probe_that_is_waited_for) X(fork_with_locks_of_libc)                                             \
	/* moments.c */                                                                       \
	X(constructors) X(destructors) X(atexit_handlers) X(thread_exit) X(inside_a_probe)    \
	X(recursion) X(recursion_in_handlers) X(regfunc_says_exists)                          \
	/* cpp.cc */                                                                          \
	X(recursion_in_cpp)

#ifdef __cplusplus
extern "C" {
#endif

#define DECLARE_LESSON(name) void lesson_##name(void);
LESSONS(DECLARE_LESSON)

/* The lesson that this program was started for; before main() begins, too. */
bool lesson_is(const char *name);

/*
 * Registers a probe on a tracepoint, hits it, removes the probe and waits for
 * it: all of that must work. Where called is true, the probe must have been.
 */
void all_that_there_is(bool called);

#ifdef __cplusplus
}
#endif

#endif /* LESSONS_H */

/* SPDX-License-Identifier: MIT */
/*
 * base/passage.h - a stretch of code that readers pass through, and that a fork closes.
 *
 * glibc takes malloc's locks when all handlers of pthread_atfork() have run. A signal handler may have interrupted
 * malloc. If it hits a tracepoint, it must not wait for a lock that the fork holds, as the fork may be waiting for that
 * malloc. So readers take such locks inside a passage only. A fork closes the passage, and takes the locks when nobody
 * is inside any more.
 */
#ifndef TP_PASSAGE_H
#define TP_PASSAGE_H

#include <stdbool.h>
#include <stdint.h>

enum tp_passage_number {
	TP_PASSAGE_FIRST_HITS, /* of threads: they take liburcu's lock */
	TP_PASSAGE_LINES,      /* of text sinks: they take the sink's lock. Whoever takes a line may be slow */
	TP_PASSAGE_SLOW_WAYS,  /* of records into other sinks: they take locks of a rank above TP_RANK_PASSAGE */
	TP_NR_PASSAGES,
};

struct tp_passage {
	enum tp_passage_number number;
	uint32_t inside; /* threads, and their handlers */
	uint32_t closed; /* by so many forks */
	uint32_t opened; /* so often, modulo 2^32 */
	uint32_t waiting; /* threads, for that */
};

extern struct tp_passage tp_lines, tp_slow_ways;

/*
 * False where a fork has closed it. Safe in signal handlers, as are the next two; but a handler must not leave by
 * longjmp() what it has interrupted, nor must the thread be cancelled: so this is for code that blocks them, or is short.
 */
bool tp_passage_try(struct tp_passage *passage);

/* Waits until it is open, as tp_passage_enter() does. */
bool tp_passage_wait(struct tp_passage *passage);

/*
 * Waits until the fork is through. False where that takes more than a second, or where this thread is the one that
 * forks: then the fork may be waiting for what the caller has interrupted.
 */
bool tp_passage_enter(struct tp_passage *passage);

/* In the thread that has entered. */
void tp_passage_leave(struct tp_passage *passage);

/* Nobody enters from here on. With all signals blocked. */
void tp_passage_close(struct tp_passage *passage);

/* Whether somebody else is inside; and waits until nobody is. In the thread that has closed it. */
bool tp_passage_is_busy(const struct tp_passage *passage);
void tp_passage_drain(struct tp_passage *passage);

/* Ends what close began. In a forked child, nobody but this thread is there any more. */
void tp_passage_open(struct tp_passage *passage, bool child);

void tp_passage_start(void); /* once a process */

#endif /* TP_PASSAGE_H */

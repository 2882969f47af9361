/* SPDX-License-Identifier: MIT */
/*
 * program.h - what the parts of the program share. sandbox.c says what it does.
 */
#ifndef SANDBOX_PROGRAM_H
#define SANDBOX_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>

#define CANNOT 77

/* ---- sandbox.c ---- */

extern char **arguments; /* what is to be done, and the calls */
extern int may_begin, is_over; /* between main() and the subject */
extern struct shared {
	pid_t child;
	int has_hit; /* so that its threads have something to do */
	int may_end; /* and have done it */
} *shared;           /* with a forked child, which must not make a call to wait for them */

void must(bool condition, const char *what);

/* The subject makes no more calls, whatever its filter allows. */
void stay(void) __attribute__((noreturn));

/* ---- filter.c ---- */

extern int notifications; /* of a filter that watches; below 0 where there is none yet */

/* The filter of these calls, which end at NULL or "--": this thread's, or that of all threads. */
void enter_filter(char **calls, bool of_all_threads);

/* ---- watch.c ---- */

/* Prints what the subject calls, until it stays. */
void wait_for_subject(void);

/* ---- moments.c ---- */

/* One of the subject's, whose filter is in force at it. */
struct moment {
	const char *name;
	void (*before)(void);
	void (*at)(void);
};

extern int hits;
extern unsigned long lost_by_child;

/* NULL: there is none of this name. */
const struct moment *moment_of(const char *name);

void hit(void);
void hit_often(void);
void fill_ring(void);
unsigned long lost(void);

/* ---- process.c ---- */

/* What a whole process does, its filter included; NULL: there is none of this name. */
void (*process_of(const char *name))(void);

#endif /* SANDBOX_PROGRAM_H */

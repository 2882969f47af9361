/* SPDX-License-Identifier: MIT */
/*
 * failing_malloc.h - the runtime's malloc, without memory.
 */
#ifndef FAILING_MALLOC_H
#define FAILING_MALLOC_H

/* How many calls are still to succeed; the caller may change it. */
extern unsigned int mallocs_left;

/* From now on, n calls succeed, and the following ones fail. */
void fail_malloc_after(unsigned int n);

/* They succeed again. */
void let_malloc_be(void);

#endif /* FAILING_MALLOC_H */

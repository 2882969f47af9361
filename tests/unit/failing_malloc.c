/* SPDX-License-Identifier: MIT */
/*
 * failing_malloc.c - see failing_malloc.h.
 */
#include <stdlib.h>

#include "base/text.h"
#include "failing_malloc.h"

unsigned int mallocs_left;

static void *failing_malloc(size_t size)
{
	return mallocs_left ? mallocs_left--, malloc(size) : NULL;
}

void fail_malloc_after(unsigned int n)
{
	mallocs_left = n;
	tp_malloc = failing_malloc;
}

void let_malloc_be(void)
{
	tp_malloc = malloc;
}

/* SPDX-License-Identifier: MIT */
/*
 * malloc.c - a malloc that hits a tracepoint, in front of glibc's. A probe's
 * own calls are let through, as it would call itself for ever.
 */
#include <errno.h>
#include <stddef.h>

#include "torture.h"

#include "points.h"

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t number, size_t size);
void *__libc_realloc(void *memory, size_t size);
void __libc_free(void *memory);

static void trace(unsigned long size)
{
	if (in_malloc)
		return;
	in_malloc = 1;
	int error = errno;
	unsigned long a = argument(MALLOC_HIT, size);
	trace_torture_malloc(a, size, checksum(POINT_torture_malloc, a, size));
	count(COUNT_mallocs);
	errno = error;
	in_malloc = 0;
}

void *malloc(size_t size)
{
	trace(size);
	return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
	trace(number * size);
	return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size)
{
	trace(size);
	return __libc_realloc(memory, size);
}

void free(void *memory)
{
	trace(0);
	__libc_free(memory);
}

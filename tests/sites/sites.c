/* SPDX-License-Identifier: MIT */
/* Sites in C functions of every kind. */
#include <stdarg.h>
#include <string.h>

#include "sites.h"

/* Keeps compilers from knowing what a value is, and so from folding what depends on it. */
#define HIDE(value) __asm__ volatile("" : "+r"(value))

static void unused_function(struct count *c) __attribute__((unused));
void not_called(struct count *c);
bool rarely(struct count *c, bool rare);

static void unused_function(struct count *c)
{
	HIT(c);
}

/* The linker drops it, with --gc-sections, and then its site's entry, too. */
void not_called(struct count *c)
{
	HIT(c);
	HIT_SHARED(c);
}

static __attribute__((noinline, cold)) void cold_function(struct count *c)
{
	HIT(c);
	ASK(c);
}

/* gcc moves what leads to a cold function to another section, of the function's cold part. */
__attribute__((noinline)) bool rarely(struct count *c, bool rare)
{
	HIT(c);
	if (rare) {
		HIT(c);
		HIT_SHARED(c);
		cold_function(c);
		HIT(c);
	}
	return rare;
}

static void in_loops(struct count *c)
{
	int n = 13;

	/* Unrolled as a whole ... */
	for (int i = 0; i < 5; i++)
		HIT(c);
	/* ... in part ... */
#ifndef __clang__ /* it can't, and warns */
#pragma GCC unroll 4
#endif
	for (int i = 0; i < 17; i++) {
		HIT_SHARED(c);
		HIT(c);
	}
	/* ... and not. */
	HIDE(n);
	for (int i = 0; i < n; i++)
		HIT(c);
}

static __attribute__((noinline)) unsigned int recursion(struct count *c, unsigned int depth)
{
	HIT(c);
	if (depth == 0)
		return 1;
	unsigned int sum = recursion(c, depth - 1) + recursion(c, depth / 2);
	HIT_SHARED(c);
	return sum;
}

static __attribute__((noinline)) int variadic(struct count *c, int nr, ...)
{
	va_list ap;
	int sum = 0;

	HIT(c);
	va_start(ap, nr);
	for (int i = 0; i < nr; i++) {
		sum += va_arg(ap, int);
		HIT(c);
	}
	va_end(ap);
	return sum;
}

static __attribute__((noinline)) void with_alloca(struct count *c, size_t size)
{
	char *text = __builtin_alloca(size + 1);

	HIT(c);
	memset(text, 'x', size);
	text[size] = 0;
	__asm__ volatile("" : : "r"(text) : "memory");
	HIT(c);
	if (strlen(text) == size)
		HIT(c);
}

static void in_branches(struct count *c, int n)
{
	switch (n) {
	case 0:
		HIT(c);
		break;
	case 1:
		HIT_SHARED(c);
		__attribute__((fallthrough));
	case 2:
		HIT(c);
		break;
	case 3:
		if (trace_keys_hit_enabled() && trace_keys_shared_enabled())
			c->yes += 2;
		c->asked += 2;
		break;
	default:
		goto end;
	}
	HIT(c);
end:
	ASK(c);
}

/* Several on a line, and nothing between them. */
static __attribute__((noinline)) void in_a_row(struct count *c)
{
	HIT(c), HIT(c), HIT(c), HIT(c), HIT(c), HIT(c), HIT(c), HIT(c);
	HIT_SHARED(c), HIT_SHARED(c), HIT_SHARED(c), HIT_SHARED(c);
}

void hit_in_c(struct count *c)
{
	hit_static_inline(c);
	for (int i = 0; i < 6; i++) {
		int n = i;
		HIDE(n);
		rarely(c, n & 1);
		in_branches(c, n);
	}
	in_loops(c);
	in_a_row(c);
	if (recursion(c, 6) < 6 || variadic(c, 4, 1, 2, 3, 4) != 10)
		return;
	with_alloca(c, 77);
}

static __attribute__((constructor)) void constructor(void)
{
	hit_in_c(&at_start);
}

static __attribute__((destructor)) void destructor(void)
{
	hit_in_c(&at_end);
}

/* SPDX-License-Identifier: MIT */
/*
 * Sites of every kind. Each says besides, in plain code, that it was reached:
 * that is how often its probe must have been called.
 */
#ifndef SITES_H
#define SITES_H

#include <stdbool.h>

#include "keys.h"

struct count {
	unsigned int reached; /* sites */
	unsigned int asked;   /* trace_X_enabled() */
	unsigned int yes;     /* what that said */
};

#define HIT(c) ((c)->reached++, trace_keys_hit(__LINE__))
#define HIT_SHARED(c) ((c)->reached++, trace_keys_shared(__LINE__))
#define ASK(c) ((c)->asked += 2, (c)->yes += trace_keys_hit_enabled(), (c)->yes += trace_keys_shared_enabled())

/* One in each file that includes this, and one in each function that it is inlined in. */
static inline void hit_static_inline(struct count *c)
{
	HIT(c);
	ASK(c);
	HIT_SHARED(c);
}

#ifdef __cplusplus
/* One in the program, however many files have a copy, which the linker takes one of. */
inline void hit_inline(struct count *c)
{
	HIT(c);
	ASK(c);
}

inline __attribute__((noinline)) void hit_inline_never(struct count *c)
{
	HIT_SHARED(c);
	hit_inline(c);
	HIT(c);
}

template <int times> struct repeated {
	static __attribute__((noinline)) void hit(struct count *c)
	{
		for (int i = 0; i < times; i++)
			HIT(c);
		repeated<times - 1>::hit(c);
		ASK(c);
	}
};
template <> struct repeated<0> {
	static void hit(struct count *c) { HIT_SHARED(c); }
};

template <class T> void hit_template(struct count *c, T n)
{
	for (T i = 0; i < n; i += 1)
		HIT(c);
}

extern "C" {
#endif

/* In sites.c */
void hit_in_c(struct count *c);
/* In one.cc and two.cc, which have the inline functions and templates in common. */
void hit_in_one(struct count *c);
void hit_in_two(struct count *c);

extern struct count at_start; /* counted by constructors, while there is a probe */
extern struct count at_end;   /* counted by destructors */

#ifdef __cplusplus
}
#endif

#endif

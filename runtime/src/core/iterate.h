/* SPDX-License-Identifier: MIT */
/*
 * core/iterate.h - calling the probes of what has no generated iterator: of markers and of synthetic events.
 */
#ifndef TP_ITERATE_H
#define TP_ITERATE_H

#include <tp/read.h>

#include "base/base.h"

/* The same as tp_read_lock_first(), seen by ThreadSanitizer, which sees the program's probes, but not this. */
static inline const struct tracepoint_func *tp_iterate_enter(const struct tracepoint *tp, int *hit)
{
	const struct tracepoint_func *it = tp_read_lock_first(tp, hit);

	if (__tsan_acquire)
		__tsan_acquire((void *)&tp->funcs);
	return it;
}

static inline void tp_iterate_leave(int hit)
{
	if (__tsan_release)
		__tsan_release(&urcu_bp_gp);
	tp_read_unlock_first(hit);
}

#endif /* TP_ITERATE_H */

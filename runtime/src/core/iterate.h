/* SPDX-License-Identifier: MIT */
/*
 * core/iterate.h - calling the probes of what has no generated iterator: of markers and of synthetic events.
 */
#ifndef TP_ITERATE_H
#define TP_ITERATE_H

#include <tp/read.h>

#include "base/base.h"

#define TP_HIT_QUICK (-1) /* beside what tp_slow_hit_begin() returns */

/*
 * What a generated iterator does, but the quick way and the slow one in one: *hit says which it was. Seen by
 * ThreadSanitizer, which sees the program's probes, but not this.
 */
static inline __attribute__((always_inline)) const struct tracepoint_func *tp_iterate_enter(const struct tracepoint *tp, int *hit)
{
	const struct tracepoint_func *it;

	if (tp_hit_is_quick()) {
		*hit = TP_HIT_QUICK;
		it = tp_hit_begin(tp, TP_HIT_FRAME);
	} else {
		tp_hit_slowly(TP_HIT_FRAME);
		*hit = tp_slow_hit_begin();
		it = tp_read_array(tp);
	}
	if (__tsan_acquire)
		__tsan_acquire((void *)&tp->funcs);
	return it;
}

static inline void tp_iterate_leave(int hit)
{
	if (__tsan_release)
		__tsan_release(&urcu_bp_gp);
	if (hit == TP_HIT_QUICK)
		tp_hit_end();
	else
		tp_slow_hit_end(hit);
}

#endif /* TP_ITERATE_H */

/* SPDX-License-Identifier: MIT */
/*
 * tp/read.h - the read side of the probe arrays: what calls the probes walks
 * them by this. Not for call sites: it includes liburcu's inline functions, and is C only.
 */
#ifndef TP_READ_H
#define TP_READ_H

/*
 * The functions of liburcu-bp that are meant to be inlined, without its
 * mapping of rcu_read_lock() and the like, which the program may want for
 * another flavour.
 */
#include <urcu/static/urcu-bp.h>

#include <tp/tracepoint.h>

/*
 * Enters the read-side critical section in which the probes are called, and
 * returns the array of this moment; NULL where the last probe has just gone.
 * Barrier (A): the acquire pairs with (B), the release in probes.c
 * that publishes an array after its elements are written.
 */
static inline const struct tracepoint_func *tp_read_lock(const struct tracepoint *tp)
{
	_urcu_bp_read_lock();
	return __atomic_load_n(&tp->funcs, __ATOMIC_ACQUIRE);
}

/* ThreadSanitizer can't see into liburcu: that what a reader did comes before the end of a grace period, it is told. */
#if defined(__SANITIZE_THREAD__)
#define TP_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TP_THREAD_SANITIZER 1
#endif
#endif
#ifdef TP_THREAD_SANITIZER
void __tsan_release(void *address);
#endif

static inline void tp_read_unlock(void)
{
#ifdef TP_THREAD_SANITIZER
	__tsan_release(&urcu_bp_gp);
#endif
	_urcu_bp_read_unlock();
}

/*
 * An element's function: NULL at the array's end, TP_REMOVED where there is
 * none to call. Loaded once, atomically: removal overwrites it while readers
 * walk the array. Barrier (A), too: where it was replaced, by (E) in
 * probes.c, what the new function needs is visible.
 */
static inline tp_probe_t tp_probe_func(const struct tracepoint_func *it)
{
	return __atomic_load_n(&it->func, __ATOMIC_ACQUIRE);
}

#endif /* TP_READ_H */

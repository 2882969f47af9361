/* SPDX-License-Identifier: MIT */
/*
 * tp/read.h - the read side of the probe arrays. The code that calls the probes
 * walks the arrays with these functions. Not for call sites: this header
 * includes liburcu's inline functions, and is C only.
 */
#ifndef TP_READ_H
#define TP_READ_H

/*
 * liburcu-bp's inline functions, without the macros that map rcu_read_lock()
 * and so on to them: the program may need those names for another flavour.
 */
#include <urcu/static/urcu-bp.h>

#include <tp/tracepoint.h>

/*
 * Enters the read-side critical section in which the probes are called, and
 * returns the current array; NULL if the last probe has just been removed.
 * Barrier (A): the acquire pairs with (B), the release in core/probes.c
 * that publishes an array after its elements are written.
 */
static inline const struct tracepoint_func *tp_read_lock(const struct tracepoint *tp)
{
	_urcu_bp_read_lock();
	return __atomic_load_n(&tp->funcs, __ATOMIC_ACQUIRE);
}

/*
 * ThreadSanitizer can't see into liburcu. This tells it that everything a
 * reader did happens before the end of a grace period.
 */
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
 * A hit of a thread that liburcu does not know yet. To make it known takes a
 * lock, which a fork holds while it waits for malloc. The hit may be in a signal
 * handler that has interrupted malloc; so it does not wait for a fork, but begins
 * a read-side section of the runtime's own.
 *
 * tp_first_hit() returns TP_HIT_KNOWN if the thread is known now; else what
 * tp_first_hit_end() wants. Both are missing in older libraries.
 */
#define TP_HIT_KNOWN (-1)
TP_PUBLIC int tp_first_hit(void) __attribute__((weak));
TP_PUBLIC void tp_first_hit_end(int hit) __attribute__((weak));

static inline bool tp_thread_is_known(void)
{
	return __builtin_expect(URCU_TLS(urcu_bp_reader) != NULL, true);
}

/* The same as tp_read_lock() and tp_read_unlock(), if the thread may be unknown. *hit is for the second one. */
static inline const struct tracepoint_func *tp_read_lock_first(const struct tracepoint *tp, int *hit)
{
	*hit = tp_thread_is_known() || !tp_first_hit ? TP_HIT_KNOWN : tp_first_hit();
	return *hit == TP_HIT_KNOWN ? tp_read_lock(tp) : __atomic_load_n(&tp->funcs, __ATOMIC_ACQUIRE);
}

static inline void tp_read_unlock_first(int hit)
{
	if (hit == TP_HIT_KNOWN)
		tp_read_unlock();
	else
		tp_first_hit_end(hit);
}

/*
 * Returns the function of an element: NULL at the array's end, TP_REMOVED if
 * there is no function to call. It is loaded once, atomically: removal
 * overwrites it while readers walk the array. This is barrier (A), too: if
 * (E) in core/probes.c has replaced the function, everything that the new function
 * needs is visible.
 */
static inline tp_probe_t tp_probe_func(const struct tracepoint_func *it)
{
	return __atomic_load_n(&it->func, __ATOMIC_ACQUIRE);
}

#endif /* TP_READ_H */

/* SPDX-License-Identifier: MIT */
/*
 * tp/read.h - the read side of the probe arrays. The code that calls the probes
 * walks the arrays with these functions. Not for call sites: this header
 * includes liburcu's inline functions.
 */
#ifndef TP_READ_H
#define TP_READ_H

/*
 * liburcu-bp's inline functions, without the macros that map rcu_read_lock()
 * and so on to them: the program may need those names for another flavour.
 */
#if defined(__cplusplus)
/* With thread_local, each access asks whether the variable has a constructor. It is one of C. */
#include <urcu/tls-compat.h>
#pragma push_macro("URCU_TLS_STORAGE_CLASS")
#undef URCU_TLS_STORAGE_CLASS
#define URCU_TLS_STORAGE_CLASS __thread
#include <urcu/static/urcu-bp.h>
#pragma pop_macro("URCU_TLS_STORAGE_CLASS")
#else
#include <urcu/static/urcu-bp.h>
#endif

#include <stdint.h>

#include <tp/tracepoint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The current array; NULL if the last probe has just been removed. In the read-side critical section in which the
 * probes are called. Barrier (A): the acquire pairs with (B), the release in core/probes.c
 * that publishes an array after its elements are written.
 */
static inline const struct tracepoint_func *tp_read_array(const struct tracepoint *tp)
{
	return __atomic_load_n(&tp->funcs, __ATOMIC_ACQUIRE);
}

/* Enters that section. */
static inline const struct tracepoint_func *tp_read_lock(const struct tracepoint *tp)
{
	_urcu_bp_read_lock();
	return tp_read_array(tp);
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

static inline bool tp_thread_is_known(void)
{
	return __builtin_expect(URCU_TLS(urcu_bp_reader) != NULL, true);
}

/*
 * Where on the stack this thread's outermost hit is, by the frames of iterators. A hit inside it is below that: one that
 * is not finds that a handler has left the outermost by siglongjmp(), and ends it.
 */
struct tp_hit {
	uintptr_t outermost; /* 0: the thread is in no hit */
	uintptr_t slow;      /* the one that is about to go the slow way */
};
extern TP_PUBLIC __thread struct tp_hit tp_hit TP_TLS_MODEL;

/* The address that an iterator's hit has. */
#define TP_HIT_FRAME ((uintptr_t)__builtin_frame_address(0))

/* Against handlers of this thread: the section is there before the hit, and is left after it. */
static inline void tp_hit_set(uintptr_t outermost)
{
	__asm__ volatile("" ::: "memory");
	tp_hit.outermost = outermost;
	__asm__ volatile("" ::: "memory");
}

/* Whether a hit goes the quick way: it is no hit inside another, and not the thread's first. */
static inline bool tp_hit_is_quick(void)
{
	return __builtin_expect(tp_thread_is_known() && !tp_hit.outermost, true);
}

static inline const struct tracepoint_func *tp_hit_begin(const struct tracepoint *tp, uintptr_t frame)
{
	const struct tracepoint_func *it = tp_read_lock(tp);

	tp_hit_set(frame);
	return it;
}

static inline void tp_hit_end(void)
{
	tp_hit_set(0);
	tp_read_unlock();
}

/*
 * The slow way, in this order. The second returns what the last wants.
 *
 * A hit inside another is in the outer one's section. To make a thread known to liburcu takes a lock, which a fork holds
 * while it waits for malloc; a thread's first hit may be in a signal handler that has interrupted malloc. So it does not
 * wait for a fork, but begins a section of the runtime's own.
 */
static inline void tp_hit_slowly(uintptr_t frame)
{
	tp_hit.slow = frame;
}

TP_PUBLIC int tp_slow_hit_begin(void);
TP_PUBLIC void tp_slow_hit_end(int hit);

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

#ifdef __cplusplus
}
#endif

#endif /* TP_READ_H */

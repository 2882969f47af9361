/* SPDX-License-Identifier: MIT */
#ifndef TP_READ_H
#define TP_READ_H
#include <urcu/static/urcu-bp.h>
#include <tp/tracepoint.h>
static inline const struct tracepoint_func *tp_read_lock(const struct tracepoint *tp)
{
	_urcu_bp_read_lock();
	return __atomic_load_n(&tp->funcs, __ATOMIC_ACQUIRE);
}
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
#define TP_HIT_KNOWN (-1)
TP_PUBLIC int tp_first_hit(void) __attribute__((weak));
TP_PUBLIC void tp_first_hit_end(int hit) __attribute__((weak));
static inline bool tp_thread_is_known(void)
{
	return __builtin_expect(URCU_TLS(urcu_bp_reader) != NULL, true);
}
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
static inline tp_probe_t tp_probe_func(const struct tracepoint_func *it)
{
	return __atomic_load_n(&it->func, __ATOMIC_ACQUIRE);
}
#endif

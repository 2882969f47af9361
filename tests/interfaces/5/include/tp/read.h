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
static inline tp_probe_t tp_probe_func(const struct tracepoint_func *it)
{
	return __atomic_load_n(&it->func, __ATOMIC_ACQUIRE);
}
#endif

/* SPDX-License-Identifier: MIT */
#ifndef TP_READ_H
#define TP_READ_H
#if defined(__cplusplus)
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
static inline const struct tracepoint_func *tp_read_array(const struct tracepoint *tp)
{
	return __atomic_load_n(&tp->funcs, __ATOMIC_ACQUIRE);
}
static inline const struct tracepoint_func *tp_read_lock(const struct tracepoint *tp)
{
	_urcu_bp_read_lock();
	return tp_read_array(tp);
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
static inline bool tp_thread_is_known(void)
{
	return __builtin_expect(URCU_TLS(urcu_bp_reader) != NULL, true);
}
struct tp_hit {
	uintptr_t outermost;
	uintptr_t slow;
};
extern TP_PUBLIC __thread struct tp_hit tp_hit TP_TLS_MODEL;
#define TP_HIT_FRAME ((uintptr_t)__builtin_frame_address(0))
static inline void tp_hit_set(uintptr_t outermost)
{
	__asm__ volatile("" ::: "memory");
	tp_hit.outermost = outermost;
	__asm__ volatile("" ::: "memory");
}
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
static inline void tp_hit_slowly(uintptr_t frame)
{
	tp_hit.slow = frame;
}
TP_PUBLIC int tp_slow_hit_begin(void);
TP_PUBLIC void tp_slow_hit_end(int hit);
static inline tp_probe_t tp_probe_func(const struct tracepoint_func *it)
{
	return __atomic_load_n(&it->func, __ATOMIC_ACQUIRE);
}
#ifdef __cplusplus
}
#endif
#endif

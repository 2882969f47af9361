/* SPDX-License-Identifier: MIT */
#ifndef TP_DEFINE_TRACE_H
#define TP_DEFINE_TRACE_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <urcu/static/urcu-bp.h>
#include <tp/announce.h>
#include <tp/assign.h>
#include <tp/event.h>
#include <tp/print.h>
#include <tp/sink.h>
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
#if defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__) && !defined(__clang__)
#define TP_PLAIN __attribute__((optimize("Og")))
#else
#define TP_PLAIN
#endif
#define TP_PRINTER TP_PLAIN __attribute__((cold))
#define TP_RECORD_TYPE(record) typedef struct record __record __attribute__((aligned(8)))
#define TP_TYPE_CLASS(lvalue)                                  \
	(__builtin_classify_type(lvalue) == 5   ? TP_POINTER : \
	 __builtin_classify_type(lvalue) == 8   ? TP_FLOAT :   \
	 __builtin_classify_type(lvalue) < 5    ? TP_INTEGER : \
						  TP_OTHER)
#define TP_IS_SIGNED(lvalue)                                                                          \
	_Generic((lvalue), char : (char)-1 < (char)1, signed char : 1, short : 1, int : 1, long : 1, \
		 long long : 1, default : 0)
#define TP_IS_CHAR(lvalue) _Generic((lvalue), char : 1, default : 0)
#define TP_DESCRIBE(field_kind, is_relative, record, member, field_name, element_type, type_text, ...)       \
	{                                                                                                    \
		.name = field_name, .type = type_text, .kind = field_kind, .relative = is_relative,          \
		.type_class = TP_TYPE_CLASS(*(element_type *)0),                                             \
		.offset = offsetof(struct record, member),                                                   \
		.size = sizeof(((struct record *)0)->member), .element_size = sizeof(element_type),          \
		.element_align = _Alignof(element_type),                                                     \
		.is_signed = (field_kind) != TP_STRUCT && TP_IS_SIGNED(*(element_type *)0),                  \
		.is_char = TP_IS_CHAR(*(element_type *)0), .symbols = __VA_ARGS__,                           \
	}
#endif

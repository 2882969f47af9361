/* SPDX-License-Identifier: MIT */
#ifndef TP_DEFINE_TRACE_H
#define TP_DEFINE_TRACE_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __cpp_exceptions
#include <cxxabi.h>
#include <exception>
#endif
#include <tp/announce.h>
#include <tp/assign.h>
#include <tp/declare.h>
#include <tp/describe.h>
#include <tp/event.h>
#include <tp/print.h>
#include <tp/read.h>
#include <tp/sink.h>
#include <tp/tracepoint.h>
#define TP_USED TP_HIDDEN __attribute__((used))
#define TP_ZEROS __attribute__((nocommon))
#define TP_USED_CLASS TP_CPP_OR_C(extern, ) TP_USED __attribute__((weak))
#if defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__) && !defined(__clang__)
#define TP_PLAIN __attribute__((optimize("Og")))
#else
#define TP_PLAIN
#endif
#define TP_PRINTER TP_PLAIN __attribute__((cold))
#if defined(__has_attribute) && !defined(__clang__)
#if __has_attribute(no_icf)
#define TP_ITERATOR __attribute__((no_icf))
#endif
#endif
#ifndef TP_ITERATOR
#define TP_ITERATOR
#endif
#if defined(__cpp_exceptions) && __has_include(<bits/cxxabi_forced.h>)
#define TP_TRY try
#define TP_TERMINATE catch (abi::__forced_unwind &) { throw; } catch (...) { std::terminate(); }
#else
#define TP_TRY
#define TP_TERMINATE
#endif
#define TP_DEFINE_ITERATOR(name, parameters, arguments)                                         \
	TP_DEFINE_ITERATOR_OF(tp_probe_fn_##name, __tp_several_##name, __tp_slow_##name,  \
			      __traceiter_##name, parameters, arguments, true)
#define TP_DEFINE_CONDITIONAL_ITERATOR(name, parameters, arguments)                             \
	TP_DEFINE_ITERATOR_OF(tp_probe_fn_##name, __tp_several_##name, __tp_slow_##name,  \
			      __traceiter_##name, parameters, arguments, tp_condition_##name arguments)
#define TP_DEFINE_ITERATOR_OF(probe_fn, several, slow, iterate, parameters, arguments, condition)  \
	static __attribute__((noinline)) void several parameters                                \
	{                                                                                       \
		const struct tracepoint_func *__it = (const struct tracepoint_func *)__data;    \
		tp_probe_t __probe = tp_probe_func(__it);                                       \
                                                                                                \
		do {                                                                            \
			if (__builtin_expect(__probe != TP_REMOVED, 1)) {                       \
				__data = __it->data;                                            \
				((probe_fn *)__probe) arguments;                                \
			}                                                                       \
			__probe = tp_probe_func(++__it);                                        \
		} while (__probe);                                                              \
	}                                                                                       \
	static __attribute__((noinline)) void slow parameters                                   \
	{                                                                                       \
		const int __hit = tp_slow_hit_begin();                                          \
		const struct tracepoint_func *__it =                                            \
			tp_read_array((const struct tracepoint *)__data);                       \
                                                                                                \
		if (__it) {                                                                     \
			__data = (void *)(uintptr_t)__it;                                       \
			several arguments;                                                      \
		}                                                                               \
		tp_slow_hit_end(__hit);                                                         \
	}                                                                                       \
	TP_USED probe_fn iterate;                                                               \
	TP_ITERATOR void iterate parameters TP_TRY                                              \
	{                                                                                       \
		const struct tracepoint_func *__it;                                             \
                                                                                                \
		if (!(condition))                                                               \
			return;                                                                 \
		if (!tp_hit_is_quick()) {                                                       \
			tp_hit_slowly(TP_HIT_FRAME);                                            \
			slow arguments;                                                         \
			__asm__ volatile("");                                                   \
			return;                                                                 \
		}                                                                               \
		__it = tp_hit_begin((const struct tracepoint *)__data, TP_HIT_FRAME);           \
		if (__builtin_expect(__it && !tp_probe_func(__it + 1), 1)) {                    \
			tp_probe_t __probe = tp_probe_func(__it);                               \
                                                                                                \
			__data = __it->data;                                                    \
			((probe_fn *)__probe) arguments;                                        \
		} else if (__it) {                                                              \
			__data = (void *)(uintptr_t)__it;                                       \
			several arguments;                                                      \
		}                                                                               \
		tp_hit_end();                                                                   \
	} TP_TERMINATE                                                                          \
	struct tracepoint
#define TP_DEFINE_TRACEPOINT(name, iterator, at, ...)                                               \
	TP_DEFINE_TRACEPOINT_AS(__tracepoint_##name, __tp_own_##name, the_tracepoint_##name, #name, \
				TP_SPELLED(__VA_ARGS__, __VA_ARGS__, ));                            \
	TP_DEFINE_TEXT(__tp_text_##name, #name, TP_TYPES(__VA_ARGS__, ), __FILE__, "");             \
	TP_DEFINE(TP_TO(__tp_own_##name) TP_TO(__tp_text_##name) TP_TO(__traceiter_##iterator), "0, 0, 0, 0, ", at, 0)
#define TP_DEFINE_TRACE_EVENT(name, iterator, at, system, event_class, level, ...)                  \
	TP_DEFINE_TRACEPOINT_AS(__tracepoint_##name, __tp_own_##name, the_tracepoint_##name, #name, \
				TP_SPELLED(__VA_ARGS__, __VA_ARGS__, ));                            \
	TP_DEFINE_TEXT(__tp_text_##name, #name, TP_TYPES(__VA_ARGS__, ), __FILE__, system);         \
	TP_USED struct tp_event tp_event_##name TP_ZEROS;                                           \
	TP_DEFINE(TP_TO(__tp_own_##name) TP_TO(__tp_text_##name) TP_TO(__traceiter_##iterator),     \
		  TP_TO(tp_event_##name) TP_TO(__tp_class_##event_class) TP_TO(tp_record_##name)    \
		  TP_TO(tp_print_##event_class), at, TP_LEVEL_##level)
#define TP_DEFINE_CUSTOM_EVENT(name, at, system, event_class, level, types)             \
	TP_USED struct tracepoint tp_on_custom__##name TP_ZEROS;                        \
	TP_DEFINE_TEXT(__tp_text_custom__##name, #name, types, __FILE__, system);       \
	TP_USED struct tp_event tp_event_custom__##name TP_ZEROS;                       \
	TP_DEFINE(TP_TO(tp_on_custom__##name) TP_TO(__tp_text_custom__##name) "0, ",    \
		  TP_TO(tp_event_custom__##name) TP_TO(__tp_class_##event_class)        \
		  TP_TO(tp_record_custom__##name) TP_TO(tp_print_##event_class), at, TP_LEVEL_##level)
#define TP_NO_CALLBACKS(name) struct tracepoint __tracepoint_##name __attribute__((used, nocommon))
#define TP_CALLBACKS(name, on_first, on_last)                                           \
	struct tracepoint __tracepoint_##name __attribute__((used)) = {                 \
		0,    0,    NULL, NULL, NULL,  NULL,  NULL, on_first, on_last, NULL, \
		NULL, NULL, NULL, NULL, NULL, 0, false, false, NULL, NULL}
#define TP_DEFINE_TRACEPOINT_AS(tracepoint_, own, symbol, name, spelled)                \
	TP_PROTOTYPE_IS_DEFINED(symbol, name, name "(" spelled ")");                    \
	extern struct tracepoint own __attribute__((alias(#tracepoint_), visibility("hidden"), used))
#define TP_DEFINE_TEXT(text, name, types, path, system)                                 \
	extern TP_HIDDEN const char text[];                                             \
	__attribute__((used)) const char text[] __attribute__((aligned(1))) = name "\0" types "\0" path "\0" system
#define TP_DEFINE(tracepoint_, event, at, level)                                                \
	__asm__(".pushsection " TP_SECTION("tp_definitions") ", \"a" TP_RETAIN_FLAG "\", %progbits\n\t" \
		".balign 4\n\t"                                                                 \
		".long " tracepoint_ event TP_QUOTE(at) ", " TP_QUOTE(level) "\n\t"             \
		".popsection")
#define TP_TO(symbol) "\"" #symbol "\" - ., "
#define TP_LEVEL_EMERG 0
#define TP_LEVEL_ALERT 1
#define TP_LEVEL_CRIT 2
#define TP_LEVEL_ERR 3
#define TP_LEVEL_WARNING 4
#define TP_LEVEL_NOTICE 5
#define TP_LEVEL_INFO 6
#define TP_LEVEL_DEBUG_SYSTEM 7
#define TP_LEVEL_DEBUG_PROGRAM 8
#define TP_LEVEL_DEBUG_PROCESS 9
#define TP_LEVEL_DEBUG_MODULE 10
#define TP_LEVEL_DEBUG_UNIT 11
#define TP_LEVEL_DEBUG_FUNCTION 12
#define TP_LEVEL_DEBUG_LINE 13
#define TP_LEVEL_DEBUG 14
#define TP_RECORD_TYPE(record) typedef struct record __record __attribute__((aligned(8)))
#define TP_BEGIN_RECORD(record)                                           \
	TP_RECORD_TYPE(record);                                           \
	__record *__entry;                                                \
	struct tp_record __rec;                                           \
	const size_t __size = offsetof(struct record, __data)
#define TP_BEGIN_DYNAMIC_RECORD(record, ...)                              \
	TP_RECORD_TYPE(record);                                           \
	__record *__entry;                                                \
	struct tp_record __rec;                                           \
	struct {                                                          \
		struct tp_dynamic __VA_ARGS__;                            \
	} __dyn;                                                          \
	size_t __size = offsetof(struct record, __data)
#define TP_RESERVE_RECORD(sink, event)                                    \
	do {                                                              \
		__entry = (__record *)tp_reserve(&__rec, (struct tp_sink *)(sink), event, __size); \
		if (!__entry)                                             \
			return;                                           \
	} while (0)
#define TP_ASKS(data) __builtin_expect(((struct tp_sink *)(data))->reserved[1] != NULL, 0)
#define TP_CAN_BE_EARLY(record) (tp_early_sink && sizeof(struct record) <= TP_EARLY_MAX)
#define TP_EARLY_MAX 256
#define TP_FIELD_BIT(number) (UINT64_C(1) << (number))
#define TP_BEGIN_EARLY(record)                                                                                       \
	char __bytes[sizeof(struct record) <= TP_EARLY_MAX ? sizeof(struct record) : 1] __attribute__((aligned(8))); \
	__entry = (__record *)(void *)__bytes
#define TP_END_EARLY(data, event, fields)                                                         \
	do {                                                                                      \
		data = tp_early_sink((struct tp_sink *)(data), (event), &__entry->ent, (fields)); \
		if (!data)                                                                        \
			return;                                                                   \
	} while (0)
#define TP_BEGIN_PRINT(record)                                            \
	TP_RECORD_TYPE(record);                                           \
	__record *__entry TP_UNUSED = (__record *)(uintptr_t)entry;       \
	const size_t __start = p->len
#define TP_ONE_EVENT_CLASS(name, what)                                                  \
	__asm__(".pushsection \".rodata." what "\", \"a\", %progbits\n\t"               \
		".globl \"event_class_" #name "_is_in_two_tp_files__rename_one\"\n\t" \
		".hidden \"event_class_" #name "_is_in_two_tp_files__rename_one\"\n"  \
		"\"event_class_" #name "_is_in_two_tp_files__rename_one\":\n\t"       \
		".popsection")
#endif

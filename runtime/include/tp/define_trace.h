/* SPDX-License-Identifier: MIT */
/*
 * tp/define_trace.h - macros for the file that defines CREATE_TRACE_POINTS:
 * definitions of tracepoints and events, the beginning of record writers and
 * printers, descriptions of records. Only headers that tpgen has written use
 * this one.
 *
 * Other files do not include it: it contains liburcu's inline functions
 * (tp/read.h).
 *
 * A tracepoint can have the name of a macro, as in tp/declare.h: these macros
 * only paste and quote it.
 */
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

/* What assembler code refers to, too: TP_DEFINE. */
#define TP_USED TP_HIDDEN __attribute__((used))
/* A variable that is all zeros, and that assembler code can refer to. */
#define TP_ZEROS __attribute__((nocommon))
/* If two files have a class of one name, it is TP_ONE_EVENT_CLASS that the linker complains of. In C++, const makes static. */
#define TP_USED_CLASS TP_CPP_OR_C(extern, ) TP_USED __attribute__((weak))

/* ---- Functions in which there is nothing to optimize ---- */

/*
 * gcc -O2 spends milliseconds on each function, however short. It finds nothing
 * that -Og does not find in printers, which are one argument list, and in
 * writers that only store their parameters, without loops or calls of the
 * program's functions.
 */
#if defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__) && !defined(__clang__)
#define TP_PLAIN __attribute__((optimize("Og")))
#else
#define TP_PLAIN
#endif
#define TP_PRINTER TP_PLAIN __attribute__((cold))

/* ---- Tracepoints ---- */

/*
 * Defines the iterator: the function that a site calls while its tracepoint is
 * on, and that calls each probe. Tracepoints with the same prototype share one
 * iterator, which is named after the first of them.
 *
 *	parameters	those of a probe: (void *__data, int a, int b). The caller
 *			passes the tracepoint as __data
 *	arguments	(__data, a, b)
 *
 * An array of one probe never holds TP_REMOVED: removing its only probe removes
 * the array. A thread's first hit, and one inside another, go a way of their own.
 *
 * Stacks begin where the iterator was called, which is found by its address. So
 * it is not the same function as another iterator, and the calls that it makes
 * are in it: none is a jump, or in a part of its own for cold code.
 */
#if defined(__has_attribute) && !defined(__clang__)
#if __has_attribute(no_icf)
#define TP_ITERATOR __attribute__((no_icf))
#endif
#endif
#ifndef TP_ITERATOR
#define TP_ITERATOR
#endif
/*
 * An exception would leave the read-side critical section without an end. So it ends the program, but not if it is what
 * unwinds the stack of a thread that is cancelled, or calls pthread_exit().
 */
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

/*
 * The same for TRACE_EVENT_CONDITION: calls the probes only if tp_condition_NAME
 * returns true. That function has the parameters of a probe.
 */
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
	struct tracepoint /* so that a ';' can follow */

/*
 * Announces the tracepoint to the runtime. The structure itself is defined behind this, with its callbacks.
 *
 *	iterator	the tracepoint that its iterator is named after
 *	at		the line in the .tp file, whose path __FILE__ is
 *	...		the types of its prototype, as for TP_DECLARE_TRACEPOINT
 */
#define TP_DEFINE_TRACEPOINT(name, iterator, at, ...)                                               \
	TP_DEFINE_TRACEPOINT_AS(__tracepoint_##name, __tp_own_##name, the_tracepoint_##name, #name, \
				TP_SPELLED(__VA_ARGS__, __VA_ARGS__, ));                            \
	TP_DEFINE_TEXT(__tp_text_##name, #name, TP_TYPES(__VA_ARGS__, ), __FILE__, "");             \
	TP_DEFINE(TP_TO(__tp_own_##name) TP_TO(__tp_text_##name) TP_TO(__traceiter_##iterator), "0, 0, 0, 0, ", at, 0)

/*
 * The same with its event, which has the writer tp_record_NAME().
 *
 *	event_class	names the __tp_class_ that has its print format
 *	level		the end of a TP_LOGLEVEL_ name
 */
#define TP_DEFINE_TRACE_EVENT(name, iterator, at, system, event_class, level, ...)                  \
	TP_DEFINE_TRACEPOINT_AS(__tracepoint_##name, __tp_own_##name, the_tracepoint_##name, #name, \
				TP_SPELLED(__VA_ARGS__, __VA_ARGS__, ));                            \
	TP_DEFINE_TEXT(__tp_text_##name, #name, TP_TYPES(__VA_ARGS__, ), __FILE__, system);         \
	TP_USED struct tp_event tp_event_##name TP_ZEROS;                                           \
	TP_DEFINE(TP_TO(__tp_own_##name) TP_TO(__tp_text_##name) TP_TO(__traceiter_##iterator),     \
		  TP_TO(tp_event_##name) TP_TO(__tp_class_##event_class) TP_TO(tp_record_##name)    \
		  TP_TO(tp_print_##event_class), at, TP_LEVEL_##level)

/* The same for TRACE_CUSTOM_EVENT. Its tracepoint is defined elsewhere: the one here only holds the name and types. */
#define TP_DEFINE_CUSTOM_EVENT(name, at, system, event_class, level, types)             \
	TP_USED struct tracepoint tp_on_custom__##name TP_ZEROS;                        \
	TP_DEFINE_TEXT(__tp_text_custom__##name, #name, types, __FILE__, system);       \
	TP_USED struct tp_event tp_event_custom__##name TP_ZEROS;                       \
	TP_DEFINE(TP_TO(tp_on_custom__##name) TP_TO(__tp_text_custom__##name) "0, ",    \
		  TP_TO(tp_event_custom__##name) TP_TO(__tp_class_##event_class)        \
		  TP_TO(tp_record_custom__##name) TP_TO(tp_print_##event_class), at, TP_LEVEL_##level)

/*
 * Behind one of those: the structure, with the regfunc and unregfunc of TRACE_EVENT_FN or without. No brackets around them:
 * gcc would report errors in them here. C++ before C++20 has no designated initializers.
 */
#define TP_NO_CALLBACKS(name) struct tracepoint __tracepoint_##name __attribute__((used, nocommon))
#define TP_CALLBACKS(name, on_first, on_last)                                           \
	struct tracepoint __tracepoint_##name __attribute__((used)) = {                 \
		0,    0,    NULL, NULL, NULL,  NULL,  NULL, on_first, on_last, NULL, \
		NULL, NULL, NULL, NULL, NULL, 0, false, false, NULL, NULL}

/* If it is exported, another module's can take its place. The alias is surely this module's. */
#define TP_DEFINE_TRACEPOINT_AS(tracepoint_, own, symbol, name, spelled)                \
	TP_PROTOTYPE_IS_DEFINED(symbol, name, name "(" spelled ")");                    \
	extern struct tracepoint own __attribute__((alias(#tracepoint_), visibility("hidden"), used))

#define TP_DEFINE_TEXT(text, name, types, path, system)                                 \
	extern TP_HIDDEN const char text[];                                             \
	__attribute__((used)) const char text[] __attribute__((aligned(1))) = name "\0" types "\0" path "\0" system

/*
 * A struct tp_definition. It is assembler code, as distances are no constants in
 * C. The symbols are hidden, but none is static: with -flto compilers rename
 * those, and drop what assembler code alone refers to unless it is "used".
 */
#define TP_DEFINE(tracepoint_, event, at, level)                                                \
	__asm__(".pushsection " TP_SECTION("tp_definitions") ", \"a" TP_RETAIN_FLAG "\", %progbits\n\t" \
		".balign 4\n\t"                                                                 \
		".long " tracepoint_ event TP_QUOTE(at) ", " TP_QUOTE(level) "\n\t"             \
		".popsection")
#define TP_TO(symbol) "\"" #symbol "\" - ., "

/* The numbers of enum tp_loglevel, for assembler code. */
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

/* ---- Record writers and printers ---- */

/*
 * __record is the record's structure with the alignment that sinks provide, 8
 * bytes. For a member such as __int128 the compiler would assume a larger one.
 */
#define TP_RECORD_TYPE(record) typedef struct record __record __attribute__((aligned(8)))

/*
 * The variables of a record writer: __entry is the record, from
 * TP_RESERVE_RECORD on; __size is its size in bytes. For a record with dynamic
 * fields, whose names follow: __dyn.FIELD is the place of each field's payload,
 * and __size grows with each.
 */
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

/* Reserves room for the record in the sink. If the sink has none, returns from the writer. */
#define TP_RESERVE_RECORD(sink, event)                                    \
	do {                                                              \
		__entry = (__record *)tp_reserve(&__rec, (struct tp_sink *)(sink), event, __size); \
		if (!__entry)                                             \
			return;                                           \
	} while (0)

/*
 * Before anything else of a record is computed: whether data is a sink with a filter, and then the two ends of what asks it.
 * Between them, early fields are set in __entry, which has nothing else of a record; fields has a bit for each. data becomes
 * the sink that takes the record. If there is none, TP_END_EARLY returns from the writer. The function is weak, see
 * tp/sink.h; and a signal handler's stack may be small.
 */
#define TP_ASKS(data) __builtin_expect(((struct tp_sink *)(data))->reserved[1] != NULL, 0)
#define TP_CAN_BE_EARLY(record) (tp_early_sink && sizeof(struct record) <= TP_EARLY_MAX)
#define TP_EARLY_MAX 256
#define TP_FIELD_BIT(number) (UINT64_C(1) << (number)) /* fields are counted from 0 */
#define TP_BEGIN_EARLY(record)                                                                                       \
	char __bytes[sizeof(struct record) <= TP_EARLY_MAX ? sizeof(struct record) : 1] __attribute__((aligned(8))); \
	__entry = (__record *)(void *)__bytes
#define TP_END_EARLY(data, event, fields)                                                         \
	do {                                                                                      \
		data = tp_early_sink((struct tp_sink *)(data), (event), &__entry->ent, (fields)); \
		if (!data)                                                                        \
			return;                                                                   \
	} while (0)

/*
 * The variables of a printer: __entry is the record, __start the offset in p at
 * which its text begins. __entry is not const: as in the kernel, TP_printk can
 * pass parts of it to any function.
 */
#define TP_BEGIN_PRINT(record)                                            \
	TP_RECORD_TYPE(record);                                           \
	__record *__entry TP_UNUSED = (__record *)(uintptr_t)entry;       \
	const size_t __start = p->len

/* ---- Event classes have different names ---- */

/*
 * Two .tp files of a program can't have event classes with the same name. Both
 * define this symbol, each in a section that is named after its .tp file. So the
 * linker's error names both files. The quotes are for clang, which needs them
 * around names that are not ASCII.
 */
#define TP_ONE_EVENT_CLASS(name, what)                                                  \
	__asm__(".pushsection \".rodata." what "\", \"a\", %progbits\n\t"               \
		".globl \"event_class_" #name "_is_in_two_tp_files__rename_one\"\n\t" \
		".hidden \"event_class_" #name "_is_in_two_tp_files__rename_one\"\n"  \
		"\"event_class_" #name "_is_in_two_tp_files__rename_one\":\n\t"       \
		".popsection")

#endif /* TP_DEFINE_TRACE_H */

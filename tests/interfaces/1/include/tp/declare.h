/* SPDX-License-Identifier: MIT */
#ifndef TP_DECLARE_H
#define TP_DECLARE_H
#include <tp/call.h>
#include <tp/event.h>
#include <tp/site.h>
#include <tp/tracepoint.h>
#if defined(TP_SDT) && TP_SDT
#include <tp/sdt.h>
#define TP_SDT_SITE(...) TP_SDT_PROBE(__VA_ARGS__)
#else
#define TP_SDT_SITE(...) (void)0
#endif
#define TP_CALL_PROBES(name, count, ...)                                  \
	TP_IF_ENABLED(trace_##name##_enabled, tp_prototype_of_##name,     \
		      TP_CALL_##count(tp_probe_fn_##name, &__tracepoint_##name, __VA_ARGS__))
#define TP_CALL_PROBES_0(name)                                            \
	TP_IF_ENABLED(trace_##name##_enabled, tp_prototype_of_##name,     \
		      TP_CALL_WORDS_0(tp_probe_fn_##name, &__tracepoint_##name))
#define TP_CALL_IMPORTED_PROBES(name, count, ...)                         \
	TP_IF_ENABLED(trace_##name##_enabled, tp_prototype_of_##name,     \
		      TP_CALL_##count(tp_probe_fn_##name, __tp_import_##name.tp, __VA_ARGS__))
#define TP_CALL_IMPORTED_PROBES_0(name)                                   \
	TP_IF_ENABLED(trace_##name##_enabled, tp_prototype_of_##name,     \
		      TP_CALL_WORDS_0(tp_probe_fn_##name, __tp_import_##name.tp))
#define TP_IF_ENABLED(enabled, prototype, ...)                            \
	do {                                                              \
		if (__builtin_expect(enabled(), 0)) {                     \
			prototype();                                      \
			__VA_ARGS__;                                      \
		}                                                         \
	} while (0)
#define TP_DECLARE_TRACEPOINT(name, ...)                                                             \
	extern struct tracepoint __tracepoint_##name TP_HIDDEN;                                      \
	TP_PROTOTYPE_AS(tp_prototype_of_##name, tp_prototype_text_##name, the_tracepoint_##name,     \
			#name, #name "(" TP_SPELLED(__VA_ARGS__, __VA_ARGS__, ) ")")                 \
	static TP_SITE_INLINE bool trace_##name##_enabled(void)                                      \
	{                                                                                            \
		TP_RETURN_ENABLED(__tracepoint_##name);                                              \
	}                                                                                            \
	TP_REGISTRATION(#name, tp_probe_fn_##name, register_trace_prio_##name, register_trace_##name, \
			unregister_trace_##name, check_trace_callback_type_##name, TP_TYPES(__VA_ARGS__, ))
#define TP_DECLARE_EXPORTED_TRACEPOINT(name, ...)                                                    \
	extern struct tracepoint __tracepoint_##name TP_PUBLIC;                                      \
	TP_PROTOTYPE_AS(tp_prototype_of_##name, tp_prototype_text_##name, the_tracepoint_##name,     \
			#name, #name "(" TP_SPELLED(__VA_ARGS__, __VA_ARGS__, ) ")")                 \
	TP_IMPORT_AS(__tp_import_##name, __tracepoint_##name, TP_TYPES(__VA_ARGS__, ));              \
	static TP_SITE_INLINE bool trace_##name##_enabled(void)                                      \
	{                                                                                            \
		TP_RETURN_IMPORT_ENABLED(__tp_import_##name);                                        \
	}                                                                                            \
	enum { EXPORT_TRACEPOINT_SYMBOL_of_##name##_belongs_in_its_tp_file = 1 };                    \
	TP_REGISTRATION(#name, tp_probe_fn_##name, register_trace_prio_##name, register_trace_##name, \
			unregister_trace_##name, check_trace_callback_type_##name, TP_TYPES(__VA_ARGS__, ))
#define TP_TYPES(types, ...) types
#define TP_SPELLED(types, spelled, ...) spelled
#define TP_REGISTRATION(name, probe_fn, with_prio, without_prio, unregister, check, types)           \
	static inline int with_prio(probe_fn *probe, void *data, int prio)                           \
	{                                                                                            \
		return tp_probe_register(name, types, (tp_probe_t)probe, data, prio);                \
	}                                                                                            \
	static inline int without_prio(probe_fn *probe, void *data)                                  \
	{                                                                                            \
		return with_prio(probe, data, TRACEPOINT_DEFAULT_PRIO);                              \
	}                                                                                            \
	static inline int unregister(probe_fn *probe, void *data)                                    \
	{                                                                                            \
		return tp_probe_unregister(name, (tp_probe_t)probe, data);                           \
	}                                                                                            \
	static inline void check(probe_fn *probe)                                                    \
	{                                                                                            \
		(void)probe;                                                                         \
	}                                                                                            \
	struct tracepoint
#define TP_REGISTER(name, probe, data) \
	register_trace_##name(TP_PROBE_OF(tp_probe_fn_##name, probe), data)
#define TP_REGISTER_PRIO(name, probe, data, prio) \
	register_trace_prio_##name(TP_PROBE_OF(tp_probe_fn_##name, probe), data, prio)
#define TP_UNREGISTER(name, probe, data) \
	unregister_trace_##name(TP_PROBE_OF(tp_probe_fn_##name, probe), data)
#define TP_CHECK_CALLBACK_TYPE(name, probe) \
	check_trace_callback_type_##name(TP_PROBE_OF(tp_probe_fn_##name, probe))
#define TP_DECLARE_TRACE_EVENT(name)                                                                 \
	TP_HIDDEN __attribute__((used)) tp_probe_fn_##name tp_record_##name;                                               \
	extern struct tp_event tp_event_##name TP_HIDDEN
#define TP_DECLARE_PRINTER(name) TP_HIDDEN __attribute__((used)) void tp_print_##name(struct trace_seq *p, const void *entry)
#endif

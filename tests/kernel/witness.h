/* SPDX-License-Identifier: MIT */
/*
 * Makes the kernel's own tables of what a trace header declares, and nothing
 * else of it: the macros for fields and print formats are the kernel's, in
 * trace/stages/. Neither a record's structure nor any code is needed for that,
 * so that headers compile which elsewhere want a driver's private ones.
 * witness.py reads the tables in the object.
 */
struct witness_event {
	const char *system, *name;
	const struct trace_event_fields *fields;
	const char *print_fmt;
};

/* How struct trace_event_fields lies in the object; is_signed is a bit-field in later kernels. */
const struct trace_event_fields witness_layout[] = {
	{ .type = "type", .name = "name", .size = 0x11111111, .align = 1, .is_signed = 0, .filter_type = 0, .len = 0x22222222 },
	{ .type = "type", .name = "name", .size = 0, .align = 0, .is_signed = 1, .filter_type = 0, .len = 0 },
};

#undef TRACE_EVENT
#undef TRACE_EVENT_FN
#undef TRACE_EVENT_FN_COND
#undef TRACE_EVENT_CONDITION
#undef TRACE_EVENT_NOP
#undef TRACE_EVENT_FLAGS
#undef TRACE_EVENT_PERF_PERM
#undef DECLARE_EVENT_CLASS
#undef DECLARE_EVENT_CLASS_NOP
#undef DECLARE_EVENT_NOP
#undef DEFINE_EVENT
#undef DEFINE_EVENT_FN
#undef DEFINE_EVENT_CONDITION
#undef DEFINE_EVENT_PRINT
#undef DEFINE_EVENT_NOP
#undef DECLARE_TRACE
#undef DECLARE_TRACE_CONDITION
#undef TRACE_DEFINE_ENUM
#undef TRACE_DEFINE_SIZEOF
#undef TP_STRUCT__entry
#undef TP_fast_assign
#undef TP_PROTO
#undef TP_ARGS
#undef TP_CONDITION

#define WITNESS(prefix, name) WITNESS_(prefix, name)
#define WITNESS_(prefix, name) prefix##name

#define WITNESS_EVENT(class, event, print) \
	static const struct witness_event witness_event_##event __used = { \
		__stringify(TRACE_SYSTEM), #event, witness_fields_##class, print };
#define WITNESS_PRINT(name, print) static const char witness_print_##name[] __used = print;
/* A value that no packaged header knows stays a name: witness.py defines WITNESS_NO_name for it. */
#define WITNESS_VALUE_1(text, value)
#define WITNESS_VALUE_0(text, value) \
	static const struct trace_eval_map WITNESS(witness_value_, __COUNTER__) __used = { \
		__stringify(TRACE_SYSTEM), text, value };

#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print) \
	static const struct trace_event_fields witness_fields_##name[] __used = { tstruct {} }; \
	WITNESS_PRINT(name, PARAMS(print))
#define DEFINE_EVENT(class, name, proto, args) WITNESS_EVENT(class, name, witness_print_##class)
#define DEFINE_EVENT_FN(class, name, proto, args, reg, unreg) DEFINE_EVENT(class, name, , )
#define DEFINE_EVENT_CONDITION(class, name, proto, args, cond) DEFINE_EVENT(class, name, , )
#define DEFINE_EVENT_PRINT(class, name, proto, args, print) \
	WITNESS_PRINT(own_##name, PARAMS(print)) WITNESS_EVENT(class, name, witness_print_own_##name)
#define TRACE_EVENT(name, proto, args, tstruct, assign, print) \
	DECLARE_EVENT_CLASS(name, , , PARAMS(tstruct), , PARAMS(print)) DEFINE_EVENT(name, name, , )
#define TRACE_EVENT_FN(name, proto, args, tstruct, assign, print, reg, unreg) \
	TRACE_EVENT(name, , , PARAMS(tstruct), , PARAMS(print))
#define TRACE_EVENT_CONDITION(name, proto, args, cond, tstruct, assign, print) \
	TRACE_EVENT(name, , , PARAMS(tstruct), , PARAMS(print))
#define TRACE_EVENT_FN_COND(name, proto, args, cond, tstruct, assign, print, reg, unreg) \
	TRACE_EVENT(name, , , PARAMS(tstruct), , PARAMS(print))
#define TRACE_EVENT_NOP(name, proto, args, tstruct, assign, print)
#define TRACE_EVENT_FLAGS(name, value)
#define TRACE_EVENT_PERF_PERM(name, expr...)
#define DECLARE_EVENT_CLASS_NOP(name, proto, args, tstruct, assign, print)
#define DECLARE_EVENT_NOP(name, proto, args)
#define DEFINE_EVENT_NOP(class, name, proto, args)
#define DECLARE_TRACE(name, proto, args)
#define DECLARE_TRACE_CONDITION(name, proto, args, cond)
#define TRACE_DEFINE_ENUM(name) WITNESS(WITNESS_VALUE_, __is_defined(WITNESS_NO_##name))(#name, name)
#define TRACE_DEFINE_SIZEOF(type) WITNESS_VALUE_0("sizeof(" #type ")", sizeof(type))

#define TP_STRUCT__entry(args...) args
#define TP_fast_assign(args...)
#define TP_PROTO(args...)
#define TP_ARGS(args...)
#define TP_CONDITION(args...)

#include <trace/stages/stage4_event_fields.h>
#include <trace/stages/stage7_class_define.h>

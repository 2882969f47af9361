/* SPDX-License-Identifier: MIT */
/*
 * The C preprocessor as a witness: in front of a kernel trace header, and
 * with linux/tracepoint.h kept out, it makes of each declaration a line of
 * markers that oracle.py reads. Nothing of tpgen is in it.
 */
#define ORACLE_STRING(x...) ORACLE_STRING_(x)
#define ORACLE_STRING_(x...) #x
#define ORACLE_ALL(x...) x
#define __entry REC

#define ORACLE_CLASS(name, tstruct, print) \
	@@class __FILE__ #name @{ tstruct @} print @@end
#define ORACLE_EVENT(kind, class, name) \
	@@kind __FILE__ __LINE__ ORACLE_STRING(TRACE_SYSTEM) #class #name @@end
#define ORACLE_POINT(name) @@point __FILE__ __LINE__ #name @@end

#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print) \
	ORACLE_CLASS(name, ORACLE_ALL(tstruct), ORACLE_ALL(print))
#define DEFINE_EVENT(class, name, proto, args) ORACLE_EVENT(event, class, name)
#define DEFINE_EVENT_FN(class, name, proto, args, reg, unreg) ORACLE_EVENT(event, class, name)
#define DEFINE_EVENT_CONDITION(class, name, proto, args, cond) ORACLE_EVENT(event, class, name)
#define DEFINE_EVENT_WRITABLE(class, name, proto, args, size) ORACLE_EVENT(event, class, name)
#define DEFINE_EVENT_PRINT(class, name, proto, args, print) \
	ORACLE_EVENT(event, class, name) @@own __FILE__ #name print @@end
#define TRACE_EVENT(name, proto, args, tstruct, assign, print) \
	ORACLE_CLASS(name, ORACLE_ALL(tstruct), ORACLE_ALL(print)) ORACLE_EVENT(event, name, name)
#define TRACE_EVENT_FN(name, proto, args, tstruct, assign, print, reg, unreg) \
	ORACLE_CLASS(name, ORACLE_ALL(tstruct), ORACLE_ALL(print)) ORACLE_EVENT(event, name, name)
#define TRACE_EVENT_CONDITION(name, proto, args, cond, tstruct, assign, print) \
	ORACLE_CLASS(name, ORACLE_ALL(tstruct), ORACLE_ALL(print)) ORACLE_EVENT(event, name, name)
#define TRACE_EVENT_FN_COND(name, proto, args, cond, tstruct, assign, print, reg, unreg) \
	ORACLE_CLASS(name, ORACLE_ALL(tstruct), ORACLE_ALL(print)) ORACLE_EVENT(event, name, name)
/* These leave a trace_NAME() that does nothing. */
#define TRACE_EVENT_NOP(name, proto, args, tstruct, assign, print) ORACLE_POINT(name)
#define DECLARE_EVENT_NOP(name, proto, args) ORACLE_POINT(name)
#define DECLARE_EVENT_CLASS_NOP(name, proto, args, tstruct, assign, print)
#define DEFINE_EVENT_NOP(class, name, proto, args) ORACLE_POINT(name)
#define DECLARE_TRACE(name, proto, args) ORACLE_POINT(name)
#define DECLARE_TRACE_CONDITION(name, proto, args, cond) ORACLE_POINT(name)
#define DECLARE_TRACE_WRITABLE(name, proto, args, size) ORACLE_POINT(name)
#define DECLARE_TRACE_EVENT(name, proto, args) ORACLE_POINT(name)
#define DECLARE_TRACE_EVENT_CONDITION(name, proto, args, cond) ORACLE_POINT(name)
#define TRACE_EVENT_FLAGS(event, flag)
#define TRACE_EVENT_PERF_PERM(event, expr...)
#define TRACE_DEFINE_ENUM(a) @@enum ORACLE_STRING(TRACE_SYSTEM) #a @@end
#define TRACE_DEFINE_SIZEOF(a) @@sizeof ORACLE_STRING(TRACE_SYSTEM) #a @@end

#define TP_PROTO(args...)
#define TP_ARGS(args...)
#define TP_CONDITION(args...)
#define TP_STRUCT__entry(args...) args
#define TP_fast_assign(args...)
#define TP_printk(fmt, args...) @: fmt @, ORACLE_STRING(args)

#define ORACLE_FIELD(text, name) @field text #name
/* As in the kernel: a type that is a macro is expanded in the first two, and nowhere else. */
#define __field(type, name) __field_ext(type, name, 0)
#define __field_struct(type, name) __field_ext(type, name, 0)
#define __field_ext(type, name, filter) ORACLE_FIELD(#type " ", name)
#define __field_struct_ext(type, name, filter) __field_ext(type, name, filter)
#define __array(type, name, len) @array #type " " #name "[" ORACLE_STRING(len) "]"
#define ORACLE_LOC(type, name) ORACLE_FIELD("__data_loc " type " ", name)
#define __dynamic_array(type, name, len) ORACLE_LOC(#type "[]", name)
#define __string(name, src) ORACLE_LOC("char[]", name)
#define __string_len(name, src, len) ORACLE_LOC("char[]", name)
#define __vstring(name, fmt, ap) ORACLE_LOC("char[]", name)
#define __bitmask(name, bits) ORACLE_LOC("unsigned long[]", name)
#define __cpumask(name) ORACLE_LOC("cpumask_t", name)
#define __sockaddr(name, len) ORACLE_LOC("u8[]", name)
#define ORACLE_REL(type, name) ORACLE_FIELD("__rel_loc " type " ", name)
#define __rel_dynamic_array(type, name, len) ORACLE_REL(#type "[]", name)
#define __rel_string(name, src) ORACLE_REL("char[]", name)
#define __rel_string_len(name, src, len) ORACLE_REL("char[]", name)
#define __rel_bitmask(name, bits) ORACLE_REL("unsigned long[]", name)
#define __rel_cpumask(name) ORACLE_REL("cpumask_t", name)
#define __rel_sockaddr(name, len) ORACLE_REL("u8[]", name)

#define __print_ns_to_secs(val) (val) / 1000000000UL
#define __print_ns_without_secs(val) (val) % 1000000000UL

#define __event_in_hardirq() (REC->common_flags & 0x8)
#define __event_in_softirq() (REC->common_flags & 0x10)
#define __event_in_irq() (REC->common_flags & 0x18)

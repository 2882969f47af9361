/* SPDX-License-Identifier: MIT */
#if defined(CREATE_TRACE_POINTS) && !defined(__cplusplus)
#include <tp/define_trace.h>
#endif
#ifndef TP_GENERATED_FROZEN_H
#define TP_GENERATED_FROZEN_H
#include <tp/call.h>
#include <tp/event.h>
#include <tp/sdt.h>
#include <tp/tracepoint.h>
#if TP_INTERFACE_VERSION != 6
#error "frozen.h and the tp runtime are of different versions: run tpgen again on frozen.tp"
#endif
enum frozen_colour { FROZEN_RED = 1, FROZEN_GREEN = 2 };
int frozen_reg(void);
void frozen_unreg(void);
#ifdef __cplusplus
extern "C" {
#endif
struct trace_event_raw_frozen_fields {
	struct trace_entry ent;
	int n;
	double half;
	char fixed[8];
	tp_data_loc_t __data_loc_text;
	tp_data_loc_t __data_loc_values;
	tp_data_loc_t __data_loc_bits;
	unsigned long flags;
	int colour;
	TP_DYNAMIC_DATA
};
TP_HIDDEN void tp_print_frozen_fields(struct trace_seq *p, const void *entry);
struct trace_event_raw_frozen_class {
	struct trace_entry ent;
	long value;
	TP_DYNAMIC_DATA
};
TP_HIDDEN void tp_print_frozen_class(struct trace_seq *p, const void *entry);
TP_HIDDEN void tp_print_frozen_second(struct trace_seq *p, const void *entry);
struct trace_event_raw_frozen_callbacks {
	struct trace_entry ent;
	TP_DYNAMIC_DATA
};
TP_HIDDEN void tp_print_frozen_callbacks(struct trace_seq *p, const void *entry);
typedef void tp_probe_fn_frozen_fields(void *__data, int n, const char *text, const unsigned short *values,
		int count, unsigned long flags);
extern struct tracepoint __tracepoint_frozen_fields TP_HIDDEN;
TP_PROTOTYPE(frozen_fields, "frozen_fields(int, const char *, const unsigned short *, int, unsigned long)")
static TP_SITE_INLINE bool trace_frozen_fields_enabled(void)
{
	TP_RETURN_ENABLED(__tracepoint_frozen_fields);
}
static TP_SITE_INLINE void trace_frozen_fields(int n, const char *text, const unsigned short *values,
		int count, unsigned long flags)
{
	TP_SDT_PROBE("frozen", "frozen_fields", n, text, values, count, flags);
	if (__builtin_expect(trace_frozen_fields_enabled(), 0)) {
		tp_prototype_of_frozen_fields();
		TP_CALL_5(tp_probe_fn_frozen_fields, &__tracepoint_frozen_fields, n, text, values, count,
				flags);
	}
}
static inline int register_trace_prio_frozen_fields(tp_probe_fn_frozen_fields *probe, void *data, int prio)
{
	return tp_probe_register("frozen_fields",
			"int, const char *, const unsigned short *, int, unsigned long", (tp_probe_t)probe,
			data, prio);
}
static inline int register_trace_frozen_fields(tp_probe_fn_frozen_fields *probe, void *data)
{
	return register_trace_prio_frozen_fields(probe, data, TRACEPOINT_DEFAULT_PRIO);
}
static inline int unregister_trace_frozen_fields(tp_probe_fn_frozen_fields *probe, void *data)
{
	return tp_probe_unregister("frozen_fields", (tp_probe_t)probe, data);
}
static inline void check_trace_callback_type_frozen_fields(tp_probe_fn_frozen_fields *probe)
{
	(void)probe;
}
#ifndef __cplusplus
#define register_trace_prio_frozen_fields(probe, data, prio) \
	register_trace_prio_frozen_fields(tp_check_probe(frozen_fields, probe), data, prio)
#define register_trace_frozen_fields(probe, data) \
	register_trace_frozen_fields(tp_check_probe(frozen_fields, probe), data)
#define unregister_trace_frozen_fields(probe, data) \
	unregister_trace_frozen_fields(tp_check_probe(frozen_fields, probe), data)
#define check_trace_callback_type_frozen_fields(probe) \
	check_trace_callback_type_frozen_fields(tp_check_probe(frozen_fields, probe))
#endif
TP_HIDDEN tp_probe_fn_frozen_fields tp_record_frozen_fields;
extern struct tp_event tp_event_frozen_fields TP_HIDDEN;
typedef void tp_probe_fn_frozen_first(void *__data, long value);
extern struct tracepoint __tracepoint_frozen_first TP_HIDDEN;
TP_PROTOTYPE(frozen_first, "frozen_first(long)")
static TP_SITE_INLINE bool trace_frozen_first_enabled(void)
{
	TP_RETURN_ENABLED(__tracepoint_frozen_first);
}
static TP_SITE_INLINE void trace_frozen_first(long value)
{
	TP_SDT_PROBE("frozen", "frozen_first", value);
	if (__builtin_expect(trace_frozen_first_enabled(), 0)) {
		tp_prototype_of_frozen_first();
		TP_CALL_1(tp_probe_fn_frozen_first, &__tracepoint_frozen_first, value);
	}
}
static inline int register_trace_prio_frozen_first(tp_probe_fn_frozen_first *probe, void *data, int prio)
{
	return tp_probe_register("frozen_first", "long", (tp_probe_t)probe, data, prio);
}
static inline int register_trace_frozen_first(tp_probe_fn_frozen_first *probe, void *data)
{
	return register_trace_prio_frozen_first(probe, data, TRACEPOINT_DEFAULT_PRIO);
}
static inline int unregister_trace_frozen_first(tp_probe_fn_frozen_first *probe, void *data)
{
	return tp_probe_unregister("frozen_first", (tp_probe_t)probe, data);
}
static inline void check_trace_callback_type_frozen_first(tp_probe_fn_frozen_first *probe)
{
	(void)probe;
}
#ifndef __cplusplus
#define register_trace_prio_frozen_first(probe, data, prio) \
	register_trace_prio_frozen_first(tp_check_probe(frozen_first, probe), data, prio)
#define register_trace_frozen_first(probe, data) \
	register_trace_frozen_first(tp_check_probe(frozen_first, probe), data)
#define unregister_trace_frozen_first(probe, data) \
	unregister_trace_frozen_first(tp_check_probe(frozen_first, probe), data)
#define check_trace_callback_type_frozen_first(probe) \
	check_trace_callback_type_frozen_first(tp_check_probe(frozen_first, probe))
#endif
TP_HIDDEN tp_probe_fn_frozen_first tp_record_frozen_first;
extern struct tp_event tp_event_frozen_first TP_HIDDEN;
typedef void tp_probe_fn_frozen_second(void *__data, long value);
extern struct tracepoint __tracepoint_frozen_second TP_HIDDEN;
TP_PROTOTYPE(frozen_second, "frozen_second(long)")
static TP_SITE_INLINE bool trace_frozen_second_enabled(void)
{
	TP_RETURN_ENABLED(__tracepoint_frozen_second);
}
static TP_SITE_INLINE void trace_frozen_second(long value)
{
	TP_SDT_PROBE("frozen", "frozen_second", value);
	if (__builtin_expect(trace_frozen_second_enabled(), 0)) {
		tp_prototype_of_frozen_second();
		TP_CALL_1(tp_probe_fn_frozen_second, &__tracepoint_frozen_second, value);
	}
}
static inline int register_trace_prio_frozen_second(tp_probe_fn_frozen_second *probe, void *data, int prio)
{
	return tp_probe_register("frozen_second", "long", (tp_probe_t)probe, data, prio);
}
static inline int register_trace_frozen_second(tp_probe_fn_frozen_second *probe, void *data)
{
	return register_trace_prio_frozen_second(probe, data, TRACEPOINT_DEFAULT_PRIO);
}
static inline int unregister_trace_frozen_second(tp_probe_fn_frozen_second *probe, void *data)
{
	return tp_probe_unregister("frozen_second", (tp_probe_t)probe, data);
}
static inline void check_trace_callback_type_frozen_second(tp_probe_fn_frozen_second *probe)
{
	(void)probe;
}
#ifndef __cplusplus
#define register_trace_prio_frozen_second(probe, data, prio) \
	register_trace_prio_frozen_second(tp_check_probe(frozen_second, probe), data, prio)
#define register_trace_frozen_second(probe, data) \
	register_trace_frozen_second(tp_check_probe(frozen_second, probe), data)
#define unregister_trace_frozen_second(probe, data) \
	unregister_trace_frozen_second(tp_check_probe(frozen_second, probe), data)
#define check_trace_callback_type_frozen_second(probe) \
	check_trace_callback_type_frozen_second(tp_check_probe(frozen_second, probe))
#endif
TP_HIDDEN tp_probe_fn_frozen_second tp_record_frozen_second;
extern struct tp_event tp_event_frozen_second TP_HIDDEN;
typedef void tp_probe_fn_frozen_odd(void *__data, long value);
extern struct tracepoint __tracepoint_frozen_odd TP_HIDDEN;
TP_PROTOTYPE(frozen_odd, "frozen_odd(long)")
static TP_SITE_INLINE bool trace_frozen_odd_enabled(void)
{
	TP_RETURN_ENABLED(__tracepoint_frozen_odd);
}
static TP_SITE_INLINE void trace_frozen_odd(long value)
{
	TP_SDT_PROBE("frozen", "frozen_odd", value);
	if (__builtin_expect(trace_frozen_odd_enabled(), 0)) {
		tp_prototype_of_frozen_odd();
		TP_CALL_1(tp_probe_fn_frozen_odd, &__tracepoint_frozen_odd, value);
	}
}
static inline int register_trace_prio_frozen_odd(tp_probe_fn_frozen_odd *probe, void *data, int prio)
{
	return tp_probe_register("frozen_odd", "long", (tp_probe_t)probe, data, prio);
}
static inline int register_trace_frozen_odd(tp_probe_fn_frozen_odd *probe, void *data)
{
	return register_trace_prio_frozen_odd(probe, data, TRACEPOINT_DEFAULT_PRIO);
}
static inline int unregister_trace_frozen_odd(tp_probe_fn_frozen_odd *probe, void *data)
{
	return tp_probe_unregister("frozen_odd", (tp_probe_t)probe, data);
}
static inline void check_trace_callback_type_frozen_odd(tp_probe_fn_frozen_odd *probe)
{
	(void)probe;
}
#ifndef __cplusplus
#define register_trace_prio_frozen_odd(probe, data, prio) \
	register_trace_prio_frozen_odd(tp_check_probe(frozen_odd, probe), data, prio)
#define register_trace_frozen_odd(probe, data) \
	register_trace_frozen_odd(tp_check_probe(frozen_odd, probe), data)
#define unregister_trace_frozen_odd(probe, data) \
	unregister_trace_frozen_odd(tp_check_probe(frozen_odd, probe), data)
#define check_trace_callback_type_frozen_odd(probe) \
	check_trace_callback_type_frozen_odd(tp_check_probe(frozen_odd, probe))
#endif
TP_HIDDEN tp_probe_fn_frozen_odd tp_record_frozen_odd;
extern struct tp_event tp_event_frozen_odd TP_HIDDEN;
typedef void tp_probe_fn_frozen_callbacks(void *__data);
extern struct tracepoint __tracepoint_frozen_callbacks TP_HIDDEN;
TP_PROTOTYPE(frozen_callbacks, "frozen_callbacks(void)")
static TP_SITE_INLINE bool trace_frozen_callbacks_enabled(void)
{
	TP_RETURN_ENABLED(__tracepoint_frozen_callbacks);
}
static TP_SITE_INLINE void trace_frozen_callbacks(void)
{
	TP_SDT_PROBE("frozen", "frozen_callbacks");
	if (__builtin_expect(trace_frozen_callbacks_enabled(), 0)) {
		tp_prototype_of_frozen_callbacks();
		TP_CALL_0(tp_probe_fn_frozen_callbacks, &__tracepoint_frozen_callbacks);
	}
}
static inline int register_trace_prio_frozen_callbacks(tp_probe_fn_frozen_callbacks *probe, void *data,
		int prio)
{
	return tp_probe_register("frozen_callbacks", "void", (tp_probe_t)probe, data, prio);
}
static inline int register_trace_frozen_callbacks(tp_probe_fn_frozen_callbacks *probe, void *data)
{
	return register_trace_prio_frozen_callbacks(probe, data, TRACEPOINT_DEFAULT_PRIO);
}
static inline int unregister_trace_frozen_callbacks(tp_probe_fn_frozen_callbacks *probe, void *data)
{
	return tp_probe_unregister("frozen_callbacks", (tp_probe_t)probe, data);
}
static inline void check_trace_callback_type_frozen_callbacks(tp_probe_fn_frozen_callbacks *probe)
{
	(void)probe;
}
#ifndef __cplusplus
#define register_trace_prio_frozen_callbacks(probe, data, prio) \
	register_trace_prio_frozen_callbacks(tp_check_probe(frozen_callbacks, probe), data, prio)
#define register_trace_frozen_callbacks(probe, data) \
	register_trace_frozen_callbacks(tp_check_probe(frozen_callbacks, probe), data)
#define unregister_trace_frozen_callbacks(probe, data) \
	unregister_trace_frozen_callbacks(tp_check_probe(frozen_callbacks, probe), data)
#define check_trace_callback_type_frozen_callbacks(probe) \
	check_trace_callback_type_frozen_callbacks(tp_check_probe(frozen_callbacks, probe))
#endif
TP_HIDDEN tp_probe_fn_frozen_callbacks tp_record_frozen_callbacks;
extern struct tp_event tp_event_frozen_callbacks TP_HIDDEN;
typedef void tp_probe_fn_frozen_bare(void *__data, int a, int b, int c, int d, int e, int f, int g);
extern struct tracepoint __tracepoint_frozen_bare TP_HIDDEN;
TP_PROTOTYPE(frozen_bare, "frozen_bare(int, int, int, int, int, int, int)")
static TP_SITE_INLINE bool trace_frozen_bare_enabled(void)
{
	TP_RETURN_ENABLED(__tracepoint_frozen_bare);
}
static TP_SITE_INLINE void trace_frozen_bare(int a, int b, int c, int d, int e, int f, int g)
{
	TP_SDT_PROBE("frozen", "frozen_bare", a, b, c, d, e, f, g);
	if (__builtin_expect(trace_frozen_bare_enabled(), 0)) {
		tp_prototype_of_frozen_bare();
		TP_CALL_MANY(tp_probe_fn_frozen_bare, &__tracepoint_frozen_bare, a, b, c, d, e, f, g);
	}
}
static inline int register_trace_prio_frozen_bare(tp_probe_fn_frozen_bare *probe, void *data, int prio)
{
	return tp_probe_register("frozen_bare", "int, int, int, int, int, int, int", (tp_probe_t)probe, data,
			prio);
}
static inline int register_trace_frozen_bare(tp_probe_fn_frozen_bare *probe, void *data)
{
	return register_trace_prio_frozen_bare(probe, data, TRACEPOINT_DEFAULT_PRIO);
}
static inline int unregister_trace_frozen_bare(tp_probe_fn_frozen_bare *probe, void *data)
{
	return tp_probe_unregister("frozen_bare", (tp_probe_t)probe, data);
}
static inline void check_trace_callback_type_frozen_bare(tp_probe_fn_frozen_bare *probe)
{
	(void)probe;
}
#ifndef __cplusplus
#define register_trace_prio_frozen_bare(probe, data, prio) \
	register_trace_prio_frozen_bare(tp_check_probe(frozen_bare, probe), data, prio)
#define register_trace_frozen_bare(probe, data) \
	register_trace_frozen_bare(tp_check_probe(frozen_bare, probe), data)
#define unregister_trace_frozen_bare(probe, data) \
	unregister_trace_frozen_bare(tp_check_probe(frozen_bare, probe), data)
#define check_trace_callback_type_frozen_bare(probe) \
	check_trace_callback_type_frozen_bare(tp_check_probe(frozen_bare, probe))
#endif
#ifdef __cplusplus
}
#endif
#endif
#if defined(CREATE_TRACE_POINTS) && defined(__cplusplus)
#error "CREATE_TRACE_POINTS must be defined in a C file, not in a C++ one: the call sites may be C++"
#elif defined(CREATE_TRACE_POINTS) && !defined(TP_CREATED_FROZEN_H)
#define TP_CREATED_FROZEN_H
static const struct trace_print_flags tp_symbols_frozen_fields__1[] = {
	{ 1, "one" }, { 2, "two" },
	{ 0, NULL },
};
static const struct trace_print_flags tp_symbols_frozen_fields__2[] = {
	{ (unsigned long)(FROZEN_RED), "red" }, { (unsigned long)(FROZEN_GREEN), "green" },
	{ 0, NULL },
};
static const struct tp_event_field tp_fields_frozen_fields[] = {
	TP_DESCRIBE(TP_FIELD, false, trace_event_raw_frozen_fields, n, "n", int, "int", NULL),
	TP_DESCRIBE(TP_FIELD, false, trace_event_raw_frozen_fields, half, "half", double, "double", NULL),
	TP_DESCRIBE(TP_ARRAY, false, trace_event_raw_frozen_fields, fixed, "fixed", char, "char", NULL),
	TP_DESCRIBE(TP_STRING, false, trace_event_raw_frozen_fields, __data_loc_text, "text", char, "char",
			NULL),
	TP_DESCRIBE(TP_DYNAMIC_ARRAY, false, trace_event_raw_frozen_fields, __data_loc_values, "values",
			unsigned short, "unsigned short", NULL),
	TP_DESCRIBE(TP_BITMASK, false, trace_event_raw_frozen_fields, __data_loc_bits, "bits", unsigned long,
			"unsigned long", NULL),
	TP_DESCRIBE(TP_FIELD, false, trace_event_raw_frozen_fields, flags, "flags", unsigned long,
			"unsigned long", tp_symbols_frozen_fields__1, "|"),
	TP_DESCRIBE(TP_FIELD, false, trace_event_raw_frozen_fields, colour, "colour", int, "int",
			tp_symbols_frozen_fields__2),
};
static const struct tp_eval tp_evals_frozen_fields[] = {
	{ "FROZEN_GREEN", (long long)(FROZEN_GREEN) },
	{ NULL, 0 },
};
TP_PRINTER void tp_print_frozen_fields(struct trace_seq *p, const void *entry)
{
	TP_RECORD_TYPE(trace_event_raw_frozen_fields);
	__record *__entry = (void *)(uintptr_t)entry;
	const size_t __start = p->len;
	tp_printk(p, __start,
	"n=%d half=%.1f fixed=%s text=%s values=%s bits=%s flags=%s colour=%s", __entry->n, __entry->half,
		  __entry->fixed, __get_str(text),
		  __print_array(__get_dynamic_array(values), __get_dynamic_array_len(values) / 2, 2), __print_bitmask(bits),
		  __print_flags_table(__entry->flags, "|", tp_symbols_frozen_fields__1),
		  __print_symbolic_table(__entry->colour, tp_symbols_frozen_fields__2)
	);
}
static const struct tp_event_class tp_class_frozen_fields = {
	.fields = tp_fields_frozen_fields,
	.nr_fields = sizeof(tp_fields_frozen_fields) / sizeof(tp_fields_frozen_fields[0]),
	.field_size = sizeof(tp_fields_frozen_fields[0]),
	.fixed_size = offsetof(struct trace_event_raw_frozen_fields, __data),
	.print_fmt = __extension__
		"\"n=%d half=%.1f fixed=%s text=%s values=%s bits=%s flags=%s colour=%s\", REC->n, "
		"REC->half, REC->fixed, __get_str(text), __print_array(__get_dynamic_array(values), "
		"__get_dynamic_array_len(values) / 2, 2), __get_bitmask(bits), __print_flags(REC->flags, "
		"\"|\", { 1, \"one\" }, { 2, \"two\" }), __print_symbolic(REC->colour, { FROZEN_RED, "
		"\"red\" }, { FROZEN_GREEN, \"green\" })",
	.evals = tp_evals_frozen_fields,
	.print = tp_print_frozen_fields,
};
static const struct tp_event_field tp_fields_frozen_class[] = {
	TP_DESCRIBE(TP_FIELD, false, trace_event_raw_frozen_class, value, "value", long, "long", NULL),
};
TP_PRINTER void tp_print_frozen_class(struct trace_seq *p, const void *entry)
{
	TP_RECORD_TYPE(trace_event_raw_frozen_class);
	__record *__entry = (void *)(uintptr_t)entry;
	const size_t __start = p->len;
	tp_printk(p, __start,
	"value=%ld", __entry->value
	);
}
static const struct tp_event_class tp_class_frozen_class = {
	.fields = tp_fields_frozen_class,
	.nr_fields = sizeof(tp_fields_frozen_class) / sizeof(tp_fields_frozen_class[0]),
	.field_size = sizeof(tp_fields_frozen_class[0]),
	.fixed_size = offsetof(struct trace_event_raw_frozen_class, __data),
	.print_fmt = __extension__
		"\"value=%ld\", REC->value",
	.print = tp_print_frozen_class,
};
static const struct tp_event_field tp_fields_frozen_second[] = {
	TP_DESCRIBE(TP_FIELD, false, trace_event_raw_frozen_class, value, "value", long, "long", NULL),
};
TP_PRINTER void tp_print_frozen_second(struct trace_seq *p, const void *entry)
{
	TP_RECORD_TYPE(trace_event_raw_frozen_class);
	__record *__entry = (void *)(uintptr_t)entry;
	const size_t __start = p->len;
	tp_printk(p, __start,
	"second=%ld", __entry->value
	);
}
static const struct tp_event_class tp_class_frozen_second = {
	.fields = tp_fields_frozen_second,
	.nr_fields = sizeof(tp_fields_frozen_second) / sizeof(tp_fields_frozen_second[0]),
	.field_size = sizeof(tp_fields_frozen_second[0]),
	.fixed_size = offsetof(struct trace_event_raw_frozen_class, __data),
	.print_fmt = __extension__
		"\"second=%ld\", REC->value",
	.print = tp_print_frozen_second,
};
TP_PLAIN static void tp_write_frozen_class(const struct tp_event *__event, void *__data, long value)
{
	TP_RECORD_TYPE(trace_event_raw_frozen_class);
	__record *__entry;
	struct tp_record __rec;
	const size_t __size = offsetof(struct trace_event_raw_frozen_class, __data);
	__entry = tp_reserve(&__rec, __data, __event, __size);
	if (!__entry)
		return;
	{
	__entry->value = value;
	}
	tp_commit(&__rec);
}
TP_PRINTER void tp_print_frozen_callbacks(struct trace_seq *p, const void *entry)
{
	TP_RECORD_TYPE(trace_event_raw_frozen_callbacks);
	__record *__entry TP_UNUSED = (void *)(uintptr_t)entry;
	const size_t __start = p->len;
	tp_printk(p, __start,
	"called"
	);
}
static const struct tp_event_class tp_class_frozen_callbacks = {
	.fixed_size = offsetof(struct trace_event_raw_frozen_callbacks, __data),
	.print_fmt = __extension__
		"\"called\"",
	.print = tp_print_frozen_callbacks,
};
static __attribute__((noinline))
void __tp_several_frozen_fields(const struct tracepoint_func *__it, int n, const char *text,
		const unsigned short *values, int count, unsigned long flags)
{
	tp_probe_t __probe = tp_probe_func(__it);
	do {
		if (__builtin_expect(__probe != TP_REMOVED, 1))
			((tp_probe_fn_frozen_fields *)__probe)(__it->data, n, text, values, count, flags);
		__probe = tp_probe_func(++__it);
	} while (__probe);
}
static void __traceiter_frozen_fields(void *__data, int n, const char *text, const unsigned short *values,
		int count, unsigned long flags)
{
	const struct tracepoint_func *__it = tp_read_lock((const struct tracepoint *)__data);
	if (__builtin_expect(__it && !tp_probe_func(__it + 1), 1))
		((tp_probe_fn_frozen_fields *)tp_probe_func(__it))(__it->data, n, text, values, count, flags);
	else if (__it)
		__tp_several_frozen_fields(__it, n, text, values, count, flags);
	tp_read_unlock();
}
TP_PROTOTYPE_DEFINED(frozen_fields,
		"frozen_fields(int, const char *, const unsigned short *, int, unsigned long)");
struct tracepoint __tracepoint_frozen_fields = {
	.line = 9,
	.iterate = (tp_probe_t)__traceiter_frozen_fields,
	.name = "frozen_fields",
	.proto = "int, const char *, const unsigned short *, int, unsigned long",
	.file = "frozen.tp",
};
TP_ANNOUNCE(tracepoint, "tp_tracepoints", __tracepoint_frozen_fields);
TP_PLAIN void tp_record_frozen_fields(void *__data, int n, const char *text, const unsigned short *values,
		int count, unsigned long flags)
{
	TP_RECORD_TYPE(trace_event_raw_frozen_fields);
	__record *__entry;
	struct tp_record __rec;
	struct {
		struct tp_dynamic text, values, bits;
	} __dyn;
	size_t __size = offsetof(struct trace_event_raw_frozen_fields, __data);
	__size = tp_size_string(&__dyn.text, __size
		, (const char *)(
		text
		));
	__size = tp_size_array(&__dyn.values, __size, sizeof(unsigned short), _Alignof(unsigned short)
		, (size_t)(
		count
		));
	__size = tp_size_bitmask(&__dyn.bits, __size
		, (size_t)(
		70
		));
	__entry = tp_reserve(&__rec, __data, &tp_event_frozen_fields, __size);
	if (!__entry)
		return;
	__entry->__data_loc_text = tp_place(__entry, &__dyn.text);
	__entry->__data_loc_values = tp_place(__entry, &__dyn.values);
	__entry->__data_loc_bits = tp_place(__entry, &__dyn.bits);
	{
		unsigned long bits[2] = { 5, 1 };
		__entry->n = n;
		__entry->half = n / 2.0;
		memset(__entry->fixed, 0, sizeof(__entry->fixed));
		memcpy(__entry->fixed, "fixed", 5);
		__assign_str(text);
		memcpy(__get_dynamic_array(values), values, (size_t)count * sizeof(*values));
		__assign_bitmask(bits, bits, 70);
		__entry->flags = flags;
		__entry->colour = n % 2 ? FROZEN_RED : FROZEN_GREEN;
	}
	tp_commit(&__rec);
}
struct tp_event tp_event_frozen_fields = {
	.system = "frozen",
	.name = "frozen_fields",
	.event_class = &tp_class_frozen_fields,
	.tracepoint = &__tracepoint_frozen_fields,
	.record = (tp_probe_t)tp_record_frozen_fields,
	.loglevel = TP_LOGLEVEL_DEBUG_LINE,
};
TP_ANNOUNCE(tp_event, "tp_events", tp_event_frozen_fields);
static __attribute__((noinline))
void __tp_several_frozen_first(const struct tracepoint_func *__it, long value)
{
	tp_probe_t __probe = tp_probe_func(__it);
	do {
		if (__builtin_expect(__probe != TP_REMOVED, 1))
			((tp_probe_fn_frozen_first *)__probe)(__it->data, value);
		__probe = tp_probe_func(++__it);
	} while (__probe);
}
static void __traceiter_frozen_first(void *__data, long value)
{
	const struct tracepoint_func *__it = tp_read_lock((const struct tracepoint *)__data);
	if (__builtin_expect(__it && !tp_probe_func(__it + 1), 1))
		((tp_probe_fn_frozen_first *)tp_probe_func(__it))(__it->data, value);
	else if (__it)
		__tp_several_frozen_first(__it, value);
	tp_read_unlock();
}
TP_PROTOTYPE_DEFINED(frozen_first, "frozen_first(long)");
struct tracepoint __tracepoint_frozen_first = {
	.line = 49,
	.iterate = (tp_probe_t)__traceiter_frozen_first,
	.name = "frozen_first",
	.proto = "long",
	.file = "frozen.tp",
};
TP_ANNOUNCE(tracepoint, "tp_tracepoints", __tracepoint_frozen_first);
TP_PLAIN void tp_record_frozen_first(void *__data, long value)
{
	tp_write_frozen_class(&tp_event_frozen_first, __data, value);
}
struct tp_event tp_event_frozen_first = {
	.system = "frozen",
	.name = "frozen_first",
	.event_class = &tp_class_frozen_class,
	.tracepoint = &__tracepoint_frozen_first,
	.record = (tp_probe_t)tp_record_frozen_first,
	.loglevel = TP_LOGLEVEL_DEBUG_LINE,
};
TP_ANNOUNCE(tp_event, "tp_events", tp_event_frozen_first);
TP_PROTOTYPE_DEFINED(frozen_second, "frozen_second(long)");
struct tracepoint __tracepoint_frozen_second = {
	.line = 50,
	.iterate = (tp_probe_t)__traceiter_frozen_first,
	.name = "frozen_second",
	.proto = "long",
	.file = "frozen.tp",
};
TP_ANNOUNCE(tracepoint, "tp_tracepoints", __tracepoint_frozen_second);
TP_PLAIN void tp_record_frozen_second(void *__data, long value)
{
	tp_write_frozen_class(&tp_event_frozen_second, __data, value);
}
struct tp_event tp_event_frozen_second = {
	.system = "frozen",
	.name = "frozen_second",
	.event_class = &tp_class_frozen_second,
	.tracepoint = &__tracepoint_frozen_second,
	.record = (tp_probe_t)tp_record_frozen_second,
	.loglevel = TP_LOGLEVEL_DEBUG_LINE,
};
TP_ANNOUNCE(tp_event, "tp_events", tp_event_frozen_second);
static __attribute__((noinline))
void __tp_several_frozen_odd(const struct tracepoint_func *__it, long value)
{
	tp_probe_t __probe = tp_probe_func(__it);
	do {
		if (__builtin_expect(__probe != TP_REMOVED, 1))
			((tp_probe_fn_frozen_odd *)__probe)(__it->data, value);
		__probe = tp_probe_func(++__it);
	} while (__probe);
}
static void __traceiter_frozen_odd(void *__data, long value)
{
	if (!(
value % 2
	))
		return;
	const struct tracepoint_func *__it = tp_read_lock((const struct tracepoint *)__data);
	if (__builtin_expect(__it && !tp_probe_func(__it + 1), 1))
		((tp_probe_fn_frozen_odd *)tp_probe_func(__it))(__it->data, value);
	else if (__it)
		__tp_several_frozen_odd(__it, value);
	tp_read_unlock();
}
TP_PROTOTYPE_DEFINED(frozen_odd, "frozen_odd(long)");
struct tracepoint __tracepoint_frozen_odd = {
	.line = 52,
	.iterate = (tp_probe_t)__traceiter_frozen_odd,
	.name = "frozen_odd",
	.proto = "long",
	.file = "frozen.tp",
};
TP_ANNOUNCE(tracepoint, "tp_tracepoints", __tracepoint_frozen_odd);
TP_PLAIN void tp_record_frozen_odd(void *__data, long value)
{
	tp_write_frozen_class(&tp_event_frozen_odd, __data, value);
}
struct tp_event tp_event_frozen_odd = {
	.system = "frozen",
	.name = "frozen_odd",
	.event_class = &tp_class_frozen_class,
	.tracepoint = &__tracepoint_frozen_odd,
	.record = (tp_probe_t)tp_record_frozen_odd,
	.loglevel = TP_LOGLEVEL_DEBUG_LINE,
};
TP_ANNOUNCE(tp_event, "tp_events", tp_event_frozen_odd);
static __attribute__((noinline))
void __tp_several_frozen_callbacks(const struct tracepoint_func *__it)
{
	tp_probe_t __probe = tp_probe_func(__it);
	do {
		if (__builtin_expect(__probe != TP_REMOVED, 1))
			((tp_probe_fn_frozen_callbacks *)__probe)(__it->data);
		__probe = tp_probe_func(++__it);
	} while (__probe);
}
static void __traceiter_frozen_callbacks(void *__data)
{
	const struct tracepoint_func *__it = tp_read_lock((const struct tracepoint *)__data);
	if (__builtin_expect(__it && !tp_probe_func(__it + 1), 1))
		((tp_probe_fn_frozen_callbacks *)tp_probe_func(__it))(__it->data);
	else if (__it)
		__tp_several_frozen_callbacks(__it);
	tp_read_unlock();
}
TP_PROTOTYPE_DEFINED(frozen_callbacks, "frozen_callbacks(void)");
struct tracepoint __tracepoint_frozen_callbacks = {
	.line = 58,
	.iterate = (tp_probe_t)__traceiter_frozen_callbacks,
	.name = "frozen_callbacks",
	.proto = "void",
	.file = "frozen.tp",
	.regfunc = frozen_reg,
	.unregfunc = frozen_unreg,
};
TP_ANNOUNCE(tracepoint, "tp_tracepoints", __tracepoint_frozen_callbacks);
TP_PLAIN void tp_record_frozen_callbacks(void *__data)
{
	TP_RECORD_TYPE(trace_event_raw_frozen_callbacks);
	__record *__entry;
	struct tp_record __rec;
	const size_t __size = offsetof(struct trace_event_raw_frozen_callbacks, __data);
	__entry = tp_reserve(&__rec, __data, &tp_event_frozen_callbacks, __size);
	if (!__entry)
		return;
	tp_commit(&__rec);
}
struct tp_event tp_event_frozen_callbacks = {
	.system = "frozen",
	.name = "frozen_callbacks",
	.event_class = &tp_class_frozen_callbacks,
	.tracepoint = &__tracepoint_frozen_callbacks,
	.record = (tp_probe_t)tp_record_frozen_callbacks,
	.loglevel = TP_LOGLEVEL_DEBUG_LINE,
};
TP_ANNOUNCE(tp_event, "tp_events", tp_event_frozen_callbacks);
static __attribute__((noinline))
void __tp_several_frozen_bare(const struct tracepoint_func *__it, int a, int b, int c, int d, int e, int f,
		int g)
{
	tp_probe_t __probe = tp_probe_func(__it);
	do {
		if (__builtin_expect(__probe != TP_REMOVED, 1))
			((tp_probe_fn_frozen_bare *)__probe)(__it->data, a, b, c, d, e, f, g);
		__probe = tp_probe_func(++__it);
	} while (__probe);
}
static void __traceiter_frozen_bare(void *__data, int a, int b, int c, int d, int e, int f, int g)
{
	const struct tracepoint_func *__it = tp_read_lock((const struct tracepoint *)__data);
	if (__builtin_expect(__it && !tp_probe_func(__it + 1), 1))
		((tp_probe_fn_frozen_bare *)tp_probe_func(__it))(__it->data, a, b, c, d, e, f, g);
	else if (__it)
		__tp_several_frozen_bare(__it, a, b, c, d, e, f, g);
	tp_read_unlock();
}
TP_PROTOTYPE_DEFINED(frozen_bare, "frozen_bare(int, int, int, int, int, int, int)");
struct tracepoint __tracepoint_frozen_bare = {
	.line = 68,
	.iterate = (tp_probe_t)__traceiter_frozen_bare,
	.name = "frozen_bare",
	.proto = "int, int, int, int, int, int, int",
	.file = "frozen.tp",
};
TP_ANNOUNCE(tracepoint, "tp_tracepoints", __tracepoint_frozen_bare);
#endif

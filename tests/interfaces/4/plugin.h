/* SPDX-License-Identifier: MIT */
#ifndef TP_GENERATED_PLUGIN_H
#define TP_GENERATED_PLUGIN_H
#include <tp/announce.h>
#include <tp/call.h>
#include <tp/event.h>
#include <tp/tracepoint.h>
#if TP_INTERFACE_VERSION != 4
#error "plugin.h and the tp runtime are of different versions: run tpgen again on plugin.tp"
#endif
#ifdef __cplusplus
extern "C" {
#endif
struct trace_event_raw_plugin_hit {
	struct trace_entry ent;
	tp_data_loc_t __data_loc_text;
	TP_DYNAMIC_DATA
};
TP_HIDDEN void tp_print_plugin_hit(struct trace_seq *p, const void *entry);
struct trace_event_raw_plugin_shared {
	struct trace_entry ent;
	int n;
	TP_DYNAMIC_DATA
};
TP_HIDDEN void tp_print_plugin_shared(struct trace_seq *p, const void *entry);
typedef void tp_probe_fn_plugin_hit(void *__data, const char *text);
extern struct tracepoint __tracepoint_plugin_hit TP_HIDDEN;
TP_PROTOTYPE(plugin_hit, "plugin_hit(const char *)")
static TP_SITE_INLINE bool trace_plugin_hit_enabled(void)
{
	TP_RETURN_ENABLED(__tracepoint_plugin_hit);
}
static TP_SITE_INLINE void trace_plugin_hit(const char *text)
{
	if (__builtin_expect(trace_plugin_hit_enabled(), 0)) {
		tp_prototype_of_plugin_hit();
		TP_CALL_1(tp_probe_fn_plugin_hit, &__tracepoint_plugin_hit, text);
	}
}
static inline int register_trace_prio_plugin_hit(tp_probe_fn_plugin_hit *probe, void *data, int prio)
{
	return tp_probe_register("plugin_hit", "const char *", (tp_probe_t)probe, data, prio);
}
static inline int register_trace_plugin_hit(tp_probe_fn_plugin_hit *probe, void *data)
{
	return register_trace_prio_plugin_hit(probe, data, TRACEPOINT_DEFAULT_PRIO);
}
static inline int unregister_trace_plugin_hit(tp_probe_fn_plugin_hit *probe, void *data)
{
	return tp_probe_unregister("plugin_hit", (tp_probe_t)probe, data);
}
static inline void check_trace_callback_type_plugin_hit(tp_probe_fn_plugin_hit *probe)
{
	(void)probe;
}
#ifndef __cplusplus
#define register_trace_prio_plugin_hit(probe, data, prio) \
	register_trace_prio_plugin_hit(tp_check_probe(plugin_hit, probe), data, prio)
#define register_trace_plugin_hit(probe, data) \
	register_trace_plugin_hit(tp_check_probe(plugin_hit, probe), data)
#define unregister_trace_plugin_hit(probe, data) \
	unregister_trace_plugin_hit(tp_check_probe(plugin_hit, probe), data)
#define check_trace_callback_type_plugin_hit(probe) \
	check_trace_callback_type_plugin_hit(tp_check_probe(plugin_hit, probe))
#endif
TP_HIDDEN tp_probe_fn_plugin_hit tp_record_plugin_hit;
extern struct tp_event tp_event_plugin_hit TP_HIDDEN;
typedef void tp_probe_fn_plugin_shared(void *__data, int n);
extern struct tracepoint __tracepoint_plugin_shared TP_PUBLIC;
TP_PROTOTYPE(plugin_shared, "plugin_shared(int)")
TP_IMPORT(plugin_shared, "int");
static TP_SITE_INLINE bool trace_plugin_shared_enabled(void)
{
	TP_RETURN_IMPORT_ENABLED(__tp_import_plugin_shared);
}
static TP_SITE_INLINE void trace_plugin_shared(int n)
{
	if (__builtin_expect(trace_plugin_shared_enabled(), 0)) {
		tp_prototype_of_plugin_shared();
		TP_CALL_1(tp_probe_fn_plugin_shared, __tp_import_plugin_shared.tp, n);
	}
}
static inline int register_trace_prio_plugin_shared(tp_probe_fn_plugin_shared *probe, void *data, int prio)
{
	return tp_probe_register("plugin_shared", "int", (tp_probe_t)probe, data, prio);
}
static inline int register_trace_plugin_shared(tp_probe_fn_plugin_shared *probe, void *data)
{
	return register_trace_prio_plugin_shared(probe, data, TRACEPOINT_DEFAULT_PRIO);
}
static inline int unregister_trace_plugin_shared(tp_probe_fn_plugin_shared *probe, void *data)
{
	return tp_probe_unregister("plugin_shared", (tp_probe_t)probe, data);
}
static inline void check_trace_callback_type_plugin_shared(tp_probe_fn_plugin_shared *probe)
{
	(void)probe;
}
#ifndef __cplusplus
#define register_trace_prio_plugin_shared(probe, data, prio) \
	register_trace_prio_plugin_shared(tp_check_probe(plugin_shared, probe), data, prio)
#define register_trace_plugin_shared(probe, data) \
	register_trace_plugin_shared(tp_check_probe(plugin_shared, probe), data)
#define unregister_trace_plugin_shared(probe, data) \
	unregister_trace_plugin_shared(tp_check_probe(plugin_shared, probe), data)
#define check_trace_callback_type_plugin_shared(probe) \
	check_trace_callback_type_plugin_shared(tp_check_probe(plugin_shared, probe))
#endif
enum { EXPORT_TRACEPOINT_SYMBOL_of_plugin_shared_belongs_in_its_tp_file = 1 };
TP_HIDDEN tp_probe_fn_plugin_shared tp_record_plugin_shared;
extern struct tp_event tp_event_plugin_shared TP_HIDDEN;
#ifdef __cplusplus
}
#endif
#endif
#if defined(CREATE_TRACE_POINTS) && defined(__cplusplus)
#error "CREATE_TRACE_POINTS must be defined in a C file, not in a C++ one: the call sites may be C++"
#elif defined(CREATE_TRACE_POINTS) && !defined(TP_CREATED_PLUGIN_H)
#define TP_CREATED_PLUGIN_H
#include <tp/define_trace.h>
static const struct tp_event_field tp_fields_plugin_hit[] = {
	TP_DESCRIBE(TP_STRING, false, trace_event_raw_plugin_hit, __data_loc_text, "text", char, "char",
			NULL),
};
TP_PRINTER void tp_print_plugin_hit(struct trace_seq *p, const void *entry)
{
	TP_RECORD_TYPE(trace_event_raw_plugin_hit);
	__record *__entry = (void *)(uintptr_t)entry;
	const size_t __start = p->len;
	tp_printk(p, __start,
	"text=%s", __get_str(text)
	);
}
static const struct tp_event_class tp_class_plugin_hit = {
	.fields = tp_fields_plugin_hit,
	.nr_fields = sizeof(tp_fields_plugin_hit) / sizeof(tp_fields_plugin_hit[0]),
	.fixed_size = offsetof(struct trace_event_raw_plugin_hit, __data),
	.print_fmt = __extension__
		"\"text=%s\", __get_str(text)",
	.print = tp_print_plugin_hit,
};
static const struct tp_event_field tp_fields_plugin_shared[] = {
	TP_DESCRIBE(TP_FIELD, false, trace_event_raw_plugin_shared, n, "n", int, "int", NULL),
};
TP_PRINTER void tp_print_plugin_shared(struct trace_seq *p, const void *entry)
{
	TP_RECORD_TYPE(trace_event_raw_plugin_shared);
	__record *__entry = (void *)(uintptr_t)entry;
	const size_t __start = p->len;
	tp_printk(p, __start,
	"n=%d", __entry->n
	);
}
static const struct tp_event_class tp_class_plugin_shared = {
	.fields = tp_fields_plugin_shared,
	.nr_fields = sizeof(tp_fields_plugin_shared) / sizeof(tp_fields_plugin_shared[0]),
	.fixed_size = offsetof(struct trace_event_raw_plugin_shared, __data),
	.print_fmt = __extension__
		"\"n=%d\", REC->n",
	.print = tp_print_plugin_shared,
};
static __attribute__((noinline))
void __tp_several_plugin_hit(const struct tracepoint_func *__it, const char *text)
{
	tp_probe_t __probe = tp_probe_func(__it);
	do {
		if (__builtin_expect(__probe != TP_REMOVED, 1))
			((tp_probe_fn_plugin_hit *)__probe)(__it->data, text);
		__probe = tp_probe_func(++__it);
	} while (__probe);
}
static void __traceiter_plugin_hit(void *__data, const char *text)
{
	const struct tracepoint_func *__it = tp_read_lock((const struct tracepoint *)__data);
	if (__builtin_expect(__it && !tp_probe_func(__it + 1), 1))
		((tp_probe_fn_plugin_hit *)tp_probe_func(__it))(__it->data, text);
	else if (__it)
		__tp_several_plugin_hit(__it, text);
	tp_read_unlock();
}
TP_PROTOTYPE_DEFINED(plugin_hit, "plugin_hit(const char *)");
struct tracepoint __tracepoint_plugin_hit = {
	.line = 5,
	.iterate = (tp_probe_t)__traceiter_plugin_hit,
	.name = "plugin_hit",
	.proto = "const char *",
	.file = "plugin.tp",
};
TP_ANNOUNCE(tracepoint, "tp_tracepoints", __tracepoint_plugin_hit);
TP_PLAIN void tp_record_plugin_hit(void *__data, const char *text)
{
	TP_RECORD_TYPE(trace_event_raw_plugin_hit);
	__record *__entry;
	struct tp_record __rec;
	struct {
		struct tp_dynamic text;
	} __dyn;
	size_t __size = offsetof(struct trace_event_raw_plugin_hit, __data);
	__size = tp_size_string(&__dyn.text, __size
		, (const char *)(
	text
		));
	__entry = tp_reserve(&__rec, __data, &tp_event_plugin_hit, __size);
	if (!__entry)
		return;
	__entry->__data_loc_text = tp_place(__entry, &__dyn.text);
	{
	__assign_str(text);
	}
	tp_commit(&__rec);
}
struct tp_event tp_event_plugin_hit = {
	.system = "plugin",
	.name = "plugin_hit",
	.event_class = &tp_class_plugin_hit,
	.tracepoint = &__tracepoint_plugin_hit,
	.record = (tp_probe_t)tp_record_plugin_hit,
};
TP_ANNOUNCE(tp_event, "tp_events", tp_event_plugin_hit);
static __attribute__((noinline))
void __tp_several_plugin_shared(const struct tracepoint_func *__it, int n)
{
	tp_probe_t __probe = tp_probe_func(__it);
	do {
		if (__builtin_expect(__probe != TP_REMOVED, 1))
			((tp_probe_fn_plugin_shared *)__probe)(__it->data, n);
		__probe = tp_probe_func(++__it);
	} while (__probe);
}
static void __traceiter_plugin_shared(void *__data, int n)
{
	const struct tracepoint_func *__it = tp_read_lock((const struct tracepoint *)__data);
	if (__builtin_expect(__it && !tp_probe_func(__it + 1), 1))
		((tp_probe_fn_plugin_shared *)tp_probe_func(__it))(__it->data, n);
	else if (__it)
		__tp_several_plugin_shared(__it, n);
	tp_read_unlock();
}
TP_PROTOTYPE_DEFINED(plugin_shared, "plugin_shared(int)");
struct tracepoint __tracepoint_plugin_shared = {
	.line = 13,
	.iterate = (tp_probe_t)__traceiter_plugin_shared,
	.name = "plugin_shared",
	.proto = "int",
	.file = "plugin.tp",
};
TP_ANNOUNCE(tracepoint, "tp_tracepoints", __tracepoint_plugin_shared);
TP_PLAIN void tp_record_plugin_shared(void *__data, int n)
{
	TP_RECORD_TYPE(trace_event_raw_plugin_shared);
	__record *__entry;
	struct tp_record __rec;
	const size_t __size = offsetof(struct trace_event_raw_plugin_shared, __data);
	__entry = tp_reserve(&__rec, __data, &tp_event_plugin_shared, __size);
	if (!__entry)
		return;
	{
	__entry->n = n;
	}
	tp_commit(&__rec);
}
struct tp_event tp_event_plugin_shared = {
	.system = "plugin",
	.name = "plugin_shared",
	.event_class = &tp_class_plugin_shared,
	.tracepoint = &__tracepoint_plugin_shared,
	.record = (tp_probe_t)tp_record_plugin_shared,
};
TP_ANNOUNCE(tp_event, "tp_events", tp_event_plugin_shared);
#endif

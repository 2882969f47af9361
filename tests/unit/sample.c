/* SPDX-License-Identifier: MIT */
/*
 * sample.c - the part of sample.h that a program has once, as
 * CREATE_TRACE_POINTS makes it.
 */
#include <tp/define_trace.h>

#include "sample.h"

/* The tracepoint's own part: site, iterator. */
#define SAMPLE_DEFINE(tp_name, params, args, proto_text)                                    \
	struct tracepoint __tracepoint_##tp_name = {                                       \
		.name = #tp_name, .proto = proto_text, .file = "sample.tp", .line = __LINE__, \
	};                                                                                 \
	TP_ANNOUNCE(tracepoint, "tp_tracepoints", __tracepoint_##tp_name);                 \
	void __traceiter_##tp_name(params)                                                  \
	{                                                                                  \
		const struct tracepoint_func *it = tp_read_lock(&__tracepoint_##tp_name);  \
		tp_probe_t func;                                                           \
                                                                                           \
		for (; it && (func = tp_probe_func(it)); it++) {                           \
			if (func != TP_REMOVED)                                            \
				((void (*)(void *, params))func)(it->data, args);           \
		}                                                                          \
		tp_read_unlock();                                                          \
	}

#define SAMPLE_EVENT(tp_name, class)                                                  \
	struct tp_event tp_event_##tp_name = {                                        \
		.system = "sample", .name = #tp_name, .event_class = &(class),        \
		.tracepoint = &__tracepoint_##tp_name, .record = (tp_probe_t)tp_record_##tp_name, \
	};                                                                            \
	TP_ANNOUNCE(tp_event, "tp_events", tp_event_##tp_name)

/* ---- sample_int ---- */

struct trace_event_raw_sample_int {
	struct trace_entry ent;
	int value;
	TP_DYNAMIC_DATA
};

SAMPLE_DEFINE(sample_int, PROTO(int value), ARGS(value), "int")

void tp_record_sample_int(void *data, int value)
{
	struct trace_event_raw_sample_int *__entry;
	struct tp_record __rec;

	__entry = tp_reserve(&__rec, data, &tp_event_sample_int, offsetof(struct trace_event_raw_sample_int, __data));
	if (!__entry)
		return;
	__entry->value = value;
	tp_commit(&__rec);
}

static void tp_print_sample_int(struct trace_seq *p, const void *entry)
{
	const struct trace_event_raw_sample_int *__entry = entry;
	size_t __start = p->len;

	tp_printk(p, __start, "value=%d", __entry->value);
}

static const struct tp_event_field tp_fields_sample_int[] = {
	TP_DESCRIBE(TP_FIELD, false, trace_event_raw_sample_int, value, "value", int, "int", NULL),
};

static const struct tp_event_class tp_class_sample_int = {
	.fields = tp_fields_sample_int, .nr_fields = 1,
	.fixed_size = offsetof(struct trace_event_raw_sample_int, __data),
	.print_fmt = "\"value=%d\", REC->value", .print = tp_print_sample_int,
};

SAMPLE_EVENT(sample_int, tp_class_sample_int);

/* ---- sample_text ---- */

struct trace_event_raw_sample_text {
	struct trace_entry ent;
	tp_data_loc_t __data_loc_text;
	TP_DYNAMIC_DATA
};

SAMPLE_DEFINE(sample_text, PROTO(const char *text), ARGS(text), "const char *")

void tp_record_sample_text(void *data, const char *text)
{
	struct trace_event_raw_sample_text *__entry;
	struct tp_record __rec;
	struct {
		struct tp_dynamic text;
	} __dyn;
	size_t __size = offsetof(struct trace_event_raw_sample_text, __data);

	__size = tp_size_string(&__dyn.text, __size, text);
	__entry = tp_reserve(&__rec, data, &tp_event_sample_text, __size);
	if (!__entry)
		return;
	__entry->__data_loc_text = tp_place(__entry, &__dyn.text);
	__assign_str(text);
	tp_commit(&__rec);
}

static void tp_print_sample_text(struct trace_seq *p, const void *entry)
{
	const struct trace_event_raw_sample_text *__entry = entry;
	size_t __start = p->len;

	tp_printk(p, __start, "text=%s", __get_str(text));
}

static const struct tp_event_field tp_fields_sample_text[] = {
	TP_DESCRIBE(TP_STRING, false, trace_event_raw_sample_text, __data_loc_text, "text", char, "char", NULL),
};

static const struct tp_event_class tp_class_sample_text = {
	.fields = tp_fields_sample_text, .nr_fields = 1,
	.fixed_size = offsetof(struct trace_event_raw_sample_text, __data),
	.print_fmt = "\"text=%s\", __get_str(text)", .print = tp_print_sample_text,
};

SAMPLE_EVENT(sample_text, tp_class_sample_text);

/* ---- sample_kinds ---- */

struct trace_event_raw_sample_kinds {
	struct trace_entry ent;
	int8_t s8;
	uint8_t u8;
	int16_t s16;
	uint16_t u16;
	int32_t s32;
	uint32_t u32;
	int64_t s64;
	uint64_t event;
	bool flag;
	float align;
	double wide;
	const void *clock;
	int level;
	char comm[8];
	int32_t numbers[3];
	uint8_t odd;
	struct sample_point point;
	tp_data_loc_t __data_loc_string;
	tp_data_loc_t __data_loc_bytes;
	tp_data_loc_t __data_loc_words;
	tp_data_loc_t __data_loc_points;
	tp_data_loc_t __data_loc_stream;
	TP_DYNAMIC_DATA
};

SAMPLE_DEFINE(sample_kinds, PROTO(const struct sample_values *v), ARGS(v), "const struct sample_values *")

static const struct trace_print_flags levels[] = {
	{1, "LOW"}, {2, "\"HIGH\""}, {2, "again"}, {(unsigned long)-1, "NONE"}, {3, "LOW"}, {1ul << 40, "too big"}, {0, NULL},
};

void tp_record_sample_kinds(void *data, const struct sample_values *v)
{
	struct trace_event_raw_sample_kinds *__entry;
	struct tp_record __rec;
	struct {
		struct tp_dynamic string, bytes, words, points, stream;
	} __dyn;
	size_t __size = offsetof(struct trace_event_raw_sample_kinds, __data);

	__size = tp_size_string(&__dyn.string, __size, v->text);
	__size = tp_size_array(&__dyn.bytes, __size, sizeof(uint8_t), _Alignof(uint8_t), v->nr_bytes);
	__size = tp_size_array(&__dyn.words, __size, sizeof(uint32_t), _Alignof(uint32_t), v->nr_words);
	__size = tp_size_array(&__dyn.points, __size, sizeof(struct sample_point),
			       _Alignof(struct sample_point), v->nr_points);
	__size = tp_size_string(&__dyn.stream, __size, v->last);
	__entry = tp_reserve(&__rec, data, &tp_event_sample_kinds, __size);
	if (!__entry)
		return;
	__entry->__data_loc_string = tp_place(__entry, &__dyn.string);
	__entry->__data_loc_bytes = tp_place(__entry, &__dyn.bytes);
	__entry->__data_loc_words = tp_place(__entry, &__dyn.words);
	__entry->__data_loc_points = tp_place(__entry, &__dyn.points);
	__entry->__data_loc_stream = tp_place(__entry, &__dyn.stream);
	__entry->s8 = v->s8;
	__entry->u8 = v->u8;
	__entry->s16 = v->s16;
	__entry->u16 = v->u16;
	__entry->s32 = v->s32;
	__entry->u32 = v->u32;
	__entry->s64 = v->s64;
	__entry->event = v->u64;
	__entry->flag = v->flag;
	__entry->align = v->single;
	__entry->wide = v->wide;
	__entry->clock = v->pointer;
	__entry->level = v->level;
	memcpy(__entry->comm, v->comm, sizeof(__entry->comm));
	memcpy(__entry->numbers, v->numbers, sizeof(__entry->numbers));
	__entry->odd = 9;
	__entry->point = v->point;
	__assign_str(string);
	memcpy(__get_dynamic_array(bytes), v->bytes, v->nr_bytes * sizeof(*v->bytes));
	memcpy(__get_dynamic_array(words), v->words, v->nr_words * sizeof(*v->words));
	memcpy(__get_dynamic_array(points), v->points, v->nr_points * sizeof(*v->points));
	__assign_str(stream);
	tp_commit(&__rec);
}

static void tp_print_sample_kinds(struct trace_seq *p, const void *entry)
{
	const struct trace_event_raw_sample_kinds *__entry = entry;
	size_t __start = p->len;

	tp_printk(p, __start, "s8=%d level=%s flags=%s string=%s words=%u stream=%s", __entry->s8,
		  tp_seq_print_symbolic(p, (unsigned long)__entry->level, levels),
		  tp_seq_print_flags(p, __entry->u8, "|", levels), __get_str(string), __get_dynamic_array_len(words),
		  __get_str(stream));
}

#define KINDS_FIELD(kind, member, name, type, table) \
	TP_DESCRIBE(kind, false, trace_event_raw_sample_kinds, member, name, type, #type, table)

static const struct tp_event_field tp_fields_sample_kinds[] = {
	KINDS_FIELD(TP_FIELD, s8, "s8", int8_t, NULL),
	KINDS_FIELD(TP_FIELD, u8, "u8", uint8_t, NULL),
	KINDS_FIELD(TP_FIELD, s16, "s16", int16_t, NULL),
	KINDS_FIELD(TP_FIELD, u16, "u16", uint16_t, NULL),
	KINDS_FIELD(TP_FIELD, s32, "s32", int32_t, NULL),
	KINDS_FIELD(TP_FIELD, u32, "u32", uint32_t, NULL),
	KINDS_FIELD(TP_FIELD, s64, "s64", int64_t, NULL),
	KINDS_FIELD(TP_FIELD, event, "event", uint64_t, NULL),
	KINDS_FIELD(TP_FIELD, flag, "flag", bool, NULL),
	KINDS_FIELD(TP_FIELD, align, "align", float, NULL),
	KINDS_FIELD(TP_FIELD, wide, "wide", double, NULL),
	KINDS_FIELD(TP_FIELD, clock, "clock", const void *, NULL),
	KINDS_FIELD(TP_FIELD, level, "level", int, levels),
	KINDS_FIELD(TP_ARRAY, comm, "comm", char, NULL),
	KINDS_FIELD(TP_ARRAY, numbers, "numbers", int32_t, NULL),
	KINDS_FIELD(TP_FIELD, odd, "_string_loc", uint8_t, NULL), /* a name that CTF wants for itself */
	KINDS_FIELD(TP_FIELD, point, "point", struct sample_point, NULL),
	KINDS_FIELD(TP_STRING, __data_loc_string, "string", char, NULL),
	KINDS_FIELD(TP_DYNAMIC_ARRAY, __data_loc_bytes, "bytes", uint8_t, NULL),
	KINDS_FIELD(TP_DYNAMIC_ARRAY, __data_loc_words, "words", uint32_t, NULL),
	KINDS_FIELD(TP_DYNAMIC_ARRAY, __data_loc_points, "points", struct sample_point, NULL),
	KINDS_FIELD(TP_STRING, __data_loc_stream, "stream", char, NULL),
};

static const struct tp_event_class tp_class_sample_kinds = {
	.fields = tp_fields_sample_kinds,
	.nr_fields = sizeof(tp_fields_sample_kinds) / sizeof(tp_fields_sample_kinds[0]),
	.fixed_size = offsetof(struct trace_event_raw_sample_kinds, __data),
	.print_fmt = "\"...\"", .print = tp_print_sample_kinds,
};

SAMPLE_EVENT(sample_kinds, tp_class_sample_kinds);

/* ---- struct sample_module ---- */

/* A module's writer is a function of its own; one for two modules will do, as each has its own event. */
static struct sample_module *writer_modules[2];

static void record_for(const struct sample_module *m, void *data, int value)
{
	struct trace_event_raw_sample_int *__entry;
	struct tp_record __rec;

	__entry = tp_reserve(&__rec, data, &m->event, offsetof(struct trace_event_raw_sample_int, __data));
	if (!__entry)
		return;
	__entry->value = value;
	tp_commit(&__rec);
}

static void record_0(void *data, int value)
{
	record_for(writer_modules[0], data, value);
}

static void record_1(void *data, int value)
{
	record_for(writer_modules[1], data, value);
}

void sample_module_init(struct sample_module *m, const char *system, const char *name, const char *proto)
{
	static unsigned int n;
	unsigned int writer = n++ % 2;

	writer_modules[writer] = m;
	*m = (struct sample_module){
		.tp = {.name = name, .proto = proto, .file = "module.tp", .line = 1},
		.event = {.system = system, .name = name, .event_class = &m->event_class, .tracepoint = &m->tp,
			  .record = writer ? (tp_probe_t)record_1 : (tp_probe_t)record_0},
		.event_class = tp_class_sample_int,
		.tps = {&m->tp},
		.events = {&m->event},
		.module = {TP_MODULE_HEAD, .tracepoints = m->tps, .tracepoints_end = m->tps + 1, .events = m->events,
			   .events_end = m->events + 1},
	};
}

void sample_module_hit(struct sample_module *m, int value)
{
	if (!tp_tracepoint_is_on(&m->tp))
		return;

	const struct tracepoint_func *it = tp_read_lock(&m->tp);
	tp_probe_t func;

	for (; it && (func = tp_probe_func(it)); it++) {
		if (func != TP_REMOVED)
			((void (*)(void *, int))func)(it->data, value);
	}
	tp_read_unlock();
}

/* SPDX-License-Identifier: MIT */
/*
 * sample.c - the part of sample.h that a program has once, as
 * CREATE_TRACE_POINTS makes it.
 */
#include <tp/define_trace.h>

#include "sample.h"

/* The tracepoint's own part: site, iterator. */
#define SAMPLE_DEFINE(tp_name, params, args, proto_text)                                    \
	struct tracepoint __tracepoint_##tp_name = {0};                                    \
	TP_DEFINE_TEXT(__tp_text_##tp_name, #tp_name, proto_text, "sample.tp", "sample");    \
	TP_USED void __traceiter_##tp_name(params)                                         \
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

#define SAMPLE_EVENT(tp_name)                                                              \
	struct tp_event tp_event_##tp_name = {0};                                          \
	TP_DEFINE(TP_TO(__tracepoint_##tp_name) TP_TO(__tp_text_##tp_name) TP_TO(__traceiter_##tp_name), \
		  TP_TO(tp_event_##tp_name) TP_TO(__tp_class_##tp_name) TP_TO(tp_record_##tp_name) \
		  TP_TO(tp_print_##tp_name), __LINE__, TP_LEVEL_EMERG)

#define SAME(level) _Static_assert(TP_LEVEL_##level == TP_LOGLEVEL_##level, "the levels of assembler code")
SAME(EMERG); SAME(ALERT); SAME(CRIT); SAME(ERR); SAME(WARNING); SAME(NOTICE); SAME(INFO); SAME(DEBUG_SYSTEM);
SAME(DEBUG_PROGRAM); SAME(DEBUG_PROCESS); SAME(DEBUG_MODULE); SAME(DEBUG_UNIT); SAME(DEBUG_FUNCTION); SAME(DEBUG_LINE);
SAME(DEBUG);

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

TP_USED void tp_print_sample_int(struct trace_seq *p, const void *entry)
{
	const struct trace_event_raw_sample_int *__entry = entry;
	size_t __start = p->len;

	tp_printk(p, __start, "value=%d", __entry->value);
}

#define tp_fields_sample_int(TP_F, TP_R) \
	TP_F(FIELD, TP_R, value, "int", 0)
TP_DEFINE_CLASS(TP_USED, sample_int, 1, 0,) = {
	TP_DESCRIBE(sample_int, trace_event_raw_sample_int, 1, 0),
	.text = tp_fields_sample_int(TP_TEXTS, ) "\"value=%d\", REC->value",
};

SAMPLE_EVENT(sample_int);

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

TP_USED void tp_print_sample_text(struct trace_seq *p, const void *entry)
{
	const struct trace_event_raw_sample_text *__entry = entry;
	size_t __start = p->len;

	tp_printk(p, __start, "text=%s", __get_str(text));
}

#define tp_fields_sample_text(TP_F, TP_R) \
	TP_F(STRING, TP_R, text, "char", char)
TP_DEFINE_CLASS(TP_USED, sample_text, 1, 0,) = {
	TP_DESCRIBE(sample_text, trace_event_raw_sample_text, 1, 0),
	.text = tp_fields_sample_text(TP_TEXTS, ) "\"text=%s\", __get_str(text)",
};

SAMPLE_EVENT(sample_text);

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
	uint8_t _string_loc; /* a name that CTF wants for itself */
	struct sample_point point;
	tp_data_loc_t __data_loc_string;
	tp_data_loc_t __data_loc_bytes;
	tp_data_loc_t __data_loc_words;
	tp_data_loc_t __data_loc_points;
	tp_data_loc_t __data_loc_stream;
	TP_DYNAMIC_DATA
};

SAMPLE_DEFINE(sample_kinds, PROTO(const struct sample_values *v), ARGS(v), "const struct sample_values *")

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
	__entry->_string_loc = 9;
	__entry->point = v->point;
	__assign_str(string);
	memcpy(__get_dynamic_array(bytes), v->bytes, v->nr_bytes * sizeof(*v->bytes));
	memcpy(__get_dynamic_array(words), v->words, v->nr_words * sizeof(*v->words));
	memcpy(__get_dynamic_array(points), v->points, v->nr_points * sizeof(*v->points));
	__assign_str(stream);
	tp_commit(&__rec);
}

#define tp_fields_sample_kinds(TP_F, TP_R) \
	TP_F(FIELD, TP_R, s8, "int8_t", 0) \
	TP_F(FIELD, TP_R, u8, "uint8_t", 0) \
	TP_F(FIELD, TP_R, s16, "int16_t", 0) \
	TP_F(FIELD, TP_R, u16, "uint16_t", 0) \
	TP_F(FIELD, TP_R, s32, "int32_t", 0) \
	TP_F(FIELD, TP_R, u32, "uint32_t", 0) \
	TP_F(FIELD, TP_R, s64, "int64_t", 0) \
	TP_F(FIELD, TP_R, event, "uint64_t", 0) \
	TP_F(FIELD, TP_R, flag, "bool", 0) \
	TP_F(FIELD, TP_R, align, "float", 0) \
	TP_F(FIELD, TP_R, wide, "double", 0) \
	TP_F(FIELD, TP_R, clock, "const void *", 0) \
	TP_F(FIELD, TP_R, level, "int", TP_TABLE(sample_kinds, 1)) \
	TP_F(ARRAY, TP_R, comm, "char", 0) \
	TP_F(ARRAY, TP_R, numbers, "int32_t", 0) \
	TP_F(FIELD, TP_R, _string_loc, "uint8_t", 0) \
	TP_F(FIELD, TP_R, point, "struct sample_point", 0) \
	TP_F(STRING, TP_R, string, "char", char) \
	TP_F(DYNAMIC_ARRAY, TP_R, bytes, "uint8_t", uint8_t) \
	TP_F(DYNAMIC_ARRAY, TP_R, words, "uint32_t", uint32_t) \
	TP_F(DYNAMIC_ARRAY, TP_R, points, "struct sample_point", struct sample_point) \
	TP_F(STRING, TP_R, stream, "char", char)
#define LEVELS "LOW\0" "\"HIGH\"\0" "again\0" "NONE\0" "LOW\0" "too big"
TP_DEFINE_CLASS(TP_USED, sample_kinds, 22, 0, TP_SYMBOLS(1, 6, LEVELS)) = {
	TP_DESCRIBE(sample_kinds, trace_event_raw_sample_kinds, 22, 0),
	.table_1 = {TP_DESCRIBE_SYMBOLS(sample_kinds, 1, 6, 0) {1, 2, 2, (unsigned long)-1, 3, 1ull << 40}, LEVELS},
	.text = tp_fields_sample_kinds(TP_TEXTS, ) "\"...\"",
};

TP_USED void tp_print_sample_kinds(struct trace_seq *p, const void *entry)
{
	const struct trace_event_raw_sample_kinds *__entry = entry;
	size_t __start = p->len;

	tp_printk(p, __start, "s8=%d level=%s flags=%s string=%s words=%u stream=%s", __entry->s8,
		  tp_seq_print_symbolic_by(p, (unsigned long long)(unsigned long)__entry->level, TP_TABLE_OF(sample_kinds, 1)),
		  tp_seq_print_flags_by(p, __entry->u8, "|", TP_TABLE_OF(sample_kinds, 1)), __get_str(string), __get_dynamic_array_len(words),
		  __get_str(stream));
}

SAMPLE_EVENT(sample_kinds);

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
		.event = {.system = system, .name = name, .event_class = &__tp_class_sample_int.head, .tracepoint = &m->tp,
			  .print = tp_print_sample_int, .record = writer ? (tp_probe_t)record_1 : (tp_probe_t)record_0},
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

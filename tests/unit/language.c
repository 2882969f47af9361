/* SPDX-License-Identifier: MIT */
/*
 * language.c - see language.h.
 */
#include <sys/socket.h>

#include <tp/define_trace.h>

#include "language.h"

static struct tracepoint tracepoint = {
	.name = "language", .proto = "const struct language_values *, const char *, va_list *", .file = "language.tp",
	.line = 1,
};

void trace_language(const struct language_values *v, const char *fmt, ...)
{
	if (!tp_tracepoint_is_on(&tracepoint))
		return;

	const struct tracepoint_func *it = tp_read_lock(&tracepoint);
	tp_probe_t func;
	va_list args;

	va_start(args, fmt);
	for (; it && (func = tp_probe_func(it)); it++) {
		if (func != TP_REMOVED)
			((void (*)(void *, const struct language_values *, const char *, va_list *))func)(
				it->data, v, fmt, &args);
	}
	va_end(args);
	tp_read_unlock();
}

static __attribute__((format(printf, 3, 0))) void record(void *data, const struct language_values *v, const char *fmt,
							  va_list *args)
{
	struct trace_event_raw_language *__entry;
	struct tp_record __rec;
	struct {
		struct tp_dynamic text, part, message, bits, cpus, address, words, rel_text, rel_part, rel_bits,
			rel_cpus, rel_address, rel_words;
	} __dyn;
	size_t __size = offsetof(struct trace_event_raw_language, __data);

	__size = tp_size_string(&__dyn.text, __size, v->text);
	__size = tp_size_string_len(&__dyn.part, __size, v->part, v->part_len);
	__size = tp_size_vstring(&__dyn.message, __size, fmt, args);
	__size = tp_size_bitmask(&__dyn.bits, __size, (size_t)v->nr_bits);
	__size = tp_size_cpumask(&__dyn.cpus, __size);
	__size = tp_size_sockaddr(&__dyn.address, __size, v->address_len);
	__size = tp_size_array(&__dyn.words, __size, sizeof(uint32_t), _Alignof(uint32_t), v->nr_words);
	__size = tp_size_string(&__dyn.rel_text, __size, v->text);
	__size = tp_size_string_len(&__dyn.rel_part, __size, v->part, v->part_len);
	__size = tp_size_bitmask(&__dyn.rel_bits, __size, (size_t)v->nr_bits);
	__size = tp_size_cpumask(&__dyn.rel_cpus, __size);
	__size = tp_size_sockaddr(&__dyn.rel_address, __size, v->address_len);
	__size = tp_size_array(&__dyn.rel_words, __size, sizeof(uint32_t), _Alignof(uint32_t), v->nr_words);
	__entry = tp_reserve(&__rec, data, &tp_event_language, __size);
	if (!__entry)
		return;
	__entry->__data_loc_text = tp_place(__entry, &__dyn.text);
	__entry->__data_loc_part = tp_place(__entry, &__dyn.part);
	__entry->__data_loc_message = tp_place(__entry, &__dyn.message);
	__entry->__data_loc_bits = tp_place(__entry, &__dyn.bits);
	__entry->__data_loc_cpus = tp_place(__entry, &__dyn.cpus);
	__entry->__data_loc_address = tp_place(__entry, &__dyn.address);
	__entry->__data_loc_words = tp_place(__entry, &__dyn.words);
	__entry->__rel_loc_rel_text = tp_place_rel(__entry, &__entry->__rel_loc_rel_text, &__dyn.rel_text);
	__entry->__rel_loc_rel_part = tp_place_rel(__entry, &__entry->__rel_loc_rel_part, &__dyn.rel_part);
	__entry->__rel_loc_rel_bits = tp_place_rel(__entry, &__entry->__rel_loc_rel_bits, &__dyn.rel_bits);
	__entry->__rel_loc_rel_cpus = tp_place_rel(__entry, &__entry->__rel_loc_rel_cpus, &__dyn.rel_cpus);
	__entry->__rel_loc_rel_address = tp_place_rel(__entry, &__entry->__rel_loc_rel_address, &__dyn.rel_address);
	__entry->__rel_loc_rel_words = tp_place_rel(__entry, &__entry->__rel_loc_rel_words, &__dyn.rel_words);

	__entry->first = 1;
	__entry->pair = v->pair;
	memcpy(__entry->name, "abc", 4);
	for (size_t i = 0; i < sizeof(__entry->bytes); i++)
		__entry->bytes[i] = (uint8_t)(i * 17); /* 00 11 ... ff */
	memcpy(__entry->mac, __entry->bytes, sizeof(__entry->mac));
	__assign_str(text);
	__assign_str_len(part, v->part, v->part_len);
	__assign_vstr(message, fmt, args);
	__assign_bitmask(bits, v->bits, v->nr_bits);
	__assign_cpumask(cpus, v->cpus);
	__assign_sockaddr(address, v->address, v->address_len);
	if (v->nr_words)
		memcpy(__get_dynamic_array(words), v->words, __get_dynamic_array_len(words));
	__assign_rel_str(rel_text, v->text);
	__assign_rel_str_len(rel_part, v->part, v->part_len);
	__assign_rel_bitmask(rel_bits, v->bits, v->nr_bits);
	__assign_rel_cpumask(rel_cpus, v->cpus);
	__assign_rel_sockaddr(rel_address, v->address, v->address_len);
	if (v->nr_words)
		memcpy(__get_rel_dynamic_array(rel_words), v->words, __get_rel_dynamic_array_len(rel_words));
	__entry->last = v->last;
	tp_commit(&__rec);
}

static void print(struct trace_seq *p, const void *entry)
{
	const struct trace_event_raw_language *__entry = entry;
	const size_t __start = p->len;

	tp_printk(p, __start, "text=%s part=%s message=%s bits=%s cpus=%s address=%s words=%s last=%lld",
		  __get_str(text), __get_str(part), __get_str(message), __print_bitmask(bits), __print_cpumask(cpus),
		  __print_pointer("ISpc", __get_sockaddr(address)), __print_dynamic_array(words, sizeof(uint32_t)),
		  (long long)__entry->last);
}

#define tp_fields_language(TP_F, TP_R) \
	TP_F(FIELD, TP_R, first, "u8", 0) \
	TP_F(STRUCT, TP_R, pair, "struct language_pair", 0) \
	TP_F(ARRAY, TP_R, name, "char", 0) \
	TP_F(ARRAY, TP_R, bytes, "u8", 0) \
	TP_F(ARRAY, TP_R, mac, "u8", 0) \
	TP_F(STRING, TP_R, text, "char", char) \
	TP_F(STRING, TP_R, part, "char", char) \
	TP_F(STRING, TP_R, message, "char", char) \
	TP_F(BITMASK, TP_R, bits, "unsigned long", unsigned long) \
	TP_F(CPUMASK, TP_R, cpus, "unsigned long", unsigned long) \
	TP_F(SOCKADDR, TP_R, address, "u8", uint8_t) \
	TP_F(DYNAMIC_ARRAY, TP_R, words, "u32", uint32_t) \
	TP_F(REL_STRING, TP_R, rel_text, "char", char) \
	TP_F(REL_STRING, TP_R, rel_part, "char", char) \
	TP_F(REL_BITMASK, TP_R, rel_bits, "unsigned long", unsigned long) \
	TP_F(REL_CPUMASK, TP_R, rel_cpus, "unsigned long", unsigned long) \
	TP_F(REL_SOCKADDR, TP_R, rel_address, "u8", uint8_t) \
	TP_F(REL_DYNAMIC_ARRAY, TP_R, rel_words, "u32", uint32_t) \
	TP_F(FIELD, TP_R, last, "s64", 0)
TP_DEFINE_CLASS(static, language, 19, 0,) = {
	TP_DESCRIBE(language, trace_event_raw_language, 19, 0),
	.text = tp_fields_language(TP_TEXTS, ) "\"...\"",
};

struct tp_event tp_event_language = {
	.system = "language", .name = "language", .event_class = &__tp_class_language.head, .tracepoint = &tracepoint,
	.record = (tp_probe_t)record, .print = print,
};

static struct tracepoint *tracepoints[] = {&tracepoint};
static struct tp_event *events[] = {&tp_event_language};

struct tp_module language_module = {
	TP_MODULE_HEAD,
	.tracepoints = tracepoints, .tracepoints_end = tracepoints + 1, .events = events, .events_end = events + 1,
};

/* SPDX-License-Identifier: MIT */
#ifndef TP_EVENT_H
#define TP_EVENT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tp/tracepoint.h>
#ifdef __cplusplus
extern "C" {
#endif
struct trace_seq;
struct trace_entry {
	uint16_t type;
	uint8_t flags;
	uint8_t preempt_count;
	int32_t pid;
};
#ifdef __cplusplus
#define TP_DYNAMIC_DATA __extension__ char __data[0];
#else
#define TP_DYNAMIC_DATA char __data[];
#endif
#define TP_RECORD_MAX 65528
struct trace_print_flags {
	unsigned long mask;
	const char *name;
};
struct trace_print_flags_u64 {
	unsigned long long mask;
	const char *name;
};
enum tp_field_kind {
	TP_FIELD,
	TP_STRUCT,
	TP_ARRAY,
	TP_STRING,
	TP_DYNAMIC_ARRAY,
	TP_BITMASK,
	TP_CPUMASK,
	TP_SOCKADDR,
};
enum tp_field_class {
	TP_INTEGER,
	TP_FLOAT,
	TP_POINTER,
	TP_OTHER,
};
typedef uint32_t tp_data_loc_t;
struct tp_event_field {
	const char *name;
	const char *type;
	enum tp_field_kind kind;
	bool relative;
	enum tp_field_class type_class;
	uint32_t offset;
	uint32_t size;
	uint32_t element_size;
	uint32_t element_align;
	bool is_signed;
	bool is_char;
	bool is_hexadecimal;
	const struct tp_symbols *symbols;
	const char *delimiter;
};
struct tp_event_class {
	uint32_t fixed_size;
	uint32_t text;
	uint16_t nr_fields;
	uint16_t nr_evals;
	uint16_t head_size;
	uint16_t numbers_size;
};
struct tp_field_numbers {
	uint32_t offset, size, element_size;
	uint16_t bits;
	uint16_t symbols;
};
enum {
	TP_BIT_KIND = 0,
	TP_BIT_RELATIVE = 3,
	TP_BIT_CLASS = 4,
	TP_BIT_SIGNED = 6,
	TP_BIT_CHAR = 7,
	TP_BIT_HEXADECIMAL = 8,
	TP_BIT_ALIGN = 9,
	TP_BIT_TYPE = 12,
};
struct tp_eval {
	long long value;
	long long known;
};
struct tp_symbols {
	uint16_t nr;
	uint16_t is_flags;
	uint32_t names;
};
struct tp_named_value {
	unsigned long long value;
	const char *name;
	uint32_t nr;
};
static inline unsigned long long tp_symbol_value(unsigned long long value)
{
	return (long long)value == (long)value ? (unsigned long)value : value;
}
static inline bool tp_named_value_next(const struct tp_symbols *symbols, struct tp_named_value *symbol)
{
	const char *name;
	if (!symbols || symbol->nr == symbols->nr)
		return false;
	name = symbol->nr ? symbol->name : (const char *)symbols + symbols->names;
	if (symbol->nr || symbols->is_flags) {
		while (*name++)
			;
	}
	symbol->name = name;
	symbol->value = tp_symbol_value(((const unsigned long long *)(symbols + 1))[symbol->nr++]);
	return true;
}
TP_PUBLIC void tp_event_field_at_sized(const struct tp_event_class *event_class, uint32_t i, struct tp_event_field *field,
				       size_t size);
static inline struct tp_event_field tp_event_field_at(const struct tp_event_class *event_class, uint32_t i)
{
	struct tp_event_field field;
	tp_event_field_at_sized(event_class, i, &field, sizeof(field));
	return field;
}
enum tp_loglevel {
	TP_LOGLEVEL_EMERG,
	TP_LOGLEVEL_ALERT,
	TP_LOGLEVEL_CRIT,
	TP_LOGLEVEL_ERR,
	TP_LOGLEVEL_WARNING,
	TP_LOGLEVEL_NOTICE,
	TP_LOGLEVEL_INFO,
	TP_LOGLEVEL_DEBUG_SYSTEM,
	TP_LOGLEVEL_DEBUG_PROGRAM,
	TP_LOGLEVEL_DEBUG_PROCESS,
	TP_LOGLEVEL_DEBUG_MODULE,
	TP_LOGLEVEL_DEBUG_UNIT,
	TP_LOGLEVEL_DEBUG_FUNCTION,
	TP_LOGLEVEL_DEBUG_LINE,
	TP_LOGLEVEL_DEBUG,
};
struct tp_event {
	const char *system;
	const char *name;
	const struct tp_event_class *event_class;
	struct tracepoint *tracepoint;
	tp_probe_t record;
	void (*print)(struct trace_seq *p, const void *entry);
	enum tp_loglevel loglevel;
	uint16_t id;
	void *reserved[2];
};
TP_PUBLIC int tp_event_format(const struct tp_event *event, struct trace_seq *s);
TP_PUBLIC void tp_for_each_event(void (*fct)(const struct tp_event *event, void *data), void *data);
#ifdef __cplusplus
}
#endif
#endif

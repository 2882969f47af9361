/* SPDX-License-Identifier: MIT */
#ifndef TP_PRINT_H
#define TP_PRINT_H
#include <stdbool.h>
#include <stddef.h>
#include <tp/event.h>
#include <tp/trace_seq.h>
#ifdef __cplusplus
extern "C" {
#endif
TP_PUBLIC const char *tp_seq_print_flags(struct trace_seq *p, unsigned long v, const char *delim,
				     const struct trace_print_flags *flags);
TP_PUBLIC const char *tp_seq_print_flags_u64(struct trace_seq *p, unsigned long long v, const char *delim,
					 const struct trace_print_flags_u64 *flags);
TP_PUBLIC const char *tp_seq_print_symbolic(struct trace_seq *p, unsigned long v,
					const struct trace_print_flags *symbols);
TP_PUBLIC const char *tp_seq_print_symbolic_u64(struct trace_seq *p, unsigned long long v,
					    const struct trace_print_flags_u64 *symbols);
TP_PUBLIC const char *tp_seq_print_flags_by(struct trace_seq *p, unsigned long long v, const char *delim,
					const struct tp_symbols *flags);
TP_PUBLIC const char *tp_seq_print_symbolic_by(struct trace_seq *p, unsigned long long v, const struct tp_symbols *symbols);
TP_PUBLIC const char *tp_seq_print_hex(struct trace_seq *p, const void *bytes, int len, bool together);
TP_PUBLIC const char *tp_seq_print_array(struct trace_seq *p, const void *elements, int count, size_t element_size);
TP_PUBLIC const char *tp_seq_print_hex_dump(struct trace_seq *p, const char *prefix, int prefix_type, int row_size,
					int group_size, const void *bytes, size_t len, bool ascii);
TP_PUBLIC const char *tp_seq_print_bitmask(struct trace_seq *p, const void *bits, size_t size);
TP_PUBLIC const char *tp_seq_pointer(struct trace_seq *p, const char *what, long n, const void *ptr);
TP_PUBLIC char *tp_seq_get_buf(struct trace_seq *p, size_t len);
TP_PUBLIC void tp_printk(struct trace_seq *p, size_t start, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
#ifdef __cplusplus
}
template <class Entry, class Number> struct tp_table_entry {
	Entry entry;
	template <class Value> tp_table_entry(Value value, const char *name)
	{
		entry.mask = (Number)value;
		entry.name = name;
	}
};
template <class Entry, class Number, size_t count> const Entry *tp_table(const tp_table_entry<Entry, Number> (&entries)[count])
{
	return &entries[0].entry;
}
#define TP_TABLE_OF_FLAGS(...) (tp_table<struct trace_print_flags, unsigned long>({__VA_ARGS__, {0, NULL}}))
#define TP_TABLE_OF_FLAGS_U64(...) (tp_table<struct trace_print_flags_u64, unsigned long long>({__VA_ARGS__, {0, NULL}}))
template <bool are_good> struct tp_print_array_of_elements_of {
	static const size_t bytes_1_2_4_or_8_bytes = 0;
};
template <> struct tp_print_array_of_elements_of<false> {
};
#else
#define TP_TABLE_OF_FLAGS(...) ((const struct trace_print_flags[]){__VA_ARGS__, {0, NULL}})
#define TP_TABLE_OF_FLAGS_U64(...) ((const struct trace_print_flags_u64[]){__VA_ARGS__, {0, NULL}})
#endif
#pragma GCC system_header
#define __print_flags_table(v, delim, table) tp_seq_print_flags_by(p, (unsigned long long)(unsigned long)(v), (delim), table)
#define __print_symbolic_table(v, table) tp_seq_print_symbolic_by(p, (unsigned long long)(unsigned long)(v), table)
#define __print_flags(v, delim, ...) \
	tp_seq_print_flags(p, (unsigned long)(v), (delim), TP_TABLE_OF_FLAGS(__VA_ARGS__))
#define __print_symbolic(v, ...) tp_seq_print_symbolic(p, (unsigned long)(v), TP_TABLE_OF_FLAGS(__VA_ARGS__))
#define __print_flags_u64_table(v, delim, table) tp_seq_print_flags_by(p, (unsigned long long)(v), (delim), table)
#define __print_symbolic_u64_table(v, table) tp_seq_print_symbolic_by(p, (unsigned long long)(v), table)
#define __print_flags_u64(v, delim, ...) \
	tp_seq_print_flags_u64(p, (unsigned long long)(v), (delim), TP_TABLE_OF_FLAGS_U64(__VA_ARGS__))
#define __print_symbolic_u64(v, ...) \
	tp_seq_print_symbolic_u64(p, (unsigned long long)(v), TP_TABLE_OF_FLAGS_U64(__VA_ARGS__))
#define __print_hex(buf, len) tp_seq_print_hex(p, (buf), (int)(len), false)
#define __print_hex_str(buf, len) tp_seq_print_hex(p, (buf), (int)(len), true)
#ifdef __cplusplus
#define TP_CHECK_ELEMENT_SIZE(n)                                                                             \
	tp_print_array_of_elements_of<!__builtin_constant_p(n) || (n) == 1 || (n) == 2 || (n) == 4 ||        \
				      (n) == 8>::bytes_1_2_4_or_8_bytes
#else
#define TP_CHECK_ELEMENT_SIZE(n)                                                                             \
	sizeof(struct {                                                                                      \
		int __print_array__an_element_has_1_2_4_or_8_bytes                                           \
			: __builtin_choose_expr(__builtin_constant_p(n), (n), 1) == 1 ||                     \
			  __builtin_choose_expr(__builtin_constant_p(n), (n), 1) == 2 ||                     \
			  __builtin_choose_expr(__builtin_constant_p(n), (n), 1) == 4 ||                     \
			  __builtin_choose_expr(__builtin_constant_p(n), (n), 1) == 8 ? 1 : -1;              \
	})
#endif
#define __print_array(array, count, el_size) \
	tp_seq_print_array(p, (array), (int)(count), (size_t)(el_size) + 0 * TP_CHECK_ELEMENT_SIZE(el_size))
#define __print_dynamic_array(field, el_size) \
	__print_array(__get_dynamic_array(field), __get_dynamic_array_len(field) / (el_size), el_size)
#ifndef DUMP_PREFIX_NONE
#define DUMP_PREFIX_NONE 0
#define DUMP_PREFIX_ADDRESS 1
#define DUMP_PREFIX_OFFSET 2
#endif
#define __print_hex_dump(prefix_str, prefix_type, rowsize, groupsize, buf, len, ascii) \
	tp_seq_print_hex_dump(p, (prefix_str), (prefix_type), (rowsize), (groupsize), (buf), (size_t)(len), (ascii))
#define __print_ns_to_secs(value) ((unsigned long long)(value) / 1000000000u)
#define __print_ns_without_secs(value) ((unsigned int)((unsigned long long)(value) % 1000000000u))
#define __event_in_hardirq() (__entry->ent.flags & 0x8)
#define __event_in_softirq() (__entry->ent.flags & 0x10)
#define __event_in_irq() (__entry->ent.flags & 0x18)
#define __get_buf(len) tp_seq_get_buf(p, (size_t)(len))
#define __print_bitmask(field) tp_seq_print_bitmask(p, __get_dynamic_array(field), __get_dynamic_array_len(field))
#define __print_cpumask(field) __print_bitmask(field)
#define __print_rel_bitmask(field) \
	tp_seq_print_bitmask(p, __get_rel_dynamic_array(field), __get_rel_dynamic_array_len(field))
#define __print_rel_cpumask(field) __print_rel_bitmask(field)
#define __print_pointer(what, ptr) tp_seq_pointer(p, (what), -1, (ptr))
#define __print_pointer_n(what, n, ptr) tp_seq_pointer(p, (what), tp_pointer_n((long)(n)), (ptr))
static inline long tp_pointer_n(long n)
{
	return n < 0 ? 0 : n;
}
#endif

/* SPDX-License-Identifier: MIT */
/*
 * tp/print.h - the helpers that TP_printk can call: __print_flags,
 * __print_symbolic and so on. Included by generated code, under
 * CREATE_TRACE_POINTS.
 *
 * The helpers use the hidden variable p of the printer, as in the kernel: each
 * appends its result, with a NUL, to p, and returns a pointer to it.
 * tp_printk() then removes these intermediate results, so that only the
 * text of TP_printk stays in the trace_seq. The texts are the same as the
 * kernel's.
 *
 * Records can contain anything: whatever the lengths, counts and sizes in
 * them, a helper stays within the memory that it is given, provided that this
 * memory is as long as the caller says.
 */
#ifndef TP_PRINT_H
#define TP_PRINT_H

#include <stdbool.h>
#include <stddef.h>

#include <tp/event.h>
#include <tp/trace_seq.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The names of the bits of v, separated by delim. An entry matches if
 * (v & mask) == mask; later entries no longer see its bits. Bits without a
 * name are appended as 0x%lx. 0 prints as "". flags ends with a NULL name.
 * (Kernel: trace_print_flags_seq.)
 */
TP_PUBLIC const char *tp_seq_print_flags(struct trace_seq *p, unsigned long v, const char *delim,
				     const struct trace_print_flags *flags);
TP_PUBLIC const char *tp_seq_print_flags_u64(struct trace_seq *p, unsigned long long v, const char *delim,
					 const struct trace_print_flags_u64 *flags);

/*
 * The name of the first entry whose mask is v; if there is none, v as 0x%lx.
 * (Kernel: trace_print_symbols_seq.)
 */
TP_PUBLIC const char *tp_seq_print_symbolic(struct trace_seq *p, unsigned long v,
					const struct trace_print_flags *symbols);
TP_PUBLIC const char *tp_seq_print_symbolic_u64(struct trace_seq *p, unsigned long long v,
					    const struct trace_print_flags_u64 *symbols);

/* The same by a table of a class. An entry of flags has the bits of its value. */
TP_PUBLIC const char *tp_seq_print_flags_by(struct trace_seq *p, unsigned long long v, const char *delim,
					const struct tp_symbols *flags);
TP_PUBLIC const char *tp_seq_print_symbolic_by(struct trace_seq *p, unsigned long long v, const struct tp_symbols *symbols);

/* "01 02 ff"; with together "0102ff". A len below 0 counts as 0. */
TP_PUBLIC const char *tp_seq_print_hex(struct trace_seq *p, const void *bytes, int len, bool together);

/*
 * "{0x1,0x2}": elements of 1, 2, 4 or 8 bytes, with any alignment. For another
 * size, "{BAD SIZE:3 ...}" with the single bytes.
 */
TP_PUBLIC const char *tp_seq_print_array(struct trace_seq *p, const void *elements, int count, size_t element_size);

/*
 * A newline, then a line for each row of 16 or 32 bytes. A line has
 * - prefix, then by prefix_type nothing, the address or the offset,
 * - the bytes, in groups of 1, 2, 4 or 8 (groups of more than 1 as numbers),
 * - with ascii, the characters.
 */
TP_PUBLIC const char *tp_seq_print_hex_dump(struct trace_seq *p, const char *prefix, int prefix_type, int row_size,
					int group_size, const void *bytes, size_t len, bool ascii);

/* The bits as by trace_seq_bitmask(); size is in bytes. */
TP_PUBLIC const char *tp_seq_print_bitmask(struct trace_seq *p, const void *bits, size_t size);

/*
 * The kernel's conversion %p followed by the letters in what:
 *
 *	S SR B F   symbol+0xoffset/0xsize of an address; B: of a return address, which points after its call
 *	s sR f     the symbol alone. For an address without a symbol: 0x%lx. print/symbol.c in the runtime says which addresses have one
 *	I4 i4      an IPv4 address, i with leading zeros; then h (the host's byte order), n or b (the network's, also
 *	           the default) or l (little-endian)
 *	I6 i6 I6c  an IPv6 address: with colons, without, and compressed by RFC 5952
 *	IS iS      a struct sockaddr of either family; then any of p (port), f (flow), s (scope), c, h, n, b, l
 *	M m        an Ethernet address: with colons, without; MF with dashes; MR, mR from the last byte to the first
 *	U          a UUID, then b or nothing: big-endian; l: little-endian; B, L: the same in capitals
 *	h          n bytes, at most 64, 1 if n is below 0; hC with colons, hD with dashes, hN without separators
 *	b bl       a bitmap of n bits, in unsigned longs: hexadecimal, or as the list "1,3-5"
 *	x K        the address as %016lx
 *	e          an error, which is a pointer between -4095 and -1: "-ENOENT"; other pointers as x
 *	a ap ad    an unsigned long at the address, as 0x%016lx
 *
 * If the conversion reads memory at the address, NULL prints "(null)", and an
 * impossible address (below 4096, or an error) "(efault)". Any other letters
 * print as x.
 *
 * Safe in signal handlers.
 */
TP_PUBLIC const char *tp_seq_pointer(struct trace_seq *p, const char *what, long n, const void *ptr);

/*
 * Returns len bytes that can be written to until tp_printk(). They are part of
 * the trace_seq if it has room, otherwise memory from the system; NULL if the
 * system has none either.
 */
TP_PUBLIC char *tp_seq_get_buf(struct trace_seq *p, size_t len);

/*
 * Writes the formatted text at position start. The helpers in the arguments
 * began to append there; the text replaces what they have appended.
 */
TP_PUBLIC void tp_printk(struct trace_seq *p, size_t start, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#ifdef __cplusplus
}

/* A table that tpgen can't see, as a temporary: C++ has no compound literals. A value can be of any integer type or enumeration. */
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

/* ---- In TP_printk ---- */

/* gcc reports an error in these macros where they are called: in the .tp file. */
#pragma GCC system_header

/*
 * If tpgen can see the table, it writes a static table, and the call names
 * that. It can't see a table that comes from a macro of an included header.
 */
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
/* An element size that is a constant must be 1, 2, 4 or 8. In C99, _Static_assert may be a macro that only declares functions. */
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

/* As in linux/printk.h. */
#ifndef DUMP_PREFIX_NONE
#define DUMP_PREFIX_NONE 0
#define DUMP_PREFIX_ADDRESS 1
#define DUMP_PREFIX_OFFSET 2
#endif
#define __print_hex_dump(prefix_str, prefix_type, rowsize, groupsize, buf, len, ascii) \
	tp_seq_print_hex_dump(p, (prefix_str), (prefix_type), (rowsize), (groupsize), (buf), (size_t)(len), (ascii))

/* These are numbers, not texts: an unsigned long long and an unsigned int. */
#define __print_ns_to_secs(value) ((unsigned long long)(value) / 1000000000u)
#define __print_ns_without_secs(value) ((unsigned int)((unsigned long long)(value) % 1000000000u))

/* 0: a process has no interrupts. The masks are the kernel's TRACE_FLAG_HARDIRQ and TRACE_FLAG_SOFTIRQ. */
#define __event_in_hardirq() (__entry->ent.flags & 0x8)
#define __event_in_softirq() (__entry->ent.flags & 0x10)
#define __event_in_irq() (__entry->ent.flags & 0x18)

#define __get_buf(len) tp_seq_get_buf(p, (size_t)(len))

/* In TP_printk, __get_bitmask and its like are texts: tpgen replaces them by these. */
#define __print_bitmask(field) tp_seq_print_bitmask(p, __get_dynamic_array(field), __get_dynamic_array_len(field))
#define __print_cpumask(field) __print_bitmask(field)
#define __print_rel_bitmask(field) \
	tp_seq_print_bitmask(p, __get_rel_dynamic_array(field), __get_rel_dynamic_array_len(field))
#define __print_rel_cpumask(field) __print_rel_bitmask(field)

/* tpgen replaces the kernel's %pI4, %*ph and so on by %s with one of these. n is the width; below 0 it counts as 0. */
#define __print_pointer(what, ptr) tp_seq_pointer(p, (what), -1, (ptr))
#define __print_pointer_n(what, n, ptr) tp_seq_pointer(p, (what), tp_pointer_n((long)(n)), (ptr))

static inline long tp_pointer_n(long n)
{
	return n < 0 ? 0 : n;
}

#endif /* TP_PRINT_H */

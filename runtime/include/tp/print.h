/* SPDX-License-Identifier: MIT */
/*
 * tp/print.h - what TP_printk may call: __print_flags, __print_symbolic and
 * their like. Included by generated code, under CREATE_TRACE_POINTS.
 *
 * The helpers use the hidden variable p of the printer, as in the kernel: they
 * append their result to it and return a pointer to it, ended by a NUL.
 * tp_printk() then removes these intermediate results, so that only the
 * text of TP_printk stays in the trace_seq. Their texts are the kernel's.
 *
 * Records may be anything: no length, count or size in them makes a helper
 * read or write where it must not, as long as the memory that it is given is
 * as long as it is told.
 */
#ifndef TP_PRINT_H
#define TP_PRINT_H

#include <stdbool.h>
#include <stddef.h>

#include <tp/event.h>
#include <tp/trace_seq.h>

/*
 * Names for the bits of v, separated by delim: an entry matches where
 * (v & mask) == mask, and its bits are then done; what is left over is
 * appended as 0x%lx. 0 prints as "". flags ends with a NULL name.
 * (Kernel: trace_print_flags_seq.)
 */
TP_PUBLIC const char *tp_seq_print_flags(struct trace_seq *p, unsigned long v, const char *delim,
				     const struct trace_print_flags *flags);
TP_PUBLIC const char *tp_seq_print_flags_u64(struct trace_seq *p, unsigned long long v, const char *delim,
					 const struct trace_print_flags_u64 *flags);

/*
 * The name of the first entry whose mask is v, else v as 0x%lx.
 * (Kernel: trace_print_symbols_seq.)
 */
TP_PUBLIC const char *tp_seq_print_symbolic(struct trace_seq *p, unsigned long v,
					const struct trace_print_flags *symbols);
TP_PUBLIC const char *tp_seq_print_symbolic_u64(struct trace_seq *p, unsigned long long v,
					    const struct trace_print_flags_u64 *symbols);

/* "01 02 ff", or "0102ff" where they are to be together. A len below 0 is 0. */
TP_PUBLIC const char *tp_seq_print_hex(struct trace_seq *p, const void *bytes, int len, bool together);

/* "{0x1,0x2}": elements of 1, 2, 4 or 8 bytes, wherever they stand; of another size "{BAD SIZE:3 ...}" in bytes. */
TP_PUBLIC const char *tp_seq_print_array(struct trace_seq *p, const void *elements, int count, size_t element_size);

/*
 * A newline, then a line for each row of 16 or 32 bytes, in groups of 1, 2, 4
 * or 8 of them (these as numbers), behind them their characters if so wished.
 * In front of each, prefix and by its type nothing, the address or the offset.
 */
TP_PUBLIC const char *tp_seq_print_hex_dump(struct trace_seq *p, const char *prefix, int prefix_type, int row_size,
					int group_size, const void *bytes, size_t len, bool ascii);

/* Bits as trace_seq_bitmask() has them; size is in bytes. */
TP_PUBLIC const char *tp_seq_print_bitmask(struct trace_seq *p, const void *bits, size_t size);

/*
 * The kernel's conversion %p and what, which may be:
 *
 *	S SR B F   symbol+0xoffset/0xsize of an address; B: of a return address, which is behind its call
 *	s sR f     symbol alone. An address that has none: 0x%lx. See symbol.c for what has one
 *	I4 i4      an IPv4 address, i with leading zeros; behind it h (the host's byte order), n or b (the network's,
 *	           as without a letter) or l (little-endian)
 *	I6 i6 I6c  an IPv6 address: with colons, without, and compressed as RFC 5952 says
 *	IS iS      a struct sockaddr of either family, behind it any of p (port), f (flow), s (scope), c, h, n, b, l
 *	M m        an Ethernet address: with colons, without; MF with dashes; MR, mR from the last byte to the first
 *	U          a UUID: b or nothing, big-endian; l, little-endian; B and L, in capitals
 *	h          n bytes, 1 if n is below 0, at most 64; hC with colons, hD with dashes, hN without anything
 *	b bl       a bitmap of n bits, in unsigned longs: hexadecimal, or as the list "1,3-5"
 *	x K        the address as %016lx
 *	e          an error, a pointer between -4095 and -1: "-ENOENT"; others as x
 *	a ap ad    an unsigned long at the address, as 0x%016lx
 *
 * Where the address is read, NULL prints "(null)", and one that is no address
 * (below 4096 or an error) "(efault)". What else is asked for prints as x.
 *
 * Safe in signal handlers.
 */
TP_PUBLIC const char *tp_seq_pointer(struct trace_seq *p, const char *what, long n, const void *ptr);

/*
 * len bytes to write to until tp_printk(). They are in the trace_seq while it
 * has room, and the system's otherwise; NULL where that has none either.
 */
TP_PUBLIC char *tp_seq_get_buf(struct trace_seq *p, size_t len);

/*
 * Appends the formatted text at position start, where the arguments' helpers
 * began to append, in place of what they left there.
 */
TP_PUBLIC void tp_printk(struct trace_seq *p, size_t start, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- In TP_printk ---- */

/*
 * Where tpgen sees the table it writes it out as a static one,
 * and the call takes that by its name; it does not where the table comes
 * out of a macro of an included header.
 */
#define __print_flags_table(v, delim, table) tp_seq_print_flags(p, (unsigned long)(v), (delim), (table))
#define __print_symbolic_table(v, table) tp_seq_print_symbolic(p, (unsigned long)(v), (table))
#define __print_flags(v, delim, ...) \
	__print_flags_table(v, delim, ((const struct trace_print_flags[]){__VA_ARGS__, {0, NULL}}))
#define __print_symbolic(v, ...) \
	__print_symbolic_table(v, ((const struct trace_print_flags[]){__VA_ARGS__, {0, NULL}}))

#define __print_flags_u64_table(v, delim, table) \
	tp_seq_print_flags_u64(p, (unsigned long long)(v), (delim), (table))
#define __print_symbolic_u64_table(v, table) tp_seq_print_symbolic_u64(p, (unsigned long long)(v), (table))
#define __print_flags_u64(v, delim, ...) \
	__print_flags_u64_table(v, delim, ((const struct trace_print_flags_u64[]){__VA_ARGS__, {0, NULL}}))
#define __print_symbolic_u64(v, ...) \
	__print_symbolic_u64_table(v, ((const struct trace_print_flags_u64[]){__VA_ARGS__, {0, NULL}}))

#define __print_hex(buf, len) tp_seq_print_hex(p, (buf), (int)(len), false)
#define __print_hex_str(buf, len) tp_seq_print_hex(p, (buf), (int)(len), true)

/* A constant element size must be one of the four. */
#define TP_CHECK_ELEMENT_SIZE(n)                                                                             \
	sizeof(struct {                                                                                      \
		_Static_assert(__builtin_choose_expr(__builtin_constant_p(n), (n), 1) == 1 ||                \
				       __builtin_choose_expr(__builtin_constant_p(n), (n), 1) == 2 ||        \
				       __builtin_choose_expr(__builtin_constant_p(n), (n), 1) == 4 ||        \
				       __builtin_choose_expr(__builtin_constant_p(n), (n), 1) == 8,          \
			       "__print_array: an element has 1, 2, 4 or 8 bytes");                          \
		char size;                                                                                   \
	})
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

/* Numbers: an unsigned long long, an unsigned int. */
#define __print_ns_to_secs(value) ((unsigned long long)(value) / 1000000000u)
#define __print_ns_without_secs(value) ((unsigned int)((unsigned long long)(value) % 1000000000u))

#define __get_buf(len) tp_seq_get_buf(p, (size_t)(len))

/* What tpgen makes of __get_bitmask and its like, which in TP_printk are texts ... */
#define __print_bitmask(field) tp_seq_print_bitmask(p, __get_dynamic_array(field), __get_dynamic_array_len(field))
#define __print_cpumask(field) __print_bitmask(field)
#define __print_rel_bitmask(field) \
	tp_seq_print_bitmask(p, __get_rel_dynamic_array(field), __get_rel_dynamic_array_len(field))
#define __print_rel_cpumask(field) __print_rel_bitmask(field)

/* ... and of the kernel's %pI4, %*ph and their like, which it replaces by %s: n is the width, below 0 it is 0. */
#define __print_pointer(what, ptr) tp_seq_pointer(p, (what), -1, (ptr))
#define __print_pointer_n(what, n, ptr) tp_seq_pointer(p, (what), tp_pointer_n(n), (ptr))

static inline long tp_pointer_n(long n)
{
	return n < 0 ? 0 : n;
}

#endif /* TP_PRINT_H */

/* SPDX-License-Identifier: MIT */
/*
 * tp/print.h - what TP_printk may call: __print_flags, __print_symbolic and
 * their like. Included by generated code, under CREATE_TRACE_POINTS.
 *
 * The helpers use the hidden variable p of the printer, as in the kernel: they
 * append their result to it and return a pointer to it, ended by a NUL.
 * tp_printk() then removes these intermediate results, so that only the
 * text of TP_printk stays in the trace_seq.
 */
#ifndef TP_PRINT_H
#define TP_PRINT_H

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

/*
 * The name of the first entry whose mask is v, else v as 0x%lx.
 * (Kernel: trace_print_symbols_seq.)
 */
TP_PUBLIC const char *tp_seq_print_symbolic(struct trace_seq *p, unsigned long v,
					const struct trace_print_flags *symbols);

/*
 * Appends the formatted text at position start, where the arguments' helpers
 * began to append, in place of what they left there.
 */
TP_PUBLIC void tp_printk(struct trace_seq *p, size_t start, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * In TP_printk. Where tpgen sees the table it writes it out as a static one,
 * and the call takes that by its name; it does not where the table comes
 * out of a macro of an included header.
 */
#define __print_flags_table(v, delim, table) tp_seq_print_flags(p, (unsigned long)(v), (delim), (table))
#define __print_symbolic_table(v, table) tp_seq_print_symbolic(p, (unsigned long)(v), (table))
#define __print_flags(v, delim, ...) \
	__print_flags_table(v, delim, ((const struct trace_print_flags[]){__VA_ARGS__, {0, NULL}}))
#define __print_symbolic(v, ...) \
	__print_symbolic_table(v, ((const struct trace_print_flags[]){__VA_ARGS__, {0, NULL}}))

#endif /* TP_PRINT_H */

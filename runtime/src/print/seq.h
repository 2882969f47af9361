/* SPDX-License-Identifier: MIT */
/*
 * print/seq.h - what the files with the helpers of TP_printk need of each other.
 */
#ifndef TP_SEQ_H
#define TP_SEQ_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <tp/print.h>

/* vsnprintf(), but faster where the format has no more than integers and strings. In printf.c. */
int tp_vsnprintf(char *buffer, size_t size, const char *fmt, va_list args) __attribute__((format(printf, 3, 0)));

/* Ends a helper's result, which began at start, and returns it. In helpers.c. */
const char *tp_seq_end(struct trace_seq *p, size_t start);

/*
 * Bytes as two digits each, separated by separator where that is not 0.
 * Stops where the trace_seq is full. In helpers.c.
 */
void tp_seq_bytes(struct trace_seq *p, const void *bytes, size_t len, char separator);

/* A bitmap of nr_bits, of which so many bytes may be read; wherever it stands. In helpers.c. */
void tp_seq_bits(struct trace_seq *p, const void *bits, size_t nr_bits, size_t size);
void tp_seq_bit_list(struct trace_seq *p, const void *bits, size_t nr_bits, size_t size);

#endif /* TP_SEQ_H */

/* SPDX-License-Identifier: MIT */
#ifndef TP_TRACE_SEQ_H
#define TP_TRACE_SEQ_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <tp/tracepoint.h>
#ifdef __cplusplus
extern "C" {
#endif
#define trace_seq_init tp_trace_seq_init
#define trace_seq_printf tp_trace_seq_printf
#define trace_seq_vprintf tp_trace_seq_vprintf
#define trace_seq_puts tp_trace_seq_puts
#define trace_seq_putc tp_trace_seq_putc
#define trace_seq_putmem tp_trace_seq_putmem
#define trace_seq_bitmask tp_trace_seq_bitmask
struct trace_seq {
	char *buffer;
	size_t size;
	size_t len;
	bool full;
	void *reserved;
};
TP_PUBLIC void trace_seq_init(struct trace_seq *s, char *buffer, size_t size);
TP_PUBLIC void trace_seq_printf(struct trace_seq *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
TP_PUBLIC void trace_seq_vprintf(struct trace_seq *s, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
TP_PUBLIC void trace_seq_puts(struct trace_seq *s, const char *str);
TP_PUBLIC void trace_seq_putc(struct trace_seq *s, char c);
TP_PUBLIC void trace_seq_putmem(struct trace_seq *s, const void *bytes, size_t len);
TP_PUBLIC void trace_seq_bitmask(struct trace_seq *s, const unsigned long *bits, int nr_bits);
static inline const char *trace_seq_buffer_ptr(const struct trace_seq *s)
{
	return s->buffer + s->len;
}
static inline bool trace_seq_has_overflowed(const struct trace_seq *s)
{
	return s->full;
}
#ifdef __cplusplus
}
#endif
#endif

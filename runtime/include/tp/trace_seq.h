/* SPDX-License-Identifier: MIT */
/*
 * tp/trace_seq.h - a bounded string that text is appended to, as in the
 * kernel's include/linux/trace_seq.h.
 *
 * The caller owns the buffer. A text that does not fit is cut at the buffer's
 * end, and full is set; the text always ends with a NUL. A trace_seq belongs
 * to one thread; its functions are as safe in signal handlers as vsnprintf.
 */
#ifndef TP_TRACE_SEQ_H
#define TP_TRACE_SEQ_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <tp/tracepoint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * libtraceevent has functions of the same names, for a struct trace_seq of its
 * own. With these macros a program can link to both libraries.
 */
#define trace_seq_init tp_trace_seq_init
#define trace_seq_printf tp_trace_seq_printf
#define trace_seq_vprintf tp_trace_seq_vprintf
#define trace_seq_puts tp_trace_seq_puts
#define trace_seq_putc tp_trace_seq_putc
#define trace_seq_putmem tp_trace_seq_putmem
#define trace_seq_bitmask tp_trace_seq_bitmask

struct trace_seq {
	char *buffer;
	size_t size; /* bytes of buffer, at least 1 */
	size_t len;  /* bytes of text, without the NUL; less than size */
	bool full;   /* some text did not fit */
	void *reserved; /* for the runtime; NULL outside of TP_printk */
};

/* Makes s an empty string in buffer. */
TP_PUBLIC void trace_seq_init(struct trace_seq *s, char *buffer, size_t size);

TP_PUBLIC void trace_seq_printf(struct trace_seq *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
TP_PUBLIC void trace_seq_vprintf(struct trace_seq *s, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
TP_PUBLIC void trace_seq_puts(struct trace_seq *s, const char *str);
TP_PUBLIC void trace_seq_putc(struct trace_seq *s, char c);

/* Appends bytes unchanged. A NUL among them ends the text for code that reads it as a string. */
TP_PUBLIC void trace_seq_putmem(struct trace_seq *s, const void *bytes, size_t len);

/* Appends the bits like the kernel's %*pb: hexadecimal, the highest bit first, a comma between groups of 32. */
TP_PUBLIC void trace_seq_bitmask(struct trace_seq *s, const unsigned long *bits, int nr_bits);

/*
 * Returns the position of the next text. For your own functions that
 * TP_printk calls with p: such a function saves this pointer, appends its text
 * and a '\0' (trace_seq_putc), and returns the pointer for a %s.
 */
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

#endif /* TP_TRACE_SEQ_H */

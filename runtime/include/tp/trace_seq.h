/* SPDX-License-Identifier: MIT */
/*
 * tp/trace_seq.h - a bounded string that text is appended to, as in the
 * kernel's include/linux/trace_seq.h.
 *
 * The caller owns the buffer. Appending past its end sets full and appends
 * what fits; the text is always ended by a NUL. A trace_seq belongs to one
 * thread; its functions are safe in signal handlers as far as vsnprintf is.
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

struct trace_seq {
	char *buffer;
	size_t size; /* bytes of buffer, at least 1 */
	size_t len;  /* bytes of text, without the NUL; below size */
	bool full;   /* something did not fit */
};

/* Makes s an empty string in buffer. */
TP_PUBLIC void trace_seq_init(struct trace_seq *s, char *buffer, size_t size);

TP_PUBLIC void trace_seq_printf(struct trace_seq *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
TP_PUBLIC void trace_seq_vprintf(struct trace_seq *s, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
TP_PUBLIC void trace_seq_puts(struct trace_seq *s, const char *str);
TP_PUBLIC void trace_seq_putc(struct trace_seq *s, char c);

#ifdef __cplusplus
}
#endif

#endif /* TP_TRACE_SEQ_H */

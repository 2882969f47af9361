/* SPDX-License-Identifier: MIT */
/* print_fmt.h - the print fmt of an event for readers of trace.dat, who don't know all that ours have in it. */
#ifndef PRINT_FMT_H
#define PRINT_FMT_H

#include <stddef.h>

/*
 * The format text with helpers in its print fmt that libtraceevent 1.7 knows. For
 * free(); NULL, and a message, where there is no memory.
 */
char *print_fmt_for_readers(const char *format, size_t len, size_t *new_len);

#endif /* PRINT_FMT_H */

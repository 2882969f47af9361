/* SPDX-License-Identifier: MIT */
/* print_fmt.h - the print fmt of an event for readers of trace.dat, who don't know all that ours have in it. */
#ifndef PRINT_FMT_H
#define PRINT_FMT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The format text with helpers in its print fmt that libtraceevent 1.7 knows. For
 * free(); NULL, and a message, where there is no memory. *is_whole: it prints all values as they are.
 */
char *print_fmt_for_readers(const char *format, size_t len, size_t *new_len, bool *is_whole);

#endif /* PRINT_FMT_H */

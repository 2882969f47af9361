/* SPDX-License-Identifier: MIT */
/*
 * interpreter.h - the text that TP_printk made, of an event's format and its record: libtraceevent interprets it. Where tp
 * was built without that, nothing has a text.
 */
#ifndef INTERPRETER_H
#define INTERPRETER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/formats.h"

extern const bool interpreter_is_there;

struct interpreter;

/* For the formats of one trace, until the process ends. NULL: there is no memory. */
struct interpreter *interpreter_new(void);

/* The text, until the next call; NULL: it can't be said. The record is aligned to 8 bytes, and there are zeros behind it. */
const char *interpreter_text(struct interpreter *interpreter, const struct event_format *format,
			     unsigned char *record, uint32_t size, size_t *len);

#endif /* INTERPRETER_H */

/* SPDX-License-Identifier: MIT */
/*
 * field_text.h - the text of an event whose TP_printk prints fields as they are, floating-point numbers among them, of which
 * libtraceevent knows nothing.
 */
#ifndef FIELD_TEXT_H
#define FIELD_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "read/fields.h"
#include "report/line.h"

/* False, and the line is as before: an argument is more than a field, or its conversion is an odd one. */
bool field_text_add(struct line *line, const struct event_format *format, const struct fields *fields, const unsigned char *record,
		    uint32_t size);

#endif /* FIELD_TEXT_H */

/* SPDX-License-Identifier: MIT */
/* limits.h - what libtraceevent 1.7 prints as something else than TP_printk does. */
#ifndef LIMITS_H
#define LIMITS_H

#include "read/fields.h"

struct limits {
	bool is_printable;
	struct fields signed_fields; /* that are part of an expression: libtraceevent takes a negative one for a large one */
};

/* To be freed by limits_free(). False, and a message, where there is no memory. */
bool limits_of(struct limits *limits, const struct event_format *format);
void limits_free(struct limits *limits);

/* Whether the record can be printed. */
bool limits_allow(const struct limits *limits, const unsigned char *record);

#endif /* LIMITS_H */

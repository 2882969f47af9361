/* SPDX-License-Identifier: MIT */
/*
 * events/value_names.h - the names of a field's values, copied: the event's module may go, and what was counted stays.
 */
#ifndef TP_VALUE_NAMES_H
#define TP_VALUE_NAMES_H

#include <tp/event.h>

#include "base/buffer.h"

/* All zeros: there are none. */
struct tp_value_names {
	struct trace_print_flags *symbols;
	char *delimiter; /* of __print_flags; or NULL */
};

/* Those with which TP_printk prints the field. False: there was no memory. To be freed in any case. */
bool tp_value_names_copy(struct tp_value_names *names, const struct tp_event_field *field);
void tp_value_names_free(struct tp_value_names *names);

/* Appends the name of a value, as TP_printk does it; false if it has none. */
bool tp_value_names_put(struct tp_buffer *b, const struct tp_value_names *names, uint64_t value);

#endif /* TP_VALUE_NAMES_H */

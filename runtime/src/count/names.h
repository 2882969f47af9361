/* SPDX-License-Identifier: MIT */
/*
 * count/names.h - the names of a field's values, for those who count them. They are copied: the event's module
 * may go, and what was counted stays.
 */
#ifndef TP_COUNT_NAMES_H
#define TP_COUNT_NAMES_H

#include <tp/event.h>

#include "base/text.h"

/* Those with which TP_printk prints the field, to be freed; *names is NULL if it has none. False: there was no memory. */
bool tp_value_names_copy(struct tp_symbols **names, const struct tp_event_field *field);

/* Passes the name of a value on, in pieces, as TP_printk has it; false if it has none. Safe in signal handlers, if put is. */
bool tp_value_names_tell(const struct tp_symbols *names, uint64_t value, void (*put)(void *to, const char *text, size_t len), void *to);

/* Appends the name of a value, as TP_printk does it; false if it has none. */
bool tp_value_names_put(struct tp_buffer *b, const struct tp_symbols *names, uint64_t value);

#endif /* TP_COUNT_NAMES_H */

/* SPDX-License-Identifier: MIT */
/*
 * record_field.h - the value of an event's field in a trace's records, by the field's name. The names are those that filters
 * take: also common_pid, comm and cpu, which are not in the record, but beside it in the trace.
 */
#ifndef RECORD_FIELD_H
#define RECORD_FIELD_H

#include "filter/fields.h"
#include "read/packet_reader.h"

struct record_field {
	struct tp_filter_field field; /* its type says what can be read of it */
	struct tp_value value;
};

/* Of an event as description.h describes it. False: it has none of this name. */
bool record_field_find(struct record_field *found, const struct tp_event *described, const char *name);

/* The number: of a signed field to be read as an int64_t. False: it is none, or the trace does not have it. */
bool record_field_number(const struct record_field *field, const struct event *event, uint64_t *number);

/* A text, without its NUL, in the record. False: it is none, or, in a damaged record, outside of it. */
bool record_field_text(const struct record_field *field, const struct event *event, struct tp_value_bytes *text);

/*
 * The event that the filter engine asks for the thread's name and the processor, of which its records have nothing, until
 * the next call; and whether the trace has the processor.
 */
void record_here(const struct event *event);

#endif /* RECORD_FIELD_H */

/* SPDX-License-Identifier: MIT */
/* described_value.h - the values of a field that select/description.h describes, in a trace's record. */
#ifndef DESCRIBED_VALUE_H
#define DESCRIBED_VALUE_H

#include <tp/event.h>

#include "filter/value.h"
#include "read/packet_reader.h"

/* What a value is. Of an array or a payload, numbers are its elements. */
enum described_kind { DESCRIBED_INTEGER, DESCRIBED_POINTER, DESCRIBED_REAL, DESCRIBED_TEXT, DESCRIBED_BYTES };

enum described_kind described_kind(const struct tp_event_field *field);

/* Whether there may be any number of values: not of a text, nor of bytes. */
bool described_is_list(const struct tp_event_field *field);

/* Where the value is, or all values of a list; a text's without a NUL; none where a damaged record says that they are outside of it. */
struct tp_value_bytes described_bytes(const struct tp_event_field *field, const struct event *event);

/* A number there; a signed one is extended to an int64_t. */
uint64_t described_number(const struct tp_event_field *field, const char *at);
double described_real(const struct tp_event_field *field, const char *at);

#endif /* DESCRIBED_VALUE_H */

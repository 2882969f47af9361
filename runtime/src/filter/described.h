/* SPDX-License-Identifier: MIT */
/*
 * filter/described.h - the values of a field in a record, as the event describes the field: for those who pass records on to
 * other formats.
 */
#ifndef TP_DESCRIBED_H
#define TP_DESCRIBED_H

#include <tp/event.h>

#include "filter/value.h"

/* What a value is. Of an array or a payload, numbers are its elements. */
enum tp_described_kind { TP_DESCRIBED_INTEGER, TP_DESCRIBED_POINTER, TP_DESCRIBED_REAL, TP_DESCRIBED_TEXT, TP_DESCRIBED_BYTES };

enum tp_described_kind tp_described_kind(const struct tp_event_field *field);

/* Whether there may be any number of values: not of a text, nor of bytes. */
bool tp_described_is_list(const struct tp_event_field *field);

/* Where the field is in a record, for tp_value_payload(). */
struct tp_value tp_described_place(const struct tp_event_field *field);

/*
 * Where the value is in a record of so many bytes, or all values of a list; a text's without a NUL; none where a damaged record
 * says that they are outside of it.
 */
struct tp_value_bytes tp_described_bytes(const struct tp_event_field *field, const void *record, size_t size);

/* A number there; a signed one is extended to an int64_t. */
uint64_t tp_described_number(const struct tp_event_field *field, const char *at);
double tp_described_real(const struct tp_event_field *field, const char *at);

#endif /* TP_DESCRIBED_H */

/* SPDX-License-Identifier: MIT */
/*
 * filter/value.h - where a field's value is in a record, and how it is read: in probes, and so without a lock, and without
 * a system call but for the thread's name and, on some systems, the processor.
 */
#ifndef TP_FILTER_VALUE_H
#define TP_FILTER_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <tp/event.h>

enum tp_value_source {
	TP_SOURCE_NUMBER,   /* the record's size bytes at offset: 1, 2, 4 or 8 */
	TP_SOURCE_CPU,      /* the processor's number */
	TP_SOURCE_ARRAY,    /* the record's size bytes at offset */
	TP_SOURCE_DATA_LOC, /* those that the word at offset says */
	TP_SOURCE_REL_LOC,
	TP_SOURCE_COMM,     /* the thread's name */
};

struct tp_value {
	uint8_t source;      /* enum tp_value_source */
	bool is_signed;
	uint32_t offset, size;
};

struct tp_value_bytes {
	const char *at; /* NULL: the record has none */
	size_t len;
};

/* A value of size bytes at offset. */
struct tp_value tp_value_at(enum tp_value_source source, uint32_t offset, uint32_t size, bool is_signed);

/*
 * A number of the record, as high as it goes. Its very bytes are loaded, and no others: a load that takes bytes of two
 * recent stores waits until both are in the cache.
 */
static inline uint64_t tp_value_high(const struct tp_value *value, const void *record)
{
	const char *at = (const char *)record + value->offset;
	uint64_t eight;
	uint32_t four;
	uint16_t two;

	switch (value->size) {
	case sizeof(four):
		memcpy(&four, at, sizeof(four));
		return (uint64_t)four << 32;
	case sizeof(eight):
		memcpy(&eight, at, sizeof(eight));
		return eight;
	case sizeof(two):
		memcpy(&two, at, sizeof(two));
		return (uint64_t)two << 48;
	default:
		return (uint64_t)(uint8_t)*at << 56;
	}
}

/* The same as it is, sign-extended if it has a sign. */
static inline uint64_t tp_value_number_in(const struct tp_value *value, const void *record)
{
	const uint64_t high = tp_value_high(value, record);
	const uint32_t by = 64 - 8 * value->size;

	return value->is_signed ? (uint64_t)((int64_t)high >> by) : high >> by;
}

/* A number, also the processor's. */
uint64_t tp_value_number(const struct tp_value *value, const void *record);

/* The payload that a __data_loc (or __rel_loc) word says, or the array; not beyond the record's size. */
struct tp_value_bytes tp_value_payload(const struct tp_value *value, const void *record, size_t size);

/* A text, without its NUL. */
struct tp_value_bytes tp_value_text(const struct tp_value *value, const void *record, size_t size);

#endif /* TP_FILTER_VALUE_H */

/* SPDX-License-Identifier: MIT */
/*
 * filter/value.c - see value.h.
 */
#include "filter/here.h"
#include "filter/value.h"

/* ---- Numbers ---- */

struct tp_value tp_value_at(enum tp_value_source source, uint32_t offset, uint32_t size, bool is_signed)
{
	return (struct tp_value){.source = (uint8_t)source, .offset = offset, .size = size, .is_signed = is_signed};
}

uint64_t tp_value_number(const struct tp_value *value, const void *record)
{
	return value->source == TP_SOURCE_CPU ? tp_here_cpu() : tp_value_number_in(value, record);
}

/* ---- Bytes ---- */

struct tp_value_bytes tp_value_payload(const struct tp_value *value, const void *record, size_t size)
{
	tp_data_loc_t word;

	if (value->source == TP_SOURCE_ARRAY)
		return (struct tp_value_bytes){(const char *)record + value->offset, value->size};
	memcpy(&word, (const char *)record + value->offset, sizeof(word));
	const size_t len = word >> 16;
	size_t offset = word & 0xffff;
	if (value->source == TP_SOURCE_REL_LOC)
		offset += value->offset + sizeof(word);
	if (offset > size || len > size - offset) /* TP_fast_assign has written over it */
		return (struct tp_value_bytes){.at = NULL};
	return (struct tp_value_bytes){(const char *)record + offset, len};
}

/* As strnlen(), whose loads of many bytes would wait until all of them, which were just stored in parts, are in the cache. */
static size_t length_of(const char *text, size_t max)
{
	const uint64_t ones = UINT64_MAX / 255;
	size_t len = 0;
	uint64_t word;

	for (; len + sizeof(word) <= max; len += sizeof(word)) {
		memcpy(&word, text + len, sizeof(word));
		const uint64_t zeros = (word - ones) & ~word & ones << 7; /* the lowest bit is that of the lowest byte of 0 */
		if (zeros && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
			return len + (size_t)__builtin_ctzll(zeros) / 8;
		if (zeros)
			break;
	}
	while (len < max && text[len])
		len++;
	return len;
}

struct tp_value_bytes tp_value_text(const struct tp_value *value, const void *record, size_t size)
{
	if (value->source == TP_SOURCE_COMM)
		return tp_here_comm();
	struct tp_value_bytes text = tp_value_payload(value, record, size);
	if (text.at)
		text.len = length_of(text.at, text.len);
	return text;
}

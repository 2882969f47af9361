/* SPDX-License-Identifier: MIT */
/*
 * filter/number.c - see number.h.
 */
#include <limits.h>

#include "filter/number.h"

/* 16 and above: no digit. */
static unsigned int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a' + 10) : UINT_MAX;
}

static bool parse_unsigned(const char *text, size_t len, uint64_t *value)
{
	unsigned int base = 10;

	if (len > 1 && text[0] == '0') {
		base = (text[1] | 0x20) == 'x' ? 16 : 8;
		text += base == 16 ? 2 : 1;
		len -= base == 16 ? 2 : 1;
	}
	*value = 0;
	for (size_t i = 0; i < len; i++) {
		const unsigned int digit = digit_of(text[i]);
		if (digit >= base || *value > (UINT64_MAX - digit) / base)
			return false;
		*value = *value * base + digit;
	}
	return len != 0;
}

bool tp_number_parse(const char *text, size_t len, bool is_signed, uint64_t *value)
{
	const bool negative = len && text[0] == '-';
	const uint64_t limit = is_signed ? (uint64_t)INT64_MAX + negative : UINT64_MAX;

	if (negative && !is_signed)
		return false;
	if (!parse_unsigned(text + negative, len - negative, value) || *value > limit)
		return false;
	if (negative)
		*value = -*value;
	return true;
}

uint64_t tp_number_truncate(uint64_t value, uint32_t bytes, bool is_signed)
{
	switch (bytes) {
	case 1:
		return is_signed ? (uint64_t)(int8_t)value : (uint8_t)value;
	case 2:
		return is_signed ? (uint64_t)(int16_t)value : (uint16_t)value;
	case 4:
		return is_signed ? (uint64_t)(int32_t)value : (uint32_t)value;
	default:
		return value;
	}
}

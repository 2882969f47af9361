/* SPDX-License-Identifier: MIT */
/*
 * base/text.c - see text.h.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

bool tp_buffer_grow(struct tp_buffer *b, size_t more)
{
	size_t size = b->size ? b->size : 256;

	while (size - b->len < more)
		size *= 2;
	if (size == b->size)
		return true;
	char *text = tp_malloc(size);
	if (!text) {
		b->failed = true;
		return false;
	}
	if (b->text)
		memcpy(text, b->text, b->len + 1);
	free(b->text);
	b->text = text;
	b->size = size;
	return true;
}

void tp_buffer_printf(struct tp_buffer *b, const char *fmt, ...)
{
	va_list ap;

	if (b->failed)
		return;
	va_start(ap, fmt);
	int len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0) {
		b->failed = true;
		return;
	}
	if (!tp_buffer_grow(b, (size_t)len + 1))
		return;
	va_start(ap, fmt);
	vsnprintf(b->text + b->len, b->size - b->len, fmt, ap);
	va_end(ap);
	b->len += (size_t)len;
}

void tp_buffer_free(struct tp_buffer *b)
{
	free(b->text);
	*b = (struct tp_buffer){.text = NULL};
}

/*
 * Where the runtime has its memory from, but for what a signal
 * handler needs: that is from mmap.
 */

void *(*tp_malloc)(size_t size) = malloc;

/* ---- Characters ---- */

size_t tp_utf8_char(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	size_t len = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < len; i++) { /* stops at a NUL */
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	}
	/* Longer than it need be; half of a pair of UTF-16; beyond Unicode. */
	if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] >= 0xa0) || (c[0] == 0xf0 && c[1] < 0x90) ||
	    (c[0] == 0xf4 && c[1] >= 0x90))
		return 0;
	return len;
}

/* ---- JSON ---- */

void tp_json_string(struct tp_buffer *b, const char *text)
{
	tp_buffer_printf(b, "\"");
	while (*text) {
		size_t len = tp_utf8_char(text);
		unsigned char c = (unsigned char)*text;
		if (c == '"' || c == '\\')
			tp_buffer_printf(b, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			tp_buffer_printf(b, "\\u%04x", c);
		else if (len)
			tp_buffer_printf(b, "%.*s", (int)len, text);
		else
			tp_buffer_printf(b, "\\\\x%02x", c);
		text += len ? len : 1;
	}
	tp_buffer_printf(b, "\"");
}

/* ---- Moments ---- */

#define DAY 86400
#define DAYS_OF_400_YEARS 146097

/* Years begin in March here, so that the day that some of them have more is their last. */
struct tp_utc tp_utc_of(int64_t seconds)
{
	int64_t days = (seconds >= 0 ? seconds : seconds - (DAY - 1)) / DAY;
	unsigned int rest = (unsigned int)(seconds - days * DAY);

	days += 719468; /* from 1 March of the year 0 to 1 January 1970 */
	int64_t era = (days >= 0 ? days : days - (DAYS_OF_400_YEARS - 1)) / DAYS_OF_400_YEARS;
	unsigned int day = (unsigned int)(days - era * DAYS_OF_400_YEARS);
	unsigned int year = (day - day / 1460 + day / 36524 - day / (DAYS_OF_400_YEARS - 1)) / 365;
	day -= 365 * year + year / 4 - year / 100;
	unsigned int month = (5 * day + 2) / 153;

	return (struct tp_utc){
		.year = era * 400 + year + (month >= 10),
		.month = month < 10 ? month + 3 : month - 9,
		.day = day - (153 * month + 2) / 5 + 1,
		.hour = rest / 3600,
		.minute = rest / 60 % 60,
		.second = rest % 60,
	};
}

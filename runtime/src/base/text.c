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

void tp_buffer_put(struct tp_buffer *b, const char *bytes, size_t len)
{
	if (b->failed || (b->size - b->len <= len && !tp_buffer_grow(b, len + 1)))
		return;
	memcpy(b->text + b->len, bytes, len);
	b->len += len;
	b->text[b->len] = '\0';
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

static bool is_of_identifiers(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The number of a character of so many bytes. */
static unsigned int number_of(const char *text, size_t len)
{
	unsigned int number = (unsigned char)text[0] & (len == 1 ? 0x7fu : 0x7fu >> len);

	for (size_t i = 1; i < len; i++)
		number = number << 6 | ((unsigned char)text[i] & 0x3fu);
	return number;
}

void tp_buffer_put_identifier(struct tp_buffer *b, const char *name, size_t len)
{
	for (size_t at = 0, taken; at < len; at += taken) {
		for (taken = 0; at + taken < len && is_of_identifiers(name[at + taken]);)
			taken++;
		tp_buffer_printf(b, "%.*s", (int)taken, name + at);
		if (taken)
			continue;
		size_t bytes = tp_utf8_char(name + at);
		if (bytes)
			tp_buffer_printf(b, "_u%x_", number_of(name + at, bytes));
		else
			tp_buffer_printf(b, "_x%02x_", (unsigned char)name[at]);
		taken = bytes ? bytes : 1;
	}
}

/* Of the characters of three bytes that begin so. */
static bool directs(unsigned char second, unsigned char third)
{
	if (second == 0x80) /* U+200E, U+200F, U+2028 to U+202E */
		return third == 0x8e || third == 0x8f || (third >= 0xa8 && third <= 0xae);
	return second == 0x81 && third >= 0xa6 && third <= 0xa9; /* U+2066 to U+2069 */
}

/* Both compilers make vector instructions of it, or what comes near them. */
#define NR_LANES 16
typedef signed char lanes __attribute__((vector_size(NR_LANES)));

static bool are_plain(const char text[NR_LANES])
{
	uint64_t halves[2];
	lanes bytes;

	memcpy(&bytes, text, sizeof(bytes));
	const lanes is_other = (bytes < ' ') | (bytes == 0x7f) | (bytes == '"') | (bytes == '\\'); /* what is not ASCII is below 0 */
	memcpy(halves, &is_other, sizeof(halves));
	return !(halves[0] | halves[1]);
}

size_t tp_plain_len(const char *text, size_t len)
{
	size_t done = 0;

	while (len - done >= NR_LANES && are_plain(text + done))
		done += NR_LANES;
	if (len >= NR_LANES && len - done < NR_LANES && are_plain(text + len - NR_LANES))
		return len;
	while (done < len && text[done] >= ' ' && text[done] < 0x7f && text[done] != '"' && text[done] != '\\')
		done++;
	return done;
}

size_t tp_printable_char(const char *text, size_t len)
{
	char c[5] = "";

	for (size_t i = 0; i < 4 && i < len && (!i || c[i - 1]); i++)
		c[i] = text[i];
	const unsigned char first = (unsigned char)c[0], second = (unsigned char)c[1];
	if (first < ' ' || first == 0x7f || (first == 0xc2 && second < 0xa0) || (first == 0xd8 && second == 0x9c) ||
	    (first == 0xe2 && directs(second, (unsigned char)c[2])))
		return 0;
	return tp_utf8_char(c);
}

void tp_buffer_put_plain(struct tp_buffer *b, const char *text, size_t len)
{
	for (size_t i = 0, shown; i < len; i += shown ? shown : 1) {
		shown = tp_printable_char(text + i, len - i);
		if (shown)
			tp_buffer_printf(b, "%.*s", (int)shown, text + i);
		else
			tp_buffer_printf(b, "\\x%02x", (unsigned char)text[i]);
	}
}

/* ---- JSON ---- */

/* A character of len bytes that is not to be shown as it is: its number; or of a byte that is no UTF-8, len 0, what C would write. */
static size_t put_json_escape(struct tp_buffer *b, const char *text, size_t len)
{
	const unsigned char *c = (const unsigned char *)text;

	if (!len)
		tp_buffer_printf(b, "\\\\x%02x", c[0]);
	else
		tp_buffer_printf(b, "\\u%04x", len == 1   ? c[0]
					     : len == 2 ? (c[0] & 0x1fu) << 6 | (c[1] & 0x3fu)
							: (c[0] & 0x0fu) << 12 | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu));
	return len ? len : 1;
}

/* Bytes at the front that stand in JSON as they are. */
static size_t plain_json(const char *text, size_t len)
{
	size_t done = tp_plain_len(text, len), shown;

	while (done < len && text[done] != '"' && text[done] != '\\' && (shown = tp_printable_char(text + done, len - done)) != 0) {
		done += shown;
		done += tp_plain_len(text + done, len - done);
	}
	return done;
}

/* Bytes of UTF-8's character there, all of which are within len; 0: none. */
static size_t whole_char(const char *text, size_t len)
{
	char c[5] = "";

	memcpy(c, text, len < 4 ? len : 4);
	return tp_utf8_char(c);
}

void tp_json_text(struct tp_buffer *b, const char *text, size_t len)
{
	len = strnlen(text, len);
	tp_buffer_put(b, "\"", 1);
	for (size_t at = 0; at < len;) {
		const size_t plain = plain_json(text + at, len - at);
		tp_buffer_put(b, text + at, plain);
		at += plain;
		if (at == len)
			break;
		if (text[at] == '"' || text[at] == '\\')
			tp_buffer_printf(b, "\\%c", text[at++]);
		else
			at += put_json_escape(b, text + at, whole_char(text + at, len - at));
	}
	tp_buffer_put(b, "\"", 1);
}

void tp_json_string(struct tp_buffer *b, const char *text)
{
	tp_json_text(b, text, strlen(text));
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

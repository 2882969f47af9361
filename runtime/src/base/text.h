/* SPDX-License-Identifier: MIT */
/*
 * base/text.h - texts that grow, JSON and characters in them, moments as people read them.
 */
#ifndef TP_BASE_TEXT_H
#define TP_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text that grows as it is printed into. All zeros are an empty one. */
struct tp_buffer {
	char *text; /* NUL-terminated once something was printed */
	size_t len, size;
	bool failed; /* there was no memory, and text is incomplete */
};

void tp_buffer_printf(struct tp_buffer *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Appends so many bytes. */
void tp_buffer_put(struct tp_buffer *b, const char *bytes, size_t len);

/* Makes room for so many bytes after len. False: there was no memory, and the buffer has failed. */
bool tp_buffer_grow(struct tp_buffer *b, size_t more);

void tp_buffer_free(struct tp_buffer *b);

/* ---- malloc(), which tests make fail ---- */

extern void *(*tp_malloc)(size_t size);

/* ---- Characters in text that may be anything ---- */

/* Bytes of the character at text; 0 where that is none of UTF-8. */
size_t tp_utf8_char(const char *text);

/*
 * Appends a name as those who know only letters, digits and underscores of ASCII read it: C has others, too. Any other character
 * is its number, _uf6_ for U+00F6, and a byte that is no UTF-8 is _xff_.
 */
void tp_buffer_put_identifier(struct tp_buffer *b, const char *name, size_t len);

/*
 * The same, if a terminal shows the character and does nothing else; 0 as well for control characters, which some terminals obey
 * as bytes from 0x80 and as U+0080 to U+009F, too, and for those that end a line or change the direction of what comes after them.
 * Reads no more than len bytes, nor beyond a NUL. All that strangers have chosen and that may reach a terminal goes through this.
 */
size_t tp_printable_char(const char *text, size_t len);

/* Bytes at the front that are printable characters of ASCII, but no quotes and no backslash: so they need no second look. */
size_t tp_plain_len(const char *text, size_t len);

/* Appends the text, with \xHH for each byte of what is not that. */
void tp_buffer_put_plain(struct tp_buffer *b, const char *text, size_t len);

/* ---- Texts in JSON ---- */

/* Appends the text in quotes. Bytes that are no UTF-8 are shown as \xff, as text. */
void tp_json_string(struct tp_buffer *b, const char *text);

/* The same of at most len bytes, which need not end in a NUL. */
void tp_json_text(struct tp_buffer *b, const char *text, size_t len);

/* A moment as people read it. gmtime_r() takes a lock that another thread of a forked child's parent may have held. */
struct tp_utc {
	int64_t year;
	unsigned int month, day; /* from 1 */
	unsigned int hour, minute, second;
};

/* Seconds since the epoch, in the Gregorian calendar. */
struct tp_utc tp_utc_of(int64_t seconds);

#endif /* TP_BASE_TEXT_H */

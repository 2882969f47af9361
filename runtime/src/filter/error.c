/* SPDX-License-Identifier: MIT */
/*
 * filter/error.c - what is wrong with an expression, for a person.
 */
#include <errno.h>
#include <string.h>

#include "filter/tree.h"

/* Of an expression, in a line that has other things in it. */
#define SHOWN 40

bool tp_filter_fail(struct tp_filter_error *error, size_t at, const char *message)
{
	error->error = -EINVAL;
	error->at = at;
	error->message = message;
	return false;
}

bool tp_filter_fail_memory(struct tp_filter_error *error)
{
	tp_filter_fail(error, 0, "out of memory");
	error->error = -ENOMEM;
	return false;
}

void tp_filter_error_print(struct tp_buffer *to, const char *text, const struct tp_filter_error *error)
{
	const bool hint = error->hint.text && !error->hint.failed;

	tp_buffer_printf(to, "%s\n", text);
	for (size_t i = 0; i < error->at; i++) {
		if (((unsigned char)text[i] & 0xc0) != 0x80) /* a character of several bytes has one column */
			tp_buffer_printf(to, "%c", text[i] == '\t' ? '\t' : ' ');
	}
	tp_buffer_printf(to, "^\nparse_error: %s%s%s", error->message, hint ? ": " : "", hint ? error->hint.text : "");
}

/* A character is not cut in two. */
static size_t shown_len(const char *text)
{
	size_t len = strnlen(text, SHOWN);

	while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
		len--;
	return len;
}

void tp_filter_error_print_line(struct tp_buffer *to, const char *text, const struct tp_filter_error *error)
{
	const char *rest = text + error->at;
	const bool hint = error->hint.text && !error->hint.failed;
	const size_t len = shown_len(rest);

	if (*rest)
		tp_buffer_printf(to, "%s, at '%.*s%s'", error->message, (int)len, rest, rest[len] ? "..." : "");
	else
		tp_buffer_printf(to, "%s, at the end", error->message);
	if (hint)
		tp_buffer_printf(to, ": %s", error->hint.text);
}

void tp_filter_error_free(struct tp_filter_error *error)
{
	tp_buffer_free(&error->hint);
	*error = (struct tp_filter_error){.error = 0};
}

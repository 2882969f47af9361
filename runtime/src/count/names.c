/* SPDX-License-Identifier: MIT */
/*
 * count/names.c - see names.h.
 */
#include <stdlib.h>
#include <string.h>

#include "count/names.h"
#include "print/description.h"

bool tp_value_names_copy(struct tp_symbols **names, const struct tp_event_field *field)
{
	const size_t size = field->symbols ? tp_symbols_size(field->symbols) : 0;

	*names = size ? malloc(size) : NULL;
	if (*names)
		memcpy(*names, field->symbols, size);
	return *names || !size;
}

typedef void put_fn(void *to, const char *text, size_t len);

static void put_rest(uint64_t rest, put_fn *put, void *to)
{
	static const char digits[] = "0123456789abcdef";
	char text[18], *at = text + sizeof(text);

	do {
		*--at = digits[rest & 15];
		rest >>= 4;
	} while (rest);
	*--at = 'x';
	*--at = '0';
	put(to, at, (size_t)(text + sizeof(text) - at));
}

/* As __print_flags does it. */
static bool tell_flags(const struct tp_symbols *names, uint64_t value, put_fn *put, void *to)
{
	struct tp_named_value flag = {.nr = 0};
	const char *between = "";

	while (value && tp_named_value_next(names, &flag)) {
		if ((value & flag.value) != flag.value)
			continue;
		put(to, between, strlen(between));
		put(to, flag.name, strlen(flag.name));
		value &= ~(uint64_t)flag.value;
		between = tp_symbols_delimiter(names);
	}
	if (*between && value) {
		put(to, between, strlen(between));
		put_rest(value, put, to);
	}
	return *between;
}

bool tp_value_names_tell(const struct tp_symbols *names, uint64_t value, put_fn *put, void *to)
{
	struct tp_named_value symbol = {.nr = 0};

	if (names && names->is_flags)
		return tell_flags(names, value, put, to);
	while (tp_named_value_next(names, &symbol)) {
		if (symbol.value != (unsigned long)value)
			continue;
		put(to, symbol.name, strlen(symbol.name));
		return *symbol.name;
	}
	return false;
}

static void put_into_buffer(void *to, const char *text, size_t len)
{
	tp_buffer_put(to, text, len);
}

bool tp_value_names_put(struct tp_buffer *b, const struct tp_symbols *names, uint64_t value)
{
	return tp_value_names_tell(names, value, put_into_buffer, b);
}

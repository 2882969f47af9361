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

/* As __print_flags does it. */
static bool put_flags(struct tp_buffer *b, const struct tp_symbols *names, uint64_t value)
{
	struct tp_named_value flag = {.nr = 0};
	const char *between = "";

	while (value && tp_named_value_next(names, &flag)) {
		if ((value & flag.value) != flag.value)
			continue;
		tp_buffer_printf(b, "%s%s", between, flag.name);
		value &= ~(uint64_t)flag.value;
		between = tp_symbols_delimiter(names);
	}
	if (*between && value)
		tp_buffer_printf(b, "%s0x%llx", between, (unsigned long long)value);
	return *between;
}

bool tp_value_names_put(struct tp_buffer *b, const struct tp_symbols *names, uint64_t value)
{
	struct tp_named_value symbol = {.nr = 0};

	if (names && names->is_flags)
		return put_flags(b, names, value);
	while (tp_named_value_next(names, &symbol)) {
		if (symbol.value != (unsigned long)value)
			continue;
		if (*symbol.name)
			tp_buffer_printf(b, "%s", symbol.name);
		return *symbol.name;
	}
	return false;
}

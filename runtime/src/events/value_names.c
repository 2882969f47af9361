/* SPDX-License-Identifier: MIT */
/*
 * events/value_names.c - see names.h.
 */
#include <stdlib.h>
#include <string.h>

#include "events/value_names.h"

static struct trace_print_flags *copy_symbols(const struct trace_print_flags *symbols)
{
	size_t nr = 0;

	while (symbols[nr].name)
		nr++;
	struct trace_print_flags *copy = calloc(nr + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < nr; i++) {
		copy[i].mask = symbols[i].mask;
		copy[i].name = strdup(symbols[i].name);
		if (!copy[i].name)
			break; /* a value without a name is shown as a number */
	}
	return copy;
}

bool tp_value_names_copy(struct tp_value_names *names, const struct tp_event_field *field)
{
	*names = (struct tp_value_names){.symbols = NULL};
	if (!field->symbols)
		return true;
	names->symbols = copy_symbols(field->symbols);
	names->delimiter = field->delimiter ? strdup(field->delimiter) : NULL;
	return names->symbols && (names->delimiter || !field->delimiter);
}

void tp_value_names_free(struct tp_value_names *names)
{
	for (size_t i = 0; names->symbols && names->symbols[i].name; i++)
		free((char *)(uintptr_t)names->symbols[i].name);
	free(names->symbols);
	free(names->delimiter);
}

/* As __print_flags does it. */
static bool put_flags(struct tp_buffer *b, const struct tp_value_names *names, uint64_t value)
{
	const char *between = "";

	for (const struct trace_print_flags *flag = names->symbols; flag->name && value; flag++) {
		if ((value & flag->mask) != flag->mask)
			continue;
		tp_buffer_printf(b, "%s%s", between, flag->name);
		value &= ~(uint64_t)flag->mask;
		between = names->delimiter;
	}
	if (*between && value)
		tp_buffer_printf(b, "%s0x%llx", between, (unsigned long long)value);
	return *between;
}

bool tp_value_names_put(struct tp_buffer *b, const struct tp_value_names *names, uint64_t value)
{
	const struct trace_print_flags *symbol = names->symbols;

	if (!symbol)
		return false;
	if (names->delimiter)
		return put_flags(b, names, value);
	while (symbol->name && symbol->mask != (unsigned long)value)
		symbol++;
	if (!symbol->name || !*symbol->name)
		return false;
	tp_buffer_printf(b, "%s", symbol->name);
	return true;
}

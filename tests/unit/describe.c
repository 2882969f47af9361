/* SPDX-License-Identifier: MIT */
#include "describe.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "print/description.h"

/* What is made, one after the other; leak checkers find it. */
static struct made {
	struct made *next;
	uint64_t memory[];
} *all_made;

static void *make(size_t size)
{
	struct made *made = calloc(1, sizeof(*made) + size);

	made->next = all_made;
	all_made = made;
	return made->memory;
}

static size_t align(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

const struct tp_symbols *describe_symbols(const struct trace_print_flags *symbols, const char *delimiter)
{
	size_t nr = 0, size = sizeof(struct tp_symbols) + (delimiter ? strlen(delimiter) + 1 : 0);

	for (; symbols[nr].name; nr++)
		size += sizeof(unsigned long long) + strlen(symbols[nr].name) + 1;
	struct tp_symbols *table = make(size);
	unsigned long long *values = (unsigned long long *)(table + 1);
	char *text = (char *)(values + nr);
	*table = (struct tp_symbols){(uint16_t)nr, delimiter != NULL, (uint32_t)(text - (char *)table)};
	if (delimiter)
		text = stpcpy(text, delimiter) + 1;
	for (size_t i = 0; i < nr; i++) {
		values[i] = symbols[i].mask;
		text = stpcpy(text, symbols[i].name) + 1;
	}
	return table;
}

/* The numbers and texts of the fields, as the library writes them. */
static struct tp_event_class *plain_class(const struct parts *parts)
{
	struct tp_event_field *fields = calloc(parts->nr_fields + 1, sizeof(*fields));

	for (uint32_t i = 0; i < parts->nr_fields; i++)
		fields[i] = parts->fields[i].field;
	void *(*const usual)(size_t size) = tp_malloc;
	tp_malloc = malloc; /* whatever the library's own does */
	struct tp_event_class *class = tp_class_new(&(struct tp_class_parts){
		fields, parts->nr_fields, parts->fixed_size, parts->print_fmt ? parts->print_fmt : ""});
	tp_malloc = usual;
	free(fields);
	return class;
}

const struct tp_event_class *describe(const struct parts *parts)
{
	struct tp_event_class *plain = plain_class(parts);
	const size_t texts = tp_class_size(plain) - plain->text;
	const size_t print_fmt = strlen(tp_class_print_fmt(plain)) + 1;
	size_t nr_evals = 0, names = 0, tables = 0;

	for (; parts->evals && parts->evals[nr_evals].name; nr_evals++)
		names += strlen(parts->evals[nr_evals].name) + 1;
	for (uint32_t i = 0; i < parts->nr_fields; i++) {
		if (parts->fields[i].symbols)
			tables += align(tp_symbols_size(describe_symbols(parts->fields[i].symbols, parts->fields[i].delimiter)));
	}
	const size_t numbers = plain->text;
	char *class = make(numbers + nr_evals * sizeof(struct tp_eval) + tables + texts + names);
	struct tp_event_class *head = (struct tp_event_class *)(void *)class;
	memcpy(class, plain, numbers);
	struct tp_eval *evals = (struct tp_eval *)(void *)(class + numbers);
	char *at = (char *)(evals + nr_evals);
	for (uint32_t i = 0; i < parts->nr_fields; i++) {
		if (!parts->fields[i].symbols)
			continue;
		const struct tp_symbols *table = describe_symbols(parts->fields[i].symbols, parts->fields[i].delimiter);
		((struct tp_field_numbers *)(void *)(class + head->head_size))[i].symbols = (uint16_t)((at - class) / 8);
		memcpy(at, table, tp_symbols_size(table));
		at += align(tp_symbols_size(table));
	}
	head->text = (uint32_t)(at - class);
	head->nr_evals = (uint16_t)nr_evals;
	memcpy(at, (char *)plain + plain->text, texts - print_fmt);
	at += texts - print_fmt;
	for (size_t i = 0; i < nr_evals; i++) {
		evals[i] = (struct tp_eval){parts->evals[i].value, 1};
		at = stpcpy(at, parts->evals[i].name) + 1;
	}
	strcpy(at, tp_class_print_fmt(plain));
	free(plain);
	return head;
}

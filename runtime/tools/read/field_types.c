/* SPDX-License-Identifier: MIT */
/* field_types.c - of TSDL, only what sinks/ctf/describe/metadata.c writes. */
#include "read/field_types.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fail_msg.h"

/* The number behind the word, in the line. */
static bool number(const char *line, const char *end, const char *word, uint32_t *result)
{
	const char *at = memmem(line, (size_t)(end - line), word, strlen(word));

	if (!at || at[strlen(word)] < '0' || at[strlen(word)] > '9')
		return false;
	*result = (uint32_t)strtoul(at + strlen(word), NULL, 10);
	return true;
}

static bool begins(const char *line, const char *word)
{
	return strncmp(line, word, strlen(word)) == 0;
}

/* "TYPE _NAME;" or "TYPE _NAME[LENGTH];", behind the type's brace. */
static bool read_name(struct field_type *type, const char *line, const char *end)
{
	const char *brace = memchr(line, '}', (size_t)(end - line));

	if (!brace || end - brace < 4 || brace[1] != ' ' || brace[2] != '_')
		return false;
	type->name = brace + 3;
	type->name_len = strcspn(type->name, "[; \n");
	return type->name_len > 0;
}

static bool read_member(struct field_type *type, const char *line, const char *end)
{
	uint32_t bits;

	*type = (struct field_type){.is_real = begins(line, "\t\tfloating_point { "), .is_signed = true};
	if (type->is_real) {
		if (!number(line, end, "exp_dig = ", &bits))
			return false;
		type->size = bits == 8 ? sizeof(float) : sizeof(double);
		return read_name(type, line, end);
	}
	if (!begins(line, "\t\tinteger { ") || !number(line, end, "{ size = ", &bits) || bits % CHAR_BIT)
		return false;
	type->size = bits / CHAR_BIT;
	type->is_signed = memmem(line, (size_t)(end - line), "signed = true", strlen("signed = true")) != NULL;
	return (type->size == 1 || type->size == 2 || type->size == 4 || type->size == 8) && read_name(type, line, end);
}

static bool add(struct field_types *types, const struct field_type *type)
{
	/* Twice as many whenever their number is a power of two. */
	if ((types->nr & (types->nr - 1)) == 0) {
		struct field_type *more = reallocarray(types->types, types->nr ? 2 * types->nr : 1, sizeof(*more));
		if (!more)
			return fail_no_memory();
		types->types = more;
	}
	types->types[types->nr++] = *type;
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct field_type *one = a, *other = b;

	if (one->id != other->id)
		return one->id < other->id ? -1 : 1;
	return one->name < other->name ? -1 : one->name > other->name;
}

/* Traces of 64-bit processors did not say it once. */
static uint32_t word_of(const char *text)
{
	return strstr(text, "\n\tarchitecture_bit_width = 32;\n") ? sizeof(uint32_t) : sizeof(uint64_t);
}

bool field_types_read(struct field_types *types, char *text)
{
	uint32_t id = 0; /* of the event that the line is in; 0: it is in none */
	struct field_type type;

	*types = (struct field_types){.text = text, .word = word_of(text)};
	for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
		end = strchrnul(line, '\n');
		if (begins(line, "event {") || begins(line, "}"))
			id = 0;
		else if (begins(line, "\tid = ") && !number(line, end, "\tid = ", &id))
			id = 0;
		if (!id || !read_member(&type, line, end))
			continue;
		type.id = id;
		if (!add(types, &type))
			return false;
	}
	if (types->nr)
		qsort(types->types, types->nr, sizeof(types->types[0]), compare);
	return true;
}

void field_types_free(struct field_types *types)
{
	free(types->types);
	free(types->text);
	*types = (struct field_types){.text = NULL};
}

const struct field_type *field_types_of(const struct field_types *types, uint32_t id, size_t *nr)
{
	size_t first = 0, end = types->nr;

	while (first < end) {
		const size_t middle = first + (end - first) / 2;
		if (types->types[middle].id < id)
			first = middle + 1;
		else
			end = middle;
	}
	for (end = first; end < types->nr && types->types[end].id == id; end++)
		;
	*nr = end - first;
	return *nr ? &types->types[first] : NULL;
}

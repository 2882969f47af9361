/* SPDX-License-Identifier: MIT */
#include "read/fields.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "fail_msg.h"

struct span {
	const char *begin, *end;
};

static size_t length(struct span text)
{
	return (size_t)(text.end - text.begin);
}

static bool has(struct span text, const char *word)
{
	return memmem(text.begin, length(text), word, strlen(word)) != NULL;
}

static bool is(struct span text, const char *word)
{
	return length(text) == strlen(word) && memcmp(text.begin, word, length(text)) == 0;
}

static void trim(struct span *text)
{
	while (text->begin < text->end && *text->begin == ' ')
		text->begin++;
	while (text->begin < text->end && text->end[-1] == ' ')
		text->end--;
}

/* Takes the word from the front. */
static bool take(struct span *text, const char *word)
{
	const size_t len = strlen(word);

	if (length(*text) < len || memcmp(text->begin, word, len) != 0)
		return false;
	text->begin += len;
	trim(text);
	return true;
}

/* Cuts "[...]" off the end: what is between the brackets. */
static bool take_brackets(struct span *text, struct span *between)
{
	if (text->begin == text->end || text->end[-1] != ']')
		return false;
	const char *open = memrchr(text->begin, '[', length(*text));
	if (!open)
		return false;
	*between = (struct span){open + 1, text->end - 1};
	text->end = open;
	trim(text);
	return true;
}

bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c & 0x80;
}

/* Cuts the last word off. */
static bool take_name(struct span *text, struct span *name)
{
	*name = (struct span){text->end, text->end};
	while (name->begin > text->begin && is_of_name(name->begin[-1]))
		name->begin--;
	text->end = name->begin;
	trim(text);
	return name->begin < name->end;
}

/* Types of payloads, whose sizes no format file says; those without a size are of bytes. */
static const struct {
	const char *name;
	uint32_t size;
} types[] = {
	{"char", 1}, {"signed char", 1}, {"unsigned char", 1}, {"s8", 1}, {"u8", 1}, {"__s8", 1}, {"__u8", 1},
	{"int8_t", 1}, {"uint8_t", 1}, {"bool", 1}, {"_Bool", 1},
	{"short", 2}, {"unsigned short", 2}, {"s16", 2}, {"u16", 2}, {"__s16", 2}, {"__u16", 2}, {"int16_t", 2},
	{"uint16_t", 2},
	{"int", 4}, {"unsigned int", 4}, {"unsigned", 4}, {"s32", 4}, {"u32", 4}, {"__s32", 4}, {"__u32", 4},
	{"int32_t", 4}, {"uint32_t", 4}, {"float", 4},
	{"long long", 8}, {"unsigned long long", 8}, {"s64", 8}, {"u64", 8}, {"__s64", 8}, {"__u64", 8},
	{"int64_t", 8}, {"uint64_t", 8}, {"double", 8},
	{"long", sizeof(long)}, {"unsigned long", sizeof(long)}, {"size_t", sizeof(long)}, {"ssize_t", sizeof(long)},
	{"cpumask_t", sizeof(long)},
};

static uint32_t size_of(struct span type)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (is(type, types[i].name))
			return types[i].size;
	}
	return 0;
}

static bool is_number_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* What its values are, each of element_size bytes. */
static enum field_kind kind_of(struct field *field, struct span type, bool is_signed)
{
	if (field->is_array && is(type, "char"))
		return FIELD_TEXT;
	if ((is(type, "float") && field->element_size == 4) || (is(type, "double") && field->element_size == 8))
		return FIELD_REAL;
	if (!is_number_size(field->element_size)) {
		field->is_array = true;
		field->element_size = 1;
		return FIELD_BYTES;
	}
	if (has(type, "*"))
		return FIELD_POINTER;
	return is_signed ? FIELD_SIGNED : FIELD_UNSIGNED;
}

/* "TYPE NAME", "TYPE NAME[N]", "__data_loc TYPE[] NAME", "__rel_loc TYPE NAME[]": without their words at the front. */
static bool describe(struct field *field, struct span text, bool is_signed)
{
	struct span name, between = {NULL, NULL}, ignored;

	trim(&text);
	field->place.relative = take(&text, "__rel_loc ");
	field->is_payload = field->place.relative || take(&text, "__data_loc ");
	field->is_array = take_brackets(&text, &between);
	if (!take_name(&text, &name))
		return false;
	if (take_brackets(&text, &ignored))
		field->is_array = true;
	while (take(&text, "const ") || take(&text, "volatile "))
		;
	field->name = name.begin;
	field->name_len = length(name);
	const uint32_t of_type = size_of(text);
	if (field->is_payload) {
		field->is_array = true;
		field->element_size = of_type;
	} else if (field->is_array) {
		unsigned long nr = between.begin ? strtoul(between.begin, NULL, 10) : 0;
		field->element_size = nr && field->size % nr == 0 ? (uint32_t)(field->size / nr) : of_type;
	} else {
		field->element_size = field->size;
	}
	field->kind = kind_of(field, text, is_signed);
	return true;
}

static bool parse_line(struct field *field, const char *line, const char *end)
{
	static const char before[] = "\tfield:", behind[] = ";\toffset:";
	const char *stop = memmem(line, (size_t)(end - line), behind, strlen(behind));
	uint32_t is_signed = 0;

	*field = (struct field){.name = NULL};
	if (!stop || (size_t)(end - line) < strlen(before) || memcmp(line, before, strlen(before)) != 0 ||
	    !format_number(line, end, behind, &field->place.offset) || !format_number(line, end, ";\tsize:", &field->size))
		return false;
	format_number(line, end, ";\tsigned:", &is_signed);
	return describe(field, (struct span){line + strlen(before), stop}, is_signed);
}

static bool add(struct fields *fields, const struct field *field)
{
	/* Twice as many whenever their number is a power of two. */
	if ((fields->nr & (fields->nr - 1)) == 0) {
		struct field *more = reallocarray(fields->fields, fields->nr ? 2 * fields->nr : 1, sizeof(*more));
		if (!more)
			return fail_no_memory();
		fields->fields = more;
	}
	fields->fields[fields->nr++] = *field;
	return true;
}

bool fields_of(struct fields *fields, const struct event_format *format)
{
	const char *stop = format->text + format->len;
	uint32_t until = RECORD_HEAD; /* else there might be any number of them, all of the same bytes */
	struct field field;

	*fields = (struct fields){.fields = NULL};
	for (const char *line = format->text, *end; line < stop; line = end + 1) {
		end = memchr(line, '\n', (size_t)(stop - line));
		if (!end)
			break;
		if (!parse_line(&field, line, end) || field.size == 0 || field.place.offset < until)
			continue;
		until = field.place.offset + field.size;
		if (!add(fields, &field))
			return false;
	}
	return true;
}

const struct field *field_named(const struct fields *fields, const char *name)
{
	for (size_t i = 0; i < fields->nr; i++) {
		const struct field *field = &fields->fields[i];
		if (field->name_len == strlen(name) && memcmp(field->name, name, field->name_len) == 0)
			return field;
	}
	return NULL;
}

const unsigned char *field_payload(const struct field *field, const unsigned char *record, uint32_t record_size,
				   uint32_t *size)
{
	uint32_t word, offset;

	memcpy(&word, record + field->place.offset, sizeof(word));
	offset = word & 0xffff;
	*size = word >> 16;
	if (field->place.relative)
		offset += field->place.offset + (uint32_t)sizeof(word);
	if (offset > record_size || *size > record_size - offset)
		offset = *size = 0;
	return record + offset;
}

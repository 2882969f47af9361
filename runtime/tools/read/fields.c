/* SPDX-License-Identifier: MIT */
#include "read/fields.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "read/field_types.h"
#include "fail_msg.h"

#define EMPTY_MAX 64 /* fields of no bytes, of which a text could have any number */

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
#define WORD 0 /* as many bytes as a long of the program */
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
	{"long", WORD}, {"unsigned long", WORD}, {"size_t", WORD}, {"ssize_t", WORD}, {"cpumask_t", WORD},
};

static uint32_t size_of(struct span type, uint32_t word)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (is(type, types[i].name))
			return types[i].size ? types[i].size : word;
	}
	return 0;
}

static bool is_number_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static bool begins(struct span text, const char *word)
{
	return length(text) >= strlen(word) && memcmp(text.begin, word, strlen(word)) == 0;
}

/* Some have as many bytes as a number. */
static bool is_structure(struct span type)
{
	return (begins(type, "struct ") || begins(type, "union ")) && !has(type, "*");
}

/* What its values are, each of element_size bytes. */
static enum field_kind kind_of(struct field *field, struct span type, bool is_signed)
{
	if (field->is_array && is(type, "char"))
		return FIELD_TEXT;
	if ((is(type, "float") && field->element_size == 4) || (is(type, "double") && field->element_size == 8))
		return FIELD_REAL;
	if (!is_number_size(field->element_size) || is_structure(type)) {
		field->is_array = true;
		field->element_size = 1;
		return FIELD_BYTES;
	}
	if (has(type, "*"))
		return FIELD_POINTER;
	return is_signed ? FIELD_SIGNED : FIELD_UNSIGNED;
}

/* "TYPE NAME", "TYPE NAME[N]", "__data_loc TYPE[] NAME", "__rel_loc TYPE NAME[]": without their words at the front. */
static bool describe(struct field *field, struct span text, bool is_signed, uint32_t word)
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
	field->type = text.begin;
	field->type_len = length(text);
	const uint32_t of_type = size_of(text, word);
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

static bool parse_line(struct field *field, const char *line, const char *end, uint32_t word)
{
	static const char before[] = "\tfield:", behind[] = ";\toffset:";
	const char *stop = memmem(line, (size_t)(end - line), behind, strlen(behind));
	uint32_t is_signed = 0;

	*field = (struct field){.name = NULL};
	if (!stop || (size_t)(end - line) < strlen(before) || memcmp(line, before, strlen(before)) != 0 ||
	    !format_number(line, end, behind, &field->place.offset) || !format_number(line, end, ";\tsize:", &field->size))
		return false;
	format_number(line, end, ";\tsigned:", &is_signed);
	return describe(field, (struct span){line + strlen(before), stop}, is_signed, word);
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

/* ---- What the metadata says of them ---- */

static bool has_name(const struct field *field, const char *name, size_t len)
{
	return field->name_len == len && memcmp(field->name, name, len) == 0;
}

/* Whether TSDL calls the i-th otherwise: one before it, of which all payloads are behind the others, is called so, or nearly. */
static bool is_renamed(const struct fields *fields, size_t i)
{
	const struct field *field = &fields->fields[i];

	for (size_t j = 0; j < fields->nr; j++) {
		const struct field *other = &fields->fields[j];
		const bool is_before = other->is_payload == field->is_payload ? j < i : field->is_payload;
		if (is_before && (has_name(other, field->name, field->name_len) ||
				  (*other->name == '_' && other->name_len == field->name_len + 1 &&
				   memcmp(other->name + 1, field->name, field->name_len) == 0)))
			return true;
	}
	return false;
}

static struct span without_underscores(const char *name, size_t len)
{
	struct span text = {name, name + len};

	while (text.begin < text.end && *text.begin == '_')
		text.begin++;
	return text;
}

/* "NAME", or, of the i-th that is called otherwise, "NAME_field" or "NAME_field_i", and underscores in front. */
static bool is_called(const struct field_type *type, const struct tp_buffer *name, bool renamed, size_t i)
{
	char suffix[40];

	if (!renamed)
		return type->name_len == name->len && memcmp(type->name, name->text, name->len) == 0;
	struct span theirs = without_underscores(type->name, type->name_len);
	const struct span ours = without_underscores(name->text, name->len);
	if (length(theirs) < length(ours) || memcmp(theirs.begin, ours.begin, length(ours)) != 0)
		return false;
	theirs.begin += length(ours);
	snprintf(suffix, sizeof(suffix), "_field_%zu", i);
	return is(theirs, "_field") || is(theirs, suffix);
}

static void refine(struct fields *fields, size_t i, const struct event_format *format)
{
	struct field *field = &fields->fields[i];
	const bool renamed = is_renamed(fields, i);
	struct tp_buffer name = {.text = NULL};

	tp_buffer_put_identifier(&name, field->name, field->name_len);
	for (size_t t = 0; t < format->nr_types && !name.failed; t++) {
		const struct field_type *type = &format->types[t];
		if (!is_called(type, &name, renamed, i) || (!field->is_payload && type->size != field->element_size))
			continue;
		field->kind = type->is_real ? FIELD_REAL : type->is_signed ? FIELD_SIGNED : FIELD_UNSIGNED;
		field->element_size = type->size;
		break;
	}
	tp_buffer_free(&name);
}

static uint32_t twins_of(const struct fields *fields, size_t i)
{
	uint32_t nr = 0;

	for (size_t j = 0; j < i; j++)
		nr += has_name(&fields->fields[j], fields->fields[i].name, fields->fields[i].name_len);
	return nr;
}

/* Types by other names than C's: each takes a look at all of the event's. */
static void refine_all(struct fields *fields, const struct event_format *format)
{
	if (fields->nr > FIELDS_COMPARED)
		return;
	for (size_t i = 0; i < fields->nr; i++) {
		struct field *field = &fields->fields[i];
		field->twins = twins_of(fields, i);
		if (field->kind == FIELD_SIGNED || field->kind == FIELD_UNSIGNED || (field->kind == FIELD_BYTES && field->is_payload))
			refine(fields, i, format);
	}
}

bool fields_of(struct fields *fields, const struct event_format *format)
{
	const char *stop = format->text + format->len;
	uint32_t until = RECORD_HEAD; /* else there might be any number of them, all of the same bytes */
	unsigned int nr_empty = 0;
	struct field field;

	*fields = (struct fields){.word = format->word};
	for (const char *line = format->text, *end; line < stop; line = end + 1) {
		end = memchr(line, '\n', (size_t)(stop - line));
		if (!end)
			break;
		if (!parse_line(&field, line, end, format->word) || field.place.offset < until || (field.size == 0 && nr_empty++ == EMPTY_MAX))
			continue;
		until = field.place.offset + field.size;
		if (!add(fields, &field))
			return false;
	}
	refine_all(fields, format);
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

/* ---- Numbers ---- */

static uint64_t unsigned_at(const unsigned char *at, uint32_t size)
{
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	switch (size) {
	case sizeof(u8):
		memcpy(&u8, at, sizeof(u8));
		return u8;
	case sizeof(u16):
		memcpy(&u16, at, sizeof(u16));
		return u16;
	case sizeof(u32):
		memcpy(&u32, at, sizeof(u32));
		return u32;
	default:
		memcpy(&u64, at, sizeof(u64));
		return u64;
	}
}

double real_number(const void *at, uint32_t size)
{
	float f;
	double d;

	if (size == sizeof(f)) {
		memcpy(&f, at, sizeof(f));
		return (double)f;
	}
	memcpy(&d, at, sizeof(d));
	return d;
}

uint64_t field_number(const struct field *field, const unsigned char *at)
{
	const unsigned int unused = 64 - 8 * field->element_size;
	const uint64_t number = unsigned_at(at, field->element_size);

	return field->kind == FIELD_SIGNED ? (uint64_t)((int64_t)(number << unused) >> unused) : number;
}

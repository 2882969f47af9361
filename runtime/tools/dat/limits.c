/* SPDX-License-Identifier: MIT */
#include "dat/limits.h"

#include <stdlib.h>
#include <string.h>

#include "read/c_text.h"

static const char member[] = "REC->";

static bool is(struct span text, const char *what, size_t len)
{
	return (size_t)(text.end - text.begin) == len && memcmp(text.begin, what, len) == 0;
}

/* The name behind the "REC->" at or behind *at, which moves on behind it; false: there is none any more. */
static bool next_member(struct span *at, struct span *name)
{
	const char *found = memmem(at->begin, (size_t)(at->end - at->begin), member, strlen(member));

	if (!found)
		return false;
	name->begin = name->end = found + strlen(member);
	while (name->end < at->end && is_of_name(*name->end))
		name->end++;
	at->begin = name->end;
	return true;
}

static struct field *find(const struct fields *fields, struct span name)
{
	for (size_t i = 0; i < fields->nr; i++) {
		if (is(name, fields->fields[i].name, fields->fields[i].name_len))
			return &fields->fields[i];
	}
	return NULL;
}

/* The field that the argument is as a whole, or NULL. */
static const struct field *whole_field(const struct fields *fields, struct span argument)
{
	struct span rest = argument, name;

	if (!next_member(&rest, &name) || name.begin != argument.begin + strlen(member) || name.end != argument.end)
		return NULL;
	return find(fields, name);
}

/* ---- Conversions ---- */

/* "%pI4" and so on, whose letters begin at at, on an array of the right size. */
static bool is_known_pointer(const char *at, const char *end, const struct field *field, struct span argument)
{
	const char letter = at < end ? *at : '\0';
	const char next = letter && at + 1 < end ? at[1] : '\0';

	if (!is_word(letter) || (letter && strchr("FfSs", letter)))
		return true;
	if ((letter == 'I' || letter == 'i') && next == 'S')
		return span_has(argument, "sockaddr(");
	if (!field || field->is_payload || !strchr("IiMmU", letter))
		return false;
	if (letter == 'M' || letter == 'm')
		return field->size == 6;
	return field->size == (letter == 'U' || next == '6' ? 16 : 4);
}

/* The conversion from behind its "%" until end, of the text that goes on until stop. */
static bool is_known(struct span conversion, const char *stop, const struct field *field, struct span argument)
{
	const char letter = conversion.end[-1];
	bool has_width = false;

	for (const char *at = conversion.begin; at < conversion.end - 1; at++) {
		if (!strchr("-#0123456789.*hlLz", *at))
			return false;
		has_width = has_width || !strchr("hlLz", *at);
	}
	if (letter != 'p')
		return strchr("diuxXos", letter) != NULL;
	return is_known_pointer(conversion.end, stop, field, argument) &&
	       (!has_width || conversion.end == stop || !is_word(*conversion.end));
}

/* Whether a negative value of the field is printed as it is. */
static bool is_printed_signed(char letter, const struct field *field)
{
	return letter == 'd' || letter == 'i' || field->element_size >= sizeof(int);
}

/* ---- All of them ---- */

struct checker {
	struct fields fields;
	bool *is_suspect; /* of each */
};

/* All signed fields that the argument computes with. */
static void suspect(struct checker *checker, struct span argument)
{
	struct span name;

	while (next_member(&argument, &name)) {
		const struct field *field = find(&checker->fields, name);
		if (field && field->kind == FIELD_SIGNED && !field->is_payload)
			checker->is_suspect[field - checker->fields.fields] = true;
	}
}

/* A cast to a type of its own size changes nothing: of 8 bytes, there are no larger ones. */
static void skip_cast(const struct fields *fields, struct span *argument)
{
	const char *close = argument->begin < argument->end && *argument->begin == '(' ?
		memchr(argument->begin, ')', (size_t)(argument->end - argument->begin)) : NULL;
	const struct span type = {argument->begin, close};
	struct span rest = {close ? close + 1 : argument->end, argument->end};
	const struct field *field = whole_field(fields, rest);

	if (field && field->element_size == sizeof(long long) && span_has(type, "long") && !span_has(type, "int") &&
	    !span_has(type, "short"))
		*argument = rest;
}

static bool check_conversion(struct checker *checker, struct span conversion, const char *stop, struct span argument)
{
	skip_cast(&checker->fields, &argument);
	const struct field *field = whole_field(&checker->fields, argument);

	if (!is_known(conversion, stop, field, argument))
		return false;
	if (!field || (field->kind == FIELD_SIGNED && !is_printed_signed(conversion.end[-1], field)))
		suspect(checker, argument);
	return true;
}

/* format: between its quotes; behind: its arguments. */
static bool check(struct checker *checker, struct span format, struct span behind)
{
	struct span found[MAX_CONVERSIONS];
	const int nr = split_arguments(behind, found, MAX_CONVERSIONS);
	int next = 0, stars;

	for (const char *at = format.begin; at < format.end; at++) {
		if (*at != '%')
			continue;
		const struct span conversion = {at + 1, conversion_end(at + 1, format.end, &stars)};
		at = conversion.end - 1;
		if (*at == '%')
			continue;
		for (; stars > 0 && next < nr; stars--)
			suspect(checker, found[next++]);
		if (next >= nr || !check_conversion(checker, conversion, format.end, found[next++]))
			return false;
	}
	return true;
}

static bool check_text(struct checker *checker, const struct event_format *format)
{
	static const char key[] = "\nprint fmt: \"";
	const char *end = format->text + format->len;
	const char *print = memmem(format->text, format->len, key, strlen(key));

	if (!print)
		return false;
	const struct span text = {print + strlen(key) - 1, end};
	const char *quote = format_end(text);
	return quote && check(checker, (struct span){text.begin + 1, quote}, (struct span){quote + 1, end});
}

/* Keeps those fields that are suspect. */
static void keep_suspects(struct limits *limits, struct checker *checker)
{
	struct fields *fields = &checker->fields;
	size_t nr = 0;

	for (size_t i = 0; i < fields->nr; i++) {
		if (checker->is_suspect[i])
			fields->fields[nr++] = fields->fields[i];
	}
	fields->nr = nr;
	limits->signed_fields = *fields;
}

bool limits_of(struct limits *limits, const struct event_format *format)
{
	struct checker checker;

	*limits = (struct limits){.is_printable = false};
	if (!fields_of(&checker.fields, format))
		return false;
	checker.is_suspect = calloc(checker.fields.nr + 1, sizeof(*checker.is_suspect));
	if (!checker.is_suspect) {
		free(checker.fields.fields);
		return false;
	}
	limits->is_printable = check_text(&checker, format);
	keep_suspects(limits, &checker);
	free(checker.is_suspect);
	return true;
}

/* The sign is in the last byte, where the first one is the lowest. */
static bool is_negative(const unsigned char *value, uint32_t size)
{
	return value[__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? size - 1 : 0] & 0x80;
}

bool limits_allow(const struct limits *limits, const unsigned char *record)
{
	for (size_t i = 0; i < limits->signed_fields.nr; i++) {
		const struct field *field = &limits->signed_fields.fields[i];
		for (uint32_t at = 0; at + field->element_size <= field->size; at += field->element_size) {
			if (is_negative(record + field->place.offset + at, field->element_size))
				return false;
		}
	}
	return limits->is_printable;
}

void limits_free(struct limits *limits)
{
	free(limits->signed_fields.fields);
}

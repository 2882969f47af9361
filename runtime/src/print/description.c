/* SPDX-License-Identifier: MIT */
/*
 * print/description.c - see description.h, and struct tp_event_class in tp/event.h.
 */
#include "print/description.h"

#include <string.h>

#include "base/text.h"

/* ---- The parts ---- */

static const struct tp_field_numbers *numbers_of(const struct tp_event_class *class, uint32_t i)
{
	return (const struct tp_field_numbers *)((const char *)class + class->head_size + (size_t)i * class->numbers_size);
}

static const struct tp_eval *evals_of(const struct tp_event_class *class)
{
	return (const struct tp_eval *)numbers_of(class, class->nr_fields);
}

static const char *next_text(const char *text)
{
	return text + strlen(text) + 1;
}

/* The text that has so many in front of it. */
static const char *text_at(const struct tp_event_class *class, uint32_t nr)
{
	const char *text = (const char *)class + class->text;

	while (nr--)
		text = next_text(text);
	return text;
}

const char *tp_class_print_fmt(const struct tp_event_class *class)
{
	return text_at(class, 2 * (uint32_t)class->nr_fields + class->nr_evals);
}

size_t tp_class_size(const struct tp_event_class *class)
{
	return (size_t)(next_text(tp_class_print_fmt(class)) - (const char *)class);
}

bool tp_class_next_eval(const struct tp_event_class *class, struct tp_named_eval *eval)
{
	const struct tp_eval *evals = evals_of(class);

	while (eval->nr < class->nr_evals) {
		eval->name = eval->nr ? next_text(eval->name) : text_at(class, 2 * (uint32_t)class->nr_fields);
		eval->value = evals[eval->nr].value;
		if (evals[eval->nr++].known)
			return true;
	}
	return false;
}

/* ---- Symbols ---- */

const char *tp_symbols_delimiter(const struct tp_symbols *symbols)
{
	return symbols->is_flags ? (const char *)symbols + symbols->names : NULL;
}

size_t tp_symbols_size(const struct tp_symbols *symbols)
{
	const char *text = (const char *)symbols + symbols->names;

	for (unsigned int nr = symbols->nr + symbols->is_flags; nr; nr--)
		text = next_text(text);
	return (size_t)(text - (const char *)symbols);
}

/* ---- Fields ---- */

/* The names of TP_C_TYPE; then those of the other classes of types. */
static const char *type_name(unsigned int number, enum tp_field_class type_class)
{
	static const char *const names[] = {
		NULL, "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long",
		"unsigned long", "long long", "unsigned long long", "bool", "float", "double",
	};

	if (number && number < sizeof(names) / sizeof(names[0]))
		return names[number];
	return type_class == TP_POINTER ? "void *" : "struct typeof";
}

static struct tp_event_field field_of(const struct tp_event_class *class, const struct tp_field_numbers *numbers,
				      const char *name)
{
	const unsigned int bits = numbers->bits;
	struct tp_event_field field = {
		.name = name,
		.type = next_text(name),
		.kind = (enum tp_field_kind)(bits >> TP_BIT_KIND & 7),
		.relative = bits >> TP_BIT_RELATIVE & 1,
		.type_class = (enum tp_field_class)(bits >> TP_BIT_CLASS & 3),
		.offset = numbers->offset,
		.size = numbers->size,
		.element_size = numbers->element_size,
		.element_align = 1u << (bits >> TP_BIT_ALIGN & 7),
		.is_signed = bits >> TP_BIT_SIGNED & 1,
		.is_char = bits >> TP_BIT_CHAR & 1,
		.is_hexadecimal = bits >> TP_BIT_HEXADECIMAL & 1,
	};

	if (!*field.type)
		field.type = type_name(bits >> TP_BIT_TYPE & 15, field.type_class);
	if (numbers->symbols) {
		field.symbols = (const struct tp_symbols *)((const char *)class + 8 * (size_t)numbers->symbols);
		field.delimiter = tp_symbols_delimiter(field.symbols);
	}
	return field;
}

void tp_event_field_at_sized(const struct tp_event_class *class, uint32_t i, struct tp_event_field *field, size_t size)
{
	const struct tp_event_field ours = field_of(class, numbers_of(class, i), text_at(class, 2 * i));

	memset(field, 0, size);
	memcpy(field, &ours, size < sizeof(ours) ? size : sizeof(ours));
}

struct tp_event_field *tp_class_fields(const struct tp_event_class *class)
{
	struct tp_event_field *fields = tp_malloc(class->nr_fields * sizeof(*fields));
	const char *name = text_at(class, 0);

	for (uint32_t i = 0; fields && i < class->nr_fields; i++) {
		fields[i] = field_of(class, numbers_of(class, i), name);
		name = next_text(next_text(name));
	}
	return fields;
}

/* ---- Writing ---- */

/* Tables stand at multiples of 8 bytes. */
static size_t symbols_room(const struct tp_event_field *field)
{
	return field->symbols ? (tp_symbols_size(field->symbols) + 7) & ~(size_t)7 : 0;
}

static size_t size_of(const struct tp_class_parts *parts)
{
	size_t size = sizeof(struct tp_event_class) + parts->nr_fields * sizeof(struct tp_field_numbers) +
		      strlen(parts->print_fmt) + 1;

	for (uint32_t i = 0; i < parts->nr_fields; i++)
		size += strlen(parts->fields[i].name) + 1 + strlen(parts->fields[i].type) + 1 + symbols_room(&parts->fields[i]);
	return size;
}

/* Copies the field's table to *at, which moves on; returns where it is, as struct tp_field_numbers has it. 0: there is none. */
static uint16_t put_symbols(const struct tp_event_class *class, const struct tp_event_field *field, char **at)
{
	const size_t place = (size_t)(*at - (const char *)class) / 8;

	if (!field->symbols || place > UINT16_MAX) /* more of them than a class can have */
		return 0;
	memcpy(*at, field->symbols, tp_symbols_size(field->symbols));
	*at += symbols_room(field);
	return (uint16_t)place;
}

static uint16_t bits_of(const struct tp_event_field *field)
{
	return (uint16_t)((unsigned int)field->kind << TP_BIT_KIND | (unsigned int)field->relative << TP_BIT_RELATIVE |
			  (unsigned int)field->type_class << TP_BIT_CLASS | (unsigned int)field->is_signed << TP_BIT_SIGNED |
			  (unsigned int)field->is_char << TP_BIT_CHAR |
			  (unsigned int)field->is_hexadecimal << TP_BIT_HEXADECIMAL |
			  (unsigned int)__builtin_ctz(field->element_align ? field->element_align : 1) << TP_BIT_ALIGN);
}

struct tp_event_class *tp_class_new(const struct tp_class_parts *parts)
{
	struct tp_event_class *class = tp_malloc(size_of(parts));

	if (!class)
		return NULL;
	struct tp_field_numbers *numbers = (struct tp_field_numbers *)(class + 1);
	char *text = (char *)(numbers + parts->nr_fields);
	for (uint32_t i = 0; i < parts->nr_fields; i++) {
		const struct tp_event_field *field = &parts->fields[i];
		numbers[i] = (struct tp_field_numbers){field->offset, field->size, field->element_size, bits_of(field),
						       put_symbols(class, field, &text)};
	}
	*class = (struct tp_event_class){
		.fixed_size = parts->fixed_size, .text = (uint32_t)(text - (char *)class),
		.nr_fields = (uint16_t)parts->nr_fields, .head_size = sizeof(*class), .numbers_size = sizeof(*numbers),
	};
	for (uint32_t i = 0; i < parts->nr_fields; i++) {
		const struct tp_event_field *field = &parts->fields[i];
		text = stpcpy(stpcpy(text, field->name) + 1, field->type) + 1;
	}
	strcpy(text, parts->print_fmt);
	return class;
}

/* SPDX-License-Identifier: MIT */
/*
 * events/marker_format.c - the fields of a marker, read from its format.
 */
#define TP_RUNTIME /* and so no module, see tp/marker.h */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events/marker_format.h"

/* A conversion as it is written: %[flags][width][.precision][length]letter. */
struct spec {
	char flags[8]; /* none twice, and none that only pads to what a star says */
	int width;     /* -1: none */
	int precision; /* -1: none, or a star */
	bool width_star, precision_star;
	char length[3];
	char letter;
};

/* Offsets in strings, which may move while it grows. */
struct places {
	size_t names[TP_MARKER_ARGS_MAX];
	size_t texts[TP_MARKER_ARGS_MAX];
	size_t rest, print_fmt;
};

struct parser {
	struct tp_marker_format *parsed;
	struct places places;
	struct tp_buffer print_fmt;
};

/* Appends a string; where it is. */
static size_t put_string(struct tp_buffer *b, const char *text, size_t len)
{
	size_t at = b->len;

	tp_buffer_printf(b, "%.*s%c", (int)len, text, '\0');
	return at;
}

/* ---- A conversion as it is written ---- */

static int read_number(const char **at)
{
	int number = 0;

	for (; **at >= '0' && **at <= '9'; ++*at)
		number = number < 100000 ? number * 10 + (**at - '0') : number;
	return number;
}

static void read_flags(struct spec *spec, const char **at)
{
	size_t len = 0;

	for (; **at && strchr("-+ #0", **at); ++*at) {
		if (!strchr(spec->flags, **at) && len + 1 < sizeof(spec->flags))
			spec->flags[len++] = **at;
	}
}

static void drop_flag(struct spec *spec, char flag)
{
	char *at = strchr(spec->flags, flag);

	if (at)
		memmove(at, at + 1, strlen(at));
}

static void read_length(struct spec *spec, const char **at)
{
	for (size_t i = 0; i + 1 < sizeof(spec->length) && **at && strchr("hlqLjzZt", **at); i++)
		spec->length[i] = *(*at)++;
}

/* at is behind the "%"; returns the end. A letter of '\0' is one that can't be read. */
static const char *read_spec(struct spec *spec, const char *at)
{
	*spec = (struct spec){.width = -1, .precision = -1};
	read_flags(spec, &at);
	if (*at == '*') {
		spec->width_star = true;
		at++;
	} else if (*at >= '1' && *at <= '9') {
		spec->width = read_number(&at);
	}
	if (*at == '.') {
		at++;
		spec->precision_star = *at == '*';
		if (spec->precision_star)
			at++;
		else
			spec->precision = read_number(&at);
	}
	read_length(spec, &at);
	spec->letter = *at;
	if (spec->width_star || spec->precision_star) {
		drop_flag(spec, '0');
		if (spec->width_star)
			drop_flag(spec, '-');
	}
	return *at ? at + 1 : at;
}

/* ---- What it takes ---- */

/* A C type by its name. */
#define TYPE(field_type, c_type, taken, class)                                                            \
	{                                                                                                 \
		taken, field_type, class, sizeof(c_type), (c_type)-1 < (c_type)1 && (class) == TP_INTEGER \
	}
#define INTEGERS(length, taken, signed_text, signed_type, unsigned_text, unsigned_type)                    \
	{                                                                                                  \
		length, TYPE(signed_text, signed_type, taken, TP_INTEGER),                                 \
			TYPE(unsigned_text, unsigned_type, taken, TP_INTEGER)                              \
	}

struct type {
	enum tp_argument argument;
	const char *text;
	enum tp_field_class type_class;
	uint32_t size;
	bool is_signed;
};

#define ARGUMENT_INTMAX (sizeof(intmax_t) == sizeof(long) ? TP_ARGUMENT_LONG : TP_ARGUMENT_LONG_LONG)

static const struct {
	const char *length;
	struct type is_signed, is_unsigned;
} integers[] = {
	INTEGERS("hh", TP_ARGUMENT_INT, "signed char", signed char, "unsigned char", unsigned char),
	INTEGERS("h", TP_ARGUMENT_INT, "short", short, "unsigned short", unsigned short),
	INTEGERS("", TP_ARGUMENT_INT, "int", int, "unsigned int", unsigned int),
	INTEGERS("l", TP_ARGUMENT_LONG, "long", long, "unsigned long", unsigned long),
	INTEGERS("ll", TP_ARGUMENT_LONG_LONG, "long long", long long, "unsigned long long", unsigned long long),
	INTEGERS("q", TP_ARGUMENT_LONG_LONG, "long long", long long, "unsigned long long", unsigned long long),
	INTEGERS("L", TP_ARGUMENT_LONG_LONG, "long long", long long, "unsigned long long", unsigned long long),
	INTEGERS("j", ARGUMENT_INTMAX, "intmax_t", intmax_t, "uintmax_t", uintmax_t),
	INTEGERS("z", TP_ARGUMENT_LONG, "ssize_t", ssize_t, "size_t", size_t),
	INTEGERS("Z", TP_ARGUMENT_LONG, "ssize_t", ssize_t, "size_t", size_t),
	INTEGERS("t", TP_ARGUMENT_LONG, "ptrdiff_t", ptrdiff_t, "unsigned long", unsigned long),
};

static const struct type *integer_type(const struct spec *spec, bool is_signed)
{
	for (size_t i = 0; i < sizeof(integers) / sizeof(integers[0]); i++) {
		if (strcmp(integers[i].length, spec->length) == 0)
			return is_signed ? &integers[i].is_signed : &integers[i].is_unsigned;
	}
	return NULL;
}

/* NULL: it can't be recorded. */
static const struct type *type_of(const struct spec *spec)
{
	static const struct type character = TYPE("char", char, TP_ARGUMENT_INT, TP_INTEGER);
	static const struct type string = TYPE("char", char, TP_ARGUMENT_STRING, TP_INTEGER);
	static const struct type pointer = {TP_ARGUMENT_POINTER, "void *", TP_POINTER, sizeof(void *), false};
	static const struct type real = {TP_ARGUMENT_DOUBLE, "double", TP_FLOAT, sizeof(double), false};
	static const struct type long_real = {TP_ARGUMENT_LONG_DOUBLE, "double", TP_FLOAT, sizeof(double), false};
	const char *length = spec->length;

	if (!spec->letter)
		return NULL;
	if (strchr("di", spec->letter))
		return integer_type(spec, true);
	if (strchr("uoxX", spec->letter))
		return integer_type(spec, false);
	if (strchr("eEfFgGaA", spec->letter) && strcmp(length, "L") == 0)
		return &long_real;
	if (strchr("eEfFgGaA", spec->letter) && (!*length || strcmp(length, "l") == 0))
		return &real;
	if (*length)
		return NULL;
	switch (spec->letter) {
	case 'c':
		return &character;
	case 's':
		return &string;
	case 'p':
		return &pointer;
	default:
		return NULL;
	}
}

/* As it is in a program with longs of so many bytes. */
static struct type type_in_program(struct type type, const char *length, uint32_t word)
{
	if (word == sizeof(long) || (type.argument != TP_ARGUMENT_LONG && type.argument != TP_ARGUMENT_POINTER))
		return type;
	if (*length == 'j')
		type.argument = TP_ARGUMENT_LONG_LONG;
	else
		type.size = word;
	return type;
}

/* ---- Names ---- */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_word(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9');
}

/* The last identifier of a text, of *len bytes; NULL where there is none. */
static const char *last_identifier(const char *text, const char *end, size_t *len)
{
	const char *found = NULL;

	while (text < end) {
		const char *word = text;
		while (text < end && is_word(*text))
			text++;
		if (text > word && is_letter(*word)) {
			found = word;
			*len = (size_t)(text - word);
		}
		if (text == word)
			text++;
	}
	return found;
}

bool tp_field_name_is_reserved(const char *name)
{
	static const char *const words[] = {
		"auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
		"extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return",
		"short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void",
		"volatile", "while", "REC",
	};

	if (strncmp(name, "common_", strlen("common_")) == 0)
		return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(name, words[i]) == 0)
			return true;
	}
	return false;
}

static bool is_taken(const struct parser *p, const char *name)
{
	for (unsigned int i = 0; i < p->parsed->nr; i++) {
		if (strcmp(p->parsed->strings.text + p->places.names[i], name) == 0)
			return true;
	}
	return false;
}

/* Appends the name of the next field, for which text stands in front of the conversion. */
static size_t put_name(struct parser *p, const char *text, const char *end)
{
	struct tp_buffer name = {.text = NULL};
	struct tp_buffer *strings = &p->parsed->strings;
	size_t len = 0;
	const char *word = last_identifier(text, end, &len);

	if (word)
		tp_buffer_printf(&name, "%.*s", (int)len, word);
	else
		tp_buffer_printf(&name, "arg%u", p->parsed->nr + 1);
	if (!name.failed && tp_field_name_is_reserved(name.text))
		tp_buffer_printf(&name, "_");
	size_t base = name.len;
	for (unsigned int i = 2; !name.failed && !strings->failed && is_taken(p, name.text); i++) {
		name.len = base;
		tp_buffer_printf(&name, "_%u", i);
	}
	strings->failed = strings->failed || name.failed;
	size_t at = strings->failed ? 0 : put_string(strings, name.text, name.len);
	tp_buffer_free(&name);
	return at;
}

/* ---- Texts ---- */

/* A conversion that prints what was recorded, for printf and for libtraceevent, which does not know all lengths. */
static void print_spec(char text[48], const struct spec *spec, const struct type *type)
{
	const char *length = type->argument == TP_ARGUMENT_INT	       ? spec->length
			     : type->argument == TP_ARGUMENT_LONG      ? "l"
			     : type->argument == TP_ARGUMENT_LONG_LONG ? "ll"
								       : "";
	char width[16] = "", precision[16] = "";

	if (spec->width >= 0)
		snprintf(width, sizeof(width), "%d", spec->width);
	if (spec->precision >= 0)
		snprintf(precision, sizeof(precision), ".%d", spec->precision);
	snprintf(text, 48, "%%%s%s%s%s%c", spec->flags, width, precision, length, spec->letter);
}

/*
 * The same for the print format. libtraceevent takes no argument for what it does not know, so that all behind
 * it would print another's: it gets a char's number, and a double's bits. The letters behind a %p belong to it there.
 */
static void put_foreign_spec(struct tp_buffer *b, struct spec spec, const struct type *type, const char *end)
{
	char text[48];

	drop_flag(&spec, '+');
	drop_flag(&spec, ' ');
	print_spec(text, &spec, type);
	if (type->type_class == TP_FLOAT)
		tp_buffer_printf(b, "0x%%llx");
	else if (spec.letter == 'c')
		tp_buffer_printf(b, "%%d");
	else if (spec.letter == 'p' && is_word(*end))
		tp_buffer_printf(b, "0x%%lx");
	else
		tp_buffer_printf(b, "%s", text);
}

/* As in a C string. */
static void put_quoted(struct tp_buffer *b, const char *text, const char *end)
{
	for (; text < end; text++) {
		if (*text == '\n')
			tp_buffer_printf(b, "\\n");
		else if (*text == '\t')
			tp_buffer_printf(b, "\\t");
		else if (*text == '"' || *text == '\\')
			tp_buffer_printf(b, "\\%c", *text);
		else
			tp_buffer_printf(b, (unsigned char)*text < ' ' || (unsigned char)*text >= 0x7f ? "\\%03o" : "%c",
					 (unsigned char)*text);
	}
}

static void put_arguments(struct parser *p)
{
	const struct tp_marker_format *parsed = p->parsed;

	for (unsigned int i = 0; i < parsed->nr; i++) {
		bool string = parsed->fields[i].kind == TP_STRING;
		tp_buffer_printf(&p->print_fmt, string ? ", __get_str(%s)" : ", REC->%s",
				 parsed->strings.text + p->places.names[i]);
	}
}

/* ---- Fields ---- */

static void add_field(struct tp_marker_format *parsed, const struct spec *spec, const struct type *type)
{
	const bool string = type->argument == TP_ARGUMENT_STRING;
	const uint32_t size = string ? sizeof(tp_data_loc_t) : type->size;
	const uint32_t offset = (parsed->fixed_size + size - 1) / size * size;

	parsed->fields[parsed->nr] = (struct tp_event_field){
		.type = type->text,
		.kind = string ? TP_STRING : TP_FIELD,
		.type_class = type->type_class,
		.offset = offset,
		.size = size,
		.element_size = type->size,
		.element_align = type->size,
		.is_signed = type->is_signed,
		.is_char = spec->letter == 'c' || string,
		.is_hexadecimal = spec->letter == 'x' || spec->letter == 'X',
	};
	parsed->fixed_size = offset + size;
}

/* A conversion that ends at end; text is in front of its "%", from begin on. */
static void add_conversion(struct parser *p, const char *begin, const char *percent, const char *end,
			   const struct spec *spec, const struct type *type)
{
	struct tp_marker_format *parsed = p->parsed;
	struct tp_buffer *strings = &parsed->strings;
	char text[48];

	p->places.names[parsed->nr] = put_name(p, begin, percent);
	print_spec(text, spec, type);
	p->places.texts[parsed->nr] = strings->len;
	tp_buffer_printf(strings, "%.*s%s%c", (int)(percent - begin), begin, text, '\0');
	put_quoted(&p->print_fmt, begin, percent);
	put_foreign_spec(&p->print_fmt, *spec, type, end);
	parsed->conversions[parsed->nr] = (struct tp_conversion){
		.argument = type->argument,
		.width_star = spec->width_star,
		.precision_star = spec->precision_star,
		.precision = spec->precision,
	};
	add_field(parsed, spec, type);
	parsed->nr++;
}

/* What the message quotes of a conversion that can't be recorded. */
static const char *quote(struct parser *p, const char *begin, const char *end)
{
	size_t at = put_string(&p->parsed->strings, begin, (size_t)(end - begin));

	return p->parsed->strings.failed ? begin : p->parsed->strings.text + at;
}

static const char *parse(struct parser *p, const char *format, uint32_t word)
{
	struct tp_marker_format *parsed = p->parsed;
	const char *begin = format, *at = format;

	tp_buffer_printf(&p->print_fmt, "\"");
	while ((at = strchr(at, '%'))) {
		struct spec spec;
		const char *end = read_spec(&spec, at + 1);
		if (at[1] == '%') {
			at += 2;
			continue;
		}
		const struct type *type = type_of(&spec);
		if (!type || parsed->nr == TP_MARKER_ARGS_MAX)
			return quote(p, at, end);
		const struct type in_program = type_in_program(*type, spec.length, word);
		add_conversion(p, begin, at, end, &spec, &in_program);
		begin = at = end;
	}
	if (!parsed->nr && begin[strspn(begin, " ")] == '\0')
		begin += strlen(begin); /* MARK_NOARGS: a text without anything */
	p->places.rest = put_string(&parsed->strings, begin, strlen(begin));
	put_quoted(&p->print_fmt, begin, begin + strlen(begin));
	tp_buffer_printf(&p->print_fmt, "\"");
	if (!parsed->strings.failed)
		put_arguments(p);
	if (!p->print_fmt.failed)
		p->places.print_fmt = put_string(&parsed->strings, p->print_fmt.text, p->print_fmt.len);
	parsed->strings.failed = parsed->strings.failed || p->print_fmt.failed;
	return NULL;
}

const char *tp_marker_format_parse(struct tp_marker_format *parsed, const char *format, uint32_t word)
{
	struct parser p = {.parsed = parsed};

	*parsed = (struct tp_marker_format){.fixed_size = sizeof(struct trace_entry)};
	const char *wrong = parse(&p, format, word);
	tp_buffer_free(&p.print_fmt);
	if (wrong || parsed->strings.failed)
		return wrong;
	const char *strings = parsed->strings.text;
	for (unsigned int i = 0; i < parsed->nr; i++) {
		parsed->fields[i].name = strings + p.places.names[i];
		parsed->conversions[i].text = strings + p.places.texts[i];
	}
	parsed->rest = strings + p.places.rest;
	parsed->print_fmt = strings + p.places.print_fmt;
	return NULL;
}

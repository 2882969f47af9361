/* SPDX-License-Identifier: MIT */
#include "report/field_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "report/values.h"

struct printing {
	struct line *line;
	const struct fields *fields;
	const unsigned char *record;
	uint32_t size;
	const char *format; /* behind the quote */
	const char *args;   /* behind the comma */
	const char *end;
};

/* ---- The next argument ---- */

static void skip_blanks(struct printing *p)
{
	while (p->args < p->end && isspace((unsigned char)*p->args))
		p->args++;
}

static bool take(struct printing *p, const char *word)
{
	const size_t len = strlen(word);

	if ((size_t)(p->end - p->args) < len || memcmp(p->args, word, len) != 0)
		return false;
	p->args += len;
	return true;
}

/* "REC->name", "__get_str(name)" or "__get_rel_str(name)", and what parts it from the next one. NULL: it is something else. */
static const struct field *next_argument(struct printing *p)
{
	const struct field *field = NULL;

	skip_blanks(p);
	const bool is_text = take(p, "__get_str(") || take(p, "__get_rel_str(");
	if (!is_text && !take(p, "REC->"))
		return NULL;
	const char *name = p->args;
	while (p->args < p->end && is_of_name(*p->args))
		p->args++;
	const size_t len = (size_t)(p->args - name);
	for (size_t i = 0; i < p->fields->nr && !field; i++) {
		const struct field *one = &p->fields->fields[i];
		if (one->name_len == len && memcmp(one->name, name, len) == 0)
			field = one;
	}
	if (!field || (is_text && !take(p, ")")) || field->is_payload != is_text)
		return NULL;
	skip_blanks(p);
	return p->args == p->end || take(p, ",") ? field : NULL;
}

/* ---- A conversion ---- */

struct conversion {
	char flags[24]; /* with width and precision */
	char length[3];
	char letter;
};

static size_t copy_while(char *to, size_t room, const char **at, const char *end, const char *set)
{
	size_t len = 0;

	while (*at < end && strchr(set, **at) && len < room - 1)
		to[len++] = *(*at)++;
	to[len] = '\0';
	return len;
}

/* A width or a precision of more digits would take for ever. */
static bool is_modest(const char *flags)
{
	for (size_t digits; *flags; flags += digits ? digits : 1) {
		digits = strspn(flags, "0123456789");
		if (digits > 3)
			return false;
	}
	return true;
}

static bool take_conversion(struct printing *p, struct conversion *conversion)
{
	copy_while(conversion->flags, sizeof(conversion->flags), &p->format, p->end, "-+ #0123456789.");
	copy_while(conversion->length, sizeof(conversion->length), &p->format, p->end, "hlzjt");
	conversion->letter = p->format < p->end ? *p->format++ : '\0';
	return conversion->letter && conversion->letter != '"' && is_modest(conversion->flags);
}

static bool put_text(struct printing *p, const struct conversion *conversion, const struct field *field)
{
	const unsigned char *at = p->record + field->place.offset;
	uint32_t size = field->size;

	if (field->kind != FIELD_TEXT || *conversion->flags)
		return false;
	if (field->is_payload)
		at = field_payload(field, p->record, p->size, &size);
	line_add_escaped(p->line, (const char *)at, strnlen((const char *)at, size));
	return true;
}

/* As C takes it: what the length names, or an int. */
static long long shortened(const char *length, bool is_signed, long long value)
{
	if (strcmp(length, "hh") == 0)
		return is_signed ? (signed char)value : (unsigned char)value;
	if (strcmp(length, "h") == 0)
		return is_signed ? (short)value : (unsigned short)value;
	if (!*length)
		return is_signed ? (int)value : (long long)(unsigned int)value;
	return value;
}

/* Of a spec that is made of a conversion's parts, which were looked at. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static bool put_number(struct printing *p, const struct conversion *conversion, const struct field *field)
{
	const unsigned char *at = p->record + field->place.offset;
	const bool is_real = strchr("eEfFgGaA", conversion->letter) != NULL;
	char spec[40], text[512];
	int len;

	if (field->is_array || field->is_payload || !strchr("diuoxXeEfFgGaA", conversion->letter) || (field->kind == FIELD_REAL) != is_real ||
	    (field->kind != FIELD_REAL && field->kind != FIELD_SIGNED && field->kind != FIELD_UNSIGNED))
		return false;
	snprintf(spec, sizeof(spec), "%%%s%s%c", conversion->flags, is_real ? "" : "ll", conversion->letter);
	if (is_real)
		len = snprintf(text, sizeof(text), spec, value_real(field, at));
	else
		len = snprintf(text, sizeof(text), spec,
			       shortened(conversion->length, strchr("di", conversion->letter) != NULL, value_integer(field, at)));
	if (len < 0 || (size_t)len >= sizeof(text))
		return false;
	line_add(p->line, text, (size_t)len);
	return true;
}

static bool put_conversion(struct printing *p)
{
	struct conversion conversion;

	if (!take_conversion(p, &conversion))
		return false;
	if (conversion.letter == '%') {
		line_add(p->line, "%", 1);
		return true;
	}
	const struct field *field = next_argument(p);
	return field && (conversion.letter == 's' ? put_text(p, &conversion, field) : put_number(p, &conversion, field));
}

/* ---- The text ---- */

/* Behind a backslash. A newline at the end is no part of the line. */
static bool put_escape(struct printing *p)
{
	static const char letters[] = "nt\\\"", means[] = "\n\t\\\"";
	const char *letter = p->format < p->end && *p->format ? strchr(letters, *p->format) : NULL;

	if (!letter)
		return false;
	p->format++;
	if (*letter == 'n' && p->format < p->end && *p->format == '"')
		return true;
	line_add_escaped(p->line, &means[letter - letters], 1);
	return true;
}

static bool put_all(struct printing *p)
{
	while (p->format < p->end && *p->format != '"') {
		const char c = *p->format++;
		if (c == '%' ? !put_conversion(p) : c == '\\' && !put_escape(p))
			return false;
		if (c != '%' && c != '\\')
			line_add(p->line, &c, 1);
	}
	skip_blanks(p);
	return p->format < p->end && p->args == p->end;
}

/* Where the format ends: its arguments begin behind a comma. */
static bool find_args(struct printing *p)
{
	const char *at = p->format;

	while (at < p->end && *at != '"')
		at += *at == '\\' ? 2 : 1;
	if (at >= p->end)
		return false;
	p->args = at + 1;
	skip_blanks(p);
	return p->args == p->end || take(p, ",");
}

bool field_text_add(struct line *line, const struct event_format *format, const struct fields *fields, const unsigned char *record,
		    uint32_t size)
{
	static const char before[] = "\nprint fmt: \"";
	const char *text = memmem(format->text, format->len, before, strlen(before));
	struct printing p = {.line = line, .fields = fields, .record = record, .size = size};
	const struct line as_before = *line;

	if (!text)
		return false;
	p.format = text + strlen(before);
	p.end = format->text + format->len;
	if (find_args(&p) && put_all(&p))
		return true;
	*line = as_before;
	return false;
}

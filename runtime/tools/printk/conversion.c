/* SPDX-License-Identifier: MIT */
#include "printk/conversion.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The letters behind a %p that the runtime prints: "S", "I4", "hD" ... tpgen/printk.py has the same. */
static size_t pointer_letters(struct span suffix)
{
	static const struct {
		const char *begin, *more;
		size_t nr; /* of more, at most */
	} kinds[] = {
		{"SR", "Bb", 8}, {"S", "Bb", 8}, {"s", "R", 1}, {"B", "", 0}, {"I4", "hnbl", 1}, {"i4", "hnbl", 1}, {"I6", "c", 1},
		{"i6", "c", 1}, {"IS", "pfschnbl", 8}, {"iS", "pfschnbl", 8}, {"M", "RF", 1}, {"m", "RF", 1}, {"U", "bBlL", 1},
		{"h", "CDN", 1}, {"b", "l", 1}, {"x", "", 0}, {"K", "", 0}, {"e", "", 0}, {"a", "dp", 1},
	};
	const size_t len = (size_t)(suffix.end - suffix.begin);

	if (len == 1 && (*suffix.begin == 'f' || *suffix.begin == 'F'))
		return 1;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t at = strlen(kinds[i].begin), nr = 0;
		if (len < at || memcmp(suffix.begin, kinds[i].begin, at) != 0)
			continue;
		for (; at < len && nr < kinds[i].nr && strchr(kinds[i].more, suffix.begin[at]); nr++)
			at++;
		return at;
	}
	return 0;
}

/* What is of the suffix behind the known letters, the kernel leaves out, too. */
static bool take_pointer(struct conversion *conversion, const char **at, const char *end)
{
	struct span suffix = {*at, *at};

	while (suffix.end < end && isalnum((unsigned char)*suffix.end))
		suffix.end++;
	const size_t len = pointer_letters(suffix);
	if (len >= sizeof(conversion->pointer))
		return false;
	memcpy(conversion->pointer, suffix.begin, len);
	if (len)
		*at = suffix.end;
	return true;
}

/* A number, or a star. False: it is wider than any text. */
static bool take_size(const char **at, const char *end, int *size, bool *is_star)
{
	*is_star = *at < end && **at == '*';
	if (*is_star) {
		++*at;
		return true;
	}
	for (; *at < end && isdigit((unsigned char)**at); ++*at) {
		*size = (*size < 0 ? 0 : *size * 10) + (**at - '0');
		if (*size > MAX_WIDTH)
			return false;
	}
	return true;
}

static size_t copy_while(char *to, size_t room, const char **at, const char *end, const char *set)
{
	size_t len = 0;

	while (*at < end && **at && strchr(set, **at) && len < room - 1)
		to[len++] = *(*at)++;
	to[len] = '\0';
	return len;
}

bool conversion_take(struct conversion *conversion, const char **at, const char *end)
{
	struct spec *spec = &conversion->spec;

	spec->width = spec->precision = -1;
	copy_while(conversion->flags, sizeof(conversion->flags), at, end, "-+ #0'");
	spec->is_left = strchr(conversion->flags, '-') != NULL;
	if (!take_size(at, end, &spec->width, &conversion->has_width_star))
		return false;
	if (*at < end && **at == '.') {
		++*at;
		spec->precision = 0;
		if (!take_size(at, end, &spec->precision, &conversion->has_precision_star))
			return false;
	}
	copy_while(conversion->length, sizeof(conversion->length), at, end, "hlLzjtq");
	conversion->letter = *at < end ? *(*at)++ : '\0';
	if (!conversion->letter || !strchr("diouxXceEfFgGaAsp%", conversion->letter))
		return false;
	return conversion->letter != 'p' || take_pointer(conversion, at, end);
}

void conversion_write_spec(struct spec *spec, const struct conversion *conversion)
{
	const char *length = strchr("diouxX", conversion->letter) ? "ll" : strcmp(conversion->length, "L") == 0 ? "L" : "";
	char width[16] = "", precision[16] = "";

	if (spec->width > 0)
		snprintf(width, sizeof(width), "%d", spec->width);
	if (spec->precision >= 0)
		snprintf(precision, sizeof(precision), ".%d", spec->precision);
	snprintf(spec->text, sizeof(spec->text), "%%%s%s%s%s%s%c", conversion->flags, spec->is_star_below_0 ? "-" : "", width, precision, length,
		 conversion->letter);
	spec->is_plain = strcmp(spec->text, "%lld") == 0 || strcmp(spec->text, "%llu") == 0 || strcmp(spec->text, "%p") == 0 ||
			 strcmp(spec->text, "%s") == 0;
}

struct type conversion_type(const struct conversion *conversion, uint32_t word)
{
	const char *length = conversion->length;
	const bool is_word = strcmp(length, "l") == 0 || strcmp(length, "z") == 0 || strcmp(length, "Z") == 0 || strcmp(length, "t") == 0;
	const size_t size = strcmp(length, "hh") == 0 ? sizeof(char) : *length == 'h' ? sizeof(short) : is_word ? word :
			    *length ? LONGEST : sizeof(int);

	return type_integer(size, strchr("dic", conversion->letter) != NULL);
}

static bool is_text(const struct conversion *conversion)
{
	const struct node *value = conversion->value;

	return conversion->letter == 's' && !*conversion->length && value->type.own.kind == TYPE_POINTER &&
	       (value->kind == NODE_PAYLOAD || value->kind == NODE_PLACE);
}

enum plain conversion_plain(const struct conversion *conversion)
{
	const struct node *value = conversion->value;
	const struct field *field = value ? value->field : NULL;

	if (!field || !conversion->spec.is_plain || conversion->star[0] || conversion->star[1])
		return PLAIN_NOT;
	if (is_text(conversion))
		return PLAIN_TEXT;
	if (value->kind != NODE_FIELD || field->is_array)
		return PLAIN_NOT;
	if (conversion->letter == 'p')
		return field->kind == FIELD_POINTER && !*conversion->pointer ? PLAIN_ADDRESS : PLAIN_NOT;
	if ((field->kind != FIELD_SIGNED && field->kind != FIELD_UNSIGNED) || field->element_size != conversion->type.own.size ||
	    memcmp(&value->type, &conversion->type, sizeof(value->type)) != 0)
		return PLAIN_NOT;
	return field->kind == FIELD_SIGNED ? PLAIN_SIGNED : PLAIN_UNSIGNED;
}

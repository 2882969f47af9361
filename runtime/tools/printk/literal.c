/* SPDX-License-Identifier: MIT */
#include "printk/literal.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- Texts ---- */

/* Up to three digits of base 8, or all that there are of base 16. */
static bool take_code(struct span *at, unsigned int base, unsigned char *byte)
{
	static const char digits[] = "0123456789abcdef";
	unsigned int value = 0, nr = 0;

	while (at->begin < at->end && (base == 16 || nr < 3)) {
		const char *digit = strchr(digits, tolower((unsigned char)*at->begin));
		if (!*at->begin || !digit || (unsigned int)(digit - digits) >= base)
			break;
		value = value * base + (unsigned int)(digit - digits);
		nr++;
		at->begin++;
	}
	*byte = (unsigned char)value;
	return nr > 0;
}

/* A character that may have a backslash in front. False: C has no such. */
static bool take_character(struct span *at, unsigned char *byte)
{
	static const char letters[] = "abefnrtv\\'\"?", means[] = "\a\b\033\f\n\r\t\v\\'\"?";

	if (at->begin == at->end)
		return false;
	*byte = (unsigned char)*at->begin++;
	if (*byte != '\\')
		return true;
	if (at->begin == at->end || !*at->begin)
		return false;
	const char *letter = strchr(letters, *at->begin);
	if (!letter)
		return *at->begin == 'x' ? (at->begin++, take_code(at, 16, byte)) : take_code(at, 8, byte);
	at->begin++;
	*byte = (unsigned char)means[letter - letters];
	return true;
}

static void skip(struct span *at)
{
	while (at->begin < at->end && isspace((unsigned char)*at->begin))
		at->begin++;
}

char *literal_text(struct span *at, size_t *len)
{
	char *text = malloc((size_t)(at->end - at->begin) + 1);

	*len = 0;
	if (!text)
		return NULL;
	for (; at->begin < at->end && *at->begin == '"'; skip(at)) {
		at->begin++;
		while (at->begin < at->end && *at->begin != '"') {
			unsigned char byte;
			if (!take_character(at, &byte)) {
				free(text);
				return NULL;
			}
			text[(*len)++] = (char)byte;
		}
		if (at->begin == at->end) {
			free(text);
			return NULL;
		}
		at->begin++;
	}
	text[*len] = '\0';
	return text;
}

/* ---- Numbers ---- */

/* A character is an int, and of the sign that char has. */
static bool take_quoted(struct span *at, struct value *value)
{
	unsigned char byte;

	at->begin++;
	if (!take_character(at, &byte) || at->begin == at->end || *at->begin != '\'')
		return false;
	at->begin++;
	*value = (struct value){.type = type_int, .integer = (uint64_t)(int64_t)(char)byte};
	return true;
}

/* "ul", "LL", "f": only letters that C has there. */
static bool read_suffix(const char *suffix, bool is_real, uint32_t word, bool *is_unsigned, size_t *size)
{
	size_t longs = 0;

	*is_unsigned = false;
	*size = is_real ? sizeof(double) : sizeof(int);
	for (; *suffix; suffix++) {
		const char letter = (char)tolower((unsigned char)*suffix);
		if (is_real && letter == 'f' && !suffix[1])
			*size = sizeof(float);
		else if (letter == 'l' && ++longs <= (is_real ? 1 : 2))
			*size = is_real ? sizeof(long double) : longs == 1 ? word : LONGEST;
		else if (!is_real && letter == 'u' && !*is_unsigned)
			*is_unsigned = true;
		else
			return false;
	}
	return true;
}

/* The first type of C's list that has room for the value; a decimal constant stays signed. */
static struct type type_of_constant(unsigned long long number, bool is_decimal, bool is_unsigned, size_t size)
{
	if (size == sizeof(int) && number > (is_unsigned || !is_decimal ? UINT_MAX : (unsigned long long)INT_MAX))
		size = LONGEST;
	if (!is_unsigned && !is_decimal)
		is_unsigned = size == sizeof(int) ? number > INT_MAX : number > INT64_MAX;
	return type_integer(size, is_unsigned ? false : true);
}

static bool is_real_number(const char *text)
{
	const bool is_hex = text[0] == '0' && tolower((unsigned char)text[1]) == 'x';

	return strpbrk(text, is_hex ? ".pP" : ".eE") != NULL;
}

static bool read_integer(const char *text, struct value *value, uint32_t word)
{
	const bool is_binary = text[0] == '0' && tolower((unsigned char)text[1]) == 'b';
	bool is_unsigned;
	size_t size;
	char *end;
	const unsigned long long number = is_binary ? strtoull(text + 2, &end, 2) : strtoull(text, &end, 0);

	if (!read_suffix(end, false, word, &is_unsigned, &size))
		return false;
	*value = (struct value){.type = type_of_constant(number, *text != '0', is_unsigned, size), .integer = number};
	return true;
}

static bool read_real(const char *text, struct value *value)
{
	bool is_unsigned;
	size_t size;
	char *end;
	const long double real = strtold(text, &end);

	if (end == text || !read_suffix(end, true, LONGEST, &is_unsigned, &size))
		return false;
	*value = (struct value){.type = {.own = {TYPE_REAL, (uint8_t)size, true, false}}, .real = real};
	/* Rounded once, from the text. */
	if (size == sizeof(double))
		value->real = strtod(text, NULL);
	else if (size == sizeof(float))
		value->real = strtof(text, NULL);
	return true;
}

bool literal_number(struct span *at, struct value *value, uint32_t word)
{
	char text[64];
	size_t len = 0;

	if (at->begin < at->end && *at->begin == '\'')
		return take_quoted(at, value);
	while (at->begin < at->end && len < sizeof(text) - 1) {
		const char c = *at->begin;
		const char before = len ? (char)tolower((unsigned char)text[len - 1]) : '\0';
		const bool is_hex = len > 1 && tolower((unsigned char)text[1]) == 'x';
		const bool is_sign = (c == '+' || c == '-') && before == (is_hex ? 'p' : 'e');
		if (!isalnum((unsigned char)c) && c != '.' && !is_sign)
			break;
		text[len++] = c;
		at->begin++;
	}
	text[len] = '\0';
	return len && len < sizeof(text) - 1 && (is_real_number(text) ? read_real(text, value) : read_integer(text, value, word));
}

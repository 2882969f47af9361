/* SPDX-License-Identifier: MIT */
#include "dat/print_fmt.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "read/c_text.h"
#include "fail_msg.h"
#include "read/fields.h"

#define MAX_ARGUMENTS 7
#define MAX_LEN ((size_t)64 << 10) /* of a text that is changed: no event's is as long, and it takes the square of it */
#define MAX_HELPERS 64 /* with arguments that are looked for: each may take a look at all of the text */
#define MAX_DEPTH 4 /* of such helpers in each other's arguments: a hostile text has no end of them */

/*
 * What libtraceevent can't parse, or crashes on, and what it prints the same
 * for: $1 is the first argument. __print_hex_dump() becomes the bytes alone.
 */
static const struct rewrite {
	const char *helper;
	int nr_arguments; /* 0: only the name changes */
	const char *becomes;
} rewrites[] = {
	{"__print_flags_u64", 0, "__print_flags"},
	{"__print_symbolic_u64", 0, "__print_symbolic"},
	{"__get_cpumask", 0, "__get_bitmask"},
	{"__get_rel_cpumask", 0, "__get_rel_bitmask"},
	{"__get_rel_sockaddr", 0, "__get_sockaddr"},
	{"__get_rel_dynamic_array_len", 1, "(REC->$1 >> 16)"},
	{"__print_dynamic_array", 2, "__print_array(__get_dynamic_array($1), __get_dynamic_array_len($1) / ($2), $2)"},
	{"__print_hex_dump", 7, "__print_hex($5, $6)"},
};

/* Readers don't know it, and show the fields: where the name is not one field's, they would read another's memory. */
static const struct rewrite unknown = {"", 1, "__length_of($1)"};

/* ---- Its arguments ---- */

struct output {
	FILE *file;
	struct span fields; /* the format text in front of its print fmt */
	int *helpers;       /* with arguments, so far */
	bool *is_whole;
};

/*
 * What stands between the parentheses that begin at at, between its commas. Returns
 * where it goes on behind them; NULL where these are not as many arguments.
 */
static const char *arguments(const char *at, const char *end, struct span *found, int nr)
{
	int depth = 0;
	int i = 0;

	at = skip_blanks(at, end);
	if (at == end || *at != '(')
		return NULL;
	found[0].begin = skip_blanks(at + 1, end);
	while (at < end) {
		if (*at == '"' || *at == '\'') {
			at = skip_quoted(at, end);
			continue;
		}
		depth += (*at == '(' || *at == '{') - (*at == ')' || *at == '}');
		if (depth == 0 || (depth == 1 && *at == ',')) {
			found[i++].end = at;
			if (depth == 0)
				return i == nr ? at + 1 : NULL;
			if (i == nr)
				return NULL;
			found[i].begin = skip_blanks(at + 1, end);
		}
		at++;
	}
	return NULL;
}

/* How many fields have the name; to REC->, it is the first of them. */
static int count_fields(struct span fields, struct span name)
{
	const size_t len = (size_t)(name.end - name.begin);
	int nr = 0;

	for (const char *at = fields.begin; at + len < fields.end; at++) {
		if ((*at != ' ' && *at != '*') || memcmp(at + 1, name.begin, len) != 0)
			continue;
		nr += at + 1 + len < fields.end && (at[1 + len] == ';' || at[1 + len] == '[');
	}
	return nr;
}

static void put(const struct output *to, struct span text, int depth);

/* libtraceevent takes names of ASCII only. */
static void put_name(FILE *to, struct span name)
{
	struct tp_buffer text = {.text = NULL};

	tp_buffer_put_identifier(&text, name.begin, (size_t)(name.end - name.begin));
	fwrite(text.text, 1, text.len, to);
	tp_buffer_free(&text);
}

/* Whether it has what put_name() may make of another's character. */
static bool may_be_another(struct span name)
{
	for (const char *at = name.begin; at + 1 < name.end; at++) {
		const char *digits = at + 2, *end = digits;
		if (at[0] != '_' || at[1] != 'u')
			continue;
		while (end < name.end && isxdigit((unsigned char)*end))
			end++;
		if (end > digits && end < name.end && *end == '_')
			return true;
	}
	return false;
}

/* The format in front of its print fmt. False: a name in it may have become another one's. */
static bool put_head(FILE *to, struct span text)
{
	bool is_ascii = true, is_clear = true;
	struct span word;

	for (; text.begin < text.end; text.begin = word.end) {
		word = (struct span){text.begin, text.begin};
		while (word.end < text.end && is_of_name(*word.end))
			word.end++;
		for (const char *at = word.begin; at < word.end; at++)
			is_ascii = is_ascii && *at != '$' && !(*at & 0x80);
		is_clear = is_clear && !may_be_another(word);
		if (word.end > word.begin)
			put_name(to, word);
		else
			fputc(*word.end++, to);
	}
	return is_ascii || is_clear;
}

static void put_rewritten(const struct output *to, const struct rewrite *rewrite, const struct span *found, int depth)
{
	for (const char *at = rewrite->becomes; *at; at++) {
		if (*at == '$')
			put(to, found[*++at - '1'], depth + 1);
		else
			fputc(*at, to->file);
	}
}

static const struct rewrite *rewrite_of(struct span word)
{
	for (size_t i = 0; i < sizeof(rewrites) / sizeof(rewrites[0]); i++) {
		size_t len = strlen(rewrites[i].helper);
		if ((size_t)(word.end - word.begin) == len && memcmp(word.begin, rewrites[i].helper, len) == 0)
			return &rewrites[i];
	}
	return NULL;
}

/* Writes the word at the text's begin, or what becomes of it. Returns where it goes on. */
static const char *put_word(const struct output *to, struct span text, int depth)
{
	struct span found[MAX_ARGUMENTS] = {{NULL, NULL}};
	struct span word = {text.begin, text.begin};

	while (word.end < text.end && is_of_name(*word.end))
		word.end++;
	const struct rewrite *rewrite = depth < MAX_DEPTH ? rewrite_of(word) : NULL;
	const char *behind = word.end;
	if (rewrite && rewrite->nr_arguments && ++*to->helpers > MAX_HELPERS)
		rewrite = NULL;
	if (rewrite && rewrite->nr_arguments)
		behind = arguments(word.end, text.end, found, rewrite->nr_arguments);
	if (rewrite && behind) {
		if (strstr(rewrite->becomes, "REC->") && count_fields(to->fields, found[0]) != 1)
			rewrite = &unknown;
		*to->is_whole = *to->is_whole && rewrite != &unknown;
		put_rewritten(to, rewrite, found, depth);
		return behind;
	}
	put_name(to->file, word);
	return word.end;
}

/* The number that a character constant is, quotes included; -1: it is not ASCII, or not one character. */
static int constant_value(struct span text)
{
	static const char escapes[] = "a\ab\be\033f\fn\nr\rt\tv\v\\\\''\"\"??";
	const char *at = text.begin + 1;
	const char *end = text.end - 1;
	char *behind;

	if (end <= at || *end != '\'' || (unsigned char)*at > 127)
		return -1;
	if (*at != '\\')
		return end - at == 1 ? *at : -1;
	for (const char *escape = escapes; end - at == 2 && *escape; escape += 2) {
		if (at[1] == *escape)
			return escape[1];
	}
	const bool is_hex = at[1] == 'x';
	if (!isxdigit((unsigned char)at[is_hex ? 2 : 1]))
		return -1;
	const unsigned long value = strtoul(at + (is_hex ? 2 : 1), &behind, is_hex ? 16 : 8);
	return behind == end && value <= 127 ? (int)value : -1;
}

/* What stands in quotes. libtraceevent takes all character constants for 0. Returns where it goes on. */
static const char *put_quoted(const struct output *to, struct span text)
{
	const char *next = skip_quoted(text.begin, text.end);
	const int value = *text.begin == '\'' ? constant_value((struct span){text.begin, next}) : -1;

	if (value >= 0)
		fprintf(to->file, "%d", value);
	else
		fwrite(text.begin, 1, (size_t)(next - text.begin), to->file);
	return next;
}

static void put(const struct output *to, struct span text, int depth)
{
	while (text.begin < text.end) {
		if (is_of_name(*text.begin)) {
			text.begin = put_word(to, text, depth);
			continue;
		}
		if (*text.begin == '"' || *text.begin == '\'')
			text.begin = put_quoted(to, text);
		else
			fputc(*text.begin++, to->file);
	}
}

/* ---- The format ---- */

/* With the backslashes that readers want. */
static void put_literal(FILE *to, struct span text)
{
	for (const char *at = text.begin; at < text.end; at++) {
		if (*at == '"' || *at == '\\')
			fputc('\\', to);
		fputs(*at == '\n' ? "\\n" : *at == '\t' ? "\\t" : (const char[]){*at, '\0'}, to);
	}
}

/* ---- Floating point ---- */

/*
 * libtraceevent prints the letter of such a conversion, and takes no argument for
 * it: all that come later would be printed with the wrong ones. So a field of
 * these types becomes its bits in hexadecimal, and an expression a "?".
 */
static const struct {
	const char *type;
	const char *size; /* in the format's line on it, as types may be called anything */
	const char *becomes;
} reals[] = {
	{"float", "size:4;", "0x%x"},
	{"double", "size:8;", "0x%llx"},
};

#define NR_REALS (sizeof(reals) / sizeof(reals[0]))

/* The line of the format text on the field; it ends where the text does where there is none. */
static struct span line_of(struct span fields, struct span name)
{
	const size_t len = (size_t)(name.end - name.begin);

	for (const char *at = fields.begin; at < fields.end;) {
		const char *newline = memchr(at, '\n', (size_t)(fields.end - at));
		const char *end = newline ? newline : fields.end;
		const char *semicolon = memchr(at, ';', (size_t)(end - at));
		if (semicolon && (size_t)(semicolon - at) > len && semicolon[-(ptrdiff_t)len - 1] == ' ' &&
		    memcmp(semicolon - len, name.begin, len) == 0)
			return (struct span){at, end};
		at = end + 1;
	}
	return (struct span){fields.end, fields.end};
}

/* How to print an argument of a conversion of floating point; NULL: not at all. */
static const char *real_becomes(const struct output *to, struct span argument)
{
	static const char record[] = "REC->";
	struct span name = {argument.begin + strlen(record), argument.end};

	if (argument.end - argument.begin <= (ptrdiff_t)strlen(record) ||
	    memcmp(argument.begin, record, strlen(record)) != 0)
		return NULL;
	for (const char *at = name.begin; at < name.end; at++) {
		if (!is_of_name(*at))
			return NULL;
	}
	struct span line = line_of(to->fields, name);
	for (size_t i = 0; i < NR_REALS; i++) {
		if (span_has(line, reals[i].type) && span_has(line, reals[i].size))
			return reals[i].becomes;
	}
	return NULL;
}

/* Writes format and arguments. False, and nothing is written, where there is no floating point in it. */
static bool put_with_reals(const struct output *to, struct span format, struct span behind)
{
	struct span found[MAX_CONVERSIONS];
	bool taken[MAX_CONVERSIONS] = {false};
	int nr = split_arguments(behind, found, MAX_CONVERSIONS);
	int next = 0, stars;
	bool any = false;

	for (const char *at = format.begin; at < format.end && nr > 0; at++) {
		if (*at != '%')
			continue;
		at = conversion_end(at + 1, format.end, &stars) - 1;
		any = any || strchr("eEfFgGaA", *at);
	}
	if (!any)
		return false;
	*to->is_whole = false;
	fputc('"', to->file);
	for (const char *at = format.begin; at < format.end;) {
		const char *percent = memchr(at, '%', (size_t)(format.end - at));
		put_literal(to->file, (struct span){at, percent ? percent : format.end});
		if (!percent)
			break;
		at = conversion_end(percent + 1, format.end, &stars);
		const char letter = at[-1];
		const int argument = next + stars;
		if (letter != '%')
			next = argument + 1;
		if (letter == '%' || !strchr("eEfFgGaA", letter) || argument >= nr) {
			put_literal(to->file, (struct span){percent, at});
			for (int i = argument - stars; letter != '%' && i <= argument && i < nr; i++)
				taken[i] = true;
			continue;
		}
		const char *becomes = real_becomes(to, found[argument]);
		fputs(becomes ? becomes : "?", to->file);
		taken[argument] = becomes != NULL;
	}
	fputc('"', to->file);
	for (int i = 0; i < nr; i++) {
		if (!taken[i])
			continue;
		fputs(", ", to->file);
		put(to, found[i], 0);
	}
	fputc('\n', to->file);
	return true;
}

/* Writes the format and its arguments. */
static void put_print(const struct output *to, struct span text)
{
	const char *end = text.begin < text.end && *text.begin == '"' ? format_end(text) : NULL;

	if (end) {
		struct span format = {text.begin + 1, end};
		text.begin = end + 1;
		if (put_with_reals(to, format, text))
			return;
		fputc('"', to->file);
		put_literal(to->file, format);
		fputc('"', to->file);
	}
	put(to, text, 0);
}

char *print_fmt_for_readers(const char *format, size_t len, size_t *new_len, bool *is_whole)
{
	static const char key[] = "\nprint fmt: ";
	const char *print = memmem(format, len, key, strlen(key));
	struct span text = {print ? print + strlen(key) : format + len, format + len};
	char *result = NULL;
	int helpers = 0;
	FILE *to = open_memstream(&result, new_len);

	if (!to) {
		fail_no_memory();
		return NULL;
	}
	*is_whole = true;
	if (len > MAX_LEN) {
		fwrite(format, 1, len, to);
		text.begin = text.end;
	} else {
		*is_whole = put_head(to, (struct span){format, text.begin});
	}
	put_print(&(struct output){to, {format, print ? print : format}, &helpers, is_whole}, text);
	bool failed = ferror(to);
	if (fclose(to) == 0 && !failed)
		return result;
	free(result);
	fail_no_memory();
	return NULL;
}

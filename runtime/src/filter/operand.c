/* SPDX-License-Identifier: MIT */
/*
 * filter/operand.c - see operand.h.
 */
#include <limits.h>
#include <string.h>

#include "filter/here.h"
#include "filter/operand.h"

/* 16 and above: no digit. */
static unsigned int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a' + 10) : UINT_MAX;
}

static bool parse_unsigned(const char *text, size_t len, uint64_t *value)
{
	unsigned int base = 10;

	if (len > 1 && text[0] == '0') {
		base = (text[1] | 0x20) == 'x' ? 16 : 8;
		text += base == 16 ? 2 : 1;
		len -= base == 16 ? 2 : 1;
	}
	*value = 0;
	for (size_t i = 0; i < len; i++) {
		const unsigned int digit = digit_of(text[i]);
		if (digit >= base || *value > (UINT64_MAX - digit) / base)
			return false;
		*value = *value * base + digit;
	}
	return len != 0;
}

bool tp_number_parse(const char *text, size_t len, bool is_signed, uint64_t *value)
{
	const bool negative = len && text[0] == '-';
	const uint64_t limit = is_signed ? (uint64_t)INT64_MAX + negative : UINT64_MAX;

	if (negative && !is_signed)
		return false;
	if (!parse_unsigned(text + negative, len - negative, value) || *value > limit)
		return false;
	if (negative)
		*value = -*value;
	return true;
}

uint64_t tp_number_truncate(uint64_t value, uint32_t bytes, bool is_signed)
{
	switch (bytes) {
	case 1:
		return is_signed ? (uint64_t)(int8_t)value : (uint8_t)value;
	case 2:
		return is_signed ? (uint64_t)(int16_t)value : (uint16_t)value;
	case 4:
		return is_signed ? (uint64_t)(int32_t)value : (uint32_t)value;
	default:
		return value;
	}
}

/*
 * Comparing a text with that of an expression. Globs are those of the kernel's lib/glob.c: "*", "?", "[a-z]", "[!a-z]", "\" in front of a
 * character that stands for itself; the whole text must match.
 */

enum tp_text_match tp_text_match_of(const char **pattern, uint32_t *len)
{
	const char *text = *pattern;
	const bool front = *len && text[0] == '*';
	const bool end = *len > 1 && text[*len - 1] == '*';
	const uint32_t inner = *len - front - end;

	for (uint32_t i = 0; i < inner; i++) {
		if (strchr("*?[\\", text[front + i]))
			return TP_TEXT_GLOB;
	}
	*pattern = text + front;
	*len = inner;
	return front && end ? TP_TEXT_CONTAINS : front ? TP_TEXT_ENDS : end ? TP_TEXT_BEGINS : TP_TEXT_EQUAL;
}

/*
 * Whether c is in the class whose "[" stands in front of *at, which goes on behind it. A class that is not closed is
 * none: then *at stays, and the "[" is a character.
 */
static bool class_has(const char **at, const char *end, unsigned char c, bool *is_class)
{
	const char *p = *at;
	const bool inverted = p < end && *p == '!';
	bool has = false;

	*is_class = false;
	p += inverted;
	for (const char *begin = p; p < end && (*p != ']' || p == begin); p++) {
		const unsigned char from = (unsigned char)*p;
		unsigned char to = from;
		if (end - p > 2 && p[1] == '-' && p[2] != ']') {
			to = (unsigned char)p[2];
			p += 2;
		}
		has = has || (from <= c && c <= to);
	}
	if (p >= end)
		return false;
	*is_class = true;
	*at = p + 1;
	return has != inverted;
}

/* Whether the character fits what stands at *at, which goes on behind that. */
static bool one_fits(const char **at, const char *end, char c)
{
	const char p = *(*at)++;
	bool is_class;

	switch (p) {
	case '?':
		return true;
	case '[': {
		const bool has = class_has(at, end, (unsigned char)c, &is_class);
		return is_class ? has : c == '[';
	}
	case '\\':
		return *at < end && *(*at)++ == c;
	default:
		return p == c;
	}
}

/* Where something does not fit, the last "*" takes one character more: those before it need not. */
static bool glob(const char *text, size_t len, const char *pattern, size_t pattern_len)
{
	const char *const end = text + len, *const pattern_end = pattern + pattern_len;
	const char *back = NULL, *back_text = NULL;

	for (;;) {
		if (pattern < pattern_end && *pattern == '*') {
			back = ++pattern;
			back_text = text;
			continue;
		}
		if (text == end) /* a "\\" at the end stands for itself no more, as in the kernel */
			return pattern == pattern_end || (pattern + 1 == pattern_end && *pattern == '\\');
		if (pattern < pattern_end && one_fits(&pattern, pattern_end, *text)) {
			text++;
			continue;
		}
		if (!back)
			return false;
		pattern = back;
		text = ++back_text;
	}
}

bool tp_text_matches(enum tp_text_match how, const char *text, size_t len, const char *pattern, size_t pattern_len)
{
	switch (how) {
	case TP_TEXT_EQUAL:
		return len == pattern_len && memcmp(text, pattern, len) == 0;
	case TP_TEXT_BEGINS:
		return len >= pattern_len && memcmp(text, pattern, pattern_len) == 0;
	case TP_TEXT_ENDS:
		return len >= pattern_len && memcmp(text + len - pattern_len, pattern, pattern_len) == 0;
	case TP_TEXT_CONTAINS:
		return memmem(text, len, pattern, pattern_len) != NULL;
	default:
		return glob(text, len, pattern, pattern_len);
	}
}

/* ---- Sets of processors. The syntax is that of the kernel's bitmap_parselist() ---- */

struct list {
	const char *at, *end;
	uint32_t last; /* processor of the machine */
};

static bool take(struct list *list, char c)
{
	if (list->at == list->end || *list->at != c)
		return false;
	list->at++;
	return true;
}

/* "N" is the last processor. */
static bool number(struct list *list, uint32_t *value)
{
	const char *begin = list->at;
	uint64_t sum = 0;

	if (take(list, 'N')) {
		*value = list->last;
		return true;
	}
	for (; list->at < list->end && *list->at >= '0' && *list->at <= '9'; list->at++) {
		sum = sum * 10 + (uint32_t)(*list->at - '0');
		if (sum > UINT32_MAX)
			return false;
	}
	*value = (uint32_t)sum;
	return list->at > begin;
}

static void add(struct tp_cpus *cpus, uint32_t cpu)
{
	if (!tp_cpus_has(cpus->bytes, TP_CPUS_BYTES, cpu)) {
		cpus->bytes[cpu / 8] = (uint8_t)(cpus->bytes[cpu / 8] | 1u << cpu % 8);
		cpus->nr++;
	}
	if (cpu > cpus->last)
		cpus->last = cpu;
}

/* "all", FIRST or FIRST-LAST; *one: FIRST alone, which has no groups. */
static bool bounds(struct list *list, uint32_t *first, uint32_t *last, bool *one)
{
	*one = false;
	if (list->end - list->at >= 3 && strncasecmp(list->at, "all", 3) == 0) {
		list->at += 3;
		*first = 0;
		*last = list->last;
		return true;
	}
	if (!number(list, first))
		return false;
	*one = !take(list, '-');
	if (!*one)
		return number(list, last);
	*last = *first;
	return true;
}

/* BOUNDS[:USED/GROUP]: of each group of so many, the first USED. */
static bool range(struct list *list, struct tp_cpus *cpus)
{
	uint32_t first, last, used = 1, group = 1;
	bool one;

	if (!bounds(list, &first, &last, &one))
		return false;
	if (!one && take(list, ':') && !(number(list, &used) && take(list, '/') && number(list, &group)))
		return false;
	if (first > last || last > list->last || !group || used > group)
		return false;
	for (uint32_t cpu = first; cpu <= last; cpu++) {
		if ((cpu - first) % group < used)
			add(cpus, cpu);
	}
	return true;
}

bool tp_cpus_parse(struct tp_cpus *cpus, const char *text, size_t len)
{
	struct list list = {text, text + len, tp_here_last_cpu()};

	*cpus = (struct tp_cpus){.nr = 0};
	while (list.at < list.end) {
		if (take(&list, ' ') || take(&list, '\t') || take(&list, ','))
			continue;
		if (!range(&list, cpus))
			return false;
		if (list.at < list.end && *list.at != ',' && *list.at != ' ' && *list.at != '\t')
			return false;
	}
	return len != 0;
}

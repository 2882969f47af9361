/* SPDX-License-Identifier: MIT */
#include "printk/type_name.h"

#include <ctype.h>
#include <string.h>
#include <sys/types.h>

#define SIGNED(name, type) {name, {TYPE_INTEGER, sizeof(type), true, false}, false}
#define UNSIGNED(name, type) {name, {TYPE_INTEGER, sizeof(type), false, false}, false}
#define SIGNED_WORD(name) {name, {TYPE_INTEGER, 0, true, false}, true}
#define UNSIGNED_WORD(name) {name, {TYPE_INTEGER, 0, false, false}, true}

/* Names that C's headers, or the kernel's, give to types. */
static const struct {
	const char *name;
	struct basic_type type;
	bool is_word; /* as wide as a long of the program, unless a field of 32-bit programs shows that they were told otherwise */
} names[] = {
	SIGNED("int8_t", int8_t), SIGNED("int16_t", int16_t), SIGNED("int32_t", int32_t), SIGNED("int64_t", int64_t),
	UNSIGNED("uint8_t", uint8_t), UNSIGNED("uint16_t", uint16_t), UNSIGNED("uint32_t", uint32_t), UNSIGNED("uint64_t", uint64_t),
	SIGNED("s8", int8_t), SIGNED("s16", int16_t), SIGNED("s32", int32_t), SIGNED("s64", int64_t),
	UNSIGNED("u8", uint8_t), UNSIGNED("u16", uint16_t), UNSIGNED("u32", uint32_t), UNSIGNED("u64", uint64_t),
	SIGNED("__s8", int8_t), SIGNED("__s16", int16_t), SIGNED("__s32", int32_t), SIGNED("__s64", int64_t),
	UNSIGNED("__u8", uint8_t), UNSIGNED("__u16", uint16_t), UNSIGNED("__u32", uint32_t), UNSIGNED("__u64", uint64_t),
	SIGNED_WORD("intptr_t"), UNSIGNED_WORD("uintptr_t"), SIGNED_WORD("ptrdiff_t"), SIGNED("intmax_t", intmax_t),
	UNSIGNED("uintmax_t", uintmax_t), UNSIGNED_WORD("size_t"), SIGNED_WORD("ssize_t"), SIGNED_WORD("off_t"),
	SIGNED("loff_t", int64_t), SIGNED_WORD("time_t"), SIGNED("pid_t", pid_t), UNSIGNED("uid_t", uid_t), UNSIGNED("gid_t", gid_t),
	UNSIGNED("gfp_t", unsigned int),
	UNSIGNED("mode_t", mode_t), UNSIGNED("dev_t", dev_t), UNSIGNED_WORD("ino_t"), UNSIGNED("uint", unsigned int),
	UNSIGNED_WORD("ulong"), UNSIGNED("ushort", unsigned short), UNSIGNED("u_int", unsigned int),
	{"bool", {TYPE_INTEGER, 1, false, true}, false}, {"_Bool", {TYPE_INTEGER, 1, false, true}, false},
	{"void", {TYPE_OTHER, 1, false, false}, false}, {"float", {TYPE_REAL, sizeof(float), true, false}, false},
};

/* How often C's own words are there. */
struct words {
	int chars, shorts, ints, longs, doubles, signeds, unsigneds, nr;
};

static bool is(struct span word, const char *text)
{
	return (size_t)(word.end - word.begin) == strlen(text) && memcmp(word.begin, text, strlen(text)) == 0;
}

static bool count_word(struct words *words, struct span word)
{
	int *counts[] = {&words->chars, &words->shorts, &words->ints, &words->longs, &words->doubles, &words->signeds, &words->unsigneds};
	static const char *const own[] = {"char", "short", "int", "long", "double", "signed", "unsigned"};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		if (is(word, own[i])) {
			words->nr++;
			return ++*counts[i] <= (counts[i] == &words->longs ? 2 : 1);
		}
	}
	return false;
}

static struct basic_type type_of_words(const struct words *words, uint32_t word)
{
	const bool is_signed = words->chars ? words->signeds || (!words->unsigneds && (char)-1 < 0) : !words->unsigneds;
	const size_t size = words->chars ? sizeof(char) : words->shorts ? sizeof(short) : words->longs == 2 ? LONGEST :
			    words->longs ? word : sizeof(int);

	if (words->doubles)
		return (struct basic_type){TYPE_REAL, words->longs ? sizeof(long double) : sizeof(double), true, false};
	return (struct basic_type){TYPE_INTEGER, (uint8_t)size, is_signed, false};
}

static struct basic_type basic_type_of(const struct field *field)
{
	const uint8_t size = (uint8_t)field->element_size;

	switch (field->kind) {
	case FIELD_SIGNED:
	case FIELD_UNSIGNED:
		return (struct basic_type){TYPE_INTEGER, size, field->kind == FIELD_SIGNED, false};
	case FIELD_REAL:
		return (struct basic_type){TYPE_REAL, size, true, false};
	case FIELD_POINTER:
		return (struct basic_type){TYPE_POINTER, size, false, false};
	case FIELD_TEXT:
		return type_text.target;
	default:
		return type_bytes.target;
	}
}

static bool find_type_of_field(struct span word, const struct fields *fields, struct basic_type *type)
{
	for (size_t i = 0; i < fields->nr; i++) {
		const struct field *field = &fields->fields[i];
		if (field->type_len != (size_t)(word.end - word.begin) || memcmp(field->type, word.begin, field->type_len) != 0)
			continue;
		*type = basic_type_of(field);
		return type->kind <= TYPE_REAL && type->size;
	}
	return false;
}

static bool find_name(struct span word, const struct fields *fields, struct basic_type *type)
{
	size_t i = 0;

	while (i < sizeof(names) / sizeof(names[0]) && !is(word, names[i].name))
		i++;
	if (i == sizeof(names) / sizeof(names[0]))
		return find_type_of_field(word, fields, type);
	if (names[i].is_word && fields->word < LONGEST && find_type_of_field(word, fields, type))
		return true;
	*type = names[i].type;
	if (names[i].is_word)
		type->size = (uint8_t)fields->word;
	return true;
}

static void skip(struct span *at)
{
	while (at->begin < at->end && isspace((unsigned char)*at->begin))
		at->begin++;
}

static struct span take_word(struct span *at)
{
	skip(at);
	struct span word = {at->begin, at->begin};
	while (word.end < at->end && is_of_name(*word.end))
		word.end++;
	at->begin = word.end;
	return word;
}

static bool is_qualifier(struct span word)
{
	return is(word, "const") || is(word, "volatile") || is(word, "__force") || is(word, "__user");
}

/* The words of a type, without the stars behind it. */
static bool take_words(struct span *at, const struct fields *fields, struct basic_type *type)
{
	struct words words = {.nr = 0};
	bool found = false;

	for (;;) {
		const struct span word = take_word(at);
		if (word.begin == word.end)
			break;
		if (is_qualifier(word))
			continue;
		if (!found && !words.nr && (is(word, "struct") || is(word, "union"))) {
			take_word(at);
			*type = (struct basic_type){TYPE_OTHER, 0, false, false};
			found = true;
		} else if (!found && !words.nr && is(word, "enum")) {
			take_word(at);
			*type = (struct basic_type){TYPE_INTEGER, sizeof(int), false, false};
			found = true;
		} else if (found || !count_word(&words, word)) {
			if (found || words.nr || !find_name(word, fields, type))
				return false;
			found = true;
		}
	}
	if (words.nr)
		*type = type_of_words(&words, fields->word);
	return found || words.nr;
}

bool type_name_take(struct span *text, const struct fields *fields, struct type *type)
{
	struct span at = *text;
	struct basic_type own;
	int stars = 0;

	skip(&at);
	if (at.begin == at.end || *at.begin++ != '(' || !take_words(&at, fields, &own))
		return false;
	do {
		for (; at.begin < at.end && (*at.begin == '*' || isspace((unsigned char)*at.begin)); at.begin++)
			stars += *at.begin == '*';
	} while (is_qualifier(take_word(&at)));
	if (at.begin == at.end || *at.begin++ != ')')
		return false;
	*type = (struct type){.own = own};
	if (stars)
		*type = (struct type){.own = type_bytes.own, .target = stars > 1 ? type_bytes.own : own};
	text->begin = at.begin;
	return true;
}

struct type type_of_field(const struct field *field)
{
	const struct basic_type type = basic_type_of(field);

	/* What a pointer in a record points to is not there. */
	return field->is_array ? (struct type){.own = type_bytes.own, .target = type} : (struct type){.own = type};
}

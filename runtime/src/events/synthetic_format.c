/* SPDX-License-Identifier: MIT */
/*
 * events/synthetic_format.c - see synthetic_format.h. What is wrong is said in the kernel's words, at the kernel's place.
 */
#define TP_RUNTIME /* and so no module, see tp/marker.h */

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "events/marker_format.h"
#include "events/synthetic_format.h"
#include "print/description.h"

#define BLANKS " \t\n"

/* ---- Types ---- */

struct type {
	const char *name;
	const char *conversion;
	uint32_t size;
	bool is_signed, is_char;
	bool is_long; /* several of them are a stack */
};

#define SIGNED(name, type, conversion) {name, conversion, sizeof(type), true, false, false}
#define UNSIGNED(name, type, conversion) {name, conversion, sizeof(type), false, false, false}

/* The kernel prints s8 and s16 by %d, of which its readers make large numbers. */
static const struct type types[] = {
	SIGNED("s64", int64_t, "%lld"), UNSIGNED("u64", uint64_t, "%llu"),
	SIGNED("s32", int32_t, "%d"), UNSIGNED("u32", uint32_t, "%u"),
	SIGNED("s16", int16_t, "%hd"), UNSIGNED("u16", uint16_t, "%u"),
	SIGNED("s8", int8_t, "%hhd"), UNSIGNED("u8", uint8_t, "%u"),
	{"char", CHAR_MIN < 0 ? "%hhd" : "%u", 1, CHAR_MIN < 0, true, false}, {"unsigned char", "%u", 1, false, true, false},
	SIGNED("int", int, "%d"), UNSIGNED("unsigned int", unsigned int, "%u"),
	{"long", "%ld", sizeof(long), true, false, true}, {"unsigned long", "%lu", sizeof(long), false, false, true},
	UNSIGNED("bool", bool, "%d"), SIGNED("pid_t", int32_t, "%d"),
};

#define NR_TYPES (sizeof(types) / sizeof(types[0]))

static void tell_types(struct tp_buffer *to)
{
	tp_buffer_printf(to, "there are ");
	for (size_t i = 0; i < NR_TYPES; i++)
		tp_buffer_printf(to, "%s, ", types[i].name);
	tp_buffer_printf(to, "char[N] and char[] for text, unsigned long[] for a stack");
}

static const struct type *type_of(const char *name, bool is_unsigned)
{
	static const char prefix[] = "unsigned ";
	const size_t skipped = is_unsigned ? strlen(prefix) : 0;

	for (size_t i = 0; i < NR_TYPES; i++) {
		if (strncmp(types[i].name, prefix, skipped) == 0 && strcmp(types[i].name + skipped, name) == 0)
			return &types[i];
	}
	return NULL;
}

/* ---- Words ---- */

struct parser {
	struct tp_synthetic_format *parsed;
	struct tp_filter_error *error;
};

/* Always false. */
static bool fail(struct parser *p, const char *at, const char *message)
{
	p->error->error = -EINVAL;
	p->error->at = (size_t)(at - p->parsed->text);
	p->error->message = message;
	return false;
}

static bool fail_command(struct parser *p)
{
	tp_buffer_printf(&p->error->hint, "for example: wakeup_latency u64 lat; pid_t pid; char comm[16]");
	return fail(p, p->parsed->text, "Command must be of the form: <name> field[;field] ...");
}

/* Cuts off the next word. NULL: there is none. */
static char *next_word(char **at)
{
	char *word = *at + strspn(*at, BLANKS);
	char *end = word + strcspn(word, BLANKS);

	*at = *end ? end + 1 : end;
	*end = '\0';
	return end > word ? word : NULL;
}

static unsigned int count_words(const char *text, const char *end)
{
	unsigned int nr = 0;

	for (text += strspn(text, BLANKS); text < end && *text; text += strspn(text, BLANKS)) {
		nr++;
		text += strcspn(text, BLANKS ";");
	}
	return nr;
}

static bool is_name(const char *text)
{
	static const char letters[] = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const size_t first = strspn(text, letters);

	return first && strlen(text) == first + strspn(text + first, "0123456789" "_abcdefghijklmnopqrstuvwxyz"
						       "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

/* ---- Fields ---- */

/* TYPE FIELD, and what is behind the bracket of either. */
struct words {
	char *type, *name;
	bool is_unsigned;
	char *type_array, *name_array; /* NULL: it has none */
};

static char *cut_bracket(char *word)
{
	char *bracket = strchr(word, '[');

	if (!bracket)
		return NULL;
	*bracket = '\0';
	return bracket + 1;
}

static bool take_words(struct parser *p, struct words *words, char *first, char **at)
{
	*words = (struct words){.type = first};
	words->is_unsigned = strcmp(first, "unsigned") == 0;
	if (words->is_unsigned) {
		words->type = next_word(at);
		words->name = words->type ? next_word(at) : NULL;
		if (!words->name)
			return fail(p, first, "Incomplete type");
	} else {
		words->name = next_word(at);
		if (!words->name)
			return fail(p, first, "Invalid field");
	}
	words->type_array = cut_bracket(words->type);
	words->name_array = cut_bracket(words->name);
	return true;
}

/* What the kernel takes as a name. */
static bool check_name_is_free(struct parser *p, const char *name)
{
	const struct tp_synthetic_format *parsed = p->parsed;

	if (tp_field_name_is_reserved(name)) {
		tp_buffer_printf(&p->error->hint, "readers of traces take '%s' for something else", name);
		return fail(p, name, "Illegal name");
	}
	for (uint32_t i = 0; i < parsed->nr; i++) {
		if (strcmp(parsed->fields[i].name, name) == 0) {
			tp_buffer_printf(&p->error->hint, "there is a field '%s' already", name);
			return fail(p, name, "Illegal name");
		}
	}
	return true;
}

/* Of what is behind a bracket: 0 where the bracket is closed at once, -1 where it is no number of bytes that a text has. */
static int length_of(const char *array)
{
	char *end;

	if (strcmp(array, "]") == 0)
		return 0;
	if (*array < '0' || *array > '9')
		return -1;
	const unsigned long length = strtoul(array, &end, 0);
	return strcmp(end, "]") == 0 && length && length <= TP_SYNTHETIC_TEXT_MAX ? (int)length : -1;
}

static uint32_t align_up(uint32_t offset, uint32_t align)
{
	return (offset + align - 1) / align * align;
}

static void add_field(struct tp_synthetic_format *parsed, const struct type *type, const char *name, enum tp_field_kind kind,
		      uint32_t size)
{
	const uint32_t align = kind == TP_ARRAY ? 1 : size;
	struct tp_event_field *field = &parsed->fields[parsed->nr];

	*field = (struct tp_event_field){
		.name = name, .type = type->name, .kind = kind, .type_class = TP_INTEGER,
		.offset = align_up(parsed->fixed_size, align), .size = size,
		.element_size = type->size, .element_align = type->size, .is_signed = type->is_signed, .is_char = type->is_char,
	};
	parsed->fixed_size = field->offset + size;
	parsed->conversions[parsed->nr++] = type->conversion;
}

static bool parse_field(struct parser *p, const struct words *words)
{
	const char *array = words->name_array ? words->name_array : words->type_array;
	const struct type *type = type_of(words->type, words->is_unsigned);

	if (!is_name(words->name))
		return fail(p, words->name, "Illegal name");
	if (!type || (array && !type->is_char && !type->is_long)) {
		tell_types(&p->error->hint);
		return fail(p, words->type, "Invalid type");
	}
	const int length = array ? length_of(array) : 0;
	if (length < 0 || (words->name_array && words->type_array)) {
		tp_buffer_printf(&p->error->hint, "[], or [1] to [%d]", TP_SYNTHETIC_TEXT_MAX);
		return fail(p, words->name_array ? words->name : words->type, "Invalid array specification");
	}
	if (!check_name_is_free(p, words->name))
		return false;
	if (p->parsed->nr == TP_SYNTHETIC_FIELDS_MAX) {
		tp_buffer_printf(&p->error->hint, "there can be %d", TP_SYNTHETIC_FIELDS_MAX);
		return fail(p, words->type, "Too many fields");
	}
	if (!array)
		add_field(p->parsed, type, words->name, TP_FIELD, type->size);
	else if (type->is_long)
		add_field(p->parsed, type, words->name, TP_DYNAMIC_ARRAY, sizeof(tp_data_loc_t));
	else if (!length)
		add_field(p->parsed, type, words->name, TP_STRING, sizeof(tp_data_loc_t));
	else
		add_field(p->parsed, type, words->name, TP_ARRAY, (uint32_t)length);
	return true;
}

/* As the kernel's oldest grammar, one without any semicolon. */
static bool parse_fields(struct parser *p, char *at)
{
	struct words words;

	for (char *part = at, *next; part; part = next) {
		next = strchr(part, ';');
		if (next)
			*next++ = '\0';
		for (char *word; (word = next_word(&part));) {
			if (!take_words(p, &words, word, &part) || !parse_field(p, &words))
				return false;
		}
	}
	return p->parsed->nr || fail_command(p);
}

/* ---- The whole ---- */

static void put_argument(struct tp_buffer *to, const struct tp_event_field *field)
{
	const unsigned int size = sizeof(long);

	switch (field->kind) {
	case TP_STRING:
		tp_buffer_printf(to, ", __get_str(%s)", field->name);
		break;
	case TP_DYNAMIC_ARRAY:
		tp_buffer_printf(to, ", __print_array(__get_dynamic_array(%s), __get_dynamic_array_len(%s) / %u, %u)",
				 field->name, field->name, size, size);
		break;
	default:
		tp_buffer_printf(to, ", REC->%s", field->name);
	}
}

static void put_print_fmt(struct tp_buffer *to, const struct tp_synthetic_format *parsed)
{
	tp_buffer_printf(to, "\"");
	for (uint32_t i = 0; i < parsed->nr; i++)
		tp_buffer_printf(to, "%s%s=%s", i ? " " : "", parsed->fields[i].name,
				 parsed->fields[i].kind == TP_FIELD ? parsed->conversions[i] : "%s");
	tp_buffer_printf(to, "\"");
	for (uint32_t i = 0; i < parsed->nr; i++)
		put_argument(to, &parsed->fields[i]);
}

static bool parse(struct parser *p)
{
	struct tp_synthetic_format *parsed = p->parsed;
	char *at = parsed->text;
	const unsigned int nr = count_words(at, at + strcspn(at, ";"));

	if (nr < 3) /* a name, a type and a field */
		return fail_command(p);
	const char *name = next_word(&at);
	if (!is_name(name))
		return fail(p, name, "Illegal name");
	if (strlen(name) > TP_SYNTHETIC_NAME_MAX) {
		tp_buffer_printf(&p->error->hint, "an event's has at most %d bytes", TP_SYNTHETIC_NAME_MAX);
		return fail(p, name, "Illegal name");
	}
	parsed->name = name;
	return parse_fields(p, at);
}

static void describe(struct tp_synthetic_format *parsed)
{
	struct tp_buffer print_fmt = {.text = NULL};

	put_print_fmt(&print_fmt, parsed);
	if (!print_fmt.failed)
		parsed->event_class = tp_class_new(&(struct tp_class_parts){
			.fields = parsed->fields, .nr_fields = parsed->nr, .fixed_size = parsed->fixed_size,
			.print_fmt = print_fmt.text,
		});
	tp_buffer_free(&print_fmt);
}

int tp_synthetic_format_parse(struct tp_synthetic_format *parsed, const char *definition, struct tp_filter_error *error)
{
	struct parser p = {.parsed = parsed, .error = error};
	const size_t size = strlen(definition) + 1;

	*error = (struct tp_filter_error){.error = 0};
	*parsed = (struct tp_synthetic_format){.fixed_size = sizeof(struct trace_entry)};
	parsed->text = tp_malloc(size);
	if (parsed->text) {
		memcpy(parsed->text, definition, size);
		if (parse(&p))
			describe(parsed);
	}
	if (!parsed->event_class && !error->error)
		error->error = -ENOMEM;
	return error->error;
}

void tp_synthetic_format_free(struct tp_synthetic_format *parsed)
{
	free(parsed->text);
	free(parsed->event_class);
}

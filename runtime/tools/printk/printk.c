/* SPDX-License-Identifier: MIT */
#include "printk/printk.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <tp/print.h>

#include "print/print.h"
#include "printk/conversion.h"
#include "printk/evaluate.h"

#define RESULTS_SIZE ((size_t)256 << 10) /* of one argument's helpers */
#define MAX_TEXT ((size_t)64 << 10)      /* of a print fmt: no event's is as long */
#define FIRST_ADDRESS 4096u              /* there is nothing at those before, nor at errors */
#define MAX_ERRNO 4095u
#define BYTES_MAX 64                     /* of %ph */

struct printk {
	struct fields fields;
	struct nodes nodes;
	struct conversion *conversions;
	size_t nr;
};

/* ---- Parsing ---- */

static struct conversion *add(struct printk *printk, const char *begin, const char *end)
{
	/* Twice as many whenever their number is a power of two. */
	if ((printk->nr & (printk->nr - 1)) == 0) {
		struct conversion *more = reallocarray(printk->conversions, printk->nr ? 2 * printk->nr : 1, sizeof(*more));
		if (!more)
			return NULL;
		printk->conversions = more;
	}
	struct conversion *conversion = &printk->conversions[printk->nr++];
	*conversion = (struct conversion){.before = {begin, end}};
	return conversion;
}

/* The arguments that are left. */
struct arguments {
	struct span *next;
	int nr;
};

static bool take_argument(struct printk *printk, struct arguments *arguments, struct node **node)
{
	if (arguments->nr < 1)
		return false;
	arguments->nr--;
	*node = expression_parse(&printk->nodes, &printk->fields, *arguments->next++);
	return *node != NULL;
}

static bool take_arguments(struct printk *printk, struct conversion *conversion, struct arguments *arguments)
{
	conversion->type = conversion_type(conversion, printk->fields.word);
	conversion_write_spec(&conversion->spec, conversion);
	if (conversion->letter == '%')
		return !conversion->has_width_star && !conversion->has_precision_star;
	return (!conversion->has_width_star || take_argument(printk, arguments, &conversion->star[0])) &&
	       (!conversion->has_precision_star || take_argument(printk, arguments, &conversion->star[1])) &&
	       take_argument(printk, arguments, &conversion->value);
}

static bool parse(struct printk *printk, struct span format, struct span behind)
{
	struct span found[MAX_CONVERSIONS];
	struct arguments arguments = {found, split_arguments(behind, found, MAX_CONVERSIONS)};

	for (const char *at = format.begin;;) {
		const char *percent = memchr(at, '%', (size_t)(format.end - at));
		struct conversion *conversion = add(printk, at, percent ? percent : format.end);
		if (!conversion)
			return false;
		if (!percent)
			return arguments.nr == 0;
		at = percent + 1;
		if (!conversion_take(conversion, &at, format.end) || !take_arguments(printk, conversion, &arguments))
			return false;
		conversion->plain = conversion_plain(conversion);
	}
}

static bool parse_format(struct printk *printk, const struct event_format *format)
{
	static const char key[] = "\nprint fmt: \"";
	const char *print = memmem(format->text, format->len, key, strlen(key));
	const char *end = format->text + format->len;

	if (!print || (size_t)(end - print) > MAX_TEXT)
		return false;
	const struct span text = {print + strlen(key) - 1, end};
	const char *quote = format_end(text);
	return quote && parse(printk, (struct span){text.begin + 1, quote}, (struct span){quote + 1, end});
}

struct printk *printk_new(const struct event_format *format)
{
	struct printk *printk = calloc(1, sizeof(*printk));

	if (!printk)
		return NULL;
	if (fields_of(&printk->fields, format) && parse_format(printk, format))
		return printk;
	printk_free(printk);
	return NULL;
}

void printk_free(struct printk *printk)
{
	if (!printk)
		return;
	nodes_free(&printk->nodes);
	free(printk->fields.fields);
	free(printk->conversions);
	free(printk);
}

/* ---- Printing ---- */

struct printing {
	struct trace_seq *text;
	uint32_t word; /* bytes of a long and of a pointer in the program */
	struct evaluation evaluation;
};

static bool star_value(struct printing *p, struct node *node, int *result)
{
	struct value value;

	if (!evaluate(&p->evaluation, node, &value) || !value_convert(&value, type_int))
		return false;
	*result = (int)value.integer;
	return *result <= MAX_WIDTH && *result >= -MAX_WIDTH;
}

/* Its spec for this record, maybe in room; NULL: a star has no value here. */
static const struct spec *spec_of(struct printing *p, const struct conversion *conversion, struct spec *room)
{
	if (!conversion->star[0] && !conversion->star[1])
		return &conversion->spec;
	*room = conversion->spec;
	if (conversion->star[0] && !star_value(p, conversion->star[0], &room->width))
		return NULL;
	if (conversion->star[1] && !star_value(p, conversion->star[1], &room->precision))
		return NULL;
	if (conversion->star[0] && room->width < 0) {
		room->is_left = room->is_star_below_0 = true;
		room->width = -room->width;
	}
	if (room->precision < 0)
		room->precision = -1;
	conversion_write_spec(room, conversion);
	return room;
}

/* Of a spec that is made of a conversion's parts, which were looked at. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* A number's digits end in the middle: so as many bytes as half of it can be copied, whatever their number is. */
#define DIGITS 24

static void put_digits(struct trace_seq *to, const char *begin, const char *end)
{
	const size_t len = (size_t)(end - begin);

	if (to->size - to->len <= DIGITS) {
		tp_line_bytes(to, begin, len);
		return;
	}
	memcpy(to->buffer + to->len, begin, DIGITS);
	to->len += len;
}

/* Most numbers are such. */
static void put_decimal(struct trace_seq *to, uint64_t number, bool is_signed)
{
	char digits[2 * DIGITS], *const end = digits + DIGITS;
	const bool is_negative = is_signed && (int64_t)number < 0;
	char *begin = tp_digits_before(end, is_negative ? 0 - number : number);

	if (is_negative)
		*--begin = '-';
	put_digits(to, begin, end);
}

/* So are most pointers. */
static void put_address(struct trace_seq *to, uint64_t address)
{
	char digits[2 * DIGITS], *const end = digits + DIGITS;
	char *begin = tp_hex_before(end, (uintptr_t)address, false);

	if (!(uintptr_t)address) { /* C libraries differ in what NULL looks like */
		trace_seq_printf(to, "%p", NULL);
		return;
	}
	*--begin = 'x';
	*--begin = '0';
	put_digits(to, begin, end);
}

static bool put_integer(struct printing *p, const struct conversion *conversion, const struct spec *spec, struct value *value)
{
	const bool is_char = conversion->letter == 'c';

	if (value->type.own.kind == TYPE_REAL || (is_char && *conversion->length) ||
	    !value_convert(value, conversion->type))
		return false;
	if (spec->is_plain)
		put_decimal(p->text, value->integer, value->type.own.is_signed);
	else if (is_char)
		trace_seq_printf(p->text, spec->text, (int)value->integer);
	else
		trace_seq_printf(p->text, spec->text, value->integer);
	return true;
}

static bool put_real(struct printing *p, const struct conversion *conversion, const struct spec *spec, const struct value *value)
{
	const bool is_long = strcmp(conversion->length, "L") == 0;

	if (value->type.own.kind != TYPE_REAL || is_long != (value->type.own.size == sizeof(long double)))
		return false;
	if (is_long)
		trace_seq_printf(p->text, spec->text, value->real);
	else
		trace_seq_printf(p->text, spec->text, (double)value->real);
	return true;
}

static void put_padded(struct trace_seq *to, const char *text, size_t len, const struct spec *spec)
{
	const int blanks = spec->width > 0 && (size_t)spec->width > len ? spec->width - (int)len : 0;

	if (blanks && !spec->is_left)
		trace_seq_printf(to, "%*s", blanks, "");
	tp_line_bytes(to, text, len);
	if (blanks && spec->is_left)
		trace_seq_printf(to, "%*s", blanks, "");
}

/* A text that does not end in its memory ends where that does. */
static bool put_text(struct printing *p, const struct conversion *conversion, const struct spec *spec, const struct value *value)
{
	static const char null[] = "(null)"; /* whole, or not at all, as the C library has it */
	const char *text = (const char *)value->at;

	if (value->type.own.kind != TYPE_POINTER || *conversion->length || (!text && value->integer))
		return false;
	const size_t precision = spec->precision >= 0 ? (size_t)spec->precision : SIZE_MAX;
	const size_t room = text ? (size_t)(value->end - value->at) : 0;
	if (text)
		put_padded(p->text, text, strnlen(text, precision < room ? precision : room), spec);
	else
		put_padded(p->text, null, precision < strlen(null) ? 0 : strlen(null), spec);
	return true;
}

/* ---- The kernel's %p ---- */

/* Bytes that the conversion reads; 0: it prints the address itself. n: of the width. */
static uint64_t bytes_read(const char *what, int n, const struct value *pointer)
{
	sa_family_t family;

	switch (*what) {
	case 'I':
	case 'i':
		if (what[1] != 'S')
			return what[1] == '4' ? 4 : 16;
		if (!value_has_bytes(pointer, sizeof(family)))
			return UINT64_MAX;
		memcpy(&family, pointer->at, sizeof(family));
		return family == AF_INET ? sizeof(struct sockaddr_in) : family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(family);
	case 'M':
	case 'm':
		return 6;
	case 'U':
		return 16;
	case 'h':
		return n < 0 ? 1 : n > BYTES_MAX ? BYTES_MAX : (uint64_t)n;
	case 'b':
		return n < 0 ? 0 : ((uint64_t)n + 7) / 8;
	case 'a':
		return sizeof(long);
	default:
		return 0;
	}
}

/* Of a 32-bit program: errors are behind the last address here, too. */
static uint64_t widened(uint64_t address, uint32_t word)
{
	return word < LONGEST && address > UINT32_MAX - MAX_ERRNO ? (uint64_t)(int32_t)address : address;
}

/* Only what has no bytes there: the runtime would say so, too. */
static bool is_no_address(uint64_t address)
{
	return address < FIRST_ADDRESS || address >= (uint64_t)-(int64_t)MAX_ERRNO;
}

/* Names of functions are not in the trace: it is a number, as without them. */
static bool is_symbol(const char *what)
{
	return strchr("SsBFf", *what) != NULL;
}

/* Its bytes are here, as many as the conversion reads; or there is nothing to read, and the text says so. */
static bool is_printable(const char *what, int n, const struct value *pointer, uint32_t word)
{
	if (!strchr("IiMmUhba", *what))
		return !pointer->at; /* where it was is not in the trace */
	if (word != sizeof(long) && strchr("ba", *what))
		return false; /* they are read by this program's longs */
	const uint64_t size = bytes_read(what, n, pointer);
	return pointer->at ? value_has_bytes(pointer, size) : !size || is_no_address(pointer->integer);
}

static bool put_kernel_pointer(struct printing *p, const struct conversion *conversion, const struct spec *spec,
			       const struct value *value)
{
	struct trace_seq *results = p->evaluation.results;
	const char *what = conversion->pointer;
	const bool is_counted = strchr("hb", *what) && (conversion->star[0] || spec->width >= 0);
	const int n = is_counted ? (spec->is_star_below_0 ? 0 : spec->width) : -1;
	const char *text = results->buffer + results->len;

	const struct value widened_value = {
		.type = value->type, .integer = widened(value->integer, p->word), .at = value->at, .begin = value->begin, .end = value->end,
	};
	if (value->type.own.kind == TYPE_REAL || !is_printable(what, n, &widened_value, p->word))
		return false;
	if (is_symbol(what))
		trace_seq_printf(results, "0x%llx", (unsigned long long)value->integer);
	else if (strchr("xK", *what))
		trace_seq_printf(results, "%0*llx", 2 * (int)p->word, (unsigned long long)value->integer);
	else
		text = tp_seq_pointer(results, what, n, value->at ? (const void *)value->at : (const void *)(uintptr_t)widened_value.integer);
	if (is_counted)
		trace_seq_puts(p->text, text);
	else
		put_padded(p->text, text, strlen(text), spec);
	return true;
}

static bool put_pointer(struct printing *p, const struct conversion *conversion, const struct spec *spec, const struct value *value)
{
	if (*conversion->pointer)
		return put_kernel_pointer(p, conversion, spec, value);
	if (value->type.own.kind == TYPE_REAL || value->at)
		return false; /* where it was is not in the trace */
	if (spec->is_plain)
		put_address(p->text, value->integer);
	else
		trace_seq_printf(p->text, spec->text, (void *)(uintptr_t)value->integer);
	return true;
}

/* ---- All of it ---- */

static void put_plain_text(struct printing *p, const struct node *node)
{
	const unsigned char *record = p->evaluation.record, *at = record + node->offset;
	uint32_t size;

	if (node->kind == NODE_PAYLOAD)
		at = field_payload(node->field, record, p->evaluation.size, &size);
	tp_line_bytes(p->text, (const char *)at, strnlen((const char *)at, (size_t)(record + p->evaluation.size - at)));
}

static void put_plain(struct printing *p, const struct conversion *conversion)
{
	const struct field *field = conversion->value->field;
	const unsigned char *at = p->evaluation.record + field->place.offset;

	if (conversion->plain == PLAIN_TEXT)
		put_plain_text(p, conversion->value);
	else if (conversion->plain == PLAIN_ADDRESS)
		put_address(p->text, field_number(field, at));
	else
		put_decimal(p->text, field_number(field, at), conversion->plain == PLAIN_SIGNED);
}

static bool put_conversion(struct printing *p, const struct conversion *conversion)
{
	struct value value;
	struct spec room;

	tp_line_bytes(p->text, conversion->before.begin, (size_t)(conversion->before.end - conversion->before.begin));
	if (!conversion->letter)
		return true;
	if (conversion->letter == '%') {
		trace_seq_putc(p->text, '%');
		return true;
	}
	if (conversion->plain) {
		put_plain(p, conversion);
		return true;
	}
	p->evaluation.results->len = 0;
	const struct spec *spec = spec_of(p, conversion, &room);
	if (!spec || !evaluate(&p->evaluation, conversion->value, &value) || p->evaluation.results->full)
		return false;
	switch (conversion->letter) {
	case 'd':
	case 'i':
	case 'o':
	case 'u':
	case 'x':
	case 'X':
	case 'c':
		return put_integer(p, conversion, spec, &value);
	case 's':
		return put_text(p, conversion, spec, &value);
	case 'p':
		return put_pointer(p, conversion, spec, &value);
	default:
		return put_real(p, conversion, spec, &value);
	}
}

/* One for all events: tp has one thread. */
static char result_memory[RESULTS_SIZE];

bool printk_put(struct printk *printk, struct trace_seq *text, const unsigned char *record, uint32_t size)
{
	const struct trace_seq as_before = *text;
	struct trace_seq results;
	struct printing p = {.text = text, .word = printk->fields.word, .evaluation = {.record = record, .size = size, .results = &results}};

	trace_seq_init(&results, result_memory, sizeof(result_memory));
	for (size_t i = 0; i < printk->nr; i++) {
		if (!put_conversion(&p, &printk->conversions[i])) {
			*text = as_before;
			return false;
		}
	}
	text->buffer[text->len] = '\0';
	return true;
}

/* ---- Tables ---- */

/* Whether it is the value of the field, which the helpers may have cast to a long before. */
static bool is_field(const struct node *node, const char *name, size_t len, uint32_t word)
{
	while (node->kind == NODE_CONVERT && node->type.own.kind == TYPE_INTEGER && node->type.own.size >= word)
		node = node->children[0];
	return node->kind == NODE_FIELD && node->field && node->field->name_len == len && memcmp(node->field->name, name, len) == 0;
}

struct tp_symbols *printk_symbols(struct printk *printk, const char *field, size_t len)
{
	struct evaluation evaluation = {.size = 0}; /* a table has constants alone */

	for (size_t i = 0; i < printk->nr; i++) {
		struct node *value = printk->conversions[i].value;
		if (value && value->kind == NODE_CALL && value->entries && is_field(value->children[0], field, len, printk->fields.word))
			return evaluate_table(&evaluation, value);
	}
	return NULL;
}

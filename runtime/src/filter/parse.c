/* SPDX-License-Identifier: MIT */
/*
 * filter/parse.c - an expression becomes a tree. The grammar is that of the kernel's trace_events_filter.c:
 *
 *	or    := and { "||" and }
 *	and   := not { "&&" not }
 *	not   := { "!" } ( "(" or ")" | FIELD [".ustring"] [".function"] OP VALUE )
 *
 * Which fields there are, and what they may be compared with, is the compiler's to know.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "filter/decimal.h"
#include "filter/here.h"
#include "filter/operand.h"
#include "filter/tree.h"

#define STRING_MAX 255 /* as in the kernel */

struct parser {
	struct tp_filter *filter;
	struct tp_filter_error *error;
	const char *text;
	uint32_t at;
	uint32_t depth;
};

static bool fail(const struct parser *p, size_t at, const char *message)
{
	return tp_filter_fail(p->error, at, message);
}

/* ---- Characters, whatever the locale is ---- */

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Compilers take dollars in names, and characters of UTF-8. */
static bool is_of_name(char c)
{
	return is_alnum(c) || c == '_' || c == '$' || c & 0x80;
}

static char skip_blanks(struct parser *p)
{
	while (is_blank(p->text[p->at]))
		p->at++;
	return p->text[p->at];
}

static bool take(struct parser *p, const char *token)
{
	const size_t len = strlen(token);

	if (strncmp(p->text + p->at, token, len) != 0)
		return false;
	p->at += (uint32_t)len;
	return true;
}

/* ---- Nodes ---- */

/* TP_FILTER_NONE: no memory. */
static uint32_t node_new(struct parser *p, enum tp_filter_kind kind, uint32_t child)
{
	struct tp_filter *filter = p->filter;

	if (filter->nr_nodes == filter->room) {
		const uint32_t room = filter->room ? 2 * filter->room : 8;
		struct tp_filter_node *nodes = tp_malloc(room * sizeof(*nodes));
		if (!nodes) {
			tp_filter_fail_memory(p->error);
			return TP_FILTER_NONE;
		}
		if (filter->nr_nodes)
			memcpy(nodes, filter->nodes, filter->nr_nodes * sizeof(*nodes));
		free(filter->nodes);
		filter->nodes = nodes;
		filter->room = room;
	}
	filter->nodes[filter->nr_nodes] = (struct tp_filter_node){
		.kind = kind,
		.child = child,
		.next = TP_FILTER_NONE,
		.first = child == TP_FILTER_NONE ? filter->nr_predicates : filter->nodes[child].first,
	};
	return filter->nr_nodes++;
}

/* ---- Values ---- */

static bool string(struct parser *p, struct tp_filter_predicate *predicate)
{
	const char quote = p->text[p->at++];
	const char *end = strchr(p->text + p->at, quote);

	if (!end)
		return fail(p, predicate->value_at, "Missing matching quote");
	const size_t len = (size_t)(end - p->text) - p->at;
	if (len > STRING_MAX)
		return fail(p, predicate->value_at, "Operand too long");
	predicate->kind = TP_FILTER_STRING;
	predicate->value = (struct tp_filter_span){p->at, (uint32_t)len};
	p->at += (uint32_t)len + 1;
	return true;
}

/* "1.5", "-2e-3", and whatever else has no blanks in it: the field's type says what it may be. */
static bool number(struct parser *p, struct tp_filter_predicate *predicate)
{
	const uint32_t begin = p->at;
	uint32_t max = TP_NUMBER_MAX;

	if (p->text[p->at] == '-' && !is_alnum(p->text[++p->at]) && p->text[p->at] != '.')
		return fail(p, begin, "Illegal integer value");
	const bool hexadecimal = p->text[p->at] == '0' && (p->text[p->at + 1] | 0x20) == 'x';
	for (;; p->at++) {
		const char *c = p->text + p->at;
		const bool sign = !hexadecimal && (*c == '-' || *c == '+') && (c[-1] | 0x20) == 'e';
		if (*c == '.' || sign)
			max = TP_DECIMAL_MAX;
		else if (!is_alnum(*c))
			break;
	}
	if (p->at - begin > max)
		return fail(p, begin, "Operand too long");
	predicate->kind = TP_FILTER_NUMBER;
	predicate->value = (struct tp_filter_span){begin, p->at - begin};
	return true;
}

static bool cpus(struct parser *p, struct tp_filter_predicate *predicate)
{
	if (!take(p, "{"))
		return fail(p, p->at, "Missing '{'");
	const char *end = strchr(p->text + p->at, '}');
	if (!end)
		return fail(p, strlen(p->text), "Missing '}'");
	predicate->kind = TP_FILTER_CPUS;
	predicate->value = (struct tp_filter_span){p->at, (uint32_t)(end - p->text) - p->at};
	p->at = (uint32_t)(end - p->text) + 1;
	return true;
}

/*
 * A function's name, or an address in it. Here and not where it is compiled, as the loader is asked, whose lock others
 * hold when they come for the events'.
 */
static bool function(struct parser *p, struct tp_filter_predicate *predicate)
{
	const uint32_t begin = p->at;
	const bool is_address = is_digit(p->text[p->at]);
	uint64_t address = 0, size = 0;
	char name[STRING_MAX + 1];

	if (predicate->op != TP_FILTER_EQ && predicate->op != TP_FILTER_NE)
		return fail(p, begin, "Invalid operator");
	while (p->text[p->at] && !is_blank(p->text[p->at]) && !strchr(")&|", p->text[p->at]))
		p->at++;
	const uint32_t len = p->at - begin;
	if (len > STRING_MAX)
		return fail(p, begin, "Operand too long");
	memcpy(name, p->text + begin, len);
	name[len] = '\0';
	if (is_address && !tp_number_parse(name, len, false, &address))
		return fail(p, begin, "Invalid value (did you forget quotes)?");
	if (is_address ? !tp_here_function_at(&address, &size, &p->error->hint) :
			 !tp_here_function(name, &address, &size, &p->error->hint))
		return fail(p, begin, "Function not found");
	predicate->kind = TP_FILTER_FUNCTION;
	predicate->value = (struct tp_filter_span){begin, len};
	predicate->function = address;
	predicate->function_size = size;
	return true;
}

/* "1", "-1", ".5", "inf"; nan is refused where the field is known. */
static bool begins_number(const char *text)
{
	const size_t word = strspn(text, "infa");

	return is_digit(*text) || *text == '-' || (*text == '.' && is_digit(text[1])) ||
	       (word == 3 && !is_of_name(text[3]) && (memcmp(text, "inf", 3) == 0 || memcmp(text, "nan", 3) == 0));
}

static bool value(struct parser *p, struct tp_filter_predicate *predicate)
{
	const char c = skip_blanks(p);

	predicate->value_at = p->at;
	if (predicate->kind == TP_FILTER_FUNCTION)
		return function(p, predicate);
	if (take(p, "CPUS"))
		return cpus(p, predicate);
	if (c == '"' || c == '\'')
		return string(p, predicate);
	if (begins_number(p->text + p->at))
		return number(p, predicate);
	return fail(p, p->at, "Invalid value (did you forget quotes)?");
}

/* ---- Predicates and what is between them ---- */

const char *const tp_filter_op_names[] = {
	[TP_FILTER_GLOB] = "~", [TP_FILTER_NE] = "!=", [TP_FILTER_EQ] = "==", [TP_FILTER_LE] = "<=",
	[TP_FILTER_LT] = "<", [TP_FILTER_GE] = ">=", [TP_FILTER_GT] = ">", [TP_FILTER_BAND] = "&",
};

/* False: there is none. */
static bool operator(struct parser *p, enum tp_filter_op *op)
{
	for (size_t i = 0; i <= TP_FILTER_BAND; i++) {
		if (take(p, tp_filter_op_names[i])) {
			*op = (enum tp_filter_op)i;
			return true;
		}
	}
	return false;
}

/* The kernel has no text for one inside an expression. */
static void fail_without_field(const struct parser *p)
{
	if (p->text[p->at])
		fail(p, p->at, "A field's name is missing");
	else if (p->filter->nr_predicates)
		fail(p, p->at, "Meaningless filter expression");
	else
		fail(p, p->at, "No filter found");
}

static uint32_t predicate(struct parser *p)
{
	struct tp_filter_predicate made = {.field.at = p->at};

	while (is_of_name(p->text[p->at]))
		p->at++;
	made.field.len = p->at - made.field.at;
	if (!made.field.len) {
		fail_without_field(p);
		return TP_FILTER_NONE;
	}
	made.ustring = take(p, ".ustring");
	if (take(p, ".function"))
		made.kind = TP_FILTER_FUNCTION;
	else
		made.kind = TP_FILTER_NUMBER;
	skip_blanks(p);
	if (!operator(p, &made.op)) {
		fail(p, p->at, "Invalid operator");
		return TP_FILTER_NONE;
	}
	if (!value(p, &made))
		return TP_FILTER_NONE;
	const uint32_t node = node_new(p, TP_FILTER_PREDICATE, TP_FILTER_NONE);
	if (node != TP_FILTER_NONE) {
		p->filter->nodes[node].predicate = made;
		p->filter->nr_predicates++;
	}
	return node;
}

static uint32_t any_of(struct parser *p);

static uint32_t parentheses(struct parser *p)
{
	const uint32_t open = p->at;

	if (p->depth == TP_FILTER_DEPTH) {
		fail(p, open, "Too many nested parentheses");
		return TP_FILTER_NONE;
	}
	p->at++;
	p->depth++;
	const uint32_t node = any_of(p);
	p->depth--;
	if (node == TP_FILTER_NONE)
		return TP_FILTER_NONE;
	if (skip_blanks(p) == ')') {
		p->at++;
		return node;
	}
	if (p->text[p->at])
		fail(p, p->at, "Too many terms in predicate expression");
	else
		fail(p, open, "Too many '('");
	return TP_FILTER_NONE;
}

static uint32_t not(struct parser *p)
{
	bool inverted = false;

	while (skip_blanks(p) == '!' && p->text[p->at + 1] != '=' && p->text[p->at + 1] != '~') {
		inverted = !inverted;
		p->at++;
	}
	const uint32_t node = p->text[p->at] == '(' ? parentheses(p) : predicate(p);
	return inverted && node != TP_FILTER_NONE ? node_new(p, TP_FILTER_NOT, node) : node;
}

/* One or several of the same kind, with the operator in between. */
static uint32_t chain(struct parser *p, enum tp_filter_kind kind, const char *between, uint32_t (*one)(struct parser *p))
{
	uint32_t last = one(p);
	uint32_t node = last;

	while (last != TP_FILTER_NONE) {
		skip_blanks(p);
		if (!take(p, between))
			return node;
		const uint32_t next = one(p);
		if (next == TP_FILTER_NONE)
			break;
		if (node == last)
			node = node_new(p, kind, last);
		if (node == TP_FILTER_NONE)
			break;
		p->filter->nodes[last].next = next;
		last = next;
	}
	return TP_FILTER_NONE;
}

static uint32_t all_of(struct parser *p)
{
	return chain(p, TP_FILTER_AND, "&&", not);
}

static uint32_t any_of(struct parser *p)
{
	return chain(p, TP_FILTER_OR, "||", all_of);
}

static bool parse(struct parser *p)
{
	p->filter->root = any_of(p);
	if (p->filter->root == TP_FILTER_NONE)
		return false;
	const char c = skip_blanks(p);
	if (c)
		return fail(p, p->at, c == ')' ? "Too few '('" : "Too many terms in predicate expression");
	return true;
}

/* ---- Quotes and parentheses ---- */

/* The next byte that is a parenthesis or a quote; or the end. */
static const char *next_mark(const char *text)
{
	return text + strcspn(text, "()'\"");
}

/* In a text at whose end depth of them are open: the last "(" that nothing closes is the last one that opens that depth. */
static size_t unclosed(const char *text, size_t depth)
{
	size_t open = 0, found = 0;

	for (const char *at = next_mark(text); *at; at = next_mark(at + 1)) {
		if (*at == '(' && ++open == depth)
			found = (size_t)(at - text);
		else if (*at == ')')
			open--;
		else if (*at != '(')
			at = strchr(at + 1, *at);
	}
	return found;
}

/* Whether each has its other half: as in the kernel, what is said first where several things are wrong. */
static bool all_paired(const char *text, struct tp_filter_error *error)
{
	size_t open = 0;

	for (const char *at = next_mark(text); *at; at = next_mark(at + 1)) {
		const size_t where = (size_t)(at - text);
		if (*at == '(') {
			open++;
		} else if (*at == ')') {
			if (!open--)
				return tp_filter_fail(error, where, "Too few '('");
		} else {
			at = strchr(at + 1, *at);
			if (!at)
				return tp_filter_fail(error, where, "Missing matching quote");
		}
	}
	return open ? tp_filter_fail(error, unclosed(text, open), "Too many '('") : true;
}

/* ---- The tree ---- */

struct tp_filter *tp_filter_new(const char *text, struct tp_filter_error *error)
{
	const size_t len = strnlen(text, TP_FILTER_MAX + 1);

	*error = (struct tp_filter_error){.error = 0};
	if (len > TP_FILTER_MAX) {
		tp_filter_fail(error, 0, "The filter is longer than 65535 bytes");
		return NULL;
	}
	struct tp_filter *filter = tp_malloc(sizeof(*filter) + len + 1);
	if (!filter) {
		tp_filter_fail_memory(error);
		return NULL;
	}
	*filter = (struct tp_filter){.text = (char *)(filter + 1)};
	memcpy(filter->text, text, len + 1);
	struct parser p = {.filter = filter, .error = error, .text = filter->text};
	if (all_paired(filter->text, error) && parse(&p))
		return filter;
	tp_filter_free(filter);
	return NULL;
}

void tp_filter_free(struct tp_filter *filter)
{
	if (filter)
		free(filter->nodes);
	free(filter);
}

const char *tp_filter_text(const struct tp_filter *filter)
{
	return filter->text;
}

/* ---- What is wrong with an expression, for a person ---- */

/* Of an expression, in a line that has other things in it. */
#define SHOWN 40

bool tp_filter_fail(struct tp_filter_error *error, size_t at, const char *message)
{
	error->error = -EINVAL;
	error->at = at;
	error->message = message;
	return false;
}

bool tp_filter_fail_memory(struct tp_filter_error *error)
{
	tp_filter_fail(error, 0, "out of memory");
	error->error = -ENOMEM;
	return false;
}

void tp_filter_error_print(struct tp_buffer *to, const char *text, const struct tp_filter_error *error)
{
	const bool hint = error->hint.text && !error->hint.failed;

	tp_buffer_printf(to, "%s\n", text);
	for (size_t i = 0; i < error->at; i++) {
		if (((unsigned char)text[i] & 0xc0) != 0x80) /* a character of several bytes has one column */
			tp_buffer_printf(to, "%c", text[i] == '\t' ? '\t' : ' ');
	}
	tp_buffer_printf(to, "^\nparse_error: %s%s%s", error->message, hint ? ": " : "", hint ? error->hint.text : "");
}

/* A character is not cut in two. */
static size_t shown_len(const char *text)
{
	size_t len = strnlen(text, SHOWN);

	while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
		len--;
	return len;
}

void tp_filter_error_print_line(struct tp_buffer *to, const char *text, const struct tp_filter_error *error)
{
	const char *rest = text + error->at;
	const bool hint = error->hint.text && !error->hint.failed;
	const size_t len = shown_len(rest);

	if (*rest)
		tp_buffer_printf(to, "%s, at '%.*s%s'", error->message, (int)len, rest, rest[len] ? "..." : "");
	else
		tp_buffer_printf(to, "%s, at the end", error->message);
	if (hint)
		tp_buffer_printf(to, ": %s", error->hint.text);
}

void tp_filter_error_free(struct tp_filter_error *error)
{
	tp_buffer_free(&error->hint);
	*error = (struct tp_filter_error){.error = 0};
}

bool tp_filter_error_keep(struct tp_filter_error *first, struct tp_filter_error *error)
{
	if (first->error && (error->lacks_field || !first->lacks_field)) {
		tp_filter_error_free(error);
		return false;
	}
	tp_filter_error_free(first);
	*first = *error;
	return true;
}

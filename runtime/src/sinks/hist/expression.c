/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/expression.c - an expression becomes nodes of the tree:
 *
 *	expression := sum | "-(" sum ")"
 *	sum        := product { ("+" | "-") product }
 *	product    := term { ("*" | "/") term }
 *	term       := NUMBER | ["SYS.EV."] "$" NAME | FIELD ["." MODIFIER]
 *
 * with at most three operators. Messages and their places are the kernel's.
 */
#include <string.h>

#include "filter/operand.h"
#include "sinks/hist/definition.h"

#define SYM_OFFSET "sym-offset"

const char *const tp_hist_modifier_names[] = {
	[TP_HIST_PLAIN] = "", [TP_HIST_HEX] = "hex", [TP_HIST_SYM] = "sym", [TP_HIST_SYM_OFFSET] = SYM_OFFSET,
	[TP_HIST_SYSCALL] = "syscall", [TP_HIST_EXECNAME] = "execname", [TP_HIST_LOG2] = "log2",
	[TP_HIST_USECS] = "usecs", [TP_HIST_BUCKETS] = "buckets", [TP_HIST_PERCENT] = "percent",
	[TP_HIST_GRAPH] = "graph", [TP_HIST_STACKTRACE] = "stacktrace",
};

#define NR_MODIFIERS (sizeof(tp_hist_modifier_names) / sizeof(tp_hist_modifier_names[0]))

struct parser {
	struct tp_hist_definition *definition;
	struct tp_filter_error *error;
	const char *text;
	uint32_t at, end;
	uint32_t begin; /* of the whole expression */
	uint32_t nr_operators;
};

static bool fail(const struct parser *p, size_t at, const char *message)
{
	return tp_filter_fail(p->error, at, message);
}

static bool is_at(const struct parser *p, uint32_t at, char c)
{
	return at < p->end && p->text[at] == c;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* There is room: it was measured by the text. */
static uint32_t node_add(const struct parser *p, struct tp_hist_node node)
{
	p->definition->nodes[p->definition->nr_nodes] = node;
	return p->definition->nr_nodes++;
}

static bool count_operator(struct parser *p)
{
	return ++p->nr_operators <= TP_HIST_OPERATORS || fail(p, p->begin, "Too many subexpressions (3 max)");
}

/* ---- Terms ---- */

/* The end of what begins at p->at: an operator; but "sym-offset" is a modifier. */
static uint32_t term_end(const struct parser *p)
{
	uint32_t end = p->at;

	while (end < p->end && !strchr("+-*/()", p->text[end])) {
		const bool dot = p->text[end++] == '.';
		if (dot && p->end - end >= strlen(SYM_OFFSET) && memcmp(p->text + end, SYM_OFFSET, strlen(SYM_OFFSET)) == 0)
			end += (uint32_t)strlen(SYM_OFFSET);
	}
	return end;
}

static bool number(const struct parser *p, struct tp_hist_node *node)
{
	node->kind = TP_HIST_NUMBER;
	return tp_number_parse(p->text + node->span.at, node->span.len, false, &node->number) ||
	       fail(p, node->span.at, "Expecting numeric literal");
}

static bool bad_modifier(const struct parser *p, struct tp_hist_span modifier)
{
	for (size_t i = TP_HIST_PLAIN + 1; i < NR_MODIFIERS; i++)
		tp_buffer_printf(&p->error->hint, "%s%s%s", i > TP_HIST_PLAIN + 1 ? ", " : "there are ",
				 tp_hist_modifier_names[i], i == TP_HIST_BUCKETS ? "=N" : "");
	return fail(p, modifier.at, "Invalid field modifier");
}

/* "buckets=N" or "bucket=N" */
static bool buckets(const struct parser *p, struct tp_hist_node *node, struct tp_hist_span modifier)
{
	const char *text = p->text + modifier.at;
	const size_t name = strlen("bucket") + (modifier.len > strlen("bucket") && text[strlen("bucket")] == 's');

	if (modifier.len <= name || text[name] != '=' ||
	    !tp_number_parse(text + name + 1, modifier.len - name - 1, false, &node->number) || !node->number)
		return bad_modifier(p, modifier);
	node->modifier = TP_HIST_BUCKETS;
	return true;
}

static bool modifier(const struct parser *p, struct tp_hist_node *node, struct tp_hist_span span)
{
	node->modifier_span = span;
	if (span.len >= strlen("bucket") && memcmp(p->text + span.at, "bucket", strlen("bucket")) == 0)
		return buckets(p, node, span);
	for (size_t i = TP_HIST_PLAIN + 1; i < NR_MODIFIERS; i++) {
		if (tp_hist_span_is(p->definition, span, tp_hist_modifier_names[i])) {
			node->modifier = (enum tp_hist_modifier)i;
			p->definition->stamps_in_usecs |= i == TP_HIST_USECS;
			return true;
		}
	}
	return bad_modifier(p, span);
}

static struct tp_hist_span between(const char *from, const char *to, const struct parser *p)
{
	return (struct tp_hist_span){(uint32_t)(from - p->text), (uint32_t)(to - from)};
}

static bool variable(const struct parser *p, struct tp_hist_node *node, const char *name, const char *end)
{
	node->kind = TP_HIST_VARIABLE;
	node->name = between(name + 1, end, p);
	return node->name.len || fail(p, node->span.at, "Couldn't find variable");
}

/* A field, or a variable's name, perhaps behind a system and an event. */
static bool name(const struct parser *p, struct tp_hist_node *node)
{
	const char *begin = p->text + node->span.at, *end = begin + node->span.len;
	const char *dot = memchr(begin, '.', node->span.len);
	const char *second = dot ? memchr(dot + 1, '.', (size_t)(end - dot - 1)) : NULL;

	if (*begin == '$')
		return variable(p, node, begin, end);
	if (second && second + 1 < end && second[1] == '$') {
		node->system = between(begin, dot, p);
		node->event = between(dot + 1, second, p);
		return variable(p, node, second + 1, end);
	}
	node->kind = TP_HIST_FIELD;
	node->name = between(begin, dot ? dot : end, p);
	return !dot || modifier(p, node, between(dot + 1, end, p));
}

static bool term(struct parser *p, uint32_t *made)
{
	const uint32_t end = term_end(p);
	struct tp_hist_node node = {.span = {p->at, end - p->at}};

	if (end == p->at)
		return fail(p, p->at, is_at(p, p->at, '-') ? "Unary minus not supported in sub-expressions" : "Couldn't find field");
	p->at = end;
	if (is_digit(p->text[node.span.at]) ? !number(p, &node) : !name(p, &node))
		return false;
	*made = node_add(p, node);
	return true;
}

/* ---- Operators ---- */

static bool chain(struct parser *p, uint32_t *made, const char *signs, const enum tp_hist_node_kind *kinds,
		  bool (*one)(struct parser *p, uint32_t *made))
{
	const uint32_t begin = p->at;
	const char *sign;

	if (!one(p, made))
		return false;
	while (p->at < p->end && (sign = strchr(signs, p->text[p->at])) != NULL) {
		struct tp_hist_node node = {.kind = kinds[sign - signs], .left = *made};
		p->at++;
		if (!count_operator(p) || !one(p, &node.right))
			return false;
		node.span = (struct tp_hist_span){begin, p->at - begin};
		*made = node_add(p, node);
	}
	return true;
}

static bool product(struct parser *p, uint32_t *made)
{
	static const enum tp_hist_node_kind kinds[] = {TP_HIST_TIMES, TP_HIST_DIVIDED};

	return chain(p, made, "*/", kinds, term);
}

static bool sum(struct parser *p, uint32_t *made)
{
	static const enum tp_hist_node_kind kinds[] = {TP_HIST_PLUS, TP_HIST_MINUS};

	return chain(p, made, "+-", kinds, product);
}

static bool negated(struct parser *p, uint32_t *made)
{
	struct tp_hist_node node = {.kind = TP_HIST_NEGATED, .span = {p->at, p->end - p->at}};

	p->at += 2;
	if (!count_operator(p) || !sum(p, &node.left))
		return false;
	if (!is_at(p, p->at, ')'))
		return fail(p, p->at, "No closing paren found");
	if (++p->at != p->end)
		return fail(p, p->begin + 1, "Unary minus not supported in sub-expressions");
	*made = node_add(p, node);
	return true;
}

bool tp_hist_expression_parse(struct tp_hist_definition *definition, struct tp_hist_span span, uint32_t *root,
			      struct tp_filter_error *error)
{
	struct parser p = {
		.definition = definition, .error = error, .text = definition->text,
		.at = span.at, .begin = span.at, .end = span.at + span.len,
	};

	if (is_at(&p, p.at, '-') && is_at(&p, p.at + 1, '('))
		return negated(&p, root);
	if (!sum(&p, root))
		return false;
	return p.at == p.end || fail(&p, p.at, "Parentheses are there only for a unary minus: -(...)");
}

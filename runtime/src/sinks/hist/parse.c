/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/parse.c - a histogram's parameters. The grammar is that of the kernel's trace_events_hist.c, as are the order
 * in which mistakes are found and the words for them: first what each parameter is, then actions, values, variables,
 * keys and the sort keys.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "filter/operand.h"
#include "sinks/hist/definition.h"

const char *const tp_hist_clock_names[TP_HIST_NR_CLOCKS] = {
	[TP_HIST_CLOCK_GLOBAL] = "global", [TP_HIST_CLOCK_LOCAL] = "local", [TP_HIST_CLOCK_MONO] = "mono",
	[TP_HIST_CLOCK_MONO_RAW] = "mono_raw", [TP_HIST_CLOCK_BOOT] = "boot", [TP_HIST_CLOCK_TAI] = "tai",
};

/* The parameters, as they stand in the text; empty: not there. */
struct parameters {
	struct tp_hist_span keys, values, sort;
	struct tp_hist_span assignments[TP_HIST_VARIABLES], actions[TP_HIST_ACTIONS];
	uint32_t nr_assignments, nr_actions;
};

struct parser {
	struct tp_hist_definition *definition;
	struct tp_filter_error *error;
	struct parameters found;
};

static bool fail(const struct parser *p, size_t at, const char *message)
{
	return tp_filter_fail(p->error, at, message);
}

/* What comes before the next separator; *rest goes on behind it. False: there is nothing left. */
static bool next(const struct parser *p, struct tp_hist_span *rest, char separator, struct tp_hist_span *piece, bool *last)
{
	const char *begin = p->definition->text + rest->at;

	if (*last)
		return false;
	const char *end = memchr(begin, separator, rest->len);
	*piece = (struct tp_hist_span){rest->at, end ? (uint32_t)(end - begin) : rest->len};
	*last = !end;
	rest->at += piece->len + !*last;
	rest->len -= piece->len + !*last;
	return true;
}

/* ---- Values that are no expressions ---- */

static bool size(struct parser *p, struct tp_hist_span value)
{
	unsigned int bits = 0;
	uint64_t entries;

	if (!tp_number_parse(tp_hist_text_at(p->definition, value), value.len, false, &entries))
		return fail(p, value.at, "Invalid size; it is a number from 128 to 131072");
	while (bits <= TP_HIST_BITS_MAX && (uint64_t)1 << bits < entries)
		bits++;
	if (bits < TP_HIST_BITS_MIN || bits > TP_HIST_BITS_MAX)
		return fail(p, value.at, "Invalid size; it is a number from 128 to 131072");
	p->definition->bits = bits;
	return true;
}

static bool clock(struct parser *p, struct tp_hist_span value)
{
	for (enum tp_hist_clock i = 0; i < TP_HIST_NR_CLOCKS; i++) {
		if (tp_hist_span_is(p->definition, value, tp_hist_clock_names[i])) {
			p->definition->clock = i;
			return true;
		}
	}
	for (enum tp_hist_clock i = 0; i < TP_HIST_NR_CLOCKS; i++)
		tp_buffer_printf(&p->error->hint, "%s%s", i ? ", " : "there are ", tp_hist_clock_names[i]);
	return fail(p, value.at, "Couldn't set trace_clock");
}

static bool name(struct parser *p, struct tp_hist_span value)
{
	p->definition->name = value;
	return true;
}

static bool keys(struct parser *p, struct tp_hist_span value)
{
	p->found.keys = value;
	return true;
}

static bool values(struct parser *p, struct tp_hist_span value)
{
	p->found.values = value;
	return true;
}

static bool sort(struct parser *p, struct tp_hist_span value)
{
	p->found.sort = value;
	return true;
}

/* ---- Which parameter it is ---- */

static bool assignment(struct parser *p, struct tp_hist_span span, uint32_t name_len)
{
	static const struct {
		const char *name;
		bool (*parse)(struct parser *p, struct tp_hist_span value);
	} known[] = {
		{"key", keys}, {"keys", keys}, {"val", values}, {"vals", values}, {"values", values}, {"sort", sort},
		{"name", name}, {"clock", clock}, {"size", size},
	};
	const struct tp_hist_span own = {span.at, name_len};
	const struct tp_hist_span value = {span.at + name_len + 1, span.len - name_len - 1};

	if (!value.len)
		return fail(p, span.at, "Empty assignment");
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!tp_hist_span_is(p->definition, own, known[i].name))
			continue;
		if (known[i].parse == sort)
			p->definition->sort_span = span;
		return known[i].parse(p, value);
	}
	if (p->found.nr_assignments == TP_HIST_VARIABLES)
		return fail(p, span.at, "Too many variables defined");
	p->found.assignments[p->found.nr_assignments++] = span;
	return true;
}

static bool word(struct parser *p, struct tp_hist_span span)
{
	struct tp_hist_definition *definition = p->definition;
	const struct {
		const char *name;
		bool *flag;
	} known[] = {
		{"pause", &definition->pause}, {"cont", &definition->cont}, {"continue", &definition->cont},
		{"clear", &definition->clear}, {"nohitcount", &definition->no_hitcount}, {"NOHC", &definition->no_hitcount},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (tp_hist_span_is(definition, span, known[i].name)) {
			*known[i].flag = true;
			return true;
		}
	}
	if (p->found.nr_actions == TP_HIST_ACTIONS)
		return fail(p, span.at, "Too many actions (8 max)");
	p->found.actions[p->found.nr_actions++] = span;
	return true;
}

static bool parameters(struct parser *p, struct tp_hist_span all)
{
	struct tp_hist_span span;
	bool last = false;

	while (next(p, &all, ':', &span, &last)) {
		const char *begin = tp_hist_text_at(p->definition, span);
		const char *equals = memchr(begin, '=', span.len);
		if (equals ? !assignment(p, span, (uint32_t)(equals - begin)) : !word(p, span))
			return false;
	}
	return p->found.keys.len || fail(p, span.at + span.len, "No keys; write for example keys=common_pid");
}

/* ---- Lists ---- */

static bool actions(struct parser *p)
{
	for (uint32_t i = 0; i < p->found.nr_actions; i++) {
		if (!tp_hist_action_parse(p->definition, p->found.actions[i], p->error))
			return false;
	}
	return true;
}

static bool item(struct parser *p, struct tp_hist_item *made, struct tp_hist_span span)
{
	*made = (struct tp_hist_item){.span = span};
	return tp_hist_expression_parse(p->definition, span, &made->root, p->error);
}

/* The first "hitcount" is there anyway. */
static bool value_list(struct parser *p)
{
	struct tp_hist_definition *definition = p->definition;
	struct tp_hist_span rest = p->found.values, span;
	bool last = !rest.len, hitcount = false;

	while (next(p, &rest, ',', &span, &last)) {
		if (!hitcount && tp_hist_span_is(definition, span, "hitcount")) {
			hitcount = true;
			continue;
		}
		if (definition->nr_values == TP_HIST_VALUES)
			return fail(p, span.at, "Too many values (2 max, besides hitcount)");
		if (!item(p, &definition->values[definition->nr_values++], span))
			return false;
	}
	return definition->nr_values || !definition->no_hitcount || fail(p, 0, "Non-hitcount value is required for 'nohitcount'");
}

static bool variable(struct parser *p, struct tp_hist_span span)
{
	struct tp_hist_definition *definition = p->definition;
	const char *begin = tp_hist_text_at(definition, span);
	const char *equals = memchr(begin, '=', span.len);

	if (!equals || equals == begin)
		return fail(p, span.at, "Malformed assignment");
	if (definition->nr_variables == TP_HIST_VARIABLES)
		return fail(p, span.at, "Too many variables defined");
	const uint32_t name_len = (uint32_t)(equals - begin);
	struct tp_hist_item *made = &definition->variables[definition->nr_variables];
	if (!item(p, made, (struct tp_hist_span){span.at + name_len + 1, span.len - name_len - 1}))
		return false;
	made->variable = (struct tp_hist_span){span.at, name_len};
	for (uint32_t i = 0; i < definition->nr_variables; i++) {
		if (tp_hist_span_same(definition, definition->variables[i].variable, definition, made->variable))
			return fail(p, span.at, "Variable already defined");
	}
	definition->nr_variables++;
	return true;
}

static bool variable_lists(struct parser *p)
{
	struct tp_hist_span span;

	for (uint32_t i = 0; i < p->found.nr_assignments; i++) {
		bool last = false;
		while (next(p, &p->found.assignments[i], ',', &span, &last)) {
			if (!variable(p, span))
				return false;
		}
	}
	return true;
}

static bool key_list(struct parser *p)
{
	struct tp_hist_definition *definition = p->definition;
	struct tp_hist_span rest = p->found.keys, span;
	bool last = false;

	while (next(p, &rest, ',', &span, &last)) {
		if (definition->nr_keys == TP_HIST_KEYS)
			return fail(p, span.at, "Too many keys (3 max)");
		if (!item(p, &definition->keys[definition->nr_keys++], span))
			return false;
	}
	return true;
}

static bool sort_key(struct parser *p, struct tp_hist_span span)
{
	struct tp_hist_definition *definition = p->definition;
	struct tp_hist_sort *made = &definition->sort[definition->nr_sort++];
	struct tp_hist_span order = {span.at, 0};
	bool last = false;

	next(p, &span, '.', &made->name, &last);
	if (!made->name.len)
		return fail(p, definition->sort_span.at, "Empty sort field");
	if (last)
		return true;
	order = span;
	made->descending = tp_hist_span_is(definition, order, "descending");
	if (made->descending || tp_hist_span_is(definition, order, "ascending"))
		return true;
	tp_buffer_printf(&p->error->hint, "there are ascending, descending");
	return fail(p, order.at, "Invalid sort modifier");
}

static bool sort_list(struct parser *p)
{
	struct tp_hist_span rest = p->found.sort, span;
	bool last = !rest.len;

	while (next(p, &rest, ',', &span, &last)) {
		if (!span.len)
			return fail(p, p->definition->sort_span.at, "Empty sort field");
		if (p->definition->nr_sort == TP_HIST_SORT_KEYS - 1 && !last)
			return fail(p, p->definition->sort_span.at, "Too many sort fields (Max = 2)");
		if (!sort_key(p, span))
			return false;
	}
	return true;
}

/* ---- All of it ---- */

/* As many nodes and params as there can be: each ends at one of these. */
static size_t pieces(const char *text)
{
	size_t nr = 1;

	while (*text)
		nr += strchr(",:+-*/(", *text++) != NULL;
	return nr;
}

static bool room(struct tp_hist_definition *definition, const char *text, size_t len)
{
	const size_t nr = pieces(text);

	definition->text = tp_malloc(len + 1);
	definition->nodes = tp_malloc(2 * nr * sizeof(*definition->nodes));
	definition->params = tp_malloc(nr * sizeof(*definition->params));
	if (!definition->text || !definition->nodes || !definition->params)
		return false;
	memcpy(definition->text, text, len + 1);
	return true;
}

struct tp_hist_definition *tp_hist_definition_new(const char *text, struct tp_filter_error *error)
{
	const size_t len = strnlen(text, TP_HIST_TEXT_MAX + 1);

	*error = (struct tp_filter_error){.error = 0};
	if (len > TP_HIST_TEXT_MAX) {
		tp_filter_fail(error, 0, "The definition is longer than 65535 bytes");
		return NULL;
	}
	struct tp_hist_definition *definition = tp_malloc(sizeof(*definition));
	if (definition) {
		*definition = (struct tp_hist_definition){.bits = TP_HIST_BITS};
		struct parser p = {.definition = definition, .error = error};
		if (!room(definition, text, len))
			tp_filter_fail_memory(error);
		else if (parameters(&p, (struct tp_hist_span){0, (uint32_t)len}) && actions(&p) && value_list(&p) &&
			 variable_lists(&p) && key_list(&p) && sort_list(&p))
			return definition;
		tp_hist_definition_free(definition);
	} else {
		tp_filter_fail_memory(error);
	}
	return NULL;
}

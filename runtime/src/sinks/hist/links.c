/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/links.c - see links.h. What may be where is as in the kernel's trace_events_hist.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "events/events.h"
#include "events/synthetic.h"
#include "sinks/hist/reference.h"

static bool fail(const struct tp_hist_finder *f, size_t at, const char *message)
{
	return tp_filter_fail(f->error, at, message);
}

/* ---- In expressions ---- */

static bool check_units(const struct tp_hist_finder *f, const struct tp_hist_node *node)
{
	return tp_hist_in_usecs(f->definition, f->links, node->left) == tp_hist_in_usecs(f->definition, f->links, node->right) ||
	       fail(f, node->span.at, "Timestamp units in expression don't match");
}

static bool in_expression(const struct tp_hist_finder *f, uint32_t number, uint32_t nr_own, bool once)
{
	struct tp_hist_node *node = &f->definition->nodes[number];

	switch (node->kind) {
	case TP_HIST_NUMBER:
	case TP_HIST_FIELD:
		return true;
	case TP_HIST_VARIABLE:
		return tp_hist_reference_find(f, &(struct tp_hist_reference){node->name, node->system, node->event, nr_own, once}, "Couldn't find variable",
			    &node->known);
	case TP_HIST_NEGATED:
		return in_expression(f, node->left, nr_own, once);
	default:
		return in_expression(f, node->left, nr_own, true) && in_expression(f, node->right, nr_own, true) &&
		       check_units(f, node);
	}
}

static bool has_variable(const struct tp_hist_definition *definition, uint32_t number)
{
	const struct tp_hist_node *node = &definition->nodes[number];

	if (node->kind <= TP_HIST_FIELD)
		return false;
	return node->kind == TP_HIST_VARIABLE || has_variable(definition, node->left) ||
	       (node->kind != TP_HIST_NEGATED && has_variable(definition, node->right));
}

/* A variable of its own that is just a field stands for that, as in the kernel; so keys may be such. */
static void replace_field(struct tp_hist_definition *definition, struct tp_hist_item *item)
{
	const struct tp_hist_node *node = &definition->nodes[item->root];

	for (uint32_t i = 0; i < definition->nr_variables && node->kind == TP_HIST_VARIABLE && !node->system.len; i++) {
		const struct tp_hist_item *variable = &definition->variables[i];
		if (tp_hist_span_same(definition, variable->variable, definition, node->name) &&
		    definition->nodes[variable->root].kind == TP_HIST_FIELD)
			item->root = variable->root;
	}
}

static bool in_items(const struct tp_hist_finder *f)
{
	struct tp_hist_definition *definition = f->definition;

	for (uint32_t i = 0; i < definition->nr_values; i++)
		replace_field(definition, &definition->values[i]);
	for (uint32_t i = 0; i < definition->nr_keys; i++)
		replace_field(definition, &definition->keys[i]);
	for (uint32_t i = 0; i < definition->nr_values; i++) {
		if (!in_expression(f, definition->values[i].root, definition->nr_variables, false))
			return false;
	}
	for (uint32_t i = 0; i < definition->nr_variables; i++) {
		if (!in_expression(f, definition->variables[i].root, i, false))
			return false;
	}
	for (uint32_t i = 0; i < definition->nr_keys; i++) {
		if (has_variable(definition, definition->keys[i].root))
			return fail(f, definition->keys[i].span.at, "Using variable references in keys not supported");
	}
	return true;
}

/* ---- Fields of another event ---- */

static bool has_keys_of(const struct tp_hist_definition *definition, const struct tp_hist_definition *other)
{
	for (uint32_t i = 0; i < definition->nr_keys; i++) {
		if (!tp_hist_span_same(definition, definition->keys[i].span, other, other->keys[i].span))
			return false;
	}
	return true;
}

/* A histogram of the event that has as many keys, if there is one, the same. Under tp_hist_lock. */
static const struct tp_hist *compatible(const struct tp_hist_finder *f, const struct tp_hist_reference *field)
{
	const struct tp_hist *found = NULL;

	for (const struct tp_hist *hist = tp_hist_first(); hist; hist = tp_hist_next(hist)) {
		if (hist->hidden || hist->definition->nr_keys != f->definition->nr_keys ||
		    !tp_hist_has_event(hist, f->definition, field->system, field->event))
			continue;
		if (has_keys_of(f->definition, hist->definition))
			return hist;
		if (!found)
			found = hist;
	}
	return found;
}

struct hidden {
	struct tp_buffer definition, event;
	char *filter;
};

static void describe_hidden(struct hidden *hidden, const struct tp_hist_finder *f, const struct tp_hist *like,
			    const struct tp_hist_reference *field)
{
	const struct tp_hist_definition *theirs = like->definition;
	const char *name = tp_hist_text_at(f->definition, field->name);
	const int len = (int)field->name.len;

	for (uint32_t i = 0; i < theirs->nr_keys; i++)
		tp_buffer_printf(&hidden->definition, "%s%.*s", i ? "," : "keys=", (int)theirs->keys[i].span.len,
				 tp_hist_text_at(theirs, theirs->keys[i].span));
	tp_buffer_printf(&hidden->definition, ":synthetic_%.*s=%.*s:size=%u", len, name, len, name, 1u << like->map->bits);
	tp_buffer_printf(&hidden->event, "%.*s:%.*s", (int)field->system.len, tp_hist_text_at(f->definition, field->system),
			 (int)field->event.len, tp_hist_text_at(f->definition, field->event));
	hidden->filter = like->filter ? strdup(like->filter) : NULL;
	hidden->definition.failed |= like->filter && !hidden->filter;
}

static bool keep_field(const struct tp_hist_finder *f, const struct tp_hist_reference *field, uint32_t *known)
{
	struct tp_hist_links *links = f->links;
	struct hidden hidden = {.filter = NULL};
	struct tp_sink *sink = NULL;

	tp_lock(&tp_hist_lock);
	const struct tp_hist *like = compatible(f, field);
	if (like)
		describe_hidden(&hidden, f, like, field);
	tp_unlock(&tp_hist_lock);
	if (!like)
		fail(f, field->name.at, "Matching event histogram not found");
	else if (hidden.definition.failed || hidden.event.failed)
		tp_filter_fail_memory(f->error);
	else if (links->nr_hidden == TP_HIST_LINKS)
		fail(f, field->name.at, "Too many field variables defined");
	else
		sink = f->hide(hidden.definition.text, hidden.filter, hidden.event.text, f->error);
	if (like && !sink && f->error->error != -ENOMEM)
		fail(f, field->name.at, "Couldn't create histogram for field"); /* its own places are in another text */
	tp_buffer_free(&hidden.definition);
	tp_buffer_free(&hidden.event);
	free(hidden.filter);
	if (!sink)
		return false;
	links->hidden[links->nr_hidden++] = sink;
	tp_lock(&tp_hist_lock);
	const bool added = tp_hist_reference_add(f, &(struct tp_hist_reference){.once = false}, tp_hist_of(sink), 0, known);
	tp_unlock(&tp_hist_lock);
	return added;
}

/* ---- In actions ---- */

/* "SYS.EV.NAME" is cut. */
static void cut(const struct tp_hist_definition *definition, struct tp_hist_span *name, struct tp_hist_span *system,
		struct tp_hist_span *event)
{
	const char *begin = tp_hist_text_at(definition, *name);
	const char *dot = memchr(begin, '.', name->len);
	const char *second = dot ? memchr(dot + 1, '.', name->len - (size_t)(dot + 1 - begin)) : NULL;

	if (!second)
		return;
	*system = (struct tp_hist_span){name->at, (uint32_t)(dot - begin)};
	*event = (struct tp_hist_span){name->at + system->len + 1, (uint32_t)(second - dot - 1)};
	const uint32_t skipped = (uint32_t)(second + 1 - begin);
	*name = (struct tp_hist_span){name->at + skipped, name->len - skipped};
}

/* A field of this very event is found later, when it is known of which events the histogram is: plan.c. */
static bool of_another(const struct tp_hist_finder *f, const struct tp_hist_action *action, const struct tp_hist_reference *to)
{
	if (!to->system.len || action->kind != TP_HIST_TRACE)
		return false;
	if (action->handler != TP_HIST_ONMATCH)
		return tp_hist_reads_event(f, to->system, to->event);
	return tp_hist_span_same(f->definition, to->system, f->definition, action->system) &&
	       tp_hist_span_same(f->definition, to->event, f->definition, action->event);
}

static bool in_param(const struct tp_hist_finder *f, const struct tp_hist_action *action, struct tp_hist_span param, uint32_t *known)
{
	const struct tp_hist_definition *definition = f->definition;
	struct tp_hist_reference to = {.name = param, .nr_own = definition->nr_variables};

	*known = TP_HIST_UNKNOWN;
	cut(definition, &to.name, &to.system, &to.event);
	if (to.name.len && *tp_hist_text_at(definition, to.name) == '$') {
		to.name = (struct tp_hist_span){to.name.at + 1, to.name.len - 1};
		return action->kind == TP_HIST_SAVE ? fail(f, param.at, "Couldn't create field variable")
						    : tp_hist_reference_find(f, &to, "Couldn't find param", known);
	}
	return !of_another(f, action, &to) || keep_field(f, &to, known);
}

static bool matched_event_is_there(const struct tp_hist_finder *f, const struct tp_hist_action *action)
{
	struct tp_buffer name = {.text = NULL};

	tp_buffer_printf(&name, "%.*s:%.*s", (int)action->system.len, tp_hist_text_at(f->definition, action->system),
			 (int)action->event.len, tp_hist_text_at(f->definition, action->event));
	const bool there = !name.failed && tp_events_know(name.text);
	tp_buffer_free(&name);
	return there || fail(f, action->event.at, "Invalid subsystem or event name");
}

static bool tracked(const struct tp_hist_finder *f, struct tp_hist_action *action)
{
	const struct tp_hist_span name = {action->variable.at + 1, action->variable.len - 1};

	for (uint32_t i = 0; i < f->definition->nr_variables; i++) {
		if (tp_hist_span_same(f->definition, f->definition->variables[i].variable, f->definition, name)) {
			action->known = TP_HIST_OWN + i;
			return true;
		}
	}
	return fail(f, name.at, "Couldn't find onmax or onchange variable");
}

static bool hold_synthetic(const struct tp_hist_finder *f, uint32_t i)
{
	const struct tp_hist_action *action = &f->definition->actions[i];
	char *name = strndup(tp_hist_text_at(f->definition, action->synthetic), action->synthetic.len);
	struct tp_synthetic *synthetic = name ? tp_synthetic_hold(name) : NULL;

	f->links->synthetics[i] = synthetic;
	if (!name)
		return tp_filter_fail_memory(f->error);
	free(name);
	if (!synthetic) {
		tp_buffer_printf(&f->error->hint, "TP_SYNTHETIC, tp synthetic or tp_synthetic_event() defines one");
		return fail(f, action->synthetic.at, "Couldn't find synthetic event");
	}
	const uint32_t nr = tp_synthetic_described(synthetic)->event_class->nr_fields;
	if (nr == action->nr_params)
		return true;
	tp_buffer_printf(&f->error->hint, "it has %u", nr);
	return fail(f, action->synthetic.at, "Param count doesn't match synthetic event field count");
}

static bool in_actions(const struct tp_hist_finder *f)
{
	uint32_t *param = f->links->params;

	for (uint32_t i = 0; i < f->definition->nr_actions; i++) {
		struct tp_hist_action *action = &f->definition->actions[i];
		if (action->handler == TP_HIST_ONMATCH ? !matched_event_is_there(f, action) : !tracked(f, action))
			return false;
		if (action->kind == TP_HIST_TRACE && !hold_synthetic(f, i))
			return false;
		for (uint32_t j = 0; j < action->nr_params; j++) {
			if (!in_param(f, action, action->params[j], param++))
				return false;
		}
	}
	return true;
}

/* ---- All ---- */

bool tp_hist_links_find(struct tp_hist *hist, tp_hist_hide *hide, struct tp_filter_error *error)
{
	const struct tp_hist_finder f = {
		.hist = hist, .definition = hist->definition, .links = &hist->links, .hide = hide, .error = error,
	};

	hist->links.params = tp_malloc((tp_hist_definition_params(hist->definition) + 1) * sizeof(*hist->links.params));
	if (!hist->links.params)
		return tp_filter_fail_memory(error);
	return in_items(&f) && in_actions(&f);
}

void tp_hist_links_give(struct tp_hist *hist)
{
	struct tp_hist_links *links = &hist->links;

	for (uint32_t i = 0; i < links->nr_hidden; i++)
		tp_sink_close(links->hidden[i]);
	for (uint32_t i = 0; i < links->nr; i++) {
		if (links->links[i].slot)
			tp_hist_map_give(links->links[i].slot->map);
	}
	for (uint32_t i = 0; i < TP_HIST_ACTIONS; i++) {
		if (links->synthetics[i])
			tp_synthetic_let_go(links->synthetics[i]);
	}
	free(links->params);
}

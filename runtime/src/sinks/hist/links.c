/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/links.c - see links.h. Where variables are looked for, and what is said if there is none, is as in the kernel's
 * trace_events_hist.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "events/events.h"
#include "events/synthetic.h"
#include "sinks/hist/links.h"
#include "sinks/hist/own.h"

struct finder {
	struct tp_hist *hist;
	struct tp_hist_definition *definition;
	struct tp_hist_links *links;
	tp_hist_hide *hide;
	struct tp_filter_error *error;
};

/* "$NAME" or "SYS.EV.$NAME" */
struct reference {
	struct tp_hist_span name, system, event; /* the last two may be empty */
	uint32_t nr_own; /* variables of its own histogram that have a value by then */
	bool once;
};

static bool fail(const struct finder *f, size_t at, const char *message)
{
	return tp_filter_fail(f->error, at, message);
}

/* ---- Units ---- */

bool tp_hist_in_usecs(const struct tp_hist_definition *definition, const struct tp_hist_links *links, uint32_t number)
{
	const struct tp_hist_node *node = &definition->nodes[number];

	switch (node->kind) {
	case TP_HIST_NUMBER:
		return false;
	case TP_HIST_FIELD:
		return node->modifier == TP_HIST_USECS;
	case TP_HIST_VARIABLE:
		return node->known < TP_HIST_OWN ? links->links[node->known].in_usecs :
		       tp_hist_in_usecs(definition, links, definition->variables[node->known - TP_HIST_OWN].root);
	default:
		return tp_hist_in_usecs(definition, links, node->left);
	}
}

/* ---- Variables of other histograms ---- */

static bool is_event(const char *name, const struct tp_hist_definition *definition, struct tp_hist_span system,
		     struct tp_hist_span event)
{
	return strncmp(name, tp_hist_text_at(definition, system), system.len) == 0 && name[system.len] == ':' &&
	       strlen(name) == (size_t)system.len + 1 + event.len &&
	       memcmp(name + system.len + 1, tp_hist_text_at(definition, event), event.len) == 0;
}

static bool has_event(const struct tp_hist *hist, const struct tp_hist_definition *definition, struct tp_hist_span system,
		      struct tp_hist_span event)
{
	const struct tp_hist_program *program = __atomic_load_n(&hist->attached, __ATOMIC_ACQUIRE);

	while (program && !is_event(program->name, definition, system, event))
		program = program->next_attached;
	return program != NULL;
}

static bool has_matched_event(const struct tp_hist *hist, const struct tp_hist_definition *definition)
{
	for (uint32_t i = 0; i < definition->nr_actions; i++) {
		const struct tp_hist_action *action = &definition->actions[i];
		if (action->handler == TP_HIST_ONMATCH && has_event(hist, definition, action->system, action->event))
			return true;
	}
	return false;
}

/* TP_HIST_UNKNOWN: the histogram has no such variable. */
static uint32_t index_of(const struct tp_hist *hist, const struct tp_hist_definition *definition, struct tp_hist_span name)
{
	for (uint32_t i = 0; i < hist->definition->nr_variables; i++) {
		if (tp_hist_span_same(hist->definition, hist->definition->variables[i].variable, definition, name))
			return i;
	}
	return TP_HIST_UNKNOWN;
}

/* Histograms of one name are one. */
static bool search(const struct finder *f, const struct reference *to, bool of_matched, const struct tp_hist **found, bool *unique)
{
	*found = NULL;
	*unique = true;
	for (const struct tp_hist *hist = tp_hist_first(); hist; hist = tp_hist_next(hist)) {
		if (hist->hidden || index_of(hist, f->definition, to->name) == TP_HIST_UNKNOWN)
			continue;
		if (to->system.len ? !has_event(hist, f->definition, to->system, to->event)
				   : of_matched && !has_matched_event(hist, f->definition))
			continue;
		if (*found && (*found)->map != hist->map)
			*unique = false;
		*found = hist;
	}
	return *found != NULL;
}

static bool add_link(const struct finder *f, const struct tp_hist *hist, uint32_t index, bool once, uint32_t *known)
{
	struct tp_hist_links *links = f->links;

	for (*known = 0; *known < links->nr; ++*known) {
		struct tp_hist_link *link = &links->links[*known];
		if (link->map == hist->map && link->index == index) {
			link->once = link->once || once;
			return true;
		}
	}
	if (links->nr == TP_HIST_LINKS)
		return fail(f, 0, "Too many variable references (32 max)");
	links->links[links->nr++] = (struct tp_hist_link){
		.map = hist->map, .index = index, .once = once,
		.kind = hist->map->table ? hist->map->layout.variables[index] : TP_HIST_KEY_NUMBER,
		.in_usecs = tp_hist_in_usecs(hist->definition, &hist->links, hist->definition->variables[index].root),
	};
	hist->map->refs++;
	return true;
}

static void tell_variables(const struct finder *f)
{
	const char *between = "there are ";

	for (const struct tp_hist *hist = tp_hist_first(); hist; hist = tp_hist_next(hist)) {
		const struct tp_hist_program *of = __atomic_load_n(&hist->attached, __ATOMIC_ACQUIRE);
		for (uint32_t i = 0; !hist->hidden && i < hist->definition->nr_variables; i++) {
			const struct tp_hist_span name = hist->definition->variables[i].variable;
			tp_buffer_printf(&f->error->hint, "%s$%.*s of %s", between, (int)name.len,
					 tp_hist_text_at(hist->definition, name), of ? of->name : "a histogram without events");
			between = ", ";
		}
	}
}

/* Under tp_hist_lock. */
static bool find_other(const struct finder *f, const struct reference *to, const char *message, uint32_t *known)
{
	const struct tp_hist *found;
	bool unique;

	if (!search(f, to, true, &found, &unique))
		search(f, to, false, &found, &unique);
	if (!unique)
		return fail(f, to->name.at, "Variable name not unique, need to use fully qualified name (subsys.event.var) for variable");
	if (found)
		return add_link(f, found, index_of(found, f->definition, to->name), to->once, known);
	tell_variables(f);
	return fail(f, to->name.at, message);
}

static bool find(const struct finder *f, const struct reference *to, const char *message, uint32_t *known)
{
	for (uint32_t i = 0; i < to->nr_own && !to->system.len; i++) {
		if (tp_hist_span_same(f->definition, f->definition->variables[i].variable, f->definition, to->name)) {
			*known = TP_HIST_OWN + i;
			return true;
		}
	}
	tp_lock(&tp_hist_lock);
	const bool found = find_other(f, to, message, known);
	tp_unlock(&tp_hist_lock);
	return found;
}

/* ---- In expressions ---- */

static bool check_units(const struct finder *f, const struct tp_hist_node *node)
{
	return tp_hist_in_usecs(f->definition, f->links, node->left) == tp_hist_in_usecs(f->definition, f->links, node->right) ||
	       fail(f, node->span.at, "Timestamp units in expression don't match");
}

static bool in_expression(const struct finder *f, uint32_t number, uint32_t nr_own, bool once)
{
	struct tp_hist_node *node = &f->definition->nodes[number];

	switch (node->kind) {
	case TP_HIST_NUMBER:
	case TP_HIST_FIELD:
		return true;
	case TP_HIST_VARIABLE:
		return find(f, &(struct reference){node->name, node->system, node->event, nr_own, once}, "Couldn't find variable",
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

static bool in_items(const struct finder *f)
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

/* ---- Fields of the event that onmatch() names ---- */

/* A histogram of the event that has as many keys. Under tp_hist_lock. */
static const struct tp_hist *compatible(const struct finder *f, const struct tp_hist_action *action)
{
	for (const struct tp_hist *hist = tp_hist_first(); hist; hist = tp_hist_next(hist)) {
		if (!hist->hidden && hist->definition->nr_keys == f->definition->nr_keys &&
		    has_event(hist, f->definition, action->system, action->event))
			return hist;
	}
	return NULL;
}

struct hidden {
	struct tp_buffer definition, event;
	char *filter;
};

static void describe_hidden(struct hidden *hidden, const struct finder *f, const struct tp_hist *like,
			    const struct tp_hist_action *action, struct tp_hist_span field)
{
	const struct tp_hist_definition *theirs = like->definition;
	const char *name = tp_hist_text_at(f->definition, field);

	for (uint32_t i = 0; i < theirs->nr_keys; i++)
		tp_buffer_printf(&hidden->definition, "%s%.*s", i ? "," : "keys=", (int)theirs->keys[i].span.len,
				 tp_hist_text_at(theirs, theirs->keys[i].span));
	tp_buffer_printf(&hidden->definition, ":synthetic_%.*s=%.*s:size=%u", (int)field.len, name, (int)field.len, name,
			 1u << like->map->bits);
	tp_buffer_printf(&hidden->event, "%.*s:%.*s", (int)action->system.len, tp_hist_text_at(f->definition, action->system),
			 (int)action->event.len, tp_hist_text_at(f->definition, action->event));
	hidden->filter = like->filter ? strdup(like->filter) : NULL;
	hidden->definition.failed |= like->filter && !hidden->filter;
}

static bool keep_field(const struct finder *f, const struct tp_hist_action *action, struct tp_hist_span field, uint32_t *known)
{
	struct tp_hist_links *links = f->links;
	struct hidden hidden = {.filter = NULL};
	struct tp_sink *sink = NULL;

	tp_lock(&tp_hist_lock);
	const struct tp_hist *like = compatible(f, action);
	if (like)
		describe_hidden(&hidden, f, like, action, field);
	tp_unlock(&tp_hist_lock);
	if (!like)
		fail(f, field.at, "Matching event histogram not found");
	else if (hidden.definition.failed || hidden.event.failed)
		tp_filter_fail_memory(f->error);
	else if (links->nr_hidden == TP_HIST_LINKS)
		fail(f, field.at, "Too many field variables defined");
	else
		sink = f->hide(hidden.definition.text, hidden.filter, hidden.event.text, f->error);
	if (like && !sink && f->error->error != -ENOMEM)
		fail(f, field.at, "Couldn't create histogram for field"); /* its own places are in another text */
	tp_buffer_free(&hidden.definition);
	tp_buffer_free(&hidden.event);
	free(hidden.filter);
	if (!sink)
		return false;
	links->hidden[links->nr_hidden++] = sink;
	tp_lock(&tp_hist_lock);
	const bool added = add_link(f, tp_hist_of(sink), 0, false, known);
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

static bool in_param(const struct finder *f, const struct tp_hist_action *action, struct tp_hist_span param, uint32_t *known)
{
	const struct tp_hist_definition *definition = f->definition;
	struct reference to = {.name = param, .nr_own = definition->nr_variables};

	*known = TP_HIST_UNKNOWN;
	cut(definition, &to.name, &to.system, &to.event);
	if (to.name.len && *tp_hist_text_at(definition, to.name) == '$') {
		to.name = (struct tp_hist_span){to.name.at + 1, to.name.len - 1};
		return action->kind == TP_HIST_SAVE ? fail(f, param.at, "Couldn't create field variable")
						    : find(f, &to, "Couldn't find param", known);
	}
	const bool of_matched = to.system.len && action->handler == TP_HIST_ONMATCH &&
				tp_hist_span_same(definition, to.system, definition, action->system) &&
				tp_hist_span_same(definition, to.event, definition, action->event);
	return !of_matched || keep_field(f, action, to.name, known);
}

static bool matched_event_is_there(const struct finder *f, const struct tp_hist_action *action)
{
	struct tp_buffer name = {.text = NULL};

	tp_buffer_printf(&name, "%.*s:%.*s", (int)action->system.len, tp_hist_text_at(f->definition, action->system),
			 (int)action->event.len, tp_hist_text_at(f->definition, action->event));
	const bool there = !name.failed && tp_events_match(name.text);
	tp_buffer_free(&name);
	return there || fail(f, action->event.at, "Invalid subsystem or event name");
}

static bool tracked(const struct finder *f, struct tp_hist_action *action)
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

static bool hold_synthetic(const struct finder *f, uint32_t i)
{
	const struct tp_hist_action *action = &f->definition->actions[i];
	char *name = strndup(tp_hist_text_at(f->definition, action->synthetic), action->synthetic.len);
	struct tp_synthetic *synthetic = name ? tp_synthetic_hold(name) : NULL;

	f->links->synthetics[i] = synthetic;
	if (!name)
		return tp_filter_fail_memory(f->error);
	free(name);
	if (!synthetic)
		return fail(f, action->synthetic.at, "Couldn't find synthetic event");
	const uint32_t nr = tp_synthetic_described(synthetic)->event_class->nr_fields;
	if (nr == action->nr_params)
		return true;
	tp_buffer_printf(&f->error->hint, "it has %u", nr);
	return fail(f, action->synthetic.at, "Param count doesn't match synthetic event field count");
}

static bool in_actions(const struct finder *f)
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

static uint32_t nr_params(const struct tp_hist_definition *definition)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < definition->nr_actions; i++)
		nr += definition->actions[i].nr_params;
	return nr;
}

bool tp_hist_links_find(struct tp_hist *hist, tp_hist_hide *hide, struct tp_filter_error *error)
{
	const struct finder f = {
		.hist = hist, .definition = hist->definition, .links = &hist->links, .hide = hide, .error = error,
	};

	hist->links.params = tp_malloc((nr_params(hist->definition) + 1) * sizeof(*hist->links.params));
	if (!hist->links.params)
		return tp_filter_fail_memory(error);
	return in_items(&f) && in_actions(&f);
}

void tp_hist_links_give(struct tp_hist *hist)
{
	struct tp_hist_links *links = &hist->links;

	for (uint32_t i = 0; i < links->nr_hidden; i++)
		tp_sink_close(links->hidden[i]);
	for (uint32_t i = 0; i < links->nr; i++)
		tp_hist_map_give(links->links[i].map);
	for (uint32_t i = 0; i < TP_HIST_ACTIONS; i++) {
		if (links->synthetics[i])
			tp_synthetic_let_go(links->synthetics[i]);
	}
	free(links->params);
}

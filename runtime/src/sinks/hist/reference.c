/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/reference.c - see reference.h. Where variables are looked for, and what is said if there is none, is as in the
 * kernel's trace_events_hist.c.
 */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "events/events.h"
#include "sinks/hist/reference.h"

static bool fail(const struct tp_hist_finder *f, size_t at, const char *message)
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

bool tp_hist_has_event(const struct tp_hist *hist, const struct tp_hist_definition *definition, struct tp_hist_span system,
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
		if (action->handler == TP_HIST_ONMATCH && tp_hist_has_event(hist, definition, action->system, action->event))
			return true;
	}
	return false;
}

/* The number of the variable in that histogram. TP_HIST_UNKNOWN: it has none of this name. */
static uint32_t variable_index(const struct tp_hist *hist, const struct tp_hist_definition *definition, struct tp_hist_span name)
{
	for (uint32_t i = 0; i < hist->definition->nr_variables; i++) {
		if (tp_hist_span_same(hist->definition, hist->definition->variables[i].variable, definition, name))
			return i;
	}
	return TP_HIST_UNKNOWN;
}

/* Histograms of one name are one. */
static bool search(const struct tp_hist_definition *of, const struct tp_hist_reference *to, bool of_matched,
		   const struct tp_hist **found, bool *unique)
{
	*found = NULL;
	*unique = true;
	for (const struct tp_hist *hist = tp_hist_first(); hist; hist = tp_hist_next(hist)) {
		if (hist->hidden || hist->leaving || variable_index(hist, of, to->name) == TP_HIST_UNKNOWN)
			continue;
		if (to->system.len ? !tp_hist_has_event(hist, of, to->system, to->event)
				   : of_matched && !has_matched_event(hist, of))
			continue;
		if (*found && (*found)->map != hist->map)
			*unique = false;
		*found = hist;
	}
	return *found != NULL;
}

/* The histogram whose variable that is. NULL: none has it; or one of several, if it is not unique. Under tp_hist_lock. */
static const struct tp_hist *find_hist(const struct tp_hist_definition *of, const struct tp_hist_reference *to, bool *unique)
{
	const struct tp_hist *found;

	if (!search(of, to, true, &found, unique))
		search(of, to, false, &found, unique);
	return found;
}

bool tp_hist_reference_add(const struct tp_hist_finder *f, const struct tp_hist_reference *to, const struct tp_hist *hist,
			   uint32_t index, uint32_t *known)
{
	struct tp_hist_links *links = f->links;

	for (*known = 0; *known < links->nr; ++*known) {
		struct tp_hist_link *link = &links->links[*known];
		if (link->slot == &hist->map->slots[index]) {
			link->once = link->once || to->once;
			return true;
		}
	}
	if (links->nr == TP_HIST_LINKS)
		return fail(f, 0, "Too many variable references (32 max)");
	struct tp_hist_link *made = &links->links[links->nr++];
	*made = (struct tp_hist_link){
		.slot = &hist->map->slots[index], .name = to->name, .system = to->system, .event = to->event, .once = to->once,
		.kind = hist->map->table ? hist->map->layout.variables[index] : TP_HIST_KEY_NUMBER,
		.bytes = hist->map->table ? hist->map->layout.variable_bytes[index] : sizeof(uint64_t),
		.matched = hist->hidden ? &hist->map->layout : NULL,
		.in_usecs = tp_hist_in_usecs(hist->definition, &hist->links, hist->definition->variables[index].root),
	};
	made->has_kinds = hist->map->table != NULL;
	for (uint32_t i = 0; i < TP_HIST_KEYS; i++)
		made->kinds[i] = (uint8_t)hist->map->layout.kinds[i];
	hist->map->refs++;
	return true;
}

static void offer_variables(struct tp_nearest *nearest, const struct tp_hist_definition *definition, uint32_t nr)
{
	char name[64];

	for (uint32_t i = 0; i < nr; i++) {
		const struct tp_hist_span span = definition->variables[i].variable;
		snprintf(name, sizeof(name), "$%.*s", (int)span.len, tp_hist_text_at(definition, span));
		tp_nearest_offer(nearest, name);
	}
}

/* Of those that others have, and its own. */
static void tell_nearest(const struct tp_hist_finder *f, const struct tp_hist_reference *to)
{
	struct tp_nearest nearest = tp_nearest_to(tp_hist_text_at(f->definition, to->name) - 1, to->name.len + 1); /* with its "$" */

	offer_variables(&nearest, f->definition, to->nr_own);
	for (const struct tp_hist *hist = tp_hist_first(); hist; hist = tp_hist_next(hist))
		offer_variables(&nearest, hist->definition, hist->hidden ? 0 : hist->definition->nr_variables);
	tp_buffer_printf(&f->error->hint, "%s", tp_nearest_hint(&nearest, "", " "));
}

static void tell_variables(const struct tp_hist_finder *f)
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
	if (between[0] != ',')
		tp_buffer_printf(&f->error->hint, "no histogram sets any; the one that does must be there first");
}

/* Under tp_hist_lock. */
static bool find_other(const struct tp_hist_finder *f, const struct tp_hist_reference *to, const char *message, uint32_t *known)
{
	bool unique;
	const struct tp_hist *found = find_hist(f->definition, to, &unique);

	if (!unique)
		return fail(f, to->name.at, "Variable name not unique, need to use fully qualified name (subsys.event.var) for variable");
	if (found && found->definition->nr_keys != f->definition->nr_keys) {
		tp_buffer_printf(&f->error->hint, "it is set by hist:%s", found->definition->text);
		return fail(f, to->name.at, "Variable has another number of keys");
	}
	if (found)
		return tp_hist_reference_add(f, to, found, variable_index(found, f->definition, to->name), known);
	tell_nearest(f, to);
	tell_variables(f);
	return fail(f, to->name.at, message);
}

bool tp_hist_reference_find(const struct tp_hist_finder *f, const struct tp_hist_reference *to, const char *message, uint32_t *known)
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

/* ---- Variables that a histogram may never get ---- */

/* The name of an event of both. NULL: they have none in common. */
static const char *shared_event(const struct tp_hist *one, const struct tp_hist *other)
{
	const struct tp_hist_program *program = __atomic_load_n(&one->attached, __ATOMIC_ACQUIRE);

	for (; program; program = program->next_attached) {
		const struct tp_hist_program *same = __atomic_load_n(&other->attached, __ATOMIC_ACQUIRE);
		while (same && strcmp(same->name, program->name) != 0)
			same = same->next_attached;
		if (same)
			return program->name;
	}
	return NULL;
}

static bool unsets(const struct tp_hist *hist, const struct tp_hist_slot *slot)
{
	for (uint32_t i = 0; i < hist->links.nr; i++) {
		if (hist->links.links[i].slot == slot && hist->links.links[i].once)
			return true;
	}
	return false;
}

/* Whose probes are called first: by priority, then by age. */
static bool comes_before(const struct tp_hist *one, const struct tp_hist *other, bool is_older)
{
	const int difference = tp_sink_priority(&one->head) - tp_sink_priority(&other->head);

	return difference > 0 || (difference == 0 && is_older);
}

/* Another histogram: at each hit of that event, it is first to read the variable, and unsets it. NULL: there is none. */
static const struct tp_hist *reader_before(const struct tp_hist *hist, const struct tp_hist_slot *slot, const char **event)
{
	bool is_older = true;

	for (const struct tp_hist *reader = tp_hist_first(); reader; reader = tp_hist_next(reader)) {
		is_older = is_older && reader != hist;
		if (reader == hist || !unsets(reader, slot))
			continue;
		*event = shared_event(reader, hist); /* the priority is there before its first event */
		if (*event && comes_before(reader, hist, is_older))
			return reader;
	}
	return NULL;
}

/* One that sets the map's variables, with an event if there is one. NULL: all are closed. */
static const struct tp_hist *setter_of(const struct tp_hist_map *map)
{
	const struct tp_hist *found = NULL;

	for (const struct tp_hist *hist = tp_hist_first(); hist; hist = tp_hist_next(hist)) {
		if (hist->map == map && (!found || !found->attached))
			found = hist;
	}
	return found;
}

static void put_doubt(struct tp_buffer *to, const struct tp_hist *hist, const struct tp_hist_link *link, const struct tp_hist *setter,
		      bool waits)
{
	const char *event = NULL, *between = to->len ? "; " : "", *name = tp_hist_text_at(hist->definition, link->name);
	const struct tp_hist *before = reader_before(hist, link->slot, &event);

	if (before) {
		tp_buffer_printf(to, "%sat %s, ", between, event);
		tp_hist_put_short(to, before->definition);
		tp_buffer_printf(to, " reads $%.*s first, and unsets it: a hit that counts there does not count here; let ",
				 (int)link->name.len, name);
		tp_hist_put_short(to, setter->definition);
		tp_buffer_printf(to, " set a variable for each of the two");
	} else if (!setter->attached && !waits) {
		tp_buffer_printf(to, "%sno hit counts yet: ", between);
		tp_hist_put_short(to, setter->definition);
		tp_buffer_printf(to, " sets $%.*s, and has no event now", (int)link->name.len, name);
	}
}

void tp_hist_put_doubts(const struct tp_sink *sink, bool waits, struct tp_buffer *to)
{
	const struct tp_hist *hist = (const struct tp_hist *)sink;

	tp_lock(&tp_hist_lock);
	for (uint32_t i = 0; i < hist->links.nr; i++) {
		const struct tp_hist_link *link = &hist->links.links[i];
		const struct tp_hist *setter = link->slot && link->name.len ? setter_of(link->slot->map) : NULL;
		if (setter)
			put_doubt(to, hist, link, setter, waits);
	}
	tp_unlock(&tp_hist_lock);
}

/* ---- Histograms whose variables others read come and go ---- */

static bool reads(const struct tp_hist *hist, const struct tp_hist_map *map)
{
	for (uint32_t i = 0; i < hist->links.nr; i++) {
		if (hist->links.links[i].slot && hist->links.links[i].slot->map == map)
			return true;
	}
	return false;
}

bool tp_hist_reads_event(const struct tp_hist_finder *f, struct tp_hist_span system, struct tp_hist_span event)
{
	tp_lock(&tp_hist_lock);
	const struct tp_hist *hist = tp_hist_first();
	while (hist && (hist->hidden || !reads(f->hist, hist->map) || !tp_hist_has_event(hist, f->definition, system, event)))
		hist = tp_hist_next(hist);
	tp_unlock(&tp_hist_lock);
	return hist != NULL;
}

const struct tp_hist *tp_hist_reader_of(const struct tp_hist *hist)
{
	const struct tp_hist *reader = hist->map->nr_hists > 1 ? NULL : tp_hist_first();

	while (reader && (reader == hist || !reads(reader, hist->map)))
		reader = tp_hist_next(reader);
	return reader;
}

/* The histogram's records were compiled for what the variable was. */
static bool fits(const struct tp_hist_link *link, const struct tp_hist *hist, uint32_t index)
{
	return (uint8_t)link->kind == hist->map->layout.variables[index] &&
	       hist->map->layout.variable_bytes[index] <= link->bytes &&
	       link->in_usecs == tp_hist_in_usecs(hist->definition, &hist->links, hist->definition->variables[index].root);
}

static void bind_link(struct tp_hist_link *link, const struct tp_hist_definition *of, const struct tp_hist *hist)
{
	const struct tp_hist_reference to = {.name = link->name, .system = link->system, .event = link->event};
	bool unique;
	const struct tp_hist *found = find_hist(of, &to, &unique);

	if (!found || !unique || found->map != hist->map || of->nr_keys != hist->map->nr_keys)
		return;
	const uint32_t index = variable_index(hist, of, link->name);
	if (!fits(link, hist, index))
		return;
	hist->map->refs++;
	__atomic_store_n(&link->slot, &hist->map->slots[index], __ATOMIC_RELEASE);
}

void tp_hist_bind(const struct tp_hist *hist)
{
	for (struct tp_hist *reader = tp_hist_first(); reader && hist->definition->nr_variables; reader = tp_hist_next(reader)) {
		for (uint32_t i = 0; i < reader->links.nr; i++) {
			if (!reader->links.links[i].slot && reader->links.links[i].name.len)
				bind_link(&reader->links.links[i], reader->definition, hist);
		}
	}
}

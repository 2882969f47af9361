/* SPDX-License-Identifier: MIT */
/*
 * events/groups.c - the events of the loaded modules, and their ids.
 *
 * Several modules may carry one event (of the same system and name). They
 * form a group.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "base/message.h"
#include "core/core.h"
#include "events/events.h"
#include "events/groups.h"
#include "events/marker_event.h"
#include "events/pattern.h"

#define GROUP_BUCKETS 1024

/* A layout that an event was seen with, and the id that it keeps for ever. */
struct layout {
	struct layout *next;
	uint16_t id;
	char text[]; /* all that makes two layouts different */
};

struct tp_loaded_event *tp_loaded_events;
struct tp_lock tp_events_lock = TP_LOCK_INIT(TP_RANK_EVENTS, "tp_events_lock");
bool tp_events_without_id;
struct tp_group_table tp_groups;

static struct tp_loaded_event *last; /* of tp_loaded_events */
static struct tp_event_group *groups[GROUP_BUCKETS];
static uint16_t last_id;

/* ---- Groups, layouts, ids ---- */

static bool numbered(struct tp_event_group *group)
{
	if (tp_groups.nr == tp_groups.room) {
		size_t room = tp_groups.room ? 2 * tp_groups.room : 64;
		struct tp_event_group **grown = tp_malloc(room * sizeof(*grown));
		if (!grown)
			return false;
		if (tp_groups.nr)
			memcpy(grown, tp_groups.by_number, tp_groups.nr * sizeof(*grown));
		free(tp_groups.by_number);
		tp_groups.by_number = grown;
		tp_groups.room = room;
	}
	group->number = tp_groups.nr;
	tp_groups.by_number[tp_groups.nr++] = group;
	return true;
}

/* The group of "system:event", made where it is new. NULL: no memory. */
static struct tp_event_group *group_of(const char *system, const char *event)
{
	size_t system_len = strlen(system);
	size_t event_size = strlen(event) + 1;
	struct tp_event_group **bucket = &groups[tp_hash(event) % GROUP_BUCKETS];
	struct tp_event_group *group = *bucket;
	for (; group; group = group->next) {
		if (strncmp(group->name, system, system_len) == 0 && group->name[system_len] == ':' &&
		    strcmp(group->name + system_len + 1, event) == 0)
			return group;
	}

	group = tp_malloc(sizeof(*group) + system_len + 1 + event_size);
	if (!group)
		return NULL;
	*group = (struct tp_event_group){.next = *bucket};
	memcpy(group->name, system, system_len);
	group->name[system_len] = ':';
	memcpy(group->name + system_len + 1, event, event_size);
	if (!numbered(group)) {
		free(group);
		return NULL;
	}
	*bucket = group;
	return group;
}

static void describe_field(struct tp_buffer *b, const struct tp_event_field *field)
{
	tp_buffer_printf(b, "%s %s %d %d %d %u %u %u %u %d %d %d\n", field->type, field->name, (int)field->kind,
			 field->relative, (int)field->type_class, field->offset, field->size, field->element_size,
			 field->element_align, field->is_signed, field->is_char, field->is_hexadecimal);
	if (field->delimiter)
		tp_buffer_printf(b, "%s\n", field->delimiter);
	for (const struct trace_print_flags *s = field->symbols; s && s->name; s++)
		tp_buffer_printf(b, "%lx %s\n", s->mask, s->name);
}

static void describe_layout(struct tp_buffer *b, const struct tp_event_class *class)
{
	for (uint32_t i = 0; i < class->nr_fields; i++)
		describe_field(b, tp_event_field_at(class, i));
	for (const struct tp_eval *e = class->evals; e && e->name; e++)
		tp_buffer_printf(b, "%lld %s\n", e->value, e->name);
	tp_buffer_printf(b, "%u\n%s", class->fixed_size, class->print_fmt ? class->print_fmt : "");
}

static struct layout *layout_create(struct tp_event_group *group, const struct tp_buffer *text)
{
	if (last_id == TP_NR_IDS - 1) {
		tp_complain("event '%s' can't be recorded: all %u event ids of the process are taken", group->name,
			    TP_NR_IDS - 1);
		return NULL;
	}
	struct layout *layout = tp_malloc(sizeof(*layout) + text->len + 1);
	if (!layout) {
		tp_complain("event '%s' can't be recorded: out of memory", group->name);
		return NULL;
	}
	layout->id = ++last_id;
	memcpy(layout->text, text->text, text->len + 1);
	layout->next = group->layouts;
	group->layouts = layout;
	return layout;
}

/* The id of the event's layout; 0 and a message where there is none to be had. */
static uint16_t id_of(struct tp_event_group *group, const struct tp_event *event)
{
	struct tp_buffer text = {.text = NULL};
	struct layout *layout = group->layouts;

	describe_layout(&text, event->event_class);
	if (text.failed) {
		tp_complain("event '%s' can't be recorded: out of memory", group->name);
		layout = NULL;
	} else {
		while (layout && strcmp(layout->text, text.text) != 0)
			layout = layout->next;
		if (!layout)
			layout = layout_create(group, &text);
	}
	tp_buffer_free(&text);
	if (!layout)
		tp_events_without_id = true;
	return layout ? layout->id : 0;
}

/* ---- Modules ---- */

static void link_by_id(struct tp_loaded_event *loaded)
{
	struct tp_loaded_event **at = &tp_loaded_events;

	if (last && last->event->id <= loaded->event->id)
		at = &last->next; /* a new id is the highest */
	while (*at && (*at)->event->id <= loaded->event->id)
		at = &(*at)->next;
	loaded->next = *at;
	*at = loaded;
	if (!loaded->next)
		last = loaded;
}

static void unlink_by_id(struct tp_loaded_event *loaded)
{
	struct tp_loaded_event **at = &tp_loaded_events;
	struct tp_loaded_event *previous = NULL;

	while (*at != loaded) {
		previous = *at;
		at = &previous->next;
	}
	*at = loaded->next;
	if (last == loaded)
		last = previous;
}

static void event_load(struct tp_event *event, const char *path)
{
	struct tp_loaded_event *loaded = event->reserved[0];

	if (loaded) {
		loaded->loads++;
		return;
	}
	if (!tp_module_accepts(event->tracepoint, path)) {
		tp_events_without_id = true;
		return;
	}
	struct tp_event_group *group = group_of(event->system, event->name);
	loaded = group ? tp_malloc(sizeof(*loaded)) : NULL;
	if (!loaded) {
		tp_complain("event '%s:%s' can't be recorded: out of memory", event->system, event->name);
		tp_events_without_id = true;
		return;
	}
	event->id = id_of(group, event);
	if (!event->id) {
		free(loaded);
		return;
	}
	*loaded = (struct tp_loaded_event){.group = group, .event = event, .loads = 1};
	event->reserved[0] = loaded;
	link_by_id(loaded);
	struct tp_loaded_event **at = &group->events;
	while (*at)
		at = &(*at)->group_next;
	*at = loaded;
}

const struct tp_event_group *tp_event_unload(struct tp_event *event)
{
	struct tp_loaded_event *loaded = event->reserved[0];

	if (!loaded || --loaded->loads)
		return NULL;
	struct tp_event_group *group = loaded->group;
	struct tp_loaded_event **at = &group->events;
	while (*at != loaded)
		at = &(*at)->group_next;
	*at = loaded->group_next;
	unlink_by_id(loaded);
	event->reserved[0] = NULL;
	free(loaded);
	/* The id stays until the readers are gone: a record may be on its way. */
	return group;
}

struct tp_event *tp_event_at(const struct tp_module *module, size_t *i)
{
	const size_t own = (size_t)(module->events_end - module->events);
	const size_t all = own + (size_t)(module->markers_end - module->markers);

	while (*i < all) {
		size_t at = (*i)++;
		struct tp_event *event = at < own ? module->events[at] : tp_marker_event(module->markers[at - own]);
		if (event)
			return event;
	}
	return NULL;
}

void tp_events_load(struct tp_module *module)
{
	struct tp_event *event;

	for (size_t i = 0; (event = tp_event_at(module, &i));) {
		event_load(event, module->path);
		if (tp_is_marker(event->tracepoint))
			tp_marker_remember_id(event);
	}
}

void tp_events_settle(struct tp_module *module)
{
	struct tp_event *event;

	for (size_t i = 0; (event = tp_event_at(module, &i));) {
		if (!event->reserved[0])
			event->id = 0;
	}
}

bool tp_events_match(const char *patterns)
{
	int error;
	struct tp_pattern *pattern = tp_pattern_new(patterns, &error);
	bool any = false;

	if (!pattern)
		return false;
	tp_lock(&tp_events_lock);
	for (size_t i = 0; i < tp_groups.nr && !any; i++)
		any = tp_pattern_matches(pattern, tp_groups.by_number[i]->name);
	tp_unlock(&tp_events_lock);
	tp_pattern_free(pattern);
	return any;
}

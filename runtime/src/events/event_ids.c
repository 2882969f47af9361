/* SPDX-License-Identifier: MIT */
/*
 * events/event_ids.c - the events of the loaded modules, and their ids.
 *
 * Several modules may carry one event (of the same system and name). They
 * form a group.
 */
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/exit.h"
#include "base/message.h"
#include "base/text.h"
#include "core/core.h"
#include "events/event_ids.h"
#include "events/events.h"
#include "events/marker_event.h"
#include "events/record_words.h"
#include "events/synthetic_record.h"
#include "print/description.h"

#define GROUP_BUCKETS 1024
#define PIECE 8000 /* bytes of permanent memory that are taken at a time */

/*
 * A layout that an event was seen with, and the id that it keeps for ever. The
 * class is copied as late as possible: most events are the only one of their
 * group, and stay until the process ends.
 */
struct layout {
	struct layout *next;
	const struct tp_event_class *class; /* of a loaded event; NULL: forgotten, no other equals it */
	bool is_copy;                       /* which stays, whatever is loaded */
	uint16_t id;
};

struct tp_loaded_event *tp_loaded_events;
bool tp_events_without_id;
struct tp_group_table tp_groups;

static struct tp_loaded_event *recent; /* the last that was linked to tp_loaded_events, or one before it */
static struct tp_event_group *groups[GROUP_BUCKETS];
static uint16_t last_id;

/* ---- Memory ---- */

/*
 * Groups and layouts are never freed. Modules bring thousands of them, for
 * which malloc would take longer than all that is done with them.
 */
static void *permanent(size_t size)
{
	static struct piece {
		struct piece *next;
		max_align_t memory[];
	} *pieces; /* by their next, so that leak checkers find each */
	static char *at, *end;

	size = (size + alignof(void *) - 1) & ~(alignof(void *) - 1);
	if ((size_t)(end - at) < size) {
		size_t room = size > PIECE ? size : PIECE;
		struct piece *piece = tp_malloc(sizeof(*piece) + room);
		if (!piece)
			return NULL;
		piece->next = pieces;
		pieces = piece;
		at = (char *)piece->memory;
		end = at + room;
	}
	at += size;
	return at - size;
}

/* What a module has left is the next one's. */
static struct tp_loaded_event *loaded_events_unused;

static struct tp_loaded_event *loaded_event_new(void)
{
	struct tp_loaded_event *loaded = loaded_events_unused;

	if (loaded)
		loaded_events_unused = loaded->next;
	else
		loaded = permanent(sizeof(*loaded));
	return loaded;
}

static void loaded_event_put_back(struct tp_loaded_event *loaded)
{
	loaded->next = loaded_events_unused;
	loaded_events_unused = loaded;
}

/* ---- Groups, layouts, ids ---- */

static bool room_for_number(void)
{
	if (tp_groups.nr < tp_groups.room)
		return true;
	size_t room = tp_groups.room ? 2 * tp_groups.room : 64;
	struct tp_event_group **grown = tp_malloc(room * sizeof(*grown));
	if (!grown)
		return false;
	if (tp_groups.nr)
		memcpy(grown, tp_groups.by_number, tp_groups.nr * sizeof(*grown));
	free(tp_groups.by_number);
	tp_groups.by_number = grown;
	tp_groups.room = room;
	return true;
}

struct tp_event_group *tp_group_of(const char *system, const char *event)
{
	size_t system_len = strlen(system);
	size_t event_size = strlen(event) + 1;
	uint32_t hash = tp_hash(event);
	struct tp_event_group **bucket = &groups[hash % GROUP_BUCKETS];
	struct tp_event_group *group = *bucket;
	for (; group; group = group->next) {
		if (group->hash == hash && strncmp(group->name, system, system_len) == 0 &&
		    group->name[system_len] == ':' && strcmp(group->name + system_len + 1, event) == 0)
			return group;
	}

	group = room_for_number() ? permanent(sizeof(*group) + system_len + 1 + event_size) : NULL;
	if (!group)
		return NULL;
	*group = (struct tp_event_group){.next = *bucket, .number = tp_groups.nr, .hash = hash};
	tp_groups.by_number[tp_groups.nr++] = group;
	memcpy(group->name, system, system_len);
	group->name[system_len] = ':';
	memcpy(group->name + system_len + 1, event, event_size);
	*bucket = group;
	return group;
}

static struct layout *layout_find(struct tp_event_group *group, const struct tp_event_class *class)
{
	const size_t size = tp_class_size(class);

	for (struct layout *layout = group->layouts; layout; layout = layout->next) {
		if (layout->class && tp_class_size(layout->class) == size && memcmp(layout->class, class, size) == 0)
			return layout;
	}
	return NULL;
}

static struct layout *layout_create(struct tp_event_group *group, const struct tp_event_class *class)
{
	if (last_id == TP_NR_IDS - 1) {
		tp_complain("event '%s' can't be recorded: all %u event ids of the process are taken", group->name,
			    TP_NR_IDS - 1);
		return NULL;
	}
	struct layout *layout = permanent(sizeof(*layout));
	if (!layout) {
		tp_complain("event '%s' can't be recorded: out of memory", group->name);
		return NULL;
	}
	*layout = (struct layout){.next = group->layouts, .class = class, .id = ++last_id};
	group->layouts = layout;
	return layout;
}

/* The id of the event's layout; 0 and a message where there is none to be had. */
static uint16_t id_of(struct tp_event_group *group, const struct tp_event *event)
{
	struct layout *layout = layout_find(group, event->event_class);

	if (!layout)
		layout = layout_create(group, event->event_class);
	if (!layout)
		tp_events_without_id = true;
	return layout ? layout->id : 0;
}

/*
 * An event of this id has gone, and its class goes with it. If no other has the
 * layout and it can't be copied, it is forgotten, and gets a new id when it comes back.
 */
static void layout_leave(struct tp_event_group *group, uint16_t id)
{
	struct layout *layout = group->layouts;
	const struct tp_loaded_event *other = group->events;

	while (layout->id != id)
		layout = layout->next;
	if (layout->is_copy || !layout->class)
		return;
	while (other && other->event->id != id)
		other = other->group_next;
	if (other) {
		layout->class = other->event->event_class;
		return;
	}
	const size_t size = tp_class_size(layout->class);
	void *copy = tp_exiting() ? NULL : tp_malloc(size);
	layout->class = copy ? memcpy(copy, layout->class, size) : NULL;
	layout->is_copy = copy != NULL;
}

/* ---- Modules ---- */

/* A module's events mostly have ids in a row: the search for the place begins where the last one was linked. */
static void link_by_id(struct tp_loaded_event *loaded)
{
	struct tp_loaded_event *previous = recent && recent->event->id <= loaded->event->id ? recent : NULL;
	struct tp_loaded_event *next = previous ? previous->next : tp_loaded_events;

	for (; next && next->event->id <= loaded->event->id; next = next->next)
		previous = next;
	loaded->previous = previous;
	loaded->next = next;
	*(previous ? &previous->next : &tp_loaded_events) = loaded;
	if (next)
		next->previous = loaded;
	recent = loaded;
}

static void unlink_by_id(struct tp_loaded_event *loaded)
{
	*(loaded->previous ? &loaded->previous->next : &tp_loaded_events) = loaded->next;
	if (loaded->next)
		loaded->next->previous = loaded->previous;
	if (recent == loaded)
		recent = loaded->previous;
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
	struct tp_event_group *group = tp_group_of(event->system, event->name);
	loaded = group ? loaded_event_new() : NULL;
	if (!loaded) {
		tp_complain("event '%s:%s' can't be recorded: out of memory", event->system, event->name);
		tp_events_without_id = true;
		return;
	}
	event->id = id_of(group, event);
	if (!event->id) {
		loaded_event_put_back(loaded);
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

const struct tp_event_group *tp_events_unload(struct tp_event *event)
{
	struct tp_loaded_event *loaded = event->reserved[0];

	if (!loaded || --loaded->loads)
		return NULL;
	struct tp_event_group *group = loaded->group;
	struct tp_loaded_event **at = &group->events;
	while (*at != loaded)
		at = &(*at)->group_next;
	*at = loaded->group_next;
	layout_leave(group, event->id);
	unlink_by_id(loaded);
	event->reserved[0] = NULL;
	loaded_event_put_back(loaded);
	/* The id stays until the readers are gone: a record may be on its way. */
	return group;
}

struct tp_event *tp_events_at(const struct tp_module *module, size_t *i)
{
	const size_t own = (size_t)(module->events_end - module->events);
	const size_t all = own + (size_t)(module->markers_end - module->markers);

	while (*i < all) {
		size_t at = (*i)++;
		struct tp_event *event = at < own ? module->events[at] : tp_marker_event(&module->markers[at - own]->tp);
		if (event)
			return event;
	}
	return NULL;
}

static bool is_synthetic(const struct tp_event *event)
{
	return event->record == (tp_probe_t)tp_synthetic_record;
}

/* Of two markers with one layout, but another format, the last that was loaded prints. */
static void remember_id(const struct tp_event *event)
{
	if (event->id && (tp_is_marker(event->tracepoint) || is_synthetic(event)) && !tp_by_id_set(event->id, event))
		tp_complain("event '%s:%s' is recorded, but can't be printed: out of memory", event->system, event->name);
}

void tp_events_load(struct tp_module *module)
{
	struct tp_event *event;

	for (size_t i = 0; (event = tp_events_at(module, &i));) {
		event_load(event, module->path);
		remember_id(event);
	}
}

void tp_events_settle(struct tp_module *module)
{
	struct tp_event *event;

	for (size_t i = 0; (event = tp_events_at(module, &i));) {
		if (event->reserved[0])
			continue;
		if (event->id && is_synthetic(event))
			tp_by_id_set(event->id, NULL);
		event->id = 0;
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/list.c - all histograms, and what those of one name share.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "core/core.h"
#include "filter/fields.h"
#include "sinks/hist/own.h"

static struct tp_hist *first;
static struct tp_hist_map *maps; /* that have a name */

struct tp_hist *tp_hist_first(void)
{
	return __atomic_load_n(&first, __ATOMIC_ACQUIRE);
}

/* Nobody reads the map's variables from here on; hits may still be about it. How many references it loses after a grace period. */
static unsigned int unbind(struct tp_hist_map *map)
{
	unsigned int nr = 0;

	for (struct tp_hist *hist = tp_hist_first(); hist; hist = tp_hist_next(hist)) {
		for (uint32_t i = 0; i < hist->links.nr; i++) {
			struct tp_hist_link *link = &hist->links.links[i];
			if (!link->slot || link->slot->map != map)
				continue;
			__atomic_store_n(&link->slot, NULL, __ATOMIC_RELAXED);
			nr++;
		}
	}
	return nr;
}

/* The same of the links of a histogram that nobody hits yet, to maps whose histograms were closed while it was made. */
static uint32_t unbind_closed(struct tp_hist_links *links, struct tp_hist_map *closed[TP_HIST_LINKS])
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < links->nr; i++) {
		if (links->links[i].slot->map->nr_hists)
			continue;
		closed[nr++] = links->links[i].slot->map;
		links->links[i].slot = NULL;
	}
	return nr;
}

void tp_hist_list_add(struct tp_hist *hist)
{
	struct tp_hist_map *closed[TP_HIST_LINKS];
	struct tp_hist **at = &first;

	tp_lock(&tp_hist_lock);
	while (*at)
		at = &(*at)->next;
	const uint32_t nr_closed = unbind_closed(&hist->links, closed);
	hist->map->nr_hists++;
	__atomic_store_n(at, hist, __ATOMIC_RELEASE);
	tp_unlock(&tp_hist_lock);
	for (uint32_t i = 0; i < nr_closed; i++)
		tp_hist_map_give(closed[i]);
}

void tp_hist_list_remove(struct tp_hist *hist)
{
	struct tp_hist **at = &first;

	tp_lock(&tp_hist_lock);
	while (*at != hist)
		at = &(*at)->next;
	__atomic_store_n(at, hist->next, __ATOMIC_RELEASE);
	unsigned int nr_unbound = --hist->map->nr_hists ? 0 : unbind(hist->map);
	tp_unlock(&tp_hist_lock);
	tracepoint_synchronize_unregister();
	while (nr_unbound--)
		tp_hist_map_give(hist->map);
}

void tp_hist_pause(struct tp_sink *sink, bool paused)
{
	__atomic_store_n(&tp_hist_of(sink)->paused, paused, __ATOMIC_RELAXED);
}

void tp_hists_pause_of(const char *event, bool paused)
{
	for (struct tp_hist *hist = tp_hist_first(); hist; hist = tp_hist_next(hist)) {
		const struct tp_hist_program *program = __atomic_load_n(&hist->attached, __ATOMIC_ACQUIRE);
		while (program && strcmp(program->name, event) != 0)
			program = program->next_attached;
		if (program)
			tp_hist_pause(&hist->head, paused);
	}
}

/* ---- What those of one name share ---- */

static struct tp_hist_map *map_find(const struct tp_hist_definition *definition)
{
	struct tp_hist_map *map = maps;

	while (map && !tp_hist_span_same(map->definition, map->definition->name, definition, definition->name))
		map = map->next;
	return map;
}

static struct tp_hist_map *map_new(const struct tp_hist_definition *definition, struct tp_filter_error *error)
{
	struct tp_hist_map *map = tp_malloc(sizeof(*map));

	if (!map) {
		tp_filter_fail_memory(error);
		return NULL;
	}
	*map = (struct tp_hist_map){.bits = definition->bits, .nr_keys = definition->nr_keys};
	for (uint32_t i = 0; i < TP_HIST_VARIABLES; i++)
		map->slots[i] = (struct tp_hist_slot){map, i};
	if (!definition->name.len)
		return map;
	map->definition = tp_hist_definition_new(definition->text, error);
	if (map->definition) {
		map->next = maps;
		maps = map;
		return map;
	}
	free(map);
	return NULL;
}

static struct tp_hist_map *map_take(const struct tp_hist_definition *definition, struct tp_filter_error *error)
{
	struct tp_hist_map *map = definition->name.len ? map_find(definition) : NULL;

	if (!map)
		return map_new(definition, error);
	if (tp_hist_definition_same(map->definition, definition))
		return map;
	tp_buffer_printf(&error->hint, "that is hist:%s", map->definition->text);
	tp_filter_fail(error, definition->name.at - strlen("name="),
		       "Named hist trigger doesn't match existing named trigger (includes variables)");
	return NULL;
}

struct tp_hist_map *tp_hist_map_take(const struct tp_hist_definition *definition, struct tp_filter_error *error)
{
	tp_lock(&tp_hist_lock);
	struct tp_hist_map *map = map_take(definition, error);
	if (map)
		map->refs++;
	tp_unlock(&tp_hist_lock);
	return map;
}

static void map_unlist(struct tp_hist_map *map)
{
	struct tp_hist_map **at = &maps;

	while (*at && *at != map)
		at = &(*at)->next;
	if (*at)
		*at = map->next;
}

void tp_hist_map_give(struct tp_hist_map *map)
{
	tp_lock(&tp_hist_lock);
	const bool last = !--map->refs;
	if (last)
		map_unlist(map);
	tp_unlock(&tp_hist_lock);
	if (!last)
		return;
	for (uint32_t i = 0; i < map->nr_keys; i++)
		free(map->names[i]);
	tp_hist_definition_free(map->definition);
	tp_hist_table_free(map->table);
	free(map);
}

/* The names of a key's values, if it is a field with such. */
static bool copy_names(struct tp_symbols **names, const struct tp_hist_definition *definition, const struct tp_hist_item *key,
		       const struct tp_event *event)
{
	const struct tp_hist_span name = definition->nodes[key->root].name;
	struct tp_filter_field field;

	free(*names);
	*names = NULL;
	if (!tp_filter_field_find(&field, event, tp_hist_text_at(definition, name), name.len) || !field.is_own)
		return true;
	return tp_value_names_copy(names, &field.described);
}

int tp_hist_map_settle(struct tp_hist_map *map, const struct tp_hist_definition *definition,
		       const struct tp_hist_program *program, const struct tp_event *event)
{
	if (map->table)
		return tp_hist_layout_same(definition, &map->layout, &program->layout) ? 0 : -EINVAL;
	for (uint32_t i = 0; i < map->nr_keys; i++) {
		if (program->layout.is_field[i] && !copy_names(&map->names[i], definition, &definition->keys[i], event))
			return -ENOMEM;
	}
	map->shape = tp_hist_shape_of(definition, &program->layout);
	struct tp_hist_table *table = tp_hist_table_new(map->bits, &map->shape);
	if (!table)
		return -ENOMEM;
	map->layout = program->layout;
	__atomic_store_n(&map->table, table, __ATOMIC_RELEASE);
	return 0;
}

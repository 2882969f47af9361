/* SPDX-License-Identifier: MIT */
/*
 * core/definition.c - the tracepoints, events and markers that a module defines: they are zeros
 * until they are filled in here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "core/core.h"
#include "core/definition.h"

/* What a distance leads to; NULL for 0. */
static void *place_at(const int32_t *distance)
{
	return *distance ? (char *)(uintptr_t)distance + *distance : NULL;
}

static tp_probe_t function_at(const int32_t *distance)
{
	return (tp_probe_t)(uintptr_t)place_at(distance);
}

/* The text behind this one. */
static const char *next(const char *text)
{
	return text + strlen(text) + 1;
}

static void fill_in(struct tracepoint *tp, const char *text, int line)
{
	tp->name = text;
	tp->proto = next(tp->name);
	tp->file = next(tp->proto);
	tp->line = line;
}

/* Also that of a TRACE_CUSTOM_EVENT, which is no tracepoint of its own. */
static void define_tracepoint(struct tp_module *module, const struct tp_definition *definition)
{
	struct tracepoint *tp = place_at(&definition->tracepoint);

	fill_in(tp, place_at(&definition->text), definition->line);
	tp->iterate = function_at(&definition->iterate);
	if (!tp->iterate)
		return;
	tp->module = module;
	*module->tracepoints_end++ = tp;
}

static void define_event(struct tp_module *module, const struct tp_definition *definition)
{
	struct tp_event *event = place_at(&definition->event);

	if (!event)
		return;
	event->tracepoint = place_at(&definition->tracepoint);
	event->name = event->tracepoint->name;
	event->system = next(event->tracepoint->file);
	event->event_class = place_at(&definition->event_class);
	event->record = function_at(&definition->record);
	event->print = (void (*)(struct trace_seq *, const void *))function_at(&definition->print);
	event->loglevel = (enum tp_loglevel)definition->loglevel;
	*module->events_end++ = event;
}

/* Where a compiler has made several copies of a marker's site, each has announced the marker: one is enough. */
static void define_marker(struct tp_module *module, struct marker *marker, const char *text, int line)
{
	if (marker->tp.module == module)
		return;
	fill_in(&marker->tp, text, line);
	marker->tp.module = module;
	marker->tp.iterate = (tp_probe_t)tp_marker_iterate;
	marker->name = text + strlen(TP_MARKER_PREFIX);
	marker->format = marker->tp.proto;
	*module->markers_end++ = marker;
}

static void define_markers(struct tp_module *module)
{
	const struct tp_definition *definition = module->markers_defined;

	for (; definition < module->markers_defined_end; definition++)
		define_marker(module, place_at(&definition->tracepoint), place_at(&definition->text), definition->line);
	for (const struct tp_marker_pointers *to = module->marker_pointers; to < module->marker_pointers_end; to++)
		define_marker(module, to->marker, to->text, to->line);
}

/* How many pointers its lists have room for; 0: it has no definitions, and brings its own lists. */
static size_t room(const struct tp_module *module, size_t *nr)
{
	*nr = (size_t)(module->definitions_end - module->definitions);
	return 2 * *nr + (size_t)(module->markers_defined_end - module->markers_defined) +
	       (size_t)(module->marker_pointers_end - module->marker_pointers);
}

int tp_module_define(struct tp_module *module)
{
	size_t nr;
	const size_t size = room(module, &nr);

	if (!size || module->tracepoints)
		return 0;
	void **lists = tp_malloc(size * sizeof(*lists));
	if (!lists)
		return -ENOMEM;
	tp_lock(&tp_registry_lock);
	module->tracepoints = module->tracepoints_end = (struct tracepoint **)lists;
	module->events = module->events_end = (struct tp_event **)(lists + nr);
	module->markers = module->markers_end = (struct marker **)(lists + 2 * nr);
	for (size_t i = 0; i < nr; i++) {
		define_tracepoint(module, &module->definitions[i]);
		define_event(module, &module->definitions[i]);
	}
	define_markers(module);
	tp_unlock(&tp_registry_lock);
	return 0;
}

void tp_module_forget(struct tp_module *module)
{
	size_t nr;

	if (!room(module, &nr))
		return;
	for (struct marker **at = module->markers; at < module->markers_end; at++)
		(*at)->tp.module = NULL; /* by which define_marker() knows those that it has seen */
	free(module->tracepoints); /* and the lists behind it */
	module->tracepoints = module->tracepoints_end = NULL;
	module->events = module->events_end = NULL;
	module->markers = module->markers_end = NULL;
}

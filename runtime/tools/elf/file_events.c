/* SPDX-License-Identifier: MIT */
#define TP_RUNTIME /* and so no module, see tp/marker.h */

#include "elf/file_events.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tp/module.h>
#include <tp/trace_seq.h>

#include "elf/definition.h"
#include "elf/sections.h"
#include "events/marker_format.h"
#include "print/description.h"
#include "fail_msg.h"

#define MARKER_PREFIX "marker:"
#define BUDGET ((uint64_t)256 << 20) /* 4 kB for each of as many events as a process can have */
#define SECTION_NR_MAX ((uint64_t)1 << 20)
#define FORMAT_FIRST ((size_t)16 << 10)
#define FORMAT_MAX ((size_t)16 << 20)

struct reader {
	struct collected *collected;
	struct image *image;
	const char *path;
	uint64_t budget; /* of definition_read() */
	char *format;    /* where the text of an event is made */
	size_t format_size;
};

/* ---- An event ---- */

/* NULL: there is no memory, or the text is too long. */
static const char *format_of(struct reader *reader, const struct tp_event *event)
{
	for (;;) {
		struct trace_seq seq;
		if (reader->format_size) {
			trace_seq_init(&seq, reader->format, reader->format_size);
			if (tp_format_append(event, &seq) == 0)
				return reader->format;
		}
		const size_t size = reader->format_size ? 2 * reader->format_size : FORMAT_FIRST;
		char *larger = size <= FORMAT_MAX ? realloc(reader->format, size) : NULL;
		if (!larger)
			return NULL;
		reader->format = larger;
		reader->format_size = size;
	}
}

static bool is_wanted(const struct reader *reader, const char *name)
{
	const struct tp_pattern *pattern = reader->collected->pattern;

	return !pattern || tp_pattern_matches(pattern, name);
}

/* Adds the event, whose class and place may be incomplete otherwise. */
static bool add(struct reader *reader, const char *name, const struct tp_event *event, const struct definition *definition)
{
	const char *format = format_of(reader, event);
	char *place = NULL;

	if (asprintf(&place, "%s:%d", definition->file, definition->line) < 0)
		return false;
	const bool good = format && event_list_add(&reader->collected->list,
						   &(struct listed_event){.name = name, .level = event->loglevel,
									  .place = place, .format = format});
	free(place);
	return good;
}

/* False: it can't be read. */
static bool add_event(struct reader *reader, const struct definition *definition)
{
	struct tp_event event = {.system = definition->system, .name = definition->name, .loglevel = definition->level};
	char *name;

	if (!definition->event_class)
		return true;
	if (asprintf(&name, "%s:%s", event.system, event.name) < 0)
		return false;
	reader->collected->nr_events++;
	bool good = !is_wanted(reader, name);
	if (!good) {
		struct tp_event_class *class = definition_class(reader->image, definition, &reader->budget);
		event.event_class = class;
		good = class && add(reader, name, &event, definition);
		free(class);
	}
	free(name);
	return good;
}

/* ---- A marker ---- */

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Whether the marker is the first of its name: all of them are one event. False without memory, too. */
static bool is_first(struct collected *collected, const char *name)
{
	if (tfind(name, &collected->markers, compare_names))
		return false;
	char *kept = strdup(name);
	if (kept && tsearch(kept, &collected->markers, compare_names))
		return true;
	free(kept);
	return false;
}

static bool add_marker(struct reader *reader, const struct definition *definition)
{
	struct tp_marker_format parsed;
	bool good = true;

	if (!definition->name)
		return true;
	if (strncmp(definition->name, MARKER_PREFIX, strlen(MARKER_PREFIX)) != 0)
		return false;
	if (!is_first(reader->collected, definition->name))
		return true;
	/* If the format can't be recorded, the marker is no event, which its program says when it starts. */
	if (!tp_marker_format_parse(&parsed, definition->proto, image_is_32_bit(reader->image) ? 4 : 8) && !parsed.strings.failed) {
		struct tp_event_class *class = tp_class_new(&(struct tp_class_parts){
			.fields = parsed.fields, .nr_fields = parsed.nr, .print_fmt = parsed.print_fmt,
		});
		const struct tp_event event = {.name = definition->name + strlen(MARKER_PREFIX), .event_class = class,
					       .loglevel = TP_LOGLEVEL_DEBUG_LINE};
		reader->collected->nr_events++;
		good = class && (!is_wanted(reader, definition->name) || add(reader, definition->name, &event, definition));
		free(class);
	}
	tp_buffer_free(&parsed.strings);
	return good;
}

/* ---- All of them ---- */

static bool damaged(const struct reader *reader, const struct section *section, uint64_t i)
{
	return fail_msg("'%s' is damaged, or was made by another version of libtp than its sections say: the description of "
		    "%s %llu can't be read; build it again", reader->path,
		    section->kind == SECTION_DEFINITIONS ? "tracepoint" : "marker", (unsigned long long)(i + 1));
}

/* Reads one of a section's elements and adds what it defines. False: it can't be read. */
static bool add_element(struct reader *reader, enum section_kind kind, uint64_t address)
{
	struct definition definition;
	const bool good = (kind == SECTION_MARKER_POINTERS ? definition_read_pointers : definition_read)(
				  reader->image, address, &definition, &reader->budget) &&
			  (kind == SECTION_DEFINITIONS ? add_event : add_marker)(reader, &definition);

	definition_free(&definition);
	return good;
}

/* False, and a message. */
static bool read_section(struct reader *reader, const struct section *section)
{
	const uint64_t size = section->kind == SECTION_MARKER_POINTERS ? definition_pointers_size(reader->image)
								       : sizeof(struct tp_definition);
	const uint64_t nr = section->size / size;

	if (section->interface != TP_INTERFACE_VERSION)
		return fail_msg("'%s' was built for interface %u of libtp, and this tp knows those up to %d: use the tp of "
			    "a newer libtp", reader->path, section->interface, TP_INTERFACE_VERSION);
	reader->collected->nr_tracepoints += (size_t)nr;
	for (uint64_t i = 0; i < nr; i++) {
		if (i >= SECTION_NR_MAX || !add_element(reader, section->kind, section->address + i * size))
			return damaged(reader, section, i);
	}
	return true;
}

bool file_events(struct collected *collected, struct image *image, const char *path)
{
	struct reader reader = {.collected = collected, .image = image, .path = path, .budget = BUDGET};
	struct sections sections;
	const char *why = sections_read(&sections, image);
	bool good = true;

	if (why)
		return fail_msg("'%s' %s", path, why);
	for (enum section_kind kind = SECTION_DEFINITIONS; kind <= SECTION_MARKER_POINTERS; kind++) {
		for (size_t i = 0; good && i < sections.nr; i++)
			good = sections.all[i].kind != kind || read_section(&reader, &sections.all[i]);
	}
	free(reader.format);
	return good;
}

void collected_free(struct collected *collected)
{
	event_list_free(&collected->list);
	tdestroy(collected->markers, free);
	collected->markers = NULL;
}

/* SPDX-License-Identifier: MIT */
#define TP_RUNTIME /* and so no module, see tp/marker.h */

#include "elf/file_events.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tp/trace_seq.h>

#include "elf/objects.h"
#include "elf/pointers.h"
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
	const char *path;
	struct sections sections;
	struct objects objects;
	char *format; /* where the text of an event is made */
	size_t format_size;
};

static bool damaged(const struct reader *reader, const struct section *section, uint64_t i)
{
	static const char *const what[] = {
		[SECTION_TRACEPOINTS] = "tracepoint", [SECTION_EVENTS] = "event", [SECTION_MARKERS] = "marker",
	};

	return fail_msg("'%s' is damaged, or was made by another version of libtp than its sections say: the description of "
		    "%s %llu can't be read; build it again", reader->path, what[section->kind],
		    (unsigned long long)(i + 1));
}

/* ---- Each element of a section ---- */

/* Takes the address of a structure. False: it can't be read. */
typedef bool visit_fn(struct reader *reader, uint64_t address);

/* False, and a message. */
static bool each(struct reader *reader, const struct section *section, visit_fn *visit)
{
	for (uint64_t i = 0; i < section->nr; i++) {
		uint64_t address;
		const bool good = i < SECTION_NR_MAX &&
				  section_pointer(reader->objects.image, section, i, &address) &&
				  (!address || visit(reader, address));
		objects_release(&reader->objects);
		if (!good)
			return damaged(reader, section, i);
	}
	return true;
}

/* ---- An event ---- */

/* NULL: there is no memory, or the text is too long. */
static const char *format_of(struct reader *reader, const struct tp_event *event)
{
	for (;;) {
		struct trace_seq seq;
		if (reader->format_size) {
			trace_seq_init(&seq, reader->format, reader->format_size);
			if (tp_event_format(event, &seq) == 0)
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
static bool add(struct reader *reader, const char *name, const struct tp_event *event, const struct tracepoint *tp)
{
	const char *format = format_of(reader, event);
	char *place = NULL;

	if (tp->file && asprintf(&place, "%s:%d", tp->file, tp->line) < 0)
		return false;
	const bool good = format && event_list_add(&reader->collected->list,
						   &(struct listed_event){.name = name, .level = event->loglevel,
									  .place = place, .format = format});
	free(place);
	return good;
}

static bool visit_event(struct reader *reader, uint64_t address)
{
	struct tracepoint tp = {.file = NULL};
	struct tp_event event;
	uint64_t tracepoint;
	char *name;

	if (!objects_event(&reader->objects, address, &event) ||
	    !image_read_pointer(reader->objects.image, address + EVENT_TRACEPOINT, &tracepoint) ||
	    (tracepoint && !objects_tracepoint(&reader->objects, tracepoint, &tp)))
		return false;
	if (asprintf(&name, "%s:%s", event.system, event.name) < 0)
		return false;
	reader->collected->nr_events++;
	bool good = !is_wanted(reader, name);
	if (!good) {
		event.event_class = objects_class(&reader->objects, address);
		good = event.event_class && add(reader, name, &event, &tp);
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

static bool visit_marker(struct reader *reader, uint64_t address)
{
	struct tp_marker_format parsed;
	struct tracepoint tp;
	bool good = true;

	if (!objects_tracepoint(&reader->objects, address, &tp) ||
	    strncmp(tp.name, MARKER_PREFIX, strlen(MARKER_PREFIX)) != 0)
		return false;
	if (!is_first(reader->collected, tp.name))
		return true;
	/* If the format can't be recorded, the marker is no event, which its program says when it starts. */
	if (!tp_marker_format_parse(&parsed, tp.proto) && !parsed.strings.failed) {
		struct tp_event_class *class = tp_class_new(&(struct tp_class_parts){
			.fields = parsed.fields, .nr_fields = parsed.nr, .print_fmt = parsed.print_fmt,
		});
		const struct tp_event event = {.name = tp.name + strlen(MARKER_PREFIX), .event_class = class,
					       .loglevel = TP_LOGLEVEL_DEBUG_LINE};
		reader->collected->nr_events++;
		good = class && (!is_wanted(reader, tp.name) || add(reader, tp.name, &event, &tp));
		free(class);
	}
	tp_buffer_free(&parsed.strings);
	return good;
}

/* ---- All of them ---- */

static bool read_sections(struct reader *reader, enum section_kind kind, visit_fn *visit)
{
	for (size_t s = 0; s < reader->sections.nr; s++) {
		const struct section *section = &reader->sections.all[s];
		if (section->kind != kind)
			continue;
		if (section->interface != TP_INTERFACE_VERSION)
			return fail_msg("'%s' was built for interface %u of libtp, and this tp knows those up to %d: use "
				    "the tp of a newer libtp", reader->path, section->interface,
				    TP_INTERFACE_VERSION);
		if (!each(reader, section, visit))
			return false;
	}
	return true;
}

bool file_events(struct collected *collected, struct image *image, const char *path)
{
	struct reader reader = {.collected = collected, .path = path,
				.objects = {.image = image, .budget = BUDGET}};
	const char *why = sections_read(&reader.sections, image);

	if (!why && reader.sections.nr)
		why = pointers_read(image);
	if (why)
		return fail_msg("'%s' %s", path, why);
	for (size_t s = 0; s < reader.sections.nr; s++) {
		if (reader.sections.all[s].kind != SECTION_EVENTS)
			collected->nr_tracepoints += reader.sections.all[s].nr;
	}
	const bool good = read_sections(&reader, SECTION_EVENTS, visit_event) &&
			  read_sections(&reader, SECTION_MARKERS, visit_marker);
	objects_release(&reader.objects);
	free(reader.format);
	return good;
}

void collected_free(struct collected *collected)
{
	event_list_free(&collected->list);
	tdestroy(collected->markers, free);
	collected->markers = NULL;
}

/* SPDX-License-Identifier: MIT */
#include "report/mappings.h"

#include <stdlib.h>
#include <string.h>

#include "read/fields.h"
#include "report/merge.h"
#include "fail_msg.h"

/* Of different ones, which a process has some hundreds of: each address is looked for among them. */
#define MAPPINGS_MAX 65536u

/* The fields of tp:mapping. */
struct layout {
	const struct field *start, *end, *offset, *path, *build_id;
};

/* ---- A record ---- */

static const struct field *number(const struct fields *fields, const char *name)
{
	const struct field *field = field_named(fields, name);

	return field && field->kind == FIELD_UNSIGNED && !field->is_array && field->size == sizeof(uint64_t) ? field : NULL;
}

static const struct field *text(const struct fields *fields, const char *name)
{
	const struct field *field = field_named(fields, name);

	return field && field->kind == FIELD_TEXT && field->is_payload ? field : NULL;
}

static bool find_layout(struct layout *layout, const struct fields *fields)
{
	*layout = (struct layout){
		.start = number(fields, "start"), .end = number(fields, "end"), .offset = number(fields, "offset"),
		.path = text(fields, "path"), .build_id = text(fields, "build_id"),
	};
	return layout->start && layout->end && layout->offset && layout->path && layout->build_id;
}

static uint64_t number_in(const struct event *event, const struct field *field)
{
	uint64_t value;

	memcpy(&value, event->record + field->place.offset, sizeof(value));
	return value;
}

/* To be freed. NULL: it is empty, or there is no memory. */
static char *text_in(const struct event *event, const struct field *field)
{
	uint32_t size;
	const unsigned char *bytes = field_payload(field, event->record, event->size, &size);

	return strndup((const char *)bytes, size);
}

/* ---- All of them ---- */

static bool overlap(const struct mapping *one, const struct mapping *other)
{
	return one->pid == other->pid && one->start < other->end && other->start < one->end;
}

static bool is_same(const struct mapping *one, const struct mapping *other)
{
	return one->start == other->start && one->end == other->end && one->offset == other->offset &&
	       one->file == other->file;
}

static void add(struct mappings *mappings, const struct mapping *mapping)
{
	size_t nr = mappings->nr, i = nr;

	while (i > 0 && !overlap(&mappings->all[i - 1], mapping))
		i--;
	if (nr == MAPPINGS_MAX || (i > 0 && is_same(&mappings->all[i - 1], mapping)))
		return;
	/* Twice as many whenever their number is a power of two. */
	if ((nr & (nr - 1)) == 0) {
		struct mapping *more = reallocarray(mappings->all, nr ? 2 * nr : 1, sizeof(*more));
		if (!more)
			return;
		mappings->all = more;
	}
	mappings->all[mappings->nr++] = *mapping;
}

static void add_event(struct mappings *mappings, const struct layout *layout, const struct event *event,
		      struct code_files *files)
{
	struct mapping mapping = {
		.time = event->time, .pid = event->pid, .start = number_in(event, layout->start),
		.end = number_in(event, layout->end), .offset = number_in(event, layout->offset),
	};
	char *path = text_in(event, layout->path), *build_id = text_in(event, layout->build_id);

	if (path && *path && build_id && mapping.start < mapping.end) {
		mapping.file = code_files_get(files, path, build_id);
		if (mapping.file)
			add(mappings, &mapping);
	}
	free(path);
	free(build_id);
}

static void read_all(struct mappings *mappings, const struct trace *trace, const struct event_format *format,
		     const struct layout *layout, struct code_files *files)
{
	struct merge merge;
	struct merged merged;

	fail_msg_silence(true);
	if (merge_begin(&merge, trace, 1, NULL)) {
		while (merge_next(&merge, &merged) == PACKET_EVENT) {
			if (merged.event.format == format)
				add_event(mappings, layout, &merged.event, files);
		}
	}
	merge_free(&merge);
	fail_msg_silence(false);
}

void mappings_read(struct mappings *mappings, const struct trace *trace, struct code_files *files)
{
	const struct event_format *format = format_named(&trace->formats, "tp", "mapping");
	struct fields fields = {.fields = NULL};
	struct layout layout;

	if (format && fields_of(&fields, format) && find_layout(&layout, &fields))
		read_all(mappings, trace, format, &layout, files);
	free(fields.fields);
}

void mappings_free(struct mappings *mappings)
{
	free(mappings->all);
	*mappings = (struct mappings){.all = NULL};
}

const struct mapping *mappings_find(const struct mappings *mappings, int32_t pid, uint64_t time, uint64_t address)
{
	const struct mapping *later = NULL, *of_parent = NULL;

	for (size_t i = mappings->nr; i-- > 0;) {
		const struct mapping *mapping = &mappings->all[i];
		const bool is_known = mapping->time <= time;
		if (address < mapping->start || address >= mapping->end)
			continue;
		if (mapping->pid == pid && is_known)
			return mapping;
		if (mapping->pid == pid)
			later = mapping;
		else if (is_known && !of_parent)
			of_parent = mapping;
	}
	return later ? later : of_parent;
}

/* SPDX-License-Identifier: MIT */
#include "read/formats.h"

#include <stdlib.h>
#include <string.h>

#include "read/field_types.h"
#include "fail_msg.h"

#define FILE_MAX ((size_t)64 << 20)
#define FIXED_MAX 65535u /* a record is no longer */

static const char before_name[] = "name: ";

/* ---- A text ---- */

bool format_number(const char *line, const char *end, const char *key, uint32_t *result)
{
	const char *at = memmem(line, (size_t)(end - line), key, strlen(key));
	char *stop;

	if (!at || at[strlen(key)] < '0' || at[strlen(key)] > '9')
		return false;
	unsigned long long value = strtoull(at + strlen(key), &stop, 10);
	*result = (uint32_t)value;
	return value <= FIXED_MAX && stop <= end;
}

static bool begins(const char *line, const char *end, const char *word)
{
	return (size_t)(end - line) >= strlen(word) && memcmp(line, word, strlen(word)) == 0;
}

static bool add_location(struct event_format *event, struct location location)
{
	size_t nr = event->nr_locations;

	/* Twice as many whenever their number is a power of two. */
	if ((nr & (nr - 1)) == 0) {
		struct location *locations = reallocarray(event->locations, nr ? 2 * nr : 1, sizeof(*locations));
		if (!locations)
			return fail_no_memory();
		event->locations = locations;
	}
	event->locations[event->nr_locations++] = location;
	return true;
}

/* NULL, or what is wrong with the line. */
static const char *parse_field(struct event_format *event, const char *line, const char *end)
{
	struct location location = {.relative = begins(line, end, "\tfield:__rel_loc ")};
	bool dynamic = location.relative || begins(line, end, "\tfield:__data_loc ");
	uint32_t size;

	if (!format_number(line, end, ";\toffset:", &location.offset) || !format_number(line, end, ";\tsize:", &size))
		return "a field has no offset or no size";
	if (dynamic && size != sizeof(uint32_t))
		return "a payload's word has no 4 bytes";
	if (location.offset + size > FIXED_MAX)
		return "a field is outside of what a record can be";
	/* Else there might be any number of them, and each event has all of them looked at. */
	if (dynamic && event->nr_locations && location.offset < event->locations[event->nr_locations - 1].offset + size)
		return "a payload's word is not behind that of the one before";
	if (location.offset + size > event->fixed)
		event->fixed = location.offset + size;
	return dynamic && !add_location(event, location) ? "it can't be kept" : NULL;
}

static const char *parse_event(struct event_format *event)
{
	const char *stop = event->text + event->len;
	const char *wrong = NULL;
	bool has_print = false;

	event->fixed = RECORD_HEAD;
	for (const char *line = event->text, *end; line < stop && !wrong; line = end + 1) {
		end = memchr(line, '\n', (size_t)(stop - line));
		if (!end)
			return "it ends in the middle of a line";
		if (begins(line, end, "\tfield:"))
			wrong = parse_field(event, line, end);
		else if (begins(line, end, "ID: ") && !format_number(line, end, "ID: ", &event->id))
			wrong = "its ID is no number";
		has_print = has_print || begins(line, end, "print fmt: ");
	}
	if (!wrong && event->id == 0)
		wrong = "it has no ID";
	return wrong || has_print ? wrong : "it has no print fmt";
}

/* ---- A file ---- */

/* Where the next event's text begins, or the end. */
static const char *next_event(const char *text)
{
	const char *at = strstr(text, "\n\nname: ");

	return at ? at + 2 : text + strlen(text);
}

static bool add_event(struct system_format *system, const char *path, const char *text, const char *end)
{
	/* Twice as many whenever their number is a power of two. */
	if ((system->nr & (system->nr - 1)) == 0) {
		struct event_format *events = reallocarray(system->events, system->nr ? 2 * system->nr : 1, sizeof(*events));
		if (!events)
			return fail_no_memory();
		system->events = events;
	}
	while (end > text + 1 && end[-1] == '\n' && end[-2] == '\n') /* what stands between them is none of it */
		end--;
	struct event_format *event = &system->events[system->nr++];
	*event = (struct event_format){
		.system = system->name, .text = text, .len = (size_t)(end - text), .name_len = strcspn(text + strlen(before_name), "\n"),
	};
	const char *wrong = parse_event(event);
	if (!wrong)
		return true;
	/* The last may be on its way into the file, in a trace that is being recorded. Its records are none of ours yet. */
	if (*end == '\0') {
		free(event->locations);
		system->nr--;
		return true;
	}
	return fail_msg("'%s/%s': what is at offset %td describes no event: %s", path, system->file, text - system->text, wrong);
}

static bool parse_system(struct system_format *system, const char *path)
{
	const char *text = system->text;

	if (*text && strncmp(text, before_name, strlen(before_name)) != 0)
		return fail_msg("'%s/%s' is no text of format files: it does not begin with a name, at offset 0", path,
			    system->file);
	while (*text) {
		const char *next = next_event(text);
		if (!add_event(system, path, text, next))
			return false;
		text = next;
	}
	return true;
}

static int hex_digit(char c)
{
	const char *digits = "0123456789ABCDEF";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* As sinks/ctf/describe/format.c names files: %XX for what is no plain file name. */
static char *system_name(const char *file)
{
	char *name = malloc(strlen(file) + 1);
	char *to = name;

	while (name && *file) {
		if (file[0] == '%' && hex_digit(file[1]) >= 0 && hex_digit(file[2]) >= 0) {
			*to++ = (char)(hex_digit(file[1]) << 4 | hex_digit(file[2]));
			file += 3;
		} else {
			*to++ = *file++;
		}
	}
	if (name)
		*to = '\0';
	return name;
}

struct reading {
	struct formats *formats;
	const struct folder *folder;
};

static bool add_system(void *data, const char *file)
{
	const struct folder *folder = ((struct reading *)data)->folder;
	struct formats *formats = ((struct reading *)data)->formats;
	struct system_format *systems = reallocarray(formats->systems, formats->nr + 1, sizeof(*systems));
	size_t len;

	if (!systems)
		return fail_no_memory();
	formats->systems = systems;
	struct system_format *system = &systems[formats->nr++];
	*system = (struct system_format){.name = system_name(file), .file = strdup(file)};
	if (!system->name || !system->file)
		return fail_no_memory();
	system->text = folder_read_text(folder, file, FILE_MAX, &len);
	if (!system->text)
		return false;
	if (strlen(system->text) != len)
		return fail_msg("'%s/%s' is no text: there is a NUL at offset %zu", folder->path, file, strlen(system->text));
	return parse_system(system, folder->path);
}

/* ---- All of them ---- */

static bool index_by_id(struct formats *formats, const struct field_types *types, const char *path)
{
	for (size_t i = 0; i < formats->nr; i++) {
		const struct system_format *system = &formats->systems[i];
		for (size_t j = 0; j < system->nr; j++) {
			struct event_format *event = &system->events[j];
			if (formats->by_id[event->id])
				return fail_msg("'%s/%s': two events have the ID %u, that at offset %td and another", path, system->file, event->id,
					    event->text - system->text);
			formats->by_id[event->id] = event;
			event->word = types->word;
			event->types = field_types_of(types, event->id, &event->nr_types);
		}
	}
	return true;
}

bool formats_read(struct formats *formats, const struct trace_dir *dir, const struct field_types *types)
{
	struct folder folder;
	bool absent;

	*formats = (struct formats){.by_id = calloc(NR_EVENT_IDS, sizeof(*formats->by_id))};
	if (!formats->by_id)
		return fail_no_memory();
	bool good = folder_open_below(&folder, &dir->folder, "format", &absent);
	struct reading reading = {.formats = formats, .folder = &folder};
	if (good && !absent) /* without it there are no events */
		good = folder_each(&folder, add_system, &reading) && index_by_id(formats, types, folder.path);
	folder_close(&folder);
	return good;
}

void formats_free(struct formats *formats)
{
	for (size_t i = 0; i < formats->nr; i++) {
		struct system_format *system = &formats->systems[i];
		for (size_t j = 0; j < system->nr; j++)
			free(system->events[j].locations);
		free(system->events);
		free(system->text);
		free(system->name);
		free(system->file);
	}
	free(formats->systems);
	free(formats->by_id);
	*formats = (struct formats){.systems = NULL};
}

const char *format_event_name(const struct event_format *format, size_t *len)
{
	*len = format->name_len;
	return format->text + strlen(before_name);
}

bool format_is_named(const struct event_format *format, const char *system, const char *name)
{
	size_t len;
	const char *own = format_event_name(format, &len);

	return len == strlen(name) && memcmp(own, name, len) == 0 && strcmp(format->system, system) == 0;
}

const struct event_format *format_named(const struct formats *formats, const char *system, const char *name)
{
	for (uint32_t id = 0; id < NR_EVENT_IDS; id++) {
		if (formats->by_id[id] && format_is_named(formats->by_id[id], system, name))
			return formats->by_id[id];
	}
	return NULL;
}

uint64_t format_record_size(const struct event_format *format, const unsigned char *record)
{
	uint64_t size = format->fixed, payloads = 0;

	for (size_t i = 0; i < format->nr_locations; i++) {
		const struct location *location = &format->locations[i];
		uint32_t word;
		memcpy(&word, record + location->offset, sizeof(word));
		uint64_t end = (uint64_t)(word & 0xffff) + (word >> 16);
		if (location->relative)
			end += location->offset + sizeof(word);
		if (end > size)
			size = end;
		payloads += word >> 16;
	}
	/* They do not overlap, so that whoever shows them all shows no more than a record can have. */
	return payloads > UINT16_MAX ? payloads : size;
}

/* SPDX-License-Identifier: MIT */
/* formats.h - the format files' texts that lie beside a trace, and the sizes of the records that they describe. */
#ifndef FORMATS_H
#define FORMATS_H

#include "read/trace_dir.h"

#define NR_EVENT_IDS 65536u
#define RECORD_HEAD 8u /* ftrace's common fields */

/* A word of the record that says where a payload is. */
struct location {
	uint32_t offset;
	bool relative; /* to the word's end, not to the record's start */
};

struct field_type;
struct field_types;

struct event_format {
	const char *system; /* its name */
	const char *text;   /* in its system's */
	size_t len;
	size_t name_len; /* of the name behind "name: ", where the text begins */
	uint32_t id;
	uint32_t fixed; /* bytes of the record without the payloads */
	uint32_t word;  /* bytes of a long and of a pointer in the program */
	const struct field_type *types; /* of its fields */
	size_t nr_types;
	struct location *locations;
	size_t nr_locations;
};

struct system_format {
	char *name;
	char *file; /* the name's spelling as that of a file */
	char *text;
	struct event_format *events;
	size_t nr;
};

struct formats {
	struct system_format *systems;
	size_t nr;
	const struct event_format **by_id; /* NR_EVENT_IDS of them */
};

/* False, and a message, where they can't be read. formats is to be freed in any case; the types are to stay as long. */
bool formats_read(struct formats *formats, const struct trace_dir *dir, const struct field_types *types);
void formats_free(struct formats *formats);

/* The event's name, which is a piece of the text. */
const char *format_event_name(const struct event_format *format, size_t *len);

/* Whether it is this event's; the format of this event, or NULL. */
bool format_is_named(const struct event_format *format, const char *system, const char *name);
const struct event_format *format_named(const struct formats *formats, const char *system, const char *name);

/* The decimal number behind key in the line, at most 65535; false where there is none that fits. */
bool format_number(const char *line, const char *end, const char *key, uint32_t *result);

/* Bytes of a record, of which the fixed part is in memory: they are not more than UINT32_MAX. */
uint64_t format_record_size(const struct event_format *format, const unsigned char *record);

#endif /* FORMATS_H */

// SPDX-License-Identifier: MIT
/* record_fields TRACE EVENT FIELD...: the values of fields of an event's records, a line each; by select/record_field.h. */
#include <inttypes.h>
#include <stdio.h>

#include "read/trace.h"
#include "select/description.h"
#include "select/record_field.h"

static void print(const struct tp_event *described, const struct event *event, const char *name)
{
	struct record_field field;
	struct tp_value_bytes text;
	uint64_t number;

	if (!record_field_find(&field, described, name))
		printf(" %s:none", name);
	else if (record_field_number(&field, event, &number))
		printf(field.field.is_signed ? " %s=%" PRId64 : " %s=%" PRIu64, name, number);
	else if (record_field_text(&field, event, &text))
		printf(" %s='%.*s'", name, (int)text.len, text.at);
	else
		printf(" %s:%s", name, field.field.why_not ? field.field.why_not : "not in the trace");
}

int main(int argc, char **argv)
{
	struct trace trace;
	struct event event;

	if (argc < 4 || !trace_open(&trace, argv[1]))
		return 1;
	struct packet_reader reader = packet_reader_of(&trace, 65536);
	for (size_t i = 0; i < trace.dir.nr; i++) {
		packet_begin(&reader, &trace.dir.packets[i], trace_dir_is_first(&trace.dir, i));
		while (packet_next(&reader, &event) == PACKET_EVENT) {
			if (!format_is_named(event.format, argv[2], argv[3]))
				continue;
			struct tp_event *described = description_new(event.format);
			for (int name = 4; described && name < argc; name++)
				print(described, &event, argv[name]);
			description_free(described);
			puts("");
		}
	}
	packet_reader_free(&reader);
	trace_close(&trace);
	return 0;
}

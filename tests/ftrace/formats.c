// SPDX-License-Identifier: MIT
/*
 * Writes the formats of its events, those of the header HEADER, into a directory, as tpgen does: DIR/SYSTEM-EVENT.
 */
#define CREATE_TRACE_POINTS
#include HEADER

#include <stdio.h>
#include <stdlib.h>

#include <tp/trace_seq.h>

static void write_format(const struct tp_event *event, void *dir)
{
	static char text[1 << 16], path[4096];
	struct trace_seq s;

	trace_seq_init(&s, text, sizeof(text));
	snprintf(path, sizeof(path), "%s/%s-%s", (const char *)dir, event->system, event->name);
	FILE *file = fopen(path, "w");
	if (!file || tp_event_format(event, &s) || fputs(text, file) < 0 || fclose(file)) {
		perror(path);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 1;
	tp_for_each_event(write_format, argv[1]);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * For any program: at its end it writes what tp_for_each_event() says of its events into the file
 * $LISTING, in the order of their ids: their descriptions between lines of "----".
 */
#include <stdio.h>
#include <stdlib.h>

#include <tp/event.h>
#include <tp/trace_seq.h>

static void put_event(const struct tp_event *event, void *data)
{
	static char text[1 << 16];
	const struct tracepoint *tp = event->tracepoint;
	struct trace_seq seq;

	trace_seq_init(&seq, text, sizeof(text));
	if (tp_event_format(event, &seq))
		abort();
	fprintf(data, "%s:%s\n%d\n%s:%d\n%s----\n", event->system, event->name, (int)event->loglevel,
		tp->file ? tp->file : "", tp->line, text);
}

__attribute__((destructor)) static void put_events(void)
{
	const char *path = getenv("LISTING");
	FILE *file = path ? fopen(path, "w") : NULL;

	if (!file)
		return;
	tp_for_each_event(put_event, file);
	if (fclose(file))
		abort();
}

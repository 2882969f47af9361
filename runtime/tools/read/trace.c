/* SPDX-License-Identifier: MIT */
#include "read/trace.h"

/* The packets first: the texts describe at least the events that are in them. */
static bool read_all(struct trace *trace)
{
	return trace_dir_list(&trace->dir) && metadata_read(&trace->metadata, &trace->dir) &&
	       formats_read(&trace->formats, &trace->dir, &trace->metadata.types);
}

bool trace_open(struct trace *trace, const char *path)
{
	*trace = (struct trace){.formats = {.systems = NULL}};
	return trace_dir_open(&trace->dir, path) && read_all(trace);
}

bool trace_open_packed(struct trace *trace, struct pack *pack, const char *inside, const char *path)
{
	*trace = (struct trace){.formats = {.systems = NULL}};
	return trace_dir_open_packed(&trace->dir, pack, inside, path) && read_all(trace);
}

void trace_close(struct trace *trace)
{
	formats_free(&trace->formats);
	metadata_free(&trace->metadata);
	trace_dir_close(&trace->dir);
}

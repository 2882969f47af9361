/* SPDX-License-Identifier: MIT */
#include "read/trace.h"

bool trace_open(struct trace *trace, const char *path)
{
	*trace = (struct trace){.formats = {.systems = NULL}};
	/* The packets first: the texts describe at least the events that are in them. */
	return trace_dir_open(&trace->dir, path) && trace_dir_list(&trace->dir) &&
	       metadata_read(&trace->metadata, &trace->dir) && formats_read(&trace->formats, &trace->dir, &trace->metadata.types);
}

void trace_close(struct trace *trace)
{
	formats_free(&trace->formats);
	metadata_free(&trace->metadata);
	trace_dir_close(&trace->dir);
}

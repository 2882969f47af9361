/* SPDX-License-Identifier: MIT */
/* trace.h - a trace: the packets in its folder, and the texts that describe them. */
#ifndef TRACE_H
#define TRACE_H

#include "read/formats.h"
#include "read/metadata.h"
#include "read/trace_dir.h"

struct trace {
	struct trace_dir dir;
	struct metadata metadata;
	struct formats formats;
};

/* Reads all but the packets' content. False, and a message, where that fails. To be closed in any case. */
bool trace_open(struct trace *trace, const char *path);

/* That in a directory of a pack. Messages call it by the path. */
bool trace_open_packed(struct trace *trace, struct pack *pack, const char *inside, const char *path);
void trace_close(struct trace *trace);

#endif /* TRACE_H */

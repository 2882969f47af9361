/* SPDX-License-Identifier: MIT */
/* event_origin.h - what the metadata says of an event besides its fields: its level, and where its declaration is. */
#ifndef EVENT_ORIGIN_H
#define EVENT_ORIGIN_H

#include "read/metadata.h"

struct event_origin {
	unsigned int level; /* as TRACEPOINT_LOGLEVEL has them; LEVEL_UNKNOWN */
	char *file;         /* for free(); NULL: it is not known, or there is no memory */
	int line;
};

#define LEVEL_UNKNOWN UINT32_MAX

struct event_origin event_origin_of(const struct metadata *metadata, uint32_t id);

#endif /* EVENT_ORIGIN_H */

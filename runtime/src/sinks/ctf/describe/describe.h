/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/describe/describe.h - which events are described in the trace, and the file with that: describe.c.
 */
#ifndef TP_CTF_DESCRIBE_H
#define TP_CTF_DESCRIBE_H

#include <stddef.h>

#include "sinks/ctf/describe/metadata.h"

struct tp_ctf_sink;
struct tp_event;
struct tp_sink;

/* What the metadata of a directory would be that is made right now. */
struct tp_ctf_description {
	char *text; /* with two gaps ... */
	size_t len;
	char clock[TP_CTF_CLOCK_TEXT]; /* ... of which this fills one */
};

/* Into sink->events.metadata: all of it but for the events and what goes in at sink->events.process_at and sink->events.clock_at. */
void tp_ctf_describe_begin(struct tp_ctf_sink *sink);

int tp_ctf_describe_event(struct tp_sink *head, const struct tp_event *event);
int tp_ctf_write_descriptions(struct tp_sink *head);

/* Opens or bars the short way of records, after whatever may change that. */
void tp_ctf_choose_way(struct tp_ctf_sink *sink);

/*
 * Writes the metadata with a better measured clock, if it is so, and the formats where they are still to be written.
 * Does nothing while another thread has tp_events_lock. In tp_guard_enter().
 */
void tp_ctf_describe_better(struct tp_ctf_sink *sink);

/* Writes the metadata. 0 or an errno value. */
int tp_ctf_metadata_write(const struct tp_ctf_sink *sink, int fd);

/* What the metadata would be, with the clock as it is measured by now. Under tp_events_lock. */
struct tp_ctf_description tp_ctf_describe(const struct tp_ctf_sink *sink);

/* Makes the metadata of a directory that has none. 0 or an errno value. */
int tp_ctf_metadata_begin_file(struct tp_ctf_sink *sink, int dir, const struct tp_ctf_description *description);

/* Writes the metadata with a better measured clock, if it is so. Under tp_events_lock. */
void tp_ctf_describe_clock(struct tp_ctf_sink *sink);

/* In the new directory of another chapter: the formats; and threads are to leave the short way. Under tp_events_lock. */
void tp_ctf_describe_chapter(struct tp_ctf_sink *sink);

#endif /* TP_CTF_DESCRIBE_H */

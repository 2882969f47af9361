/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/describe/format.h - the texts of the events' format files beside the streams: format.c.
 */
#ifndef TP_CTF_FORMAT_H
#define TP_CTF_FORMAT_H

#include <stdbool.h>

struct tp_ctf_sink;
struct tp_event;

/* The format texts of all events of the sink, a text for each system. Zeros are none. */
struct tp_ctf_formats {
	struct tp_ctf_format *first;
	struct tp_ctf_sink *sink;
	int error;       /* of some event there is none; an errno value */
	bool anew;       /* in the directory there is none of them yet */
	bool complained; /* that something of them is not in the directory */
};

/* Adds the event's. */
void tp_ctf_format_add(struct tp_ctf_formats *formats, const struct tp_event *event);

/* Forgets those that were added since the last tp_ctf_format_write(). */
void tp_ctf_format_drop(struct tp_ctf_formats *formats);

/*
 * Appends what is new to the files of format/ below dir, the directory of
 * the sink; or writes all of them below another one. 0 or an errno value:
 * what could be written was, and the former goes on there the next time.
 * Called in tp_guard_enter().
 */
int tp_ctf_format_write(struct tp_ctf_formats *formats, int dir);
int tp_ctf_format_copy(const struct tp_ctf_formats *formats, int dir);

void tp_ctf_format_free(struct tp_ctf_formats *formats);

#endif /* TP_CTF_FORMAT_H */

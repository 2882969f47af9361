/* SPDX-License-Identifier: MIT */
/*
 * sinks/text/text.h - text sinks: sink.c has what they share, stream.c those on
 * a FILE of the program's, file.c those on a file by name.
 */
#ifndef TP_TEXT_H
#define TP_TEXT_H

#include <tp/tp.h>
#include <tp/trace_seq.h>

#include "base/lock.h"

/* The beginning of each kind of text sink. */
struct tp_text {
	struct tp_sink head;
	struct tp_lock lock; /* of what writes the lines; held across a fork, so that the child finds it whole */
	int pid;
	int error; /* the first errno of a write */
	void (*write)(struct tp_text *text, const struct trace_seq *line);
};

/* Fills in the rest of ops' kind, and opens the sink. 0, or a negative errno value. */
int tp_text_open(struct tp_text *text, const struct tp_sink_ops *ops,
		 void (*write)(struct tp_text *text, const struct trace_seq *line));

/* The operations of all kinds. */
bool tp_text_reserve(struct tp_record *rec);
void tp_text_commit(struct tp_record *rec);

/* So many lines are lost, for this reason: an errno value. */
void tp_text_write_failed(struct tp_text *text, int error, unsigned long lines);

/* On stderr, stdout or the file of that name, which is appended to. NULL with errno set. */
struct tp_sink *tp_text_file_sink(const char *name);

#endif /* TP_TEXT_H */

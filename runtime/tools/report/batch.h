/* SPDX-License-Identifier: MIT */
/* batch.h - events on their way to the output, some thousand at a time. */
#ifndef BATCH_H
#define BATCH_H

#include "read/traces.h"
#include "report/merge.h"
#include "report/when.h"

struct batch;

/* How lines look. */
struct line_style {
	enum when_style when;
	bool with_fields;  /* as "name=value", not as TP_printk has it */
	bool with_delta;   /* the time since the line before */
	bool with_colours;
	bool is_terminal;  /* columns are as wide as this trace needs, not as any would; lines come one by one */
};

/* NULL, and a message, where it can't be. before: the time of the line before the first, or 0. */
struct batch *batch_new(const struct traces *traces, const struct line_style *style, uint64_t before);
void batch_free(struct batch *batch);

/* The time of the last line; 0: there is none. */
uint64_t batch_last_time(const struct batch *batch);

/* Nobody reads the output any more: so it could not be written. */
bool batch_is_unread(const struct batch *batch);

/* Adds the event, and what was lost in front of it; without is_shown, the latter only. False, and a message: it fails. */
bool batch_add(struct batch *batch, const struct merged *merged, bool is_shown);

/* Writes all lines that are on their way. */
bool batch_flush(struct batch *batch);

#endif /* BATCH_H */

/* SPDX-License-Identifier: MIT */
/* batch.h - events on their way to the output, some thousand at a time. */
#ifndef BATCH_H
#define BATCH_H

#include "read/traces.h"
#include "report/merge.h"
#include "report/when.h"

struct batch;

/* with_fields: as "name=value", not as TP_printk has it. NULL, and a message, where it can't be. */
struct batch *batch_new(const struct traces *traces, enum when_style style, bool with_fields);
void batch_free(struct batch *batch);

/* Adds the event, and what was lost in front of it; without is_shown, the latter only. False, and a message: it fails. */
bool batch_add(struct batch *batch, const struct merged *merged, bool is_shown);

/* Writes all lines that are on their way. */
bool batch_flush(struct batch *batch);

#endif /* BATCH_H */

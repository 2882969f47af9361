/* SPDX-License-Identifier: MIT */
/*
 * summary.h - how often the events of traces were hit, how fast one followed the other, and what was lost: by event, by
 * process and by thread. Memory grows with these, and not with the trace.
 */
#ifndef SUMMARY_H
#define SUMMARY_H

#include "report/merge.h"

struct summary;

/* NULL, and a message: there is no memory. */
struct summary *summary_new(size_t nr_traces);
void summary_free(struct summary *summary);

/* Counts the event, and what was lost in front of it; without is_counted, the latter only. False, and a message. */
bool summary_add(struct summary *summary, const struct merged *merged, bool is_counted);

/*
 * Prints tables to stdout, of at most so many columns, where that can be, 0: as wide as they are; or one JSON object. False,
 * and a message: they can't be written.
 */
bool summary_print_text(struct summary *summary, int columns);
bool summary_print_json(struct summary *summary);

#endif /* SUMMARY_H */

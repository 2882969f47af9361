/* SPDX-License-Identifier: MIT */
/*
 * selection.h - which events of some traces are wanted: by rules as TP_ENABLE has them, "PATTERNS" or "PATTERNS if FILTER",
 * with semicolons between them. The last rule decides that matches an event, and whose filter fits it.
 */
#ifndef SELECTION_H
#define SELECTION_H

#include "read/packet_reader.h"
#include "read/traces.h"

struct selection;

/* NULL, and a message: the rules are wrong, or there is no memory. */
struct selection *selection_new(const char *rules);
void selection_free(struct selection *selection);

/*
 * Looks at all events that the traces have. False, and a message: none of them matches a rule, or a filter fits none of
 * those that do. A message as well of events that a filter does not fit.
 */
bool selection_check(struct selection *selection, const struct traces *traces);

/* Whether events of this format are wanted, by their name; a filter may still refuse some. */
bool selection_takes(struct selection *selection, size_t trace_nr, const struct trace *trace, const struct event_format *format);

/* Whether the event of a trace is wanted. Its format is what is decided by, so formats that come later are fine. */
bool selection_wants(struct selection *selection, size_t trace_nr, const struct trace *trace, const struct event *event);

#endif /* SELECTION_H */

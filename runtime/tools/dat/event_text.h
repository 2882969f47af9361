/* SPDX-License-Identifier: MIT */
/*
 * event_text.h - the texts of events that readers of trace.dat would print wrongly, such as floating point: each record
 * has its text as one field more, which the print fmt prints.
 */
#ifndef EVENT_TEXT_H
#define EVENT_TEXT_H

#include <stdint.h>

#include "read/packet_reader.h"

struct event_texts;

/* NULL, and a message, where there is no memory. */
struct event_texts *event_texts_new(void);
void event_texts_free(struct event_texts *texts);

/*
 * Every record is to be surveyed before the first is written: whether its event's text is needed may depend on values.
 * Returns how long the record may become; 0, and a message, where there is no memory.
 */
size_t event_texts_survey(struct event_texts *texts, const struct event *event);

/* The record with its text, until the next call; or as it is. *size is its size. */
const void *event_texts_record(struct event_texts *texts, const struct event *event, size_t *size);

/* The format text of an event for readers; for free(). NULL, and a message, where there is no memory. */
char *event_texts_format(const struct event_texts *texts, const struct event_format *format, size_t *len);

#endif /* EVENT_TEXT_H */

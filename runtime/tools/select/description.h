/* SPDX-License-Identifier: MIT */
/* description.h - a trace's event as the runtime describes events: so that filters fit it that fit the program's own. */
#ifndef DESCRIPTION_OF_FORMAT_H
#define DESCRIPTION_OF_FORMAT_H

#include <tp/event.h>

#include "read/formats.h"

/* To be freed. NULL, and a message, where there is no memory. The format stays the caller's. */
struct tp_event *description_new(const struct event_format *format);
void description_free(struct tp_event *event);

#endif /* DESCRIPTION_OF_FORMAT_H */

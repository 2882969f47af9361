/* SPDX-License-Identifier: MIT */
/*
 * events/filtering.h - a sink between an event's writer and the sink that it is enabled on: it passes on what a filter
 * accepts, and while a trigger lets it. So writers and sinks need not know of filters and triggers, and events without
 * them pay nothing.
 */
#ifndef TP_FILTERING_H
#define TP_FILTERING_H

#include <tp/sink.h>

#include "events/retired.h"
#include "events/armed.h"
#include "filter/filter.h"

struct tp_filtering {
	struct tp_retired retired;
	struct tp_sink head;  /* the writer's */
	struct tp_sink *sink; /* gets what is accepted */
	const struct tp_filter_program *program; /* NULL: all is */
	const struct tp_armed *armed;              /* while that is off, no record is made; NULL: there is none */
};

/* NULL: no memory. program and armed must stay as long as a reader may use them. */
struct tp_filtering *tp_filtering_new(struct tp_sink *sink, const struct tp_filter_program *program,
				      const struct tp_armed *armed);
void tp_filtering_free(struct tp_filtering *filtering);

/* Each record meets the old program or this one. */
void tp_filtering_set(struct tp_filtering *filtering, const struct tp_filter_program *program);

/* No writer has it any more, but for readers. Under tp_events_lock. */
void tp_filtering_retire(struct tp_filtering *filtering);

#endif /* TP_FILTERING_H */

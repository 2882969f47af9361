/* SPDX-License-Identifier: MIT */
/*
 * events/filtering.h - a sink between an event's writer and the sink that it is enabled on: it passes on what a filter
 * accepts, and while a trigger lets it. So writers and sinks need not know of filters and triggers, and events without
 * them pay nothing.
 */
#ifndef TP_FILTERING_H
#define TP_FILTERING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tp/event.h>
#include <tp/sink.h>

#include "events/armed.h"
#include "events/event_ids.h"
#include "events/pattern.h"
#include "events/retired.h"
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

/*
 * A call of tp_enable, tp_enable_if or tp_disable, kept for the modules that come later. Under
 * tp_events_lock, but for making one.
 */

struct tp_rule {
	struct tp_retired retired;
	struct tp_rule *next;
	uint64_t number; /* a later rule has a greater one */
	bool enable;
	struct tp_pattern *pattern;
	struct tp_filter *filter; /* NULL: none */
	struct tp_fit **fits;     /* by group number: its programs, filtering.c's */
	size_t nr_fits;
};

/* filter: NULL or "0" is none. NULL: *error is -EINVAL or -ENOMEM; if it is the filter, wrong says what. */
struct tp_rule *tp_rule_new(const char *patterns, const char *filter, bool enable, int *error,
			    struct tp_filter_error *wrong);
void tp_rule_free(struct tp_rule *rule);

/* Frees it when no reader can use its programs any more. */
void tp_rule_retire(struct tp_rule *rule);

/*
 * Whether the rule is about the group's event: its patterns match, and its filter, if it has one, fits. Then *program is
 * the filter's, or NULL, which stays as long as the rule. *error becomes -ENOMEM where that can't be told.
 */
bool tp_rule_is_about(struct tp_rule *rule, const struct tp_event_group *group, const struct tp_event *event,
		      const struct tp_filter_program **program, int *error);

/* Whether this is the rule's program for an event of the group. */
bool tp_rule_has_program(const struct tp_rule *rule, const struct tp_event_group *group,
			 const struct tp_filter_program *program);

/* Whether its patterns match, but its filter does not fit. If so, *error says why. */
bool tp_rule_misfits(struct tp_rule *rule, const struct tp_event_group *group, const struct tp_event *event,
		     struct tp_filter_error *error);

/*
 * Says that so many events stay as they were, or for a trigger's sink, that they do not fire it. This is the first of them,
 * and the error says why.
 */
void tp_rule_tell_misfits(struct tp_buffer *to, const struct tp_rule *rule, bool fires, int nr, const char *first,
			  const struct tp_filter_error *error);

#endif /* TP_FILTERING_H */

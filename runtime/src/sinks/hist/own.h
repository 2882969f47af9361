/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/own.h - the sink that a histogram is, for the files of this folder. Each uses those below it only:
 *
 *	show.c          what it has counted
 *	  text.c        as the kernel shows it
 *	  json.c        for programs
 *	    info.c      its definition
 *	    report.c    its entries, copied and sorted
 *	      tracked.c what their actions have tracked and saved
 *	sink.c          the sink
 *	  list.c        all histograms, and those of one name
 *	  links.c       variables of other histograms, and synthetic events
 *	    reference.c which variable a name means; histograms whose variables others read come and go
 *	  compile.c     a definition for an event's records
 *	    plan.c      its variables and actions; what kinds its keys and variables are
 *	      number.c  expressions
 *	  act.c         the way of a record: its variables and actions
 *	    evaluate.c  expressions at a hit
 *	    variable.c  what an entry has besides its sums
 *	    table.c     the entries
 *	  parse.c       a definition's text
 *	    action.c    handlers and actions
 *	    expression.c  keys and values
 *	      definition.c  what is in it
 *
 * Threads that hit take no lock. Whatever they may see is published by a release, and freed after a grace period.
 */
#ifndef TP_HIST_OWN_H
#define TP_HIST_OWN_H

#include "base/clock.h"
#include "base/locks.h"
#include "count/names.h"
#include "sinks/hist/hist.h"
#include "sinks/hist/links.h"
#include "sinks/hist/program.h"

/* What histograms of one name share. Under tp_hist_lock, but for the table. */
struct tp_hist_map {
	struct tp_hist_map *next;    /* of those with a name */
	unsigned int refs;
	unsigned int nr_hists;       /* of those that are listed */
	struct tp_hist_definition *definition; /* of the first of them, in a copy; NULL if it has no name */
	struct tp_hist_table *table; /* NULL until an event is enabled, which decides the layout */
	unsigned int bits;
	uint32_t nr_keys;
	struct tp_hist_layout layout;
	struct tp_hist_shape shape;
	struct tp_symbols *names[TP_HIST_KEYS]; /* of a key's values; NULL: none */
	struct tp_hist_slot slots[TP_HIST_VARIABLES];
};

struct tp_hist {
	struct tp_sink head;
	struct tp_hist *next;        /* of all, by a release, as readers follow it */
	struct tp_hist_definition *definition;
	char *filter;                /* or NULL */
	struct tp_hist_map *map;
	struct tp_hist_program **programs; /* by the events' ids */
	struct tp_hist_program *all_programs; /* under tp_events_lock */
	struct tp_hist_program *attached;  /* by a release */
	int paused;
	bool leaving;                /* it is about to be closed: nobody may begin to read its variables */
	bool hidden;                 /* it keeps a field for another histogram: it is not shown */
	struct tp_hist_links links;
	void (*snapshot)(void *data); /* of snapshot(); NULL: nobody takes one */
	void *snapshot_data;
	TP_WHOLE uint64_t unset;              /* hits that did not count, as a variable was not set */
};


static inline struct tp_hist *tp_hist_of(struct tp_sink *head)
{
	return (struct tp_hist *)head;
}

/* ---- list.c ---- */

/* Under tp_hist_lock, or in a probe. */
struct tp_hist *tp_hist_first(void);
static inline struct tp_hist *tp_hist_next(const struct tp_hist *hist)
{
	return __atomic_load_n(&hist->next, __ATOMIC_ACQUIRE);
}

void tp_hist_list_add(struct tp_hist *hist);
/* Waits until no reader follows the list to it. */
void tp_hist_list_remove(struct tp_hist *hist);

/* That of the definition's name, or a new one. NULL, and *error says why. */
struct tp_hist_map *tp_hist_map_take(const struct tp_hist_definition *definition, struct tp_filter_error *error);
void tp_hist_map_give(struct tp_hist_map *map);

/* Makes the layout the program's, if it is the first; and a table. 0, -ENOMEM, or -EINVAL: the layout is another. */
int tp_hist_map_settle(struct tp_hist_map *map, const struct tp_hist_definition *definition,
		       const struct tp_hist_program *program, const struct tp_event *event);

/* ---- text.c, json.c, info.c: under tp_hist_lock ---- */

struct tp_hist_report;

void tp_hist_put_text(struct tp_buffer *to, const struct tp_hist_report *report);
void tp_hist_put_json(struct tp_buffer *to, const struct tp_hist_report *report);
void tp_hist_put_info(struct tp_buffer *to, const struct tp_hist *hist);

#endif /* TP_HIST_OWN_H */

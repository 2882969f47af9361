/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/links.h - what a definition names outside of itself: variables of other histograms, and synthetic events. It
 * is looked for once, when the histogram is made.
 *
 * Which variable an expression means is a number: from 0 one of another histogram, from TP_HIST_OWN one of its own.
 */
#ifndef TP_HIST_LINKS_H
#define TP_HIST_LINKS_H

#include "sinks/hist/definition.h"
#include "sinks/hist/table.h"

#define TP_HIST_LINKS 32u
#define TP_HIST_OWN TP_HIST_LINKS
#define TP_HIST_KNOWN (TP_HIST_OWN + TP_HIST_VARIABLES)

/* No variable has this number. */
#define TP_HIST_UNKNOWN UINT32_MAX

struct tp_hist;
struct tp_hist_layout;
struct tp_hist_map;
struct tp_synthetic;

/* Where a variable is. */
struct tp_hist_slot {
	struct tp_hist_map *map;
	uint32_t index;
};

/* A variable of another histogram. */
struct tp_hist_link {
	const struct tp_hist_slot *slot; /* in a map that stays meanwhile; NULL: its histogram is closed. See reference.c */
	struct tp_hist_span name, system, event; /* as the definition has it; no name: nobody else has this variable */
	enum tp_hist_kind kind;
	uint8_t bytes;            /* of a number, as in struct tp_hist_layout */
	bool has_kinds;
	uint8_t kinds[TP_HIST_KEYS]; /* enum tp_hist_kind of its histogram's keys, if an event has decided that by now */
	const struct tp_hist_layout *matched; /* of a field of another event: its keys must be the same */
	bool once;                /* an expression has it: reading it takes it away */
	bool in_usecs;            /* it comes of common_timestamp.usecs */
};

struct tp_hist_links {
	struct tp_hist_link links[TP_HIST_LINKS];
	uint32_t nr;
	uint32_t *params;         /* of each param of the actions: the number of its variable, or TP_HIST_UNKNOWN: a field */
	struct tp_synthetic *synthetics[TP_HIST_ACTIONS]; /* held */
	struct tp_sink *hidden[TP_HIST_LINKS];            /* histograms that keep another event's fields */
	uint32_t nr_hidden;
};

/* Makes a histogram that is not shown, and enables it for the event, "SYS:EV". NULL, and *error says why. */
typedef struct tp_sink *tp_hist_hide(const char *definition, const char *filter, const char *event, struct tp_filter_error *error);

/* Looks for all of them. False: one is not there, and *error says which. To be given back in any case. */
bool tp_hist_links_find(struct tp_hist *hist, tp_hist_hide *hide, struct tp_filter_error *error);
void tp_hist_links_give(struct tp_hist *hist);

/* Whether what this node has is in microseconds. */
bool tp_hist_in_usecs(const struct tp_hist_definition *definition, const struct tp_hist_links *links, uint32_t node);

#endif /* TP_HIST_LINKS_H */

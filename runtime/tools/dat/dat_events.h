/* SPDX-License-Identifier: MIT */
/* dat_events.h - the events of some traces as those of one trace.dat: with ids of their own, and one where traces have the same event. */
#ifndef DAT_EVENTS_H
#define DAT_EVENTS_H

#include "dat/event_text.h"
#include "read/traces.h"

struct dat_event {
	const char *system;
	char *text; /* for readers; without the number behind "ID: ", which stands there: */
	size_t len, id_at, id_end;
	uint16_t id;
};

/* Zeros are none. */
struct dat_events {
	struct dat_event *all;
	size_t nr;
	uint16_t **ids; /* of each trace: the ids here of the ids there */
	size_t nr_traces;
	unsigned char *is_taken;
};

/*
 * texts: of each trace, whose events were surveyed; NULL: its formats stay as they are, as the kernel's. False, and a message. To be freed in any
 * case; the traces stay as long.
 */
bool dat_events_make(struct dat_events *events, const struct traces *traces, struct event_texts *const *texts);
void dat_events_free(struct dat_events *events);

#endif /* DAT_EVENTS_H */

/* SPDX-License-Identifier: MIT */
/* known_fields.h - the fields of some traces' events, each looked for in its format's text when it is first asked for. */
#ifndef KNOWN_FIELDS_H
#define KNOWN_FIELDS_H

#include "read/fields.h"

struct known_fields {
	struct fields **of_traces; /* of each trace, by id; NR_EVENT_IDS of them */
	size_t nr;
};

/* False, and a message: there is no memory. To be freed in any case. */
bool known_fields_init(struct known_fields *known, size_t nr_traces);
void known_fields_free(struct known_fields *known);

/* NULL, and a message: there is no memory. */
const struct fields *known_fields_of(struct known_fields *known, size_t trace_nr, const struct event_format *format);

#endif /* KNOWN_FIELDS_H */

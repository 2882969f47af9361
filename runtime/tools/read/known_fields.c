/* SPDX-License-Identifier: MIT */
#include "read/known_fields.h"

#include <stdlib.h>

#include "fail_msg.h"

bool known_fields_init(struct known_fields *known, size_t nr_traces)
{
	known->nr = nr_traces;
	known->of_traces = calloc(nr_traces + 1, sizeof(*known->of_traces));
	return known->of_traces || fail_no_memory();
}

void known_fields_free(struct known_fields *known)
{
	for (size_t t = 0; known->of_traces && t < known->nr; t++) {
		for (size_t id = 0; known->of_traces[t] && id < NR_EVENT_IDS; id++)
			free(known->of_traces[t][id].fields);
		free(known->of_traces[t]);
	}
	free(known->of_traces);
}

const struct fields *known_fields_of(struct known_fields *known, size_t trace_nr, const struct event_format *format)
{
	struct fields **all = &known->of_traces[trace_nr];

	if (!*all)
		*all = calloc(NR_EVENT_IDS, sizeof(**all));
	if (!*all) {
		fail_no_memory();
		return NULL;
	}
	struct fields *fields = &(*all)[format->id];
	return fields->nr || fields_of(fields, format) ? fields : NULL;
}

/* SPDX-License-Identifier: MIT */
/* outputs.h - the outputs of a process, as it lists them. */
#ifndef OUTPUTS_H
#define OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "client/request.h"

/* By cause, in the order of enum tp_lost. */
#define NR_CAUSES 5

struct output {
	char id[24];
	char kind[16];
	char owner[16]; /* environment, session (this connection's), other (another's), kept, program */
	unsigned long events; /* that are enabled on it */
	bool is_off;          /* it records nothing until tracing is switched on */
	unsigned long lost[NR_CAUSES]; /* by forked children, too */
	char *children; /* "process 123, a forked child: 12 (limit: 12)", a line each; "" */
	char *name;  /* as its opener has called it, with the kind as TP_OUTPUT has it in front; "" */
	char *rules; /* "enable PATTERNS" and "disable PATTERNS", a line each; "" */
};

/* Zeros are none. */
struct output_list {
	struct output *all;
	size_t nr;
	bool failed;
};

/* Asks for them. False: it could not be done, which was told but for signals. To be freed in any case. */
bool outputs_read(struct output_list *list, struct connection *connection);
void outputs_free(struct output_list *list);

/*
 * Which one the user means by an id or a name, "text:FILE" or "FILE". NULL, and a message that lists those that there
 * are.
 */
const struct output *outputs_find(const struct output_list *list, const struct connection *connection, const char *wanted);

/* The only one of those that fit. The same if there are none or several: what: "output", "statistics". */
const struct output *outputs_only(const struct output_list *list, const struct connection *connection, const char *kind,
				  const char *what);

/* The one that the user means, if wanted is not NULL; else the only one. */
const struct output *outputs_choose(const struct output_list *list, const struct connection *connection, const char *wanted);

unsigned long output_lost(const struct output *output);

/* "12 (limit: 10, no file: 2)", or "0"; of a buffer that the next call uses again. */
const char *lost_text(const unsigned long *lost);

/* "text:/tmp/events": for a person. */
const char *output_title(const struct output *output);

#endif /* OUTPUTS_H */

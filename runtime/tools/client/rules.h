/* SPDX-License-Identifier: MIT */
/* rules.h - which events an output has: rules, "PATTERNS" or "PATTERNS if FILTER", with semicolons between them. */
#ifndef RULES_H
#define RULES_H

#include <stdbool.h>

#include "client/request.h"

/*
 * Asks for each rule in turn: word, "enable" or "disable", for this output. *nr is how many events were switched, or have
 * the filter now. A message if something is wrong, or if a filter does not fit some events.
 */
bool rules_apply(struct connection *connection, const char *word, const char *id, const char *rules, unsigned long *nr);

/* Asks, and tells the notes of the reply, such as those; else as ask(). */
bool ask_with_notes(struct connection *connection, struct answer *answer, int fd, const char *request);

/* For free(); NULL, and a message. list: NULL, or rules to which more are added: "a" and "b" become "a,b". */
char *rules_join(char *list, const char *more);

#endif /* RULES_H */

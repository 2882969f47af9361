/* SPDX-License-Identifier: MIT */
/* common_options.h - options that several commands have. */
#ifndef GIVEN_H
#define GIVEN_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

#define OPTION_EVENTS \
	{'e', "events", "EVENTS", "which events: names and globs with commas between them, as in " \
				  "'net:*,!net:net_close', or with a filter, as in 'net:* if size > 4096'; all without " \
				  "this option; if it is given several times, they add up"}
#define OPTION_OUTPUT \
	{'o', "output", "OUTPUT", "the output that they go to: its id or its name, as \"tp outputs\" shows them; needed " \
				  "if there are several"}

/* The events of all -e, with what rules_join() puts between them, for free(); NULL, and a message. "*" without any. */
char *given_events(const struct tp_args *args);

/* The values of all options of this id, put together so, for free(); NULL: there are none. False, and a message. */
bool given_list(const struct tp_args *args, int option, char **list);

/* The same of operands, without the first few. */
char *given_patterns(const struct tp_args *args, size_t first);

/* By CLOCK_MONOTONIC, in milliseconds. */
int64_t now_ms(void);

/* Seconds, with decimals, as milliseconds; -1, and a message. */
int64_t given_seconds(const struct tp_args *args, const char *option, const char *value);

#endif /* GIVEN_H */

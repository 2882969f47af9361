/* SPDX-License-Identifier: MIT */
/* targets.h - the processes that the user means, by -p, --all and --children. */
#ifndef TARGETS_H
#define TARGETS_H

#include <stdint.h>

#include "client/find.h"
#include "options.h"

enum { OPTION_ALL = OPTION_LONG + 96, OPTION_NEWEST, OPTION_CHILDREN };

#define OPTION_TARGETS                                                                                                    \
	{'p', "pid", "PID", "a process: its id, or the name of its program if no other one that can be reached has it; several can be given"}, \
	{OPTION_ALL, "all", NULL, "every process that has the name; without -p, every one that can be reached"},          \
	{OPTION_NEWEST, "newest", NULL, "of those that have the name, the one that began last"},                            \
	{OPTION_CHILDREN, "children", NULL, "its children, too, and theirs; also those that come"}

struct member {
	pid_t pid;
	bool reached; /* or there is nothing to be reached there so far */
};

/* Zeros are none. */
struct targets {
	struct connection *all; /* open, none of them twice */
	size_t nr;
	bool several;   /* may be meant: what is shown has headings, what is made has a name for each */
	bool children;  /* that come are meant, too: targets_grow() */
	bool every;     /* process that comes is meant, too */
	int64_t looked_ms; /* when they were looked for last: /proc is not read for each line that comes */
	struct member *family; /* with those that can't be reached */
	size_t nr_family;
	char **tried;   /* places and names of sockets: nobody who has been silent, or has refused, is asked again and again */
	size_t nr_tried;
};

/* Whether -p or --all are there. A message if not. */
bool targets_are_given(const struct tp_args *args);

/* Whether there are either those, or a program behind "--". A message if not. */
bool target_is_given(const struct tp_args *args);

/* Connects to all of them. False after a message, which says why not and what to do. To be closed in any case. */
bool targets_reach(struct targets *targets, const struct tp_args *args);

/* From now on, every process that comes is meant. False, and a message. */
bool targets_await_every(struct targets *targets);

/*
 * Adds the children, or every process, that have come since and can be reached, if it is time to look; connections move. Returns where
 * the new ones begin.
 */
size_t targets_grow(struct targets *targets);

/* The connection to this process has ended: if it has become another program, that is one that comes. */
void targets_lose(struct targets *targets, pid_t pid);

/* Whether any of them or of their children lives, as far as children are meant, or every process is: more may come. */
bool targets_may_come(const struct targets *targets);

/* How long to sleep at most, in milliseconds: until this time, 0 for none, or until children are looked for; -1: for ever. */
int targets_patience(const struct targets *targets, int64_t until_ms);

/*
 * Reaches them, and calls act for each, with a heading before what each prints if several are meant. What one of them does not
 * like is told, and the others go on. Returns the status that tp exits with.
 */
int targets_each(const struct tp_args *args, bool (*act)(struct connection *connection, const struct tp_args *args));

/* Takes a connection away from them. */
struct connection targets_take(struct connection *connection);

void targets_close(struct targets *targets);

#endif /* TARGETS_H */

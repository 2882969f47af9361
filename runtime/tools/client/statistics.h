/* SPDX-License-Identifier: MIT */
/* statistics.h - the numbers that "tp stat" shows: where they come from. */
#ifndef STATISTICS_H
#define STATISTICS_H

#include <stdbool.h>

#include "client/child.h"
#include "client/session.h"
#include "client/lines.h"

/* Of a process, or of a program that tp has started and those that it starts in turn. */
struct statistics {
	bool json;
	struct lines text; /* the last that was read; stays when nothing can be read any more */

	struct session session; /* a process */
	bool own;               /* the output was opened here, and is closed here */

	char *directory; /* of a program: a file for each process; NULL: it is not one */
	bool at_end;     /* the files are written when their processes end, and not before */
	struct child child;
};

/* Zeros, with session.pidfd and session.connection.fd -1, are none. Each returns false after a message. */

/* Opens statistics with these options in the process, or finds the output, unless that is NULL. */
bool statistics_of_process(struct statistics *statistics, const char *wanted, const char *output, const char *options,
			   const char *events);

/* Opens a histogram in the process, whose report takes the place of the numbers. */
bool statistics_of_histogram(struct statistics *statistics, const char *wanted, const char *definition, const char *events);

/* Starts the program. If that fails, child.status is what tp exits with. */
bool statistics_of_program(struct statistics *statistics, char *const *program, const char *options, const char *events);

/* The same with a histogram. events is one rule. */
bool statistics_of_programs_histogram(struct statistics *statistics, char *const *program, const char *definition, const char *events);

/* Reads the numbers of this moment. */
bool statistics_read(struct statistics *statistics);

/* Whether the process, or the program, has ended. */
bool statistics_are_over(struct statistics *statistics);

/* Nothing is counted for this program any more; the text stays. */
void statistics_end(struct statistics *statistics);

void statistics_close(struct statistics *statistics);

#endif /* STATISTICS_H */

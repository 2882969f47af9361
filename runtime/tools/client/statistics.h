/* SPDX-License-Identifier: MIT */
/* statistics.h - the numbers that "tp stat" shows: where they come from. */
#ifndef STATISTICS_H
#define STATISTICS_H

#include <stdbool.h>

#include "client/child.h"
#include "client/session.h"
#include "client/lines.h"
#include "client/targets.h"

/* Of a process: what counts there. */
struct counted {
	struct session session;
	struct lines text; /* the last that was read; stays when nothing can be read any more */
	bool own;  /* the output was opened here, and is closed here */
	bool over; /* there is no more to read */
	bool cut;  /* the last request, by a signal */
	enum {
		COUNTED_ALL,
		COUNTED_SILENT, /* the last numbers are missing, although the process runs */
		COUNTED_CUT,    /* the same, as a signal has ended the request */
		COUNTED_ENDED,  /* they are missing, as it has ended */
	} end;              /* of statistics_end() */
};

/* What is to count. */
struct counting {
	const char *kind;    /* stats or hist */
	const char *options; /* or the definition */
	const char *events;
	const char *output;  /* one that is there already, and only shown; or NULL */
};

/* Of processes, or of a program that tp has started and those that it starts in turn. */
struct statistics {
	bool json;
	struct lines text; /* all of them, as they were read last */

	struct targets targets;
	struct counting counting;
	struct counted *all; /* processes */
	size_t nr;

	char *directory; /* of a program: a file for each process; NULL: it is not one */
	bool at_end;     /* the files are written when their processes end, and not before */
	struct child child;
};

/* Zeros are none. Each returns false after a message. */

/* Of the processes that are meant. */
bool statistics_of_processes(struct statistics *statistics, const struct tp_args *args, struct counting counting);

/* Starts the program. If that fails, child.status is what tp exits with. */
bool statistics_of_program(struct statistics *statistics, char *const *program, const char *options, const char *events);

/* The same with a histogram. events is one rule. */
bool statistics_of_programs_histogram(struct statistics *statistics, char *const *program, const char *definition, const char *events);

/* Reads the numbers of this moment. */
bool statistics_read(struct statistics *statistics);

/* Takes what has come, and what has ended. Whether all the processes, or the program, have ended. */
bool statistics_are_over(struct statistics *statistics);

/* Nothing is counted for this program any more; the text stays. */
void statistics_end(struct statistics *statistics);

void statistics_close(struct statistics *statistics);

#endif /* STATISTICS_H */

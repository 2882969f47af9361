/* SPDX-License-Identifier: MIT */
/* statistics.h - what processes have counted: where it comes from. What is shown of it: stat_view.h, hist_view.h. */
#ifndef STATISTICS_H
#define STATISTICS_H

#include <stdbool.h>

#include "client/child.h"
#include "client/json.h"
#include "client/session.h"
#include "client/lines.h"
#include "client/targets.h"

/* Of a process: what counts there. What was read last stays when nothing can be read any more. */
struct counted {
	struct session session;
	char *file; /* of a program's process: in the directory; NULL: there is a session */
	struct lines text; /* as it was reported, if that is what is wanted */
	struct json_document now, base; /* else: the last, and one an interval or so before */
	struct lines notes; /* what the process says of it, in lines */
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
	const char *kind;    /* stats, hist or latency */
	const char *options; /* or the definition */
	const char *events;
	const char *ends;    /* of a latency, the end's; or NULL. Enabled first: a begin before that would wait for ever */
	const char *output;  /* one that is there already, and only shown; or NULL */
};

/* Of processes, or of a program that tp has started and those that it starts in turn. */
struct statistics {
	enum {
		STATISTICS_NUMBERS, /* json */
		STATISTICS_JSON,    /* only the text, as JSON ... */
		STATISTICS_TEXT,    /* ... or for people */
	} form;
	double interval; /* seconds between now and base: half of it at least */

	struct targets targets;
	struct counting counting;
	struct counted *all; /* processes */
	size_t nr, nr_over;
	size_t nr_failed; /* where nothing can be counted, and every process is meant */

	char *directory; /* of a program: a file for each process; NULL: it is not one */
	bool at_end;     /* the files are written when their processes end, and not before */
	struct child child;
};

/* Zeros are none. Each returns false after a message. */

/*
 * Of the processes that are meant. every: all that can be reached, and that come; those in which nothing can be counted are left out,
 * as long as there is another one.
 */
bool statistics_of_processes(struct statistics *statistics, const struct tp_args *args, struct counting counting, bool every);

/* Starts the program. If that fails, child.status is what tp exits with. */
bool statistics_of_program(struct statistics *statistics, char *const *program, const char *options, const char *events);

/* The same with a latency: its options, and rules for its events. */
bool statistics_of_programs_latency(struct statistics *statistics, char *const *program, const char *options, const char *rules);

/* The same with a histogram. events is one rule. */
bool statistics_of_programs_histogram(struct statistics *statistics, char *const *program, const char *definition, const char *events);

/* Reads the numbers of this moment. */
bool statistics_read(struct statistics *statistics);

/* Whether there are any. */
bool statistics_has_numbers(const struct statistics *statistics);

/* Whether they are shown by processes. */
bool statistics_are_of_several(const struct statistics *statistics);

/* Takes what has come, and what has ended. Whether all the processes, or the program, have ended. */
bool statistics_are_over(struct statistics *statistics);

/* Nothing is counted for this program any more; the numbers stay. */
void statistics_end(struct statistics *statistics);

void statistics_close(struct statistics *statistics);

/* "'server' (1234)": whose numbers they are; of a buffer that the next call uses again. */
const char *counted_title(const struct counted *counted);

#endif /* STATISTICS_H */

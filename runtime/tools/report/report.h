/* SPDX-License-Identifier: MIT */
/* report.h - traces as text: a line for each event, in the order of their times; or a summary of them. */
#ifndef REPORT_H
#define REPORT_H

#include "report/batch.h"
#include "report/when.h"

enum report_kind { REPORT_LINES, REPORT_SUMMARY, REPORT_SUMMARY_JSON };

struct report {
	char *const *paths; /* of traces */
	size_t nr_paths;
	enum report_kind kind;
	const char *events; /* rules, as select/selection.h has them; NULL: all */
	struct line_style style;
	const struct when *since, *until; /* NULL: there is no limit */
	uint64_t nr_wanted; /* the first so many events; 0: all */
	bool with_header;
	bool follows;       /* goes on with what is recorded later, until a signal ends it */
	int columns;        /* of the terminal, 0: it is none */
};

/* False, and a message, where something fails; what came before has been written to stdout. */
bool report_write(const struct report *report);

#endif /* REPORT_H */

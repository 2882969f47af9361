/* SPDX-License-Identifier: MIT */
/* report.h - traces as text, a line for each event, in the order of their times. */
#ifndef REPORT_H
#define REPORT_H

#include "report/when.h"

struct report {
	char *const *paths; /* of traces */
	size_t nr_paths;
	const char *events; /* rules, as select/selection.h has them; NULL: all */
	bool with_fields;
	enum when_style style;
	const struct when *since, *until; /* NULL: there is no limit */
};

/* False, and a message, where something fails; what came before has been written to stdout. */
bool report_write(const struct report *report);

#endif /* REPORT_H */

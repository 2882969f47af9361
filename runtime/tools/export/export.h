/* SPDX-License-Identifier: MIT */
/* export.h - events of traces on their way into a file of another format: those that are wanted, in the order of their times. */
#ifndef EXPORT_H
#define EXPORT_H

#include "read/traces.h"
#include "report/merge.h"
#include "report/progress.h"

struct selection;
struct spans;

/* What is to be made. It fails with a message, and makes the file, if it is complete, in the place of another one. */
struct export_wanted {
	char *const *paths; /* of traces */
	size_t nr_paths;
	const char *events;  /* rules, as select/selection.h has them; NULL: all */
	struct spans *spans; /* pairs that are a span */
	const char *to;      /* the file; "-": standard output, where that can be */
};

struct export {
	struct traces traces;
	struct selection *selection; /* NULL: all events */
	struct merge merge;
	bool is_shown; /* on a terminal */
	struct progress progress;
};

/* False, and a message, where it fails. Zeros are no export; to be closed in any case. */
bool export_open(struct export *export, const struct export_wanted *wanted);
void export_close(struct export *export);

/*
 * Calls fn for each event that is wanted, and, with an event that has no format, for what was lost in front of another, or behind
 * all. False: fn has returned it, or reading fails, and a message has said why.
 */
bool export_each(struct export *export, bool (*fn)(void *data, const struct merged *merged), void *data);

#endif /* EXPORT_H */

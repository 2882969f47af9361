/* SPDX-License-Identifier: MIT */
/* mappings.h - where the code of a trace's processes was, by its events tp:mapping: docs/triggers.md, "Stacks". */
#ifndef MAPPINGS_H
#define MAPPINGS_H

#include "read/trace.h"
#include "report/code_files.h"

struct mapping {
	uint64_t time; /* since when it is known */
	int32_t pid;
	uint64_t start, end, offset; /* of the file at start */
	struct code_file *file;
};

/* Of one trace. Zeros are none. */
struct mappings {
	struct mapping *all; /* by time */
	size_t nr;
};

/* Reads all of the trace. What can't be read is left out without a word: who shows the trace finds it, too, and says so. */
void mappings_read(struct mappings *mappings, const struct trace *trace, struct code_files *files);
void mappings_free(struct mappings *mappings);

/*
 * The mapping that has the address: the latest that was known at the time, else the first that came to be known. If the
 * process has none, it is the latest of another process, as it may be a child of that. NULL: there is none.
 */
const struct mapping *mappings_find(const struct mappings *mappings, int32_t pid, uint64_t time, uint64_t address);

#endif /* MAPPINGS_H */

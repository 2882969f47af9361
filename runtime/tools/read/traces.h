/* SPDX-License-Identifier: MIT */
/* traces.h - the traces below some directories, and in packs. */
#ifndef TRACES_H
#define TRACES_H

#include "read/trace.h"

struct traces {
	struct trace *traces;
	char **paths; /* of each */
	size_t nr;
};

/*
 * Opens the traces: each path is the directory of one, or of directories of traces, as "tp record" makes of several
 * processes; or a file that "tp pack" has made. False, and a message, where one fails. To be closed in any case.
 */
bool traces_open(struct traces *traces, char *const *paths, size_t nr);
void traces_close(struct traces *traces);

#endif /* TRACES_H */

/* SPDX-License-Identifier: MIT */
/* pack_traces.h - makes a packed trace: one file of traces. */
#ifndef PACK_TRACES_H
#define PACK_TRACES_H

#include <stdbool.h>
#include <stddef.h>

struct packing {
	char *const *paths; /* of traces, directories of traces, and packs */
	size_t nr_paths;
	const char *to;            /* NULL: called after the first of them, and made where tp was called */
	bool without_command_line; /* nor the messages of the runtime, which may quote the environment */
};

/* Makes the file, and says what is in it. False, a message, and no file, where that fails. */
bool pack_traces(const struct packing *packing);

#endif /* PACK_TRACES_H */

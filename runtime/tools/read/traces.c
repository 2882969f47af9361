/* SPDX-License-Identifier: MIT */
#include "read/traces.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fail_msg.h"

/* The path is the array's from here on; it may be NULL. */
static bool add(struct traces *traces, char *path)
{
	struct trace *more = reallocarray(traces->traces, traces->nr + 1, sizeof(*more));
	char **paths = reallocarray(traces->paths, traces->nr + 1, sizeof(*paths));

	if (more)
		traces->traces = more;
	if (paths)
		traces->paths = paths;
	if (!more || !paths || !path) {
		free(path);
		return fail_no_memory();
	}
	traces->paths[traces->nr] = path;
	return trace_open(&traces->traces[traces->nr++], path);
}

static bool is_trace(const char *path)
{
	char *metadata;
	bool is = false;

	if (asprintf(&metadata, "%s/metadata", path) >= 0) {
		is = access(metadata, F_OK) == 0;
		free(metadata);
	}
	return is;
}

static int is_shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Those that are one level below, in the order of their names. *found: there are some. */
static bool add_below(struct traces *traces, const char *path, bool *found)
{
	struct dirent **entries;
	int nr = scandir(path, &entries, is_shown, alphasort);
	bool good = true;

	for (int i = 0; i < nr; i++) {
		char *below = NULL;
		if (good && asprintf(&below, "%s/%s", path, entries[i]->d_name) < 0) {
			below = NULL;
			good = fail_no_memory();
		}
		if (good && is_trace(below)) {
			*found = true;
			good = add(traces, below);
		} else {
			free(below);
		}
		free(entries[i]);
	}
	if (nr >= 0)
		free(entries);
	return good;
}

bool traces_open(struct traces *traces, char *const *paths, size_t nr)
{
	*traces = (struct traces){.traces = NULL};
	for (size_t i = 0; i < nr; i++) {
		bool found = false;
		if (!is_trace(paths[i]) && !add_below(traces, paths[i], &found))
			return false;
		/* What is none is opened, too: that says why it is not. */
		if (!found && !add(traces, strdup(paths[i])))
			return false;
	}
	return true;
}

void traces_close(struct traces *traces)
{
	for (size_t i = 0; i < traces->nr; i++) {
		trace_close(&traces->traces[i]);
		free(traces->paths[i]);
	}
	free(traces->traces);
	free(traces->paths);
	*traces = (struct traces){.traces = NULL};
}

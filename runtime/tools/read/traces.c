/* SPDX-License-Identifier: MIT */
#include "read/traces.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail_msg.h"

/* Room for one more, which is to be opened; the path is the array's from here on, and may be NULL. NULL: no memory. */
static struct trace *grow(struct traces *traces, char *path)
{
	struct trace *more = reallocarray(traces->traces, traces->nr + 1, sizeof(*more));
	char **paths = reallocarray(traces->paths, traces->nr + 1, sizeof(*paths));

	if (more)
		traces->traces = more;
	if (paths)
		traces->paths = paths;
	if (!more || !paths || !path) {
		free(path);
		fail_no_memory();
		return NULL;
	}
	traces->paths[traces->nr] = path;
	traces->traces[traces->nr] = (struct trace){.formats = {.systems = NULL}};
	return &traces->traces[traces->nr++];
}

static bool add(struct traces *traces, char *path)
{
	struct trace *trace = grow(traces, path);

	return trace && trace_open(trace, path);
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

/* ---- Packed ones ---- */

static bool is_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

/* The one whose directory in the pack has a name of so many bytes. */
static bool add_packed(struct traces *traces, struct pack *pack, const char *path, const char *name, size_t len)
{
	char *inside = strndup(name, len);
	char *full = NULL;

	if (!inside || asprintf(&full, "%s%s%s", path, len ? "/" : "", inside) < 0) {
		free(inside);
		return fail_no_memory();
	}
	struct trace *trace = grow(traces, full);
	const bool good = trace && trace_open_packed(trace, pack, inside, full);
	free(inside);
	return good;
}

static bool add_all_packed(struct traces *traces, struct pack *pack, const char *path)
{
	static const char last[] = "/metadata";
	bool found = false;
	bool good = true;

	for (size_t i = 0; i < pack->nr && good; i++) {
		const char *name = pack->files[i].name;
		const size_t len = strlen(name);
		const bool is_first = strcmp(name, last + 1) == 0;
		if (!is_first && (len < strlen(last) || strcmp(name + len - strlen(last), last) != 0))
			continue;
		found = true;
		good = add_packed(traces, pack, path, name, is_first ? 0 : len - strlen(last));
	}
	return good && (found || fail_msg("'%s' holds no trace: no file in it is called 'metadata'", path));
}

static bool add_pack(struct traces *traces, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return fail_msg("'%s' can't be opened: %s", path, strerror(errno));
	struct pack *pack = pack_open(fd, path);
	const bool good = pack && add_all_packed(traces, pack, path);
	pack_close(pack);
	return good;
}

/* ---- All of them ---- */

static bool add_any(struct traces *traces, const char *path)
{
	bool found = false;

	if (is_file(path))
		return add_pack(traces, path);
	if (!is_trace(path) && !add_below(traces, path, &found))
		return false;
	/* What is none is opened, too: that says why it is not. */
	return found || add(traces, strdup(path));
}

/* ---- One clock ---- */

/* How much of the path says in which directory it is. */
static size_t parent_len(const char *path)
{
	size_t len = strlen(path);

	while (len && path[len - 1] == '/')
		len--;
	while (len && path[len - 1] != '/')
		len--;
	return len;
}

static bool are_neighbours(const char *one, const char *other)
{
	const size_t len = parent_len(one);

	return parent_len(other) == len && memcmp(one, other, len) == 0;
}

static bool have_one_clock(const struct metadata *one, const struct metadata *other)
{
	char name[32], other_name[32];

	return metadata_clock(one, "name", name, sizeof(name)) && metadata_clock(other, "name", other_name, sizeof(other_name)) &&
	       strcmp(name, other_name) == 0;
}

/*
 * What was recorded beside the kernel's events is of one machine that has not been booted between: its traces have the same ticks. Each process
 * has measured by itself what time these are; they are put in order by one measurement.
 */
static void share_clock(struct traces *traces, size_t kernel)
{
	const struct metadata *clock = &traces->traces[kernel].metadata;

	for (size_t i = 0; i < traces->nr; i++) {
		struct metadata *metadata = &traces->traces[i].metadata;
		if (i == kernel || !are_neighbours(traces->paths[kernel], traces->paths[i]) || !have_one_clock(clock, metadata))
			continue;
		metadata->frequency = clock->frequency;
		metadata->offset_s = clock->offset_s;
		metadata->offset = clock->offset;
	}
}

/* Each trace has its directory open. */
static void allow_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

bool traces_open(struct traces *traces, char *const *paths, size_t nr)
{
	*traces = (struct traces){.traces = NULL};
	allow_descriptors();
	for (size_t i = 0; i < nr; i++) {
		if (!add_any(traces, paths[i]))
			return false;
	}
	for (size_t i = 0; i < traces->nr; i++) {
		if (traces->traces[i].metadata.is_kernel)
			share_clock(traces, i);
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

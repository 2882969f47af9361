/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/dir/old.c - traces whose processes are gone. They make way for new ones: DIR becomes DIR.1, or has the next
 * number. Only where keep= says so, the oldest are removed.
 *
 * Nothing is touched that is not known to be a trace of ours, and nothing else: a directory with other files in
 * it stays as it is. Links are never followed.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/pid_name.h"
#include "sinks/ctf/dir/dir.h"
#include "sinks/ctf/dir/hold.h"

#define DIRECTORY_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define FILE_FLAGS (O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* ---- What belongs to a trace ---- */

static const char *skip_digits(const char *text)
{
	return text + strspn(text, "0123456789");
}

/* PREFIX and so many numbers, each behind a dash. */
static bool is_numbered(const char *name, const char *prefix, unsigned int numbers)
{
	size_t len = strlen(prefix);

	if (strncmp(name, prefix, len) != 0)
		return false;
	for (name += len; numbers; numbers--) {
		const char *end = skip_digits(name + (*name == '-'));
		if (*name != '-' || end == name + 1)
			return false;
		name = end;
	}
	return *name == '\0';
}

static bool is_packet(const char *name)
{
	return is_numbered(name, "stream", 3) || is_numbered(name, ".stream", 2);
}

static bool is_last(const char *name)
{
	return strcmp(name, "metadata") == 0 || strcmp(name, ".lock") == 0;
}

/* True where the file begins with the text, or, if it may be anywhere in the first bytes, has it. */
static bool file_has(int dir, const char *name, const char *text, bool anywhere)
{
	char bytes[2048];
	int fd = openat(dir, name, FILE_FLAGS);
	ssize_t n = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes) - 1);

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return false;
	bytes[n] = '\0';
	const char *at = strstr(bytes, text);
	return at && (anywhere || at == bytes);
}

/* As it is for a moment before something is written to it. */
static bool file_is_empty(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_size == 0;
}

/* Whether all in a subdirectory is ours: format texts; messages of processes. */
static bool is_our_subdirectory(int dir, const char *name)
{
	const bool formats = strcmp(name, "format") == 0;
	struct tp_directory entries;
	const char *entry;
	bool ours = true;

	if (!formats && strcmp(name, "log") != 0)
		return false;
	int fd = openat(dir, name, DIRECTORY_FLAGS);
	if (fd < 0)
		return false;
	tp_directory_open(&entries, fd);
	while (ours && (entry = tp_directory_next(&entries)))
		ours = tp_directory_is(&entries, S_IFREG) &&
		       (formats ? file_has(fd, entry, "name: ", false) || file_is_empty(fd, entry)
				: *skip_digits(entry) == '\0');
	ours = ours && !entries.error;
	tp_directory_close(&entries);
	close(fd);
	return ours;
}

static bool is_our_trace(int dir)
{
	struct tp_directory entries;
	const char *entry;
	bool ours = file_has(dir, "metadata", "\ttracer_name = \"tp\";\n", true);

	if (!ours)
		return false;
	tp_directory_open(&entries, dir);
	while (ours && (entry = tp_directory_next(&entries))) {
		if (tp_directory_is(&entries, S_IFDIR))
			ours = is_our_subdirectory(dir, entry);
		else
			ours = tp_directory_is(&entries, S_IFREG) &&
			       (is_last(entry) || is_packet(entry) || is_numbered(entry, ".metadata", 1));
	}
	ours = ours && !entries.error;
	tp_directory_close(&entries);
	return ours;
}

/* Of one that was being removed when the process was killed. */
static bool is_remains(int dir)
{
	struct tp_directory entries;
	const char *entry;
	bool ours = true;

	tp_directory_open(&entries, dir);
	while (ours && (entry = tp_directory_next(&entries)))
		ours = strcmp(entry, ".lock") == 0;
	ours = ours && !entries.error;
	tp_directory_close(&entries);
	return ours;
}

/* ---- A trace that nobody writes to ---- */

struct old {
	int dir;
	int lock; /* whoever has it may rename or remove the trace */
};

static void old_close(const struct old *old)
{
	if (old->lock >= 0)
		tp_ctf_hold_give_back(old->lock);
	if (old->dir >= 0)
		close(old->dir);
}

/* False where it is no such directory, or that can't be told. */
static bool old_open(struct old *old, int parent, const char *name, bool (*is_such)(int dir))
{
	old->dir = openat(parent, name, DIRECTORY_FLAGS);
	old->lock = old->dir < 0 ? -1 : tp_ctf_hold_try(old->dir);
	if (old->lock >= 0 && is_such(old->dir) && tp_ctf_is_at(old->dir, parent, name))
		return true; /* nobody has put another one there before the lock was taken */
	old_close(old);
	return false;
}

/* ---- Making way ---- */

/* The number of NAME.NUMBER, or 0. */
static unsigned int number_of(const char *entry, const char *name)
{
	size_t len = strlen(name);

	if (strncmp(entry, name, len) != 0 || entry[len] != '.' || entry[len + 1] == '0' || *skip_digits(entry + len + 1))
		return 0;
	unsigned int number = 0;
	for (const char *digit = entry + len + 1; *digit; digit++) {
		if (number > (UINT_MAX - 9) / 10)
			return 0;
		number = number * 10 + (unsigned int)(*digit - '0');
	}
	return number;
}

/* Numbers only go up, so that a name stays what it was, and the order can be seen. 0 or an errno value. */
static int find_last_number(int parent, const char *name, unsigned int *last)
{
	struct tp_directory entries;
	const char *entry;

	*last = 0;
	tp_directory_open(&entries, parent);
	while ((entry = tp_directory_next(&entries))) {
		unsigned int number = number_of(entry, name);
		*last = number > *last ? number : *last;
	}
	tp_directory_close(&entries);
	return entries.error;
}

static int put_away(int parent, const char *name, char to[NAME_MAX + 1])
{
	unsigned int number;
	int error = find_last_number(parent, name, &number);

	if (error)
		return error;
	do {
		int len = snprintf(to, NAME_MAX + 1, "%s.%u", name, ++number);
		error = len <= NAME_MAX ? tp_ctf_rename_new(parent, name, to) : ENAMETOOLONG;
	} while (error == EEXIST && number < UINT_MAX);
	return error;
}

/* By its packets: their names have its id. */
static bool has_recorded(int dir, int pid)
{
	struct tp_directory entries;
	char prefix[32];
	const char *entry;

	const int len = snprintf(prefix, sizeof(prefix), "stream-%d-", pid);
	tp_directory_open(&entries, dir);
	while ((entry = tp_directory_next(&entries)) && strncmp(entry, prefix, (size_t)len) != 0)
		;
	tp_directory_close(&entries);
	return entry != NULL;
}

bool tp_ctf_old_make_way(int parent, const char *name, int pid, char to[NAME_MAX + 1])
{
	struct old old;

	to[0] = '\0';
	if (!old_open(&old, parent, name, is_our_trace))
		return false;
	int error = put_away(parent, name, to);
	if (error || !has_recorded(old.dir, pid))
		to[0] = '\0';
	old_close(&old);
	return !error;
}

int tp_ctf_old_put_away(int parent, const char *name, int dir, char to[NAME_MAX + 1])
{
	to[0] = '\0';
	return tp_ctf_is_at(dir, parent, name) ? put_away(parent, name, to) : 0;
}

/* ---- keep= ---- */

/* Removes the files whose names are such. Not while the directory is being read: what was not read yet might be passed over. */
static void remove_files(int dir, bool (*is_such)(const char *name))
{
	struct tp_directory entries;
	const char *entry;
	bool more;

	do {
		more = false;
		tp_directory_open(&entries, dir);
		while ((entry = tp_directory_next(&entries))) {
			if (is_such(entry) && tp_directory_is(&entries, S_IFREG) && unlinkat(dir, entry, 0) == 0)
				more = true;
		}
		tp_directory_close(&entries);
	} while (more);
}

static bool is_any(const char *name)
{
	return name != NULL;
}

static bool is_no_last(const char *name)
{
	return !is_last(name);
}

static void remove_subdirectory(int dir, const char *name)
{
	int fd = openat(dir, name, DIRECTORY_FLAGS);

	if (fd < 0)
		return;
	remove_files(fd, is_any);
	close(fd);
	unlinkat(dir, name, AT_REMOVEDIR);
}

/* What makes it a trace goes last: one that was half removed is known the next time. */
static void remove_trace(int parent, const char *name)
{
	struct old old;

	if (!old_open(&old, parent, name, is_our_trace))
		return;
	remove_files(old.dir, is_no_last);
	remove_subdirectory(old.dir, "format");
	remove_subdirectory(old.dir, "log");
	unlinkat(old.dir, "metadata", 0);
	unlinkat(old.dir, ".lock", 0);
	unlinkat(parent, name, AT_REMOVEDIR);
	old_close(&old);
}

/* No trace is begun under a number: a directory without metadata that has one is not about to have it. */
static void remove_remains(int parent, const char *name)
{
	const char *dot = strrchr(name, '.');
	struct old old;

	if (!dot || !dot[1] || *skip_digits(dot + 1) || !old_open(&old, parent, name, is_remains))
		return;
	unlinkat(old.dir, ".lock", 0);
	unlinkat(parent, name, AT_REMOVEDIR);
	old_close(&old);
}

struct found {
	struct timespec begun;
	char name[NAME_MAX + 1];
};

/* So many are removed between two looks at the directory. */
#define OLDEST 32

/* Mapped: there may be no malloc, nor much of a stack. */
struct search {
	struct tp_directory entries;
	char expanded[NAME_MAX * 6]; /* of the pattern: each %p may become a long number */
	uint64_t nr;                 /* that were found ... */
	struct found oldest[OLDEST]; /* ... of which these are the first */
};

/* Whether a directory has the name of a trace of this pattern: with some process's id, or put out of the way. */
static bool is_of_pattern(struct search *search, const char *entry, const char *pattern)
{
	const char *percent = strstr(pattern, "%p");

	if (!percent)
		return number_of(entry, pattern) != 0;
	size_t at = (size_t)(percent - pattern);
	if (strncmp(entry, pattern, at) != 0 || tp_pid_name_size(pattern) > sizeof(search->expanded))
		return false;
	long pid = strtol(skip_digits(entry + at) == entry + at ? "0" : entry + at, NULL, 10);
	if (pid <= 0 || pid > INT_MAX)
		return false;
	tp_pid_name(search->expanded, pattern, (int)pid);
	return strcmp(entry, search->expanded) == 0 || number_of(entry, search->expanded) != 0;
}

static bool is_older(const struct found *x, const struct found *y)
{
	if (x->begun.tv_sec != y->begun.tv_sec)
		return x->begun.tv_sec < y->begun.tv_sec;
	if (x->begun.tv_nsec != y->begun.tv_nsec)
		return x->begun.tv_nsec < y->begun.tv_nsec;
	return strverscmp(x->name, y->name) < 0;
}

/* False where it is no trace that is over. Its lock was made when it was begun, and nobody has written to that since. */
static bool add(struct search *search, int parent, const char *name)
{
	struct found found;
	struct stat st;
	struct old old;

	if (strlen(name) > NAME_MAX || !old_open(&old, parent, name, is_our_trace))
		return false;
	bool known = fstat(old.lock, &st) == 0;
	old_close(&old);
	if (!known)
		return true;
	found.begun = st.st_mtim;
	strcpy(found.name, name);
	size_t at = search->nr < OLDEST ? (size_t)search->nr : OLDEST;
	search->nr++;
	for (; at > 0 && is_older(&found, &search->oldest[at - 1]); at--) {
		if (at < OLDEST)
			search->oldest[at] = search->oldest[at - 1];
	}
	if (at < OLDEST)
		search->oldest[at] = found;
	return true;
}

/* False where the directory can't be read. */
static bool find_all(struct search *search, int parent, const char *pattern)
{
	const char *entry;

	search->nr = 0;
	tp_directory_open(&search->entries, parent);
	while ((entry = tp_directory_next(&search->entries))) {
		if (is_of_pattern(search, entry, pattern) && !add(search, parent, entry))
			remove_remains(parent, entry);
	}
	tp_directory_close(&search->entries);
	return !search->entries.error;
}

void tp_ctf_old_remove(int parent, const char *pattern, uint64_t keep)
{
	struct search *search = mmap(NULL, sizeof(*search), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t before = UINT64_MAX; /* some that can't be removed are no reason to try for ever */

	if (search == MAP_FAILED)
		return;
	while (find_all(search, parent, pattern) && search->nr > keep && search->nr < before) {
		before = search->nr;
		for (size_t i = 0; i < OLDEST && i < before - keep; i++)
			remove_trace(parent, search->oldest[i].name);
	}
	munmap(search, sizeof(*search));
}

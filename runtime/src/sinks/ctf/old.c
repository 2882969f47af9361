/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/old.c - traces whose processes are gone. They make way for new ones: DIR becomes DIR.1, or has the next
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
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/memory.h"
#include "base/pid_name.h"
#include "sinks/ctf/ctf.h"

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
	return is_numbered(name, "stream", 3) || is_numbered(name, ".stream", 3);
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
		       (formats ? file_has(fd, entry, "name: ", false) : *skip_digits(entry) == '\0');
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

/* False where it is none, or can't be told. */
static bool old_open(struct old *old, int parent, const char *name)
{
	struct stat by_number, by_name;

	old->dir = openat(parent, name, DIRECTORY_FLAGS);
	old->lock = old->dir < 0 ? -1 : tp_ctf_hold_try(old->dir);
	if (old->lock >= 0 && is_our_trace(old->dir) && fstat(old->dir, &by_number) == 0 &&
	    fstatat(parent, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 && by_number.st_ino == by_name.st_ino &&
	    by_number.st_dev == by_name.st_dev)
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

/* Numbers only go up, so that a name stays what it was, and the order can be seen. */
static unsigned int last_number(int parent, const char *name)
{
	struct tp_directory entries;
	const char *entry;
	unsigned int last = 0;

	tp_directory_open(&entries, parent);
	while ((entry = tp_directory_next(&entries))) {
		unsigned int number = number_of(entry, name);
		last = number > last ? number : last;
	}
	tp_directory_close(&entries);
	return last;
}

bool tp_ctf_old_make_way(int parent, const char *name)
{
	char to[NAME_MAX + 1];
	struct old old;
	int error;

	if (!old_open(&old, parent, name))
		return false;
	unsigned int number = last_number(parent, name);
	do {
		int len = snprintf(to, sizeof(to), "%s.%u", name, ++number);
		error = len < (int)sizeof(to) ? tp_ctf_rename_new(parent, name, to) : ENAMETOOLONG;
	} while (error == EEXIST && number < UINT_MAX);
	old_close(&old);
	return !error;
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

	if (!old_open(&old, parent, name))
		return;
	remove_files(old.dir, is_no_last);
	remove_subdirectory(old.dir, "format");
	remove_subdirectory(old.dir, "log");
	unlinkat(old.dir, "metadata", 0);
	unlinkat(old.dir, ".lock", 0);
	unlinkat(parent, name, AT_REMOVEDIR);
	old_close(&old);
}

/* Whether a directory has the name of a trace of this pattern: with some process's id, or put out of the way. */
static bool is_of_pattern(const char *entry, const char *pattern, char *expanded)
{
	const char *percent = strstr(pattern, "%p");

	if (!percent)
		return number_of(entry, pattern) != 0;
	size_t at = (size_t)(percent - pattern);
	if (strncmp(entry, pattern, at) != 0)
		return false;
	long pid = strtol(skip_digits(entry + at) == entry + at ? "0" : entry + at, NULL, 10);
	if (pid <= 0 || pid > INT_MAX)
		return false;
	tp_pid_name(expanded, pattern, (int)pid);
	return strcmp(entry, expanded) == 0 || number_of(entry, expanded) != 0;
}

struct found {
	struct timespec begun;
	char name[NAME_MAX + 1];
};

static int older_first(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->begun.tv_sec != y->begun.tv_sec)
		return x->begun.tv_sec < y->begun.tv_sec ? -1 : 1;
	if (x->begun.tv_nsec != y->begun.tv_nsec)
		return x->begun.tv_nsec < y->begun.tv_nsec ? -1 : 1;
	return strverscmp(x->name, y->name);
}

struct all_found {
	struct found *found;
	size_t nr, room;
};

/* Its lock was made when it was begun, and nobody has written to it since. */
static bool add(struct all_found *all, int parent, const char *name)
{
	struct stat st;
	struct old old;

	if (!old_open(&old, parent, name))
		return true;
	bool known = fstat(old.lock, &st) == 0;
	old_close(&old);
	if (!known || strlen(name) > NAME_MAX)
		return true;
	if (all->nr == all->room) {
		size_t room = all->room ? 2 * all->room : 16;
		struct found *more = realloc(all->found, room * sizeof(*more));
		if (!more)
			return false;
		all->found = more;
		all->room = room;
	}
	struct found *found = &all->found[all->nr++];
	found->begun = st.st_mtim;
	strcpy(found->name, name);
	return true;
}

void tp_ctf_old_remove(int parent, const char *pattern, uint64_t keep)
{
	struct tp_directory entries;
	struct all_found all = {.found = NULL};
	char *expanded = tp_malloc(tp_pid_name_size(pattern));
	const char *entry;
	bool memory = expanded != NULL;

	tp_directory_open(&entries, parent);
	while (memory && (entry = tp_directory_next(&entries))) {
		if (is_of_pattern(entry, pattern, expanded))
			memory = add(&all, parent, entry);
	}
	tp_directory_close(&entries);
	if (memory && !entries.error && all.nr > keep) {
		qsort(all.found, all.nr, sizeof(*all.found), older_first);
		for (size_t i = 0; i < all.nr - keep; i++)
			remove_trace(parent, all.found[i].name);
	}
	free(all.found);
	free(expanded);
}

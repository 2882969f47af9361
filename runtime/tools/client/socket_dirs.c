/* SPDX-License-Identifier: MIT */
#include "client/socket_dirs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "client/listeners.h"
#include "client/names.h"
#include "client/proc.h"
#include "fail_msg.h"

#define SYSTEM "/run/tp/"
#define SESSIONS "/run/user/"

/* The directory PARENT/NAME/rest. */
static bool add(struct places *places, pid_t root, const char *parent, const char *name, const char *rest)
{
	/* Twice as many whenever their number is a power of two. */
	if ((places->nr & (places->nr - 1)) == 0) {
		struct place *all = reallocarray(places->all, places->nr ? 2 * places->nr : 1, sizeof(*all));
		if (!all)
			return fail_no_memory();
		places->all = all;
	}
	struct place *place = &places->all[places->nr];
	place->root = root;
	/* Where it is longer than a path can be, there is nothing. */
	if (snprintf(place->path, sizeof(place->path), "%s%s%s", parent, name, rest) >= PATH_MAX)
		return true;
	for (size_t i = 0; i < places->nr; i++) {
		if (places->all[i].root == root && strcmp(places->all[i].path, place->path) == 0)
			return true;
	}
	places->nr++;
	return true;
}

void places_free(struct places *places)
{
	free(places->all);
	*places = (struct places){.all = NULL};
}

/* ---- Below another root ---- */

/* As the process would open it: an absolute symbolic link in a container leads to a place in that container. */
static int open_in(pid_t root, const char *path, int flags)
{
	const struct open_how how = {.flags = (unsigned int)flags, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	char prefix[32];

	snprintf(prefix, sizeof(prefix), "/proc/%d/root", (int)root);
	int top = open(prefix, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (top < 0)
		return -1;
	int fd = (int)syscall(SYS_openat2, top, path, &how, sizeof(how));
	/* Linux before 5.6, and filters that don't know the call. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = openat(top, path + strspn(path, "/"), flags);
	close(top);
	return fd;
}

int place_open(const struct place *place, const char *name, int flags)
{
	char path[PATH_MAX + NAME_MAX + 2];

	flags |= O_CLOEXEC | O_NOFOLLOW;
	snprintf(path, sizeof(path), "%s%s%s", place->path, name ? "/" : "", name ? name : "");
	return place->root ? open_in(place->root, path, flags) : open(path, flags);
}

/* ---- Which ones there are ---- */

/* The same for each directory NAME. */
static bool add_each(struct places *places, pid_t root, const char *parent, const char *rest)
{
	struct place top = {.root = root};
	bool good = true;
	const struct dirent *entry;

	strcpy(top.path, parent);
	int fd = place_open(&top, NULL, O_RDONLY | O_DIRECTORY);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	while (list && good && (entry = readdir(list)) != NULL) {
		if (entry->d_name[0] != '.')
			good = add(places, root, parent, entry->d_name, rest);
	}
	if (list)
		closedir(list);
	else if (fd >= 0)
		close(fd);
	return good;
}

/* Those that everybody knows. uid: -1: of all users. */
static bool add_known(struct places *places, pid_t root, int64_t uid)
{
	char id[32];

	if (uid < 0)
		return add_each(places, root, SESSIONS, "/tp") && add_each(places, root, SYSTEM, "");
	snprintf(id, sizeof(id), "%lld", (long long)uid);
	return add(places, root, SESSIONS, id, "/tp") && add(places, root, SYSTEM, id, "");
}

/* Those that a process's environment names. */
static bool add_named(struct places *places, pid_t root, const char *control, const char *runtime)
{
	const size_t len = control ? strcspn(control, ",") : 0; /* options follow */
	bool good = true;

	if (len && control[0] == '/' && len < PATH_MAX) {
		char path[PATH_MAX];
		snprintf(path, sizeof(path), "%.*s", (int)len, control);
		good = add(places, root, path, "", "");
	}
	return good && (!runtime || runtime[0] != '/' || add(places, root, runtime, "", "/tp"));
}

bool places_add_ours(struct places *places)
{
	return add_named(places, 0, getenv("TP_CONTROL"), getenv("XDG_RUNTIME_DIR")) &&
	       add_known(places, 0, (int64_t)geteuid()) && (geteuid() != 0 || add_known(places, 0, -1));
}

bool places_add_of(struct places *places, pid_t pid)
{
	const pid_t root = proc_has_our_root(pid) ? 0 : pid;
	struct proc proc;

	if (!proc_read(&proc, pid))
		return true;
	char *control = proc_environment(pid, "TP_CONTROL");
	char *runtime = proc_environment(pid, "XDG_RUNTIME_DIR");
	bool good = add_named(places, root, control, runtime);
	free(control);
	free(runtime);
	/* In a user namespace it has another user id than the one that is seen from here. */
	return good && add_known(places, root, root ? -1 : (int64_t)proc.uid);
}

struct adding {
	struct places *places;
	bool good;
};

static void add_of_one(void *data, pid_t pid)
{
	struct adding *adding = data;
	struct proc proc;

	if (adding->good && proc_read(&proc, pid) && proc_may_be_reached(proc.uid))
		adding->good = places_add_of(adding->places, pid);
}

bool places_add_of_all(struct places *places)
{
	struct adding adding = {.places = places, .good = true};

	proc_each(add_of_one, &adding);
	return adding.good;
}

void place_of_user(char *path, uid_t uid, bool system)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (!system && runtime && runtime[0] == '/' && snprintf(path, PATH_MAX, "%s/tp", runtime) < PATH_MAX)
		return;
	snprintf(path, PATH_MAX, SYSTEM "%u", (unsigned int)uid);
}

/* ---- The names in them ---- */

struct seen {
	dev_t dev;
	ino_t ino;
};

/* True for the first time. */
static bool is_new(struct seen *seen, size_t *nr, int fd)
{
	struct stat status;

	if (fstat(fd, &status) != 0)
		return false;
	for (size_t i = 0; i < *nr; i++) {
		if (seen[i].dev == status.st_dev && seen[i].ino == status.st_ino)
			return false;
	}
	seen[(*nr)++] = (struct seen){status.st_dev, status.st_ino};
	return true;
}

/* A process names its socket when it listens; one that was killed before, or lost its rights to the directory, never does. */
#define MOST_SECONDS_WITHOUT_NAME 60

static void remove_nameless(int directory, const char *hidden)
{
	struct stat status;

	if (name_is_process(hidden + 1, NULL, NULL) && fstatat(directory, hidden, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISSOCK(status.st_mode) && status.st_mtime + MOST_SECONDS_WITHOUT_NAME < time(NULL))
		unlinkat(directory, hidden, 0);
}

struct naming {
	void (*fn)(void *data, const struct place *place, const char *name);
	void *data;
};

static void name_in_no_directory(void *data, const char *name)
{
	static const char prefix[] = "@tp/.";
	const struct naming *naming = data;
	const struct place place = {.path = "@"};

	if (strncmp(name, prefix, strlen(prefix)) == 0 && name_is_process(name + strlen(prefix), NULL, NULL))
		naming->fn(naming->data, &place, name + strlen(prefix));
}

void places_each_name(const struct places *places, void (*fn)(void *data, const struct place *place, const char *name),
		      void *data)
{
	struct seen *seen = calloc(places->nr ? places->nr : 1, sizeof(*seen));
	size_t nr_seen = 0;

	for (size_t i = 0; i < places->nr && seen; i++) {
		int fd = place_open(&places->all[i], NULL, O_RDONLY | O_DIRECTORY);
		DIR *list = fd >= 0 && is_new(seen, &nr_seen, fd) ? fdopendir(fd) : NULL;
		const struct dirent *entry;
		while (list && (entry = readdir(list)) != NULL) {
			if (entry->d_name[0] == '.')
				remove_nameless(fd, entry->d_name);
			else if (name_is_process(entry->d_name, NULL, NULL))
				fn(data, &places->all[i], entry->d_name);
		}
		if (list)
			closedir(list);
		else if (fd >= 0)
			close(fd);
	}
	free(seen);
	listeners_each(0, name_in_no_directory, &(struct naming){fn, data});
}

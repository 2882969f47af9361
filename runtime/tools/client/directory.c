/* SPDX-License-Identifier: MIT */
#include "client/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "fail_msg.h"

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

bool directory_is_empty(int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	bool empty = true;

	while (list && empty && (entry = readdir(list)) != NULL)
		empty = is_dots(entry->d_name);
	if (list)
		closedir(list);
	else if (copy >= 0)
		close(copy);
	return list && empty;
}

bool fail_if_foreign(const char *path)
{
	uid_t owner;
	size_t len;

	if (!tp_file_is_foreign(path, &len, &owner))
		return false;
	fail_msg(
	    "'%.*s' belongs to user %u, and others can write to its directory: it is neither written to nor followed; "
	    "remove it, or take a directory that is only yours",
	    (int)len, path, (unsigned int)owner);
	return true;
}

/* Of what was opened by this path. */
static bool is_foreign(const char *path, int fd)
{
	char *copy = strdup(path);
	const int parent = copy ? open(dirname(copy), O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	uid_t owner;
	const bool foreign = parent < 0 || tp_file_is_foreign_in(parent, fd, &owner);

	if (parent >= 0)
		close(parent);
	free(copy);
	return foreign;
}

int directory_for_trace(const char *path, uid_t uid, gid_t gid, bool *made)
{
	if (fail_if_foreign(path))
		return -1;
	*made = mkdir(path, 0700) == 0;
	if (!*made && errno != EEXIST) {
		fail_msg("'%s' can't be made: %s", path, strerror(errno));
		return -1;
	}
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		fail_msg("'%s' can't be opened: %s", path,
			 errno == ENOTDIR || errno == ELOOP ? "it is no directory" : strerror(errno));
	} else if (!*made && is_foreign(path, fd)) {
		fail_msg("'%s' is another user's, who has just made it", path);
	} else if (!*made && !directory_is_empty(fd)) {
		fail_msg("'%s' is not empty: give -o a directory that is, or one that is not there", path);
	} else if (geteuid() == 0 && uid != (uid_t)-1 && uid != 0 && fchown(fd, uid, gid) != 0) {
		fail_msg("'%s' can't be given to user %u, who is to write the trace: %s", path, (unsigned int)uid,
			 strerror(errno));
	} else {
		return fd;
	}
	if (fd >= 0)
		close(fd);
	if (*made)
		rmdir(path);
	return -1;
}

char *directory_private(void)
{
	const char *places[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp"};
	char *path = malloc(PATH_MAX);

	for (size_t i = 0; path && i < sizeof(places) / sizeof(places[0]); i++) {
		/*
		 * The names are for the environment of a program, where some characters mean something; and for a
		 * socket's address.
		 */
		if (!places[i] || places[i][0] != '/' || strpbrk(places[i], "%;,\n") || strlen(places[i]) > 60)
			continue;
		snprintf(path, PATH_MAX, "%s/tp-XXXXXX", places[i]);
		if (mkdtemp(path))
			return path;
	}
	if (path)
		fail_msg("no directory can be made in /tmp: %s", strerror(errno));
	else
		fail_no_memory();
	free(path);
	return NULL;
}

void directory_remove(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	while (list && (entry = readdir(list)) != NULL) {
		if (!is_dots(entry->d_name))
			unlinkat(dirfd(list), entry->d_name, 0);
	}
	if (list)
		closedir(list);
	else if (fd >= 0)
		close(fd);
	rmdir(path);
}

char *absolute_path(const char *path)
{
	char here[PATH_MAX];
	char *absolute = NULL;

	if (path[0] == '/')
		absolute = strdup(path);
	else if (!getcwd(here, sizeof(here)))
		fail_msg("the path of this directory can't be found out: %s", strerror(errno));
	else if (asprintf(&absolute, "%s/%s", strcmp(here, "/") == 0 ? "" : here, path) < 0)
		absolute = NULL;
	if (!absolute && errno == ENOMEM)
		fail_no_memory();
	return absolute;
}

/* SPDX-License-Identifier: MIT */
/*
 * ctf_dir.c - the directory of a CTF trace, and the making of files in it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctf.h"

pthread_mutex_t tp_ctf_lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_in_the_way(DIR *dir, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_name[0] == '.' || entry->d_type == DT_DIR)
		return false;
	if (entry->d_type != DT_UNKNOWN)
		return true;
	return fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(st.st_mode);
}

/* Readers take every file of a trace for a stream, unless it begins with a dot. 0, ENOTEMPTY or another error. */
static int check_empty(int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	int error = 0;

	if (!dir) {
		error = errno;
		if (copy >= 0)
			close(copy);
		return error;
	}
	while (!error && (entry = readdir(dir))) {
		if (is_in_the_way(dir, entry))
			error = ENOTEMPTY;
	}
	closedir(dir);
	return error;
}

int tp_ctf_dir_open(struct ctf_sink *sink)
{
	struct stat st;

	/* Behind a slash a link would be followed. */
	for (size_t len = strlen(sink->path); len > 1 && sink->path[len - 1] == '/'; len--)
		sink->path[len - 1] = '\0';
	if (mkdir(sink->path, 0700) != 0 && errno != EEXIST)
		return errno;
	if (lstat(sink->path, &st) == 0 && S_ISLNK(st.st_mode))
		return ELOOP;
	sink->dir = open(sink->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (sink->dir < 0 || fstat(sink->dir, &st) != 0)
		return errno;
	sink->device = st.st_dev;
	sink->inode = st.st_ino;
	sink->real_path = realpath(sink->path, NULL);
	if (!sink->real_path)
		return errno;
	/* A link too, even one that leads nowhere. */
	if (faccessat(sink->dir, "metadata", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return EEXIST;
	return check_empty(sink->dir);
}

static bool is_directory(const struct ctf_sink *sink, int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_dev == sink->device && st.st_ino == sink->inode;
}

/*
 * Daemons close every descriptor that they don't know, ours too, and the
 * number may be another file's by now: then by its path again.
 */
int tp_ctf_dir(struct ctf_sink *sink, int *error)
{
	pthread_mutex_lock(&tp_ctf_lock);
	if (!is_directory(sink, sink->dir)) {
		int fd = open(sink->real_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		*error = errno;
		if (fd >= 0 && !is_directory(sink, fd)) {
			close(fd);
			fd = -1;
			*error = ENOENT;
		}
		sink->dir = fd;
	}
	int dir = sink->dir;
	pthread_mutex_unlock(&tp_ctf_lock);
	return dir;
}

void tp_ctf_dir_close(struct ctf_sink *sink)
{
	if (sink->dir >= 0 && is_directory(sink, sink->dir))
		close(sink->dir);
	free(sink->real_path);
}

const char *tp_ctf_remedy(int error)
{
	if (error == EACCES)
		return " (for a program that changes its user, the directory must be writable for the one that it becomes)";
	return error == EFBIG ? " (the limit on file sizes: a smaller packet= may be within it)" : "";
}

int tp_ctf_rename_new(int dir, const char *from, const char *to)
{
	if (renameat2(dir, from, dir, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	if (faccessat(dir, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return EEXIST;
	return renameat(dir, from, dir, to) == 0 ? 0 : errno;
}

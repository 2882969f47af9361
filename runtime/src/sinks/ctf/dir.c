/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/dir.c - the directory of a CTF trace, and the making of files in it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "sinks/ctf/dir.h"
#include "sinks/ctf/options.h"
#include "sinks/ctf/sink.h"

struct tp_mutex tp_ctf_lock = TP_MUTEX_INIT(TP_RANK_CTF, "tp_ctf_lock");
struct tp_mutex tp_ctf_chapter_lock = TP_MUTEX_INIT(TP_RANK_CHAPTER, "tp_ctf_chapter_lock");

/* Readers take every file of a trace for a stream, unless it begins with a dot: such files may be there, and directories. */
static int check(int dir, bool hidden_may_be)
{
	struct tp_directory entries;
	const char *name;
	int error = 0;

	/* A link too, even one that leads nowhere. */
	if (faccessat(dir, "metadata", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return EEXIST;
	tp_directory_open(&entries, dir);
	while (!error && (name = tp_directory_next(&entries))) {
		if (!hidden_may_be || (name[0] != '.' && !tp_directory_is(&entries, S_IFDIR)))
			error = ENOTEMPTY;
	}
	tp_directory_close(&entries);
	return error ? error : entries.error;
}

int tp_ctf_dir_check(int dir)
{
	return check(dir, true);
}

bool tp_ctf_is_at(int fd, int dir, const char *name)
{
	struct stat by_number, by_name;

	return fstat(fd, &by_number) == 0 && fstatat(dir, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
	       by_number.st_ino == by_name.st_ino && by_number.st_dev == by_name.st_dev;
}

/* Of a directory that was passed there is none. */
static int open_directory(const void *path)
{
	if (!path) {
		errno = EBADF;
		return -1;
	}
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

void tp_ctf_give(const struct tp_ctf_owner *owner, int fd)
{
	if (owner && owner->set && geteuid() == 0 && fchown(fd, owner->user, owner->group) != 0)
		return; /* a file system that knows no users, or a jail: who can't write to it says so */
}

/* Where all who have the trace's descriptor may write to it, as after a change of the user, they may here. */
static void inherit_openness(int dir, int fd)
{
	struct stat st;

	if (fstat(dir, &st) == 0 && (st.st_mode & S_ISVTX) && fchmod(fd, st.st_mode & 07777) != 0)
		return; /* not allowed in a sandbox, say: who can't write to it says so */
}

int tp_ctf_subdirectory(struct tp_ctf_sink *sink, int dir, const char *name, bool spare, int *error)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
	const bool made = mkdirat(dir, name, 0700) == 0;
	struct tp_ctf_file file = {.fd = -1};

	*error = made || errno == EEXIST ? 0 : errno;
	if (!*error && spare) {
		*error = tp_ctf_file_open(sink, &file, dir, name, flags);
		tp_ctf_file_keep(&file);
	} else if (!*error) {
		file.fd = openat(dir, name, flags);
		*error = file.fd < 0 ? errno : 0;
	}
	if (file.fd >= 0 && made) {
		tp_ctf_give(&sink->options.owner, file.fd);
		inherit_openness(dir, file.fd);
	}
	return file.fd;
}

void tp_ctf_dir_trim(char *path)
{
	for (size_t len = strlen(path); len > 1 && path[len - 1] == '/'; len--)
		path[len - 1] = '\0';
}

int tp_ctf_dir_open(struct tp_ctf_sink *sink)
{
	struct stat st;

	tp_ctf_dir_trim(sink->path);
	bool made = mkdir(sink->path, 0700) == 0;
	if (!made && errno != EEXIST)
		return errno;
	if (lstat(sink->path, &st) == 0 && S_ISLNK(st.st_mode))
		return ELOOP;
	int error = tp_guarded_fd_take(tp_ctf_current(sink), open_directory(sink->path));
	if (error)
		return error;
	if (made)
		tp_ctf_give(&sink->options.owner, tp_guarded_fd_descriptor(tp_ctf_current(sink)));
	sink->real_path = realpath(sink->path, NULL);
	if (!sink->real_path)
		return errno;
	int dir = tp_ctf_dir(sink, &error);
	return dir < 0 ? error : tp_ctf_dir_check(dir);
}

int tp_ctf_dir_take(struct tp_ctf_sink *sink, int fd)
{
	struct tp_guarded_fd *current = tp_ctf_current(sink);

	fcntl(fd, F_SETFD, FD_CLOEXEC);
	int error = tp_guarded_fd_take(current, fd);
	if (error)
		return error;
	return current->type == S_IFDIR ? check(tp_guarded_fd_descriptor(current), false) : ENOTDIR;
}

int tp_ctf_dir(struct tp_ctf_sink *sink, int *error)
{
	return tp_guarded_fd_get(tp_ctf_current(sink), open_directory, sink->real_path, false, error);
}

void tp_ctf_dir_close(struct tp_ctf_sink *sink)
{
	tp_guarded_fd_close(tp_ctf_current(sink));
	free(sink->real_path);
}

const char *tp_ctf_remedy(int error)
{
	if (error == EBUSY)
		return " (there is a trace in it already, of a process that lives, or with other files in it)";
	if (error == EACCES)
		return " (for a program that changes its user: owner=USER gives the trace to the one that it becomes)";
	if (error == EFAULT)
		return " (its file system has no block for it, or somebody has truncated it)";
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

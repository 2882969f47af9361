/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/dir/dir.c - the directory of a CTF trace, and the making of files in it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/message.h"
#include "sinks/ctf/dir/dir.h"
#include "sinks/ctf/dir/hold.h"
#include "sinks/ctf/options.h"
#include "sinks/ctf/ring/memory.h"
#include "sinks/ctf/sink.h"

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

int tp_ctf_dir_check(const struct tp_ctf_sink *sink, int parent, int dir)
{
	const int error = check(dir, true);

	return !error && tp_complain_of_foreign_in(parent, dir, sink->path) ? EACCES : error;
}

bool tp_ctf_is_at(int fd, int dir, const char *name)
{
	struct stat by_number, by_name;

	return fstat(fd, &by_number) == 0 && fstatat(dir, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
	       by_number.st_ino == by_name.st_ino && by_number.st_dev == by_name.st_dev;
}

char *tp_ctf_dir_parent(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *parent = slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup(".");
	const bool foreign = parent && tp_complain_of_foreign(parent);
	char *real = parent && !foreign ? realpath(parent, NULL) : NULL;
	const int error = foreign ? EACCES : errno;

	free(parent);
	errno = error;
	return real;
}

int tp_ctf_dir_open_at(const void *path)
{
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int tp_ctf_dir_open_parent(const char *path)
{
	char *parent = tp_ctf_dir_parent(path);
	const int fd = parent ? tp_ctf_dir_open_at(parent) : -1;
	const int error = errno;

	free(parent);
	errno = error;
	return fd;
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

/* That it is another's shows only now for sure. Its own descriptor comes first: whoever closes all gets its number back. */
static int check_in_parent(const struct tp_ctf_sink *sink, int dir)
{
	const int parent = tp_ctf_dir_open_parent(sink->path);
	const int error = parent < 0 ? errno : tp_ctf_dir_check(sink, parent, dir);

	if (parent >= 0)
		close(parent);
	return error;
}

int tp_ctf_dir_open(struct tp_ctf_sink *sink)
{
	struct stat st;

	tp_path_trim(sink->path);
	if (tp_complain_of_foreign(sink->path))
		return EACCES;
	bool made = mkdir(sink->path, 0700) == 0;
	if (!made && errno != EEXIST)
		return errno;
	if (lstat(sink->path, &st) == 0 && S_ISLNK(st.st_mode))
		return ELOOP;
	int error = tp_guarded_fd_take(&sink->dirs->fd, open_directory(sink->path));
	if (error)
		return error;
	if (made)
		tp_ctf_give(&sink->options.owner, tp_guarded_fd_descriptor(&sink->dirs->fd));
	sink->real_path = realpath(sink->path, NULL);
	if (!sink->real_path)
		return errno;
	int dir = tp_ctf_dir(sink, &error);
	return dir < 0 ? error : made ? check(dir, true) : check_in_parent(sink, dir);
}

int tp_ctf_dir_take(struct tp_ctf_sink *sink, int fd)
{
	struct tp_guarded_fd *current = &sink->dirs->fd;

	fcntl(fd, F_SETFD, FD_CLOEXEC);
	int error = tp_guarded_fd_take(current, fd);
	if (error)
		return error;
	return current->type == S_IFDIR ? check(tp_guarded_fd_descriptor(current), false) : ENOTDIR;
}

int tp_ctf_dir_fd(struct tp_ctf_sink *sink, struct tp_ctf_dir *dir, int *error)
{
	return tp_guarded_fd_get(&dir->fd, open_directory, sink->real_path, false, error);
}

int tp_ctf_dir(struct tp_ctf_sink *sink, int *error)
{
	return tp_ctf_dir_fd(sink, __atomic_load_n(&sink->dirs, __ATOMIC_SEQ_CST), error);
}

static void close_dir(struct tp_ctf_dir *dir)
{
	tp_guarded_fd_close(&dir->fd);
	tp_ctf_hold_end(dir->hold);
}

void tp_ctf_dir_close(struct tp_ctf_sink *sink)
{
	close_dir(sink->dirs);
	free(sink->real_path);
}

/* ---- One after the other ---- */

uint64_t tp_ctf_dir_new_key(struct tp_ctf_dir *dir)
{
	static uint64_t last;

	dir->key = ++last;
	return dir->key;
}

struct tp_ctf_dir *tp_ctf_dir_new(struct tp_ctf_sink *sink)
{
	tp_mutex_lock(&tp_ctf_lock);
	struct tp_ctf_dir *dir = sink->unused_dirs;
	if (dir)
		sink->unused_dirs = dir->next;
	else
		dir = tp_ctf_description_new(sink, sizeof(*dir));
	if (dir)
		*dir = (struct tp_ctf_dir){.fd = TP_GUARDED_FD_NONE};
	tp_mutex_unlock(&tp_ctf_lock);
	return dir;
}

static void give_back(struct tp_ctf_sink *sink, struct tp_ctf_dir *dir)
{
	dir->next = sink->unused_dirs;
	sink->unused_dirs = dir;
}

void tp_ctf_dir_give_back(struct tp_ctf_sink *sink, struct tp_ctf_dir *dir)
{
	tp_mutex_lock(&tp_ctf_lock);
	give_back(sink, dir);
	tp_mutex_unlock(&tp_ctf_lock);
}

void tp_ctf_dir_become(struct tp_ctf_sink *sink, struct tp_ctf_dir *dir)
{
	tp_ctf_dir_new_key(dir);
	dir->users = 1;
	dir->next = sink->dirs;
	__atomic_store_n(&sink->dirs, dir, __ATOMIC_SEQ_CST);
}

struct tp_ctf_dir *tp_ctf_dir_enter(struct tp_ctf_sink *sink)
{
	sink->dirs->users++;
	return sink->dirs;
}

/* Under tp_ctf_lock, so that no child of a fork closes it, too. */
static void drop(struct tp_ctf_sink *sink, struct tp_ctf_dir *dir)
{
	struct tp_ctf_dir **at = &sink->dirs;

	close_dir(dir);
	while (*at != dir)
		at = &(*at)->next;
	*at = dir->next;
	give_back(sink, dir);
}

void tp_ctf_dir_leave(struct tp_ctf_sink *sink, struct tp_ctf_dir *dir)
{
	if (--dir->users == 0)
		drop(sink, dir);
}

void tp_ctf_dirs_forget(struct tp_ctf_sink *sink)
{
	while (sink->dirs->next)
		drop(sink, sink->dirs->next);
	sink->dirs->users = 1;
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
	const int error = tp_file_rename_new(dir, from, dir, to);

	if (error != EINVAL && error != ENOSYS)
		return error;
	if (faccessat(dir, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return EEXIST;
	return renameat(dir, from, dir, to) == 0 ? 0 : errno;
}

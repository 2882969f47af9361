/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/dir/begin.c - a trace whose name has %p, the process's id, or that has chapters. Its directory is made
 * by the process that records, at its first record: a launcher that only forks
 * leaves nothing, and the daemon's directory has the daemon's id.
 *
 * Each chapter is a trace with a directory of its own: the one before it makes way, as that of a dead process does.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/guard.h"
#include "base/message.h"
#include "base/pid_name.h"
#include "base/text.h"
#include "sinks/ctf/describe/describe.h"
#include "sinks/ctf/describe/log.h"
#include "sinks/ctf/dir/begin.h"
#include "sinks/ctf/dir/dir.h"
#include "sinks/ctf/dir/hold.h"
#include "sinks/ctf/options.h"
#include "sinks/ctf/sink.h"

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- The opening ---- */

void tp_ctf_begin_name(struct tp_ctf_sink *sink, const char *name)
{
	char *path = tp_malloc(tp_pid_name_size(name));
	char *pattern = tp_malloc(tp_pid_name_size(name));

	if (!path || !pattern) {
		free(path);
		free(pattern);
		return;
	}
	strcpy(pattern, name);
	tp_path_trim(pattern);
	tp_pid_name(path, pattern, sink->pid);
	sink->path = path;
	const char *last = last_part(pattern);
	if (!strstr(last, "%p")) {
		free(pattern);
		return;
	}
	/* An id in front of that is this process's: it names a directory that is there. */
	size_t len = (size_t)(last_part(path) - path);
	memmove(pattern + len, last, strlen(last) + 1);
	memcpy(pattern, path, len);
	sink->pattern = pattern;
}

bool tp_ctf_begin_chapters(struct tp_ctf_sink *sink)
{
	char *name = sink->path;

	sink->path = NULL;
	tp_ctf_begin_name(sink, name);
	if (!sink->path) {
		sink->path = name;
		return false;
	}
	free(name);
	if (!sink->pattern)
		sink->pattern = strdup(sink->path);
	return sink->pattern != NULL;
}

/* Whether the owner may make a directory in this one. In doubt, not. */
static bool owner_may_make(const struct tp_ctf_owner *owner, int dir)
{
	struct stat st;

	if (fstat(dir, &st) != 0)
		return false;
	mode_t wanted = st.st_uid == owner->user ? 0300 : st.st_gid == owner->group ? 0030 : 0003;
	return (st.st_mode & wanted) == wanted;
}

/* For the trace of this name, and for those of the pattern. */
static void make_way(const struct tp_ctf_sink *sink, int parent, const char *pattern)
{
	char old_name[NAME_MAX + 1];

	if (tp_ctf_old_make_way(parent, last_part(sink->path), sink->pid, old_name) && old_name[0])
		tp_complain("CTF trace '%s': what process %d recorded there before, as the program that has called exec or as an "
			    "earlier process, is in '%s' now",
			    sink->path, sink->pid, old_name);
	if (sink->options.keep != UINT64_MAX)
		tp_ctf_old_remove(parent, pattern, sink->options.keep);
}

/* What can be wrong is told now, rather than by a daemon that nobody listens to. */
static int check(const struct tp_ctf_sink *sink, int parent)
{
	struct stat st;

	if (fstatat(parent, last_part(sink->path), &st, AT_SYMLINK_NOFOLLOW) == 0) {
		int dir = openat(parent, last_part(sink->path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		int error = dir < 0 ? S_ISLNK(st.st_mode) ? ELOOP : errno : tp_ctf_dir_check(sink, parent, dir);
		if (dir >= 0)
			close(dir);
		return error;
	}
	return faccessat(parent, ".", W_OK | X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

int tp_ctf_begin_later(struct tp_ctf_sink *sink)
{
	struct tp_guard guard;

	sink->parent_path = tp_ctf_dir_parent(sink->path);
	if (!sink->parent_path)
		return errno;
	int error = tp_guarded_fd_take(&sink->parent, tp_ctf_dir_open_at(sink->parent_path));
	if (error)
		return error;
	/* Behind the parent's, the name with any id. */
	sink->real_path = tp_malloc(strlen(sink->parent_path) + 1 + tp_pid_name_size(last_part(sink->pattern)));
	if (!sink->real_path)
		return ENOMEM;
	int dir = tp_guarded_fd_descriptor(&sink->parent);
	sink->later = true;
	sink->at_once = sink->options.owner.set && geteuid() == 0 && !owner_may_make(&sink->options.owner, dir);
	tp_guard_enter(&guard);
	tp_ctf_spare_take(sink);
	tp_guard_leave(&guard);
	make_way(sink, dir, last_part(sink->pattern));
	return check(sink, dir);
}

/* The directory is open. */
static int begin_in_dir(struct tp_ctf_sink *sink)
{
	struct tp_guard guard;

	tp_guard_enter(&guard);
	tp_ctf_spare_take(sink);
	int error = tp_ctf_hold(sink, tp_guarded_fd_descriptor(&sink->dirs->fd), &sink->dirs->hold);
	tp_guard_leave(&guard);
	return error;
}

int tp_ctf_begin_in(struct tp_ctf_sink *sink, int fd)
{
	int error = tp_ctf_dir_take(sink, fd);

	return error ? error : begin_in_dir(sink);
}

int tp_ctf_begin_now(struct tp_ctf_sink *sink)
{
	tp_path_trim(sink->path);
	const int parent = tp_ctf_dir_open_parent(sink->path);
	if (parent < 0)
		return errno;
	make_way(sink, parent, last_part(sink->path));
	close(parent);
	const int error = tp_ctf_dir_open(sink);
	return error ? error : begin_in_dir(sink);
}

/* ---- The directory: errors are errno values ---- */

/* One that is the process's own to write to. */
static int take_dir(struct tp_ctf_sink *sink, int parent, struct tp_guarded_fd *fd, bool *made)
{
	const char *name = last_part(sink->path);
	char old_name[NAME_MAX + 1];
	struct tp_ctf_file file;

	int error = mkdirat(parent, name, 0700) == 0 ? 0 : errno;
	if (error == EEXIST && tp_ctf_old_make_way(parent, name, sink->pid, old_name)) /* of a process that had this one's id */
		error = mkdirat(parent, name, 0700) == 0 ? 0 : errno;
	*made = !error;
	if (error && error != EEXIST)
		return error;
	error = tp_ctf_file_open(sink, &file, parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (error)
		return error;
	tp_ctf_file_keep(&file);
	if (*made)
		tp_ctf_give(&sink->options.owner, file.fd);
	else
		error = tp_ctf_dir_check(sink, parent, file.fd);
	if (!error)
		return tp_guarded_fd_take(fd, file.fd);
	close(file.fd);
	return error;
}

/* Makes the directory with its metadata; the sink's is as it was. */
static int make_dir(struct tp_ctf_sink *sink, int parent, const struct tp_ctf_description *description, struct tp_ctf_dir *dir)
{
	const time_t created = sink->created;
	bool made = false;

	dir->hold = NULL;
	int error = take_dir(sink, parent, &dir->fd, &made);
	if (!error) {
		int fd = tp_guarded_fd_descriptor(&dir->fd);
		error = tp_ctf_hold(sink, fd, &dir->hold);
		if (!error)
			error = tp_ctf_metadata_begin_file(sink, fd, description);
		if (error && made)
			unlinkat(fd, ".lock", 0);
		if (error)
			tp_guarded_fd_close(&dir->fd);
	}
	if (!error) {
		dir->begun = tp_ctf_clock();
		dir->written = 0;
		return 0;
	}
	tp_ctf_hold_end(dir->hold);
	sink->created = created;
	if (made)
		unlinkat(parent, last_part(sink->path), AT_REMOVEDIR);
	return error;
}

static int get_parent(struct tp_ctf_sink *sink, int *error)
{
	return tp_guarded_fd_get(&sink->parent, tp_ctf_dir_open_at, sink->parent_path, false, error);
}

/* ---- The first record ---- */

/* In the place of the parent's, if it has one. */
static int make_first(struct tp_ctf_sink *sink)
{
	struct tp_ctf_dir *dir = sink->dirs, was = *dir;
	int error;

	int parent = get_parent(sink, &error);
	if (parent < 0)
		return error;
	error = make_dir(sink, parent, &sink->events.so_far, dir);
	if (error) {
		*dir = was;
		return error;
	}
	tp_guarded_fd_close(&was.fd);
	tp_ctf_hold_end(was.hold);
	strcpy(sink->real_path, sink->parent_path);
	if (sink->real_path[1]) /* not the root */
		strcat(sink->real_path, "/");
	strcat(sink->real_path, last_part(sink->path));
	return 0;
}

/* A child that can't make its own has that of its parent, if all its events are described there. */
static bool goes_on_in_parents(struct tp_ctf_sink *sink)
{
	return sink->inherited && sink->inherited == sink->events.so_far.len;
}

/* Not even while that is between two chapters, and there is nothing of its name. */
static bool has_name_of_parents(const struct tp_ctf_sink *sink)
{
	return sink->inherited && !strstr(last_part(sink->pattern), "%p");
}

int tp_ctf_begin(struct tp_ctf_sink *sink, struct tp_ctf_dir *in, int *error)
{
	bool made = false, inherited = false;
	int failed = 0;

	if (!tp_ctf_is_later(sink))
		return tp_ctf_dir_fd(sink, in, error);
	tp_mutex_lock(&tp_ctf_lock);
	if (sink->later) {
		failed = has_name_of_parents(sink) && goes_on_in_parents(sink) ? EEXIST : make_first(sink);
		tp_ctf_spare_take(sink);
		made = !failed;
		inherited = failed && goes_on_in_parents(sink);
		if (inherited)
			sink->forked = true;
		sink->events.formats.anew = made;
		__atomic_store_n(&sink->later, !made && !inherited, __ATOMIC_RELEASE);
	}
	tp_mutex_unlock(&tp_ctf_lock);
	if (inherited)
		tp_complain("CTF trace '%s': %s%s; process %d goes on in '%s', the trace of its parent", sink->path,
			    tp_strerror(failed), tp_ctf_remedy(failed), sink->pid, sink->real_path);
	if (made)
		tp_ctf_describe_better(sink);
	if (!failed || inherited)
		return tp_ctf_dir_fd(sink, in, error);
	*error = failed == EEXIST ? EBUSY : failed; /* EEXIST would be a packet's name */
	return -1;
}

/* ---- The next chapter ---- */

/* The old one has made way. Whoever is writing a message to it goes on doing so, until it is closed. */
static void go_on_in(struct tp_ctf_sink *sink, struct tp_ctf_dir *dir, struct tp_ctf_packet **empty)
{
	struct tp_ctf_dir *was = sink->dirs;

	tp_mutex_lock(&tp_ctf_lock);
	tp_ctf_dir_become(sink, dir);
	*empty = sink->ring.empty;
	__atomic_store_n(&sink->ring.empty, NULL, __ATOMIC_RELAXED);
	tp_mutex_unlock(&tp_ctf_lock);
	tp_ctf_log_wait();
	tp_mutex_lock(&tp_ctf_lock);
	tp_ctf_dir_leave(sink, was);
	tp_mutex_unlock(&tp_ctf_lock);
	tp_ctf_spare_take(sink);
}

/* The trace in old makes way for it. */
static int make_next(struct tp_ctf_sink *sink, int parent, int old, struct tp_ctf_dir *dir)
{
	const char *name = last_part(sink->path);
	char old_name[NAME_MAX + 1];

	tp_ctf_describe_clock(sink);
	const struct tp_ctf_description description = tp_ctf_describe(sink);
	int error = tp_ctf_old_put_away(parent, name, old, old_name);
	if (error)
		return error;
	error = make_dir(sink, parent, &description, dir);
	if (error && old_name[0])
		tp_ctf_rename_new(parent, old_name, name);
	return error == EEXIST ? EBUSY : error;
}

int tp_ctf_begin_chapter(struct tp_ctf_sink *sink, struct tp_ctf_packet **empty)
{
	int error;

	int old = tp_ctf_dir(sink, &error);
	int parent = old < 0 ? -1 : get_parent(sink, &error);
	if (parent < 0)
		return error;
	struct tp_ctf_dir *dir = tp_ctf_dir_new(sink);
	if (!dir)
		return ENOMEM;
	error = make_next(sink, parent, old, dir);
	if (error) {
		tp_ctf_dir_give_back(sink, dir);
		return error;
	}
	go_on_in(sink, dir, empty);
	tp_ctf_describe_chapter(sink);
	return 0;
}

void tp_ctf_begin_tidy(struct tp_ctf_sink *sink)
{
	int error;
	int parent = sink->options.keep == UINT64_MAX ? -1 : get_parent(sink, &error);

	if (parent >= 0)
		tp_ctf_old_remove(parent, last_part(sink->pattern), sink->options.keep);
}

/* ---- Forks ---- */

void tp_ctf_begin_anew(struct tp_ctf_sink *sink)
{
	if (!sink->pattern)
		return;
	if (!sink->later)
		sink->inherited = sink->events.so_far.len;
	sink->later = true;
	sink->forked = false;
	tp_pid_name(sink->path, sink->pattern, sink->pid);
}

/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/spare.c - descriptors in reserve. A server's connections may use up all that it may have, and each new
 * packet needs one for a moment: the spare is closed for that, and then the new file's descriptor becomes
 * the spare by dup3(2), so that it is never free in between.
 *
 * The program's other threads may be faster, and take the one that was closed. Then the packet can't be made, as on
 * a full disk, and is tried for again; as soon as there is a descriptor, there is a spare again.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/fork.h"
#include "sinks/ctf/dir.h"
#include "sinks/ctf/sink.h"

/* Held while a file is open in the place of a spare: a thread that needs it, too, waits. */
static struct tp_mutex spare_lock = TP_MUTEX_INIT(TP_RANK_SPARE, "the lock of spare descriptors");

void tp_ctf_spare_start(void)
{
	static struct tp_fork_hook hook = {.rank = TP_RANK_SPARE, .lock = &spare_lock};

	tp_fork_register(&hook);
}

/* What a spare is a descriptor of: a directory that the program has no reason to open. */
static int model(struct tp_ctf_sink *sink)
{
	return tp_guarded_fd_descriptor(sink->pattern ? &sink->parent : tp_ctf_current(sink));
}

/* In a sandbox none: whether one that was closed is another file's by now is not looked at. */
static unsigned int nr_spares(const struct tp_ctf_sink *sink)
{
	if (tp_sandboxed)
		return 0;
	return sink->pattern ? TP_CTF_SPARES : TP_CTF_SPARES - 1;
}

/* The first that is not there, or NULL. */
static struct tp_guarded_fd *missing(struct tp_ctf_sink *sink)
{
	for (unsigned int i = 0; i < nr_spares(sink); i++) {
		if (tp_guarded_fd_descriptor(&sink->spare[i]) < 0)
			return &sink->spare[i];
	}
	return NULL;
}

static void take_all(struct tp_ctf_sink *sink)
{
	struct tp_guarded_fd *spare;

	while ((spare = missing(sink))) {
		if (tp_guarded_fd_take(spare, fcntl(model(sink), F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) != 0)
			return;
	}
}

void tp_ctf_spare_take(struct tp_ctf_sink *sink)
{
	tp_mutex_lock(&spare_lock);
	take_all(sink);
	tp_mutex_unlock(&spare_lock);
}

void tp_ctf_spare_close(const struct tp_ctf_sink *sink)
{
	for (unsigned int i = 0; i < nr_spares(sink); i++)
		tp_guarded_fd_close(&sink->spare[i]);
}

/* ---- A file that is opened for a moment ---- */

static bool is_used_up(int error)
{
	return error == EMFILE || error == ENFILE;
}

/* 0, or an errno value. Nothing that is called afterwards can change that. */
static int open_in(int dir, const char *name, int flags, struct tp_ctf_file *file)
{
	file->fd = openat(dir, name, flags, 0600);
	return file->fd < 0 ? errno : 0;
}

int tp_ctf_file_open(struct tp_ctf_sink *sink, struct tp_ctf_file *file, int dir, const char *name, int flags)
{
	int error = open_in(dir, name, flags, file);

	file->for_spare = false;
	if (!is_used_up(error))
		return error;
	tp_mutex_lock(&spare_lock);
	error = open_in(dir, name, flags, file); /* somebody may have given one back */
	for (unsigned int i = 0; is_used_up(error) && i < nr_spares(sink); i++) {
		int spare = tp_guarded_fd_descriptor(&sink->spare[i]);
		if (spare < 0)
			continue;
		close(spare);
		error = open_in(dir, name, flags, file);
		file->for_spare = !error;
	}
	if (error)
		take_all(sink);
	if (!file->for_spare)
		tp_mutex_unlock(&spare_lock);
	return error;
}

void tp_ctf_file_keep(struct tp_ctf_file *file)
{
	if (file->for_spare)
		tp_mutex_unlock(&spare_lock);
}

int tp_ctf_file_close(struct tp_ctf_sink *sink, struct tp_ctf_file *file)
{
	if (!file->for_spare && !missing(sink))
		return close(file->fd) == 0 ? 0 : errno;
	if (!file->for_spare)
		tp_mutex_lock(&spare_lock);
	struct tp_guarded_fd *spare = missing(sink);
	int fd = spare ? dup3(model(sink), file->fd, O_CLOEXEC) : -1;
	if (fd >= 0)
		tp_guarded_fd_take(spare, fd);
	else
		close(file->fd);
	tp_mutex_unlock(&spare_lock);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/dir/spare.c - descriptors in reserve. A server's connections may use up all that it may have, and each new
 * packet needs one for a moment: the spare is closed for that, and then the new file's descriptor becomes
 * the spare by dup3(2), so that it is never free in between.
 *
 * The program's other threads may be faster, and take the one that was closed. Then the packet can't be made, as on
 * a full disk, and is tried for again; as soon as there is a descriptor, there is a spare again.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/fork.h"
#include "sinks/ctf/dir/dir.h"
#include "sinks/ctf/sink.h"

/* What a spare is a descriptor of: a directory that the program has no reason to open. */
static int model(struct tp_ctf_sink *sink)
{
	return tp_guarded_fd_descriptor(sink->pattern ? &sink->parent : &sink->dirs->fd);
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
	tp_mutex_lock(&tp_ctf_spare_lock);
	take_all(sink);
	tp_mutex_unlock(&tp_ctf_spare_lock);
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

void tp_ctf_give(const struct tp_ctf_owner *owner, int fd)
{
	if (owner && owner->set && geteuid() == 0 && fchown(fd, owner->user, owner->group) != 0)
		return; /* a file system that knows no users, or a jail: who can't write to it says so */
}

/*
 * The C library changes the user thread by thread, by a signal that it lets nobody block: one between a file's making and its
 * giving away would leave it root's. Nobody waits for another thread meanwhile: it may have stopped that one already.
 */
static void hold_change_of_user(uint64_t *old)
{
	const uint64_t its_own = (uint64_t)7 << 31; /* signals 32 to 34: glibc's, musl's */

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &its_own, old, sizeof(its_own));
}

/* 0, or an errno value. Nothing that is called afterwards can change that. */
static int open_in(const struct tp_ctf_owner *owner, struct tp_ctf_file *file, int dir, const char *name, int flags)
{
	const bool is_given = flags & O_CREAT && owner->set && geteuid() == 0;
	uint64_t old;

	if (is_given)
		hold_change_of_user(&old);
	file->fd = openat(dir, name, flags, 0600);
	const int error = file->fd < 0 ? errno : 0;
	if (is_given && !error)
		tp_ctf_give(owner, file->fd);
	if (is_given)
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof(old));
	return error;
}

/*
 * Files that are open in no spare's place, or are being opened. One that was opened at the wrong moment has the descriptor that
 * another thread had closed for its own file.
 */
static unsigned int nr_beside;

static int open_beside(const struct tp_ctf_owner *owner, struct tp_ctf_file *file, int dir, const char *name, int flags)
{
	__atomic_fetch_add(&nr_beside, 1, __ATOMIC_SEQ_CST);
	const int error = open_in(owner, file, dir, name, flags);
	file->place = error ? TP_CTF_FILE_KEPT : TP_CTF_FILE_BESIDE;
	if (error)
		__atomic_fetch_sub(&nr_beside, 1, __ATOMIC_SEQ_CST);
	return error;
}

void tp_ctf_files_forget(void)
{
	__atomic_store_n(&nr_beside, 0, __ATOMIC_SEQ_CST);
}

/* In the place of a spare. Then the lock is held until the file is closed, or kept: a thread that needs a spare, too, waits. */
static int open_for_spare(struct tp_ctf_sink *sink, struct tp_ctf_file *file, int dir, const char *name, int flags)
{
	const struct tp_ctf_owner *owner = &sink->options.owner;

	tp_mutex_lock(&tp_ctf_spare_lock);
	int error = open_beside(owner, file, dir, name, flags); /* somebody may have given one back */
	for (unsigned int i = 0; is_used_up(error) && i < nr_spares(sink); i++) {
		int spare = tp_guarded_fd_descriptor(&sink->spare[i]);
		if (spare < 0)
			continue;
		close(spare);
		error = open_in(owner, file, dir, name, flags);
		if (!error)
			file->place = TP_CTF_FILE_FOR_SPARE;
	}
	if (error)
		take_all(sink);
	if (file->place != TP_CTF_FILE_FOR_SPARE)
		tp_mutex_unlock(&tp_ctf_spare_lock);
	return error;
}

/*
 * Another thread may have taken what was closed. One that has a file beside is waited for, but not for ever: the handler of a
 * SIGSEGV may have left it. The program's own, and those that look after old traces, give it back soon or not at all.
 */
#define NAP_US 100u
#define NAPS 50000u /* at least 5 s */
#define TRIES 50u

int tp_ctf_file_open(struct tp_ctf_sink *sink, struct tp_ctf_file *file, int dir, const char *name, int flags)
{
	unsigned int naps = NAPS, tries = nr_spares(sink) ? TRIES : 0;
	int error = open_beside(&sink->options.owner, file, dir, name, flags);

	while (is_used_up(error) && naps && tries) {
		error = open_for_spare(sink, file, dir, name, flags);
		if (!is_used_up(error))
			break;
		if (__atomic_load_n(&nr_beside, __ATOMIC_SEQ_CST)) {
			usleep(NAP_US);
			naps--;
		} else {
			sched_yield();
			tries--;
		}
	}
	return error;
}

int tp_ctf_file_create(struct tp_ctf_sink *sink, struct tp_ctf_file *file, int dir, const char *name, int flags)
{
	return tp_ctf_file_open(sink, file, dir, name, flags | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW);
}

void tp_ctf_file_keep(struct tp_ctf_file *file)
{
	if (file->place == TP_CTF_FILE_FOR_SPARE)
		tp_mutex_unlock(&tp_ctf_spare_lock);
	else if (file->place == TP_CTF_FILE_BESIDE)
		__atomic_fetch_sub(&nr_beside, 1, __ATOMIC_SEQ_CST);
}

/* The descriptor becomes the spare that is missing. */
static void close_to_spare(struct tp_ctf_sink *sink, int file)
{
	struct tp_guarded_fd *spare = missing(sink);
	const int fd = spare ? dup3(model(sink), file, O_CLOEXEC) : -1;

	if (fd >= 0)
		tp_guarded_fd_take(spare, fd);
	else
		close(file);
}

int tp_ctf_file_close(struct tp_ctf_sink *sink, struct tp_ctf_file *file)
{
	int error = 0;

	if (file->place == TP_CTF_FILE_FOR_SPARE) {
		close_to_spare(sink, file->fd);
	} else if (missing(sink)) {
		tp_mutex_lock(&tp_ctf_spare_lock);
		close_to_spare(sink, file->fd);
		tp_mutex_unlock(&tp_ctf_spare_lock);
	} else {
		error = close(file->fd) == 0 ? 0 : errno;
	}
	tp_ctf_file_keep(file);
	return error;
}

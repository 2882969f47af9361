/* SPDX-License-Identifier: MIT */
#include "client/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "client/directory.h"
#include "fail_msg.h"

static const int ends[] = {SIGBUS, SIGHUP, SIGINT, SIGTERM};

static const char *volatile unfinished; /* for the handler */

static void end_by_signal(int sig)
{
	const char *name = unfinished;

	if (name)
		unlink(name);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void handle_signals(void)
{
	signal(SIGXFSZ, SIG_IGN); /* then the write fails */
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (signal(ends[i], end_by_signal) == SIG_IGN)
			signal(ends[i], SIG_IGN);
	}
}

static void forget_hidden(struct new_file *new)
{
	unfinished = NULL;
	free(new->hidden);
	new->hidden = NULL;
}

/* The handler knows of the file as soon as it is there. */
static int make_hidden(struct new_file *new)
{
	sigset_t set, old;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaddset(&set, ends[i]);
	sigprocmask(SIG_BLOCK, &set, &old);
	const int fd = mkostemp(new->hidden, O_CLOEXEC);
	const int error = errno;
	if (fd >= 0)
		unfinished = new->hidden;
	handle_signals();
	sigprocmask(SIG_SETMASK, &old, NULL);
	errno = error;
	return fd;
}

static bool is_taken(const struct new_file *new)
{
	fail_msg("'%s' is there already: give another name, or remove it", new->path);
	return true;
}

/* True after a message: the name can't be the file's. */
static bool is_refused(const struct new_file *new)
{
	struct stat status;

	if (fail_if_foreign(new->path))
		return true;
	if (!new->replace)
		return lstat(new->path, &status) == 0 && is_taken(new);
	return stat(new->path, &status) == 0 && !S_ISREG(status.st_mode) &&
	       !fail_msg("'%s' is no plain file, so it can't be replaced by one", new->path);
}

bool new_file_open(struct new_file *new, const char *path, mode_t mode, bool replace)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;

	*new = (struct new_file){.path = path, .replace = replace};
	if (is_refused(new))
		return false;
	if (asprintf(&new->hidden, "%.*s.%s.XXXXXX", (int)(base - path), path, base) < 0) {
		new->hidden = NULL;
		return fail_no_memory();
	}
	int fd = make_hidden(new);
	if (fd < 0) {
		int error = errno;
		forget_hidden(new);
		return fail_msg("'%s' can't be made: %s", path, strerror(error));
	}
	const mode_t mask = umask(0);
	umask(mask);
	fchmod(fd, mode & ~mask);
	new->file = fdopen(fd, "w");
	if (new->file)
		return true;
	close(fd);
	return fail_no_memory();
}

bool new_file_failed(const struct new_file *new)
{
	return fail_msg("'%s' can't be written: %s", new->path, strerror(errno));
}

/* Where the file system has no such renaming, a second name does it. */
static bool rename_new(const struct new_file *new)
{
	const int error = tp_file_rename_new(AT_FDCWD, new->hidden, AT_FDCWD, new->path);

	if (error != EINVAL && error != ENOSYS)
		return error == 0;
	return link(new->hidden, new->path) == 0 && unlink(new->hidden) == 0;
}

bool new_file_finish(struct new_file *new)
{
	if (fflush(new->file) != 0 || ferror(new->file))
		return new_file_failed(new);
	int error = fclose(new->file);
	new->file = NULL;
	if (error)
		return new_file_failed(new);
	if (new->replace ? rename(new->hidden, new->path) != 0 : !rename_new(new)) {
		if (errno != EEXIST)
			return new_file_failed(new);
		return !is_taken(new);
	}
	forget_hidden(new);
	return true;
}

void new_file_close(struct new_file *new)
{
	if (new->file)
		fclose(new->file);
	if (new->hidden)
		unlink(new->hidden);
	forget_hidden(new);
}

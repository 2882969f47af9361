/* SPDX-License-Identifier: MIT */
/*
 * sinks/stats/file.c - the file that statistics are in. It is written under a hidden
 * name, and then takes the place of the one before: who reads it finds it whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/message.h"
#include "sinks/stats/stats.h"

/* The file's directory, without links in it; the caller frees it. */
static char *directory_of(const char *file, const char *name)
{
	char *directory = name == file ? strdup(".") : strndup(file, (size_t)(name - file));
	char *real = directory ? realpath(directory, NULL) : NULL;

	free(directory);
	return real;
}

/*
 * FILE is of the process that has opened the sink. Where that ends before its children, as a daemon's first process does,
 * FILE goes to the first of them that has something to write.
 */
static int heritage_begin(struct tp_stats_sink *sink)
{
	struct tp_stats_heritage *heritage =
		mmap(NULL, sizeof(*heritage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (heritage == MAP_FAILED)
		return errno;
	heritage->owner = getpid();
	sink->heritage = heritage;
	return 0;
}

static void set_path(struct tp_stats_sink *sink, char *path)
{
	free(sink->path);
	sink->path = path;
	sink->path_pid = getpid();
}

static bool begins(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/*
 * A device, or a link that leads nowhere that has a name, would be replaced by a file. And
 * /dev/stderr and the like may lead to one that is written to otherwise.
 */
static bool must_stay(const char *file, const char *path)
{
	struct stat st;

	if ((begins(file, "/dev/") && !begins(file, "/dev/shm/")) || begins(file, "/proc/"))
		return true;
	return path ? stat(path, &st) == 0 && !S_ISREG(st.st_mode) : lstat(file, &st) == 0;
}

int tp_stats_file_open(struct tp_stats_sink *sink, const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *name = slash ? slash + 1 : file;
	if (tp_complain_of_foreign(file))
		return EACCES;
	char *path = realpath(file, NULL); /* where it is a link, what that leads to is to be replaced */

	if (!*name || must_stay(file, path)) {
		tp_complain("statistics '%s': that is no file, and can't be replaced by one; there are no statistics",
			    file);
		free(path);
		return EINVAL;
	}
	if (!path) {
		char *directory = directory_of(file, name);
		if (!directory)
			return errno;
		if (asprintf(&path, "%s/%s", strcmp(directory, "/") == 0 ? "" : directory, name) < 0)
			path = NULL;
		free(directory);
	}
	sink->opened_path = path ? strdup(path) : NULL;
	if (!sink->opened_path) {
		free(path);
		return ENOMEM;
	}
	set_path(sink, path);
	return heritage_begin(sink);
}

void tp_stats_file_close(struct tp_stats_sink *sink)
{
	free(sink->opened_path);
	free(sink->path);
	if (sink->heritage)
		munmap(sink->heritage, sizeof(*sink->heritage));
}

static char *path_of_process(const struct tp_stats_sink *sink, pid_t pid)
{
	char *path;

	return asprintf(&path, "%s.%d", sink->opened_path, (int)pid) < 0 ? NULL : path;
}

/* A process that has ended takes signals until somebody has waited for it; but it is nobody's parent any more. */
static bool has_ended(const struct tp_stats_sink *sink, pid_t pid)
{
	return sink->parent == pid ? getppid() != pid : kill(pid, 0) != 0 && errno == ESRCH;
}

bool tp_stats_file_moves(const struct tp_stats_sink *sink)
{
	pid_t owner = __atomic_load_n(&sink->heritage->owner, __ATOMIC_ACQUIRE);

	return owner != getpid() && sink->path_pid == getpid() && has_ended(sink, owner);
}

/* True where FILE is this process's from now on. */
static bool inherit(struct tp_stats_sink *sink, pid_t *before)
{
	*before = __atomic_load_n(&sink->heritage->owner, __ATOMIC_ACQUIRE);
	return has_ended(sink, *before) && __atomic_compare_exchange_n(&sink->heritage->owner, before, getpid(), false,
								       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* What the one before has counted is moved to where a child's is; and this process's own file goes. */
static int take_file_on(struct tp_stats_sink *sink, pid_t before)
{
	char *old = path_of_process(sink, before);
	char *path = strdup(sink->opened_path);

	if (old && path && sink->heritage->counted && rename(path, old) == 0)
		sink->heritage->counted = false;
	free(old);
	if (sink->path_pid == getpid())
		unlink(sink->path);
	if (!path)
		return ENOMEM;
	set_path(sink, path);
	return 0;
}

/* Of a child, the file has another name, as long as FILE is another process's. */
static int check_path(struct tp_stats_sink *sink)
{
	pid_t before;

	if (sink->heritage->owner == getpid() && sink->path_pid == getpid())
		return 0;
	if (inherit(sink, &before))
		return take_file_on(sink, before);
	if (sink->path_pid == getpid())
		return 0;
	char *path = path_of_process(sink, getpid());
	if (!path)
		return ENOMEM;
	set_path(sink, path);
	return 0;
}

/*
 * Another name each time, which nobody can know before: so nobody has put a link or a FIFO there. Its memory is not malloc's,
 * which makes a system call now and then.
 */
static bool hide(char hidden[PATH_MAX], const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return snprintf(hidden, PATH_MAX, "%.*s.%s.%lx%08lx.tmp", (int)(name - path), path, name, (unsigned long)now.tv_sec,
			(unsigned long)now.tv_nsec) < PATH_MAX;
}

static int write_new(const char *path, const struct tp_buffer *text)
{
	if (!tp_file_size_allowed(text->len))
		return EFBIG;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return errno;
	int error = tp_file_write(fd, text->text, text->len);
	if (close(fd) != 0 && !error)
		error = errno;
	if (error)
		unlink(path);
	return error;
}

static int replace(const char *path, const struct tp_buffer *text)
{
	char hidden[PATH_MAX];
	int error = hide(hidden, path) ? write_new(hidden, text) : ENAMETOOLONG;

	if (!error && rename(hidden, path) != 0) {
		error = errno;
		unlink(hidden);
	}
	return error;
}

int tp_stats_file_replace(struct tp_stats_sink *sink, const struct tp_buffer *text, bool counted)
{
	int error = text->failed ? ENOMEM : check_path(sink);

	if (!error)
		error = replace(sink->path, text);
	if (!error) {
		if (counted && sink->heritage->owner == getpid())
			sink->heritage->counted = true;
		return 0;
	}
	if (!sink->complained)
		tp_complain("statistics '%s': can't be written: %s; it is tried again and again", sink->path,
			    tp_strerror(error));
	sink->complained = true;
	return error;
}

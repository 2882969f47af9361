/* SPDX-License-Identifier: MIT */
/*
 * env.c - TP_ENABLE and TP_OUTPUT: tracing without a line of code in the
 * program. Whatever is wrong with them is said once, and the program goes on.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <urcu/urcu-bp.h>

#include <tp/tp.h>

#include "internal.h"

static struct tp_sink *sink;
/* "%p" in the name becomes the process's id. The caller frees it. */
static char *expand(const char *name)
{
	struct tp_buffer b = {.text = NULL};
	const char *percent;

	for (; (percent = strstr(name, "%p")); name = percent + 2)
		tp_buffer_printf(&b, "%.*s%d", (int)(percent - name), name, (int)getpid());
	tp_buffer_printf(&b, "%s", name);
	if (b.failed)
		tp_buffer_free(&b);
	return b.text;
}

/* ---- What the text sink writes to ---- */

/*
 * Daemons close every descriptor that they don't know, ours too, and the
 * number may be another file's by now: nothing is written to that one.
 */
static struct {
	int fd;
	dev_t dev;
	ino_t ino;
	char *path; /* to open it again by; NULL where that is not possible */
} text = {.fd = -1};

/* Not one of the standard numbers, should they be free: the program would write its messages there. */
static int above_standard(int fd)
{
	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	int above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int error = errno;
	close(fd);
	errno = error;
	return above;
}

/*
 * Never made empty: programs that this one starts inherit TP_OUTPUT, and
 * write to the same file.
 */
static int open_append(const char *name, int flags)
{
	return above_standard(open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | flags, 0666));
}

static bool text_take(int fd, struct stat *st)
{
	if (fd < 0)
		return false;
	if (fstat(fd, st) != 0) {
		int error = errno;
		close(fd);
		errno = error;
		return false;
	}
	text.fd = fd;
	text.dev = st->st_dev;
	text.ino = st->st_ino;
	return true;
}

static bool text_is_ours(void)
{
	struct stat st;

	return fstat(text.fd, &st) == 0 && st.st_dev == text.dev && st.st_ino == text.ino;
}

static bool text_reopen(void)
{
	struct stat st;

	errno = EBADF;
	return text.path && text_take(open_append(text.path, O_NONBLOCK), &st);
}

/* As fopencookie() wants it: what is missing is an error, and errno says which. */
static ssize_t text_write(void *unused, const char *data, size_t size)
{
	size_t done = 0;

	(void)unused;
	if (!text_is_ours() && !text_reopen())
		return 0;
	while (done < size) {
		ssize_t n = write(text.fd, data + done, size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static int text_close(void *unused)
{
	(void)unused;
	if (text_is_ours())
		close(text.fd);
	free(text.path);
	return 0;
}

/*
 * A descriptor and a stream of our own on the program's stdout or stderr, too:
 * a signal handler may have interrupted the program in the middle of its use of its own.
 */
static bool text_open(const char *name)
{
	struct stat st;

	if (strcmp(name, "stderr") == 0)
		return text_take(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), &st);
	if (strcmp(name, "stdout") == 0)
		return text_take(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), &st);
	if (!text_take(open_append(name, 0), &st))
		return false;
	if (S_ISREG(st.st_mode))
		text.path = realpath(name, NULL); /* the program may change its directory */
	return true;
}

static struct tp_sink *open_text(const char *name)
{
	static const cookie_io_functions_t functions = {.write = text_write, .close = text_close};

	if (!text_open(name))
		return NULL;
	FILE *file = fopencookie(NULL, "w", functions);
	if (!file) {
		text_close(NULL);
		errno = ENOMEM;
		return NULL;
	}
	/* A line a write, however long, so that several processes' stay apart; and no buffer from malloc. */
	setvbuf(file, NULL, _IONBF, 0);
	struct tp_sink *opened = tp_text_sink(file);
	if (!opened) {
		int error = errno;
		fclose(file);
		errno = error;
	}
	return opened;
}

/* DIRECTORY[,OPTION...] */
static struct tp_sink *open_ctf(char *directory)
{
	char *options = strchr(directory, ',');

	if (options)
		*options++ = '\0';
	return tp_ctf_sink(directory, options);
}

static const char *advice(int error, bool ctf)
{
	if (ctf && error == EEXIST)
		return "; there is a trace in it already: take another directory, or put %p, the process id, in its name";
	if (ctf && error == ELOOP)
		return "; it is a symbolic link, which is not followed: name the directory itself";
	if (ctf && error == ENOTEMPTY)
		return "; put the trace in a directory of its own";
	return "";
}

static struct tp_sink *open_output(const char *output)
{
	const char *colon = strchrnul(output, ':');
	bool ctf = strncmp(output, "ctf", (size_t)(colon - output)) == 0 && colon - output == 3;
	bool text_kind = strncmp(output, "text", (size_t)(colon - output)) == 0 && colon - output == 4;

	if (!ctf && !text_kind) {
		tp_complain("TP_OUTPUT=%s: unknown kind '%.*s'; use text:stderr, text:stdout, text:FILE or ctf:DIRECTORY",
			    output, (int)(colon - output), output);
		return NULL;
	}
	if (!*colon || !colon[1] || (ctf && colon[1] == ',')) {
		tp_complain("TP_OUTPUT=%s: the name is missing; use text:stderr, text:stdout, text:FILE or ctf:DIRECTORY",
			    output);
		return NULL;
	}
	if (text_kind && (strncmp(colon + 1, "stderr,", 7) == 0 || strncmp(colon + 1, "stdout,", 7) == 0)) {
		tp_complain("TP_OUTPUT=%s: a text output has no options; ctf:DIRECTORY has; nothing is traced", output);
		return NULL;
	}
	char *name = expand(colon + 1);
	errno = ENOMEM;
	struct tp_sink *opened = !name ? NULL : ctf ? open_ctf(name) : open_text(name);
	if (!opened && !(ctf && errno == EINVAL)) /* about an option, it was said */
		tp_complain("TP_OUTPUT=%s: %s%s; nothing is traced", output, strerror(errno), advice(errno, ctf));
	free(name);
	return opened;
}

static const char *setting(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL; /* NAME= is how shells take a setting back */
}

static void start(void)
{
	const char *patterns = setting("TP_ENABLE");
	const char *output = setting("TP_OUTPUT");
	int error = 0;

	if (!patterns && !output)
		return;
	/* Looked at first, so that a mistake in it leaves no empty trace. */
	tp_pattern_free(tp_pattern_new(patterns ? patterns : "*", &error));
	if (error == -EINVAL)
		tp_complain("TP_ENABLE=%s: no list of patterns; write for example sched:*,!sched:sched_wakeup; nothing "
			    "is traced",
			    patterns);
	if (error)
		return;
	sink = open_output(output ? output : "text:stderr");
	if (!sink)
		return;
	error = tp_enable(sink, patterns ? patterns : "*");
	if (error < 0)
		tp_complain("TP_ENABLE=%s: %s; not everything is traced", patterns ? patterns : "*", strerror(-error));
}

void tp_env_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start);
}

/* ---- The end of the program ---- */

static void *wait_for_readers(void *unused)
{
	urcu_bp_synchronize_rcu();
	return unused;
}

static struct timespec in_200_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_nsec += 200 * 1000 * 1000;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

/*
 * A thread that sits in its probe must not keep the program from ending, but
 * liburcu knows no wait with an end: so another thread waits. It is gone
 * before liburcu's memory is; only where it waits for the lock of somebody
 * else's grace period it can't be cancelled, and then it touches nothing.
 */
static bool readers_are_gone_soon(void)
{
	struct timespec until;
	pthread_t thread;
	sigset_t all, old;

	if (urcu_bp_read_ongoing())
		return false;
	sigfillset(&all); /* the program's handlers are not for this thread */
	pthread_sigmask(SIG_BLOCK, &all, &old);
	int error = pthread_create(&thread, NULL, wait_for_readers, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (error)
		return false;
	until = in_200_ms();
	error = pthread_timedjoin_np(thread, NULL, &until);
	if (!error)
		return true;
	pthread_cancel(thread);
	until = in_200_ms();
	pthread_timedjoin_np(thread, NULL, &until);
	return false;
}

/*
 * Behind the destructors of the program and of its modules, so that their
 * last words are recorded. Nothing is left to do for a text sink: its lines
 * are written. A CTF sink gives back the room that its packets did not need;
 * where that would take too long they are left as they are, which is valid.
 */
static void __attribute__((destructor(101))) stop(void)
{
	if (!sink)
		return;
	if (!tp_sink_used(sink) && setting("TP_ENABLE"))
		tp_complain("TP_ENABLE=%s: no event of this program has such a name; nothing was traced",
			    setting("TP_ENABLE"));
	if (text.fd < 0 && readers_are_gone_soon())
		tp_sink_close(sink); /* which says what was lost */
	else
		tp_sink_tell_lost(sink, NULL);
	sink = NULL;
}

/* SPDX-License-Identifier: MIT */
/*
 * test_ftrace.c - the ftrace sink, on a directory that only looks like
 * tracefs: any file may be its trace_marker, and it keeps what is written to it. What
 * a kernel does with that is tested in ftrace/test_ftrace.py.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tp/tp.h>

#include "events/events.h"
#include "base/message.h"
#include "failing_malloc.h"
#include "sample.h"
#include "util.h"

#define OLD_LIMIT 1024
#define NEW_LIMIT 4000

static char dir[128], marker[192];

/* An empty trace_marker, of a kernel that takes longer lines or not. */
static void make_tracefs(bool newer)
{
	char path[192];

	snprintf(dir, sizeof(dir), "%s", temp_dir());
	snprintf(marker, sizeof(marker), "%s/trace_marker", dir);
	close(open(marker, O_CREAT | O_WRONLY, 0600));
	snprintf(path, sizeof(path), "%s/buffer_subbuf_size_kb", dir);
	if (newer)
		close(open(path, O_CREAT | O_WRONLY, 0600));
}

static struct tp_sink *open_sink(void)
{
	struct tp_sink *sink = tp_ftrace_sink(dir);

	ck_assert_ptr_nonnull(sink);
	ck_assert_int_ge(tp_enable(sink, "*"), 3);
	return sink;
}

/* What is written for one sample_text, behind "sample:sample_text: text=". */
static char *line_of(const char *string)
{
	static const char head[] = "sample:sample_text: text=";
	struct tp_sink *sink;

	ck_assert_int_eq(truncate(marker, 0), 0);
	sink = open_sink();
	trace_sample_text(string);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	char *text = read_file(marker);
	ck_assert_int_eq(strncmp(text, head, strlen(head)), 0);
	memmove(text, text + strlen(head), strlen(text) - strlen(head) + 1);
	return text;
}

#define ck_assert_line(string, expected)          \
	do {                                      \
		char *text_ = line_of(string);    \
		ck_assert_str_eq(text_, expected); \
		free(text_);                      \
	} while (0)

/* ---- Lines ---- */

TEST(a_line_stays_a_line)
{
	make_tracefs(true);
	ck_assert_line("plain", "plain");
	ck_assert_line("", "");
	ck_assert_line("two\nlines", "two\\nlines");
	ck_assert_line("ends\n", "ends");
	ck_assert_line("ends\n\n", "ends\\n");
	ck_assert_line("\x01\x1b[31m\t\x7f \xc3\xbc %s%n", "\\x01\\x1b[31m\\x09\\x7f \xc3\xbc %s%n");
}

/* Each ends where the kernel would cut it, and says so. */
LOOP_TEST(long_lines, 2)
{
	const size_t limit = _i ? NEW_LIMIT : OLD_LIMIT;
	const size_t room = limit - strlen("sample:sample_text: text=");
	char string[2 * NEW_LIMIT] = "";

	make_tracefs(_i);
	for (size_t len = room - 10; len < room + 10; len++) {
		memset(string, 'x', len);
		char *text = line_of(string);
		ck_assert_uint_eq(strspn(text, "x"), len < room - 2 ? len : room - 3);
		ck_assert_str_eq(text + strspn(text, "x"), len < room - 2 ? "" : "...");
		free(text);
	}
	memset(string, 'x', sizeof(string) - 1);
	char *text = line_of(string);
	ck_assert_uint_eq(strlen(text), room);
	free(text);
	memset(string, '\n', sizeof(string) - 1);
	text = line_of(string);
	ck_assert_uint_eq(strlen(text), room);
	ck_assert_str_eq(text + room - 3, "...");
	free(text);
}

/* ---- Opening ---- */

/* NULL with this errno, and one line that holds both. */
static void refused(const char *instance, int error, const char *what, const char *more)
{
	capture_stderr();
	errno = 0;
	struct tp_sink *sink = tp_ftrace_sink(instance);
	int seen = errno;
	char *messages = captured_stderr();

	ck_assert_ptr_null(sink);
	ck_assert_int_eq(seen, error);
	ck_assert_uint_eq(count_of(messages, "\n"), 1);
	ck_assert_contains(messages, "tp: ftrace output: ");
	ck_assert_contains(messages, what);
	ck_assert_contains(messages, more);
	free(messages);
}

TEST(what_can_not_be_opened)
{
	make_tracefs(true);
	refused("/nowhere/at/all", ENOENT, "/nowhere/at/all/trace_marker: No such file", "");
	refused("a/b", EINVAL, "'a/b' is no name of an instance", "begins with it");
	refused("..", EINVAL, "'..' is no name of an instance", "");
	refused(".", EINVAL, "'.' is no name of an instance", "");
	unlink(marker);
	refused(dir, ENOENT, marker, "No such file");
	mkfifo(marker, 0600);
	refused(dir, ENXIO, marker, "No such device"); /* for want of a reader, which is not waited for */
}

TEST(no_memory)
{
	struct tp_sink *sink = NULL;
	char expected[128];
	unsigned int n;

	snprintf(expected, sizeof(expected), "tp: ftrace output: %s\n", tp_strerror(ENOMEM));
	tp_events_start();
	make_tracefs(true);
	for (n = 0; !sink; n++) {
		capture_stderr();
		fail_malloc_after(n);
		sink = tp_ftrace_sink(dir);
		ck_assert(sink || errno == ENOMEM);
		char *messages = captured_stderr();
		ck_assert_str_eq(messages, sink ? "" : expected);
		free(messages);
		ck_assert_uint_lt(n, 20);
	}
	let_malloc_be();
	ck_assert_uint_gt(n, 2);
	ck_assert_int_eq(tp_sink_close(sink), 0);
}

/* ---- The descriptor ---- */

/* The one that the sink has for its file, or -1. */
static int descriptor(void)
{
	char link[64], path[256];

	for (int fd = 0; fd < 256; fd++) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		ssize_t len = readlink(link, path, sizeof(path) - 1);
		if (len > 0 && (path[len] = '\0', strcmp(path, marker) == 0))
			return fd;
	}
	return -1;
}

TEST(none_of_the_standard_numbers)
{
	make_tracefs(true);
	close(STDIN_FILENO);
	struct tp_sink *sink = open_sink();
	int fd = descriptor();
	ck_assert_int_gt(fd, STDERR_FILENO);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	ck_assert_int_eq(descriptor(), -1);
}

TEST(descriptor_is_anothers)
{
	char other[192];

	make_tracefs(true);
	snprintf(other, sizeof(other), "%s/other", dir);
	struct tp_sink *sink = open_sink();
	int fd = descriptor();
	int others = open(other, O_CREAT | O_WRONLY, 0600);
	dup2(others, fd);
	trace_sample_int(1);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), 0); /* still theirs */
	char *text = read_file(marker), *theirs = read_file(other);
	ck_assert_str_eq(text, "sample:sample_int: value=1");
	ck_assert_str_eq(theirs, "");
	free(text);
	free(theirs);
	close(fd);
	close(others);
}

TEST(gone_and_there_again)
{
	make_tracefs(true);
	struct tp_sink *sink = open_sink();
	close(descriptor());
	unlink(marker);
	capture_stderr();
	for (int i = 0; i < 5; i++)
		trace_sample_int(i);
	close(open(marker, O_CREAT | O_WRONLY, 0600)); /* another file */
	trace_sample_int(5);
	trace_sample_int(6);
	ck_assert_uint_eq(tp_sink_lost_by(sink, TP_LOST_NO_FILE), 5);
	ck_assert_int_eq(tp_sink_close(sink), -ENOENT);
	char *messages = captured_stderr(), *text = read_file(marker);
	ck_assert_contains(messages, "/trace_marker: No such file or directory; records are lost until it works again\n");
	ck_assert_contains(messages, "tp: ftrace output: records lost: 5 (no file: 5)\n");
	ck_assert_uint_eq(count_of(messages, "\n"), 2);
	ck_assert_str_eq(text, "sample:sample_int: value=5sample:sample_int: value=6");
	free(messages);
	free(text);
}

/* ---- What comes in between: the C library's functions, after these, once, where they are set ---- */

static void (*in_open)(void), (*in_write)(void);

static void come_in(void (**what)(void))
{
	void (*function)(void) = __atomic_exchange_n(what, NULL, __ATOMIC_RELAXED);

	if (function)
		function();
}

int open(const char *path, int flags, ...)
{
	unsigned int mode = 0;
	va_list ap;

	come_in(&in_open);
	va_start(ap, flags);
	if (flags & O_CREAT)
		mode = va_arg(ap, unsigned int);
	va_end(ap);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

ssize_t write(int fd, const void *data, size_t size)
{
	come_in(&in_write);
	return syscall(SYS_write, fd, data, size);
}

static void hit_in_between(void)
{
	trace_sample_int(1);
}

static void close_in_between(void)
{
	close(descriptor());
}

/* A signal handler is faster: its descriptor stays, and the other is closed. */
TEST(opened_by_two)
{
	make_tracefs(true);
	struct tp_sink *sink = open_sink();
	unsigned int before = count_files("/proc/self/fd", "");
	close(descriptor());
	in_open = hit_in_between;
	trace_sample_int(2);
	ck_assert_ptr_null((void *)(uintptr_t)in_open);
	ck_assert_uint_eq(count_files("/proc/self/fd", ""), before);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	ck_assert_int_eq(descriptor(), -1);
	char *text = read_file(marker);
	ck_assert_str_eq(text, "sample:sample_int: value=1sample:sample_int: value=2");
	free(text);
}

/* The write's EBADF is not the kernel's for tracing that is off. */
TEST(closed_behind_the_look)
{
	make_tracefs(true);
	struct tp_sink *sink = open_sink();
	in_write = close_in_between;
	trace_sample_int(1);
	ck_assert_ptr_null((void *)(uintptr_t)in_write);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	char *text = read_file(marker);
	ck_assert_str_eq(text, "sample:sample_int: value=1");
	free(text);
}

#define NR_THREADS 4
#define PER_THREAD 3000

static void *hits(void *unused)
{
	(void)unused;
	for (int i = 0; i < PER_THREAD; i++)
		trace_sample_int(i);
	return NULL;
}

/* Several find it closed at once: no line is missing, and no descriptor is left over. */
TEST(closed_under_threads)
{
	pthread_t threads[NR_THREADS];
	int closed = 0;

	make_tracefs(true);
	struct tp_sink *sink = open_sink();
	unsigned int before = count_files("/proc/self/fd", "");
	capture_stderr();
	for (int i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, hits, NULL);
	for (; closed < 20; closed++) {
		int fd = descriptor();
		if (fd >= 0)
			close(fd);
		usleep(500);
	}
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	trace_sample_int(0);
	unsigned long lost = tp_sink_lost(sink); /* closed between the look at it and the write, again and again */
	char *messages = captured_stderr(), *text = read_file(marker);
	ck_assert_uint_eq(count_of(text, "value=") + lost, NR_THREADS * PER_THREAD + 1);
	ck_assert_uint_eq(count_files("/proc/self/fd", ""), before);
	free(messages);
	free(text);
	capture_stderr();
	tp_sink_close(sink);
	free(captured_stderr());
}

/* ---- Refused records ---- */

TEST(full_disk)
{
	make_tracefs(true);
	unlink(marker);
	ck_assert_int_eq(symlink("/dev/full", marker), 0);
	struct tp_sink *sink = open_sink();
	capture_stderr();
	errno = ENOTDIR;
	for (int i = 0; i < 10; i++)
		trace_sample_int(i);
	ck_assert_int_eq(errno, ENOTDIR);
	ck_assert_uint_eq(tp_sink_lost(sink), 10);
	ck_assert_int_eq(tp_sink_close(sink), -ENOSPC);
	char *messages = captured_stderr();
	ck_assert_uint_eq(count_of(messages, "\n"), 2);
	ck_assert_contains(messages, "/trace_marker: No space left on device; records are lost");
	ck_assert_contains(messages, "tp: ftrace output: records lost: 10 (no file: 10)\n");
	free(messages);
}

/* The program is not held up by it. */
TEST(nobody_reads)
{
	char buffer[4096];
	unsigned long lost;

	make_tracefs(true);
	unlink(marker);
	mkfifo(marker, 0600);
	int reader = open(marker, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct tp_sink *sink = open_sink();
	capture_stderr();
	for (int i = 0; tp_sink_lost(sink) < 3; i++)
		trace_sample_int(i);
	lost = tp_sink_lost(sink);
	while (read(reader, buffer, sizeof(buffer)) > 0)
		;
	trace_sample_int(-1);
	ck_assert_int_gt(read(reader, buffer, sizeof(buffer)), 0);
	ck_assert_uint_eq(tp_sink_lost(sink), lost);
	ck_assert_int_eq(tp_sink_close(sink), -EAGAIN);
	char *messages = captured_stderr();
	ck_assert_uint_eq(count_of(messages, "\n"), 2);
	free(messages);
	close(reader);
}

TEST(no_scratch_memory)
{
	make_tracefs(true);
	struct tp_sink *sink = open_sink();
	trace_sample_int(1);
	void *most = tp_scratch_push(((size_t)256 << 10) - 64); /* the record, but no line */
	ck_assert_ptr_nonnull(most);
	trace_sample_int(2);
	void *rest = tp_scratch_push(64);
	ck_assert_ptr_nonnull(rest);
	trace_sample_int(3);
	tp_scratch_pop(rest);
	tp_scratch_pop(most);
	trace_sample_int(4);
	ck_assert_uint_eq(tp_sink_lost_by(sink, TP_LOST_NESTED), 2);
	capture_stderr();
	ck_assert_int_eq(tp_sink_close(sink), 0);
	free(captured_stderr());
	char *text = read_file(marker);
	ck_assert_str_eq(text, "sample:sample_int: value=1sample:sample_int: value=4");
	free(text);
}

/* ---- Signals, forks, cancellation ---- */

static volatile sig_atomic_t handled;

static void on_alarm(int signal)
{
	(void)signal;
	trace_sample_text("from the handler");
	handled++;
}

TEST(signals_in_the_sink)
{
	struct itimerval often = {.it_interval = {.tv_usec = 100}, .it_value = {.tv_usec = 100}}, never = {.it_value = {0}};
	unsigned int n = 0;

	make_tracefs(true);
	struct tp_sink *sink = open_sink();
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	for (; handled < 500; n++)
		trace_sample_int((int)n);
	setitimer(ITIMER_REAL, &never, NULL);
	ck_assert_uint_eq(tp_sink_lost(sink), 0);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	char *text = read_file(marker);
	ck_assert_uint_eq(count_of(text, "sample:sample_int: value="), n);
	ck_assert_uint_eq(count_of(text, "sample:sample_text: text=from the handler"), (unsigned int)handled);
	free(text);
}

TEST(forked_child_goes_on)
{
	int status;

	make_tracefs(true);
	struct tp_sink *sink = open_sink();
	trace_sample_text("before");
	pid_t child = fork();
	if (child == 0) {
		trace_sample_text("child");
		_exit(tp_sink_close(sink) == 0 ? 0 : 1);
	}
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	trace_sample_text("parent");
	ck_assert_int_eq(tp_sink_close(sink), 0);
	char *text = read_file(marker);
	ck_assert_str_eq(text, "sample:sample_text: text=before"
			       "sample:sample_text: text=child"
			       "sample:sample_text: text=parent");
	free(text);
}

static bool cancelled;

static void *recording(void *unused)
{
	(void)unused;
	while (!__atomic_load_n(&cancelled, __ATOMIC_ACQUIRE))
		;
	for (int i = 0; i < 100; i++)
		trace_sample_int(i);
	pthread_testcancel();
	return NULL;
}

/* A write is a cancellation point, and so is an open, but not the sink's. */
TEST(cancelled_threads_end_behind_their_records)
{
	pthread_t thread;
	void *result;

	make_tracefs(true);
	struct tp_sink *sink = open_sink();
	close(descriptor());
	pthread_create(&thread, NULL, recording, NULL);
	pthread_cancel(thread);
	__atomic_store_n(&cancelled, true, __ATOMIC_RELEASE);
	pthread_join(thread, &result);
	ck_assert_ptr_eq(result, PTHREAD_CANCELED);
	ck_assert_int_eq(tp_sink_close(sink), 0); /* waits for no reader */
	char *text = read_file(marker);
	ck_assert_uint_eq(count_of(text, "sample:sample_int: value="), 100);
	free(text);
}

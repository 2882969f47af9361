/* SPDX-License-Identifier: MIT */
/*
 * base/message.c - see message.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "base/message.h"
#include "base/text.h"

/* Two file names fit. More would be too much for a small signal stack. */
#define LINE_MAX_BYTES 1024

static const char prefix[] = "tp: ";
#define PREFIX_LEN (sizeof(prefix) - 1)

static struct tp_guarded_fd standard_error = TP_GUARDED_FD_NONE; /* as it was at the start */
static enum { TO_STDERR, TO_SYSLOG, TO_FILE } where;
static char *log_file; /* an absolute path: the program may change its directory */
static void (*listener)(const char *line, size_t len);
static bool (*in_hit)(void);
static TP_THREAD_LOCAL struct tp_buffer *captured; /* NULL: nothing is */

/* The path of a file that need not exist yet. NULL: no memory, or no such directory. */
static char *absolute(const char *path)
{
	char *directory, *full = NULL;

	if (*path == '/')
		return strdup(path);
	directory = getcwd(NULL, 0);
	if (directory && asprintf(&full, "%s/%s", directory, path) < 0)
		full = NULL;
	free(directory);
	return full;
}

void tp_message_look_again(void)
{
	tp_guarded_fd_borrow(&standard_error, STDERR_FILENO); /* where it is closed, nothing is ever written there */
}

char tp_program_name[256];

static void start(void)
{
	const char *setting = secure_getenv("TP_LOG");

	snprintf(tp_program_name, sizeof(tp_program_name), "%s", program_invocation_short_name);
	tp_message_look_again();
	if (!setting || !*setting || strcmp(setting, "stderr") == 0)
		return;
	if (strcmp(setting, "syslog") == 0) {
		where = TO_SYSLOG;
		return;
	}
	log_file = absolute(setting);
	where = log_file ? TO_FILE : TO_STDERR;
}

void tp_message_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start);
}

void tp_message_listen(void (*function)(const char *line, size_t len))
{
	__atomic_store_n(&listener, function, __ATOMIC_RELEASE);
}

void tp_message_never_wait_in(bool (*function)(void))
{
	in_hit = function;
}

void tp_message_capture(struct tp_buffer *to)
{
	captured = to;
}

/* ---- Where to: each returns false where it could not ---- */

static bool write_to(int fd, const char *line, size_t len)
{
	struct tp_write_signals signals;

	tp_write_signals_hold(&signals);
	bool failed = write(fd, line, len) != (ssize_t)len;
	tp_write_signals_release(&signals, failed);
	return !failed;
}

/* syslog(3) is not for signal handlers, and takes locks that a fork does not. A line has no newline here. */
static bool to_syslog(const char *line, size_t len)
{
	static const struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/dev/log"};
	char packet[LINE_MAX_BYTES + 128];
	const int user_warning = 1 << 3 | 4;

	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	int head = snprintf(packet, sizeof(packet), "<%d>%.64s[%d]: ", user_warning, tp_program_name,
			    (int)getpid());
	memcpy(packet + head, line, len);
	bool done = sendto(fd, packet, (size_t)head + len, MSG_NOSIGNAL, (const struct sockaddr *)&address,
			   sizeof(address)) >= 0;
	close(fd);
	return done;
}

/* Opened each time: a daemon would close it. */
static bool to_file(const char *line, size_t len)
{
	int fd = tp_above_standard(tp_file_open(log_file, O_APPEND | O_NONBLOCK, 0600));

	if (fd < 0)
		return false;
	bool done = write_to(fd, line, len);
	close(fd);
	return done;
}

/* A pipe that never waits may be full: the reader has a second, but not in a hit. In a sandbox, poll may be forbidden. */
static bool write_patiently(int fd, const char *line, size_t len)
{
	struct pollfd room = {.fd = fd, .events = POLLOUT};

	if (write_to(fd, line, len))
		return true;
	return errno == EAGAIN && !tp_sandboxed && !(in_hit && in_hit()) && poll(&room, 1, 1000) == 1 && write_to(fd, line, len);
}

/* The program's data may be written to descriptor 2 by now. */
static void put(const char *line, size_t len)
{
	if (where == TO_FILE && to_file(line, len))
		return;
	if (where != TO_SYSLOG) {
		int fd = tp_guarded_fd_descriptor(&standard_error);
		if (fd >= 0) {
			write_patiently(fd, line, len); /* where that fails there is nowhere else */
			return;
		}
	}
	to_syslog(line, len - 1);
}

/* A name may hold a newline, or what moves a terminal's cursor; the line must not. */
static void make_plain(char *text)
{
	while (*text) {
		const size_t len = tp_printable_char(text, SIZE_MAX);
		if (!len)
			*text = *text == '\n' ? ' ' : '?';
		text += len ? len : 1;
	}
}

/* open and write are cancellation points, but the caller may hold a lock. stdio would be neither atomic nor signal-safe. */
static void tell(const char *line, size_t len)
{
	int cancel_state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	tp_message_start();
	put(line, len);
	void (*also)(const char *, size_t) = __atomic_load_n(&listener, __ATOMIC_ACQUIRE);
	if (also)
		also(line, len);
	pthread_setcancelstate(cancel_state, NULL);
}

void tp_complain(const char *fmt, ...)
{
	char line[LINE_MAX_BYTES];
	int error = errno;
	va_list ap;

	memcpy(line, prefix, PREFIX_LEN);
	va_start(ap, fmt);
	int len = vsnprintf(line + PREFIX_LEN, sizeof(line) - PREFIX_LEN - 1, fmt, ap);
	va_end(ap);

	size_t end = PREFIX_LEN + (len > 0 ? (size_t)len : 0);
	if (end > sizeof(line) - 2)
		end = sizeof(line) - 2;
	line[end] = '\0';
	make_plain(line + PREFIX_LEN);
	line[end++] = '\n';
	if (captured)
		tp_buffer_printf(captured, "%.*s", (int)(end - PREFIX_LEN), line + PREFIX_LEN);
	else
		tell(line, end);
	errno = error;
}

static void complain_of_foreign(const char *path, size_t len, uid_t owner)
{
	tp_complain("'%.*s' belongs to user %u, and others can write to its directory: it is neither written to nor followed; "
		    "remove it, or take a directory that is only yours",
		    (int)len, path, (unsigned int)owner);
}

bool tp_complain_of_foreign(const char *path)
{
	uid_t owner;
	size_t len;

	if (!tp_file_is_foreign(path, &len, &owner))
		return false;
	complain_of_foreign(path, len, owner);
	return true;
}

bool tp_complain_of_foreign_in(int directory, int fd, const char *path)
{
	uid_t owner;

	if (!tp_file_is_foreign_in(directory, fd, &owner))
		return false;
	complain_of_foreign(path, strlen(path), owner);
	return true;
}

/* glibc's strerror() asks for a translation, under a lock that another thread of a forked child's parent may have held. */
const char *tp_strerror(int error)
{
#if TP_GLIBC(2, 32)
	const char *text = strerrordesc_np(error);

	return text ? text : "unknown error";
#else
	return strerror(error);
#endif
}

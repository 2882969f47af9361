/* SPDX-License-Identifier: MIT */
#include "client/connect.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/clean.h"
#include "client/names.h"
#include "client/proc.h"
#include "client/sandbox.h"

#define PATIENCE_MS 1000
#define LONG_PATIENCE_MS 5000

/*
 * A process whose descriptors were just closed listens again after a moment. Where it is not known to live,
 * as that of a name in a container, it gets less time: names of dead processes hold everybody up.
 */
#define AGAIN_MS 10
#define DOUBT_MS 100

static void end(struct connection *connection, enum connection_state state)
{
	if (connection->fd >= 0)
		close(connection->fd);
	connection->fd = -1;
	connection->state = state;
}

__attribute__((format(printf, 2, 3))) static void refuse(struct connection *connection, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(connection->text, sizeof(connection->text), format, args);
	va_end(args);
	clean(connection->text);
	end(connection, CONNECTION_REFUSED);
}

void connection_close(struct connection *connection)
{
	if (connection->fd >= 0)
		close(connection->fd);
	free(connection->message);
	connection->message = NULL;
	connection->fd = -1;
}

const char *connection_title(const struct connection *connection)
{
	static char title[sizeof(connection->greeting.program) + 32];

	snprintf(title, sizeof(title), "'%s' (%d)", connection->greeting.program,
		 (int)(connection->pid ? connection->pid : connection->greeting.pid));
	return title;
}

static int64_t now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* ---- The socket ---- */

static int connect_to_no_directory(int fd, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int len = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "tp/.%s", name);
	const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);

	return connect(fd, (struct sockaddr *)&address, size) == 0 ? 0 : errno;
}

/* By a descriptor of the name: it can't become another thing, or a symbolic link, between the look and the connection. */
static int connect_to(int fd, const struct place *place, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat status;
	int error = 0;

	int socket_fd = place_open(place, name, O_PATH);
	if (socket_fd < 0)
		return errno;
	if (fstat(socket_fd, &status) != 0 || !S_ISSOCK(status.st_mode))
		error = ENOTSOCK;
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", socket_fd);
	if (!error && connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		error = errno;
	close(socket_fd);
	return error;
}

/*
 * The listener must be of this user. Root may look into everybody's processes; what they say is no more trusted for
 * that.
 */
static void check_peer(struct connection *connection)
{
	struct ucred peer = {.pid = 0};
	socklen_t len = sizeof(peer);

	if (getsockopt(connection->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0) {
		refuse(connection, "it can't be known who listens there: %s", strerror(errno));
		return;
	}
	connection->pid = peer.pid;
	connection->uid = peer.uid;
	if (!proc_may_be_reached(peer.uid) && !place_is_directory(&connection->place)) /* everybody sees these */
		end(connection, CONNECTION_DEAD);
	else if (!proc_may_be_reached(peer.uid))
		refuse(connection, "user %u listens there, and you are user %u", (unsigned int)peer.uid,
		       (unsigned int)geteuid());
}

/* The process of the name, if it lives, and not one that has the id of a dead one. 0: it is not known. */
static pid_t process_of(const struct connection *connection)
{
	struct proc proc;
	uint64_t start;
	pid_t pid;

	if (!name_is_process(connection->name, &pid, &start) ||
	    !proc_read(&proc, connection->place.root ? connection->place.root : pid) || proc.inner_pid != pid ||
	    proc.start > start || proc.state == 'Z')
		return 0;
	return proc.pid;
}

/* Nobody listens, now. */
static void refused(struct connection *connection)
{
	end(connection, CONNECTION_WAITING);
	if (!connection->refused_ms)
		connection->refused_ms = now_ms() + (process_of(connection) ? PATIENCE_MS : DOUBT_MS);
	else if (now_ms() > connection->refused_ms)
		connection->state = CONNECTION_DEAD;
}

static void try_to_connect(struct connection *connection)
{
	connection->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (connection->fd < 0) {
		refuse(connection, "no socket can be made: %s", strerror(errno));
		return;
	}
	const int error = place_is_directory(&connection->place)
				  ? connect_to(connection->fd, &connection->place, connection->name)
				  : connect_to_no_directory(connection->fd, connection->name);
	if (!error)
		check_peer(connection);
	else if (error == ECONNREFUSED)
		refused(connection);
	else if (error == EAGAIN || error == EINTR) /* it is tried again; EAGAIN: many want it */
		end(connection, CONNECTION_WAITING);
	else if (error == ENOENT)
		end(connection, CONNECTION_DEAD);
	else
		refuse(connection, "it can't be connected to: %s", strerror(error));
}

void connection_begin(struct connection *connection, const struct place *place, const char *name)
{
	*connection = (struct connection){.state = CONNECTION_WAITING, .fd = -1, .place = *place};
	snprintf(connection->name, sizeof(connection->name), "%s", name);
	const pid_t pid = process_of(connection);
	if (pid && sandbox_may_end(pid)) {
		connection->pid = pid;
		refuse(connection, "its filter of system calls (seccomp) might end it if it answered: start it with TP_CONTROL=1 if "
				   "the filter allows that, as docs/internals/system-calls.md says, or with TP_CONTROL=0");
		return;
	}
	try_to_connect(connection);
}

/* ---- The greeting ---- */

static const char *value_of(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	return at ? at + strlen(key) : "0";
}

/* The line is in message. */
static void read_greeting(struct connection *connection)
{
	char *line = connection->message;
	struct greeting *greeting = &connection->greeting;

	line[strcspn(line, "\n")] = '\0';
	if (strncmp(line, "error ", strlen("error ")) == 0) {
		const char *text = strchr(line + strlen("error "), ' ');
		refuse(connection, "it says: %s", text ? text + 1 : line);
		return;
	}
	if (strncmp(line, "tp 1 ", strlen("tp 1 ")) != 0) {
		refuse(connection, strncmp(line, "tp ", 3) == 0 ? "it speaks a newer protocol: use a tp of its version"
								  : "what listens there speaks another protocol than tp's");
		return;
	}
	char *program = strstr(line, " program=");
	if (program)
		*program = '\0';
	snprintf(greeting->program, sizeof(greeting->program), "%s", program ? program + strlen(" program=") : "?");
	clean(greeting->program);
	greeting->pid = (pid_t)strtol(value_of(line, " pid="), NULL, 10);
	greeting->uid = (uid_t)strtoul(value_of(line, " uid="), NULL, 10);
	greeting->nr_events = strtoul(value_of(line, " events="), NULL, 10);
	greeting->nr_outputs = strtoul(value_of(line, " outputs="), NULL, 10);
	char *point;
	greeting->since.tv_sec = strtol(value_of(line, " since="), &point, 10);
	greeting->since.tv_nsec = *point == '.' ? strtol(point + 1, NULL, 10) : 0;
	connection->len = 0;
	connection->state = CONNECTION_OPEN;
}

static void receive_greeting(struct connection *connection)
{
	if (!connection->message)
		connection->message = malloc(MESSAGE_MAX + 1);
	if (!connection->message) {
		refuse(connection, "there is not enough memory");
		return;
	}
	ssize_t n = recv(connection->fd, connection->message, MESSAGE_MAX, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		end(connection, CONNECTION_WAITING);
		return;
	}
	connection->message[n] = '\0';
	read_greeting(connection);
}

void connection_continue(struct connection *connection)
{
	if (connection->state != CONNECTION_WAITING)
		return;
	if (connection->fd < 0)
		try_to_connect(connection);
	if (connection->state == CONNECTION_WAITING && connection->fd >= 0)
		receive_greeting(connection);
}

/* ---- Many at once ---- */

/* Waits for one of those that have a socket; milliseconds at most. False: none is waiting. */
static bool wait_for_any(const struct connection *connections, size_t nr, struct pollfd *polled, int ms)
{
	nfds_t waiting = 0;
	bool any = false, again = false;

	for (size_t i = 0; i < nr; i++) {
		if (connections[i].state != CONNECTION_WAITING)
			continue;
		any = true;
		again = again || connections[i].fd < 0;
		if (connections[i].fd >= 0)
			polled[waiting++] = (struct pollfd){.fd = connections[i].fd, .events = POLLIN};
	}
	if (any)
		poll(polled, waiting, again && ms > AGAIN_MS ? AGAIN_MS : ms);
	return any;
}

/* Its thread gets no processor, writes a snapshot, or the program looks at its descriptors seldom. */
static bool may_answer(const struct connection *connection)
{
	return connection->state == CONNECTION_WAITING && connection->fd >= 0 && !proc_is_stopped(connection->pid);
}

static bool is_awaited(pid_t pid, struct awaited awaited)
{
	return pid && (pid == awaited.pid || (awaited.program && proc_is_called(pid, awaited.program)));
}

static bool awaited_may_answer(const struct connection *connections, size_t nr, struct awaited awaited)
{
	for (size_t i = 0; i < nr; i++) {
		if (may_answer(&connections[i]) && is_awaited(connections[i].pid, awaited))
			return true;
	}
	return false;
}

void connections_finish(struct connection *connections, size_t nr, struct awaited awaited)
{
	struct pollfd *polled = calloc(nr ? nr : 1, sizeof(*polled));
	int64_t until = now_ms() + PATIENCE_MS;

	for (;;) {
		for (size_t i = 0; i < nr; i++)
			connection_continue(&connections[i]);
		const int64_t now = now_ms();
		if (now >= until && awaited_may_answer(connections, nr, awaited)) {
			awaited = (struct awaited){.pid = 0}; /* but once */
			until += LONG_PATIENCE_MS - PATIENCE_MS;
		}
		if (!polled || now >= until || !wait_for_any(connections, nr, polled, (int)(until - now)))
			break;
	}
	free(polled);
	for (size_t i = 0; i < nr; i++) {
		if (connections[i].state == CONNECTION_WAITING)
			end(&connections[i], connections[i].refused_ms ? CONNECTION_DEAD : CONNECTION_SILENT);
	}
}

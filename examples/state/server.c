// SPDX-License-Identifier: MIT
/*
 * server.c - a server whose trace has the initial state, however late it begins.
 *
 *	server SOCKET
 *
 * answers each line that a client sends with the number of its lines so far, until its standard input ends. When somebody
 * switches conn_state on, each open connection is recorded once.
 */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <tp/tp.h>

#define CREATE_TRACE_POINTS
#include "conn.h"

/* ---- Somebody begins to listen ---- */

static int wake = -1; /* an eventfd, for the loop below */

/*
 * The runtime calls it where events are switched: in any thread, with locks held, and before main() if the environment
 * says so. The event is not on yet. So nothing is recorded here: the loop, which knows the connections, is asked to.
 */
int conn_state_wanted(void)
{
	int fd = __atomic_load_n(&wake, __ATOMIC_ACQUIRE);

	if (fd >= 0) /* else there is no connection yet */
		eventfd_write(fd, 1);
	return 0;
}

/* ---- Connections ---- */

#define MAX_CONNECTIONS 64

enum { WAKE, INPUT, LISTENER, FIRST };

static struct pollfd polled[FIRST + MAX_CONNECTIONS];
static struct connection connections[MAX_CONNECTIONS]; /* that of polled[FIRST + i] is connections[i] */
static nfds_t nr = FIRST;

static void record_state(void)
{
	eventfd_t unused;

	eventfd_read(wake, &unused);
	tp_enable_wait(); /* from here on the event is on */
	for (nfds_t i = FIRST; i < nr; i++)
		trace_conn_state(&connections[i - FIRST]);
}

static void open_connection(void)
{
	static int last_id;
	int fd = accept(polled[LISTENER].fd, NULL, NULL);

	if (fd < 0)
		return;
	if (nr == FIRST + MAX_CONNECTIONS) {
		close(fd);
		return;
	}
	connections[nr - FIRST] = (struct connection){.id = ++last_id};
	polled[nr] = (struct pollfd){.fd = fd, .events = POLLIN};
	trace_conn_open(&connections[nr - FIRST]);
	nr++;
}

static void close_connection(nfds_t i)
{
	trace_conn_close(&connections[i - FIRST]);
	close(polled[i].fd);
	nr--;
	polled[i] = polled[nr];
	connections[i - FIRST] = connections[nr - FIRST];
}

/* False where the client has gone. */
static bool serve(nfds_t i)
{
	struct connection *c = &connections[i - FIRST];
	char text[256], answer[32];
	ssize_t len = read(polled[i].fd, text, sizeof(text));

	for (ssize_t at = 0; at < len; at++) {
		if (text[at] != '\n')
			continue;
		c->requests++;
		trace_conn_request(c);
		int size = snprintf(answer, sizeof(answer), "%lu\n", c->requests);
		if (send(polled[i].fd, answer, (size_t)size, MSG_NOSIGNAL) != size)
			return false;
	}
	return len > 0;
}

static int listen_at(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(fd, 16) == 0)
		return fd;
	perror(path);
	return -1;
}

int main(int argc, char **argv)
{
	int listener = argc == 2 ? listen_at(argv[1]) : -1;

	if (listener < 0) {
		fputs("usage: server SOCKET, a name that is free\n", stderr);
		return 1;
	}
	__atomic_store_n(&wake, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), __ATOMIC_RELEASE);
	polled[WAKE] = (struct pollfd){.fd = wake, .events = POLLIN};
	polled[INPUT] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
	polled[LISTENER] = (struct pollfd){.fd = listener, .events = POLLIN};
	while (poll(polled, nr, -1) >= 0 || errno == EINTR) {
		if (polled[WAKE].revents)
			record_state();
		for (nfds_t i = nr; i-- > FIRST;) {
			if (polled[i].revents && !serve(i))
				close_connection(i);
		}
		if (polled[LISTENER].revents)
			open_connection();
		if (polled[INPUT].revents)
			break;
	}
	unlink(argv[1]);
	return 0;
}

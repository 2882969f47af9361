/* SPDX-License-Identifier: MIT */
/*
 * control/server.c - see server.h. The program may close any of the
 * descriptors, and use their numbers for files of its own: each is looked at before it is used.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "control/outputs.h"
#include "control/rendezvous.h"
#include "control/serve.h"
#include "control/server.h"

#define MAX_CONNECTIONS 16
#define MAX_REQUEST 65536
#define RETRY 1000 /* milliseconds, while there is no descriptor for the socket */
#define MAX_MESSAGE 32768u /* of a reply; it is cut anywhere */

static struct tp_rendezvous rendezvous = TP_RENDEZVOUS_NONE;
static bool is_open;
static bool listens; /* the last turn has found the socket, or has made it again */

struct connection {
	uint64_t session; /* no other connection ever has it; 0: this place is free */
	struct tp_guarded_fd file;
	uint64_t heard;   /* from it, by CLOCK_MONOTONIC, in nanoseconds */
	struct tp_buffer reply; /* that the client has not read whole; it is asked nothing before that. text: NULL: there is none */
	size_t sent;            /* bytes of it */
	bool inherited;   /* the parent's: just its end is waited for */
};

/* Changed by the thread that serves only, but with each field set before session, as a fork may come at any moment. */
static struct connection connections[MAX_CONNECTIONS];
static uint64_t last_session;

static struct tp_guarded_fd epoll = TP_GUARDED_FD_NONE; /* of a program that serves by itself */

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ---- Replies ---- */

static short events_of(const struct connection *connection)
{
	return connection->inherited ? 0 : connection->reply.text ? POLLOUT : POLLIN;
}

static void watch_connection(const struct connection *connection, int operation)
{
	struct epoll_event event = {.events = connection->reply.text ? EPOLLOUT : EPOLLIN};
	const int to = tp_guarded_fd_descriptor(&epoll), fd = tp_guarded_fd_descriptor(&connection->file);

	if (to >= 0 && fd >= 0)
		epoll_ctl(to, operation, fd, &event);
}

/* As much as the client has room for: nobody waits until one reads. False: the client is gone. */
static bool send_reply(struct connection *connection, int fd)
{
	const struct tp_buffer *reply = &connection->reply;

	while (connection->sent < reply->len) {
		const size_t left = reply->len - connection->sent;
		const ssize_t sent = send(fd, reply->text + connection->sent, left < MAX_MESSAGE ? left : MAX_MESSAGE,
					  MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return errno == EAGAIN;
		connection->sent += (size_t)sent;
	}
	tp_buffer_free(&connection->reply);
	return true;
}

static bool reply_to(struct connection *connection, int fd, const struct tp_buffer *reply)
{
	static const char failure[] = "error ENOMEM the process has no memory\n";

	connection->reply = *reply;
	connection->sent = 0;
	if (!reply->failed)
		return send_reply(connection, fd);
	tp_buffer_free(&connection->reply);
	return send(fd, failure, strlen(failure), MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
}

static void refuse(int fd, const char *text)
{
	send(fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL);
	close(fd);
}

/* ---- Connections ---- */

static void watch(int fd)
{
	struct epoll_event event = {.events = EPOLLIN};
	const int to = tp_guarded_fd_descriptor(&epoll);

	if (to >= 0)
		epoll_ctl(to, EPOLL_CTL_ADD, fd, &event);
}

static void disconnect(struct connection *connection)
{
	const uint64_t session = connection->session;
	const int fd = tp_guarded_fd_descriptor(&connection->file);

	/* Children have the descriptor, too. */
	if (fd >= 0 && tp_guarded_fd_descriptor(&epoll) >= 0)
		epoll_ctl(tp_guarded_fd_descriptor(&epoll), EPOLL_CTL_DEL, fd, NULL);
	if (fd >= 0 && !connection->inherited)
		shutdown(fd, SHUT_RDWR);
	tp_guarded_fd_close(&connection->file);
	tp_buffer_free(&connection->reply);
	__atomic_store_n(&connection->session, 0, __ATOMIC_RELEASE);
	tp_serve_end(session);
}

/* A free place; else that of whoever has been silent longest, and has opened nothing. */
static struct connection *find_place(void)
{
	struct connection *idle = NULL;

	for (size_t i = 0; i < MAX_CONNECTIONS; i++) {
		struct connection *connection = &connections[i];
		if (!connection->session)
			return connection;
		if (!connection->inherited && (!idle || connection->heard < idle->heard) &&
		    !tp_outputs_has_session(connection->session))
			idle = connection;
	}
	if (idle)
		disconnect(idle);
	return idle;
}

static void admit(int fd)
{
	struct tp_buffer greeting = {.text = NULL};

	if (!tp_peer_may(fd)) {
		refuse(fd, "error EACCES only the process's own user and root may look into it\n");
		return;
	}
	struct connection *place = find_place();
	if (!place) {
		refuse(fd, "error EMFILE the process has as many connections as it can serve; end another tp first\n");
		return;
	}
	*place = (struct connection){.heard = now()};
	if (tp_guarded_fd_take(&place->file, fd) != 0)
		return;
	__atomic_store_n(&place->session, ++last_session, __ATOMIC_RELEASE);
	tp_serve_greeting(&greeting);
	if (reply_to(place, fd, &greeting))
		watch_connection(place, EPOLL_CTL_ADD);
	else
		disconnect(place);
}

/* While the process has no descriptor left, the client waits, and the thread looks for one now and then. */
static void accept_all(void)
{
	int listener, fd;

	while ((listener = tp_guarded_fd_descriptor(&rendezvous.listener)) >= 0 &&
	       (fd = tp_above_standard(accept4(listener, NULL, NULL, SOCK_CLOEXEC))) >= 0)
		admit(fd);
	if (listener >= 0 && (errno == EMFILE || errno == ENFILE) && tp_guarded_fd_descriptor(&epoll) < 0)
		poll(NULL, 0, 100); /* the thread is the runtime's */
}

/* ---- Requests ---- */

/* At most one descriptor may come with a request. False: the connection is over, or there is no request now. */
static bool receive(int fd, char *line, struct tp_request *request, const char **mistake)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(4 * sizeof(int))];
	} control;
	struct iovec part = {.iov_base = line, .iov_len = MAX_REQUEST + 1};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	int fds[4];
	size_t nr = 0;

	const ssize_t len = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (len < 0)
		return false;
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
		nr = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(header), nr * sizeof(int));
	}
	if (nr)
		request->fd = tp_above_standard(fds[0]);
	for (size_t i = 1; i < nr; i++)
		close(fds[i]);
	if (!len) { /* the end, or an empty message */
		errno = 0;
		return false;
	}
	line[len] = '\0';
	if (message.msg_flags & MSG_TRUNC || len > MAX_REQUEST)
		*mistake = "a request has at most 65536 bytes";
	else if (message.msg_flags & MSG_CTRUNC || nr > 1)
		*mistake = "a request comes with one descriptor at most, for which the process must have room";
	else if (memchr(line, '\0', (size_t)len))
		*mistake = "a request is a line of text";
	else if (line[strcspn(line, "\n")] && line[strcspn(line, "\n") + 1])
		*mistake = "a request is one line, and a message one request";
	return true;
}

/* The request that has come to fd, if one has: line has room for it. False: the connection is to be closed. */
static bool serve_line(struct connection *connection, int fd, char *line)
{
	struct tp_request request = {.session = connection->session, .fd = -1};
	const char *mistake = NULL;

	errno = 0;
	if (!receive(fd, line, &request, &mistake)) {
		const int error = errno;
		if (request.fd >= 0)
			close(request.fd);
		return error == EAGAIN || error == EINTR;
	}
	connection->heard = now();
	line[strcspn(line, "\n")] = '\0';
	if (mistake)
		tp_request_fail(&request, EMSGSIZE, "%s", mistake);
	else if (request.fd >= 0 && tp_rendezvous_is_clients_end(request.fd))
		tp_request_fail(&request, ELOOP, "the descriptor is an end of a connection to this process, which would never end");
	else
		tp_serve(&request, line);
	if (request.fd >= 0)
		close(request.fd);
	return reply_to(connection, fd, &request.reply);
}

static bool serve_request(struct connection *connection, int fd)
{
	char *line = tp_malloc(MAX_REQUEST + 2);
	const bool goes_on = line && serve_line(connection, fd, line);

	free(line);
	return goes_on;
}

static bool serve(struct connection *connection)
{
	const int fd = tp_guarded_fd_descriptor(&connection->file);
	const bool waited = connection->reply.text != NULL;

	if (fd < 0 || connection->inherited)
		return false;
	const bool goes_on = waited ? send_reply(connection, fd) : serve_request(connection, fd);
	if (waited != (connection->reply.text != NULL))
		watch_connection(connection, EPOLL_CTL_MOD);
	return goes_on;
}

/* ---- A turn ---- */

/* places[0] is the socket's; the number of them. Connections whose descriptor the program has closed are over. */
static nfds_t list(struct pollfd places[], struct connection *of[])
{
	nfds_t nr = 0;

	places[nr++] = (struct pollfd){.fd = tp_guarded_fd_descriptor(&rendezvous.listener), .events = POLLIN};
	for (size_t i = 0; i < MAX_CONNECTIONS; i++) {
		struct connection *connection = &connections[i];
		const int fd = connection->session ? tp_guarded_fd_descriptor(&connection->file) : -1;
		if (fd >= 0) {
			of[nr] = connection;
			places[nr++] = (struct pollfd){.fd = fd, .events = events_of(connection)};
		} else if (connection->session) {
			disconnect(connection);
		}
	}
	return nr;
}

/* Who came in meanwhile has found the old socket, which is gone by now, and comes again. */
static int listen_again(void)
{
	const int error = tp_rendezvous_again(&rendezvous);

	if (!error)
		watch(tp_guarded_fd_descriptor(&rendezvous.listener));
	return error;
}

unsigned int tp_server_places(struct pollfd *places)
{
	unsigned int nr = 0;

	places[nr++] = (struct pollfd){.fd = tp_guarded_fd_descriptor(&rendezvous.listener), .events = POLLIN};
	if (listens && places[0].fd < 0)
		return UINT_MAX;
	for (size_t i = 0; i < MAX_CONNECTIONS; i++) {
		const struct connection *connection = &connections[i];
		const int fd = connection->session ? tp_guarded_fd_descriptor(&connection->file) : -1;
		if (connection->session && fd < 0)
			return UINT_MAX;
		if (fd >= 0)
			places[nr++] = (struct pollfd){.fd = fd, .events = events_of(connection)};
	}
	return nr;
}

bool tp_server_end_inherited(void)
{
	struct pollfd places[1 + MAX_CONNECTIONS];
	struct connection *of[1 + MAX_CONNECTIONS];
	const nfds_t nr = list(places, of);

	const int ended = nr > 1 ? poll(places + 1, nr - 1, 0) : 0;
	for (nfds_t i = 1; ended > 0 && i < nr; i++) {
		if (places[i].revents)
			disconnect(of[i]);
	}
	return nr > 1;
}

static void drop_socket(void)
{
	tp_guarded_fd_close(&rendezvous.listener);
	rendezvous.listener = (struct tp_guarded_fd)TP_GUARDED_FD_NONE;
}

int tp_server_turn(void)
{
	struct pollfd places[1 + MAX_CONNECTIONS];
	struct connection *of[1 + MAX_CONNECTIONS];

	const int error = tp_guarded_fd_descriptor(&rendezvous.listener) < 0 ? listen_again() : 0;
	const nfds_t nr = list(places, of);
	listens = places[0].fd >= 0;
	poll(places, nr, 0);
	for (nfds_t i = 1; i < nr; i++) {
		if (places[i].revents && !serve(of[i]))
			disconnect(of[i]);
	}
	if (places[0].revents & (POLLHUP | POLLERR | POLLNVAL)) { /* shut down by a child; or closed, which a sandbox hides */
		drop_socket();
		return 0;
	}
	if (places[0].revents)
		accept_all();
	return error == EMFILE || error == ENFILE ? RETRY : -1;
}

/* ---- From the opening to the end ---- */

int tp_server_open(const struct tp_control_setting *setting, bool make, void (*found)(void))
{
	if (is_open)
		return tp_guarded_fd_descriptor(&rendezvous.listener) < 0 ? listen_again() : 0;
	int error = tp_rendezvous_find(&rendezvous, setting, make);
	if (!error)
		found();
	if (!error)
		error = tp_rendezvous_listen(&rendezvous);
	is_open = !error;
	return error;
}

int tp_server_open_in_child(const struct tp_control_setting *setting)
{
	const int error = tp_rendezvous_listen_in_child(&rendezvous, setting);

	is_open = !error;
	return error;
}

bool tp_server_is_open(void)
{
	return is_open;
}

void tp_server_close(void)
{
	if (!is_open)
		return;
	tp_rendezvous_close(&rendezvous, true);
	tp_server_end_sessions();
	tp_guarded_fd_close(&epoll);
	epoll = (struct tp_guarded_fd)TP_GUARDED_FD_NONE;
	is_open = false;
}

void tp_server_leave(void)
{
	if (!is_open)
		return;
	tp_rendezvous_close(&rendezvous, true);
	for (size_t i = 0; i < MAX_CONNECTIONS; i++) {
		const int fd = connections[i].session && !connections[i].inherited ? tp_guarded_fd_descriptor(&connections[i].file) : -1;
		if (fd >= 0)
			shutdown(fd, SHUT_RD);
	}
}

int tp_server_descriptor(void)
{
	const int known = tp_guarded_fd_descriptor(&epoll);

	if (known >= 0)
		return known;
	int error = tp_guarded_fd_take(&epoll, tp_above_standard(epoll_create1(EPOLL_CLOEXEC)));
	if (error)
		return -error;
	tp_guarded_fd_mark(&epoll);
	watch(tp_guarded_fd_descriptor(&rendezvous.listener));
	for (size_t i = 0; i < MAX_CONNECTIONS; i++) {
		if (connections[i].session)
			watch_connection(&connections[i], EPOLL_CTL_ADD);
	}
	return tp_guarded_fd_descriptor(&epoll);
}

/* ---- Forks ---- */

void tp_server_in_child(bool live)
{
	if (!is_open)
		return;
	tp_rendezvous_close(&rendezvous, false);
	tp_guarded_fd_close(&epoll);
	epoll = (struct tp_guarded_fd)TP_GUARDED_FD_NONE;
	is_open = listens = false;
	for (size_t i = 0; i < MAX_CONNECTIONS; i++) {
		struct connection *connection = &connections[i];
		connection->inherited = true;
		connection->reply = (struct tp_buffer){.text = NULL}; /* which the parent's thread may just have been changing */
		if (connection->session && !live)
			tp_guarded_fd_close(&connection->file);
	}
}

void tp_server_end_sessions(void)
{
	for (size_t i = 0; i < MAX_CONNECTIONS; i++) {
		if (connections[i].session)
			disconnect(&connections[i]);
	}
}

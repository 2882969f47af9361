/* SPDX-License-Identifier: MIT */
#include "client/pump.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/clean.h"
#include "fail_msg.h"

/* Some milliseconds for a slow terminal at the end. */
#define FINISH_MS 1000
/* Lines in one go: then others have their turn. */
#define TURN 512
/* What a process may be ahead; as much as the system allows. */
#define AHEAD (4 << 20)

bool pump_open(struct pump *pump)
{
	pump->listener = -1;
	return out_open(&pump->out);
}

void pump_stop(struct pump *pump)
{
	for (size_t i = 0; i < pump->nr; i++)
		close(pump->sockets[i]);
	if (pump->listener >= 0)
		close(pump->listener);
	pump->nr = 0;
	pump->listener = -1;
}

void pump_close(struct pump *pump)
{
	pump_stop(pump);
	out_close(&pump->out);
}

bool pump_is_full(const struct pump *pump)
{
	return pump->most && pump->lines >= pump->most;
}

void pump_add(struct pump *pump, int fd)
{
	if (pump->nr < PUMP_MAX)
		pump->sockets[pump->nr++] = fd;
	else
		close(fd);
}

int pump_pair(struct pump *pump)
{
	const int ahead = AHEAD;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
		fail_msg("no sockets can be made: %s", strerror(errno));
		return -1;
	}
	if (setsockopt(ends[1], SOL_SOCKET, SO_SNDBUFFORCE, &ahead, sizeof(ahead)) != 0)
		setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &ahead, sizeof(ahead));
	pump_add(pump, ends[0]);
	return ends[1];
}

nfds_t pump_polled(const struct pump *pump, struct pollfd *polled)
{
	nfds_t nr = 0;
	/* What can't be taken now stays with the process, and then is lost there, and counted. */
	const bool room = out_has_room(&pump->out) && !pump_is_full(pump);

	/* Without events, too: a reader who is gone shows by an error. */
	polled[nr++] = (struct pollfd){.fd = pump->out.failed ? -1 : pump->out.fd,
				       .events = out_is_waiting(&pump->out) ? POLLOUT : 0};
	if (pump->listener >= 0)
		polled[nr++] = (struct pollfd){.fd = pump->listener, .events = pump->nr < PUMP_MAX ? POLLIN : 0};
	for (size_t i = 0; i < pump->nr && room; i++)
		polled[nr++] = (struct pollfd){.fd = pump->sockets[i], .events = POLLIN};
	return nr;
}

static void accept_all(struct pump *pump)
{
	while (pump->listener >= 0 && pump->nr < PUMP_MAX) {
		int fd = accept4(pump->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			pump_add(pump, fd);
		else if (errno != EINTR && errno != ECONNABORTED)
			return;
	}
}

/* What a message is as lines: it may end in a newline, or not. */
static void take_message(struct pump *pump, char *text, size_t len)
{
	const bool ended = text[len - 1] == '\n';

	len -= ended;
	clean_bytes(text, len);
	if (pump->edit)
		len = pump->edit(pump->data, text, len);
	text[len++] = '\n';
	out_add(&pump->out, len);
	pump->lines++;
}

/* False: it has ended. */
static bool take_from(struct pump *pump, int fd)
{
	for (int i = 0; i < TURN; i++) {
		char *room = pump_is_full(pump) ? NULL : out_room(&pump->out, OUT_PIECE);
		if (!room)
			return true;
		ssize_t n = recv(fd, room, OUT_PIECE - 1 - PUMP_LINE_MORE, MSG_DONTWAIT);
		if (n > 0)
			take_message(pump, room, (size_t)n);
		else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			return false;
		else if (errno == EAGAIN)
			return true;
	}
	return true;
}

bool pump_move(struct pump *pump)
{
	struct pollfd reader = {.fd = pump->out.fd};

	accept_all(pump);
	for (size_t i = 0; i < pump->nr;) {
		if (take_from(pump, pump->sockets[i])) {
			i++;
			continue;
		}
		close(pump->sockets[i]);
		pump->sockets[i] = pump->sockets[--pump->nr];
	}
	if (!out_is_waiting(&pump->out) && poll(&reader, 1, 0) > 0 && (reader.revents & (POLLERR | POLLHUP | POLLNVAL))) {
		pump->out.failed = true;
		pump->out.error = EPIPE;
	}
	return out_write(&pump->out);
}

void pump_finish(struct pump *pump)
{
	unsigned long before;

	do {
		before = pump->lines;
		if (!pump_move(pump))
			return;
		out_finish(&pump->out, FINISH_MS);
	} while (pump->lines != before && !out_is_waiting(&pump->out));
}

/* SPDX-License-Identifier: MIT */
#include "client/request.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/clean.h"
#include "client/lines.h"
#include "client/signals.h"
#include "client/unreachable.h"
#include "fail_msg.h"

#define REQUEST_MAX 65536u
#define SILENCE_MS 10000
/* Of a whole reply, and of one line of it. */
#define REPLY_MAX ((size_t)256 << 20)
#define LINE_MAX_LEN ((size_t)2 << 20)

struct reply {
	struct connection *connection;
	struct answer *answer;
	line_fn fn;
	void *data;
	struct lines line; /* what has come of the next one */
	size_t total;
	bool done;
};

__attribute__((format(printf, 2, 3))) static void give_up(struct reply *reply, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reply->answer->text, sizeof(reply->answer->text), format, args);
	va_end(args);
	reply->answer->kind = ANSWER_NONE;
	reply->done = true;
}

static void cut(struct reply *reply)
{
	reply->answer->kind = ANSWER_CUT;
	reply->done = true;
}

/* ---- The reply ---- */

static void take_error(struct reply *reply, char *line)
{
	struct answer *answer = reply->answer;
	const size_t len = strcspn(line, " ");

	snprintf(answer->name, sizeof(answer->name), "%.*s", (int)(len < sizeof(answer->name) ? len : 0), line);
	snprintf(answer->text, sizeof(answer->text), "%s", line[len] ? line + len + 1 : line);
	answer->kind = ANSWER_ERROR;
	reply->done = true;
}

static void take_line(struct reply *reply, char *line)
{
	clean(line);
	if (strcmp(line, "ok") == 0 || strncmp(line, "ok ", 3) == 0) {
		snprintf(reply->answer->text, sizeof(reply->answer->text), "%s", line[2] ? line + 3 : "");
		reply->done = true;
	} else if (strncmp(line, "error ", strlen("error ")) == 0) {
		take_error(reply, line + strlen("error "));
	} else if (strcmp(line, "error") == 0) {
		take_error(reply, line);
	} else if (reply->fn && !reply->fn(reply->data, line)) {
		cut(reply);
	}
}

/* Messages end anywhere in a line. */
static void take_message(struct reply *reply, char *text, size_t len)
{
	reply->total += len;
	if (reply->total > REPLY_MAX)
		give_up(reply, "its reply has no end");
	while (len && !reply->done) {
		const char *end = memchr(text, '\n', len);
		const size_t part = end ? (size_t)(end - text) : len;
		if (reply->line.len + part > LINE_MAX_LEN || !lines_add(&reply->line, text, part)) {
			give_up(reply, "it sends a line of more than %zu bytes", reply->line.len);
			return;
		}
		if (end) {
			reply->line.len = 0;
			take_line(reply, reply->line.text);
		}
		text += part + (end ? 1 : 0);
		len -= part + (end ? 1 : 0);
	}
}

/* False: the reply is done. What is there already when patience has ended is taken still. */
static bool wait_for_process(struct reply *reply, short events)
{
	const struct connection *connection = reply->connection;
	struct pollfd polled[] = {{.fd = connection->fd, .events = events}, {.fd = signals_fd(), .events = POLLIN}};
	const int silence = connection->silence_ms ? connection->silence_ms : SILENCE_MS;
	int n, patience;

	do {
		patience = signals_patience(silence);
		polled[1].events = patience < silence ? 0 : POLLIN; /* it has come, and stays there */
		n = poll(polled, 2, patience);
	} while ((n < 0 && errno == EINTR) || (n > 0 && !polled[0].revents));
	if (n < 0)
		give_up(reply, "%s", strerror(errno));
	else if (n == 0 && patience < silence)
		cut(reply);
	else if (n == 0)
		give_up(reply, "it does not answer: %s", connection->pid ? why_silent(connection->pid) : "try again");
	return !reply->done;
}

static void receive(struct reply *reply)
{
	struct connection *connection = reply->connection;

	while (!reply->done && wait_for_process(reply, POLLIN)) {
		ssize_t n = recv(connection->fd, connection->message, MESSAGE_MAX, MSG_DONTWAIT);
		if (n > 0)
			take_message(reply, connection->message, (size_t)n);
		else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			give_up(reply, "it has ended, or closed the connection");
	}
}

/* ---- The request ---- */

static void send_line(struct reply *reply, const char *line, size_t len, int fd)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {.space = {0}};
	struct iovec part = {.iov_base = (void *)line, .iov_len = len};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (fd >= 0) {
		message.msg_control = control.space;
		message.msg_controllen = sizeof(control.space);
		control.head = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
		};
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	}
	while (sendmsg(reply->connection->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
		if (errno != EAGAIN && errno != EINTR) {
			give_up(reply, "it has ended, or closed the connection");
			return;
		}
		if (!wait_for_process(reply, POLLOUT))
			return;
	}
}

__attribute__((format(printf, 6, 0))) static void request_args(struct connection *connection, struct answer *answer, int fd,
							       line_fn fn, void *data, const char *format, va_list args)
{
	struct reply reply = {.connection = connection, .answer = answer, .fn = fn, .data = data};
	char *line = malloc(REQUEST_MAX + 1);
	int len = line ? vsnprintf(line, REQUEST_MAX + 1, format, args) : -1;

	*answer = (struct answer){.kind = ANSWER_OK};
	if (len < 0)
		give_up(&reply, "there is not enough memory");
	else if ((size_t)len > REQUEST_MAX)
		give_up(&reply, "the request is longer than %u bytes", REQUEST_MAX);
	else if (strchr(line, '\n'))
		give_up(&reply, "a newline can't be part of a request");
	else if (connection->fd < 0)
		give_up(&reply, "it has ended, or closed the connection");
	else
		send_line(&reply, line, (size_t)len, fd);
	if (!reply.done)
		receive(&reply);
	free(line);
	lines_free(&reply.line);
	/* What comes later would be taken for the reply to the next request. */
	if (answer->kind == ANSWER_NONE || answer->kind == ANSWER_CUT)
		connection_close(connection);
}

void request(struct connection *connection, struct answer *answer, int fd, line_fn fn, void *data, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	request_args(connection, answer, fd, fn, data, format, args);
	va_end(args);
}

bool tell_answer(const struct connection *connection, const struct answer *answer)
{
	return fail_msg("%s: %s", connection_title(connection), answer->text);
}

bool ask(struct connection *connection, struct answer *answer, int fd, line_fn fn, void *data, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	request_args(connection, answer, fd, fn, data, format, args);
	va_end(args);
	if (answer->kind == ANSWER_OK)
		return true;
	if (answer->kind != ANSWER_CUT)
		tell_answer(connection, answer);
	return false;
}

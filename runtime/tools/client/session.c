/* SPDX-License-Identifier: MIT */
#include "client/session.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client/clean.h"
#include "client/listing.h"
#include "client/rules.h"
#include "client/targets.h"
#include "fail_msg.h"
#include "base/nearest.h"

/* The outputs that this program has opened. */
static struct {
	char (*ids)[sizeof(((struct session *)0)->id)];
	size_t nr;
} opened;

void session_begin(struct session *session, struct connection *connection)
{
	*session = (struct session){.pidfd = -1, .connection = targets_take(connection)};
	if (session->connection.pid)
		session->pidfd = (int)syscall(SYS_pidfd_open, session->connection.pid, 0);
}

void session_close(struct session *session)
{
	connection_close(&session->connection);
	if (session->pidfd >= 0)
		close(session->pidfd);
	session->pidfd = -1;
	session->id[0] = '\0';
}

const char *output_label(char *buf, size_t size, const char *path)
{
	snprintf(buf, size, "%s", path);
	clean(buf);
	for (char *at = buf; *at; at++) {
		if (*at == ',')
			*at = '_';
	}
	return buf;
}

static bool note_opened(const char *id)
{
	void *ids = reallocarray(opened.ids, opened.nr + 1, sizeof(*opened.ids));

	if (!ids)
		return fail_no_memory();
	opened.ids = ids;
	snprintf(opened.ids[opened.nr++], sizeof(*opened.ids), "%s", id);
	return true;
}

bool session_open(struct session *session, int fd, const char *kind, const char *name)
{
	struct answer answer;

	if (!ask(&session->connection, &answer, fd, NULL, NULL, "open %s%s%s", kind, *name ? " " : "", name))
		return false;
	if (!answer.text[0] || strlen(answer.text) >= sizeof(session->id) || strchr(answer.text, ' '))
		return fail_msg("%s has answered in a way that is not understood", connection_title(&session->connection));
	strcpy(session->id, answer.text);
	return note_opened(session->id);
}

static bool is_opened(const char *id)
{
	for (size_t i = 0; i < opened.nr; i++) {
		if (strcmp(opened.ids[i], id) == 0)
			return true;
	}
	return false;
}

bool session_inherits(struct session *session, const char *kind)
{
	const size_t len = strlen(kind);
	struct output_list list;
	bool inherits = false;

	outputs_read(&list, &session->connection);
	for (size_t i = 0; i < list.nr && !inherits; i++) {
		const struct output *output = &list.all[i];
		inherits = strcmp(output->owner, "other") == 0 && strncmp(output->name, kind, len) == 0 && output->name[len] == ':' &&
			   output->events && is_opened(output->id);
		if (inherits)
			snprintf(session->id, sizeof(session->id), "%s", output->id);
	}
	outputs_free(&list);
	return inherits;
}

static void tell_unmatched(struct connection *connection, const char *rules)
{
	struct event_list list = {.events = NULL};
	struct tp_nearest nearest = tp_nearest_to(rules, strlen(rules));

	/* What is a name, and not a pattern with an operator. */
	const bool is_name = rules[strcspn(rules, "*?[!,; ")] == '\0';
	if (is_name && listing_read(&list, connection, "", false)) {
		for (size_t i = 0; i < list.nr; i++) {
			const char *colon = strchr(list.events[i].name, ':');
			tp_nearest_offer(&nearest, colon && !strchr(rules, ':') ? colon + 1 : list.events[i].name);
		}
	}
	event_list_free(&list);
	fail_msg("no event of %s is called '%s' now%s; \"tp list -p %d\" shows those that there are; events of modules that are "
		 "loaded later are taken",
		 connection_title(connection), rules, tp_nearest_hint(&nearest, " (", ")"), (int)connection->pid);
}

bool session_enable(struct session *session, const char *rules)
{
	if (!rules_apply(&session->connection, "enable", session->id, rules, &session->nr_enabled))
		return false;
	if (!session->nr_enabled)
		tell_unmatched(&session->connection, rules);
	return true;
}

static void tell_children(char *lines)
{
	for (char *rest = lines, *line; (line = strsep(&rest, "\n")) && *line;)
		fail_msg("lost in %s", line);
}

bool session_finish(struct session *session, unsigned long *lost)
{
	struct connection *connection = &session->connection;
	struct output_list list = {.all = NULL};
	struct answer answer;
	bool known = false;

	memset(lost, 0, NR_CAUSES * sizeof(*lost));
	if (!session->id[0] || session_is_over(session))
		return false;
	/* Afterwards no record is on its way, so the numbers are the last ones. */
	request(connection, &answer, -1, NULL, NULL, "disable %s *", session->id);
	if (answer.kind == ANSWER_OK && outputs_read(&list, connection)) {
		for (size_t i = 0; i < list.nr; i++) {
			if (strcmp(list.all[i].id, session->id) == 0) {
				memcpy(lost, list.all[i].lost, sizeof(list.all[i].lost));
				known = true;
				tell_children(list.all[i].children);
			}
		}
	}
	outputs_free(&list);
	if (known)
		request(connection, &answer, -1, NULL, NULL, "close %s", session->id);
	session->id[0] = '\0';
	return known;
}

bool session_is_over(const struct session *session)
{
	struct pollfd polled[] = {{.fd = session->connection.fd, .events = POLLIN},
				  {.fd = session->pidfd, .events = POLLIN}};

	/* The process says nothing unasked. */
	return session->connection.fd < 0 || (poll(polled, 2, 0) > 0 && (polled[0].revents || polled[1].revents));
}

bool session_process_runs(const struct session *session)
{
	struct pollfd polled = {.fd = session->pidfd, .events = POLLIN};

	/* At its end, its connection ends a moment before the process does. */
	return session->pidfd >= 0 && poll(&polled, 1, 1000) == 0;
}

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

/* By all sessions. */
static struct {
	bool tried, matched;
} enabling;

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

/* An event, as far as the rule has it: the name, SYSTEM:NAME, or SYSTEM:*. */
static void offer_event(struct tp_nearest *nearest, const char *rule, const char *name)
{
	const char *colon = strchr(name, ':');
	char system[256];

	if (!colon)
		return;
	snprintf(system, sizeof(system), "%.*s:*", (int)(colon - name), name);
	tp_nearest_offer(nearest, strstr(rule, ":*") ? system : strchr(rule, ':') ? name : colon + 1);
}

static void tell_unmatched(struct connection *connection, const char *rules)
{
	struct event_list list = {.events = NULL};
	struct tp_nearest nearest = tp_nearest_to(rules, strlen(rules));
	const size_t len = strcspn(rules, "*?[!,; ");

	/* What is a name, or all of a system, and not a pattern with another operator. */
	const bool is_name = rules[len] == '\0' || (len && rules[len - 1] == ':' && strcmp(rules + len, "*") == 0);
	if (is_name && listing_read(&list, connection, "", false)) {
		for (size_t i = 0; i < list.nr; i++)
			offer_event(&nearest, rules, list.events[i].name);
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
	enabling.tried = true;
	enabling.matched = enabling.matched || session->nr_enabled;
	if (!session->nr_enabled)
		tell_unmatched(&session->connection, rules);
	return true;
}

static void tell_children(char *lines)
{
	for (char *rest = lines, *line; (line = strsep(&rest, "\n")) && *line;)
		fail_msg("lost in %s", line);
}

/* What the process says of the session's output: it is not told twice. False: it does not say it. */
static bool read_own(struct session *session, struct output_list *list, const struct output **own)
{
	*own = NULL;
	if (!outputs_read(list, &session->connection))
		return false;
	for (size_t i = 0; i < list->nr && !*own; i++) {
		if (strcmp(list->all[i].id, session->id) == 0)
			*own = &list->all[i];
	}
	return *own != NULL;
}

/* Modules may have come since. */
static void look_for_late_events(struct session *session)
{
	struct output_list list = {.all = NULL};
	const struct output *own;

	if (!enabling.matched && read_own(session, &list, &own))
		enabling.matched = own->events > 0;
	outputs_free(&list);
}

static enum session_end why_unknown(const struct session *session, const struct answer *answer)
{
	return answer->kind == ANSWER_CUT || session_process_runs(session) ? SESSION_SILENT : SESSION_ENDED;
}

enum session_end session_finish(struct session *session, unsigned long *lost)
{
	struct connection *connection = &session->connection;
	struct output_list list = {.all = NULL};
	const struct output *own;
	struct answer answer;

	memset(lost, 0, NR_CAUSES * sizeof(*lost));
	if (!session->id[0] || session_is_over(session))
		return session_process_runs(session) ? SESSION_SILENT : SESSION_ENDED;
	look_for_late_events(session);
	/* Afterwards no record is on its way, so the numbers are the last ones. */
	request(connection, &answer, -1, NULL, NULL, "disable %s *", session->id);
	const bool known = answer.kind == ANSWER_OK && read_own(session, &list, &own);
	const enum session_end end = known ? SESSION_KNOWN : why_unknown(session, &answer);
	if (known) {
		memcpy(lost, own->lost, sizeof(own->lost));
		tell_children(own->children);
		request(connection, &answer, -1, NULL, NULL, "close %s", session->id);
	}
	outputs_free(&list);
	session->id[0] = '\0';
	return end;
}

bool sessions_have_matched(const char *consequence)
{
	return !enabling.tried || enabling.matched || fail_msg("no event was called so until the end: %s", consequence);
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

/* SPDX-License-Identifier: MIT */
/* session.h - an output in a process that lasts as long as this program, and the events that go there. */
#ifndef SESSION_H
#define SESSION_H

#include <stdbool.h>

#include "client/outputs.h"

/* Zeros, with pidfd -1, are no session. */
struct session {
	struct connection connection;
	int pidfd;                    /* readable when the process has ended; -1: that shows by the connection's end only */
	char id[24];                  /* of the output; "": it is not open */
	unsigned long nr_enabled;     /* events, when they were enabled; one that several rules have is counted by each */
};

/* Takes the connection over, one of targets.h. */
void session_begin(struct session *session, struct connection *connection);

/*
 * Whether the process has inherited such an output, with its events, from one in which this program has opened it: then that is
 * the session's, and ends with the other's.
 */
bool session_inherits(struct session *session, const char *kind);

/* Opens an output, "text NAME", with the descriptor fd, -1 for none, which stays the caller's. False, and a message. */
bool session_open(struct session *session, int fd, const char *kind, const char *name);

/* Enables the events on it, by rules as rules.h has them; a message if there are none now. */
bool session_enable(struct session *session, const char *rules);

enum session_end {
	SESSION_KNOWN,  /* what it has lost */
	SESSION_ENDED,  /* the process has ended, or has closed the connection */
	SESSION_SILENT, /* it has not answered, or not before a signal came that ends this program */
};

/*
 * Ends the output, and asks before that what it has lost. Unless that becomes known, the output ends with the connection.
 * Nothing is told.
 */
enum session_end session_finish(struct session *session, unsigned long *lost);

/*
 * Whether events have been enabled on any of the outputs, by their end, or none was enabled in vain. False after a message,
 * which says what did not become.
 */
bool sessions_have_matched(const char *consequence);

void session_close(struct session *session);

/* Whether the process has ended, or has closed the connection. */
bool session_is_over(const struct session *session);

/* Whether the process, whose session is over, is known to run on, or to be stopped. */
bool session_process_runs(const struct session *session);

/* A name for an output, of buf: what the protocol does not allow in one is replaced. */
const char *output_label(char *buf, size_t size, const char *path);

#endif /* SESSION_H */

/* SPDX-License-Identifier: MIT */
/* request.h - requests to a process, and its replies. */
#ifndef REQUEST_H
#define REQUEST_H

#include <stdbool.h>

#include "client/connect.h"

/* A line of a reply, without its newline, and without control characters; it may be changed. False: no more of them. */
typedef bool (*line_fn)(void *data, char *line);

enum answer_kind {
	ANSWER_OK,
	ANSWER_ERROR, /* name and text say what the process does not like */
	ANSWER_NONE,  /* the connection is of no more use; text says why */
	ANSWER_CUT,   /* likewise, as a signal has come that ends this program (signals.h), or fn wanted no more */
};

struct answer {
	enum answer_kind kind;
	char name[32];    /* such as "EINVAL" */
	char text[2048];  /* for a person; of ANSWER_OK: what follows ok, such as an id */
};

/*
 * Sends the request, with the descriptor fd (-1: none), and calls fn for each line of the reply but the last.
 * A process that is silent for some seconds is given up.
 */
void request(struct connection *connection, struct answer *answer, int fd, line_fn fn, void *data, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/* The same; but what goes wrong is told, in the name of the process. False: it has. After a signal nothing is told. */
bool ask(struct connection *connection, struct answer *answer, int fd, line_fn fn, void *data, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/* Tells what is wrong with the answer. Returns false. */
bool tell_answer(const struct connection *connection, const struct answer *answer);

#endif /* REQUEST_H */

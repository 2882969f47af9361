/* SPDX-License-Identifier: MIT */
/*
 * control/request.h - what a client may ask: docs/control.md has the protocol.
 */
#ifndef TP_REQUEST_H
#define TP_REQUEST_H

#include <stdint.h>

#include "base/buffer.h"

/* A request, and the reply to it. */
struct tp_request {
	uint64_t session;       /* the connection's */
	int fd;                 /* that came with it, or -1; whoever uses it sets it to -1 */
	struct tp_buffer reply; /* its lines */
};

/* The first message of each connection. */
void tp_request_greet(struct tp_buffer *reply);

/* Does what the line says; it is changed. */
void tp_request_serve(struct tp_request *request, char *line);

/* Closes all outputs that the session has opened and not kept. */
void tp_request_end(uint64_t session);

/* Ends the reply with an error. name: an errno. text: a sentence for a person. */
void tp_request_fail(struct tp_request *request, int error, const char *text, ...) __attribute__((format(printf, 3, 4)));

/* ---- inspect.c: questions ---- */

void tp_request_events(struct tp_request *request, char *arguments);
void tp_request_formats(struct tp_request *request, char *arguments);
void tp_request_outputs(struct tp_request *request, char *arguments);
void tp_request_report(struct tp_request *request, char *arguments);

/* ---- change.c ---- */

void tp_request_open(struct tp_request *request, char *arguments);
void tp_request_keep(struct tp_request *request, char *arguments);
void tp_request_close(struct tp_request *request, char *arguments);
void tp_request_enable(struct tp_request *request, char *arguments);
void tp_request_disable(struct tp_request *request, char *arguments);
void tp_request_snapshot(struct tp_request *request, char *arguments);

/* The next word of *arguments, which goes on behind it; NULL: there is none. */
char *tp_request_word(char **arguments);

/* The id of an output that the next word is. False, and the reply has failed. */
bool tp_request_id(struct tp_request *request, char **arguments, uint64_t *id);

#endif /* TP_REQUEST_H */

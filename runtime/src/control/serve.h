/* SPDX-License-Identifier: MIT */
/*
 * control/serve.h - a session, from its first line to its end.
 */
#ifndef TP_SERVE_H
#define TP_SERVE_H

#include "control/request.h"

/* The process begins to trace now. */
void tp_serve_start(void);

/* The first message of each connection. */
void tp_serve_greeting(struct tp_buffer *reply);

/* Does what the line says; it is changed. */
void tp_serve(struct tp_request *request, char *line);

/* Closes all outputs that the session has opened and not kept. */
void tp_serve_end(uint64_t session);

#endif /* TP_SERVE_H */

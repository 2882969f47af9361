/* SPDX-License-Identifier: MIT */
/*
 * control/request.h - a request and its reply, for those who serve it; and
 * what may be asked for.
 */
#ifndef TP_REQUEST_H
#define TP_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include <tp/sink.h>

#include "base/text.h"

/* A request, and the reply to it. */
struct tp_request {
	uint64_t session;       /* the connection's */
	int fd;                 /* that came with it, or -1; whoever uses it sets it to -1 */
	struct tp_buffer reply; /* its lines */
};

/* Ends the reply with an error. name: an errno. text: a sentence for a person. */
void tp_request_fail(struct tp_request *request, int error, const char *text, ...) __attribute__((format(printf, 3, 4)));

/* Likewise: what the runtime has said meanwhile is why; else the errno's text is. */
void tp_request_fail_with(struct tp_request *request, int error, const struct tp_buffer *messages);

/* Likewise: these are no list of patterns. */
void tp_request_fail_patterns(struct tp_request *request, const char *patterns);

/* The next word of *arguments, which goes on behind it; NULL: there is none. */
char *tp_request_word(char **arguments);

/* The id of an output that the next word is. False, and the reply has failed. */
bool tp_request_id(struct tp_request *request, char **arguments, uint64_t *id);

/* Ends the reply: there is no such output. */
void tp_request_no_output(struct tp_request *request, uint64_t id);

/* tp_sink_hold(); NULL, and the reply has failed. */
struct tp_sink *tp_request_hold(struct tp_request *request, uint64_t id);

/* The same, unless the output is another connection's. */
struct tp_sink *tp_request_hold_to_change(struct tp_request *request, uint64_t id);

/* Appends each line of the text after a tab. */
void tp_request_put_text(struct tp_buffer *to, const char *text);

/* Ends a line with a name, in which there may be anything. */
void tp_request_put_name(struct tp_buffer *to, const char *name);

/*
 * What a client may ask for: docs/internals/control.md has the
 * protocol. The arguments are changed.
 */

/* ---- inspect.c: they change nothing ---- */

void tp_request_events(struct tp_request *request, char *arguments);
void tp_request_formats(struct tp_request *request, char *arguments);
void tp_request_outputs(struct tp_request *request, char *arguments);
void tp_request_report(struct tp_request *request, char *arguments);
void tp_request_histograms(struct tp_request *request, char *arguments);

/* ---- open.c ---- */

void tp_request_open(struct tp_request *request, char *arguments);

/* ---- change.c: outputs that are open ---- */

void tp_request_keep(struct tp_request *request, char *arguments);
void tp_request_close(struct tp_request *request, char *arguments);
void tp_request_enable(struct tp_request *request, char *arguments);
void tp_request_disable(struct tp_request *request, char *arguments);
void tp_request_tracing(struct tp_request *request, char *arguments);
void tp_request_snapshot(struct tp_request *request, char *arguments);

/* ---- trigger.c ---- */

void tp_request_trigger(struct tp_request *request, char *arguments);
void tp_request_triggers(struct tp_request *request, char *arguments);

/* ---- synthetic.c ---- */

void tp_request_synthetic(struct tp_request *request, char *arguments);
void tp_request_synthetics(struct tp_request *request, char *arguments);

#endif /* TP_REQUEST_H */

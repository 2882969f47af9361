/* SPDX-License-Identifier: MIT */
/*
 * control/commands.h - what a client may ask for: docs/control.md has the
 * protocol. The arguments are changed.
 */
#ifndef TP_COMMANDS_H
#define TP_COMMANDS_H

#include "control/request.h"

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

#endif /* TP_COMMANDS_H */

/* SPDX-License-Identifier: MIT */
/*
 * control/outputs.h - which outputs are open, what they are called, and whose
 * they are: those of TP_OUTPUT, and those that somebody outside has opened. An
 * output is known by the serial number of its sink.
 */
#ifndef TP_OUTPUTS_H
#define TP_OUTPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include <tp/sink.h>

enum tp_output_owner {
	TP_OUTPUT_PROGRAM,     /* opened by the program itself; it is in no list here */
	TP_OUTPUT_ENVIRONMENT, /* opened by TP_OUTPUT */
	TP_OUTPUT_SESSION,     /* opened by a connection; ends with it */
	TP_OUTPUT_KEPT,        /* opened by a connection; lasts */
};

struct tp_output_info {
	uint64_t serial;
	uint64_t session;  /* of TP_OUTPUT_SESSION */
	enum tp_output_owner owner;
	bool written;      /* with each record: there is nothing to finish at the end of the process */
	bool lent;         /* the program has got it by tp_output() */
};

/* False where there is no memory: then the sink is in no list. name: KIND:ARGUMENT; it is copied. */
bool tp_outputs_add(struct tp_sink *sink, const char *name, const struct tp_output_info *info);

/* Of this serial. Where it is in no list, the owner is TP_OUTPUT_PROGRAM. */
struct tp_output_info tp_outputs_info(uint64_t serial);

/* A copy of its name, for free(). NULL: there is none, or no memory. */
char *tp_outputs_name(uint64_t serial);

/* The session's output becomes one that lasts. False: it is none of the session's. */
bool tp_outputs_keep(uint64_t serial, uint64_t session);

/*
 * Takes it from the list, if this session may close it: its own, one that lasts, or one of TP_OUTPUT's that the program has
 * not got. False: it is there still, as *info says, or in no list.
 */
bool tp_outputs_take(uint64_t serial, uint64_t session, struct tp_output_info *info);

/* Takes one of the session from the list, and sets *serial. False: there is none. */
bool tp_outputs_take_of_session(uint64_t session, uint64_t *serial);
bool tp_outputs_has_session(uint64_t session);

/* Takes the newest from the list. False: there is none. name is for free(). */
bool tp_outputs_take_any(struct tp_output_info *info);

#endif /* TP_OUTPUTS_H */

/* SPDX-License-Identifier: MIT */
/* pump.h - lines from traced processes to standard output: each comes as a message of a socket. */
#ifndef PUMP_H
#define PUMP_H

#include <poll.h>

#include "client/out.h"

#define PUMP_MAX 256 /* sockets */

/* Zeros are none. */
struct pump {
	struct out out;
	int sockets[PUMP_MAX];
	size_t nr;
	int listener; /* of processes that connect; -1: none */
	unsigned long lines, most; /* most: that are taken; 0: without bounds */

	/* Changes a line of len bytes, without its newline, where PUMP_LINE_MORE bytes more have room. Returns its new length. NULL: none. */
	size_t (*edit)(void *data, char *line, size_t len);
	void *data;
};

#define PUMP_LINE_MORE 128

/* most, edit and data may have been set before. False, and a message. */
bool pump_open(struct pump *pump);
void pump_close(struct pump *pump);

/* Whether as many lines were taken as are wanted: no more are. */
bool pump_is_full(const struct pump *pump);

/* Nothing is read any more. */
void pump_stop(struct pump *pump);

/* Takes the socket over. */
void pump_add(struct pump *pump, int fd);

/* A pair of sockets: one is the pump's, the other is returned, for a process to write to; -1, and a message. */
int pump_pair(struct pump *pump);

/* Fills in what poll() is to wait for; at most PUMP_POLLED. Returns how many. */
#define PUMP_POLLED (PUMP_MAX + 2)
nfds_t pump_polled(const struct pump *pump, struct pollfd *polled);

/* Moves what can be moved without waiting. False: nobody reads standard output any more, or it fails. */
bool pump_move(struct pump *pump);

/* Moves what is there, and waits a moment for standard output, no longer. */
void pump_finish(struct pump *pump);

#endif /* PUMP_H */

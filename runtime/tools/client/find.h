/* SPDX-License-Identifier: MIT */
/* find.h - which processes can be reached, and the one that a user means. */
#ifndef FIND_H
#define FIND_H

#include <stdbool.h>
#include <stddef.h>

#include "client/connect.h"

/* Zeros are none. */
struct found {
	struct connection *all; /* by process id; of each state but CONNECTION_DEAD */
	size_t nr;
};

/* All that this user may reach. Names of dead processes are removed. False, and a message. */
bool find_all(struct found *found);

/* The sockets that can be this process's; one of them is open, if there is a way. */
bool find_process(struct found *found, pid_t pid);

void found_free(struct found *found);

/* The open one of the process; NULL: none. */
struct connection *found_open(const struct found *found, pid_t pid);

/*
 * Connects to the process that the user means: its id, or the name of a program that no other
 * reachable process has. False, and a message that says why not and what to do. The connection is to be closed.
 */
bool client_connect(struct connection *connection, const char *wanted);

#endif /* FIND_H */

/* SPDX-License-Identifier: MIT */
/* find.h - which processes can be reached. */
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

/*
 * All that this user may reach; those of the program are awaited (connect.h), if one is named. Names of dead processes are
 * removed. False, and a message.
 */
bool find_all(struct found *found, const char *program);

/* The same of those only whose socket is_new accepts; none is awaited. */
bool find_new(struct found *found, bool (*is_new)(void *data, const struct place *place, const char *name), void *data);

/* The sockets that can be this process's; one of them is open, if there is a way. */
bool find_process(struct found *found, pid_t pid, bool is_awaited);

void found_free(struct found *found);

/* The open one of the process; NULL: none. */
struct connection *found_open(const struct found *found, pid_t pid);

#endif /* FIND_H */

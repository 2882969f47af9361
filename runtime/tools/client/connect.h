/* SPDX-License-Identifier: MIT */
/*
 * connect.h - the way to a process: its socket, and what it says when somebody connects. Nothing that a
 * process says is trusted: it may be another's who waits there.
 */
#ifndef CONNECT_H
#define CONNECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "client/socket_dirs.h"

/* The longest message that is read; no message of a process is longer. */
#define MESSAGE_MAX 65536u

enum connection_state {
	CONNECTION_WAITING, /* for the greeting */
	CONNECTION_OPEN,
	CONNECTION_SILENT,  /* no greeting has come */
	CONNECTION_DEAD,    /* nobody listens */
	CONNECTION_REFUSED, /* text says by whom and why */
};

struct greeting {
	pid_t pid; /* in the process's own PID namespace */
	uid_t uid;
	unsigned long nr_events, nr_outputs;
	struct timespec since;
	char program[256];
};

struct connection {
	enum connection_state state;
	int fd;    /* -1: none */
	pid_t pid; /* as this program sees it; 0: it does not see the process */
	uid_t uid; /* that the process had when it began to listen */
	struct place place;
	char name[64]; /* of the socket there */
	struct greeting greeting;
	char text[256];
	int64_t refused_ms; /* by CLOCK_MONOTONIC: until when it may listen anew; 0: somebody has listened so far */
	bool is_one_of_several; /* that are meant (targets.h): what is made for it has a name of its own */
	int silence_ms; /* how long replies are waited for; 0: some seconds */
	char *message; /* MESSAGE_MAX + 1 bytes, of which len are there; NULL until the first is read */
	size_t len;
};

/* Begins to connect. Zeros are no connection. */
void connection_begin(struct connection *connection, const struct place *place, const char *name);

/* Goes on, without waiting. */
void connection_continue(struct connection *connection);

/* Who is asked for by its id or by its program's name. Zeros: nobody. */
struct awaited {
	pid_t pid;
	const char *program; /* as proc_is_called() */
};

/*
 * Goes on with all of them, for a second at most, or for some seconds as long as one that is awaited may still answer, whose
 * process is not stopped; then none is waiting.
 */
void connections_finish(struct connection *connections, size_t nr, struct awaited awaited);

void connection_close(struct connection *connection);

/* "server (1234)": what messages call it; of a buffer that the next call uses again. */
const char *connection_title(const struct connection *connection);

#endif /* CONNECT_H */

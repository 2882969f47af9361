/* SPDX-License-Identifier: MIT */
/*
 * control/rendezvous.h - where clients find the process: a directory, and a
 * socket in it; and who they are.
 */
#ifndef TP_RENDEZVOUS_H
#define TP_RENDEZVOUS_H

#include <stdbool.h>

#include "base/file.h"

/* What TP_CONTROL says. */
struct tp_control_setting {
	bool off;      /* no listening, unless the program asks for it */
	bool make;     /* the directory, where there is none */
	bool children; /* forked children listen, too */
	const char *directory; /* absolute; NULL: one of the two that are known to all */
};

/* Read once. False in programs that must not listen at all. */
bool tp_control_setting(struct tp_control_setting *setting);

struct tp_rendezvous {
	struct tp_guarded_fd directory, listener;
	char *path;    /* of the directory, absolute; NULL: it is in none */
	char name[48]; /* of the socket in it; empty: there is none */
};

#define TP_RENDEZVOUS_NONE {.directory = TP_GUARDED_FD_NONE, .listener = TP_GUARDED_FD_NONE}

/*
 * Finds the directory. 0, or an errno value after a message; ENOENT without one: there is
 * no directory, and none is to be made.
 */
int tp_rendezvous_find(struct tp_rendezvous *at, const struct tp_control_setting *setting, bool make);

/* Listens there. 0, or an errno value after a message, and then it is closed. */
int tp_rendezvous_listen(struct tp_rendezvous *at);

/*
 * Both, in a forked child of a process that listens. If the child can't make a name in the directory any more, since it has changed
 * its user or its root, it listens under a name that is in no directory. 0 or an errno value.
 */
int tp_rendezvous_listen_in_child(struct tp_rendezvous *at, const struct tp_control_setting *setting);

/*
 * Listens anew, after the program has closed the descriptors: in no directory, if it can't come to its own any more. 0 or
 * an errno value.
 */
int tp_rendezvous_again(struct tp_rendezvous *at);

/*
 * Whether the descriptor is a client's end of a connection to this process. Whoever keeps that keeps the connection, too: its
 * end is never seen.
 */
bool tp_rendezvous_is_clients_end(int fd);

/* Closes the descriptors. remove: the name goes, too; not in a child, whose parent it leads to. */
void tp_rendezvous_close(struct tp_rendezvous *at, bool remove);

/* ---- Who is at the other end of a connection ---- */

/* Whether he may look into this process: its own user may, and root. */
bool tp_peer_may(int fd);

#endif /* TP_RENDEZVOUS_H */

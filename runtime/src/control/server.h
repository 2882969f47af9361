/* SPDX-License-Identifier: MIT */
/*
 * control/server.h - the socket, the connections, and messages to and from
 * them. One thread at a time is in these functions, but for those of forks.
 */
#ifndef TP_SERVER_H
#define TP_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "control/rendezvous.h"

/*
 * 0, or an errno value as tp_rendezvous_find() and tp_rendezvous_listen() have it. Where the process listens already, nothing is
 * done. found is called when there is a directory, before anything is opened that a fork would inherit; or NULL.
 */
int tp_server_open(const struct tp_control_setting *setting, bool make, void (*found)(void));
bool tp_server_is_open(void);

/* Closes all connections, with what they have opened, and the socket. */
void tp_server_close(void);

/* At the end of the process: the socket's name goes. */
void tp_server_leave(void);

/*
 * Waits until somebody wants something, if wait is set, and serves everybody who does. Nobody is
 * waited for longer than patience milliseconds while he does not read. While it waits, the thread can be cancelled.
 */
void tp_server_turn(bool wait, int patience);

/* In a child that does not listen: waits up to a second for the ends of inherited sessions. False: there are none. */
bool tp_server_await_ends(void);

/* Ends a turn that waits, by shutting the socket down: tp_server_drop_socket() is to follow. False: it may not have ended. */
bool tp_server_wake(void);

/* The socket is of no use any more. tp_server_open() listens anew. */
void tp_server_drop_socket(void);

/* A descriptor that is readable when tp_server_turn() has something to do; it is the same until the server is closed. Or -errno. */
int tp_server_descriptor(void);

/*
 * In a forked child, while all locks are held: the socket is the parent's. live: the parent's connections stay, as what
 * they have opened ends with them; otherwise tp_server_end_sessions() does that, while no lock is held.
 */
void tp_server_in_child(bool live);
void tp_server_end_sessions(void);

#endif /* TP_SERVER_H */

/* SPDX-License-Identifier: MIT */
/*
 * control/server.h - the socket, the connections, and messages to and from
 * them. One thread at a time is in these functions, but for those of forks.
 */
#ifndef TP_SERVER_H
#define TP_SERVER_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "control/rendezvous.h"

/*
 * 0, or an errno value as tp_rendezvous_find() and tp_rendezvous_listen() have it. Where the process listens already, nothing is
 * done. found is called when there is a directory, before anything is opened that a fork would inherit.
 */
int tp_server_open(const struct tp_control_setting *setting, bool make, void (*found)(void));

/* As tp_rendezvous_listen_in_child(). It does not listen yet. */
int tp_server_open_in_child(const struct tp_control_setting *setting);
bool tp_server_is_open(void);

/* Closes all connections, with what they have opened, and the socket. */
void tp_server_close(void);

/* At the end of the process: the socket's name goes. */
void tp_server_leave(void);

/*
 * Sets what has to be waited for before the next turn, at most TP_SERVER_PLACES. Returns how many there are; UINT_MAX: there is
 * to be one at once, as the program has closed a descriptor since.
 */
#define TP_SERVER_PLACES 17u
unsigned int tp_server_places(struct pollfd *places);

/*
 * Serves everybody who wants something. Nobody is waited for: who does not read a reply is served again after reading it.
 * Returns after how many milliseconds there is to be another turn, whether somebody wants something or not; -1: none.
 */
int tp_server_turn(void);

/* In a child that does not listen: the inherited sessions that have ended are over. False: there are none any more. */
bool tp_server_end_inherited(void);

/* A descriptor that is readable when tp_server_turn() has something to do; it is the same until the server is closed. Or -errno. */
int tp_server_descriptor(void);

/*
 * In a forked child, while all locks are held: the socket is the parent's. live: the parent's connections stay, as what
 * they have opened ends with them; otherwise tp_server_end_sessions() does that, while no lock is held.
 */
void tp_server_in_child(bool live);
void tp_server_end_sessions(void);

#endif /* TP_SERVER_H */

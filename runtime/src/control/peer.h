/* SPDX-License-Identifier: MIT */
/*
 * control/peer.h - who is at the other end of a connection.
 */
#ifndef TP_PEER_H
#define TP_PEER_H

#include <stdbool.h>

/* Whether he may look into this process: its own user may, and root. */
bool tp_peer_may(int fd);

#endif /* TP_PEER_H */

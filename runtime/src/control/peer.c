/* SPDX-License-Identifier: MIT */
/*
 * control/peer.c - see peer.h.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/peer.h"

/*
 * As the kernel shows users that this user namespace does not know. root of an
 * outer one is such a user. The directory and the socket can be entered by their owner and by root only, so in a
 * namespace that does not know all users, that is root. A later owner is known there.
 */
static bool is_unknown_here(uid_t user)
{
	char map[64] = "";
	const uid_t overflow = 65534;
	int fd = user == overflow ? open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0)
		return false;
	const ssize_t len = read(fd, map, sizeof(map) - 1);
	close(fd);
	unsigned long first = 0, outside = 0, count = 0;
	char *at = map;
	if (len > 0) {
		first = strtoul(at, &at, 10);
		outside = strtoul(at, &at, 10);
		count = strtoul(at, &at, 10);
	}
	return len > 0 && !(first == 0 && outside == 0 && count == 4294967295u);
}

bool tp_peer_may(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
		return false;
	return peer.uid == geteuid() || peer.uid == 0 || is_unknown_here(peer.uid);
}

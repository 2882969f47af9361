/* SPDX-License-Identifier: MIT */
#include "client/listeners.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define ACCEPTS 0x10000ul /* __SO_ACCEPTCON of the kernel */

void listeners_each(pid_t pid, void (*fn)(void *data, const char *name), void *data)
{
	char path[64], *line = NULL;
	size_t room = 0;
	ssize_t len;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/net/unix", (int)pid);
	FILE *list = fopen(pid ? path : "/proc/net/unix", "re");
	/* Num: RefCount Protocol Flags Type St Inode Path */
	while (list && (len = getline(&line, &room, list)) > 0) {
		unsigned long flags;
		unsigned int type;
		int name = 0;
		line[len - 1] = '\0';
		if (sscanf(line, "%*s %*x %*x %lx %x %*x %*u %n", &flags, &type, &name) == 2 && name && flags & ACCEPTS &&
		    type == SOCK_SEQPACKET)
			fn(data, line + name);
	}
	free(line);
	if (list)
		fclose(list);
}

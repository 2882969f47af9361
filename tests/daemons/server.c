/* SPDX-License-Identifier: MIT */
/* server.c - is loaded into a server that knows nothing of it, and traces what that replies. */
#include <dlfcn.h>
#include <sys/socket.h>

#define CREATE_TRACE_POINTS
#include "server.h"

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	ssize_t (*function)(int, const struct msghdr *, int);

	*(void **)&function = dlsym(RTLD_NEXT, "sendmsg");
	for (size_t i = 0; i < message->msg_iovlen; i++)
		trace_server_reply(message->msg_iov[i].iov_base, message->msg_iov[i].iov_len);
	return function(fd, message, flags);
}

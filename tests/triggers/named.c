/* SPDX-License-Identifier: MIT */
/* named.c - events that are hit in functions with known names, one of them in a signal handler. */
#define CREATE_TRACE_POINTS
#include "shop.h"

#include <signal.h>

#define KEPT __attribute__((noinline, visibility("default")))

KEPT void inner(int n);
KEPT void outer(int n);
KEPT void handler(int sig);

void inner(int n)
{
	if (n == 0)
		trace_order(n, n);
	else if (n == 1)
		trace_failure(n, "text");
	else
		raise(SIGUSR1);
	__asm__ volatile("");
}

void outer(int n)
{
	inner(n);
	__asm__ volatile("");
}

void handler(int sig)
{
	trace_detail(sig);
	__asm__ volatile("");
}

int main(void)
{
	signal(SIGUSR1, handler);
	for (int n = 0; n < 3; n++)
		outer(n);
	return 0;
}

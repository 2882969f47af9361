/* SPDX-License-Identifier: MIT */
/* background.c - a program that puts itself into the background, and works there until it is killed. */
#include <unistd.h>

#include <tp/marker.h>

int main(void)
{
	if (daemon(1, 1) != 0)
		return 1;
	alarm(300); /* should nobody kill it */
	for (;;) {
		trace_mark(beat, MARK_NOARGS);
		usleep(1000);
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * base/message.c - the runtime's messages to a person: one line on stderr each.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/message.h"

/* Two file names fit. More would be too much for a small signal stack. */
#define LINE_MAX_BYTES 1024

void tp_complain(const char *fmt, ...)
{
	static const char prefix[] = "tp: ";
	char line[LINE_MAX_BYTES];
	const size_t head = sizeof(prefix) - 1;
	int error = errno;
	int cancel_state;
	va_list ap;

	memcpy(line, prefix, head);
	va_start(ap, fmt);
	int len = vsnprintf(line + head, sizeof(line) - head - 1, fmt, ap);
	va_end(ap);

	size_t end = head + (len > 0 ? (size_t)len : 0);
	if (end > sizeof(line) - 2)
		end = sizeof(line) - 2;
	/* A name may hold a newline; the line must not. */
	for (size_t i = head; i < end; i++) {
		if (line[i] == '\n')
			line[i] = ' ';
	}
	line[end++] = '\n';

	/* write is a cancellation point, but the caller may hold a lock. stdio would be neither atomic nor signal-safe. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	ssize_t written = write(STDERR_FILENO, line, end);
	(void)written; /* there is nowhere else to say it */
	pthread_setcancelstate(cancel_state, NULL);
	errno = error;
}

/* glibc's strerror() asks for a translation, under a lock that another thread of a forked child's parent may have held. */
const char *tp_strerror(int error)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
	const char *text = strerrordesc_np(error);

	return text ? text : "unknown error";
#else
	return strerror(error);
#endif
}

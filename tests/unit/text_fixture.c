/* SPDX-License-Identifier: MIT */
/*
 * text_fixture.c - see text_fixture.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <tp/tp.h>

#include "sinks/text/text.h"
#include "text_fixture.h"
#include "util.h"

struct tp_sink *enabled(struct tp_sink *sink)
{
	ck_assert_msg(sink != NULL, "%s", strerror(errno));
	ck_assert_int_ge(tp_enable(sink, "*"), 3);
	return sink;
}

struct tp_sink *open_on(int fd)
{
	return enabled(tp_text_descriptor_sink(fd));
}

void socket_pair(int type, int fd[2])
{
	ck_assert_int_eq(socketpair(AF_UNIX, type, 0, fd), 0);
}

const char *all_of(int fd)
{
	static char text[1 << 20];
	size_t len = 0;
	ssize_t n;

	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	while (len < sizeof(text) - 1 && (n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	return text;
}

unsigned int whole_lines(const char *text)
{
	unsigned int nr = 0;

	while (*text) {
		const char *end = strchr(text, '\n');
		ck_assert_msg(end != NULL, "half a line: %s", text);
		const char *event = strstr(text, " sample:sample_");
		ck_assert(event && event < end);
		nr++;
		text = end + 1;
	}
	return nr;
}

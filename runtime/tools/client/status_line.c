/* SPDX-License-Identifier: MIT */
#include "client/status_line.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "client/common_options.h"
#include "client/lines.h"
#include "client/signals.h"
#include "client/table.h"

#define WIPE "\r\033[K"

/* One that can remove a line. */
static bool is_terminal(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

static bool can_write(void)
{
	struct pollfd polled = {.fd = STDERR_FILENO, .events = POLLOUT};

	return poll(&polled, 1, 0) == 1 && (polled.revents & POLLOUT);
}

void status_line_begin(struct status_line *line)
{
	*line = (struct status_line){.is_wanted = is_terminal(), .next_ms = now_ms() + STATUS_LINE_MS};
}

bool status_line_is_due(const struct status_line *line)
{
	return line->is_wanted && now_ms() >= line->next_ms && tcgetpgrp(STDERR_FILENO) == getpgrp() && can_write();
}

void status_line_show(struct status_line *line, const char *text, int64_t took_ms)
{
	struct winsize window = {.ws_col = 0};
	struct lines cut = {.text = NULL};

	line->next_ms = now_ms() + STATUS_LINE_MS + 10 * took_ms;
	ioctl(STDERR_FILENO, TIOCGWINSZ, &window);
	/* A character in the last column would leave the cursor in an unknown place. */
	const size_t width = window.ws_col > 1 ? window.ws_col - 1u : 79;
	if (table_line(&cut, width, "%s", text)) {
		fprintf(stderr, "%s%.*s", WIPE, (int)(cut.len - 1), cut.text);
		line->is_shown = true;
	}
	lines_free(&cut);
}

int status_line_patience(const struct status_line *line, int ms)
{
	const int64_t left = line->next_ms - now_ms();

	if (!line->is_wanted || (ms >= 0 && ms < left))
		return ms;
	return left > 10 ? (int)left : 10;
}

void status_line_clear(struct status_line *line)
{
	if (line->is_shown && can_write())
		fputs(WIPE, stderr);
	line->is_shown = false;
}

void wipe_interrupt(void)
{
	if (signals_were_typed() && is_terminal() && can_write())
		fputs(WIPE, stderr);
}

void end_interrupted_line(void)
{
	if (signals_were_typed() && isatty(STDERR_FILENO) && can_write())
		fputs("\n", stderr);
}

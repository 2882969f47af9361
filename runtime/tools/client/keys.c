/* SPDX-License-Identifier: MIT */
#include "client/keys.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

static bool is_on;
static struct termios before;

/* Of a program in the background, the terminal's driver would stop whoever reads or changes anything. */
static bool is_in_foreground(void)
{
	return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

void keys_begin(void)
{
	struct termios changed;

	if (is_on || !isatty(STDIN_FILENO) || !is_in_foreground() || tcgetattr(STDIN_FILENO, &before) != 0)
		return;
	changed = before;
	changed.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	changed.c_cc[VMIN] = 1;
	changed.c_cc[VTIME] = 0;
	is_on = tcsetattr(STDIN_FILENO, TCSANOW, &changed) == 0;
}

void keys_end(void)
{
	if (is_on && is_in_foreground())
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
	is_on = false;
}

int keys_fd(void)
{
	return is_on && is_in_foreground() ? STDIN_FILENO : -1;
}

char keys_next(void)
{
	struct pollfd polled = {.fd = keys_fd(), .events = POLLIN};
	char key;

	if (polled.fd < 0 || poll(&polled, 1, 0) <= 0)
		return '\0';
	if (read(STDIN_FILENO, &key, 1) == 1)
		return key;
	is_on = false; /* the terminal has gone */
	return '\0';
}

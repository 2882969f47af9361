/* SPDX-License-Identifier: MIT */
#include "client/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Of xterm, and of nearly all others: another screen without a cursor, and lines that are cut off; the way back. */
#define ENTER "\033[?1049h\033[?25l\033[?7l"
#define LEAVE "\033[?7h\033[?25h\033[?1049l"
#define HOME "\033[H"
#define CLEAR_LINE "\033[K"
#define CLEAR_BELOW "\033[J"

#define LEAVE_MS 1000

bool screen_is_possible(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

bool screen_begin(struct screen *screen)
{
	*screen = (struct screen){.is_on = false};
	return out_open(&screen->out);
}

/* Bytes of the line of which a window so wide shows all. */
static size_t cut(const char *line, size_t len, size_t width)
{
	size_t columns = 0;

	for (size_t i = 0; i < len; i++) {
		/* Not the later bytes of a character of UTF-8. */
		if (((unsigned char)line[i] & 0xc0) != 0x80 && columns++ == width)
			return i;
	}
	return len;
}

static void put(struct screen *screen, const char *text, size_t len)
{
	if (len < OUT_PIECE)
		out_put(&screen->out, text, len);
}

static void put_string(struct screen *screen, const char *text)
{
	put(screen, text, strlen(text));
}

void screen_size(size_t *width, size_t *height)
{
	struct winsize window = {.ws_row = 0};

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || !window.ws_row || !window.ws_col)
		window = (struct winsize){.ws_row = 24, .ws_col = 80};
	*width = window.ws_col;
	*height = window.ws_row;
}

void screen_draw(struct screen *screen, const char *text)
{
	size_t width, height;

	if (out_is_waiting(&screen->out)) {
		out_write(&screen->out);
		return;
	}
	screen_size(&width, &height);
	put_string(screen, screen->is_on ? HOME : ENTER HOME);
	screen->is_on = true;
	for (size_t row = 0; row < height && *text; row++) {
		const size_t len = strcspn(text, "\n");
		put_string(screen, row ? "\r\n" : "");
		put(screen, text, cut(text, len, width));
		put_string(screen, CLEAR_LINE);
		text += len + (text[len] == '\n');
	}
	put_string(screen, CLEAR_BELOW);
	out_write(&screen->out);
}

void screen_leave(struct screen *screen)
{
	if (screen->is_on)
		put_string(screen, LEAVE);
	screen->is_on = false;
	out_finish(&screen->out, LEAVE_MS);
}

void screen_end(struct screen *screen)
{
	screen_leave(screen);
	out_close(&screen->out);
}

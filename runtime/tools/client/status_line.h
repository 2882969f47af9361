/* SPDX-License-Identifier: MIT */
/* status_line.h - a line on the terminal of standard error that is written anew in its place, while a command goes on. */
#ifndef STATUS_LINE_H
#define STATUS_LINE_H

#include <stdbool.h>
#include <stdint.h>

/* Zeros are none. */
struct status_line {
	bool is_wanted; /* standard error is a terminal */
	bool is_shown;
	int64_t next_ms;   /* by CLOCK_MONOTONIC: when it may change */
};

#define STATUS_LINE_MS 500

void status_line_begin(struct status_line *line);

/*
 * Whether it is time to write it: not too often, only while this program is in the terminal's foreground, and never while the terminal is
 * stopped.
 */
bool status_line_is_due(const struct status_line *line);

/* Writes it, and cuts it at the terminal's width. Nothing new is due for a while; if it took long to make, for a longer while. */
void status_line_show(struct status_line *line, const char *text, int64_t took_ms);

/* Milliseconds to sleep at most, of these; -1: for ever. */
int status_line_patience(const struct status_line *line, int ms);

/* Removes it: before a message, and at the end. */
void status_line_clear(struct status_line *line);

/* After ^C: what the terminal has shown of that goes away, so that a message begins a line. */
void wipe_interrupt(void);

/* The same, where a program may have left a line without an end there: it ends. */
void end_interrupted_line(void);

#endif /* STATUS_LINE_H */

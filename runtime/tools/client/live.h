/* SPDX-License-Identifier: MIT */
/* live.h - numbers of a process or a program, drawn again and again on a terminal, or printed once at the end. */
#ifndef LIVE_H
#define LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"
#include "client/screen.h"
#include "client/statistics.h"
#include "client/view.h"

enum { LIVE_INTERVAL = OPTION_LONG + 64, LIVE_FOR, LIVE_JSON };

#define LIVE_OPTIONS(json_text)                                                                                         \
	{LIVE_INTERVAL, "interval", "SECONDS", "how often the table is drawn; 1 without this option"},                   \
	{LIVE_FOR, "for", "SECONDS", "stop after this time"},                                                            \
	{LIVE_JSON, "json", NULL, json_text}

struct live {
	struct statistics statistics; /* to be had by statistics_of_processes() or statistics_of_program() */
	struct view view;
	struct lines text; /* as it is shown now */
	struct screen screen;
	bool on_terminal; /* standard output is one, and shows the view */
	bool shown;    /* there, while it runs */
	bool has_keys; /* which standard input passes on */
	int64_t interval; /* milliseconds */
	int64_t next_ms;  /* by CLOCK_MONOTONIC */
	int64_t for_ms;   /* how long it goes on; 0: no end */
	int64_t until_ms; /* the same, from the beginning of live_show() */
};

/*
 * As the options say; there are no statistics yet. With --json, and where as_text and standard output is no terminal, the view is not
 * used. False after a message.
 */
bool live_options(struct live *live, const struct tp_args *args, struct view view, bool as_text);

/*
 * Until the process or the program ends, a signal ends this one, or time is up. program: the name of the one that was
 * started, or NULL. signals_begin() was called. Returns the status that tp exits with.
 */
int live_show(struct live *live, const char *program);

#endif /* LIVE_H */

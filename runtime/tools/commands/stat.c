/* SPDX-License-Identifier: MIT */
/* stat.c - "tp stat": how often events happen, and with what values. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "commands/commands.h"
#include "options.h"
#include "reach/given.h"
#include "reach/screen.h"
#include "reach/signals.h"
#include "reach/statistics.h"
#include "reach/why.h"
#include "tell.h"

enum { OPTION_FIELD = OPTION_LONG, OPTION_BY, OPTION_TOP, OPTION_INTERVAL, OPTION_FOR, OPTION_JSON };

struct live {
	struct statistics statistics;
	struct screen screen;
	bool shown;      /* while it runs: on a terminal */
	long interval;   /* milliseconds */
	long next_ms;    /* by CLOCK_MONOTONIC */
	long until_ms;   /* 0: no end */
};

static long now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* ---- Options of the statistics ---- */

static bool add_option(char *options, size_t size, const char *name, const char *value)
{
	const size_t len = strlen(options);

	if (strpbrk(value, ",;% \n"))
		return tell("'%s' is no value of --%s", value, name);
	if (snprintf(options + len, size - len, "%s%s=%s", len ? "," : "", name, value) >= (int)(size - len))
		return tell("the options are too long");
	return true;
}

/* As TP_OUTPUT and the protocol have them. */
static bool make_options(const struct tp_args *args, char *options, size_t size)
{
	bool good = true;

	options[0] = '\0';
	for (size_t i = 0; i < args->nr_options && good; i++) {
		const struct tp_given *given = &args->options[i];
		if (given->id == OPTION_FIELD)
			good = add_option(options, size, "field", given->value);
		else if (given->id == OPTION_TOP)
			good = add_option(options, size, "top", given->value);
		else if (given->id == OPTION_BY)
			good = add_option(options, size, "by", given->value);
	}
	if (!good || !args->program)
		return good;
	/* Those of a program are in a file. */
	const char *interval = args_value(args, OPTION_INTERVAL);
	good = add_option(options, size, "interval", interval ? interval : "1");
	if (good && args_has(args, OPTION_JSON))
		strncat(options, ",json", size - strlen(options) - 1);
	return good;
}

/* ---- While it runs ---- */

static const char *text_of(const struct live *live)
{
	return live->statistics.text.text ? live->statistics.text.text : "";
}

static void stop(struct live *live)
{
	if (live->shown)
		screen_leave(&live->screen);
	signals_stop();
	if (live->shown)
		screen_draw(&live->screen, text_of(live));
}

/* False: a signal ends it. */
static bool take_signals(struct live *live)
{
	struct statistics *statistics = &live->statistics;
	bool going_on = true;

	for (int sig; (sig = signals_next());) {
		if (sig == SIGTSTP)
			stop(live);
		else if (sig == SIGWINCH && live->shown)
			screen_draw(&live->screen, text_of(live));
		else if (statistics->directory)
			child_pass_on(&statistics->child, sig);
		else if (signal_ends(sig))
			going_on = false;
	}
	return going_on;
}

static void wait_for_any(const struct live *live)
{
	const struct session *session = &live->statistics.session;
	const bool is_drawing = live->shown && out_is_waiting(&live->screen.out);
	struct pollfd polled[] = {
		{.fd = signals_fd(), .events = POLLIN},
		{.fd = session->connection.fd, .events = POLLIN},
		{.fd = session->pidfd, .events = POLLIN},
		{.fd = is_drawing ? live->screen.out.fd : -1, .events = POLLOUT},
	};
	const long end = live->until_ms && live->until_ms < live->next_ms ? live->until_ms : live->next_ms;
	const long left = end - now_ms();

	poll(polled, sizeof(polled) / sizeof(polled[0]), left > 0 ? (int)left : 0);
}

/* False: it can't go on. */
static bool show(struct live *live)
{
	if (!statistics_read(&live->statistics))
		return false;
	live->next_ms = now_ms() + live->interval;
	if (!live->shown)
		return true;
	screen_draw(&live->screen, text_of(live));
	return !live->screen.out.failed;
}

/* False: the numbers can't be had. */
static bool follow(struct live *live)
{
	bool good = true, going_on = true;

	while (good && going_on && !statistics_are_over(&live->statistics)) {
		const long now = now_ms();
		if (live->until_ms && now >= live->until_ms)
			break;
		if (now >= live->next_ms)
			good = show(live);
		if (live->shown && out_is_waiting(&live->screen.out))
			good = out_write(&live->screen.out) && good;
		wait_for_any(live);
		going_on = take_signals(live);
	}
	return good;
}

/* ---- The end ---- */

static void tell_no_last_numbers(const struct live *live, bool runs)
{
	const struct connection *connection = &live->statistics.session.connection;

	if (runs)
		tell("%s has not answered: %s; these are the last numbers that it gave", connection_title(connection),
		     why_silent(connection->pid));
	else
		tell("%s has ended: these are the numbers of up to %.3g s before", connection_title(connection),
		     (double)live->interval / 1000);
}

static int finish(struct live *live, const struct tp_args *args, bool good)
{
	struct statistics *statistics = &live->statistics;
	const bool ended = statistics_are_over(statistics);

	if (live->shown)
		screen_end(&live->screen);
	if (good && (statistics->directory || !ended))
		good = statistics_read(statistics);
	/* The end of this command gives up a request that a stopped process has not answered. */
	const bool missed = !statistics->directory && (ended || statistics->session.connection.fd < 0);
	const bool runs = missed && session_process_runs(&statistics->session);
	/* What follows may wait for the terminal. */
	statistics_end(statistics);
	signals_end();
	if (good)
		fputs(text_of(live), stdout);
	if (missed)
		tell_no_last_numbers(live, runs);
	if (ended && statistics->directory && child_crash(&statistics->child))
		tell("'%s' (%d) %s", args->program[0], (int)statistics->child.pid, child_crash(&statistics->child));
	if (ended && statistics->directory && !statistics->text.len)
		tell("'%s' has no tracepoints, or has not ended as programs do: there are no numbers", args->program[0]);
	if (!good)
		return EXIT_FAILED;
	return statistics->directory ? child_exit_status(&statistics->child) : EXIT_DONE;
}

static int stat_all(struct live *live, const struct tp_args *args, const char *events, const char *options)
{
	struct statistics *statistics = &live->statistics;
	const char *wanted = args->program ? NULL : given_pid(args);

	if (!args->program && !wanted)
		return EXIT_WRONG;
	if (args->program && !statistics_of_program(statistics, args->program, options, events))
		return statistics->child.status;
	if (wanted && !statistics_of_process(statistics, wanted, args_value(args, 'o'), options, events))
		return EXIT_FAILED;
	if (live->shown)
		live->shown = screen_begin(&live->screen);
	return finish(live, args, follow(live));
}

/* ---- The command ---- */

static int run(const struct tp_args *args)
{
	struct live live = {.statistics = {.session = {.pidfd = -1, .connection.fd = -1}}, .interval = 1000};
	char options[2048];
	long ms = 0;
	int status = EXIT_FAILED;

	if (!given_target(args))
		return EXIT_WRONG;
	if (args_has(args, 'o') && (args->program || args_has(args, 'e')))
		return args_wrong(args, "-o shows statistics that are there: it goes with -p, and without -e");
	if (args->program && args_has(args, OPTION_FOR))
		return args_wrong(args, "a program is counted until it ends: --for goes with -p");
	if (args_has(args, OPTION_INTERVAL) &&
	    (live.interval = given_seconds(args, "--interval", args_value(args, OPTION_INTERVAL))) < 0)
		return EXIT_WRONG;
	if (args_has(args, OPTION_FOR) && (ms = given_seconds(args, "--for", args_value(args, OPTION_FOR))) < 0)
		return EXIT_WRONG;
	if (!make_options(args, options, sizeof(options)))
		return EXIT_WRONG;
	live.statistics.json = args_has(args, OPTION_JSON);
	live.shown = !live.statistics.json && screen_is_possible();
	live.until_ms = ms ? now_ms() + ms : 0;
	char *events = given_events(args);
	if (events && signals_begin())
		status = stat_all(&live, args, events, options);
	statistics_close(&live.statistics);
	signals_end();
	free(events);
	return status;
}

const struct tp_command command_stat = {
	.name = "stat",
	.summary = "count the events of a process, and their values",
	.usage = (const char *const[]){"-p PID [-e EVENTS] [OPTION...]", "-p PID -o OUTPUT [OPTION...]",
				       "[-e EVENTS] [OPTION...] -- PROGRAM [ARGUMENT...]", NULL},
	.options = (const struct tp_option[]){
		OPTION_PID,
		OPTION_EVENTS,
		{OPTION_FIELD, "field", "FIELDS", "fields whose values are counted, as in net:net_request.size+net:*.peer"},
		{OPTION_BY, "by", "thread", "adds a table by thread"},
		{OPTION_TOP, "top", "NUMBER", "how many of a field's most frequent values are shown; 10 without this option"},
		{OPTION_INTERVAL, "interval", "SECONDS", "how often the table is drawn; 1 without this option"},
		{OPTION_FOR, "for", "SECONDS", "stop after this time"},
		{OPTION_JSON, "json", NULL, "one JSON object at the end, as docs/sinks.md describes it"},
		{'o', "output", "OUTPUT", "show statistics that the process has already: the id or the name of an output"},
		{.name = NULL},
	},
	.text =
		"Counts, in the process and without a trace, how often events happen, how fast one follows the "
		"other in a thread, and with what values in the fields that --field names. On a terminal, the table "
		"is drawn every second, until ^C or until the process ends; the last one stays. Otherwise one table "
		"is printed at the end.\n\n"
		"docs/sinks.md explains the columns (\"Statistics\").\n\n"
		"With a PROGRAM, there is a table for each of the processes that it becomes, and tp exits with its "
		"status; with 128 + N if signal N has killed it.\n",
	.run = run,
};

/* SPDX-License-Identifier: MIT */
/* stat.c - "tp stat": how often events happen, and with what values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "options.h"
#include "client/common_options.h"
#include "client/live.h"
#include "client/signals.h"
#include "client/stat_view.h"
#include "fail_msg.h"

enum { OPTION_FIELD = OPTION_LONG, OPTION_BY, OPTION_TOP, OPTION_SORT };

/* ---- Options of the statistics ---- */

static bool add_option(char *options, size_t size, const char *name, const char *value)
{
	const size_t len = strlen(options);

	if (strpbrk(value, ",;% \n"))
		return fail_msg("'%s' is no value of --%s", value, name);
	if (snprintf(options + len, size - len, "%s%s=%s", len ? "," : "", name, value) >= (int)(size - len))
		return fail_msg("the options are too long");
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
	const char *interval = args_value(args, LIVE_INTERVAL);
	return add_option(options, size, "interval", interval ? interval : "1");
}

static int stat_all(struct live *live, const struct tp_args *args, const char *events, const char *options)
{
	struct statistics *statistics = &live->statistics;
	const struct counting counting = {.kind = "stats", .options = options, .events = events, .output = args_value(args, 'o')};

	if (args->program && !statistics_of_program(statistics, args->program, options, events))
		return statistics->child.status;
	if (!args->program && !statistics_of_processes(statistics, args, counting, false))
		return EXIT_FAILED;
	return live_show(live, args->program ? args->program[0] : NULL);
}

/* ---- The command ---- */

static int run(const struct tp_args *args)
{
	struct stat_view view = {.by_thread = args_has(args, OPTION_BY)};
	struct live live;
	char options[2048];
	int status = EXIT_FAILED;

	if (!target_is_given(args))
		return EXIT_WRONG;
	if (args_has(args, 'o') && (args->program || args_has(args, 'e')))
		return args_wrong(args, "-o shows statistics that are there: it goes with -p, and without -e");
	if (args->program && args_has(args, LIVE_FOR))
		return args_wrong(args, "a program is counted until it ends: --for goes with -p");
	if (args_has(args, OPTION_SORT) && !stat_sort_parse(&view.sort, args_value(args, OPTION_SORT)))
		return args_wrong(args, "--sort takes one of hits, rate, average, name");
	if (!live_options(&live, args, stat_view_of(&view), false) || !make_options(args, options, sizeof(options)))
		return EXIT_WRONG;
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
	.usage = (const char *const[]){"-p PID... [-e EVENTS] [OPTION...]", "-p PID... -o OUTPUT [OPTION...]",
				       "[-e EVENTS] [OPTION...] -- PROGRAM [ARGUMENT...]", NULL},
	.options = (const struct tp_option[]){
		OPTION_TARGETS,
		OPTION_EVENTS,
		{OPTION_FIELD, "field", "FIELDS", "fields whose values are counted, as in net:net_request.size+net:*.peer"},
		{OPTION_BY, "by", "thread", "adds a table by thread"},
		{OPTION_TOP, "top", "NUMBER", "how many of a field's most frequent values are shown; 10 without this option"},
		{OPTION_SORT, "sort", STAT_SORT_WORDS, "what the rows are sorted by; hits without this option"},
		LIVE_OPTIONS("one JSON object at the end, as docs/outputs/statistics.md describes it"),
		{'o', "output", "OUTPUT", "show statistics that the process has already: the id or the name of an output"},
		{.name = NULL},
	},
	.text =
		"Counts, in the process and without a trace, how often events happen, how fast one follows the "
		"other in a thread, and with what values in the fields that --field names. On a terminal, the table "
		"is drawn every second, until ^C or until the process ends; the last one stays. Otherwise one table "
		"is printed at the end.\n\n"
		"RATE is of the last interval, AVG of the whole time. MIN, MEAN and MAX are times between an event and the next one in the same "
		"thread. Of several processes, each has a row below their sum, with its share of the number that the rows are sorted by.\n\n"
		"KEYS\n\n"
		"h, r, a and n sort by hits, rate, average and name; p hides the processes' rows, or shows them; q ends, as ^C does.\n\n"
		"PROGRAMS\n\n"
		"With a PROGRAM, there is a table for each of the processes that it becomes, and tp exits with its "
		"status; with 128 + N if signal N has killed it.\n",
	.run = run,
};

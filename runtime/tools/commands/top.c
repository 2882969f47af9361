/* SPDX-License-Identifier: MIT */
/* top.c - "tp top": which events happen most, in all processes. */
#include <stdlib.h>
#include <string.h>

#include "client/common_options.h"
#include "client/live.h"
#include "client/signals.h"
#include "client/stat_view.h"
#include "client/targets.h"
#include "commands/commands.h"
#include "options.h"

enum { OPTION_SORT = OPTION_LONG };

/* How often -n lets the table be drawn; 0: as long as it takes; -1 after a message. */
static long given_times(const struct tp_args *args)
{
	const char *value = args_value(args, 'n');
	char *end;

	if (!value)
		return 0;
	const long times = strtol(value, &end, 10);
	if (value[0] >= '1' && value[0] <= '9' && !*end && times < 1000000000)
		return times;
	args_wrong(args, "-n takes a number of tables, from 1");
	return -1;
}

/* What is no terminal gets one table, after an interval. False after a message. */
static bool set_end(struct live *live, const struct tp_args *args)
{
	const long times = given_times(args);

	if (times > 0)
		live->for_ms = times * live->interval;
	else if (!live->for_ms && !live->on_terminal)
		live->for_ms = live->interval;
	return times >= 0;
}

static int run(const struct tp_args *args)
{
	struct stat_view view = {.sort = STAT_BY_RATE};
	struct live live;
	int status = EXIT_FAILED;

	if (args->nr_operands || args->program)
		return args_wrong(args, "it takes options only; -p says which processes, \"tp stat\" counts a program behind --");
	if (args_has(args, 'n') && args_has(args, LIVE_FOR))
		return args_wrong(args, "give it -n or --for, not both");
	if (args_has(args, OPTION_SORT) && !stat_sort_parse(&view.sort, args_value(args, OPTION_SORT)))
		return args_wrong(args, "--sort takes one of hits, rate, average, name");
	if (!live_options(&live, args, stat_view_of(&view), false) || !set_end(&live, args))
		return EXIT_WRONG;
	char *events = given_events(args);
	const struct counting counting = {.kind = "stats", .options = "", .events = events};
	if (events && signals_begin() && statistics_of_processes(&live.statistics, args, counting, !args_has(args, 'p')))
		status = live_show(&live, NULL);
	statistics_close(&live.statistics);
	signals_end();
	free(events);
	return status;
}

const struct tp_command command_top = {
	.name = "top",
	.summary = "show which events happen most, in all processes",
	.usage = (const char *const[]){"[-p PID...] [-e EVENTS] [OPTION...]", NULL},
	.options = (const struct tp_option[]){
		OPTION_TARGETS,
		OPTION_EVENTS,
		{OPTION_SORT, "sort", STAT_SORT_WORDS, "what the rows are sorted by; rate without this option"},
		{'n', "number", "NUMBER", "stop after so many intervals"},
		LIVE_OPTIONS("JSON, an object of each process, as docs/outputs/statistics.md describes it"),
		{.name = NULL},
	},
	.text =
		"Counts the events of every process that can be reached, also of those that come, and shows the most frequent ones: a row for each "
		"event, and below it one for each process. On a terminal, the table is drawn every second, until ^C. Otherwise it is printed once, "
		"after a second, or after the time of --for or -n.\n\n"
		"The columns and the keys are those of \"tp stat\".\n",
	.run = run,
};

/* SPDX-License-Identifier: MIT */
/* latency.c - "tp latency": how long it takes from one event to another. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/common_options.h"
#include "client/live.h"
#include "client/rules.h"
#include "client/signals.h"
#include "commands/commands.h"
#include "events/pattern.h"
#include "fail_msg.h"
#include "client/targets.h"
#include "latency/latency.h"
#include "latency/of_traces.h"
#include "options.h"

enum { OPTION_KEY = OPTION_LONG, OPTION_BY, OPTION_SLOWEST };

#define SLOWEST_MAX 100

/* What is measured: names, in copies. The operands are rules, "EVENT" or "EVENT if FILTER". */
struct ends {
	char *begin, *end;
	const char *begin_rule, *end_rule; /* the latter is NULL where both are one event */
};

/* ---- What the processes are asked ---- */

static bool is_plain(const char *value)
{
	return *value && !strpbrk(value, ",;% \t\n");
}

static bool add_option(struct lines *options, const char *name, const char *value)
{
	if (!is_plain(value))
		return fail_msg("'%s' is no %s", value, name);
	return (lines_add(options, ",", 1) && lines_add(options, name, strlen(name)) && lines_add(options, "=", 1) &&
		lines_add(options, value, strlen(value))) || fail_no_memory();
}

/* Commas between fields are for the user; the output's own options have them, too. */
static bool add_fields(struct lines *options, const char *name, const char *value)
{
	char *copy = strdup(value);

	for (char *at = copy; at && *at; at++)
		*at = *at == ',' ? '+' : *at;
	const bool good = copy ? add_option(options, name, copy) : fail_no_memory();
	free(copy);
	return good;
}

static bool make_options(const struct tp_args *args, const struct ends *ends, struct lines *options)
{
	return add_option(options, "begin", ends->begin) && add_option(options, "end", ends->end) &&
	       (!args_has(args, OPTION_KEY) || add_fields(options, "key", args_value(args, OPTION_KEY))) &&
	       (!args_has(args, OPTION_BY) || add_fields(options, "by", args_value(args, OPTION_BY))) &&
	       (!args_has(args, OPTION_SLOWEST) || add_option(options, "slowest", args_value(args, OPTION_SLOWEST)));
}

/* Takes copies apart. False after a message. */
static bool take_ends(struct ends *ends, char *begin, char *end)
{
	*ends = (struct ends){.begin = strdup(begin), .end = strdup(end)};
	if (!ends->begin || !ends->end)
		return fail_no_memory();
	const char *begin_filter = tp_pattern_take_filter(ends->begin), *end_filter = tp_pattern_take_filter(ends->end);
	if (!is_plain(ends->begin) || !is_plain(ends->end))
		return fail_msg("'%s' is no event: give it one name for the begin, and one for the end", is_plain(ends->begin) ? end : begin);
	const bool same = strcmp(ends->begin, ends->end) == 0;
	if (same && (begin_filter || end_filter))
		return fail_msg("begin and end are one event, from each to the next: they have no filter");
	ends->begin_rule = begin;
	ends->end_rule = same ? NULL : end;
	return true;
}

static void free_ends(struct ends *ends)
{
	free(ends->begin);
	free(ends->end);
}

/* ---- Where it is measured ---- */

static bool start_program(struct statistics *statistics, char *const *program, const struct ends *ends, const char *options)
{
	char *rules;

	statistics->child.status = 1 << 8;
	if (asprintf(&rules, "%s%s%s", ends->begin_rule, ends->end_rule ? ";" : "", ends->end_rule ? ends->end_rule : "") < 0)
		return fail_no_memory();
	const bool started = statistics_of_programs_latency(statistics, program, options, rules);
	free(rules);
	return started;
}

static int measure(struct live *live, const struct tp_args *args, const struct ends *ends, const char *options)
{
	struct statistics *statistics = &live->statistics;
	const struct counting counting = {
		.kind = "latency", .options = options, .events = ends->begin_rule, .ends = ends->end_rule,
	};
	int status = EXIT_FAILED;

	if (!signals_begin())
		return EXIT_FAILED;
	if (args->program)
		status = start_program(statistics, args->program, ends, options) ? live_show(live, args->program[0]) : statistics->child.status;
	else if (statistics_of_processes(statistics, args, counting, false))
		status = live_show(live, NULL);
	statistics_close(statistics);
	signals_end();
	return status;
}

static int run_live(const struct tp_args *args, struct latency_view *view)
{
	struct lines options = {.text = NULL};
	struct live live;
	struct ends ends;
	int status = EXIT_WRONG;

	if (args->nr_operands != 2)
		return args_wrong(args, "give it two events, BEGIN and END");
	if (!target_is_given(args) || !live_options(&live, args, latency_view_of(view), false))
		return EXIT_WRONG;
	live.statistics.form = STATISTICS_NUMBERS; /* --json is of all processes together */
	if (take_ends(&ends, args->operands[0], args->operands[1]) && make_options(args, &ends, &options))
		status = measure(&live, args, &ends, options.text + 1);
	lines_free(&options);
	free_ends(&ends);
	return status;
}

/* ---- What was recorded ---- */

static bool put(const struct latency *latency, const struct latency_view *view)
{
	struct lines text = {.text = NULL};
	const bool good = view->json ? latency_put_json(latency, &text) : latency_put_text(latency, &(struct area){.text = &text});

	if (good)
		fputs(text.text, stdout);
	lines_free(&text);
	return good;
}

static int run_recorded(const struct tp_args *args, const struct latency_view *view)
{
	struct latency latency = {.groups = NULL};

	if (args->nr_operands < 3)
		return args_wrong(args, "give it two events, BEGIN and END, and where: -p PID, a trace's directory in front of them, or a program behind --");
	if (args_has(args, LIVE_FOR) || args_has(args, LIVE_INTERVAL))
		return args_wrong(args, "--for and --interval go with -p");
	const size_t nr = args->nr_operands - 2;
	const struct latency_wanted wanted = {
		.begin = args->operands[nr], .end = args->operands[nr + 1], .key = args_value(args, OPTION_KEY),
		.by = args_value(args, OPTION_BY), .slowest = view->slowest,
	};
	const bool good = latency_of_traces(&latency, &wanted, args->operands, nr) && put(&latency, view);
	latency_free(&latency);
	return good ? EXIT_DONE : EXIT_FAILED;
}

/* ---- The command ---- */

static bool read_slowest(const struct tp_args *args, struct latency_view *view)
{
	const char *text = args_value(args, OPTION_SLOWEST);
	char *end;

	if (!text)
		return true;
	const unsigned long nr = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || !nr || nr > SLOWEST_MAX)
		return fail_msg("--slowest takes a number from 1 to %d, not '%s'", SLOWEST_MAX, text);
	view->slowest = nr;
	return true;
}

static int run(const struct tp_args *args)
{
	struct latency_view view = {.json = args_has(args, LIVE_JSON)};

	if (!read_slowest(args, &view))
		return EXIT_WRONG;
	if (args->program || args_has(args, 'p') || args_has(args, OPTION_ALL) || args->nr_operands == 2)
		return run_live(args, &view);
	return run_recorded(args, &view);
}

const struct tp_command command_latency = {
	.name = "latency",
	.summary = "measure how long it takes from one event to another",
	.usage = (const char *const[]){"-p PID... BEGIN END [OPTION...]", "BEGIN END [OPTION...] -- PROGRAM [ARGUMENT...]", "DIR... BEGIN END [OPTION...]", NULL},
	.operand = "EVENTS",
	.options = (const struct tp_option[]){
		OPTION_TARGETS,
		{OPTION_KEY, "key", "FIELDS", "the fields by whose values a begin and its end belong together, as in id or id,peer; id:request if "
					      "the end calls it otherwise; without this option, both happen in one thread"},
		{OPTION_BY, "by", "FIELDS", "groups by the values of these fields, all of the end or else all of the begin"},
		{OPTION_SLOWEST, "slowest", "NUMBER", "show so many of the slowest pairs, with all fields of both events; at most 100"},
		LIVE_OPTIONS("one JSON object at the end, as docs/latency.md describes it"),
		{.name = NULL},
	},
	.text =
		"Matches each END with the latest BEGIN that has the same key, and shows how many pairs there were, and how long the "
		"fastest 50, 90, 99 and 99.9 percent of them took; these numbers are right to 1.6 percent. BEGIN and END are events, each "
		"perhaps with a filter:\n\n"
		"\ttp latency -p server net:begin net:end --key id --by peer\n"
		"\ttp latency -p server 'db:query if size > 4096' db:done --slowest 5\n\n"
		"On a terminal, the numbers are drawn every second, until ^C or until the process ends; the last ones stay. Otherwise they "
		"are printed once, at the end. Nothing is recorded, and the process is left as it was found.\n\n"
		"With a DIR, a trace of \"tp record\" is measured, and all traces below it.\n\n"
		"Begins without an end are counted. 65,536 can wait for theirs; of one key, 16. Beyond that, the oldest are forgotten, and "
		"counted.\n\n"
		"With a PROGRAM, the numbers are of all processes that it becomes, printed when they have ended. tp exits with its status; "
		"with 128 + N if signal N has killed it.\n",
	.run = run,
};

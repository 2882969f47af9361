/* SPDX-License-Identifier: MIT */
/* hist.c - "tp hist": events counted by the values of their fields. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/common_options.h"
#include "client/hist_view.h"
#include "client/json.h"
#include "client/live.h"
#include "client/rules.h"
#include "client/signals.h"
#include "client/targets.h"
#include "commands/commands.h"
#include "events/pattern.h"
#include "fail_msg.h"
#include "options.h"

/* ---- Those that the process has ---- */

struct shown {
	struct connection *connection;
	struct lines *text; /* where lines go; NULL: to standard output */
	size_t nr;          /* lines, or histograms */
};

static bool put_line(void *data, char *line)
{
	struct shown *shown = data;

	if (strncmp(line, "note ", strlen("note ")) == 0) {
		fflush(stdout);
		fail_msg("%s: %s", connection_title(shown->connection), line + strlen("note "));
	}
	if (line[0] != '\t')
		return true;
	shown->nr++;
	if (shown->text)
		return lines_add(shown->text, line + 1, strlen(line + 1)) && lines_add(shown->text, "\n", 1);
	puts(line + 1);
	return true;
}

/* On a terminal. */
static bool show_list(struct shown *shown, const char *events)
{
	struct lines text = {.text = NULL}, table = {.text = NULL};
	struct json_document list = {.text = NULL};
	size_t width, height;
	struct answer answer;

	shown->text = &text;
	screen_size(&width, &height);
	bool good = ask(shown->connection, &answer, -1, put_line, shown, "histograms json %s", events);
	shown->nr = 0;
	if (good && text.len) {
		good = json_parse(&list, text.text) || fail_msg("%s has answered in a way that is not understood", connection_title(shown->connection));
		text = (struct lines){.text = NULL};
		shown->nr = json_count(list.root.first);
		good = good && hist_view_put_list(&list.root, &table, width);
		fputs(table.text ? table.text : "", stdout);
	}
	lines_free(&table);
	lines_free(&text);
	json_free(&list);
	return good;
}

static bool show_all(struct connection *connection, const struct tp_args *args)
{
	struct answer answer;
	struct shown shown = {.connection = connection};
	char *events = given_events(args);
	bool good = events && (args_has(args, LIVE_JSON) || !screen_is_possible()
			? ask(connection, &answer, -1, put_line, &shown, "histograms %s %s", args_has(args, LIVE_JSON) ? "json" : "text", events)
			: show_list(&shown, events));

	if (good && !shown.nr)
		good = fail_msg("%s has no histogram of '%s'; \"tp help hist\" says how one is made", connection_title(connection), events);
	free(events);
	return good;
}

/* ---- A new one ---- */

/* "hist:keys=... if FILTER" is what triggers have. False after a message. */
static bool take_apart(const struct tp_args *args, char *definition, char **events)
{
	const char *filter = tp_pattern_take_filter(definition);
	char *rule;

	if (!filter)
		return true;
	if (strchr(*events, ';') || strstr(*events, " " TP_FILTER_WORD " "))
		return args_wrong(args, "there is a filter in -e and one in the DEFINITION; give it one") == EXIT_DONE;
	if (asprintf(&rule, "%s " TP_FILTER_WORD " %s", *events, filter) < 0)
		return fail_no_memory();
	free(*events);
	*events = rule;
	return true;
}

static int show_new_of_program(struct live *live, char *const *program, const char *definition, const char *events)
{
	if (!statistics_of_programs_histogram(&live->statistics, program, definition, events))
		return live->statistics.child.status;
	return live_show(live, program[0]);
}

static int show_new(struct live *live, const struct tp_args *args, const char *definition, const char *events)
{
	const bool begun = signals_begin();
	int status = EXIT_FAILED;

	if (strncmp(definition, "hist:", strlen("hist:")) == 0)
		definition += strlen("hist:");
	const struct counting counting = {.kind = "hist", .options = definition, .events = events};
	if (begun && args->program)
		status = show_new_of_program(live, args->program, definition, events);
	else if (begun && statistics_of_processes(&live->statistics, args, counting, false))
		status = live_show(live, NULL);
	statistics_close(&live->statistics);
	signals_end();
	return status;
}

/* ---- The command ---- */

static bool is_one_rule(const char *events)
{
	char *copy = strdup(events);
	const bool is = copy && !tp_cut_at_semicolon(copy, true);

	free(copy);
	return is;
}

static int run(const struct tp_args *args)
{
	struct hist_view view = {.definition = ""};
	struct live live;
	int status = EXIT_WRONG;

	if (args->nr_operands > 1 || (args->program && !args->nr_operands))
		return args_wrong(args, "give it one DEFINITION, in quotes, such as 'keys=method:vals=size'; or, for a process, none");
	if (!target_is_given(args) || !live_options(&live, args, hist_view_of(&view), true))
		return EXIT_WRONG;
	if (args->program && (args_has(args, LIVE_FOR) || args_has(args, LIVE_INTERVAL)))
		return args_wrong(args, "the histogram of a program is printed when it ends: --for and --interval go with -p");
	if (!args->nr_operands && (args_has(args, LIVE_FOR) || args_has(args, LIVE_INTERVAL)))
		return args_wrong(args, "without a DEFINITION, histograms are shown as they are now, once");
	if (!args->nr_operands)
		return targets_each(args, show_all);
	char *events = given_events(args);
	char *definition = strdup(args->operands[0]);
	view.definition = definition ? definition : "";
	if (events && definition && args->program && !(is_one_rule(events) && is_one_rule(definition)))
		status = args_wrong(args, "a program has one histogram, with one filter: there is a ';' too many");
	else if (events && definition && take_apart(args, definition, &events))
		status = show_new(&live, args, definition, events);
	free(definition);
	free(events);
	return status;
}

const struct tp_command command_hist = {
	.name = "hist",
	.summary = "count events by the values of their fields",
	.usage = (const char *const[]){"-p PID... [-e EVENTS] [OPTION...] DEFINITION", "-p PID... [-e EVENTS] [--json]",
				       "[-e EVENTS] [--json] DEFINITION -- PROGRAM [ARGUMENT...]", NULL},
	.operand = "DEFINITION",
	.options = (const struct tp_option[]){
		OPTION_TARGETS,
		OPTION_EVENTS,
		LIVE_OPTIONS("JSON, as docs/histograms.md describes it"),
		{.name = NULL},
	},
	.text =
		"Counts, in the process and without a trace, how often events happen with which values in their "
		"fields. DEFINITION is what stands behind \"hist:\" in a trigger, in the kernel's language:\n\n"
		"\ttp hist -p server -e net:net_request 'keys=peer:vals=size'\n"
		"\ttp hist -p server -e 'net_request if size > 0' 'keys=method,size.log2'\n\n"
		"On a terminal, the histogram is drawn every second, until ^C or until the process ends; the last one "
		"stays. The most frequent entries are first, unless DEFINITION has \"sort=\". Otherwise the histogram is printed once, at the end, "
		"as the kernel prints it. The process is left as it was found.\n\n"
		"Without a DEFINITION, the histograms that the process has already are printed, as they are now: "
		"those of TP_TRIGGER, tp_trigger() and \"tp trigger\", and those that another tp looks at.\n\n"
		"With a PROGRAM, there is a histogram for each of the processes that it becomes, printed when it has ended. tp exits with "
		"its status; with 128 + N if signal N has killed it.\n\n"
		"docs/histograms.md has the language.\n",
	.run = run,
};

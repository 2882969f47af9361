/* SPDX-License-Identifier: MIT */
/* list.c - "tp list": the events of a process, or of a program, from its file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "elf/elf_events.h"
#include "events/pattern.h"
#include "events_text.h"
#include "options.h"
#include "client/common_options.h"
#include "client/listing.h"
#include "client/targets.h"
#include "fail_msg.h"

#define NO_LIBRARIES (OPTION_LONG + 1)

static bool list_process(struct connection *connection, const struct tp_args *args)
{
	struct event_list list = {.events = NULL};
	char *patterns = given_patterns(args, 0);
	bool good = patterns && listing_read(&list, connection, patterns, args_has(args, 'v'));

	if (good && !list.nr)
		good = fail_msg("%s has no event that matches '%s'; without patterns, all of its events are listed",
				connection_title(connection), patterns);
	if (good)
		event_list_print(&list, args_has(args, 'v'), stdout);
	event_list_free(&list);
	free(patterns);
	return good;
}

static int list_program(const struct tp_args *args, const struct tp_pattern *pattern, const char *patterns)
{
	struct event_list list = {.events = NULL};
	bool good = elf_events(args->operands[0], pattern, !args_has(args, NO_LIBRARIES), &list);

	if (good && !list.nr)
		good = fail_msg("'%s' has no event that matches '%s'; without patterns, all of its events are listed",
			    args->operands[0], patterns);
	if (good)
		event_list_print(&list, args_has(args, 'v'), stdout);
	event_list_free(&list);
	return good ? EXIT_DONE : EXIT_FAILED;
}

static int run(const struct tp_args *args)
{
	struct tp_pattern *pattern = NULL;
	char *patterns = NULL;
	int error = 0;
	int status = EXIT_FAILED;

	if ((args_has(args, 'p') || args_has(args, OPTION_ALL)) && !args->program)
		return targets_each(args, list_process);
	if (!args->nr_operands || args->program)
		return args_wrong(args, "give it a PROGRAM, or -p PID");
	if (args->nr_operands > 1) {
		patterns = given_patterns(args, 1);
		pattern = patterns ? tp_pattern_new(patterns, &error) : NULL;
	}
	if (error == -EINVAL)
		status = args_wrong(args, "'%s' is no list of events: patterns with commas between them, such as "
					  "'net:*,!net:debug_*'", patterns);
	else if (error)
		fail_no_memory();
	else if (pattern || args->nr_operands == 1)
		status = list_program(args, pattern, patterns);
	tp_pattern_free(pattern);
	free(patterns);
	return status;
}

const struct tp_command command_list = {
	.name = "list",
	.summary = "show which events a process or a program has",
	.usage = (const char *const[]){"-p PID... [EVENTS] [-v]", "PROGRAM [EVENTS] [-v]", NULL},
	.operand = "FILE",
	.options = (const struct tp_option[]){
		OPTION_TARGETS,
		{'v', "verbose", NULL, "also the fields of each event, with their places in its record, and its TP_printk"},
		{NO_LIBRARIES, "no-libraries", NULL, "only what is in the file itself"},
		{.name = NULL},
	},
	.text =
		"Lists the events that a process has, those of plugins included: a line for each, with its name, its level, "
		"the place where it is defined, and whether it is on: \"off\", or \"on:\" and the ids of the outputs to "
		"which it goes, as \"tp outputs\" shows them.\n\n"
		"Lists the events that PROGRAM has, without running it: a line for each, with its name, its level, and the "
		"place where it is defined. PROGRAM is the path of a program, a library or a plugin, or the name of a "
		"program that is found in $PATH. EVENTS are patterns, as tp_enable() and TP_ENABLE take them.\n\n"
		"The events of the libraries that PROGRAM is linked with follow. They are looked for in the directories that "
		"the program names (RPATH, RUNPATH), in those of LD_LIBRARY_PATH, and in those where systems have them.\n\n"
		"On a terminal, a header stands above the columns.\n",
	.run = run,
};

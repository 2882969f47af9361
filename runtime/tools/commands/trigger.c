/* SPDX-License-Identifier: MIT */
/* trigger.c - "tp trigger": what events set off in a process. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"
#include "options.h"
#include "client/common_options.h"
#include "client/outputs.h"
#include "client/recording.h"
#include "client/rules.h"
#include "client/targets.h"
#include "fail_msg.h"

enum { OPTION_DIRECTORY = OPTION_LONG };

/* What the protocol has in place of an output's id. */
#define NO_OUTPUT "-"

struct wanted {
	const char *output; /* as the user calls it; or NULL */
	const char *directory;
	const char *patterns, *trigger;
};

/* ---- Showing ---- */

struct shown {
	const char *id; /* of the output; NULL: all */
	size_t nr;
};

/* "trigger ID PATTERNS TRIGGER" */
static bool put_trigger(void *data, char *line)
{
	struct shown *shown = data;
	char *id = line + strlen("trigger ");

	if (strncmp(line, "trigger ", strlen("trigger ")) != 0)
		return true;
	char *patterns = strchr(id, ' ');
	char *trigger = patterns ? strchr(patterns + 1, ' ') : NULL;
	if (!trigger)
		return true;
	*patterns++ = *trigger++ = '\0';
	if (shown->id && strcmp(id, shown->id) != 0)
		return true;
	if (!shown->nr++)
		printf("%5s %-30s %s\n", "ID", "EVENTS", "TRIGGER");
	printf("%5s %-30s %s\n", id, patterns, trigger);
	return true;
}

static bool show(struct connection *connection, const char *id)
{
	struct shown shown = {.id = id};
	struct answer answer;
	const bool good = ask(connection, &answer, -1, put_trigger, &shown, "triggers");

	if (good && !shown.nr)
		fail_msg("%s has no trigger", connection_title(connection));
	return good;
}

/* ---- Setting ---- */

/* Histograms; but for those that take snapshots of one. */
static bool needs_no_output(const char *trigger)
{
	static const char *const alone[] = {"hist", "enable_hist", "disable_hist"};
	const char *name = trigger + (*trigger == '!');
	const size_t len = strcspn(name, ": ");

	for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++) {
		if (strlen(alone[i]) == len && memcmp(alone[i], name, len) == 0)
			return !strstr(trigger, ".snapshot()");
	}
	return false;
}

/* Blanks behind commas are no part of patterns. For free(); NULL, and a message. */
static char *request_of(const char *id, const struct wanted *wanted)
{
	char *patterns = strdup(wanted->patterns), *request = NULL;
	char *to = patterns;

	for (const char *at = patterns; at && *at; at++) {
		if (*at != ' ' && *at != '\t')
			*to++ = *at;
	}
	if (to)
		*to = '\0';
	if (!patterns || asprintf(&request, "trigger %s %s %s", id, patterns, wanted->trigger) < 0) {
		request = NULL;
		fail_no_memory();
	}
	free(patterns);
	return request;
}

static void tell_set(const struct connection *connection, const struct wanted *wanted, const char *nr)
{
	if (*wanted->trigger == '!')
		printf("the trigger is taken off\n");
	else if (strcmp(nr, "0") != 0)
		printf("the trigger is set; %s event%s it\n", nr, strcmp(nr, "1") == 0 ? " fires" : "s fire");
	else if (!needs_no_output(wanted->trigger))
		fail_msg("no event of %s is called '%s' now; those of modules that are loaded later fire the trigger",
		     connection_title(connection), wanted->patterns);
}

/* The directory is the process's from here on; one that was made for nothing goes again. */
static bool set(struct connection *connection, const char *id, const struct wanted *wanted)
{
	struct recording recording = {.session = {.pidfd = -1, .connection = targets_take(connection)}, .dir = -1};
	char *request = request_of(id, wanted);
	struct answer answer;
	bool good = request && (!wanted->directory || recording_directory(&recording, wanted->directory));

	good = good && ask_with_notes(&recording.session.connection, &answer, recording.dir, request);
	if (good)
		tell_set(&recording.session.connection, wanted, answer.text);
	else if (recording.dir >= 0)
		recording_undo(&recording);
	*connection = targets_take(&recording.session.connection);
	recording_close(&recording);
	free(request);
	return good;
}

/* ---- The command ---- */

static struct wanted given(const struct tp_args *args)
{
	return (struct wanted){
		.output = args_value(args, 'o'), .directory = args_value(args, OPTION_DIRECTORY),
		.patterns = args->nr_operands ? args->operands[0] : NULL, .trigger = args->nr_operands ? args->operands[1] : NULL,
	};
}

static bool show_or_set(struct connection *connection, const struct tp_args *args)
{
	const struct wanted given_ones = given(args), *wanted = &given_ones;
	struct output_list list = {.all = NULL};
	const struct output *output = NULL;
	const bool needs_output = wanted->patterns ? !needs_no_output(wanted->trigger) : wanted->output != NULL;
	bool good = !needs_output || outputs_read(&list, connection);

	if (needs_output && good) {
		output = outputs_choose(&list, connection, wanted->output);
		good = output != NULL;
	}
	if (good && wanted->patterns)
		good = set(connection, output ? output->id : NO_OUTPUT, wanted);
	else if (good)
		good = show(connection, output ? output->id : NULL);
	outputs_free(&list);
	return good;
}

static int run(const struct tp_args *args)
{
	if (args->program || args->nr_operands == 1 || args->nr_operands > 2)
		return args_wrong(args, "give it EVENTS and a TRIGGER, each in quotes, or neither to see those that there are");
	if (args_has(args, OPTION_DIRECTORY) && !args->nr_operands)
		return args_wrong(args, "--directory goes with the trigger snapshot");
	return targets_each(args, show_or_set);
}

const struct tp_command command_trigger = {
	.name = "trigger",
	.summary = "let events of a process set something off",
	.usage = (const char *const[]){"-p PID... [-o OUTPUT]", "-p PID... [-o OUTPUT] EVENTS TRIGGER", "-p PID... [-o OUTPUT] EVENTS '!TRIGGER'", NULL},
	.operand = "EVENTS",
	.options = (const struct tp_option[]){
		OPTION_TARGETS,
		{'o', "output", "OUTPUT", "the output that the trigger acts on: its id or its name, as \"tp outputs\" shows them; "
					  "needed if there are several"},
		{OPTION_DIRECTORY, "directory", "DIR", "where snapshots are made, as DIR/snapshot-1 and so on: it is made, or must be "
						       "empty; without it, they are beside the trace"},
		{.name = NULL},
	},
	.text =
		"Sets a trigger: from now on, each hit of one of the EVENTS sets something off. TRIGGER is in the "
		"kernel's language:\n\n"
		"\ttp trigger -p server net:net_error 'traceoff:1 if code >= 500'\n"
		"\ttp trigger -p server net:net_error '!traceoff'\n\n"
		"traceoff and traceon stop and begin the recording on an output, snapshot copies a flight recorder, "
		"stacktrace records the stack, enable_event:SYSTEM:EVENT and disable_event:SYSTEM:EVENT switch "
		"another event. hist:keys=FIELD counts in a histogram, which \"tp hist\" shows; it needs no output, "
		"but for the action snapshot(), and neither do enable_hist:SYSTEM:EVENT and disable_hist:SYSTEM:EVENT. "
		"docs/triggers.md has all of it.\n\n"
		"An exclamation mark in front takes the trigger off. What is changed lasts after tp has ended.\n\n"
		"Without EVENTS and TRIGGER, the triggers of the process are shown: the output's id, or - for those "
		"that need none.\n",
	.run = run,
};

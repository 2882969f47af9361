/* SPDX-License-Identifier: MIT */
/* synthetic.c - "tp synthetic": events that are defined while a process runs. */
#include <stdio.h>
#include <string.h>

#include "commands/commands.h"
#include "options.h"
#include "client/request.h"
#include "client/targets.h"
#include "fail_msg.h"

/* Those of the kernel's file "synthetic_events". */
#define BLANKS " \t\n"

/* An older library does not know these requests. */
static bool answered(const struct connection *connection, const struct answer *answer)
{
	if (answer->kind == ANSWER_ERROR && strcmp(answer->name, "ENOSYS") == 0)
		return fail_msg("%s: its libtp is too old for \"tp synthetic\"; TP_SYNTHETIC defines events when the program starts",
				connection_title(connection));
	if (answer->kind == ANSWER_OK)
		return true;
	return answer->kind != ANSWER_CUT && tell_answer(connection, answer);
}

/* "synthetic DEFINITION" */
static bool put_definition(void *data, char *line)
{
	if (strncmp(line, "synthetic ", strlen("synthetic ")) != 0)
		return true;
	puts(line + strlen("synthetic "));
	++*(size_t *)data;
	return true;
}

static bool show(struct connection *connection)
{
	struct answer answer;
	size_t nr = 0;

	request(connection, &answer, -1, put_definition, &nr, "synthetics");
	if (!answered(connection, &answer))
		return false;
	if (!nr)
		fail_msg("%s has no synthetic event", connection_title(connection));
	return true;
}

static bool define(struct connection *connection, const char *definition)
{
	const bool removes = *definition == '!';
	const char *name = definition + removes;
	struct answer answer;

	request(connection, &answer, -1, NULL, NULL, "synthetic %s", definition);
	if (!answered(connection, &answer))
		return false;
	printf("synthetic:%.*s is %s\n", (int)strcspn(name, BLANKS ";"), name, removes ? "removed" : "defined");
	return true;
}

static bool show_or_define(struct connection *connection, const struct tp_args *args)
{
	const char *definition = args->nr_operands ? args->operands[0] : NULL;

	return definition ? define(connection, definition + strspn(definition, BLANKS)) : show(connection);
}

static int run(const struct tp_args *args)
{
	if (args->program || args->nr_operands > 1)
		return args_wrong(args, "give it one DEFINITION, in quotes, or none to see those that there are");
	return targets_each(args, show_or_define);
}

const struct tp_command command_synthetic = {
	.name = "synthetic",
	.summary = "define events of a process that histograms make",
	.usage = (const char *const[]){"-p PID...", "-p PID... DEFINITION", "-p PID... '!NAME'", NULL},
	.operand = "DEFINITION",
	.options = (const struct tp_option[]){OPTION_TARGETS, {.name = NULL}},
	.text =
		"Defines a synthetic event: an event of system synthetic, whose records an action of a histogram makes, as "
		"of a latency. DEFINITION is a name and fields, in the kernel's language:\n\n"
		"\ttp synthetic -p server 'request_latency u64 usecs; u32 id; char peer[]'\n"
		"\ttp synthetic -p server '!request_latency'\n\n"
		"Then \"tp trigger\" sets the histograms. An exclamation mark in front of the name removes the event, which nobody "
		"may use any more. What is changed lasts after tp has ended.\n\n"
		"Without DEFINITION, the synthetic events of the process are shown. docs/histograms.md has the language.\n",
	.run = run,
};

/* SPDX-License-Identifier: MIT */
/* filter.c - "tp filter": which records of the events that are on an output gets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "events_text.h"
#include "options.h"
#include "client/common_options.h"
#include "client/listing.h"
#include "client/outputs.h"
#include "client/rules.h"
#include "client/targets.h"
#include "fail_msg.h"

#define ENABLE "enable "
#define NO_FILTER "0"

/* ---- Showing ---- */

/* "enable PATTERNS if FILTER" */
static bool has_filter(const char *rule, size_t len)
{
	const char *word = memmem(rule, len, " if ", strlen(" if "));
	const char *filter = word ? word + strlen(" if ") : rule;
	const size_t left = len - (size_t)(filter - rule);

	return word && strncmp(rule, ENABLE, strlen(ENABLE)) == 0 && (left != strlen(NO_FILTER) || memcmp(filter, NO_FILTER, left) != 0);
}

/* The rules of an output that have a filter. How many these are. */
static size_t put_filters(const struct output *output)
{
	size_t nr = 0;

	for (const char *rule = output->rules; *rule;) {
		const size_t len = strcspn(rule, "\n");
		if (has_filter(rule, len)) {
			printf("%5s %.*s\n", output->id, (int)(len - strlen(ENABLE)), rule + strlen(ENABLE));
			nr++;
		}
		rule += len + (rule[len] == '\n');
	}
	return nr;
}

static bool show(const struct output_list *list, struct connection *connection, const char *wanted)
{
	const struct output *only = wanted ? outputs_find(list, connection, wanted) : NULL;
	size_t nr = 0;

	if (wanted && !only)
		return false;
	for (size_t i = 0; i < list->nr; i++) {
		if (!only || only == &list->all[i])
			nr += put_filters(&list->all[i]);
	}
	if (!nr)
		fail_msg("%s has no filter", connection_title(connection));
	return true;
}

/* ---- Changing ---- */

/* Of "1,3". */
static bool is_among(const char *ids, const char *id)
{
	const size_t len = strlen(id);

	for (;; ids++) {
		if (strncmp(ids, id, len) == 0 && (!ids[len] || ids[len] == ','))
			return true;
		ids = strchr(ids, ',');
		if (!ids)
			return false;
	}
}

/*
 * The patterns, if all events that match are on, so that the filter is for those of modules that are loaded later, too;
 * else the names of those that are on, as a rule for the others would switch them on. For free(); NULL, and a message.
 */
static char *those_that_are_on(struct connection *connection, const struct output *output, const char *patterns)
{
	struct event_list list = {.events = NULL};
	char *names = NULL;
	size_t nr = 0;
	bool good = listing_read(&list, connection, patterns, false);

	for (size_t i = 0; i < list.nr && good; i++) {
		if (!is_among(list.events[i].outputs, output->id))
			continue;
		names = rules_join(names, list.events[i].name);
		good = names != NULL;
		nr++;
	}
	if (good && !nr)
		fail_msg("no event that matches '%s' is on for output %s, %s, of %s; \"tp enable\" switches events on, also with a filter",
		     patterns, output->id, output_title(output), connection_title(connection));
	if (good && nr && nr == list.nr) {
		free(names);
		names = rules_join(NULL, patterns);
	}
	event_list_free(&list);
	return names;
}

static bool change(struct connection *connection, const struct output *output, const char *patterns, const char *filter)
{
	char *events = those_that_are_on(connection, output, patterns);
	struct answer answer;
	char *request = NULL;

	if (events && asprintf(&request, "enable %s %s if %s", output->id, events, filter) < 0) {
		request = NULL;
		fail_no_memory();
	}
	const bool good = request && ask_with_notes(connection, &answer, -1, request);
	if (good && strcmp(filter, NO_FILTER) == 0)
		printf("no filter on output %s, %s, for %s\n", output->id, output_title(output), events);
	else if (good)
		printf("%s event%s filtered on output %s, %s\n", answer.text, strcmp(answer.text, "1") == 0 ? "" : "s",
		       output->id, output_title(output));
	free(request);
	free(events);
	return good;
}

/* ---- The command ---- */

static bool filter(struct connection *connection, const struct tp_args *args)
{
	const char *wanted = args_value(args, 'o'), *patterns = args->nr_operands ? args->operands[0] : NULL;
	struct output_list list;
	bool good = outputs_read(&list, connection);

	if (good && !patterns) {
		good = show(&list, connection, wanted);
	} else if (good) {
		const struct output *output = outputs_choose(&list, connection, wanted);
		good = output && change(connection, output, patterns, args->operands[1]);
	}
	outputs_free(&list);
	return good;
}

static int run(const struct tp_args *args)
{
	if (args->program || args->nr_operands == 1 || args->nr_operands > 2)
		return args_wrong(args, "give it EVENTS and a FILTER, each in quotes, or neither to see those that there are");
	return targets_each(args, filter);
}

const struct tp_command command_filter = {
	.name = "filter",
	.summary = "choose by their fields which records an output gets",
	.usage = (const char *const[]){"-p PID... [-o OUTPUT]", "-p PID... [-o OUTPUT] EVENTS FILTER", NULL},
	.operand = "EVENTS",
	.options = (const struct tp_option[]){OPTION_TARGETS, OPTION_OUTPUT, {.name = NULL}},
	.text =
		"Gives a filter to the events that are on for an output: only records for which it is true get "
		"there. A FILTER is an expression over the fields of the events, as the kernel has them:\n\n"
		"\ttp filter -p server 'net:net_request' 'size > 4096 && peer ~ \"10.*\"'\n\n"
		"It takes the place of an earlier one. The filter 0 takes it off. What is changed lasts after tp has "
		"ended. Events that are off stay off: \"tp enable -p PID 'EVENTS if FILTER'\" switches them on.\n\n"
		"Without EVENTS and FILTER, the filters of the process are shown: the output's id, and the rule. "
		"docs/filters.md has the language.\n",
	.run = run,
};

/* SPDX-License-Identifier: MIT */
/* timeline.c - "tp timeline": traces as a picture. */
#include "timeline/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "client/common_options.h"
#include "commands/commands.h"
#include "export/spans.h"
#include "options.h"

enum {
	OPTION_SPAN = OPTION_LONG + 1,
};

static int run(const struct tp_args *args)
{
	const char *output = args_value(args, 'o');
	struct spans spans = {.nr = 0};

	if (args->nr_operands == 0 || args->program)
		return args_wrong(args, "give it a DIR, that of a trace");
	if (output && strcmp(output, "-") == 0)
		return args_wrong(args, "a picture can't be written to a pipe: give -o the name of a file");
	char *events = args_has(args, 'e') ? given_events(args) : NULL;
	const struct export_wanted wanted = {
		.paths = args->operands, .nr_paths = args->nr_operands, .events = events, .spans = &spans, .to = output ? output : "timeline.svg",
	};
	const bool good = (events || !args_has(args, 'e')) && spans_given(&spans, args, OPTION_SPAN) && timeline_write(&wanted);
	spans_free(&spans);
	free(events);
	return good ? EXIT_DONE : EXIT_FAILED;
}

const struct tp_command command_timeline = {
	.name = "timeline",
	.summary = "draw traces: threads, spans and counters over time",
	.usage = (const char *const[]){"DIR... [-e EVENTS] [--span PAIR] [-o FILE]", NULL},
	.operand = "FILE",
	.options = (const struct tp_option[]){
		{'e', "events", "EVENTS", "only these: patterns, also with a filter, as \"tp report\" takes"},
		{OPTION_SPAN, "span", "PAIR", "two events that are one span of time, with the same value of a field or of several, or else in one "
					      "thread: 'block_start/block_end by block'; may be given several times"},
		{'o', "output", "FILE", "the file, which is replaced if it is there; without this option timeline.svg. One that ends in .html is a page"},
		{.name = NULL},
	},
	.text =
		"Draws the traces in the directories DIR, or in files of \"tp pack\", as one picture, which any browser shows.\n\n"
		"Each thread has a lane, and each event is a tick in it: the more events share a column, the higher the tick. A pair of --span is a "
		"bar: in its thread, or, by fields, in its process, below each other where they overlap. Bars that are too short are added up: the "
		"darker a column, the more of it they take. A counter is a line. Point at anything for its name, its time and its fields.\n\n"
		"Events with fields of these names need no option, as in the kernel: track_event_type is B, E or I; slice_name and track_name are "
		"texts; counter_value makes a counter; scope_tgid, scope_cpu or another scope_... says whose track it is.\n\n"
		"The file stays below 2 MB, whatever the trace has. There are lanes for the 64 tracks with the most events.\n\n"
		"EXAMPLES\n\n"
		"\ttp timeline trace --span 'block_start/block_end by block'\n"
		"\ttp timeline trace -e 'net:*' -o net.html\n",
	.run = run,
};

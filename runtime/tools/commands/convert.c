/* SPDX-License-Identifier: MIT */
/* convert.c - "tp convert": traces as a file of another format, for other tools. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "client/common_options.h"
#include "commands/commands.h"
#include "dat/trace_dat.h"
#include "export/json_lines.h"
#include "export/perfetto.h"
#include "export/spans.h"
#include "options.h"
#include "parquet/tables.h"

enum {
	OPTION_SPAN = OPTION_LONG + 1,
};

static bool to_trace_dat(const struct export_wanted *wanted)
{
	return trace_dat_write(wanted->paths[0], wanted->to);
}

static const struct format {
	const char *name;
	const char *output; /* without -o; "-": standard output, which may be a pipe */
	bool is_of_all;     /* events of one trace, and not of several, nor some of them */
	bool has_spans;
	bool (*convert)(const struct export_wanted *wanted);
} formats[] = {
	{"trace.dat", "trace.dat", true, false, to_trace_dat},
	{"json", "-", false, false, json_lines_write},
	{"perfetto", "trace.perfetto", false, true, perfetto_write},
	{"parquet", "parquet", false, false, tables_write},
};

static const struct format *format_of(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	}
	return NULL;
}

static int convert(const struct format *format, const struct tp_args *args, const char *output)
{
	char *events = args_has(args, 'e') ? given_events(args) : NULL;
	struct spans spans = {.nr = 0};
	const struct export_wanted wanted = {
		.paths = args->operands, .nr_paths = args->nr_operands, .events = events, .spans = &spans, .to = output,
	};

	signal(SIGPIPE, SIG_DFL); /* nobody reads on: that ends it without a word */
	const bool good = (events || !args_has(args, 'e')) && spans_given(&spans, args, OPTION_SPAN) && format->convert(&wanted);
	spans_free(&spans);
	free(events);
	return good ? EXIT_DONE : EXIT_FAILED;
}

static int run(const struct tp_args *args)
{
	const char *to = args_value(args, 't');
	const char *output = args_value(args, 'o');

	if (args->nr_operands == 0 || args->program)
		return args_wrong(args, "give it a DIR, that of a trace");
	if (!to)
		return args_wrong(args, "give it --to FORMAT, such as --to json");
	const struct format *format = format_of(to);
	if (!format)
		return args_wrong(args, "there is no format '%s'; there are json, parquet, perfetto and trace.dat", to);
	if (output && strcmp(output, "-") == 0 && strcmp(format->output, "-") != 0)
		return args_wrong(args, "a %s can't be written to a pipe: give -o the name of a file", to);
	if (format->is_of_all && args->nr_operands > 1)
		return args_wrong(args, "a %s is made of one directory: give it one DIR", to);
	if (format->is_of_all && args_has(args, 'e'))
		return args_wrong(args, "a %s has all events: leave -e out", to);
	if (!format->has_spans && args_has(args, OPTION_SPAN))
		return args_wrong(args, "a %s has no spans: leave --span out, or give --to perfetto", to);
	return convert(format, args, output ? output : format->output);
}

const struct tp_command command_convert = {
	.name = "convert",
	.summary = "turn traces into a file for another tool",
	.usage = (const char *const[]){"DIR --to trace.dat [-o FILE]", "DIR... --to json [-e EVENTS] [-o FILE]",
				      "DIR... --to parquet [-e EVENTS] [-o DIR]",
				      "DIR... --to perfetto [-e EVENTS] [--span PAIR] [-o FILE]", NULL},
	.operand = "FILE",
	.options = (const struct tp_option[]){
		{'t', "to", "json|parquet|perfetto|trace.dat", "the format: a JSON object for each event; tables for DuckDB and its like; a trace for ui.perfetto.dev; trace.dat for "
						       "\"trace-cmd report\" and KernelShark"},
		{'o', "output", "FILE", "the file, which is replaced if it is there, or the directory of tables, which must not be there; without this option "
					"parquet, trace.perfetto, trace.dat, and JSON goes to standard output"},
		{'e', "events", "EVENTS", "only these: patterns, also with a filter, as \"tp report\" takes; not for a trace.dat"},
		{OPTION_SPAN, "span", "PAIR", "two events that are one span of time, with the same value of a field or of several, or else in one "
							      "thread: 'block_start/block_end by block'; may be given several times"},
		{.name = NULL},
	},
	.text =
		"Turns the trace in DIR, a directory that TP_OUTPUT=ctf:DIR or a snapshot has made, or a file of \"tp pack\", into "
		"FILE.\n\n"
		"The program may go on recording; what it records meanwhile is not in FILE. FILE appears when it is "
		"complete. There is none if DIR can't be read or FILE can't be written.\n\n"
		"TRACE.DAT\n\n"
		"Threads' streams stand in as CPUs there, behind the kernel's, if \"tp record --kernel\" has recorded these. DIR may hold several traces.\n\n"
		"JSON\n\n"
		"A line is one event, in the order of time, also of several DIR:\n\n"
		"\t{\"time\":\"2026-11-27T10:30:00.123456789Z\",\"ns\":1795775400123456789,\n"
		"\t\"host\":\"vm\",\"process\":\"server\",\"pid\":1200,\"tid\":1201,\"comm\":\"server\",\n"
		"\t\"system\":\"net\",\"event\":\"net_request\",\"fields\":{\"peer\":\"10.0.0.1\"}}\n\n"
		"time has all digits as text; ns is the same as a number, of which jq 1.6 rounds the last three digits. A pointer is a text, "
		"\"0x7f00\". An array is an array. Bytes of a type that the trace does not describe are hexadecimal digits. A number that is "
		"infinite, or none, is null. Where events of a thread were lost, there is a line with \"lost\" and their number, null if "
		"nobody knows, instead of an event.\n\n"
		"PARQUET\n\n"
		"The directory has a file for each event, SYSTEM.EVENT.parquet, with a row for each hit. Columns are time (microseconds in UTC), ns "
		"(all digits, as in JSON), host, process, pid, tid, comm, cpu (-1: not recorded), and the fields. A field with the name of another column is NAME_2. Where TP_printk "
		"has names for values, NAME_name has the name. Arrays are lists. Bytes of a type that the trace does not describe are hexadecimal "
		"digits. Two layouts of one event, as of two versions of a program, are two files. Lost events are not in them.\n\n"
		"PERFETTO\n\n"
		"Open the file in ui.perfetto.dev. Processes and threads have tracks, and events are instants there, with their fields. System and "
		"level are categories; the place of the declaration is an argument. A pair of "
		"--span is a slice, with the fields of both events: in the thread, or, by fields, in the process. \"id:request\" is a field that "
		"the end calls otherwise. Events with fields of these names need no option, as in the kernel: track_event_type is B, E or I; slice_name and track_name are texts; counter_value makes a counter; scope_tgid, scope_cpu or another scope_... says whose "
		"track it is. "
		"What the kernel's scheduler has done is shown as tracks of processors and states of threads.\n\n"
		"EXAMPLES\n\n"
		"\ttp convert trace --to perfetto --span 'block_start/block_end by block'\n"
		"\ttp convert trace --to json | jq -c 'select(.fields.size > 4096)'\n"
		"\ttp convert trace --to trace.dat && trace-cmd report trace.dat\n",
	.run = run,
};

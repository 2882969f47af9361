/* SPDX-License-Identifier: MIT */
/* convert.c - "tp convert": a trace as a file of another format, for other tools. */
#include <string.h>

#include "commands/commands.h"
#include "dat/trace_dat.h"
#include "options.h"

static const struct {
	const char *name;
	const char *output; /* without -o */
	bool (*convert)(char *from, const char *to);
} formats[] = {
	{"trace.dat", "trace.dat", trace_dat_write},
};

static int run(const struct tp_args *args)
{
	const char *to = args_value(args, 't');
	const char *output = args_value(args, 'o');

	if (args->nr_operands != 1 || args->program)
		return args_wrong(args, "give it one DIR, that of the trace");
	if (!to)
		return args_wrong(args, "give it --to FORMAT, such as --to trace.dat");
	if (output && strcmp(output, "-") == 0)
		return args_wrong(args, "a %s can't be written to a pipe: give -o the name of a file", to);
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (strcmp(formats[i].name, to) == 0)
			return formats[i].convert(args->operands[0], output ? output : formats[i].output)
			       ? EXIT_DONE : EXIT_FAILED;
	}
	return args_wrong(args, "there is no format '%s'; there is trace.dat", to);
}

const struct tp_command command_convert = {
	.name = "convert",
	.summary = "turn a trace into a file for another tool",
	.usage = (const char *const[]){"DIR --to trace.dat [-o FILE]", NULL},
	.operand = "FILE",
	.options = (const struct tp_option[]){
		{'t', "to", "trace.dat", "the format; trace.dat is for \"trace-cmd report\" and KernelShark"},
		{'o', "output", "FILE", "the file, which is replaced if it is there; trace.dat without this option"},
		{.name = NULL},
	},
	.text =
		"Turns the trace in DIR, a directory that TP_OUTPUT=ctf:DIR or a snapshot has made, or a file of \"tp pack\", into "
		"FILE. Threads' streams stand in as CPUs there.\n\n"
		"The program may go on recording; what it records meanwhile is not in FILE. FILE appears when it is "
		"complete. There is none if DIR can't be read or FILE can't be written.\n",
	.run = run,
};

/* SPDX-License-Identifier: MIT */
/* pack.c - "tp pack": traces as one file, to be given away. */
#include <string.h>

#include "commands/commands.h"
#include "options.h"
#include "pack/pack_traces.h"

enum {
	OPTION_WITHOUT_COMMAND_LINE = OPTION_LONG + 1,
};

static int run(const struct tp_args *args)
{
	const struct packing packing = {
		.paths = args->operands, .nr_paths = args->nr_operands, .to = args_value(args, 'o'),
		.without_command_line = args_has(args, OPTION_WITHOUT_COMMAND_LINE),
	};

	if (args->nr_operands == 0 || args->program)
		return args_wrong(args, "give it a DIR, that of a trace");
	if (packing.to && strcmp(packing.to, "-") == 0)
		return args_wrong(args, "a packed trace can't be written to a pipe: give -o the name of a file");
	return pack_traces(&packing) ? EXIT_DONE : EXIT_FAILED;
}

const struct tp_command command_pack = {
	.name = "pack",
	.summary = "turn traces into one file, to give away",
	.usage = (const char *const[]){"DIR ... [-o FILE] [--without-command-line]", NULL},
	.operand = "FILE",
	.options = (const struct tp_option[]){
		{'o', "output", "FILE", "the file, which must not be there; without this option DIR.tar, where you stand"},
		{OPTION_WITHOUT_COMMAND_LINE, "without-command-line", NULL,
		 "leave out the program's arguments, and the runtime's messages, which may quote its environment"},
		{.name = NULL},
	},
	.text =
		"Packs the traces in the directories DIR into FILE, which \"tp report\" and \"tp convert\" read as it is. A DIR "
		"may also be a directory of traces, or a packed file.\n\n"
		"FILE is a tar archive, which \"tar xf FILE\" unpacks into the same traces, for babeltrace2. The room behind a "
		"packet's last record is left out, so FILE is as long as what was recorded.\n\n"
		"The program may go on recording; what it records meanwhile is not in FILE. FILE appears when it is complete.\n\n"
		"The trace names the host, the program's path and the user's directories in it, and the recorded fields are "
		"in FILE in any case: look at them by \"tp report\" before you give it away.\n\n"
		"EXAMPLES\n\n"
		"\ttp pack trace -o bug-4711.tar --without-command-line\n"
		"\ttp report bug-4711.tar\n",
	.run = run,
};

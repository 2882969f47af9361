/* SPDX-License-Identifier: MIT */
/* help.c - "tp help": which commands there are, and what each does. */
#include "help/help.h"

#include "commands/commands.h"
#include "options.h"
#include "tell.h"

static int run(const struct tp_args *args)
{
	if (args->nr_operands > 1 || args->program)
		return args_wrong(args, "give it one COMMAND");
	if (!args->nr_operands) {
		help_overview(stdout);
		return EXIT_DONE;
	}
	const struct tp_command *command = command_find(args->operands[0]);
	if (!command) {
		tell("there is no command '%s'; \"tp help\" lists them", args->operands[0]);
		return EXIT_WRONG;
	}
	help_command(stdout, command);
	return EXIT_DONE;
}

const struct tp_command command_help = {
	.name = "help",
	.summary = "show the commands, or what one of them does",
	.usage = (const char *const[]){"[COMMAND]", NULL},
	.operand = "COMMAND",
	.options = (const struct tp_option[]){{.name = NULL}},
	.text = "Shows which commands there are, or how COMMAND is called.\n",
	.run = run,
};

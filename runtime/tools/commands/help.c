/* SPDX-License-Identifier: MIT */
/* help.c - "tp help": which commands there are, and what each does. */
#include "help/help.h"

#include <string.h>

#include "commands/commands.h"
#include "options.h"
#include "fail_msg.h"

enum {
	OPTION_MAN = OPTION_LONG + 1,
	OPTION_COMPLETION,
};

static int complete(const struct tp_args *args, const char *shell)
{
	if (strcmp(shell, "bash") != 0 && strcmp(shell, "zsh") != 0)
		return args_wrong(args, "there is no completion for '%s', but for bash and zsh", shell);
	(*shell == 'b' ? help_bash : help_zsh)(stdout);
	return EXIT_DONE;
}

static int run(const struct tp_args *args)
{
	const struct tp_command *command = NULL;

	if (args->nr_operands > 1 || args->program)
		return args_wrong(args, "give it one COMMAND");
	if (args_has(args, OPTION_COMPLETION))
		return complete(args, args_value(args, OPTION_COMPLETION));
	if (args->nr_operands && !(command = command_find(args->operands[0]))) {
		fail_msg("there is no command '%s'; \"tp help\" lists them", args->operands[0]);
		return EXIT_WRONG;
	}
	if (args_has(args, OPTION_MAN))
		help_man(stdout, command);
	else if (command)
		help_command(stdout, command);
	else
		help_overview(stdout);
	return EXIT_DONE;
}

const struct tp_command command_help = {
	.name = "help",
	.summary = "show the commands, or what one of them does",
	.usage = (const char *const[]){"[--man] [COMMAND]", "--completion bash|zsh", NULL},
	.operand = "COMMAND",
	.options = (const struct tp_option[]){
		{OPTION_MAN, "man", NULL, "the same as a man page, in roff"},
		{OPTION_COMPLETION, "completion", "bash|zsh", "functions with which that shell completes tp's arguments"},
		{.name = NULL},
	},
	.text = "Shows which commands there are, or how COMMAND is called.\n\n"
		"\"make install\" installs the man pages, and the functions for the shells.\n",
	.run = run,
};

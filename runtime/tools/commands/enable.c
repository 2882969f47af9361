/* SPDX-License-Identifier: MIT */
/* enable.c - "tp enable": events that are switched on in a process, until somebody changes that. */
#include "commands/commands.h"
#include "reach/given.h"
#include "reach/switching.h"

static int run(const struct tp_args *args)
{
	return switch_events(args, "enable");
}

const struct tp_command command_enable = {
	.name = "enable",
	.summary = "switch events on in a process",
	.usage = (const char *const[]){"-p PID [-o OUTPUT] EVENTS", NULL},
	.operand = "EVENTS",
	.options = (const struct tp_option[]){
		OPTION_PID,
		{'o', "output", "OUTPUT", "the output that they go to: its id or its name, as \"tp outputs\" "
					  "shows them; needed if there are several"},
		{.name = NULL},
	},
	.text =
		"Switches events on, for an output that is open: TP_OUTPUT, the program itself or \"tp outputs "
		"--open\" has opened it. EVENTS are names and globs with commas between them, as tp_enable() takes "
		"them: 'net:*,!net:net_close'. What is changed lasts after tp has ended, and holds for modules that "
		"are loaded later, too.\n",
	.run = run,
};

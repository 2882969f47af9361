/* SPDX-License-Identifier: MIT */
/* disable.c - "tp disable": events that are switched off in a process, until somebody changes that. */
#include "commands/commands.h"
#include "reach/given.h"
#include "reach/switching.h"

static int run(const struct tp_args *args)
{
	return switch_events(args, "disable");
}

const struct tp_command command_disable = {
	.name = "disable",
	.summary = "switch events off in a process",
	.usage = (const char *const[]){"-p PID [-o OUTPUT] EVENTS", NULL},
	.operand = "EVENTS",
	.options = (const struct tp_option[]){
		OPTION_PID,
		{'o', "output", "OUTPUT", "the output that they go to: its id or its name, as \"tp outputs\" "
					  "shows them; needed if there are several"},
		{.name = NULL},
	},
	.text =
		"Switches events off, for an output that is open: TP_OUTPUT, the program itself or \"tp outputs "
		"--open\" has opened it. EVENTS are names and globs with commas between them, as tp_enable() takes "
		"them: 'net:*,!net:net_close'. What is changed lasts after tp has ended, and holds for modules that "
		"are loaded later, too.\n",
	.run = run,
};

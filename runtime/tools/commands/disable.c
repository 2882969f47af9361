/* SPDX-License-Identifier: MIT */
/* disable.c - "tp disable": events that are switched off in a process, until somebody changes that. */
#include "commands/commands.h"
#include "client/switching.h"

static int run(const struct tp_args *args)
{
	return switch_events(args);
}

const struct tp_command command_disable = {
	.name = "disable",
	SWITCHES_EVENTS("off"),
	.run = run,
};

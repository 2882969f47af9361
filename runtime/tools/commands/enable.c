/* SPDX-License-Identifier: MIT */
/* enable.c - "tp enable": events that are switched on in a process, until somebody changes that. */
#include "commands/commands.h"
#include "client/switching.h"

static int run(const struct tp_args *args)
{
	return switch_events(args);
}

const struct tp_command command_enable = {
	.name = "enable",
	SWITCHES_EVENTS("on"),
	.run = run,
};

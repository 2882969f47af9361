/* SPDX-License-Identifier: MIT */
#include "commands/commands.h"

#include <string.h>

#define COMMAND_ADDRESS(name) &command_##name,
const struct tp_command *const commands[] = {COMMANDS(COMMAND_ADDRESS) NULL};

const struct tp_command *command_find(const char *name)
{
	for (const struct tp_command *const *command = commands; *command; command++) {
		if (strcmp((*command)->name, name) == 0)
			return *command;
	}
	return NULL;
}

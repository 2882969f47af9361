/* SPDX-License-Identifier: MIT */
/*
 * triggers/trigger.c - the commands, by their names.
 */
#include <string.h>

#include "triggers/trigger.h"

static const struct tp_trigger_command *const commands[] = {
	&tp_trigger_traceon, &tp_trigger_traceoff, &tp_trigger_snapshot, &tp_trigger_stacktrace,
	&tp_trigger_enable_event, &tp_trigger_disable_event, &tp_trigger_hist, &tp_trigger_enable_hist, &tp_trigger_disable_hist,
};

#define NR (sizeof(commands) / sizeof(commands[0]))

const struct tp_trigger_command *tp_trigger_command_of(const char *name, size_t len)
{
	for (size_t i = 0; i < NR; i++) {
		if (strlen(commands[i]->name) == len && memcmp(commands[i]->name, name, len) == 0)
			return commands[i];
	}
	return NULL;
}

void tp_trigger_command_names(struct tp_buffer *to)
{
	for (size_t i = 0; i < NR; i++)
		tp_buffer_printf(to, "%s%s", i ? ", " : "", commands[i]->name);
}

/* SPDX-License-Identifier: MIT */
/* commands.h - the commands, in the order in which "tp help" lists them: one row here and a file beside it for each. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "command.h"

#define COMMANDS(X) \
	X(ps)        \
	X(list)      \
	X(trace)     \
	X(record)    \
	X(stat)      \
	X(top)       \
	X(hist)      \
	X(latency)   \
	X(report)    \
	X(timeline)  \
	X(snapshot)  \
	X(enable)    \
	X(disable)   \
	X(filter)    \
	X(trigger)   \
	X(synthetic) \
	X(outputs)   \
	X(setup)     \
	X(convert)   \
	X(pack)      \
	X(help)

#define COMMAND_DECLARE(name) extern const struct tp_command command_##name;
COMMANDS(COMMAND_DECLARE)

extern const struct tp_command *const commands[]; /* ended by NULL */

/* NULL: there is no command of the name. */
const struct tp_command *command_find(const char *name);

#endif /* COMMANDS_H */

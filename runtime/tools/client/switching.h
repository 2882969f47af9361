/* SPDX-License-Identifier: MIT */
/* switching.h - "tp enable" and "tp disable", which differ by a word. */
#ifndef SWITCHING_H
#define SWITCHING_H

#include "command.h"
#include "client/common_options.h"
#include "client/targets.h"

/* What their tables share; state: "on" or "off". */
#define SWITCHES_EVENTS(state)                                                                                          \
	.summary = "switch events " state " in a process", .usage = (const char *const[]){"-p PID... [-o OUTPUT] EVENTS", NULL}, \
	.operand = "EVENTS", .options = (const struct tp_option[]){OPTION_TARGETS, OPTION_OUTPUT, {.name = NULL}},           \
	.text = "Switches events " state ", for an output that is open: TP_OUTPUT, the program itself or \"tp outputs "  \
		"--open\" has opened it. EVENTS are names and globs with commas between them, as tp_enable() takes "     \
		"them: 'net:*,!net:net_close'. What is changed lasts after tp has ended, and holds for modules that "    \
		"are loaded later, too.\n"

/* The command's name is the request. Returns the status that tp exits with. */
int switch_events(const struct tp_args *args);

#endif /* SWITCHING_H */

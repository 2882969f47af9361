/* SPDX-License-Identifier: MIT */
/*
 * command.h - what a command of tp is: a table, from which come the parsing of its arguments, "tp help", the man
 * page and the shells' completion, and a function. Each command is a file in commands/, and a row in commands/commands.h.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/* The status that tp exits with. A command that runs another program exits with that one's. */
enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1, /* a message has said why */
	EXIT_WRONG = 2,  /* called in another way than the help says */
};

/* Identifies an option that has no letter: OPTION_LONG + 1 and so on, in each command for itself. */
#define OPTION_LONG 256

struct tp_option {
	int id;           /* its letter; or OPTION_LONG + n */
	const char *name; /* without the "--" */

	/*
	 * What it takes, NULL: nothing. "[SIZE]" may be left out: --name=SIZE or --name. The
	 * shells complete DIR, FILE, PID, EVENTS, COMMAND, and "one|another" by these words.
	 */
	const char *argument;
	const char *text; /* what it does, in one sentence or some; folded when it is shown */
};

struct tp_args;

struct tp_command {
	const char *name;
	const char *summary;            /* one line in "tp help", at most 60 characters */
	const char *const *usage;       /* without "tp NAME"; ended by NULL */
	const char *operand;            /* what stands without an option, for completion, as tp_option's argument; or NULL */
	const struct tp_option *options; /* ended by one without a name */

	/*
	 * Paragraphs, between empty lines, which are folded when they are shown. A line that begins
	 * with a tab is shown as it is, and one in capitals alone is a heading.
	 */
	const char *text;

	/* Returns the status that tp exits with. The arguments are right as far as the table says. */
	int (*run)(const struct tp_args *args);
};

#endif /* COMMAND_H */

/* SPDX-License-Identifier: MIT */
/* terminal.h - what a report on a terminal has more: colours, and a pager. */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>

enum colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

/* False: the text is none of "auto", "always" and "never". */
bool colour_parse(enum colour *colour, const char *text);

/* Whether standard output is to have colours: on a terminal that can show them, unless NO_COLOR says that nobody wants them. */
bool colour_is_wanted(enum colour colour);

/* Columns of the terminal that standard output is; 0: it is none. */
int terminal_columns(void);

struct pager {
	pid_t pid; /* 0: there is none */
	const char *command;
	int saved_stderr; /* -1: it was not touched */
};

/*
 * If standard output is a terminal, it becomes a pipe to $PAGER, or to less: its messages, too. Without a pager, nothing
 * changes. False, and a message.
 */
bool pager_begin(struct pager *pager);

/* Closes the pipe, and waits until the user has seen enough. False, and a message: there was no such program. */
bool pager_end(struct pager *pager);

#endif /* TERMINAL_H */

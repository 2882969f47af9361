/* SPDX-License-Identifier: MIT */
/*
 * help.h - what the commands' tables say: as a terminal shows it, no line longer than HELP_WIDTH; as man pages; and as
 * functions with which shells complete.
 */
#ifndef HELP_H
#define HELP_H

#include <stdio.h>

#include "command.h"

#define HELP_WIDTH 80

/* Which commands there are. */
void help_overview(FILE *to);

void help_command(FILE *to, const struct tp_command *command);

/* tp-COMMAND(1), in roff; NULL: tp(1). */
void help_man(FILE *to, const struct tp_command *command);

void help_bash(FILE *to);
void help_zsh(FILE *to);

/* ---- For these files alone ---- */

/* Exits, as every help says. */
extern const char help_exits[];

/* A piece of a command's text: a paragraph without its line's end, a line to be shown as it is, or a heading. */
enum help_piece {
	HELP_END,
	HELP_EMPTY,
	HELP_PARAGRAPH,
	HELP_VERBATIM, /* without the tab in front */
	HELP_HEADING,
};

/* Moves *at behind the piece that begins there. */
enum help_piece help_next(const char **at, const char **piece, size_t *len);

/* Where the part under the first heading begins: options are shown in front of it. */
const char *help_headings(const char *text);

/* What every command has besides its own. */
extern const struct tp_option help_option;

#endif /* HELP_H */

/* SPDX-License-Identifier: MIT */
/* help.h - what the commands' tables say, as a terminal shows it. No line is longer than HELP_WIDTH. */
#ifndef HELP_H
#define HELP_H

#include <stdio.h>

#include "command.h"

#define HELP_WIDTH 80

/* Which commands there are. */
void help_overview(FILE *to);

void help_command(FILE *to, const struct tp_command *command);

#endif /* HELP_H */

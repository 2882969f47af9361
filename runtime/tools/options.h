/* SPDX-License-Identifier: MIT */
/* options.h - a command's arguments, taken apart by its table. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "command.h"

struct tp_given {
	int id;
	const char *value; /* NULL: none */
};

struct tp_args {
	const struct tp_command *command;
	struct tp_given *options; /* in their order */
	size_t nr_options;
	char **operands; /* what is no option, until "--" */
	size_t nr_operands;
	char **program; /* what stands behind "--", ended by NULL; NULL: there is no "--" */
	bool help;      /* is all that is wanted */
};

/* The arguments behind the command's name. False, and a message, where they are wrong. To be freed in any case. */
bool args_parse(struct tp_args *args, const struct tp_command *command, int argc, char **argv);
void args_free(struct tp_args *args);

/* Whether the option is there; its last value, or NULL. */
bool args_has(const struct tp_args *args, int id);
const char *args_value(const struct tp_args *args, int id);

/* A message that ends in the way to the command's help; returns EXIT_WRONG. */
int args_wrong(const struct tp_args *args, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif /* OPTIONS_H */

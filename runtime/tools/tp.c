/* SPDX-License-Identifier: MIT */
/*
 * tp.c - tp looks into traced processes and their traces. This file finds the command; each file uses those
 * below it only:
 *
 *	tp.c                the way to a command
 *	commands/           a file for each, and their table
 *	help/               what the tables say, for a person
 *	dat/, pack/         a trace.dat; a packed trace
 *	read/               what is in a trace, packed or not
 *	elf/                the events in a program's file
 *	events_text.c       how events are listed
 *	options.c           a command's arguments
 *	fail_msg.c          messages
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tp/tracepoint.h>

#include "base/nearest.h"
#include "commands/commands.h"
#include "help/help.h"
#include "options.h"
#include "fail_msg.h"

static int run(const struct tp_command *command, int argc, char **argv)
{
	struct tp_args args;
	int status = EXIT_WRONG;

	if (args_parse(&args, command, argc, argv)) {
		if (args.help)
			help_command(stdout, command);
		status = args.help ? EXIT_DONE : command->run(&args);
	}
	args_free(&args);
	return status;
}

static int dispatch(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	if (!name) {
		help_overview(stderr);
		return EXIT_WRONG;
	}
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
		help_overview(stdout);
		return EXIT_DONE;
	}
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
		puts("tp " TP_VERSION);
		return EXIT_DONE;
	}
	const struct tp_command *command = command_find(name);
	if (command)
		return run(command, argc - 1, argv + 1);
	struct tp_nearest nearest = tp_nearest_to(name, strlen(name));
	for (size_t i = 0; commands[i]; i++)
		tp_nearest_offer(&nearest, commands[i]->name);
	fail_msg("there is no command '%s'%s; \"tp help\" lists them", name, tp_nearest_hint(&nearest, " (", ")"));
	return EXIT_WRONG;
}

/* Where one of these is closed, no file that is opened gets its number: it can't be read or written, as before. */
static void hold_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			abort(); /* the lowest number that is free is this one */
	}
}

int main(int argc, char **argv)
{
	hold_standard_descriptors();
	int status = dispatch(argc, argv);

	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (status != EXIT_DONE) /* the command has said why */
		return status;
	if (errno != EPIPE) /* nobody reads on, which is no error of anybody's */
		fail_msg("the output can't be written: %s", strerror(errno));
	return EXIT_FAILED;
}

/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail_msg.h"
#include "base/nearest.h"

/* Every command has it. */
static const struct option help_option = {"help", no_argument, NULL, 'h'};

int args_wrong(const struct tp_args *args, const char *format, ...)
{
	char text[4096];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	fail_msg("%s: %s; \"tp help %s\" says how it is called", args->command->name, text, args->command->name);
	return EXIT_WRONG;
}

bool args_has(const struct tp_args *args, int id)
{
	for (size_t i = 0; i < args->nr_options; i++) {
		if (args->options[i].id == id)
			return true;
	}
	return false;
}

const char *args_value(const struct tp_args *args, int id)
{
	for (size_t i = args->nr_options; i-- > 0;) {
		if (args->options[i].id == id)
			return args->options[i].value;
	}
	return NULL;
}

void args_free(struct tp_args *args)
{
	free(args->options);
	free(args->operands);
	*args = (struct tp_args){.options = NULL};
}

/* ---- The table, as getopt_long() wants it ---- */

struct getopt_tables {
	struct option *longs;
	char *shorts;
};

static int wants_argument(const struct tp_option *option)
{
	if (!option->argument)
		return no_argument;
	return option->argument[0] == '[' ? optional_argument : required_argument;
}

static bool make_tables(struct getopt_tables *tables, const struct tp_option *options)
{
	size_t nr = 0;

	while (options[nr].name)
		nr++;
	tables->longs = calloc(nr + 2, sizeof(*tables->longs));
	tables->shorts = malloc(3 * nr + sizeof("-:h"));
	if (!tables->longs || !tables->shorts)
		return fail_no_memory();
	/* "-": operands come one by one, in their place; ":": messages are ours. */
	char *at = stpcpy(tables->shorts, "-:h");
	for (size_t i = 0; i < nr; i++) {
		const int wants = wants_argument(&options[i]);
		tables->longs[i] = (struct option){options[i].name, wants, NULL, options[i].id};
		if (options[i].id >= OPTION_LONG)
			continue;
		*at++ = (char)options[i].id;
		at = stpcpy(at, wants == no_argument ? "" : wants == required_argument ? ":" : "::");
	}
	tables->longs[nr] = help_option;
	return true;
}

/* ---- The arguments ---- */

static const struct tp_option *find(const struct tp_command *command, int id)
{
	for (const struct tp_option *option = command->options; option->name; option++) {
		if (option->id == id)
			return option;
	}
	return NULL;
}

/* "--evnts=x": there is none of that name, or several begin so. */
static void refuse_long(const struct tp_args *args, const char *argument)
{
	char name[64];
	struct tp_nearest nearest;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(argument, "="), argument);
	nearest = tp_nearest_to(name, strlen(name));
	for (const struct tp_option *option = args->command->options; option->name; option++)
		tp_nearest_offer(&nearest, option->name);
	args_wrong(args, "there is no option --%s, or more than one that begins so%s", name, tp_nearest_hint(&nearest, " (", ")"));
}

/* getopt_long() has returned what, ':' or '?', for the argument. */
static bool refuse(const struct tp_args *args, int what, const char *argument)
{
	const struct tp_option *option = find(args->command, optopt);

	if (what == ':' && option)
		args_wrong(args, "--%s wants %s", option->name, option->argument);
	else if (strncmp(argument, "--", 2) == 0 && (option || optopt == help_option.val))
		args_wrong(args, "--%s takes no value", option ? option->name : help_option.name);
	else if (strncmp(argument, "--", 2) == 0)
		refuse_long(args, argument + 2);
	else
		args_wrong(args, "there is no option -%c", optopt);
	return false;
}

static bool take_all(struct tp_args *args, const struct getopt_tables *tables, int argc, char **argv)
{
	opterr = 0;
	optind = 0; /* glibc: begins anew */
	for (;;) {
		int id = getopt_long(argc, argv, tables->shorts, tables->longs, NULL);
		if (id == -1)
			break;
		if (id == ':' || id == '?')
			return refuse(args, id, argv[optind - 1]);
		if (id == help_option.val)
			args->help = true;
		else if (id == 1)
			args->operands[args->nr_operands++] = optarg;
		else
			args->options[args->nr_options++] = (struct tp_given){id, optarg};
	}
	if (optind > 0 && strcmp(argv[optind - 1], "--") == 0)
		args->program = argv + optind;
	return true;
}

/* Whoever leaves out -p, -e or "--" is told where they stand. */
static void refuse_operand(const struct tp_args *args, const char *operand)
{
	const char *name = args->command->name;
	const bool looks = find(args->command, 'p') && find(args->command, 'e');

	if (looks && args_has(args, 'p'))
		args_wrong(args, "events stand behind -e: tp %s -p %s -e '%s'", name, args_value(args, 'p'), operand);
	else if (looks && strchr(operand, '/'))
		args_wrong(args, "a program stands behind --: tp %s -- %s", name, operand);
	else if (looks)
		args_wrong(args, "a process stands behind -p: tp %s -p %s", name, operand);
	else
		args_wrong(args, "'%s' is no option", operand);
}

bool args_parse(struct tp_args *args, const struct tp_command *command, int argc, char **argv)
{
	struct getopt_tables tables = {.longs = NULL};

	*args = (struct tp_args){.command = command};
	/* Of short options, an argument may have several. */
	size_t most = 1;
	for (int i = 1; i < argc; i++)
		most += strlen(argv[i]) + 1;
	args->options = calloc(most, sizeof(*args->options));
	args->operands = calloc((size_t)argc + 1, sizeof(*args->operands));
	bool good = args->options && args->operands ? make_tables(&tables, command->options) &&
						      take_all(args, &tables, argc, argv) : fail_no_memory();
	free(tables.longs);
	free(tables.shorts);
	if (good && !args->help && args->nr_operands && !command->operand) {
		refuse_operand(args, args->operands[0]);
		good = false;
	}
	return good;
}

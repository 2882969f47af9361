/* SPDX-License-Identifier: MIT */
#include "help/help.h"

#include <string.h>

#include "commands/commands.h"

#define TEXT_AT 24 /* column of what an option does */

/* A text's words, folded, with the later lines indented. column: where the first word begins. */
static void put_folded(FILE *to, const char *text, size_t len, int indent, int column)
{
	const char *end = text + len;
	bool first = true;

	while (text < end) {
		while (text < end && *text == ' ')
			text++;
		const char *blank = memchr(text, ' ', (size_t)(end - text));
		const int word = (int)((blank ? blank : end) - text);
		if (!first && column + 1 + word > HELP_WIDTH) {
			fprintf(to, "\n%*s", indent, "");
			column = indent;
		} else if (!first) {
			fputc(' ', to);
			column++;
		}
		fwrite(text, 1, (size_t)word, to);
		column += word;
		text += word;
		first = false;
	}
	fputc('\n', to);
}

static void put_option(FILE *to, int id, const char *name, const char *argument, const char *text)
{
	char head[128];
	const char *equals = !argument ? "" : argument[0] == '[' ? "[=" : "=";
	int len = snprintf(head, sizeof(head), "  %c%c%c --%s%s%s", id < OPTION_LONG ? '-' : ' ',
			   id < OPTION_LONG ? id : ' ', id < OPTION_LONG ? ',' : ' ', name, equals,
			   argument ? argument + (argument[0] == '[') : "");

	fputs(head, to);
	if (len >= TEXT_AT - 1) {
		fputc('\n', to);
		len = 0;
	}
	fprintf(to, "%*s", TEXT_AT - len, "");
	put_folded(to, text, strlen(text), TEXT_AT, TEXT_AT);
}

void help_overview(FILE *to)
{
	fputs("usage: tp COMMAND [ARGUMENTS]\n"
	      "       tp help COMMAND\n"
	      "       tp --version\n\n"
	      "Commands:\n", to);
	for (const struct tp_command *const *command = commands; *command; command++)
		fprintf(to, "  %-10s %s\n", (*command)->name, (*command)->summary);
	fputs("\nExits with 0; with 1 if the command has failed; with 2 if it was called in a\n"
	      "wrong way; a command that runs a program, with that program's status.\n", to);
}

void help_command(FILE *to, const struct tp_command *command)
{
	const char *at = command->text;

	for (size_t i = 0; command->usage[i]; i++)
		fprintf(to, "%s tp %s %s\n", i ? "      " : "usage:", command->name, command->usage[i]);
	fputc('\n', to);
	while (*at) {
		const char *newline = strchrnul(at, '\n');
		if (*at == '\t')
			fprintf(to, "    %.*s\n", (int)(newline - at - 1), at + 1);
		else
			put_folded(to, at, (size_t)(newline - at), 0, 0);
		at = *newline ? newline + 1 : newline;
	}
	fputs("\nOptions:\n", to);
	for (const struct tp_option *option = command->options; option->name; option++)
		put_option(to, option->id, option->name, option->argument, option->text);
	put_option(to, 'h', "help", NULL, "show this");
}

/* SPDX-License-Identifier: MIT */
#include "help/help.h"

#include <ctype.h>
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

static void put_option(FILE *to, const struct tp_option *option)
{
	char head[128];
	char letter[] = "    ";
	const char *argument = option->argument ? option->argument : "";
	const char *equals = !*argument ? "" : *argument == '[' ? "[=" : "=";

	if (option->id < OPTION_LONG) {
		letter[0] = '-';
		letter[1] = (char)option->id;
		letter[2] = ',';
	}
	int len = snprintf(head, sizeof(head), "  %s--%s%s%s", letter, option->name, equals, argument + (*argument == '['));
	fputs(head, to);
	if (len >= TEXT_AT - 1) {
		fputc('\n', to);
		len = 0;
	}
	fprintf(to, "%*s", TEXT_AT - len, "");
	put_folded(to, option->text, strlen(option->text), TEXT_AT, TEXT_AT);
}

const char help_exits[] = "Exits with 0; with 1 if the command has failed; with 2 if it was called in a wrong way; a "
			  "command that runs a program, with that program's status.";
const struct tp_option help_option = {'h', "help", NULL, "show this"};

enum help_piece help_next(const char **at, const char **piece, size_t *len)
{
	const char *end = strchrnul(*at, '\n');

	*piece = *at;
	*len = (size_t)(end - *at);
	*at = *end ? end + 1 : end;
	if (*len == 0)
		return *end ? HELP_EMPTY : HELP_END;
	if (**piece == '\t') {
		++*piece;
		--*len;
		return HELP_VERBATIM;
	}
	return strspn(*piece, "ABCDEFGHIJKLMNOPQRSTUVWXYZ ") == *len ? HELP_HEADING : HELP_PARAGRAPH;
}

const char *help_headings(const char *text)
{
	const char *at = text, *piece;
	enum help_piece kind;
	size_t len;

	do
		kind = help_next(&at, &piece, &len);
	while (kind != HELP_HEADING && kind != HELP_END);
	return piece;
}

void help_overview(FILE *to)
{
	fputs("usage: tp COMMAND [ARGUMENTS]\n"
	      "       tp help COMMAND\n"
	      "       tp --version\n\n"
	      "Commands:\n", to);
	for (const struct tp_command *const *command = commands; *command; command++)
		fprintf(to, "  %-10s %s\n", (*command)->name, (*command)->summary);
	fputc('\n', to);
	put_folded(to, help_exits, strlen(help_exits), 0, 0);
}

/* The pieces of the text until end, each as it is shown; a heading has its paragraphs indented. */
static void put_text(FILE *to, const char *at, const char *end)
{
	enum help_piece kind;
	const char *piece;
	size_t len;
	int indent = 0;

	while (at < end && (kind = help_next(&at, &piece, &len)) != HELP_END) {
		if (kind == HELP_HEADING) {
			fputc(*piece, to);
			for (size_t i = 1; i < len; i++)
				fputc(tolower((unsigned char)piece[i]), to);
			fputs(":\n", to);
			indent = 2;
		} else if (kind == HELP_VERBATIM) {
			fprintf(to, "    %.*s\n", (int)len, piece);
		} else if (kind == HELP_EMPTY) {
			fputc('\n', to);
		} else {
			fprintf(to, "%*s", indent, "");
			put_folded(to, piece, len, indent, indent);
		}
	}
}

void help_command(FILE *to, const struct tp_command *command)
{
	const char *headings = help_headings(command->text);

	for (size_t i = 0; command->usage[i]; i++)
		fprintf(to, "%s tp %s %s\n", i ? "      " : "usage:", command->name, command->usage[i]);
	fputc('\n', to);
	put_text(to, command->text, headings);
	fprintf(to, "%sOptions:\n", *headings ? "" : "\n");
	for (const struct tp_option *option = command->options; option->name; option++)
		put_option(to, option);
	put_option(to, &help_option);
	if (*headings)
		fputc('\n', to);
	put_text(to, headings, headings + strlen(headings));
}

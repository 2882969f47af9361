/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>

#include <tp/tracepoint.h>

#include "commands/commands.h"
#include "help/help.h"

#define LINE_WIDTH 66 /* before letters are escaped */

/* roff means something else by these, or shows them as other characters. */
static void put(FILE *to, const char *text, size_t len)
{
	static const struct {
		char c;
		const char *becomes;
	} escapes[] = {
		{'\\', "\\e"}, {'-', "\\-"}, {'\'', "\\(aq"}, {'"', "\\(dq"}, {'^', "\\(ha"}, {'~', "\\(ti"}, {'`', "\\(ga"},
	};

	if (len && *text == '.')
		fputs("\\&", to);
	for (size_t i = 0; i < len; i++) {
		const char *becomes = NULL;
		for (size_t j = 0; j < sizeof(escapes) / sizeof(escapes[0]); j++) {
			if (escapes[j].c == text[i])
				becomes = escapes[j].becomes;
		}
		if (becomes)
			fputs(becomes, to);
		else
			fputc(text[i], to);
	}
}

static void put_line(FILE *to, const char *text)
{
	put(to, text, strlen(text));
	fputc('\n', to);
}

/* In lines that a person can read, too. */
static void put_paragraph(FILE *to, const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end) {
		const char *line = end;
		for (const char *at = text; end - text > LINE_WIDTH && (at = memchr(at, ' ', (size_t)(end - at))) != NULL; at++) {
			if (line != end && at - text > LINE_WIDTH)
				break;
			line = at;
		}
		put(to, text, (size_t)(line - text));
		fputc('\n', to);
		text = line + 1;
	}
}

static void put_head(FILE *to, const char *name, const char *summary)
{
	char title[64];
	size_t i = 0;

	for (; name[i] && i < sizeof(title) - 1; i++)
		title[i] = (char)toupper((unsigned char)name[i]);
	fputs(".TH ", to);
	put(to, title, i);
	fputs(" 1 \"" TP_DATE "\" \"tp " TP_VERSION "\" \"User Commands\"\n.SH NAME\n", to);
	put(to, name, strlen(name));
	fputs(" \\- ", to);
	put_line(to, summary);
	fputs(".SH SYNOPSIS\n.nf\n", to);
}

static void put_verbatim(FILE *to, const char *piece, size_t len, bool is_first, bool *is_verbatim)
{
	if (!*is_verbatim)
		fprintf(to, "%s.RS 4\n.nf\n", is_first ? "" : ".PP\n");
	*is_verbatim = true;
	put(to, piece, len);
	fputc('\n', to);
}

static void put_text(FILE *to, const char *at, const char *end)
{
	bool is_verbatim = false, is_first = true; /* behind a heading */
	enum help_piece kind;
	const char *piece;
	size_t len;

	while (at < end && (kind = help_next(&at, &piece, &len)) != HELP_END) {
		if (kind == HELP_VERBATIM) {
			put_verbatim(to, piece, len, is_first, &is_verbatim);
			is_first = false;
			continue;
		}
		if (is_verbatim)
			fputs(".fi\n.RE\n", to);
		is_verbatim = false;
		if (kind == HELP_EMPTY)
			continue;
		if (kind == HELP_HEADING)
			fputs(".SH ", to);
		else if (!is_first)
			fputs(".PP\n", to);
		put_paragraph(to, piece, len);
		is_first = kind == HELP_HEADING;
	}
	if (is_verbatim)
		fputs(".fi\n.RE\n", to);
}

static void put_option(FILE *to, const struct tp_option *option)
{
	const char *argument = option->argument ? option->argument : "";

	fputs(".TP\n", to);
	if (option->id < OPTION_LONG)
		fprintf(to, "\\fB\\-%c\\fR, ", option->id);
	fputs("\\fB\\-\\-", to);
	put(to, option->name, strlen(option->name));
	fprintf(to, "\\fR%s\\fI", !*argument ? "" : *argument == '[' ? "[=" : "=");
	argument += *argument == '[';
	const size_t word = strcspn(argument, "]");
	put(to, argument, word);
	fputs("\\fR", to);
	put_line(to, argument + word);
	put_paragraph(to, option->text, strlen(option->text));
}

static void put_command(FILE *to, const struct tp_command *command)
{
	char name[64];
	const char *headings = help_headings(command->text);

	snprintf(name, sizeof(name), "tp-%s", command->name);
	put_head(to, name, command->summary);
	for (size_t i = 0; command->usage[i]; i++) {
		fputs("\\fBtp ", to);
		put(to, command->name, strlen(command->name));
		fputs("\\fR ", to);
		put_line(to, command->usage[i]);
	}
	fputs(".fi\n.SH DESCRIPTION\n", to);
	put_text(to, command->text, headings);
	fputs(".SH OPTIONS\n", to);
	for (const struct tp_option *option = command->options; option->name; option++)
		put_option(to, option);
	put_option(to, &help_option);
	put_text(to, headings, headings + strlen(headings));
	fputs(".SH EXIT STATUS\n", to);
	put_paragraph(to, help_exits, strlen(help_exits));
	fputs(".SH SEE ALSO\n.BR tp (1)\n", to);
}

static void put_all(FILE *to)
{
	put_head(to, "tp", "look into traced processes, and read their traces");
	fputs("\\fBtp\\fR COMMAND [ARGUMENTS]\n\\fBtp help\\fR COMMAND\n\\fBtp \\-\\-version\\fR\n.fi\n.SH COMMANDS\n", to);
	for (const struct tp_command *const *command = commands; *command; command++) {
		fputs(".TP\n\\fB", to);
		put(to, (*command)->name, strlen((*command)->name));
		fputs("\\fR\n", to);
		put_line(to, (*command)->summary);
	}
	fputs(".SH EXIT STATUS\n", to);
	put_paragraph(to, help_exits, strlen(help_exits));
	fputs(".SH SEE ALSO\n", to);
	for (const struct tp_command *const *command = commands; *command; command++)
		fprintf(to, ".BR tp\\-%s (1)%s\n", (*command)->name, command[1] ? "," : "");
}

void help_man(FILE *to, const struct tp_command *command)
{
	if (command)
		put_command(to, command);
	else
		put_all(to);
}

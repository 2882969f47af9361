/* SPDX-License-Identifier: MIT */
/* shells.c - functions with which bash and zsh complete. Both know an argument by the word that the tables have for it. */
#include <ctype.h>
#include <string.h>

#include "base/tracefs.h"
#include "commands/commands.h"
#include "help/help.h"

/* ---- Arguments ---- */

/* The word for it: "[SIZE]" is SIZE. */
static int word_length(const char *argument)
{
	return (int)strcspn(argument + (*argument == '['), "]");
}

static const char *word(const char *argument)
{
	return argument + (*argument == '[');
}

/* It stands for itself, or is a list of such: trace.dat, text|json. */
static bool is_literal(const char *argument)
{
	return islower((unsigned char)*word(argument));
}

/* What may be left out stands behind "=" only. */
static bool needs_argument(const struct tp_option *option)
{
	return option->argument && *option->argument != '[';
}

/* What is left of a text in single quotes. */
static void put_quoted(FILE *to, const char *text, const char *with_backslash)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", to);
		else if (strchr(with_backslash, *text))
			fprintf(to, "\\%c", *text);
		else
			fputc(*text, to);
	}
}

/* With blanks for its bars. */
static void put_words(FILE *to, const char *argument)
{
	for (int i = 0; i < word_length(argument); i++)
		fputc(word(argument)[i] == '|' ? ' ' : word(argument)[i], to);
}

/* ---- bash ---- */

static void put_bash_argument(FILE *to, const char *argument)
{
	if (is_literal(argument)) {
		fputs("_tp_words '", to);
		put_words(to, argument);
		fputs("'", to);
	} else {
		fprintf(to, "_tp_argument %.*s", word_length(argument), word(argument));
	}
}

static bool takes_process(const struct tp_command *command)
{
	for (const struct tp_option *option = command->options; option->name; option++) {
		if (option->id == 'p')
			return true;
	}
	return false;
}

/* Behind a process stand events, as of "tp list". */
static void put_bash_operand(FILE *to, const struct tp_command *command)
{
	if (strcmp(command->operand, "FILE") == 0 && takes_process(command))
		fputs("_tp_argument $([[ $pid ]] && echo EVENTS || echo FILE)", to);
	else
		put_bash_argument(to, command->operand);
}

static void put_bash_command(FILE *to, const struct tp_command *command)
{
	fprintf(to, "\t%s)\n\t\tcase $prev in\n", command->name);
	for (const struct tp_option *option = command->options; option->name; option++) {
		if (!needs_argument(option))
			continue;
		fputs("\t\t", to);
		if (option->id < OPTION_LONG)
			fprintf(to, "-%c|", option->id);
		fprintf(to, "--%s) ", option->name);
		put_bash_argument(to, option->argument);
		fputs("; return ;;\n", to);
	}
	fputs("\t\tesac\n\t\tif [[ $cur == -* ]]; then\n\t\t\t_tp_words '", to);
	for (const struct tp_option *option = command->options; option->name; option++)
		fprintf(to, "--%s%s ", option->name, needs_argument(option) ? "=" : "");
	fputs("--help'\n", to);
	if (command->operand) {
		fputs("\t\telse\n\t\t\t", to);
		put_bash_operand(to, command);
		fputc('\n', to);
	}
	fputs("\t\tfi ;;\n", to);
}

static const char bash_begin[] =
	"# bash completion for tp, which \"tp help --completion bash\" has written.\n"
	"\n"
	"_tp_words()\n"
	"{\n"
	"\tCOMPREPLY=($(compgen -W \"$1\" -- \"$cur\"))\n"
	"\t[[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace\n"
	"}\n"
	"\n"
	"_tp_argument()\n"
	"{\n"
	"\tcase $1 in\n"
	"\tDIR) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\") ;;\n"
	"\tFILE) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
	"\tPROGRAM) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -c -- \"$cur\"; compgen -f -- \"$cur\") ;;\n"
	"\tPID) _tp_words \"$(tp ps 2>/dev/null | awk 'NR > 1 { print $1, $3 }')\" ;;\n"
	"\t# Without their systems: bash takes a colon for the end of a word. Of several processes of a name, the newest's.\n"
	"\tEVENTS) _tp_words \"$(tp list $([[ $pid ]] || echo --all) ${pid:+-p \"$pid\" --newest} 2>/dev/null |\n"
	"\t\tsed -n 's/^[^: ]*:\\([^ ]*\\).*/\\1/p')\" ;;\n"
	"\tKERNEL-EVENTS) _tp_words \"$(sed 's/^.*://' " TP_TRACEFS "/available_events 2>/dev/null)\" ;;\n"
	"\tCOMMAND) _tp_words \"$commands\" ;;\n"
	"\tesac\n"
	"}\n"
	"\n"
	"_tp()\n"
	"{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} pid= i\n";

static const char bash_middle[] =
	"\n"
	"\tCOMPREPLY=()\n"
	"\tif (( COMP_CWORD == 1 )); then\n"
	"\t\t_tp_words \"$commands --help --version\"\n"
	"\t\treturn\n"
	"\tfi\n"
	"\t# Behind \"--\" stands a program with its arguments.\n"
	"\tfor (( i = 2; i < COMP_CWORD; i++ )); do\n"
	"\t\tif [[ ${COMP_WORDS[i]} == -- ]]; then\n"
	"\t\t\t_tp_argument $( (( i == COMP_CWORD - 1 )) && echo PROGRAM || echo FILE)\n"
	"\t\t\treturn\n"
	"\t\tfi\n"
	"\t\tcase ${COMP_WORDS[i]} in\n"
	"\t\t-p|--pid)\n"
	"\t\t\tpid=${COMP_WORDS[i+1]}\n"
	"\t\t\t[[ $pid != = ]] || pid=${COMP_WORDS[i+2]} ;;\n"
	"\t\t-p?*) pid=${COMP_WORDS[i]#-p} ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"\t# bash takes \"--name=value\" for three words.\n"
	"\tif [[ $cur == = ]]; then\n"
	"\t\tcur=\n"
	"\telif [[ $prev == = ]]; then\n"
	"\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n"
	"\tfi\n"
	"\tcase ${COMP_WORDS[1]} in\n";

void help_bash(FILE *to)
{
	fprintf(to, "%s\tlocal commands='", bash_begin);
	for (const struct tp_command *const *command = commands; *command; command++)
		fprintf(to, "%s%s", command == commands ? "" : " ", (*command)->name);
	fprintf(to, "'\n%s", bash_middle);
	for (const struct tp_command *const *command = commands; *command; command++)
		put_bash_command(to, *command);
	fputs("\tesac\n}\ncomplete -F _tp tp\n", to);
}

/* ---- zsh ---- */

static void put_zsh_argument(FILE *to, const char *argument)
{
	static const struct {
		const char *word, *action;
	} actions[] = {
		{"DIR", "_directories"}, {"FILE", "_files"}, {"PROGRAM", "_command_names -e"}, {"PID", "_tp_pids"},
		{"EVENTS", "_tp_events"}, {"KERNEL-EVENTS", "_tp_kernel_events"}, {"COMMAND", "_tp_commands"},
	};
	const size_t len = (size_t)word_length(argument);

	fprintf(to, ":%.*s:", (int)len, word(argument));
	if (is_literal(argument)) {
		fputc('(', to);
		put_words(to, argument);
		fputc(')', to);
		return;
	}
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (len == strlen(actions[i].word) && strncmp(actions[i].word, word(argument), len) == 0)
			fputs(actions[i].action, to);
	}
}

static void put_zsh_option(FILE *to, const struct tp_option *option)
{
	const char *argument = option->argument;

	fputs(" \\\n\t\t\t", to);
	if (option->id < OPTION_LONG)
		fprintf(to, "'*'{-%c%s,--%s%s}'", option->id, argument ? "+" : "", option->name, argument ? "=" : "");
	else
		fprintf(to, "'*--%s%s", option->name, !argument ? "" : *argument == '[' ? "=-" : "=");
	fputc('[', to);
	put_quoted(to, option->text, "[]:\\");
	fputc(']', to);
	if (argument && *argument == '[')
		fputc(':', to);
	if (argument)
		put_zsh_argument(to, argument);
	fputc('\'', to);
}

static void put_zsh_command(FILE *to, const struct tp_command *command)
{
	fprintf(to, "\t%s)\n\t\t_arguments -s -S", command->name);
	for (const struct tp_option *option = command->options; option->name; option++)
		put_zsh_option(to, option);
	put_zsh_option(to, &help_option);
	if (command->operand) {
		fputs(" \\\n\t\t\t'*", to);
		put_zsh_argument(to, command->operand);
		fputc('\'', to);
	}
	fputs(" ;;\n", to);
}

static const char zsh_begin[] =
	"#compdef tp\n"
	"# zsh completion for tp, which \"tp help --completion zsh\" has written.\n"
	"\n"
	"_tp_pids() {\n"
	"\tlocal -a pids\n"
	"\tpids=(${(f)\"$(tp ps 2>/dev/null | awk 'NR > 1 { print $1; print $3 }')\"})\n"
	"\tcompadd -a pids\n"
	"}\n"
	"\n"
	"_tp_events() {\n"
	"\tlocal -a events\n"
	"\tlocal pid=${(v)opt_args[(i)-p|--pid]}\n"
	"\tevents=(${(f)\"$(tp list ${=${pid:+-p $pid --newest}:---all} 2>/dev/null | sed -n 's/^\\([^: ]*:[^ ]*\\).*/\\1/p')\"})\n"
	"\tcompadd -a events\n"
	"}\n"
	"\n"
	"_tp_kernel_events() {\n"
	"\tlocal -a events\n"
	"\tevents=(${(f)\"$(cat " TP_TRACEFS "/available_events 2>/dev/null)\"})\n"
	"\tcompadd -a events\n"
	"}\n"
	"\n"
	"_tp_commands() {\n"
	"\tlocal -a commands\n"
	"\tcommands=(";

static const char zsh_middle[] =
	"\n\t)\n"
	"\t_describe command commands\n"
	"}\n"
	"\n"
	"_tp() {\n"
	"\tlocal context state state_descr line\n"
	"\ttypeset -A opt_args\n"
	"\n"
	"\t_arguments -C '(- *)--help[show the commands]' '(- *)--version[show the version]' \\\n"
	"\t\t'1:command:_tp_commands' '*::argument:->argument' && return\n"
	"\t[[ $state == argument ]] || return\n"
	"\t# Behind \"--\" stands a program with its arguments.\n"
	"\tlocal separator=${words[(i)--]}\n"
	"\tif (( separator < CURRENT )); then\n"
	"\t\tshift separator words\n"
	"\t\t(( CURRENT -= separator ))\n"
	"\t\t_normal\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tcase $words[1] in\n";

void help_zsh(FILE *to)
{
	fputs(zsh_begin, to);
	for (const struct tp_command *const *command = commands; *command; command++) {
		fprintf(to, "\n\t\t'%s:", (*command)->name);
		put_quoted(to, (*command)->summary, ":\\");
		fputc('\'', to);
	}
	fputs(zsh_middle, to);
	for (const struct tp_command *const *command = commands; *command; command++)
		put_zsh_command(to, *command);
	fputs("\tesac\n}\n\n_tp \"$@\"\n", to);
}

/* SPDX-License-Identifier: MIT */
/*
 * reader.c - tp for traces by the thousand: to start a program with a sanitizer takes longer than to read a small trace. It is linked
 * with all of tp but tp.c. Each line of its input is a process, forked from here, that runs the line's commands, one after the other:
 *
 *	report<TAB>DIR<TAB>;<TAB>convert<TAB>--to<TAB>json<TAB>-o<TAB>FILE<TAB>DIR
 *
 * For each command it answers "STATUS LENGTH" and that many bytes, which the command has said on stderr; then "end WAIT-STATUS". A line
 * that begins with "!" also looks for memory that was not freed. The commands' output goes to /dev/null.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands/commands.h"
#include "options.h"

#define WORDS_MAX 64
#define SECONDS 60 /* of the processor */
#define MESSAGE_MAX 65536

static FILE *answers;

static int run(int argc, char **argv)
{
	const struct tp_command *command = command_find(argv[0]);
	struct tp_args args;
	int status = -1;

	if (command && args_parse(&args, command, argc, argv))
		status = command->run(&args);
	args_free(&args);
	return fflush(stdout) == 0 ? status : -1;
}

/* messages: the file that stderr is. */
static void run_command(int argc, char **argv, int messages)
{
	static char message[MESSAGE_MAX];

	if (ftruncate(messages, 0) != 0 || lseek(messages, 0, SEEK_SET) != 0)
		_exit(2);
	const int status = run(argc, argv);
	const ssize_t len = pread(messages, message, sizeof(message), 0);
	fprintf(answers, "%d %zd\n", status, len);
	fwrite(message, 1, len > 0 ? (size_t)len : 0, answers);
	fflush(answers);
}

static void run_line(char *line, int messages)
{
	char *words[WORDS_MAX + 1];
	int nr = 0;

	setrlimit(RLIMIT_CPU, &(struct rlimit){SECONDS, SECONDS});
	dup2(messages, STDERR_FILENO);
	for (char *word = strtok(line, "\t\n"); word && nr < WORDS_MAX; word = strtok(NULL, "\t\n")) {
		words[nr++] = word;
		if (strcmp(word, ";") != 0)
			continue;
		words[nr - 1] = NULL;
		run_command(nr - 1, words, messages);
		nr = 0;
	}
	words[nr] = NULL;
	run_command(nr, words, messages);
}

static void run_child(char *line, int messages)
{
	const bool looks_for_leaks = *line == '!';

	run_line(line + looks_for_leaks, messages);
	if (!looks_for_leaks)
		_exit(0);
	exit(0);
}

/* argv[1]: the file for what commands say, which has the sanitizer's report where one has ended. */
int main(int argc, char **argv)
{
	char *line = NULL;
	size_t size = 0;
	int status;

	if (argc != 2)
		return 2;
	const int messages = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	answers = fdopen(dup(STDOUT_FILENO), "w");
	if (messages < 0 || null < 0 || !answers || dup2(null, STDOUT_FILENO) < 0)
		return 2;
	while (getline(&line, &size, stdin) > 0) {
		const pid_t pid = fork();
		if (pid == 0)
			run_child(line, messages);
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			return 2;
		fprintf(answers, "end %d\n", status);
		fflush(answers);
	}
	free(line);
	fclose(answers);
	return 0;
}

// SPDX-License-Identifier: MIT
/*
 * A program that does, one after the other, what its arguments say:
 *
 *	hit=N        the event with the next N numbers
 *	text=TEXT    the event with this text
 *	long=N       with a text of so many letters
 *	sleep        gives the processor away for a moment
 *	sh=COMMAND   runs it, and it must succeed
 *	close        closes all descriptors but the standard ones
 *	nobody       becomes the user nobody
 *	threads=N    that many threads hit it 1000 times each
 *	signals=N    the same in a signal handler, which comes while the program hits it
 *	fork         and a child hits it once
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "ftrace.h"

static int number;

static void hit(const char *nr)
{
	for (int i = 0; i < atoi(nr); i++)
		trace_ftrace_number(number++);
}

static void hit_long(const char *nr)
{
	size_t len = (size_t)atol(nr);
	char *text = malloc(len + 1);

	if (!text)
		exit(1);
	memset(text, 'x', len);
	text[len] = '\0';
	trace_ftrace_text(text);
	free(text);
}

static void *hit_often(void *unused)
{
	for (int i = 0; i < 1000; i++)
		trace_ftrace_number(i);
	return unused;
}

static void run_threads(const char *nr)
{
	pthread_t threads[64];
	int n = atoi(nr);

	for (int i = 0; i < n; i++) {
		if (pthread_create(&threads[i], NULL, hit_often, NULL))
			exit(1);
	}
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static volatile sig_atomic_t handled;

static void on_alarm(int signal)
{
	(void)signal;
	trace_ftrace_text("from the handler");
	handled++;
}

static void run_signals(const char *nr)
{
	const struct itimerval often = {.it_interval = {.tv_usec = 200}, .it_value = {.tv_usec = 200}};
	const struct itimerval never = {.it_value = {.tv_usec = 0}};

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	while (handled < atoi(nr))
		hit("1");
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%d %d\n", number, (int)handled);
}

static void run_child(const char *unused)
{
	pid_t child = fork();
	int status;

	(void)unused;
	if (child == 0) {
		trace_ftrace_text("child");
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child || status)
		exit(1);
	printf("%d\n", (int)child);
}

static void run_shell(const char *command)
{
	if (system(command) != 0) {
		fprintf(stderr, "failed: %s\n", command);
		exit(1);
	}
}

static void close_all(const char *unused)
{
	(void)unused;
	for (int fd = STDERR_FILENO + 1; fd < 256; fd++)
		close(fd);
}

static void become_nobody(const char *unused)
{
	(void)unused;
	if (setgid(65534) || setuid(65534))
		exit(1);
}

static void give_way(const char *unused)
{
	(void)unused;
	usleep(20000);
}

static const struct {
	const char *name;
	void (*run)(const char *argument);
} commands[] = {
	{"hit", hit}, {"text", trace_ftrace_text}, {"long", hit_long}, {"sleep", give_way}, {"sh", run_shell},
	{"close", close_all}, {"nobody", become_nobody}, {"threads", run_threads}, {"signals", run_signals},
	{"fork", run_child},
};

static void run(char *argument)
{
	char *value = strchr(argument, '=');

	if (value)
		*value++ = '\0';
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i].name, argument) == 0) {
			commands[i].run(value);
			return;
		}
	}
	fprintf(stderr, "unknown: %s\n", argument);
	exit(1);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		run(argv[i]);
	return 0;
}

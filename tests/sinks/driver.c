/* SPDX-License-Identifier: MIT */
/*
 * driver.c - a program with several sinks at once. Its standard input says
 * what it does, a command a line, each of which it answers with a line:
 *
 *	open NAME KIND [ARGUMENT [OPTIONS]]   a sink: text, ctf, stats, ftrace, lttng, sdt
 *	enable NAME, disable NAME, close NAME
 *	hit NUMBER                            by each of four threads
 *	toggle NAME NUMBER ROUNDS             the same, while this goes off and on again so often
 *	fork NUMBER                           a child hits so often, in one thread, and has statistics written
 *
 * The answer is what the function has returned, and "ok" or errno otherwise.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "several.h"

#include <tp/tp.h>

enum { THREADS = 4, SINKS = 8 };

static struct named {
	char name[16];
	struct tp_sink *sink;
	FILE *file;
} sinks[SINKS];

static unsigned long number[THREADS]; /* of events, so far */
static unsigned long times;

static struct named *find(const char *name)
{
	for (int i = 0; i < SINKS; i++) {
		if (strcmp(sinks[i].name, name) == 0)
			return &sinks[i];
	}
	fprintf(stderr, "there is no sink '%s'\n", name);
	exit(1);
}

static struct tp_sink *open_kind(struct named *named, const char *kind, const char *argument, const char *options)
{
	if (strcmp(kind, "text") == 0)
		return tp_text_sink(named->file = fopen(argument, "a"));
	if (strcmp(kind, "ctf") == 0)
		return tp_ctf_sink(argument, options);
	if (strcmp(kind, "stats") == 0)
		return tp_stats_sink(argument, options);
	if (strcmp(kind, "ftrace") == 0)
		return tp_ftrace_sink(argument);
	if (strcmp(kind, "lttng") == 0)
		return tp_lttng_sink();
	return tp_sdt_sink();
}

static void *hit(void *argument)
{
	unsigned int thread = (unsigned int)(size_t)argument;

	for (unsigned long i = 0; i < times; i++)
		trace_several_hit(thread, number[thread]++, "four threads");
	return NULL;
}

static int hit_all(const char *toggled, int rounds)
{
	pthread_t threads[THREADS];
	int result = 0;

	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, hit, (void *)i);
	for (; rounds && result >= 0; rounds--) {
		result = tp_disable(find(toggled)->sink, "several:*");
		if (result >= 0)
			result = tp_enable(find(toggled)->sink, "several:*");
	}
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return result;
}

static int hit_in_child(void)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		hit(NULL);
		for (int i = 0; i < SINKS; i++)
			tp_stats_write(sinks[i].sink); /* which others refuse */
		exit(0);
	}
	waitpid(child, &status, 0);
	return status;
}

static int command(char *line)
{
	char what[16] = "", name[16] = "", kind[16] = "", argument[256] = "", options[256] = "";
	int words = sscanf(line, "%15s %15s %15s %255s %255s", what, name, kind, argument, options);

	if (strcmp(what, "hit") == 0 || strcmp(what, "fork") == 0) {
		times = strtoul(name, NULL, 10);
		return *what == 'h' ? hit_all(NULL, 0) : hit_in_child();
	}
	if (strcmp(what, "toggle") == 0) {
		times = strtoul(kind, NULL, 10);
		return hit_all(name, atoi(argument));
	}
	if (strcmp(what, "open") == 0) {
		struct named *named = find("");
		named->sink = open_kind(named, kind, words > 3 ? argument : NULL, words > 4 ? options : NULL);
		if (named->sink)
			strcpy(named->name, name);
		return named->sink ? 0 : -errno;
	}
	struct named *named = find(name);
	if (strcmp(what, "enable") == 0)
		return tp_enable(named->sink, "several:*");
	if (strcmp(what, "disable") == 0)
		return tp_disable(named->sink, "several:*");
	int result = tp_sink_close(named->sink);
	if (named->file)
		fclose(named->file);
	*named = (struct named){.sink = NULL};
	return result;
}

int main(void)
{
	char line[1024];

	while (fgets(line, sizeof(line), stdin)) {
		printf("%d\n", command(line));
		fflush(stdout);
	}
	return 0;
}

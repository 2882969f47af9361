/* SPDX-License-Identifier: MIT */
/*
 * driver.c - triggers, by commands from standard input, a line each. A text sink writes to standard output.
 *
 *	open NAME [WHERE [OPTIONS]]        a sink: text on standard output, or a trace in a directory
 *	close NAME
 *	enable NAME PATTERNS [FILTER]      prints the result and the error
 *	disable NAME PATTERNS
 *	trigger NAME|- PATTERNS TRIGGER    the same
 *	list                               the triggers
 *	hist PATTERNS [json]               what histograms have counted
 *	armed EVENT                        whether its tracepoint is on
 *	order ID PRICE, failure CODE TEXT, detail N
 *	lost NAME
 *	open_in NAME DIRECTORY OPTIONS     a trace in a directory that is passed
 *	trigger_in NAME DIRECTORY PATTERNS TRIGGER  with a directory for snapshots
 *	await PATH                         until it is there
 *	move PATH TO
 *	threads                            how many there are
 *	exit                               with sinks that are open
 *	fork                               what follows is done by a child, at whose end the parent ends
 */
#define CREATE_TRACE_POINTS
#include "shop.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tp/tp.h>

#include "events/events.h"
#include "sinks/ctf/ctf.h"
#include "triggers/triggers.h"

#include "../lines.h"
#include "../tasks.h"

#define MOST 8

static struct {
	char name[16];
	struct tp_sink *sink;
} sinks[MOST];

static struct tp_sink **place_of(const char *name)
{
	for (int i = 0; i < MOST; i++) {
		if (strcmp(sinks[i].name, name) == 0)
			return &sinks[i].sink;
	}
	for (int i = 0; i < MOST; i++) {
		if (!sinks[i].name[0]) {
			strncpy(sinks[i].name, name, sizeof(sinks[i].name) - 1);
			return &sinks[i].sink;
		}
	}
	abort();
}

static const char *name_of(uint64_t serial)
{
	for (int i = 0; i < MOST; i++) {
		if (sinks[i].sink && tp_sink_serial(sinks[i].sink) == serial)
			return sinks[i].name;
	}
	return "-";
}

static void print_result(int result, char *error)
{
	printf("%d%s%s\n", result, error ? " " : "", error ? error : "");
	free(error);
}

static void print_trigger(uint64_t serial, const char *patterns, const char *text, void *data)
{
	(void)data;
	printf("%s %s %s\n", name_of(serial), patterns, text);
}

/* The next word of the line; the rest of it. */
static char *word(char **rest)
{
	char *at = *rest ? strsep(rest, " ") : NULL;

	return at ? at : "";
}

static void print_hist(char *rest)
{
	const char *patterns = word(&rest);
	char *text = tp_hist_text(patterns, rest && strcmp(rest, "json") == 0);

	if (text)
		fputs(text, stdout);
	else
		printf("%s\n", strerrorname_np(errno));
	free(text);
}

static void open_one(char *rest)
{
	struct tp_sink **place = place_of(word(&rest));
	char *where = word(&rest);

	*place = *where ? tp_ctf_sink(where, rest) : tp_text_sink(stdout);
	if (!*place)
		perror(where);
}

static void change(const char *command, char *rest)
{
	struct tp_sink *sink = *place_of(word(&rest));
	char *patterns = word(&rest), *error = NULL;
	int result;

	if (strcmp(command, "trigger") == 0)
		result = tp_trigger(sink, patterns, rest, &error);
	else if (strcmp(command, "enable") == 0)
		result = tp_enable_if(sink, patterns, rest, &error);
	else
		result = tp_disable(sink, patterns);
	print_result(result, error);
}

static void open_in(char *rest)
{
	struct tp_sink **place = place_of(word(&rest));
	const char *directory = word(&rest);

	*place = tp_ctf_sink_in(open(directory, O_RDONLY | O_DIRECTORY), "passed", rest);
	if (!*place)
		perror(directory);
}

static void trigger_in(char *rest)
{
	struct tp_trigger_request request = {.sink = *place_of(word(&rest)), .has_directory = true};

	request.directory = open(word(&rest), O_RDONLY | O_DIRECTORY);
	request.patterns = word(&rest);
	request.trigger = rest;
	const int result = tp_trigger_request(&request);
	print_result(result, request.text.text);
}

static void move(char *rest)
{
	const char *from = word(&rest);

	if (rename(from, rest) != 0)
		perror(from);
}

static unsigned int count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *entry;
	unsigned int nr = 0;

	while ((entry = readdir(dir)))
		nr += entry->d_name[0] != '.' && !task_is_ending(entry->d_name);
	closedir(dir);
	return nr;
}

static void hit(const char *event, char *rest)
{
	const int number = atoi(word(&rest));

	if (strcmp(event, "order") == 0)
		trace_order(number, atoi(word(&rest)));
	else if (strcmp(event, "failure") == 0)
		trace_failure(number, rest ? rest : "");
	else
		trace_detail(number);
}

static void fork_here(void)
{
	int status;

	fflush(stdout);
	const pid_t child = fork();
	if (!child)
		return;
	waitpid(child, &status, 0);
	exit(status ? 1 : 0);
}

static void close_one(const char *name)
{
	struct tp_sink **place = place_of(name);

	printf("%d\n", tp_sink_close(*place));
	*place = NULL;
}

static bool is_armed(const char *event)
{
	return tp_tracepoint_is_on(strcmp(event, "order") == 0     ? &__tracepoint_order
				   : strcmp(event, "failure") == 0 ? &__tracepoint_failure
								   : &__tracepoint_detail);
}

static void serve(const char *command, char *rest)
{
	if (strcmp(command, "open") == 0)
		open_one(rest);
	else if (strcmp(command, "close") == 0)
		close_one(rest);
	else if (strcmp(command, "list") == 0)
		tp_triggers_each(print_trigger, NULL);
	else if (strcmp(command, "hist") == 0)
		print_hist(rest);
	else if (strcmp(command, "armed") == 0)
		printf("%d\n", is_armed(rest));
	else if (strcmp(command, "lost") == 0)
		printf("%lu\n", tp_sink_lost(*place_of(rest)));
	else if (strcmp(command, "on") == 0)
		tp_tracing_on(*place_of(rest));
	else if (strcmp(command, "off") == 0)
		tp_tracing_off(*place_of(rest));
	else if (strcmp(command, "is_on") == 0)
		printf("%d\n", tp_tracing_is_on(*place_of(rest)));
	else if (strcmp(command, "open_in") == 0)
		open_in(rest);
	else if (strcmp(command, "trigger_in") == 0)
		trigger_in(rest);
	else if (strcmp(command, "move") == 0)
		move(rest);
	else if (strcmp(command, "threads") == 0)
		printf("%u\n", count_threads());
	else if (strcmp(command, "exit") == 0)
		exit(0);
	else if (strcmp(command, "await") == 0)
		while (access(rest, F_OK) != 0)
			usleep(1000);
	else if (strcmp(command, "fork") == 0)
		fork_here();
	else if (strcmp(command, "trigger") == 0 || strcmp(command, "enable") == 0 || strcmp(command, "disable") == 0)
		change(command, rest);
	else
		hit(command, rest);
}

static void obey(char *line)
{
	const char *command = word(&line);

	serve(command, line ? line : "");
}

int main(void)
{
	obey_lines(obey);
	for (int i = 0; i < MOST; i++) {
		if (sinks[i].sink)
			tp_sink_close(sinks[i].sink);
	}
	return 0;
}

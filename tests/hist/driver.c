/* SPDX-License-Identifier: MIT */
/*
 * driver.c - histograms, by lines from standard input:
 *
 *	open N DEFINITION [if FILTER]  "ok", or "error AT MESSAGE" with the hint in brackets
 *	enable N PATTERNS [if FILTER]  the number of events, or what is wrong
 *	fits N PATTERNS                how many events match, or "error AT MESSAGE"
 *	order FIELD=VALUE ...          hits shop_order; what is not given is 0 or ""
 *	other U32 S32                  hits shop_other
 *	text N, json N, info N         as it is shown; after a text comes a line "."
 *	doubts N, losses N             what a person is told of it, or "-"
 *	all PATTERNS, jsons PATTERNS   those of events
 *	pause N, cont N, clear N, close N
 *	pauseof EVENT, contof EVENT    all histograms of an event
 *	wake PID PRIO COMM             hits sched_waking; wakenew, sched_wakeup_new
 *	switch PID PRIO COMM  PID PRIO COMM  hits sched_switch, from one to another
 *	sleep                          for 2 ms
 *	synthetic DEFINITION           0, or what is wrong
 *	log PATTERNS                   a text sink of these events; logged: what it has written, without times
 *	snapshots                      how many snapshots were asked for
 *	name TEXT                      the thread's from here on
 *	fork                           the rest is the child's
 */
#define CREATE_TRACE_POINTS
#include "events.h"
#include "tasks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tp/tp.h>

#include "events/events.h"
#include "sinks/hist/hist.h"

#include "../lines.h"

#define MAX_HISTS 16

static struct tp_sink *hists[MAX_HISTS];

static void put_error(struct tp_filter_error *error)
{
	printf("error %zu %s", error->at, error->message);
	if (error->hint.text)
		printf(" [%s]", error->hint.text);
	printf("\n");
	tp_filter_error_free(error);
}

static char *take_filter(char *text)
{
	char *filter = strstr(text, " if ");

	if (!filter)
		return NULL;
	*filter = '\0';
	return filter + strlen(" if ");
}

static int nr_snapshots;

static void count_snapshot(void *data)
{
	++*(int *)data;
}

static void open_hist(struct tp_sink **hist, char *text)
{
	char *filter = take_filter(text);
	struct tp_filter_error error;
	struct tp_hist_definition *definition = tp_hist_definition_new(text, &error);

	const bool snapshots = definition && tp_hist_wants_snapshot(definition);
	*hist = definition ? tp_hist_sink(definition, filter, &error) : NULL;
	if (*hist && snapshots)
		tp_hist_on_snapshot(*hist, count_snapshot, &nr_snapshots);
	if (*hist)
		printf("ok\n");
	else
		put_error(&error);
}

static void enable(struct tp_sink *hist, char *patterns)
{
	char *filter = take_filter(patterns);
	struct tp_enable_report report = {.in_a_line = true};

	printf("%d", tp_enable_filtered(hist, patterns, filter, &report));
	printf(report.text.text ? " %s\n" : "\n", report.text.text);
	tp_buffer_free(&report.text);
}

static void fits(const struct tp_sink *hist, const char *patterns)
{
	struct tp_filter_error error;
	const int nr = tp_hist_fits(hist, patterns, &error);

	if (nr < 0 && error.message)
		put_error(&error);
	else
		printf("%d\n", nr);
}

static void put(struct tp_buffer *text)
{
	fputs(text->text ? text->text : "", stdout);
	printf(".\n");
	tp_buffer_free(text);
}

/* ---- Hits ---- */

static void set(struct order *o, const char *name, char *value)
{
	static unsigned long stack[64];
	const long long n = (long long)strtoull(value, NULL, 0);

#define FIELD(field, type) else if (strcmp(name, #field) == 0) o->field = (type)n;
	if (strcmp(name, "fixed") == 0)
		o->fixed = value;
	else if (strcmp(name, "text") == 0)
		o->text = value;
	else if (strcmp(name, "address") == 0)
		o->address = (const void *)(uintptr_t)n;
	else if (strcmp(name, "stack") == 0)
		for (char *word = strtok(value, ","); word; word = strtok(NULL, ","))
			stack[o->depth++] = strtoul(word, NULL, 0);
	FIELD(s8, int8_t)
	FIELD(u8, uint8_t)
	FIELD(s16, int16_t)
	FIELD(u16, uint16_t)
	FIELD(s32, int32_t)
	FIELD(u32, uint32_t)
	FIELD(s64, int64_t)
	FIELD(u64, uint64_t)
	FIELD(method, int)
	FIELD(mode, uint32_t)
	o->stack = stack;
}

static void order(char *fields)
{
	struct order o = {.fixed = "", .text = ""};
	char *next;

	for (char *field = fields; field && *field; field = next) {
		next = strchr(field, ' ');
		if (next)
			*next++ = '\0';
		char *value = strchr(field, '=');
		*value++ = '\0';
		set(&o, field, value);
	}
	trace_shop_order(&o);
}

static void child(void)
{
	fflush(stdout);
	const pid_t pid = fork();
	int status;

	if (pid) {
		waitpid(pid, &status, 0);
		exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
	}
}

/* "PID PRIO COMM", which is cut; what follows. */
static char *task(struct task *task, char *text)
{
	task->pid = (pid_t)strtol(text, &text, 10);
	task->prio = (int)strtol(text, &text, 10);
	task->comm = ++text;
	char *end = text + strcspn(text, " ");
	if (*end)
		*end++ = '\0';
	return end;
}

static void wake(char *text, bool new)
{
	struct task woken;

	task(&woken, text);
	if (new)
		trace_sched_wakeup_new(&woken);
	else
		trace_sched_waking(&woken);
}

static void switch_tasks(char *text)
{
	struct task prev, next;

	task(&next, task(&prev, text));
	trace_sched_switch(&prev, &next);
}

/* ---- Synthetic events ---- */

static void synthetic(const char *definition)
{
	char *error;
	const int result = tp_synthetic_event(definition, &error);

	printf(error ? "%d %s\n" : "%d\n", result, error);
	free(error);
}

static char *written;
static size_t written_size;
static FILE *log_file;

static void log_events(const char *patterns)
{
	log_file = open_memstream(&written, &written_size);
	struct tp_sink *sink = tp_text_sink(log_file);

	printf("%d\n", sink ? tp_enable(sink, patterns) : -1);
}

static void put_log(void)
{
	fflush(log_file);
	for (char *line = strtok(written, "\n"); line; line = strtok(NULL, "\n"))
		printf("%s\n", strstr(line, "synthetic:") ? strstr(line, "synthetic:") : line);
	printf(".\n");
}

/* ---- Lines ---- */

static void obey(const char *command, struct tp_sink **hist, char *rest)
{
	struct tp_buffer text = {.text = NULL};

	if (strcmp(command, "open") == 0) {
		open_hist(hist, rest);
	} else if (strcmp(command, "enable") == 0) {
		enable(*hist, rest);
	} else if (strcmp(command, "fits") == 0) {
		fits(*hist, rest);
	} else if (strcmp(command, "text") == 0 || strcmp(command, "json") == 0) {
		tp_hist_report(*hist, *command == 'j', &text);
		put(&text);
	} else if (strcmp(command, "info") == 0) {
		tp_hist_put_definition(&text, *hist);
		printf("%s\n", text.text);
		tp_buffer_free(&text);
	} else if (strcmp(command, "doubts") == 0 || strcmp(command, "losses") == 0) {
		if (*command == 'd')
			tp_hist_put_doubts(*hist, strcmp(rest, "waits") == 0, &text);
		else
			tp_hist_put_losses(*hist, &text);
		printf("%s\n", text.text ? text.text : "-");
		tp_buffer_free(&text);
	} else if (strcmp(command, "clear") == 0) {
		printf("%d\n", tp_hist_clear(*hist));
	} else if (strcmp(command, "pause") == 0 || strcmp(command, "cont") == 0) {
		tp_hist_pause(*hist, *command == 'p');
	} else if (strcmp(command, "close") == 0) {
		tp_sink_close(*hist);
	}
}

static void obey_line(char *line)
{
	struct tp_buffer text = {.text = NULL};
	char *rest = strchr(line, ' ');
	char empty[] = "";

	if (rest)
		*rest++ = '\0';
	else
		rest = empty;
	if (strcmp(line, "order") == 0) {
		order(rest);
	} else if (strcmp(line, "other") == 0) {
		char *s32 = strchr(rest, ' ');
		trace_shop_other((uint16_t)atoi(rest), s32 ? s32 + 1 : "");
	} else if (strcmp(line, "all") == 0 || strcmp(line, "jsons") == 0) {
		const int nr = tp_hists_report(rest, *line == 'j', &text);
		printf("%d\n", nr);
		put(&text);
	} else if (strcmp(line, "pauseof") == 0 || strcmp(line, "contof") == 0) {
		tp_hists_pause_of(rest, *line == 'p');
	} else if (strcmp(line, "wake") == 0 || strcmp(line, "wakenew") == 0) {
		wake(rest, line[4]);
	} else if (strcmp(line, "switch") == 0) {
		switch_tasks(rest);
	} else if (strcmp(line, "sleep") == 0) {
		usleep(2000);
	} else if (strcmp(line, "synthetic") == 0) {
		synthetic(rest);
	} else if (strcmp(line, "log") == 0) {
		log_events(rest);
	} else if (strcmp(line, "logged") == 0) {
		put_log();
	} else if (strcmp(line, "snapshots") == 0) {
		printf("%d\n", nr_snapshots);
	} else if (strcmp(line, "name") == 0) {
		prctl(PR_SET_NAME, rest);
	} else if (strcmp(line, "fork") == 0) {
		child();
	} else {
		char *argument = strchr(rest, ' ');
		if (argument)
			*argument++ = '\0';
		obey(line, &hists[atoi(rest) % MAX_HISTS], argument ? argument : empty);
	}
}

int main(void)
{
	obey_lines(obey_line);
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "client/statistics.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "events/pattern.h"
#include "client/clean.h"
#include "client/directory.h"
#include "client/fields.h"
#include "client/sum.h"
#include "fail_msg.h"

#define NAME "tp-stat"

/* ---- Processes ---- */

static bool find_output(struct session *session, const char *wanted)
{
	struct output_list list;
	const struct output *output = NULL;

	if (outputs_read(&list, &session->connection))
		output = outputs_find(&list, &session->connection, wanted);
	if (output)
		snprintf(session->id, sizeof(session->id), "%s", output->id);
	outputs_free(&list);
	return output != NULL;
}

static bool open_output(struct session *session, const struct counting *counting)
{
	const bool is_stats = strcmp(counting->kind, "stats") == 0;
	char name[4096];

	if (!is_stats)
		return session_open(session, -1, counting->kind, counting->options);
	if (snprintf(name, sizeof(name), NAME "%s%s", *counting->options ? "," : "", counting->options) >= (int)sizeof(name))
		return fail_msg("the options are too long");
	return fields_are_there(&session->connection, counting->options) && session_open(session, -1, counting->kind, name);
}

/* came: since. A child that has inherited what counts began from 0 when it was forked. */
static bool add(struct statistics *statistics, struct connection *connection, bool came)
{
	const struct counting *counting = &statistics->counting;
	struct counted *all = reallocarray(statistics->all, statistics->nr + 1, sizeof(*all));

	if (!all)
		return fail_no_memory();
	statistics->all = all;
	struct counted *one = &all[statistics->nr];
	*one = (struct counted){.own = false};
	session_begin(&one->session, connection);
	bool good = true;
	if (counting->output) {
		good = find_output(&one->session, counting->output);
	} else if (!came || !session_inherits(&one->session, counting->kind)) {
		one->own = true;
		good = open_output(&one->session, counting) && session_enable(&one->session, counting->events);
	}
	if (good)
		statistics->nr++;
	else
		session_close(&one->session);
	return good;
}

bool statistics_of_processes(struct statistics *statistics, const struct tp_args *args, struct counting counting)
{
	statistics->counting = counting;
	bool good = targets_reach(&statistics->targets, args);
	for (size_t i = 0; good && i < statistics->targets.nr; i++)
		good = add(statistics, &statistics->targets.all[i], false);
	return good;
}

/* Lines of a text begin with a tab. */
static bool take_line(void *data, char *line)
{
	struct lines *text = data;

	return line[0] != '\t' || (lines_add(text, line + 1, strlen(line + 1)) && lines_add(text, "\n", 1));
}

static bool read_process(struct counted *counted, bool json)
{
	struct connection *connection = &counted->session.connection;
	struct lines text = {.text = NULL};
	struct answer answer;

	request(connection, &answer, -1, take_line, &text, "report %s %s", counted->session.id, json ? "json" : "text");
	counted->cut = answer.kind == ANSWER_CUT;
	if (answer.kind != ANSWER_OK) {
		lines_free(&text);
		/* The end of the process, or of this command, is seen elsewhere. */
		return answer.kind == ANSWER_ERROR ? tell_answer(connection, &answer) : true;
	}
	lines_free(&counted->text);
	counted->text = text;
	return true;
}

/* What several have counted stands together, under headings, and then as one. */
static bool put_together(struct statistics *statistics)
{
	const bool several = statistics->targets.several && !statistics->json;
	struct lines *text = &statistics->text;
	struct sum sum = {.rows = NULL};
	bool good = true;

	lines_free(text);
	for (size_t i = 0; i < statistics->nr && good; i++) {
		const struct counted *one = &statistics->all[i];
		const char *title = connection_title(&one->session.connection);
		if (!one->text.len)
			continue;
		if (several && text->len)
			good = lines_add(text, "\n", 1);
		if (several && one->text.text[0] == '#') /* a histogram does not say whose it is */
			good = good && lines_add(text, title, strlen(title)) && lines_add(text, ":\n", 2);
		good = good && lines_add(text, one->text.text, one->text.len) && (!several || sum_add(&sum, one->text.text));
	}
	if (good && several && text->len) {
		char title[64];
		good = lines_add(text, title, (size_t)snprintf(title, sizeof(title), "\nall %zu processes:\n", statistics->nr)) &&
		       sum_put(&sum, text);
	}
	sum_free(&sum);
	return good;
}

static bool read_processes(struct statistics *statistics)
{
	bool good = true;

	for (size_t i = 0; i < statistics->nr && good; i++) {
		if (!statistics->all[i].over)
			good = read_process(&statistics->all[i], statistics->json);
	}
	return put_together(statistics) && good;
}

static bool processes_are_over(struct statistics *statistics)
{
	size_t nr_over = 0;

	for (size_t i = targets_grow(&statistics->targets); i < statistics->targets.nr; i++)
		add(statistics, &statistics->targets.all[i], true);
	for (size_t i = 0; i < statistics->nr; i++) {
		struct counted *one = &statistics->all[i];
		if (!one->over && session_is_over(&one->session)) {
			one->over = true;
			targets_lose(&statistics->targets, one->session.connection.pid);
		}
		nr_over += one->over;
	}
	return nr_over == statistics->nr && !targets_may_come(&statistics->targets);
}

/* ---- A program ---- */

bool statistics_of_program(struct statistics *statistics, char *const *program, const char *options, const char *events)
{
	char *output;

	statistics->directory = directory_private();
	statistics->child.status = 1 << 8;
	if (!statistics->directory)
		return false;
	if (asprintf(&output, "stats:%s/%%p%s%s", statistics->directory, *options ? "," : "", options) < 0)
		return fail_no_memory();
	bool started = child_start_traced(&statistics->child, program, output, events);
	free(output);
	return started;
}

/* "EVENTS if FILTER" of a copy. */
static bool make_trigger(char **trigger, char *events, const char *definition)
{
	const char *filter = tp_pattern_take_filter(events);

	return asprintf(trigger, "%s hist:%s%s%s", events, definition, filter ? " " TP_FILTER_WORD " " : "", filter ? filter : "") >= 0;
}

bool statistics_of_programs_histogram(struct statistics *statistics, char *const *program, const char *definition, const char *events)
{
	char *copy = strdup(events), *trigger = NULL, *file = NULL;

	statistics->directory = directory_private();
	statistics->at_end = true;
	statistics->child.status = 1 << 8;
	bool good = statistics->directory != NULL;
	if (good && (!copy || !make_trigger(&trigger, copy, definition) ||
		     asprintf(&file, "%s/%%p%s", statistics->directory, statistics->json ? ".json" : "") < 0))
		good = fail_no_memory();
	good = good && child_start(&statistics->child, program, (const struct setting[]){{"TP_TRIGGER", trigger}, {"TP_HIST", file}});
	free(file);
	free(trigger);
	free(copy);
	return good;
}

/* Adds a file; an unreadable one, which may just have gone, is left out. */
static bool add_file(struct lines *text, const char *directory, const char *name)
{
	char path[4096], piece[65536];
	bool good = true;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return true;
	while (good && (n = read(fd, piece, sizeof(piece))) > 0)
		good = lines_add(text, piece, (size_t)n);
	close(fd);
	return good;
}

/* What is being written has a name with a dot in front; others are PID, PID.CHILD and PID.json. */
static int is_report(const struct dirent *entry)
{
	const char *end = entry->d_name + strspn(entry->d_name, "0123456789.");

	return entry->d_name[0] != '.' && (!*end || strcmp(end, "json") == 0);
}

static bool read_files(struct statistics *statistics)
{
	struct dirent **names = NULL;
	struct lines text = {.text = NULL};
	int nr = scandir(statistics->directory, &names, is_report, versionsort);
	bool good = true;

	for (int i = 0; i < nr; i++) {
		good = good && (statistics->json || !text.len || lines_add(&text, "\n", 1)) &&
		       add_file(&text, statistics->directory, names[i]->d_name);
		free(names[i]);
	}
	free(names);
	for (char *line = text.text; line && *line; line += strcspn(line, "\n"), line += *line == '\n')
		clean_bytes(line, strcspn(line, "\n"));
	if (!text.len || !good) {
		lines_free(&text);
		return true;
	}
	lines_free(&statistics->text);
	statistics->text = text;
	return true;
}

/* ---- Both ---- */

bool statistics_read(struct statistics *statistics)
{
	return statistics->directory ? read_files(statistics) : read_processes(statistics);
}

bool statistics_are_over(struct statistics *statistics)
{
	return statistics->directory ? child_has_ended(&statistics->child) : processes_are_over(statistics);
}

void statistics_end(struct statistics *statistics)
{
	unsigned long lost[NR_CAUSES];

	for (size_t i = 0; i < statistics->nr; i++) {
		struct counted *one = &statistics->all[i];
		/* The end of this command gives up a request that a stopped process has not answered. */
		if (one->over || one->session.connection.fd < 0)
			one->end = !session_process_runs(&one->session) ? COUNTED_ENDED : one->cut ? COUNTED_CUT : COUNTED_SILENT;
		if (one->own)
			session_finish(&one->session, lost);
		session_close(&one->session);
	}
}

void statistics_close(struct statistics *statistics)
{
	for (size_t i = 0; i < statistics->nr; i++) {
		session_close(&statistics->all[i].session);
		lines_free(&statistics->all[i].text);
	}
	free(statistics->all);
	targets_close(&statistics->targets);
	if (statistics->directory)
		directory_remove(statistics->directory);
	free(statistics->directory);
	lines_free(&statistics->text);
	*statistics = (struct statistics){.json = false};
}

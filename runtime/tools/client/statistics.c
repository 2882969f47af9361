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
#include "fail_msg.h"

#define NAME "tp-stat"

/* ---- A process ---- */

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

bool statistics_of_process(struct statistics *statistics, const char *wanted, const char *output, const char *options,
			   const char *events)
{
	struct session *session = &statistics->session;
	char name[4096];

	if (!session_reach(session, wanted))
		return false;
	if (output)
		return find_output(session, output);
	statistics->own = true;
	if (snprintf(name, sizeof(name), NAME "%s%s", *options ? "," : "", options) >= (int)sizeof(name))
		return fail_msg("the options are too long");
	return fields_are_there(&session->connection, options) && session_open(session, -1, "stats", name) && session_enable(session, events);
}

bool statistics_of_histogram(struct statistics *statistics, const char *wanted, const char *definition, const char *events)
{
	struct session *session = &statistics->session;

	if (!session_reach(session, wanted))
		return false;
	statistics->own = true;
	return session_open(session, -1, "hist", definition) && session_enable(session, events);
}

/* Lines of a text begin with a tab. */
static bool take_line(void *data, char *line)
{
	struct lines *text = data;

	return line[0] != '\t' || (lines_add(text, line + 1, strlen(line + 1)) && lines_add(text, "\n", 1));
}

static bool read_process(struct statistics *statistics)
{
	struct connection *connection = &statistics->session.connection;
	struct lines text = {.text = NULL};
	struct answer answer;

	request(connection, &answer, -1, take_line, &text, "report %s %s", statistics->session.id,
		statistics->json ? "json" : "text");
	if (answer.kind != ANSWER_OK) {
		lines_free(&text);
		/* The end of the process, or of this command, is seen elsewhere. */
		return answer.kind == ANSWER_ERROR ? tell_answer(connection, &answer) : true;
	}
	lines_free(&statistics->text);
	statistics->text = text;
	return true;
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
	return statistics->directory ? read_files(statistics) : read_process(statistics);
}

bool statistics_are_over(struct statistics *statistics)
{
	return statistics->directory ? child_has_ended(&statistics->child) : session_is_over(&statistics->session);
}

void statistics_end(struct statistics *statistics)
{
	unsigned long lost[NR_CAUSES];

	if (statistics->own)
		session_finish(&statistics->session, lost);
	session_close(&statistics->session);
}

void statistics_close(struct statistics *statistics)
{
	statistics_end(statistics);
	if (statistics->directory)
		directory_remove(statistics->directory);
	free(statistics->directory);
	statistics->directory = NULL;
	lines_free(&statistics->text);
}

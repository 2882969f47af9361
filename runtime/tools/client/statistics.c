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

#define NAME "tp"
#define ENDED_MAX 100

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
	char name[4096];

	if (strcmp(counting->kind, "hist") == 0)
		return session_open(session, -1, counting->kind, counting->options);
	if (snprintf(name, sizeof(name), NAME "%s%s", *counting->options ? "," : "", counting->options) >= (int)sizeof(name))
		return fail_msg("the options are too long");
	if (strcmp(counting->kind, "stats") == 0 && !fields_are_there(&session->connection, counting->options))
		return false;
	return session_open(session, -1, counting->kind, name);
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
		good = open_output(&one->session, counting) && (!counting->ends || session_enable(&one->session, counting->ends)) &&
		       session_enable(&one->session, counting->events);
	}
	if (good)
		statistics->nr++;
	else
		session_close(&one->session);
	return good;
}

/* One of many in which nothing can be counted is no mistake of anybody's. */
static void add_one_of_every(struct statistics *statistics, struct connection *connection, bool came)
{
	fail_msg_silence(true);
	statistics->nr_failed += !add(statistics, connection, came);
	fail_msg_silence(false);
}

static bool add_every(struct statistics *statistics)
{
	struct targets *targets = &statistics->targets;
	unsigned long nr_enabled = 0;

	for (size_t i = 0; i < targets->nr; i++)
		add_one_of_every(statistics, &targets->all[i], false);
	for (size_t i = 0; i < statistics->nr; i++)
		nr_enabled += statistics->all[i].session.nr_enabled;
	if (statistics->nr && !nr_enabled)
		fail_msg("no process has an event of '%s' now; \"tp list -p PID\" shows those that there are; those that come are taken",
			 statistics->counting.events);
	return statistics->nr || fail_msg("in none of %zu processes events can be counted; \"tp stat -p PID\" says why", targets->nr);
}

bool statistics_of_processes(struct statistics *statistics, const struct tp_args *args, struct counting counting, bool every)
{
	statistics->counting = counting;
	bool good = targets_reach(&statistics->targets, args);
	if (every)
		return good && targets_await_every(&statistics->targets) && add_every(statistics);
	for (size_t i = 0; good && i < statistics->targets.nr; i++)
		good = add(statistics, &statistics->targets.all[i], false);
	return good;
}

#define NOTE "note "

static bool add_line(struct lines *to, const char *line)
{
	return lines_add(to, line, strlen(line)) && lines_add(to, "\n", 1);
}

/* Lines of a text begin with a tab. */
static bool take_line(void *data, char *line)
{
	struct counted *read = data;

	if (strncmp(line, NOTE, strlen(NOTE)) == 0)
		return add_line(&read->notes, line + strlen(NOTE));
	return line[0] != '\t' || add_line(&read->text, line + 1);
}

/* NAN: of a histogram. */
static double seconds_of(const struct json_document *document)
{
	return json_double(&document->root, "seconds");
}

/* Numbers that are hardly newer than the last only take their place: a rate needs some time. */
static bool take_numbers(const struct statistics *statistics, struct counted *counted, struct lines *text)
{
	struct json_document taken;

	const bool good = json_parse(&taken, text->text);
	*text = (struct lines){.text = NULL};
	if (!good || taken.root.kind == JSON_NULL) {
		json_free(&taken);
		return fail_msg("%s has answered in a way that is not understood", counted_title(counted));
	}
	const double apart = seconds_of(&taken) - seconds_of(&counted->now);
	if (apart >= statistics->interval / 2 || (apart > 0 && !counted->base.text)) {
		json_free(&counted->base);
		counted->base = counted->now;
	} else {
		json_free(&counted->now);
	}
	counted->now = taken;
	return true;
}

/* Takes the text over. */
static bool take_text(const struct statistics *statistics, struct counted *counted, struct lines *text)
{
	if (!text->len) {
		lines_free(text);
		return true;
	}
	if (statistics->form == STATISTICS_NUMBERS)
		return take_numbers(statistics, counted, text);
	lines_free(&counted->text);
	counted->text = *text;
	return true;
}

static bool read_process(const struct statistics *statistics, struct counted *counted)
{
	struct connection *connection = &counted->session.connection;
	struct counted read = {.own = false};
	struct answer answer;

	request(connection, &answer, -1, take_line, &read, "report %s %s", counted->session.id,
		statistics->form == STATISTICS_TEXT ? "text" : "json");
	counted->cut = answer.kind == ANSWER_CUT;
	if (answer.kind == ANSWER_OK) {
		lines_free(&counted->notes);
		counted->notes = read.notes;
		return take_text(statistics, counted, &read.text);
	}
	lines_free(&read.text);
	lines_free(&read.notes);
	/* The end of the process, or of this command, is seen elsewhere. */
	return answer.kind == ANSWER_ERROR ? tell_answer(connection, &answer) : true;
}

/* As add_one_of_every(). */
static void read_one_of_every(struct statistics *statistics, struct counted *counted)
{
	fail_msg_silence(true);
	if (!read_process(statistics, counted)) {
		session_close(&counted->session);
		statistics->nr_failed++;
	}
	fail_msg_silence(false);
}

static bool read_processes(struct statistics *statistics)
{
	bool good = true;

	for (size_t i = 0; i < statistics->nr && good; i++) {
		struct counted *one = &statistics->all[i];
		if (one->over)
			continue;
		if (statistics->targets.every)
			read_one_of_every(statistics, one);
		else
			good = read_process(statistics, one);
	}
	return good;
}

static void close_counted(struct counted *counted)
{
	session_close(&counted->session);
	json_free(&counted->now);
	json_free(&counted->base);
	lines_free(&counted->text);
	lines_free(&counted->notes);
	free(counted->file);
}

/* Of every process, only so many that have ended are kept. */
static void forget_the_ended(struct statistics *statistics)
{
	size_t kept = 0;

	for (size_t i = 0; i < statistics->nr; i++) {
		struct counted *one = &statistics->all[i];
		if (one->over && statistics->nr_over > ENDED_MAX) {
			close_counted(one);
			statistics->nr_over--;
		} else {
			statistics->all[kept++] = *one;
		}
	}
	statistics->nr = kept;
}

static bool processes_are_over(struct statistics *statistics)
{
	struct targets *targets = &statistics->targets;

	for (size_t i = targets_grow(targets); i < targets->nr; i++) {
		if (targets->every)
			add_one_of_every(statistics, &targets->all[i], true);
		else
			add(statistics, &targets->all[i], true);
	}
	statistics->nr_over = 0;
	for (size_t i = 0; i < statistics->nr; i++) {
		struct counted *one = &statistics->all[i];
		if (!one->over && session_is_over(&one->session)) {
			one->over = true;
			targets_lose(targets, one->session.connection.pid);
		}
		statistics->nr_over += one->over;
	}
	if (targets->every)
		forget_the_ended(statistics);
	return statistics->nr_over == statistics->nr && !targets_may_come(targets);
}

/* ---- A program ---- */

static bool start_program(struct statistics *statistics, char *const *program, const char *kind, const char *options, const char *events)
{
	char *output;

	statistics->directory = directory_private();
	statistics->child.status = 1 << 8;
	if (!statistics->directory)
		return false;
	if (asprintf(&output, "%s:%s/%%p,%s", kind, statistics->directory, options) < 0)
		return fail_no_memory();
	bool started = child_start_traced(&statistics->child, program, output, events);
	free(output);
	return started;
}

bool statistics_of_program(struct statistics *statistics, char *const *program, const char *options, const char *events)
{
	char *with_json;

	if (asprintf(&with_json, "json%s%s", *options ? "," : "", options) < 0)
		return fail_no_memory();
	const bool started = start_program(statistics, program, "stats", with_json, events);
	free(with_json);
	return started;
}

bool statistics_of_programs_latency(struct statistics *statistics, char *const *program, const char *options, const char *rules)
{
	statistics->at_end = true;
	return start_program(statistics, program, "latency", options, rules);
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
		     asprintf(&file, "%s/%%p%s", statistics->directory, statistics->form == STATISTICS_TEXT ? "" : ".json") < 0))
		good = fail_no_memory();
	good = good && child_start(&statistics->child, program, (const struct setting[]){{"TP_TRIGGER", trigger}, {"TP_HIST", file}});
	free(file);
	free(trigger);
	free(copy);
	return good;
}

/* An unreadable file, which may just have gone, is empty. */
static bool read_file(struct lines *text, const char *directory, const char *name)
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
	for (char *line = text->text; line && *line; line += strcspn(line, "\n"), line += *line == '\n')
		clean_bytes(line, strcspn(line, "\n"));
	return good || fail_no_memory();
}

/* What is being written has a name with a dot in front; others are PID, PID.CHILD and PID.json. */
static int is_report(const struct dirent *entry)
{
	const char *end = entry->d_name + strspn(entry->d_name, "0123456789.");

	return entry->d_name[0] != '.' && (!*end || strcmp(end, "json") == 0);
}

/* The process's, by its file. NULL: no memory. */
static struct counted *counted_in(struct statistics *statistics, const char *file)
{
	for (size_t i = 0; i < statistics->nr; i++) {
		if (strcmp(statistics->all[i].file, file) == 0)
			return &statistics->all[i];
	}
	struct counted *all = reallocarray(statistics->all, statistics->nr + 1, sizeof(*all));
	char *name = strdup(file);
	statistics->all = all ? all : statistics->all;
	if (!all || !name) {
		free(name);
		return NULL;
	}
	all[statistics->nr] = (struct counted){.file = name, .own = true, .session = {.pidfd = -1, .connection = {.fd = -1}}};
	return &all[statistics->nr++];
}

static bool take_file(struct statistics *statistics, const char *name)
{
	struct counted *counted = counted_in(statistics, name);
	struct lines text = {.text = NULL};

	if (!counted)
		return fail_no_memory();
	return read_file(&text, statistics->directory, name) && take_text(statistics, counted, &text);
}

static int compare_files(const void *a, const void *b)
{
	return strverscmp(((const struct counted *)a)->file, ((const struct counted *)b)->file);
}

static bool read_files(struct statistics *statistics)
{
	struct dirent **names = NULL;
	int nr = scandir(statistics->directory, &names, is_report, versionsort);
	bool good = true;

	for (int i = 0; i < nr; i++) {
		good = good && take_file(statistics, names[i]->d_name);
		free(names[i]);
	}
	free(names);
	if (statistics->nr)
		qsort(statistics->all, statistics->nr, sizeof(*statistics->all), compare_files);
	return good;
}

/* ---- Both ---- */

bool statistics_read(struct statistics *statistics)
{
	return statistics->directory ? read_files(statistics) : read_processes(statistics);
}

bool statistics_has_numbers(const struct statistics *statistics)
{
	for (size_t i = 0; i < statistics->nr; i++) {
		if (statistics->all[i].now.text || statistics->all[i].text.len)
			return true;
	}
	return false;
}

bool statistics_are_of_several(const struct statistics *statistics)
{
	return statistics->nr > 1 || statistics->targets.several;
}

const char *counted_title(const struct counted *counted)
{
	static char title[320];
	const char *program = json_text(&counted->now.root, "program");

	if (!counted->file)
		return connection_title(&counted->session.connection);
	snprintf(title, sizeof(title), *program ? "'%s' (%d)" : "%sprocess %d", program, (int)strtol(counted->file, NULL, 10));
	return clean(title);
}

bool statistics_are_over(struct statistics *statistics)
{
	return statistics->directory ? child_has_ended(&statistics->child) : processes_are_over(statistics);
}

void statistics_end(struct statistics *statistics)
{
	unsigned long lost[NR_CAUSES];

	/* From here on, a signal may end this program before statistics_close(). */
	if (statistics->directory)
		directory_remove(statistics->directory);
	for (size_t i = 0; i < statistics->nr; i++) {
		struct counted *one = &statistics->all[i];
		if (one->file)
			continue;
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
	for (size_t i = 0; i < statistics->nr; i++)
		close_counted(&statistics->all[i]);
	free(statistics->all);
	targets_close(&statistics->targets);
	if (statistics->directory)
		directory_remove(statistics->directory);
	free(statistics->directory);
	*statistics = (struct statistics){.all = NULL};
}

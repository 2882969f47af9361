/* SPDX-License-Identifier: MIT */
/* play.c - reads a script and hands its commands out. */
#include "play.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RECORDS 512
#define MAX_SET 64

static FILE *out;
static char *records[MAX_RECORDS];
static size_t nr_records;
static int first, last;
static bool any;

/* The triggers of a case, as they are taken off. */
static struct {
	char where[256];
	char text[4096];
} set[MAX_SET];
static size_t nr_set;

void say(const char *text)
{
	while (*text) {
		const size_t len = strcspn(text, "\n");
		fprintf(out, "<%s%.*s\n", len ? " " : "", (int)len, text);
		text += len + (text[len] == '\n');
	}
}

void sayf(const char *format, ...)
{
	char text[4096];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	say(text);
}

static void put_run(void)
{
	if (first == last)
		fprintf(out, " %d", first);
	else
		fprintf(out, " %d-%d", first, last);
}

void say_number(int number)
{
	if (any && number == last + 1) {
		last = number;
		return;
	}
	if (any)
		put_run();
	else
		fputs("<", out);
	any = true;
	first = last = number;
}

void say_numbers_end(void)
{
	if (any) {
		put_run();
		fputc('\n', out);
	}
	any = false;
}

void say_record(char *line)
{
	const char *seq = strstr(line, ": seq=");
	const bool stack = strstr(line, "<stack trace>") || strstr(line, ": => ");
	const char *synthetic = strstr(line, "synthetic:"); /* the kernel leaves its system out */
	const char *what = synthetic ? strchr(synthetic, ':') - 1 : strstr(line, ": ");

	if (strncmp(line, " =>", 3) == 0 || line[0] == '#')
		return;
	if (seq) {
		say_number(atoi(seq + strlen(": seq=")));
	} else if (stack || what) {
		say_numbers_end();
		say(stack ? "<stack trace>" : what + 2);
	}
}

char *next_word(char **rest)
{
	char *word = *rest;
	const size_t len = strcspn(word, " ");

	*rest = word + len + (word[len] == ' ');
	word[len] = '\0';
	return word;
}

void emit(char *range)
{
	int from = 0, to = 1 << 30;

	if (*range && sscanf(range, "%d-%d", &from, &to) == 1)
		to = from;
	for (size_t i = 0; i < nr_records; i++) {
		int seq;
		if (sscanf(records[i], "%*s %d", &seq) == 1 && seq >= from && seq <= to)
			play_emit(records[i]);
	}
}

/* The text without what changes a histogram instead of telling it from others. */
void remember(const char *where, const char *trigger)
{
	static const char *const changes[] = { ":pause", ":continue", ":cont", ":clear" };
	char *kept, *at;

	if (nr_set == MAX_SET)
		return;
	snprintf(set[nr_set].where, sizeof(set->where), "%s", where);
	kept = set[nr_set].text;
	snprintf(kept, sizeof(set->text), "!%s", trigger);
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		at = strstr(kept, changes[i]);
		if (at)
			memmove(at, at + strlen(changes[i]), strlen(at + strlen(changes[i])) + 1);
	}
	for (size_t i = 0; i < nr_set; i++) {
		if (strcmp(set[i].where, where) == 0 && strcmp(set[i].text, kept) == 0)
			return;
	}
	nr_set++;
}

void take_all_off(void (*take_off)(const char *where, const char *trigger))
{
	for (; nr_set; nr_set--)
		take_off(set[nr_set - 1].where, set[nr_set - 1].text);
}

static void command(char *rest)
{
	const char *name = next_word(&rest);

	for (const struct verb *verb = verbs; verb->name; verb++) {
		if (strcmp(verb->name, name) == 0) {
			verb->act(rest);
			return;
		}
	}
	sayf("no such command: %s", name);
}

static char *read_line(FILE *file)
{
	char *line = NULL;
	size_t size = 0;
	const ssize_t len = getline(&line, &size, file);

	if (len < 0) {
		free(line);
		return NULL;
	}
	line[strcspn(line, "\n")] = '\0';
	return line;
}

int play(const char *records_path, const char *script_path, FILE *to)
{
	FILE *file = fopen(records_path, "r");
	char *line;

	if (!file)
		return -errno;
	out = to;
	while (nr_records < MAX_RECORDS && (line = read_line(file)))
		records[nr_records++] = line;
	fclose(file);
	file = fopen(script_path, "r");
	if (!file)
		return -errno;
	for (; (line = read_line(file)); free(line)) {
		if (line[0] == '<')
			continue;
		fprintf(out, "%s\n", line);
		if (line[0] == '=')
			play_reset();
		if (strncmp(line, "> ", 2) == 0)
			command(line + 2);
	}
	play_reset();
	fclose(file);
	while (nr_records > 0)
		free(records[--nr_records]);
	return fflush(out) ? -errno : 0;
}

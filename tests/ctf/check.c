/* SPDX-License-Identifier: MIT */
/*
 * check.c - reads what babeltrace2 says of a trace of recorder.c, and says of
 * each sequence of events:
 *
 *	WHO TID FIRST LAST EVENTS BREAKS WHOLE
 *
 * where BREAKS counts the places at which the next number was not one higher,
 * and WHOLE the events before the first of them.
 * An event that is not as it was recorded is shown, and makes it fail.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder.h"

static struct seen {
	long tid;
	unsigned long first, last, events, breaks, whole;
} all[NR_WHOS];

/* The number behind the field's name, or as a text what is between quotes. */
static const char *field(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	return at ? at + strlen(name) : "";
}

static bool is_whole(const char *line, unsigned long *who, unsigned long *n)
{
	char *end;

	*who = strtoul(field(line, " who = "), &end, 0);
	*n = strtoul(field(line, " number = "), NULL, 0);
	unsigned long check = strtoul(field(line, " check = "), NULL, 0);
	const char *text = field(line, " text = \"");
	size_t length = strcspn(text, "\"");

	if (*who >= NR_WHOS || text[length] != '"' || check != check_of(*who, *n, length))
		return false;
	for (size_t i = 0; i < length; i++) {
		if (text[i] != letter_of(*n))
			return false;
	}
	return true;
}

static bool take(const char *line)
{
	long tid = strtol(field(line, " tid = "), NULL, 0);
	unsigned long who, n;

	if (!is_whole(line, &who, &n))
		return false;
	struct seen *seen = &all[who];
	if (!seen->events) {
		seen->first = n;
		seen->tid = tid;
	} else if (n != seen->last + 1) {
		seen->breaks++;
	}
	seen->last = n;
	seen->events++;
	seen->whole += !seen->breaks;
	return seen->tid == tid;
}

int main(void)
{
	char *line = NULL;
	size_t size = 0;
	int bad = 0;

	while (getline(&line, &size, stdin) > 0) {
		if (strstr(line, "record:record_inside:"))
			continue;
		if (!strstr(line, "record:record_hit:") || !take(line)) {
			if (!bad++)
				fprintf(stderr, "check: not as it was recorded: %s", line);
		}
	}
	for (unsigned int i = 0; i < NR_WHOS; i++) {
		const struct seen *seen = &all[i];
		if (seen->events)
			printf("%u %ld %lu %lu %lu %lu %lu\n", i, seen->tid, seen->first, seen->last, seen->events,
			       seen->breaks, seen->whole);
	}
	free(line);
	return bad ? 1 : 0;
}

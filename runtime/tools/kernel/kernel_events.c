/* SPDX-License-Identifier: MIT */
#include "kernel/kernel_events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "events/pattern.h"
#include "fail_msg.h"

void kernel_event_path(char path[EVENT_PATH_SIZE], const char *name, const char *file)
{
	const char *colon = strchr(name, ':');

	snprintf(path, EVENT_PATH_SIZE, "events/%.*s/%s/%s", (int)(colon - name), name, colon + 1, file);
}

/* Cuts the list into names; how many. */
static size_t cut(char *text, const char **names)
{
	size_t nr = 0;

	for (char *next, *line = text; *line; line = next) {
		next = strchrnul(line, '\n');
		if (*next)
			*next++ = '\0';
		if (strchr(line, ':'))
			names[nr++] = line;
	}
	return nr;
}

/* ---- Patterns that match nothing ---- */

struct globs {
	const struct kernel_events *all;
	bool good;
};

static void offer_all(struct tp_nearest *nearest, const struct kernel_events *all)
{
	for (size_t i = 0; i < all->nr; i++)
		tp_nearest_offer(nearest, strchr(nearest->word, ':') ? all->names[i] : strchr(all->names[i], ':') + 1);
}

static void check_glob(const char *glob, void *data)
{
	struct globs *globs = data;
	struct tp_nearest nearest = tp_nearest_to(glob, strlen(glob));
	bool found = false;
	int error;
	struct tp_pattern *pattern = globs->good ? tp_pattern_new(glob, &error) : NULL;

	if (!pattern)
		return;
	for (size_t i = 0; i < globs->all->nr && !found; i++)
		found = tp_pattern_matches(pattern, globs->all->names[i]);
	tp_pattern_free(pattern);
	if (found)
		return;
	if (glob[strcspn(glob, "*?[ ")] == '\0')
		offer_all(&nearest, globs->all);
	globs->good = fail_msg("no event of this kernel matches '%s'%s; \"cat /sys/kernel/tracing/available_events\" has all of them", glob,
			       tp_nearest_hint(&nearest, " (", ")"));
}

/* ---- The list ---- */

static bool choose(struct kernel_events *events, const char *patterns)
{
	int error;
	struct tp_pattern *pattern = tp_pattern_new(patterns, &error);
	size_t nr = 0;

	if (!pattern && error == -ENOMEM)
		return fail_no_memory();
	if (!pattern)
		return fail_msg("--kernel takes events, as in 'sched:sched_switch,irq:*', and not '%s'", patterns);
	struct globs globs = {events, true};
	tp_pattern_each(pattern, check_glob, &globs);
	for (size_t i = 0; i < events->nr && globs.good; i++) {
		if (tp_pattern_matches(pattern, events->names[i]))
			events->names[nr++] = events->names[i];
	}
	events->nr = nr;
	tp_pattern_free(pattern);
	return globs.good && (nr || fail_msg("no event of this kernel is left of '%s'", patterns));
}

bool kernel_events_find(struct kernel_events *events, const struct instance *instance, const char *patterns)
{
	size_t len;

	events->text = tracefs_read(instance->tracefs, "available_events", &len);
	if (!events->text)
		return fail_msg("the kernel's events can't be listed: available_events in tracefs: %s", strerror(errno));
	events->names = calloc(len / 2 + 1, sizeof(*events->names));
	if (!events->names)
		return fail_no_memory();
	events->nr = cut(events->text, events->names);
	return choose(events, patterns);
}

void kernel_events_free(struct kernel_events *events)
{
	free(events->names);
	free(events->text);
	*events = (struct kernel_events){.text = NULL};
}

bool kernel_events_enable(const struct kernel_events *events, const struct instance *instance)
{
	char path[EVENT_PATH_SIZE];

	for (size_t i = 0; i < events->nr; i++) {
		kernel_event_path(path, events->names[i], "enable");
		if (!tracefs_write(instance->dir, path, "1"))
			return fail_msg("the kernel's event %s can't be enabled: %s; leave it out, as in '*,!%s'", events->names[i], strerror(errno),
					events->names[i]);
	}
	return true;
}

/* SPDX-License-Identifier: MIT */
/*
 * start/environment.c - TP_ENABLE and TP_OUTPUT: tracing without a line of code in the
 * program. Whatever is wrong with them is said once, and the program goes on.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <urcu/urcu-bp.h>

#include <tp/tp.h>

#include "base/message.h"
#include "base/readers.h"
#include "base/sandbox.h"
#include "events/events.h"
#include "events/pattern.h"
#include "record/record.h"
#include "start/start.h"

/* What TP_OUTPUT names, between semicolons. */
#define MAX_OUTPUTS 16
#define BLANKS " \t"

static struct output {
	uint64_t serial; /* of its sink, which the program may have closed */
	char *name;      /* as TP_OUTPUT has it */
	bool written; /* with each record: there is nothing to finish */
} outputs[MAX_OUTPUTS];
static size_t nr_outputs;

/* TP_ENABLE as it was at the start, for what is said at the end. */
static char *enabled;
static struct tp_pattern *enabled_pattern;

static const char *setting(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL; /* NAME= is how shells take a setting back */
}

static void open_output(const char *name, const char *patterns)
{
	struct output *output = &outputs[nr_outputs];

	struct tp_sink *sink = tp_output_open(name, &output->written);
	if (!sink)
		return;
	output->serial = tp_sink_serial(sink);
	output->name = strdup(name);
	nr_outputs++;
	int error = tp_enable(sink, patterns);
	if (error < 0)
		tp_complain("TP_ENABLE=%s: %s; not everything is traced", patterns, tp_strerror(-error));
}

struct tp_sink *tp_output(const char *name)
{
	const size_t len = name ? strlen(name) : 0;

	for (size_t i = 0; len && i < nr_outputs; i++) {
		const char *known = outputs[i].name;
		struct tp_sink *sink = NULL;
		if (known && strncmp(known, name, len) == 0 && (!known[len] || (known[len] == ':' && !strchr(name, ':'))))
			sink = tp_sink_of_serial(outputs[i].serial);
		if (sink)
			return sink;
	}
	return NULL;
}

/* Blanks around a name are no part of it. */
static char *trim(char *name)
{
	name += strspn(name, BLANKS);
	for (size_t len = strlen(name); len && strchr(BLANKS, name[len - 1]); len--)
		name[len - 1] = '\0';
	return name;
}

static bool names_any(const char *outputs_named)
{
	return outputs_named && outputs_named[strspn(outputs_named, BLANKS ";")];
}

static void open_outputs(const char *named, const char *patterns)
{
	char *names = strdup(named), *rest = NULL;

	for (char *at = names ? strtok_r(names, ";", &rest) : NULL; at; at = strtok_r(NULL, ";", &rest)) {
		const char *name = trim(at);
		if (*name && nr_outputs < MAX_OUTPUTS)
			open_output(name, patterns);
		else if (*name)
			tp_complain("TP_OUTPUT: %s is one too many: there can be %d; it gets nothing", name, MAX_OUTPUTS);
	}
	free(names);
}

static void start(void)
{
	const char *patterns = setting("TP_ENABLE");
	const char *output = setting("TP_OUTPUT");
	int error = 0;

	if (!patterns && !output)
		return;
	if (patterns && strchr(patterns, ';')) {
		tp_complain("TP_ENABLE=%s: commas are between patterns; semicolons are between the outputs of TP_OUTPUT; nothing "
			    "is traced",
			    patterns);
		return;
	}
	/* Looked at first, so that a mistake in it leaves no empty trace. */
	enabled_pattern = tp_pattern_new(patterns ? patterns : "*", &error);
	if (error == -EINVAL)
		tp_complain("TP_ENABLE=%s: no list of patterns; write for example sched:*,!sched:sched_wakeup; nothing "
			    "is traced",
			    patterns);
	else if (error)
		tp_complain("TP_ENABLE: %s; nothing is traced", tp_strerror(-error));
	if (error)
		return;
	enabled = patterns ? strdup(patterns) : NULL;
	open_outputs(names_any(output) ? output : "text:stderr", patterns ? patterns : "*");
}

void tp_environment_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start);
}

/* ---- The end of the program ---- */

static void *wait_for_readers(void *unused)
{
	urcu_bp_synchronize_rcu();
	return unused;
}

static struct timespec in_200_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_nsec += 200 * 1000 * 1000;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

/*
 * A thread that sits in its probe must not keep the program from ending, but
 * liburcu knows no wait with an end: so another thread waits. It is gone
 * before liburcu's memory is; only where it waits for the lock of somebody
 * else's grace period it can't be cancelled, and then it touches nothing.
 */
static bool readers_are_gone_soon(void)
{
	struct timespec until;
	pthread_t thread;
	sigset_t all, old;

	if (tp_reading())
		return false;
	sigfillset(&all); /* the program's handlers are not for this thread */
	pthread_sigmask(SIG_BLOCK, &all, &old);
	int error = pthread_create(&thread, NULL, wait_for_readers, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (error)
		return false;
	until = in_200_ms();
	error = pthread_timedjoin_np(thread, NULL, &until);
	if (!error)
		return true;
	pthread_cancel(thread);
	until = in_200_ms();
	pthread_timedjoin_np(thread, NULL, &until);
	return false;
}

static bool any_used(void)
{
	bool used = false;

	for (size_t i = 0; i < nr_outputs; i++) {
		struct tp_sink *sink = tp_sink_of_serial(outputs[i].serial);
		used = used || !sink || tp_sink_used(sink); /* what the program has closed is its own affair */
	}
	return used;
}

static void tell_if_unmatched(const char *glob)
{
	if (!tp_events_match(glob))
		tp_complain("TP_ENABLE=%s: no event of this program is called '%s'", enabled, glob);
}

/* Each pattern that no event has matched, be it one of several. */
static void tell_unmatched(void)
{
	if (!nr_outputs || !enabled)
		return;
	if (!any_used()) {
		tp_complain("TP_ENABLE=%s: no event of this program has such a name; nothing was traced; write SYSTEM:EVENT, "
			    "EVENT, or SYSTEM:* for all of a system, and commas in between",
			    enabled);
		return;
	}
	tp_pattern_each(enabled_pattern, tell_if_unmatched);
}

/*
 * Behind the destructors of the program and of its modules, so that their
 * last words are recorded. Nothing is left to do for a text sink: its lines
 * are written. A CTF sink gives back the room that its packets did not need;
 * where that would take too long they are left as they are, which is valid; and
 * so they are in a sandbox, where a statistics sink's thread has written its file.
 */
static void __attribute__((destructor(101))) stop(void)
{
	bool asked = false, gone = false;

	tell_unmatched();
	free(enabled);
	tp_pattern_free(enabled_pattern);
	for (; nr_outputs; nr_outputs--) {
		const struct output *output = &outputs[nr_outputs - 1];
		struct tp_sink *sink = tp_sink_of_serial(output->serial);
		free(output->name);
		if (!sink)
			continue;
		if (tp_sandboxed) {
			tp_sink_tell_lost(sink, NULL);
			continue;
		}
		if (!output->written && !asked) {
			gone = readers_are_gone_soon();
			asked = true;
		}
		if (!output->written && gone) {
			tp_sink_close(sink); /* which says what was lost */
		} else {
			tp_stats_write(sink); /* the one that needs no end; others refuse */
			tp_sink_tell_lost(sink, NULL);
		}
	}
}

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
#include <unistd.h>

#include <urcu/urcu-bp.h>

#include <tp/tp.h>

#include "base/helper_thread.h"
#include "base/message.h"
#include "base/readers.h"
#include "base/sandbox.h"
#include "control/control.h"
#include "control/outputs.h"
#include "events/events.h"
#include "events/pattern.h"
#include "record/record.h"
#include "start/start.h"

/* What TP_OUTPUT names, between semicolons. */
#define MAX_OUTPUTS 16
#define BLANKS " \t"

/* Patterns, and what messages call them: as they stand in the environment, "TP_ENABLE=sched:*". */
struct selection {
	char *patterns, *setting; /* both are NULL where there are none */
};

/* What was enabled on which at the start; control/outputs.h has the rest. */
static struct output {
	uint64_t serial;      /* of its sink, which may have been closed */
	struct selection own; /* its own patterns; without any, it has those of TP_ENABLE */
} outputs[MAX_OUTPUTS];
static size_t nr_outputs;

/* TP_ENABLE as it was at the start. */
static struct selection enabled;

static const char *setting(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL; /* NAME= is how shells take a setting back */
}

/* ---- Patterns ---- */

static void selection_free(struct selection *selection)
{
	free(selection->patterns);
	free(selection->setting);
	*selection = (struct selection){.patterns = NULL};
}

/* Of TP_ENABLE, or of an output. False after a message, which ends with the consequence: patterns is no list of them. */
static bool selection_set(struct selection *selection, const char *output, const char *patterns, const char *consequence)
{
	int error = -ENOMEM;

	selection->patterns = strdup(patterns);
	if (asprintf(&selection->setting, output ? "TP_OUTPUT=%s <- %s" : "TP_ENABLE=%s%s", output ? output : "", patterns) < 0)
		selection->setting = NULL;
	if (selection->patterns && selection->setting)
		tp_pattern_free(tp_pattern_new(patterns, &error));
	if (error == -EINVAL)
		tp_complain("%s: no list of patterns; write for example sched:*,!sched:sched_wakeup; %s", selection->setting,
			    consequence);
	else if (error)
		tp_complain("%s: %s; %s", output ? output : "TP_ENABLE", tp_strerror(-error), consequence);
	if (error)
		selection_free(selection);
	return !error;
}

static const struct selection *selection_of(const struct output *output)
{
	return output->own.patterns ? &output->own : &enabled;
}

/* ---- Outputs ---- */

/* NULL after a message. */
static struct tp_sink *open_listed(const char *name)
{
	struct tp_output_info info = {.owner = TP_OUTPUT_ENVIRONMENT};
	struct tp_sink *sink = tp_output_open(name, &info.written);

	if (!sink || tp_outputs_add(sink, name, &info))
		return sink;
	tp_complain("TP_OUTPUT=%s: no memory; nothing goes there", name);
	tp_sink_close(sink);
	return NULL;
}

/* The patterns are looked at first, so that a mistake in them leaves no empty trace. */
static void open_output(const char *name, const char *patterns)
{
	struct output *output = &outputs[nr_outputs];
	struct tp_sink *sink = NULL;

	*output = (struct output){.serial = 0};
	if (!patterns || selection_set(&output->own, name, patterns, "nothing goes there"))
		sink = open_listed(name);
	if (!sink) {
		selection_free(&output->own);
		return;
	}
	output->serial = tp_sink_serial(sink);
	nr_outputs++;
	const struct selection *selection = selection_of(output);
	int error = tp_enable(sink, selection->patterns ? selection->patterns : "*");
	if (error < 0)
		tp_complain("%s: %s; not everything is traced", selection->setting ? selection->setting : "TP_ENABLE=*",
			    tp_strerror(-error));
}

/* Blanks around a name are no part of it. */
static char *trim(char *name)
{
	name += strspn(name, BLANKS);
	for (size_t len = strlen(name); len && strchr(BLANKS, name[len - 1]); len--)
		name[len - 1] = '\0';
	return name;
}

/* "NAME <- PATTERNS" becomes NAME; the patterns, or NULL. Without a blank on either side, "<-" is a part of a name. */
static char *take_patterns(char *output)
{
	for (char *arrow = output; (arrow = strstr(arrow, "<-")); arrow++) {
		const bool begins = arrow == output || strchr(BLANKS, arrow[-1]);
		if (!begins || (arrow[2] && !strchr(BLANKS, arrow[2])))
			continue;
		*arrow = '\0';
		trim(output);
		return trim(arrow + 2);
	}
	return NULL;
}

static bool names_any(const char *outputs_named)
{
	return outputs_named && outputs_named[strspn(outputs_named, BLANKS ";")];
}

static void open_outputs(const char *named)
{
	char *names = strdup(named), *rest = NULL;

	for (char *at = names ? strtok_r(names, ";", &rest) : NULL; at; at = strtok_r(NULL, ";", &rest)) {
		char *name = trim(at);
		const char *patterns = take_patterns(name);
		if (!*name && !patterns)
			continue;
		if (nr_outputs < MAX_OUTPUTS)
			open_output(name, patterns);
		else
			tp_complain("TP_OUTPUT: %s is one too many: there can be %d; it gets nothing", name, MAX_OUTPUTS);
	}
	free(names);
}

static void start(void)
{
	const char *patterns = setting("TP_ENABLE");
	const char *output = setting("TP_OUTPUT");

	if (!patterns && !output)
		return;
	if (patterns && strchr(patterns, ';')) {
		tp_complain("TP_ENABLE=%s: commas are between patterns; semicolons are between the outputs of TP_OUTPUT; nothing "
			    "is traced",
			    patterns);
		return;
	}
	if (!patterns || selection_set(&enabled, NULL, patterns, "nothing is traced"))
		open_outputs(names_any(output) ? output : "text:stderr");
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

/*
 * A thread that sits in its probe must not keep the program from ending, but
 * liburcu knows no wait with an end: so another thread waits. It is gone
 * before liburcu's memory is; only where it waits for the lock of somebody
 * else's grace period it can't be cancelled, and then it touches nothing.
 */
static bool readers_are_gone_soon(void)
{
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
	if (tp_thread_ends_soon(thread))
		return true;
	pthread_cancel(thread);
	tp_thread_ends_soon(thread);
	return false;
}

static bool is_used(const struct output *output)
{
	struct tp_sink *sink = tp_sink_of_serial(output->serial);

	return !sink || tp_sink_used(sink); /* what the program has closed is its own affair */
}

static void tell_if_unmatched(const char *glob, void *data)
{
	const struct selection *selection = data;

	if (!tp_events_match(glob))
		tp_complain("%s: no event of this program is called '%s'", selection->setting, glob);
}

/* Each pattern that no event has matched, be it one of several. used: some have matched. */
static void tell_unmatched(struct selection *selection, bool used, const char *nowhere)
{
	int error;

	if (!used) {
		tp_complain("%s: no event of this program has such a name; nothing was traced%s; write SYSTEM:EVENT, EVENT, or "
			    "SYSTEM:* for all of a system, and commas in between",
			    selection->setting, nowhere);
		return;
	}
	struct tp_pattern *pattern = tp_pattern_new(selection->patterns, &error);
	if (pattern)
		tp_pattern_each(pattern, tell_if_unmatched, selection);
	tp_pattern_free(pattern);
}

/* Those of TP_ENABLE once, however many outputs have them. */
static void tell_all_unmatched(void)
{
	bool used = false;
	size_t nr = 0; /* outputs that have them */

	for (size_t i = 0; i < nr_outputs; i++) {
		struct output *output = &outputs[i];
		if (output->own.patterns) {
			tell_unmatched(&output->own, is_used(output), " there");
			continue;
		}
		used = used || is_used(output);
		nr++;
	}
	if (nr && enabled.patterns)
		tell_unmatched(&enabled, used, nr < nr_outputs ? " by it" : "");
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
	struct tp_output_info info;
	bool asked = false, gone = false;

	tp_control_end();
	tell_all_unmatched();
	selection_free(&enabled);
	while (nr_outputs)
		selection_free(&outputs[--nr_outputs].own);
	while (tp_outputs_take_any(&info)) {
		struct tp_sink *sink = tp_sink_of_serial(info.serial);
		if (!sink || (info.owner == TP_OUTPUT_SESSION && info.written))
			continue;
		if (tp_sandboxed) {
			tp_sink_tell_lost(sink, NULL);
			continue;
		}
		if (!info.written && !asked) {
			gone = readers_are_gone_soon();
			asked = true;
		}
		if (!info.written && gone) {
			tp_sink_close(sink); /* which says what was lost */
		} else {
			tp_stats_write(sink); /* the one that needs no end; others refuse */
			tp_sink_tell_lost(sink, NULL);
		}
	}
}

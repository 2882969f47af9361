/* SPDX-License-Identifier: MIT */
/*
 * start/environment.c - TP_ENABLE, TP_OUTPUT, TP_TRIGGER and TP_SYNTHETIC: tracing without a line of code in the
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

#include "base/exit.h"
#include "base/file.h"
#include "base/helper.h"
#include "base/hit.h"
#include "base/message.h"
#include "control/control.h"
#include "control/outputs.h"
#include "events/events.h"
#include "events/pattern.h"
#include "record/record.h"
#include "sinks/text/text.h"
#include "start/hist.h"
#include "start/selection.h"
#include "start/start.h"
#include "start/trigger.h"

/* What TP_OUTPUT names, between semicolons. */
#define MAX_OUTPUTS 16

/* What was enabled on which at the start; control/outputs.h has the rest. */
static struct output {
	uint64_t serial;      /* of its sink, which may have been closed */
	struct tp_selection own; /* its own rules; without any, it has those of TP_ENABLE */
} outputs[MAX_OUTPUTS];
static size_t nr_outputs;

/* TP_ENABLE as it was at the start; and whether only triggers say what is enabled. */
static struct tp_selection enabled;
static bool by_triggers_only;

static const char *setting(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL; /* NAME= is how shells take a setting back */
}

static const struct tp_selection *selection_of(const struct output *output)
{
	return output->own.setting ? &output->own : &enabled;
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

/* Which events a filter of TP_ENABLE does not fit is told once, however many outputs have it. */
static bool told_before(const struct output *output)
{
	for (const struct output *other = outputs; other < output; other++) {
		if (!output->own.setting && !other->own.setting)
			return true;
	}
	return false;
}

static void enable(const struct output *output, struct tp_sink *sink)
{
	const struct tp_selection *selection = selection_of(output);
	struct tp_selected all = {.patterns = "*"};
	const struct tp_selection everything = {.setting = (char[]){"TP_ENABLE=*"}, .rules = &all, .nr = 1};

	tp_selection_enable(selection->setting ? selection : &everything, sink, told_before(output));
}

/* The rules are looked at first, so that a mistake in them leaves no empty trace. */
static void open_output(const char *name, const char *rules)
{
	struct output *output = &outputs[nr_outputs];
	struct tp_sink *sink = NULL;

	*output = (struct output){.serial = 0};
	if (!rules || tp_selection_set(&output->own, name, rules, "nothing goes there"))
		sink = open_listed(name);
	if (!sink) {
		tp_selection_free(&output->own);
		return;
	}
	output->serial = tp_sink_serial(sink);
	nr_outputs++;
	if (!by_triggers_only)
		enable(output, sink);
	tp_start_triggers_set(sink, name);
}

static bool names_any(const char *outputs_named)
{
	return outputs_named && outputs_named[strspn(outputs_named, TP_BLANKS ";")];
}

static void open_outputs(const char *named)
{
	char *names = strdup(named);

	for (char *next, *at = names; at; at = next) {
		next = tp_cut_at_semicolon(at, false);
		char *rules = tp_cut_at_arrow(at, false);
		const char *name = tp_trim(at);
		if (!*name && !rules)
			continue;
		if (nr_outputs < MAX_OUTPUTS)
			open_output(name, rules ? tp_trim(rules) : NULL);
		else
			tp_complain("TP_OUTPUT: %s is one too many: there can be %d; it gets nothing", name, MAX_OUTPUTS);
	}
	free(names);
}

static void start(void)
{
	const char *rules = setting("TP_ENABLE");
	const char *output = setting("TP_OUTPUT");
	const char *synthetic = setting("TP_SYNTHETIC");
	const char *triggers = setting("TP_TRIGGER");

	if (synthetic)
		tp_synthetic_define_all(synthetic);
	if (triggers) {
		tp_start_triggers_read(triggers);
		tp_start_hists_begin(setting("TP_HIST"));
		tp_start_triggers_set(NULL, NULL);
	}
	const bool triggered = tp_start_triggers_need_outputs();

	by_triggers_only = triggered && !rules && !output;
	if (!rules && !output && !triggered)
		return;
	if (!rules || tp_selection_set(&enabled, NULL, rules, "nothing is traced"))
		open_outputs(names_any(output) ? output : "text:stderr");
}

void tp_environment_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start);
}

/* ---- What no event matches ---- */

/* What is said of a setting. */
struct telling {
	const struct tp_selection *selection;
	const char *nothing; /* "nothing was traced" */
	const char *where;   /* " there", of one output; "" */
	const char *later;   /* what may still come; "" */
};

/* How many events there were when it was told; told again only if more have come. */
static size_t told_of;
static bool is_told;

static bool is_used(const struct output *output)
{
	struct tp_sink *sink = tp_sink_of_serial(output->serial);

	return !sink || tp_sink_used(sink); /* what the program has closed is its own affair */
}

static void tell_if_unmatched(const char *glob, void *data)
{
	const struct telling *telling = data;

	if (!tp_events_match(glob))
		tp_complain("%s: no event of this program is called '%s'%s", telling->selection->setting, glob, telling->later);
}

/* Then it may be a filter that nothing fits, which was told. */
static bool has_filter(const struct tp_selection *selection)
{
	for (size_t i = 0; i < selection->nr; i++) {
		if (selection->rules[i].filter)
			return true;
	}
	return false;
}

/* Each pattern that no event has matched, be it one of several. used: some have matched. */
static void tell_unmatched(struct telling *telling, bool used)
{
	const struct tp_selection *selection = telling->selection;
	int error;

	if (!used && !has_filter(selection)) {
		tp_complain("%s: no event of this program has such a name; %s%s%s; write SYSTEM:EVENT, EVENT, or "
			    "SYSTEM:* for all of a system, and commas in between",
			    selection->setting, telling->nothing, telling->where, telling->later);
		return;
	}
	for (size_t i = 0; i < selection->nr; i++) {
		struct tp_pattern *pattern = tp_pattern_new(selection->rules[i].patterns, &error);
		if (pattern)
			tp_pattern_each(pattern, tell_if_unmatched, telling);
		tp_pattern_free(pattern);
	}
}

/* Those of TP_ENABLE once, however many outputs have them. */
static void tell_all_unmatched(const char *nothing, const char *later)
{
	struct telling telling = {.nothing = nothing, .later = later};
	bool used = false;
	size_t nr = 0; /* outputs that have them */

	for (size_t i = 0; i < nr_outputs; i++) {
		struct output *output = &outputs[i];
		if (output->own.setting) {
			telling.selection = &output->own;
			telling.where = " there";
			tell_unmatched(&telling, is_used(output));
			continue;
		}
		used = used || is_used(output);
		nr++;
	}
	telling.selection = &enabled;
	telling.where = nr < nr_outputs ? " by it" : "";
	if (nr && enabled.setting)
		tell_unmatched(&telling, used);
}

/*
 * The program's own module is the last of those that are there when it starts: the libraries that it is linked with have
 * announced theirs before. If it has none, the end tells.
 */
void tp_environment_tell_unmatched(const struct tp_module *module)
{
	if (is_told || by_triggers_only || !nr_outputs || !tp_is_of_main_program(module))
		return;
	is_told = true;
	told_of = tp_events_known();
	tell_all_unmatched("nothing is traced", "; modules that are loaded later may have one");
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

/*
 * Behind the destructors of the program and of its modules, so that their
 * last words are recorded. Nothing is left to do for a text sink but to write
 * the end of a line of which a part is out. A CTF sink gives back the room that its packets did not need;
 * where that would take too long they are left as they are, which is valid; and
 * so they are in a sandbox, where a statistics sink's thread has written its file.
 */
static void __attribute__((destructor(101))) stop(void)
{
	struct tp_output_info info;
	bool asked = false, gone = false;

	tp_control_end();
	tp_start_hists_end();
	if (!by_triggers_only && (!is_told || told_of != tp_events_known()))
		tell_all_unmatched("nothing was traced", "");
	tp_start_triggers_end();
	tp_selection_free(&enabled);
	while (nr_outputs)
		tp_selection_free(&outputs[--nr_outputs].own);
	while (tp_outputs_take_any(&info)) {
		struct tp_sink *sink = tp_sink_of_serial(info.serial);
		if (!sink || (info.owner == TP_OUTPUT_SESSION && info.written))
			continue;
		tp_text_end(sink);
		if (tp_sandboxed) {
			tp_sink_tell_lost(sink);
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
			tp_sink_tell_lost(sink);
		}
	}
}

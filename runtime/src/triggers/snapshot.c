/* SPDX-License-Identifier: MIT */
/*
 * triggers/snapshot.c - snapshot: a copy of what a flight recorder holds.
 *
 * Whoever fires one only asks for it. The helper takes it. While one is being taken, another may be asked for; what comes
 * beside that is counted.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/helper.h"
#include "base/message.h"
#include "base/text.h"
#include "sinks/ctf/ctf.h"
#include "triggers/list.h"
#include "triggers/mapping.h"
#include "triggers/trigger.h"

/* Of a trigger. */
struct tp_trigger_snapshot {
	struct tp_work work; /* of the helper, which takes it */
	const struct tp_trigger *trigger;
	uint64_t asked;       /* when; 0: no snapshot is asked for. As tp_helper_now() has it */
	unsigned long merged; /* that were asked for while one was */
	unsigned int number;  /* of the next directory */
};

/* ---- Asking: in any context ---- */

static void fire(struct tp_trigger *trigger, const struct tp_event *event)
{
	struct tp_trigger_snapshot *snapshot = trigger->snapshot;
	const int error = errno;
	uint64_t none = 0;

	(void)event;
	if (!tp_trigger_take(trigger))
		return;
	if (__atomic_compare_exchange_n(&snapshot->asked, &none, tp_helper_now(), false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		tp_helper_wake(&snapshot->work);
	else
		__atomic_fetch_add(&snapshot->merged, 1, __ATOMIC_RELAXED);
	errno = error;
}

/* ---- Taking ---- */

/* A flight recorder may have written over those that were written when the trigger was set. */
static void renew_mappings(const struct tp_trigger *trigger)
{
	if (tp_trigger_is_there(&tp_trigger_stacktrace, trigger->serial))
		tp_trigger_write_mappings(trigger->sink);
}

static void take(struct tp_trigger_snapshot *snapshot)
{
	const struct tp_trigger *trigger = snapshot->trigger;
	const char *patterns = tp_pattern_text(trigger->patterns);
	const int directory = trigger->has_directory ? tp_guarded_fd_descriptor(&trigger->directory) : -1;
	const bool closed = trigger->has_directory && directory < 0;
	if (!closed)
		renew_mappings(trigger);
	const int error = closed ? -EBADF : tp_ctf_snapshot_next(trigger->sink, directory, &snapshot->number);

	if (error == -ENODATA)
		tp_complain("trigger '%s snapshot': there is no snapshot: this process has recorded nothing yet", patterns);
	else if (error)
		tp_complain("trigger '%s snapshot': there is no snapshot: %s; the next is tried for again", patterns,
			    tp_strerror(-error));
}

static void tell_merged(struct tp_trigger_snapshot *snapshot)
{
	const unsigned long merged = __atomic_exchange_n(&snapshot->merged, 0, __ATOMIC_RELAXED);

	if (merged)
		tp_complain("trigger '%s snapshot': it has fired %lu times while a snapshot was asked for already: these have none "
			    "of their own",
			    tp_pattern_text(snapshot->trigger->patterns), merged);
}

/* The helper's. From when it is taken on another may be asked for, which then has what comes from there on. */
static uint64_t take_if_due(void *data)
{
	struct tp_trigger_snapshot *snapshot = data;
	const uint64_t asked = __atomic_load_n(&snapshot->asked, __ATOMIC_ACQUIRE), due = asked + snapshot->trigger->after_ns;

	if (asked && due > tp_helper_now() && !tp_helper_is_finishing())
		return due;
	if (__atomic_exchange_n(&snapshot->asked, 0, __ATOMIC_ACQ_REL))
		take(snapshot);
	if (tp_helper_is_finishing())
		tell_merged(snapshot);
	return TP_NEVER;
}

/* What was asked for is the parent's to take. */
static void in_child(void *data)
{
	struct tp_trigger_snapshot *snapshot = data;

	snapshot->asked = 0;
	snapshot->merged = 0;
}

/* ---- A trigger comes and goes ---- */

static int check(const struct tp_trigger *trigger, struct tp_buffer *why)
{
	const int error = tp_ctf_snapshot_check(trigger->sink, trigger->has_directory);

	if (error == -ENOTSUP)
		tp_buffer_printf(why, "a snapshot is of a flight recorder: ctf:DIRECTORY,mode=flight");
	else if (error)
		tp_buffer_printf(why, "this trace has no path beside which a snapshot could be: a directory must be passed for it (\"tp trigger --directory DIR\")");
	return error;
}

static int begin(struct tp_trigger *trigger, struct tp_buffer *why)
{
	int error = check(trigger, why);

	if (error)
		return error;
	struct tp_trigger_snapshot *snapshot = tp_malloc(sizeof(*snapshot));
	if (!snapshot)
		return -ENOMEM;
	*snapshot = (struct tp_trigger_snapshot){
		.work = {.run = take_if_due, .in_child = in_child, .data = snapshot, .in_children = true, .at_end = true},
		.trigger = trigger,
		.number = 1,
	};
	error = -tp_helper_begin(&snapshot->work);
	if (error)
		free(snapshot);
	else
		trigger->snapshot = snapshot;
	return error;
}

/* What was asked for is taken before the sink may go. */
static void end(struct tp_trigger *trigger)
{
	struct tp_trigger_snapshot *snapshot = trigger->snapshot;

	tp_helper_end(&snapshot->work);
	if (snapshot->asked)
		take(snapshot);
	tell_merged(snapshot);
	free(snapshot);
}

/* The event that fires it is in it. */
const struct tp_trigger_command tp_trigger_snapshot = {
	.name = "snapshot", .kind = TP_TRIGGER_SNAPSHOT, .priority = TRACEPOINT_DEFAULT_PRIO - 3, .may_wait = true,
	.begin = begin, .fire = fire, .end = end,
};

/* ---- The end of the program ---- */

static void __attribute__((destructor(102))) finish(void)
{
	tp_helper_finish(10);
}

/* SPDX-License-Identifier: MIT */
/*
 * triggers/snapshot.c - snapshot: a copy of what a flight recorder holds.
 *
 * Whoever fires one only asks for it. A thread takes it, which is there as long as any such trigger is. While one is being
 * taken, another may be asked for; what comes beside that is counted.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/helper_thread.h"
#include "base/lock.h"
#include "base/message.h"
#include "base/readers.h"
#include "base/text.h"
#include "sinks/ctf/ctf.h"
#include "triggers/list.h"
#include "triggers/mapping.h"
#include "triggers/trigger.h"

#define NEVER UINT64_MAX

/* Of a trigger. */
struct tp_trigger_snapshot {
	struct tp_trigger_snapshot *next;
	const struct tp_trigger *trigger;
	struct tp_helper_thread *thread;
	uint64_t asked;       /* when; 0: no snapshot is asked for. By CLOCK_MONOTONIC, in nanoseconds */
	unsigned long merged; /* that were asked for while one was */
	unsigned int number;  /* of the next directory */
	bool being_taken;     /* by the thread */
};

/* Guards the list, and who starts and ends the thread. */
static struct tp_lock lock = TP_LOCK_INIT(TP_RANK_SNAPSHOTS, "the snapshots' lock");
static struct tp_trigger_snapshot *snapshots;
static struct tp_helper_thread *thread; /* NULL: there is none */
static bool is_running;                 /* in a child it may be that it could not be made again */

/* The program ends: nobody waits for what may follow. */
static bool hurry;

/* How often the thread has come to the end of a snapshot, for those who wait. */
static uint32_t taken;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ---- Asking: in any context ---- */

static void fire(struct tp_trigger *trigger, const struct tp_event *event)
{
	struct tp_trigger_snapshot *snapshot = trigger->snapshot;
	const int error = errno;
	uint64_t none = 0;

	(void)event;
	if (!tp_trigger_take(trigger))
		return;
	if (__atomic_compare_exchange_n(&snapshot->asked, &none, now(), false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		tp_helper_thread_wake(snapshot->thread);
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

static uint64_t due_at(const struct tp_trigger_snapshot *snapshot)
{
	const uint64_t asked = __atomic_load_n(&snapshot->asked, __ATOMIC_ACQUIRE);

	if (!asked)
		return NEVER;
	return __atomic_load_n(&hurry, __ATOMIC_RELAXED) ? 0 : asked + snapshot->trigger->after_ns;
}

/* From here on another may be asked for, which then has what comes from here on. */
static bool claim(struct tp_trigger_snapshot *snapshot)
{
	return __atomic_exchange_n(&snapshot->asked, 0, __ATOMIC_ACQ_REL) != 0;
}

/* One whose time has come, or NULL; *next is when the next one's does. */
static struct tp_trigger_snapshot *find_due(uint64_t *next)
{
	*next = NEVER;
	tp_lock(&lock);
	struct tp_trigger_snapshot *found = snapshots;
	for (; found; found = found->next) {
		const uint64_t due = due_at(found);
		if (due <= now() && claim(found))
			break;
		*next = due < *next ? due : *next;
	}
	if (found)
		found->being_taken = true;
	tp_unlock(&lock);
	return found;
}

static void tell_taken(struct tp_trigger_snapshot *snapshot)
{
	tp_lock(&lock);
	snapshot->being_taken = false;
	tp_unlock(&lock);
	__atomic_fetch_add(&taken, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &taken, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* The thread's work. */
static void take_due(void *data)
{
	struct tp_helper_thread *self = data;
	struct tp_trigger_snapshot *snapshot;
	uint64_t next;

	while ((snapshot = find_due(&next))) {
		take(snapshot);
		tell_taken(snapshot);
	}
	const uint64_t time = now();
	self->interval_ns = next == NEVER ? 0 : next > time ? next - time : 1;
}

/* ---- The thread: under the lock ---- */

static struct tp_helper_thread *thread_new(void)
{
	struct tp_helper_thread *new = tp_malloc(sizeof(*new));

	if (new)
		*new = (struct tp_helper_thread){.name = "tp-trigger", .work = take_due, .data = new};
	return new;
}

static int thread_start(void)
{
	struct tp_helper_thread *new = thread_new();
	const int error = new ? tp_helper_thread_start(new) : ENOMEM;

	if (error) {
		free(new);
		return -error;
	}
	thread = new;
	is_running = true;
	return 0;
}

/* ---- Forks ---- */

/* What was asked for is the parent's to take. */
static void in_child(void)
{
	for (struct tp_trigger_snapshot *snapshot = snapshots; snapshot; snapshot = snapshot->next) {
		snapshot->asked = 0;
		snapshot->merged = 0;
		snapshot->being_taken = false;
	}
}

/* The parent's is not here; triggers that fire meanwhile find its structure. */
static void resume(void)
{
	tp_lock(&lock);
	struct tp_helper_thread *parents = thread;
	if (parents) {
		*parents = (struct tp_helper_thread){
			.name = parents->name, .work = take_due, .data = parents, .wakes = parents->wakes,
		};
		const int error = tp_tracing_lost_in_fork() ? 0 : tp_helper_thread_start(parents);
		is_running = !error && !tp_tracing_lost_in_fork();
		if (error)
			tp_complain("there are no snapshots by triggers in process %d: %s", (int)getpid(), tp_strerror(error));
	}
	tp_unlock(&lock);
}

static void start(void)
{
	static struct tp_fork_hook hook = {
		.rank = TP_RANK_SNAPSHOTS, .lock = &lock.mutex, .in_child = in_child, .resume = resume,
	};

	tp_fork_register(&hook);
}

/* ---- A trigger comes and goes ---- */

static int check(const struct tp_trigger *trigger, struct tp_buffer *why)
{
	const int error = tp_ctf_snapshot_check(trigger->sink, trigger->has_directory);

	if (error == -ENOTSUP)
		tp_buffer_printf(why, "a snapshot is of a flight recorder: ctf:DIRECTORY,mode=flight");
	else if (error)
		tp_buffer_printf(why, "this trace has no path beside which a snapshot could be: a directory must be passed for it");
	return error;
}

static int link_with_thread(struct tp_trigger_snapshot *snapshot)
{
	start();
	tp_lock(&lock);
	const int error = thread ? 0 : thread_start();
	if (!error) {
		snapshot->thread = thread;
		snapshot->next = snapshots;
		snapshots = snapshot;
	}
	tp_unlock(&lock);
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
	*snapshot = (struct tp_trigger_snapshot){.trigger = trigger, .number = 1};
	error = link_with_thread(snapshot);
	if (error)
		free(snapshot);
	else
		trigger->snapshot = snapshot;
	return error;
}

/* No thread can find it any more, and none is taking it. Returns the thread, if it has nothing left to do. */
static struct tp_helper_thread *unlink_from_thread(struct tp_trigger_snapshot *snapshot)
{
	struct tp_trigger_snapshot **at = &snapshots;
	struct tp_helper_thread *idle = NULL;

	tp_lock(&lock);
	while (snapshot->being_taken) {
		const uint32_t before = __atomic_load_n(&taken, __ATOMIC_ACQUIRE);
		tp_unlock(&lock);
		syscall(SYS_futex, &taken, FUTEX_WAIT_PRIVATE, before, NULL, NULL, 0);
		tp_lock(&lock);
	}
	while (*at != snapshot)
		at = &(*at)->next;
	*at = snapshot->next;
	if (!snapshots) {
		idle = thread;
		thread = NULL;
	}
	tp_unlock(&lock);
	return idle;
}

static void tell_merged(struct tp_trigger_snapshot *snapshot)
{
	const unsigned long merged = __atomic_exchange_n(&snapshot->merged, 0, __ATOMIC_RELAXED);

	if (merged)
		tp_complain("trigger '%s snapshot': it has fired %lu times while a snapshot was asked for already: these have none "
			    "of their own",
			    tp_pattern_text(snapshot->trigger->patterns), merged);
}

/* What was asked for is taken before the sink may go. */
static void end(struct tp_trigger *trigger)
{
	struct tp_trigger_snapshot *snapshot = trigger->snapshot;
	struct tp_helper_thread *idle = unlink_from_thread(snapshot);

	if (idle && is_running)
		tp_helper_thread_stop(idle);
	free(idle);
	if (claim(snapshot))
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

/* As far as can be told: a handler that has called exit() may have interrupted this thread's own holding of the lock. */
static bool any_left(void)
{
	bool left = false;

	if (!tp_try_lock(&lock))
		return true;
	for (const struct tp_trigger_snapshot *snapshot = snapshots; snapshot; snapshot = snapshot->next)
		left = left || snapshot->being_taken || __atomic_load_n(&snapshot->asked, __ATOMIC_ACQUIRE);
	tp_unlock(&lock);
	return left;
}

/*
 * The thread takes what was asked for, and not this one, which may have called exit() anywhere: the thread may wait for a
 * lock that this one holds, and so this one does not wait for ever.
 */
#define PATIENCE 10u /* seconds */

static void __attribute__((destructor(102))) finish(void)
{
	const uint64_t end_of_patience = now() + PATIENCE * (uint64_t)1000000000;
	const struct timespec moment = {.tv_nsec = 50 * 1000 * 1000};

	__atomic_store_n(&hurry, true, __ATOMIC_RELAXED);
	while (is_running) {
		const uint32_t before = __atomic_load_n(&taken, __ATOMIC_ACQUIRE);
		if (!any_left() || now() > end_of_patience)
			break;
		tp_helper_thread_wake(thread);
		syscall(SYS_futex, &taken, FUTEX_WAIT_PRIVATE, before, &moment, NULL, 0);
	}
	for (struct tp_trigger_snapshot *snapshot = snapshots; snapshot; snapshot = snapshot->next)
		tell_merged(snapshot);
}

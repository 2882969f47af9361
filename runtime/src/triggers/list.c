/* SPDX-License-Identifier: MIT */
/*
 * triggers/list.c - see list.h.
 */
#include <errno.h>
#include <string.h>

#include "base/fork.h"
#include "base/locks.h"
#include "base/thread.h"
#include "events/events.h"
#include "triggers/list.h"
#include "triggers/triggers.h"

/* Guards the list alone: nobody waits for readers, or makes a sink, while holding it. */
static struct tp_trigger *triggers; /* the latest first, as in the kernel */

/* A thread of the parent's that was setting one is not in the child; what it had done so far stays. */
static void in_child(void)
{
	struct tp_trigger **at = &triggers;

	while (*at) {
		(*at)->in_use = false;
		if ((*at)->setter)
			*at = (*at)->next;
		else
			at = &(*at)->next;
	}
}

static void start(void)
{
	static struct tp_fork_hook hook = {.rank = TP_RANK_TRIGGERS, .in_child = in_child};

	tp_fork_register(&hook);
}

static bool excludes(const struct tp_trigger *one, const struct tp_trigger *other)
{
	if (one->command->kind != other->command->kind || one->serial != other->serial)
		return false;
	if (one->command->is_same && !one->command->is_same(one, other))
		return false;
	if (one->target && strcmp(one->target, other->target) != 0)
		return false;
	return tp_patterns_meet(one->patterns, other->patterns);
}

int tp_trigger_link(struct tp_trigger *trigger)
{
	int error = 0;

	start();
	tp_lock(&tp_triggers_lock);
	for (const struct tp_trigger *other = triggers; other && !error; other = other->next)
		error = excludes(trigger, other) ? -EEXIST : 0;
	if (!error) {
		trigger->setter = tp_thread_id();
		trigger->next = triggers;
		triggers = trigger;
	}
	tp_unlock(&tp_triggers_lock);
	return error;
}

void tp_trigger_is_set(struct tp_trigger *trigger)
{
	tp_lock(&tp_triggers_lock);
	trigger->setter = 0;
	tp_unlock(&tp_triggers_lock);
}

void tp_trigger_unlink(struct tp_trigger *trigger)
{
	struct tp_trigger **at = &triggers;

	tp_lock(&tp_triggers_lock);
	while (*at && *at != trigger)
		at = &(*at)->next;
	if (*at) /* not in a child that was forked meanwhile */
		*at = trigger->next;
	tp_unlock(&tp_triggers_lock);
}

static struct tp_trigger **find(bool (*is_it)(const struct tp_trigger *trigger, const void *data), const void *data)
{
	struct tp_trigger **at = &triggers;

	while (*at && ((*at)->setter || (*at)->in_use || !is_it(*at, data)))
		at = &(*at)->next;
	return at;
}

struct tp_trigger *tp_trigger_hold(bool (*is_it)(const struct tp_trigger *trigger, const void *data), const void *data)
{
	tp_lock(&tp_triggers_lock);
	struct tp_trigger *found = *find(is_it, data);
	if (found)
		found->in_use = true;
	tp_unlock(&tp_triggers_lock);
	return found;
}

void tp_trigger_let_go(struct tp_trigger *trigger)
{
	tp_lock(&tp_triggers_lock);
	trigger->in_use = false;
	tp_unlock(&tp_triggers_lock);
}

int tp_trigger_leave(struct tp_trigger *trigger, struct tp_buffer *why)
{
	const int error = trigger->command->leave ? trigger->command->leave(trigger, why) : 0;

	if (error)
		tp_trigger_let_go(trigger);
	else
		tp_trigger_unlink(trigger);
	return error;
}

bool tp_trigger_is_there(const struct tp_trigger_command *command, uint64_t serial)
{
	bool found = false;

	tp_lock(&tp_triggers_lock);
	for (const struct tp_trigger *trigger = triggers; trigger && !found; trigger = trigger->next)
		found = trigger->command == command && trigger->serial == serial;
	tp_unlock(&tp_triggers_lock);
	return found;
}

struct tp_trigger *tp_trigger_take_off(bool (*is_it)(const struct tp_trigger *trigger, const void *data), const void *data)
{
	tp_lock(&tp_triggers_lock);
	struct tp_trigger **at = find(is_it, data);
	struct tp_trigger *found = *at;
	if (found)
		*at = found->next;
	tp_unlock(&tp_triggers_lock);
	return found;
}

/* ---- For those who show them ---- */

/* As the kernel's file "trigger" has it. */
static void put(struct tp_buffer *to, const struct tp_trigger *trigger)
{
	const uint64_t count = __atomic_load_n(&trigger->count, __ATOMIC_RELAXED);

	if (trigger->command->put) {
		trigger->command->put(to, trigger);
		return;
	}
	tp_buffer_printf(to, "%s", trigger->command->name);
	if (trigger->target)
		tp_buffer_printf(to, ":%s", trigger->target);
	if (count == TP_TRIGGER_UNLIMITED)
		tp_buffer_printf(to, ":unlimited");
	else
		tp_buffer_printf(to, ":count=%llu", (unsigned long long)count);
	if (trigger->after_ns)
		tp_buffer_printf(to, ":after=%llums", (unsigned long long)(trigger->after_ns / 1000000));
	if (trigger->filter)
		tp_buffer_printf(to, " if %s", trigger->filter);
}

void tp_triggers_each(void (*fct)(uint64_t serial, const char *patterns, const char *text, void *data), void *data)
{
	tp_lock(&tp_triggers_lock);
	for (const struct tp_trigger *trigger = triggers; trigger; trigger = trigger->next) {
		struct tp_buffer text = {.text = NULL};
		put(&text, trigger);
		if (!trigger->setter && !text.failed)
			fct(trigger->serial, tp_pattern_text(trigger->patterns), text.text, data);
		tp_buffer_free(&text);
	}
	tp_unlock(&tp_triggers_lock);
}

/* ---- The end ---- */

struct ending {
	const struct tp_trigger *trigger; /* may be gone already */
	uint64_t serial;                  /* of its sink; 0: it has none */
};

static bool is_ending(const struct tp_trigger *trigger, const void *data)
{
	const struct ending *ending = data;

	return trigger == ending->trigger && trigger->serial == ending->serial;
}

/* The earliest, which is the last in the list. Each once. */
static bool next_for_end(struct ending *ending)
{
	struct tp_trigger *found = NULL;

	tp_lock(&tp_triggers_lock);
	for (struct tp_trigger *trigger = triggers; trigger; trigger = trigger->next) {
		if (trigger->at_end && !trigger->setter)
			found = trigger;
	}
	if (found) {
		found->at_end = false;
		*ending = (struct ending){.trigger = found, .serial = found->serial};
	}
	tp_unlock(&tp_triggers_lock);
	return found;
}

/* Whoever closes its sink does not wait for a trigger that is in use, but for who holds the sink. */
int tp_triggers_end(void (*fct)(struct tp_sink *sink, void *data), void *data)
{
	struct ending ending;
	int nr = 0;

	while (next_for_end(&ending)) {
		struct tp_sink *sink = ending.serial ? tp_sink_hold(ending.serial) : NULL;
		struct tp_trigger *trigger = sink || !ending.serial ? tp_trigger_hold(is_ending, &ending) : NULL;
		if (trigger) {
			fct(trigger->own, data);
			tp_trigger_let_go(trigger);
			nr++;
		}
		if (sink)
			tp_sink_let_go(sink);
	}
	return nr;
}

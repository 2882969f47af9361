/* SPDX-License-Identifier: MIT */
/*
 * events/sinks.c - sinks from their opening to their closing.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <tp/tp.h>

#include "base/futex.h"
#include "base/hit.h"
#include "base/message.h"
#include "base/text.h"
#include "core/core.h"
#include "events/attach.h"
#include "events/events.h"
#include "record/record.h"

/* ---- Opening ---- */

/* As they were in the oldest interface that is served; what they get later is behind that. */
#define LEAST_SIZE(type, last) (offsetof(struct type, last) + sizeof(((struct type *)0)->last))
#define LEAST_SINK LEAST_SIZE(tp_sink, reserved)
#define LEAST_OPS LEAST_SIZE(tp_sink_ops, close)

/* Newer operations are for those who know them; where there are none, a longer structure is as good as ours. */
static bool knows_all(const struct tp_sink_ops *ops, size_t size)
{
	for (size_t i = sizeof(*ops); i < size; i++) {
		if (((const char *)ops)[i])
			return false;
	}
	return true;
}

int tp_sink_open_sized(struct tp_sink *sink, size_t sink_size, const struct tp_sink_ops *ops, size_t ops_size)
{
	const struct tp_sink_ops *given = ops;

	if (sink_size < LEAST_SINK || ops_size < LEAST_OPS)
		return -EINVAL;
	if (!knows_all(ops, ops_size)) {
		tp_complain("a %s output was built for a newer interface of libtp, with operations that this one does not "
			    "know: it is not opened; install a newer libtp",
			    ops->name);
		return -EINVAL;
	}
	if (tp_events_start() < 0)
		return -ENOMEM;
	struct tp_sink_state *state = tp_malloc(sizeof(*state));

	if (!state)
		return -ENOMEM;
	*state = (struct tp_sink_state){.sink = sink, .priority = TRACEPOINT_DEFAULT_PRIO};
	if (!tp_losses_begin(&state->losses)) {
		free(state);
		return -ENOMEM;
	}
	if (ops_size < sizeof(*ops)) { /* what they lack is NULL */
		memcpy(&state->ops, ops, ops_size);
		ops = &state->ops;
	}
	memset(sink, 0, sink_size);
	sink->ops = ops;
	sink->key = TP_NO_KEY;
	tp_lock(&tp_events_lock);
	int error = tp_sink_describe_all(state);
	if (!error) {
		static uint64_t last_serial; /* under tp_events_lock */
		state->serial = ++last_serial;
		state->next = tp_sinks;
		tp_sinks = state;
		sink->reserved[0] = state;
	}
	tp_unlock(&tp_events_lock);
	if (error) {
		sink->ops = given;
		tp_losses_end(&state->losses);
		free(state);
	}
	return error;
}

/* ---- Closing ---- */

static void state_free(struct tp_sink_state *state)
{
	while (state->rules) {
		struct tp_rule *rule = state->rules;
		state->rules = rule->next;
		tp_rule_free(rule);
	}
	free(state->attached);
	tp_losses_end(&state->losses);
	free(state);
}

static struct tp_sink_state *state_of_serial(uint64_t serial)
{
	struct tp_sink_state *state = tp_sinks;

	while (state && state->serial != serial)
		state = state->next;
	return state;
}

/* How often a sink was let go. Of the process and not of a sink, as the last look at a sink is that at its count. */
static uint32_t let_go;

static void wait_until_let_go(const struct tp_sink_state *state)
{
	for (;;) {
		const uint32_t before = __atomic_load_n(&let_go, __ATOMIC_ACQUIRE);
		if (!__atomic_load_n(&state->held, __ATOMIC_ACQUIRE))
			return;
		tp_futex(&let_go, FUTEX_WAIT, before, NULL);
	}
}

/* Under tp_events_lock. From here on the sink is this caller's alone, but for those who hold it. */
static void take_off(struct tp_sink_state *state)
{
	struct tp_sink_state **at = &tp_sinks;

	while (*at != state)
		at = &(*at)->next;
	*at = state->next;
	state->closing = true;
	tp_detach_all(state);
}

static void (*about_to_close)(struct tp_sink *sink);

void tp_sinks_listen(void (*fct)(struct tp_sink *sink))
{
	__atomic_store_n(&about_to_close, fct, __ATOMIC_RELEASE);
}

static int finish(struct tp_sink_state *state)
{
	void (*hook)(struct tp_sink *sink) = __atomic_load_n(&about_to_close, __ATOMIC_ACQUIRE);
	struct tp_sink *sink = state->sink;

	tracepoint_synchronize_unregister();
	wait_until_let_go(state);
	if (hook)
		hook(sink);
	int error = sink->ops->close(sink);
	state_free(state); /* which may have the operations */
	tp_retired_settle();
	return error;
}

static bool may_close(void)
{
	if (tp_reading())
		tp_complain("tp_sink_close() was called from inside a probe, which would wait for itself for ever: "
			    "it did nothing");
	return !tp_reading();
}

int tp_sink_close(struct tp_sink *sink)
{
	struct tp_sink_state *state = sink ? sink->reserved[0] : NULL;
	int cancel_state;

	if (!state)
		return -EINVAL;
	if (!may_close())
		return -EDEADLK;
	/* A sink that is half closed could not be closed again. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	tp_lock(&tp_events_lock);
	take_off(state);
	tp_unlock(&tp_events_lock);
	int error = finish(state);
	pthread_setcancelstate(cancel_state, NULL);
	return error;
}

int tp_sink_close_serial(uint64_t serial)
{
	int cancel_state;

	if (!may_close())
		return -EDEADLK;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	tp_lock(&tp_events_lock);
	struct tp_sink_state *state = state_of_serial(serial);
	if (state)
		take_off(state);
	tp_unlock(&tp_events_lock);
	int error = state ? finish(state) : -ENOENT;
	pthread_setcancelstate(cancel_state, NULL);
	return error;
}

/* ---- By their number ---- */

uint64_t tp_sink_serial(struct tp_sink *sink)
{
	return ((const struct tp_sink_state *)sink->reserved[0])->serial;
}

struct tp_sink *tp_sink_of_serial(uint64_t serial)
{
	tp_lock(&tp_events_lock);
	const struct tp_sink_state *state = state_of_serial(serial);
	struct tp_sink *sink = state ? state->sink : NULL;
	tp_unlock(&tp_events_lock);
	return sink;
}

struct tp_sink *tp_sink_hold(uint64_t serial)
{
	tp_lock(&tp_events_lock);
	struct tp_sink_state *state = state_of_serial(serial);
	struct tp_sink *sink = state && !state->hidden ? state->sink : NULL;
	if (sink)
		__atomic_fetch_add(&state->held, 1, __ATOMIC_RELAXED);
	tp_unlock(&tp_events_lock);
	return sink;
}

/* The sink is gone as soon as held is 0. */
void tp_sink_let_go(struct tp_sink *sink)
{
	struct tp_sink_state *state = sink->reserved[0];
	unsigned int held = __atomic_load_n(&state->held, __ATOMIC_RELAXED);

	do {
		if (!held) /* in a forked child */
			return;
	} while (!__atomic_compare_exchange_n(&state->held, &held, held - 1, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
	__atomic_fetch_add(&let_go, 1, __ATOMIC_RELEASE);
	tp_futex(&let_go, FUTEX_WAKE, INT_MAX, NULL);
}

bool tp_sink_has(struct tp_sink *sink, const struct tp_event *event)
{
	tp_lock(&tp_events_lock);
	const bool has = tp_sink_knows(sink->reserved[0], event);
	tp_unlock(&tp_events_lock);
	return has;
}

bool tp_sink_used(struct tp_sink *sink)
{
	const struct tp_sink_state *state = sink->reserved[0];

	tp_lock(&tp_events_lock);
	bool used = state->used;
	tp_unlock(&tp_events_lock);
	return used;
}

/* ---- Sinks that are no outputs ---- */

void tp_sink_set_priority(struct tp_sink *sink, int priority)
{
	((struct tp_sink_state *)sink->reserved[0])->priority = priority;
}

int tp_sink_priority(const struct tp_sink *sink)
{
	return ((const struct tp_sink_state *)sink->reserved[0])->priority;
}

void tp_sink_hide(struct tp_sink *sink)
{
	struct tp_sink_state *state = sink->reserved[0];

	tp_lock(&tp_events_lock);
	state->hidden = true;
	tp_unlock(&tp_events_lock);
}

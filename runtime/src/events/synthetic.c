/* SPDX-License-Identifier: MIT */
/*
 * events/synthetic.c - see synthetic.h.
 *
 * The list and who uses its events are guarded by tp_events_lock. Loading and unloading their modules takes locks that
 * come before it: meanwhile the event is in the list, as one that is changing, which nobody else touches.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <tp/module.h>
#include <tp/tp.h>

#include "base/exit.h"
#include "base/fork.h"
#include "base/hit.h"
#include "base/message.h"
#include "base/readers.h"
#include "base/text.h"
#include "core/core.h"
#include "events/events.h"
#include "events/synthetic.h"
#include "events/synthetic_record.h"

#define PREFIX TP_SYNTHETIC_SYSTEM ":"

struct tp_synthetic {
	struct tp_synthetic_event described;
	struct tp_synthetic *next;
	struct tp_module module; /* of these three */
	struct tracepoint tracepoint, *tracepoints[1];
	struct tp_event *events[1];
	bool changing;     /* it is being loaded or unloaded */
	unsigned int held; /* by tp_synthetic_hold() */
	char full_name[];
};

static struct tp_synthetic *all;

/* Those that were changing in the parent of a forked child, or at the end of the process. Leak checkers find them here. */
static struct tp_synthetic *abandoned;

/* ---- The list ---- */

static struct tp_synthetic **place_of(const char *name)
{
	struct tp_synthetic **at = &all;

	while (*at && strcmp((*at)->described.event.name, name) != 0)
		at = &(*at)->next;
	return at;
}

static void take_out(struct tp_synthetic *synthetic)
{
	struct tp_synthetic **at = &all;

	while (*at != synthetic)
		at = &(*at)->next;
	*at = synthetic->next;
}

static void abandon(struct tp_synthetic *synthetic)
{
	take_out(synthetic);
	synthetic->next = abandoned;
	abandoned = synthetic;
}

/* The thread that was changing it is the parent's. A fork waits until a module is loaded or is not. */
static void in_child(void)
{
	for (struct tp_synthetic *next, *synthetic = all; synthetic; synthetic = next) {
		next = synthetic->next;
		if (synthetic->changing && synthetic->module.state == TP_MODULE_UNLOADED)
			abandon(synthetic);
		synthetic->changing = false;
	}
}

static void start(void)
{
	static struct tp_fork_hook hook = {.rank = TP_RANK_EVENTS, .in_child = in_child};

	tp_fork_register(&hook);
}

/* ---- Making ---- */

static void synthetic_free(struct tp_synthetic *synthetic)
{
	if (synthetic)
		tp_synthetic_format_free(&synthetic->described.format);
	free(synthetic);
}

static void fill_in(struct tp_synthetic *synthetic)
{
	struct tp_synthetic_format *format = &synthetic->described.format;

	tp_synthetic_plan(&synthetic->described);
	strcpy(synthetic->full_name, PREFIX);
	strcat(synthetic->full_name, format->name);
	synthetic->tracepoint = (struct tracepoint){.name = synthetic->full_name, .proto = TP_SYNTHETIC_PROTO};
	synthetic->described.event = (struct tp_event){
		.system = TP_SYNTHETIC_SYSTEM, .name = format->name, .event_class = format->event_class,
		.tracepoint = &synthetic->tracepoint, .record = (tp_probe_t)tp_synthetic_record, .print = tp_synthetic_print,
		.loglevel = TP_LOGLEVEL_DEBUG_LINE,
	};
	synthetic->tracepoints[0] = &synthetic->tracepoint;
	synthetic->events[0] = &synthetic->described.event;
	synthetic->module = (struct tp_module){
		TP_MODULE_HEAD,
		.tracepoints = synthetic->tracepoints, .tracepoints_end = synthetic->tracepoints + 1,
		.events = synthetic->events, .events_end = synthetic->events + 1,
		.path = "tp_synthetic_event()",
	};
}

/* NULL, and *wrong says why. */
static struct tp_synthetic *synthetic_new(const char *definition, struct tp_filter_error *wrong)
{
	struct tp_synthetic *synthetic = tp_malloc(sizeof(*synthetic) + strlen(PREFIX) + strlen(definition) + 1);

	if (!synthetic) {
		wrong->error = -ENOMEM;
		return NULL;
	}
	memset(synthetic, 0, sizeof(*synthetic));
	if (tp_synthetic_format_parse(&synthetic->described.format, definition, wrong)) {
		synthetic_free(synthetic);
		return NULL;
	}
	fill_in(synthetic);
	return synthetic;
}

/* ---- Defining and removing ---- */

/* Always the error. */
static int fail(struct tp_filter_error *wrong, int error, size_t at, const char *message)
{
	wrong->error = error;
	wrong->at = at;
	wrong->message = message;
	return error;
}

static int insert(struct tp_synthetic *synthetic)
{
	tp_lock(&tp_events_lock);
	struct tp_synthetic **at = place_of(synthetic->described.event.name);
	const bool taken = *at != NULL;
	if (!taken) {
		synthetic->changing = true;
		*at = synthetic;
	}
	tp_unlock(&tp_events_lock);
	return taken ? -EEXIST : 0;
}

/* Its readers are gone, or it has had none. */
static void destroy(struct tp_synthetic *synthetic)
{
	const bool ended = tp_exiting(); /* then nobody has waited for readers */

	tp_lock(&tp_events_lock);
	if (ended)
		abandon(synthetic);
	else
		take_out(synthetic);
	tp_unlock(&tp_events_lock);
	if (!ended)
		synthetic_free(synthetic);
}

static int define(const char *definition, struct tp_filter_error *wrong)
{
	*wrong = (struct tp_filter_error){.error = tp_events_start()};
	struct tp_synthetic *synthetic = wrong->error ? NULL : synthetic_new(definition, wrong);

	if (!synthetic)
		return wrong->error;
	const size_t at = (size_t)(synthetic->described.event.name - synthetic->described.format.text);
	if (insert(synthetic)) {
		synthetic_free(synthetic);
		return fail(wrong, -EEXIST, at, "Event already exists");
	}
	tp_module_load(&synthetic->module);
	if (!synthetic->described.event.id) { /* which a message has told */
		tp_module_unload(&synthetic->module);
		destroy(synthetic);
		return fail(wrong, -ENOSPC, at, "There is no room for the event");
	}
	tp_lock(&tp_events_lock);
	synthetic->changing = false;
	tp_unlock(&tp_events_lock);
	return 0;
}

/* The event of the name that nobody uses, which is changing then. NULL, and *wrong says why. */
static struct tp_synthetic *find_unused(const char *name, struct tp_filter_error *wrong)
{
	tp_lock(&tp_events_lock);
	struct tp_synthetic *synthetic = *place_of(name);
	if (!synthetic) {
		fail(wrong, -ENOENT, 0, "Event not found");
	} else if (synthetic->changing) {
		fail(wrong, -EBUSY, 0, "Event is being defined or removed by another thread");
	} else if (synthetic->held) {
		fail(wrong, -EBUSY, 0, "Event is in use: a histogram makes its records; remove that first");
	} else if (tp_tracepoint_is_on(&synthetic->tracepoint)) {
		fail(wrong, -EBUSY, 0, "Event is in use: disable it, or remove its triggers, first");
	} else {
		synthetic->changing = true;
	}
	tp_unlock(&tp_events_lock);
	return wrong->error ? NULL : synthetic;
}

/* What follows the name is not looked at. */
static int remove_event(const char *text, struct tp_filter_error *wrong)
{
	struct tp_buffer name = {.text = NULL};

	*wrong = (struct tp_filter_error){.error = 0};
	tp_buffer_printf(&name, "%.*s", (int)strcspn(text, " \t\n;"), text);
	struct tp_synthetic *synthetic = name.failed ? NULL : find_unused(name.text, wrong);
	if (name.failed)
		wrong->error = -ENOMEM;
	tp_buffer_free(&name);
	if (synthetic) {
		tp_module_unload(&synthetic->module);
		destroy(synthetic);
	}
	return wrong->error;
}

static void tell(struct tp_buffer *why, bool in_a_line, const char *text, const struct tp_filter_error *wrong)
{
	if (!wrong->message)
		tp_buffer_printf(why, "%s", tp_strerror(-wrong->error));
	else if (in_a_line)
		tp_filter_error_print_line(why, text, wrong);
	else
		tp_filter_error_print(why, text, wrong);
}

int tp_synthetic_define(const char *definition, bool in_a_line, struct tp_buffer *why)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct tp_filter_error wrong;
	int cancel_state;

	if (!definition)
		return -EINVAL;
	definition += strspn(definition, " \t\n");
	const bool removes = *definition == '!';
	if (tp_tracing_lost_in_fork() || (removes && tp_reading()))
		return -EDEADLK;
	pthread_once(&once, start);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state); /* what is half defined would stay so */
	int error = removes ? remove_event(definition + 1, &wrong) : define(definition, &wrong);
	pthread_setcancelstate(cancel_state, NULL);
	if (error)
		tell(why, in_a_line, definition, &wrong);
	tp_filter_error_free(&wrong);
	return error;
}

int tp_synthetic_event(const char *definition, char **error)
{
	struct tp_buffer why = {.text = NULL};
	const int result = tp_synthetic_define(definition, false, &why);

	if (error)
		*error = why.text;
	else
		tp_buffer_free(&why);
	return result;
}

/* ---- Listing ---- */

static void put_definition(struct tp_buffer *to, const struct tp_synthetic_format *format)
{
	tp_buffer_printf(to, "%s", format->name);
	for (uint32_t i = 0; i < format->nr; i++) {
		const struct tp_event_field *field = &format->fields[i];
		tp_buffer_printf(to, "%s %s %s", i ? ";" : "", field->type, field->name);
		if (field->kind == TP_ARRAY)
			tp_buffer_printf(to, "[%u]", field->size);
		else if (field->kind != TP_FIELD)
			tp_buffer_printf(to, "[]");
	}
}

void tp_synthetics_each(void (*fct)(const char *definition, void *data), void *data)
{
	tp_lock(&tp_events_lock);
	for (const struct tp_synthetic *synthetic = all; synthetic; synthetic = synthetic->next) {
		struct tp_buffer definition = {.text = NULL};
		if (synthetic->changing)
			continue;
		put_definition(&definition, &synthetic->described.format);
		if (!definition.failed)
			fct(definition.text, data);
		tp_buffer_free(&definition);
	}
	tp_unlock(&tp_events_lock);
}

/* ---- Using ---- */

struct tp_synthetic *tp_synthetic_hold(const char *name)
{
	tp_lock(&tp_events_lock);
	struct tp_synthetic *synthetic = *place_of(name);
	if (synthetic && synthetic->changing)
		synthetic = NULL;
	if (synthetic)
		synthetic->held++;
	tp_unlock(&tp_events_lock);
	return synthetic;
}

void tp_synthetic_let_go(struct tp_synthetic *synthetic)
{
	tp_lock(&tp_events_lock);
	synthetic->held--;
	tp_unlock(&tp_events_lock);
}

const struct tp_event *tp_synthetic_described(const struct tp_synthetic *synthetic)
{
	return &synthetic->described.event;
}

void tp_synthetic_hit(struct tp_synthetic *synthetic, const uint64_t *words)
{
	tp_synthetic_iterate(&synthetic->described, words);
}

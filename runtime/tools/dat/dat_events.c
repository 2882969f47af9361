/* SPDX-License-Identifier: MIT */
#include "dat/dat_events.h"

#include <stdlib.h>
#include <string.h>

#include "fail_msg.h"

static const char id_key[] = "\nID: ";

/* Where its number is. False: there is none, without which no format is read. */
static bool find_id(struct dat_event *event)
{
	const char *at = memmem(event->text, event->len, id_key, strlen(id_key));

	if (!at)
		return false;
	event->id_at = (size_t)(at - event->text) + strlen(id_key);
	event->id_end = event->id_at + strspn(event->text + event->id_at, "0123456789");
	return true;
}

static bool are_same(const struct dat_event *one, const struct dat_event *other)
{
	return one->id_at == other->id_at && one->len - one->id_end == other->len - other->id_end && strcmp(one->system, other->system) == 0 &&
	       memcmp(one->text, other->text, one->id_at) == 0 &&
	       memcmp(one->text + one->id_end, other->text + other->id_end, one->len - one->id_end) == 0;
}

static char *text_of(const struct event_texts *texts, const struct event_format *format, size_t *len)
{
	if (texts)
		return event_texts_format(texts, format, len);
	char *text = strndup(format->text, format->len);
	*len = format->len;
	if (!text)
		fail_no_memory();
	return text;
}

/* Its own one, if no other event has it. 0: there is none left. */
static uint16_t free_id(const struct dat_events *events, uint32_t own)
{
	for (uint32_t i = 0; i < NR_EVENT_IDS; i++) {
		const uint16_t id = (uint16_t)(own + i);
		if (id && !events->is_taken[id])
			return id;
	}
	return 0;
}

/* Those of the same trace are different ones. */
static const struct dat_event *same_of_others(const struct dat_events *events, const struct dat_event *event, size_t nr_others)
{
	for (size_t i = 0; i < nr_others; i++) {
		if (are_same(&events->all[i], event))
			return &events->all[i];
	}
	return NULL;
}

static bool add(struct dat_events *events, const struct event_texts *texts, const struct event_format *format, size_t nr_others, uint16_t *id)
{
	struct dat_event event = {.system = format->system};

	event.text = text_of(texts, format, &event.len);
	if (!event.text)
		return false;
	const struct dat_event *same = find_id(&event) ? same_of_others(events, &event, nr_others) : NULL;
	if (same) {
		free(event.text);
		*id = same->id;
		return true;
	}
	/* Twice as many whenever their number is a power of two. */
	if ((events->nr & (events->nr - 1)) == 0) {
		struct dat_event *more = reallocarray(events->all, events->nr ? 2 * events->nr : 1, sizeof(*more));
		if (!more) {
			free(event.text);
			return fail_no_memory();
		}
		events->all = more;
	}
	event.id = free_id(events, format->id);
	events->all[events->nr++] = event;
	events->is_taken[event.id] = 1;
	*id = event.id;
	return event.id || fail_msg("the traces have more than %u events: a trace.dat can't hold them", NR_EVENT_IDS - 1);
}

static bool add_trace(struct dat_events *events, const struct trace *trace, const struct event_texts *texts, uint16_t **ids)
{
	const size_t nr_others = events->nr;

	*ids = calloc(NR_EVENT_IDS, sizeof(**ids));
	if (!*ids)
		return fail_no_memory();
	for (size_t i = 0; i < trace->formats.nr; i++) {
		const struct system_format *system = &trace->formats.systems[i];
		for (size_t j = 0; j < system->nr; j++) {
			if (!add(events, texts, &system->events[j], nr_others, &(*ids)[system->events[j].id]))
				return false;
		}
	}
	return true;
}

/* The kernel's keep their ids, which come first. */
bool dat_events_make(struct dat_events *events, const struct traces *traces, struct event_texts *const *texts)
{
	events->nr_traces = traces->nr;
	events->ids = calloc(traces->nr + 1, sizeof(uint16_t *));
	events->is_taken = calloc(NR_EVENT_IDS, 1);
	if (!events->ids || !events->is_taken)
		return fail_no_memory();
	for (int of_kernel = 1; of_kernel >= 0; of_kernel--) {
		for (size_t t = 0; t < traces->nr; t++) {
			if (traces->traces[t].metadata.is_kernel == of_kernel &&
			    !add_trace(events, &traces->traces[t], texts[t], &events->ids[t]))
				return false;
		}
	}
	return true;
}

void dat_events_free(struct dat_events *events)
{
	for (size_t i = 0; i < events->nr; i++)
		free(events->all[i].text);
	for (size_t t = 0; events->ids && t < events->nr_traces; t++)
		free(events->ids[t]);
	free(events->all);
	free(events->ids);
	free(events->is_taken);
	*events = (struct dat_events){.all = NULL};
}

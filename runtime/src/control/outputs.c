/* SPDX-License-Identifier: MIT */
/*
 * control/outputs.c - see outputs.h.
 */
#include <stdlib.h>
#include <string.h>

#include <tp/tp.h>

#include "base/locks.h"
#include "base/text.h"
#include "control/outputs.h"
#include "events/events.h"

struct output {
	struct output *next;
	struct tp_output_info info;
	char name[];
};

static struct output *outputs; /* in order of opening */

/* Where the one with this number is, or the end of the list. */
static struct output **find(uint64_t serial)
{
	struct output **at = &outputs;

	while (*at && (*at)->info.serial != serial)
		at = &(*at)->next;
	return at;
}

bool tp_outputs_add(struct tp_sink *sink, const char *name, const struct tp_output_info *info)
{
	struct output *output = tp_malloc(sizeof(*output) + strlen(name) + 1);

	if (!output)
		return false;
	*output = (struct output){.info = *info};
	output->info.serial = tp_sink_serial(sink);
	strcpy(output->name, name);
	tp_lock(&tp_outputs_lock);
	*find(UINT64_MAX) = output; /* which nobody has: the end of the list */
	tp_unlock(&tp_outputs_lock);
	return true;
}

/* Under the lock. */
static struct tp_output_info info_of(const struct output *output, uint64_t serial)
{
	return output ? output->info : (struct tp_output_info){.serial = serial, .owner = TP_OUTPUT_PROGRAM};
}

struct tp_output_info tp_outputs_info(uint64_t serial)
{
	tp_lock(&tp_outputs_lock);
	const struct tp_output_info info = info_of(*find(serial), serial);
	tp_unlock(&tp_outputs_lock);
	return info;
}

char *tp_outputs_name(uint64_t serial)
{
	tp_lock(&tp_outputs_lock);
	const struct output *output = *find(serial);
	char *name = output ? strdup(output->name) : NULL;
	tp_unlock(&tp_outputs_lock);
	return name;
}

bool tp_outputs_keep(uint64_t serial, uint64_t session)
{
	tp_lock(&tp_outputs_lock);
	struct output *output = *find(serial);
	const bool own = output && output->info.owner == TP_OUTPUT_SESSION && output->info.session == session;
	if (own)
		output->info.owner = TP_OUTPUT_KEPT;
	tp_unlock(&tp_outputs_lock);
	return own;
}

/* Under the lock. */
static void drop(struct output **at)
{
	struct output *output = *at;

	*at = output->next;
	free(output);
}

static bool may_close(const struct tp_output_info *info, uint64_t session)
{
	return info->owner == TP_OUTPUT_KEPT || (info->owner == TP_OUTPUT_SESSION && info->session == session) ||
	       (info->owner == TP_OUTPUT_ENVIRONMENT && !info->lent);
}

bool tp_outputs_take(uint64_t serial, uint64_t session, struct tp_output_info *info)
{
	tp_lock(&tp_outputs_lock);
	struct output **at = find(serial);
	*info = info_of(*at, serial);
	const bool taken = *at && may_close(info, session);
	if (taken)
		drop(at);
	tp_unlock(&tp_outputs_lock);
	return taken;
}

static struct output **find_of_session(uint64_t session)
{
	struct output **at = &outputs;

	while (*at && ((*at)->info.owner != TP_OUTPUT_SESSION || (*at)->info.session != session))
		at = &(*at)->next;
	return at;
}

bool tp_outputs_has_session(uint64_t session)
{
	tp_lock(&tp_outputs_lock);
	const bool has = *find_of_session(session) != NULL;
	tp_unlock(&tp_outputs_lock);
	return has;
}

bool tp_outputs_take_of_session(uint64_t session, uint64_t *serial)
{
	tp_lock(&tp_outputs_lock);
	struct output **at = find_of_session(session);
	const bool found = *at != NULL;
	if (found) {
		*serial = (*at)->info.serial;
		drop(at);
	}
	tp_unlock(&tp_outputs_lock);
	return found;
}

bool tp_outputs_take_any(struct tp_output_info *info)
{
	tp_lock(&tp_outputs_lock);
	struct output **at = &outputs;
	const bool found = *at != NULL;
	if (found) {
		while ((*at)->next)
			at = &(*at)->next;
		*info = (*at)->info;
		drop(at);
	}
	tp_unlock(&tp_outputs_lock);
	return found;
}

/* Whether the output's name is the one asked for, or of the kind that is. */
static bool is_called(const char *known, const char *name, size_t len)
{
	return strncmp(known, name, len) == 0 && (!known[len] || (known[len] == ':' && !strchr(name, ':')));
}

/*
 * The next of TP_OUTPUT's that is called so, behind the one with *serial; the first for 0. The program has it from now on:
 * nobody else closes it any more. False: there is none.
 */
static bool lend_next(const char *name, size_t len, uint64_t *serial)
{
	tp_lock(&tp_outputs_lock);
	struct output *at = *serial ? (*find(*serial) ? (*find(*serial))->next : NULL) : outputs;
	while (at && (at->info.owner != TP_OUTPUT_ENVIRONMENT || !is_called(at->name, name, len)))
		at = at->next;
	if (at) {
		at->info.lent = true;
		*serial = at->info.serial;
	}
	tp_unlock(&tp_outputs_lock);
	return at != NULL;
}

struct tp_sink *tp_output(const char *name)
{
	const size_t len = name ? strlen(name) : 0;
	uint64_t serial = 0;

	while (len && lend_next(name, len, &serial)) {
		struct tp_sink *sink = tp_sink_of_serial(serial);
		if (sink)
			return sink;
	}
	return NULL;
}

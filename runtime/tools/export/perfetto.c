/* SPDX-License-Identifier: MIT */
/*
 * perfetto.c - the way of an event into a Perfetto trace:
 *
 *	perfetto.c         which tracks it is on, and as what
 *	  export.c         events in the order of time
 *	  spans.c          whether it begins or ends a span
 *	  track_event.c    its name and its fields
 *	  tracks.c         processes, threads, and other tracks
 *	    packets.c      a file of packets
 *	      proto.c      bytes
 */
#include "export/perfetto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "client/new_file.h"
#include "export/export.h"
#include "export/packets.h"
#include "export/spans.h"
#include "export/track_event.h"
#include "export/tracks.h"
#include "select/description.h"
#include "fail_msg.h"

enum {
	TRACK_EVENT = 11, CATEGORY_IIDS = 3, DEBUG_ANNOTATIONS = 4, TYPE = 9, NAME_IID = 10, TRACK_UUID = 11, CATEGORIES = 22, NAME = 23,
	COUNTER_VALUE = 30, ANNOTATION_NAME = 10, ANNOTATION_UINT = 3,
};

#define ORIGIN_SIZE 512

/* An event of a trace, as it is known from its first record on. */
struct known {
	struct track_event track;
	struct tp_event *described;
	struct span_role roles[]; /* of each span */
};

struct perfetto {
	struct export export;
	struct spans *spans;
	struct packets packets;
	struct tracks tracks;
	struct known **known; /* of each trace, by id */
	uint64_t next_iid;
};

/* ---- Whose events they are ---- */

/* The traces of one host are of one machine, which is known by its number, in the order in which they are named. */
static bool number_machines(struct perfetto *perfetto)
{
	const struct traces *traces = &perfetto->export.traces;
	char (*hosts)[ORIGIN_SIZE] = calloc(traces->nr + 1, sizeof(*hosts));
	uint32_t nr = 0;

	perfetto->packets.machines = calloc(traces->nr + 1, sizeof(*perfetto->packets.machines));
	perfetto->packets.has_begun = calloc(traces->nr + 1, sizeof(*perfetto->packets.has_begun));
	if (!hosts || !perfetto->packets.machines || !perfetto->packets.has_begun) {
		free(hosts);
		return fail_no_memory();
	}
	for (size_t t = 0; t < traces->nr; t++) {
		uint32_t machine = 0;
		metadata_origin(&traces->traces[t].metadata, "hostname", hosts[nr], sizeof(hosts[nr]));
		while (strcmp(hosts[machine], hosts[nr]) != 0)
			machine++;
		nr += machine == nr;
		perfetto->packets.machines[t] = machine + 1;
	}
	free(hosts);
	return true;
}

/* ---- What they are ---- */

static struct known *learn(struct perfetto *perfetto, const struct merged *merged)
{
	const struct event_format *format = merged->event.format;
	const size_t nr = perfetto->spans->nr;
	struct known *known = calloc(1, sizeof(*known) + nr * sizeof(known->roles[0]));
	bool good = known || fail_no_memory();

	if (good) {
		known->described = description_new(format);
		good = known->described != NULL;
	}
	for (size_t i = 0; i < nr && good; i++)
		good = span_role_of(&known->roles[i], &perfetto->spans->all[i], merged->trace_nr, merged->trace, format, known->described);
	if (!good) {
		description_free(known ? known->described : NULL);
		free(known);
		return NULL;
	}
	track_event_init(&known->track, known->described, perfetto->next_iid);
	perfetto->next_iid += track_event_iids(&known->track);
	return known;
}

/* Told in front of the first event of its kind. NULL, and a message. */
static struct known *known_of(struct perfetto *perfetto, const struct merged *merged)
{
	struct known **known = &perfetto->known[merged->trace_nr * NR_EVENT_IDS + merged->event.format->id];

	if (*known)
		return *known;
	*known = learn(perfetto, merged);
	if (!*known)
		return NULL;
	packet_open(&perfetto->packets, merged->trace_nr, merged->event.time);
	track_event_put_names(&perfetto->packets.proto, &(*known)->track);
	return packet_close(&perfetto->packets) ? *known : NULL;
}

/* ---- Packets of events ---- */

/* What an event is on a track. */
struct shown {
	enum track_event_type type;
	uint64_t track;
	struct tp_value_bytes name; /* NULL: the event's */
	bool is_bare;               /* without its fields: they have no room */
	bool is_of_process;         /* the track is, so the thread is one field more */
};

/* A field that is none of the event's. */
static void put_count(struct proto *proto, const char *name, uint64_t count)
{
	const size_t annotation = proto_begin(proto, DEBUG_ANNOTATIONS);

	proto_text(proto, ANNOTATION_NAME, name, strlen(name));
	proto_number(proto, ANNOTATION_UINT, count);
	proto_end(proto, annotation);
}

static void put_shown(struct proto *proto, const struct known *known, const struct shown *shown, const struct event *event)
{
	const size_t begin = proto_begin(proto, TRACK_EVENT);

	proto_number(proto, TYPE, shown->type);
	proto_number(proto, TRACK_UUID, shown->track);
	proto_number(proto, CATEGORY_IIDS, known->track.iid);
	if (shown->type == TRACK_COUNTER) {
		uint64_t number = 0;
		record_field_number(&known->track.roles.counter, event, &number);
		proto_number(proto, COUNTER_VALUE, number);
	} else if (shown->type != TRACK_END && shown->name.at) {
		proto_text(proto, NAME, shown->name.at, shown->name.len);
	} else if (shown->type != TRACK_END) {
		proto_number(proto, NAME_IID, known->track.iid);
	}
	if (shown->is_of_process)
		put_count(proto, "tid", (uint64_t)event->tid);
	if (shown->type != TRACK_COUNTER && !shown->is_bare)
		track_event_put_fields(proto, &known->track, event);
	proto_end(proto, begin);
}

static bool show(struct perfetto *perfetto, const struct merged *merged, const struct known *known, struct shown shown)
{
	struct packets *packets = &perfetto->packets;

	if (!shown.track)
		return false;
	packet_open(packets, merged->trace_nr, merged->event.time);
	put_shown(&packets->proto, known, &shown, &merged->event);
	if (packets->proto.is_full) {
		shown.is_bare = true;
		packet_open(packets, merged->trace_nr, merged->event.time);
		put_shown(&packets->proto, known, &shown, &merged->event);
	}
	return packet_close(packets);
}

/* ---- Spans by pairs ---- */

static uint64_t lane_track(struct perfetto *perfetto, const struct merged *merged, size_t i, uint32_t lane)
{
	const struct span *span = &perfetto->spans->all[i];
	const struct track_wanted wanted = {
		.parent = span->key[KEY_OF_BEGIN].nr ? PARENT_PROCESS : PARENT_THREAD, .key = i, .key_more = (uint64_t)lane + 1,
		.name = span->name,
	};

	return tracks_other(&perfetto->tracks, &perfetto->packets, merged->trace_nr, &merged->event, &wanted);
}

/* *is_shown: it is part of a span. */
static bool show_in_spans(struct perfetto *perfetto, const struct merged *merged, const struct known *known, bool *is_shown)
{
	const struct event *event = &merged->event;
	uint32_t lane;

	for (size_t i = 0; i < perfetto->spans->nr; i++) {
		struct span *span = &perfetto->spans->all[i];
		if (span_ends(span, &known->roles[i], merged->trace_nr, merged->trace, event, &lane)) {
			*is_shown = true;
			if (!show(perfetto, merged, known, (struct shown){.type = TRACK_END, .track = lane_track(perfetto, merged, i, lane)}))
				return false;
		}
		if (span_begins(span, &known->roles[i], merged->trace_nr, merged->trace, event, &lane)) {
			*is_shown = true;
			if (!show(perfetto, merged, known, (struct shown){
				.type = TRACK_BEGIN, .track = lane_track(perfetto, merged, i, lane), .is_of_process = span->key[KEY_OF_BEGIN].nr != 0,
			}))
				return false;
		}
	}
	return true;
}

/* ---- Events that say what they are ---- */

static uint64_t hash_of(const char *text, uint64_t hash)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	return hash;
}

/* A track for each event, each name of a track, and each value of the scope. */
static uint64_t role_track(struct perfetto *perfetto, const struct merged *merged, const struct known *known)
{
	const struct track_roles *roles = &known->track.roles;
	struct tp_value_bytes text = {.at = NULL};
	struct tp_buffer name = {.text = NULL};
	uint64_t scope = 0;

	if (roles->has_track_name)
		record_field_text(&roles->track_name, &merged->event, &text);
	if (roles->scope_name)
		record_field_number(&roles->scope, &merged->event, &scope);
	tp_buffer_put(&name, text.at ? text.at : known->described->name, text.at ? text.len : strlen(known->described->name));
	const bool is_process = roles->scope_name && strcmp(roles->scope_name, "tgid") == 0;
	if (roles->scope_name && !is_process)
		tp_buffer_printf(&name, " %s %llu", roles->scope_name, (unsigned long long)scope);
	struct track_wanted wanted = {
		.parent = !roles->scope_name ? PARENT_THREAD : is_process ? PARENT_PROCESS : PARENT_NONE, .key_more = scope,
		.name = name.failed ? "" : name.text, .is_counter = roles->is_counter,
	};
	wanted.key = hash_of(wanted.name, hash_of(known->described->name, hash_of(known->described->system, 0xcbf29ce484222325u)));
	struct event of_scope = merged->event;
	if (is_process)
		of_scope.pid = (int32_t)scope;
	const uint64_t track = name.failed ? 0 : tracks_other(&perfetto->tracks, &perfetto->packets, merged->trace_nr, &of_scope, &wanted);
	if (name.failed)
		fail_no_memory();
	tp_buffer_free(&name);
	return track;
}

static bool show_role(struct perfetto *perfetto, const struct merged *merged, const struct known *known)
{
	const struct track_roles *roles = &known->track.roles;
	struct shown shown = {.type = TRACK_COUNTER};
	uint64_t type = 0;

	if (roles->is_track) {
		record_field_number(&roles->type, &merged->event, &type);
		shown.type = type == 'B' ? TRACK_BEGIN : type == 'E' ? TRACK_END : TRACK_INSTANT;
		if (roles->has_slice_name)
			record_field_text(&roles->slice_name, &merged->event, &shown.name);
	}
	shown.track = role_track(perfetto, merged, known);
	return show(perfetto, merged, known, shown);
}

/* ---- All others ---- */

static bool show_instant(struct perfetto *perfetto, const struct merged *merged, const struct known *known)
{
	const struct shown shown = {
		.type = TRACK_INSTANT,
		.track = tracks_of_thread(&perfetto->tracks, &perfetto->packets, merged->trace_nr, &merged->event),
	};

	return show(perfetto, merged, known, shown);
}

static void put_lost(struct proto *proto, uint64_t track, uint64_t lost)
{
	static const char category[] = "tp", name[] = "events lost";
	const size_t begin = proto_begin(proto, TRACK_EVENT);

	proto_number(proto, TYPE, TRACK_INSTANT);
	proto_number(proto, TRACK_UUID, track);
	proto_text(proto, CATEGORIES, category, strlen(category));
	proto_text(proto, NAME, name, strlen(name));
	if (lost != TRACE_LOST_UNKNOWN)
		put_count(proto, "lost", lost);
	proto_end(proto, begin);
}

static bool show_lost(struct perfetto *perfetto, const struct merged *merged)
{
	const uint64_t track = tracks_of_thread(&perfetto->tracks, &perfetto->packets, merged->trace_nr, &merged->event);

	if (!track)
		return false;
	packet_open(&perfetto->packets, merged->trace_nr, merged->event.time);
	put_lost(&perfetto->packets.proto, track, merged->lost);
	return packet_close(&perfetto->packets);
}

static bool show_event(struct perfetto *perfetto, const struct merged *merged)
{
	const struct known *known = known_of(perfetto, merged);
	bool is_shown = false;

	if (!known || !show_in_spans(perfetto, merged, known, &is_shown))
		return false;
	if (is_shown)
		return true;
	return known->track.roles.is_track || known->track.roles.is_counter ? show_role(perfetto, merged, known)
									     : show_instant(perfetto, merged, known);
}

static bool write_event(void *data, const struct merged *merged)
{
	struct perfetto *perfetto = data;

	return packets_begin(&perfetto->packets, merged->trace_nr, merged->event.time) && (!merged->lost || show_lost(perfetto, merged)) &&
	       (!merged->event.format || show_event(perfetto, merged));
}

/* ---- All ---- */

static bool write_file(struct perfetto *perfetto, const char *to)
{
	struct new_file new = {.path = to};
	const bool good = new_file_open(&new, to, 0666, true) && packets_init(&perfetto->packets, new.file, to) &&
			  export_each(&perfetto->export, write_event, perfetto) && new_file_finish(&new);

	new_file_close(&new);
	return good;
}

static void release(struct perfetto *perfetto)
{
	for (size_t i = 0; perfetto->known && i < perfetto->export.traces.nr * NR_EVENT_IDS; i++) {
		if (perfetto->known[i])
			description_free(perfetto->known[i]->described);
		free(perfetto->known[i]);
	}
	free(perfetto->known);
	tracks_free(&perfetto->tracks);
	packets_free(&perfetto->packets);
	export_close(&perfetto->export);
}

bool perfetto_write(const struct export_wanted *wanted)
{
	struct perfetto perfetto = {.spans = wanted->spans, .next_iid = 1};
	bool good = export_open(&perfetto.export, wanted) && spans_check(wanted->spans, &perfetto.export.traces) &&
		    number_machines(&perfetto);

	if (good) {
		perfetto.tracks.traces = &perfetto.export.traces;
		perfetto.known = calloc(perfetto.export.traces.nr * NR_EVENT_IDS + 1, sizeof(struct known *));
		good = perfetto.known || fail_no_memory();
	}
	good = good && write_file(&perfetto, wanted->to);
	release(&perfetto);
	return good;
}

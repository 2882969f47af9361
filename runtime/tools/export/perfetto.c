/* SPDX-License-Identifier: MIT */
/*
 * perfetto.c - the way of an event into a Perfetto trace:
 *
 *	perfetto.c         its packet
 *	  export.c         events in the order of time
 *	  placing.c        which track it is on, and as what
 *	    spans.c        whether it begins or ends a span
 *	  scheduling.c     what the kernel's scheduler does
 *	  track_event.c    its name and its fields
 *	  tracks.c         processes, threads, and other tracks
 *	    packets.c      a file of packets
 *	      proto.c      bytes
 */
#include "export/perfetto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/new_file.h"
#include "export/export.h"
#include "export/packets.h"
#include "export/placing.h"
#include "export/scheduling.h"
#include "export/tracks.h"
#include "fail_msg.h"

enum {
	TRACK_EVENT = 11, CATEGORY_IIDS = 3, DEBUG_ANNOTATIONS = 4, TYPE = 9, NAME_IID = 10, TRACK_UUID = 11, CATEGORIES = 22, NAME = 23,
	COUNTER_VALUE = 30, ANNOTATION_NAME = 10, ANNOTATION_UINT = 3,
};

struct perfetto {
	struct export export;
	struct placing placing;
	struct packets packets;
	struct tracks tracks;
};

/* ---- Packets of events ---- */

/* A field that is none of the event's. */
static void put_count(struct proto *proto, const char *name, uint64_t count)
{
	const size_t annotation = proto_begin(proto, DEBUG_ANNOTATIONS);

	proto_text(proto, ANNOTATION_NAME, name, strlen(name));
	proto_number(proto, ANNOTATION_UINT, count);
	proto_end(proto, annotation);
}

/* In front of the first event of its kind. */
static bool tell(struct perfetto *perfetto, const struct merged *merged, struct known *known)
{
	if (known->is_told)
		return true;
	known->is_told = true;
	packet_open(&perfetto->packets, merged->trace_nr, merged->event.time);
	track_event_put_names(&perfetto->packets.proto, &known->track);
	return packet_close(&perfetto->packets);
}

static void put_name(struct proto *proto, const struct known *known, const struct placed *placed)
{
	if (placed->name.at)
		proto_text(proto, NAME, placed->name.at, placed->name.len);
	else
		proto_number(proto, NAME_IID, known->track.iid);
}

/* is_bare: without its fields, as they have no room. */
static void put_event(struct proto *proto, const struct merged *merged, const struct known *known, const struct placed *placed, uint64_t track,
		      bool is_bare)
{
	const size_t begin = proto_begin(proto, TRACK_EVENT);
	const struct event *event = &merged->event;

	proto_number(proto, TYPE, placed->type);
	proto_number(proto, TRACK_UUID, track);
	proto_number(proto, CATEGORY_IIDS, known->track.iid);
	if (placed->type == TRACK_COUNTER)
		proto_number(proto, COUNTER_VALUE, placed->counter);
	else if (placed->type != TRACK_END)
		put_name(proto, known, placed);
	if (placed->type == TRACK_BEGIN && placed->track->parent == PARENT_PROCESS)
		put_count(proto, "tid", (uint64_t)event->tid);
	if (placed->type != TRACK_COUNTER && !is_bare)
		track_event_put_fields(proto, &known->track, event);
	proto_end(proto, begin);
}

static bool show(void *data, const struct merged *merged, struct known *known, const struct placed *placed)
{
	struct perfetto *perfetto = data;
	struct packets *packets = &perfetto->packets;

	if (known->scheduling && !placed->track)
		return scheduling_put(known->scheduling, packets, merged, known->described);
	const uint64_t track = placed->track ? tracks_other(&perfetto->tracks, packets, merged->trace_nr, &merged->event, placed->track)
					     : tracks_of_thread(&perfetto->tracks, packets, merged->trace_nr, &merged->event);

	if (!track || !tell(perfetto, merged, known))
		return false;
	packet_open(packets, merged->trace_nr, merged->event.time);
	put_event(&packets->proto, merged, known, placed, track, false);
	if (packets->proto.is_full) {
		packet_open(packets, merged->trace_nr, merged->event.time);
		put_event(&packets->proto, merged, known, placed, track, true);
	}
	return packet_close(packets);
}

/* ---- What is missing ---- */

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

static bool write_event(void *data, const struct merged *merged)
{
	struct perfetto *perfetto = data;

	return packets_begin(&perfetto->packets, merged->trace_nr, merged->event.time) && (!merged->lost || show_lost(perfetto, merged)) &&
	       (!merged->event.format || placing_each(&perfetto->placing, merged, show, perfetto));
}

/* ---- All ---- */

static bool write_file(struct perfetto *perfetto, const char *to)
{
	struct new_file new = {.path = to};
	const bool good = new_file_open(&new, to, 0666, true) && (perfetto->packets.file = new.file) != NULL &&
			  export_each(&perfetto->export, write_event, perfetto) && new_file_finish(&new);

	new_file_close(&new);
	return good;
}

static void release(struct perfetto *perfetto)
{
	placing_free(&perfetto->placing);
	tracks_free(&perfetto->tracks);
	packets_free(&perfetto->packets);
	export_close(&perfetto->export);
}

bool perfetto_write(const struct export_wanted *wanted)
{
	struct perfetto perfetto = {.placing = {.known = NULL}};
	bool good = export_open(&perfetto.export, wanted) && placing_init(&perfetto.placing, wanted->spans, &perfetto.export.traces) &&
		    packets_init(&perfetto.packets, &perfetto.export.traces);

	perfetto.tracks.traces = &perfetto.export.traces;
	perfetto.packets.path = wanted->to;
	good = good && write_file(&perfetto, wanted->to);
	release(&perfetto);
	return good;
}

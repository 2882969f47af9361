/* SPDX-License-Identifier: MIT */
/*
 * perfetto.c - the way of an event into a Perfetto trace:
 *
 *	perfetto.c         its packet
 *	  export.c         events in the order of time
 *	  placing.c        which track it is on, and as what
 *	    spans.c        whether it begins or ends a span
 *	  scheduling.c     what the kernel's scheduler does
 *	  tracks.c         processes, threads, and other tracks
 *	    packets.c      a file of packets
 *
 * Its name, its fields and their bytes are written by what the runtime's own output has: sinks/perfetto/.
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
#include "sinks/perfetto/fields.h"

struct perfetto {
	struct export export;
	struct placing placing;
	struct packets packets;
	struct tracks tracks;
};

/* ---- Packets of events ---- */

/* In front of the first event of its kind. */
static bool tell(struct perfetto *perfetto, const struct merged *merged, struct known *known)
{
	const struct tp_proto *names = &known->plan->names;

	if (known->is_told)
		return true;
	known->is_told = true;
	packet_open(&perfetto->packets, merged->trace_nr, merged->event.time);
	tp_proto_append(&perfetto->packets.proto, (const char *)names->bytes, names->len);
	return packet_close(&perfetto->packets);
}

static void put_event(struct tp_proto *proto, const struct merged *merged, const struct tp_track_plan *plan, const struct tp_placed *placed,
		      uint64_t track, bool is_lane)
{
	const size_t begin = tp_proto_begin(proto, TP_PACKET_TRACK_EVENT);
	const struct event *event = &merged->event;

	tp_track_event_put_head(proto, plan, placed, track);
	if (placed->type == TP_TRACK_BEGIN && is_lane)
		tp_track_event_put_count(proto, "tid", (uint64_t)event->tid);
	if (placed->type != TP_TRACK_EVENT_COUNTER)
		tp_track_event_put_fields(proto, plan, event->record, event->size);
	tp_proto_end(proto, begin);
}

static bool show(void *data, const struct merged *merged, struct known *known, const struct tp_placed *placed, const struct tp_track *on)
{
	struct perfetto *perfetto = data;
	struct packets *packets = &perfetto->packets;

	if (known->scheduling && !on)
		return scheduling_put(known->scheduling, packets, merged, known->described);
	const uint64_t track = on ? tracks_other(&perfetto->tracks, packets, merged->trace_nr, &merged->event, on)
				  : tracks_of_thread(&perfetto->tracks, packets, merged->trace_nr, &merged->event);
	const bool is_lane = on && on->parent == TP_PARENT_PROCESS;

	if (!track || !tell(perfetto, merged, known))
		return false;
	packet_open(packets, merged->trace_nr, merged->event.time);
	put_event(&packets->proto, merged, known->plan, placed, track, is_lane);
	return packet_close(packets);
}

/* ---- What is missing ---- */

static bool show_lost(struct perfetto *perfetto, const struct merged *merged)
{
	const uint64_t track = tracks_of_thread(&perfetto->tracks, &perfetto->packets, merged->trace_nr, &merged->event);

	if (!track)
		return false;
	packet_open(&perfetto->packets, merged->trace_nr, merged->event.time);
	tp_track_event_put_lost(&perfetto->packets.proto, track, merged->lost != TRACE_LOST_UNKNOWN, merged->lost);
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

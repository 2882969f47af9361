/* SPDX-License-Identifier: MIT */
/*
 * merge.c - a heap of streams. A stream whose packet has not begun yet stands there with the time of its beginning, and
 * has nothing in memory: there is a window for each stream that is in the middle of a packet, and none for others.
 */
#include "report/merge.h"

#include <stdlib.h>
#include <string.h>

#include "fail_msg.h"

/* Of a stream: what is read of it at a time. All of them are no larger than this, as far as these bounds allow it. */
#define WINDOW_MAX ((size_t)128 << 10)
#define WINDOW_MIN ((size_t)16 << 10)
#define WINDOWS_SIZE ((size_t)4 << 20)

enum state {
	STREAM_OUTSIDE, /* of a packet: the next one is to be opened when its time comes */
	STREAM_EVENT,   /* has its next event */
	STREAM_LOSS,    /* has no event any more, but lost ones */
};

struct stream {
	const struct trace *trace;
	size_t trace_nr;
	size_t packet, end; /* in the trace's: the current, and behind the last of this stream */
	struct packet_reader reader;
	enum state state;
	bool is_later; /* than its first packet that was opened */
	uint64_t time; /* of what comes next */
	struct event event;
	uint64_t lost;
	bool is_given; /* an event of it was, the last one until here: */
	size_t given_packet;
	uint64_t given_offset, given_ticks;
};

/* ---- The heap ---- */

/* Streams of one time are in the order of traces and streams, so that the output is always the same. */
static bool is_before(const struct stream *a, const struct stream *b)
{
	return a->time != b->time ? a->time < b->time : a < b;
}

/* The stream at i has got a later time than it had. */
static void sift_down(struct merge *merge, size_t i)
{
	struct stream *stream = merge->heap[i];

	for (;;) {
		size_t child = 2 * i + 1;
		if (child + 1 < merge->nr_heap && is_before(merge->heap[child + 1], merge->heap[child]))
			child++;
		if (child >= merge->nr_heap || is_before(stream, merge->heap[child]))
			break;
		merge->heap[i] = merge->heap[child];
		i = child;
	}
	merge->heap[i] = stream;
}

static void pop(struct merge *merge)
{
	merge->heap[0] = merge->heap[--merge->nr_heap];
	if (merge->nr_heap)
		sift_down(merge, 0);
}

/* ---- A stream ---- */

static const struct packet *packet_of(const struct stream *stream)
{
	return &stream->trace->dir.packets[stream->packet];
}

static void add_lost(struct stream *stream, uint64_t lost)
{
	if (lost == TRACE_LOST_UNKNOWN || stream->lost == TRACE_LOST_UNKNOWN)
		stream->lost = TRACE_LOST_UNKNOWN;
	else
		stream->lost += lost;
}

/* It stands in front of its packet, which may be none of its any more: then that was all, but for what was lost. */
static void step_outside(struct stream *stream)
{
	if (stream->packet == stream->end) {
		stream->state = STREAM_LOSS;
		return;
	}
	const uint64_t begin = metadata_time(&stream->trace->metadata, packet_of(stream)->begin);
	stream->state = STREAM_OUTSIDE;
	if (begin > stream->time)
		stream->time = begin;
}

static bool read_on(struct merge *merge, struct stream *stream)
{
	switch (packet_next(&stream->reader, &stream->event)) {
	case PACKET_BAD:
		return false;
	case PACKET_EVENT:
		stream->time = stream->event.time;
		stream->state = STREAM_EVENT;
		return true;
	default:
		merge->done += packet_of(stream)->content;
		packet_reader_free(&stream->reader);
		stream->packet++;
		step_outside(stream);
		return true;
	}
}

static bool open_packet(struct merge *merge, struct stream *stream)
{
	const struct packet *packet = packet_of(stream);

	if (metadata_time(&stream->trace->metadata, packet->end) < merge->since) {
		merge->done += packet->content;
		stream->packet++;
		step_outside(stream);
		return true;
	}
	add_lost(stream, trace_dir_lost(&stream->trace->dir, stream->packet));
	packet_begin(&stream->reader, packet, !stream->is_later);
	stream->is_later = true;
	return read_on(merge, stream);
}

/* ---- Where it goes on ---- */

static bool has_packet(const struct stream *stream, const struct merge_position *position)
{
	for (size_t i = stream->packet; i < stream->end; i++) {
		const struct packet *packet = &stream->trace->dir.packets[i];
		if (packet->begin == position->begin && packet->sequence == position->sequence)
			return true;
	}
	return false;
}

/* By the packet; by the path alone where the packet is gone. A chapter has the path of another when it is closed. */
static const struct merge_position *position_of(const struct merge_positions *from, const struct stream *stream)
{
	const struct merge_position *by_path = NULL, *by_packet = NULL;

	for (size_t i = 0; from && i < from->nr; i++) {
		const struct merge_position *position = &from->positions[i];
		if (position->stream != packet_of(stream)->stream)
			continue;
		const bool same = strcmp(position->path, stream->trace->dir.folder.path) == 0;
		if (has_packet(stream, position) && (same || !by_packet))
			by_packet = position;
		if (same)
			by_path = position;
	}
	return by_packet ? by_packet : by_path;
}

/* Behind the last event that was given. What comes is lost only since then. */
static bool go_on(struct merge *merge, struct stream *stream, const struct merge_position *position)
{
	while (stream->packet < stream->end && packet_of(stream)->begin < position->begin) {
		merge->done += packet_of(stream)->content;
		stream->packet++;
	}
	if (stream->packet == stream->end || packet_of(stream)->begin != position->begin ||
	    packet_of(stream)->sequence != position->sequence) { /* the packet is gone */
		step_outside(stream);
		return true;
	}
	const struct packet *packet = packet_of(stream);
	stream->is_later = stream->is_given = true;
	stream->given_packet = stream->packet;
	stream->given_offset = position->offset;
	stream->given_ticks = position->ticks;
	add_lost(stream, packet->discarded > position->discarded ? packet->discarded - position->discarded : 0);
	packet_begin(&stream->reader, packet, false);
	stream->reader.offset = position->offset;
	stream->reader.ticks = position->ticks;
	stream->time = metadata_time(&stream->trace->metadata, position->ticks);
	return read_on(merge, stream);
}

static bool save(struct merge_position *position, const struct stream *stream)
{
	const struct packet *packet = &stream->trace->dir.packets[stream->given_packet];

	*position = (struct merge_position){
		.path = strdup(stream->trace->dir.folder.path), .stream = packet->stream, .sequence = packet->sequence, .begin = packet->begin,
		.offset = stream->given_offset, .ticks = stream->given_ticks, .discarded = packet->discarded,
	};
	return position->path;
}

bool merge_save(const struct merge *merge, struct merge_positions *positions)
{
	struct merge_positions saved = {.positions = calloc(merge->nr_streams + 1, sizeof(*saved.positions))};
	bool good = saved.positions != NULL;

	for (size_t i = 0; i < merge->nr_streams && good; i++) {
		if (merge->streams[i].is_given)
			good = save(&saved.positions[saved.nr++], &merge->streams[i]);
	}
	merge_positions_free(positions);
	*positions = saved;
	return good || fail_no_memory();
}

void merge_positions_free(struct merge_positions *positions)
{
	for (size_t i = 0; i < positions->nr; i++)
		free(positions->positions[i].path);
	free(positions->positions);
	*positions = (struct merge_positions){.positions = NULL};
}

/* ---- All of them ---- */

static void add_streams(struct merge *merge, const struct trace *trace, size_t trace_nr)
{
	const struct trace_dir *dir = &trace->dir;

	for (size_t i = 0; i < dir->nr; i++) {
		merge->total += dir->packets[i].content;
		if (trace_dir_is_first(dir, i))
			merge->streams[merge->nr_streams++] = (struct stream){
				.trace = trace, .trace_nr = trace_nr, .packet = i,
			};
		merge->streams[merge->nr_streams - 1].end = i + 1;
	}
}

static size_t window_size(size_t nr_streams)
{
	const size_t size = WINDOWS_SIZE / (nr_streams + 1);

	return size > WINDOW_MAX ? WINDOW_MAX : size < WINDOW_MIN ? WINDOW_MIN : size;
}

bool merge_begin(struct merge *merge, const struct trace *traces, size_t nr, const struct merge_positions *from)
{
	size_t streams = 1;

	*merge = (struct merge){.limit = UINT64_MAX};
	for (size_t t = 0; t < nr; t++) {
		for (size_t i = 0; i < traces[t].dir.nr; i++)
			streams += trace_dir_is_first(&traces[t].dir, i);
	}
	merge->streams = calloc(streams, sizeof(*merge->streams));
	merge->heap = calloc(streams, sizeof(struct stream *));
	if (!merge->streams || !merge->heap)
		return fail_no_memory();
	for (size_t t = 0; t < nr; t++)
		add_streams(merge, &traces[t], t);
	const size_t window = window_size(merge->nr_streams);
	for (size_t i = 0; i < merge->nr_streams; i++) {
		struct stream *stream = &merge->streams[i];
		stream->reader = packet_reader_of(stream->trace, window);
		const struct merge_position *position = position_of(from, stream);
		merge->heap[i] = stream;
		if (!position)
			step_outside(stream);
		else if (!go_on(merge, stream, position))
			return false;
	}
	merge->nr_heap = merge->nr_streams;
	for (size_t i = merge->nr_heap / 2; i-- > 0;)
		sift_down(merge, i);
	return true;
}

void merge_free(struct merge *merge)
{
	for (size_t i = 0; i < merge->nr_streams; i++)
		packet_reader_free(&merge->streams[i].reader);
	free(merge->streams);
	free(merge->heap);
	*merge = (struct merge){.streams = NULL};
}

uint64_t merge_end(const struct merge *merge)
{
	uint64_t end = 0;

	for (size_t i = 0; i < merge->nr_streams; i++) {
		const struct stream *stream = &merge->streams[i];
		const struct packet *last = &stream->trace->dir.packets[stream->end - 1];
		const uint64_t time = metadata_time(&stream->trace->metadata, last->end);
		if (time > end)
			end = time;
	}
	return end;
}

static void give(struct merge *merge, struct stream *stream, struct merged *merged)
{
	*merged = (struct merged){.trace = stream->trace, .trace_nr = stream->trace_nr, .lost = stream->lost};
	merged->event = stream->event;
	if (stream->state == STREAM_LOSS) {
		merged->event.format = NULL;
		merged->event.name = stream->trace->metadata.process;
		merged->event.pid = stream->trace->dir.packets[stream->end - 1].pid;
	}
	merged->event.time = stream->time;
	stream->lost = 0;
	merge->given = stream;
	const bool is_end = stream->state == STREAM_LOSS;
	stream->is_given = true;
	stream->given_packet = is_end ? stream->end - 1 : stream->packet;
	stream->given_offset = is_end ? stream->trace->dir.packets[stream->end - 1].content : stream->reader.offset;
	stream->given_ticks = stream->reader.ticks;
}

enum packet_result merge_next(struct merge *merge, struct merged *merged)
{
	if (merge->given) { /* it is on top */
		if (merge->given->state == STREAM_EVENT && !read_on(merge, merge->given))
			return PACKET_BAD;
		sift_down(merge, 0);
		merge->given = NULL;
	}
	while (merge->nr_heap) {
		struct stream *stream = merge->heap[0];
		if (stream->time > merge->limit)
			return PACKET_END;
		if (stream->state == STREAM_EVENT || (stream->state == STREAM_LOSS && stream->lost)) {
			give(merge, stream, merged);
			return PACKET_EVENT;
		}
		if (stream->state == STREAM_LOSS) {
			pop(merge);
			continue;
		}
		if (!open_packet(merge, stream))
			return PACKET_BAD;
		sift_down(merge, 0);
	}
	return PACKET_END;
}

/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/ring/room.h - how many packets there may be, and which goes for another: room.c. Called in
 * tp_guard_enter(), but for first looks.
 */
#ifndef TP_CTF_ROOM_H
#define TP_CTF_ROOM_H

#include <stdbool.h>
#include <stddef.h>

#include <tp/sink.h>

struct tp_ctf_dir;
struct tp_ctf_packet;
struct tp_ctf_sink;
struct tp_ctf_stream;

/* The packet's description is unused. Under tp_ctf_lock, as the next. */
void tp_ctf_packet_forget(struct tp_ctf_sink *sink, struct tp_ctf_packet *packet);

/* The stream's oldest closed packet. NULL where it has none. Its ring is claimed, or its thread has tp_ctf_lock. */
struct tp_ctf_packet *tp_ctf_oldest(const struct tp_ctf_stream *stream);

/* What a new packet of a stream is to be made of. */
struct tp_ctf_plan {
	struct tp_ctf_packet *packet;
	struct tp_ctf_packet *goes; /* closed ones whose files are to be removed before, by their next */
	bool recycle;            /* the packet has a file already */
};

/* TP_NR_LOST, or why there is none. stream: NULL, where it is for any, ahead of need; not where old ones are overwritten. */
enum tp_lost tp_ctf_room_plan(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, struct tp_ctf_plan *plan);

/* One that was made ahead of need in the current directory, and is the stream's now; NULL: there is none. Under tp_ctf_lock. */
struct tp_ctf_packet *tp_ctf_room_take_empty(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream);

/* Makes it such a one. False where the trace has another directory by now. */
bool tp_ctf_room_add_empty(struct tp_ctf_sink *sink, const struct tp_ctf_dir *in, struct tp_ctf_packet *packet);

/* Whether the stream has all packets that it may have, so that its oldest is the next. A first look. */
bool tp_ctf_room_goes_round(const struct tp_ctf_sink *sink, const struct tp_ctf_stream *stream);

/* Whether it may be a new file. */
bool tp_ctf_room_may_create(const struct tp_ctf_sink *sink);

/* There will be no such packet. */
void tp_ctf_room_give_back(struct tp_ctf_sink *sink, struct tp_ctf_packet *packet);

/* Whether a new packet would be one too many; of the stream, if that is not NULL. */
bool tp_ctf_room_is_short(const struct tp_ctf_sink *sink, const struct tp_ctf_stream *stream);

/* First looks at whether a next packet might be had, as tp_guard_enter() is dear. stream may be NULL. */
bool tp_ctf_room_may_be_tried(const struct tp_ctf_sink *sink);
bool tp_ctf_room_is_full(const struct tp_ctf_sink *sink, const struct tp_ctf_stream *stream);

#endif /* TP_CTF_ROOM_H */

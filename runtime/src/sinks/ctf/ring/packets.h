/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/ring/packets.h - a stream's packets, one after the other: packets.c; chapter.c, copy.c, end.c.
 */
#ifndef TP_CTF_PACKETS_H
#define TP_CTF_PACKETS_H

#include <stdbool.h>
#include <stddef.h>

#include <tp/sink.h>

struct tp_ctf_dir;
struct tp_ctf_packet;
struct tp_ctf_sink;
struct tp_ctf_stream;

/* ---- packets.c: called in tp_guard_enter(), but for the first ---- */

/*
 * The stream's oldest packet becomes its current one: without a system call, a
 * lock, and with signals as they are. Not where a handler has gone on meanwhile, so that there is room for so many bytes.
 * False where more is to be done for a next packet.
 */
bool tp_ctf_packets_go_round(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, size_t size);

/*
 * The stream's next packet becomes its current one, which is closed; there is no
 * record on its way. TP_NR_LOST, or why not; then all is as before.
 */
enum tp_lost tp_ctf_packets_next(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream);

/*
 * Makes all packets that the stream may have, and makes them present in memory, as far as that can be done: from then on it
 * goes round in them without a system call.
 */
void tp_ctf_packets_fill(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream);

/*
 * Raises the stream's limit, at least to end (in bytes of the packet), as far
 * as the packet goes. False where it is there already.
 */
bool tp_ctf_packets_widen(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, size_t end);

/* The packet is complete: it is closed, and left to its readers, or kept for another time. */
void tp_ctf_packets_close(struct tp_ctf_sink *sink, struct tp_ctf_packet *packet);

/* Instead: what is in it goes into a file of its own, and it is for any stream's next. False: that can't be done. */
bool tp_ctf_packets_save(struct tp_ctf_sink *sink, struct tp_ctf_packet *packet);

/* Of those that were made ahead of need in a directory: one more, if it is the current one, else it is removed; and all are removed. */
void tp_ctf_packets_add_empty(struct tp_ctf_sink *sink, struct tp_ctf_dir *in, struct tp_ctf_packet *packet);
void tp_ctf_packets_remove_empty(struct tp_ctf_sink *sink, struct tp_ctf_dir *in, struct tp_ctf_packet *all);

/* ---- chapter.c: called in tp_guard_enter() ---- */

/* As tp_ctf_packets_next(). Where the chapter is over, another one is begun before. */
enum tp_lost tp_ctf_packets_switch(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream);

/* ---- copy.c ---- */

/* Where records are copied: what is content of the stream's packet is copied into its file, or taken back. Signals may come. */
void tp_ctf_packets_copy(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream);

/* ---- end.c: called in tp_guard_enter() ---- */

/* Finishes the stream's packets. Returns how many somebody has removed, which are a flight recorder's to keep. */
unsigned int tp_ctf_packets_end_stream(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream);

/* In a forked child: they are the parent's. That of the thread's own stream becomes a copy that nobody sees. */
void tp_ctf_packets_forget_stream(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, bool own);
void tp_ctf_packets_forget(struct tp_ctf_sink *sink);

#endif /* TP_CTF_PACKETS_H */

/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/ring/packet.h - a packet, a file that is mapped: packet.c.
 */
#ifndef TP_CTF_PACKET_H
#define TP_CTF_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/packet.h"

struct tp_ctf_dir;
struct tp_ctf_sink;
struct tp_ctf_stream;

/*
 * What a packet is. It changes under tp_ctf_lock, or where its stream's thread goes round in its ring:
 *
 *	EMPTY -> CURRENT    its head is written, and it has its name (packets.c)
 *	CURRENT -> CLOSED   its stream has gone on, and it may go for another (packets.c)
 *	CLOSED -> EMPTY     its stream begins it again (packets.c); it is to be another's, or to be removed (room.c)
 *	CURRENT -> EMPTY    its stream has no other, and begins it again (room.c) ...
 *	EMPTY -> CURRENT    ... or could not, and it stays (make.c)
 *	any -> EMPTY        its description is unused (room.c)
 *
 * A snapshot copies CURRENT and CLOSED ones only. As long as one is held, it does not become EMPTY.
 */
enum tp_ctf_packet_state {
	TP_CTF_EMPTY, /* what is in it goes, or has gone */
	TP_CTF_CURRENT,
	TP_CTF_CLOSED,
};

/*
 * A packet's file, from its making until it is left to the readers.
 *
 * Those that a stream may write into again, or that may go for others, are a
 * ring: behind the current one comes the oldest. stream.h says who is at it.
 */
struct tp_ctf_packet {
	struct tp_ctf_packet *next; /* in the ring; or of the unused descriptions, or of those that are to be removed */
	struct tp_ctf_stream *stream;
	struct tp_packet *memory; /* what records are written to. NULL where it is not mapped any more */
	struct tp_packet *file;   /* its file: memory itself, unless records are copied; NULL where it is another process's */
	unsigned int number;  /* of the stream, and ... */
	uint64_t sequence;    /* ... of the packet in it: the file's name */
	unsigned int hidden;  /* its name while it is EMPTY, which readers pass over */
	uint64_t room;      /* bytes that it takes of the sink's size */
	size_t warm;        /* bytes of it that are present in memory, from its start */
	uint64_t begin;      /* its timestamp_begin */
	uint64_t chapter;    /* the key of the directory in which it was begun */
	uint64_t watched;    /* since when (watch.c). 0: it is not */
	enum tp_ctf_packet_state state;
	unsigned int held;   /* by so many snapshots */
	bool in_place;       /* it is to be begun again under the name that it has */
	bool broken;         /* its file can't be written to */
};

static inline bool tp_ctf_packet_is_held(const struct tp_ctf_packet *packet)
{
	return __atomic_load_n(&packet->held, __ATOMIC_ACQUIRE) != 0;
}

/* ---- Called in tp_guard_enter(); errors are errno values ---- */

/* Where records are copied: makes these bytes of it part of the file, and what is newer of its head. Signals may come. */
int tp_ctf_packet_copy(const struct tp_ctf_packet *packet, size_t from, size_t to);

/* Makes its file, hidden, and maps it. */
int tp_ctf_packet_create(struct tp_ctf_sink *sink, struct tp_ctf_dir *in, struct tp_ctf_packet *packet);

/* Hides that of a closed packet, which goes. */
int tp_ctf_packet_hide(struct tp_ctf_sink *sink, struct tp_ctf_dir *in, struct tp_ctf_packet *packet);

/*
 * The same of one whose content stays, as long as it is: a copy of its file has taken its name. Where there is an error,
 * all is as before.
 */
int tp_ctf_packet_save(struct tp_ctf_sink *sink, struct tp_ctf_dir *in, struct tp_ctf_packet *packet);

/* Writes a packet, as it is now, to the file that has this name in dir. Others may record into it. */
int tp_ctf_packet_write(const struct tp_packet *packet, int fd, int dir, const char *name);

/* Whether this processor can do what tp_ctf_packet_begin() does with in_place. */
bool tp_ctf_packet_can_renew(void);

/* Writes the head of an empty packet, and gives the file its name, unless it is begun in its place. EEXIST: that is taken. */
int tp_ctf_packet_begin(struct tp_ctf_sink *sink, struct tp_ctf_dir *in, struct tp_ctf_packet *packet, uint64_t discarded);

/*
 * Nothing more is written to it: unmaps it, and gives the unused end back to the file
 * system, where it can take it. Returns how many bytes of it.
 */
size_t tp_ctf_packet_finish(const struct tp_ctf_sink *sink, struct tp_ctf_packet *packet);

/* Whether somebody has taken its file, or the directory, away. */
bool tp_ctf_packet_is_removed(struct tp_ctf_sink *sink, const struct tp_ctf_packet *packet);

/* Only unmaps it, if it is mapped. */
void tp_ctf_packet_unmap(const struct tp_ctf_sink *sink, struct tp_ctf_packet *packet);

/* Takes the file away. */
void tp_ctf_packet_remove(struct tp_ctf_sink *sink, struct tp_ctf_dir *in, struct tp_ctf_packet *packet, bool hidden);

/* Makes the pages from there to there present, which costs more when it is done one by one. */
void tp_ctf_packet_warm(struct tp_packet *memory, size_t from, size_t to);

#endif /* TP_CTF_PACKET_H */

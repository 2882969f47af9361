/* SPDX-License-Identifier: MIT */
/*
 * ctf.h - what the files of the CTF sink need of each other. Each of them
 * uses those below it only:
 *
 *	ctf.c                 the sink
 *	  ctf_metadata.c      the description of the trace, a text
 *	  ctf_record.c        the way of a record into a stream
 *	    ctf_stream.c      the streams, and which thread has which
 *	      ctf_packet.c    a stream's packets, a file each
 *	        ctf_dir.c     the directory
 */
#ifndef TP_CTF_H
#define TP_CTF_H

#include <limits.h>
#include <sys/types.h>
#include <time.h>

#include "internal.h"

/* CTF sinks that can be open at once: each has a slot in every thread's local storage, of which there is little. */
#define TP_CTF_SLOTS 16

/* Where an event begins in a packet, and what is in front of its record, in bytes. */
#define TP_CTF_ALIGN 8
#define TP_CTF_EVENT_HEAD 8

#define TP_CTF_MAGIC 0xC1FC1FC1u

/* The head of each packet; what tp_ctf_metadata_begin describes. */
struct tp_ctf_packet {
	uint32_t magic;
	uint32_t stream_id;
	uint64_t stream_instance_id;
	uint64_t timestamp_begin;
	uint64_t content_size;  /* bits; in front of timestamp_end, so that a reader never sees it newer than that */
	uint64_t timestamp_end;
	uint64_t packet_size;   /* bits */
	uint64_t packet_seq_num;
	uint64_t events_discarded;
};

struct ctf_stream {
	struct ctf_stream *next;      /* of all of the sink */
	struct ctf_stream *next_free; /* of the pool */
	struct tp_ctf_packet *packet; /* the mapped file; its size is that of the sink's packets */
	uint64_t position;            /* bytes of the packet that are reserved */
	uint64_t last_time;           /* not before any event's that is reserved */
	unsigned int nesting;         /* records on their way */
	unsigned int number;
	uint64_t sequence;            /* of the packet */
};

struct ctf_sink {
	struct tp_sink head;
	uint64_t generation;    /* unique among all sinks, and anew in each child */
	unsigned int slot;
	size_t packet_size;     /* bytes */
	uint64_t clock_offset;  /* from the epoch to CLOCK_MONOTONIC's 0, nanoseconds */
	int dir;
	dev_t device;           /* what dir is */
	ino_t inode;
	char *path;             /* as given, for messages */
	char *real_path;        /* absolute */
	int pid;
	bool forked;            /* this is a child, and the metadata is the parent's */
	bool child_complained;
	bool no_room_complained;
	int error;              /* the first that cost something */
	uint64_t retry_at;      /* no new packet is tried for before that, by CLOCK_MONOTONIC */

	/* Under tp_ctf_lock, and so is dir. */
	struct ctf_stream *streams, *pool;
	unsigned int next_number;

	/* Under tp_events_lock. */
	struct tp_buffer metadata;
	size_t metadata_written;               /* bytes of it that are in the file */
	uint8_t pending[TP_NR_IDS / CHAR_BIT]; /* described in the text, not yet in the file */

	uint8_t described[TP_NR_IDS / CHAR_BIT]; /* in the file: these events may be recorded */
};

static inline uint64_t clock_now(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- The sink's bitmaps; described is read by threads that record ---- */

static inline bool bit_is_set(const uint8_t *bits, unsigned int id)
{
	return __atomic_load_n(&bits[id / CHAR_BIT], __ATOMIC_RELAXED) & 1u << id % CHAR_BIT;
}

static inline void bit_set(uint8_t *bits, unsigned int id)
{
	__atomic_fetch_or(&bits[id / CHAR_BIT], (uint8_t)(1u << id % CHAR_BIT), __ATOMIC_RELAXED);
}

/* ---- ctf_dir.c; errors are errno values ---- */

/*
 * Guards the sinks' lists of streams and what ctf_stream.c knows of slots,
 * and that two threads don't open one directory again at once. Only taken
 * inside tp_guard_enter(), as readers take it too; and by forks.
 */
extern pthread_mutex_t tp_ctf_lock;

/*
 * Makes the directory where it is not there, and opens it. Its path is in the
 * sink. EEXIST: there is a trace in it; ENOTEMPTY: there are other files.
 */
int tp_ctf_dir_open(struct ctf_sink *sink);
void tp_ctf_dir_close(struct ctf_sink *sink);

/* The directory's file descriptor, or -1 and an error. Called in tp_guard_enter(). */
int tp_ctf_dir(struct ctf_sink *sink, int *error);

/* False where posix_fallocate or write would be answered with SIGXFSZ. */
bool tp_ctf_file_size_allowed(size_t size);

/* What a message has to say of the error beside strerror(): for one, "". */
const char *tp_ctf_remedy(int error);

/* Renames but never over what is there, as far as the file system can do that. 0 or an error. */
int tp_ctf_rename_new(int dir, const char *from, const char *to);

/* ---- ctf_packet.c ---- */

/* The stream's packet number stream->sequence as a new file. NULL and an errno value. */
struct tp_ctf_packet *tp_ctf_packet_create(struct ctf_sink *sink, const struct ctf_stream *stream, uint64_t time,
					   int *error);

/* Gives the unused end of the packet back to the file system, where it can take it. */
void tp_ctf_packet_finish(const struct ctf_sink *sink, struct tp_ctf_packet *packet);

/* A packet could not be made. It is said once, and for a while no other is to be tried for. */
void tp_ctf_packet_failed(struct ctf_sink *sink, uint64_t now, int error);
bool tp_ctf_packet_may_be_tried(const struct ctf_sink *sink, uint64_t now);

/* ---- ctf_stream.c ---- */

/*
 * A thread's stream of the sink with this slot. The sink may be closed, and
 * another take its slot, while the thread is asleep: the generation says
 * whether it is still the one.
 */
struct ctf_slot {
	uint64_t generation;
	struct ctf_stream *stream;
};

extern TP_THREAD_LOCAL struct ctf_slot tp_ctf_slots[TP_CTF_SLOTS];

/* Gives the thread a stream: one that an exited thread has left, or a new one. NULL where none can be had. */
TP_COLD struct ctf_stream *tp_ctf_stream_acquire(struct ctf_sink *sink);

/* Gives the sink a slot. False where all are taken. */
bool tp_ctf_streams_begin(struct ctf_sink *sink);

/* Takes it back, and finishes all packets. */
void tp_ctf_streams_end(struct ctf_sink *sink);

/* In a forked child: the streams are the parent's. */
void tp_ctf_streams_forget(struct ctf_sink *sink);

/* ---- ctf_record.c: the operations of the sink ---- */

bool tp_ctf_reserve(struct tp_record *rec);
void tp_ctf_commit(struct tp_record *rec);
void tp_ctf_lost(struct tp_sink *head);

/* ---- ctf_metadata.c ---- */

/* clock_offset: nanoseconds from the epoch to the clock's 0. */
void tp_ctf_metadata_begin(struct tp_buffer *b, uint64_t clock_offset);

/* 0, -EINVAL where CTF can't describe the event, -ENOMEM; and then b is as before. */
int tp_ctf_metadata_event(struct tp_buffer *b, const struct tp_event *event);

#endif /* TP_CTF_H */

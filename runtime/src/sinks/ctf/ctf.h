/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/ctf.h - what the files of the CTF sink need of each other. Each of them
 * uses those below it only:
 *
 *	sink.c              the sink
 *	snapshot.c          a copy of what a sink's packets hold
 *	  options.c         how a sink is to be
 *	  preparer.c        a thread that makes packets (by base/helper_thread.h)
 *	  record.c          the way of a record into a stream, where it is not the short one of record/stream.h
 *	    stream.c        the streams, and which thread has which
 *	      end.c         the end of a stream's packets
 *	      copy.c        records that are copied into their packet's file
 *	      chapter.c     the chapter ends where another packet is needed
 *	        packets.c   a stream's packets, one after the other
 *	          make.c    making the next one
 *	          room.c    how many there may be, and which goes
 *	          packet.c  a packet, a file that is mapped
 *	    begin.c         the directory of a trace whose name has %p, or of a chapter: the process that records makes it
 *	    describe.c      which events are described in the trace, and the file with that
 *	      metadata.c    the description, a text
 *	        environment.c  its part on the process
 *	        string.c    strings in it
 *	      format.c      the events' format files, texts beside the streams
 *	    log.c           the runtime's messages, beside the streams
 *	      old.c         traces whose processes are gone make way
 *	      hold.c        which those are
 *	        dir.c       the directory
 *	          spare.c   descriptors in reserve
 */
#ifndef TP_CTF_H
#define TP_CTF_H

#include <limits.h>
#include <sys/types.h>
#include <time.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/helper_thread.h"
#include "base/mutex.h"
#include "base/own_file.h"
#include "events/events.h"
#include "record/record.h"
#include "record/stream.h"

/* More context of each event. */
enum {
	TP_CTF_CPU = 1 << 0,
	TP_CTF_PID = 1 << 1,
	TP_CTF_NAME = 1 << 2, /* of the thread, as it was when its packet was begun */
};

#define TP_CTF_NAME_SIZE 16 /* as the system has it */

/* Whose the trace's files are to be, where root makes them. */
struct tp_ctf_owner {
	bool set;
	uid_t user;
	gid_t group;
};

/* How records come into a packet's file. */
enum tp_ctf_write {
	TP_CTF_WRITE_BY_FILE_SYSTEM,
	TP_CTF_WRITE_MAP,  /* they are stored in it */
	TP_CTF_WRITE_CALL, /* they are copied into it, by a system call each */
};

/* For format/ and a file in it; and for a directory that is yet to be made, and stays open. */
#define TP_CTF_SPARES 3

struct tp_ctf_options {
	bool flight;          /* packets stay mapped, for records to come */
	bool thread;          /* prepares packets */
	bool overwrite;       /* at the limits: the oldest packet goes, not the new record */
	unsigned int context; /* TP_CTF_CPU ... */
	size_t packet;        /* bytes, a multiple of the page size */
	uint64_t packets;     /* of a stream */
	uint64_t size;        /* bytes of all packets of the process */
	uint64_t keep;        /* of earlier traces, so many; UINT64_MAX: all */
	bool rotate;          /* the trace has chapters: a new one is begun ... */
	uint64_t rotate_size; /* ... after so many bytes ... */
	uint64_t rotate_time; /* ... or nanoseconds; UINT64_MAX: any number */
	struct tp_ctf_owner owner;
	enum tp_ctf_write write;
};

/* What a packet is used for, and by whom: changed atomically. The rest says how many snapshots copy it: it stays as it is then. */
enum {
	TP_CTF_TAKEN = 1 << 30,  /* not a closed one: it is its stream's current one, or is being made into something else */
	TP_CTF_BEGINS = 1 << 29, /* what is in it goes, or has gone: it may not be copied */
};

/*
 * A packet's file, from its making until it is left to the readers.
 *
 * Those that a stream may write into again, or that may go for others, are a
 * ring: behind the current one comes the oldest. Its links change under
 * tp_ctf_lock only; a flight recorder's thread goes round in it without.
 */
struct tp_ctf_packet {
	struct tp_ctf_packet *next; /* in the ring; or of the unused descriptions, or of those that are to be removed */
	struct tp_ctf_stream *stream;
	struct tp_packet *memory; /* what records are written to. NULL where it is not mapped any more */
	struct tp_packet *file;   /* its file: memory itself, unless records are copied; NULL where it is another process's */
	uint64_t sequence;
	uint64_t room;      /* bytes that it takes of the sink's size */
	unsigned int number; /* of the stream, for the file's name */
	size_t warm;        /* bytes of it that are present in memory, from its start */
	uint64_t begin;      /* its timestamp_begin */
	uint32_t use;        /* TP_CTF_TAKEN ... */
	uint64_t life;       /* changes where it becomes another */
	bool in_place;       /* it is to be begun again under the name that it has */
	bool broken;         /* its file can't be written to */
};

struct tp_ctf_stream {
	struct tp_stream head;
	struct tp_ctf_stream *next;      /* of all of the sink */
	struct tp_ctf_stream *next_free; /* of the pool */
	struct tp_ctf_packet *packet;    /* head.packet's; in the ring of those that there are */
	struct tp_ctf_packet *prepared;  /* the one after that: made, but not under its name yet; or NULL */
	uint64_t sequence;            /* of the next packet's name */
	uint64_t packets;             /* that there are */
	uint64_t shown;               /* that there have been */
	uint64_t copied;              /* where records are copied: all before this position is in the file ... */
	unsigned int uncopied;        /* ... and so many records are not */
	uint64_t carried;             /* lost records that the packet before had when this one was shown */
	unsigned int pins;            /* of handlers' and this thread's: the packet must stay */
	bool renewing;                /* its thread is on its way to the next packet, without a lock */
	bool wants_packet;            /* of the preparer */
	unsigned int number;
	unsigned int chapter;         /* of its packet */
	uint64_t first;               /* of the packets that were shown: the first in this chapter */
	char name[TP_CTF_NAME_SIZE];  /* of the thread */
};

/* The format texts of all events of the sink, a text for each system. Zeros are none. */
struct tp_ctf_formats {
	struct tp_ctf_format *first;
	struct tp_ctf_sink *sink;
	int error;       /* of some event there is none; an errno value */
	bool anew;       /* in the directory there is none of them yet */
	bool complained; /* that something of them is not in the directory */
};

#define TP_CTF_CLOCK_TEXT 512

/* What the metadata of a directory would be that is made right now. */
struct tp_ctf_description {
	char *text; /* with two gaps ... */
	size_t len;
	char clock[TP_CTF_CLOCK_TEXT]; /* ... of which this fills one */
};

struct tp_ctf_sink {
	struct tp_sink head;
	struct tp_ctf_options options;
	struct tp_clock clock;  /* its refinement is under tp_events_lock */
	uint64_t generation;    /* unique among all sinks, and anew in each child: the key of its streams' slots */
	uint32_t slot;          /* of tp_stream_slots; its keys are tp_ctf_key()'s */
	size_t context_size;    /* bytes between an event's time and its record */
	struct tp_own_file dirs[2]; /* that of the current chapter is tp_ctf_current()'s; the other one is the next's */
	unsigned int chapter;   /* how often the trace was rotated */
	struct tp_own_file spare[TP_CTF_SPARES]; /* of descriptors; see spare.c */
	char *path;             /* as given, for messages; with this process's id for %p */
	char *real_path;        /* absolute */
	void *hold;             /* of the trace; see hold.c */
	int pid;
	time_t created;         /* when the directory became a trace */
	bool forked;            /* this is a child, and the metadata is the parent's */
	bool later;             /* the directory is yet to be made, at the first record: changes under tp_ctf_lock */
	bool no_room_complained, limit_complained, chapter_complained;
	bool preparing;         /* there is a preparer */
	bool copies;            /* records into packets' files, by a system call */
	bool renews;            /* packets are begun again in their place */
	struct tp_helper_thread preparer;
	bool partial;           /* there are events that are not in the metadata */
	int error;              /* the first that cost something */
	uint64_t retry_at;      /* no new packet is tried for before that, by CLOCK_MONOTONIC */
	unsigned long homeless; /* lost where there was no stream to count it in */

	/* Under tp_ctf_lock. */
	struct tp_ctf_stream *streams, *pool;
	struct tp_ctf_packet *full, **full_end;  /* that the preparer is to close */
	struct tp_ctf_packet *unused_packets;
	struct tp_ctf_stream *unused_streams;
	char *chunk;            /* the descriptions' memory ... */
	size_t chunk_left;      /* ... and what is left of it */
	uint64_t room;          /* of all packets */
	unsigned int nr_streams;
	unsigned int making;    /* packets that are being made ahead of need */
	unsigned int next_number;

	/* Under tp_ctf_chapter_lock. */
	uint64_t written;       /* bytes in the packets of this chapter that are closed */
	uint64_t chapter_begun; /* by CLOCK_MONOTONIC */
	uint64_t rotate_again;  /* none is tried for before that */

	/* Under tp_events_lock. */
	struct tp_buffer metadata;             /* but for what is the process's alone, and the clock ... */
	size_t process_at, clock_at;           /* ... which go in there */
	size_t metadata_written;               /* bytes of it that are in the file */
	struct tp_ctf_formats formats;
	uint8_t pending[TP_NR_IDS / CHAR_BIT]; /* described in the text, not yet in the file */

	uint8_t described[TP_NR_IDS / CHAR_BIT]; /* in the file: these events may be recorded */

	/* Of a trace whose name has %p, or that has chapters: each process that records makes its own. */
	char *pattern;             /* the name; NULL: the directory is there from the opening on */
	struct tp_own_file parent; /* the directory in which it is to be */
	char *parent_path;         /* absolute */
	bool at_once;              /* later there may be no right to make it */
	size_t inherited;          /* bytes of the metadata in the parent's directory, where there is one */
	struct tp_ctf_description described_so_far; /* under tp_ctf_lock, and changed under tp_events_lock as well */
};

/* Time for what is not a record's: by CLOCK_MONOTONIC, in nanoseconds. */
static inline uint64_t tp_ctf_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline bool tp_ctf_is_later(const struct tp_ctf_sink *sink)
{
	return __atomic_load_n(&sink->later, __ATOMIC_ACQUIRE);
}

/*
 * A chapter is a trace of its own: the directory is another one. tp_ctf_chapter_lock or tp_events_lock is held meanwhile,
 * where a file in it is made, but by the log.
 */
static inline unsigned int tp_ctf_chapter(const struct tp_ctf_sink *sink)
{
	return __atomic_load_n(&sink->chapter, __ATOMIC_SEQ_CST);
}

static inline struct tp_own_file *tp_ctf_current(struct tp_ctf_sink *sink)
{
	return &sink->dirs[tp_ctf_chapter(sink) % 2];
}

/*
 * The key of a slot whose stream is in this chapter. The sink's own is that of the current one: who is
 * in an older chapter leaves the short way with the next record.
 */
#define TP_CTF_GENERATION_BITS 40

static inline uint64_t tp_ctf_key(const struct tp_ctf_sink *sink, unsigned int chapter)
{
	return sink->generation | (uint64_t)chapter << TP_CTF_GENERATION_BITS;
}

/* Whether the slot has a stream of the sink. */
static inline bool tp_ctf_is_own(const struct tp_ctf_sink *sink, const struct tp_stream_slot *slot)
{
	return (slot->key ^ sink->generation) << (64 - TP_CTF_GENERATION_BITS) == 0;
}

/* ---- The sink's bitmaps; described is read by threads that record ---- */

static inline bool tp_ctf_bit_is_set(const uint8_t *bits, unsigned int id)
{
	return __atomic_load_n(&bits[id / CHAR_BIT], __ATOMIC_RELAXED) & 1u << id % CHAR_BIT;
}

static inline void tp_ctf_bit_set(uint8_t *bits, unsigned int id)
{
	__atomic_fetch_or(&bits[id / CHAR_BIT], (uint8_t)(1u << id % CHAR_BIT), __ATOMIC_RELAXED);
}

/* ---- dir.c; errors are errno values ---- */

/*
 * Guards the sinks' lists of streams and packets, and what stream.c knows of
 * slots. Only taken inside tp_guard_enter(), as readers take it too; and by forks.
 */
extern struct tp_mutex tp_ctf_lock;

/*
 * Of traces that have chapters: held while a packet is made in the directory, and while that becomes another. So a
 * packet that is prepared is always of the current chapter. Taken as tp_ctf_lock is.
 */
extern struct tp_mutex tp_ctf_chapter_lock;

/*
 * Makes the directory where it is not there, and opens it. Its path is in the
 * sink. EEXIST: there is a trace in it; ENOTEMPTY: there are other files.
 */
int tp_ctf_dir_open(struct tp_ctf_sink *sink);
void tp_ctf_dir_close(struct tp_ctf_sink *sink);

/* The directory's file descriptor, or -1 and an error. */
int tp_ctf_dir(struct tp_ctf_sink *sink, int *error);

/* Takes the slashes at the end of a path away: behind one, a link would be followed. */
void tp_ctf_dir_trim(char *path);

/* Whether the descriptor is of what has this name in dir. Safe in signal handlers, as the next. */
bool tp_ctf_is_at(int fd, int dir, const char *name);

/* 0, EEXIST or ENOTEMPTY, as above. */
int tp_ctf_dir_check(int dir);

/* Gives a file that was made to the owner. Not root's: it does nothing. */
void tp_ctf_give(const struct tp_ctf_owner *owner, int fd);

/*
 * A directory in dir, made if need be, and never through a link: the owner may have put one there. -1 and an error.
 * spare: where no descriptor is left, a spare one is taken, for which this may wait; tp_ctf_file_close() gives it back.
 */
int tp_ctf_subdirectory(struct tp_ctf_sink *sink, int dir, const char *name, bool spare, int *error);

/* What a message has to say of the error beside tp_strerror(): for one, "". */
const char *tp_ctf_remedy(int error);

/* Renames but never over what is there, as far as the file system can do that. 0 or an error. */
int tp_ctf_rename_new(int dir, const char *from, const char *to);

/* ---- packet.c: called in tp_guard_enter(); errors are errno values ---- */

/* Whether the file system of the directory lets mapped files become unwritable: see packet.c. */
bool tp_ctf_packet_must_be_copied(int dir);

/* Where records are copied: makes these bytes of it part of the file, and what is newer of its head. Signals may come. */
int tp_ctf_packet_copy(const struct tp_ctf_packet *packet, size_t from, size_t to);

/* Makes its file, hidden, and maps it. EEXIST: such a name is taken. */
int tp_ctf_packet_create(struct tp_ctf_sink *sink, struct tp_ctf_packet *packet);

/* Hides that of a closed packet, as what it is now. */
int tp_ctf_packet_recycle(struct tp_ctf_sink *sink, const struct tp_ctf_packet *packet, const struct tp_ctf_packet *was);

/* Whether this processor can do what tp_ctf_packet_begin() does with in_place. */
bool tp_ctf_packet_can_renew(void);

/* Writes the head of an empty packet, and gives the file its name, unless it is begun in its place. EEXIST: it is taken. */
int tp_ctf_packet_begin(struct tp_ctf_sink *sink, struct tp_ctf_packet *packet, uint64_t discarded);

/*
 * Nothing more is written to it: unmaps it, and gives the unused end back to the file
 * system, where it can take it. Returns how many bytes of it.
 */
size_t tp_ctf_packet_finish(const struct tp_ctf_sink *sink, struct tp_ctf_packet *packet);

/* Only unmaps it, if it is mapped. */
void tp_ctf_packet_unmap(const struct tp_ctf_sink *sink, struct tp_ctf_packet *packet);

/* Takes the file away. */
void tp_ctf_packet_remove(struct tp_ctf_sink *sink, struct tp_ctf_packet *packet, bool hidden);

/* Makes the pages from there to there present, which costs more when it is done one by one. */
void tp_ctf_packet_warm(struct tp_packet *memory, size_t from, size_t to);

/* ---- room.c: called in tp_guard_enter(), but for first looks ---- */

/* Zeroed memory for a description, which stays until the sink is closed. Under tp_ctf_lock. NULL where there is none. */
void *tp_ctf_description_new(struct tp_ctf_sink *sink, size_t size);
void tp_ctf_descriptions_free(struct tp_ctf_sink *sink);

/* The packet's description is unused. Under tp_ctf_lock, as the next. */
void tp_ctf_packet_forget(struct tp_ctf_sink *sink, struct tp_ctf_packet *packet);

/* The stream's oldest closed packet. NULL where it has none. Under tp_ctf_lock, or by the stream's own thread. */
struct tp_ctf_packet *tp_ctf_oldest(const struct tp_ctf_stream *stream);

/* Takes a closed packet, which nobody copies: for what it is to become. False where somebody was faster. */
bool tp_ctf_packet_take(struct tp_ctf_packet *packet);

/* Takes these bits away: a packet without TP_CTF_TAKEN is closed, and may go where another is wanted. */
static inline void tp_ctf_packet_release(struct tp_ctf_packet *packet, uint32_t bits)
{
	__atomic_fetch_and(&packet->use, ~bits, __ATOMIC_RELEASE);
}

/* What a new packet of a stream is to be made of. */
struct tp_ctf_plan {
	struct tp_ctf_packet *packet;
	struct tp_ctf_packet *goes; /* closed ones whose files are to be removed before, by their next */
	bool recycle;            /* the packet has a file already */
};

/* TP_NR_LOST, or why there is none. ahead: it is not needed yet. */
enum tp_lost tp_ctf_room_plan(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, bool ahead, struct tp_ctf_plan *plan);

/*
 * Closed packets beyond the limits, by their next, whose files are to be removed: while the stream's next packet was
 * still being prepared, another one was made.
 */
struct tp_ctf_packet *tp_ctf_room_take_excess(struct tp_ctf_sink *sink, const struct tp_ctf_stream *stream);

/* Whether the stream has all packets that it may have, so that its oldest is the next. A first look. */
bool tp_ctf_room_goes_round(const struct tp_ctf_sink *sink, const struct tp_ctf_stream *stream);

/* Whether it may be a new file. */
bool tp_ctf_room_may_create(const struct tp_ctf_sink *sink);

/* There will be no such packet. */
void tp_ctf_room_give_back(struct tp_ctf_sink *sink, struct tp_ctf_packet *packet);

/* Whether a new packet would be one too many; of the stream, if that is not NULL. */
bool tp_ctf_room_is_short(const struct tp_ctf_sink *sink, const struct tp_ctf_stream *stream);

static inline bool tp_ctf_is_prepared(const struct tp_ctf_stream *stream)
{
	return __atomic_load_n(&stream->prepared, __ATOMIC_RELAXED) != NULL;
}

/* First looks at whether a next packet might be had, as tp_guard_enter() is dear. stream may be NULL. */
bool tp_ctf_room_may_be_tried(const struct tp_ctf_sink *sink, const struct tp_ctf_stream *stream);
bool tp_ctf_room_is_full(const struct tp_ctf_sink *sink, const struct tp_ctf_stream *stream);

/* ---- make.c: called in tp_guard_enter() ---- */

/* Says once what could not be done, and for a while no other packet is to be tried for. */
void tp_ctf_failed(struct tp_ctf_sink *sink, const char *what, const char *done, int error);

/* Removes the files of closed packets, by their next. */
void tp_ctf_remove_all(struct tp_ctf_sink *sink, struct tp_ctf_packet *packet);

/* A hidden file for the stream's next packet. TP_NR_LOST, or why there is none. ahead: it is not needed yet. */
enum tp_lost tp_ctf_make(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, bool ahead, struct tp_ctf_packet **made);

/* Makes some more of the packet present in memory, at least so many bytes from its start, as far as it goes. */
void tp_ctf_warm(const struct tp_ctf_sink *sink, struct tp_ctf_packet *packet, size_t at_least);

/* Makes the stream's next packet ahead of need, if there may be one more, with at least so many bytes of it present. */
void tp_ctf_prepare(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, size_t at_least);

/* ---- packets.c: called in tp_guard_enter(), but for the first ---- */

/*
 * The stream's oldest packet becomes its current one: without a system call, a
 * lock, and with signals as they are. Not where a handler has gone on meanwhile, so that there is room for so many bytes.
 * False where more is to be done for a next packet.
 */
bool tp_ctf_packets_renew(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, size_t size);

/*
 * The stream's next packet becomes its current one, which is closed; there is no
 * record on its way. TP_NR_LOST, or why not; then all is as before. Under tp_ctf_chapter_lock, where the trace has chapters.
 */
enum tp_lost tp_ctf_packets_next(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream);

/*
 * Raises the stream's limit, at least to end (in bytes of the packet), as far
 * as the packet goes. False where it is there already. At the end of the packet it makes
 * the next one, ahead of need, if there may be one more.
 */
bool tp_ctf_packets_widen(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, size_t end);

/* The packet is complete: it is closed, and left to its readers, or kept for another time. */
void tp_ctf_packets_close(struct tp_ctf_sink *sink, struct tp_ctf_packet *packet);

/* What no stream could count, one that comes later does. */
static inline unsigned long tp_ctf_take_homeless(struct tp_ctf_sink *sink)
{
	return __atomic_load_n(&sink->homeless, __ATOMIC_RELAXED)
		       ? __atomic_exchange_n(&sink->homeless, 0, __ATOMIC_RELAXED)
		       : 0;
}

/* ---- chapter.c ---- */

/* As tp_ctf_packets_next(). Where the chapter is over, another one is begun before. */
enum tp_lost tp_ctf_packets_switch(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream);

/* ---- copy.c ---- */

/* Where records are copied: what is content of the stream's packet is copied into its file, or taken back. Signals may come. */
void tp_ctf_packets_copy(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream);

/* ---- end.c: called in tp_guard_enter() ---- */

/* Finishes the stream's packets. */
void tp_ctf_packets_end_stream(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream);

/* In a forked child: they are the parent's. That of the thread's own stream becomes a copy that nobody sees. */
void tp_ctf_packets_forget_stream(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, bool own);
void tp_ctf_packets_forget(struct tp_ctf_sink *sink);

/* ---- preparer.c: a thread that makes packets ahead of need, where the sink has one ---- */

/* Where the system has no thread to spare, it says so, and those that record do it themselves. */
void tp_ctf_preparer_start(struct tp_ctf_sink *sink);

/* Closes what it has left. */
void tp_ctf_preparer_stop(struct tp_ctf_sink *sink);

/* ---- stream.c ---- */

/* Gives the thread a stream: one that an exited thread has left, or a new one. NULL and why not. */
TP_COLD struct tp_ctf_stream *tp_ctf_stream_acquire(struct tp_ctf_sink *sink, enum tp_lost *cause);

/* Records are on their way, in this thread below where it is now. */
static inline bool tp_ctf_stream_is_busy(const struct tp_ctf_stream *stream)
{
	return stream->head.published != __atomic_load_n(&stream->head.position, __ATOMIC_RELAXED);
}

/* There is room for so many bytes by now: a handler has gone on to another packet. */
static inline bool tp_ctf_stream_has_room(const struct tp_ctf_stream *stream, size_t size)
{
	return stream->head.position + TP_STREAM_ALIGN + size <= stream->head.limit;
}

/* All of the stream before this position may be reserved; 0: nothing. */
static inline void tp_ctf_stream_set_limit(struct tp_ctf_stream *stream, uint64_t limit)
{
	tp_barrier(); /* the packet is there before the room in it, and there is no room while it changes */
	__atomic_store_n(&stream->head.limit, limit, __ATOMIC_RELAXED);
	tp_barrier();
}

/* Counts records as lost in the sink and in the stream's packet. */
void tp_ctf_stream_count_lost(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, enum tp_lost cause, uint64_t nr);

/* The name of the thread, for its context. */
void tp_ctf_stream_take_name(struct tp_ctf_stream *stream);

/* Gives the sink a slot. False where all are taken. */
bool tp_ctf_streams_begin(struct tp_ctf_sink *sink);

/* Takes it back, and finishes all packets. */
void tp_ctf_streams_end(struct tp_ctf_sink *sink);

/* In a forked child: the streams are the parent's. */
void tp_ctf_streams_forget(struct tp_ctf_sink *sink);

/* ---- record.c: the operations of the sink ---- */

bool tp_ctf_reserve(struct tp_record *rec);
void tp_ctf_commit(struct tp_record *rec); /* only where records are copied */
void tp_ctf_lost(struct tp_sink *head, enum tp_lost cause);

/* ---- spare.c: errors are errno values; called in tp_guard_enter(), but for the first and tp_ctf_spare_close() ---- */

/* Once a process. */
void tp_ctf_spare_start(void);

/* Takes those that are missing, if there are any to be had. The sink's directory, or its parent, is open. */
void tp_ctf_spare_take(struct tp_ctf_sink *sink);
void tp_ctf_spare_close(const struct tp_ctf_sink *sink);

struct tp_ctf_file {
	int fd;
	bool for_spare; /* the descriptor was in reserve */
};

/*
 * As openat(2) with mode 0600, but also where no descriptor is left. After 0, one of the
 * other two follows soon, in the same thread: other threads may be waiting for the spare.
 */
int tp_ctf_file_open(struct tp_ctf_sink *sink, struct tp_ctf_file *file, int dir, const char *name, int flags);
int tp_ctf_file_close(struct tp_ctf_sink *sink, struct tp_ctf_file *file);
void tp_ctf_file_keep(struct tp_ctf_file *file); /* its descriptor is the caller's from here on */

/* ---- hold.c: errors are errno values; safe in signal handlers ---- */

/*
 * The trace in dir is held by this process and the children that it forks, until each
 * of them has ended, or called tp_ctf_hold_end(). Where the system has no such lock, *hold becomes NULL, and the trace counts as
 * held for ever. EEXIST: it is being put out of the way.
 */
int tp_ctf_hold(struct tp_ctf_sink *sink, int dir, void **hold);
void tp_ctf_hold_end(void *hold); /* NULL: it does nothing */

/* A descriptor to be given back, if nobody holds the trace; until then, nobody else gets one. -1: it is held, or that can't be told. */
int tp_ctf_hold_try(int dir);
void tp_ctf_hold_give_back(int fd);

/* ---- old.c ---- */

/* Renames the trace, if it is one and no process is left of those that wrote it. Safe in signal handlers. */
bool tp_ctf_old_make_way(int parent, const char *name);

/*
 * The same for one that this process writes to. 0 and the name that it has got, "" where it has
 * another one already; or an errno value.
 */
int tp_ctf_old_put_away(int parent, const char *name, int dir, char to[NAME_MAX + 1]);

/*
 * Of all such traces of the pattern, the last part of a name, removes the oldest, up to so many. Those are meant that have
 * made way, and with %p in it those of other processes, too. Safe in signal handlers.
 */
void tp_ctf_old_remove(int parent, const char *pattern, uint64_t keep);

/* ---- begin.c ---- */

/* Sets the sink's path from a name with %p, and its pattern, if %p is in the last part of the name. No path: no memory. */
void tp_ctf_begin_name(struct tp_ctf_sink *sink, const char *name);

/* The same for a name that may be without %p, of a trace that has chapters. False: no memory. */
bool tp_ctf_begin_chapters(struct tp_ctf_sink *sink);

/* Instead of tp_ctf_dir_open(): earlier traces make way first. The former where there is a pattern. */
int tp_ctf_begin_later(struct tp_ctf_sink *sink);
int tp_ctf_begin_now(struct tp_ctf_sink *sink);

/*
 * The directory's file descriptor, or -1 and an error. Makes the directory, should the
 * process have none yet. Called in tp_guard_enter().
 */
int tp_ctf_begin(struct tp_ctf_sink *sink, int *error);

/*
 * The trace goes on in a new directory, the old one makes way. 0 or an errno value: then it goes on where it is.
 * Under tp_ctf_chapter_lock and tp_events_lock.
 */
int tp_ctf_begin_chapter(struct tp_ctf_sink *sink);

/* Removes the chapters that are too many. Without a lock. In tp_guard_enter(). */
void tp_ctf_begin_tidy(struct tp_ctf_sink *sink);

/* In a forked child: it is to have one of its own. */
void tp_ctf_begin_anew(struct tp_ctf_sink *sink);

/* ---- describe.c ---- */

int tp_ctf_describe_event(struct tp_sink *head, const struct tp_event *event);
int tp_ctf_write_descriptions(struct tp_sink *head);

/* Opens or bars the short way of records, after whatever may change that. */
void tp_ctf_choose_way(struct tp_ctf_sink *sink);

/*
 * Writes the metadata with a better measured clock, if it is so, and the formats where they are still to be written.
 * Does nothing while another thread has tp_events_lock. In tp_guard_enter().
 */
void tp_ctf_describe_better(struct tp_ctf_sink *sink);

/* Writes the metadata. 0 or an errno value. */
int tp_ctf_metadata_write(const struct tp_ctf_sink *sink, int fd);

/* What the metadata would be, with the clock as it is measured by now. Under tp_events_lock. */
struct tp_ctf_description tp_ctf_describe(const struct tp_ctf_sink *sink);

/* Makes the metadata of a directory that has none. 0 or an errno value. */
int tp_ctf_metadata_begin_file(struct tp_ctf_sink *sink, int dir, const struct tp_ctf_description *description);

/* Writes the metadata with a better measured clock, if it is so. Under tp_events_lock. */
void tp_ctf_describe_clock(struct tp_ctf_sink *sink);

/* In the new directory of another chapter: the formats; and threads are to leave the short way. Under tp_events_lock. */
void tp_ctf_describe_chapter(struct tp_ctf_sink *sink);

/* ---- metadata.c ---- */

/* Into sink->metadata: all of it but for the events and what goes in at sink->process_at and sink->clock_at. */
void tp_ctf_metadata_begin(struct tp_ctf_sink *sink);

void tp_ctf_metadata_clock(char text[TP_CTF_CLOCK_TEXT], const struct tp_clock *clock);

/* 0, -EINVAL where CTF can't describe the event, -ENOMEM; and then b is as before. */
int tp_ctf_metadata_event(struct tp_buffer *b, const struct tp_event *event);

/* ---- options.c ---- */

/* False, after saying what is wrong with which, where these are no options (NULL is none) of the trace in path. */
bool tp_ctf_options_parse(struct tp_ctf_options *options, const char *text, const char *path);

/* ---- sink.c ---- */

/* NULL where it is no CTF sink. */
struct tp_ctf_sink *tp_ctf_sink_of(struct tp_sink *sink);

/*
 * As tp_ctf_sink(), for a name with %p. Where that is in its last part, the directory is made at the
 * first record, with the id of the process that records.
 */
struct tp_sink *tp_ctf_sink_of_process(const char *pattern, const char *options);

/* ---- format.c ---- */

/* Adds the event's. */
void tp_ctf_format_add(struct tp_ctf_formats *formats, const struct tp_event *event);

/* Forgets those that were added since the last tp_ctf_format_write(). */
void tp_ctf_format_drop(struct tp_ctf_formats *formats);

/*
 * Appends what is new to the files of format/ below dir, the directory of
 * the sink; or writes all of them below another one. 0 or an errno value:
 * what could be written was, and the former goes on there the next time.
 * Called in tp_guard_enter().
 */
int tp_ctf_format_write(struct tp_ctf_formats *formats, int dir);
int tp_ctf_format_copy(const struct tp_ctf_formats *formats, int dir);

void tp_ctf_format_free(struct tp_ctf_formats *formats);

/* ---- environment.c ---- */

/*
 * The env block of the metadata, but for what is the process's alone: where that goes in is returned.
 * Takes the loader's lock, so it is not for those who hold another.
 */
size_t tp_ctf_environment(struct tp_buffer *b);

#define TP_CTF_PROCESS_TEXT 128

/* What is the process's alone. Safe in signal handlers. */
void tp_ctf_environment_of_process(char text[TP_CTF_PROCESS_TEXT], int pid, time_t created);

/* ---- log.c ---- */

/* From here on messages go to the trace's directory, too; until the sink is closed. */
void tp_ctf_log_begin(struct tp_ctf_sink *sink);
void tp_ctf_log_end(struct tp_ctf_sink *sink);

/* Until nobody is writing a message: to the directory of before, say. */
void tp_ctf_log_wait(void);

/* In a forked child: threads that were writing a message are not there. */
void tp_ctf_log_forget(void);

/* ---- string.c ---- */

/* What stands between a string's quotes. Bytes that are no UTF-8 are shown as \xff: some readers fall over them. */
void tp_ctf_put_text(struct tp_buffer *b, const char *text);
void tp_ctf_put_string(struct tp_buffer *b, const char *text); /* with the quotes */

#endif /* TP_CTF_H */

/* SPDX-License-Identifier: MIT */
/*
 * record/stream.h - a thread's stream in a trace, and the short way of a record into
 * it, which reserve.c takes where nothing else is to be done.
 *
 * A stream is a chain of packets. The current one is a mapped file that is a
 * valid CTF trace at every instant: a record is written behind its content,
 * and becomes content by a single store. Only the thread and its signal
 * handlers write to its stream; a handler's records nest inside the one that
 * it interrupted. Their places are reserved in the order of their times, and all are
 * made content when the outermost is committed.
 */
#ifndef TP_STREAM_H
#define TP_STREAM_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "base/clock.h"
#include "record/packet.h"

/* Sinks with streams that can be open at once: each has a slot in every thread's local storage, of which there is little. */
#define TP_STREAM_SINKS 16

/*
 * Only the thread that has it touches it, and its signal handlers, against
 * which the compiler's barriers are enough.
 *
 * Positions are in bytes and count on from packet to packet, so that none comes
 * back: a handler may fill whole packets between two instructions of its thread.
 */
struct tp_stream {
	struct tp_packet *packet; /* mapped */
	uint64_t start;           /* the position of its first byte */
	uintptr_t base;           /* the address of position 0, if the packet reached down to there */
	uint64_t position;        /* all before it is reserved */
	uint64_t published;       /* all before it is content; less than position while records are on their way */
	uint64_t limit;           /* all before it may be reserved without the runtime's looking after the packet */
	uint64_t last_time;       /* of the record that was reserved last */
	uint64_t entry;           /* the common header of its records, but for the event's id */
	uint64_t inside_of;       /* what was published when a record was last committed inside another ... */
	uint64_t inside;          /* ... and how many were since; both are only for what is lost */
};

/*
 * A thread's stream of the sink with this slot. The sink may be closed, and
 * another take its slot, while the thread is asleep: the key, which no other
 * sink ever gets, says whether it is still the one.
 */
struct tp_stream_slot {
	uint64_t key;
	struct tp_stream *stream;
};

/* A sink that is off has this bit in its key, and no slot ever has it: so the short way need not ask. */
#define TP_KEY_IS_OFF ((uint64_t)1 << 63)

/* So many bits are for the keys of sinks with streams. The bit above them is set in all others, such as the next. */
#define TP_KEY_BITS 62

/*
 * The key where there is none. No sink has it, not even one that was never opened and is all zero. Nor are its lower bits
 * those of any sink's, by which a CTF sink knows a stream of its own in all chapters.
 */
#define TP_STREAM_NONE (TP_KEY_IS_OFF - 2)

extern TP_THREAD_LOCAL struct tp_stream_slot tp_stream_slots[TP_STREAM_SINKS];

/*
 * A compare-and-exchange against this thread's own signal handlers: one
 * instruction, but not a locked one, which costs four times as much.
 */
static inline bool tp_stream_exchange(uint64_t *at, uint64_t expected, uint64_t desired)
{
#if defined(__x86_64__)
	bool done;

	__asm__ volatile("cmpxchgq %3, %1" : "=@ccz"(done), "+m"(*at), "+a"(expected) : "r"(desired) : "memory");
	return done;
#else
	return __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
}

/*
 * What a handler may change meanwhile. A 32-bit processor reads or writes a plain number of 64 bits by two instructions, and
 * a handler that came between them would see half of it.
 *
 * On 32-bit ARM, one instruction reads it, which begins anew after an interrupt. Not ldrexd, by which compilers read it
 * atomically: it leaves a mark behind, and QEMU takes the mark of a handler for that of an exchange that was interrupted.
 */
static inline uint64_t tp_stream_load(const uint64_t *at)
{
#if defined(__arm__) && __ARM_ARCH >= 6
	uint64_t value;

	__asm__ volatile("ldrd %0, %H0, [%1]" : "=&r"(value) : "r"(at), "m"(*at));
	return value;
#else
	return __atomic_load_n(at, __ATOMIC_RELAXED);
#endif
}

static inline uint64_t tp_stream_get(const uint64_t *at)
{
	return sizeof(long) == sizeof(*at) ? *at : tp_stream_load(at);
}

static inline void tp_stream_set(uint64_t *at, uint64_t value)
{
	if (sizeof(long) == sizeof(*at))
		*at = value;
	else
		__atomic_store_n(at, value, __ATOMIC_RELAXED);
}

/*
 * Takes a reading of the clock for a record whose place is to be at the
 * position that was read before. Times in a stream never go backwards, even
 * where the counter does, after a machine was suspended, say.
 *
 * A handler may come at any place, and reserve; then the position is another one,
 * and tp_stream_exchange() fails, and all is done again. The same holds for
 * last_time, which a handler may have made later than the value that is
 * stored over it here: whoever finds the position unchanged afterwards
 * knows that none has; and else reads the counter again, which has moved on.
 */
static inline uint64_t tp_stream_time(struct tp_stream *stream, uint64_t now)
{
	const uint64_t last = tp_stream_get(&stream->last_time);

	if (now < last)
		now = last;
	tp_stream_set(&stream->last_time, now);
	tp_barrier();
	return now;
}

static inline char *tp_stream_at(const struct tp_stream *stream, uint64_t position)
{
	return (char *)(stream->base + (uintptr_t)position);
}

/* Sets the record's common header. */
static inline void *tp_stream_entry(const struct tp_stream *stream, char *at, uint16_t id)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint64_t entry = stream->entry | id;
#else
	uint64_t entry = stream->entry | (uint64_t)id << 48;
#endif

	__builtin_memcpy(at, &entry, sizeof(entry));
	return at;
}

/*
 * Reserves place for a record of this size in the packet, sets its time and
 * its common header. NULL where the runtime has to look after the packet, or
 * a handler has been in between. *position becomes what tp_stream_commit() wants.
 */
static inline void *tp_stream_reserve(struct tp_stream *stream, uint16_t id, uint64_t size, uint64_t *position)
{
	const uint64_t was = tp_stream_get(&stream->position);
	tp_barrier();
	uint64_t time = tp_stream_time(stream, tp_read_counter());
	uint64_t begin = (was + TP_STREAM_ALIGN - 1) & ~(uint64_t)(TP_STREAM_ALIGN - 1);
	uint64_t end = begin + TP_STREAM_TIME + size;
	if (__builtin_expect(end > tp_stream_get(&stream->limit), 0))
		return NULL;
	if (__builtin_expect(!tp_stream_exchange(&stream->position, was, end), 0))
		return NULL;
	*position = was;
	char *at = tp_stream_at(stream, begin);
	__builtin_memcpy(at, &time, sizeof(time));
	return tp_stream_entry(stream, at + TP_STREAM_TIME, id);
}

/* Makes what is reserved up to position content. */
static inline void tp_stream_publish(struct tp_stream *stream, uint64_t position)
{
	struct tp_packet *packet = stream->packet;

	/*
	 * Barrier (D): payload, then the end of the time, then the size; a
	 * reader, who reads the size first, finds all that it covers.
	 */
	__atomic_store_n(&packet->timestamp_end, tp_stream_get(&stream->last_time), __ATOMIC_RELEASE);
	__atomic_store_n(&packet->content_size, (position - stream->start) * CHAR_BIT, __ATOMIC_RELEASE);
	tp_barrier();
	tp_stream_set(&stream->published, position);
	tp_barrier();
}

/* The position has moved on from the one that was published. */
TP_COLD void tp_stream_publish_more(struct tp_stream *stream, uint64_t position);

/* A record was committed inside another one. */
TP_COLD void tp_stream_count_inside(struct tp_stream *stream);

/*
 * Makes all that is reserved content, if this record is the outermost:
 * if its place began where content ended.
 *
 * A handler that comes before published is stored leaves its records to the
 * outermost, hence the second look at the position. One that comes later
 * publishes them itself; it may even go on to another packet.
 */
static inline void tp_stream_commit(struct tp_stream *stream, uint64_t position)
{
	tp_barrier();
	if (__builtin_expect(tp_stream_get(&stream->published) != position, 0)) {
		tp_stream_count_inside(stream);
		return;
	}
	position = tp_stream_get(&stream->position);
	tp_barrier();
	tp_stream_publish(stream, position);
	if (__builtin_expect(tp_stream_get(&stream->position) != position, 0))
		tp_stream_publish_more(stream, position);
}

/*
 * The thread is gone, and with it the records that were on their way: the outermost, which it has left in the middle,
 * and those inside it. Content that it had stays. Returns how many go.
 */
uint64_t tp_stream_abandon(struct tp_stream *stream);

#endif /* TP_STREAM_H */

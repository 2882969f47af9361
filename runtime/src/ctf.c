/* SPDX-License-Identifier: MIT */
/*
 * ctf.c - the CTF sink: streams of packets, written where they are read.
 *
 * Each thread that records has a stream of its own. A stream's packets are
 * files of one packet each, mapped while they are written. A file appears
 * under its name when its head is complete, and each event is taken into its
 * content by a single store, so that whoever reads the directory, at any
 * moment, finds a valid trace.
 *
 * Only the thread itself and its signal handlers write to its stream. A
 * handler's records nest inside that of the thread: their places are
 * reserved in the order of their times, and what has been reserved is made
 * content when the outermost of them is committed.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <tp/tp.h>

#include "internal.h"

#define PACKET_DEFAULT ((size_t)1 << 20)
#define PACKET_MIN ((size_t)4 << 10)
#define PACKET_MAX ((size_t)1 << 30)

/* CTF sinks that can be open at once: each has a slot in every thread's local storage, of which there is little. */
#define NR_SLOTS 16

/* On a full disk: nanoseconds until the next packet is tried for. */
#define RETRY_AFTER 100000000u

/* A position that no record fits behind, for while a packet is being changed. */
#define NO_POSITION (UINT64_MAX / 2)

#define NR_IDS 65536u

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

	/* Under ctf_lock. */
	struct ctf_stream *streams, *pool;
	unsigned int next_number;

	/* Under tp_events_lock. */
	struct tp_buffer metadata;
	size_t metadata_written;          /* bytes of it that are in the file */
	uint8_t pending[NR_IDS / CHAR_BIT]; /* described in the text, not yet in the file */

	uint8_t described[NR_IDS / CHAR_BIT]; /* in the file: these events may be recorded */
};

/*
 * A thread's stream of the sink with this slot. The sink may be closed, and
 * another take its slot, while the thread is asleep: the generation says
 * whether it is still the one.
 */
struct ctf_slot {
	uint64_t generation;
	struct ctf_stream *stream;
};

static TP_THREAD_LOCAL struct ctf_slot slots[NR_SLOTS];

/* Guards what follows and the sinks' lists of streams. Only taken inside tp_guard_enter(), as readers take it too. */
static pthread_mutex_t ctf_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ctf_sink *sink_of_slot[NR_SLOTS];
static uint64_t last_generation;

static uint64_t clock_now(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- The sink's bitmaps; described is read by threads that record ---- */

static bool bit_is_set(const uint8_t *bits, unsigned int id)
{
	return __atomic_load_n(&bits[id / CHAR_BIT], __ATOMIC_RELAXED) & 1u << id % CHAR_BIT;
}

static void bit_set(uint8_t *bits, unsigned int id)
{
	__atomic_fetch_or(&bits[id / CHAR_BIT], (uint8_t)(1u << id % CHAR_BIT), __ATOMIC_RELAXED);
}

/* ---- The directory ---- */

static bool is_directory(const struct ctf_sink *sink, int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_dev == sink->device && st.st_ino == sink->inode;
}

/*
 * The directory's file descriptor, or -1 and an errno value. Daemons close
 * every descriptor that they don't know, ours too, and the number may be
 * another file's by now: then by its path again. Called in tp_guard_enter().
 */
static int directory_of(struct ctf_sink *sink, int *error)
{
	pthread_mutex_lock(&ctf_lock);
	if (!is_directory(sink, sink->dir)) {
		int fd = open(sink->real_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		*error = errno;
		if (fd >= 0 && !is_directory(sink, fd)) {
			close(fd);
			fd = -1;
			*error = ENOENT;
		}
		sink->dir = fd;
	}
	int dir = sink->dir;
	pthread_mutex_unlock(&ctf_lock);
	return dir;
}

/* ---- Packets ---- */

static void count_lost(struct ctf_sink *sink, struct ctf_stream *stream)
{
	tp_sink_count_lost(&sink->head);
	if (stream)
		__atomic_fetch_add(&stream->packet->events_discarded, 1, __ATOMIC_RELAXED);
}

static void complain_of_packet(struct ctf_sink *sink, int error)
{
	if (!__atomic_exchange_n(&sink->no_room_complained, true, __ATOMIC_RELAXED))
		tp_complain("CTF trace '%s': no new packet of %zu bytes can be made: %s; records are lost until it can",
			    sink->path, sink->packet_size, strerror(error));
	__atomic_store_n(&sink->error, error, __ATOMIC_RELAXED);
}

/* posix_fallocate would be answered with SIGXFSZ. */
static bool file_size_allowed(size_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= size;
}

/* A file whose blocks are there: with a hole in it, a full disk would be a SIGBUS in the middle of a record. */
static void *packet_map(int fd, size_t size, int *error)
{
	*error = file_size_allowed(size) ? posix_fallocate(fd, 0, (off_t)size) : EFBIG;
	if (*error)
		return NULL;
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory != MAP_FAILED)
		return memory;
	*error = errno;
	return NULL;
}

/* Renames but never over what is there, as far as the file system can do that. 0 or an errno value. */
static int rename_new(int dir, const char *from, const char *to)
{
	if (renameat2(dir, from, dir, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	if (faccessat(dir, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return EEXIST;
	return renameat(dir, from, dir, to) == 0 ? 0 : errno;
}

static void packet_begin(const struct ctf_sink *sink, const struct ctf_stream *stream, struct tp_ctf_packet *packet,
			 uint64_t time)
{
	*packet = (struct tp_ctf_packet){
		.magic = TP_CTF_MAGIC,
		/* In one trace no other stream may have it; children write to the same one. */
		.stream_instance_id = (uint64_t)(uint32_t)sink->pid << 32 | stream->number,
		.timestamp_begin = time,
		.content_size = sizeof(*packet) * CHAR_BIT,
		.timestamp_end = time,
		.packet_size = (uint64_t)sink->packet_size * CHAR_BIT,
		.packet_seq_num = stream->sequence,
		/* Counts on from packet to packet. */
		.events_discarded = stream->packet ? stream->packet->events_discarded : 0,
	};
}

/* The stream's packet number stream->sequence as a new file. NULL and an errno value. */
static struct tp_ctf_packet *packet_create(struct ctf_sink *sink, const struct ctf_stream *stream,
					   uint64_t time, int *error)
{
	char hidden[64];
	struct tp_ctf_packet *packet;

	int dir = directory_of(sink, error);
	if (dir < 0)
		return NULL;
	snprintf(hidden, sizeof(hidden), ".stream-%d-%u-%llu", sink->pid, stream->number,
		 (unsigned long long)stream->sequence);
	int fd = openat(dir, hidden, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		*error = errno;
		return NULL;
	}
	packet = packet_map(fd, sink->packet_size, error);
	close(fd);
	if (packet) {
		packet_begin(sink, stream, packet, time);
		*error = rename_new(dir, hidden, hidden + 1);
		if (!*error)
			return packet;
		munmap(packet, sink->packet_size);
	}
	unlinkat(dir, hidden, 0);
	return NULL;
}

/* Gives the unused end of the packet back to the file system, where it can take it. */
static void packet_finish(const struct ctf_sink *sink, struct tp_ctf_packet *packet)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t used = (packet->content_size / CHAR_BIT + page - 1) & ~(page - 1);

	if (used < sink->packet_size)
		madvise((char *)packet + used, sink->packet_size - used, MADV_REMOVE);
	munmap(packet, sink->packet_size);
}

/*
 * A compare-and-exchange against this thread's own signal handlers: one
 * instruction, but not a locked one, which costs four times as much.
 */
static bool local_cmpxchg(uint64_t *at, uint64_t expected, uint64_t desired)
{
#if defined(__x86_64__)
	bool done;

	__asm__ volatile("cmpxchgq %3, %1" : "=@ccz"(done), "+m"(*at), "+a"(expected) : "r"(desired) : "memory");
	return done;
#else
	return __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
}

static uint64_t load(const uint64_t *at)
{
	return __atomic_load_n(at, __ATOMIC_RELAXED);
}

/* Makes what is reserved the packet's content: all of it is committed. */
static void publish(struct ctf_stream *stream, uint64_t position)
{
	/*
	 * Barrier (C): payload, then the end of the time, then the size; a
	 * reader, who reads the size first, finds all that it covers.
	 */
	__atomic_store_n(&stream->packet->timestamp_end, stream->last_time, __ATOMIC_RELEASE);
	__atomic_store_n(&stream->packet->content_size, position * CHAR_BIT, __ATOMIC_RELEASE);
}

/*
 * Nothing is reserved from here on: the handler of a synchronous signal, the
 * only one that can still come, finds no room. Returns the position.
 */
static uint64_t packet_close(struct ctf_stream *stream)
{
	uint64_t position;

	do {
		position = load(&stream->position);
	} while (!local_cmpxchg(&stream->position, position, NO_POSITION));
	/* Not before: handlers' records came while this thread was on its way here. */
	publish(stream, position);
	return position;
}

static void packet_open(struct ctf_stream *stream, uint64_t position)
{
	tp_barrier(); /* the packet is there before the room in it */
	__atomic_store_n(&stream->position, position, __ATOMIC_RELAXED);
}

/* The next packet. Called in tp_guard_enter(), with no record on its way. */
static bool packet_switch(struct ctf_sink *sink, struct ctf_stream *stream)
{
	struct tp_ctf_packet *old = stream->packet;
	uint64_t position = packet_close(stream);
	uint64_t now = clock_now(CLOCK_MONOTONIC); /* not before the end of the old one */
	struct tp_ctf_packet *packet = NULL;
	int error;

	if (now >= __atomic_load_n(&sink->retry_at, __ATOMIC_RELAXED)) {
		stream->sequence++;
		packet = packet_create(sink, stream, now, &error);
		if (!packet) {
			stream->sequence--;
			complain_of_packet(sink, error);
			__atomic_store_n(&sink->retry_at, now + RETRY_AFTER, __ATOMIC_RELAXED);
		}
	}
	if (!packet) { /* the old one stays, full as it is: it counts what is lost */
		packet_open(stream, position);
		return false;
	}
	stream->packet = packet;
	packet_open(stream, sizeof(*packet));
	packet_finish(sink, old);
	return true;
}

/* ---- Streams ---- */

static void stream_free(struct ctf_stream *stream)
{
	munmap(stream, sizeof(*stream));
}

static unsigned int take_number(struct ctf_sink *sink)
{
	pthread_mutex_lock(&ctf_lock);
	unsigned int number = sink->next_number++;
	pthread_mutex_unlock(&ctf_lock);
	return number;
}

/* From mmap, as a signal handler that interrupted malloc may be what needs it. */
static struct ctf_stream *stream_create(struct ctf_sink *sink)
{
	uint64_t now = clock_now(CLOCK_MONOTONIC);
	int error;

	if (now < __atomic_load_n(&sink->retry_at, __ATOMIC_RELAXED))
		return NULL;
	struct ctf_stream *stream =
		mmap(NULL, sizeof(*stream), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stream == MAP_FAILED) {
		error = ENOMEM;
		goto failed;
	}
	stream->position = sizeof(*stream->packet);
	stream->last_time = now;
	do {
		/* An earlier process with this process's id may have written to the trace. */
		stream->number = take_number(sink);
		stream->packet = packet_create(sink, stream, now, &error);
	} while (!stream->packet && error == EEXIST);
	if (stream->packet)
		return stream;
	stream_free(stream);
failed:
	complain_of_packet(sink, error);
	__atomic_store_n(&sink->retry_at, now + RETRY_AFTER, __ATOMIC_RELAXED);
	return NULL;
}

static struct ctf_stream *pool_take(struct ctf_sink *sink)
{
	pthread_mutex_lock(&ctf_lock);
	struct ctf_stream *stream = sink->pool;
	if (stream)
		sink->pool = stream->next_free;
	pthread_mutex_unlock(&ctf_lock);
	return stream;
}

static void list_stream(struct ctf_sink *sink, struct ctf_stream *stream)
{
	pthread_mutex_lock(&ctf_lock);
	stream->next = sink->streams;
	sink->streams = stream;
	pthread_mutex_unlock(&ctf_lock);
}

/* A stream that an exited thread has left, or a new one. */
static struct ctf_stream *stream_acquire(struct ctf_sink *sink)
{
	struct ctf_slot *slot = &slots[sink->slot];

	if (!tp_thread_arm())
		return NULL;
	struct ctf_stream *stream = pool_take(sink);
	if (!stream) {
		stream = stream_create(sink);
		if (!stream)
			return NULL;
		list_stream(sink, stream);
	}
	slot->stream = stream;
	tp_barrier(); /* generation says that the stream is there */
	slot->generation = sink->generation;
	return stream;
}

static struct ctf_stream *stream_of_thread(struct ctf_sink *sink)
{
	const struct ctf_slot *slot = &slots[sink->slot];
	struct tp_guard guard;

	if (__builtin_expect(slot->generation == sink->generation, 1))
		return slot->stream;
	if (!tp_guard_enter(&guard))
		return NULL;
	struct ctf_stream *stream = stream_acquire(sink);
	tp_guard_leave(&guard);
	return stream;
}

/*
 * Back into the pool of its sink, if that is still there. One in the middle
 * of a record (the thread exits inside a probe) stays out of use.
 */
static void slot_leave(unsigned int i)
{
	struct ctf_slot *slot = &slots[i];
	struct ctf_sink *sink = sink_of_slot[i];
	bool current = sink && slot->generation == sink->generation;

	slot->generation = 0;
	tp_barrier(); /* before anybody else may have the stream */
	if (current && !slot->stream->nesting) {
		slot->stream->next_free = sink->pool;
		sink->pool = slot->stream;
	}
}

void tp_ctf_thread_exit(void)
{
	struct tp_guard guard;

	if (!tp_guard_enter(&guard))
		return;
	pthread_mutex_lock(&ctf_lock);
	for (unsigned int i = 0; i < NR_SLOTS; i++) {
		if (slots[i].generation)
			slot_leave(i);
	}
	pthread_mutex_unlock(&ctf_lock);
	tp_guard_leave(&guard);
}

/* ---- Records ---- */

/*
 * Reserves place for the record: where the event begins, in bytes from the
 * packet's start; 0 where there is none, and a new packet may be made.
 *
 * The clock is read after the position and before the exchange. If a handler
 * reserves in between, the exchange fails, and the clock is read again: so
 * times never go backwards. The same holds for last_time, which a handler
 * may have made later than the value that is stored over it here: whoever
 * finds the position unchanged afterwards knows that none has.
 */
static uint64_t place_reserve(struct ctf_sink *sink, struct ctf_stream *stream, uint32_t size, uint64_t *time)
{
	uint64_t position, begin, end;

	do {
		position = load(&stream->position);
		begin = (position + TP_CTF_ALIGN - 1) & ~(uint64_t)(TP_CTF_ALIGN - 1);
		end = begin + TP_CTF_EVENT_HEAD + size;
		tp_barrier();
		*time = clock_now(CLOCK_MONOTONIC);
		__atomic_store_n(&stream->last_time, *time, __ATOMIC_RELAXED);
		tp_barrier();
		if (end > sink->packet_size) {
			begin = 0;
			end = position; /* to see that the position is still the same */
		}
	} while (!local_cmpxchg(&stream->position, position, end));
	return begin;
}

static bool next_packet(struct ctf_sink *sink, struct ctf_stream *stream, uint32_t size)
{
	struct tp_guard guard;

	/* Inside another record, which is in the packet that is full; or it would never fit. */
	if (stream->nesting > 1 || sizeof(struct tp_ctf_packet) + TP_CTF_EVENT_HEAD + size > sink->packet_size)
		return false;
	if (!tp_guard_enter(&guard))
		return false;
	bool done = packet_switch(sink, stream);
	tp_guard_leave(&guard);
	return done;
}

static void stream_enter(struct ctf_stream *stream)
{
	stream->nesting++;
	tp_barrier();
}

/*
 * A handler that comes while this is the outermost record leaves the
 * publication to it. One that comes after the position was read and before
 * nesting is 0 would be left out: hence the second look.
 */
static void stream_leave(struct ctf_stream *stream)
{
	tp_barrier();
	if (stream->nesting > 1) {
		stream->nesting--;
		return;
	}
	for (;;) {
		uint64_t position = load(&stream->position);
		publish(stream, position);
		tp_barrier();
		stream->nesting = 0;
		tp_barrier();
		if (__builtin_expect(load(&stream->position) == position, 1))
			return;
		stream_enter(stream);
	}
}

static bool ctf_reserve(struct tp_record *rec)
{
	struct ctf_sink *sink = (struct ctf_sink *)rec->sink;
	struct ctf_stream *stream = stream_of_thread(sink);
	uint64_t begin, time;

	if (!stream || !bit_is_set(sink->described, rec->event->id)) {
		count_lost(sink, stream);
		return false;
	}
	stream_enter(stream);
	do {
		begin = place_reserve(sink, stream, rec->size, &time);
	} while (!begin && next_packet(sink, stream, rec->size));
	if (!begin) {
		count_lost(sink, stream);
		stream_leave(stream);
		return false;
	}
	char *event = (char *)stream->packet + begin;
	*(uint64_t *)(void *)event = time;
	rec->time = time + sink->clock_offset;
	rec->entry = (struct trace_entry *)(void *)(event + TP_CTF_EVENT_HEAD);
	rec->priv[0] = stream;
	return true;
}

static void ctf_commit(struct tp_record *rec)
{
	stream_leave(rec->priv[0]);
}

/* ---- The metadata ---- */

static int write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);
		if (n < 0 && errno != EINTR)
			return errno;
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

/* 0 or an errno value. */
static int metadata_write_hidden(const struct ctf_sink *sink, int dir, const char *hidden, bool first)
{
	/* The first of a trace must not disturb another process that makes one in the same directory. */
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (first ? O_EXCL : O_TRUNC);

	if (!file_size_allowed(sink->metadata.len))
		return EFBIG;
	int fd = openat(dir, hidden, flags, 0600);
	if (fd < 0)
		return errno;
	int error = write_all(fd, sink->metadata.text, sink->metadata.len);
	if (close(fd) != 0 && !error)
		error = errno;
	if (error)
		unlinkat(dir, hidden, 0);
	return error;
}

/* The file is replaced as a whole, so that a reader never sees half an event's description. 0 or an errno value. */
static int metadata_write(struct ctf_sink *sink)
{
	static const char hidden[] = ".metadata";
	bool first = sink->metadata_written == 0;
	struct tp_guard guard;
	int error = EDEADLK;

	if (!tp_guard_enter(&guard))
		return error;
	int dir = directory_of(sink, &error);
	if (dir >= 0)
		error = metadata_write_hidden(sink, dir, hidden, first);
	if (dir >= 0 && !error) {
		if (first)
			error = rename_new(dir, hidden, hidden + 1);
		else if (renameat(dir, hidden, dir, hidden + 1) != 0)
			error = errno;
		if (error)
			unlinkat(dir, hidden, 0);
	}
	tp_guard_leave(&guard);
	return error;
}

static int ctf_describe(struct tp_sink *head, const struct tp_event *event)
{
	struct ctf_sink *sink = (struct ctf_sink *)head;
	int error = 0;

	if (bit_is_set(sink->described, event->id) || bit_is_set(sink->pending, event->id))
		return 0;
	if (sink->forked) {
		/* No error: attached, its records are at least counted. */
		if (!sink->child_complained)
			tp_complain("CTF trace '%s': process %d, a forked child, can't add events to its parent's "
				    "trace: the records of '%s:%s' and others that it loads are lost",
				    sink->path, sink->pid, event->system, event->name);
		sink->child_complained = true;
		return 0;
	}
	error = tp_ctf_metadata_event(&sink->metadata, event);
	if (error == -EINVAL) {
		tp_complain("CTF trace '%s': '%s:%s' has a dynamic array whose elements are aligned to more than %d "
			    "bytes, which CTF can't describe: its records are lost",
			    sink->path, event->system, event->name, TP_CTF_ALIGN);
		return 0;
	}
	if (!error)
		bit_set(sink->pending, event->id);
	return error;
}

static int ctf_described(struct tp_sink *head)
{
	struct ctf_sink *sink = (struct ctf_sink *)head;

	if (sink->metadata.len == sink->metadata_written)
		return 0;
	int error = metadata_write(sink);
	if (error) {
		if (sink->metadata_written) /* else it is tp_ctf_sink's to tell */
			tp_complain("CTF trace '%s': its metadata can't be written: %s", sink->path, strerror(error));
		sink->metadata.len = sink->metadata_written;
		__atomic_store_n(&sink->error, error, __ATOMIC_RELAXED);
	} else {
		sink->metadata_written = sink->metadata.len;
		for (unsigned int i = 0; i < sizeof(sink->pending); i++)
			__atomic_fetch_or(&sink->described[i], sink->pending[i], __ATOMIC_RELAXED);
	}
	memset(sink->pending, 0, sizeof(sink->pending));
	return -error;
}

/* ---- Forks ---- */

void tp_ctf_before_fork(void)
{
	pthread_mutex_lock(&ctf_lock);
}

void tp_ctf_after_fork(void)
{
	pthread_mutex_unlock(&ctf_lock);
}

/*
 * The packets are the parent's. A handler that forks may have interrupted a
 * record, which the child still completes: into a copy that nobody sees.
 */
static void stream_forget(const struct ctf_sink *sink, struct ctf_stream *stream)
{
	const struct ctf_slot *slot = &slots[sink->slot];
	bool on_its_way = stream->nesting && slot->generation == sink->generation && slot->stream == stream;

	if (on_its_way) {
		mmap(stream->packet, sink->packet_size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		return;
	}
	munmap(stream->packet, sink->packet_size);
	stream_free(stream);
}

static void ctf_after_fork_child(struct tp_sink *head)
{
	struct ctf_sink *sink = (struct ctf_sink *)head;
	struct ctf_stream *next;

	for (struct ctf_stream *stream = sink->streams; stream; stream = next) {
		next = stream->next;
		stream_forget(sink, stream);
	}
	sink->streams = NULL;
	sink->pool = NULL;
	sink->next_number = 0;
	sink->pid = getpid();
	sink->forked = true;
	sink->generation = ++last_generation; /* the slot of this thread holds a stream of the parent's */
}

/* ---- Opening and closing ---- */

/* slot is NR_SLOTS where all are taken. */
static void slot_take(struct ctf_sink *sink)
{
	struct tp_guard guard;

	tp_guard_enter(&guard);
	pthread_mutex_lock(&ctf_lock);
	sink->generation = ++last_generation;
	for (sink->slot = 0; sink->slot < NR_SLOTS && sink_of_slot[sink->slot]; sink->slot++)
		;
	if (sink->slot < NR_SLOTS)
		sink_of_slot[sink->slot] = sink;
	pthread_mutex_unlock(&ctf_lock);
	tp_guard_leave(&guard);
}

static void slot_give(struct ctf_sink *sink)
{
	struct tp_guard guard;

	tp_guard_enter(&guard);
	pthread_mutex_lock(&ctf_lock);
	sink_of_slot[sink->slot] = NULL;
	pthread_mutex_unlock(&ctf_lock);
	tp_guard_leave(&guard);
}

static void sink_free(struct ctf_sink *sink)
{
	if (sink->dir >= 0 && is_directory(sink, sink->dir))
		close(sink->dir);
	free(sink->real_path);
	tp_buffer_free(&sink->metadata);
	free(sink->path);
	free(sink);
}

static int ctf_close(struct tp_sink *head)
{
	struct ctf_sink *sink = (struct ctf_sink *)head;
	unsigned long lost = tp_sink_lost(head);

	slot_give(sink); /* from here on no exiting thread touches the streams */
	while (sink->streams) {
		struct ctf_stream *stream = sink->streams;
		sink->streams = stream->next;
		packet_finish(sink, stream->packet);
		stream_free(stream);
	}
	if (lost)
		tp_complain("CTF trace '%s': records lost: %lu", sink->path, lost);
	int error = -sink->error;
	sink_free(sink);
	return error;
}

static const struct tp_sink_ops ctf_ops = {
	.name = "CTF",
	.reserve = ctf_reserve,
	.commit = ctf_commit,
	.describe = ctf_describe,
	.described = ctf_described,
	.after_fork_child = ctf_after_fork_child,
	.close = ctf_close,
};

/* "64K"; false where it is no size of a packet. */
static bool parse_size(const char *text, size_t *size)
{
	static const char suffixes[] = "KMG";
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (errno || value > PACKET_MAX)
		return false;
	if (*end && end[1] != '\0')
		return false;
	if (*end) {
		const char *suffix = strchr(suffixes, *end);
		if (!suffix)
			return false;
		value <<= 10 * (suffix - suffixes + 1); /* 2^30 << 30 at the most */
	}
	if (value < PACKET_MIN || value > PACKET_MAX)
		return false;
	*size = (size_t)value;
	return true;
}

static int parse_options(struct ctf_sink *sink, const char *options)
{
	static const char packet[] = "packet=";
	char *copy = strdup(options ? options : "");
	char *rest = copy;
	int error = 0;

	if (!copy)
		return ENOMEM;
	while (*copy && rest && !error) {
		const char *option = strsep(&rest, ",");
		if (strncmp(option, packet, sizeof(packet) - 1) != 0 ||
		    !parse_size(option + sizeof(packet) - 1, &sink->packet_size))
			error = EINVAL;
	}
	free(copy);
	return error;
}

static int open_directory(struct ctf_sink *sink)
{
	struct stat st;

	if (mkdir(sink->path, 0700) != 0 && errno != EEXIST)
		return errno;
	sink->dir = open(sink->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (sink->dir < 0 || fstat(sink->dir, &st) != 0)
		return errno;
	sink->device = st.st_dev;
	sink->inode = st.st_ino;
	sink->real_path = realpath(sink->path, NULL);
	if (!sink->real_path)
		return errno;
	/* A link too, even one that leads nowhere. */
	return faccessat(sink->dir, "metadata", F_OK, AT_SYMLINK_NOFOLLOW) == 0 ? EEXIST : 0;
}

/* The one between two readings of the other is the closest of some tries. */
static uint64_t measure_offset(void)
{
	uint64_t best = UINT64_MAX;
	uint64_t offset = 0;

	for (int i = 0; i < 8; i++) {
		uint64_t before = clock_now(CLOCK_MONOTONIC);
		uint64_t epoch = clock_now(CLOCK_REALTIME);
		uint64_t took = clock_now(CLOCK_MONOTONIC) - before;
		if (took < best) {
			best = took;
			offset = epoch - before - took / 2;
		}
	}
	return offset;
}

static int sink_open(struct ctf_sink *sink, const char *options)
{
	int error = parse_options(sink, options);

	if (!error)
		error = open_directory(sink);
	if (error)
		return error;
	sink->clock_offset = measure_offset();
	tp_ctf_metadata_begin(&sink->metadata, sink->clock_offset);
	if (sink->metadata.failed)
		return ENOMEM;
	slot_take(sink);
	if (sink->slot == NR_SLOTS)
		return EMFILE;
	error = -tp_sink_open(&sink->head, &ctf_ops);
	if (error)
		slot_give(sink);
	return error;
}

struct tp_sink *tp_ctf_sink(const char *dir, const char *options)
{
	struct ctf_sink *sink = dir ? tp_malloc(sizeof(*sink)) : NULL;
	int error;

	if (!sink) {
		errno = dir ? ENOMEM : EINVAL;
		return NULL;
	}
	*sink = (struct ctf_sink){.packet_size = PACKET_DEFAULT, .dir = -1, .pid = getpid()};
	sink->path = strdup(dir);
	error = sink->path ? sink_open(sink, options) : ENOMEM;
	if (!error)
		return &sink->head;
	sink_free(sink);
	errno = error;
	return NULL;
}

/* SPDX-License-Identifier: MIT */
#include "kernel/kernel_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fail_msg.h"

#define PACKET_BYTES ((uint64_t)1 << 20)
#define BUFFER_BYTES ((size_t)128 << 10)

/* What is in front of a record, with all contexts: docs/internals/records.md. */
struct event_head {
	uint64_t time;
	uint16_t id; /* the record has it, too */
	uint16_t padding[3];
	int32_t cpu, pid;
	char name[COMM_SIZE];
};

_Static_assert(offsetof(struct event_head, cpu) == TP_STREAM_TIME + TP_STREAM_ALIGN && sizeof(struct event_head) == 40,
	       "as the metadata have it");

static bool failed(const struct kernel_stream *stream, int error)
{
	return fail_msg("'%s': the kernel's events can't be written: %s", stream->path, strerror(error));
}

static bool write_at(const struct kernel_stream *stream, const void *bytes, size_t len, uint64_t offset)
{
	while (len) {
		ssize_t n = pwrite(stream->fd, bytes, len, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return failed(stream, n ? errno : ENOSPC);
		bytes = (const char *)bytes + n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return true;
}

/* ---- A packet ---- */

/* Its first page is there for sure once its head was written: it can be mapped. */
static bool make_file(struct kernel_stream *stream, const char *name, const struct tp_packet *head)
{
	stream->fd = openat(stream->dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (stream->fd < 0 || ftruncate(stream->fd, (off_t)PACKET_BYTES) != 0)
		return failed(stream, errno);
	if (!write_at(stream, head, sizeof(*head), 0))
		return false;
	void *mapped = mmap(NULL, sizeof(*head), PROT_READ | PROT_WRITE, MAP_SHARED, stream->fd, 0);
	if (mapped == MAP_FAILED)
		return failed(stream, errno);
	stream->head = mapped;
	return true;
}

static bool begin_packet(struct kernel_stream *stream, uint64_t time)
{
	const struct tp_packet head = {
		.magic = TP_CTF_MAGIC, .stream_instance_id = (uint64_t)stream->cpu, .content_size = sizeof(head) * CHAR_BIT,
		.packet_size = PACKET_BYTES * CHAR_BIT, .timestamp_begin = time, .timestamp_end = time, .packet_seq_num = stream->sequence++,
		.events_discarded = stream->lost,
	};
	char hidden[PATH_MAX];

	snprintf(hidden, sizeof(hidden), ".stream-0-cpu%d-%06llu", stream->cpu, (unsigned long long)head.packet_seq_num);
	if (!stream->buffer && !(stream->buffer = malloc(BUFFER_BYTES)))
		return fail_no_memory();
	stream->written = stream->content = sizeof(head);
	stream->buffered = 0;
	return make_file(stream, hidden, &head) && (renameat(stream->dir, hidden, stream->dir, hidden + 1) == 0 || failed(stream, errno));
}

/* A reader that sees a size sees no events later than the time, as the order is this. */
bool kernel_stream_flush(struct kernel_stream *stream)
{
	if (!stream->head || !stream->buffered)
		return true;
	if (!write_at(stream, stream->buffer, stream->buffered, stream->written))
		return false;
	stream->written += stream->buffered;
	stream->buffered = 0;
	__atomic_store_n(&stream->head->events_discarded, stream->lost, __ATOMIC_RELAXED);
	__atomic_store_n(&stream->head->timestamp_end, stream->time, __ATOMIC_RELEASE);
	__atomic_store_n(&stream->head->content_size, stream->content * CHAR_BIT, __ATOMIC_RELEASE);
	return true;
}

static void close_packet(struct kernel_stream *stream)
{
	if (stream->head)
		munmap(stream->head, sizeof(*stream->head));
	if (stream->fd >= 0)
		close(stream->fd);
	stream->head = NULL;
	stream->fd = -1;
}

static bool end_packet(struct kernel_stream *stream)
{
	const bool good = kernel_stream_flush(stream);

	if (stream->head && good) {
		stream->head->packet_size = stream->content * CHAR_BIT;
		if (ftruncate(stream->fd, (off_t)stream->content) != 0)
			stream->head->packet_size = PACKET_BYTES * CHAR_BIT;
	}
	close_packet(stream);
	return good;
}

bool kernel_stream_end(struct kernel_stream *stream)
{
	const bool good = end_packet(stream);

	free(stream->buffer);
	stream->buffer = NULL;
	return good;
}

/* ---- An event ---- */

static size_t aligned(size_t size)
{
	return (size + TP_STREAM_ALIGN - 1) / TP_STREAM_ALIGN * TP_STREAM_ALIGN;
}

bool kernel_stream_event(struct kernel_stream *stream, uint64_t time, const struct task *task, const unsigned char *record, size_t size)
{
	struct event_head head = {.time = time > stream->time ? time : stream->time, .cpu = stream->cpu, .pid = task->pid};
	const size_t need = sizeof(head) + aligned(size);

	stream->time = head.time;
	if (stream->head && stream->written + stream->buffered + need > PACKET_BYTES && !end_packet(stream))
		return false;
	if (!stream->head && !begin_packet(stream, head.time))
		return false;
	if (stream->buffered + need > BUFFER_BYTES && !kernel_stream_flush(stream))
		return false;
	memcpy(&head.id, record, sizeof(head.id));
	memcpy(head.name, task->name, sizeof(head.name));
	unsigned char *to = stream->buffer + stream->buffered;
	memcpy(to, &head, sizeof(head));
	memcpy(to + sizeof(head), record, size);
	memset(to + sizeof(head) + size, 0, aligned(size) - size);
	stream->content = stream->written + stream->buffered + sizeof(head) + size;
	stream->buffered += need;
	return true;
}
